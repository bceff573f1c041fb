"""Enclosures against the plain method, known values and true-semantics simulation."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq
from oracles import h_interval
from refined import COARSE, PLAIN, Point, bounds, distance, exact_moments, law_at

from markov_lrsao.crossing.decomposition import decompose
from markov_lrsao.errors import granted
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.values.enclosure import resolve
from markov_lrsao.values.tails import LEVELS, refined_decomposition

QUICK = [
    Point(9, 2, "1/2", "1/10", "1/2"),
    Point(12, 2, "99/100", "1/1000", "11/50"),
    Point(14, 4, "1/2", "7/50", "199/200"),
    Point(16, 3, "101/250", "1/18", "1/200"),
    Point(17, 6, "1/100", "2/25", "1/2"),
    Point(18, 4, "19/20", "1/9", "11/20"),
    Point(21, 5, "4/5", "1/600", "199/200"),
    Point(23, 9, "19/20", "9/40", "199/200"),
    Point(25, 4, "114/125", "17/100", "1/200"),
    Point(27, 9, "19/20", "99/1000", "269/1000"),
    Point(28, 10, "99/100", "1/10", "1/200"),
    Point(30, 9, "77/100", "13/100", "1/20"),
]
HARD = [
    Point(9, 2, "1/100", "1/1000", "1/200"),
    Point(9, 2, "1/2", "213/1000", "199/200"),
    Point(9, 2, "19/20", "1/10", "9/100"),
    Point(10, 2, "99/100", "307/1000", "1/20"),
    Point(10, 2, "1/100", "113/1000", "199/200"),
    Point(11, 2, "1/100", "1/90", "199/200"),
    Point(13, 3, "1/100", "1/100", "1/200"),
    Point(27, 3, "1/100", "1/1000", "3/100"),
    Point(28, 7, "99/100", "39/200", "109/1000"),
    Point(30, 2, "1/100", "9/500", "1/2"),
]


def paper_law(n: int, ell: int) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (12, 3), (30, 5)])
def test_the_papers_hyper_parameters_give_the_same_fractions(n: int, ell: int) -> None:
    law = paper_law(n, ell)
    assert exact_moments(granted(resolve(law)), 4) == exact_moments(decompose(law), 4)


def test_a_small_penalty_makes_l_come_back() -> None:
    """r just above its lower bound: 45.66, not the 43.66 of most other hyper-parameters."""
    low, _ = h_interval(9, 2, Fraction(19, 20), Fraction(1, 10))
    values = set()
    for factor in (1 + Fraction(1, 1000), 1 + Fraction(1, 10**6)):
        found = bounds(granted(resolve(law_at(9, 2, "19/20", "1/10", str(low * factor)))))
        assert all(a == b for a, b in found)  # exact
        values.add(found[0][0][1])
    (value,) = values  # one fraction for both
    assert round(float(value.p) / float(value.q), 2) == 45.66
    usual = exact_moments(granted(resolve(law_at(9, 2, "1/2", "1/10", "8"))), 1)[0][1]
    assert round(float(usual.p) / float(usual.q), 2) == 43.66


@pytest.mark.parametrize("point", [QUICK[1], QUICK[3]], ids=str)
def test_finer_levels_agree_with_coarser_ones(point: Point) -> None:
    law = point.law
    found = [bounds(refined_decomposition(law, level)) for level in (COARSE, PLAIN, LEVELS[1])]
    for quantity in zip(*found, strict=True):
        for k in (1, 2):
            assert max(low[k] for low, _ in quantity) <= min(high[k] for _, high in quantity)


def agrees(point: Point, runs: int, seed: int) -> None:
    law = point.law
    found = bounds(granted(resolve(law)), 1)
    low, high = found[0]
    assert distance(law, low[1], high[1], runs=runs, seed=seed) <= 4
    for lower, upper in found:  # T and every phase
        assert (upper[1] - lower[1]) / lower[1] <= fmpq(1, 1000)


@pytest.mark.parametrize(
    "point",
    [
        p if k not in (4, 9) else pytest.param(p, marks=pytest.mark.slow)
        for k, p in enumerate(QUICK)
    ],
    ids=str,
)
def test_enclosures_are_narrow_and_hold_the_simulated_mean(point: Point) -> None:
    agrees(point, 50_000, seed=11)


@pytest.mark.parametrize(
    ("point", "runs"),
    [
        # A third of the points in the second tier: those of QUICK have 50,000 runs in the first.
        pytest.param(p, runs, marks=pytest.mark.slow if third else pytest.mark.exhaustive)
        for k, p in enumerate([*QUICK, *HARD])
        for runs, third in ((10**6, k % 3 == 0), (10**7, False))
    ],
    ids=str,
)
def test_enclosures_hold_the_mean_of_many_runs(point: Point, runs: int) -> None:
    agrees(point, runs, seed=12)
