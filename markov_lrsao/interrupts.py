"""Ctrl-C, in one place: back at the prompt soon, exit code 130, nothing left running.

Python notices a signal only between two of its own instructions, and much of the work here is
done by native code that takes minutes and may hold the interpreter's lock (flint, cvc5, LAPACK).
So the command line does its work in a child process, and the parent does nothing but wait for
it (`supervised`): an interrupt is passed on, the child unwinds and keeps what it has, and if it
has not ended after `GRACE_SECONDS`, or at a second interrupt, it is killed. Files are written
by renaming and stores are crash-safe, so a killed child leaves them whole.

Elsewhere:

- `interruptible` runs a native call that can be cancelled (a solver's query) beside the main
  thread, so that an interrupt is raised at once and is never mistaken for an answer;
- `process_pool` makes workers that leave Ctrl-C to their parent and do not outlive it;
- `spread` plays a list of jobs on such a pool, with the results in order.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from markov_lrsao.errors import WorkerLostError
from markov_lrsao.progress import Board, Watcher, watched_by_thread

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

__all__ = [
    "EXIT_CODE",
    "GRACE_SECONDS",
    "available_cores",
    "begin_worker",
    "interruptible",
    "memory_is_limited",
    "process_pool",
    "seen",
    "several",
    "spread",
    "supervised",
]

EXIT_CODE = 130
GRACE_SECONDS = 1.4
"""How long a child may take to unwind after the first Ctrl-C."""
_AGAIN_SECONDS = 0.01
_FEW = 4  # jobs for which no process is started
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)

J = TypeVar("J")
T = TypeVar("T")


class _State:
    """What the handler in the working process knows, and a byte that both processes see."""

    process = 0
    seen = False
    raised = False
    limited: Any = None


def seen() -> bool:
    """Return whether Ctrl-C has arrived, even if something swallowed the exception."""
    return _State.seen


def memory_is_limited(limited: bool) -> None:
    """Tell the waiting process whether a limit of memory is in force; see `markov_lrsao.memory`."""
    if _State.limited is not None:
        _State.limited[0] = int(limited)


# -- the working process ---------------------------------------------------------------------


def _raise(number: int, frame: Any) -> None:
    """Raise KeyboardInterrupt, once: a terminal and the parent both send the signal."""
    if os.getpid() != _State.process:
        return  # a worker that was forked a moment ago
    _State.seen = True
    if not _State.raised:
        _State.raised = True
        raise KeyboardInterrupt


def _raise_again(number: int, frame: Any) -> None:
    _State.raised = False
    _raise(number, frame)


def _watch_unraisable() -> None:
    """Raise an interrupt again where Python would print and forget it.

    An exception in a finaliser or a callback from native code has nowhere to go. The timer
    lets the finaliser end first. After an interrupt, finalisers of objects that it left half made
    fail for what is not there; that says nothing about the work, and is not printed.
    """
    printed = sys.unraisablehook

    def hook(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)
        elif not seen():
            printed(unraisable)

    sys.unraisablehook = hook


def _end_with_parent(parent: int) -> None:
    """Have the system kill this process when its parent is gone (Linux)."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(EXIT_CODE)


def _work(work: Callable[[], int], parent: int) -> None:
    """Do the work and leave; after an interrupt without waiting for threads."""
    _State.process = os.getpid()
    signal.signal(signal.SIGINT, _raise)
    signal.signal(signal.SIGALRM, _raise_again)
    _watch_unraisable()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _end_with_parent(parent)
    code = work()
    if not seen():
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


# -- the waiting process ---------------------------------------------------------------------


class _Guard:
    """Passes an interrupt on to the child, and kills it when its time is over."""

    def __init__(self, child: int) -> None:
        self.child, self.interrupts, self.killed = child, 0, False

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.child, number)

    def kill(self, number: int, frame: Any) -> None:
        self.killed = True
        self._send(signal.SIGKILL)

    def interrupt(self, number: int, frame: Any) -> None:
        self.interrupts += 1
        if self.interrupts > 1:
            self.kill(number, frame)
            return
        self._send(signal.SIGINT)
        signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)

    def wait(self, watcher: Watcher | None) -> int:
        """Wait for the child's end and return its exit code; meanwhile show what it does."""
        signal.signal(signal.SIGALRM, self.kill)
        signal.signal(signal.SIGINT, self.interrupt)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if watcher is not None:
            self._show(watcher)
        _, status = os.waitpid(self.child, 0)
        for number in (signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        return os.waitstatus_to_exitcode(status)

    def _show(self, watcher: Watcher) -> None:
        """Let the watcher draw until the child ends; where it cannot be waited for, not at all."""
        import select

        try:
            end = os.pidfd_open(self.child)
        except OSError:
            return
        waiting = select.poll()
        waiting.register(end, select.POLLIN)
        while not waiting.poll(1000 * watcher.pause):
            watcher.tick()
        os.close(end)


def _ending(guard: _Guard, code: int) -> int:
    """Return our exit code for a child's, with a line if the child could not print one."""
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""  # of a progress bar
    if code and not guard.interrupts and _State.limited is not None and _State.limited[0]:
        # a native library had no memory, and ended the process in its own way
        print(f"{clear}markov-lrsao: more memory than --max-memory is needed", file=sys.stderr)
        return 2
    if code >= 0:
        return code
    if guard.interrupts:
        print(f"{clear}interrupted", file=sys.stderr)
        return EXIT_CODE
    name = signal.Signals(-code).name
    hint = " (is there enough memory?)" if -code == signal.SIGKILL else ""
    print(f"{clear}markov-lrsao: ended by {name}{hint}", file=sys.stderr)
    return 128 - code


def supervised(work: Callable[[], int], board: Board | None = None) -> int:
    """Return the exit code of work, done in a child process that Ctrl-C surely ends.

    While it works, what stands on the board is shown.

    The child leaves by `sys.exit`, so this returns in the parent only. Where the signal is
    ignored (a job in the background), or on systems whose libraries do not survive a fork, the
    work is done right here.
    """
    if (
        sys.platform != "linux"
        or signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None)
        or threading.current_thread() is not threading.main_thread()
    ):
        with watched_by_thread(board) if board is not None else nullcontext():
            return work()
    import mmap
    import warnings

    parent, _State.limited = os.getpid(), mmap.mmap(-1, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with warnings.catch_warnings():
        # The only other threads are idle ones of BLAS, which knows how to be forked.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _work(work, parent)
    guard = _Guard(child)
    return _ending(guard, guard.wait(None if board is None else Watcher(board)))


# -- calls and pools ---------------------------------------------------------------------------


def interruptible(call: Callable[[], T], cancel: Callable[[], None]) -> T:
    """Return the result of a native call; Ctrl-C cancels it and is raised.

    Parameters
    ----------
    call : must release the interpreter's lock
    cancel : makes the call return soon; may be called several times, from another thread
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        for _ in range(int(10 * GRACE_SECONDS)):
            if not thread.is_alive():
                break
            cancel()
            thread.join(0.1)
        raise
    if failures:
        raise failures[0]
    return results[0]


def begin_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent(parent)


def _silence_abandoned_pools() -> None:
    """Have the thread of a pool that is given up end without a traceback.

    Where it meets a dead process before it has dropped the cancelled jobs, it fails on one of
    them (until Python 3.12). Nobody waits for these jobs any more.
    """
    from concurrent.futures import InvalidStateError

    printed = threading.excepthook

    def hook(failure: threading.ExceptHookArgs) -> None:
        if failure.exc_type is not InvalidStateError:
            printed(failure)

    threading.excepthook = hook


@contextmanager
def process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool whose processes are killed when the block is left by an exception.

    They ignore Ctrl-C, which is their parent's business, and end when it does. On Linux they are
    forked from this process, whatever the default is: with a fork server between, as it is from
    Python 3.14 on, this process would not be the parent that they end with.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("fork" if sys.platform == "linux" else None),
        initializer=begin_worker,
        initargs=(os.getpid(),),
    )
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        ours = [p for p in multiprocessing.active_children() if p not in others]
        _silence_abandoned_pools()
        pool.shutdown(wait=False, cancel_futures=True)
        for process in ours:
            process.kill()
        for process in ours:
            process.join()
        raise


def available_cores() -> int:
    """Return how many cores this process may use, which taskset and containers limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    work: Callable[[J], T],
    jobs: Sequence[J],
    workers: int | None = None,
    *,
    at_once: int = 1,
    scheduler: str | None = None,
) -> Generator[T, None, None]:
    """Yield ``work(job)`` for every job, in order; many jobs are spread over processes.

    An error of a job is raised here, and the jobs after it are dropped. So they are when a process
    is killed from outside, which is a `WorkerLostError`.

    Parameters
    ----------
    work : a function at the top level of its module, so that another process finds it
    workers : processes; default one per core that this process may use
    at_once : jobs that are handed to a process together; more for jobs of milliseconds
    scheduler : address of a Dask scheduler whose workers do the jobs instead
    """
    if scheduler is not None:
        yield from _on_scheduler(work, jobs, at_once, scheduler)
        return
    count = workers or available_cores()
    if count == 1 or len(jobs) < _FEW:
        yield from map(work, jobs)
        return
    from concurrent.futures.process import BrokenProcessPool

    with process_pool(count) as pool:
        try:
            yield from pool.map(work, jobs, chunksize=at_once)
        except BrokenProcessPool:
            raise WorkerLostError(
                f"one of {count} worker processes was killed from outside, by somebody or for want "
                f"of memory; run the command again: what map, figures and report had saved is "
                f"not computed anew",
                advised=True,
            ) from None


def several(jobs: Sequence[J], work: Callable[[J], T]) -> list[T]:
    """Do some jobs, one after the other."""
    return [work(job) for job in jobs]


def _on_scheduler(
    work: Callable[[J], T], jobs: Sequence[J], at_once: int, scheduler: str
) -> Generator[T, None, None]:
    """Yield the results of jobs in order, done by the workers of a Dask cluster."""
    from functools import partial

    from markov_lrsao.cluster import on_cluster

    parts = [jobs[i : i + at_once] for i in range(0, len(jobs), at_once)]
    waiting: dict[int, list[T]] = {}
    following = 0
    with closing(on_cluster(partial(several, work=work), parts, scheduler)) as finished:
        for found in finished:
            if found is not None:
                waiting[found[0]] = found[1]
            while following in waiting:
                yield from waiting.pop(following)
                following += 1
