r"""Floats that carry their error: balls, and non-negative numbers with one relative bound.

A `Ball` is a midpoint and a radius, each a float or an array of floats: the true number lies
within the radius of the midpoint. A `Positive` is a non-negative float or array together with
the number of roundings behind it. As long as non-negative numbers are only added, multiplied
and divided, each rounding moves a result by a factor of at most 1 + u, u = 2^-53, and factors
multiply: after `roundings` of them the relative error is at most (1 + u)^roundings - 1.

Radii are floats too. An operation loses at most a few units in the last place of them, and
`Ball.error` adds one percent, enough for 10^13 operations one after the other. Underflow would
break the relative bounds; `checked` turns it, and overflow, into `SolverError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from markov_lrsao.errors import SolverError

__all__ = ["Ball", "Mixture", "Positive", "checked"]

_UNIT = 2.0**-53
_SLACK = 1.01
_MOST_RELATIVE = 1e-3
_LEAST = 1e-290
"""Smaller numbers than this could underflow in a product, and are refused."""


@contextmanager
def checked() -> Iterator[None]:
    """Turn underflow, overflow and invalid operations inside the block into `SolverError`."""
    try:
        with np.errstate(all="raise"):
            yield
    except (FloatingPointError, OverflowError, ZeroDivisionError) as error:
        raise SolverError(
            f"floats do not hold the numbers of this instance ({error}); use exact fractions"
        ) from None


class Positive:
    """Non-negative floats whose relative error is at most (1 + u)^roundings - 1.

    >>> third = Positive(1.0) / Positive(3.0)
    >>> third.roundings, third.relative < 2e-16
    (1, True)
    """

    __slots__ = ("roundings", "value")

    def __init__(self, value: Any, roundings: int = 0) -> None:
        self.value, self.roundings = value, roundings

    @property
    def relative(self) -> float:
        """The bound of the relative error."""
        bound = _SLACK * self.roundings * _UNIT
        if bound > _MOST_RELATIVE:
            raise SolverError("too many roundings for a bound of the error; use exact fractions")
        return bound

    @property
    def zero(self) -> bool:
        """Whether the number, or one of the array, is 0."""
        return bool(np.any(self.value == 0))

    def __add__(self, other: Positive) -> Positive:
        return Positive(self.value + other.value, max(self.roundings, other.roundings) + 1)

    def __radd__(self, other: int) -> Positive:
        """Let `sum` begin with 0."""
        if other != 0:
            return NotImplemented
        return self

    def __mul__(self, other: Any) -> Any:
        """Multiply by another one, by an exact non-negative number, or by a ball."""
        if isinstance(other, Ball):
            return other.__rmul__(self)
        if not isinstance(other, Positive):
            other = Positive(other)
        value = self.value * other.value
        if isinstance(value, float) and value < _LEAST and self.value and other.value:
            raise FloatingPointError("underflow")
        return Positive(value, self.roundings + other.roundings + 1)

    __rmul__ = __mul__

    def __truediv__(self, other: Positive) -> Positive:
        return Positive(self.value / other.value, self.roundings + other.roundings + 1)

    def __rtruediv__(self, other: int) -> Positive:
        return Positive(float(other)) / self

    def __sub__(self, other: Positive) -> Ball:
        return self.ball - other.ball

    def __getitem__(self, index: Any) -> Positive:
        return Positive(self.value[index], self.roundings)

    def full(self, count: int) -> Positive:
        """Return an array, also where the number is one for all."""
        return Positive(np.broadcast_to(self.value, (count,)), self.roundings)

    @property
    def ball(self) -> Ball:
        """The same number with an absolute error."""
        return Ball(self.value, self.relative * self.value)


class Ball:
    """Floats with a bound of their absolute error.

    >>> third = Positive(1.0) / Positive(3.0) * Ball(1.0)
    >>> abs(third.mid - 1 / 3) <= third.error < 1e-15
    True
    """

    __slots__ = ("mid", "rad")

    def __init__(self, mid: Any, rad: Any = 0.0) -> None:
        self.mid, self.rad = mid, rad

    def __repr__(self) -> str:
        """Return "midpoint ± radius"."""
        return f"{self.mid} ± {self.rad}"

    def __float__(self) -> float:
        """Return the midpoint."""
        return float(self.mid)

    @property
    def error(self) -> float:
        """The bound of the error, with room for the rounding of radii."""
        return _SLACK * float(self.rad)

    def __add__(self, other: Ball) -> Ball:
        mid = self.mid + other.mid
        return Ball(mid, self.rad + other.rad + _UNIT * abs(mid))

    def __sub__(self, other: Ball) -> Ball:
        mid = self.mid - other.mid
        return Ball(mid, self.rad + other.rad + _UNIT * abs(mid))

    def __mul__(self, other: Ball) -> Ball:
        mid = self.mid * other.mid
        rad = (abs(self.mid) + self.rad) * other.rad + abs(other.mid) * self.rad
        return Ball(mid, rad + _UNIT * abs(mid))

    def __rmul__(self, other: Any) -> Ball:
        """Multiply by a `Positive`, or by an exact non-negative number."""
        if not isinstance(other, Positive):
            other = Positive(other)
        mid, relative = other.value * self.mid, other.relative
        rad = (1 + relative) * (other.value * self.rad)
        return Ball(mid, rad + (relative + _UNIT) * abs(mid))

    def __getitem__(self, index: Any) -> Ball:
        return Ball(self.mid[index], self.rad[index])

    def full(self, count: int) -> Ball:
        """Return an array, also where the number is one for all."""
        return Ball(np.broadcast_to(self.mid, (count,)), np.broadcast_to(self.rad, (count,)))


class Mixture:
    r"""Weighted means of two numbers, the weights proportional to two masses x and y.

    With w = x/(x+y), v = y/(x+y), if the masses have relative errors of at most e, then w errs
    by at most 2e w v / (1-e), and v by just the opposite: the error of w a + v b due to that is
    2e w v |b - a| / (1-e), and vanishes where a = b. Added to it are 3u each for computing w
    and v, and 2u for the products and the sum; and the radii, weighted. Multiplying and adding
    balls would count the errors of w and v as if they were independent.

    Attributes
    ----------
    total, w, v : x + y and the weights
    """

    __slots__ = ("_both", "_relative", "total", "v", "w")

    def __init__(self, x: Any, y: Any) -> None:
        self.total = x + y
        self.w, self.v = x / self.total, y / self.total
        if isinstance(x, Positive):
            self._relative = max(x.relative, y.relative)
            self._both = self.w.value * self.v.value

    def __call__(self, a: Any, b: Any) -> Any:
        """Return w a + v b."""
        if not isinstance(a, Ball):
            return self.w * a + self.v * b
        w, v, e = self.w.value, self.v.value, self._relative
        first, second = w * a.mid, v * b.mid
        rad = (1 + 3 * e) * (w * a.rad + v * b.rad)
        rad = rad + (2.1 * e) * (self._both * abs(b.mid - a.mid))
        return Ball(first + second, rad + (6 * _UNIT) * (abs(first) + abs(second)))
