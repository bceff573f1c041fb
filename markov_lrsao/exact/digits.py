"""Certified digits: a number between two rationals that round to the same decimal.

Rounding to D significant digits is monotone, so where both ends of an enclosure give the same
text, every number between them does: all D digits are certain. Where they do not, as many digits
are shown as both ends agree on, and the number says that it is not certified.

>>> print(Digits(fmpq(333333, 10**6), fmpq(333334, 10**6), 4))
0.3333
>>> Digits(fmpq(333333, 10**6), fmpq(333334, 10**6), 7).certified
False
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from flint import arb, ctx, fmpq

from markov_lrsao.errors import ParameterError, VerificationError
from markov_lrsao.exact.quantity import Approximate, Enclosed, Exact, Quantity, root
from markov_lrsao.exact.rationals import decimal_text, rational

__all__ = [
    "MOST_DIGITS",
    "Digits",
    "bits_of",
    "check_digits",
    "ends",
    "precision",
    "refined",
    "with_digits",
]

MOST_DIGITS = 10_000
"""More digits than this are better asked for as a fraction."""
_BITS_PER_DIGIT = 3.3219280949
_GUARD_BITS = 64
_DOUBLINGS = 3
_ERROR_DIGITS, _MORE_DIGITS = 3, 5


@dataclass(frozen=True, slots=True, eq=False)
class Digits(Enclosed):
    """A number between two rationals, of which so many significant digits are wanted.

    Attributes
    ----------
    digits : how many are wanted
    known : the fraction, where it is known
    """

    digits: int = field(default=20)
    known: fmpq | None = None
    _shown: tuple[int, str] | None = field(default=None, init=False, compare=False, repr=False)

    @classmethod
    def between(cls, low: float, high: float, digits: int) -> Digits:
        """Return a number between two floats."""
        least, most = (fmpq(*x.as_integer_ratio()) for x in (low, high))
        return cls(least, most, digits)

    @property
    def certified(self) -> bool:
        """Whether all digits that are wanted are certain."""
        return self.certain == self.digits

    @property
    def certain(self) -> int:
        """How many of the wanted digits are certain."""
        return self._certain()[0]

    def _certain(self) -> tuple[int, str]:
        """Return how many digits are certain, and which; found once, as it takes its time."""
        if self._shown is None:
            object.__setattr__(self, "_shown", self._search())
        assert self._shown is not None
        return self._shown

    def _search(self) -> tuple[int, str]:
        text = self._text(self.digits)
        if text is not None:
            return self.digits, text
        low, high, text = 0, self.digits, "-"  # not certain at high; what is below may fail, too
        while high - low > 1:
            middle = (low + high) // 2
            found = self._text(middle)
            if found is None:
                high = middle
            else:
                low, text = middle, found
        return low, text

    def _text(self, digits: int) -> str | None:
        if self.upper is None:
            return None
        text = decimal_text(self.lower, digits)
        same = self.lower == self.upper or text == decimal_text(self.upper, digits)
        return text if same else None

    @property
    def rational(self) -> str | None:
        """The text "p/q", where the fraction is known."""
        return None if self.known is None else Exact(self.known).rational

    @property
    def decimal(self) -> str:
        """The digits that are certain, correctly rounded; "-" where none is."""
        return self._certain()[1]

    @property
    def error(self) -> str | None:
        """A bound of |decimal - number|, rounded up; None where there is no decimal."""
        if self.decimal == "-" or self.upper is None:
            return None
        shown = rational(self.decimal)
        return decimal_text(
            max(abs(shown - self.lower), abs(self.upper - shown)), _ERROR_DIGITS, towards=1
        )

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends as decimals rounded outwards."""
        more = self.digits + _MORE_DIGITS
        upper = "inf" if self.upper is None else decimal_text(self.upper, more, towards=1)
        return decimal_text(self.lower, more, towards=-1), upper

    @property
    def cells(self) -> tuple[str, str]:
        """The digits, and how many are certain or between what the number lies."""
        if self.certified:
            return self.decimal, f"(within {self.error})"
        return self.decimal, f"in [{', '.join(self.ends)}]"

    def __str__(self) -> str:
        """Return the digits, or the enclosure where they are not all certain."""
        return self.decimal if self.certified else f"[{', '.join(self.ends)}]"

    def sqrt(self) -> Quantity:
        """Return the square root, of which as many digits are wanted."""
        more = self.digits + _MORE_DIGITS
        upper = None if self.upper is None else root(self.upper, 1, more)
        return Digits(root(self.lower, 0, more), upper, self.digits)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        lower, upper = self.ends
        return {
            "rational": self.rational,
            "decimal": None if self.decimal == "-" else self.decimal,
            "error": self.error,
            "lower": lower,
            "upper": upper,
            "certified": self.certified,
            "exact": self.known is not None,
        }


def check_digits(digits: int) -> int:
    """Return a number of digits, or raise ParameterError."""
    if not 1 <= digits <= MOST_DIGITS:
        raise ParameterError(f"digits = {digits} is out of range: choose 1 to {MOST_DIGITS:,}")
    return digits


def with_digits(quantity: Quantity, digits: int) -> Quantity:
    """Return a number whose ends are known by its digits; what is infinite or has none stays."""
    match quantity:
        case Digits():
            return quantity
        case Exact(value):
            return Digits(value, value, digits, value)
        case Enclosed(low, high):
            return Digits(low, high, digits)
        case Approximate(error=error) if error is not None:
            return Digits(quantity.lower, quantity.upper, digits)
    return quantity


def ends(ball: arb) -> tuple[fmpq, fmpq]:
    """Return the ends of a ball, exactly: midpoint and radius are dyadic.

    Raises
    ------
    VerificationError
        The ball is not finite: it holds no information.
    """
    if not ball.is_finite():
        raise VerificationError("a ball has lost all of its digits; please report this instance")
    middle, radius = (_dyadic(x) for x in (ball.mid(), ball.rad()))
    return middle - radius, middle + radius


def _dyadic(x: arb) -> fmpq:
    mantissa, exponent = x.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def bits_of(digits: int) -> int:
    """Return a precision that leaves room for rounding behind so many digits."""
    return int(digits * _BITS_PER_DIGIT) + _GUARD_BITS


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the precision of balls inside the block."""
    with ctx.workprec(bits):
        yield


def refined(
    evaluate: Callable[[], list[list[arb]]], digits: int, guard: int
) -> list[list[Quantity]]:
    """Evaluate in balls, at higher and higher precision until all digits are certain.

    Parameters
    ----------
    evaluate : called with the precision set
    guard : bits beyond those of the digits, to begin with; they are doubled three times at most

    A number that lies where rounding changes (between two decimals, or at 0) never has its last
    digit certain; then the enclosure of the highest precision is returned, not certified.
    """
    found: list[list[Quantity]] = []
    for attempt in range(_DOUBLINGS + 1):
        try:
            with precision(bits_of(digits) + (guard << attempt)):
                found = [[Digits(*ends(x), digits) for x in group] for group in evaluate()]
        except VerificationError:  # too few bits for any digit, or a failure that more do not mend
            if attempt == _DOUBLINGS:
                raise
            continue
        if all(x.certified for group in found for x in group if isinstance(x, Digits)):
            break
    return found
