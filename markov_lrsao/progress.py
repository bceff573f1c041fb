"""Progress on long work: a bar on terminals, one line a minute on stderr elsewhere.

Whoever works says so with ``with progress(title, total) as bar: bar.advance()``. What is going on
stands on a *board*, a few bytes of memory. A command's board is shared with the process that waits
for it (`markov_lrsao.interrupts.supervised`), and that one draws: so the seconds go on also while
native code holds the interpreter for minutes. Elsewhere (other systems, jobs that ignore Ctrl-C) a
thread draws. In a program that only imports the engine nobody does, and a bar draws itself when
it advances.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

__all__ = [
    "Bar",
    "Board",
    "Progress",
    "Watcher",
    "answered",
    "elapsed",
    "no_progress",
    "silence",
    "speaking",
    "terminal_progress",
    "watched_by_thread",
]

PATIENCE_SECONDS = 1.0
REFRESH_SECONDS = 0.25
LINE_SECONDS = 60.0
"""Elsewhere than on terminals a line is printed this often."""
_CLEAR = "\r\x1b[K"


class Bar(Protocol):
    """Something that can be told how much work was done."""

    def advance(self, amount: int = 1) -> None:
        """Report `amount` more units of work."""


Progress = Callable[..., AbstractContextManager[Bar]]
"""Called as ``progress(title, total=None)``."""


class _Silent:
    def advance(self, amount: int = 1) -> None:
        """Do nothing."""


@contextmanager
def no_progress(title: str, total: int | None = None) -> Iterator[Bar]:
    """Show nothing."""
    yield _Silent()


# -- the board -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One piece of work: its name, when it began, how much is done and how much there is."""

    title: str
    begun: float
    done: int = 0
    total: int | None = None

    def text(self, now: float) -> str:
        """Return a line about it: a share with the time left, or what was done."""
        seconds = now - self.begun
        if self.total and self.done:
            share = min(1.0, self.done / self.total)
            filled = int(24 * share)
            left = seconds * (1 - share) / max(share, 1e-9)
            bar = f"[{'#' * filled}{'.' * (24 - filled)}] {share:4.0%}, {left:,.0f} s left"
            return f"{self.title}: {bar}"
        of = f" of {self.total:,}" if self.total else ""
        done = f"{self.done:,}{of} in " if self.done or of else ""
        return f"{self.title}: {done}{seconds:,.0f} s"


class Board:
    """What is being worked on, in memory that a watching process shares.

    `shown` says that a line stands on the terminal. Whoever draws or clears holds the token: a
    byte in a pipe, which a process that dies does not lock for others.
    """

    _FORM = struct.Struct("<BBdqqH")
    _LONGEST = 400

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self._FORM.size + self._LONGEST)
        self._take, self._give = os.pipe()
        os.set_blocking(self._take, False)
        os.write(self._give, b".")
        self.stack: list[Entry] = []

    def close(self) -> None:
        """Give the memory and the pipe back."""
        self._memory.close()
        for end in (self._take, self._give):
            os.close(end)

    def write(self, entry: Entry | None) -> None:
        """Put up what is being done; None: nothing that takes long."""
        title = b"" if entry is None else entry.title.encode()[: self._LONGEST]
        begun, done = (0.0, 0) if entry is None else (entry.begun, entry.done)
        total = -1 if entry is None or entry.total is None else entry.total
        shown = self._memory[1]
        self._memory[self._FORM.size : self._FORM.size + len(title)] = title
        self._FORM.pack_into(
            self._memory, 0, entry is not None, shown, begun, total, done, len(title)
        )

    def read(self) -> Entry | None:
        """Return what is being done."""
        active, _, begun, total, done, length = self._FORM.unpack_from(self._memory)
        if not active:
            return None
        title = self._memory[self._FORM.size : self._FORM.size + length]
        return Entry(title.decode(errors="replace"), begun, done, None if total < 0 else total)

    @property
    def shown(self) -> bool:
        """Whether a line stands on the terminal."""
        return bool(self._memory[1])

    @contextmanager
    def token(self) -> Iterator[bool]:
        """Yield whether this process may draw now; nobody waits long for it."""
        have = False
        for _ in range(50):
            with suppress(BlockingIOError):
                have = bool(os.read(self._take, 1))
            if have:
                break
            time.sleep(0.001)
        try:
            yield have
        finally:
            if have:
                os.write(self._give, b".")

    def draw(self, text: str) -> None:
        """Write a line on the terminal in place of the last one."""
        sys.stderr.write(f"{_CLEAR}{text}")
        sys.stderr.flush()
        self._memory[1] = 1

    def clear(self) -> None:
        """Take the line away."""
        if self.shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._memory[1] = 0


class Watcher:
    """Draws what stands on a board: `tick` now and then, from wherever there is time."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._terminal = sys.stderr.isatty()
        self._said = time.monotonic()
        self.pause = REFRESH_SECONDS if self._terminal else min(LINE_SECONDS, 1.0)
        """Seconds until the next tick."""

    def tick(self) -> None:
        """Draw if there is something to be drawn and it is time."""
        now = time.monotonic()
        if not self._terminal:
            entry = self._board.read()
            if entry is not None and now - self._said >= LINE_SECONDS:
                self._said = now
                with suppress(OSError):
                    print(entry.text(now), file=sys.stderr, flush=True)
            return
        with self._board.token() as free:
            entry = self._board.read()
            if free and entry is not None and now - entry.begun >= PATIENCE_SECONDS:
                self._board.draw(entry.text(now))


@contextmanager
def watched_by_thread(board: Board) -> Iterator[None]:
    """Have a thread of this process watch the board."""
    over = threading.Event()
    watcher = Watcher(board)

    def watch() -> None:
        while not over.wait(watcher.pause):
            watcher.tick()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# -- what this process does -----------------------------------------------------------------------


class _State:
    """The board of the command that runs here, if it is watched; and when it began."""

    board: Board | None = None
    begun: float = time.monotonic()
    silent = False


def silence() -> None:
    """Say nothing any more in this process: somebody else reads its stderr."""
    _State.silent, _State.board = True, None


def elapsed() -> float:
    """Return the seconds since the command began, all that it imported included."""
    return time.monotonic() - _State.begun


@contextmanager
def speaking(title: str, board: Board | None = None, begun: float | None = None) -> Iterator[None]:
    """Speak for a whole command, whatever its parts say.

    Parameters
    ----------
    board : what its watcher looks at; None: nobody watches
    begun : when it began, on the clock of `time.monotonic`; default now
    """
    _State.begun = time.monotonic() if begun is None else begun
    _State.board = None if _State.silent else board
    try:
        with terminal_progress(title) if board is not None else no_progress(title):
            yield
    finally:
        _State.board = None


def answered() -> None:
    """Say that the answer is there: what is printed now must not be drawn over."""
    board = _State.board
    if board is None:
        return
    with board.token():
        board.stack.clear()
        board.write(None)
        board.clear()


class _Posted:
    """A bar on the board of a watched command."""

    def __init__(self, board: Board, title: str, total: int | None) -> None:
        self._board = board
        outer = board.stack[0].title if board.stack else ""
        # "map, drawing", but not "map, map"
        named = f"{outer}, {title}" if outer and not title.startswith(outer) else title
        board.stack.append(Entry(named, time.monotonic(), 0, total))
        board.write(board.stack[-1])
        self._entry = board.stack[-1]

    def advance(self, amount: int = 1) -> None:
        old = self._entry
        self._entry = Entry(old.title, old.begun, old.done + amount, old.total)
        stack = self._board.stack
        if stack and stack[-1] is old:
            stack[-1] = self._entry
            self._board.write(self._entry)
        else:
            self._replace(old)

    def _replace(self, old: Entry) -> None:
        """Note it where another bar was begun meanwhile."""
        for k, entry in enumerate(self._board.stack):
            if entry is old:
                self._board.stack[k] = self._entry

    def close(self) -> None:
        board = self._board
        board.stack = [entry for entry in board.stack if entry is not self._entry]
        with board.token():
            board.write(board.stack[-1] if board.stack else None)
            board.clear()


class _Drawn:
    """A bar that draws itself when it advances: nobody else does."""

    def __init__(self, title: str, total: int | None) -> None:
        self._entry = Entry(title, time.monotonic(), 0, total)
        self._said = self._entry.begun
        self._terminal, self._visible = sys.stderr.isatty(), False

    def advance(self, amount: int = 1) -> None:
        old, now = self._entry, time.monotonic()
        self._entry = Entry(old.title, old.begun, old.done + amount, old.total)
        pause = REFRESH_SECONDS if self._terminal else LINE_SECONDS
        if now - old.begun < PATIENCE_SECONDS or now - self._said < pause:
            return
        self._said, text = now, self._entry.text(now)
        if self._terminal:
            self._visible = True
            sys.stderr.write(f"{_CLEAR}{text}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def close(self) -> None:
        if self._visible:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()


@contextmanager
def terminal_progress(title: str, total: int | None = None) -> Iterator[Bar]:
    """Show a bar if the work takes longer than a second; elsewhere a line a minute."""
    if _State.silent:
        yield _Silent()
        return
    board = _State.board
    bar = _Drawn(title, total) if board is None else _Posted(board, title, total)
    try:
        yield bar
    finally:
        bar.close()
