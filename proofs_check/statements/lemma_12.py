"""Lemma 12, Remark 13 and leaving n-l-1: the right end of the slope."""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq

from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import UP
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE, Derivation, Line
from proofs_check.automata.slope_bounds import upward_shares
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import cases, region_solver
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Monitor, step_monitor
from proofs_check.runs.run import Record, Run
from proofs_check.statements.building import BOUND, UNDER_H, at_law, invariant_check
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _top(run: Run) -> int:
    return run.law.landscape.milestones[1] - 1


def _exhaustive(workspace: Workspace) -> Iterable[Evidence]:
    def back(graph: Graph, edge: Edge) -> bool:
        return edge.phase == 3 and edge.next_position < graph.law.landscape.milestones[1] - 1

    def negative(graph: Graph, edge: Edge) -> bool:
        law = graph.law
        top = law.landscape.milestones[1] - 1
        return edge.position == top and (
            graph.signs(edge.target, int(law.row[top]))[law.actions.index("R")] < 0
        )

    yield workspace.never("Lemma 12", "no way back", "phase 3 stays at or above n-l-1", back)
    yield workspace.never("Lemma 12", "R at n-l-1", "Q[n-l-1, R] >= 0", negative)


def _monitors(workspace: Workspace) -> list[Monitor]:
    zero, top = (at_law(workspace.term("Lemma 12", k)) for k in ("row 0", "row n-l-1"))

    def low(run: Run, record: Record) -> str | None:
        if (
            record.action == "R"
            and run.law.row[record.position] == run.law.row[0]
            and (record.new < zero(run.law))
        ):
            return f"Q[0, R] = {record.new} < {zero(run.law)}"
        return None

    def at_top(run: Run, record: Record) -> str | None:
        if record.action == "R" and record.position == _top(run) and record.new < top(run.law):
            return f"Q[n-l-1, R] = {record.new}"
        return None

    def back(run: Run, record: Record) -> str | None:
        if record.phase == 3 and record.next_position < _top(run):
            return f"position {record.next_position} in phase 3"
        return None

    return [
        step_monitor("Lemma 12", "R in row 0", "Q[0, R] >= -alpha r", low),
        step_monitor("Lemma 12", "R at n-l-1", "Q[n-l-1, R] >= 0", at_top),
        step_monitor("Lemma 12", "no way back", "phase 3 stays at or above n-l-1", back),
    ]


def _always_moves(workspace: Workspace) -> Iterable[Evidence]:
    """Show that L and J accept every proposal on the right plateau, and R every upward one."""
    family = workspace.setting.family
    cut, solver = family.milestones[1], region_solver(family)
    splits = (cut - 1,)
    wanted = workspace.actions("Remark 13", "moving")
    stuck = []
    count = 0
    for case in cases(family, splits, workspace.induction.algorithm.accept_equal):
        if not solver.feasible((*case.region, P - cut)):
            continue
        needed = case.action in wanted or (case.action == "R" and case.direction == UP)
        if needed:
            count += 1
            if case.outcome < 0:
                stuck.append(str(case))
    bad = (
        Counterexample(
            statement="Remark 13",
            expected=f"{wanted} accept every proposal on n-l..n-1",
            observed=f"rejected: {stuck[0]}",
        )
        if stuck
        else None
    )
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.REFUTED if stuck else Verdict.PROVED,
        summary=(
            f"rejected: {stuck[0]}"
            if stuck
            else f"in all {count} cases {' and '.join(wanted)} move at once (one step, not only "
            f"O(1)), and R+ moves, so p+1 is reached in n/(n-p) steps"
        ),
        scope=EVERYWHERE,
        counterexample=bad,
    )


def _moves_monitor(workspace: Workspace) -> list[Monitor]:
    wanted = workspace.actions("Remark 13", "moving")

    def look(run: Run, record: Record) -> str | None:
        if (
            record.phase == 3
            and record.position > _top(run)
            and record.action in wanted
            and (not record.accepted)
        ):
            return f"{record.sign} is rejected at position {record.position}"
        return None

    return [
        step_monitor("Remark 13", "", f"{wanted} are never rejected on the right plateau", look)
    ]


def _leaving(workspace: Workspace) -> Iterable[Evidence]:
    """Read the smallest chance to leave n-l-1 upwards from its automaton."""
    automaton = workspace.slope.automata["n-l-1"]
    share = min(upward_shares(automaton))
    bound = workspace.term("Leaving n-l-1", "bound")
    text = f"{share}*(l + 1)/n"
    outcome = compare_sides(text, ">=", bound, RANGE, pairs=workspace.setting.pairs(20))
    verdict = {"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}.get(
        outcome.status, Verdict.UNKNOWN
    )
    if not automaton.decided or share == fmpq(0):
        verdict = Verdict.UNKNOWN
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=verdict,
        summary=f"the chance is at least {share} (l+1)/n, attained; {bound} is implied: "
        f"{outcome.status}",
        scope=EVERYWHERE,
        counterexample=Counterexample(
            statement="Leaving n-l-1",
            expected=f"chance >= {bound}",
            observed=f"chance = {text}",
            values=dict(outcome.point),
        )
        if verdict is Verdict.REFUTED
        else None,
    )


_FACTOR = "(1 - alpha*(1 - gamma))"
_Q = "(1 - alpha)*q"

STATEMENTS = (
    Statement(
        id="Lemma 12",
        title="Lower bounds for R, and no way back",
        where="574-580, 1007-1054",
        claim="Q_t[0,R] >= -alpha r and Q_t[n-l-1,R] >= 0 at all times; in phase 3 the walk never "
        "goes below n-l-1.",
        terms={"row 0": "-alpha*r", "row n-l-1": "0"},
        depends=("Lemma 2", "Lemma 3", "Lemma 4", "Lemma 5", "Lemma 6", "Lemma 8"),
        checks=(
            invariant_check("Lemma 12", "R in row 0", ("R in row 0",)),
            invariant_check("Lemma 12", "R at n-l-1", ("R at n - l - 1",)),
            invariant_check("Lemma 12", "no way back", ("R above L at n - l - 1", "no way back")),
            Check(EvidenceKind.EXHAUSTIVE, _exhaustive, parts=("no way back", "R at n-l-1")),
        ),
        monitors=_monitors,
        derivations=(
            Derivation(
                "Lemma 12 (phase 2)",
                "1015-1020",
                (*UNDER_H, "q >= 0", "rew >= 0", "M >= 0"),
                (
                    Line("", "update(q, rew, M)"),
                    Line("=", f"{_Q} + alpha*rew + alpha*gamma*M"),
                    Line(">=", _Q),
                    Line(">=", "0"),
                ),
            ),
            Derivation(
                "Lemma 12 (L used)",
                "1024-1029",
                (*UNDER_H, f"q < {BOUND}", f"M < {BOUND}"),
                (
                    Line("", "update(q, -r, M)"),
                    Line("=", f"{_Q} - alpha*r + alpha*gamma*M"),
                    Line("<", f"(1 - alpha)*{BOUND} - alpha*r + alpha*gamma*{BOUND}"),
                    Line("=", f"{_FACTOR}*{BOUND} - alpha*r"),
                    Line("<=", "0"),
                ),
            ),
            Derivation(
                "Lemma 12 (R used)",
                "1031-1035",
                (*UNDER_H, "q >= 0", "M = qL", "qL > 0", f"qL < {BOUND}"),
                (
                    Line("", "update(q, 1, M)"),
                    Line("=", f"{_Q} + alpha + alpha*gamma*M"),
                    Line(">=", "alpha + qL", candidate=(">=", "alpha + alpha*gamma*qL")),
                    Line(">", "0"),
                ),
            ),
            Derivation(
                "Lemma 12 (plateau)",
                "1039",
                (*UNDER_H, "q >= -alpha*r", "rew >= 0", "m <= 0", "m <= q", "m = 0 or m = q"),
                (
                    Line("", "update(q, rew, q)"),
                    Line(">=", f"{_FACTOR}*q"),
                    Line(">=", "m"),
                    Line(">=", "-alpha*r"),
                ),
            ),
            Derivation(
                "Lemma 12 (optimum)",
                "1041",
                (*UNDER_H, "q >= -alpha*r", "M = 0"),
                (Line("", "update(q, 1, M)"), Line(">=", f"alpha + {_Q}"), Line(">", "-alpha*r")),
            ),
            Derivation(
                "Lemma 12 (rejected)",
                "1043",
                UNDER_H,
                (Line("", "update(q, 0, q)"), Line("=", f"{_FACTOR}*q")),
            ),
            Derivation(
                "Lemma 12 (rejected, positive)",
                "1045",
                (*UNDER_H, "q > 0", "qL <= 0"),
                (Line("", "update(q, 0, q)"), Line(">", "0"), Line(">=", "qL")),
            ),
            Derivation(
                "Lemma 12 (up)",
                "1047-1052",
                (*UNDER_H, "q >= 0", "M >= -alpha*r"),
                (
                    Line("", "update(q, 1, M)"),
                    Line("=", f"{_Q} + alpha + alpha*gamma*M"),
                    Line(">=", f"{_Q} + alpha - alpha**2*gamma*r"),
                    Line("=", f"{_Q} + alpha*(1 - alpha*gamma*r)"),
                    Line(">", _Q),
                ),
            ),
        ),
    ),
    Statement(
        id="Leaving n-l-1",
        title="chance to leave n-l-1 upwards",
        where="558, 582",
        claim="In n-l-1 a step reaches n-l with probability at least l/(2n).",
        terms={"bound": "l/(2*n)"},
        depends=("Lemma 3", "Lemma 8", "Lemma 12"),
        checks=(Check(EvidenceKind.AUTOMATA, _leaving),),
    ),
    Statement(
        id="Remark 13",
        title="Leaving a position of the right plateau",
        where="584-586",
        claim="On n-l..n-1 a step with L or J always moves, and R+ reaches p+1 in n/(n-p) steps "
        "on average.",
        terms={"moving": "L,J"},
        words=("moving",),
        checks=(Check(EvidenceKind.SMT, _always_moves),),
        monitors=_moves_monitor,
    ),
)
