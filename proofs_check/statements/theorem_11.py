"""Theorem 11: the runtime of phase 2, and the sharper constant 3."""

from __future__ import annotations

from collections.abc import Iterable

from flint import arb, fmpq

from markov_lrsao.errors import VerificationError
from proofs_check.algebra.lines import RANGE, Derivation, Line
from proofs_check.algebra.orders import judge_excess
from proofs_check.automata.quantities import crosscheck
from proofs_check.claims.expressions import to_ball, to_sympy
from proofs_check.claims.scope import EVERYWHERE, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.statements.judging import bounds_of_slope, explicit, judged, slope_known
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

BOUND = "5*n*ln((n - l - 3)/(l + 1)) + 2*n/l"


def _excess(workspace: Workspace) -> Iterable[Evidence]:
    """Judge E[T_2] <= bound + O(1) by the bounds that the slope's automata yield."""
    bound = workspace.term("Theorem 11", "bound")
    found, known = bounds_of_slope(workspace), slope_known(workspace)
    yield judged(
        judge_excess(known, bound),
        "Theorem 11",
        f"E[T2] <= {bound} + O(1)",
        kind=EvidenceKind.AUTOMATA,
        scope=EVERYWHERE,
        details=(
            f"steps on l+3..n-l-2: at most {found.sites} (at most {found.most - 1} falls from a "
            "site, all objectives accept upwards)",
            f"state n-l-1 is left upwards with probability at least {found.share} (l+1)/n",
            f"time at or below l+2: at most {found.constant} steps on average",
            f"{known.low} <= E[T2] <= {known.high}: the constant 5 can be {found.most}",
        ),
    )


def _quantitative(workspace: Workspace) -> Iterable[Evidence]:
    """Say by how much the exact E[T_2] exceeds the bound; no finite range verifies an O(1)."""
    bound = to_sympy(workspace.term("Theorem 11", "bound"))
    limit = workspace.setting.pick(40, 120)
    pairs = workspace.setting.pairs(limit)
    wrong = crosscheck(workspace.slope, pairs[:: max(1, len(pairs) // 3)])
    if wrong is not None:
        raise VerificationError(wrong)
    exact = slope_known(workspace).exact
    far = [(n, ell) for n in (200, 400) for ell in (2, 14, n // 2 - 3)]
    excess = {
        (n, ell): arb(exact(n, ell)) - to_ball(bound, {"n": fmpq(n), "l": fmpq(ell)})
        for n, ell in [*pairs, *far]
    }
    worst = max(excess, key=lambda pair: float(excess[pair].mid()))
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.SUPPORTED,
        summary=f"E[T2] - ({bound}) is at most {float(excess[worst].mid()):.3f}, at n, l = {worst}",
        scope=Scope(f"all {len(pairs)} valid (n, l) with n <= {limit}, and n = 200, 400"),
        details=("E[T2] is the same for all hyper-parameters in (H)",),
    )


def _explicit(workspace: Workspace) -> Iterable[Evidence]:
    limit = workspace.setting.pick(40, 120)
    yield from explicit(
        workspace, "Theorem 11, explicit", slope_known(workspace), limit, EVERYWHERE
    )


STATEMENTS = (
    Statement(
        id="Theorem 11",
        title="Runtime of the second phase",
        where="550-565",
        claim="E[T2] <= 5n ln((n-l-3)/(l+1)) + 2n/l + O(1), the O(1) uniform in n and l.",
        terms={"bound": BOUND},
        depends=("Lemma 9", "Lemma 10", "Lemma 8", "Leaving n-l-1"),
        checks=(
            Check(EvidenceKind.AUTOMATA, _excess),
            Check(EvidenceKind.QUANTITATIVE, _quantitative, True),
        ),
        derivations=(
            Derivation(
                "Theorem 11",
                "559-563",
                RANGE,
                (
                    Line(
                        "",
                        "summation(5*n/(n - s), i, l + 3, n - l - 2) + 2*n/l",
                        candidate=("", "summation(5*n/(n - s), s, l + 3, n - l - 2) + 2*n/l"),
                    ),
                    Line("=", "5*n*(H(n - l - 3) - H(l + 1)) + 2*n/l"),
                    Line("= O", BOUND, order="1", candidate=("<= O", BOUND)),
                ),
            ),
        ),
    ),
    Statement(
        id="Theorem 11, explicit",
        title="E[T2] with constants",
        where="550-565",
        claim="3n(H_(n-l-3) - H_(l+3)) - 5n <= E[T2] <= 3n(H_(n-l-3) - H_(l+1)) + 2n/(l+1) + 36.",
        group="sharper",
        terms={
            "lower": "3*n*(H(n - l - 3) - H(l + 3)) - 5*n",
            "upper": "3*n*(H(n - l - 3) - H(l + 1)) + 2*n/(l + 1) + 36",
        },
        depends=("Signs decide the slope",),
        checks=(Check(EvidenceKind.AUTOMATA, _explicit, True, ("lower", "upper")),),
    ),
)
