"""Batches of a sweep on a Dask cluster.

Tasks of a worker that dies are played elsewhere. When the sweep is interrupted, an event that the
workers look at tells them to stop their kernels; what they had not finished is thrown away.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from markov_lrsao.errors import LrsaoError
from simulate.runs.stopping import Stop

if TYPE_CHECKING:
    from simulate.runs.batches import Batch
    from simulate.sweeps.plan import Experiment

__all__ = ["SchedulerError", "on_dask"]

_PATIENCE_SECONDS = 5
_LOOK_SECONDS = 0.5
_LEAVE_SECONDS = 0.5
_AHEAD = 4  # batches per worker handed out in advance
_BEAT_SECONDS = 0.2


class SchedulerError(LrsaoError):
    """The Dask scheduler cannot be reached or lost its workers."""


def play_watched(text: str, first: int, runs: int, name: str) -> Batch:
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
        return play_batch(text, first, runs, stop)
    finally:
        ended.set()


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Yield a client; close it quickly, whatever has become of the scheduler."""
    try:
        import distributed
    except ImportError:
        raise SchedulerError(
            "`scheduler` needs Dask: install it with pip install 'markov-lrsao[dask]'"
        ) from None
    dask: Any = distributed
    # What Dask has to say about lost connections is said here, in one line; Tornado, which runs its
    # event loop, would report an interrupt that hits one of Dask's callbacks.
    for name in ("distributed", "tornado", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        client = dask.Client(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerError(
            f"scheduler {address} cannot be reached: {error}; start one with `dask scheduler` and "
            f"check the address"
        ) from None
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=_LEAVE_SECONDS)


def on_dask(
    tasks: list[tuple[int, Experiment, int, int]], address: str
) -> Generator[tuple[int, Batch] | None, None, None]:
    """Yield the batches of tasks as a cluster finishes them, and None several times a second."""
    with _connected(address) as client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE_SECONDS)
        except TimeoutError:
            raise SchedulerError(
                f"scheduler {address} has no workers: start some with `dask worker`"
            ) from None
        hand = _Hand(client, tasks, address)
        try:
            yield from hand.play()
        except BaseException:
            hand.give_up()
            raise


class _Hand:
    """Tasks that are handed out to a cluster, and what has become of them."""

    def __init__(
        self, client: Any, tasks: list[tuple[int, Experiment, int, int]], address: str
    ) -> None:
        self._client, self._address, self._todo = client, address, iter(tasks)
        self._event = f"markov-lrsao-{uuid.uuid4().hex}"
        self._running: dict[Any, int] = {}

    def _submit(self, most: int) -> None:
        while len(self._running) < most and (task := next(self._todo, None)) is not None:
            number, experiment, first, runs = task
            future = self._client.submit(
                play_watched, experiment.text, first, runs, self._event, pure=False, retries=3
            )
            self._running[future] = number

    def play(self) -> Generator[tuple[int, Batch] | None, None, None]:
        """Yield what is finished."""
        from distributed import CancelledError, wait

        most = _AHEAD * max(2, sum(self._client.nthreads().values()))
        self._submit(most)
        while self._running:
            try:
                with self._client.as_current():
                    finished = wait(
                        list(self._running), timeout=_BEAT_SECONDS, return_when="FIRST_COMPLETED"
                    ).done
            except TimeoutError:
                self._check()
                yield None
                continue
            except CancelledError:
                self._lost("the connection was lost")
            for future in finished:
                batch = self._result(future)
                if batch is not None:
                    yield self._running.pop(future), batch
            self._submit(most)

    def _check(self) -> None:
        if self._client.status != "running":
            self._lost("the connection was lost")

    def _result(self, future: Any) -> Batch | None:
        """Return a finished batch; None if it is played again.

        A result lives on its worker until it is fetched. If the worker dies before, the
        scheduler has the batch played elsewhere, under the same future.
        """
        if future.status in ("lost", "pending"):
            return None
        if future.status == "finished":
            try:
                batch: Batch = future.result(timeout=_PATIENCE_SECONDS)
            except TimeoutError:
                self._check()
                return None
            return batch
        failure = future.exception() if future.status == "error" else None
        if isinstance(failure, LrsaoError):
            raise failure
        self._lost("it gave up on a batch" + (f": {failure!r}" if failure else ""))

    def _lost(self, what: str) -> NoReturn:
        raise SchedulerError(
            f"scheduler {self._address}: {what}; finished batches are stored, so start the cluster "
            f"and this sweep again"
        )

    def give_up(self) -> None:
        """Tell the workers to stop, as far as they can be reached."""
        with suppress(Exception):
            if self._client.status == "running":
                self._client.sync(
                    self._client.scheduler.event_set,
                    name=self._event,
                    callback_timeout=_LEAVE_SECONDS,
                )
                self._client.cancel(list(self._running), force=True)
