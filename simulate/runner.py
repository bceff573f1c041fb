"""Plays runs on all cores: plan in, `Samples` out.

Runs are handed to threads in blocks (the kernels release Python's lock). Every run has its own
random stream, so blocks and threads leave no trace in the results.

A run whose next choice the error bounds leave open stops there; `decide` settles the choice
exactly from the run's trace and the run is played again with the decision in hand, until it
ends. Monitors are filled in a second pass, when every decision is known.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import NotAbsorbingError, ParameterError
from markov_lrsao.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from simulate.decide import History
from simulate.rules import RULES, Rules
from simulate.samples import Arithmetic, Kernel, Monitors, Samples, Violation
from simulate.streams import Key, stream_key
from simulate.tables import Tables

__all__ = ["available_cores", "simulate", "trace_run"]

IntArray = npt.NDArray[np.int64]
_LARGEST_LIMIT = 2**49
_FIRST_ROOM = 4096


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def simulate(
    law: StepLaw,
    *,
    runs: int,
    seed: int,
    kernel: Kernel = "event",
    arithmetic: Arithmetic = "exact",
    limit: int | None = None,
    restart: int | None = None,
    monitors: bool = False,
    rules: Rules | None = None,
    threads: int | None = None,
    first_run: int = 0,
    path: tuple[int, ...] = (),
    progress: Progress = no_progress,
) -> Samples:
    """Play `runs` runs and return them.

    Parameters
    ----------
    kernel : "event" skips runs of rejected moves, "step" makes every step
    arithmetic : "exact" keeps the true semantics of the Q-table, "float64" is what a program
        with plain floats does
    limit : step limit; runs that reach it are censored
    restart : start from scratch every so many steps
    monitors : count visits, uses of objectives and positive entries, and look for violations
    rules : what to look for; default: the paper's statements, see `rules`
    threads : default: all cores; it does not change the results
    first_run : number of the first run, to continue an earlier simulation of the same seed
    path : numbers that tell apart experiments with the same seed, so that they are independent

    Raises
    ------
    ParameterError
        An argument is out of range, or the event kernel cannot play the algorithm.
    NotAbsorbingError
        A run without step limit can never end.

    >>> from markov_lrsao import Algorithm, Landscape, Parameters
    >>> law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    >>> simulate(law, runs=5, seed=1).times.tolist()
    [48, 12, 11, 52, 39]
    """
    _check(runs, limit, restart, threads, first_run)
    tables = _tables(law)
    if kernel == "event" and not tables.skippable:
        raise ParameterError(
            f"kernel = event cannot play {law.algorithm.name}: its rejected moves are rewarded, "
            f"or do not shrink the entry; take kernel = step")
    game = _Game(tables, stream_key(seed, *path), kernel == "event", arithmetic == "exact",
                 limit, restart, Rules.of(law) if rules is None else rules)
    workers = threads or available_cores()
    game.compile()
    begun = time.perf_counter()
    hits, facts = game.arrays(runs)
    known = game.play_all(first_run, hits, facts, {}, workers, progress, None)
    if (facts[:, 0] == game.kernels.STUCK).any():
        run = first_run + int(np.flatnonzero(facts[:, 0] == game.kernels.STUCK)[0])
        raise NotAbsorbingError(
            f"run {run} of seed {seed} can never end: every further move is rejected; "
            f"give a step limit (limit = ...) to count such runs as censored")
    counts = None
    if monitors:
        watched = _Watch.empty(tables, seed)
        game.play_all(first_run, *game.arrays(runs), known, workers, progress, watched)
        counts = watched.finish(game, known)
    return Samples(
        law=law, seed=int(seed), path=path, first_run=first_run,
        kernel=kernel, arithmetic=arithmetic, limit=limit, restart=restart,
        hits=hits, steps=facts[:, 1].copy(),
        censored=facts[:, 0] != game.kernels.DONE, restarts=facts[:, 3].copy(),
        decisions=facts[:, 2].copy(), seconds=time.perf_counter() - begun, monitors=counts,
    )


@lru_cache(maxsize=16)
def _tables(law: StepLaw) -> Tables:
    return Tables.of(law)


def _check(
    runs: int, limit: int | None, restart: int | None, threads: int | None, first_run: int
) -> None:
    if runs < 1:
        raise ParameterError(f"runs = {runs} is too small: at least one run is needed")
    if first_run < 0:
        raise ParameterError(f"first_run = {first_run} is negative")
    for name, value in (("limit", limit), ("restart", restart)):
        if value is not None and not 1 <= value <= _LARGEST_LIMIT:
            raise ParameterError(f"{name} = {value} is out of range: 1 .. 2^49 is allowed")
    if threads is not None and threads < 1:
        raise ParameterError(f"threads = {threads} is too small: at least one is needed")


Decisions = dict[int, list[int]]
"""Run -> the masks that exact arithmetic decided, in order."""


@dataclass
class _Watch:
    """Monitors under construction, one set of arrays per block."""

    tables: Tables
    seed: int
    visits: IntArray
    uses: IntArray
    positives: IntArray
    violations: list[IntArray]

    @classmethod
    def empty(cls, tables: Tables, seed: int) -> _Watch:
        law = tables.law
        return cls(
            tables, seed, np.zeros(law.n + 1, dtype=np.int64),
            np.zeros((len(law.milestones), law.n + 1, len(law.each)), dtype=np.int64),
            np.zeros((law.rows, len(law.each) + 1), dtype=np.int64), [],
        )

    def fresh(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return arrays for one block."""
        return (np.zeros_like(self.visits), np.zeros_like(self.uses),
                np.zeros_like(self.positives), np.full(6, -1, dtype=np.int64))

    def add(self, block: Sequence[IntArray]) -> None:
        self.visits += block[0]
        self.uses += block[1]
        self.positives += block[2]
        if block[3][0] >= 0:
            self.violations.append(block[3])

    def finish(self, game: _Game, known: Decisions) -> Monitors:
        first = min(self.violations, key=lambda v: int(v[0]), default=None)
        return Monitors(
            visits=self.visits, uses=self.uses, positives=self.positives,
            violation=None if first is None else self._violation(game, known, first),
        )

    def _violation(self, game: _Game, known: Decisions, found: IntArray) -> Violation:
        run, step, row, position, action, rule = (int(x) for x in found)
        names = self.tables.step_law.actions
        played = game.play_one(run, known.get(run, []), limit=step)
        trace = tuple(
            (t, p, tuple(a for k, a in enumerate(names) if mask >> k & 1), rejected,
             names[a] if a >= 0 else None, d if a >= 0 else None)
            for t, p, mask, rejected, a, d in played.trace.tolist()
        )
        entries = played.q.reshape(-1, len(names), 4)[row]
        return Violation(
            rule=RULES[rule], seed=self.seed, run=run, step=step, position=position,
            action=names[action], state=int(self.tables.step_law.row_value[row]), trace=trace,
            q_row=tuple((name, _scaled_text(v, s), _scaled_text(e, s))
                        for name, (v, e, s, _) in zip(names, entries, strict=True)),
        )


def _scaled_text(value: float, scale: float) -> str:
    return f"{value:.17g}" if scale == 0 else f"{value:.17g} * 2^{512 * int(scale)}"


@dataclass(frozen=True)
class _Played:
    hits: IntArray
    facts: IntArray
    trace: IntArray
    q: npt.NDArray[np.float64]


class _Game:
    """One law, one seed, one kernel: plays blocks of runs and single runs."""

    def __init__(
        self, tables: Tables, key: Key, event: bool, exact: bool, limit: int | None,
        restart: int | None, rules: Rules,
    ) -> None:
        from simulate import _kernels  # compiles, or loads what was compiled before

        self.kernels: Any = _kernels
        self._tables, self._event, self._exact = tables, event, exact
        self._key = np.uint64(key[0]), np.uint64(key[1])
        self._limit = _kernels.UNLIMITED if limit is None else limit
        self._restart = restart or 0
        self._rules = rules.arrays(tables.step_law)

    def arrays(self, runs: int) -> tuple[IntArray, IntArray]:
        """Return empty arrays (hits, facts)."""
        return (np.empty((runs, len(self._tables.law.milestones)), dtype=np.int64),
                np.zeros((runs, self.kernels.FACTS), dtype=np.int64))

    def compile(self) -> None:
        """Compile the kernels, or load what was compiled before, by playing no run."""
        self.play_all(0, *self.arrays(0), {}, 1, no_progress, None)

    def play_all(
        self, first: int, hits: IntArray, facts: IntArray, known: Decisions, workers: int,
        progress: Progress, watch: _Watch | None,
    ) -> Decisions:
        """Fill hits and facts (and the watch); return the decisions that were needed."""
        runs = len(hits)
        size = max(1, min(500, -(-runs // (4 * workers))))
        blocks = range(0, max(1, runs), size)
        nothing = _Watch.empty(self._tables, 0).fresh()

        def work(i: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
            counts = watch.fresh() if watch is not None else nothing
            part = slice(i, i + size)
            places, decisions = _flat(known, first + i, len(hits[part]))
            self.kernels.play_block(
                self._tables.law, self._tables.numbers, self._event, self._exact, *self._key,
                first + i, self._limit, self._restart, decisions, places, hits[part], facts[part],
                watch is not None, *counts, self._rules)
            return counts

        made = dict(known)
        with progress("simulating", total=runs) as bar, ThreadPoolExecutor(workers) as pool:
            for i, counts in zip(blocks, pool.map(work, blocks), strict=True):
                if watch is not None:
                    watch.add(counts)
                part = slice(i, i + size)
                for run in i + np.flatnonzero(facts[part, 0] == self.kernels.UNDECIDED):
                    made[first + int(run)] = self._settle(first + int(run), hits[run], facts[run])
                bar.advance(len(hits[part]))
        return made

    def _settle(self, run: int, hits: IntArray, facts: IntArray) -> list[int]:
        """Play a run to its end, deciding exactly what the kernel cannot."""
        decisions: list[int] = []
        while True:
            played = self.play_one(run, decisions)
            if played.facts[0] != self.kernels.UNDECIDED:
                hits[:], facts[:] = played.hits, played.facts
                return decisions
            history = History(self._tables)
            history.replay(played.trace)
            decisions.append(history.decide(int(played.facts[6]), int(played.facts[5])))

    def play_one(
        self, run: int, decisions: Sequence[int], limit: int | None = None
    ) -> _Played:
        """Play one run and keep its trace."""
        room = _FIRST_ROOM
        while True:
            played = self._play_one(run, decisions, room, limit)
            lines = int(played.facts[4])
            if lines <= room:
                return played
            room = lines

    def _play_one(
        self, run: int, decisions: Sequence[int], room: int, limit: int | None
    ) -> _Played:
        hits, facts = self.arrays(1)
        law = self._tables.law
        q = np.empty(law.rows * len(law.each) * 4)
        streams = np.empty((2, self.kernels.WORDS), dtype=np.uint64)
        trace = np.zeros((room, self.kernels.TRACE), dtype=np.int64)
        visits, uses, _, violation = _Watch.empty(self._tables, 0).fresh()
        nothing = np.zeros(0, dtype=np.int64)
        self.kernels.play(
            law, self._tables.numbers, self._event, self._exact, *self._key, run,
            self._limit if limit is None else limit, self._restart,
            np.array(decisions, dtype=np.int64), q, streams, hits[0], facts[0], False,
            (visits, uses, nothing, violation, nothing), self._rules, trace)
        return _Played(hits[0], facts[0], trace[: int(facts[0, 4])], q)


def _flat(known: Decisions, first: int, runs: int) -> tuple[IntArray, IntArray]:
    """Return (places, decisions) of a block of runs, as `play_block` wants them."""
    lists = [known.get(first + i, []) for i in range(runs)]
    places = np.concatenate([[0], np.cumsum([len(masks) for masks in lists])]).astype(np.int64)
    return places, np.array([mask for masks in lists for mask in masks], dtype=np.int64)


def trace_run(
    law: StepLaw,
    *,
    seed: int,
    run: int = 0,
    kernel: Kernel = "event",
    arithmetic: Arithmetic = "exact",
    limit: int | None = None,
    restart: int | None = None,
    path: tuple[int, ...] = (),
) -> IntArray:
    """Return the trace of one run, one line per event; see `simulate._kernels.TRACE`.

    The run is the same as number `run` of `simulate` with the same arguments.
    """
    _check(1, limit, restart, None, run)
    game = _Game(_tables(law), stream_key(seed, *path), kernel == "event", arithmetic == "exact",
                 limit, restart, Rules())
    hits, facts = game.arrays(1)
    decisions = game.play_all(run, hits, facts, {}, 1, no_progress, None).get(run, [])
    return game.play_one(run, decisions).trace
