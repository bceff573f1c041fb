"""E[T] enclosed where nothing else decides: layers of tables, `markov_lrsao.forward.layers`.

Layers are made with few tables first, then with more, as long as the enclosure is wide and the
work allowed is not used up; what all of them show together is the answer. Variances stay unknown.
"""

from __future__ import annotations

from functools import partial
from math import isfinite

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.plan import Options, wants_exact
from markov_lrsao.errors import Refused, SolverError, StateSpaceTooLargeError, attempt
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward.layers import Layers
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress
from markov_lrsao.values.answer import Answer

__all__ = ["MOST_ENTRIES", "enclose_by_layers"]

FloatArray = npt.NDArray[np.float64]
_PASSES = ((4_000, 2), (20_000, 4), (50_000, 2))
"""Tables of a layer, when all runs are under way, and levels that are always told apart: which is
better depends on the instance."""
_FEWEST = 10
"""A layer keeps at least this part of them, when few runs are still under way."""
_WORK = 45_000_000
"""Entries of all tables of all layers of a pass: some 20 seconds, a hundred megabytes."""
_UNDER_WAY = 3e-4
_MOST_LAYERS = 20_000
MOST_ENTRIES = 60
"""Tables with more entries are too many for their layers to tell anything."""


def enclose_by_layers(law: StepLaw, options: Options, moments: int) -> Answer | Refused:
    """Return enclosures of E[T] and of the phases; those of E[T] may have no upper end."""
    entries = (int(law.row.max()) + 1) * len(law.actions)
    if entries > MOST_ENTRIES:
        return Refused(StateSpaceTooLargeError(f"{entries} entries are too many to be followed"))
    best: FloatArray | None = None
    made = 0
    for tables, always in _PASSES if wants_exact(options) else _PASSES[:1]:
        largest = tables if options.max_states is None else min(tables, options.max_states)
        found = attempt(partial(_solved, law, largest, always, options.progress))
        if isinstance(found, Refused):
            return found
        bounds, made = found
        best = bounds if best is None else _both(best, bounds)
        if _width(best) <= to_float(options.tolerance) or largest < tables:
            break
    assert best is not None
    values = [[_quantity(*ends), *[UNKNOWN] * (moments - 1)] for ends in best.tolist()]
    return Answer(values, "layers", made, undecided=fmpq(1))


def _solved(law: StepLaw, largest: int, always: int, progress: Progress) -> tuple[FloatArray, int]:
    """Return bounds of E[T] and of the phases, [quantity, side], and the number of tables."""
    layers = Layers(law, always=always)
    most = _WORK // layers.tables.low.shape[1]
    with progress("following tables in layers") as bar:
        for _ in range(_MOST_LAYERS):
            going = layers.going
            if going <= _UNDER_WAY or layers.nodes > most:
                break
            layers.step(max(largest // _FEWEST, int(largest * min(going, 1.0)), 1))
            bar.advance()
    return layers.solved()[0], layers.nodes


def _both(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return what two enclosures have in common.

    Raises
    ------
    SolverError
        They exclude each other.
    """
    low, high = np.maximum(one[:, 0], other[:, 0]), np.minimum(one[:, 1], other[:, 1])
    if (low > high).any():
        raise SolverError("two enclosures exclude each other; please report this instance")
    return np.stack([low, high], axis=1)


def _width(bounds: FloatArray) -> float:
    return float(((bounds[:, 1] - bounds[:, 0]) / np.maximum(bounds[:, 0], 1e-300)).max())


def _quantity(low: float, high: float) -> Quantity:
    lower = fmpq(*low.as_integer_ratio())
    return Enclosed(lower, fmpq(*high.as_integer_ratio()) if isfinite(high) else None)
