"""From answers of solvers to evidence: the few lines that many checks end with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import EVERYWHERE, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.smt import Prover, summary_of
from proofs_check.statements.workspace import Workspace

__all__ = ["compared", "derived", "refuted_at", "verdict_of"]

_VERDICTS = {"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}


def verdict_of(status: str) -> Verdict:
    """Return the verdict of a solver's answer."""
    return _VERDICTS.get(status, Verdict.UNKNOWN)


def refuted_at(
    what: tuple[str, str],
    expected: str,
    observed: str,
    values: Mapping[str, str],
    *,
    kind: EvidenceKind = EvidenceKind.EXHAUSTIVE,
    scope: Scope = EVERYWHERE,
) -> Evidence:
    """Return the refutation of (statement, part) at a point."""
    statement, part = what
    at = ", ".join(f"{name} = {value}" for name, value in values.items())
    return Evidence(
        kind=kind,
        verdict=Verdict.REFUTED,
        part=part,
        summary=f"{at}: expected {expected}; observed {observed}",
        scope=scope,
        counterexample=Counterexample(
            statement=statement, expected=expected, observed=observed, values=dict(values)
        ),
    )


def compared(
    workspace: Workspace,
    what: tuple[str, str],
    sides: tuple[str, str, str],
    meaning: str,
    *,
    assume: Sequence[str] = RANGE,
    kind: EvidenceKind = EvidenceKind.SYMBOLIC,
    scope: Scope = EVERYWHERE,
    exact: bool = True,
) -> Evidence:
    """Decide "left relation right" for all names in the assumptions.

    Parameters
    ----------
    what : statement and part
    sides : what was derived, the relation, and what is claimed
    meaning : what the left side is, in words
    exact : the left side is attained; a mere bound proves, but does not refute
    """
    statement, part = what
    left, relation, right = sides
    outcome = compare_sides(
        left,
        relation,
        right,
        assume,
        pairs=workspace.setting.pairs(20),
        second=workspace.setting.second_solver,
    )
    status = outcome.status if exact or outcome.status == "proved" else "unknown"
    return Evidence(
        kind=kind,
        verdict=verdict_of(status),
        part=part,
        summary=f"{meaning} is {left if exact else f'at most {left}'}; {relation} {right}: "
        f"{status}",
        scope=scope,
        details=(outcome.how,),
        second=outcome.second,
        counterexample=Counterexample(
            statement=statement,
            expected=f"{meaning} {relation} {right}",
            observed=f"{meaning} is {left}",
            values=dict(outcome.point),
        )
        if status == "refuted"
        else None,
    )


def derived(
    workspace: Workspace,
    what: tuple[str, str],
    known: Sequence[str],
    goals: Sequence[str],
    *,
    scope: Scope = EVERYWHERE,
) -> Evidence:
    """Prove that goals follow from what is known, all names being reals."""
    statement, part = what
    setting = workspace.setting
    prover = Prover(seconds=setting.solver_seconds, second=setting.second_solver)
    answers = {goal: prover.prove(known, goal) for goal in goals}
    bad = next((g for g, a in answers.items() if a.status == "refuted"), None)
    open_ = [g for g, a in answers.items() if a.status == "unknown"]
    status = "refuted" if bad is not None else "unknown" if open_ else "proved"
    return Evidence(
        kind=EvidenceKind.SMT,
        verdict=verdict_of(status),
        part=part,
        summary=f"{bad or '; '.join(open_ or goals)}: {status}",
        scope=scope,
        second=summary_of(list(answers.values())),
        counterexample=Counterexample(
            statement=statement,
            expected=bad,
            observed="violated",
            values=dict(answers[bad].model),
        )
        if bad is not None
        else None,
    )
