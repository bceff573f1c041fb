"""Lemma 8: bounds on the Q-table during the second phase."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.verdict import Evidence, EvidenceKind
from proofs_check.logic.induction import StepFact
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Monitor, step_monitor
from proofs_check.runs.run import Record, Run, SeenStep
from proofs_check.statements.building import (
    BOUND,
    UNDER_H,
    in_each_state,
    invariant_check,
    slope_states,
    step_check,
)
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _low_slope(law: StepLaw) -> range:
    """Return l+1 .. n-l-3."""
    return slope_states(law)[:-2]


def _high_slope(law: StepLaw) -> range:
    """Return l+3 .. n-l-1."""
    return slope_states(law)[2:]


def _uses(workspace: Workspace) -> Iterable[Evidence]:
    bound = workspace.number("Lemma 8", "uses")

    def uses_of(action: str) -> Callable[[int, SeenStep], bool]:
        return lambda s, step: step.position == s and step.action == action

    for action, states in (("R", _low_slope), ("L", _high_slope)):
        what = ("Lemma 8", f"{action} at most once", f"uses of {action} in state {{}}")
        yield in_each_state(workspace, what, bound, states, uses_of(action))


def _signs(workspace: Workspace) -> Iterable[Evidence]:
    def negative_j(graph: Graph, edge: Edge) -> bool:
        law = graph.law
        row = int(law.row[edge.position])
        return edge.position in slope_states(law) and (
            graph.signs(edge.target, row)[law.actions.index("J")] < 0
        )

    def bad_l(graph: Graph, edge: Edge) -> bool:
        return edge.next_phase == 2 and (
            graph.signs(edge.target, int(graph.law.row[0]))[graph.law.actions.index("L")] != 1
        )

    yield workspace.never("Lemma 8", "J on the slope", "Q[s, J] >= 0 on the slope", negative_j)
    yield workspace.never("Lemma 8", "Q[0, L]", "Q[0, L] > 0 in phase 2", bad_l)


def _monitors(workspace: Workspace) -> list[Monitor]:
    def slope(run: Run, record: Record) -> str | None:
        if record.action == "J" and record.new < 0 and record.position in slope_states(run.law):
            return f"Q[{record.position}, J] = {record.new}"
        return None

    def zero(run: Run, record: Record) -> str | None:
        if record.next_phase != 2 or "L" not in run.law.actions:
            return None
        value = run.row(0)[run.law.actions.index("L")]
        return None if value > 0 else f"Q[0, L] = {value}"

    def once(run: Run, record: Record, used: frozenset[int]) -> tuple[frozenset[int], str | None]:
        if record.action != "R" or record.position not in _low_slope(run.law):
            return used, None
        if record.position in used:
            return used, f"R is used again in state {record.position}"
        return used | {record.position}, None

    return [
        step_monitor("Lemma 8", "J on the slope", "Q[s, J] >= 0 on the slope", slope),
        step_monitor("Lemma 8", "Q[0, L]", "Q[0, L] > 0 in phase 2", zero),
        Monitor("Lemma 8", "R at most once", "R is used at most once per state", once, frozenset()),
    ]


_FACTOR = "(1 - alpha*(1 - gamma))"

STATEMENTS = (
    Statement(
        id="Lemma 8",
        title="Bounds on the Q-table",
        where="502-510, 960-1004",
        claim="Q_t[s,J] >= 0 on l+1..n-l-1; R is used at most once in each of l+1..n-l-3 and L in "
        "each of l+3..n-l-1; Q_t[0,L] > 0 throughout phase 2.",
        terms={"J": "J >= 0", "uses": "1"},
        depends=("Lemma 2", "Lemma 4", "Lemma 5", "Lemma 6"),
        checks=(
            invariant_check("Lemma 8", "J on the slope", ("J on the slope",)),
            invariant_check("Lemma 8", "Q[0, L]", ("L in row 0",)),
            step_check(
                "R at most once",
                StepFact(
                    "R fresh only",
                    "R = 0 and R1 < 0",
                    "s >= l + 1 and s <= n - l - 3",
                    actions=("R",),
                ),
            ),
            step_check(
                "L at most once",
                StepFact(
                    "L fresh only",
                    "L = 0 and L1 < 0",
                    "s >= l + 3 and s <= n - l - 1",
                    actions=("L",),
                ),
            ),
            Check(EvidenceKind.EXHAUSTIVE, _uses),
            Check(EvidenceKind.EXHAUSTIVE, _signs),
        ),
        monitors=_monitors,
        derivations=(
            Derivation(
                "Lemma 8 (R)",
                "968-973",
                (*UNDER_H, f"q < {BOUND}", f"M < {BOUND}"),
                (
                    Line("", "update(q, -r, M)"),
                    Line("=", "(1 - alpha)*q - alpha*r + alpha*gamma*M"),
                    Line("<", f"(1 - alpha)*{BOUND} - alpha*r + alpha*gamma*{BOUND}"),
                    Line("=", f"{_FACTOR}*{BOUND} - alpha*r"),
                    Line("<=", "0"),
                ),
            ),
            Derivation(
                "Lemma 8 (J-)",
                "977-981",
                (*UNDER_H, "q >= 0"),
                (
                    Line("", "update(q, 0, q)"),
                    Line("=", "(1 - alpha)*q + alpha*gamma*q"),
                    Line("=", f"{_FACTOR}*q"),
                    Line(">=", "0"),
                ),
            ),
            Derivation(
                "Lemma 8 (J+)",
                "983-988",
                (*UNDER_H, "q >= 0", "rew >= 0", "M >= qJ", "qJ >= 0"),
                (
                    Line("", "update(q, rew, M)"),
                    Line("=", "(1 - alpha)*q + alpha*rew + alpha*gamma*M"),
                    Line(">=", "alpha*gamma*M"),
                    Line(">=", "alpha*gamma*qJ"),
                    Line(">=", "0"),
                ),
            ),
            Derivation(
                "Lemma 8 (T1)",
                "992-996",
                (*UNDER_H, "q >= 0", "M = 0"),
                (
                    Line("", "update(q, 1, M)"),
                    Line("=", "(1 - alpha)*q + alpha + alpha*gamma*M"),
                    Line("=", "(1 - alpha)*q + alpha"),
                    Line(">", "0"),
                ),
            ),
            Derivation(
                "Lemma 8 (L)",
                "998-1002",
                (*UNDER_H, "q > 0", "rew >= 0", "rew <= 1", "M >= 0"),
                (
                    Line("", "update(q, rew, M)"),
                    Line("=", "(1 - alpha)*q + alpha*rew + alpha*gamma*M"),
                    Line(">=", "(1 - alpha)*q"),
                    Line(">", "0"),
                ),
            ),
        ),
    ),
)
