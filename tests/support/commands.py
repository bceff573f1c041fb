"""Commands in the process of the tests: another is started only where that is what is tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Command", "Done"]


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]
"""The fixture `command` of tests/cli: called with the words of a command line."""
