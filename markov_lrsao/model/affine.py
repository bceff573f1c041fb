"""Affine forms in the position p and the parameters n and l, and pieces of objectives.

They are the symbolic half of a landscape: evaluated they give arrays, unevaluated they feed
proofs in which n and l are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from markov_lrsao.errors import ParameterError

__all__ = ["ELL", "Affine", "N", "P", "Piece"]


@dataclass(frozen=True)
class Affine:
    """The affine form ``p * position + n * N + ell * ELL + constant`` with integer coefficients.

    >>> form = N - 2 * ELL - 5
    >>> str(form), form(n=9, ell=2)
    ('n - 2*l - 5', 0)
    """

    p: int = 0
    n: int = 0
    ell: int = 0
    constant: int = 0

    @staticmethod
    def of(value: Affine | int) -> Affine:
        """Return `value` itself, or the constant form of an integer."""
        if isinstance(value, Affine):
            return value
        if not isinstance(value, Integral):
            raise ParameterError(f"{value!r} is not an integer or an affine form in p, n and l")
        return Affine(constant=int(value))

    def __add__(self, other: Affine | int) -> Affine:
        o = Affine.of(other)
        return Affine(self.p + o.p, self.n + o.n, self.ell + o.ell, self.constant + o.constant)

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return Affine(-self.p, -self.n, -self.ell, -self.constant)

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-Affine.of(other))

    def __rsub__(self, other: int) -> Affine:
        return Affine.of(other) - self

    def __mul__(self, factor: int) -> Affine:
        return Affine(self.p * factor, self.n * factor, self.ell * factor, self.constant * factor)

    __rmul__ = __mul__

    def __call__(self, *, n: int, ell: int, p: int = 0) -> int:
        """Evaluate the form."""
        return self.p * p + self.n * n + self.ell * ell + self.constant

    def __str__(self) -> str:
        parts = []
        for coefficient, symbol in ((self.p, "p"), (self.n, "n"), (self.ell, "l")):
            if coefficient:
                size = "" if abs(coefficient) == 1 else f"{abs(coefficient)}*"
                parts.append((coefficient < 0, size + symbol))
        if self.constant or not parts:
            parts.append((self.constant < 0, str(abs(self.constant))))
        head = ("-" if parts[0][0] else "") + parts[0][1]
        return head + "".join(f" {'-' if neg else '+'} {text}" for neg, text in parts[1:])


P, N, ELL = Affine(p=1), Affine(n=1), Affine(ell=1)


@dataclass(frozen=True)
class Piece:
    """An objective's value on the positions ``first..last``, both ends included."""

    first: Affine
    last: Affine
    value: Affine

    @staticmethod
    def of(first: Affine | int, last: Affine | int, value: Affine | int) -> Piece:
        """Build a piece from affine forms or integers."""
        return Piece(Affine.of(first), Affine.of(last), Affine.of(value))
