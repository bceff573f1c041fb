"""Plays runs on all cores: plan in, `Samples` out; see `game` for how."""

from __future__ import annotations

import os
import time
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.expected import check_learner
from markov_lrsao.answers.learners import begin_and_end
from markov_lrsao.answers.plan import asked_elsewhere
from markov_lrsao.answers.searches import Start
from markov_lrsao.errors import NotAbsorbingError, ParameterError
from markov_lrsao.exact.rationals import RationalLike
from markov_lrsao.interrupts import available_cores
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Progress, no_progress
from simulate.runs.encoding import EncodedLaw
from simulate.runs.game import Game, Watch
from simulate.runs.rules import Rules
from simulate.runs.samples import Arithmetic, Kernel, Samples
from simulate.runs.searching import How, SearchTable, play_exploring, play_search
from simulate.runs.stopping import Stop
from simulate.runs.streams import stream_key

__all__ = [
    "LARGEST_LIMIT",
    "check_runs",
    "default_limit",
    "kernel_of",
    "simulate",
    "trace_run",
]

IntArray = npt.NDArray[np.int64]
Law = StepLaw | JumpingLaw | SearchTable
"""What can be played."""
LARGEST_LIMIT = 2**49
_MOST_THREADS = 1024
_BYTES_PER_RUN = 200  # hits, facts, what is derived from them
_LIMIT_FACTOR = 10**4


def simulate(
    landscape: Landscape | LeadingOnes | Law,
    algorithm: Algorithm | AlgorithmFamily | Search | NamedAlgorithm | None = None,
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
    stop: Stop | None = None,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    progress: Progress = no_progress,
) -> Samples:
    """Play `runs` runs and return them.

    Searches that do not learn are played event by event. Agents that explore (epsilon > 0), or
    begin or end elsewhere, are played in plain float64, whatever `kernel` and `arithmetic` say.

    Parameters
    ----------
    landscape : where to search; or a law, which has its algorithm already
    algorithm : default LRSAO with the paper's hyper-parameters at the landscape's n
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
    stop : a flag that another thread may set to end it all at once
    start, at_least : where runs begin and end; see `runtime`

    Raises
    ------
    ParameterError
        An argument is out of range, or the event kernel cannot play the algorithm.
    NotAbsorbingError
        A run without step limit can never end.
    StoppedError
        The flag was set.

    >>> simulate(Landscape.jump(9, 2), runs=5, seed=1).times.tolist()
    [48, 12, 11, 52, 39]
    """
    law = _law(landscape, algorithm, start, at_least)
    _check(runs, limit, restart, threads, first_run)
    how = How(runs, int(seed), first_run, limit, restart, threads or available_cores())
    elsewhere = asked_elsewhere(start, at_least)
    if not isinstance(law, StepLaw) or law.algorithm.epsilon != 0 or elsewhere:
        between = None
        if not isinstance(law, SearchTable):
            between = begin_and_end(law, start, at_least) if elsewhere else None
        return _without_q_rows(law, how, monitors, path, stop, progress, between)
    encoded = _playable(law, kernel)
    watched = Watch.empty(encoded, seed, rules or Rules.of(law)) if monitors else None
    skips, exact = kernel == "event", arithmetic == "exact"
    game = Game(encoded, stream_key(seed, *path), skips, exact, limit, restart, stop)
    game.compile(progress)
    return _with_q_rows(law, how, game, watched, path, progress)


def _with_q_rows(
    law: StepLaw,
    how: How,
    game: Game,
    watched: Watch | None,
    path: tuple[int, ...],
    progress: Progress,
) -> Samples:
    """Play greedy agents; if they are watched, once more with what was decided the first time."""
    begun = time.perf_counter()
    hits, facts = game.arrays(how.runs)
    known = game.play_all(how.first_run, hits, facts, {}, how.threads, progress, None)
    stuck = np.where(facts[:, 0] == game.kernels.STUCK, facts[:, 6], -1)
    if how.limit is None:
        _check_ended(stuck, how.first_run, how.seed)
    counts = None
    if watched is not None:
        again = game.arrays(how.runs)
        game.play_all(how.first_run, *again, known, how.threads, progress, watched)
        counts = watched.finish(game, known)
    return Samples(
        law=law,
        seed=how.seed,
        path=path,
        first_run=how.first_run,
        kernel="event" if game.mode.event else "step",
        arithmetic="exact" if game.mode.exact else "float64",
        limit=how.limit,
        restart=how.restart,
        hits=hits,
        steps=facts[:, 1].copy(),
        censored=facts[:, 0] != game.kernels.DONE,
        restarts=facts[:, 3].copy(),
        decisions=facts[:, 2].copy(),
        seconds=time.perf_counter() - begun,
        monitors=counts,
        stuck=stuck,
        events=facts[:, 7].copy(),
    )


def _without_q_rows(
    law: Law,
    how: How,
    monitors: bool,
    path: tuple[int, ...],
    stop: Stop | None,
    progress: Progress,
    between: tuple[dict[int, fmpq], frozenset[int]] | None,
) -> Samples:
    """Play what the kernels of greedy agents do not."""
    if monitors:
        raise ParameterError(
            f"monitors = True: monitors watch greedy agents, not {law.algorithm.name}; leave it out"
        )
    if isinstance(law, SearchTable):
        played = play_search(law, how, stop, progress, path)
    else:
        played = play_exploring(law, how, stop, progress, path, between)
    return Samples(
        law=law,
        seed=how.seed,
        path=path,
        first_run=how.first_run,
        kernel="event",
        arithmetic="float64",
        limit=how.limit,
        restart=how.restart,
        hits=played.hits,
        steps=played.steps,
        censored=played.censored,
        restarts=played.restarts,
        decisions=np.zeros_like(played.steps),
        seconds=played.seconds,
        stuck=played.stuck,
        events=played.events,
    )


def _law(
    landscape: Landscape | LeadingOnes | Law,
    algorithm: Algorithm | AlgorithmFamily | Search | NamedAlgorithm | None,
    start: Start | None,
    at_least: RationalLike | None,
) -> Law:
    if isinstance(landscape, StepLaw | JumpingLaw | SearchTable):
        if algorithm is not None:
            raise ParameterError(
                "algorithm is given twice: a law has its own; leave out one of them"
            )
        return landscape
    if isinstance(algorithm, NamedAlgorithm):
        algorithm = algorithm.on(landscape)
    if isinstance(algorithm, Search):
        return SearchTable(landscape, algorithm, start, at_least)
    check_learner(landscape, algorithm)
    assert isinstance(landscape, Landscape)
    if isinstance(algorithm, Algorithm) and algorithm.rate is not None:
        return JumpingLaw.of(landscape, algorithm)
    return StepLaw.of(landscape, algorithm)


def kernel_of(
    landscape: Landscape | LeadingOnes, algorithm: Algorithm | AlgorithmFamily | Search
) -> Kernel:
    """Return the faster kernel that can play an algorithm."""
    if isinstance(algorithm, Search) or isinstance(landscape, LeadingOnes):
        return "event"
    if isinstance(algorithm, Algorithm) and algorithm.rate is not None:
        return "event"
    law = StepLaw.of(landscape, algorithm)
    return "event" if law.algorithm.epsilon != 0 or _encoded(law).skippable else "step"


def _playable(law: StepLaw, kernel: Kernel) -> EncodedLaw:
    """Return what the kernel reads, if it can play the law."""
    encoded = _encoded(law)
    if kernel == "event" and not encoded.skippable:
        raise ParameterError(
            f"kernel = event cannot play {law.algorithm.name}: its rejected moves are rewarded, "
            f'or do not shrink the entry; use `kernel="step"`'
        )
    return encoded


def _check_ended(stuck: IntArray, first_run: int, seed: int) -> None:
    """Refuse runs without a limit that are stuck for ever."""
    if (stuck >= 0).any():
        raise NotAbsorbingError(
            f"run {first_run + int(np.flatnonzero(stuck >= 0)[0])} of seed {seed} can never end: "
            f"every further move is rejected; give a step limit with `limit` to count such runs "
            f"as censored"
        )


@lru_cache(maxsize=16)
def _encoded(law: StepLaw) -> EncodedLaw:
    return EncodedLaw.of(law)


def default_limit(n: int) -> int:
    """Return the step limit of a simulation that names none: 10^4 n^2, as far as steps count.

    Inside (H) E[T] of LRSAO on Jump is of the order n^2 at most (Theorem 1), so a run that
    reaches it is most likely one that cannot end.

    >>> default_limit(100)
    100000000
    """
    return min(_LIMIT_FACTOR * n * n, LARGEST_LIMIT)


def check_runs(runs: int, name: str = "runs") -> None:
    """Refuse a number of runs that is too small, or does not fit into memory."""
    if runs < 1:
        raise ParameterError(f"{name} = {runs} is too small: at least one run is needed")
    most = _memory() // 2 // _BYTES_PER_RUN
    if runs > most:
        raise ParameterError(
            f"{name} = {runs:,} is too large: the results would need some "
            f"{runs * _BYTES_PER_RUN / 1e9:,.0f} GB; at most {most:,} fit here, so take fewer, or "
            f"several seeds"
        )


def _memory() -> int:
    """Return the bytes of physical memory; 4 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**32


def _check(
    runs: int, limit: int | None, restart: int | None, threads: int | None, first_run: int
) -> None:
    check_runs(runs)
    if not 0 <= first_run < 2**62:
        raise ParameterError(f"first_run = {first_run} is out of range: 0 .. 2^62 is allowed")
    for name, value in (("limit", limit), ("restart", restart)):
        if value is not None and not 1 <= value <= LARGEST_LIMIT:
            raise ParameterError(f"{name} = {value} is out of range: 1 .. 2^49 is allowed")
    if threads is not None and not 1 <= threads <= _MOST_THREADS:
        raise ParameterError(
            f"threads = {threads} is out of range: 1 .. {_MOST_THREADS} is allowed"
        )


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
    """Return the trace of one run, one line per event; see `simulate.kernels.records`.

    The run is the same as number `run` of `simulate` with the same arguments.
    """
    _check(1, limit, restart, None, run)
    game = Game(
        _encoded(law),
        stream_key(seed, *path),
        kernel == "event",
        arithmetic == "exact",
        limit,
        restart,
    )
    hits, facts = game.arrays(1)
    decisions = game.play_all(run, hits, facts, {}, 1, no_progress, None).get(run, [])
    return game.play_one(run, decisions).trace
