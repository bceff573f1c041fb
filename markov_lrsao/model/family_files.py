"""Files of landscapes, JSON or TOML: arrays over 0..n, or pieces of a family that leaves n open.

Arrays:

    {"objectives": {"A": [0, 1, "3/2"], "B": [2, 1, 0]}, "target": "A",
     "milestones": [1, 2], "name": "mine"}

A family has pieces instead; `first`, `last` and `value` are affine forms in n, l (the gap
parameter), the parameters of the file and, in values, the position p. A piece with `every` is
repeated at that distance up to the ends of the line, j counts the repetitions; `over` is a
denominator. A parameter has a default, or "" if it must be given.

    name = "Cliff"
    target = "C"
    milestones = ["n - d", "n"]
    constraints = ["d - 1", "n - d - 1"]
    parameters = {d = 3}
    [[objectives.C]]
    first = "0"
    last = "n - d"
    value = "p"
    [[objectives.C]]
    first = "n - d + 1"
    last = "n"
    value = "2*p - 2*d + 1"
    over = 2

Optional are also: phases (names), titles (short name -> full name), derived (parameters that
follow, such as s = "(n - d) // 2" or "min(n - d, 5)"), divisible ([["n", "k"]]: n must be a
multiple of k) and defined (constraints of a range beyond).

>>> str(affine("n - 2*(d + 1)", {"d"}))
'n - 2*d - 2'
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markov_lrsao.errors import ParameterError
from markov_lrsao.inputs import load_table
from markov_lrsao.model.affine import ELL, Affine, Derived, N, P, Piece, parameter
from markov_lrsao.model.landscape import Landscape, LandscapeFamily
from markov_lrsao.texts import printable

__all__ = ["FamilyFile", "affine", "read_file", "read_landscape"]

_ARRAYS = {"objectives", "target", "milestones", "name"}
_FAMILY = _ARRAYS | {
    *("parameters", "constraints", "defined", "derived", "divisible", "phases", "titles")
}
_PIECE = ("first", "last", "value", "over", "every")
_LONGEST, _LARGEST = 200, 10**9
_RESERVED = ("p", "n", "l", "j", "helpers")


@dataclass(frozen=True)
class FamilyFile:
    """A family with parameters that may still be open.

    Attributes
    ----------
    parameters : name -> default, None if it must be given
    """

    shape: LandscapeFamily
    parameters: Mapping[str, int | None]

    def family(self, given: Mapping[str, int]) -> LandscapeFamily:
        """Return the family with its parameters.

        Raises
        ------
        ParameterError
            A parameter is missing.
        """
        values = {name: given.get(name, default) for name, default in self.parameters.items()}
        found: list[tuple[str, int]] = []
        for name, value in values.items():
            if value is None:
                raise ParameterError(
                    f"landscape {self.shape.name}: {name!r} is missing; write FILE:{name}=.."
                )
            found.append((name, value))
        return replace(self.shape, parameters=tuple(found))


def affine(text: object, names: Collection[str], where: str = "form") -> Affine:
    """Read an affine form in p, n, l and some names, with integer coefficients.

    Raises
    ------
    ParameterError
    """
    wrong = ParameterError(
        f"{where} = {printable(repr(text))[:80]} is not an affine form in n, l, p"
        f"{''.join(f', {name}' for name in sorted(names))}; write e.g. 'n - 2*l - 1'"
    )
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise wrong
    try:
        form = _form(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, TypeError, RecursionError):
        raise wrong from None
    sizes = (form.p, form.n, form.ell, form.constant, *(c for _, c in form.named))
    if max(map(abs, sizes)) > _LARGEST:
        raise ParameterError(f"{where} = {text!r} has a number beyond {_LARGEST:,}")
    return form


def _form(node: ast.expr, names: Collection[str]) -> Affine:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return Affine(constant=number)
        case ast.Name(id=name) if name in names:
            return parameter(name)
        case ast.Name(id=name):
            return {"p": P, "n": N, "l": ELL}.get(name) or _refuse()
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_form(operand, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _form(left, names) + _form(right, names)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _form(left, names) - _form(right, names)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            a, b = _form(left, names), _form(right, names)
            if a == Affine(constant=a.constant):
                return b * a.constant
            if b == Affine(constant=b.constant):
                return a * b.constant
    return _refuse()


def _refuse() -> Affine:
    raise ValueError("not affine")


def _derived(name: str, text: object, names: Collection[str], where: str) -> Derived:
    """Read ``form``, ``form // form`` or ``min(either, form)``."""
    try:
        node = ast.parse(str(text).strip()[:_LONGEST], mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        node = ast.Constant(None)
    most: Affine | None = None
    match node:
        case ast.Call(func=ast.Name(id="min"), args=[inner, other], keywords=[]):
            most, node = affine(ast.unparse(other), names, where), inner
    divisor = Affine(constant=1)
    match node:
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            divisor, node = affine(ast.unparse(right), names, where), left
    form = affine(ast.unparse(node), names, where)
    for one in (form, divisor, most or form):
        if one.ell or one.p:
            raise ParameterError(f"{where} = {text!r}: neither l nor p may enter")
    return Derived(name, form, divisor, most)


def read_landscape(path: str | Path) -> Landscape | LandscapeFamily:
    """Read a file; a family comes with the defaults of its parameters."""
    found = read_file(path)
    return found.family({}) if isinstance(found, FamilyFile) else found


def read_file(path: str | Path) -> Landscape | FamilyFile:
    """Read a file of arrays or of a family, see above.

    Raises
    ------
    ParameterError
        There is no such file, or it is not one of a landscape.
    """
    if not os.path.lexists(path):
        from markov_lrsao.model.catalogue import names

        raise ParameterError(
            f"landscape {str(path)!r} is neither known nor a file: choose "
            f"{', '.join(names())}, or the name of a JSON or TOML file"
        )
    data = load_table(path, "landscape")
    known = _FAMILY if _has_pieces(data) else _ARRAYS
    if not isinstance(data, dict) or not {"objectives", "target"} <= set(data) <= known:
        raise ParameterError(
            f"landscape file {path}: expected an object with the keys objectives and target "
            f"(optional: {', '.join(sorted(known - {'objectives', 'target'}))})"
        )
    if not isinstance(data["objectives"], dict):
        raise ParameterError(f"landscape file {path}: objectives must map names to lists")
    name = str(data.get("name", Path(path).stem))
    if not _has_pieces(data):
        return Landscape.from_arrays(
            data["objectives"], data["target"], data.get("milestones"), name=name
        )
    try:
        return _family(data, name)
    except ParameterError as error:
        raise ParameterError(f"landscape file {path}: {error}") from None


def _has_pieces(data: Any) -> bool:
    objectives = data.get("objectives") if isinstance(data, dict) else None
    return isinstance(objectives, dict) and any(
        isinstance(values, list) and values and isinstance(values[0], dict)
        for values in objectives.values()
    )


def _items(data: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    found = data.get(key, default)
    if not isinstance(found, kind):
        raise ParameterError(f"{key} must be a {'list' if kind is list else 'table'}")
    return found


def _family(data: Mapping[str, Any], name: str) -> FamilyFile:
    parameters: dict[str, int | None] = {}
    for key, value in _items(data, "parameters", dict, {}).items():
        _check_name(key, parameters)
        if value != "" and (not isinstance(value, int) or abs(value) > _LARGEST):
            raise ParameterError(f'parameter {key} = {value!r} must be an integer, or "" if open')
        parameters[key] = None if value == "" else int(value)
    known = set(parameters)
    derived = []
    for key, text in _items(data, "derived", dict, {}).items():
        _check_name(key, known)
        derived.append(_derived(key, text, known, f"derived {key}"))
        known.add(key)

    def forms(key: str, default: list[str]) -> tuple[Affine, ...]:
        texts = _items(data, key, list, default)
        found = tuple(affine(text, known, key) for text in texts)
        if any(form.p for form in found):
            raise ParameterError(f"{key}: p has no meaning there")
        return found

    def pair(given: Any) -> tuple[Affine, Affine]:
        if not isinstance(given, list) or len(given) != 2:
            raise ParameterError("divisible must be a list of pairs of forms")
        return affine(given[0], known, "divisible"), affine(given[1], known, "divisible")

    objectives = tuple(
        (str(short), tuple(_piece(piece, known, short) for piece in _list(pieces, short)))
        for short, pieces in data["objectives"].items()
    )
    milestones = forms("milestones", ["n"])
    phases = tuple(map(str, _items(data, "phases", list, [])))
    if phases and len(phases) != len(milestones):
        raise ParameterError(f"phases has {len(phases)} names for {len(milestones)} milestones")
    shape = LandscapeFamily(
        name=name,
        objectives=objectives,
        target=str(data["target"]),
        milestones=milestones,
        constraints=forms("constraints", []),
        defined=forms("defined", []),
        titles=tuple((str(k), str(v)) for k, v in _items(data, "titles", dict, {}).items()),
        phases=phases,
        derived=tuple(derived),
        divisible=tuple(pair(given) for given in _items(data, "divisible", list, [])),
    )
    if not shape.has_ell:
        shape = replace(shape, constraints=(ELL, -ELL, *shape.constraints))
    return FamilyFile(shape, parameters)


def _check_name(name: str, known: Collection[str]) -> None:
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,20}", name) or name in (*_RESERVED, *known):
        raise ParameterError(
            f"parameter {printable(repr(name))} must be a word of letters and digits that is new, "
            f"and none of {', '.join(_RESERVED)}"
        )


def _list(pieces: Any, short: str) -> list[Any]:
    if not isinstance(pieces, list) or not pieces:
        raise ParameterError(f"objective {short} must be a list of pieces")
    return pieces


def _piece(piece: Any, known: Collection[str], short: str) -> Piece:
    if not isinstance(piece, dict) or not {"first", "last", "value"} <= set(piece) <= set(_PIECE):
        raise ParameterError(
            f"a piece of objective {short} must have first, last and value (optional: over, every)"
        )
    where = f"objective {short}"
    first, last, over = (
        affine(piece.get(key, 1), known, f"{key} of {where}") for key in ("first", "last", "over")
    )
    every = affine(piece["every"], known, f"every of {where}") if "every" in piece else None
    names = {*known, "j"} if every is not None else known
    value = affine(piece["value"], names, f"value of {where}")
    if any(form.p for form in (first, last, over, every or over)):
        raise ParameterError(f"{where}: p has a meaning in values only")
    return Piece(first, last, value, over, every)
