"""One grammar for landscapes and algorithms: ``NAME[:key=value[,key=value]*]``.

Values are read by what their key is for: an integer, a rational expression in n, a list with +
between its items, or one of some words. A text with a path separator, or one that ends in .json
or .toml, is the name of a file (`is_file`).

>>> keys = {"widths": Key("list"), "bridges": Key("word", words=("own", "shared"), default="own")}
>>> read("regions:widths=3+4+3", {"regions": keys}, "landscape")
('regions', {'widths': ('3', '4', '3'), 'bridges': 'own'})
>>> expression("1/(n + 1)", "gamma")(n=9)
1/10
"""

from __future__ import annotations

import ast
import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational

__all__ = ["Expression", "Key", "Value", "expression", "is_file", "read"]

_LARGEST_EXPONENT = 1000
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_ALLOWED = (
    *(ast.BinOp, ast.UnaryOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow),
    *(ast.USub, ast.UAdd, ast.Load),
)
_LONGEST = 200  # characters of an expression: far from what Python's parser takes


@dataclass(frozen=True)
class Expression:
    """A rational expression in n, kept as it was written; build one with `expression`.

    Some keys have expressions in x, too: the present number of ones, or level.
    """

    text: str
    name: str

    @property
    def local(self) -> bool:
        """Whether it depends on x."""
        tree = ast.parse(self.text, mode="eval")
        return any(isinstance(node, ast.Name) and node.id == "x" for node in ast.walk(tree))

    def __call__(self, *, n: int, x: int = 0) -> fmpq:
        """Evaluate at n and x.

        Raises
        ------
        ParameterError
            A denominator is zero there, or an exponent is not a small integer.
        """
        try:
            return self._value(ast.parse(self.text, mode="eval").body, n, x)
        except ZeroDivisionError:
            place = f"n = {n}" + (f", x = {x}" if self.local else "")
            raise ParameterError(
                f"{self.name} = {self.text!r} has a zero denominator at {place}"
            ) from None

    def _value(self, node: ast.expr, n: int, x: int) -> fmpq:
        match node:
            case ast.Constant():
                # As it is written: 0.1 is a tenth, not the float next to it.
                return rational(ast.get_source_segment(self.text, node), self.name)
            case ast.Name():
                return fmpq(n if node.id == "n" else x)
            case ast.UnaryOp(op=op, operand=operand):
                value = self._value(operand, n, x)
                return -value if isinstance(op, ast.USub) else value
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                exponent = self._value(right, n, x)
                if exponent.q != 1 or abs(exponent) > _LARGEST_EXPONENT:
                    raise ParameterError(
                        f"{self.name} = {self.text!r}: an exponent must be an integer of size at "
                        f"most {_LARGEST_EXPONENT}"
                    )
                return self._value(left, n, x) ** int(exponent.p)
            case ast.BinOp(left=left, op=binary, right=right):
                sides = self._value(left, n, x), self._value(right, n, x)
                return fmpq(_BINARY[type(binary)](*sides))
        raise AssertionError(node)  # `expression` lets nothing else through


Value: TypeAlias = int | Expression | str | tuple[str, ...]


def expression(text: str, name: str, variables: Sequence[str] = ("n",)) -> Expression:
    """Read a rational expression in n: numbers, n, + - * / ** and parentheses.

    Parameters
    ----------
    variables : n, or n and x

    Raises
    ------
    ParameterError
    """
    wrong = ParameterError(
        f"{name} = {text!r} is not a rational expression in {' and '.join(variables)}; write e.g. "
        f"1/3, 0.1 or 2/(n + 1)"
    )
    if len(text) > _LONGEST:
        raise ParameterError(f"{name} has more than {_LONGEST} characters; write a shorter one")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        raise wrong from None
    for node in ast.walk(tree.body):
        known = (
            isinstance(node, _ALLOWED)
            or (isinstance(node, ast.Name) and node.id in variables)
            or (isinstance(node, ast.Constant) and type(node.value) in (int, float))
        )
        if not known:
            raise wrong
    found = Expression(text.strip(), name)
    if "n" not in text and "x" not in text:
        found(n=1)  # a number that is none is refused now, not when it is used
    return found


@dataclass(frozen=True)
class Key:
    """What a key is for.

    Attributes
    ----------
    kind : "integer", "rational" (an expression in n), "local" (one in n and x), "list" (items with
        + between them), "word"
    words : what a word may be; empty: anything. Of a number: words that may stand for it
    default : text that stands for a key that is not given; None: it must be given
    optional : a key that may be left out altogether
    """

    kind: Literal["integer", "rational", "local", "list", "word"]
    words: tuple[str, ...] = ()
    default: str | None = None
    optional: bool = False


def is_file(text: str) -> bool:
    """Whether a text names a file rather than a member of the catalogue."""
    separators = [s for s in (os.sep, os.altsep) if s]
    head = text.partition(":")[0] if "=" in text else text
    endings = (".json", ".toml")
    return any(s in head for s in separators) or head.endswith(endings) or text.endswith(endings)


def read(
    text: str, known: Mapping[str, Mapping[str, Key]], what: str
) -> tuple[str, dict[str, Value]]:
    """Return the name and the values of a text in the grammar above.

    Parameters
    ----------
    known : name -> key -> what it is for
    what : "landscape" or "algorithm", for the error message

    Raises
    ------
    ParameterError
        The name or a key is not known, a key is missing or given twice, or a value is wrong.
    """
    name, colon, rest = text.strip().partition(":")
    if name not in known:
        raise ParameterError(
            f"{what} {text!r} is not known: choose {', '.join(sorted(known))}, or the name of a "
            f"file that ends in .json or .toml"
        )
    keys = known[name]
    given: dict[str, str] = {}
    for item in rest.split(",") if colon else []:
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value or key not in keys or key in given:
            problem = "is given twice" if key in given else "is not one of its keys"
            if key in keys and key not in given:
                problem = "has no value"
            raise ParameterError(f"{what} {text!r}: {key!r} {problem}; {_known(name, keys)}")
        given[key] = value
    result: dict[str, Value] = {}
    for key, meaning in keys.items():
        written = given.get(key, meaning.default)
        if written is not None:
            result[key] = _value(written, meaning, f"{key} of {what} {name}")
        elif not meaning.optional:
            raise ParameterError(f"{what} {text!r}: {key!r} is missing; {_known(name, keys)}")
    return name, result


def _known(name: str, keys: Mapping[str, Key]) -> str:
    if not keys:
        return f"{name} has no keys"
    return f"the keys of {name} are {', '.join(keys)}"


def _value(text: str, key: Key, name: str) -> Value:
    match key.kind:
        case "integer":
            if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
                raise ParameterError(f"{name} = {text!r} is not an integer")
            return int(text)
        case "rational" | "local":
            if text in key.words:
                return text
            return expression(text, name, ("n", "x") if key.kind == "local" else ("n",))
        case "list":
            return tuple(part.strip() for part in text.split("+"))
    if key.words and text not in key.words:
        raise ParameterError(f"{name} = {text!r} is not one of {', '.join(key.words)}")
    return text
