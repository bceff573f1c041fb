"""Inequalities between rational functions of n and l over the whole allowed range.

With l = l0 + u and n = 2l + 5 + v the range l >= l0, n >= 2l + 5 becomes u, v >= 0, where a
polynomial whose coefficients all have one sign has that sign. This settles degrees that SMT
solvers do not manage (the closed form of E[T_3] has degree 10). One l alone is the range u = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any

from markov_lrsao.errors import ParameterError
from proofs_check.claims.expressions import brief, to_sympy

if TYPE_CHECKING:
    import sympy

__all__ = ["constants_between", "non_negative", "rational_limit"]


def shifted(
    expression: sympy.Expr, smallest_ell: int = 2, fixed: int | None = None
) -> tuple[Any, Any]:
    """Return numerator and denominator as polynomials in u, v; in v alone for a fixed l."""
    from sympy import QQ
    from sympy.polys.rings import ring

    n, ell = to_sympy("n"), to_sympy("l")
    polynomials, u, v = ring("u,v", QQ)
    at = polynomials(fixed) if fixed is not None else smallest_ell + u
    values = (2 * at + 5 + v, at)

    def moved(part: sympy.Expr) -> Any:
        terms = _polynomial(part, n, ell).terms()
        powers = [
            list(accumulate([value] * max(powers[k] for powers, _ in terms), mul, initial=one))
            for k, value in enumerate(values)
        ]
        return sum((c * powers[0][i] * powers[1][j] for (i, j), c in terms), 0 * one)

    one = polynomials(1)
    top, bottom = _fraction(expression)
    return moved(top), moved(bottom)


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


def non_negative(difference: sympy.Expr, smallest_ell: int = 2, fixed: int | None = None) -> bool:
    """Whether one-signed coefficients prove difference >= 0 for l >= smallest_ell, n >= 2l + 5.

    >>> non_negative(to_sympy("n - 2*l - 5")), non_negative(to_sympy("n - 3*l"))
    (True, False)
    >>> non_negative(to_sympy("n - 3*l"), fixed=2), non_negative(to_sympy("n - 3*l"), fixed=7)
    (True, False)
    """
    top, bottom = (_one_sign(part) for part in shifted(difference, smallest_ell, fixed))
    return top is not None and bottom is not None and top * bottom >= 0 and bottom != 0


Range = tuple[int, int | None]
"""(smallest l, None) or (l, l): the l for which a form holds."""


def constants_between(
    values: Sequence[tuple[sympy.Expr, Range]], order: sympy.Expr
) -> tuple[sympy.Expr | None, sympy.Expr | None]:
    """Return c, C of `CANDIDATES` with c order <= value <= C order for all given, where proved.

    The order must be positive by its coefficients; then what a constant proves, a smaller c or a
    larger C proves too, and the best ones are found by halving the list.

    >>> constants_between([(to_sympy("n + l"), (2, None))], to_sympy("n"))
    (1, 3/2)
    """
    gaps = []
    for value, (smallest, fixed) in values:
        (top, bottom), (size, below) = (shifted(x, smallest, fixed) for x in (value, order))
        signs = _one_sign(bottom), _one_sign(below), _one_sign(size)
        if signs[0] in (None, 0) or signs[1] in (None, 0) or signs[1] != signs[2]:
            return None, None
        gaps.append((top * below * (signs[0] * signs[1]), size * bottom * (signs[0] * signs[1])))

    def proves(constant: sympy.Expr, wanted: int) -> bool:
        found = [_one_sign(left - right * constant) for left, right in gaps]
        return all(sign in (0, wanted) for sign in found)

    candidates = _candidates()
    lower = _last_that(candidates, lambda c: proves(c, 1))
    upper = _last_that(candidates[::-1], lambda c: proves(c, -1))
    return lower, upper


@cache
def _candidates() -> tuple[sympy.Expr, ...]:
    """Return quarters of powers of ten from 10^-9 to 10^9, ascending."""
    import sympy

    quarters = [sympy.Rational(k, 4) for k in range(4, 40)]
    return tuple(sympy.Integer(10) ** k * x for k in range(-9, 9) for x in quarters)


def _last_that(
    items: Sequence[sympy.Expr], holds: Callable[[sympy.Expr], bool]
) -> sympy.Expr | None:
    """Return the last item that satisfies a condition which, once lost, stays lost."""
    low, high = 0, len(items)  # items[:low] satisfy it, items[high:] do not
    while low < high:
        middle = (low + high) // 2
        if holds(items[middle]):
            low = middle + 1
        else:
            high = middle
    return items[low - 1] if low else None


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
