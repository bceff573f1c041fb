"""Lemma 17: harmonic numbers, with every displayed line of its proof."""

from __future__ import annotations

from collections.abc import Iterable

from flint import arb, ctx, fmpq

from markov_lrsao.errors import ParameterError
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_ball, to_sympy
from proofs_check.claims.scope import WITHOUT, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

ALL_N = Scope("all n >= 1", WITHOUT)
_STEP = "ln((k + 1)/k) - 1/(k + 1)"
"""u_k - u_{k+1} for u_k = H_k - ln k."""


def _telescoped(bound: str, upper: bool) -> str:
    """Return whether u_n - gamma <= (or >=) bound(n) follows by summing differences, and how.

    u_k - u_{k+1} <= b(k) - b(k+1) for all k >= 1 and b -> 0 give the bound for every n.
    """
    import sympy

    b = to_sympy(bound)
    n, k = to_sympy("n"), to_sympy("k")
    if sympy.limit(b, n, sympy.oo) != 0:
        return "the bound does not tend to 0"
    difference = sympy.together(b.subs(n, k) - b.subs(n, k + 1))
    outcome = compare_sides(_STEP, "<=" if upper else ">=", str(difference), ("k >= 1",))
    return "proved" if outcome.status == "proved" else outcome.how


def _brackets(workspace: Workspace) -> Iterable[Evidence]:
    """Prove both bounds by telescoping, or refute one at the first n where it fails."""
    for key, upper in (("lower", False), ("upper", True)):
        bound = workspace.term("Lemma 17", key)
        point = _first_failure(bound, upper)
        how = _telescoped(bound, upper) if point is None else "fails"
        verdict = (
            Verdict.REFUTED
            if point is not None
            else (Verdict.PROVED if how == "proved" else Verdict.UNKNOWN)
        )
        relation = "<=" if upper else ">="
        yield Evidence(
            kind=EvidenceKind.SYMBOLIC,
            verdict=verdict,
            part=f"(2), {key} bound",
            summary=f"H_n - ln n - gamma {relation} {bound}: "
            + (
                f"fails at n = {point}"
                if point is not None
                else "differences are monotone, telescoping sum"
                if how == "proved"
                else how
            ),
            scope=ALL_N,
            counterexample=None
            if point is None
            else Counterexample(
                statement="Lemma 17",
                expected=f"H_n - ln n - gamma {relation} {bound}",
                observed="the opposite, by ball arithmetic",
                values={"n": str(point)},
            ),
        )


def _first_failure(bound: str, upper: bool) -> int | None:

    b = to_sympy(bound)
    precision, ctx.prec = ctx.prec, 200
    try:
        for n in (*range(1, 60), 100, 1000, 10**6):
            u = arb(n + 1).digamma() - arb(n).log()
            gap = u - to_ball(b, {"n": fmpq(n)})
            if not gap.is_finite():
                raise ParameterError(f"{bound!r} has no value at n = {n}")
            if bool(gap > 0 if upper else gap < 0):
                return int(n)
    finally:
        ctx.prec = precision
    return None


def _asymptotic(workspace: Workspace) -> Iterable[Evidence]:
    """(1) follows from the bracket 1/(2n+1) .. 1/(2n): its width is below 1/(4n^2)."""
    expansion = workspace.term("Lemma 17", "expansion")
    outcome = compare_sides("H(n)", "= o", expansion, ("n >= 1",), order="1/n")
    verdict = {"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}.get(
        outcome.status, Verdict.UNKNOWN
    )
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=verdict,
        part="(1)",
        summary=f"the error is O(1/n^2): {outcome.how}",
        scope=ALL_N,
        counterexample=Counterexample(
            statement="Lemma 17",
            expected=f"H_n = {expansion} + o(1/n)",
            observed=outcome.how,
            values=dict(outcome.point),
        )
        if verdict is Verdict.REFUTED
        else None,
    )


def _sharper(workspace: Workspace) -> Iterable[Evidence]:
    """The improved lower bound, and constants that are better still."""
    bound = workspace.term("Lemma 17, improved", "lower")
    point = _first_failure(bound, False)
    how = _telescoped(bound, False) if point is None else "fails"
    better = [
        f"1/(2n + {c}) <= H_n - ln n - gamma: {_telescoped(f'1/(2*n + {c})', False)}"
        for c in ("1/2", "2/5")
    ]
    better.append(f"H_n - ln n - gamma <= 1/(2n + 1/3): {_telescoped('1/(2*n + 1/3)', True)}")
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.REFUTED
        if point is not None
        else (Verdict.PROVED if how == "proved" else Verdict.UNKNOWN),
        summary=f"H_n - ln n - gamma >= {bound}: "
        + (f"fails at n = {point}" if point is not None else how),
        scope=ALL_N,
        details=tuple(better),
        counterexample=None
        if point is None
        else Counterexample(
            statement="Lemma 17, improved",
            expected=f"H_n - ln n - gamma >= {bound}",
            observed="the opposite, by ball arithmetic",
            values={"n": str(point)},
        ),
    )


_K = ("k >= 1",)
_C = "(2*k + 1)/2"
_FIRST = "integral(1/t - 1/(k + 1), t, k, k + 1)"
_REST = f"integral((t - {_C})/t**2, t, k, k + 1)"
_TWO = f"-integral(({_C} - t)/t**2, t, k, {_C}) + integral((t - {_C})/t**2, t, {_C}, k + 1)"
_F = "ln(1 + 1/t) + ln(1 + 1/(t + 1/2)) - 1/(t + 1) - 1/(t + 1/2)"
_DEN = "(t*(t + 1)**2*(t + 1/2)**2*(t + 3/2))"
_SECOND = "integral(1/(k + 1/2) - 1/t, t, k + 1/2, k + 3/2)"
_HALF = "1/2*(1/(k + 1/2) - 1/(k + 3/2))"
_BY_PARTS = (
    "(k + 3/2 - (k + 1))*(1/(k + 1/2) - 1/(k + 3/2))"
    " - (k + 1/2 - (k + 1))*(1/(k + 1/2) - 1/(k + 1/2))"
    " + integral((k + 1 - t)/t**2, t, k + 1/2, k + 3/2)"
)
_SPLIT = (
    "integral((k + 1 - t)/t**2, t, k + 1/2, k + 1)"
    " - integral((t - (k + 1))/t**2, t, k + 1, k + 3/2)"
)

STATEMENTS = (
    Statement(
        id="Lemma 17",
        title="Harmonic numbers",
        where="747-831",
        scope=ALL_N,
        claim="(1) H_n = ln n + gamma + 1/(2n) + o(1/n); (2) 1/(2n+1) <= H_n - ln n - gamma <= "
        "1/(2n) for n >= 1.",
        terms={
            "lower": "1/(2*n + 1)",
            "upper": "1/(2*n)",
            "expansion": "ln(n) + EulerGamma + 1/(2*n)",
        },
        checks=(
            Check(EvidenceKind.SYMBOLIC, _brackets, parts=("(2), lower bound", "(2), upper bound")),
            Check(EvidenceKind.SYMBOLIC, _asymptotic, parts=("(1)",)),
        ),
        derivations=(
            Derivation(
                "Lemma 17 difference",
                "768-772",
                _K,
                (
                    Line("", "(H(k) - ln(k)) - (H(k + 1) - ln(k + 1))"),
                    Line("=", _STEP),
                    Line("=", _FIRST),
                ),
            ),
            Derivation(
                "Lemma 17 by parts",
                "774-779",
                _K,
                (
                    Line("", _FIRST),
                    Line(
                        "=",
                        f"(k + 1 - {_C})*(1/(k + 1) - 1/(k + 1))"
                        f" - (k - {_C})*(1/k - 1/(k + 1)) + {_REST}",
                    ),
                    Line(
                        "=",
                        f"(k - {_C})*(1/k - 1/(k + 1)) + {_REST}",
                        candidate=("=", f"-(k - {_C})*(1/k - 1/(k + 1)) + {_REST}"),
                    ),
                    Line(
                        "=", f"1/(2*k*(k + 1)) {_TWO}", candidate=("=", f"1/(2*k*(k + 1)) {_TWO}")
                    ),
                ),
            ),
            Derivation(
                "Lemma 17 substitution",
                "781",
                _K,
                (
                    Line("", f"integral(({_C} - t)/t**2, t, k, {_C})"),
                    Line("=", f"integral((u - {_C})/(2*k + 1 - u)**2, u, {_C}, k + 1)"),
                ),
            ),
            Derivation(
                "Lemma 17 sign",
                "783-787",
                _K,
                (
                    Line("", _TWO),
                    Line(
                        "=", f"integral((t - {_C})*(1/t**2 - 1/(2*k + 1 - t)**2), t, {_C}, k + 1)"
                    ),
                    Line("<=", "0"),
                ),
            ),
            Derivation(
                "Lemma 17 upper",
                "789",
                _K,
                (
                    Line("", _STEP),
                    Line("<=", "1/(2*k*(k + 1))"),
                    Line("=", "1/2*(1/k - 1/(k + 1))"),
                ),
            ),
            Derivation(
                "Lemma 17 f'",
                "797-805",
                ("t >= 1",),
                (
                    Line("", f"deriv({_F}, t)"),
                    Line(
                        "=",
                        "-1/t**2*(1/(1 + 1/t)) - 1/(t + 1/2)**2*(1/(1 + 1/(t + 1/2)))"
                        " + 1/(t + 1)**2 + 1/(t + 1/2)**2",
                    ),
                    Line(
                        "=",
                        "1/(t + 1)**2 + 1/(t + 1/2)**2 - 1/(t*(t + 1)) - 1/((t + 1/2)*(t + 3/2))",
                    ),
                    Line("=", "1/((t + 1/2)**2*(t + 3/2)) - 1/(t*(t + 1)**2)"),
                    Line("=", f"1/{_DEN}*(t*(t + 1)**2 - (t + 1/2)**2*(t + 3/2))"),
                    Line("=", f"1/{_DEN}*(t**3 + 2*t**2 + t - (t**3 + 5/2*t**2 + 7/4*t + 3/8))"),
                    Line("=", f"-1/(8*{_DEN})*(4*t**2 + 6*t + 3)"),
                    Line("<", "0"),
                ),
            ),
            Derivation("Lemma 17 f >= 0", "806", ("t >= 1",), (Line("", _F), Line(">=", "0"))),
            Derivation("Lemma 17 compare", "807", _K, (Line("", _FIRST), Line(">=", _SECOND))),
            Derivation(
                "Lemma 17 lower by parts",
                "809-814",
                _K,
                (
                    Line("", _STEP),
                    Line(">=", _SECOND),
                    Line("=", _BY_PARTS),
                    Line("=", f"{_HALF} + {_SPLIT}"),
                ),
            ),
            Derivation(
                "Lemma 17 lower substitution",
                "816",
                _K,
                (
                    Line("", "integral((k + 1 - t)/t**2, t, k + 1/2, k + 1)"),
                    Line(
                        "=",
                        "integral((u - (k + 1))/(2*(k + 1) - u)**2, t, k + 1, k + 3/2)",
                        candidate=(
                            "=",
                            "integral((u - (k + 1))/(2*(k + 1) - u)**2, u, k + 1, k + 3/2)",
                        ),
                    ),
                ),
            ),
            Derivation(
                "Lemma 17 lower sign",
                "818-822",
                _K,
                (
                    Line("", _SPLIT),
                    Line(
                        "=",
                        "integral((t - (k + 1))*(1/(2*(k + 1) - t)**2 - 1/t**2), t, k + 1,"
                        " k + 3/2)",
                    ),
                    Line(">=", "0"),
                ),
            ),
            Derivation(
                "Lemma 17 lower",
                "824",
                _K,
                (Line("", _STEP), Line(">=", "1/2*(1/(k + 1/2) - 1/(k + 3/2))")),
            ),
            Derivation(
                "Lemma 17 brackets",
                "791, 826",
                ("n >= 1",),
                (
                    Line("", "1/(2*n + 1)"),
                    Line("<=", "H(n) - ln(n) - EulerGamma"),
                    Line("<=", "1/(2*n)"),
                ),
            ),
        ),
    ),
    Statement(
        id="Lemma 17, improved",
        title="the improved lower bound",
        where="828-830",
        scope=ALL_N,
        claim="1/(2n + 2/3) <= H_n - ln n - gamma for n >= 1.",
        terms={"lower": "1/(2*n + 2/3)"},
        checks=(Check(EvidenceKind.SYMBOLIC, _sharper),),
    ),
)
