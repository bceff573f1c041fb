"""What a setting may change: only what is there, and only into something that can be read.

A misspelt key would leave the paper's own statement in place, and its verdict would be taken
for that of the changed one. So changes are looked at before anything is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from typing import get_args

from markov_lrsao.errors import ParameterError
from proofs_check.claims.expressions import brief, names_of, to_sympy
from proofs_check.claims.setting import Level, Setting
from proofs_check.statements.statement import Statement

__all__ = ["check_changes", "near", "plain_name"]

RELATIONS = ("=", "<", "<=", ">", ">=", "= O", "<= O", "= o")
_COMPARISON = re.compile(r"->| or | and |[<>=!]=|[<>=]")
_SHORT = {"thm": "theorem", "th": "theorem", "lem": "lemma", "rem": "remark"}


def plain_name(name: str) -> str:
    """Return a name without case, spaces, punctuation and leading zeros, abbreviations spelt out.

    >>> plain_name("Lemma 10"), plain_name("lem.010"), plain_name("(E), k*")
    ('lemma10', 'lemma10', 'ek')
    """
    words = re.findall(r"[a-z]+|[0-9]+", name.lower())
    return "".join(word.lstrip("0") if word.isdigit() else _SHORT.get(word, word) for word in words)


def near(name: str, known: Iterable[str]) -> str:
    """Return ": did you mean ..?" with up to three known names, or nothing.

    >>> near("Lema 10", ["Lemma 10", "Remark 13"])
    ": did you mean 'Lemma 10'?"
    """
    plain: dict[str, str] = {}
    for key in known:
        plain.setdefault(plain_name(key), key)
    found = get_close_matches(plain_name(name), plain, n=3, cutoff=0.6)
    return f": did you mean {', '.join(repr(plain[x]) for x in found)}?" if found else ""


def check_changes(setting: Setting, statements: Mapping[str, Statement]) -> None:
    """Raise ParameterError if a setting changes what is not there, or into nonsense."""
    if setting.level not in get_args(Level):
        raise ParameterError(f"level = {setting.level!r}: choose {' or '.join(get_args(Level))}")
    if not (isfinite(setting.solver_seconds) and setting.solver_seconds > 0):
        raise ParameterError(f"solver_seconds = {setting.solver_seconds}: must be positive")
    for (name, key), text in setting.terms.items():
        _check_term(name, key, text, statements)
    lines = {
        f"{d.id}:{k}": line
        for s in statements.values()
        for d in s.derivations
        for k, line in enumerate(d.lines)
    }
    for line, (relation, text) in setting.lines.items():
        if line not in lines:
            raise ParameterError(f"no displayed line {brief(line)}{near(line, lines)}")
        first = lines[line].relation == ""
        if first != (relation == "") or (relation and relation not in RELATIONS):
            raise ParameterError(
                f"relation {relation!r} of line {line!r}: "
                + ("a first line has none" if first else f"choose from {', '.join(RELATIONS)}")
            )
        to_sympy(text)
    for text in setting.hypothesis:
        _check_comparison(text, "a hypothesis")
        unknown = _names(text) - {"alpha", "gamma", "r", "n", "l"}
        if unknown:
            raise ParameterError(
                f"hypothesis {brief(text)} speaks of {', '.join(sorted(unknown))}: it may use "
                f"alpha, gamma, r, n and l"
            )


def _check_term(name: str, key: str, text: str, statements: Mapping[str, Statement]) -> None:
    if name not in statements:
        raise ParameterError(f"terms: no statement {brief(name)}{near(name, statements)}")
    own, words = statements[name].terms, statements[name].words
    if key not in own:
        known = ", ".join(repr(k) for k in own)
        raise ParameterError(
            f"{name} has no term {brief(key)}: "
            + (f"choose from {known}" if own else "it has none at all")
        )
    if key in words or text == own[key]:
        return
    allowed = {"n", "l", "EulerGamma"}.union(*(_names(t) for k, t in own.items() if k not in words))
    unknown = _names(text) - allowed if own[key] else set()
    if unknown:
        raise ParameterError(
            f"{key!r} of {name} speaks of {', '.join(sorted(unknown))}: it may use "
            f"{', '.join(sorted(allowed))}"
        )
    for part in text.split(";"):
        if own[key] and not _COMPARISON.search(own[key]):
            to_sympy(part)
        else:
            _check_comparison(part, f"{key!r} of {name}")


def _names(text: str) -> set[str]:
    """Return the names in a formula, in comparisons or in several formulas."""
    parts = [part for part in re.split(rf";|{_COMPARISON.pattern}", text) if part.strip()]
    return {name for part in parts for name in names_of(part)}


def _check_comparison(text: str, what: str) -> None:
    """Raise ParameterError if a text is no comparison, or a side of it cannot be read."""
    sides = _COMPARISON.split(text)
    if len(sides) < 2:
        raise ParameterError(f"{what} is {brief(text)}: a comparison is needed, e.g. 'n > 9'")
    for side in sides:
        to_sympy(side)
