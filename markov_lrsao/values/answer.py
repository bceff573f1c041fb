"""What is known of a runtime: moments, each with its kind, and how narrow they have to be.

Much of the engine speaks of answers without following values: this module is light.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from markov_lrsao.exact.quantity import Enclosed, Quantity, Trap

__all__ = ["TOLERANCE", "Answer"]

TOLERANCE = fmpq(1, 2_000)
"""Relative width of E[T] and of every phase at which refinement stops by default."""
_UNBOUNDED = fmpq(10**9)
"""Stands for the relative width of a number without an upper end."""


@dataclass(frozen=True)
class Answer:
    """Moments of T and of the phases, and how they are known.

    Attributes
    ----------
    values : per quantity (T, then the phases) the mean and the central moments
    undecided : bound of the probability that an open comparison is ever met; None: decided
    trap : where a run can get stuck, if it can
    """

    values: list[list[Quantity]]
    method: str
    states: int
    undecided: fmpq | None = None
    trap: Trap | None = None

    @property
    def relative_width(self) -> fmpq:
        """The largest relative width of a mean, and the width of the trap's probability."""
        widths = [fmpq(0)]
        for quantity in (q[0] for q in self.values):
            match quantity:
                case Enclosed(_, None):
                    return _UNBOUNDED
                case Enclosed():
                    widths.append(quantity.relative_width or fmpq(0))
        if self.trap is not None:
            widths.append(self.trap.upper - self.trap.lower)
        return max(widths)
