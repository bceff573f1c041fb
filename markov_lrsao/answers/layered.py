"""E[T] enclosed where nothing else decides: layers of tables, `markov_lrsao.forward.layers`.

Layers are made with few tables first, then with more, as long as the enclosure is wide and the
work allowed is not used up; what all of them show together is the answer. Each pass steers the next
one by where it was wide. Variances stay unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
_WORK = 80_000_000
"""Entries of all tables of all layers of a pass: half a minute, some two hundred megabytes."""


@dataclass(frozen=True)
class _Pass:
    """Layers that are made once.

    Attributes
    ----------
    tables : of a layer, when all runs are under way
    levels : that are always told apart
    work : entries of all tables of all layers
    steered : by the widths of the pass before
    """

    tables: int
    levels: int = 3
    work: int = _WORK
    steered: bool = True


_PASSES = (_Pass(4_000), _Pass(20_000))
_MORE, _LONGER = _Pass(80_000), _Pass(20_000, 2, 2 * _WORK, steered=False)
"""The third pass: more tables a layer, or, where the second one left many runs under way, more
layers."""
_MANY = 0.05
_FEWEST = 10
"""A layer keeps at least this part of them, when few runs are still under way."""
_LAST, _FEW, _FEW_LEVELS = 0.7, 1_000, 2
"""From this part of the work on layers have few tables, told apart by few levels: runs that never
come to their end within the layers cost more than tables that are joined."""
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
    seen = _Seen()
    for number in range(3 if wants_exact(options) else 1):
        chosen = _PASSES[number] if number < 2 else _LONGER if seen.under_way > _MANY else _MORE
        largest = min(chosen.tables, options.max_states or chosen.tables)
        found = attempt(
            partial(_solved, law, replace(chosen, tables=largest), seen, options.progress)
        )
        if isinstance(found, Refused):
            return found
        bounds, made = found
        best = bounds if best is None else _both(best, bounds)
        if _width(best) <= to_float(options.tolerance) or largest < chosen.tables:
            break
    assert best is not None
    values = [[_quantity(*ends), *[UNKNOWN] * (moments - 1)] for ends in best.tolist()]
    return Answer(values, "layers", made, undecided=fmpq(1))


@dataclass
class _Seen:
    """What a pass leaves for the next: where it was wide, and who was under way near its end."""

    widths: FloatArray | None = None
    under_way: float = 0.0


def _solved(law: StepLaw, chosen: _Pass, seen: _Seen, progress: Progress) -> tuple[FloatArray, int]:
    """Return bounds of E[T] and of the phases, [quantity, side], and the number of tables."""
    layers = Layers(law, always=chosen.levels, widths=seen.widths if chosen.steered else None)
    most = chosen.work // layers.tables.low.shape[1]
    largest, seen.under_way = chosen.tables, 0.0
    with progress("following tables in layers") as bar:
        for _ in range(_MOST_LAYERS):
            going = layers.going
            if going <= _UNDER_WAY or layers.nodes > most:
                break
            wanted = max(largest // _FEWEST, int(largest * min(going, 1.0)), 1)
            if layers.nodes > _LAST * most:
                seen.under_way = max(seen.under_way, going)
                layers.always, wanted = _FEW_LEVELS, min(wanted, _FEW)
            layers.step(wanted)
            bar.advance()
    bounds = layers.solved()[0]
    seen.widths = layers.widths
    return bounds, layers.nodes


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
