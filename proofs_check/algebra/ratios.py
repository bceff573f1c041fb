"""Quotients of polynomials on the orthant u, v, k >= 0, and the sign their coefficients prove.

A range of n, l and p is described by a substitution, l = u + 2 and n = 2l + 5 + v for instance,
that maps the orthant onto it. A quotient whose numerator has no negative coefficient, and whose
denominator has none either and a positive constant term, is non-negative on the whole range. That
is all that is ever used here, so anybody can check it again with polynomials over the rationals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from markov_lrsao.errors import ParameterError
from proofs_check.claims.expressions import evaluate

__all__ = ["Ratio", "substitution"]

NAMES = ("u", "v", "k")
_CONTEXT = fmpq_mpoly_ctx.get(NAMES, Ordering.lex)
_ONE = _CONTEXT.constant(1)


class Ratio:
    """A quotient of two polynomials in u, v, k with rational coefficients."""

    __slots__ = ("bottom", "top")

    def __init__(self, top: fmpq_mpoly, bottom: fmpq_mpoly = _ONE) -> None:
        self.top, self.bottom = top, bottom

    @classmethod
    def of(cls, value: Any) -> Ratio:
        """Return a number as a constant, a ratio as it is."""
        return value if isinstance(value, Ratio) else cls(_CONTEXT.constant(fmpq(value)))

    @classmethod
    def variables(cls) -> dict[str, Ratio]:
        """Return u, v and k."""
        return dict(zip(NAMES, map(cls, _CONTEXT.gens()), strict=True))

    def __add__(self, other: Any) -> Ratio:
        more = Ratio.of(other)
        shared = self.bottom.gcd(more.bottom)
        left, right = more.bottom / shared, self.bottom / shared
        return Ratio(self.top * left + more.top * right, self.bottom * left)

    def __neg__(self) -> Ratio:
        return Ratio(-self.top, self.bottom)

    def __sub__(self, other: Any) -> Ratio:
        return self + -Ratio.of(other)

    def __rsub__(self, other: Any) -> Ratio:
        return Ratio.of(other) - self

    def __mul__(self, other: Any) -> Ratio:
        factor = Ratio.of(other)
        return Ratio(self.top * factor.top, self.bottom * factor.bottom)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Ratio:
        divisor = Ratio.of(other)
        if divisor.top.is_zero():
            raise ZeroDivisionError("division by the polynomial 0")
        return Ratio(self.top * divisor.bottom, self.bottom * divisor.top)

    def __rtruediv__(self, other: Any) -> Ratio:
        return Ratio.of(other) / self

    def __pow__(self, exponent: int) -> Ratio:
        return Ratio(self.top**exponent, self.bottom**exponent)

    @property
    def non_negative(self) -> bool:
        """Whether the coefficients prove that it is >= 0 for all u, v, k >= 0.

        >>> u = Ratio.variables()["u"]
        >>> (u / (u + 1)).non_negative, (u - 1).non_negative, (u / u).non_negative
        (True, False, False)
        """
        below = self.bottom.to_dict()
        return (
            all(c > 0 for c in below.values())
            and (0,) * len(NAMES) in below
            and all(c > 0 for c in self.top.to_dict().values())
        )

    def terms(self) -> dict[str, dict[str, str]]:
        """Return numerator and denominator as exponents "i,j,k" -> coefficient."""
        return {
            part: {
                ",".join(map(str, exponents)): str(c)
                for exponents, c in polynomial.to_dict().items()
            }
            for part, polynomial in (("numerator", self.top), ("denominator", self.bottom))
        }


def substitution(texts: Mapping[str, str]) -> dict[str, Ratio]:
    """Return u, v, k and the names that the texts define one after the other.

    >>> sorted(substitution({"l": "u + 2", "n": "2*l + 5 + v"}))
    ['k', 'l', 'n', 'u', 'v']

    Raises
    ------
    ParameterError
        A text is no quotient of polynomials in the names before it.
    """
    names: dict[str, Any] = Ratio.variables()
    for name, text in texts.items():
        value = evaluate(text, names, {"number": Ratio.of})
        if not isinstance(value, Ratio):
            raise ParameterError(f"{text!r} is not a formula in {', '.join(names)}")
        names[name] = value
    return names
