"""Displayed lines of the proofs, as data, each compared with its neighbour.

A `Derivation` is what the paper displays in one go: a first expression and lines "REL text"
that follow from the one before, under assumptions that the surrounding text has established.
A step that does not follow is an `Erratum`: the line is reported with the point at which it
fails and with a line that does follow. The correction is found, not asserted: a registered
`candidate` is offered only if it passes the same check, and for an identity the left side is
simplified otherwise. Lines further down that inherit a wrong value are listed with it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from proofs_check.algebra.brackets import Outcome, compare_sides
from proofs_check.algebra.points import values_at
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import Erratum, Evidence, EvidenceKind, Verdict

__all__ = ["RANGE", "Derivation", "Line", "check_derivation"]

RANGE = ("l >= 2", "n >= 2*l + 5")
"""The allowed range of l (section 3.1), which is the same as l <= floor((n-1)/2) - 2."""


@dataclass(frozen=True)
class Line:
    """One displayed line: how it relates to the line before, and its text.

    Attributes
    ----------
    relation : "" for the first line, else "=", "<", "<=", ">", ">=", "= O", "<= O" or "= o"
    order : the argument of O or o
    candidate : (relation, text) that may replace the line if the line fails
    """

    relation: str
    text: str
    order: str = ""
    candidate: tuple[str, str] | None = None


@dataclass(frozen=True)
class Derivation:
    """A displayed derivation.

    Attributes
    ----------
    id : unique name; its lines are "id:0", "id:1", ..
    where : lines of the paper's source
    assume : what the names satisfy there
    """

    id: str
    where: str
    assume: tuple[str, ...]
    lines: tuple[Line, ...]

    def under(self, setting: Setting) -> Derivation:
        """Return the derivation with the setting's replacements of lines."""
        changed = [
            replace(line, relation=setting.lines[key][0], text=setting.lines[key][1])
            if (key := f"{self.id}:{k}") in setting.lines
            else line
            for k, line in enumerate(self.lines)
        ]
        return replace(self, lines=tuple(changed))


def check_step(derivation: Derivation, left: Line, right: Line, setting: Setting) -> Outcome:
    """Decide whether a line follows from the line before."""
    pairs = setting.pairs(30)
    return compare_sides(
        left.text,
        right.relation,
        right.text,
        derivation.assume,
        order=right.order,
        pairs=pairs,
        seconds=setting.solver_seconds,
        second=setting.second_solver,
    )


def check_derivation(
    derivation: Derivation, setting: Setting
) -> tuple[Evidence, tuple[Erratum, ...]]:
    """Check every line of a derivation against the line before."""
    begun = time.perf_counter()
    derivation = derivation.under(setting)
    errata: list[Erratum] = []
    notes: list[str] = []
    seconds_asked = agreed = unknown = 0
    blamed = -1
    for k in range(1, len(derivation.lines)):
        left, right = derivation.lines[k - 1], derivation.lines[k]
        outcome = check_step(derivation, left, right, setting)
        if outcome.second in ("agrees", "unknown"):
            seconds_asked += 1
            agreed += outcome.second == "agrees"
        if outcome.status == "refuted" and blamed == k - 1 and _skips(derivation, k, setting):
            notes.append(f"line {k} follows from the line before the wrong one")
        elif outcome.status == "refuted":
            blamed = k
            errata.append(_erratum(derivation, k, outcome, setting))
        elif outcome.status == "unknown":
            unknown += 1
            notes.append(f"line {k}: {outcome.how}")
        notes.append(f"{right.relation} {right.text}: {outcome.status} ({outcome.how})")
    steps = len(derivation.lines) - 1
    verdict = Verdict.UNKNOWN if unknown else Verdict.REFUTED if errata else Verdict.PROVED
    good = steps - len(errata) - unknown
    evidence = Evidence(
        kind=EvidenceKind.LINES,
        verdict=verdict,
        part=f"display {derivation.id}",
        summary=f"{good} of {steps} displayed steps follow"
        + (f", {len(errata)} do not" if errata else "")
        + (f", {unknown} undecided" if unknown else ""),
        scope=EVERYWHERE,
        details=tuple(notes),
        second=f"cvc5 confirms {agreed} of {seconds_asked} queries" if seconds_asked else "",
        seconds=time.perf_counter() - begun,
    )
    return evidence, tuple(errata)


def _skips(derivation: Derivation, k: int, setting: Setting) -> bool:
    """Whether line k follows from line k - 2, so that only the line between is wrong."""
    first, second = derivation.lines[k - 1].relation, derivation.lines[k].relation
    if k < 2 or first != "=" or second.endswith(("O", "o")):
        return False
    return (
        check_step(derivation, derivation.lines[k - 2], derivation.lines[k], setting).status
        == "proved"
    )


def _erratum(derivation: Derivation, k: int, outcome: Outcome, setting: Setting) -> Erratum:
    left, right = derivation.lines[k - 1], derivation.lines[k]
    printed = f"{left.text} {right.relation} {right.text}" + (
        f" (order {right.order})" if right.order else ""
    )
    at = ", ".join(f"{name} = {value}" for name, value in outcome.point.items())
    sides = [values_at(to_sympy(line.text), outcome.point) for line in (left, right)]
    reason = f"fails at {at}" if at else outcome.how
    if all(sides):
        reason += f": {sides[0]} against {sides[1]}"
    elif right.order:
        reason = outcome.how
    return Erratum(
        line=f"{derivation.id}:{k}",
        location=f"source lines {derivation.where}",
        printed=printed,
        corrected=_correction(derivation, k, setting),
        reason=reason,
        inherited=_inherited(derivation, k),
        step=(left.text, right.relation, right.text),
        assume=derivation.assume,
        point=outcome.point,
    )


def _correction(derivation: Derivation, k: int, setting: Setting) -> str:
    """Return a line that does follow."""
    import sympy

    left, right = derivation.lines[k - 1], derivation.lines[k]
    tries: list[tuple[Line, Line]] = []
    if right.candidate is not None:
        tries.append((left, replace(right, relation=right.candidate[0], text=right.candidate[1])))
    if left.candidate is not None:
        tries.append((replace(left, text=left.candidate[1]), right))
    for before, after in tries:
        if check_step(derivation, before, after, setting).status == "proved":
            return f"{before.text} {after.relation} {after.text}" + (
                f" + O({after.order})" if after.order else ""
            )
    if right.relation == "=":
        return f"{left.text} = {sympy.factor(to_sympy(left.text))}"
    return "(no correction found)"


def _inherited(derivation: Derivation, k: int) -> tuple[str, ...]:
    """Return the later lines of a chain of equalities that do not equal its beginning."""
    import sympy

    begin = k - 1
    result = []
    truth = to_sympy(derivation.lines[begin].text)
    for line in derivation.lines[k + 1 :]:
        if line.relation != "=":
            break
        difference = sympy.simplify(to_sympy(line.text) - truth)
        if difference != 0:
            result.append(f"{line.text} (should be {sympy.factor(truth)})")
    return tuple(result)
