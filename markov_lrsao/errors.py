"""Exceptions: every error that a user can cause derives from `LrsaoError`.

A message names the parameter, the value received, what is allowed and what to do.
The command line prints it as one line and exits with code 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

__all__ = [
    "CrossingError",
    "ExactnessError",
    "FileFormatError",
    "FloatRangeError",
    "LrsaoError",
    "NotAbsorbingError",
    "ParameterError",
    "Refused",
    "SolverError",
    "StateSpaceTooLargeError",
    "UndecidedComparisonError",
    "VerificationError",
    "WorkerLostError",
    "attempt",
    "granted",
]


class LrsaoError(Exception):
    """Root of all errors raised on purpose by this toolkit.

    Attributes
    ----------
    advised : the message says what to do instead; nothing is to be added to it
    """

    def __init__(self, *arguments: object, advised: bool = False) -> None:
        super().__init__(*arguments)
        self.advised = advised


class ParameterError(LrsaoError, ValueError):
    """A parameter is malformed or out of its allowed range."""


class ExactnessError(LrsaoError, TypeError):
    """A number that is not known exactly was given where an exact rational is needed."""


class FileFormatError(LrsaoError, ValueError):
    """A file is malformed, truncated or describes something else; the message has the line."""


class NotAbsorbingError(LrsaoError):
    """The target is not reached with probability one, so E[T] is infinite."""


class CrossingError(LrsaoError):
    """Crossing counts do not apply to this landscape; the message says why."""


class StateSpaceTooLargeError(LrsaoError):
    """The chain would not fit; the message carries the expected number of states."""


class MemoryLimitError(LrsaoError):
    """More memory would be needed than was allowed."""


class WorkerLostError(LrsaoError):
    """A process that shared the work was killed from outside, so its part is missing."""


class SolverError(LrsaoError):
    """A solver could not finish, or its own check of the answer failed."""


class FloatRangeError(SolverError):
    """A number exceeds the range of floats; exact arithmetic has no such limit."""


class VerificationError(LrsaoError):
    """An exact identity that must hold (row sums, residuals, lumpability) does not."""


class UndecidedComparisonError(LrsaoError):
    """The bounds on two numbers overlap, so it is not known which is larger.

    Raised instead of guessing. Where the numbers are Q-entries, the greedy choice is open; the
    message names the agent state, the two entries and their bounds.
    """


_REFUSALS = (
    CrossingError,
    NotAbsorbingError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
)


@dataclass(frozen=True)
class Refused:
    """A way to an answer that does not lead there, and why.

    Attributes
    ----------
    reason : `UndecidedComparisonError`: a comparison is open; `NotAbsorbingError`: runs get stuck;
        `CrossingError`: the way does not apply; `StateSpaceTooLargeError`: it takes too much
    """

    reason: LrsaoError


def attempt(way: Callable[[], T], kinds: tuple[type[LrsaoError], ...] = _REFUSALS) -> T | Refused:
    """Return what a way finds, or why it does not lead there.

    Explorations raise deep inside their loops. Here, and nowhere else, such an error becomes a
    value, so that who decides between several ways does it by the cases of a type. Errors of
    any other kind are not refusals: they go to the user.

    Parameters
    ----------
    kinds : errors that are refusals; by default the four that `Refused` names
    """
    try:
        return way()
    except kinds as error:
        return Refused(error)


def granted(found: T | Refused) -> T:
    """Return what was found; a refusal is raised."""
    if isinstance(found, Refused):
        raise found.reason
    return found
