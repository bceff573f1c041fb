"""Runs of searches that do not learn, and of agents that explore.

A search is played as the finite chain on (mode, position) that its law is, event by event
(`simulate.kernels.searches`). Probabilities are floats next to the exact ones, so that a
mean of any number of runs that fits into a computer cannot tell.

An epsilon-greedy agent, or one that begins or ends elsewhere, is played in plain float64, as any
program with floats does; runs of rejected greedy moves are skipped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.searches import Start, positions_at_least, search_law, start_law
from markov_lrsao.errors import NotAbsorbingError
from markov_lrsao.exact.fields import Balls
from markov_lrsao.exact.rationals import RationalLike, to_float
from markov_lrsao.memoryless.best import with_best
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Progress
from simulate.runs.stopping import Stop, StoppedError, in_order, threads
from simulate.runs.streams import stream_key

__all__ = ["How", "Played", "SearchTable", "Table", "play_exploring", "play_search"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
_BITS = 128
_AHEAD = 4
_LARGEST_BLOCK = 256
_UNLIMITED = 1 << 50


class How(NamedTuple):
    """How runs are played; limit and restart may be None."""

    runs: int
    seed: int
    first_run: int
    limit: int | None
    restart: int | None
    threads: int


@dataclass(frozen=True, eq=False)
class Table:
    """A chain for the kernel: the moves that leave a state, weights cumulated within it."""

    indptr: IntArray
    targets: IntArray
    cumulated: FloatArray
    ends: npt.NDArray[np.bool_]
    begin: IntArray
    began: FloatArray


@dataclass(frozen=True, eq=False)
class SearchTable:
    """A search on a landscape, as `Samples` keep it.

    Attributes
    ----------
    start, at_least : where runs begin and end
    """

    landscape: Landscape | LeadingOnes
    algorithm: Search
    start: Start | None
    at_least: RationalLike | None

    @property
    def n(self) -> int:
        """Length of the bit strings."""
        return self.landscape.n

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions."""
        return tuple(f"action {k + 1}" for k in range(len(self.algorithm.actions)))

    def table(self) -> Table:
        """Derive what the kernel reads."""
        law = with_best(search_law(self.landscape, self.algorithm))
        modes, field = law.modes, Balls(_BITS)
        good = positions_at_least(law, self.at_least)
        pointers, targets, cumulated = [0], [], []
        with field.working():
            for x in range(law.n + 1):
                for g in range(modes):
                    total = 0.0
                    moves: dict[int, float] = {}
                    for to, y, w in law.transitions(g, x, field) if x not in good else ():
                        if (y, to) != (x, g):
                            moves[y * modes + to] = moves.get(y * modes + to, 0.0) + float(w.mid())
                    for state, w in moves.items():
                        if w > 0:
                            total += w
                            targets.append(state)
                            cumulated.append(total)
                    pointers.append(len(targets))
        first = start_law(law, self.start)
        begin = [(x * modes + g, w * v) for x, w in first.items() for g, v in self.algorithm.start]
        return Table(
            indptr=np.array(pointers, dtype=np.int64),
            targets=np.array(targets, dtype=np.int64),
            cumulated=np.array(cumulated, dtype=np.float64),
            ends=np.repeat(np.isin(np.arange(law.n + 1), sorted(good)), modes),
            begin=np.array([state for state, _ in begin], dtype=np.int64),
            began=np.cumsum([to_float(w) for _, w in begin]),
        )


@dataclass(frozen=True)
class Played:
    """What came out, per run: hits of milestones, steps, if cut off, restarts, traps, events."""

    hits: IntArray
    steps: IntArray
    censored: npt.NDArray[np.bool_]
    restarts: IntArray
    stuck: IntArray
    events: IntArray
    seconds: float


def play_search(
    search: SearchTable, how: How, stop: Stop | None, progress: Progress,
    path: tuple[int, ...] = (),
) -> Played:  # fmt: skip
    """Play a search.

    Raises
    ------
    NotAbsorbingError
        A run without step limit can never end.
    """
    from simulate.kernels.searches import STUCK, walk_block

    table = search.table()
    modes = len(search.algorithm.modes)
    limit, restart = how.limit or _UNLIMITED, how.restart or 0
    facts = np.zeros((how.runs, 5), dtype=np.int64)
    key = stream_key(how.seed, *path)

    def block(first: int, part: IntArray, flag: IntArray, _: slice) -> None:
        walk_block(
            table.indptr, table.targets, table.cumulated, table.ends, table.begin, table.began,
            np.uint64(key[0]), np.uint64(key[1]), first, limit, restart, part, flag,
        )  # fmt: skip

    seconds = _in_blocks(block, how, facts, stop, progress)
    stuck = np.where(facts[:, 0] == STUCK, facts[:, 3] // modes, -1)
    if how.limit is None and (stuck >= 0).any():
        raise NotAbsorbingError(
            f"a run of seed {how.seed} can never end: nothing is accepted at position "
            f"{int(stuck[stuck >= 0][0])}; give a step limit with `limit`"
        )
    censored = facts[:, 0] != 0
    hits = np.where(censored, -1, facts[:, 1])[:, None]
    steps, restarts, events = (facts[:, k].copy() for k in (1, 2, 4))
    return Played(hits, steps, censored, restarts, stuck, events, seconds)


def _moves(law: StepLaw | JumpingLaw) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return what the kernel reads: per position and action the outcomes, one after the other."""
    pointers = np.zeros((law.n + 1, len(law.actions) + 1), dtype=np.int64)
    after: list[int] = []
    chances: list[float] = []
    gains: list[float] = []
    for p in range(law.n + 1):
        whole = law.denominator_at(p)
        for a in range(len(law.actions)):
            pointers[p, a] = len(after)
            for chance, to, gain in law.moves(p, a):
                after.append(to)
                chances.append(chance / whole)
                gains.append(to_float(gain))
        pointers[p, -1] = len(after)
    return pointers, np.array(after, dtype=np.int64), np.array(chances), np.array(gains)


def play_exploring(
    law: StepLaw | JumpingLaw, how: How, stop: Stop | None, progress: Progress,
    path: tuple[int, ...] = (),
    between: tuple[Mapping[int, fmpq], frozenset[int]] | None = None,
) -> Played:  # fmt: skip
    """Play an epsilon-greedy agent in plain float64.

    Parameters
    ----------
    between : position -> probability at the start, and where runs end; default: 0 to the optimum
    """
    from simulate.kernels.searches import explore_block

    algorithm = law.algorithm
    moves = _moves(law)
    limit, restart = how.limit or _UNLIMITED, how.restart or 0
    facts = np.zeros((how.runs, 5), dtype=np.int64)
    ends = np.array(law.landscape.milestones, dtype=np.int64)
    begin, final = ({0: fmpq(1)}, frozenset((law.optimum,))) if between is None else between
    if between is not None:
        ends = ends[-1:]  # phases are those of runs from 0 to the optimum
    over = np.isin(np.arange(law.n + 1), sorted(final | {law.optimum}))
    places = np.array(list(begin), dtype=np.int64)
    began = np.cumsum([to_float(w) for w in begin.values()])
    hits = np.full((len(facts), len(ends)), -1, dtype=np.int64)
    key = stream_key(how.seed, *path)
    numbers = [to_float(v) for v in (algorithm.keep, algorithm.bootstrap, algorithm.epsilon)]

    def block(first: int, part: IntArray, flag: IntArray, where: slice) -> None:
        explore_block(
            law.row, *moves, *numbers, ends, over, places, began, np.uint64(key[0]),
            np.uint64(key[1]), first, limit, restart, hits[where], part, flag,
        )  # fmt: skip

    seconds = _in_blocks(block, how, facts, stop, progress)
    stuck = facts[:, 3].copy()
    if how.limit is None and (stuck >= 0).any():
        raise NotAbsorbingError(
            f"a run of seed {how.seed} can never end: every further move is rejected at position "
            f"{int(stuck[stuck >= 0][0])}; give a step limit with `limit`"
        )
    steps, restarts, events = (facts[:, k].copy() for k in (1, 2, 4))
    return Played(hits, steps, facts[:, 0] != 0, restarts, stuck, events, seconds)


def _in_blocks(
    block: Callable[[int, IntArray, IntArray, slice], None],
    how: How,
    facts: IntArray,
    stop: Stop | None,
    progress: Progress,
) -> float:
    """Fill the facts block by block on threads; return the seconds."""
    flag = stop or Stop()
    workers, first = how.threads, how.first_run
    runs = len(facts)
    with progress("compiling"):  # the first time; later it is loaded
        block(first, facts[:0], flag.flag, slice(0, 0))
    begun = time.perf_counter()
    size = max(1, min(_LARGEST_BLOCK, -(-runs // (4 * workers))))

    def work(i: int) -> None:
        part = slice(i, i + size)
        block(first + i, facts[part], flag.flag, part)

    with progress("simulating", total=runs) as bar, threads(workers, flag) as pool:
        for i, _ in in_order(
            pool, work, range(0, runs, size), _AHEAD * workers, lambda: bar.advance(0)
        ):
            if flag.is_set:
                raise StoppedError("the simulation was stopped")
            bar.advance(len(facts[i : i + size]))
    return time.perf_counter() - begun
