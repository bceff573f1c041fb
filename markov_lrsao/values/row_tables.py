"""Tables of a walk on a shared row for the kernel that explores it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.entries import NO_ENTRY
from markov_lrsao.values.options import Ends, ends_of
from markov_lrsao.values.passings import passings
from markov_lrsao.values.policies import FloatArray
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.ways import Walk, Way
from markov_lrsao.values.word_lumps import Words

__all__ = [
    "WEIGHT",
    "Events",
    "Growing",
    "Lists",
    "lumps",
    "move_tables",
    "slope_tables",
    "weight_of",
]

WEIGHT = 9
"""Columns of a weight: ends of share, first and second coefficient, what it does not tell, and ends
of those parts of the first coefficient that are negative where others are not."""
Change = Callable[[Walk, int], Walk]
"""From a state and the maximum that is seen, if any, to the state after it."""
_EVENTS = 1 << 12
_FIRST_ROOM = 1 << 16


def weight_of(way: Way) -> tuple[float, ...]:
    """Return a way's weight as numbers."""
    return (*way.share, *way.first, *way.second, way.untold, 0.0, 0.0)


class Growing:
    """An array that grows at its end."""

    def __init__(self, dtype: Any, first: Sequence[float] = ()) -> None:
        self.items = np.zeros(_FIRST_ROOM, dtype=dtype)
        self.size = 0
        self.extend(first)

    def extend(self, items: Sequence[float]) -> None:
        """Add items at the end."""
        size = self.size + len(items)
        if size > len(self.items):
            self.items = np.concatenate((self.items, np.zeros(size, dtype=self.items.dtype)))
        self.items[self.size : size] = items
        self.size = size


class Lists:
    """Lists of ways, one behind the other: where each begins, rows, weights."""

    def __init__(self) -> None:
        self._first, self._row = Growing(np.int32, [0]), Growing(np.int32)
        self._low, self._high = Growing(np.float64), Growing(np.float64)
        self._weights = Growing(np.float64)

    def add(self, ways: Sequence[tuple[int, Way]]) -> int:
        """Add a list and return its number."""
        self._row.extend([row for row, _ in ways])
        self._low.extend([way.share[0] for _, way in ways])
        self._high.extend([way.share[1] for _, way in ways])
        self._weights.extend([x for _, way in ways for x in weight_of(way)])
        self._first.extend([self._row.size])
        return self._first.size - 2

    @property
    def weights(self) -> FloatArray:
        """The weights of all ways, a row each."""
        return self._weights.items[: self._weights.size].reshape(-1, WEIGHT)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the kernel reads."""
        return tuple(x.items for x in (self._first, self._row, self._low, self._high))


class Events:
    """What may happen to a row: changes by number, the first of which changes nothing."""

    def __init__(self, walk: SharedRow) -> None:
        self._walk = walk
        self.changes: list[Change] = [lambda state, _: state]
        self._known: dict[tuple[Any, ...], int] = {}

    def add(self, change: Change) -> int:
        """Number a change."""
        self.changes.append(change)
        assert len(self.changes) <= _EVENTS
        return len(self.changes) - 1

    def learns(self, action: int, factor: fmpq, gain: fmpq, *, keeps: bool) -> int:
        """Number the update of an entry, which may see a maximum."""
        walk, key = self._walk, (action, factor.p, factor.q, gain.p, gain.q, keeps)

        def change(state: Walk, above: int) -> Walk:
            seen = None if above == NO_ENTRY else (above, walk.seen)
            value = walk.values.moved(state.entries[action], factor, gain, seen)
            return walk.learnt(state, action, value, keeps=keeps)

        if key not in self._known:
            self._known[key] = self.add(change)
        return self._known[key]

    def climbs(self, p: int, i: int) -> int:
        """Number the climb of a plateau's bridge from a position on."""
        return self.add(lambda state, _: self._walk.climbed(state._replace(position=p), i))


def move_tables(walk: SharedRow, events: Events) -> tuple[Any, ...]:
    """Tabulate what may be proposed on plateaus."""
    law, n, actions = walk.law, walk.n, len(walk.law.actions)
    shape = (n + 1, actions, 2)
    plateau = np.full(n + 1, -1, dtype=np.int32)
    accepted, event = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.int32)
    reads = np.full(shape, -1, dtype=np.int32)
    climbing, climb_steps = np.zeros(n + 1, dtype=np.int32), np.zeros((n + 1, 2))
    shares = np.zeros((n + 1, 2, actions + 1, 2))
    for p, i in walk.plateau.items():
        plateau[p] = i
        climb_steps[p] = ends_of(walk.time(p, walk.place.plateaus[i][1])[1])
        climbing[p] = events.climbs(p, i)
        for d, share in ((DOWN, p), (UP, n - p)):
            q = p + 2 * d - 1
            if not share:
                continue
            for number in range(1, actions + 1):
                shares[p, d, number] = ends_of(fmpq(share, n * number))
            for a in range(actions):
                accepted[p, a, d] = law.accepted[p, a, d]
                if q == n or not law.accepted[p, a, d]:
                    continue
                gain = walk.alpha * law.reward(p, a, d)
                if q in walk.plateau:
                    keeps = gain == walk.penalty
                    event[p, a, d] = events.learns(a, walk.lam, gain, keeps=keeps)
                else:
                    event[p, a, d] = events.learns(a, walk.keep, gain, keeps=False)
                    reads[p, a, d] = i - 1 if d == DOWN else -1
    rejected = np.array(
        [events.learns(a, walk.lam, fmpq(0), keeps=False) for a in range(actions)], dtype=np.int32
    )
    bridge = np.array(walk.place.bridges, dtype=np.int32)
    end = np.array([last for _, last in walk.place.plateaus], dtype=np.int32)
    return (plateau, accepted, event, reads, rejected, bridge, climbing, climb_steps, end, shares)


def lumps(walk: SharedRow) -> Iterator[tuple[Words, int, int, list[int], list[int]]]:
    """Yield all lumps: kind, slope, name, word -> name of its lump, words of the lump."""
    for kind in dict.fromkeys(grid.words for grid in walk.values.grids):
        for s, slope in enumerate(walk.slopes):
            lump_of = [walk.lumps[kind].name(s, w) for w in range(len(slope.words))]
            for name in sorted(set(lump_of)):
                yield kind, s, name, lump_of, walk.lumps[kind].members(s, name)


def slope_tables(walk: SharedRow) -> tuple[Any, ...]:
    """Tabulate slopes: words, options of lumps of them (`markov_lrsao.values.passings`), ways."""
    slopes, kinds = walk.slopes, [grid.words for grid in walk.values.grids]
    shape = (len(slopes), max(len(s.words) for s in slopes))
    entry, learnt = np.zeros(shape, dtype=np.int32), np.full(shape, -1, dtype=np.int32)
    options = np.zeros((len(kinds), *shape, 2), dtype=np.int32)
    steps, first_way = list[Ends](), [0]
    side, after, ends = list[int](), list[int](), list[Ends]()
    known: dict[tuple[Words, int, int], tuple[int, int]] = {}
    for s, slope in enumerate(slopes):
        for w, word in enumerate(slope.words):
            entry[s, w] = word.entry
            found = slope.learnt[w]
            learnt[s, w] = -1 if found is None else found
    # What options that are averages of others tell of the time is not an average: all are kept.
    longest = None if walk.timed else walk.longest
    for kind, s, name, lump_of, words in lumps(walk):
        begin = len(steps)
        for x in passings(slopes[s], words, lump_of, longest):
            steps.append(x.steps)
            for way, chance in x.ways.items():
                side.append(way[0])
                after.append(way[1])
                ends.append(chance)
            first_way.append(len(side))
        known[kind, s, name] = (begin, len(steps))
    for level, kind in enumerate(kinds):
        for (other, s, name), option in known.items():
            if other == kind:
                options[level, s, name] = option
    low, high = np.array(ends).T.copy()
    ways = (np.array(first_way, np.int32), np.array(side, np.int32), np.array(after, np.int32))
    return (entry, learnt, options, np.array(steps), *ways, low, high)
