"""Inequalities between rational functions of n and l over the whole allowed range.

With l = l0 + u and n = 2l + 5 + v the range l >= l0, n >= 2l + 5 becomes u, v >= 0, where a
polynomial whose coefficients all have one sign has that sign. This settles degrees that SMT
solvers do not manage (the closed form of E[T_3] has degree 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markov_lrsao.errors import ParameterError
from proofs_check.claims.expressions import brief, to_sympy

if TYPE_CHECKING:
    import sympy

__all__ = ["constants_between", "non_negative", "rational_limit"]


def shifted(expression: sympy.Expr, smallest_ell: int) -> tuple[Any, Any]:
    """Return numerator and denominator as polynomials in u, v."""
    import sympy

    n, ell = to_sympy("n"), to_sympy("l")
    u, v = sympy.symbols("u v", nonnegative=True)
    top, bottom = _fraction(expression)
    move = {n: 2 * (smallest_ell + u) + 5 + v, ell: smallest_ell + u}
    moved = [
        _polynomial(part, n, ell).as_expr().subs(move, simultaneous=True) for part in (top, bottom)
    ]
    return sympy.Poly(moved[0], u, v), sympy.Poly(moved[1], u, v)


def _fraction(expression: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Return numerator and denominator, cancelled."""
    import sympy

    top, bottom = sympy.fraction(sympy.cancel(sympy.together(expression)))
    return top, bottom


def _polynomial(expression: sympy.Expr, *names: sympy.Symbol) -> Any:
    """Return the polynomial in the names.

    Raises
    ------
    ParameterError
        No polynomial in these names (with rational coefficients) holds the expression.
    """
    import sympy

    try:
        found = sympy.Poly(expression, *names)
    except sympy.PolynomialError:
        found = None
    if found is None or not all(c.is_Rational for c in found.coeffs()):
        wanted = ", ".join(map(str, names))
        raise ParameterError(f"{brief(str(expression))} is not a polynomial in {wanted}") from None
    return found


def _one_sign(polynomial: Any) -> int | None:
    """Return the common sign of all coefficients, 0 for the zero polynomial, None if mixed."""
    signs = {1 if c > 0 else -1 for c in polynomial.coeffs() if c != 0}
    return None if len(signs) > 1 else next(iter(signs), 0)


def non_negative(difference: sympy.Expr, smallest_ell: int = 2) -> bool:
    """Whether one-signed coefficients prove difference >= 0 for l >= smallest_ell, n >= 2l + 5.

    >>> non_negative(to_sympy("n - 2*l - 5")), non_negative(to_sympy("n - 3*l"))
    (True, False)
    """
    top, bottom = (_one_sign(part) for part in shifted(difference, smallest_ell))
    return top is not None and bottom is not None and top * bottom >= 0


def constants_between(
    value: sympy.Expr, order: sympy.Expr, constants: Sequence[str], smallest_ell: int = 2
) -> tuple[str | None, str | None]:
    """Return c, C of the ascending list with c order <= value <= C order, where proved.

    >>> constants_between(to_sympy("n + l"), to_sympy("n"), ["1/2", "1", "2", "3"])
    ('1', '2')
    """
    (top, bottom), (size, below) = (shifted(x, smallest_ell) for x in (value, order))
    signs = _one_sign(bottom), _one_sign(below)
    if signs[0] is None or signs[1] is None:
        return None, None
    left, right = top * below, size * bottom
    low = high = None
    for text in constants:
        sign = _one_sign((left - right * to_sympy(text)) * (signs[0] * signs[1]))
        if sign is not None and sign >= 0:
            low = text
        if sign is not None and sign <= 0 and high is None:
            high = text
    return low, high


def rational_limit(expression: sympy.Expr, variable: sympy.Symbol) -> sympy.Expr:
    """Return the limit of a rational function of one variable at infinity, by degrees.

    >>> rational_limit(to_sympy("(2*n + 1)/(3*n)"), to_sympy("n"))
    2/3
    """
    import sympy

    top, bottom = (_polynomial(part, variable) for part in _fraction(expression))
    if top.degree() < bottom.degree():
        return sympy.Integer(0)
    lead = top.LC() / bottom.LC()
    return lead if top.degree() == bottom.degree() else sympy.oo * sympy.sign(lead)
