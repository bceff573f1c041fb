"""Theorem 7 and formula (A): the runtime of phase 1."""

from __future__ import annotations

from collections.abc import Iterable

from markov_lrsao.answers.expected import runtime
from markov_lrsao.errors import LrsaoError, NotAbsorbingError
from markov_lrsao.exact.rationals import rational
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE, Derivation, Line
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import EVERYWHERE, PAPER_HYPER, SIZES_ONLY, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.journal import note_value
from proofs_check.statements.judging import judged, left_of
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["FORMULA_A", "STATEMENTS"]

FORMULA_A = "2/(3*(2*n - 1)) + n*(H(n) - H(n - l - 1))"
EXPANSION = "n*ln(1/(1 - (l + 1)/n)) + 1/2 - 1/(2*(1 - (l + 1)/n))"


def _from_walk(workspace: Workspace) -> Iterable[Evidence]:
    """Compare (A) with E[T_1] from the walk on the left plateau, decided for all of (H)."""
    formula = workspace.term("(A)", "formula")
    left = left_of(workspace)
    outcome = compare_sides(formula, "=", left.mean, RANGE, pairs=workspace.setting.pairs(30))
    yield judged(
        outcome,
        "(A)",
        f"E[T1] = {formula}",
        scope=EVERYWHERE,
        details=(
            f"walk on the left plateau for symbolic n and l: {len(left.walk.steps)} nodes, "
            f"{left.walk.queries} questions, L leads from {left.walk.largest_offset} on at the "
            "latest",
            f"E[T1] = {left.mean}",
        ),
    )


def _instances(workspace: Workspace) -> Iterable[Evidence]:
    """Compare (A) with the exact chain of the setting's own landscape and algorithm."""
    formula = to_sympy(workspace.term("(A)", "formula"))
    pairs = workspace.setting.pairs(workspace.setting.pick(12, 20))
    compared = 0
    for n, ell in pairs:
        law = workspace.law(n, ell)
        try:
            exact = runtime(law.landscape, law.algorithm, outside_h=True).phases[0]
        except NotAbsorbingError:
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                summary=f"n = {n}, l = {ell}: a run may never end, E[T1] is infinite or unknown",
                counterexample=Counterexample(
                    statement="(A)",
                    expected="E[T1] is finite",
                    observed="the optimum is not reached with probability one",
                    values={"n": str(n), "l": str(ell)},
                ),
            )
            return
        except LrsaoError as error:
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.UNKNOWN,
                summary=f"n = {n}, l = {ell}: {error}",
            )
            return
        if exact.rational is not None:
            note_value("E[T1]", n, ell, rational(exact.rational))
        value = formula.subs({s: {"n": n, "l": ell}[s.name] for s in formula.free_symbols})
        compared += 1
        if str(value) != exact.rational:
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                summary=f"n = {n}, l = {ell}: exact E[T1] = {exact}, formula {value}",
                counterexample=Counterexample(
                    statement="(A)",
                    expected=f"E[T1] = {value}",
                    observed=f"E[T1] = {exact}",
                    values={"n": str(n), "l": str(ell)},
                ),
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary=f"equals the exact E[T1] in all {compared} instances",
        scope=Scope(f"all valid (n, l) with n <= {workspace.setting.pick(12, 20)}", PAPER_HYPER),
    )


def _bound(workspace: Workspace) -> Iterable[Evidence]:
    """Prove the bound from (A), in two steps."""
    bound = workspace.term("Theorem 7", "bound")
    middle = "n*ln(1/(1 - (l + 1)/n))"
    pairs = workspace.setting.pairs(40)
    steps = [
        compare_sides(FORMULA_A, "<=", middle, RANGE, pairs=pairs),
        compare_sides(middle, "<=", bound, RANGE, pairs=pairs),
    ]
    direct = compare_sides(FORMULA_A, "<=", bound, RANGE, pairs=pairs)
    if direct.status == "refuted":
        yield Evidence(
            kind=EvidenceKind.SYMBOLIC,
            verdict=Verdict.REFUTED,
            part="bound",
            summary=f"E[T1] <= {bound} fails at {dict(direct.point)}",
            counterexample=Counterexample(
                statement="Theorem 7",
                expected=f"E[T1] <= {bound}",
                observed=f"E[T1] = {FORMULA_A} is larger",
                values=dict(direct.point),
            ),
        )
        return
    proved = all(s.status == "proved" for s in steps) or direct.status == "proved"
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        part="bound",
        verdict=Verdict.PROVED if proved else Verdict.UNKNOWN,
        summary=f"E[T1] <= {middle} <= {bound}: " + "; ".join(s.how for s in steps),
        scope=SIZES_ONLY,
    )


def _expansion(workspace: Workspace) -> Iterable[Evidence]:
    expansion = workspace.term("Theorem 7", "expansion")
    outcome = compare_sides(
        FORMULA_A, "= o", expansion, RANGE, order="1", pairs=workspace.setting.pairs(40)
    )
    verdict = {"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}.get(
        outcome.status, Verdict.UNKNOWN
    )
    bad = (
        Counterexample(
            statement="Theorem 7",
            expected=f"E[T1] = {expansion} + o(1)",
            observed=outcome.how,
            values=dict(outcome.point),
        )
        if outcome.status == "refuted"
        else None
    )
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        part="expansion",
        verdict=verdict,
        summary=f"the error is O(1/n), uniformly in l: {outcome.how}"
        if bad is None
        else outcome.how,
        scope=SIZES_ONLY,
        counterexample=bad,
    )


_RATIO = "2*(n - 1)/(2*n)"
_FIRST = (
    "1/3*(1 + n*(H(n - 1) - H(n - l - 1)))"
    " + 2/3*(1 + 2*n/(2*n - 1) + 2*n*(n - 1)/(2*n - 1)*(H(n - 2) - H(n - l - 1))"
    " + n/(2*n - 1)*(H(n) - H(n - l - 1)))"
)
_TAIL = "1/2 + 2/(3*(2*n - 1)) - n/(2*(n - l - 1) + 1)"
_OVER = "(6*(2*n - 1)*(2*n - 5))"

STATEMENTS = (
    Statement(
        id="(A)",
        title="E[T1] in closed form",
        where="486-489, 915-923",
        claim="E[T1] = 2/(3(2n-1)) + n(H_n - H_{n-l-1}).",
        terms={"formula": FORMULA_A},
        depends=("Lemma 5", "Lemma 6"),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _from_walk, True),
            Check(EvidenceKind.EXHAUSTIVE, _instances),
        ),
        derivations=(
            Derivation(
                "(A) leave 1",
                "476, 901",
                RANGE,
                (Line("", "1/(1 - 1/(2*n))"), Line("=", "2*n/(2*n - 1)")),
            ),
            Derivation(
                "(A) up",
                "903",
                RANGE,
                (Line("", f"({_RATIO})/({_RATIO} + 1/(2*n))"), Line("=", "2*(n - 1)/(2*n - 1)")),
            ),
            Derivation(
                "(A) down",
                "905",
                RANGE,
                (Line("", f"(1/(2*n))/({_RATIO} + 1/(2*n))"), Line("=", "1/(2*n - 1)")),
            ),
            Derivation(
                "(A) sum",
                "915-923",
                RANGE,
                (
                    Line("", _FIRST),
                    Line(
                        "=",
                        "1 + 2/3*(1 + 1/(2*n - 1)) + n*(H(n) - H(n - l - 1))"
                        " - (1/3 + 2/3*(2*n*(n - 1)/(2*n - 1))*(1/(n - 1) + 1/n))",
                    ),
                    Line("=", "5/3 + 2/(3*(2*n - 1)) + n*(H(n) - H(n - l - 1)) - 5/3"),
                    Line("=", FORMULA_A),
                ),
            ),
        ),
    ),
    Statement(
        id="Theorem 7",
        title="Runtime of the first phase",
        where="447-494, 871-956",
        claim="E[T1] = n ln(1/(1-(l+1)/n)) + 1/2 - 1/(2(1-(l+1)/n)) + o(1) <= 2(l+1) ln 2.",
        terms={"bound": "2*(l + 1)*ln(2)", "expansion": EXPANSION},
        depends=("(A)", "Lemma 17"),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _expansion, True, ("expansion",)),
            Check(EvidenceKind.SYMBOLIC, _bound, True, ("bound",)),
        ),
        derivations=(
            Derivation(
                "Theorem 7 expansion",
                "925-930",
                RANGE,
                (
                    Line("", FORMULA_A),
                    Line(
                        "= o",
                        "n*(ln(n) + EulerGamma + 1/(2*n) - ln(n - l - 1) - EulerGamma"
                        " - 1/(2*(n - l - 1)))",
                        order="1",
                    ),
                    Line("=", EXPANSION),
                ),
            ),
            Derivation(
                "Theorem 7 harmonic",
                "934-939",
                RANGE,
                (
                    Line("", FORMULA_A),
                    Line(
                        "<=",
                        "2/(3*(2*n - 1)) + n*(ln(n) + EulerGamma + 1/(2*n) - ln(n - l - 1)"
                        " - EulerGamma - 1/(2*(n - l - 1) + 1))",
                    ),
                    Line(
                        "=",
                        "n*ln(1/(1 - (l + 1)/n)) + 1/2 + 2/(3*(2*n - 1)) - n/(2*(n - l - 1) + 1)",
                    ),
                ),
            ),
            Derivation(
                "Theorem 7 polynomial",
                "941-948",
                RANGE,
                (
                    Line("", _TAIL),
                    Line("<=", "1/2 + 2/(3*(2*n - 1)) - n/(2*(n - 3) + 1)"),
                    Line(
                        "=",
                        f"(3*(2*n - 2)*(2*n - 5) + 4*(2*n - 5) - 6*n*(2*n - 1))/{_OVER}",
                        candidate=(
                            "=",
                            f"(3*(2*n - 1)*(2*n - 5) + 4*(2*n - 5) - 6*n*(2*n - 1))/{_OVER}",
                        ),
                    ),
                    Line("=", f"(3*(4*n**2 - 14*n + 10) + 8*n - 20 - 12*n**2 + 6*n)/{_OVER}"),
                    Line("=", f"(-28*n + 10)/{_OVER}"),
                    Line("<", "0"),
                ),
            ),
            Derivation(
                "Theorem 7 log bound",
                "950",
                RANGE,
                (Line("", FORMULA_A), Line("<=", "n*ln(1/(1 - (l + 1)/n))")),
            ),
            Derivation(
                "Theorem 7 f'",
                "952",
                ("0 <= x", "x <= 1/2"),
                (Line("", "deriv(ln(1/(1 - x)), x)"), Line("=", "1/(1 - x)")),
            ),
            Derivation(
                "Theorem 7 f''",
                "952",
                ("0 <= x", "x <= 1/2"),
                (
                    Line("", "deriv(deriv(ln(1/(1 - x)), x), x)"),
                    Line("=", "1/(1 - x)**2"),
                    Line(">", "0"),
                ),
            ),
            Derivation(
                "Theorem 7 chord",
                "953",
                ("0 <= x", "x <= 1/2"),
                (Line("", "ln(1/(1 - x))"), Line("<=", "2*x*ln(2)")),
            ),
            Derivation(
                "Theorem 7 end",
                "954",
                RANGE,
                (
                    Line("", FORMULA_A),
                    Line("<=", "n*ln(1/(1 - (l + 1)/n))"),
                    Line("<=", "2*(l + 1)*ln(2)"),
                    Line("=", "2*l*ln(2) + 2*ln(2)"),
                ),
            ),
        ),
    ),
)
