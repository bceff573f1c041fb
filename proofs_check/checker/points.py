"""Points at which a displayed line does not follow, evaluated in fractions."""

from __future__ import annotations

import ast
import operator
from fractions import Fraction
from pathlib import Path
from typing import Any

from .basics import need

__all__ = ["check_point", "evaluate"]

_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def evaluate(text: str, point: dict[str, Fraction]) -> Any:
    """Return the value of a formula, or the truth of a comparison, at a point."""

    def read(node: Any) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return Fraction(node.value)
        if isinstance(node, ast.Name):
            return point[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -read(node.operand)
        if isinstance(node, ast.BoolOp):
            values = [read(x) for x in node.values]
            return all(values) if isinstance(node.op, ast.And) else any(values)
        if isinstance(node, ast.Compare):
            sides = [read(x) for x in (node.left, *node.comparators)]
            return all(
                _OPERATORS[type(op)](a, b)
                for op, a, b in zip(node.ops, sides, sides[1:], strict=False)
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return read(node.left) ** int(read(node.right))
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](read(node.left), read(node.right))
        need(isinstance(node, ast.Call), f"{text} cannot be read")
        values = [read(x) for x in node.args]
        if node.func.id == "H":
            need(values[0].denominator == 1 and values[0] >= 0, "H of no natural number")
            return sum((Fraction(1, k) for k in range(1, int(values[0]) + 1)), Fraction(0))
        need(node.func.id == "update", f"{text} cannot be read")
        entry, reward, best = values  # (1 - alpha) q + alpha (reward + gamma M)
        return (1 - point["alpha"]) * entry + point["alpha"] * (reward + point["gamma"] * best)

    return read(ast.parse(text.replace(" = ", " == "), mode="eval").body)


def check_point(folder: Path, document: Any, files: Any) -> None:
    """Check that the assumptions hold at the point, and that the line does not."""
    point = {name: Fraction(value) for name, value in document["point"].items()}
    for text in document["assume"]:
        need(evaluate(text, point) is True, f"the point does not satisfy {text}")
    left, right = (evaluate(document[side], point) for side in ("left", "right"))
    kind = {"=": ast.Eq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE}
    holds = _OPERATORS[kind[document["relation"]]](left, right)
    need(not holds, f"the line holds: {left} and {right}")
    told = [Fraction(x) for x in document["values"]]
    need(told == [left, right], f"the sides are {left} and {right}")
