"""Ending runs before their end: a flag that kernels read, and threads that heed it.

Python notices Ctrl-C between two instructions of its main thread only. So kernels are called on
other threads while the caller waits; when the wait is interrupted, the flag is set, every kernel
returns within microseconds, and what it was doing is thrown away.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import LrsaoError

__all__ = ["Stop", "StoppedError", "in_order", "threads"]

_BEAT_SECONDS = 0.2

T = TypeVar("T")
Item = TypeVar("Item")


class StoppedError(LrsaoError):
    """A simulation was stopped by its flag; its runs are not complete."""


class Stop:
    """A flag; `flag` is the array that kernels read."""

    def __init__(self) -> None:
        self.flag: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)

    def set(self) -> None:
        """Ask all kernels that read the flag to end."""
        self.flag[0] = 1

    @property
    def is_set(self) -> bool:
        """Whether somebody asked."""
        return bool(self.flag[0])


@contextmanager
def threads(count: int, stop: Stop) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads; if the block is left by an exception, set the flag and go.

    Leaving does not wait then: a thread may be compiling, which nothing can cut short.
    """
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
    except BaseException:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def in_order(
    pool: ThreadPoolExecutor,
    work: Callable[[Item], T],
    items: Iterable[Item],
    ahead: int,
    beat: Callable[[], object],
) -> Iterator[tuple[Item, T]]:
    """Yield (item, work(item)) in order, `ahead` items being handed out in advance.

    `beat` is called several times a second while there is nothing to yield.
    """
    waiting: deque[tuple[Item, Future[T]]] = deque()
    todo = iter(items)
    while True:
        for item in todo:
            waiting.append((item, pool.submit(work, item)))
            if len(waiting) >= ahead:
                break
        if not waiting:
            return
        item, future = waiting.popleft()
        while not wait([future], timeout=_BEAT_SECONDS).done:
            beat()
        yield item, future.result()
