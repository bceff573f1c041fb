"""Points at which a relation fails: exact rationals, or balls that exclude the relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING

from flint import arb, ctx, fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational, rational_text
from proofs_check.claims.expressions import COMPARISONS, names_of, relation_of, to_ball, to_sympy

if TYPE_CHECKING:
    import sympy

__all__ = ["names_in", "refuting_point", "values_at"]

_MOST_POINTS = 2000
_GRID = [
    fmpq(1),
    fmpq(1, 2),
    fmpq(2),
    fmpq(3),
    fmpq(1, 4),
    fmpq(5),
    fmpq(1, 10),
    fmpq(7, 3),
    fmpq(0),
    fmpq(-1),
    fmpq(-1, 2),
    fmpq(10),
    fmpq(40),
    fmpq(-3),
    fmpq(1, 3),
]


def names_in(assume: Iterable[str]) -> set[str]:
    """Return the names that occur in assumptions, disjunctions and implications included."""
    found: set[str] = set()
    for text in assume:
        for part in text.replace("->", "@").replace(" or ", "@").replace(" and ", "@").split("@"):
            for side in part.split("!="):
                found |= names_of(side.replace(" = ", " == "))
    return found


def _points(names: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Iterator[dict[str, fmpq]]:
    others = [x for x in names if x not in ("n", "l")]
    bases: list[dict[str, fmpq]] = [{}]
    if {"n", "l"} & set(names):
        bases = [{"n": fmpq(n), "l": fmpq(ell)} for n, ell in pairs]
    grid = _GRID if len(others) <= 3 else _GRID[:5]
    for base in bases if not others else bases[:6]:
        for values in product(grid, repeat=len(others)):
            yield {**base, **dict(zip(others, values, strict=True))}


def refuting_point(
    a: sympy.Expr,
    relation: str,
    b: sympy.Expr,
    assume: Sequence[str],
    pairs: Sequence[tuple[int, int]],
) -> dict[str, str] | None:
    """Return the first point that satisfies the assumptions and violates the relation."""
    if any(" or " in text or "->" in text for text in assume):
        return None  # such assumptions are for the solver only
    names = sorted({s.name for s in (a - b).free_symbols} | names_in(assume))
    conditions = [relation_of(text.replace(" = ", " == ")) for text in assume]
    read = [(to_sympy(x), rel, to_sympy(y)) for x, rel, y in conditions]
    precision, ctx.prec = ctx.prec, 120
    try:
        for point in islice(_points(names, pairs), _MOST_POINTS):
            try:
                if all(_holds(x, rel, y, point) for x, rel, y in read) and _violates(
                    a, relation, b, point
                ):
                    return {k: rational_text(v) for k, v in point.items()}
            except (ZeroDivisionError, ParameterError):
                continue
    finally:
        ctx.prec = precision
    return None


def _ball_sign(difference: arb) -> int | None:
    if difference > 0:
        return 1
    if difference < 0:
        return -1
    return 0 if difference.is_exact() and difference == 0 else None


def _holds(x: sympy.Expr, relation: str, y: sympy.Expr, point: Mapping[str, fmpq]) -> bool:
    """Whether an assumption certainly holds at a point; exact for rational functions."""
    import sympy

    value = (x - y).subs(
        {
            s: sympy.Rational(int(point[s.name].p), int(point[s.name].q))
            for s in (x - y).free_symbols
        }
    )
    if value.is_Rational:
        sign = int(bool(value > 0)) - int(bool(value < 0))
    else:
        ball = _ball_sign(to_ball(x - y, point))
        if ball is None:
            return False
        sign = ball
    return bool(COMPARISONS[relation](sign, 0))


def _violates(a: sympy.Expr, relation: str, b: sympy.Expr, point: Mapping[str, fmpq]) -> bool:
    """Whether the relation certainly fails at a point."""
    difference = to_ball(a, point) - to_ball(b, point)
    sign = _ball_sign(difference)
    if sign is None:
        return False
    return not COMPARISONS[relation](sign, 0)


def values_at(expression: sympy.Expr, point: Mapping[str, str]) -> str:
    """Return a side's value at a refuting point, as text; "" where it cannot be evaluated."""
    import sympy

    try:
        exact = {k: rational(v) for k, v in point.items()}
    except ParameterError:
        return ""
    if {s.name for s in expression.free_symbols} - set(exact):
        return ""
    value = expression.subs(
        {
            s: sympy.Rational(int(exact[s.name].p), int(exact[s.name].q))
            for s in expression.free_symbols
        }
    )
    if value.is_Rational:
        return str(value)
    return str(to_ball(expression, exact))
