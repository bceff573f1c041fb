"""The borders between regimes, held against the engine on both sides of each."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, hypothesis_h
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.regimes.borders import Border, borders, decided_exits, place_in_h
from markov_lrsao.regimes.points import Values, solve_point

TENTH = fmpq(1, 10)


@cache
def value(alpha: str, r: str, n: int = 9, ell: int = 2, gamma: str = "1/10") -> Values:
    p = Parameters.of(alpha, gamma, r)
    return solve_point(n, ell, p.alpha, p.gamma, p.r, tolerance=fmpq(1, 100), max_states=500).values


def border(name: str, n: int = 9, ell: int = 2, gamma: str = "1/10") -> Border:
    (found,) = [b for b in borders(n, ell, gamma) if b.name == name]
    return found


@cache
def exits(k: int) -> fmpq:
    """E[T] of the regime of k exits at n = 9, l = 2, from one point in it."""
    alpha = {1: "4/5", 2: "1/2", 3: "1/4", 4: "1/4"}[k]
    low, high = (
        border(f"J {word}").r(alpha)
        if word
        else hypothesis_h(Landscape.jump(9, 2), Parameters.of(alpha, "1/10", 0)).lower
        for word in (f"never, {k - 1}" if k > 1 else "", f"always, {k}")
    )
    h = hypothesis_h(Landscape.jump(9, 2), Parameters.of(alpha, "1/10", 0))
    r = (max(low, h.lower) + min(high, h.upper)) / 2
    assert decided_exits(9, 2, Parameters.of(alpha, 0 + TENTH, r).alpha, TENTH, r) == k
    found = value(alpha, str(r)).means[0].value
    assert isinstance(found, fmpq)
    return found


@pytest.mark.parametrize(("alpha", "k"), [("1/2", 1), ("7/20", 2), ("1/4", 3)])
def test_below_j_always_the_answer_is_that_of_k_exits(alpha: str, k: int) -> None:
    at = border(f"J always, {k}").r(alpha)
    below = value(alpha, str(at * fmpq(97, 100)))
    assert below.kind == "exact"
    assert below.means[0].value == exits(k)


@pytest.mark.slow
def test_the_engine_sees_the_first_border() -> None:
    """At (1-a) r = G, J is exactly 0 after an exit and M = 0; just above it is negative."""
    at = border("J always, 1").r("1/2")
    assert at == 12
    assert value("1/2", "11.99").means[0].value == exits(1)
    tie = value("1/2", "12")
    assert tie.kind == "exact"
    assert tie.means[0].value != exits(1)
    above = solve_point(
        9, 2, fmpq(1, 2), TENTH, fmpq(12001, 1000), tolerance=fmpq(1, 2000), max_states=3000
    ).values.means[0]
    assert above.upper is not None
    assert above.upper < exits(1)


def least(alpha: fmpq, r: fmpq, k: int, rejections: int) -> fmpq:
    """Follow the Q-updates of one history with k exits of J through n - l; n = 9, l = 2.

    J = R = -alpha r in row 0, L below both, row n - l - 1 not yet learnt. Each exit is followed
    by rejections at n - l - 1 and the return through R.
    """
    gamma, gain = TENTH, 6
    keep, decay = 1 - alpha, 1 - alpha * (1 - gamma)
    j, m = -alpha * r, fmpq(0)
    for _ in range(k):
        j = keep * j + alpha * (gain + gamma * m)
        m = keep * decay**rejections * m + alpha * (1 + gamma * j)
    return j


def test_j_always_is_sharp() -> None:
    """Just above it some history leaves J negative after k exits; just below none does."""
    seen = set()
    for alpha in (fmpq(1, 2), fmpq(7, 20), fmpq(1, 4), fmpq(1, 10)):
        for k in range(1, 13):
            (found,) = [b for b in borders(9, 2, exits=k) if b.name == f"J always, {k}"]
            place = place_in_h(found, 9, 2, alpha)
            if place is None or not 0 < place < 1:
                continue
            seen.add(k)
            at = found.r(alpha)
            assert least(alpha, at + fmpq(1, 10**6), k, 400) < 0
            for rejections in (0, 1, 7, 400):
                assert least(alpha, at - fmpq(1, 10**6), k, rejections) > 0
            if k <= 2:  # nothing has decayed yet
                assert least(alpha, at, k, 0) == 0
    assert {1, 2, 3} < seen


def contains(found: Values, number: fmpq) -> bool:
    q = found.means[0]
    return not q.infinite and q.upper is not None and bool(q.lower <= number <= q.upper)


@pytest.mark.parametrize(("alpha", "k"), [("1/2", 1), ("7/20", 2), ("1/4", 3)])
def test_beyond_j_never_one_exit_more_is_needed(alpha: str, k: int) -> None:
    at = border(f"J never, {k}").r(alpha)
    beyond = value(alpha, str(at * fmpq(101, 100)))
    assert contains(beyond, exits(k + 1))
    assert border(f"J always, {k}").r(alpha) < at < border(f"J always, {k + 1}").r(alpha)


@pytest.mark.slow
def test_l_always_is_sharp() -> None:
    at = border("L always").r("99/100")
    below, near, above = (
        solve_point(
            9, 2, fmpq(99, 100), TENTH, at * fmpq(k, 100), tolerance=fmpq(1, 2000), max_states=3000
        ).values
        for k in (60, 97, 103)
    )
    assert below.means[0].value == fmpq(27059792756, 592596081)  # about 45.66
    assert below.regime == near.regime
    mean = above.means[0]
    assert mean < fmpq(27059792756, 592596081)


def test_l_never_leads_back_to_the_paper_s_regime() -> None:
    at = border("L never").r("9/10")
    h = hypothesis_h(Landscape.jump(9, 2), Parameters.of("9/10", "1/10", 0))
    assert h.lower < at < h.upper
    assert value("9/10", str(at)).means[0].value == exits(1)
    near = value("9/10", str(h.lower + fmpq(1, 10**4)))
    assert near.kind == "enclosure"  # not decided, so not known to be the paper's


GRID = [
    (a, x)
    for a in ("3/20", "3/10", "9/20", "3/5", "3/4", "9/10", "24/25")
    for x in (fmpq(1, 20), fmpq(2, 5), fmpq(9, 10))
]


@pytest.mark.slow
@pytest.mark.parametrize("gamma", ["1/10", "1/25"])
def test_inside_a_cell_of_the_borders_nothing_changes(gamma: str) -> None:
    """The law depends on the number of exits only: not on alpha, gamma or r."""
    checked = 0
    for alpha, x in GRID:
        h = hypothesis_h(Landscape.jump(9, 2), Parameters.of(alpha, gamma, 0))
        r = h.lower + x * (h.upper - h.lower)
        p = Parameters.of(alpha, gamma, r)
        k = decided_exits(9, 2, p.alpha, p.gamma, r)
        if k is None or k > 4:
            continue
        found = value(alpha, str(r), gamma=gamma)
        assert contains(found, exits(k))
        checked += found.kind == "exact"
    assert checked >= 8


def test_each_further_exit_counts_the_same_share() -> None:
    """E_k is affine in ((n-l)/n)^k: J leaves through n - l with that probability, k times."""
    steps = [exits(k + 1) - exits(k) for k in (1, 2, 3)]
    assert steps[1] / steps[0] == steps[2] / steps[1] == fmpq(7, 9)


def test_formulas_and_symbols_agree() -> None:
    import sympy

    for found in borders(30, 5, "1/31", exits=3):
        expression = found.expression()
        for alpha in (fmpq(1, 7), fmpq(9, 10)):
            at = {"alpha": alpha, "gamma": fmpq(1, 31), "G": fmpq(24)}
            exact: Any = expression.subs(
                {
                    s: sympy.Rational(*fraction(at[s.name]).as_integer_ratio())
                    for s in expression.free_symbols
                }
            )
            assert fmpq(int(exact.p), int(exact.q)) == found.r(alpha)
            polynomial = found.polynomial()
            for sign in (-1, 0, 1):
                r = found.r(alpha) + fmpq(sign, 1000)
                values = at | {"r": r}
                number = polynomial.subs(
                    {
                        s: sympy.Rational(*fraction(values[s.name]).as_integer_ratio())
                        for s in polynomial.free_symbols
                    }
                )
                assert sympy.sign(number) == sign


def test_borders_of_h_are_those_of_the_hypothesis() -> None:
    algorithm = Algorithm.lrsao(Parameters.paper(9))
    assert algorithm.parameters is not None
    h = hypothesis_h(Landscape.jump(9, 2), algorithm.parameters)
    assert border("(H), lower").r("4/5") == h.lower
    assert border("(H), upper").r("4/5") == h.upper
    assert place_in_h(border("(H), lower"), 9, 2, fmpq(4, 5)) == 0
    assert place_in_h(border("(H), upper"), 9, 2, fmpq(4, 5)) == 1
