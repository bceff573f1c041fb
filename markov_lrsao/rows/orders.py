"""What a known order of a row's entries says about their values, and the other way round.

A pattern may leave the maximum of a row open. `resolutions` lists how it may turn out;
`narrowed` cuts intervals down to the values that agree with a pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.rows.patterns import Pattern

__all__ = ["Option", "largest_of", "narrowed", "resolutions"]


@dataclass(frozen=True)
class Option:
    """One way in which the greedy choice may turn out: these actions tie for the maximum."""

    greedy: tuple[int, ...]
    pattern: Pattern


def largest_of(candidates: Sequence[Interval]) -> Interval:
    """Return bounds of the maximum of numbers in the given intervals."""
    low = max(candidates, key=lambda b: (b.low, not b.low_attained))
    high = max(candidates, key=lambda b: (b.high, b.high_attained))
    return Interval(low.low, high.high, low.low_attained, high.high_attained)


def narrowed(pattern: Pattern, box: Sequence[Interval]) -> tuple[Interval, ...]:
    """Cut intervals down to the values that agree with the known relations of a pattern.

    Raises
    ------
    VerificationError
        No values agree: the intervals or the pattern are wrong.
    """
    result = list(box)
    known = _known_relations(pattern)
    for _ in result:
        changed = False
        for i, j, relation in known:
            cut = _cut(result[i], _ZERO if j < 0 else result[j], relation)
            if cut is not result[i]:
                result[i], changed = cut, True
        if not changed:
            break
    return tuple(result)


_ZERO = Interval.point(0)


@cache
def _known_relations(pattern: Pattern) -> tuple[tuple[int, int, int], ...]:
    """Return (i, j, relation of i to j) for all known relations; j = -1 stands for 0."""
    k = len(pattern.signs)
    signs = [(i, -1, s) for i, s in enumerate(pattern.signs) if s != UNKNOWN]
    return (
        *signs,
        *(
            (i, j, pattern.relation(i, j))
            for i in range(k)
            for j in range(k)
            if i != j and pattern.relation(i, j) != UNKNOWN
        ),
    )


def _cut(x: Interval, y: Interval, relation: int) -> Interval:
    """Return the part of x that can have the given relation to some number in y."""
    low, low_attained, high, high_attained = x.low, x.low_attained, x.high, x.high_attained
    same = True
    if relation >= 0:
        closed = relation == 0 and y.low_attained
        if y.low > low or (y.low == low and low_attained and not closed):
            low, low_attained, same = y.low, closed, False
    if relation <= 0:
        closed = relation == 0 and y.high_attained
        if y.high < high or (y.high == high and high_attained and not closed):
            high, high_attained, same = y.high, closed, False
    if same:
        return x
    if low > high or (low == high and not (low_attained and high_attained)):
        raise VerificationError(
            f"bounds {x} and {y} of two Q-entries contradict their order; please report this"
        )
    return Interval(low, high, low_attained, high_attained)


def resolutions(pattern: Pattern, box: Sequence[Interval]) -> list[Option]:
    """Return every way in which the maximum of a row may turn out."""
    maximal = pattern.maximal
    if pattern.undecided is None:
        return [Option(maximal, pattern)]
    result = []
    for size in range(1, len(maximal) + 1):
        for greedy in combinations(maximal, size):
            resolved = _resolve(pattern, greedy)
            if resolved is not None and _agrees(resolved, box):
                result.append(Option(greedy, resolved))
    return result


def _agrees(pattern: Pattern, box: Sequence[Interval]) -> bool:
    try:
        narrowed(pattern, box)
    except VerificationError:
        return False
    return True


def _resolve(pattern: Pattern, greedy: tuple[int, ...]) -> Pattern | None:
    """Return the pattern in which exactly the given actions attain the maximum, if any."""
    k = len(pattern.signs)
    order = []
    for i, j in combinations(range(k), 2):
        known, relation = pattern.relation(i, j), pattern.relation(i, j)
        if i in greedy and j in greedy:
            relation = 0
        elif i in greedy:
            relation = 1
        elif j in greedy:
            relation = -1
        if known not in (UNKNOWN, relation):
            return None
        order.append(relation)
    signs = list(pattern.signs)
    for i in greedy:  # entries above a non-negative one, or equal to one, have its sign
        for j in range(k):
            if signs[i] == UNKNOWN and signs[j] != UNKNOWN and (j in greedy or signs[j] == 1):
                signs[i] = signs[j]
    if any(
        signs[i] not in (UNKNOWN, signs[j]) and signs[j] != UNKNOWN for i in greedy for j in greedy
    ):
        return None
    return Pattern(tuple(signs), tuple(order))
