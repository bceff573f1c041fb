"""Points that contradict the claims of `setup`: each is judged from its values alone.

The checks look for such a point; `markov-lrsao replay` asks the same functions about one in a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational
from markov_lrsao.model.landscape import JUMP, JUMP_OPEN
from proofs_check.claims.expressions import brief, evaluate, holds, names_of, to_sympy
from proofs_check.statements.building import size_at
from proofs_check.statements.workspace import Workspace

__all__ = [
    "both_or_neither_at",
    "end_points_at",
    "isolated_at",
    "limit_along",
    "no_ell_at",
    "no_room_at",
    "range_at",
]

Values = Mapping[str, str]


def range_at(workspace: Workspace, values: Values) -> str | None:
    """Judge (n, l): in the printed range, but against the remark or the landscape's own range."""
    n, ell = size_at(values, "n", "l")
    printed = 2 <= ell <= (n - 1) // 2 - 2
    own = all(form(n=n, ell=ell) >= 0 for form in workspace.setting.family.constraints)
    if printed != own:
        return (
            f"l is {'' if printed else 'not '}in the printed range, but not so in the landscape's"
        )
    remark = workspace.term("Range of l", "remark")
    names = {"n": rational(str(n)), "l": rational(str(ell))}
    return f"{remark} is violated" if printed and not holds(remark, names) else None


def no_ell_at(workspace: Workspace, values: Values) -> str | None:
    """Judge n: at least the claimed one, but without any l."""
    [n] = size_at(values, "n")
    below = n < workspace.number("Smallest n", "n")
    if below or workspace.setting.family.ell_range(n) is not None:
        return None
    return "2 <= l <= floor((n-1)/2) - 2 is empty"


def isolated_at(workspace: Workspace, values: Values) -> str | None:
    """Judge n, with l just above its range: is Jump not three isolated points?"""
    n, ell = size_at(values, "n", "l")
    if n < 9 or ell != (n - 1) // 2 - workspace.number("Isolated points", "below"):
        return None
    jump = replace(workspace.setting.family, constraints=()).at(n, ell).objectives["J"]
    positive = [p for p in range(n + 1) if jump[p] > 0]
    isolated = all(b - a > 1 for a, b in pairwise(positive))
    if positive == [ell + 1, n - ell - 1, n] and isolated:
        return None
    return f"Jump is positive at {positive}"


def end_points_at(workspace: Workspace, values: Values) -> str | None:
    """Judge (n, l): is a bridge extended by another position than claimed?"""
    n, ell = workspace.setting.family.check(*size_at(values, "n", "l"))
    for name in ("L", "R"):
        now, before = (f.at(n, ell).objectives[name] for f in (JUMP, JUMP_OPEN))
        added = [p for p in range(n + 1) if now[p] != before[p]]
        text = workspace.term("End points", name)
        wanted = evaluate(text, {"n": n, "l": ell})
        if added != [wanted]:
            return f"{name} is extended by position {added}, not by {text} = {wanted}"
    return None


def limit_along(workspace: Workspace, values: Values) -> str | None:
    """Judge a path l(n): does the quotient of the two bounds not tend to 0 along it?"""
    import sympy

    path = values.get("l", "")
    if path not in workspace.term("Improvement", "paths").split(";"):
        raise ParameterError(f"{brief(path)} is none of the claim's paths l(n)")
    n, ell = to_sympy("n"), to_sympy("l")
    ratio = (n**2 / ell**2 + n * sympy.log(n)) / (n**2 * sympy.log(n) / ell)
    limit = sympy.limit(sympy.simplify(ratio.subs(ell, to_sympy(path))), n, sympy.oo)
    return f"the quotient of the bounds tends to {limit}" if limit != 0 else None


def no_room_at(workspace: Workspace, values: Values) -> str | None:
    """Judge (alpha, gamma, n, l): gamma is small enough, but no r satisfies (H)."""
    gamma = workspace.term("(H) sufficient", "gamma")
    room = "(1/(alpha*(1 - gamma)) - 1)*(n - l - 1) < 1/(alpha*gamma)"
    premise = ["0 < alpha < 1", "0 < gamma < 1", f"gamma <= {gamma}", "n >= 1", "0 <= l <= n - 1"]
    at = _numbers(values, *premise, room)
    if all(holds(text, at) for text in premise) and not holds(room, at):
        return "no r satisfies (H)"
    return None


def both_or_neither_at(workspace: Workspace, values: Values) -> str | None:
    """Judge (alpha, gamma, n, l): does only one of (H)'s room for r and the condition hold?"""
    condition = workspace.term("(H) not empty", "condition")
    room = "(1/(alpha*(1 - gamma)) - 1)*(n - l - 1) < 1/(alpha*gamma)"
    premise = ["0 < alpha < 1", "0 < gamma < 1", "l >= 2", "n >= 2*l + 5"]
    at = _numbers(values, *premise, room, condition)
    found = holds(room, at), holds(condition, at)
    if all(holds(text, at) for text in premise) and found[0] != found[1]:
        return (
            f"(H) leaves {'some' if found[0] else 'no'} room for r, and {condition} is {found[1]}"
        )
    return None


def _numbers(values: Values, *texts: str) -> dict[str, object]:
    missing = {name for text in texts for name in names_of(text)} - set(values)
    if missing or any(x.startswith("~") for x in values.values()):
        raise ParameterError(
            f"the point has no exact value of {', '.join(sorted(missing)) or 'all'}"
        )
    return {name: rational(text, name) for name, text in values.items()}
