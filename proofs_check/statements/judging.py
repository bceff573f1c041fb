"""Runtimes as statements are held against them: what is proved, and how an outcome is reported."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from flint import fmpq

from proofs_check.algebra.brackets import Outcome
from proofs_check.algebra.orders import Known, Sense, judge_bound
from proofs_check.automata.closed import LeftForms, Piecewise, RightForms, left_forms, right_forms
from proofs_check.automata.quantities import (
    first_known,
    phase1_mean,
    phase2_known,
    phase2_mean,
    phase3_known,
    phase3_mean,
    total_known,
)
from proofs_check.automata.slope_bounds import SlopeBounds, slope_bounds
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import PAPER, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.statements.workspace import Workspace

__all__ = [
    "bounds_of_slope",
    "closed_form",
    "explicit",
    "first_subphase_known",
    "judged",
    "left_of",
    "right_of",
    "slope_known",
    "third_phase_known",
    "total_mean",
    "walk_of_phase3",
    "whole_known",
]


def left_of(workspace: Workspace) -> LeftForms:
    """Return the closed forms of the left plateau, for all of (H)."""
    return left_forms(workspace.induction)


def right_of(workspace: Workspace) -> RightForms:
    """Return the closed forms of the right plateau, for the paper's hyper-parameters."""
    return right_forms(workspace.induction, workspace.slope)


def bounds_of_slope(workspace: Workspace) -> SlopeBounds:
    """Return explicit bounds on E[T_2], for all of (H)."""
    return slope_bounds(workspace.induction, workspace.slope)


def slope_known(workspace: Workspace) -> Known:
    """Return what is proved about E[T_2]."""
    return phase2_known(bounds_of_slope(workspace), partial(phase2_mean, workspace.slope))


def third_phase_known(workspace: Workspace) -> Known:
    """Return what is proved about E[T_3]."""
    return phase3_known(right_of(workspace))


def first_subphase_known(workspace: Workspace) -> Known:
    """Return what is proved about E[T_3^1]."""
    return first_known(right_of(workspace))


def total_mean(workspace: Workspace, n: int, ell: int) -> fmpq:
    """Return E[T] exactly."""
    return phase1_mean(n, ell) + phase2_mean(workspace.slope, n, ell) + phase3_mean(n, ell)


def whole_known(workspace: Workspace) -> Known:
    """Return what is proved about E[T]."""
    return total_known(
        left_of(workspace),
        bounds_of_slope(workspace),
        third_phase_known(workspace),
        partial(total_mean, workspace),
    )


def judged(
    outcome: Outcome,
    statement: str,
    claim: str,
    *,
    part: str = "",
    kind: EvidenceKind = EvidenceKind.SYMBOLIC,
    scope: Scope = PAPER,
    details: tuple[str, ...] = (),
) -> Evidence:
    """Return an outcome as evidence; a refutation carries its point."""
    verdict = {"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}.get(
        outcome.status, Verdict.UNKNOWN
    )
    return Evidence(
        kind=kind,
        verdict=verdict,
        part=part,
        summary=f"{claim}: {outcome.status} ({outcome.how})",
        scope=scope,
        details=details,
        second=outcome.second,
        counterexample=Counterexample(
            statement=statement,
            expected=claim,
            observed=outcome.how,
            values=dict(outcome.point),
        )
        if verdict is Verdict.REFUTED
        else None,
    )


def explicit(
    workspace: Workspace, statement: str, known: Known, limit: int, scope: Scope = PAPER
) -> Iterator[Evidence]:
    """Judge a statement with an explicit lower and upper bound.

    A bound fails at an instance, which is looked for among all with n <= limit and some far ones.
    """
    far = [(10**k, ell) for k in (3, 4) for ell in (2, 10**k // 10, (10**k - 5) // 2)]
    pairs = workspace.setting.pairs(limit)
    senses: tuple[tuple[str, Sense], ...] = (("lower", ">="), ("upper", "<="))
    for key, relation in senses:
        bound = workspace.term(statement, key)
        outcome = judge_bound(known, relation, bound, [*pairs, *(far if known.forms else ())])
        yield judged(outcome, statement, f"{known.name} {relation} {bound}", part=key, scope=scope)


def closed_form(workspace: Workspace, quantity: Piecewise) -> Evidence:
    """Return that a closed form holds for all n and l, since the walk it solves is decided."""
    general = quantity.general
    return Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED,
        part="closed form",
        summary=f"{quantity.name} is a rational function of n and l"
        + (f", and {general.factor} H_l" if general.factor != 0 else ""),
        scope=PAPER,
        details=(
            walk_of_phase3(workspace),
            f"l >= {general.smallest}: {general.rest} + ({general.factor})*H(l)",
            *(f"l = {form.ell}: {form.rest}" for form in quantity.special),
        ),
    )


def walk_of_phase3(workspace: Workspace) -> str:
    """Return what the walk on the right plateau looks like, in words."""
    walk, whole = right_of(workspace).walk, right_of(workspace).whole
    return (
        f"walk on the right plateau for symbolic n and l: {len(walk.steps)} nodes, "
        f"{walk.queries} questions, R leads from n-l+{walk.largest_offset} on at the latest; one "
        f"closed form for l >= {whole.general.smallest}, and one for each smaller l"
    )
