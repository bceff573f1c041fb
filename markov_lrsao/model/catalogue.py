"""Landscapes by name: ``NAME[:key=value[,key=value]*]``, the names and what their keys mean.

>>> from markov_lrsao.model.landscape import Landscape
>>> Landscape.named("jump-m:m=3", n=8).objectives["J"].tolist()
[3, 4, 5, 6, 7, 8, 2, 1, 11]

A file may stand for a name; its parameters are keys: ``mine.toml:d=3``. Landscapes with one
objective have the key ``helpers``, a list with + between its items.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from markov_lrsao.errors import ParameterError
from markov_lrsao.model import families, naming
from markov_lrsao.model.landscape import JUMP, JUMP_OPEN, Landscape, LandscapeFamily
from markov_lrsao.model.naming import Expression, Key, Value
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from markov_lrsao.model.family_files import FamilyFile

__all__ = ["LANDSCAPES", "Entry", "Named", "entry", "names"]

_HELPERS = {"helpers": Key("list", optional=True)}
_RATIONAL = Key("rational")


@dataclass(frozen=True)
class Named:
    """A name of the catalogue.

    Attributes
    ----------
    keys : what must or may be given
    summary : the definition in one line
    reference : who defined it
    build : from integers and words by key to the family; None at n means that n is not known yet
    """

    keys: Mapping[str, Key]
    summary: str
    reference: str
    build: Callable[..., LandscapeFamily]


def _cliff(d: int, m: int | None = None) -> LandscapeFamily:
    return families.cliff(d) if m is None else families.steep_cliff(m, d)


def _jump(l: int | None = None) -> LandscapeFamily:  # noqa: E741 # the key's name
    return JUMP


def _jump_open(l: int | None = None) -> LandscapeFamily:  # noqa: E741 # the key's name
    return JUMP_OPEN


_GAP = {"l": Key("rational", optional=True)}

LANDSCAPES: dict[str, Named] = {
    "jump": Named(
        _GAP,
        "Jump with LeftBridge and RightBridge: plateaus of l + 1 and l positions",
        "the paper, section 3",
        _jump,
    ),
    "jump-open": Named(
        _GAP,
        "the same, but the bridges end with the plateaus",
        "the authors of EA+RL",
        _jump_open,
    ),
    "onemax": Named(_HELPERS, "|x|", "Muehlenbein 1992", families.onemax),
    "zeromax": Named(
        _HELPERS, "n - |x|; as a helper only, its optimum is 0^n", "-", families.zeromax
    ),
    "regions": Named(
        {"widths": Key("list"), "bridges": Key("word", families.BRIDGES, default="own")},
        "target 0 on plateaus of these widths, |x| on slopes of equal length and at n",
        "generalises Jump: widths l + 1, l",
        families.regions,
    ),
    "jump-m": Named(
        {"m": _RATIONAL, **_HELPERS},
        "m + |x| if |x| <= n - m or |x| = n, else n - |x|",
        "Droste, Jansen, Wegener 2002",
        families.jump_m,
    ),
    "cliff": Named(
        {"d": _RATIONAL, "m": Key("rational", optional=True), **_HELPERS},
        "|x| if |x| <= n - d, else |x| - d + 1/2; with m: |x| if |x| <= n - m, else |x| - d - 1",
        "Jaegerskuepper, Storch 2007; with m: Doerr et al., GECCO 2023",
        _cliff,
    ),
    "xdivk": Named(
        {"k": _RATIONAL, **_HELPERS},
        "floor(|x| / k), k divides n",
        "Buzdalova, Buzdalov 2012",
        families.xdivk,
    ),
    "hurdle": Named(
        {"w": _RATIONAL, **_HELPERS},
        "-ceil(z/w) - (z mod w)/w with z = n - |x|",
        "Pruegel-Bennett 2004; Nguyen, Sudholt 2020",
        families.hurdle,
    ),
    "plateau": Named(
        {"k": _RATIONAL, **_HELPERS},
        "|x| if |x| <= n - k or |x| = n, else n - k",
        "Antipov, Doerr 2021",
        families.plateau,
    ),
    "needle": Named(_HELPERS, "1 if |x| = n, else 0", "folklore", families.needle),
    "seqopt": Named(
        {"gaps": Key("list"), **_HELPERS},
        "slopes of equal length, behind each a gap as in Jump_m",
        "a member of SEQOPT_k: Bendahi, Doerr, Fradin, Lutzeyer, IJCAI 2025",
        families.seqopt,
    ),
}
"""The catalogue, in the order in which it is shown."""


def names() -> tuple[str, ...]:
    """Return the names that can be chosen."""
    return tuple(LANDSCAPES)


@dataclass(frozen=True)
class Entry:
    """A text in the grammar, read: what it is at every n; build one with `entry`.

    Attributes
    ----------
    text : as it was written, with its helpers
    fixed : a file's landscape, which has its own n; None for families
    """

    text: str
    values: Mapping[str, Value]
    helpers: tuple[str, ...]
    named: Named | None = None
    file: FamilyFile | None = None
    fixed: Landscape | None = None

    @property
    def canonical(self) -> str:
        """The text with the helpers as a key, so that it says everything."""
        if not self.helpers or "helpers" in self.values:
            return self.text
        return f"{self.text}{',' if ':' in self.text else ':'}helpers={'+'.join(self.helpers)}"

    def gap(self, n: int) -> int | None:
        """Return the gap parameter l at n, if the text has it."""
        given = self.values.get("l")
        if not isinstance(given, Expression):
            return None
        return _whole(given, n, f"l of landscape {self.text}")

    def family(self, n: int) -> LandscapeFamily:
        """Return the family with its parameters as they are at n.

        Raises
        ------
        ParameterError
            A parameter is no integer at n, or out of range.
        """
        values = {
            key: _at(value, n, f"{key} of landscape {self.text}")
            for key, value in self.values.items()
            if key not in ("helpers", "l")
        }
        if self.file is not None:
            found = self.file.family({k: v for k, v in values.items() if isinstance(v, int)})
        else:
            assert self.named is not None
            found = self.named.build(**values)
        return families.with_helpers(found, self.helpers)

    def at(self, n: int | None, ell: int | None = None) -> Landscape:
        """Return the landscape at (n, l).

        Raises
        ------
        ParameterError
            n or l is missing, out of range, or not the file's.
        """
        if self.fixed is not None:
            if n is not None and n != self.fixed.n:
                raise ParameterError(
                    f"`n` = {n} differs from the n = {self.fixed.n} of {self.text}; omit it"
                )
            if ell not in (None, self.fixed.ell):
                raise ParameterError(f"`ell` = {ell} has no meaning for {self.text}; omit it")
            return self.fixed
        if n is None:
            raise ParameterError("`n` is missing: give the length of the bit strings, e.g. `n=9`")
        family = self.family(n)
        if ell and not family.has_ell:
            raise ParameterError(f"`ell` = {ell} has no meaning for {family.name}; omit it")
        gap = self.gap(n)
        if gap is not None:
            if ell is not None and ell != gap:
                raise ParameterError(
                    f"`ell` = {ell} differs from l = {gap} of {self.text}; omit it"
                )
            ell = gap
        if ell is None and family.has_ell:
            allowed = family.ell_range(n)
            hint = f"an integer in {allowed[0]}..{allowed[1]}" if allowed else "e.g. `ell=2`"
            raise ParameterError(f"`ell` is missing: give the gap parameter, {hint}")
        return family.at(n, ell or 0)


def _at(value: Value, n: int, name: str) -> int | str | tuple[int, ...]:
    """Return a value at n: an integer, a word, or integers."""
    match value:
        case Expression():
            return _whole(value, n, name)
        case tuple():
            return tuple(_whole(naming.expression(item, name), n, name) for item in value)
    return value


def _whole(value: Expression, n: int, name: str) -> int:
    number = value(n=n)
    if number.q != 1:
        found = f"{number} at n = {n}" if "n" in value.text else "no integer"
        raise ParameterError(f"{name} = {value.text} is {found}: an integer is needed")
    return int(number.p)


def entry(text: str, helpers: Sequence[str] = ()) -> Entry:
    """Read a text in the grammar, and objectives to add.

    Raises
    ------
    ParameterError
        The name, a key or a value is wrong, or a file cannot be read.
    """
    if not isinstance(text, str):
        raise ParameterError(
            f"landscape = {text!r} is not text: write {', '.join(LANDSCAPES)}, or "
            f"the name of a JSON or TOML file"
        )
    if naming.is_file(text) or (text not in LANDSCAPES and os.path.lexists(text)):
        return _file_entry(text, tuple(helpers))
    keys = {name: one.keys for name, one in LANDSCAPES.items()}
    if text.strip().partition(":")[0] not in keys:
        raise ParameterError(
            f"landscape {text!r} is neither known nor a file: choose {', '.join(keys)}, or the "
            f"name of a JSON or TOML file"
        )
    name, values = naming.read(text, keys, "landscape")
    chosen = LANDSCAPES[name]
    for key, value in values.items():
        if key != "helpers" and isinstance(value, tuple):
            for item in value:
                naming.expression(item, f"{key} of landscape {name}")
    return _checked(Entry(text, values, _helpers(values, helpers), named=chosen))


def _helpers(values: Mapping[str, Value], helpers: Sequence[str]) -> tuple[str, ...]:
    own = values.get("helpers", ())
    assert isinstance(own, tuple)
    if own and helpers:
        raise ParameterError("helpers are given twice: once in the landscape, once beside it")
    return own or tuple(helper.strip() for helper in helpers)


def _checked(found: Entry) -> Entry:
    """Refuse what is wrong whatever n is."""
    texts = [
        text
        for key, value in found.values.items()
        if key != "helpers" and not isinstance(value, int | str)
        for text in ([value.text] if isinstance(value, Expression) else value)
    ]
    if not any("n" in text for text in texts):
        found.family(1)
    return found


def _file_entry(text: str, helpers: tuple[str, ...]) -> Entry:
    from markov_lrsao.model.family_files import FamilyFile, read_file

    path, colon, rest = text.partition(":") if "=" in text else (text, "", "")
    found = read_file(path)
    if isinstance(found, FamilyFile):
        keys = {
            name: Key("rational", optional=d is not None) for name, d in found.parameters.items()
        }
        keys["l"] = Key("rational", optional=True)
        own = {**keys, **_HELPERS}
        name = printable(PurePath(path).name.replace(":", "_")).strip()
        _, values = naming.read(f"{name}{colon}{rest}", {name: own}, "landscape")
        return _checked(Entry(text, values, _helpers(values, helpers), file=found))
    if colon:
        raise ParameterError(f"landscape {text!r}: a file with arrays has no keys; omit {rest!r}")
    if helpers:
        found = _with_arrays(found, helpers)
    return Entry(text, {}, helpers, fixed=found)


def _with_arrays(shape: Landscape, helpers: Sequence[str]) -> Landscape:
    """Add helpers to a landscape of arrays."""
    own = tuple((name, ()) for name in shape.objectives)
    more = families.with_helpers(LandscapeFamily(shape.name, own, shape.target, ()), helpers)
    positions, arrays = np.arange(shape.n + 1), dict(shape.objectives)
    for helper in helpers:
        short, _, form = families.HELPERS[helper]
        arrays[short] = shape.scale * (form.p * positions + form(n=shape.n, ell=0))
    return replace(shape, name=more.name, objectives=arrays)
