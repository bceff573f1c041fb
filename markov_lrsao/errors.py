"""Exceptions: every error that a user can cause derives from `LrsaoError`.

A message names the parameter, the value received, what is allowed and what to do.
The command line prints it as one line and exits with code 2.
"""

from __future__ import annotations

__all__ = [
    "CrossingError",
    "ExactnessError",
    "FileFormatError",
    "LrsaoError",
    "NotAbsorbingError",
    "ParameterError",
    "SolverError",
    "StateSpaceTooLargeError",
    "UndecidedComparisonError",
    "VerificationError",
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
    """A binary float was given where an exact rational is needed."""


class FileFormatError(LrsaoError, ValueError):
    """A file is malformed, truncated or describes something else; the message has the line."""


class NotAbsorbingError(LrsaoError):
    """The target is not reached with probability one, so E[T] is infinite."""


class CrossingError(LrsaoError):
    """Crossing counts do not apply to this landscape; the message says why."""


class StateSpaceTooLargeError(LrsaoError):
    """The chain would not fit; the message carries the expected number of states."""


class SolverError(LrsaoError):
    """A solver could not finish, or its own check of the answer failed."""


class VerificationError(LrsaoError):
    """An exact identity that must hold (row sums, residuals, lumpability) does not."""


class UndecidedComparisonError(LrsaoError):
    """The bounds on two Q-entries overlap, so the greedy choice between them is not known.

    Raised instead of guessing. The message names the agent state, the two entries and
    their bounds.
    """
