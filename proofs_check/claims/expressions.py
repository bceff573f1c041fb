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

from markov_lrsao.model.algorithm import Algorithm

__all__ = [
    "COMPARISONS",
    "brief",
    "evaluate",
    "holds",
    "names_of",
    "relation_of",
    "to_ball",
    "to_sympy",
]

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_LARGEST_EXPONENT = 1000


def brief(text: str) -> str:
    """Return a text in quotes, cut where it would fill more than a line.

    >>> brief("1/0"), len(brief("7" * 5000))
    ("'1/0'", 74)
    """
    return repr(text if len(text) <= 80 else f"{text[:69]}...")


@cache
def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
        why = why.partition(";")[0].partition(" - ")[0]
        raise ParameterError(f"{brief(text)} is not a formula: {why}") from None


def _check_exponent(node: ast.expr, text: str) -> None:
    """Refuse towers and exponents whose power nobody can write down."""
    for part in ast.walk(node):
        large = (
            isinstance(part, ast.Constant)
            and isinstance(part.value, int)
            and (part.value > _LARGEST_EXPONENT)
        )
        if large or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow)):
            raise ParameterError(
                f"exponents must be without powers and at most {_LARGEST_EXPONENT} in formula "
                f"{brief(text)}"
            )


def _integer_of(node: ast.expr) -> int | None:
    """Return a plain integer, as a number of Python in every algebra."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _integer_of(node.operand)
        return None if value is None else -value
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _relation(operation: ast.cmpop, text: str) -> str:
    if type(operation) not in _COMPARE:
        raise ParameterError(
            f"a comparison in formula {brief(text)} must be one of =, <, <=, >, >="
        )
    return _COMPARE[type(operation)]


def evaluate(
    text: str, names: Mapping[str, Any], functions: Mapping[str, Any] | None = None
) -> Any:
    """Evaluate a formula over the algebra that `names` and `functions` live in.

    A comparison such as ``"a < b <= c"`` yields the list of its comparisons; ``integral``,
    ``deriv`` and ``summation`` receive their first two arguments evaluated like the others
    (the variable must be in `names`). An algebra in which a division by zero is no error
    brings its own ``divide``.

    Raises
    ------
    ParameterError
        The text is no formula, uses a name that is not known, divides by zero, or has no value
        in this algebra.
    """
    functions = functions or {}
    binary = {**_BINARY, ast.Div: functions.get("divide", operator.truediv)}

    def apply(node: ast.expr, operation: Callable[..., Any], *values: Any) -> Any:
        try:
            return operation(*values)
        except ZeroDivisionError:
            why = "divides by zero"
        except (TypeError, ValueError, OverflowError):
            why = "has no value"
        raise ParameterError(f"{brief(ast.unparse(node))} {why} in formula {brief(text)}") from None

    def walk(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value if "number" not in functions else functions["number"](node.value)
        if isinstance(node, ast.Name):
            if node.id not in names:
                raise ParameterError(f"unknown name {node.id!r} in formula {brief(text)}")
            return names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -walk(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            if isinstance(node.op, ast.Pow):
                _check_exponent(node.right, text)
                exponent = _integer_of(node.right)
                if exponent is not None:
                    return apply(node, operator.pow, walk(node.left), exponent)
            return apply(node, binary[type(node.op)], walk(node.left), walk(node.right))
        if isinstance(node, ast.Compare):
            terms = [node.left, *node.comparators]
            values = [walk(t) for t in terms]
            return [
                (_relation(op, text), a, b)
                for op, a, b in zip(node.ops, values, values[1:], strict=False)
            ]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in functions:
                raise ParameterError(f"unknown function {node.func.id!r} in formula {brief(text)}")
            return apply(node, functions[node.func.id], *[walk(a) for a in node.args])
        raise ParameterError(f"{brief(ast.unparse(node))} is not allowed in formula {brief(text)}")

    return walk(_tree(text))


def holds(text: str, names: Mapping[str, Any]) -> bool:
    """Whether a comparison, or an "A -> B", "A or B", "A and B" of comparisons, holds exactly.

    >>> holds("0 < x -> x < 1", {"x": fmpq(1, 2)}), holds("x = 1 or x = 2", {"x": fmpq(3)})
    (True, False)
    """
    if "->" in text:
        left, right = text.split("->", 1)
        return not holds(left, names) or holds(right, names)
    for word, every in ((" or ", any), (" and ", all)):
        if word in text:
            return every(holds(part, names) for part in text.split(word))
    if "!=" in text:
        left, right = (evaluate(part, names, {"number": fmpq}) for part in text.split("!="))
        return bool(left != right)
    parts = evaluate(text.replace(" = ", " == "), names, {"number": fmpq})
    if not isinstance(parts, list):
        raise ParameterError(f"{brief(text)} is not a comparison")
    return all(COMPARISONS[relation](a, b) for relation, a, b in parts)


@cache
def names_of(text: str) -> frozenset[str]:
    """Return the variable names that occur in a formula."""
    called = {
        n.func.id
        for n in ast.walk(_tree(text))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    return frozenset(n.id for n in ast.walk(_tree(text)) if isinstance(n, ast.Name)) - called


def relation_of(text: str) -> tuple[str, str, str]:
    """Split a single comparison into (left, relation, right).

    >>> relation_of("r < 1/(alpha*gamma)")
    ('r', '<', '1 / (alpha * gamma)')
    """
    node = _tree(text)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        raise ParameterError(f"{brief(text)} is not a single comparison")
    return (ast.unparse(node.left), _relation(node.ops[0], text), ast.unparse(node.comparators[0]))


@cache
def to_sympy(text: str) -> sympy.Expr:
    """Return a formula as a sympy expression; n, l, k, t and others are positive reals.

    Integrals and derivatives are carried out, sums are kept.

    Raises
    ------
    ParameterError
        The text is no formula, or its value is not finite.
    """
    import sympy

    # Entries of the Q-table have any sign; sizes and hyper-parameters are positive.
    positive = {"n", "l", "k", "t", "u", "m", "b", "alpha", "gamma", "r", "a"}
    names: dict[str, Any] = {
        name: sympy.Symbol(name, positive=True)
        if name in positive
        else sympy.Symbol(name, real=True)
        for name in names_of(text)
    }
    names["EulerGamma"], names["ln2"] = sympy.EulerGamma, sympy.log(2)
    functions: dict[str, Any] = {
        "H": sympy.harmonic,
        "ln": sympy.log,
        "number": sympy.Integer,
        "integral": _integral,
        "deriv": sympy.diff,
        "summation": lambda f, x, a, b: sympy.Sum(f, (x, a, b)),
        "max": sympy.Max,
        "min": sympy.Min,
        "floor": sympy.floor,
        "update": _update,
        "divide": _quotient,
    }
    read = evaluate(text, names, functions)
    if isinstance(read, list):
        raise ParameterError(f"{brief(text)} is a comparison, not a formula")
    value = sympy.sympify(read)
    if value.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        raise ParameterError(f"formula {brief(text)} is not finite")
    return value


def _quotient(a: Any, b: Any) -> Any:
    import sympy

    if sympy.expand(b) == 0:
        raise ZeroDivisionError
    return a / b


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

    symbols: Any = SimpleNamespace(**{x: to_sympy(x) for x in ("alpha", "gamma", "r")})
    rule: Any = Algorithm.lrsao(symbols)
    return rule.keep * entry + rule.learn * reward + rule.bootstrap * largest


def to_ball(expression: sympy.Expr, values: Mapping[str, fmpq]) -> arb:
    """Evaluate a sympy expression at rational values, as a ball that contains the true value."""
    import sympy

    if isinstance(expression, sympy.Symbol):
        if expression.name not in values:
            raise ParameterError(f"unknown name {expression.name!r}: no value is given for it")
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
