"""Lemma 15: E[T_3^1] = Theta(n^2/l^2), with P(E) and the recurrences of its lower bound."""

from __future__ import annotations

from collections.abc import Iterable

from markov_lrsao.errors import VerificationError
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE, Derivation, Line
from proofs_check.algebra.orders import judge_order
from proofs_check.automata.phase3 import first_subphase, probability_of_e
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import EVERYWHERE, PAPER, PAPER_HYPER, SIZES_ONLY, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.statements.judging import (
    closed_form,
    explicit,
    first_subphase_known,
    judged,
    left_of,
    right_of,
    walk_of_phase3,
)
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.uniform import order_in_h
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _order(workspace: Workspace) -> Iterable[Evidence]:
    """Judge the order by the closed form of E[T_3^1], which holds for all n and l.

    T_3^1 ends with the first step in which R moves up on the right plateau, or n is hit.
    """
    order = workspace.term("Lemma 15", "order")
    known = first_subphase_known(workspace)
    outcome = judge_order(known, order, "Theta", workspace.setting.pairs(20))
    yield judged(
        outcome,
        "Lemma 15",
        f"E[T_3^1] = Theta({order})",
        details=(f"{known.low} <= E[T_3^1] <= {known.high}", walk_of_phase3(workspace)),
    )


def _explicit(workspace: Workspace) -> Iterable[Evidence]:
    yield closed_form(workspace, right_of(workspace).first)
    yield from explicit(
        workspace,
        "Lemma 15, explicit",
        first_subphase_known(workspace),
        workspace.setting.pick(40, 120),
    )


def _instances(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the closed form with the engine's own automata, exactly."""
    limit = workspace.setting.pick(12, 24)
    far = [(40, 2), (40, 6), (60, 12), (80, 37), *([(200, 3)] if workspace.setting.full else [])]
    pairs = [*workspace.setting.pairs(limit), *far]
    known = first_subphase_known(workspace)
    for n, ell in pairs:
        exact, formula = first_subphase(workspace.automata(n, ell)), known.exact(n, ell)
        if exact != formula:
            raise VerificationError(
                f"n = {n}, l = {ell}: E[T_3^1] = {exact} by the engine's automata, the closed "
                f"form says {formula}"
            )
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED,
        summary=f"the closed form is the engine's E[T_3^1] exactly, {len(pairs)} times",
        scope=Scope(f"all valid (n, l) with n <= {limit} and {len(far)} larger ones", PAPER_HYPER),
        part="closed form",
    )


_P_E = "(n - 1)/(3*(2*n - 1))*(n - l)/n"


def _symbolic_probability(workspace: Workspace) -> Iterable[Evidence]:
    """Derive P(E) from the walk on the left plateau, which is decided for all of (H).

    Phase 2 leaves J and R of row 0 alone; at n-l then L is the only greedy action, and its
    downward step, of probability (n-l)/n, is accepted.
    """
    left = left_of(workspace)
    outcome = compare_sides(left.probability, "=", _P_E, RANGE, pairs=workspace.setting.pairs(20))
    yield judged(
        outcome,
        "P(E)",
        f"P(E) = {_P_E}",
        part="closed form",
        scope=EVERYWHERE,
        details=(
            f"walk on the left plateau: {len(left.walk.steps)} nodes, P(E) = {left.probability}",
        ),
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
        scope=Scope(f"all {len(pairs)} valid (n, l), n <= {limit}", PAPER_HYPER),
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
        scope=SIZES_ONLY,
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
        scope=EVERYWHERE,
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
        claim="c n^2/l^2 <= E[T_3^1] <= C n^2/l^2 with constants c, C > 0 for all valid n, l.",
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
            Check(EvidenceKind.SYMBOLIC, _order, True),
            order_in_h("Lemma 15", "E[T_3^1]", "Theta"),
        ),
    ),
    Statement(
        id="Lemma 15, explicit",
        title="E[T_3^1] with constants",
        where="600-606",
        claim="2/5 n^2/l^2 <= E[T_3^1] <= 7/4 n^2/l^2 for all valid n, l and the paper's "
        "hyper-parameters.",
        scope=PAPER,
        group="sharper",
        terms={"lower": "2/5*n**2/l**2", "upper": "7/4*n**2/l**2"},
        checks=(
            Check(EvidenceKind.SYMBOLIC, _explicit, True, ("closed form", "lower", "upper")),
            Check(EvidenceKind.QUANTITATIVE, _instances, True, ("closed form",)),
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
            Check(EvidenceKind.SYMBOLIC, _symbolic_probability, parts=("closed form",)),
            Check(EvidenceKind.SMT, _probability, parts=("closed form", "bound")),
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
        rests=("Leaving n-l-1",),
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
