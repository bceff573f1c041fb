"""Lemma 14 and the text after it: how often J and L are used in phase 3, in both readings."""

from __future__ import annotations

from collections.abc import Iterable

from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.induction import StepFact
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Counter, Monitor, step_monitor
from proofs_check.runs.run import Record, Run, SeenStep, run_of
from proofs_check.statements.building import BOUND, UNDER_H, step_check
from proofs_check.statements.statement import Check, CheckFunction, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _inside(law: StepLaw, step: SeenStep) -> bool:
    """Whether a step of phase 3 moves between two positions of the right plateau."""
    cut = _cut(law)
    return bool(
        step.phase == 3
        and step.accepted
        and step.position >= cut
        and cut <= step.next_position < law.optimum
    )


def _enters(law: StepLaw, step: SeenStep) -> bool:
    """Whether a step begins a walk across the right plateau."""
    return step.position < _cut(law) <= step.next_position


def _cut(law: StepLaw) -> int:
    return law.landscape.milestones[1]


def _walk_counter(workspace: Workspace) -> Counter:
    return Counter(
        "Lemma 14",
        "J at most twice",
        "moves with J in one walk across the right plateau",
        workspace.number("Lemma 14", "J moves"),
        lambda law, step: step.action == "J" and _inside(law, step),
        _enters,
    )


def _used_up(law: StepLaw, step: SeenStep, memory: int, moves: int) -> tuple[int, bool]:
    """Count the moves with J of a walk up to `moves`, for good; and is J used after that?"""
    if _enters(law, step):
        memory = 0 if memory < moves else memory
    used = step.phase == 3 and step.position >= _cut(law) and step.action == "J"
    return min(moves, memory + (used and _inside(law, step))), used and memory >= moves


def _never_again(workspace: Workspace) -> Monitor:
    moves = workspace.number("Lemma 14", "J moves")

    def look(run: Run, record: Record, memory: int) -> tuple[int, str | None]:
        memory, bad = _used_up(run.law, record, memory, moves)
        return memory, f"J is used at step {record.time}" if bad else None

    expected = f"J is not used any more after {moves} moves in one walk"
    return Monitor("Lemma 14", "J then never", expected, look, 0)


def _walks(workspace: Workspace) -> Iterable[Evidence]:
    yield workspace.at_most(_walk_counter(workspace))
    moves = workspace.number("Lemma 14", "J moves")
    for graph in workspace.graphs():
        path = graph.shortest(lambda memory, e, g=graph: _used_up(g.law, e, memory, moves), 0)  # type: ignore[misc]
        if path is not None:
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
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
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        part="J then never",
        summary=f"after {moves} moves with J in one walk J is never used again in state 0",
        scope=workspace.exhaustive_scope,
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


def _monitors(workspace: Workspace) -> list[Monitor | Counter]:
    def negative(run: Run, record: Record) -> str | None:
        if (
            record.phase == 3
            and record.action == "L"
            and record.old < 0 <= record.new
            and (not run.finished and run.law.row[record.position] == run.law.row[0])
        ):
            return f"Q[0, L] rose from {record.old} to {record.new}"
        return None

    return [
        _walk_counter(workspace),
        step_monitor("Lemma 14", "L stays negative", "Q[0, L] < 0 stays so in phase 3", negative),
    ]


def _left_counter(workspace: Workspace, statement: str, moves_only: bool) -> Counter:
    """Return the counter of L in phase 3: its moves inside the plateau, or all its uses."""

    def counts(law: StepLaw, step: SeenStep) -> bool:
        if moves_only:
            return step.action == "L" and _inside(law, step)
        return step.action == "L" and step.phase == 3 and step.position >= _cut(law)

    key = "moves with L inside the right plateau" if moves_only else "choices of L in phase 3"
    return Counter(statement, "", key, workspace.number(statement, "times"), counts)


def _left_plateau(statement: str, moves_only: bool) -> CheckFunction:
    def all_parameters(workspace: Workspace) -> Iterable[Evidence]:
        """Count L on the graph of phase 3 that covers all of (H)."""
        graph = workspace.plateau
        bound = workspace.number(statement, "times")
        most = graph.most(lambda leg: leg.action == "L" and (leg.inside or not moves_only))
        proved = most is not None and most <= bound
        yield Evidence(
            kind=EvidenceKind.AUTOMATA,
            verdict=Verdict.PROVED if proved else Verdict.UNKNOWN,
            summary=f"largest number on the cells of row 0, all of (H): "
            f"{'unbounded' if most is None else most}",
            scope=EVERYWHERE,
        )

    all_parameters.__qualname__ = f"all_parameters of {statement}"
    return all_parameters


def _left_exhaustive(statement: str, moves_only: bool) -> CheckFunction:
    def exhaustive(workspace: Workspace) -> Iterable[Evidence]:
        yield workspace.at_most(_left_counter(workspace, statement, moves_only))

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
            Check(EvidenceKind.EXHAUSTIVE, _walks, parts=("J at most twice", "J then never")),
            Check(EvidenceKind.EXHAUSTIVE, _stays_negative, parts=("L stays negative",)),
        ),
        monitors=_monitors,
        watched=lambda w, law: [_never_again(w)],
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
            Check(EvidenceKind.AUTOMATA, _left_plateau(_MOVES, True)),
            Check(EvidenceKind.EXHAUSTIVE, _left_exhaustive(_MOVES, True)),
        ),
        monitors=lambda w: [_left_counter(w, _MOVES, True)],
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
        group="reading",
        title="L is chosen at most twice in phase 3",
        where="598",
        claim="In phase 3 L is chosen at most twice (second reading of the text after Lemma 14: "
        "leaving the plateau through n-l counts, too).",
        terms={"times": "2"},
        depends=("Lemma 14", "Lemma 12"),
        checks=(
            Check(EvidenceKind.AUTOMATA, _left_plateau(_CHOICES, False)),
            Check(EvidenceKind.EXHAUSTIVE, _left_exhaustive(_CHOICES, False)),
        ),
        monitors=lambda w: [_left_counter(w, _CHOICES, False)],
    ),
)
