"""One number of an answer: an exact rational, a rigorous enclosure, or a float with its error.

JSON carries exact values as "p/q" text beside a decimal of 20 digits; an enclosure has ``lower``
and ``upper`` instead, decimals rounded outwards, and is marked ``"exact": false`` like a float.
A float has the digits that its ``error`` supports, and no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, isfinite, isinf, isqrt, log10
from typing import Any

from flint import fmpq

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.balls import Ball
from markov_lrsao.exact.rationals import decimal_text, rational_text, to_float

__all__ = ["Quantity", "Trap", "known_digits", "square_root"]


@dataclass(frozen=True)
class Quantity:
    """One number: exact (a rational), enclosed (two rationals), or approximate (a float).

    Attributes
    ----------
    value : the number itself; None where only an enclosure is known; infinity is a float
    lower, upper : the ends of a rigorous enclosure; an upper end None means that no finite one
        is known
    error : for a float, a bound of its error; None where no bound is known
    """

    value: fmpq | float | None
    lower: fmpq | None = None
    upper: fmpq | None = None
    error: float | None = None

    @classmethod
    def of(cls, number: fmpq | Ball | float) -> Quantity:
        """Return an exact number, or a float with the error it carries.

        A float of which not even the sign is known becomes 0, with an error to match.
        """
        if isinstance(number, Ball):
            value, error = float(number.mid), number.error
            return (
                cls(0.0, error=error + abs(value))
                if error >= abs(value)
                else cls(value, error=error)
            )
        return cls(number if isinstance(number, fmpq) else float(number))

    @classmethod
    def enclosed(cls, lower: fmpq, upper: fmpq | None) -> Quantity:
        """Return a number known to lie between two rationals; exact where they are equal."""
        if upper is not None and lower > upper:
            raise VerificationError(f"an enclosure is empty: {lower} > {upper}")
        return cls(lower) if lower == upper else cls(None, lower, upper)

    @property
    def exact(self) -> bool:
        """Whether the number is exact."""
        return isinstance(self.value, fmpq)

    @property
    def infinite(self) -> bool:
        """Whether the number is known to be infinite."""
        return isinstance(self.value, float) and isinf(self.value)

    @property
    def width(self) -> fmpq | None:
        """Width of the enclosure; None where it has no finite upper end."""
        if self.lower is None:
            return fmpq(0)
        return None if self.upper is None else self.upper - self.lower

    def __float__(self) -> float:
        """Return the number, or the middle of its enclosure."""
        if self.value is not None:
            return to_float(self.value) if isinstance(self.value, fmpq) else self.value
        assert self.lower is not None
        return inf if self.upper is None else to_float((self.lower + self.upper) / 2)

    @property
    def decimal(self) -> str:
        """Twenty significant digits of an exact value, of a float those that are known."""
        if isinstance(self.value, fmpq):
            return decimal_text(self.value)
        return f"{float(self):.{known_digits(float(self), self.error)}g}"

    @property
    def ends(self) -> tuple[str, str] | None:
        """The ends of an enclosure as decimals rounded outwards, or None."""
        if self.lower is None:
            return None
        upper = "inf" if self.upper is None else decimal_text(self.upper, towards=1)
        return decimal_text(self.lower, towards=-1), upper

    @property
    def rational(self) -> str | None:
        """The text "p/q", or None where the number is not an exact rational."""
        return rational_text(self.value) if isinstance(self.value, fmpq) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        if self.infinite:
            return {"rational": None, "decimal": "inf", "infinite": True, "exact": True}
        if self.exact:
            return {"rational": self.rational, "decimal": self.decimal}
        if (ends := self.ends) is not None:
            return {"lower": ends[0], "upper": ends[1], "exact": False}
        data = {"rational": None, "decimal": self.decimal, "exact": False}
        return data if self.error is None else data | {"error": f"{self.error:.2e}"}


def known_digits(value: float, error: float | None) -> int:
    """Return how many significant digits of a float its error leaves.

    The text is then within one unit of its last digit of the truth.

    >>> [known_digits(1234.5678, error) for error in (0.0, 1e-3, 0.4, 90.0, 1e5)]
    [17, 6, 4, 1, 1]
    """
    if error is None or error == 0 or value == 0 or not isfinite(value):
        return 17
    return min(max(floor(log10(abs(value))) - floor(log10(2 * error)), 1), 17)


@dataclass(frozen=True)
class Trap:
    """A set of states that is entered with positive probability and never left.

    Attributes
    ----------
    state : one of them, in words
    lower, upper : bounds of the probability of entering the set; equal where it is exact
    """

    state: str
    lower: fmpq
    upper: fmpq

    @property
    def probability(self) -> Quantity:
        """The probability of getting stuck."""
        return Quantity.enclosed(self.lower, self.upper)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"state": self.state, "probability": self.probability.to_dict()}


def square_root(q: Quantity) -> Quantity:
    """Return the square root of a non-negative number, enclosed to some 25 digits.

    >>> square_root(Quantity(fmpq(2))).ends
    ('1.4142135623730950488', '1.4142135623730950489')
    >>> square_root(Quantity(fmpq(9, 4))).rational
    '3/2'
    """
    if q.infinite:
        return q
    low, high = (q.value, q.value) if isinstance(q.value, fmpq) else (q.lower, q.upper)
    assert isinstance(low, fmpq)
    return Quantity.enclosed(_root(low, 0), None if high is None else _root(high, 1))


def _root(value: fmpq, up: int) -> fmpq:
    p, q = int(value.p), int(value.q)
    if isqrt(p) ** 2 == p and isqrt(q) ** 2 == q:
        return fmpq(isqrt(p), isqrt(q))
    scale = 10**25
    return fmpq(isqrt(p * scale * scale // q) + up, scale)
