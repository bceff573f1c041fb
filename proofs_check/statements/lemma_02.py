"""Lemma 2: an upper bound of all entries of the Q-table."""

from __future__ import annotations

from proofs_check.algebra.lines import Derivation, Line
from proofs_check.runs.monitors import Monitor, step_monitor
from proofs_check.runs.run import Record, Run
from proofs_check.statements.building import BOUND, UNDER_H, at_law, invariant_check
from proofs_check.statements.statement import Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _monitors(workspace: Workspace) -> list[Monitor]:
    text = workspace.term("Lemma 2", "bound")
    bound = at_law(text)

    def look(run: Run, record: Record) -> str | None:
        limit = bound(run.law)
        if run.finished or record.new < limit:
            return None
        return f"Q[{record.action}] = {record.new} at position {record.position}, not below {limit}"

    return [step_monitor("Lemma 2", "", f"every entry stays below {text} before the optimum", look)]


STATEMENTS = (
    Statement(
        id="Lemma 2",
        title="Upper bound of Q",
        where="336-350",
        claim="For 0 <= t <= T-1 every entry of a state other than n is below the bound.",
        terms={"bound": BOUND},
        checks=(invariant_check("Lemma 2"),),
        monitors=_monitors,
        derivations=(
            Derivation(
                "Lemma 2",
                "343-348",
                (*UNDER_H, f"q < {BOUND}", f"M < {BOUND}", "rew <= n - l - 1"),
                (
                    Line("", "update(q, rew, M)"),
                    Line("=", "(1 - alpha)*q + alpha*(rew + gamma*M)"),
                    Line("<", f"(1 - alpha)*{BOUND} + alpha*(rew + gamma*{BOUND})"),
                    Line("<=", f"(1 - alpha)*{BOUND} + alpha*(n - l - 1) + alpha*gamma*{BOUND}"),
                    Line("=", BOUND),
                ),
            ),
        ),
    ),
)
