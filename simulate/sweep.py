"""Sweeps: the blocks of a plan, played on all cores or on a Dask cluster, stored as they finish.

What is already in the results file is not played again, so a sweep that was killed is resumed by
starting it again, and ends with the same table. Finished blocks are committed together every
half second.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from markov_lrsao.errors import LrsaoError, ParameterError
from markov_lrsao.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from simulate.plan import CellPlan, Plan
from simulate.runner import available_cores, simulate
from simulate.samples import Samples
from simulate.statistics import Summary, summary
from simulate.store import Block, ResultsFile, pack

__all__ = ["CellResult", "SchedulerError", "run_sweep", "sweep_results"]

_COMMIT_SECONDS = 0.5
_PATIENCE_SECONDS = 5
_AHEAD = 4  # blocks per worker handed out in advance

Task = tuple[int, CellPlan, int, int]
"""(number of the cell, cell, first run, number of runs)"""
Blocks = Generator[tuple[int, Block], None, None]


class SchedulerError(LrsaoError):
    """The Dask scheduler cannot be reached or lost its workers."""


@lru_cache(maxsize=8)
def _law(key: str) -> StepLaw:
    return CellPlan.from_key(key).law()


def play_block(key: str, first: int, runs: int) -> Block:
    """Play one block on one thread; this is what workers do."""
    cell = CellPlan.from_key(key)
    return pack(simulate(
        _law(key), runs=runs, seed=cell.seed, kernel=cell.kernel,  # type: ignore[arg-type]
        arithmetic=cell.arithmetic, limit=cell.limit,  # type: ignore[arg-type]
        restart=cell.restart, threads=1, first_run=first, path=cell.path))


def run_sweep(
    plan: Plan,
    path: str | Path,
    *,
    scheduler: str | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> int:
    """Play what is missing of a plan and store it; return the number of runs played now.

    Parameters
    ----------
    path : results file; it is created, or continued
    scheduler : address of a Dask scheduler; default: threads of this process
    """
    with ResultsFile(path) as file:
        numbers = file.register(plan.cells)
        done = file.done()
        tasks: list[Task] = [
            (numbers[cell], cell, first, runs) for cell in plan.cells
            for first, runs in cell.blocks() if (numbers[cell], first) not in done
        ]
        total = sum(runs for *_, runs in tasks)
        blocks = (_on_dask(tasks, scheduler) if scheduler is not None
                  else _on_threads(tasks, threads or available_cores()))
        waiting: list[tuple[int, Block]] = []
        last = time.monotonic()
        with progress("sweep", total=plan.runs) as bar, closing(blocks):
            bar.advance(plan.runs - total)
            try:
                for cell, block in blocks:
                    waiting.append((cell, block))
                    bar.advance(block.runs)
                    if time.monotonic() - last > _COMMIT_SECONDS:
                        file.add(waiting)
                        waiting, last = [], time.monotonic()
            finally:
                if waiting:
                    file.add(waiting)
        return total


def _on_threads(tasks: list[Task], workers: int) -> Blocks:
    with ThreadPoolExecutor(workers) as pool:
        todo = iter(tasks)
        running: dict[Any, int] = {}
        try:
            while True:
                while len(running) < _AHEAD * workers and (task := next(todo, None)) is not None:
                    number, cell, first, runs = task
                    running[pool.submit(play_block, cell.key, first, runs)] = number
                if not running:
                    return
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _on_dask(tasks: list[Task], address: str) -> Blocks:
    """Hand the tasks to a Dask cluster; tasks of a worker that dies are played elsewhere."""
    try:
        import distributed
    except ImportError:
        raise SchedulerError(
            "--scheduler needs Dask: install it with pip install 'markov-lrsao[dask]'") from None
    dask: Any = distributed
    try:
        client = dask.Client(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerError(
            f"scheduler {address} cannot be reached: {error}; start one with `dask scheduler` and "
            f"check the address") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE_SECONDS)
        except TimeoutError:
            raise SchedulerError(
                f"scheduler {address} has no workers: start some with `dask worker`") from None
        todo = iter(tasks)
        numbers: dict[str, int] = {}
        queue = dask.as_completed(loop=client.loop)

        def submit() -> None:
            task = next(todo, None)
            if task is not None:
                number, cell, first, runs = task
                future = client.submit(play_block, cell.key, first, runs, pure=False, retries=3)
                numbers[future.key] = number
                queue.add(future)

        for _ in range(_AHEAD * max(2, sum(client.nthreads().values()))):
            submit()
        for future in queue:
            failure = future.exception() if future.status == "error" else None
            if isinstance(failure, LrsaoError):
                raise failure
            if failure is not None or future.cancelled():
                raise SchedulerError(f"scheduler {address} gave up on a block: {failure!r}")
            yield numbers.pop(future.key), future.result()
            submit()


@dataclass(frozen=True)
class CellResult:
    """A cell of a sweep and the statistics of its stored runs."""

    cell: CellPlan
    runs: int
    summary: Summary


def sweep_results(path: str | Path, plan: Plan | None = None) -> list[CellResult]:
    """Return the statistics of every cell of a results file (or of a plan) that has runs."""
    if not Path(path).exists():
        raise ParameterError(f"results file {path} does not exist")
    results = []
    with ResultsFile(path) as file:
        for number, cell in file.cells().items():
            if plan is not None and cell not in plan.cells:
                continue
            hits, steps, restarts, decisions = file.runs(number)
            if len(steps):
                results.append(CellResult(
                    cell, len(steps), _summary(cell, hits, steps, restarts, decisions)))
    return results


def _summary(
    cell: CellPlan, hits: Any, steps: Any, restarts: int, decisions: int
) -> Summary:
    counts = np.zeros((2, len(steps)), dtype=np.int64)
    counts[:, 0] = restarts, decisions  # known per block only; the summary shows their sums
    return summary(Samples(
        law=_law(cell.key), seed=cell.seed, path=cell.path, first_run=0,
        kernel=cell.kernel, arithmetic=cell.arithmetic,  # type: ignore[arg-type]
        limit=cell.limit, restart=cell.restart, hits=hits, steps=steps,
        censored=hits[:, -1] < 0, restarts=counts[0], decisions=counts[1], seconds=0.0))
