"""Theorem 1: the total runtime, its two-sided bound and its limits along l = n^a."""

from __future__ import annotations

from collections.abc import Iterable

from markov_lrsao.errors import VerificationError
from proofs_check.algebra.orders import judge_order
from proofs_check.automata.quantities import crosscheck
from proofs_check.claims.scope import PAPER
from proofs_check.claims.verdict import Evidence, EvidenceKind
from proofs_check.statements.judging import explicit, judged, whole_known
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.uniform import order_in_h
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _order(workspace: Workspace) -> Iterable[Evidence]:
    """Judge the order by explicit bounds on the three phases."""
    order = workspace.term("Theorem 1", "order")
    known = whole_known(workspace)
    outcome = judge_order(known, order, "Theta", workspace.setting.pairs(20))
    yield judged(
        outcome,
        "Theorem 1",
        f"E[T] = Theta({order})",
        details=(
            f"{known.low} <= E[T] <= {known.high}",
            "limits of E[T] over n^2/l^2 + n ln n: 2l/(3(l+1)) at fixed l; 2/3 along l = n^a, "
            "0 < a < 1/2; 3 - 2a along l = n^a, 1/2 <= a < 1; 1 along l = c n (from E[T3] ~ "
            "2n^2/(3l(l+1)) + n ln l and E[T2] ~ 3n ln(n/l))",
        ),
    )


def _explicit(workspace: Workspace) -> Iterable[Evidence]:
    limit = workspace.setting.pick(40, 120)
    pairs = workspace.setting.pairs(limit)
    wrong = crosscheck(workspace.slope, [pairs[0], pairs[len(pairs) // 2]])
    if wrong is not None:
        raise VerificationError(wrong)
    yield from explicit(workspace, "Theorem 1, explicit", whole_known(workspace), limit)


STATEMENTS = (
    Statement(
        id="Theorem 1",
        title="Total runtime",
        where="324-331",
        claim="c (n^2/l^2 + n log n) <= E[T] <= C (n^2/l^2 + n log n) for all valid n, l.",
        terms={"order": "n**2/l**2 + n*ln(n)"},
        depends=("Theorem 7", "Theorem 11", "Theorem 16", "Lemma 15", "Optimal order"),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _order, True),
            order_in_h("Theorem 1", "E[T]", "Theta"),
        ),
    ),
    Statement(
        id="Theorem 1, explicit",
        title="Total runtime with constants",
        where="324-331",
        claim="n H_n + 2/5 n^2/l^2 <= E[T] <= 3 n H_n + n^2/l^2 + 36 for all valid n, l and the "
        "paper's hyper-parameters.",
        scope=PAPER,
        group="sharper",
        terms={
            "lower": "n*H(n) + 2/5*n**2/l**2",
            "upper": "3*n*H(n) + n**2/l**2 + 36",
        },
        depends=("(A)", "Theorem 11, explicit", "Theorem 16, explicit"),
        checks=(Check(EvidenceKind.SYMBOLIC, _explicit, True, ("lower", "upper")),),
    ),
)
