r"""One number of an answer, and how well it is known: a sum type of five cases.

``Exact`` is a rational, ``Enclosed`` lies between two rationals, ``Approximate`` is a float with a
bound of its error, ``Infinite`` is infinite, ``Simulated`` is an estimate from runs.

Numbers add, subtract, multiply and divide, with one another and with rationals. Exact numbers
stay exact; enclosures and floats with a bound follow interval arithmetic in exact rationals, so
that the result contains the truth. A comparison is answered where the ends decide it, and refused
with `UndecidedComparisonError` where they do not. Estimates take no part: nothing about them is
certain.

>>> third = Quantity.of(fmpq(1, 3))
>>> print(third + 1, third * Enclosed(fmpq(1), fmpq(2)), third < Enclosed(fmpq(1), fmpq(2)))
4/3 [0.33333333333333333333, 0.66666666666666666667] True

JSON carries exact values as "p/q" text beside a decimal of 20 digits; an enclosure has ``lower``
and ``upper`` instead, decimals rounded outwards, and is marked ``"exact": false`` like a float.
A float has the digits that its ``error`` supports, and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from math import floor, inf, isfinite, isinf, isqrt, log10, nextafter, sqrt
from numbers import Rational
from operator import add, mul, sub, truediv
from typing import Any, ClassVar, TypeAlias

from flint import fmpq, fmpz

from markov_lrsao.errors import ExactnessError, UndecidedComparisonError, VerificationError
from markov_lrsao.exact.balls import Ball
from markov_lrsao.exact.rationals import (
    decimal_text,
    fraction,
    rational,
    rational_text,
    shorten,
    to_float,
)

__all__ = [
    "UNKNOWN",
    "Approximate",
    "Enclosed",
    "Exact",
    "Infinite",
    "Quantity",
    "Simulated",
    "Trap",
    "known_digits",
    "root",
]

Number: TypeAlias = "Quantity | int | Rational | fmpq | fmpz"
"""What a quantity may be combined with: a quantity, an integer, a Fraction or an fmpq."""
Range = tuple[fmpq | None, fmpq | None]
"""Two ends; None is infinity. Only an infinite number has a lower end None."""
_ROOT_PLACES = 25


class Quantity:
    """A number that is exact, enclosed, approximate, infinite or simulated.

    Take it apart by ``match``, or ask what every case answers.

    Attributes
    ----------
    exact, infinite : whether the number is a known rational; whether it is known to be infinite
    """

    __slots__ = ()
    exact: ClassVar[bool] = False
    infinite: ClassVar[bool] = False

    @staticmethod
    def of(number: fmpq | Ball | float) -> Quantity:
        """Return an exact number, or a float with the error it carries.

        A float of which not even the sign is known becomes 0, with an error to match.
        """
        if isinstance(number, fmpq):
            return Exact(number)
        if isinstance(number, Ball):
            value, error = float(number.mid), number.error
            if error >= abs(value):
                value, error = 0.0, error + abs(value)
            return Approximate(value, error)
        return Infinite() if isinf(number) else Approximate(float(number))

    @staticmethod
    def enclosed(lower: fmpq, upper: fmpq | None) -> Quantity:
        """Return a number known to lie between two rationals; exact where they are equal."""
        if upper is not None and lower > upper:
            raise VerificationError(f"an enclosure is empty: {lower} > {upper}")
        return Exact(lower) if lower == upper else Enclosed(lower, upper)

    @property
    def value(self) -> fmpq:
        """The exact rational.

        Raises
        ------
        ExactnessError
            The number is not known exactly.
        """
        raise ExactnessError(f"{self} is not an exact number")

    @property
    def lower(self) -> fmpq:
        """A rational that the number is at least, for certain; `ExactnessError`: none is known."""
        raise ExactnessError(f"{self} has no ends that are certain")

    @property
    def upper(self) -> fmpq | None:
        """A rational that the number is at most, for certain; None: it may be infinite."""
        raise ExactnessError(f"{self} has no ends that are certain")

    @property
    def rational(self) -> str | None:
        """The text "p/q", or None where the number is not an exact rational."""
        return None

    @property
    def decimal(self) -> str:
        """Twenty significant digits of an exact value, of a float those that are known."""
        return f"{float(self):.17g}"

    @property
    def cells(self) -> tuple[str, str]:
        """Two cells of a table: a decimal, and what else is known."""
        return self.decimal, "-"

    def __float__(self) -> float:
        """Return the number, or the middle of its enclosure."""
        raise NotImplementedError

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return numerator and denominator of an exact number; `ExactnessError` otherwise."""
        return int(self.value.p), int(self.value.q)

    def sqrt(self) -> Quantity:
        """Return the square root of a non-negative number; an exact one is enclosed."""
        return Quantity.enclosed(
            root(self.lower, 0), None if self.upper is None else root(self.upper, 1)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        raise NotImplementedError

    # -- arithmetic and comparison ------------------------------------------------------------

    def __add__(self, other: Number) -> Quantity:
        return _arithmetic("+", self, other)

    def __radd__(self, other: Number) -> Quantity:
        return _arithmetic("+", other, self)

    def __sub__(self, other: Number) -> Quantity:
        return _arithmetic("-", self, other)

    def __rsub__(self, other: Number) -> Quantity:
        return _arithmetic("-", other, self)

    def __mul__(self, other: Number) -> Quantity:
        return _arithmetic("*", self, other)

    def __rmul__(self, other: Number) -> Quantity:
        return _arithmetic("*", other, self)

    def __truediv__(self, other: Number) -> Quantity:
        return _arithmetic("/", self, other)

    def __rtruediv__(self, other: Number) -> Quantity:
        return _arithmetic("/", other, self)

    def __neg__(self) -> Quantity:
        return 0 - self

    def __lt__(self, other: Number) -> bool:
        return _compared(self, other, _below, _at_most)

    def __le__(self, other: Number) -> bool:
        return _compared(self, other, _at_most, _below)

    def __gt__(self, other: Number) -> bool:
        return _compared(other, self, _below, _at_most)

    def __ge__(self, other: Number) -> bool:
        return _compared(other, self, _at_most, _below)

    def __eq__(self, other: object) -> bool:
        """Whether two numbers are equal; records that say the same are."""
        b = _quantity(other)
        if b is None:
            return NotImplemented
        if type(self) is type(b) and _fields(self) == _fields(b):
            return True
        (low, high), (least, most) = _range(self), _range(b)
        if _below(high, least) or _below(most, low):
            return False
        if low == high == least == most:
            return True
        raise _open(self, b)

    def __hash__(self) -> int:
        """Return the hash of a Fraction where the number is one."""
        return hash(fraction(self.value)) if self.exact else hash((type(self), *_fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Exact(Quantity):
    """A rational number, exactly."""

    value: fmpq = field()
    exact: ClassVar[bool] = True

    @property
    def lower(self) -> fmpq:
        """The number itself."""
        return self.value

    @property
    def upper(self) -> fmpq:
        """The number itself."""
        return self.value

    @property
    def numerator(self) -> int:
        """Numerator in lowest terms; with the denominator it makes ``Fraction(q)`` work."""
        return int(self.value.p)

    @property
    def denominator(self) -> int:
        """Denominator in lowest terms."""
        return int(self.value.q)

    @property
    def rational(self) -> str:
        """The text "p/q"."""
        return rational_text(self.value)

    @property
    def decimal(self) -> str:
        """Twenty significant digits."""
        return decimal_text(self.value)

    @property
    def cells(self) -> tuple[str, str]:
        """The decimal and the fraction."""
        return self.decimal, shorten(self.rational)

    def __float__(self) -> float:
        """Return the nearest float."""
        return to_float(self.value)

    def __str__(self) -> str:
        """Return "p/q"."""
        return self.rational

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"rational": self.rational, "decimal": self.decimal}


Rational.register(Exact)


@dataclass(frozen=True, slots=True, eq=False)
class Enclosed(Quantity):
    """A number known to lie between two rationals; an upper end None: it may be infinite."""

    lower: fmpq = field()
    upper: fmpq | None = field()

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends as decimals rounded outwards."""
        upper = "inf" if self.upper is None else decimal_text(self.upper, towards=1)
        return decimal_text(self.lower, towards=-1), upper

    @property
    def width(self) -> fmpq | None:
        """Upper end less lower end; None where no upper end is known."""
        return None if self.upper is None else self.upper - self.lower

    @property
    def relative_width(self) -> fmpq | None:
        """Width divided by a positive lower end; None where there is no such number."""
        return None if self.width is None or self.lower <= 0 else self.width / self.lower

    @property
    def cells(self) -> tuple[str, str]:
        """The middle, unless the ends are a factor of two apart, and the ends; or what is known."""
        if self.upper is None:
            return "unknown", f"at least {self.ends[0]}" if self.lower > 0 else "-"
        if 0 <= 2 * self.lower < self.upper:  # its middle would say more than is known
            return "wide", str(self)
        try:
            middle = f"{float(self):.6g}"
        except OverflowError:  # larger than all floats
            middle = decimal_text((self.lower + self.upper) / 2, 6)
        return f"{middle} (about)", str(self)

    def __float__(self) -> float:
        """Return the middle, infinity where no upper end is known."""
        return inf if self.upper is None else to_float((self.lower + self.upper) / 2)

    def __str__(self) -> str:
        """Return "[lower, upper]", rounded outwards."""
        return f"[{', '.join(self.ends)}]"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"lower": self.ends[0], "upper": self.ends[1], "exact": False}


UNKNOWN = Enclosed(fmpq(0), None)
"""A non-negative number of which nothing is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Approximate(Quantity):
    """A float within `error` of the number; None: no bound of its error is known."""

    middle: float
    error: float | None = None

    @property
    def lower(self) -> fmpq:
        """The float less its error."""
        return _dyadic(self.middle) - self._radius

    @property
    def upper(self) -> fmpq:
        """The float and its error."""
        return _dyadic(self.middle) + self._radius

    @property
    def _radius(self) -> fmpq:
        if self.error is None:
            raise ExactnessError(f"the error of the float {self.decimal} has no known bound")
        return _dyadic(self.error)

    @property
    def decimal(self) -> str:
        """The digits that the error leaves; 0 where not even the sign is known."""
        if self.error and abs(self.middle) <= self.error:
            return "0"
        return f"{self.middle:.{known_digits(self.middle, self.error)}g}"

    @property
    def off(self) -> fmpq:
        """A bound of |decimal - number|: the error, and what was rounded off the decimal."""
        shown = rational(self.decimal)
        return max(abs(shown - self.lower), abs(self.upper - shown))

    @property
    def cells(self) -> tuple[str, str]:
        """The decimal, and within what of the number it lies."""
        if self.error is None:
            return self.decimal, "(float)"
        return self.decimal, f"(float, within {_short(self.off, 2)})"

    def __float__(self) -> float:
        """Return the float."""
        return self.middle

    def __str__(self) -> str:
        """Return the digits that are known, and the error."""
        return " ".join(self.cells)

    def sqrt(self) -> Quantity:
        """Return the square root of a non-negative number as a float, its rounding included."""
        if self.error is None:
            return Approximate(sqrt(self.middle))
        return _float_between(root(max(self.lower, fmpq(0)), 0), root(self.upper, 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: `error` is a bound of |decimal - number|."""
        data = {"rational": None, "decimal": self.decimal, "exact": False}
        if self.error is None:
            return data | {"certified": False}
        return data | {
            "error": _short(self.off, 3),
            "lower": decimal_text(self.lower, towards=-1),
            "upper": decimal_text(self.upper, towards=1),
            "certified": True,
        }


def _short(bound: fmpq, digits: int) -> str:
    """Return a bound rounded up to a few digits.

    >>> _short(fmpq(1, 3), 2), _short(fmpq(1, 7 * 10**20), 3), _short(fmpq(0), 3)
    ('0.34', '1.43e-21', '0')
    """
    return decimal_text(bound, digits, towards=1) if bound else "0"


@dataclass(frozen=True, slots=True, eq=False)
class Infinite(Quantity):
    """A number known to be infinite."""

    infinite: ClassVar[bool] = True

    @property
    def cells(self) -> tuple[str, str]:
        """The word."""
        return "infinite", "-"

    def __float__(self) -> float:
        """Return infinity."""
        return inf

    def __str__(self) -> str:
        """Return "infinite"."""
        return "infinite"

    def sqrt(self) -> Quantity:
        """Return infinity."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"rational": None, "decimal": "inf", "infinite": True, "exact": True}


@dataclass(frozen=True, slots=True)
class Simulated(Quantity):
    """An estimate from runs: nothing is certain, so it takes no part in arithmetic.

    Attributes
    ----------
    point : the estimate
    error : its standard error
    low, high : ends of its confidence interval, at level `confidence`
    runs : how many runs it rests on
    """

    point: float
    error: float
    low: float
    high: float
    runs: int
    confidence: float

    @property
    def cells(self) -> tuple[str, str]:
        """The estimate and its interval."""
        return f"{self.point:.6g}", f"{100 * self.confidence:g}%: {self.low:.6g} to {self.high:.6g}"

    def __float__(self) -> float:
        """Return the estimate."""
        return self.point

    def __str__(self) -> str:
        """Return the estimate with its interval."""
        point, interval = self.cells
        return f"{point} ({interval}, {self.runs:,} runs)"

    def to_dict(self) -> dict[str, float | None]:
        """Return the JSON form; an infinite number is null."""
        named = (self.point, self.error, self.low, self.high)
        return {
            name: number if isfinite(number) else None
            for name, number in zip(("value", "standard_error", "low", "high"), named, strict=True)
        }


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


# -- how it is done -------------------------------------------------------------------------------


def _dyadic(x: float) -> fmpq:
    return fmpq(*x.as_integer_ratio())


def _fields(q: Quantity) -> tuple[Any, ...]:
    return tuple(getattr(q, f.name) for f in fields(q) if f.compare)  # type: ignore[arg-type]


def _quantity(number: object) -> Quantity | None:
    """Return a quantity or a rational as a quantity; None for anything else."""
    if isinstance(number, Quantity):
        return number
    if isinstance(number, fmpz | fmpq):
        return Exact(fmpq(number))
    if isinstance(number, Rational):  # int, Fraction, numpy's integers
        return Exact(fmpq(int(number.numerator), int(number.denominator)))
    return None


def _operand(number: object) -> Quantity:
    found = _quantity(number)
    if found is None:
        raise ExactnessError(
            f"{number!r} is not exact: combine a quantity with integers, Fractions or quantities"
        )
    if isinstance(found, Simulated):
        raise ExactnessError(
            f"{found} is an estimate: take its point, low and high, which are floats"
        )
    return found


def _range(q: Quantity) -> Range:
    return (None, None) if q.infinite else (q.lower, q.upper)


def _below(x: fmpq | None, y: fmpq | None) -> bool:
    """Whether x < y, None being infinity."""
    return x is not None and (y is None or bool(x < y))


def _at_most(x: fmpq | None, y: fmpq | None) -> bool:
    return not _below(y, x)


def _open(a: Quantity, b: Quantity) -> UndecidedComparisonError:
    return UndecidedComparisonError(
        f"what is known of {a} and {b} does not decide how they compare"
    )


def _compared(
    a: Number,
    b: Number,
    holds: Callable[[fmpq | None, fmpq | None], bool],
    fails: Callable[[fmpq | None, fmpq | None], bool],
) -> bool:
    """Return whether a < b (or a <= b), where the ends of both decide it."""
    first, second = _operand(a), _operand(b)
    (low, high), (least, most) = _range(first), _range(second)
    if holds(high, least):
        return True
    if fails(most, low):
        return False
    raise _open(first, second)


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"+": add, "-": sub, "*": mul, "/": truediv}


def _arithmetic(sign: str, a: Number, b: Number) -> Quantity:
    """Return the sum, difference, product or quotient, by the cases of both numbers."""
    first, second = _operand(a), _operand(b)
    match first, second:
        case Exact(x), Exact(y):
            return Exact(_OPERATIONS[sign](x, y))
        case (Infinite(), _) | (_, Infinite()):
            return _with_infinity(sign, first, second)
        case (Approximate(error=None), Exact() | Approximate()) | (
            Exact() | Approximate(),
            Approximate(error=None),
        ):
            return Approximate(_OPERATIONS[sign](float(first), float(second)))
    lower, upper = _interval(sign, first, second)
    if isinstance(first, Enclosed) or isinstance(second, Enclosed):
        return Quantity.enclosed(lower, upper)
    assert upper is not None  # floats and rationals are finite
    return _float_between(lower, upper)


def _float_between(lower: fmpq, upper: fmpq) -> Approximate:
    """Return a float whose error reaches both ends."""
    middle = to_float((lower + upper) / 2)
    error = to_float(max(upper - _dyadic(middle), _dyadic(middle) - lower))
    return Approximate(middle, nextafter(error, inf))


def _with_infinity(sign: str, a: Quantity, b: Quantity) -> Quantity:
    """Return infinity where the result is infinite for certain."""
    infinite = (
        sign == "+"
        or (sign == "-" and b < Infinite())
        or (sign == "*" and a > 0 and b > 0)
        or (sign == "/" and a.infinite and 0 < b < Infinite())
    )
    if infinite:
        return Infinite()
    raise ExactnessError(f"{a} {sign} {b} is not defined")


def _interval(sign: str, a: Quantity, b: Quantity) -> tuple[fmpq, fmpq | None]:
    """Return bounds of the result, by interval arithmetic."""
    low, high, least, most = a.lower, a.upper, b.lower, b.upper
    if sign == "+":
        return low + least, None if high is None or most is None else high + most
    if sign == "/" and least > 0:
        sign, least, most = "*", (fmpq(0) if most is None else 1 / most), 1 / least
    if sign == "*" and low >= 0 and least >= 0:
        return low * least, None if high is None or most is None else high * most
    if sign == "-" and most is not None:
        return low - most, None if high is None else high - least
    if sign == "/" and most is not None and most < 0:
        sign, least, most = "*", 1 / most, 1 / least
    if sign == "*" and high is not None and most is not None:
        products = [x * y for x in (low, high) for y in (least, most)]
        return min(products), max(products)
    raise ExactnessError(f"{a} {sign} {b} has no ends that are known")


def root(value: fmpq, up: int, places: int = _ROOT_PLACES) -> fmpq:
    """Return the square root, rounded down or up where it is not rational.

    It has so many places, and more where it is small.
    """
    if value < 0:
        raise ExactnessError(f"a number that may be {value} has no square root")
    p, q = int(value.p), int(value.q)
    if isqrt(p) ** 2 == p and isqrt(q) ** 2 == q:
        return fmpq(isqrt(p), isqrt(q))
    scale = 10 ** (places + max(0, q.bit_length() - p.bit_length()) // 6)
    return fmpq(isqrt(p * scale * scale // q) + up, scale)
