"""Intervals with exact rational ends, each of which may or may not be attained.

Whether an end is attained decides comparisons: an entry that decays like lam^k stays
above 0 for ever, so its lower bound 0 is open, and the entry never ties with one that is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flint import fmpq

__all__ = ["UNKNOWN", "Interval", "compare"]

UNKNOWN = 2
"""The fourth outcome of a comparison, beside -1, 0 and 1: the bounds do not decide."""


@dataclass(slots=True)  # not frozen, which is slow to make; that fields are final is mypy's to see
class Interval:
    """The numbers between `low` and `high`; an end belongs to it iff it is attained.

    >>> str(Interval(fmpq(0), fmpq(3), low_attained=False))
    '(0, 3]'
    """

    low: Final[fmpq]
    high: Final[fmpq]
    low_attained: Final[bool] = True
    high_attained: Final[bool] = True

    @classmethod
    def point(cls, value: fmpq | int) -> Interval:
        """Return the interval that holds one number."""
        q = fmpq(value)
        return cls(q, q)

    def affine(self, factor: fmpq, constant: fmpq) -> Interval:
        """Return the image under x -> factor * x + constant."""
        if factor == 0:
            return Interval.point(constant)
        low, high = factor * self.low + constant, factor * self.high + constant
        if factor > 0:
            return Interval(low, high, self.low_attained, self.high_attained)
        return Interval(high, low, self.high_attained, self.low_attained)

    def __add__(self, other: Interval) -> Interval:
        return Interval(
            self.low + other.low,
            self.high + other.high,
            self.low_attained and other.low_attained,
            self.high_attained and other.high_attained,
        )

    def join(self, other: Interval) -> Interval:
        """Return the smallest interval that holds both."""
        if other in self:
            return self
        if self in other:
            return other
        lower, upper = self.low <= other.low, self.high >= other.high
        return Interval(
            self.low if lower else other.low,
            self.high if upper else other.high,
            (lower and self.low_attained) or (self.low >= other.low and other.low_attained),
            (upper and self.high_attained) or (self.high <= other.high and other.high_attained),
        )

    def __contains__(self, other: object) -> bool:
        return (
            isinstance(other, Interval)
            and (
                self.low < other.low
                or (self.low == other.low and (self.low_attained or not other.low_attained))
            )
            and (
                self.high > other.high
                or (self.high == other.high and (self.high_attained or not other.high_attained))
            )
        )

    def __hash__(self) -> int:
        # The hash of an fmpq is that of the Fraction it is converted to: slow.
        return hash((self.low.p, self.low.q, self.high.p, self.high.q))

    @property
    def sign(self) -> int:
        """-1, 0 or 1 where the interval decides it, else UNKNOWN."""
        return compare(self, _ZERO)

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low}"
        left, right = "[" if self.low_attained else "(", "]" if self.high_attained else ")"
        return f"{left}{self.low}, {self.high}{right}"


_ZERO = Interval.point(0)


def compare(x: Interval, y: Interval) -> int:
    """Return the sign of x - y where the two intervals decide it, else UNKNOWN.

    >>> compare(Interval(fmpq(0), fmpq(3), low_attained=False), Interval.point(0))
    1
    >>> compare(Interval(fmpq(0), fmpq(3)), Interval.point(0)) == UNKNOWN
    True
    """
    if x.low > y.high or (x.low == y.high and not (x.low_attained and y.high_attained)):
        return 1
    if x.high < y.low or (x.high == y.low and not (x.high_attained and y.low_attained)):
        return -1
    if x.low == x.high == y.low == y.high:
        return 0
    return UNKNOWN
