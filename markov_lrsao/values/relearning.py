r"""E[T] on three and more plateaus that share a row: enclosures at any n.

The walk of `markov_lrsao.values.shared_row` is explored with a coarse mesh, and bounded over all
ways in which open comparisons may turn out. Where that leaves too much, lumps of values are
followed (`markov_lrsao.values.lumped_row`), then finer meshes. All these enclosures hold, and so
does what they have in common. Steps of a climb are counted by their mean
when it begins, whatever is told of it later: that is right for E[T], and for nothing else, so
variances stay unknown.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from flint import fmpq

from markov_lrsao.errors import CrossingError, Refused, SolverError, attempt
from markov_lrsao.exact.quantity import UNKNOWN, Quantity
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.enclosure import TOLERANCE, counted_phases
from markov_lrsao.values.lumped_row import enclose_by_lumps
from markov_lrsao.values.options import float_system, steps_of
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.shared_row import Plateaus, SharedRow, plateaus_of
from markov_lrsao.values.solving import Answer

__all__ = ["LEAST_PLATEAUS", "enclose_shared_row", "several_plateaus"]

LEAST_PLATEAUS = 3
_MESHES = (fmpq(1, 4), fmpq(1, 64), fmpq(1, 512))
_MOST_STATES = 60_000
"""About a minute to explore."""
_MOST_LUMPS, _MORE_LUMPS = 25_000, 40_000
"""About half a minute to make; more where more than the default width is asked for."""


def several_plateaus(law: StepLaw) -> Plateaus | Refused:
    """Return the plateaus of a law, if it has at least three that share a row."""

    def found() -> Plateaus:
        place = plateaus_of(law)
        if len(place.plateaus) < LEAST_PLATEAUS:
            raise CrossingError("fewer than three plateaus share a row")
        return place

    return attempt(found)


def enclose_shared_row(
    place: Plateaus,
    moments: int,
    *,
    tolerance: fmpq = TOLERANCE,
    largest: int | None = None,
    progress: Progress = no_progress,
) -> Answer | Refused:
    """Return enclosures of E[T] and of the phases, the narrowest that the limits allow."""
    most = largest or _MOST_STATES
    coarse, *finer = _MESHES
    ways = [
        partial(_answer, place, coarse, moments, most),
        partial(_by_lumps, place, moments, tolerance, most),
        *(partial(_answer, place, mesh, moments, most) for mesh in finer),
    ]
    best: Answer | None = None
    with progress("refining values", total=len(ways)) as bar:
        for way in ways:
            bar.advance()
            found = attempt(way)
            if isinstance(found, Refused):
                if best is None:
                    return found
                continue
            best = found if best is None else _both(best, found)
            if best.relative_width <= tolerance:
                break
    assert best is not None
    return best


def _by_lumps(place: Plateaus, moments: int, tolerance: fmpq, largest: int) -> Answer:
    most = _MOST_LUMPS if tolerance >= TOLERANCE else _MORE_LUMPS
    return enclose_by_lumps(
        place, moments, tolerance=tolerance, largest=min(largest, most), nodes=largest
    )


def _both(one: Answer, other: Answer) -> Answer:
    """Return what two answers say together; the narrower one tells how it was found.

    Raises
    ------
    SolverError
        They exclude each other.
    """
    narrow = min(one, other, key=lambda answer: answer.relative_width)
    values = []
    for a, b in zip(one.values, other.values, strict=True):
        lower, upper = max(a[0].lower, b[0].lower), min(_upper(a[0]), _upper(b[0]))
        if lower > upper:
            raise SolverError("two enclosures exclude each other; please report this instance")
        values.append([Quantity.enclosed(lower, upper), *a[1:]])
    return replace(narrow, values=values)


def _upper(quantity: Quantity) -> fmpq:
    assert quantity.upper is not None
    return quantity.upper


def _answer(place: Plateaus, mesh: fmpq, moments: int, largest: int) -> Answer:
    walk = SharedRow(place, mesh)
    walk.explore(largest)
    system = float_system(walk.options, len(walk.states))
    steps = steps_of(walk.options)
    phase = np.array([o.phase for o in walk.options])
    values = []
    for counted in counted_phases(place.law):
        marked = np.array(counted)[phase]
        low, high = system.enclose([s * marked for s in steps])
        values.append([Quantity.enclosed(low, high)] + [UNKNOWN] * (moments - 1))
    return Answer(values, "crossing", len(walk.states), undecided=_undecided(walk, system))


def _undecided(walk: SharedRow, system: FloatSystem) -> fmpq | None:
    """Return a bound of the probability of ever meeting an open comparison; None: there is none."""
    from scipy.sparse import diags_array

    if not walk.open:
        return None
    number = np.bincount(system.owner)
    met = (number[system.owner] > 1).astype(np.float64)
    upper = (diags_array(1 - met) @ system.upper).tocsr()
    ended = FloatSystem(system.owner, system.first, upper, upper)
    return fmpq(*min(1.0, float(ended.bound(met, 1)[0])).as_integer_ratio())
