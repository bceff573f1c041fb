"""Sweeps: the batches of a plan, played on all cores or on a Dask cluster, stored as they finish.

What is already in the results file is not played again, so a sweep that was killed is resumed by
starting it again, and ends with the same table. Finished batches are committed together every
half second. More runs of an experiment continue it; fewer runs are the first ones of it.

Ctrl-C ends the kernels by their flag, on this machine and on a cluster's workers; what was finished
is stored.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from markov_lrsao.errors import ParameterError
from markov_lrsao.interrupts import available_cores
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from simulate.runs.batches import Batch, Runs, pack
from simulate.runs.runner import simulate
from simulate.runs.samples import Samples
from simulate.runs.searching import SearchTable
from simulate.runs.stopping import Stop, threads
from simulate.statistics.estimates import Summary, summary
from simulate.sweeps.cluster import SchedulerError, on_dask
from simulate.sweeps.plan import Experiment, Plan
from simulate.sweeps.store import DamagedError, ResultsFile, salvage

__all__ = ["ExperimentResult", "SchedulerError", "play_batch", "run_sweep", "sweep_results"]

_COMMIT_SECONDS = 0.5
_BEAT_SECONDS = 0.2
_AHEAD = 4  # batches per worker handed out in advance

Task = tuple[int, Experiment, int, int]
"""(number of the experiment, experiment, first run, number of runs)"""
Batches = Generator[tuple[int, Batch] | None, None, None]
"""Finished batches with the numbers of their experiments; None several times a second."""


@lru_cache(maxsize=8)
def _law(text: str) -> StepLaw | SearchTable:
    return Experiment.from_text(text).law()


def play_batch(text: str, first: int, runs: int, stop: Stop | None = None) -> Batch:
    """Play one batch on one thread; this is what workers do."""
    experiment = Experiment.from_text(text)
    return pack(
        simulate(
            _law(text),
            runs=runs,
            seed=experiment.seed,
            kernel=experiment.kernel,  # type: ignore[arg-type]
            arithmetic=experiment.arithmetic,  # type: ignore[arg-type]
            limit=experiment.limit,
            restart=experiment.restart,
            threads=1,
            first_run=first,
            path=experiment.path,
            stop=stop,
        )
    )


def _open(path: str | Path, repair: bool) -> ResultsFile:
    """Open a results file; drop its damaged batches if that is wanted."""
    try:
        return ResultsFile(path)
    except DamagedError:
        if not repair:
            raise
        salvage(path)
        return ResultsFile(path)


def _missing(file: ResultsFile, plan: Plan) -> list[Task]:
    """Return what a file lacks of a plan, in pieces of batches."""
    numbers, done = file.register(plan.experiments), file.done()
    tasks: list[Task] = []
    for experiment in plan.experiments:
        number, size = numbers[experiment]
        for begin in range(0, experiment.runs, size):
            have, need = done.get((number, begin), 0), min(size, experiment.runs - begin)
            if have < need:
                tasks.append((number, experiment, begin + have, need - have))
    return tasks


def run_sweep(
    plan: Plan,
    path: str | Path,
    *,
    scheduler: str | None = None,
    threads: int | None = None,
    repair: bool = False,
    progress: Progress = no_progress,
) -> int:
    """Play what is missing of a plan and store it; return the number of runs played now.

    Parameters
    ----------
    path : results file; it is created, or continued
    scheduler : address of a Dask scheduler; default: threads of this process
    repair : drop the damaged batches of the file, and play those of the plan again
    """
    with _open(path, repair) as file:
        tasks = _missing(file, plan)
        total = sum(runs for *_, runs in tasks)
        batches = (
            on_dask(tasks, scheduler)
            if scheduler is not None
            else _on_threads(tasks, threads or available_cores())
        )
        waiting: list[tuple[int, Batch]] = []
        last = time.monotonic()
        with progress("sweep", total=plan.runs) as bar, closing(batches):
            bar.advance(plan.runs - total)
            try:
                for found in batches:
                    if found is not None:
                        waiting.append(found)
                    bar.advance(0 if found is None else found[1].runs)
                    if waiting and time.monotonic() - last > _COMMIT_SECONDS:
                        ready, waiting, last = waiting, [], time.monotonic()
                        file.add(ready)
            finally:
                if waiting:
                    file.add(waiting)
        return total


def _on_threads(tasks: list[Task], workers: int) -> Batches:
    stop = Stop()
    with threads(workers, stop) as pool:
        todo = iter(tasks)
        running: dict[Any, int] = {}
        while True:
            while len(running) < _AHEAD * workers and (task := next(todo, None)) is not None:
                number, experiment, first, runs = task
                running[pool.submit(play_batch, experiment.text, first, runs, stop)] = number
            if not running:
                return
            finished, _ = wait(running, timeout=_BEAT_SECONDS, return_when=FIRST_COMPLETED)
            if not finished:
                yield None
            for future in finished:
                yield running.pop(future), future.result()


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment of a sweep and the statistics of its stored runs."""

    experiment: Experiment
    runs: int
    summary: Summary


def sweep_results(path: str | Path, plan: Plan | None = None) -> list[ExperimentResult]:
    """Return the statistics of every experiment of a results file that has runs.

    With a plan: of the plan's experiments, and of as many runs as it asks for.
    """
    if not Path(path).exists():
        raise ParameterError(f"results file {path} does not exist")
    wanted = (
        None if plan is None else {experiment.key: experiment for experiment in plan.experiments}
    )
    results = []
    with ResultsFile(path) as file:
        for number, stored in file.experiments().items():
            experiment = stored if wanted is None else wanted.get(stored.key)
            runs = None if experiment is None else file.runs(number)
            if experiment is not None and runs is not None:
                most = len(runs.steps) if wanted is None else min(experiment.runs, len(runs.steps))
                results.append(
                    ExperimentResult(
                        replace(experiment, runs=most), most, _summary(experiment, runs, most)
                    )
                )
    return results


def _summary(experiment: Experiment, runs: Runs, most: int) -> Summary:
    hits = runs.hits[:most]
    return summary(
        Samples(
            law=_law(experiment.text),
            seed=experiment.seed,
            path=experiment.path,
            first_run=0,
            kernel=experiment.kernel,  # type: ignore[arg-type]
            arithmetic=experiment.arithmetic,  # type: ignore[arg-type]
            limit=experiment.limit,
            restart=experiment.restart,
            hits=hits,
            steps=runs.steps[:most],
            censored=hits[:, -1] < 0,
            restarts=runs.restarts[:most],
            decisions=runs.decisions[:most],
            seconds=0.0,
        )
    )
