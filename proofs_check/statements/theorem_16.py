"""Theorem 16 and (B): the runtime of phase 3."""

from __future__ import annotations

from collections.abc import Iterable

from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import UP
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE, Derivation, Line
from proofs_check.algebra.orders import judge_order
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import EVERYWHERE, PAPER
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import cases, region_solver
from proofs_check.logic.induction import StepFact
from proofs_check.statements.building import step_check
from proofs_check.statements.judging import (
    closed_form,
    explicit,
    judged,
    right_of,
    third_phase_known,
    walk_of_phase3,
)
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.uniform import order_in_h
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _order(workspace: Workspace) -> Iterable[Evidence]:
    """Judge the order by the closed form of E[T_3], which holds for all n and l."""
    order = workspace.term("Theorem 16", "order")
    known = third_phase_known(workspace)
    outcome = judge_order(known, order, "O", workspace.setting.pairs(20))
    yield judged(
        outcome,
        "Theorem 16",
        f"E[T3] = O({order})",
        details=(f"{known.low} <= E[T3] <= {known.high}", walk_of_phase3(workspace)),
    )


def _explicit(workspace: Workspace) -> Iterable[Evidence]:
    yield closed_form(workspace, right_of(workspace).whole)
    yield from explicit(
        workspace,
        "Theorem 16, explicit",
        third_phase_known(workspace),
        workspace.setting.pick(60, 200),
    )


def _b(workspace: Workspace) -> Iterable[Evidence]:
    """(B): the second sub-phase begins at some k > n-l on the plateau and takes n H_{n-k}."""
    bound = workspace.term("(B)", "bound")
    outcome = compare_sides(
        "n*H(m)", "<=", bound, (*RANGE, "m >= 1", "m <= l - 1"), pairs=workspace.setting.pairs(12)
    )
    verdict = {"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}.get(
        outcome.status, Verdict.UNKNOWN
    )
    if verdict is Verdict.UNKNOWN:
        # H_m <= H_(l-1) <= H_l, since the terms of a harmonic number are positive
        for most in ("n*H(l - 1)", "n*H(l)"):
            found = compare_sides(most, "<=", bound, RANGE, pairs=workspace.setting.pairs(12))
            if found.status == "proved":
                verdict, outcome = Verdict.PROVED, found
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=verdict,
        summary=f"n H_(n-k) <= {bound} for k = n-m, 1 <= m < l: {outcome.status} ({outcome.how}); "
        f"H_m <= H_(l-1) <= H_l since their terms are positive",
        scope=EVERYWHERE,
        counterexample=Counterexample(
            statement="(B)",
            expected=f"E[T_3^2] <= {bound}",
            observed="n H_(n-k) is larger",
            values=dict(outcome.point),
        )
        if verdict is Verdict.REFUTED
        else None,
    )


def _walks_up(workspace: Workspace) -> Iterable[Evidence]:
    """Check that R accepts every upward and no downward proposal on the right plateau."""
    family, induction = workspace.setting.family, workspace.induction
    plateau = (P - induction.cut, family.milestones[-1] - 1 - P)
    solver = region_solver(family)
    wrong = [
        case
        for case in cases(family, (induction.cut,), induction.algorithm.accept_equal)
        if case.action == "R"
        and solver.feasible((*case.region, *plateau))
        and case.moved != (1 if case.direction == UP else 0)
    ]
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.UNKNOWN if wrong else Verdict.PROVED,
        part="R walks up",
        summary=f"R does not walk up only: {wrong[0]}" if wrong else "R accepts upward moves only",
        scope=EVERYWHERE,
    )


_R_LEADS = "zR1 > zL1 and zR1 > zJ1"

STATEMENTS = (
    Statement(
        id="(B)",
        title="E[T_3^2] <= n H_l",
        where="570-572",
        claim="After R+ on the right plateau the optimum is reached in at most n H_l steps on "
        "average.",
        terms={"bound": "n*H(l)"},
        depends=("Lemma 5",),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _b),
            step_check(
                "R is kept",
                StepFact(
                    "R leads after R+",
                    _R_LEADS,
                    "p >= n - l and p1 = p + 1",
                    (3,),
                    ("R",),
                ),
                StepFact(
                    "R stays in the lead",
                    _R_LEADS,
                    "p >= n - l and zR > zL and zR > zJ",
                    (3,),
                    ("R",),
                ),
            ),
            Check(EvidenceKind.SMT, _walks_up, parts=("R walks up",)),
        ),
        derivations=(
            Derivation(
                "(B)",
                "571",
                RANGE,
                (
                    Line("", "n*(H(n - (n - l)) - H(n - n))"),
                    Line("=", "n*H(l)"),
                    Line("= O", "0", order="n*ln(l)"),
                ),
            ),
        ),
    ),
    Statement(
        id="Theorem 16",
        title="Runtime of the third phase",
        where="609-616",
        claim="E[T3] <= C (n^2/l^2 + n log l) for all valid n, l.",
        terms={"order": "n**2/l**2 + n*ln(l)"},
        depends=("(B)", "Lemma 15"),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _order, True),
            order_in_h("Theorem 16", "E[T3]", "O"),
        ),
        derivations=(
            Derivation(
                "Theorem 16",
                "615",
                RANGE,
                (Line("", "n**2/l**2 + n*H(l)"), Line("<= O", "n**2/l**2", order="n*ln(l)")),
            ),
        ),
    ),
    Statement(
        id="Theorem 16, explicit",
        title="E[T3] with constants",
        where="609-616",
        claim="2/5 n^2/l^2 + n H_l <= E[T3] <= n^2/l^2 + n H_l for all valid n, l and the paper's "
        "hyper-parameters.",
        scope=PAPER,
        group="sharper",
        terms={"lower": "2/5*n**2/l**2 + n*H(l)", "upper": "n**2/l**2 + n*H(l)"},
        depends=("(B)",),
        checks=(Check(EvidenceKind.SYMBOLIC, _explicit, True, ("closed form", "lower", "upper")),),
    ),
)
