r"""Walks on a shared row as a product: what happens to the row, and what happens around it.

A state of the walk (`markov_lrsao.values.shared_row`) is a row of entries with their orders, and
around it a position, words of slopes and maxima that are seen. There are ten to fifty times fewer
rows than states, and what a step does to a row depends on little: which action is chosen, what it
gains, what it sees. So rows are numbered, and every question about one (who is greedy, what comes
after an event, how it is relaxed) is answered once, in rationals, by the walk itself. The product
is explored by a kernel, a million states in seconds. Where the kernel meets a question that has not
been answered its node waits, and the questions are collected.

Nodes are looked at in rounds, those that matter most first, as in `markov_lrsao.values.row_graph`:
finely where it matters, handed down to looser grids elsewhere, and cut where all that is left is
unlikely. Which of these a node meets rests on estimates; that all of them are right does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.entries import NO_ENTRY
from markov_lrsao.values.options import CERTAIN, LOST, Ends, ends_of
from markov_lrsao.values.policies import FloatArray, FloatSystem
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.ways import Told, Walk, Ways
from markov_lrsao.values.word_lumps import Words

__all__ = ["Product", "RowProduct", "Widths"]

Row = tuple[tuple[int, ...], tuple[int, ...]]
"""Entries and their orders."""
IntArray = npt.NDArray[np.int32]

_EVENTS, _SEEN, _ROWS = 1 << 12, 1 << 16, 1 << 24
_FIRST_ROOM = 1 << 16
_GAPS = 200_000
_ROUND = 4.0
"""From round to round nodes that matter so many times less are looked at."""
_LEAST = 1e-18
_PARTED, _TOLD, _CHOSEN = range(3)


class Widths(NamedTuple):
    """About how wide what is left is at the nodes of level 0 of an exploration."""

    nodes: IntArray
    table: IntArray
    widths: FloatArray


_NOTHING_KNOWN = Widths(
    np.zeros((0, 1), dtype=np.int32), np.full(1, -1, dtype=np.int32), np.zeros(0)
)


class _Growing:
    """An array that grows at its end."""

    def __init__(self, dtype: Any, first: Sequence[float] = ()) -> None:
        self.items = np.zeros(_FIRST_ROOM, dtype=dtype)
        self.size = 0
        self.extend(first)

    def extend(self, items: Sequence[float]) -> None:
        size = self.size + len(items)
        if size > len(self.items):
            self.items = np.concatenate((self.items, np.zeros(size, dtype=self.items.dtype)))
        self.items[self.size : size] = items
        self.size = size


class _Lists:
    """Lists of ways, one behind the other: where each begins, rows, probabilities."""

    def __init__(self) -> None:
        self._first, self._row = _Growing(np.int32, [0]), _Growing(np.int32)
        self._low, self._high = _Growing(np.float64), _Growing(np.float64)

    def add(self, ways: Sequence[tuple[int, Ends]]) -> int:
        """Add a list and return its number."""
        self._row.extend([row for row, _ in ways])
        self._low.extend([low for _, (low, _) in ways])
        self._high.extend([high for _, (_, high) in ways])
        self._first.extend([self._row.size])
        return self._first.size - 2

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the kernel reads."""
        return tuple(x.items for x in (self._first, self._row, self._low, self._high))


class Product(NamedTuple):
    """What was found: options grouped by owner, and the nodes they lead to.

    Attributes
    ----------
    nodes : per node level, position, phase, row, words, maxima; node 0 is the start
    system : its options, as a system of linear inequalities
    steps : bounds of E[steps] per option
    lost : bounds of the probability with which an option loses a run
    cut : nodes that were not looked at
    left : about the steps that these may add to E[T]
    open : number of nodes in which a comparison stays open
    """

    nodes: IntArray
    table: IntArray
    system: FloatSystem
    steps: tuple[FloatArray, FloatArray]
    lost: FloatArray
    cut: npt.NDArray[np.int64]
    left: float
    open: int

    @property
    def phases(self) -> IntArray:
        """The phase of every option."""
        found: IntArray = self.nodes[self.system.owner, 2]
        return found


class RowProduct:
    """All that is known of a walk's rows; explorations share it."""

    def __init__(self, walk: SharedRow) -> None:
        self.walk = walk
        self._numbers: dict[Row, int] = {}
        self.rows: list[Row] = []
        self._seen_numbers: dict[int, int] = {}
        self._seen: list[int] = []
        self._events: list[Callable[[Walk, int], Walk]] = [lambda state, _: state]
        self._kinds, self._first_option = _Growing(np.int32), _Growing(np.int32, [0])
        self._option_row, self._option_group = _Growing(np.int32), _Growing(np.int32)
        self._ways, self._hands, self._seens = _Lists(), _Lists(), _Lists()
        levels = len(walk.values.grids)
        self._relaxed = np.zeros((levels, _SEEN), dtype=np.int32)
        self._keys = np.full(_FIRST_ROOM, -1, dtype=np.int64)
        self._items = np.zeros(_FIRST_ROOM, dtype=np.int32)
        self._known = 0
        self._moves = self._all_moves()
        self._slopes = self._all_slopes()
        self._setting = self._all_settings()
        self._most_left = np.full(walk.n + 1, np.inf)
        if walk.anywhere is not None:
            for p, steps in walk.anywhere.upper.items():
                self._most_left[p] = steps

    def _row(self, row: Row) -> int:
        number = self._numbers.setdefault(row, len(self.rows))
        if number == len(self.rows):
            assert number < _ROWS
            self.rows.append(row)
        return number

    def _seen_number(self, entry: int) -> int:
        """Number a maximum that is seen, and relax it by all grids."""
        if entry == NO_ENTRY:
            return -1
        number = self._seen_numbers.get(entry)
        if number is None:
            number = self._seen_numbers[entry] = len(self._seen)
            assert number < _SEEN
            self._seen.append(entry)
            for level in range(len(self._relaxed)):
                self._relaxed[level, number] = self._seen_number(
                    self.walk.values.seen_again(entry, level)
                )
        return number

    def _event(self, change: Callable[[Walk, int], Walk]) -> int:
        self._events.append(change)
        assert len(self._events) <= _EVENTS
        return len(self._events) - 1

    def _all_moves(self) -> tuple[Any, ...]:
        """Tabulate what may be proposed on plateaus."""
        walk, law, n = self.walk, self.walk.law, self.walk.n
        actions = len(law.actions)
        plateau = np.full(n + 1, -1, dtype=np.int32)
        accepted = np.zeros((n + 1, actions, 2), dtype=np.bool_)
        event = np.zeros((n + 1, actions, 2), dtype=np.int32)
        reads = np.full((n + 1, actions, 2), -1, dtype=np.int32)
        climbing = np.zeros(n + 1, dtype=np.int32)
        climb_steps = np.zeros((n + 1, 2))
        shares = np.zeros((n + 1, 2, actions + 1, 2))
        known: dict[tuple[Any, ...], int] = {}
        zero = fmpq(0)

        def learns(action: int, factor: fmpq, gain: fmpq, *, keeps: bool) -> int:
            key = (action, factor.p, factor.q, gain.p, gain.q, keeps)
            if key not in known:
                known[key] = self._event(
                    lambda state, above: walk.learnt(
                        state,
                        action,
                        walk.values.moved(
                            state.entries[action],
                            factor,
                            gain,
                            None if above == NO_ENTRY else (above, walk.seen),
                        ),
                        keeps=keeps,
                    )
                )
            return known[key]

        rejected = np.array(
            [learns(a, walk.lam, zero, keeps=False) for a in range(actions)], dtype=np.int32
        )
        for p, i in walk.plateau.items():
            plateau[p] = i
            last = walk.place.plateaus[i][1]
            climb_steps[p] = ends_of(walk.time(p, last)[1])
            climbing[p] = self._event(
                lambda state, _, i=i, p=p: walk.climbed(state._replace(position=p), i)  # type: ignore[misc]
            )
            for d, share in ((DOWN, p), (UP, n - p)):
                for number in range(1, actions + 1):
                    if share:
                        shares[p, d, number] = ends_of(fmpq(share, n * number))
                for a in range(actions):
                    q = p + 2 * d - 1
                    if not 0 <= q <= n or not law.accepted[p, a, d]:
                        continue
                    accepted[p, a, d] = True
                    if q == n:
                        continue
                    gain = walk.alpha * law.reward(p, a, d)
                    if q in walk.plateau:
                        keeps = gain == walk.penalty
                        event[p, a, d] = learns(a, walk.lam, gain, keeps=keeps)
                    else:
                        event[p, a, d] = learns(a, walk.keep, gain, keeps=False)
                        if d == DOWN:
                            reads[p, a, d] = i - 1
        bridge = np.array(walk.place.bridges, dtype=np.int32)
        end = np.array([last for _, last in walk.place.plateaus], dtype=np.int32)
        tables = (plateau, accepted, event, reads, rejected, bridge)
        return (*tables, climbing, climb_steps, end, shares)

    def _all_slopes(self) -> tuple[Any, ...]:
        """Tabulate slopes: words, lumps of them, passages."""
        walk, slopes = self.walk, self.walk.slopes
        levels, most = len(walk.values.grids), max(len(s.words) for s in slopes)
        shape = (len(slopes), most)
        entry, learnt = np.zeros(shape, dtype=np.int32), np.full(shape, -1, dtype=np.int32)
        members_first = np.zeros((levels, *shape, 2), dtype=np.int32)
        members: list[int] = []
        passed_first = np.zeros((len(slopes), most + 1), dtype=np.int32)
        side, after, ends = list[int](), list[int](), list[Ends]()
        steps = np.zeros((*shape, 2))
        for s, slope in enumerate(slopes):
            for w, word in enumerate(slope.words):
                entry[s, w] = word.entry
                found = slope.learnt[w]
                learnt[s, w] = -1 if found is None else found
                passed_first[s, w] = len(side)
                steps[s, w], weights = walk.ends.passages(s, w)
                for x, weight in zip(word.passages, weights, strict=True):
                    side.append(x.side)
                    after.append(x.word)
                    ends.append(ends_of(weight[0]))
            passed_first[s, len(slope.words) :] = len(side)
            for level in range(levels):
                lumps = walk.lumps[walk.values.grids[level].words]
                for w in {lumps.name(s, w) for w in range(len(slope.words))}:
                    members_first[level, s, w, 0] = len(members)
                    members += lumps.members(s, w)
                    members_first[level, s, w, 1] = len(members)
        low, high = np.array(ends).T.copy()
        lists = (np.array(side, np.int32), np.array(after, np.int32), low, high)
        return (entry, learnt, members_first, np.array(members, np.int32), passed_first,
                *lists, steps)  # fmt: skip

    def _all_settings(self) -> tuple[Any, ...]:
        """Tabulate what relaxes words and maxima, and hides slopes."""
        walk, slopes = self.walk, self.walk.slopes
        grids, most = walk.values.grids, max(len(s.words) for s in slopes)
        negligible = np.zeros((len(slopes), most), dtype=np.bool_)
        lump = np.zeros((len(grids), len(slopes), most), dtype=np.int32)
        for s, slope in enumerate(slopes):
            for w, word in enumerate(slope.words):
                negligible[s, w] = word.entry == UP and walk.negligible(
                    walk.ends.falls[s][w], slope.first - 1
                )
                for level, grid in enumerate(grids):
                    lump[level, s, w] = walk.lumps[grid.words].name(s, w)
        blunt = np.array([grid.blunt for grid in grids])
        anything = np.array([self._seen_number(v) for v in walk.anything], dtype=np.int32)
        last = np.array([slope.last for slope in slopes], dtype=np.int32)
        return last, negligible, lump, blunt, anything, self._relaxed

    def explore(
        self,
        most: int,
        negligible: float = 0.0,
        *,
        level: int = 0,
        thresholds: Sequence[float] = (0.0,),
        widths: Widths = _NOTHING_KNOWN,
        width: float = 1.0,
        last: float = 1.0,
        floor: float = 1e-2,
    ) -> Product:
        """Look at so many nodes at most, those that matter most first.

        Parameters
        ----------
        negligible : stop when the nodes that are left add about so many steps to E[T]
        level : where to begin
        thresholds : per level; nodes that matter less are handed down
        widths : what is left, about, at nodes of level 0; `width` is that of the start
        last : how much more than others states matter that stay on the last plateau
        floor : what a node is taken to leave open at least, as a part of `width`
        """
        from markov_lrsao.values.kernels.row_product import FULL, WORKED, explore

        walk = self.walk
        bound = self._most_left
        cost = bound * floor
        limits = np.zeros(len(walk.values.grids))
        limits[: len(thresholds)] = thresholds
        fields = 4 + 2 * len(walk.slopes)
        room = 4 * most + 200_000
        nodes = np.zeros((room, fields), dtype=np.int32)
        table = np.full(1 << (2 * room).bit_length(), -1, dtype=np.int32)
        count = np.zeros(1, dtype=np.int64)
        weights, masses = np.full(room, -1.0), np.zeros(room)
        state = np.zeros(room, dtype=np.int8)
        found = _edge_room(8 * most + 200_000)
        options = _option_room(3 * most + 200_000)
        queue, ends = np.zeros(room, dtype=np.int32), np.zeros(2, dtype=np.int64)
        waiting, waits = np.zeros(room, dtype=np.int32), np.zeros(1, dtype=np.int64)
        gaps = (np.zeros(_GAPS, dtype=np.int64), np.zeros(1, dtype=np.int64))
        expanded = np.zeros(1, dtype=np.int64)
        work = tuple(np.zeros(fields, dtype=np.int32) for _ in range(3))
        lumped = np.array([grid.words != Words.EACH for grid in walk.values.grids])
        slope_at = np.array([(s.first, s.last) for s in walk.slopes], dtype=np.int32)
        first = np.array([s.first for s in walk.slopes], dtype=np.int32)
        milestone = np.array(
            [sum(m <= p for m in walk.law.landscape.milestones) for p in range(walk.n + 1)],
            dtype=np.int32,
        )
        nodes[0] = self._start(level)
        _number_first(nodes, table)
        count[0], masses[0], weights[0] = 1, 1.0, width
        queue[0], ends[1], state[0] = 0, 1, 1
        least = width
        graph = (nodes, count, table, weights)
        while True:
            status = explore(
                queue, ends, waiting, waits, least, most, self._moves, (first, milestone),
                self._slopes, self._setting, (self._keys, self._items), self._programs,
                self._hands.arrays, self._seens.arrays, gaps, found, options, graph, tuple(widths),
                lumped, slope_at, masses, state, expanded, limits, cost, last, work,
            )  # fmt: skip
            if status == FULL or expanded[0] >= most:
                break
            if status != WORKED:
                self._answer(gaps)
                # What waited comes first again.
                again = np.concatenate(
                    (waiting[: waits[0]], queue[np.arange(ends[0], ends[1]) % room])
                )
                ends[:], waits[0] = (0, len(again)), 0
                queue[: len(again)] = again
                continue
            alive = np.flatnonzero(state[: count[0]] == 0)
            if not len(alive):
                break
            if negligible and (masses[alive] * bound[nodes[alive, 1]]).sum() <= negligible:
                break
            matters = masses[alive] * np.maximum(weights[alive], cost[nodes[alive, 1]])
            least = min(least, float(matters.max())) / _ROUND
            if least < _LEAST * width:
                least = 0.0
            chosen = alive[matters >= least]
            chosen = chosen[np.argsort(-matters[matters >= least], kind="stable")]
            ends[:] = 0, len(chosen)
            queue[: len(chosen)] = chosen
            state[chosen] = 1
        return self._product(graph, state, found, options, masses)

    def _product(
        self, graph: Any, state: Any, found: Any, options: Any, masses: FloatArray
    ) -> Product:
        from scipy.sparse import csr_array

        nodes, count, table, _ = graph
        size, number = int(count[0]), int(options[4][0])
        cut = np.flatnonzero(state[:size] != 2)
        edges = int(found[3][0])
        starts = np.append(options[3][:number], edges)
        lengths = np.diff(starts)
        owner = np.concatenate((options[0][:number].astype(np.int64), cut))
        lengths = np.concatenate((lengths, np.zeros(len(cut), dtype=np.int64)))
        order = np.argsort(owner, kind="stable")
        option_of = np.repeat(np.arange(number), lengths[:number])
        targets, least, most = (x[:edges] for x in found[:3])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        rows, inner = place[option_of], targets >= 0
        lower, upper = (
            csr_array((x[inner], (rows[inner], targets[inner])), shape=(len(owner), size))
            for x in (least, most)
        )
        lost = np.bincount(rows[targets == LOST], most[targets == LOST], len(owner)) * (1 + 1e-12)
        owner = owner[order]
        low, high = (np.append(x[:number], np.zeros(len(cut)))[order] for x in options[1:3])
        first = np.searchsorted(owner, np.arange(size))
        several = int((np.bincount(owner, minlength=size) > 1).sum())
        return Product(
            nodes[:size].copy(),
            table,
            FloatSystem(owner, first, lower, upper),
            (low, high),
            lost.astype(np.float64),
            cut,
            float((masses[cut] * self._most_left[nodes[cut, 1]]).sum()),
            several,
        )

    def _start(self, level: int) -> list[int]:
        state = self.walk.normal(self.walk.start(), level)
        above = [self._seen_number(v) for v in state.above]
        row = self._row((state.entries, state.order))
        return [level, state.position, state.phase, row, *state.words, *above]

    def _answer(self, gaps: Any) -> None:
        """Answer all questions that the kernel had."""
        wanted = np.unique(gaps[0][: gaps[1][0]])
        gaps[1][0] = 0
        items = np.array([self._item(int(key)) for key in wanted.tolist()], dtype=np.int32)
        self._known += len(wanted)
        if 2 * self._known > len(self._keys):
            self._enlarge()
        from markov_lrsao.values.kernels.row_product import insert

        insert(self._keys, self._items, wanted, items)

    def _enlarge(self) -> None:
        from markov_lrsao.values.kernels.row_product import insert

        size = len(self._keys)
        while size < 4 * self._known:
            size *= 2
        keys, items = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int32)
        there = self._keys >= 0
        insert(keys, items, self._keys[there], self._items[there])
        self._keys, self._items = keys, items

    def _item(self, key: int) -> int:
        """Answer one question."""
        from markov_lrsao.values.kernels.row_product import EVENT, HAND, PROGRAM

        key, seen = key >> 16, (key & 0xFFFF) - 1
        key, event = key >> 12, key & 0xFFF
        key, row = key >> 24, key & 0xFFFFFF
        key, hidden = key >> 3, key & 7
        tag, level = key >> 3, key & 7
        entries, order = self.rows[row]
        state = Walk(0, 0, (), entries, (), order)
        if tag == EVENT:
            above = NO_ENTRY if seen < 0 else self._seen[seen]
            after = self._events[event](state, above)
            return self._row(self.walk.normal_row(after.entries, after.order, level, hidden))
        if tag == PROGRAM:
            return self._program(state, level)
        if tag == HAND:
            return self._hands.add(
                [(self._of(w.target), w.share) for w in self.walk.without_laws(state)]
            )
        return self._seens.add(self._maxima(entries, seen, hidden, event, level))

    def _of(self, state: Walk | int) -> int:
        assert isinstance(state, Walk)
        return self._row((state.entries, state.order))

    def _maxima(
        self, entries: tuple[int, ...], seen: int, s: int, action: int, level: int
    ) -> list[tuple[int, Ends]]:
        old = NO_ENTRY if seen < 0 else self._seen[seen]
        return [
            (
                self._seen_number(x.entry),
                CERTAIN if x.weight is None else ends_of(x.weight[0]),
            )
            for x in self.walk.ends.seen_after(entries, old, s, action, level)
        ]

    def _program(self, state: Walk, level: int) -> int:
        """Write down what may happen to a row on a plateau, before anybody moves."""
        walk = self.walk
        parted = None
        if walk.values.grids[level].words != Words.EACH:
            parted = walk.parted(state, level)
        if parted is not None:
            return self._add_told(_PARTED, parted)
        found = walk.choices(state, level)
        if isinstance(found, Told):
            return self._add_told(_TOLD, found.options)
        for chosen, group in found:
            self._add_option(self._of(chosen), sum(1 << a for a in group), [])
        return self._end_program(_CHOSEN)

    def _add_told(self, kind: int, options: list[Ways]) -> int:
        for option in options:
            self._add_option(-1, 0, [(self._of(w.target), w.share) for w in option.targets])
        return self._end_program(kind)

    def _add_option(self, row: int, group: int, ways: list[tuple[int, Ends]]) -> None:
        self._option_row.extend([row])
        self._option_group.extend([group])
        self._ways.add(ways)

    def _end_program(self, kind: int) -> int:
        self._kinds.extend([kind])
        self._first_option.extend([self._option_row.size])
        return self._kinds.size - 1

    @property
    def _programs(self) -> tuple[Any, ...]:
        """What the kernel reads."""
        lists = (self._kinds, self._first_option, self._option_row, self._option_group)
        return (*(x.items for x in lists), *self._ways.arrays)


def _edge_room(size: int) -> tuple[Any, ...]:
    return np.zeros(size, dtype=np.int32), np.zeros(size), np.zeros(size), np.zeros(1, np.int64)


def _option_room(size: int) -> tuple[Any, ...]:
    owner, starts = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.int64)
    return owner, np.zeros(size), np.zeros(size), starts, np.zeros(1, dtype=np.int64)


def _number_first(nodes: IntArray, table: IntArray) -> None:
    from markov_lrsao.values.kernels.row_product import number

    number(nodes, np.zeros(1, dtype=np.int64), table, nodes[0].copy())
