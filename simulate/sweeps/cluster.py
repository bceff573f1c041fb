"""Batches of a sweep on a Dask cluster.

When the sweep is interrupted, an event that the workers look at tells them to stop their kernels;
what they had not finished is thrown away.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Generator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from markov_lrsao.cluster import SchedulerError, on_cluster
from simulate.runs.stopping import Stop

if TYPE_CHECKING:
    from simulate.runs.batches import Batch
    from simulate.sweeps.plan import Experiment

__all__ = ["SchedulerError", "on_dask"]

_LOOK_SECONDS = 0.5


def play_watched(task: tuple[str, int, int], name: str) -> Batch:
    """Play a batch on a worker, until the event of that name is set."""
    from distributed import Event, get_client

    from simulate.sweeps.sweep import play_batch

    stop, ended = Stop(), threading.Event()
    event: Any = Event(name, client=get_client())

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            try:
                asked = event.is_set()
            except Exception:  # the scheduler is gone, so nobody waits for the batch
                asked = True
            if asked:
                stop.set()
                return

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        return play_batch(*task, stop)
    finally:
        ended.set()


def on_dask(
    tasks: list[tuple[int, Experiment, int, int]], address: str
) -> Generator[tuple[int, Batch] | None, None, None]:
    """Yield the batches of tasks as a cluster finishes them, and None several times a second."""
    event = f"markov-lrsao-{uuid.uuid4().hex}"
    batches = on_cluster(
        partial(play_watched, name=event),
        [(experiment.text, first, runs) for _, experiment, first, runs in tasks],
        address,
        event=event,
        again="finished batches are stored, so start the cluster and this sweep again",
    )
    with closing(batches):
        for found in batches:
            yield None if found is None else (tasks[found[0]][0], found[1])
