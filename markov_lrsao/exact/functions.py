"""Rational functions of one variable over Q, in lowest terms.

>>> x = RationalFunction.variable()
>>> half = 1 / (2 * x) + fmpq(1, 2)
>>> half, half * x == fmpq(1, 2) + x / 2
((x + 1)/(2*x), True)
"""

from __future__ import annotations

from typing import TypeAlias

from flint import fmpq, fmpz, fmpz_poly

__all__ = ["RationalFunction"]

Scalar: TypeAlias = "RationalFunction | fmpq | fmpz | int"


class RationalFunction:
    """p/q with integer coefficients, no common factor, and a positive leading term below."""

    __slots__ = ("p", "q")

    def __init__(self, p: fmpz_poly, q: fmpz_poly | None = None) -> None:
        self.p, self.q = p, fmpz_poly([1]) if q is None else q

    @classmethod
    def reduced(cls, p: fmpz_poly, q: fmpz_poly) -> RationalFunction:
        """Return p/q in lowest terms."""
        common = p.gcd(q)
        if q.leading_coefficient() < 0:
            common = -common
        return cls(p, q) if common.is_one() else cls(p // common, q // common)

    @classmethod
    def variable(cls) -> RationalFunction:
        """Return x."""
        return cls(fmpz_poly([0, 1]))

    def __repr__(self) -> str:
        """Return "(p)/(q)"."""
        return f"({self.p})/({self.q})"

    def __add__(self, other: Scalar) -> RationalFunction:
        b = _function(other)
        return RationalFunction.reduced(self.p * b.q + b.p * self.q, self.q * b.q)

    __radd__ = __add__

    def __neg__(self) -> RationalFunction:
        return RationalFunction(-self.p, self.q)

    def __sub__(self, other: Scalar) -> RationalFunction:
        return self + (-_function(other))

    def __rsub__(self, other: Scalar) -> RationalFunction:
        return _function(other) + (-self)

    def __mul__(self, other: Scalar) -> RationalFunction:
        b = _function(other)
        return RationalFunction.reduced(self.p * b.p, self.q * b.q)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> RationalFunction:
        b = _function(other)
        if not b.p:
            raise ZeroDivisionError("a rational function is divided by 0")
        return RationalFunction.reduced(self.p * b.q, self.q * b.p)

    def __rtruediv__(self, other: Scalar) -> RationalFunction:
        return _function(other) / self

    def __eq__(self, other: object) -> bool:
        """Whether two functions are equal; numbers are constant functions."""
        if not isinstance(other, RationalFunction | fmpq | fmpz | int):
            return NotImplemented
        b = _function(other)
        return bool(self.p == b.p and self.q == b.q)

    def __hash__(self) -> int:
        """Return a hash of the coefficients."""
        return hash((tuple(map(int, self.p.coeffs())), tuple(map(int, self.q.coeffs()))))

    def shifted(self, count: int) -> RationalFunction:
        """Return f(x - count)."""
        x = fmpz_poly([-count, 1])
        return RationalFunction(self.p(x), self.q(x))

    def __call__(self, x: int) -> fmpq:
        """Return the value at an integer that is no pole."""
        return fmpq(self.p(x), self.q(x))


def _function(number: Scalar) -> RationalFunction:
    if isinstance(number, RationalFunction):
        return number
    if isinstance(number, fmpq):
        return RationalFunction(fmpz_poly([number.p]), fmpz_poly([number.q]))
    return RationalFunction(fmpz_poly([number]))
