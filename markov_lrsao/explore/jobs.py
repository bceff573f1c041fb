"""Answers computed in child processes, one each, that can be killed at any time.

A fork server, started with the explorer, has the engine imported; a child is forked from it within
milliseconds, runs one command line, and sends back what was printed. A child is killed when its
answer is no longer wanted. Should the server itself be killed, the fork server sees its end and
ends, and with it (`markov_lrsao.interrupts.begin_worker`) all children, also those that are deep
in native code.
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from markov_lrsao.interrupts import begin_worker
from markov_lrsao.progress import silence

__all__ = ["Answer", "Jobs", "Work"]

Work = Callable[[Sequence[str]], int]
"""Runs a command line, prints, and returns the exit code; found by its name in a child."""
_PRELOADED = [
    "markov_lrsao.cli.app",
    "markov_lrsao.answers.expected",
    "markov_lrsao.answers.counting",
    "markov_lrsao.answers.distribution",
    "markov_lrsao.answers.profile",
    "markov_lrsao.regimes.grid",
    "markov_lrsao.figures.maps",
    "markov_lrsao.figures.walks",
    "scipy.optimize",
    "proofs_check.runs.run",
    "simulate.runs.reference",
    "simulate.sweeps.plan",
]


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    output: str
    errors: str


def _let_the_fork_server_end() -> None:
    """Give up what keeps the fork server alive.

    A child inherits the end of the pipe by which the fork server knows that somebody needs it; it
    would outlive the explorer for as long as a child is at work, and the child with it. Where a
    later Python keeps it elsewhere, a thread watches for the explorer's end.
    """
    from multiprocessing import forkserver, parent_process

    known = getattr(forkserver, "_forkserver", None)
    kept = getattr(known, "_forkserver_alive_fd", None)
    if isinstance(kept, int):
        os.close(kept)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _child(work: Work, arguments: list[str], sender: Connection) -> None:
    """Run one command line in a child process."""
    begin_worker(os.getppid())
    _let_the_fork_server_end()
    silence()  # what it prints on stderr is shown as an error
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            code = work(arguments)
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        except Exception as error:
            code = 70
            errors.write(f"markov-lrsao: {type(error).__name__}: {error}; please report this")
    with suppress(OSError):
        sender.send((code, output.getvalue(), errors.getvalue()))
        sender.close()


class Jobs:
    """The children at work; `kill` ends all of them."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(_PRELOADED)
        self._children: set[Any] = set()

    def start(self) -> None:
        """Start the fork server, so that the first answer need not wait for it."""
        from multiprocessing.forkserver import ensure_running

        ensure_running()

    @property
    def running(self) -> int:
        """How many children are at work."""
        return len(self._children)

    async def answer(self, arguments: list[str]) -> Answer:
        """Return what a command prints; cancelled, its child is killed."""
        receiver, sender = self._context.Pipe(duplex=False)
        child = self._context.Process(
            target=_child, args=(self._work, arguments, sender), daemon=True
        )
        child.start()
        sender.close()
        self._children.add(child)
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(receiver.fileno(), ready.set)
        try:
            await ready.wait()
            loop.remove_reader(receiver.fileno())
            code, output, errors = await asyncio.to_thread(receiver.recv)
            return Answer(code, output, errors)
        except EOFError:
            child.join(1)
            code = child.exitcode or 0
            ended = signal.Signals(-code).name if code < 0 else "itself"
            return Answer(70, "", f"markov-lrsao: the computation was ended by {ended}")
        finally:
            loop.remove_reader(receiver.fileno())
            receiver.close()
            self._end(child)

    def _end(self, child: Any) -> None:
        child.kill()
        child.join()
        self._children.discard(child)

    def kill(self) -> None:
        """Kill all children."""
        for child in tuple(self._children):
            self._end(child)
