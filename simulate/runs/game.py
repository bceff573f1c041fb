"""One game: a law, a seed and a kernel, that plays batches of runs and single runs.

Runs are handed to threads in batches (the kernels release Python's lock). Every run has its own
random stream, so batches and threads leave no trace in the results.

A run whose next choice the error bounds leave open stops there; `decide` settles the choice
exactly from the run's trace and the run is played again with the decision in hand, until it
ends. Monitors are filled in a second pass, when every decision is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.progress import Progress, no_progress
from simulate.kernels.records import KernelCounts, KernelMode, KernelRules, Scratch, Written
from simulate.runs.decide import History
from simulate.runs.encoding import EncodedLaw
from simulate.runs.rules import NO_RULES, RULES, Rules
from simulate.runs.samples import Monitors, Violation
from simulate.runs.stopping import Stop, StoppedError, in_order, threads
from simulate.runs.streams import StreamKey

__all__ = ["Decisions", "Game", "Played", "Watch"]

IntArray = npt.NDArray[np.int64]
_FIRST_ROOM = 4096
_LARGEST_BLOCK = 500
_AHEAD = 4  # batches per worker handed out in advance

Decisions = dict[int, list[int]]
"""Run -> the masks that exact arithmetic decided, in order."""


def _unwatched() -> KernelCounts:
    """Return arrays of the right types for a game that nobody watches."""
    nothing = np.zeros(0, dtype=np.int64)
    uses, positives = np.zeros((0, 0, 0), dtype=np.int64), np.zeros((0, 0), dtype=np.int64)
    return KernelCounts(False, nothing, uses, positives, nothing, nothing, nothing, NO_RULES)


@dataclass
class Watch:
    """Monitors under construction, one set of arrays per batch."""

    encoded: EncodedLaw
    seed: int
    rules: KernelRules
    visits: IntArray
    uses: IntArray
    positives: IntArray
    violations: list[IntArray]

    @classmethod
    def empty(cls, encoded: EncodedLaw, seed: int, rules: Rules) -> Watch:
        """Return monitors that have seen nothing."""
        law = encoded.law
        return cls(
            encoded,
            seed,
            rules.arrays(encoded.step_law),
            np.zeros(law.n + 1, dtype=np.int64),
            np.zeros((len(law.milestones), law.n + 1, law.actions), dtype=np.int64),
            np.zeros((law.rows, law.actions + 1), dtype=np.int64),
            [],
        )

    def fresh(self) -> KernelCounts:
        """Return arrays for one batch."""
        return KernelCounts(
            watch=True,
            visits=np.zeros_like(self.visits),
            uses=np.zeros_like(self.uses),
            positives=np.zeros_like(self.positives),
            violation=np.full(6, -1, dtype=np.int64),
            most=np.zeros(self.encoded.law.rows, dtype=np.int64),
            mine=np.zeros_like(self.visits),
            rules=self.rules,
        )

    def add(self, batch: KernelCounts) -> None:
        """Add what one batch has counted."""
        self.visits += batch.visits
        self.uses += batch.uses
        self.positives += batch.positives
        if batch.violation[0] >= 0:
            self.violations.append(batch.violation)

    def finish(self, game: Game, known: Decisions) -> Monitors:
        """Return the record, with the trace of the first violation."""
        first = min(self.violations, key=lambda v: int(v[0]), default=None)
        return Monitors(
            visits=self.visits,
            uses=self.uses,
            positives=self.positives,
            violation=None if first is None else self._violation(game, known, first),
        )

    def _violation(self, game: Game, known: Decisions, found: IntArray) -> Violation:
        run, step, row, position, action, rule = (int(x) for x in found)
        names = self.encoded.step_law.actions
        played = game.play_one(run, known.get(run, []), limit=step)
        trace = tuple(
            (
                t,
                p,
                tuple(a for k, a in enumerate(names) if mask >> k & 1),
                rejected,
                names[a] if a >= 0 else None,
                d if a >= 0 else None,
            )
            for t, p, mask, rejected, a, d in played.trace.tolist()
        )
        entries = played.q.reshape(-1, len(names), 4)[row]
        return Violation(
            rule=RULES[rule],
            seed=self.seed,
            run=run,
            step=step,
            position=position,
            action=names[action],
            state=_number(self.encoded.step_law.state(row)),
            trace=trace,
            q_row=tuple(
                (name, _scaled_text(v, s), _scaled_text(e, s))
                for name, (v, e, s, _) in zip(names, entries, strict=True)
            ),
        )


def _number(value: fmpq) -> int | str:
    """Return an agent state as results have it: an integer, or a fraction as text."""
    return int(value.p) if value.q == 1 else rational_text(value)


def _scaled_text(value: float, scale: float) -> str:
    return f"{value:.17g}" if scale == 0 else f"{value:.17g} * 2^{512 * int(scale)}"


@dataclass(frozen=True)
class Played:
    """A single run: times of the milestones, facts, trace and the last Q-table."""

    hits: IntArray
    facts: IntArray
    trace: IntArray
    q: npt.NDArray[np.float64]


class Game:
    """One law, one seed, one kernel: plays batches of runs and single runs."""

    def __init__(
        self,
        encoded: EncodedLaw,
        key: StreamKey,
        event: bool,
        exact: bool,
        limit: int | None,
        restart: int | None,
        stop: Stop | None = None,
    ) -> None:
        from simulate.kernels import play  # compiles, or loads what was compiled before

        self.kernels: Any = play
        self.stop = Stop() if stop is None else stop
        self._encoded = encoded
        self._numbers = encoded.numbers if exact else encoded.float_numbers
        self.mode = KernelMode(
            event,
            exact,
            np.uint64(key[0]),
            np.uint64(key[1]),
            play.UNLIMITED if limit is None else limit,
            restart or 0,
        )

    def arrays(self, runs: int) -> tuple[IntArray, IntArray]:
        """Return empty arrays (hits, facts)."""
        return (
            np.empty((runs, len(self._encoded.law.milestones)), dtype=np.int64),
            np.zeros((runs, self.kernels.FACTS), dtype=np.int64),
        )

    def scratch(self) -> Scratch:
        """Return memory for runs, one after the other."""
        law = self._encoded.law
        return Scratch(
            q=np.empty(law.rows * law.actions * 4),
            tops=np.zeros(law.rows, dtype=np.int64),
            names=np.zeros(self.kernels.LENGTH, dtype=np.int64),
            codes=np.zeros(len(self._encoded.sites.zone), dtype=np.uint16),
            streams=np.zeros((2, self.kernels.WORDS), dtype=np.uint64),
        )

    def compile(self, progress: Progress = no_progress) -> None:
        """Compile the kernels, or load what was compiled before, by playing no run."""
        with progress("compiling"):  # seconds to a minute the first time
            self.play_all(0, *self.arrays(0), {}, 1, no_progress, None)

    def play_all(
        self,
        first: int,
        hits: IntArray,
        facts: IntArray,
        known: Decisions,
        workers: int,
        progress: Progress,
        watch: Watch | None,
    ) -> Decisions:
        """Fill hits and facts (and the watch); return the decisions that were needed."""
        runs = len(hits)
        size = max(1, min(_LARGEST_BLOCK, -(-runs // (4 * workers))))

        def work(i: int) -> KernelCounts:
            counts = _unwatched() if watch is None else watch.fresh()
            part = slice(i, i + size)
            places, decisions = _flat(known, first + i, len(hits[part]))
            self.kernels.play_block(
                self._encoded.law,
                self._numbers,
                self._encoded.sites,
                self.mode,
                counts,
                first + i,
                decisions,
                places,
                self.scratch(),
                hits[part],
                facts[part],
                self.stop.flag,
            )
            return counts

        made = dict(known)
        batches = range(0, max(1, runs), size)
        with progress("simulating", total=runs) as bar, threads(workers, self.stop) as pool:
            for i, counts in in_order(
                pool, work, batches, _AHEAD * workers, lambda: bar.advance(0)
            ):
                if self.stop.is_set:
                    raise StoppedError("the simulation was stopped")
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
        history = History(self._encoded)
        while True:
            played = self.play_one(run, decisions)
            if played.facts[0] != self.kernels.UNDECIDED:
                hits[:], facts[:] = played.hits, played.facts
                return decisions
            history.follow(played.trace)
            decisions.append(history.decide(int(played.facts[6]), int(played.facts[5])))

    def play_one(self, run: int, decisions: Sequence[int], limit: int | None = None) -> Played:
        """Play one run and keep its trace."""
        room = _FIRST_ROOM
        while True:
            played = self._aside(lambda room: self._play_one(run, decisions, room, limit), room)
            if self.stop.is_set:
                raise StoppedError("the simulation was stopped")
            lines = int(played.facts[4])
            if lines <= room:
                return played
            room = lines

    def _aside(self, call: Callable[[int], Played], argument: int) -> Played:
        """Call a kernel on another thread, so that this one can be interrupted."""
        with threads(1, self.stop) as pool:
            return next(in_order(pool, call, [argument], 1, lambda: None))[1]

    def _play_one(self, run: int, decisions: Sequence[int], room: int, limit: int | None) -> Played:
        hits, facts = self.arrays(1)
        scratch = self.scratch()
        written = Written(hits[0], facts[0], np.zeros((room, self.kernels.COLUMNS), dtype=np.int64))
        self.kernels.play(
            self._encoded.law,
            self._numbers,
            self._encoded.sites,
            self.mode if limit is None else self.mode._replace(limit=limit),
            _unwatched(),
            run,
            np.array(decisions, dtype=np.int64),
            scratch,
            written,
            self.stop.flag,
        )
        trace = written.trace[: int(written.facts[4])]
        return Played(written.hits, written.facts, trace, scratch.q)


def _flat(known: Decisions, first: int, runs: int) -> tuple[IntArray, IntArray]:
    """Return (places, decisions) of a batch of runs, as `play_block` wants them."""
    lists = [known.get(first + i, []) for i in range(runs)]
    places = np.concatenate([[0], np.cumsum([len(masks) for masks in lists])]).astype(np.int64)
    return places, np.array([mask for masks in lists for mask in masks], dtype=np.int64)
