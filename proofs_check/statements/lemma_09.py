"""Lemma 9 and its equation (E): the time from l+1 to l+3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from flint import fmpq

from markov_lrsao.chains.hitting import phase_moments
from markov_lrsao.exact.linear import solve_rows
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE, Derivation, Line
from proofs_check.algebra.polynomials import constants_between, rational_limit
from proofs_check.automata.abstraction import Cells
from proofs_check.automata.slope import bottom_chain, bottom_formula, slope_times
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import EVERYWHERE, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import cases, region_solver
from proofs_check.statements.building import size_at
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_SMALLEST = (9, 2)


def _closed_form(workspace: Workspace) -> Iterable[Evidence]:
    """Derive E[T_2^1] as a rational function and bound it for all valid n, l."""
    formula = bottom_formula(workspace.slope)
    text = str(formula)
    order = workspace.term("Lemma 9", "order")
    n, ell = to_sympy("n"), to_sympy("l")
    size = to_sympy(order)
    details = [f"E[T_2^1] = {text}"]
    runaway = {
        name: limit
        for name, limit in (
            ("l = 2", rational_limit((formula / size).subs(ell, 2), n)),
            ("n = 2l + 5", rational_limit((formula / size).subs(n, 2 * ell + 5), ell)),
        )
        if str(limit) in ("oo", "-oo")
    }
    if runaway:
        yield Evidence(
            kind=EvidenceKind.SYMBOLIC,
            verdict=Verdict.REFUTED,
            summary=f"E[T_2^1] / ({order}) tends to infinity along {list(runaway)}",
            details=tuple(details),
            counterexample=Counterexample(
                statement="Lemma 9",
                expected=f"E[T_2^1] = O({order})",
                observed=f"limits of the ratio: {runaway}",
                values={"n": "oo"},
            ),
        )
        return
    low, high = constants_between([(formula, (2, None))], size)
    details.append(
        f"its limit for n = 2l + 5 -> infinity is "
        f"{rational_limit(formula.subs(n, 2 * ell + 5), ell)}, for fixed l it is "
        f"{rational_limit(formula.subs(ell, 2), n)}"
    )
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.PROVED if high else Verdict.UNKNOWN,
        part="" if high else "the order",  # which no other evidence speaks about
        summary=f"explicit rational function of n and l, between {low} and {high} times {order}",
        scope=EVERYWHERE,
        details=tuple(details),
    )


def _against_chain(workspace: Workspace) -> Iterable[Evidence]:
    """Compare with the joint chain of the engine, exactly."""
    compared = 0
    for n, ell in workspace.exhaustive_pairs[:3]:
        chain = enumerate_joint(workspace.law(n, ell)).chain
        first = workspace.setting.family.milestones[0](n=n, ell=ell)
        exact = phase_moments(chain, chain.positions >= first, chain.positions >= first + 2, 1)[0]
        value = slope_times(workspace.slope, n, ell).bottom
        compared += 1
        if exact != value:
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                summary=f"n = {n}, l = {ell}: joint chain {exact}, closed form {value}",
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary=f"the closed form equals the joint chain's expectation exactly ({compared} times)",
        scope=workspace.exhaustive_scope,
    )


def _accepting(workspace: Workspace) -> Iterable[Evidence]:
    """Show that every objective accepts l+2 -> l+3, so that k* is geometric."""
    at = workspace.induction.first + 1
    found = cases(workspace.setting.family, (at,), workspace.induction.algorithm.accept_equal)
    solver = region_solver(workspace.setting.family)
    here = [c for c in found if c.direction == UP and solver.feasible((*c.region, P - at, at - P))]
    rejecting = sorted({c.action for c in here if c.outcome < 0})
    mean = workspace.term("(E), k*", "mean")
    outcome = compare_sides(
        "1/((n - l - 2)/n) - 1", "=", mean, RANGE, pairs=workspace.setting.pairs(20)
    )
    good = not rejecting and outcome.status == "proved"
    bad = (
        None
        if good
        else Counterexample(
            statement="(E), k*",
            expected=f"all objectives accept l+2 -> l+3, E(k*) = {mean}",
            observed=f"rejected by {rejecting}" if rejecting else "another mean",
            values=dict(outcome.point),
        )
    )
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED if good else Verdict.REFUTED,
        summary=("every objective accepts l+2 -> l+3, so k* is geometric and E(k*) = " + mean)
        if good
        else f"rejected by {rejecting}, or E(k*) is not {mean}",
        scope=EVERYWHERE,
        counterexample=bad,
    )


def _lengths(workspace: Workspace, n: int, ell: int) -> tuple[list[fmpq], int]:
    """Return P(length 1) of the first two failing excursions from l+2, and the chain's size."""
    states, moves = bottom_chain(workspace.slope, 1)

    def chance(at: int, share: fmpq, direction: int) -> fmpq:
        p = ell + at
        return share * fmpq(p if direction == DOWN else n - p, n)

    start = _arrival({0: fmpq(1)}, states, moves, chance)
    lengths = []
    for _ in range(2):
        one = fmpq(0)
        longer: dict[int, fmpq] = {}
        after: dict[int, fmpq] = {}
        for i, weight in start.items():
            for target, at, share, direction in moves[i]:
                flow = weight * chance(at, share, direction)
                if target < 0:
                    continue
                if states[target][1] == 2:
                    one += flow
                    after[target] = after.get(target, fmpq(0)) + flow
                else:
                    longer[target] = longer.get(target, fmpq(0)) + flow
        back = _arrival(longer, states, moves, chance)
        for i, flow in back.items():
            after[i] = after.get(i, fmpq(0)) + flow
        failed = sum(after.values(), fmpq(0))
        lengths.append(one / failed)
        start = {i: flow / failed for i, flow in after.items()}
    return lengths, len(states)


def _different_at(workspace: Workspace, values: Mapping[str, str]) -> str | None:
    """Judge an instance: are the first two failing excursions of different laws?"""
    n, ell = workspace.setting.family.check(*size_at(values, "n", "l"))
    first, second = _lengths(workspace, n, ell)[0]
    return f"P(length 1 | failing) = {first}, then {second}" if first != second else None


def _excursions(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the laws of the first two failing excursions from l+2, exactly, at (9, 2)."""
    n, ell = _SMALLEST
    lengths, size = _lengths(workspace, n, ell)
    same = lengths[0] == lengths[1]
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.UNKNOWN if same else Verdict.REFUTED,
        summary=f"P(length 1) is {lengths[0]} for the first failing excursion and {lengths[1]} for "
        f"the second",
        scope=Scope(f"n = {n}, l = {ell}; chain of {size} states"),
        counterexample=None
        if same
        else Counterexample(
            statement="(E), i.i.d. excursions",
            expected="failing excursions from l+2 are identically distributed",
            observed=f"P(length 1 | failing) = {lengths[0]}, then {lengths[1]}",
            values={"n": str(n), "l": str(ell)},
        ),
    )


def _arrival(
    begin: dict[int, fmpq],
    states: list[tuple[int, int, Cells, Cells]],
    moves: list[list[tuple[int, int, fmpq, int]]],
    chance: Callable[[int, fmpq, int], fmpq],
) -> dict[int, fmpq]:
    """Return the law of the state in which l+2 is next hit, from states at l and l+1."""
    inside = [i for i, s in enumerate(states) if s[1] < 2]
    number = {i: k for k, i in enumerate(inside)}
    flow = solve_rows(
        [
            [(number[t], chance(at, x, d)) for t, at, x, d in moves[i] if t in number]
            for i in inside
        ],
        [begin.get(i, fmpq(0)) for i in inside],
    )
    result: dict[int, fmpq] = {}
    for i, k in number.items():
        for target, at, share, direction in moves[i]:
            if target not in number and target >= 0:
                part = flow[k] * chance(at, share, direction)
                result[target] = result.get(target, fmpq(0)) + part
    return result


STATEMENTS = (
    Statement(
        id="Lemma 9",
        title="E[T_2^1] = O(1)",
        where="516-531",
        claim="The expected time from l+1 to the first hitting of l+3 is bounded by a constant.",
        terms={"order": "1"},
        depends=("Lemma 8", "Lemma 4", "(E), i.i.d. excursions", "(E), k*"),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _closed_form),
            Check(EvidenceKind.EXHAUSTIVE, _against_chain),
        ),
    ),
    Statement(
        id="(E), k*",
        title="number of failing excursions from l+2",
        where="529-530",
        claim="All objectives accept the move l+2 -> l+3, so E(k*) = n/(n-l-2) - 1.",
        terms={"mean": "n/(n - l - 2) - 1"},
        checks=(Check(EvidenceKind.SMT, _accepting),),
        derivations=(
            Derivation(
                "(E) k*",
                "529-530",
                RANGE,
                (
                    Line("", "1/((n - l - 2)/n) - 1"),
                    Line("=", "n/(n - l - 2) - 1"),
                    Line("= O", "0", order="1"),
                ),
            ),
        ),
    ),
    Statement(
        id="(E), i.i.d. excursions",
        title="Wald's step in (E)",
        where="527-528",
        claim="The failing excursions from l+2 are i.i.d., so that their total length has mean "
        "E(l(e)) E(k*).",
        checks=(Check(EvidenceKind.EXHAUSTIVE, _excursions),),
        points={"": _different_at},
    ),
)
