r"""Sets of Q-tables that no run ever leaves, and that do not hold the optimum.

A *member* is a position and a box, an interval for every entry. A set of members is closed if for
each of them, for every action that may be greedy in its box and every proposal, the position after
it is not the optimum and what the update makes of the box lies in a member at that position. Then
a run that is in one of them never ends: by induction over its steps.

An action may be greedy if no other entry of its row is certainly larger. In the tables in which it
is, its entry is the row's largest; so it is at least as large as every lower end of the row, and
an update within the row is (keep + bootstrap) x + gain.

`closed_from` looks for such a set around one exact table: images are joined by position and by what
is known of the order within rows; an end that keeps moving goes to the next *landmark*, a fixed
point of an update or a value of the table. What it finds is handed to `is_closed`, which knows
nothing of how it was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from flint import fmpq

from markov_lrsao.exact.intervals import Interval, compare
from markov_lrsao.model.law import Move, StepLaw

__all__ = ["Box", "Member", "closed_from", "is_closed"]

Box: TypeAlias = tuple[Interval, ...]
"""Intervals of all entries: K row + action."""
Member: TypeAlias = tuple[int, Box]
Key: TypeAlias = tuple[int, tuple[int, ...]]
_MOST_MEMBERS, _MOST_UPDATES = 200, 4_000
_PATIENCE = 2
"""So often an end may move before it goes to a landmark."""


def possible_actions(law: StepLaw, position: int, box: Box) -> Iterator[tuple[int, Interval]]:
    """Yield the actions that may be greedy, and where their entries lie then."""
    actions = len(law.actions)
    first = int(law.row[position]) * actions
    row = box[first : first + actions]
    lowest = max(x.low for x in row)
    # At the largest of all lower ends it is enough that one of them is not attained.
    attained = all(x.low_attained for x in row if x.low == lowest)
    for a, x in enumerate(row):
        if any(compare(x, y) == -1 for b, y in enumerate(row) if b != a):
            continue
        yield a, x if x.low == lowest else Interval(lowest, x.high, attained, x.high_attained)


def images(law: StepLaw, member: Member) -> Iterator[Member]:
    """Yield what every proposal of every action that may be greedy makes of a member.

    At the optimum the box does not matter, and is left as it was.
    """
    position, box = member
    actions = len(law.actions)
    first = int(law.row[position]) * actions
    for a, chosen in possible_actions(law, position, box):
        for e in law.proposals(int(law.kind[position]), (a,)):
            if e.share.numerator(position, law.n) == 0:
                continue
            to = position + e.moved
            if to == law.optimum:
                yield to, box
                return
            after = _updated(law, e.move, chosen, box, int(law.row[to]))
            yield to, (*box[: first + a], after, *box[first + a + 1 :])


def _updated(law: StepLaw, move: Move, chosen: Interval, box: Box, row: int) -> Interval:
    algorithm, actions = law.algorithm, len(law.actions)
    if move.stays_in_row:
        return chosen.affine(algorithm.keep + algorithm.bootstrap, move.gain)
    seen = _largest(box[row * actions : (row + 1) * actions])
    kept = chosen.affine(algorithm.keep, move.gain)
    return kept + seen.affine(algorithm.bootstrap, fmpq(0))


def _largest(row: Sequence[Interval]) -> Interval:
    """Return where the largest of some entries lies."""
    low, high = max(x.low for x in row), max(x.high for x in row)
    return Interval(
        low,
        high,
        all(x.low_attained for x in row if x.low == low),
        any(x.high_attained for x in row if x.high == high),
    )


def is_closed(law: StepLaw, members: Sequence[Member]) -> bool:
    """Whether no run leaves a set of members, the optimum being in none of them."""
    at: dict[int, list[Box]] = {}
    for position, box in members:
        if position == law.optimum:
            return False
        at.setdefault(position, []).append(box)
    return all(
        any(all(x in y for x, y in zip(box, other, strict=True)) for other in at.get(to, ()))
        for member in members
        for to, box in images(law, member)
    )


def closed_from(law: StepLaw, position: int, table: Sequence[fmpq]) -> list[Member] | None:
    """Return a closed set that holds one table at a position; None: none was found."""
    if position == law.optimum:
        return None
    landmarks = _landmarks(law, table)
    start: Box = tuple(Interval.point(x) for x in table)
    found: dict[Key, Box] = {_key(law, position, start): start}
    moved: dict[tuple[Key, int], int] = {}
    waiting, updates = list(found), 0
    while waiting:
        key = waiting.pop()
        for to, box in images(law, (key[0], found[key])):
            updates += 1
            if to == law.optimum or updates > _MOST_UPDATES or len(found) > _MOST_MEMBERS:
                return None
            into = _key(law, to, box)
            before = found.get(into)
            if before is None:
                found[into] = box
            elif all(x in y for x, y in zip(box, before, strict=True)):
                continue
            else:
                found[into] = _grown(before, box, landmarks, moved, into)
            if into not in waiting:
                waiting.append(into)
    members = [(key[0], box) for key, box in found.items()]
    return members if is_closed(law, members) else None


def _key(law: StepLaw, position: int, box: Box) -> Key:
    """Return what is told apart: positions, signs, and the order within rows."""
    actions = len(law.actions)
    signs = [x.sign for x in box]
    order = [
        compare(box[i], box[j])
        for first in range(0, len(box), actions)
        for i in range(first, first + actions)
        for j in range(i + 1, first + actions)
    ]
    return position, (*signs, *order)


def _landmarks(law: StepLaw, table: Sequence[fmpq]) -> list[fmpq]:
    """Return values at which ends may come to rest: what updates tend to, and what is there."""
    algorithm = law.algorithm
    gains = [algorithm.learn * reward for reward in law.rewards]
    within = 1 - algorithm.keep - algorithm.bootstrap
    limits = [g / within for g in gains]
    worst, best = min([fmpq(0), *limits]), max([fmpq(0), *limits])
    return sorted({fmpq(0), *limits, *gains, *table, worst, best})


def _grown(
    before: Box,
    box: Box,
    landmarks: Sequence[fmpq],
    moved: dict[tuple[Key, int], int],
    key: Key,
) -> Box:
    """Return boxes joined; ends that have moved before go to the landmark beyond."""
    joined = []
    for i, (x, y) in enumerate(zip(before, box, strict=True)):
        if y in x:
            joined.append(x)
            continue
        both = x.join(y)
        moved[key, i] = moved.get((key, i), 0) + 1
        if moved[key, i] > _PATIENCE:
            low, high = both.low, both.high
            low_attained, high_attained = both.low_attained, both.high_attained
            if both.low != x.low:
                beyond = max((v for v in landmarks if v <= low), default=low)
                low, low_attained = beyond, beyond == low and low_attained
            if both.high != x.high:
                beyond = min((v for v in landmarks if v >= high), default=high)
                high, high_attained = beyond, beyond == high and high_attained
            both = Interval(low, high, low_attained, high_attained)
        joined.append(both)
    return tuple(joined)
