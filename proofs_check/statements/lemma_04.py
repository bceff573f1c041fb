"""Lemma 4: at most one positive entry per state."""

from __future__ import annotations

from collections.abc import Iterable

from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import ANY_HYPER, ANY_LANDSCAPE, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.smt import Prover, summary_of
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Monitor, step_monitor
from proofs_check.runs.run import Record, Run
from proofs_check.statements.building import invariant_check
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _abstract(workspace: Workspace) -> Iterable[Evidence]:
    """Prove the step for one pair of entries; the claim is about pairs, so this is all of it."""
    prover = Prover(
        seconds=workspace.setting.solver_seconds, second=workspace.setting.second_solver
    )
    chosen = workspace.term("Lemma 4", "chosen")
    answers = [
        # the pair (chosen entry c, another entry o); c1 is arbitrary: any reward, any neighbour
        prover.prove(["c <= 0 or o <= 0", chosen], prover.formula("c1 <= 0 or o <= 0")),
        # a pair without the chosen entry is unchanged
        prover.prove(["o <= 0 or u <= 0"], prover.formula("o <= 0 or u <= 0")),
    ]
    proved = all(a.status == "proved" for a in answers)
    model = next((dict(a.model) for a in answers if a.status == "refuted"), {})
    yield Evidence(
        kind=EvidenceKind.SMT,
        part="any landscape",
        verdict=Verdict.PROVED if proved else Verdict.REFUTED if model else Verdict.UNKNOWN,
        summary=(
            "inductive for every pair of entries (z3)"
            if proved
            else f"a step leads to two positive entries: {model}"
            if model
            else "not derived"
        ),
        scope=Scope(ANY_LANDSCAPE, ANY_HYPER),
        second=summary_of(answers),
        counterexample=Counterexample(
            statement="Lemma 4",
            expected=f"no two positive entries after a step that chooses c with {chosen}",
            observed="c <= 0 or o <= 0 before, c1 > 0 and o > 0 after",
            values=model,
        )
        if model
        else None,
    )


def _exhaustive(workspace: Workspace) -> Iterable[Evidence]:
    most = workspace.number("Lemma 4", "most")

    def bad(graph: Graph, edge: Edge) -> bool:
        row = int(graph.law.row[edge.position])
        return graph.signs(edge.target, row).count(1) > most

    yield workspace.never("Lemma 4", "Jump", f"at most {most} positive entry per state", bad)


def _monitor(workspace: Workspace, part: str) -> Monitor:
    most = workspace.number("Lemma 4", "most")

    def look(run: Run, record: Record) -> str | None:
        count = sum(x > 0 for x in run.row(record.position))
        return f"{count} positive entries at position {record.position}" if count > most else None

    return step_monitor("Lemma 4", part, f"at most {most} positive entry per state", look)


def _random(workspace: Workspace) -> Iterable[Evidence]:
    yield workspace.on_random_landscapes(_monitor(workspace, "any landscape"), 300, 3000)


STATEMENTS = (
    Statement(
        id="Lemma 4",
        title="One positive entry per state",
        where="361-367",
        claim="For any set of objectives, every state has at most one positive entry at any time.",
        terms={"most": "1", "chosen": "c >= o"},
        watched=lambda w, law: [_monitor(w, part) for part in ("any landscape", "Jump")],
        general=True,
        checks=(
            Check(EvidenceKind.SMT, _abstract, parts=("any landscape",)),
            invariant_check("Lemma 4", "Jump"),
            Check(EvidenceKind.EXHAUSTIVE, _exhaustive, parts=("Jump",)),
            Check(EvidenceKind.STATISTICAL, _random, parts=("any landscape",)),
        ),
    ),
)
