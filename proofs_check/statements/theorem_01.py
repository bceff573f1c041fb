"""Theorem 1: the total runtime, its two-sided bound and its limits along l = n^a."""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq

from markov_lrsao.exact.rationals import harmonic_difference, to_float
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE
from proofs_check.automata.quantities import (
    crosscheck,
    phase1_mean,
    phase2_mean,
    phase3_mean,
    phase3_parts,
)
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_ball, to_sympy
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.statements.lemma_15 import sandwich, small_ell
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _mean(workspace: Workspace, n: int, ell: int) -> fmpq:
    return phase1_mean(n, ell) + phase2_mean(workspace.slope, n, ell) + phase3_mean(n, ell)


def _quantitative(workspace: Workspace) -> Iterable[Evidence]:
    order = to_sympy(workspace.term("Theorem 1", "order"))
    limit = workspace.setting.pick(40, 120)
    pairs = workspace.setting.pairs(limit)
    wrong = crosscheck(workspace.slope, [pairs[0], pairs[len(pairs) // 2]])
    if wrong is not None:
        yield Evidence(kind=EvidenceKind.QUANTITATIVE, verdict=Verdict.UNKNOWN, summary=wrong)
        return
    ratios = {
        (n, ell): to_float(_mean(workspace, n, ell))
        / float(to_ball(order, {"n": fmpq(n), "l": fmpq(ell)}).mid())
        for n, ell in pairs
    }
    low, high = min(ratios, key=lambda p: ratios[p]), max(ratios, key=lambda p: ratios[p])
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED,
        summary=f"exact E[T] over {order}: from {ratios[low]:.4f} at {low} to {ratios[high]:.4f} "
        f"at {high}",
        range=f"all {len(pairs)} valid (n, l) with n <= {limit}; paper's hyper-parameters",
        details=(
            "limits of the ratio: 2l/(3(l+1)) at fixed l; 2/3 along l = n^a, 0 < a < 1/2; 3 - 2a "
            "along l = n^a, 1/2 <= a < 1; 1 along l = c n (from E[T3] ~ 2n^2/(3l(l+1)) + n ln l "
            "and E[T2] ~ 3n ln(n/l))",
        ),
    )


def _proof(workspace: Workspace) -> Iterable[Evidence]:
    """Put the phases together: both bounds, with explicit pieces.

    Lower: E[T1] >= n(H_n - H_{n-l-1}) by (A); every site s of l+1..n-l-1 is left upwards at least
    once, with a chance of at most (n-s)/n per step, so E[T2] >= n(H_{n-l-1} - H_l); and
    E[T3] = rational part + n H_l. Hence E[T] >= n H_n + rational part.
    """
    order = workspace.term("Theorem 1", "order")
    low, high = sandwich(phase3_parts(None)[0], "n**2/l**2", 4)
    if low is None or high is None:
        yield Evidence(
            kind=EvidenceKind.SYMBOLIC,
            verdict=Verdict.UNKNOWN,
            summary="the rational part of E[T3] is not bounded by n^2/l^2",
        )
        return
    wrong = _refutation(order, low, high)
    if wrong is not None:
        yield wrong
        return
    pieces = [
        ("E[T1]", "2/(3*(2*n - 1)) + n*(H(n) - H(n - l - 1))"),
        ("E[T2]", "3*n*(H(n - l - 3) - H(l + 1)) + 2*n/(l + 1) + 100"),
        ("E[T3]", f"{high}*n**2/l**2 + n*H(l)"),
    ]
    upper = [(name, compare_sides(text, "<= O", "0", RANGE, order=order)) for name, text in pieces]
    floor = f"n*H(n) + {low}*n**2/l**2"
    lower = compare_sides(order, "<= O", "0", RANGE, order=f"n*ln(n) + {low}*n**2/l**2")
    harmonic = compare_sides("n*H(n)", ">=", "n*ln(n)", RANGE)
    few = small_ell("n**2/l**2")
    good = (
        all(o.status == "proved" for _, o in upper)
        and all(few)
        and (lower.status == harmonic.status == "proved")
    )
    details = [f"{name} = O({order}): {o.status} ({o.how})" for name, o in upper]
    details += [
        f"E[T] >= {floor}: H_n >= ln n {harmonic.status}",
        f"{order} = O(of that): {lower.status} ({lower.how})",
    ]
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary=f"n H_n + {low} n^2/l^2 <= E[T], and each phase is O({order})",
        range="all valid n, l (l = 2, 3 by their own closed forms); paper's hyper-parameters",
        details=tuple(details),
    )


def _refutation(order: str, low: str, high: str) -> Evidence | None:
    """Take limits of the proved bounds over the order, along three paths.

    E[T] >= n ln n + low n^2/l^2 refutes O(order) where the quotient tends to infinity, and
    E[T] <= 10 n ln n + high n^2/l^2 + O(n) refutes Omega(order) where it tends to 0.
    """
    import sympy

    n, ell = to_sympy("n"), to_sympy("l")
    size = to_sympy(order)
    least = to_sympy(f"n*ln(n) + {low}*n**2/l**2")
    most = to_sympy(f"10*n*ln(n) + {high}*n**2/l**2")
    for path in (sympy.Integer(4), sympy.sqrt(n), (n - 5) / 2):
        for value, bad, word in ((least, sympy.oo, "O"), (most, 0, "Omega")):
            limit = sympy.limit(sympy.simplify((value / size).subs(ell, path)), n, sympy.oo)
            if limit == bad:
                return Evidence(
                    kind=EvidenceKind.SYMBOLIC,
                    verdict=Verdict.REFUTED,
                    summary=f"E[T] is not {word}({order}) along l = {path}: the quotient of its "
                    f"proved bound tends to {limit}",
                    counterexample=Counterexample(
                        statement="Theorem 1",
                        expected=f"E[T] = Theta({order})",
                        observed=f"quotient tends to {limit} along l = {path}",
                        values={"n": "oo", "l": str(path)},
                    ),
                )
    return None


def _coupons(workspace: Workspace) -> Iterable[Evidence]:
    """Hold E[T] against n H_n: every bit must be proposed at least once."""
    limit = workspace.setting.pick(40, 100)
    pairs = workspace.setting.pairs(limit)
    factor = fmpq(workspace.value("Optimal order", "factor"))
    closest = None
    for n, ell in pairs:
        ratio = _mean(workspace, n, ell) / (n * harmonic_difference(0, n))
        if closest is None or ratio < closest[0]:
            closest = (ratio, (n, ell))
        if ratio < factor:
            yield Evidence(
                kind=EvidenceKind.QUANTITATIVE,
                verdict=Verdict.REFUTED,
                summary=f"E[T] = {to_float(ratio):.4f} n H_n at {(n, ell)}",
                counterexample=Counterexample(
                    statement="Optimal order",
                    expected=f"E[T] >= {factor} n H_n",
                    observed=f"{to_float(ratio):.6f} n H_n",
                    values={"n": str(n), "l": str(ell)},
                ),
            )
            return
    assert closest is not None
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED,
        summary=f"E[T] >= n H_n (coupon collector) everywhere; smallest ratio "
        f"{to_float(closest[0]):.4f} at {closest[1]}",
        range=f"all valid (n, l), n <= {limit}; paper's hyper-parameters",
    )


STATEMENTS = (
    Statement(
        id="Theorem 1",
        title="Total runtime",
        where="324-331",
        claim="c (n^2/l^2 + n log n) <= E[T] <= C (n^2/l^2 + n log n) for all valid n, l.",
        terms={"order": "n**2/l**2 + n*ln(n)"},
        depends=("Theorem 7", "Theorem 11", "Theorem 16", "Lemma 15", "Optimal order"),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _proof, True),
            Check(EvidenceKind.QUANTITATIVE, _quantitative, True),
        ),
    ),
    Statement(
        id="Optimal order",
        title="Omega(n log n) for one-bit flips",
        where="621 (footnote), 331",
        claim="A search that flips one uniformly chosen bit per step from 0^n needs at least "
        "n H_n steps on average to reach 1^n.",
        terms={"factor": "1"},
        checks=(Check(EvidenceKind.QUANTITATIVE, _coupons, True),),
    ),
)
