"""Formulas as text: one parser, and the algebras it can be read in.

A bound or a displayed line is kept as Python-like text, e.g.
``"2/(3*(2*n - 1)) + n*(H(n) - H(n - l - 1))"``. `evaluate` walks its syntax tree over any
algebra (sympy, z3, rationals, balls); nothing is executed. `H` is the harmonic number, `ln`
the logarithm, ``integral(f, t, a, b)`` an integral, ``deriv(f, t)`` a derivative and
``summation(f, k, a, b)`` a sum; ``update(q, reward, M)`` is the Q-update of `Algorithm.lrsao`,
read from its coefficients.

>>> from fractions import Fraction
>>> evaluate("(n - l - 1)/(1 - gamma)", {"n": 9, "l": 2, "gamma": Fraction(1, 10)})
Fraction(20, 3)
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from flint import arb, fmpq

from markov_lrsao.errors import ParameterError

if TYPE_CHECKING:
    import sympy

__all__ = ["COMPARISONS", "evaluate", "names_of", "relation_of", "to_ball", "to_sympy"]

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow, ast.FloorDiv: operator.floordiv,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}
_LAZY = ("integral", "deriv", "summation")


@cache
def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ParameterError(f"{text!r} is not a formula: {error.msg}") from None


def evaluate(
    text: str, names: Mapping[str, Any], functions: Mapping[str, Any] | None = None
) -> Any:
    """Evaluate a formula over the algebra that `names` and `functions` live in.

    A comparison such as ``"a < b <= c"`` yields the list of its comparisons; ``integral``,
    ``deriv`` and ``summation`` receive their first two arguments evaluated like the others
    (the variable must be in `names`).

    Raises
    ------
    ParameterError
        The text is no formula, or uses a name that is not known.
    """
    functions = functions or {}

    def walk(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value if "number" not in functions else functions["number"](node.value)
        if isinstance(node, ast.Name):
            if node.id not in names:
                raise ParameterError(f"unknown name {node.id!r} in formula {text!r}")
            return names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -walk(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
                return walk(node.left) ** node.right.value
            return _BINARY[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.Compare):
            terms = [node.left, *node.comparators]
            values = [walk(t) for t in terms]
            return [
                (_COMPARE[type(op)], a, b)
                for op, a, b in zip(node.ops, values, values[1:], strict=False)
            ]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in functions:
                raise ParameterError(f"unknown function {node.func.id!r} in formula {text!r}")
            return functions[node.func.id](*[walk(a) for a in node.args])
        raise ParameterError(f"{ast.unparse(node)!r} is not allowed in formula {text!r}")

    return walk(_tree(text))


def names_of(text: str) -> frozenset[str]:
    """Return the variable names that occur in a formula."""
    called = {n.func.id for n in ast.walk(_tree(text))
              if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return frozenset(
        n.id for n in ast.walk(_tree(text)) if isinstance(n, ast.Name)
    ) - called


def relation_of(text: str) -> tuple[str, str, str]:
    """Split a single comparison into (left, relation, right).

    >>> relation_of("r < 1/(alpha*gamma)")
    ('r', '<', '1 / (alpha * gamma)')
    """
    node = _tree(text)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        raise ParameterError(f"{text!r} is not a single comparison")
    return (ast.unparse(node.left), _COMPARE[type(node.ops[0])], ast.unparse(node.comparators[0]))


@cache
def to_sympy(text: str) -> sympy.Expr:
    """Return a formula as a sympy expression; n, l, k, t and others are positive reals.

    Integrals and derivatives are carried out, sums are kept.
    """
    import sympy

    # Entries of the Q-table have any sign; sizes and hyper-parameters are positive.
    positive = {"n", "l", "k", "t", "u", "m", "b", "alpha", "gamma", "r", "a"}
    names: dict[str, Any] = {
        name: sympy.Symbol(name, positive=True) if name in positive
        else sympy.Symbol(name, real=True)
        for name in names_of(text)
    }
    names["EulerGamma"], names["ln2"] = sympy.EulerGamma, sympy.log(2)
    functions: dict[str, Any] = {
        "H": sympy.harmonic, "ln": sympy.log, "number": sympy.Integer,
        "integral": _integral,
        "deriv": sympy.diff,
        "summation": lambda f, x, a, b: sympy.Sum(f, (x, a, b)),
        "max": sympy.Max, "min": sympy.Min, "floor": sympy.floor, "update": _update,
    }
    return sympy.sympify(evaluate(text, names, functions))


def _integral(f: Any, x: Any, low: Any, high: Any) -> Any:
    """Integrate a rational function; a logarithm is taken of the absolute value."""
    import sympy

    antiderivative = sympy.integrate(sympy.apart(f, x), x)
    middle = (low + high) / 2
    signed = {}
    for log in antiderivative.atoms(sympy.log):
        at = log.args[0].subs(x, middle)
        if at.subs(dict.fromkeys(at.free_symbols, 1)) < 0:
            signed[log] = sympy.log(sympy.expand(-log.args[0]))
    antiderivative = antiderivative.subs(signed)
    return antiderivative.subs(x, high) - antiderivative.subs(x, low)


def _update(entry: Any, reward: Any, largest: Any) -> Any:
    """Return the Q-update of the engine's own algorithm, with symbolic hyper-parameters."""
    from types import SimpleNamespace

    from markov_lrsao.algorithm import Algorithm

    symbols: Any = SimpleNamespace(**{x: to_sympy(x) for x in ("alpha", "gamma", "r")})
    rule: Any = Algorithm.lrsao(symbols)
    return rule.keep * entry + rule.learn * reward + rule.bootstrap * largest


def to_ball(expression: sympy.Expr, values: Mapping[str, fmpq]) -> arb:
    """Evaluate a sympy expression at rational values, as a ball that contains the true value."""
    import sympy

    if isinstance(expression, sympy.Symbol):
        return arb(values[expression.name])
    if expression is sympy.EulerGamma:
        return arb.const_euler()
    if expression.is_Rational:
        return arb(fmpq(int(expression.p), int(expression.q)))
    if isinstance(expression, sympy.Sum):
        return _sum(expression, values)
    parts = [to_ball(part, values) for part in expression.args]
    if isinstance(expression, sympy.Add):
        return sum(parts[1:], parts[0])
    if isinstance(expression, sympy.Mul):
        product = parts[0]
        for part in parts[1:]:
            product = product * part
        return product
    if isinstance(expression, sympy.Pow):
        exponent = expression.args[1]
        if exponent.is_Integer:
            base: arb = parts[0] ** int(exponent)
            return base
        power: arb = (parts[1] * parts[0].log()).exp()
        return power
    if isinstance(expression, sympy.log):
        logarithm: arb = parts[0].log()
        return logarithm
    if isinstance(expression, sympy.harmonic):
        return (parts[0] + 1).digamma() + arb.const_euler()
    if isinstance(expression, sympy.Max):
        return max(parts, key=lambda ball: float(ball.mid()))
    raise ParameterError(f"{expression} cannot be evaluated as a ball")


def _sum(expression: sympy.Expr, values: Mapping[str, fmpq]) -> arb:
    """Evaluate a finite sum whose limits are integers at the given values."""
    index, low, high = expression.args[1]
    first, last = (int(_integer(limit, values)) for limit in (low, high))
    total = arb(0)
    for k in range(first, last + 1):
        total += to_ball(expression.args[0], {**values, index.name: fmpq(k)})
    return total


def _integer(expression: sympy.Expr, values: Mapping[str, fmpq]) -> fmpq:
    point = {s: _rational(values[s.name]) for s in expression.free_symbols}
    value = expression.subs(point)
    if not value.is_Integer:
        raise ParameterError(f"{expression} is not an integer at {dict(values)}")
    return fmpq(int(value))


def _rational(value: fmpq) -> sympy.Rational:
    import sympy

    return sympy.Rational(int(value.p), int(value.q))
