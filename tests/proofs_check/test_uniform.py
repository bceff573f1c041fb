"""Bounds for all of (H): wrong potentials are refused, exact values lie inside."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from flint import fmpq
from open_instances import left_open

from markov_lrsao.answers.expected import runtime
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import ELL, JUMP, JUMP_OPEN, N
from markov_lrsao.model.law import UP
from markov_lrsao.model.parameters import Parameters, h_lower, h_upper
from proofs_check import Setting, Verdict, verify
from proofs_check.algebra.constants import at_least, at_most, log_floor
from proofs_check.algebra.ratios import Ratio, substitution
from proofs_check.automata.plateau import BEYOND, END, ENTRY, SECOND, TOP, Leg
from proofs_check.automata.potentials import (
    FIRST_SUBPHASE,
    FIRST_SUBPHASE_BELOW,
    PHASE3,
    REGIONS,
    SESSION,
    Charges,
    applies,
    bound_above,
    bound_below,
    settle,
)
from proofs_check.automata.uniform import UniformBounds, uniform_bounds
from proofs_check.claims.expressions import evaluate
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.verification.registry import workspace_of

QUICK = Setting(second_solver=False)


def _place(p: int, n: int, ell: int) -> str:
    return {n - ell - 1: TOP, n - ell: ENTRY, n - ell + 1: SECOND, n: END}.get(p, BEYOND)


def _harmonic(m: object) -> Fraction:
    return sum((Fraction(1, i) for i in range(1, int(str(m)) + 1)), Fraction(0))


def _at(text: str, **names: int) -> Fraction:
    numbers = {name: Fraction(value) for name, value in names.items()}
    return Fraction(evaluate(text, numbers, {"number": Fraction, "H": _harmonic}))


# -- algebra: no solver ------------------------------------------------------------------


def test_regions_meet_every_position_once() -> None:
    seen: Counter[tuple[int, int, int]] = Counter()
    for region in REGIONS:
        for u, v, k in product(range(14), range(14), range(9)):
            names = {"u": u, "v": v, "k": k}
            free = {x for text in region.texts.values() for x in names if x in text}
            if any(names[x] for x in names if x not in free):
                continue
            for name, text in region.texts.items():
                names[name] = evaluate(text, names)
            n, ell, p = names["n"], names["l"], names["p"]
            if n <= 18:
                seen[n, ell, p] += 1
                found = tuple(_place(q, n, ell) for q in (p, p - 1, p + 1))
                assert found == (region.place, region.down, region.up)
    wanted = {
        (n, ell, p)
        for n in range(9, 19)
        for ell in range(2, (n - 5) // 2 + 1)
        for p in range(n - ell, n)
    }
    assert set(seen) == wanted
    assert set(seen.values()) == {1}


def test_sign_of_a_ratio_is_read_from_coefficients_only() -> None:
    u = Ratio.variables()["u"]
    assert ((u + 1) ** 2 / (u + 3)).non_negative
    assert not ((u - 1) ** 2).non_negative  # true, but not by its coefficients
    assert not (1 / u).non_negative  # not defined at 0
    assert not (1 / (u - 5)).non_negative
    with pytest.raises(ZeroDivisionError):
        1 / (u - u)


def test_ratio_agrees_with_fractions() -> None:
    names = substitution({"l": "u + 2", "n": "2*l + 5 + v"})
    text = "n*(n - l)/(l*(l + 1)) - (n - 1)/(3*(2*n - 1)) + n/(l + 1) - 2"
    terms = evaluate(text, names, {"number": Ratio.of}).terms()
    for u, v in product(range(4), repeat=2):
        value = {
            part: sum(
                Fraction(c) * u ** int(e.split(",")[0]) * v ** int(e.split(",")[1])
                for e, c in polynomial.items()
            )
            for part, polynomial in terms.items()
        }
        wanted = _at(text, l=u + 2, n=2 * (u + 2) + 5 + v)
        assert value["numerator"] / value["denominator"] == wanted


@pytest.mark.parametrize("x", [2, 3, 12])
def test_log_floor_is_below_and_near(x: int) -> None:
    from flint import arb

    assert arb(log_floor(x)) < arb(x).log() < arb(log_floor(x) + fmpq(2, 10**4))


def test_constants_are_refused_below_the_truth() -> None:
    """n H_l + n^2/l^2 is 2.2 times the order at n = 9, l = 2, and less than the order nowhere."""
    rest = "n**2/l**2"
    assert all(c.holds for c in at_most(rest, fmpq(5, 2)))
    assert not all(c.holds for c in at_most(rest, fmpq(1)))
    assert not list(at_most(rest, fmpq(1, 2)))  # nothing is claimed below 1
    assert all(c.holds for c in at_least(rest, fmpq(1)))
    assert not all(c.holds for c in at_least("n**2/l**2/10", fmpq(1, 2)))
    assert not list(at_least(rest, fmpq(2)))


# -- potentials --------------------------------------------------------------------------

slow = pytest.mark.slow  # the graph takes seconds


@pytest.fixture(scope="module")
def bounds() -> UniformBounds:
    workspace = workspace_of(QUICK)
    return uniform_bounds(workspace.induction, workspace.slope)


@pytest.fixture(scope="module")
def top() -> object:
    return workspace_of(QUICK).slope.automata["n-l-1"]


@slow
def test_wrong_potentials_are_refused(bounds: UniformBounds) -> None:
    graph = bounds.above.graph
    for bound, factors in (
        (bounds.above, (fmpq(9, 10), fmpq(1, 2))),
        (bounds.first_above, (fmpq(9, 10), fmpq(1, 2))),
        (bounds.below, (fmpq(101, 100), fmpq(2))),
        (bounds.first_below, (fmpq(101, 100), fmpq(2))),
    ):
        for factor in factors:
            changed = {p: (factor * a, b) for p, (a, b) in bound.potential.items()}
            found = list(settle(graph, bound.time, changed, bound.sense))
            assert not all(i.holds for i in found), (bound.time, bound.sense, factor)


@slow
def test_a_potential_is_not_negative_and_the_same_at_the_top(bounds: UniformBounds) -> None:
    bound = bounds.above
    place = next(p for p in bound.graph.places if p[0] == TOP)
    assert bound.holds
    for wrong in ((fmpq(-1), fmpq(0)), (bound.potential[place][0] + 1, fmpq(0))):
        assert not replace(bound, potential={**bound.potential, place: wrong}).holds
    assert not replace(bound, waits=dict.fromkeys(bound.waits, fmpq(-1))).holds


@slow
@pytest.mark.parametrize("time", [PHASE3, FIRST_SUBPHASE], ids=lambda t: t.name)
def test_charges_that_are_too_small_are_refused(bounds: UniformBounds, top, time) -> None:  # type: ignore[no-untyped-def]
    graph = bounds.above.graph
    for charges in (
        Charges(fmpq(0), fmpq(1, 6), fmpq(1, 2)),
        Charges(fmpq(0), fmpq(1, 3), fmpq(1, 3)),
    ):
        found = bound_above(graph, top, time, charges)
        assert found is not None
        assert not found.holds


@slow
def test_slow_exits_must_be_paid(bounds: UniformBounds, top) -> None:  # type: ignore[no-untyped-def]
    """With three ways in place of two the share is a third, and the wait doubles."""
    slower = replace(
        top,
        moves=(
            *top.moves,
            *(
                replace(m, action="K")
                for m in top.moves
                if m.source == ("-", "0", "0") and m.action == "J"
            ),
        ),
    )
    found = bound_above(bounds.above.graph, slower, PHASE3)
    assert found is not None
    assert max(found.waits.values()) == 2 > max(bounds.above.waits.values()) == 1
    # a slow exit that comes back to itself has no bound of this kind
    endless = replace(
        top,
        moves=tuple(
            replace(m, target=m.source) if m.source == ("-", "0", "0") else m for m in top.moves
        ),
    )
    assert bound_above(bounds.above.graph, endless, PHASE3) is None
    undecided = replace(top, decided=False)
    assert bound_above(bounds.above.graph, undecided, PHASE3) is None
    assert bound_below(bounds.above.graph, undecided, PHASE3) is None


@slow
def test_a_leg_more_or_less_is_noticed(bounds: UniformBounds, top) -> None:  # type: ignore[no-untyped-def]
    graph = bounds.above.graph
    ways = Counter((leg.source, leg.action, leg.direction) for leg in graph.legs)
    single = [
        leg
        for leg in graph.legs
        if leg.source[0] != TOP and ways[leg.source, leg.action, leg.direction] == 1
    ]
    assert len(single) > 20
    for leg in single[::7]:
        fewer = replace(graph, legs=tuple(x for x in graph.legs if x != leg))
        found = list(settle(fewer, PHASE3, bounds.above.potential, "above"))
        assert any(i.gap is None for i in found)
    climbing = next(
        leg
        for leg in graph.legs
        if leg.action == "R" and leg.source[0] == SECOND and not leg.accepted
    )
    fall = Leg(climbing.source, (ENTRY, climbing.target[1]), "R", climbing.direction, True)
    more = replace(graph, legs=(*graph.legs, fall))
    other = bound_above(more, top, PHASE3)
    assert other is None or not other.holds
    for bound in (bounds.above, bounds.first_above):
        assert not all(i.holds for i in settle(more, bound.time, bound.potential, bound.sense))


@slow
@pytest.mark.parametrize("name", ["above", "below", "first_above", "first_below"])
def test_gaps_are_what_the_potential_says(bounds: UniformBounds, name: str) -> None:
    """Compute V itself, with true harmonic numbers, at instances of every region."""
    bound = getattr(bounds, name)
    legs, sign = bound.graph.legs, 1 if bound.sense == "above" else -1

    def rest(p: int, n: int, ell: int) -> Fraction:
        wait = Fraction(n, ell + 1) if p == n - ell - 1 else 0
        p = max(p, n - ell)
        if bound.time is FIRST_SUBPHASE_BELOW:
            return Fraction(wait)
        return n * _harmonic(n - p) + wait if bound.time is PHASE3 else Fraction(n, n - p) + wait

    def value(leg: Leg, to: int, n: int, ell: int) -> Fraction:
        over = to == n or (bound.time.until_right and leg.action == "R" and leg.direction == UP)
        return Fraction(0) if over else rest(to, n, ell) + extra(leg.target, n, ell)

    def extra(place, n: int, ell: int) -> Fraction:  # type: ignore[no-untyped-def]
        a, b = (Fraction(str(x)) for x in bound.potential[place])
        return a * _at(SESSION, n=n, l=ell) + b * _at(bound.time.unit, n=n, l=ell)

    compared = 0
    for inequality in bound.inequalities:
        if not inequality.legs:
            continue
        down, up = (legs[i] for i in inequality.legs)
        terms = inequality.to_dict()
        for u, v, k in ((0, 0, 0), (3, 1, 2)):
            names = {"u": u, "v": v, "k": k}
            for key, text in inequality.region.items():
                names[key] = evaluate(text, names)
            n, ell, p = names["n"], names["l"], names["p"]
            after = [
                value(leg, p + (2 * leg.direction - 1) * leg.accepted, n, ell) for leg in (down, up)
            ]
            here = rest(p, n, ell) + extra(down.source, n, ell)
            wanted = sign * (here - 1 - Fraction(p, n) * after[0] - Fraction(n - p, n) * after[1])
            parts = [
                sum(
                    Fraction(c) * u ** int(i) * v ** int(j) * k ** int(m)
                    for e, c in terms[part].items()
                    for i, j, m in [e.split(",")]
                )
                for part in ("numerator", "denominator")
            ]
            assert parts[0] / parts[1] == wanted >= 0
            compared += 1
    assert compared > 500


@pytest.mark.parametrize(
    ("n", "ell"),
    [pytest.param(*point, marks=slow) for point in ((9, 2), (12, 3), (15, 5))],
)
def test_exact_values_lie_inside(
    n: int, ell: int, bounds: UniformBounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All regimes of the map: J once or often, L again and again, ties at (9, 2)."""
    left_open(monkeypatch)  # a narrow enclosure is as good here, and a minute sooner
    low, high = bounds.phase3
    smallest, largest = (_at(f"n*H(l) + {x}", n=n, l=ell) for x in (low, high))
    gamma, gain = fmpq(1, n + 1), fmpq(n - ell - 1)
    for alpha in (fmpq(1, 20), fmpq(1, 2), fmpq(4, 5), fmpq(99, 100)):
        least, most = (f(alpha, gamma, gain) for f in (h_lower, h_upper))
        for share in (fmpq(1, 200), fmpq(1, 2), fmpq(99, 100)):
            parameters = Parameters(alpha, gamma, least + share * (most - least))
            algorithm = Algorithm.lrsao(parameters)
            found = runtime(JUMP.at(n, ell), algorithm, method="crossing").phases[2]
            assert found.upper is not None
            assert float(smallest) <= to_float(found.lower)
            assert to_float(found.upper) <= float(largest)


@slow
@pytest.mark.parametrize(
    ("key", "constant", "verdict"),
    [
        ("E[T3] <=", "3", Verdict.PROVED),
        ("E[T3] <=", "19/10", Verdict.UNKNOWN),
        ("E[T3] <=", "1/2", Verdict.REFUTED),
        ("E[T3] <=", "-1", Verdict.REFUTED),
        ("E[T3] >=", "1/10", Verdict.PROVED),
        ("E[T3] >=", "1", Verdict.REFUTED),
        ("E[T_3^1] <=", "1/2", Verdict.REFUTED),
        ("E[T_3^1] >=", "0", Verdict.UNKNOWN),
        ("E[T_3^1] >=", "2", Verdict.REFUTED),
        ("E[T] <=", "5", Verdict.PROVED),
        ("E[T] <=", "5/2", Verdict.UNKNOWN),
        ("E[T] <=", "1", Verdict.REFUTED),
        ("E[T] >=", "6/5", Verdict.REFUTED),
    ],
)
def test_constants(key: str, constant: str, verdict: Verdict) -> None:
    name = "Uniform over (H)"
    [result] = verify([name], QUICK.mutate(terms={(name, key): constant}))
    assert result.verdict is verdict
    assert bool(result.counterexamples) == (verdict is Verdict.REFUTED)


def test_regions_are_those_of_the_landscape() -> None:
    def fits(**changes: object) -> bool:
        return applies(workspace_of(QUICK.mutate(family=replace(JUMP, **changes))).induction)  # type: ignore[arg-type]

    assert fits()
    assert not fits(constraints=())
    assert not fits(constraints=(ELL - 2, N - 2 * ELL - 4))
    assert fits(constraints=(ELL - 3, N - 2 * ELL - 5))
    assert not fits(milestones=(JUMP.milestones[0], JUMP.milestones[1] + 1, JUMP.milestones[2]))


@slow
@pytest.mark.parametrize("name", ["Theorem 1", "Theorem 16", "Lemma 15"])
def test_theorems_are_proved_for_all_of_h(name: str) -> None:
    [result] = verify([name], QUICK)
    assert result.verdict is Verdict.PROVED
    for order in ("n**2/l**2/n", "l*n"):
        [wrong] = verify([name], QUICK.mutate(terms={(name, "order"): order}))
        assert wrong.verdict is Verdict.REFUTED or (name, order) == ("Theorem 16", "l*n")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "changes",
    [
        {"hypothesis": HYPOTHESIS[:-1]},
        {"hypothesis": (*HYPOTHESIS[:5], HYPOTHESIS[6])},
        {"family": JUMP_OPEN},
    ],
    ids=["no upper end", "no lower end", "open bridges"],
)
def test_another_model_or_hypothesis_is_not_proved(changes) -> None:  # type: ignore[no-untyped-def]
    [result] = verify(["Uniform over (H)"], QUICK.mutate(**changes))
    assert result.verdict is not Verdict.PROVED
