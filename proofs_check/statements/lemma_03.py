"""Lemma 3: the entry of a strict local maximum stays 0. Two readings of "state"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import symbolic_algorithm
from proofs_check.logic.induction import solver_number as number
from proofs_check.logic.smt import Prover, summary_of
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
        range="any landscape, all alpha, gamma in (0,1), r > 0; every position of the state is a "
        "strict local maximum",
        second=summary_of([answer]),
    )


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
        checks=(
            Check(EvidenceKind.SMT, _abstract),
            invariant_check("Lemma 3", "Jump"),
            Check(EvidenceKind.STATISTICAL, _random("Lemma 3", True)),
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
        title="the same, read with one position of the state",
        where="352-354",
        claim="If some position with the state s is a strict local maximum of a, then "
        "Q_t[s, a] = 0 (the other reading of 'state s is a strict local maximum').",
        checks=(Check(EvidenceKind.STATISTICAL, _random("Lemma 3, one position", False)),),
    ),
)
