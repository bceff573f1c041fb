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

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from markov_lrsao.exact.series import Element
from markov_lrsao.model.law import UP
from markov_lrsao.values.entries import NO_ENTRY
from markov_lrsao.values.options import LOST, OPTIMUM
from markov_lrsao.values.policies import FloatArray, FloatSystem
from markov_lrsao.values.row_tables import (
    Events,
    Growing,
    Lists,
    move_tables,
    slope_tables,
)
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.ways import Told, Walk, Way, Ways, way_of
from markov_lrsao.values.word_lumps import Words

__all__ = ["Edges", "Product", "RowProduct", "Widths"]

Row = tuple[tuple[int, ...], tuple[int, ...]]
"""Entries and their orders."""
IntArray = npt.NDArray[np.int32]

_SEEN, _ROWS = 1 << 16, 1 << 24
_FIRST_ROOM = 1 << 16
_GAPS = 200_000
_ROUND = 4.0
"""From round to round nodes that matter so many times less are looked at."""
_LEAST = 1e-18
_PARTED, _TOLD, _CHOSEN = range(3)
_ALL: Element = (arb(1), arb(0), arb(0))


class Widths(NamedTuple):
    """About how wide what is left is at the nodes of level 0 of an exploration without phases."""

    nodes: IntArray
    table: IntArray
    widths: FloatArray


_NOTHING_KNOWN = Widths(
    np.zeros((0, 1), dtype=np.int32), np.full(1, -1, dtype=np.int32), np.zeros(0)
)


class Edges(NamedTuple):
    """Edges in the order of options, and where their weights come from.

    Attributes
    ----------
    option, target, share : as in `markov_lrsao.values.second_moments.TimedEdges`
    kind, place, told : a table of weights, a place in it, and that of a maximum that was told
    forgotten : bounds of the variance of steps that relaxing the row forgets
    """

    option: npt.NDArray[np.int64]
    target: IntArray
    share: FloatArray
    kind: npt.NDArray[np.int8]
    place: npt.NDArray[np.int64]
    told: IntArray
    forgotten: FloatArray


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
    edges : of a timed walk, what its edges' weights are made of
    """

    nodes: IntArray
    table: IntArray
    system: FloatSystem
    steps: tuple[FloatArray, FloatArray]
    lost: FloatArray
    cut: npt.NDArray[np.int64]
    left: float
    open: int
    edges: Edges | None

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
        self._events = Events(walk)
        self._kinds, self._first_option = Growing(np.int32), Growing(np.int32, [0])
        self._option_row, self._option_group = Growing(np.int32), Growing(np.int32)
        self._ways, self._hands, self._seens = Lists(), Lists(), Lists()
        levels = len(walk.values.grids)
        self._relaxed = np.zeros((levels, _SEEN), dtype=np.int32)
        self._keys = np.full(_FIRST_ROOM, -1, dtype=np.int64)
        self._items = np.zeros(_FIRST_ROOM, dtype=np.int32)
        self._forgotten = np.zeros(_FIRST_ROOM)
        self._known = 0
        self._moves = move_tables(walk, self._events)
        self._slopes = slope_tables(walk)
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
        phased: bool = True,
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
        phased : whether nodes know their phase. If not there are half as many, all of phase 0
        """
        from markov_lrsao.values.kernels.row_product import FULL, WORKED, explore

        walk = self.walk
        bound = self._most_left
        cost = bound * floor
        limits = np.zeros(len(walk.values.grids))
        limits[: len(thresholds)] = thresholds
        room = _Room(most, 4 + 2 * len(walk.slopes), timed=walk.timed)
        nodes, count, table, weights = room.graph
        masses, state, found, options = room.masses, room.state, room.found, room.options
        queue, ends, waiting, waits = room.queue, room.ends, room.waiting, room.waits
        gaps, expanded = room.gaps, room.expanded
        constants = self._constants(phased=phased)
        nodes[0] = self._start(level)
        _number_first(nodes, table)
        count[0], masses[0], weights[0] = 1, 1.0, width
        queue[0], ends[1], state[0] = 0, 1, 1
        least = width
        while True:
            status = explore(
                queue, ends, waiting, waits, least, most, self._moves, constants[0],
                self._slopes, self._setting, (self._keys, self._items, self._forgotten),
                self._programs, self._hands.arrays, self._seens.arrays, gaps, found, options,
                room.graph, tuple(widths), *constants[1:], masses, state, expanded, limits, cost,
                last, room.work,
            )  # fmt: skip
            if status == FULL or expanded[0] >= most:
                break
            if status != WORKED:
                self._answer(gaps)
                # What waited comes first again.
                again = np.concatenate(
                    (waiting[: waits[0]], queue[np.arange(ends[0], ends[1]) % len(queue)])
                )
                ends[:], waits[0] = (0, len(again)), 0
                queue[: len(again)] = again
                continue
            alive = np.flatnonzero(state[: count[0]] == 0)
            if not len(alive):
                break
            if negligible and (masses[alive] * bound[nodes[alive, 1]]).sum() <= negligible:
                break
            least = room.next_round(alive, least, cost, _LEAST * width)
        return self._product(room.graph, state, found, options, masses)

    def _constants(self, *, phased: bool) -> tuple[Any, ...]:
        """Return what the kernel needs of positions and grids."""
        walk = self.walk
        first = np.array([s.first for s in walk.slopes], dtype=np.int32)
        milestones = walk.law.landscape.milestones if phased else ()
        milestone = np.array(
            [sum(m <= p for m in milestones) for p in range(walk.n + 1)], dtype=np.int32
        )
        lumped = np.array([grid.words != Words.EACH for grid in walk.values.grids])
        slope_at = np.array([(s.first, s.last) for s in walk.slopes], dtype=np.int32)
        return (first, milestone), lumped, slope_at

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
            self._edges(found, rows, edges),
        )

    def _edges(self, found: Any, option: npt.NDArray[np.int64], size: int) -> Edges | None:
        if not self.walk.timed:
            return None
        targets, _, most, _, *sources = (x[:size].copy() for x in found)
        return Edges(option, targets, most, *sources)

    def untold(self, row: int) -> float:
        """Return a bound of the variance of all steps that climbs of a row have not told."""
        entries, order = self.rows[row]
        return self.walk.untold(Walk(0, 0, (), entries, (), order))

    @property
    def weights(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The weights of what is told before a choice, when handed down, and of maxima seen."""
        return self._ways.weights, self._hands.weights, self._seens.weights

    def _start(self, level: int) -> list[int]:
        state = self.walk.normal(self.walk.start(), level)
        above = [self._seen_number(v) for v in state.above]
        row = self._row((state.entries, state.order))
        return [level, state.position, state.phase, row, *state.words, *above]

    def _answer(self, gaps: Any) -> None:
        """Answer all questions that the kernel had."""
        wanted = np.unique(gaps[0][: gaps[1][0]])
        gaps[1][0] = 0
        found = [self._item(int(key)) for key in wanted.tolist()]
        items = np.array([item for item, _ in found], dtype=np.int32)
        forgotten = np.array([steps for _, steps in found], dtype=np.float64)
        self._known += len(wanted)
        if 2 * self._known > len(self._keys):
            self._enlarge()
        from markov_lrsao.values.kernels.row_maps import insert

        insert((self._keys, self._items, self._forgotten), wanted, items, forgotten)

    def _enlarge(self) -> None:
        from markov_lrsao.values.kernels.row_maps import insert

        size = len(self._keys)
        while size < 4 * self._known:
            size *= 2
        maps = (np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int32), np.zeros(size))
        there = self._keys >= 0
        insert(maps, self._keys[there], self._items[there], self._forgotten[there])
        self._keys, self._items, self._forgotten = maps

    def _item(self, key: int) -> tuple[int, float]:
        """Answer one question; of a change of a row also tell what relaxing it forgets."""
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
            after = self._events.changes[event](state, above)
            relaxed = self.walk.normal_row(after.entries, after.order, level, hidden)
            forgotten = self.walk.forgotten(after, after._replace(entries=relaxed[0]))
            return self._row(relaxed), forgotten
        if tag == PROGRAM:
            return self._program(state, level), 0.0
        if tag == HAND:
            ways = self.walk.without_laws(state)
            return self._hands.add([(self._of(w.target), w) for w in ways]), 0.0
        return self._seens.add(self._maxima(entries, seen, hidden, event, level)), 0.0

    def _of(self, state: Walk | int) -> int:
        assert isinstance(state, Walk)
        return self._row((state.entries, state.order))

    def _maxima(
        self, entries: tuple[int, ...], seen: int, s: int, action: int, level: int
    ) -> list[tuple[int, Way]]:
        old = NO_ENTRY if seen < 0 else self._seen[seen]
        return [
            (self._seen_number(x.entry), way_of(OPTIMUM, x.weight or _ALL, x.untold))
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
            self._add_option(-1, 0, [(self._of(w.target), w) for w in option.targets])
        return self._end_program(kind)

    def _add_option(self, row: int, group: int, ways: list[tuple[int, Way]]) -> None:
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


class _Room:
    """Arrays of one exploration: nodes, options, edges, and who waits for what."""

    def __init__(self, most: int, fields: int, *, timed: bool) -> None:
        nodes, edges, options = 4 * most + 200_000, 12 * most + 200_000, 4 * most + 200_000

        def zeros(size: int, dtype: Any = np.float64) -> Any:
            return np.zeros(size, dtype=dtype)

        table = np.full(1 << (2 * nodes).bit_length(), -1, dtype=np.int32)
        numbers = np.zeros((nodes, fields), dtype=np.int32)
        self.graph = (numbers, zeros(1, np.int64), table, np.full(nodes, -1.0))
        self.masses, self.state = zeros(nodes), zeros(nodes, np.int8)
        noted = edges if timed else 0
        self.found = (
            *(zeros(edges, np.int32), zeros(edges), zeros(edges), zeros(1, np.int64)),
            *(zeros(noted, np.int8), zeros(noted, np.int64), zeros(noted, np.int32), zeros(noted)),
        )
        sizes = (zeros(options), zeros(options), zeros(options, np.int64))
        self.options = (zeros(options, np.int32), *sizes, zeros(1, np.int64))
        self.queue, self.ends = zeros(nodes, np.int32), zeros(2, np.int64)
        self.waiting, self.waits = zeros(nodes, np.int32), zeros(1, np.int64)
        self.gaps, self.expanded = (zeros(_GAPS, np.int64), zeros(1, np.int64)), zeros(1, np.int64)
        self.work = tuple(zeros(fields, np.int32) for _ in range(3))

    def next_round(
        self, alive: npt.NDArray[np.int64], least: float, cost: FloatArray, smallest: float
    ) -> float:
        """Queue nodes that matter less than those before; return how little."""
        nodes, _, _, weights = self.graph
        matters = self.masses[alive] * np.maximum(weights[alive], cost[nodes[alive, 1]])
        least = min(least, float(matters.max())) / _ROUND
        least = 0.0 if least < smallest else least
        chosen = alive[matters >= least]
        chosen = chosen[np.argsort(-matters[matters >= least], kind="stable")]
        self.ends[:] = 0, len(chosen)
        self.queue[: len(chosen)] = chosen
        self.state[chosen] = 1
        return least


def _number_first(nodes: IntArray, table: IntArray) -> None:
    from markov_lrsao.values.kernels.row_maps import number

    number(nodes, np.zeros(1, dtype=np.int64), table, nodes[0].copy())
