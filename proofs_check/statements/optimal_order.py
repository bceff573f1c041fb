"""The footnote of section 5: no search with one-bit flips is faster than the coupon collector."""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq

from markov_lrsao.exact.rationals import harmonic_difference, rational_text
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import ANY_HYPER, ANY_LANDSCAPE, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.smt import Answer, Prover, summary_of
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_ANY = Scope(ANY_LANDSCAPE, ANY_HYPER)
_RANGE = ("n >= 1", "p >= 0", "p <= n - 1")


def _potential(workspace: Workspace) -> Iterable[Evidence]:
    """Prove V(p) <= 1 + E[V after] for V(p) = c n H_(n-p), whatever the search decides.

    A step proposes p+1 with probability (n-p)/n and p-1 with p/n; the search accepts or rejects
    by any rule, with any memory. The harmonic numbers cancel: V(p-1) - V(p) = c n/(n-p+1) and
    V(p+1) - V(p) = -c n/(n-p). As V(n) = 0 and V is bounded, E[T] >= V(0) = c n H_n, by
    optional stopping (if E[T] is infinite there is nothing to show). With c > 1 the search that
    accepts every upward proposal and no other is a counterexample: its time is n H_n exactly.
    """
    factor = fmpq(workspace.value("Optimal order", "factor"))
    prover = Prover(
        seconds=workspace.setting.solver_seconds, second=workspace.setting.second_solver
    )
    c = rational_text(factor)
    answers: list[Answer] = []
    for down in ("0", f"p/n*({c})*n/(n - p + 1)"):
        for up in ("0", f"(n - p)/n*({c})*n/(n - p)"):
            answers.append(prover.prove(_RANGE, f"1 + {down} - {up} >= 0"))
    if all(answer.status == "proved" for answer in answers):
        yield Evidence(
            kind=EvidenceKind.SMT,
            verdict=Verdict.PROVED,
            summary=f"{c} n H_(n-p) grows by at most one step's length under each of the four "
            f"decisions of a search",
            scope=_ANY,
            second=summary_of(answers),
        )
    elif factor > 1:
        n = 9
        least = n * harmonic_difference(0, n)
        yield Evidence(
            kind=EvidenceKind.SMT,
            verdict=Verdict.REFUTED,
            summary=f"accepting exactly the upward proposals takes n H_n < {c} n H_n steps",
            scope=_ANY,
            counterexample=Counterexample(
                statement="Optimal order",
                expected=f"E[T] >= {c} n H_n = {rational_text(factor * least)}",
                observed=f"E[T] = {rational_text(least)} if exactly upward proposals are accepted",
                values={"n": str(n)},
            ),
        )
    else:
        yield Evidence(
            kind=EvidenceKind.SMT, verdict=Verdict.UNKNOWN, summary="not derived", scope=_ANY
        )


STATEMENTS = (
    Statement(
        id="Optimal order",
        title="Omega(n log n) for one-bit flips",
        where="621 (footnote), 331",
        claim="A search that flips one uniformly chosen bit per step from 0^n needs at least "
        "n H_n steps on average to reach 1^n.",
        scope=_ANY,
        terms={"factor": "1"},
        checks=(Check(EvidenceKind.SMT, _potential),),
    ),
)
