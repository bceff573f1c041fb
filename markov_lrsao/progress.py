"""Progress on long work: a bar on stderr, nothing when stderr is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

__all__ = ["Bar", "Progress", "no_progress", "terminal_progress"]

_PATIENCE_SECONDS = 1.0
_REFRESH_SECONDS = 0.2


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


class _Terminal:
    """A line on stderr that appears once the work has taken longer than a second."""

    def __init__(self, title: str, total: int | None) -> None:
        self._title, self._total, self._done = title, total, 0
        self._begun = self._shown = time.monotonic()
        self._visible = False

    def advance(self, amount: int = 1) -> None:
        self._done += amount
        now = time.monotonic()
        if now - self._begun < _PATIENCE_SECONDS or now - self._shown < _REFRESH_SECONDS:
            return
        self._shown, self._visible = now, True
        elapsed = now - self._begun
        if self._total and self._done:
            share = min(1.0, self._done / self._total)
            filled = int(24 * share)
            left = elapsed * (1 - share) / max(share, 1e-9)
            text = f"[{'#' * filled}{'.' * (24 - filled)}] {share:4.0%}, {left:,.0f} s left"
        else:
            of = f" of {self._total:,}" if self._total else ""
            text = f"{self._done:,}{of} in {elapsed:,.0f} s"
        sys.stderr.write(f"\r\x1b[K{self._title}: {text}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._visible:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def terminal_progress(title: str, total: int | None = None) -> Iterator[Bar]:
    """Show a bar on stderr if it is a terminal and the work takes longer than a second."""
    if not sys.stderr.isatty():
        yield _Silent()
        return
    bar = _Terminal(title, total)
    try:
        yield bar
    finally:
        bar.close()
