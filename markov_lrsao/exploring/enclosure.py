"""E[T] of an agent that explores, enclosed as narrowly as the number of states allows.

Grids get finer until the enclosure is narrow, or there are too many states. Where no greedy action
is open, the abstraction is the chain itself and E[T] is exact. Where not even the coarsest grid
fits, what is left is the chain of positions with any action greedy at any time: valid for every
agent with this epsilon, and wide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from markov_lrsao.chains.hitting import central_moments
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.errors import (
    NotAbsorbingError,
    Refused,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    attempt,
)
from markov_lrsao.exploring.bounds import Bounds, bounds_of
from markov_lrsao.exploring.tables import Explored, Law, explore, grid_width
from markov_lrsao.progress import Progress, no_progress

__all__ = ["MAX_STATES", "Enclosure", "enclose_exploring", "follow_on_grid"]

MAX_STATES = 60_000
"""Default limit: some seconds."""
_MOST_EXACT = 4000
_FINEST, _COARSEST = 6, 5
_ZERO = fmpq(0)
Interval = tuple[fmpq, fmpq]


@dataclass(frozen=True)
class Enclosure:
    """What is known of T.

    Attributes
    ----------
    mean, variance : lower and upper ends
    states : of the abstraction that was used last
    width : of its grid; None: only positions fitted
    """

    mean: Interval
    variance: Interval
    states: int
    width: fmpq | None


def enclose_exploring(
    law: Law,
    begin: Mapping[int, fmpq],
    stop: frozenset[int],
    tolerance: fmpq,
    *,
    largest: int = MAX_STATES,
    progress: Progress = no_progress,
) -> Enclosure:
    """Return an enclosure of E[T] and Var[T].

    Parameters
    ----------
    begin : position -> probability at the start
    stop : positions at which a run ends
    tolerance : relative width at which grids are fine enough
    """
    law.check_bounded()
    starts = [p for p, w in begin.items() if w and p not in stop]
    if not starts:
        return Enclosure((_ZERO, _ZERO), (_ZERO, _ZERO), 0, None)
    best: Enclosure | None = None
    for width in _widths(law):
        found = attempt(
            lambda width=width: explore(  # type: ignore[misc]
                law, width, starts, stop, largest=largest, progress=progress
            ),
            (StateSpaceTooLargeError,),
        )
        if isinstance(found, Refused):
            break
        now = _enclosed(found, begin)
        best = now if best is None else _both(best, now)
        low, high = best.mean
        if found.decided or high - low <= tolerance * high:
            break
    if best is None:
        return _enclosed(_positions_only(law, starts, stop), begin, width=None)
    return best


def _widths(law: Law) -> list[fmpq]:
    """Return widths of grids from coarse to fine; the coarsest tells little more than signs."""
    unit = grid_width(law)
    return [unit * fmpq(2) ** level for level in range(_COARSEST, -_FINEST, -1)]


def follow_on_grid(
    law: Law,
    begin: Mapping[int, fmpq],
    stop: frozenset[int],
    *,
    largest: int = 4 * MAX_STATES,
    progress: Progress = no_progress,
) -> Enclosure:
    """Return T of a greedy agent, if some grid decides all of its choices.

    Raises
    ------
    StateSpaceTooLargeError, UndecidedComparisonError, NotAbsorbingError
    """
    starts = [p for p, w in begin.items() if w and p not in stop]
    if not starts:
        return Enclosure((_ZERO, _ZERO), (_ZERO, _ZERO), 0, None)
    for width in _widths(law):
        found = explore(law, width, starts, stop, largest=largest, progress=progress)
        if found.decided:
            _check_ending(found)
            return _enclosed(found, begin)
    raise UndecidedComparisonError(
        f"{law.algorithm.name}: Q-entries on a grid of {width} leave a greedy choice open; "
        f"estimate with `simulate()`"
    )


def _check_ending(explored: Explored) -> None:
    """Refuse a chain in which a run may never end."""
    before: dict[int, list[int]] = {}
    for i, moves in enumerate(explored.moves):
        for out in moves:
            for _, j in out:
                before.setdefault(j, []).append(i)
    seen = {-1}
    stack = [-1]
    while stack:
        for i in before.get(stack.pop(), ()):
            if i not in seen:
                seen.add(i)
                stack.append(i)
    if len(seen) <= len(explored.states):
        raise NotAbsorbingError(
            f"{explored.law.algorithm.name}: from this start a run can get stuck for ever, and "
            f"E[T] is infinite; give a step limit to `simulate()`"
        )


def _positions_only(law: Law, starts: list[int], stop: frozenset[int]) -> Explored:
    """Return the process of positions alone, at which any action may be greedy."""
    found = Explored(law, fmpq(1))
    every = list(range(len(law.actions)))
    order = [*starts, *(p for p in range(law.n + 1) if p not in stop and p not in starts)]
    place = {p: i for i, p in enumerate(order)}
    for p in order:
        found.states.append((p, ()))
        found.greedy.append(every)
        found.tied.append(len(every) == 1)
        found.moves.append(
            [[(chance, place.get(to, -1)) for chance, to, _ in law.moves(p, a)] for a in every]
        )
    return found


def _enclosed(
    explored: Explored, begin: Mapping[int, fmpq], width: fmpq | None = _ZERO
) -> Enclosure:
    """Return what an abstraction shows, exactly where nothing is open and it is small."""
    shown = explored.width if width == _ZERO else width
    first = {explored.states[i][0]: i for i in reversed(range(len(explored.states)))}
    weights = [(first[p], w) for p, w in begin.items() if w and p in first]
    decided = explored.decided or explored.law.algorithm.epsilon == 1
    if decided and len(explored.states) <= _MOST_EXACT:
        mean, variance = _exact(explored, weights)
        return Enclosure((mean, mean), (variance, variance), len(explored.states), shown)
    mean_ends, square = _averaged(bounds_of(explored), weights)
    low, high = mean_ends
    spread = max(_ZERO, square[0] - high * high), square[1] - low * low
    return Enclosure(mean_ends, spread, len(explored.states), shown)


def _averaged(bounds: Bounds, weights: list[tuple[int, fmpq]]) -> tuple[Interval, Interval]:
    def mean(numbers: object) -> fmpq:
        return sum(
            (w * fmpq(*float(numbers[i]).as_integer_ratio()) for i, w in weights),  # type: ignore[index]
            _ZERO,
        )

    return (
        (mean(bounds.low), mean(bounds.high)),
        (mean(bounds.square_low), mean(bounds.square_high)),
    )


def _both(one: Enclosure, other: Enclosure) -> Enclosure:
    """Return what two enclosures show together; the second is of the finer grid."""
    mean = max(one.mean[0], other.mean[0]), min(one.mean[1], other.mean[1])
    variance = max(one.variance[0], other.variance[0]), min(one.variance[1], other.variance[1])
    return Enclosure(mean, variance, other.states, other.width)


def _exact(explored: Explored, weights: list[tuple[int, fmpq]]) -> tuple[fmpq, fmpq]:
    """Return mean and variance of the chain that nothing is open in."""
    law = explored.law
    epsilon, actions, end = law.algorithm.epsilon, len(law.actions), len(explored.states)
    rows: list[dict[int, fmpq]] = []
    for (p, _), greedy, moves in zip(explored.states, explored.greedy, explored.moves, strict=True):
        row: dict[int, fmpq] = {}
        whole = law.denominator_at(p)
        for a in range(actions):
            share = epsilon / actions
            if a in greedy:
                share += (1 - epsilon) / len(greedy)
            for chance, to in moves[a]:
                j = end if to < 0 else to
                row[j] = row.get(j, _ZERO) + share * fmpq(chance, whole)
        rows.append(row)
    rows.append({end: fmpq(1)})
    chain = chain_from_rows(rows)
    means, variances = central_moments(chain, np.arange(chain.size) == end, 2)
    mean = sum((w * means[i] for i, w in weights), _ZERO)
    spread = sum((w * (variances[i] + (means[i] - mean) ** 2) for i, w in weights), _ZERO)
    elsewhere = 1 - sum((w for _, w in weights), _ZERO)  # begun where runs end
    return mean, spread + elsewhere * mean * mean
