"""The text after Lemma 14: after that L is never used again; and uses of L and J in a walk."""

from __future__ import annotations

from collections.abc import Iterable

from markov_lrsao.model.law import StepLaw
from proofs_check.automata.plateau import TOP, Leg
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.induction import StepFact
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.runs.run import Record, Run
from proofs_check.statements.building import in_no_run
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_AGAIN, _SELECTED = "After Lemma 14, never again", "After Lemma 14, selected"
_USES = "Uses in a walk"
_IN = "p >= n - l and p1 >= n - l and p1 != p"


def _cut(law: StepLaw) -> int:
    return law.landscape.milestones[1]


def _never_again(workspace: Workspace) -> Iterable[Evidence]:
    """Two moves with L on the plateau put its entry below -alpha r, where R always is better."""
    moves = workspace.number(_AGAIN, "moves")
    if moves >= 2:
        yield workspace.induction.prove(
            [
                StepFact("a move with L", "zL1 < 0", _IN, (3,), ("L",)),
                StepFact("a second one", "zL1 < -alpha*r", f"{_IN} and zL < 0", (3,), ("L",)),
                StepFact("L negative stays so", "zL1 < 0", "zL < 0", (3,)),
                StepFact(
                    "L below -alpha r",
                    "0 > 1",
                    "p >= n - l and zL < -alpha*r",
                    (3,),
                    ("L",),
                    final=True,
                ),
            ]
        )

    def look(graph: Graph, memory: object, edge: Edge) -> tuple[object, str | None]:
        assert isinstance(memory, int)
        cut, law = _cut(graph.law), graph.law
        used = edge.phase == 3 and edge.position >= cut and edge.action == "L"
        if used and memory >= moves:
            return memory, f"L is chosen at {edge.position} after {memory} moves with it"
        inside = used and edge.accepted and cut <= edge.next_position < law.optimum
        return min(moves, memory + inside), None

    expected = f"after {moves} moves with L on the right plateau L is not chosen in state 0"
    yield in_no_run(workspace, (_AGAIN, "", expected), look, 0)


def _selected_monitor(workspace: Workspace) -> list[Monitor]:
    most = workspace.number(_SELECTED, "times")

    def look(run: Run, record: Record, count: int) -> tuple[int, str | None]:
        chosen = record.phase == 3 and record.position >= _cut(run.law) and record.action == "L"
        count += chosen and record.old < 0
        return count, f"L is chosen {count} times with a negative entry" if count > most else None

    expected = f"with a negative entry L is chosen at most {most} time(s) in phase 3"
    return [Monitor(_SELECTED, "", expected, look, 0)]


def _selected(workspace: Workspace) -> Iterable[Evidence]:
    """Count choices of a negative L on the cells of row 0, all of (H) at once."""
    most = workspace.plateau.most(
        lambda leg: (
            leg.action == "L" and leg.source[1][workspace.induction.actions.index("L")] in "=-"
        )
    )
    good = most is not None and most <= workspace.number(_SELECTED, "times")
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary=f"largest number on the cells of row 0: {'unbounded' if most is None else most}",
        scope=EVERYWHERE,
    )


def _uses(workspace: Workspace) -> Iterable[Evidence]:
    """Count uses of L and J per walk, the one that leaves through n-l included."""
    bound = workspace.number(_USES, "bound")
    seen = {0}

    def remember(count: int, leg: Leg) -> int:
        source, target = leg.source[0], leg.target[0]
        if source == TOP:
            return 0
        count = min(bound + 1, count + (leg.action in ("L", "J")))
        seen.add(count)
        return 0 if target == TOP else count

    workspace.plateau.memories(0, remember)
    most = max(seen)
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if most <= bound else Verdict.UNKNOWN,
        summary=f"at most {most} uses of L and J in a walk" + (" or more" if most > bound else ""),
        scope=EVERYWHERE,
    )
    yield workspace.at_most(
        Counter(
            _USES,
            "",
            "uses of L and J in one walk across the right plateau",
            bound,
            lambda law, step: (
                step.phase == 3 and step.position >= _cut(law) and step.action in ("L", "J")
            ),
            lambda law, step: step.position < _cut(law) <= step.next_position,
        )
    )


STATEMENTS = (
    Statement(
        id=_AGAIN,
        title="after two moves L is never used again",
        where="598",
        claim="After two moves with L between positions of the right plateau L is not chosen in "
        "state 0 "
        "any more.",
        terms={"moves": "2"},
        depends=("Lemma 2", "Lemma 12", "Lemma 14"),
        checks=(Check(EvidenceKind.SMT, _never_again),),
    ),
    Statement(
        id=_SELECTED,
        title="a negative L is chosen once more at most",
        where="598",
        claim="Once Q[0,L] < 0, L is chosen at most once more on the right plateau (another "
        "reading of "
        "'thus L is never chosen again': leaving through n-l counts as a choice).",
        group="reading",
        terms={"times": "1"},
        depends=("Lemma 12", "Lemma 14"),
        checks=(Check(EvidenceKind.AUTOMATA, _selected),),
        monitors=_selected_monitor,
    ),
    Statement(
        id=_USES,
        title="L and J are used at most four times in a walk",
        where="1098",
        claim="L and J together are used at most four times in one walk across the right "
        "plateau, the "
        "step that leaves it included.",
        terms={"bound": "4"},
        depends=("Lemma 14", _AGAIN),
        checks=(Check(EvidenceKind.AUTOMATA, _uses),),
    ),
)
