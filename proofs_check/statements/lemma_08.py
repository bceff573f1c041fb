"""Lemma 8: bounds on the Q-table during the second phase."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flint import fmpq

from markov_lrsao.errors import VerificationError
from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.expressions import holds, relation_of
from proofs_check.claims.verdict import Evidence, EvidenceKind
from proofs_check.logic.induction import StepFact
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Counter, Monitor, step_monitor
from proofs_check.runs.run import Record, Run, SeenStep
from proofs_check.statements.building import (
    BOUND,
    UNDER_H,
    invariant_check,
    slope_states,
    state_counters,
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


def _counters(workspace: Workspace) -> list[Callable[[StepLaw], list[Counter]]]:
    """Return the counters of R on the lower part of the slope and of L on the upper one."""
    bound = workspace.number("Lemma 8", "uses")

    def uses_of(action: str) -> Callable[[int, SeenStep], bool]:
        return lambda s, step: step.position == s and step.action == action

    return [
        state_counters(
            ("Lemma 8", f"{action} at most once", f"uses of {action} in state {{}}"),
            bound,
            states,
            uses_of(action),
        )
        for action, states in (("R", _low_slope), ("L", _high_slope))
    ]


def _uses(workspace: Workspace) -> Iterable[Evidence]:
    for counters in _counters(workspace):
        yield workspace.at_most_each(counters)


def _signs(workspace: Workspace) -> Iterable[Evidence]:
    wanted = workspace.term("Lemma 8", "J")
    # A chain knows signs: of a comparison with 0 they tell the truth, of another nothing.
    left, _, right = relation_of(wanted)
    fits = {s: holds(wanted, {"J": fmpq(s)}) for s in (-1, 0, 1)}
    if (str(left), str(right)) != ("J", "0"):
        raise VerificationError(f"signs do not decide {wanted!r}")

    def bad_j(graph: Graph, edge: Edge) -> bool:
        law = graph.law
        row = int(law.row[edge.position])
        return edge.position in slope_states(law) and (
            not fits[graph.signs(edge.target, row)[law.actions.index("J")]]
        )

    def bad_l(graph: Graph, edge: Edge) -> bool:
        return edge.next_phase == 2 and (
            graph.signs(edge.target, int(graph.law.row[0]))[graph.law.actions.index("L")] != 1
        )

    yield workspace.never("Lemma 8", "J on the slope", f"{wanted} on the slope", bad_j)
    yield workspace.never("Lemma 8", "Q[0, L]", "Q[0, L] > 0 in phase 2", bad_l)


def _monitors(workspace: Workspace) -> list[Monitor]:
    wanted = workspace.term("Lemma 8", "J")

    def slope(run: Run, record: Record) -> str | None:
        if record.position not in slope_states(run.law) or "J" not in run.law.actions:
            return None
        value = run.row(record.position)[run.law.actions.index("J")]
        return None if holds(wanted, {"J": value}) else f"Q[{record.position}, J] = {value}"

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
        step_monitor("Lemma 8", "J on the slope", f"{wanted} on the slope", slope),
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
            Check(EvidenceKind.EXHAUSTIVE, _uses, parts=("R at most once", "L at most once")),
            Check(EvidenceKind.EXHAUSTIVE, _signs, parts=("J on the slope", "Q[0, L]")),
        ),
        monitors=_monitors,
        watched=lambda w, law: [c for counters in _counters(w) for c in counters(law)],
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
