"""Jobs on a Dask cluster: handed out a few at a time, and done elsewhere when a worker dies.

A caller that stops early tells the cluster: jobs that have not begun are dropped, and workers that
look at the named event end theirs. Others finish the job they are at, and nobody fetches its
result. Dask is optional: `pip install 'markov-lrsao[dask]'`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, NoReturn, TypeVar

from markov_lrsao.errors import LrsaoError

__all__ = ["Hand", "SchedulerError", "on_cluster"]

_PATIENCE_SECONDS = 5
_LEAVE_SECONDS = 0.5
_AHEAD = 4  # jobs per thread of the cluster handed out in advance
_BEAT_SECONDS = 0.2

J = TypeVar("J")
T = TypeVar("T")


class SchedulerError(LrsaoError):
    """The Dask scheduler cannot be reached or lost its workers."""


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
        # A client that fails here would speak once more when it is collected, ten seconds later.
        if "inproc" not in address:
            dask.comm.get_address_host_port(address)
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


def on_cluster(
    work: Callable[[J], T],
    jobs: Iterable[J],
    address: str,
    *,
    event: str | None = None,
    again: str = "start the cluster and this command again",
) -> Generator[tuple[int, T] | None, None, None]:
    """Yield (number of the job, ``work(job)``) as a cluster finishes them, and None now and then.

    Parameters
    ----------
    work : a function that the workers can import
    address : of the scheduler
    event : name of an event that is set when the caller stops early
    again : what to do after the cluster was lost

    Raises
    ------
    SchedulerError
        The scheduler cannot be reached, has no workers, or lost what it was doing.
    """
    with _connected(address) as client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE_SECONDS)
        except TimeoutError:
            raise SchedulerError(
                f"scheduler {address} has no workers: start some with `dask worker`"
            ) from None
        hand = Hand(client, work, jobs, address, event, again)
        try:
            yield from hand.play()
        except BaseException:
            hand.give_up()
            raise


class Hand(Generic[J, T]):
    """Jobs that are handed out to a cluster, and what has become of them."""

    def __init__(
        self,
        client: Any,
        work: Callable[[J], T],
        jobs: Iterable[J],
        address: str,
        event: str | None,
        again: str,
    ) -> None:
        self._client, self._work, self._todo = client, work, enumerate(jobs)
        self._address, self._event, self._again = address, event, again
        self._running: dict[Any, int] = {}

    def _submit(self, most: int) -> None:
        while len(self._running) < most and (numbered := next(self._todo, None)) is not None:
            number, job = numbered
            future = self._client.submit(self._work, job, pure=False, retries=3)
            self._running[future] = number

    def play(self) -> Generator[tuple[int, T] | None, None, None]:
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
                found = self._result(future)
                if found is not None:
                    yield self._running.pop(future), found[0]
            self._submit(most)

    def _check(self) -> None:
        if self._client.status != "running":
            self._lost("the connection was lost")

    def _result(self, future: Any) -> tuple[T] | None:
        """Return what a job has found; None if it is done again.

        A result lives on its worker until it is fetched. If the worker dies before, the
        scheduler has the job done elsewhere, under the same future.
        """
        if future.status in ("lost", "pending"):
            return None
        if future.status == "finished":
            try:
                result: T = future.result(timeout=_PATIENCE_SECONDS)
            except TimeoutError:
                self._check()
                return None
            return (result,)
        failure = future.exception() if future.status == "error" else None
        if isinstance(failure, LrsaoError):
            raise failure
        self._lost("it gave up on a job" + (f": {failure!r}" if failure else ""))

    def _lost(self, what: str) -> NoReturn:
        raise SchedulerError(f"scheduler {self._address}: {what}; {self._again}")

    def give_up(self) -> None:
        """Tell the workers to stop, as far as they can be reached."""
        with suppress(Exception):
            if self._client.status == "running":
                if self._event is not None:
                    self._client.sync(
                        self._client.scheduler.event_set,
                        name=self._event,
                        callback_timeout=_LEAVE_SECONDS,
                    )
                self._client.cancel(list(self._running), force=True)
