"""Formulas as mathematics: what statements write in plain text becomes MathML, which browsers draw.

The texts are those of `proofs_check`: Python's operators, ``H(x)`` for harmonic numbers,
``summation(f, i, a, b)`` and ``integral(f, t, a, b)``, ``ln``, ``EulerGamma``, names of Greek
letters. Euler's constant is written C with the index E: gamma is the discount.
"""

from __future__ import annotations

import ast
import re
from html import escape

from markupsafe import Markup

__all__ = ["EULER", "displayed", "formula"]

EULER = "<msub><mi>C</mi><mi mathvariant='normal'>E</mi></msub>"
_GREEK = {"alpha": "α", "gamma": "γ", "lambda_": "λ", "rho": "ρ", "tau": "τ", "oo": "∞"}
_SIGNS = {"<=": "≤", ">=": "≥", "=": "=", "<": "&lt;", ">": "&gt;"}
_RELATION = re.compile(r" (<=|>=|=|<|>)(?: (O|o))? ")
_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)


def displayed(text: str) -> Markup | None:
    """Return a displayed line, such as "a <= b + c (order 1)", as MathML; None: it is not one.

    >>> str(displayed("H(n) >= 1/2"))
    '<math><mrow><msub><mi>H</mi><mi>n</mi></msub><mo>≥</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow></math>'
    >>> displayed("in words") is None
    True
    """
    whole = re.fullmatch(r"(.*?)(?: \(order (.*)\))?", f" {text}")
    assert whole is not None
    body, order = whole[1], whole[2]
    found = _RELATION.search(body)
    if found is None:
        return None
    left, right = body[: found.start()].strip(), body[found.end() :]
    sides = [_parsed(left) if left else "", _parsed(right)]
    if None in sides:
        return None
    kind = found[2]
    rest = ""
    if kind == "O" and order:  # the side is known up to this order
        rest = f"<mo>+</mo><mi>O</mi><mo>(</mo>{_parsed(order) or escape(order)}<mo>)</mo>"
    elif kind == "o":
        rest = "<mo>+</mo><mi>o</mi><mo>(</mo><mn>1</mn><mo>)</mo>"
    relation = f"<mo>{_SIGNS[found[1]]}</mo>"
    return Markup(f"<math><mrow>{sides[0]}{relation}{sides[1]}{rest}</mrow></math>")


def formula(text: str) -> Markup | None:
    """Return an expression as MathML; None where it is none.

    >>> str(formula("n*H(l)"))
    '<math><mrow><mi>n</mi><mo>&#8290;</mo><msub><mi>H</mi><mi>l</mi></msub></mrow></math>'
    >>> formula("not a formula") is None
    True
    """
    found = _parsed(text)
    return None if found is None else Markup(f"<math><mrow>{found}</mrow></math>")


def _parsed(text: str) -> str | None:
    try:
        return _write(ast.parse(text.strip(), mode="eval").body)[0]
    except (SyntaxError, ValueError):
        return None


def _write(node: ast.expr) -> tuple[str, int]:
    """Return MathML of an expression, and how tightly it binds."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return f"<mn>{value}</mn>", _ATOM
        case ast.Name(id=name):
            return _name(name), _ATOM
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"<mo>−</mo>{_within(operand, _PRODUCT)}", _UNARY
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return f"{_within(left, _SUM)}<mo>+</mo>{_within(right, _PRODUCT)}", _SUM
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            return f"{_within(left, _SUM)}<mo>−</mo>{_within(right, _PRODUCT)}", _SUM
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            sign = "<mo>·</mo>" if isinstance(right, ast.Constant) else "<mo>&#8290;</mo>"
            return f"{_within(left, _PRODUCT)}{sign}{_within(right, _POWER)}", _PRODUCT
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            return f"<mfrac>{_row(left)}{_row(right)}</mfrac>", _ATOM
        case ast.BinOp(op=ast.Pow(), left=left, right=right):
            return f"<msup>{_row(left, _ATOM)}{_row(right)}</msup>", _POWER
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, arguments)
    raise ValueError("this has no form in MathML")


def _within(node: ast.expr, least: int) -> str:
    """Return an expression, in parentheses where it binds less tightly than it should."""
    text, binds = _write(node)
    return text if binds >= least else f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


def _row(node: ast.expr, least: int = _SUM) -> str:
    """Return an expression as one element."""
    text = _within(node, least)
    single = re.fullmatch(r"<(\w+)[^>]*>[^<]*</\1>|<mfrac>.*</mfrac>", text)
    return text if single and text.count("<mfrac>") <= 1 else f"<mrow>{text}</mrow>"


def _name(name: str) -> str:
    if name == "EulerGamma":
        return EULER
    if name in _GREEK:
        return f"<mi>{_GREEK[name]}</mi>"
    if found := re.fullmatch(r"([A-Za-z])_?([A-Z0-9])", name):
        return f"<msub><mi>{found[1]}</mi><mi>{found[2]}</mi></msub>"
    return f"<mi>{escape(name)}</mi>"


def _call(name: str, arguments: list[ast.expr]) -> tuple[str, int]:
    if name in ("H", "harmonic") and len(arguments) == 1:
        return f"<msub><mi>H</mi>{_row(arguments[0])}</msub>", _ATOM
    if name == "sqrt" and len(arguments) == 1:
        return f"<msqrt>{_row(arguments[0])}</msqrt>", _ATOM
    if name in ("summation", "Sum", "integral", "Integral") and len(arguments) == 4:
        body, variable, low, high = arguments
        index = _row(variable)
        if name.lower() == "integral":
            bounds = f"<msubsup><mo>∫</mo>{_row(low)}{_row(high)}</msubsup>"
            return f"{bounds}{_within(body, _PRODUCT)}<mi>d</mi>{index}", _PRODUCT
        below = f"<mrow>{index}<mo>=</mo>{_row(low)}</mrow>"
        above = _row(high)
        return f"<munderover><mo>∑</mo>{below}{above}</munderover>{_within(body, _PRODUCT)}", (
            _PRODUCT
        )
    words = {"log": "ln"}.get(name, name)
    inner = "<mo>,</mo>".join(_write(argument)[0] for argument in arguments)
    return f"<mi>{escape(words)}</mi><mo>(</mo>{inner}<mo>)</mo>", _POWER
