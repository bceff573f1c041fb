r"""E[T] on three and more plateaus that share a row: enclosures at any n.

The walk of `markov_lrsao.values.shared_row` is bounded over all ways in which open comparisons may
turn out. Values are followed finely where that matters, and orders are carried along
(`markov_lrsao.values.row_graph`). Runs that fall through a slope which hides what is below, and
states that do not fit, are bounded by their position (`markov_lrsao.values.anywhere`): with a
bridge for each plateau a whole slope is fallen through with probability 1e-33 at n = 100. On three
plateaus with two bridges a coarse mesh and lumps of values (`markov_lrsao.values.lumped_row`) come
first.
All these enclosures hold, and so does what they have in common.

Variances come from the same walk, with weights that know how long everything took
(`markov_lrsao.values.second_moments`), up to some length of the slopes; those of single phases
stay unknown.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    Refused,
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    attempt,
)
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.anywhere import bounds_anywhere
from markov_lrsao.values.enclosure import TOLERANCE, counted_phases
from markov_lrsao.values.entries import Grid
from markov_lrsao.values.lost_moments import second_anywhere
from markov_lrsao.values.lumped_row import enclose_by_lumps
from markov_lrsao.values.options import float_system, steps_of
from markov_lrsao.values.plateaus import Plateaus
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.row_bounds import too_large
from markov_lrsao.values.row_enclosure import enclose_by_product, enclose_sharply
from markov_lrsao.values.row_explored import explored_of
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid, grids, lumped_grids, sharp_grid
from markov_lrsao.values.second_moments import Left, timed_edges, variance_of
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.slopes import coupling_error
from markov_lrsao.values.solving import Answer
from markov_lrsao.values.ways import Walk
from markov_lrsao.values.word_lumps import Words

__all__ = ["enclose_shared_row"]

Floats = npt.NDArray[np.float64]
_LUMPED_PLATEAUS = 3
"""Lumps of values are worth their while on so many plateaus, with as many objectives, not more."""
_MOST_STATES = 150_000
"""About half a minute to explore."""
_FEWER_STATES = 60_000
"""The same for what comes after the coarse mesh, which has given an answer by then."""
_NEGLIGIBLE = 1e-7
"""Steps that states which are not looked at may add to E[T], about."""
_MOST_NODES, _MANY_NODES = 1_200_000, 1_600_000
"""Of the product: a minute or so to explore and to solve; two or three with many objectives.

With these it has only begun to narrow after a minute.
"""
_MOST_REFINED = 250_000
_FIRST_THRESHOLD, _FINER, _GROWTH = 1e-3, 6, 1.6
_ROOM = 3
"""What a looser grid leaves to finer ones: two thirds."""
_SHARES = (0.0, 0.02, 0.1, 1.0)
"""Of the threshold, per grid: looser ones have fewer states."""
_WIDE_VARIANCE, _FOR_VARIANCE = fmpq(1, 20), fmpq(1, 500)
"""Relative width from which on a variance is asked of the product, if that has not told it yet, and
how narrow its E[T] should be then: variances are some seven times as wide."""
_LONGEST_TIMED = 300
"""Largest n at which slopes that know the time are made within seconds."""
_WIDEST = fmpq(100)
"""Relative width from which on an enclosure says nothing that is worth knowing."""
_LEAST_SHARP_N = 60
"""From here on a grid that tells rewards apart mostly fits where the walk knows the time."""
_LEAST_SHARP_PRODUCT, _MOST_SHARP = 30, 1_200_000
"""Between this n and that the product on the same grid does, with so many nodes (2 GB, a minute).

At smaller n there are several million: only who raises `max_states` beyond this waits for them.
"""
_FAILURES = (
    CrossingError,
    NotAbsorbingError,
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
)
"""A way that cannot be confirmed in floats leaves it to the others."""
_FEW_ACTIONS = 4
"""With more objectives words of slopes are lumped at once."""
_LUMPED_SHARES, _LAST = (0.0, 0.01, 0.1, 0.3, 1.0), 100.0
_LUMPED_THRESHOLD = 1e-4
_WORTH = 0.05
"""Of the width before: what may be added for states that were cut off."""
_SPARE = 1e-3
"""Times n: steps that states may add which are not looked at, where words are lumped."""
_MOST_LUMPS, _MORE_LUMPS = 25_000, 40_000
"""About half a minute to make; more where more than the default width is asked for."""


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
    most_refined = largest or _MOST_REFINED
    actions = len(place.law.actions)
    many = actions > _FEW_ACTIONS
    nodes = largest or (_MANY_NODES if many else _MOST_NODES)
    product = partial(
        enclose_by_product,
        place,
        moments,
        tolerance=tolerance,
        largest=nodes,
        lumped=actions >= _FEW_ACTIONS,
        timed=_timed(place, moments) and not many,
    )
    refined = partial(_refined, place, moments, tolerance, most_refined)
    ways = [product]
    sharp = partial(
        enclose_sharply,
        place,
        moments,
        largest=largest or _MOST_SHARP,
        timed=_timed(place, moments),
    )
    own = len(set(place.bridges)) == len(place.plateaus) and not many
    if own and place.law.n >= _LEAST_SHARP_N:
        timed = partial(_coarse, place, moments, most_refined, sharp_grid(place.law.n))
        ways = [timed, sharp, product]
    elif own and place.law.n >= _LEAST_SHARP_PRODUCT:
        ways = [sharp, product]
    elif own and largest is not None and largest > _MOST_SHARP:
        ways = [product, sharp]
    if len(place.plateaus) <= _LUMPED_PLATEAUS >= actions:
        lumps = partial(_by_lumps, place, moments, tolerance, fewer)
        coarse = partial(_coarse, place, moments, most, coarse_grid(place.law.n))
        # The product is the faster one where much is asked for, lumps where the default is enough.
        ways = [coarse, product, lumps] if tolerance < TOLERANCE else [coarse, lumps, product]
    with progress("refining values", total=len(ways) + 1) as bar:
        best, tried = attempt(ways[0], _FAILURES), ways[:1]
        for way in ways[1:]:
            bar.advance()
            if _is_narrow(best, tolerance):
                break
            best, tried = _better(best, attempt(way, _FAILURES)), [*tried, way]
        bar.advance()
        # Where slopes are long the product is not always the narrowest.
        narrow = _is_narrow(best, tolerance)
        if many:  # what comes now would take many minutes, and tell less
            return _or_ends(best, place, moments)
        if isinstance(best, Refused) or not (narrow or _timed(place, moments)):
            best = _better(best, attempt(refined, _FAILURES))
        elif product not in tried and _wants_variance(best, place, moments):
            again = partial(product, tolerance=_FOR_VARIANCE)
            best = _better(best, attempt(again, _FAILURES))
    return _or_ends(best, place, moments)


def _or_ends(best: Answer | Refused, place: Plateaus, moments: int) -> Answer | Refused:
    """Return what is certain all the same where there was no room: bounds by position alone."""
    if isinstance(best, Answer) or not isinstance(best.reason, StateSpaceTooLargeError):
        return best
    ends = attempt(lambda: _by_position(place, moments), _FAILURES)
    return best if isinstance(ends, Refused) else ends


def _by_position(place: Plateaus, moments: int) -> Answer:
    """Bound E[T] whatever all comparisons turn out to be (`markov_lrsao.values.anywhere`).

    Raises
    ------
    CrossingError, SolverError, StateSpaceTooLargeError
    """
    bounds = bounds_anywhere(place)
    merged = max(slope.merged for slope in place.slopes)
    apart = coupling_error(place.law.n, merged, bounds.largest) if merged else 0.0
    ends = (
        math.nextafter(bounds.lower[0] - apart, -math.inf),
        math.nextafter(bounds.upper[0] + apart, math.inf),
    )
    low, high = (fmpq(*end.as_integer_ratio()) for end in ends)
    unknown: list[Quantity] = [UNKNOWN] * (moments - 1)
    phases = [Quantity.enclosed(fmpq(0), high) for _ in counted_phases(place.law)[1:]]
    values = [[q, *unknown] for q in (Quantity.enclosed(max(fmpq(0), low), high), *phases)]
    return Answer(values, "crossing", len(bounds.upper), undecided=fmpq(1))


def _better(best: Answer | Refused, found: Answer | Refused) -> Answer | Refused:
    """Return what was found so far and now, together."""
    if not isinstance(best, Answer):
        return found
    return best if isinstance(found, Refused) else _both(best, found)


def _is_narrow(found: Answer | Refused, tolerance: fmpq) -> bool:
    return isinstance(found, Answer) and found.relative_width <= tolerance


def _wants_variance(answer: Answer, place: Plateaus, moments: int) -> bool:
    """Whether a variance is asked for that could be told far better than it is."""
    if not _timed(place, moments):
        return False
    variance = answer.values[0][1]
    if not isinstance(variance, Enclosed):
        return False
    width = variance.relative_width
    return width is None or width > _WIDE_VARIANCE


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
    values = [list(map(_common, a, b)) for a, b in zip(one.values, other.values, strict=True)]
    return replace(narrow, values=values)


def _common(a: Quantity, b: Quantity) -> Quantity:
    """Return what two enclosures of the same number have in common."""
    lower = max(a.lower, b.lower)
    upper = min((x for x in (a.upper, b.upper) if x is not None), default=None)
    if upper is not None and lower > upper:
        raise SolverError("two enclosures exclude each other; please report this instance")
    return Quantity.enclosed(lower, upper)


def _coarse(place: Plateaus, moments: int, most: int, grid: Grid) -> Answer:
    """Follow the likeliest states, all if they fit, and bound the steps from any others on.

    Raises
    ------
    StateSpaceTooLargeError
        What was left out is too likely for its crude bound to be of any use.
    """
    graph = RowGraph(SharedRow(place, [grid], timed=_timed(place, moments)))
    graph.explore_likely(most, _negligible(graph))
    return _useful(graph, moments, most)


def _refined(place: Plateaus, moments: int, tolerance: fmpq, most: int) -> Answer:
    """Follow values finely where that matters, more and more of them.

    Raises
    ------
    StateSpaceTooLargeError
    """
    graph = _begun(place, most, timed=_timed(place, moments))
    walk, levels = graph.walk, len(graph.walk.values.grids)
    lumped = _is_lumped(graph)
    shares = (_LUMPED_SHARES if lumped else _SHARES)[-levels:]
    enough, widths = to_float(tolerance), dict[Walk, float]()
    width, mean = _widths(graph, widths)
    threshold = width * (_LUMPED_THRESHOLD if lumped else _FIRST_THRESHOLD)
    while width > enough * mean and _fits(graph) and len(graph.states) * _GROWTH < most:
        finer = RowGraph(walk)
        finer.explore_likely(
            most,
            _negligible(graph) if lumped else 0.0,
            level=levels - 1,
            thresholds=[threshold * share for share in shares],
            widths=widths,
            width=width,
            last=_LAST if lumped else 1.0,
        )
        if not (_fits(finer) or (lumped and _cost(finer) < _WORTH * width)):
            break
        graph = finer
        width, mean = _widths(graph, widths)
        threshold /= _FINER
    return _useful(graph, moments, most)


def _timed(place: Plateaus, moments: int) -> bool:
    """Whether variances are asked for, and slopes short enough for series of fractions."""
    return moments > 1 and place.law.n <= _LONGEST_TIMED


def _begun(place: Plateaus, most: int, *, timed: bool) -> RowGraph:
    """Explore the loosest grid; if it leaves too little room, one that is looser still."""
    every, lumped = grids(place.law.n), lumped_grids(place.law.n)
    choices = [(lumped[1:], most // 2), (lumped, most)]
    if len(place.law.actions) <= _FEW_ACTIONS:
        # A grid without fresh climbs has fewer states, one without words much fewer.
        choices = [(every[-2:], most // _ROOM), (every, most // 2), *choices]
    for chosen, room in choices:
        graph = RowGraph(SharedRow(place, chosen, timed=timed))
        graph.explore_likely(room, _negligible(graph))
        if _fits(graph):
            break
    return graph


def _is_lumped(graph: RowGraph) -> bool:
    return graph.walk.values.grids[0].words != Words.EACH


def _negligible(graph: RowGraph) -> float:
    """Return about how many steps need not be looked at.

    For a variance they count once more by what is left then, which is far too large a number.
    """
    longest = graph.walk.longest
    if longest is None:
        return 0.0
    if _is_lumped(graph):
        return _SPARE * graph.walk.n
    return _NEGLIGIBLE / (max(1.0, longest) if graph.walk.timed else 1.0)


def _fits(graph: RowGraph) -> bool:
    """Whether what was cut off is about as good as nothing."""
    return not graph.cut or graph.left <= 2 * _negligible(graph)


def _cost(graph: RowGraph) -> float:
    """Return about how many steps are added for what was cut off."""
    return np.inf if graph.walk.longest is None else graph.left


def _widths(graph: RowGraph, widths: dict[Walk, float]) -> tuple[float, float]:
    """Note about how wide what is left is at nodes of level 0; return width and mean of E[T]."""
    system = float_system(graph.options, len(graph.states))
    low, high = (
        system.about(steps, sign)
        for steps, sign in zip(steps_of(graph.options), (-1, 1), strict=True)
    )
    for state, level, width in zip(graph.states, graph.levels, high - low, strict=True):
        if level == 0:
            widths[state] = float(width)
    return float(high[0] - low[0]), float(low[0])


def _useful(graph: RowGraph, moments: int, most: int) -> Answer:
    """Return bounds, if they are narrow enough to be of any use."""
    if not (graph.cut and graph.walk.longest is None):
        answer = _bounded(graph, moments)
        if answer.relative_width <= _WIDEST:
            return answer
    raise too_large(most)


def _bounded(graph: RowGraph, moments: int) -> Answer:
    """Bound E[T] and the phases over all options.

    States that were cut off, and runs that were lost, cost what is left at most at their position
    at the upper end (`markov_lrsao.values.anywhere`). At the lower end states that were cut off
    cost what is left at least for the whole run, and nothing for its phases.
    """
    found = explored_of(graph)
    whole, *phases = counted_phases(graph.walk.law)
    assert all(whole)
    values = [[q, *[UNKNOWN] * (moments - 1)] for q in (found.total(), *map(found.phase, phases))]
    if graph.walk.timed and moments > 1:
        variance = attempt(
            lambda: _variance(graph, found.system, values[0][0], found.most), (SolverError,)
        )
        values[0][1] = UNKNOWN if isinstance(variance, Refused) else variance
    return Answer(values, "crossing", len(graph.states), undecided=found.undecided())


def _variance(graph: RowGraph, system: FloatSystem, mean: Quantity, left: Floats) -> Quantity:
    """Return what is known of Var[T]."""
    twice = _left_twice(graph, left) if left.any() else None
    return variance_of(system, timed_edges(graph), steps_of(graph.options), mean, twice)


def _left_twice(graph: RowGraph, left: Floats) -> Left:
    """Return bounds of both moments of what is left, per option; `left` has those of E[steps]."""
    walk = graph.walk
    assert walk.anywhere is not None, "runs are lost only where what is left is bounded"
    twice = second_anywhere(walk.place, walk.slopes, walk.anywhere)
    cut = set(graph.cut)
    first, second, untold = np.zeros((3, len(graph.options)))
    for i in np.flatnonzero(left).tolist():
        owner = graph.options[i].owner
        state = graph.states[owner]
        at = state.position if owner in cut else walk.below(state)
        first[i], second[i] = walk.anywhere.upper[at], twice[at]
        untold[i] = graph.untold(owner)
    owned = np.isin([option.owner for option in graph.options], graph.cut)
    return Left(first, second, owned, untold)
