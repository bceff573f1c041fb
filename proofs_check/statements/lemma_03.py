"""Lemma 3: the entry of a strict local maximum stays 0. Two readings of "state"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.scope import ANY_HYPER, ANY_LANDSCAPE, Scope
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import symbolic_algorithm
from proofs_check.logic.induction import solver_number as number
from proofs_check.logic.smt import Prover, summary_of
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Monitor, step_monitor
from proofs_check.runs.run import Record, Run
from proofs_check.statements.building import invariant_check
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


@cache
def _maxima(law: StepLaw, every: bool) -> frozenset[tuple[int, int]]:
    """Return (row, action) pairs: every (or some) position of the row is a strict maximum."""
    found = set()
    for a, name in enumerate(law.actions):
        values = law.landscape.objectives[name]
        padded = np.concatenate([[values.min() - 1], values, [values.min() - 1]])
        strict = (values > padded[:-2]) & (values > padded[2:])
        for row in range(int(law.row.max()) + 1):
            where = strict[law.row == row]
            if where.all() if every else where.any():
                found.add((row, a))
    return frozenset(found)


def _monitor(statement: str, every: bool) -> Monitor:
    def look(run: Run, record: Record) -> str | None:
        row, action = int(run.law.row[record.position]), run.law.actions.index(record.action)
        if record.new != 0 and (row, action) in _maxima(run.law, every):
            return f"Q[{record.action}] = {record.new} in the state of position {record.position}"
        return None

    which = "every position" if every else "a position"
    return step_monitor(
        statement,
        "any landscape",
        f"Q[s, a] = 0 where {which} of s is a strict local maximum of a",
        look,
    )


def _abstract(workspace: Workspace) -> Iterable[Evidence]:
    """Prove the induction step with the setting's own update rule, for any landscape."""
    prover = Prover(
        seconds=workspace.setting.solver_seconds, second=workspace.setting.second_solver
    )
    names = [prover.name(x) for x in ("alpha", "gamma", "r")]
    rule = symbolic_algorithm(workspace.setting.algorithm, *names)

    entry, largest = prover.name("q"), prover.name("q")  # chosen, so largest; state unchanged
    new = (
        number(rule.keep) * entry
        + number(rule.learn) * number(rule.rejected.constant)
        + number(rule.bootstrap) * largest
    )
    answer = prover.prove(["q = 0", *HYPOTHESIS[:5]], new == 0)
    yield Evidence(
        kind=EvidenceKind.SMT,
        part="any landscape",
        verdict=Verdict.PROVED if answer.status == "proved" else Verdict.UNKNOWN,
        summary=(
            "a rejected proposal keeps the entry 0, so induction holds (z3)"
            if answer.status == "proved"
            else f"not derived: {answer.model or answer.reason}"
        ),
        scope=Scope(ANY_LANDSCAPE, ANY_HYPER),
        second=summary_of([answer]),
    )


def _on_jump(workspace: Workspace) -> Iterable[Evidence]:
    """Look at all steps at l+1 and n-l-1: neither changes the entry that stays 0."""

    def bad(graph: Graph, edge: Edge) -> bool:
        law = graph.law
        first, cut = law.landscape.milestones[:2]
        kept = {first: "L", cut - 1: "J"}.get(edge.position)
        if kept not in law.actions:
            return False
        row = int(law.row[edge.position])
        return graph.signs(edge.target, row)[law.actions.index(kept)] != 0

    yield workspace.never("Lemma 3", "Jump", "Q[l+1, L] = Q[n-l-1, J] = 0", bad)


def _random(statement: str, every: bool) -> Callable[[Workspace], Iterable[Evidence]]:
    def random_landscapes(workspace: Workspace) -> Iterable[Evidence]:
        yield workspace.on_random_landscapes(_monitor(statement, every), 300, 3000)

    random_landscapes.__qualname__ = f"random_landscapes of {statement}"
    return random_landscapes


STATEMENTS = (
    Statement(
        id="Lemma 3",
        title="Q-table and a local maximum",
        where="352-358, 835-849",
        claim="If every position with the state s is a strict local maximum of the objective a, "
        "then Q_t[s, a] = 0 at all times; on Jump this is J in n-l-1 and L in l+1.",
        watched=lambda w, law: [_monitor("Lemma 3", True)],
        general=True,
        checks=(
            Check(EvidenceKind.SMT, _abstract, parts=("any landscape",)),
            invariant_check("Lemma 3", "Jump"),
            Check(EvidenceKind.EXHAUSTIVE, _on_jump, parts=("Jump",)),
            Check(EvidenceKind.STATISTICAL, _random("Lemma 3", True), parts=("any landscape",)),
        ),
        derivations=(
            Derivation(
                "Lemma 3",
                "841-847",
                ("q = 0", "rew = 0", "M = q", *HYPOTHESIS[:5]),
                (
                    Line("", "update(q, rew, M)"),
                    Line("=", "(1 - alpha)*q + alpha*(rew + gamma*M)"),
                    Line("=", "(1 - alpha)*q + alpha*gamma*q"),
                    Line("=", "(1 - alpha*(1 - gamma))*q"),
                    Line("=", "0"),
                ),
            ),
        ),
    ),
    Statement(
        id="Lemma 3, one position",
        group="reading",
        title="the same, read with one position of the state",
        where="352-354",
        claim="If some position with the state s is a strict local maximum of a, then "
        "Q_t[s, a] = 0 (the other reading of 'state s is a strict local maximum').",
        watched=lambda w, law: [_monitor("Lemma 3, one position", False)],
        general=True,
        checks=(
            Check(
                EvidenceKind.STATISTICAL,
                _random("Lemma 3, one position", False),
                parts=("any landscape",),
            ),
        ),
    ),
)
