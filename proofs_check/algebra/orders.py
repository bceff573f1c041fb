"""Orders and explicit bounds of a quantity, judged by what is proved about it for all n and l.

A quantity is known by its exact values, by formulas low <= value <= high for all valid n, l, and
possibly by closed forms. An order is proved with an explicit constant. It is refuted by a path
along which a proved bound over the order tends to infinity (or to 0), a limit of elementary
functions of one unknown that is computed symbolically, or by an instance at which the order is not
positive.
Values at finitely many instances neither prove nor refute an order.

An explicit bound is proved by the closed forms or by low and high, and refuted by an instance, in
exact rationals or balls, or by a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from flint import arb, ctx, fmpq

from markov_lrsao.errors import ParameterError, Refused, attempt
from markov_lrsao.exact.rationals import rational_text
from proofs_check.algebra.brackets import Outcome, compare_sides
from proofs_check.algebra.lines import RANGE
from proofs_check.algebra.polynomials import Range, non_negative
from proofs_check.claims.expressions import to_ball, to_sympy

if TYPE_CHECKING:
    import sympy

__all__ = ["Known", "Sense", "judge_bound", "judge_excess", "judge_order"]

Pairs = Sequence[tuple[int, int]]
Sense = Literal["<=", ">="]
_PRECISION = 200


@dataclass(frozen=True, eq=False)
class Known:
    """What is proved about a positive quantity, for all l >= 2 and n >= 2l + 5.

    Attributes
    ----------
    exact : (n, l) -> its exact value
    low, high : formulas with low <= value <= high
    floor, ceiling : cruder ones without harmonic numbers, for limits
    forms : closed forms with the l for which they hold, if there are any
    """

    name: str
    exact: Callable[[int, int], fmpq]
    low: str
    high: str
    floor: str
    ceiling: str
    forms: tuple[tuple[sympy.Expr, Range], ...] = field(default=())


def _paths() -> Iterable[tuple[str, sympy.Expr, sympy.Expr]]:
    """Yield ways to infinity, through integers t: n(t) and l(t)."""
    t = to_sympy("t")
    yield from (
        ("n = t, l = 2", t, 0 * t + 2),
        ("n = t, l = 5", t, 0 * t + 5),
        ("n = t^3, l = t", t**3, t),
        ("n = t^2, l = t", t**2, t),
        ("n = t^3, l = t^2", t**3, t**2),
        ("n = 2t + 5, l = t", 2 * t + 5, t),
    )


def _limit(
    value: sympy.Expr, order: sympy.Expr, n: sympy.Expr, ell: sympy.Expr
) -> sympy.Expr | None:
    """Return the limit of value/order along a path; None where logarithms do not suffice."""
    import sympy

    if (value + order).has(sympy.harmonic, sympy.Sum, sympy.Max, sympy.Min, sympy.floor):
        return None
    names = {to_sympy("n"): n, to_sympy("l"): ell}
    top, bottom = (sympy.expand_log(x.subs(names), force=True) for x in (value, order))
    if bottom == 0:
        return None
    found = sympy.limit(sympy.simplify(top / bottom), to_sympy("t"), sympy.oo)
    return found if found.is_extended_real else None


def _positive(value: sympy.Expr, n: sympy.Expr, ell: sympy.Expr) -> bool:
    """Whether a formula tends to infinity or to a positive number along a path."""
    import sympy

    limit = _limit(value, sympy.Integer(1), n, ell)
    return limit is not None and bool(limit > 0)


def judge_order(known: Known, order: str, claim: Literal["O", "Theta"], pairs: Pairs) -> Outcome:
    """Decide value = O(order) or Theta(order), uniformly for all valid n, l.

    >>> double = Known("2n", lambda n, ell: fmpq(2 * n), *["2*n"] * 4)
    >>> judge_order(double, "n", "Theta", [(9, 2)]).status
    'proved'
    >>> judge_order(double, "l", "O", [(9, 2)]).point["l"]
    '2'
    """
    size = to_sympy(order)
    for n, ell in pairs:
        ball = to_ball(size, {"n": fmpq(n), "l": fmpq(ell)})
        if ball <= 0:
            return Outcome(
                "refuted",
                f"{known.name} is positive, {order} is not",
                {"n": str(n), "l": str(ell)},
            )
    upper = _within(known.ceiling, order)
    lower = _within(order, known.floor) if claim == "Theta" else upper
    if upper.status == lower.status == "proved":
        how = f"{known.name} <= {upper.constant} ({order})"
        if claim == "Theta":
            how = f"1/{lower.constant} ({order}) <= {how}"
        return Outcome("proved", how, constant=upper.constant)
    return _diverging(known, order, claim) or Outcome(
        "unknown", "neither a constant was proved nor a diverging path found"
    )


def _within(value: str, order: str) -> Outcome:
    """Decide value = O(order) if the solver can read both: powers of n must be integers."""
    found = attempt(
        partial(compare_sides, value, "<= O", "0", RANGE, order=order), (ParameterError,)
    )
    return Outcome("unknown", str(found.reason)) if isinstance(found, Refused) else found


def _diverging(known: Known, order: str, claim: Literal["O", "Theta"]) -> Outcome | None:
    """Return a path along which the order is missed."""
    import sympy

    size = to_sympy(order)
    for text, n, ell in _paths():
        if not _positive(size, n, ell):
            continue
        point = {"n": str(n), "l": str(ell), "t": "oo"}
        if _limit(to_sympy(known.floor), size, n, ell) == sympy.oo:
            return Outcome(
                "refuted",
                f"along {text}, {known.name} >= {known.floor} over {order} tends to infinity",
                point,
            )
        if claim == "Theta" and _limit(to_sympy(known.ceiling), size, n, ell) == 0:
            return Outcome(
                "refuted",
                f"along {text}, {known.name} <= {known.ceiling} over {order} tends to 0",
                point,
            )
    return None


def judge_excess(known: Known, bound: str) -> Outcome:
    """Decide value <= bound + O(1), uniformly for all valid n, l; the value is positive.

    >>> double = Known("2n", lambda n, ell: fmpq(2 * n), *["2*n"] * 4)
    >>> judge_excess(double, "2*n - 7").status, judge_excess(double, "n + l").status
    ('proved', 'refuted')
    """
    import sympy

    upper = compare_sides(known.high, "<= O", bound, RANGE, order="1")
    if upper.status == "proved":
        return Outcome("proved", f"{known.name} <= {bound} + {upper.constant}: {upper.how}")
    for floor in (known.floor, "0"):
        difference = to_sympy(floor) - to_sympy(bound)
        for text, n, ell in _paths():
            if _limit(difference, sympy.Integer(1), n, ell) == sympy.oo:
                point = {"n": str(n), "l": str(ell), "t": "oo"}
                how = f"along {text}, {known.name} >= {floor}, and that less the bound"
                return Outcome("refuted", f"{how} tends to infinity", point)
    return Outcome("unknown", "neither a constant was proved nor a diverging path found")


def judge_bound(known: Known, relation: Sense, bound: str, pairs: Pairs) -> Outcome:
    """Decide value <= bound, or value >= bound, for all valid n, l.

    >>> double = Known("2n", lambda n, ell: fmpq(2 * n), *["2*n"] * 4)
    >>> judge_bound(double, "<=", "3*n", []).status
    'proved'
    >>> judge_bound(double, "<=", "n + 10", [(9, 2), (12, 2)]).point["n"]
    '12'
    """
    expression = to_sympy(bound)
    side = known.high if relation == "<=" else known.low
    chained = compare_sides(side, relation, bound, RANGE)
    if chained.status == "proved":
        return Outcome("proved", f"by {known.name} {relation} {side} ({chained.how})")
    failing = _violating(known, relation, expression, pairs)
    if failing is not None:
        return failing
    if known.forms and all(
        _beyond(expression, value, where, relation) for value, where in known.forms
    ):
        return Outcome("proved", "closed forms, by the signs of all coefficients")
    return _eventually(known, relation, expression) or Outcome(
        "unknown", f"no instance of {len(pairs)} violates it, no proof was found"
    )


def _violating(known: Known, relation: Sense, bound: sympy.Expr, pairs: Pairs) -> Outcome | None:
    """Return the first instance at which a bound certainly fails."""
    precision, ctx.prec = ctx.prec, _PRECISION
    try:
        for n, ell in pairs:
            value = known.exact(n, ell)
            gap = to_ball(bound, {"n": fmpq(n), "l": fmpq(ell)}) - arb(value)
            if gap < 0 if relation == "<=" else gap > 0:
                how = f"{known.name} = {rational_text(value)} there"
                return Outcome("refuted", how, {"n": str(n), "l": str(ell)})
    finally:
        ctx.prec = precision
    return None


def _eventually(known: Known, relation: Sense, bound: sympy.Expr) -> Outcome | None:
    """Return a path along which the bound fails from some instance on."""
    import sympy

    side = known.floor if relation == "<=" else known.ceiling
    sign = 1 if relation == "<=" else -1
    for text, n, ell in _paths():
        gap = _limit(sign * (to_sympy(side) - bound), sympy.Integer(1), n, ell)
        if gap is not None and gap > 0:
            how = f"along {text}, {known.name} is beyond {bound} from some t on"
            return Outcome("refuted", how, {"n": str(n), "l": str(ell), "t": "oo"})
    return None


def _beyond(bound: sympy.Expr, value: sympy.Expr, where: Range, relation: Sense) -> bool:
    """Whether the coefficients of bound - value (or value - bound) prove it not negative."""
    import sympy

    smallest, fixed = where
    sign = 1 if relation == "<=" else -1
    difference = sympy.expand(sign * (bound - value), deep=False)
    if fixed is not None:
        difference = difference.subs(to_sympy("l"), fixed)
    harmonic = sympy.harmonic(to_sympy("l"))
    if difference.has(harmonic):
        difference = sympy.collect(sympy.expand(difference), harmonic)
        if sympy.cancel(difference.coeff(harmonic)) != 0:
            return False
        difference = difference.subs(harmonic, 0)
    if not difference.is_rational_function(to_sympy("n"), to_sympy("l")):
        return False
    return non_negative(difference, smallest, fixed)
