r"""E[T] on three and more plateaus that share a row: enclosures at any n.

The walk of `markov_lrsao.values.shared_row` is explored with a coarse mesh, the likeliest states
first, and bounded over all ways in which open comparisons may turn out. States that do not fit are
bounded crudely (`markov_lrsao.values.straight_up`): with a bridge for each plateau nearly all of
them lie behind a fall through a whole slope, of probability 1e-33 at n = 100. Where that leaves too
much, lumps of values are followed (`markov_lrsao.values.lumped_row`), then finer meshes. All these
enclosures hold, and so does what they have in common.

Steps of a climb are counted by their mean when it begins, whatever is told of it later: that is
right for E[T], and for nothing else, so variances stay unknown. (Neither would it do to follow
climbs step by step: how long a slope took tells something about its rows, which words do not.)
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import (
    CrossingError,
    Refused,
    SolverError,
    StateSpaceTooLargeError,
    attempt,
)
from markov_lrsao.exact.quantity import UNKNOWN, Quantity
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.enclosure import TOLERANCE, counted_phases
from markov_lrsao.values.lumped_row import enclose_by_lumps
from markov_lrsao.values.options import float_system, steps_of
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.solving import Answer
from markov_lrsao.values.straight_up import steps_straight_up

__all__ = ["LEAST_PLATEAUS", "enclose_shared_row", "several_plateaus"]

LEAST_PLATEAUS = 3
_MESHES = (fmpq(1, 4), fmpq(1, 64), fmpq(1, 512))
_MOST_STATES = 150_000
"""About half a minute to explore."""
_FEWER_STATES = 60_000
"""The same for what comes after the coarse mesh, which has given an answer by then."""
_NEGLIGIBLE = 1e-7
"""Steps that states which are not looked at may add to E[T], about."""
_WIDEST = fmpq(1)
"""Relative width from which on an enclosure is worth less than simulated runs."""
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
    most, fewer = largest or _MOST_STATES, largest or _FEWER_STATES
    coarse, *finer = _MESHES
    ways = [
        partial(_answer, place, coarse, moments, most),
        partial(_by_lumps, place, moments, tolerance, fewer),
        *(partial(_answer, place, mesh, moments, fewer) for mesh in finer),
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


def _answer(place: Plateaus, mesh: fmpq, moments: int, most: int) -> Answer:
    """Follow the likeliest states, all if they fit, and bound the steps from any others on.

    Raises
    ------
    StateSpaceTooLargeError
        What was left out is too likely for its crude bound to be of any use.
    """
    walk = SharedRow(place, mesh)
    longest = attempt(lambda: steps_straight_up(place))
    unbounded = isinstance(longest, Refused)
    walk.explore_likely(most, 0.0 if isinstance(longest, Refused) else _NEGLIGIBLE / longest)
    if not (unbounded and walk.cut):
        answer = _bounded(walk, moments)
        if answer.relative_width <= _WIDEST:
            return answer
    raise StateSpaceTooLargeError(
        f"following the shared row takes more than {most:,} states; "
        f"raise `max_states`, or estimate with `simulate()`",
        advised=True,
    )


def _bounded(walk: SharedRow, moments: int) -> Answer:
    """Bound E[T] and the phases over all options.

    States that were cut off cost nothing at the lower end. At the upper end what they cost at most
    is added for the worst of all choices, apart from those that the other steps are bounded over:
    the two maxima are at least the maximum of the sum.
    """
    system = float_system(walk.options, len(walk.states))
    steps = steps_of(walk.options)
    phase = np.array([o.phase for o in walk.options])
    left = _left(walk)
    most = float(left.max(initial=0.0))
    values = []
    for counted in counted_phases(walk.law):
        marked = np.array(counted)[phase]
        low, high = system.enclose([s * marked for s in steps])
        if most > 0:
            # What is left belongs to the phase of the state or to a later one.
            later = phase <= max(k for k, counts in enumerate(counted) if counts)
            share = system.small_bound(np.where(later, left / most, 0.0))
            high += fmpq(*(share * most * (1 + 1e-12)).as_integer_ratio())  # few roundings
        values.append([Quantity.enclosed(low, high)] + [UNKNOWN] * (moments - 1))
    return Answer(values, "crossing", len(walk.states), undecided=_undecided(walk, system))


def _left(walk: SharedRow) -> npt.NDArray[np.float64]:
    """Return per option a bound of the steps from a state on that was cut off, 0 for others."""
    known: dict[int, float] = {}
    left = np.zeros(len(walk.options))
    cut = set(walk.cut)
    for i, option in enumerate(walk.options):
        if option.owner in cut:
            hidden = walk.hidden(walk.states[option.owner])
            if hidden not in known:
                known[hidden] = steps_straight_up(walk.place, hidden)
            left[i] = known[hidden]
    return left


def _undecided(walk: SharedRow, system: FloatSystem) -> fmpq | None:
    """Return a bound of the probability of ever meeting what is open; None: nothing is."""
    from scipy.sparse import diags_array

    if not walk.open and not walk.cut:
        return None
    number = np.bincount(system.owner)
    met = (number[system.owner] > 1) | np.isin(system.owner, walk.cut)
    upper = (diags_array(1.0 - met) @ system.upper).tocsr()
    ended = FloatSystem(system.owner, system.first, upper, upper)
    bound = float(ended.bound(met.astype(np.float64), 1)[0])
    return fmpq(*min(1.0, bound).as_integer_ratio())
