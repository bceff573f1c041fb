"""Lemma 15: E[T_3^1] = Theta(n^2/l^2), with P(E) and the recurrences of its lower bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flint import arb, fmpq

from markov_lrsao.crossing.blocks import State, Stretch, explore_block
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forms.closed import solve_symbolically
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE, Derivation, Line
from proofs_check.algebra.polynomials import constants_between
from proofs_check.automata.phase3 import first_subphase, probability_of_e
from proofs_check.automata.quantities import phase3_parts, phase3_rest
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_ball, to_sympy
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS", "runs_away", "sandwich", "small_ell"]

CONSTANTS = (
    "1/20",
    "1/10",
    "1/5",
    "1/4",
    "1/3",
    "2/5",
    "1/2",
    "3/5",
    "3/4",
    "1",
    "3/2",
    "2",
    "3",
    "5",
    "8",
    "14",
    "20",
    "50",
)


def sandwich(value: Any, order: str, smallest_ell: int = 4) -> tuple[str | None, str | None]:
    """Return constants c, C with c order <= value <= C order for all l >= smallest_ell, or None."""
    return constants_between(value, to_sympy(order), CONSTANTS, smallest_ell)


PATHS: dict[str, Callable[[int], int]] = {
    "l = 5": lambda n: 5,
    "l = sqrt n": lambda n: int(n**0.5),
    "l = (n-5)/2": lambda n: (n - 5) // 2,
}


def runs_away(value: Callable[[int, int], fmpq], order: Any) -> dict[str, str]:
    """Return the paths along which value / order keeps growing or falling, n = 10^2 .. 10^14.

    A ratio that is bounded from both sides changes by less than a factor of 50 over twelve
    decades of n here; one that is off by a power of n or l changes by far more.
    """
    found = {}
    for name, ell_of in PATHS.items():
        ratios = []
        for n in (10**2, 10**6, 10**10, 10**14):
            at = {"n": fmpq(n), "l": fmpq(ell_of(n))}
            ratios.append(float((arb(value(n, ell_of(n))) / to_ball(order, at)).mid()))
        if ratios[-1] > 50 * ratios[0] or ratios[-1] * 50 < ratios[0]:
            found[name] = ", ".join(f"{x:.2e}" for x in ratios)
    return found


def rational_part(n: int, ell: int) -> fmpq:
    """Return E[T_3] - n H_l."""
    return phase3_rest(n, ell)


def _theta(workspace: Workspace) -> Iterable[Evidence]:
    """Prove both bounds from the closed form of E[T_3], for the paper's hyper-parameters.

    T_3^2 is n H_{n-k} on average, k the position after the step in which R+ occurs; k is between
    n-l+1 and n-l+5, since L and J make at most four moves in a walk. So E[T_3^1] lies between
    the rational part of E[T_3] and that part plus n (H_l - H_{l-5}) <= 5n/(l-4).
    """
    order = workspace.term("Lemma 15", "order")
    rest, factor = phase3_parts(None)
    n, ell = to_sympy("n"), to_sympy("l")
    details = [f"E[T3] = (rational part) + {factor} H_l, closed form for l >= 4"]
    wrong = runs_away(rational_part, to_sympy(order))
    if wrong:
        yield Evidence(
            kind=EvidenceKind.SYMBOLIC,
            verdict=Verdict.REFUTED,
            summary=f"E[T_3^1] / ({order}) runs away for n = 10^2 .. 10^14: {wrong}",
            counterexample=Counterexample(
                statement="Lemma 15",
                expected=f"E[T_3^1] = Theta({order})",
                observed=f"ratios for n = 10^2 .. 10^14: {wrong}",
                values={"n": str(10**14)},
            ),
        )
        return
    low, high = sandwich(rest, order, 4)[0], sandwich(rest + 5 * n / (ell - 4), order, 5)[1]
    special = small_ell(order)
    good = low is not None and high is not None and all(special) and factor == n
    details += [
        f"l >= 5: {low} <= E[T_3^1] / ({order}) <= {high}",
        f"l = 2, 3, 4 by their own closed forms: {special}",
    ]
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary=f"{low} <= E[T_3^1] / ({order}) <= {high} for all n, l >= 5; l = 2, 3, 4 apart",
        range="all valid n, l; paper's hyper-parameters",
        details=tuple(details),
    )


def small_ell(order: str) -> list[bool]:
    """Return for l = 2, 3, 4 whether E[T_3] and E[T_3] - n H_l are of the order, for all n."""
    import sympy

    ell = to_sympy("l")
    found = []
    for fixed in (2, 3, 4):
        part, slope = phase3_parts(fixed if fixed < 4 else None)
        whole = part.subs(ell, fixed)
        harmonic = to_sympy("n") * sympy.harmonic(fixed)
        if fixed == 4:
            whole = whole + slope.subs(ell, fixed) * sympy.harmonic(fixed)
        size = to_sympy(order).subs(ell, fixed)
        upper = any(_one_sided(to_sympy(c) * size - whole, fixed) for c in CONSTANTS)
        lower = any(_one_sided(whole - harmonic - to_sympy(c) * size, fixed) for c in CONSTANTS)
        found.append(upper and lower)
    return found


def _one_sided(difference: Any, fixed: int) -> bool:
    """Whether a rational function of n is non-negative for all n >= 2 fixed + 5."""
    import sympy

    n = to_sympy("n")
    v = sympy.Symbol("v", nonnegative=True)
    shifted = difference.subs(n, 2 * fixed + 5 + v)
    top, bottom = sympy.fraction(sympy.cancel(sympy.together(shifted)))
    signs = []
    for part in (top, bottom):
        coefficients = sympy.Poly(part, v).coeffs()
        if not (all(c >= 0 for c in coefficients) or all(c <= 0 for c in coefficients)):
            return False
        signs.append(coefficients[0] > 0)
    return bool(signs[0] == signs[1])


def _quantitative(workspace: Workspace) -> Iterable[Evidence]:
    """Compute E[T_3^1] exactly and report the smallest and largest ratio."""
    order = to_sympy(workspace.term("Lemma 15", "order"))
    limit = workspace.setting.pick(12, 24)
    pairs = [*workspace.setting.pairs(limit), (40, 2), (40, 6), (100, 10), (200, 3), (200, 97)]
    ratios = {}
    for n, ell in pairs:
        value = to_float(first_subphase(workspace.automata(n, ell)))
        size = float(to_ball(order, {"n": fmpq(n), "l": fmpq(ell)}).mid())
        ratios[n, ell] = value / size
    low, high = min(ratios, key=lambda p: ratios[p]), max(ratios, key=lambda p: ratios[p])
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED,
        summary=f"exact E[T_3^1] over {order}: from {ratios[low]:.4f} at {low} to "
        f"{ratios[high]:.4f} at {high}",
        range=f"all valid (n, l) with n <= {limit} and five larger ones; paper's hyper-parameters",
    )


_P_E = "(n - 1)/(3*(2*n - 1))*(n - l)/n"


def _symbolic_probability(workspace: Workspace) -> Iterable[Evidence]:
    """Derive P(Q[0,R] < 0 <= Q[0,J] after phase 1) over Q(n), times (n-l)/n for L- at n-l."""
    from sympy import QQ
    from sympy.polys.fields import field

    automata = workspace.automata(60, 12)
    law = automata.law
    first = law.landscape.milestones[0]
    block = explore_block(Stretch(automata, 0, first - 1, (first,)), [State(0, 0, (0,))])
    fractions, n, ell, _ = field("n,l,H", QQ)
    solved = solve_symbolically(
        block, lambda p: p * fractions.one, n, lambda c: 0 * fractions.one, lambda _: False
    )
    patterns = automata.patterns[automata.place(0)[1]]
    j, r = law.actions.index("J"), law.actions.index("R")
    total = 0 * fractions.one
    for exit_, weight in solved[0].items():
        signs = patterns[exit_.patterns[0]].signs
        if signs[r] < 0 <= signs[j]:
            total += weight[0]
    text = str((total * (n - ell) / n).as_expr())
    outcome = compare_sides(text, "=", _P_E, RANGE, pairs=workspace.setting.pairs(20))
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        part="closed form",
        verdict=Verdict.PROVED if outcome.status == "proved" else Verdict.UNKNOWN,
        summary=f"P(E) = {_P_E}, from the chain of the left plateau over Q(n, l)",
        range="all valid n, l, all hyper-parameters in (H)",
    )


def _probability(workspace: Workspace) -> Iterable[Evidence]:
    """Compute P(E) exactly, compare with its closed form, and prove the bound from that."""
    bound = workspace.term("P(E)", "bound")
    limit = workspace.setting.pick(11, 20)
    pairs = workspace.setting.pairs(limit)
    formula = to_sympy(_P_E)
    for n, ell in pairs:
        exact = probability_of_e(workspace.automata(n, ell))
        value = formula.subs({s: {"n": n, "l": ell}[s.name] for s in formula.free_symbols})
        if str(value) != str(exact):
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                summary=f"n = {n}, l = {ell}: P(E) = {exact}, closed form {value}",
                counterexample=Counterexample(
                    statement="P(E)",
                    expected=f"P(E) = {value}",
                    observed=f"P(E) = {exact}",
                    values={"n": str(n), "l": str(ell)},
                ),
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        part="closed form",
        summary=f"P(E) = {_P_E} exactly",
        range=f"all {len(pairs)} valid (n, l), n <= {limit}",
    )
    outcome = compare_sides(
        _P_E,
        ">=",
        bound,
        RANGE,
        pairs=workspace.setting.pairs(40),
        second=workspace.setting.second_solver,
    )
    sharper = compare_sides(_P_E, ">", "1/12", RANGE)
    verdict = {"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}.get(
        outcome.status, Verdict.UNKNOWN
    )
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=verdict,
        part="bound",
        summary=f"P(E) >= {bound}: {outcome.status}; even P(E) > 1/12: {sharper.status}",
        range="all valid n, l, given the closed form",
        second=outcome.second,
        counterexample=Counterexample(
            statement="P(E)",
            expected=f"P(E) >= {bound}",
            observed=f"P(E) = {_P_E}",
            values=dict(outcome.point),
        )
        if verdict is Verdict.REFUTED
        else None,
    )


def _tau(workspace: Workspace) -> Iterable[Evidence]:
    """Solve the recurrences with the true range of the chance to leave n-l-1."""
    bound = workspace.term("tau recurrences", "bound")
    assume = (
        *RANGE,
        "(l + 1)/(2*n) <= p",
        "p <= (l + 1)/n",
        "0 < p",
        "t1 = 1 + p*t0 + (1 - p)*t1",
        "t0 = 1 + (n - l)/n*t1",
    )
    outcome = compare_sides("t0", ">=", bound, assume, pairs=workspace.setting.pairs(12))
    verdict = {"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}.get(
        outcome.status, Verdict.UNKNOWN
    )
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=verdict,
        summary=f"tau_(n-l) >= {bound}: {outcome.status} ({outcome.how})",
        range="all valid n, l, every chance p of leaving n-l-1 in [(l+1)/(2n), (l+1)/n]",
        counterexample=Counterexample(
            statement="tau recurrences",
            expected=f"tau_(n-l) >= {bound}",
            observed="less",
            values=dict(outcome.point),
        )
        if verdict is Verdict.REFUTED
        else None,
    )


_ASSUME_TAU = (*RANGE, "0 < p", "p <= 2*l/n", "t1 = 1 + p*t0 + (1 - p)*t1", "t0 = 1 + (n - l)/n*t1")

STATEMENTS = (
    Statement(
        id="Lemma 15",
        title="E[T_3^1] = Theta(n^2/l^2)",
        where="600-606, 1087-1133",
        claim="c n^2/l^2 <= E[T_3^1] <= C n^2/l^2 with constants c, C > 0 for all valid n, l (here "
        "for the paper's hyper-parameters; see 'Uniform over (H)').",
        terms={"order": "n**2/l**2"},
        depends=(
            "Lemma 12",
            "Remark 13",
            "Lemma 14",
            "Failing excursions",
            "P(E)",
            "tau recurrences",
            "Moves in a walk",
        ),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _theta, True),
            Check(EvidenceKind.QUANTITATIVE, _quantitative),
        ),
    ),
    Statement(
        id="P(E)",
        title="P(E) >= 1/24",
        where="1101-1121",
        claim="The event E (one step into phase 3 at n-l-1 with Q[0,R] = -alpha r, Q[0,J] >= 0) "
        "has probability at least 1/24.",
        terms={"bound": "1/24"},
        depends=("Lemma 6", "Lemma 8"),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _symbolic_probability),
            Check(EvidenceKind.SMT, _probability),
        ),
        derivations=(
            Derivation(
                "P(E) first",
                "1108-1114",
                RANGE,
                (Line("", _P_E), Line(">=", "(1/3*(1/2)*(n - 1)/n)*(n - l)/n")),
            ),
            Derivation(
                "P(E) second", "1116-1120", RANGE, (Line("", "(n - l)/n"), Line(">", "1/2"))
            ),
            Derivation(
                "P(E) end",
                "1121",
                RANGE,
                (
                    Line("", "(1/3*(1/2)*(n - 1)/n)*(n - l)/n"),
                    Line(">=", "1/(3*2*2*2)"),
                    Line("=", "1/24"),
                ),
            ),
        ),
    ),
    Statement(
        id="tau recurrences",
        title="time from n-l to n-l+1",
        where="1124-1131",
        claim="tau_(n-l) = Omega(n^2/l^2), checked as tau_(n-l) >= n^2/(4 l^2).",
        terms={"bound": "n**2/(4*l**2)"},
        depends=("Leaving n-l-1",),
        checks=(Check(EvidenceKind.SMT, _tau),),
        derivations=(
            Derivation(
                "tau (n-l-1)",
                "1125-1126",
                _ASSUME_TAU,
                (
                    Line("", "t1"),
                    Line("=", "1 + p*t0 + (1 - p)*t1"),
                    Line("=", "1/p + t0"),
                    Line(">=", "n/(2*l) + t0"),
                ),
            ),
            Derivation(
                "tau (n-l)",
                "1127",
                _ASSUME_TAU,
                (
                    Line("", "t0"),
                    Line("=", "1 + (n - l)/n*t1"),
                    Line(">=", "1 + (n - l)/(2*l) + (n - l)/n*t0"),
                ),
            ),
            Derivation(
                "tau end",
                "1129-1130",
                _ASSUME_TAU,
                (
                    Line("", "t0"),
                    Line(">=", "n/l + n*(n - l)/(2*l**2)"),
                    Line(">=", "n**2/(4*l**2)"),
                ),
            ),
        ),
    ),
)
