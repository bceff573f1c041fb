"""Lemma 6, few mistakes: on the left plateau J and R are used at most once each."""

from __future__ import annotations

from collections.abc import Iterable

from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind
from proofs_check.logic.induction import StepFact
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Counter, Monitor, step_monitor
from proofs_check.runs.run import Record, Run
from proofs_check.statements.building import at_law, invariant_check, step_check
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _uses(workspace: Workspace) -> list[Counter]:
    bound = workspace.number("Lemma 6", "uses")
    return [
        Counter(
            "Lemma 6",
            f"{a} at most once",
            f"uses of {a} in phase 1 before its last step",
            bound,
            lambda law, e, a=a: e.phase == e.next_phase == 1 and e.action == a,  # type: ignore[misc]
        )
        for a in ("J", "R")
    ]


def _counts(workspace: Workspace) -> Iterable[Evidence]:
    for counter in _uses(workspace):
        yield workspace.at_most(counter)


def _last(workspace: Workspace) -> Iterable[Evidence]:
    last = workspace.actions("Lemma 6", "last")

    def bad(graph: Graph, edge: Edge) -> bool:
        return edge.phase == 1 and edge.next_phase == 2 and edge.action not in last

    yield workspace.never(
        "Lemma 6", "last step", f"the last step of phase 1 uses {' or '.join(last)}", bad
    )


def _monitors(workspace: Workspace) -> list[Monitor | Counter]:
    value = at_law(workspace.term("Lemma 6", "value"))
    last = workspace.actions("Lemma 6", "last")

    def values(run: Run, record: Record) -> str | None:
        if (
            record.phase == 1
            and record.action in ("J", "R")
            and record.new not in (0, value(run.law))
        ):
            return f"Q[0, {record.action}] = {record.new}"
        return None

    def ends(run: Run, record: Record) -> str | None:
        if record.phase == 1 and record.next_phase == 2 and record.action not in last:
            return f"phase 1 ended with {record.sign}"
        return None

    return [
        *_uses(workspace),
        step_monitor(
            "Lemma 6", "values", "Q[0, J] and Q[0, R] are 0 or -alpha r in phase 1", values
        ),
        step_monitor(
            "Lemma 6", "last step", f"the last step of phase 1 uses {' or '.join(last)}", ends
        ),
    ]


STATEMENTS = (
    Statement(
        id="Lemma 6",
        title="Few mistakes",
        where="435-444, 853-869",
        claim="During [0..T1-2] J and R are each chosen at most once, Q[0,J] and Q[0,R] are 0 or "
        "-alpha r up to T1, and the last step of phase 1 is made with L.",
        terms={"uses": "1", "value": "-alpha*r", "last": "L"},
        words=("last",),
        depends=("Lemma 5",),
        checks=(
            invariant_check("Lemma 6", "values"),
            step_check(
                "J at most once",
                StepFact("J is used fresh only", "zJ = 0 and zJ1 < 0", "p1 <= l", (1,), ("J",)),
            ),
            step_check(
                "R at most once",
                StepFact("R is used fresh only", "zR = 0 and zR1 < 0", "p1 <= l", (1,), ("R",)),
            ),
            step_check(
                "last step",
                StepFact("neither J nor R ends phase 1", "0 > 1", "p1 = l + 1", (1,), ("J", "R")),
            ),
            Check(EvidenceKind.EXHAUSTIVE, _counts, parts=("J at most once", "R at most once")),
            Check(EvidenceKind.EXHAUSTIVE, _last, parts=("last step",)),
        ),
        monitors=_monitors,
        derivations=(
            Derivation(
                "Lemma 6 (L)",
                "862",
                ("q = 0", *HYPOTHESIS[:5]),
                (
                    Line("", "(1 - alpha*(1 - gamma))*q"),
                    Line("=", "0"),
                ),
            ),
            Derivation(
                "Lemma 6 (J)",
                "864-867",
                ("q = 0", *HYPOTHESIS[:5]),
                (
                    Line("", "update(q, -r, q)"),
                    Line("=", "(1 - alpha)*q - alpha*r + alpha*gamma*q"),
                    Line("=", "-alpha*r"),
                    Line("<", "0"),
                ),
            ),
        ),
    ),
)
