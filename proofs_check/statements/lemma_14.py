"""Lemma 14 and the text after it: how often J and L are used in phase 3, in both readings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, Kind, Verdict
from proofs_check.logic.induction import StepFact
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.runs.steps import Record, Run, run_of
from proofs_check.statements.building import BOUND, UNDER_H, step_check
from proofs_check.statements.registry import Check, Statement

if TYPE_CHECKING:
    from proofs_check.runs.graph import Edge, Graph
    from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS", "enters_plateau", "inside"]


def inside(record: Any, cut: int, optimum: int) -> bool:
    """Whether a step of phase 3 moves between two positions of the right plateau."""
    return bool(
        record.phase == 3
        and record.accepted
        and record.position >= cut
        and cut <= record.next_position < optimum
    )


def enters_plateau(record: Any, cut: int) -> bool:
    """Whether a step begins a walk across the right plateau."""
    return bool(record.position < cut <= record.next_position)


def _ends(law: Any) -> tuple[int, int]:
    return law.landscape.milestones[1], law.optimum


def _walk_counter(workspace: Workspace, graph: Graph) -> list[Counter]:
    cut, optimum = _ends(graph.law)
    return [
        Counter(
            "Lemma 14",
            "J at most twice",
            "moves with J in one walk across the right plateau",
            workspace.number("Lemma 14", "J moves"),
            lambda e: e.action == "J" and inside(e, cut, optimum),
            lambda e: enters_plateau(e, cut),
        )
    ]


def _walks(workspace: Workspace) -> Iterable[Evidence]:
    yield workspace.at_most_each(lambda graph: _walk_counter(workspace, graph))
    moves = workspace.number("Lemma 14", "J moves")
    for graph in workspace.graphs():
        cut, optimum = _ends(graph.law)

        def look(memory: int, e: Edge, cut: int = cut, optimum: int = optimum) -> Any:
            if enters_plateau(e, cut):
                memory = 0 if memory < moves else memory
            used = e.phase == 3 and e.position >= cut and e.action == "J"
            bad = used and memory >= moves
            return min(moves, memory + (used and inside(e, cut, optimum))), bad

        path = graph.shortest(look, 0)
        if path is not None:
            yield Evidence(
                kind=Kind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                part="J then never",
                summary=f"J is used in state 0 after {moves} moves with it in one walk",
                counterexample=run_of(
                    graph.law,
                    graph.choices(path),
                    statement="Lemma 14",
                    expected=f"J is not used any more after {moves} moves in one walk",
                    observed=f"J is used at step {len(path) - 1}",
                ),
            )
            return
    yield Evidence(
        kind=Kind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        part="J then never",
        summary=f"after {moves} moves with J in one walk J is never used again in state 0",
        range=workspace.exhaustive_range,
    )


def _stays_negative(workspace: Workspace) -> Iterable[Evidence]:
    def bad(graph: Graph, edge: Edge) -> bool:
        law = graph.law
        left, row = law.actions.index("L"), int(law.row[0])
        return (
            edge.phase == 3
            and edge.next_position != law.optimum
            and (
                graph.signs(edge.source, row)[left] == -1
                and graph.signs(edge.target, row)[left] != -1
            )
        )

    yield workspace.never("Lemma 14", "L stays negative", "Q[0, L] < 0 stays so in phase 3", bad)


def _monitors(workspace: Workspace) -> list[Monitor]:
    moves = workspace.number("Lemma 14", "J moves")

    def walk(run: Run, record: Record, count: int) -> tuple[int, str | None]:
        cut, optimum = _ends(run.law)
        if enters_plateau(record, cut):
            count = 0
        if record.action == "J" and inside(record, cut, optimum):
            count += 1
        return count, f"{count} moves with J in one walk" if count > moves else None

    def negative(run: Run, record: Record, memory: None) -> tuple[None, str | None]:
        if (
            record.phase == 3
            and record.action == "L"
            and record.old < 0 <= record.new
            and (not run.finished and run.law.row[record.position] == run.law.row[0])
        ):
            return None, f"Q[0, L] rose from {record.old} to {record.new}"
        return None, None

    return [
        Monitor(
            "Lemma 14", "J at most twice", f"at most {moves} moves with J in one walk", walk, 0
        ),
        Monitor("Lemma 14", "L stays negative", "Q[0, L] < 0 stays so in phase 3", negative),
    ]


def _left_moves(workspace: Workspace, statement: str, moves_only: bool) -> Any:
    """Return counters for L in phase 3: its moves inside the plateau, or all its uses."""
    bound = workspace.number(statement, "times")
    key = "moves with L inside the right plateau" if moves_only else "choices of L in phase 3"

    def counters(graph: Graph) -> list[Counter]:
        cut, optimum = _ends(graph.law)
        return [
            Counter(
                statement,
                "",
                key,
                bound,
                lambda e: (
                    e.action == "L"
                    and (
                        inside(e, cut, optimum)
                        if moves_only
                        else e.phase == 3 and e.position >= cut
                    )
                ),
            )
        ]

    return counters


def _left_monitor(workspace: Workspace, statement: str, moves_only: bool) -> list[Monitor]:
    bound = workspace.number(statement, "times")
    key = "moves with L inside the right plateau" if moves_only else "choices of L in phase 3"

    def look(run: Run, record: Record, count: int) -> tuple[int, str | None]:
        cut, optimum = _ends(run.law)
        if record.action == "L" and (
            inside(record, cut, optimum)
            if moves_only
            else record.phase == 3 and record.position >= cut
        ):
            count += 1
        return count, f"{key}: {count}" if count > bound else None

    return [Monitor(statement, "", f"{key}: at most {bound}", look, 0)]


def _left_plateau(statement: str, moves_only: bool) -> Any:
    def all_parameters(workspace: Workspace) -> Iterable[Evidence]:
        """Count L on the graph of phase 3 that covers all of (H)."""
        graph = workspace.plateau
        bound = workspace.number(statement, "times")
        most = graph.most(lambda leg: leg.action == "L" and (leg.inside or not moves_only))
        proved = most is not None and most <= bound
        yield Evidence(
            kind=Kind.AUTOMATA,
            verdict=Verdict.PROVED if proved else Verdict.UNKNOWN,
            summary=f"largest number on the cells of row 0, all of (H): "
            f"{'unbounded' if most is None else most}",
            range="all n, l, all hyper-parameters in (H)",
        )

    all_parameters.__qualname__ = f"all_parameters of {statement}"
    return all_parameters


def _left_exhaustive(statement: str, moves_only: bool) -> Any:
    def exhaustive(workspace: Workspace) -> Iterable[Evidence]:
        yield workspace.at_most_each(_left_moves(workspace, statement, moves_only))

    exhaustive.__qualname__ = f"exhaustive of {statement}"
    return exhaustive


_FACTOR = "(1 - alpha*(1 - gamma))"
_MOVES, _CHOICES = "After Lemma 14, moves", "After Lemma 14, choices"
_IN = "p >= n - l and p1 >= n - l and p1 != p"

STATEMENTS = (
    Statement(
        id="Lemma 14",
        title="J and L on the right plateau",
        where="589-596, 1056-1085",
        claim="In one walk across n-l..n-1 at most two moves are made with J, after which J is "
        "not used any more in state 0; in phase 3 Q[0,L] < 0 stays so until T.",
        terms={"J moves": "2"},
        depends=("Lemma 2", "Lemma 12"),
        checks=(
            step_check(
                "J at most twice",
                StepFact("a move with J", "zJ1 < 0", _IN, (3,), ("J",)),
                StepFact(
                    "a second move with J", "zJ1 < -alpha*r", f"{_IN} and zJ < 0", (3,), ("J",)
                ),
                StepFact(
                    "J below -alpha r",
                    "0 > 1",
                    "p >= n - l and zJ < -alpha*r",
                    (3,),
                    ("J",),
                    final=True,
                ),
            ),
            step_check(
                "J then never",
                StepFact(
                    "J below -alpha r",
                    "0 > 1",
                    "p >= n - l and zJ < -alpha*r",
                    (3,),
                    ("J",),
                    final=True,
                ),
            ),
            step_check("L stays negative", StepFact("L negative", "zL1 < 0", "zL < 0", (3,))),
            Check(Kind.EXHAUSTIVE, _walks),
            Check(Kind.EXHAUSTIVE, _stays_negative),
        ),
        monitors=_monitors,
        derivations=(
            Derivation(
                "Lemma 14 (first)",
                "1064-1069",
                (*UNDER_H, f"q < {BOUND}"),
                (
                    Line("", "update(q, -r, q)"),
                    Line("=", "(1 - alpha)*q - alpha*r + alpha*gamma*q"),
                    Line("=", f"{_FACTOR}*q - alpha*r"),
                    Line("<", f"{_FACTOR}*{BOUND} - alpha*r"),
                    Line("<=", "0"),
                ),
            ),
            Derivation(
                "Lemma 14 (second)",
                "1071-1075",
                (*UNDER_H, "q < 0"),
                (
                    Line("", "update(q, -r, q)"),
                    Line("=", "(1 - alpha)*q - alpha*r + alpha*gamma*q"),
                    Line("=", f"{_FACTOR}*q - alpha*r"),
                    Line("<", "-alpha*r"),
                ),
            ),
            Derivation(
                "Lemma 14 (L)",
                "1079-1083",
                (*UNDER_H, "q < 0", f"M < {BOUND}"),
                (
                    Line("", "update(q, -r, M)"),
                    Line("=", "(1 - alpha)*q - alpha*r + alpha*gamma*M"),
                    Line("<", f"{_FACTOR}*{BOUND} - alpha*r"),
                    Line("<=", "0"),
                ),
            ),
        ),
    ),
    Statement(
        id=_MOVES,
        title="L moves at most twice inside the right plateau",
        where="598",
        claim="In phase 3 at most two moves between positions of the right plateau are made with "
        "L (first reading of the text after Lemma 14).",
        terms={"times": "2"},
        depends=("Lemma 14", "Lemma 12"),
        checks=(
            Check(Kind.AUTOMATA, _left_plateau(_MOVES, True)),
            Check(Kind.EXHAUSTIVE, _left_exhaustive(_MOVES, True)),
        ),
        monitors=lambda w: _left_monitor(w, _MOVES, True),
        derivations=(
            Derivation(
                "After Lemma 14",
                "598",
                (*HYPOTHESIS[:5], "q < 0"),
                (
                    Line("", "update(q, -r, q)"),
                    Line("=", "(1 - alpha)*q - alpha*r + alpha*gamma*q"),
                    Line("<", "-alpha*r"),
                ),
            ),
        ),
    ),
    Statement(
        id=_CHOICES,
        title="L is chosen at most twice in phase 3",
        where="598",
        claim="In phase 3 L is chosen at most twice (second reading of the text after Lemma 14: "
        "leaving the plateau through n-l counts, too).",
        terms={"times": "2"},
        depends=("Lemma 14", "Lemma 12"),
        checks=(
            Check(Kind.AUTOMATA, _left_plateau(_CHOICES, False)),
            Check(Kind.EXHAUSTIVE, _left_exhaustive(_CHOICES, False)),
        ),
        monitors=lambda w: _left_monitor(w, _CHOICES, False),
    ),
)
