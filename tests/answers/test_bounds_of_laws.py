"""The error terms of a distribution: each one is needed, and what is claimed is what holds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import markov_lrsao.answers.inversion as inversion
import markov_lrsao.answers.powers as powers
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.answers.inversion import Problem
from markov_lrsao.answers.laws import Distribution
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.crossing.decomposition import decompose
from markov_lrsao.crossing.generating import Evaluation
from markov_lrsao.errors import ParameterError, StateSpaceTooLargeError
from markov_lrsao.exact.disks import Circle, Disk
from markov_lrsao.exact.quantity import UNKNOWN, Exact, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.exact.series import add, multiply
from markov_lrsao.joint.enumeration import enumerate_joint


def paper(n: int) -> Algorithm:
    return Algorithm.lrsao(Parameters.paper(n))


def law_of(n: int, ell: int) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), paper(n))


@cache
def exact_law(n: int, ell: int, last: int) -> list[fmpq]:
    """P(T <= t) for t = 0 .. last in fractions."""
    chain = enumerate_joint(law_of(n, ell)).chain
    end = chain.positions == n
    mass = {int(chain.start[0]): fmpq(1)}
    arrived, result = fmpq(0), []
    for _ in range(last + 1):
        arrived += sum((mass.pop(i) for i in [i for i in mass if end[i]]), fmpq(0))
        result.append(arrived)
        following: dict[int, fmpq] = {}
        for i, w in mass.items():
            for j, p in chain.row(i):
                following[j] = following.get(j, fmpq(0)) + w * p
        mass = following
    return result


@pytest.mark.parametrize(
    ("n", "ell", "last"),
    [
        (9, 2, 40),
        (11, 3, 25),
        *(
            pytest.param(n, ell, last, marks=pytest.mark.slow)
            for n, ell, last in [(9, 2, 60), (10, 2, 50), (11, 2, 50), (12, 2, 40), (12, 3, 35)]
        ),
    ],
)
def test_inversion_and_powers_are_within_their_bounds_of_fractions(
    n: int, ell: int, last: int
) -> None:
    truth = exact_law(n, ell, last)
    for method in ("powers", "inversion"):
        law = distribution(Landscape.jump(n, ell), paper(n), method=method)
        assert law.error < 1e-10
        for t, p in enumerate(truth):
            low, high = law.bounds(t)
            assert fmpq(*low.as_integer_ratio()) <= p <= fmpq(*high.as_integer_ratio())
            assert abs(to_float(p) - law.cdf(t)) <= law.error
    assert truth[last] > fmpq(1, 100)


@pytest.fixture(scope="module")
def truth() -> Any:
    """The law at n = 10, l = 2, far more accurate than what is spoilt below."""
    law = distribution(Landscape.jump(10, 2), paper(10), method="powers")
    assert law.error < 1e-11
    return law.cdf(np.arange(0, 700))


def actual(law: Distribution, truth: Any) -> float:
    times = np.arange(0, min(len(truth), law.horizon))
    return float(np.abs(law.cdf(times) - truth[: len(times)]).max())


def inverted() -> Distribution:
    return distribution(Landscape.jump(10, 2), paper(10), method="inversion")


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_aliasing_is_part_of_the_error(
    tolerance: float, truth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = inverted()
    monkeypatch.setattr(inversion, "_ALIASING", tolerance)
    law = inverted()
    assert law.horizon < good.horizon
    assert 100 * good.error < actual(law, truth) <= law.error <= 1.1 * tolerance


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_truncation_is_part_of_the_error(
    tolerance: float, truth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = inverted()
    monkeypatch.setattr(inversion, "_TRUNCATION", tolerance)
    law = inverted()
    assert len(law.values) < len(good.values)  # type: ignore[attr-defined]
    assert 100 * good.error < actual(law, truth) <= law.error


def coarse(monkeypatch: pytest.MonkeyPatch, radius: float) -> None:
    """Round the points of the circle to single precision, and widen their disks."""
    usual = Problem.evaluate

    def evaluate(self: Problem, evaluation: Evaluation, *rest: Any) -> Any:
        nodes = evaluation.nodes
        if nodes is not None and not evaluation.majorant:
            rounded = nodes.mid.astype(np.complex64).astype(np.complex128)
            evaluation = replace(evaluation, nodes=Disk(rounded, nodes.rad + radius))
        return usual(self, evaluation, *rest)

    monkeypatch.setattr(Problem, "evaluate", evaluate)


def test_rounding_is_part_of_the_error(truth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    good = inverted()
    coarse(monkeypatch, 2.0**-24)
    law = inverted()
    assert 100 * good.error < actual(law, truth) <= law.error


def test_disks_that_miss_their_points_give_a_bound_that_fails(
    truth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    coarse(monkeypatch, 0.0)
    law = inverted()
    assert actual(law, truth) > 100 * law.error


def problem_of(n: int = 10, ell: int = 2) -> Problem:
    return Problem.of(decompose(law_of(n, ell)), None)


def test_the_majorant_bounds_and_decreases() -> None:
    problem, circle, j = problem_of(), Circle(800), np.arange(1, 401)
    bound = problem.at(circle, j, majorant=True)
    assert np.all(np.abs(problem.at(circle, j).mid) <= bound.upper)
    assert np.all(np.diff(bound.mid) <= 1e-15)
    plain = problem.evaluate(
        Evaluation(exact=False, nodes=np.exp(2j * np.pi * j / 800), majorant=True)
    )[0]
    assert np.all(np.abs(plain - bound.mid) <= 1e-12)
    assert np.all(bound.rad <= 1e-12)


def test_what_is_cut_off_against_the_whole_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inversion, "_TRUNCATION", 1e-3)
    problem, points = problem_of(), 4000
    cut, bound = inversion._truncation(problem, points)
    j = np.arange(cut + 1, points // 2 + 1)
    majorant = problem.at(Circle(points), j, majorant=True).upper
    assert majorant[0] <= 1e-3
    assert float((majorant / j).sum()) <= bound
    assert 1e-3 * float((1 / j).sum()) <= bound <= 1e-3 * points / (2 * cut) * 1.1
    monkeypatch.setattr(inversion, "_TRUNCATION", 1e-300)
    assert inversion._truncation(problem, 64) == (32, 0.0)


@pytest.mark.parametrize("p", [0.5, 0.05])
@pytest.mark.parametrize("unit", [1.0, 20.0])
def test_the_tail_bound_is_markov_s(p: float, unit: float) -> None:
    """T geometric: E[(T choose k)] = (1-p)^(k-1) / p^k, and P(T >= N) is known."""
    scaled = [1.0, *((1 - p) ** (k - 1) / p**k / unit**k for k in range(1, 31))]
    for points in (5, 30, 100, 700):
        found = inversion._tail_bound(scaled, unit, points)
        expected = min(
            [
                1.0,
                *(
                    (1 - p) ** (k - 1) / p**k / math.comb(points, k)
                    for k in range(1, min(30, points) + 1)
                ),
            ]
        )
        assert expected <= found <= max(1.00001 * expected, 1e-199)
        assert (1 - p) ** (points - 1) <= found
    assert inversion._tail_bound([1.0, 2.0, 0.0], 1.0, 64) < 1e-199  # T <= 1
    assert inversion._tail_bound([1.0, 2.0, 0.0], 1.0, 1) == 1.0  # nothing is known of T >= 1


@pytest.mark.parametrize("points", range(100, 130))
def test_the_tail_bound_is_not_rounded_down(points: int) -> None:
    """Given a moment and its slack, the bound is at least the quotient of rationals."""
    moment, unit = 0.1, 7.3
    ratio = Fraction(moment) + Fraction(inversion._UNDERFLOW)
    least = ratio * Fraction(inversion._SLACK) * Fraction(unit) / points
    found = Fraction(inversion._tail_bound([1.0, moment], unit, points))
    assert least <= found <= least * (1 + Fraction(1, 10**14))


# -- powers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [None, 2])
def test_what_is_under_way_is_part_of_the_error(
    phase: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = Landscape.jump(9, 2)
    good = distribution(shape, paper(9), phase=phase, method="powers")
    monkeypatch.setattr(powers, "_TAIL", 1e-3)
    law = distribution(shape, paper(9), phase=phase, method="powers")
    gap = 1 - float(law.cdf(10**6))
    assert 1e-4 < gap <= law.error <= gap + 1e-10
    times = np.arange(0, law.horizon + 20)
    assert np.abs(law.cdf(times) - good.cdf(times)).max() <= law.error


def test_rounding_of_powers_grows_with_steps() -> None:
    """A geometric time in 34,000 steps of floats, against its closed form."""
    chain = chain_from_rows([{0: "999/1000", 1: "1/1000"}, {1: 1}], positions=[0, 1])
    found = powers.hitting_law(chain, None, chain.positions == 1)
    cumulative = np.cumsum(found.probabilities)
    steps = len(cumulative)
    assert steps > 30_000
    for t in (1, 100, 3000, 30_000):
        truth = -math.expm1(t * math.log1p(-1e-3))
        assert abs(cumulative[t] - truth) <= found.error
    assert steps * 2.0**-53 <= found.error <= 20 * steps * 2.0**-53 + 1e-14


def test_too_long_a_tail_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(powers, "_MOST_WORK", 10_000)
    chain = chain_from_rows([{0: "99999/100000", 1: "1/100000"}, {1: 1}], positions=[0, 1])
    with pytest.raises(StateSpaceTooLargeError, match=r"after 3,333 steps .*; simulate"):
        powers.hitting_law(chain, None, chain.positions == 1)  # three transitions a step


# -- quantiles ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps(Distribution):
    """A distribution function written down by hand."""

    levels: tuple[float, ...]

    def cdf(self, t: Any) -> Any:
        times = np.clip(self._times(t), -1, len(self.levels) - 1)
        values = np.where(times < 0, 0.0, np.array(self.levels)[np.maximum(times, 0)])
        return float(values) if np.ndim(t) == 0 else values


def by_hand(error: float, never: Quantity, *levels: float) -> Steps:
    return Steps(
        expectation=UNKNOWN,
        variance=UNKNOWN,
        finite_mean=1.0,
        never=never,
        error=error,
        horizon=len(levels) - 1,
        levels=levels,
    )


NEVER = Exact(fmpq(0))


@pytest.mark.parametrize(
    ("q", "low", "value", "high", "text"),
    [
        (0.3, 2, 2, 2, "2"),
        (0.5, 2, 2, 4, "2 to 4"),
        (0.9, 4, 4, 5, "4 to 5"),
        (0.995, 5, 5, math.inf, "5 or more"),
        (0.05, 1, 1, 1, "1"),
        (0.205, 1, 2, 2, "1 to 2"),
    ],
)
def test_ranges_of_quantiles(q: float, low: float, value: float, high: float, text: str) -> None:
    law = by_hand(0.01, NEVER, 0.0, 0.2, 0.5, 0.5, 0.9, 0.999)
    found = law.quantile_range(q)
    assert (found.low, found.value, found.high) == (low, value, high)
    assert found.certain == (low == high)
    assert str(found) == text
    assert law.quantile(q) == value


def test_a_quantile_is_certain_only_where_the_bound_separates() -> None:
    e = 1 / 64
    assert by_hand(e, NEVER, 0.25, 0.5 + e, 1.0).quantile_range(0.5).certain
    assert not by_hand(e, NEVER, 0.25, 0.5 + e - 1e-9, 1.0).quantile_range(0.5).certain
    assert by_hand(e, NEVER, 0.5 - e - 1e-9, 0.75, 1.0).quantile_range(0.5).certain
    # P(T <= 0) may be 1/2 exactly, and then 0 is the median
    assert by_hand(e, NEVER, 0.5 - e, 0.75, 1.0).quantile_range(0.5).low == 0


def test_infinite_quantiles() -> None:
    quarter = Exact(fmpq(1, 4))
    law = by_hand(1e-9, quarter, 0.0, 0.5, 0.75)
    assert str(law.quantile_range(0.4)) == "1"
    assert str(law.quantile_range(0.76)) == "infinite"
    assert law.quantile_range(0.76).certain
    # 3/4 may be reached at 2, or only in the limit
    assert str(law.quantile_range(0.75)) == "2 or more"
    with pytest.raises(ParameterError, match="infinite"):
        law.quantile(0.9)
    assert law.bounds(2)[1] <= 0.75 + 1e-12
    between = by_hand(0.1, Quantity.enclosed(fmpq(1, 5), fmpq(3, 10)), 0.0, 0.5, 0.75)
    assert str(between.quantile_range(0.79)) == "2 or more"
    assert str(between.quantile_range(0.81)) == "infinite"
    assert between.quantile_range(0.81).to_dict() == {
        "level": 0.81,
        "value": None,
        "lower": None,
        "upper": None,
        "certain": True,
        "infinite": True,
    }
    assert between.quantile_range(0.79).to_dict() == {
        "level": 0.79,
        "value": None,
        "lower": 2,
        "upper": None,
        "certain": False,
        "infinite": False,
    }


def test_beyond_the_horizon_something_is_still_known() -> None:
    law = by_hand(0.001, NEVER, 0.0, 0.5)
    found = law.quantile_range(0.9)
    assert (found.low, found.high) == (2, math.inf)


@pytest.mark.parametrize("method", ["powers", "inversion"])
def test_quantiles_bracket_the_truth(method: str) -> None:
    """Where a quantile is certain, the fractions agree."""
    truth = exact_law(9, 2, 40)
    law = distribution(Landscape.jump(9, 2), paper(9), method=method)  # type: ignore[arg-type]
    for q in (0.001, 0.1, 0.25, 0.4, 0.5):
        found = law.quantile_range(q)
        assert found.certain
        t = next(t for t, p in enumerate(truth) if p >= fmpq(*q.as_integer_ratio()))
        assert found.value == t
    # A level that is a value of the distribution function itself cannot be certain.
    t = 30
    assert not law.quantile_range(to_float(truth[t])).certain


def test_point_probabilities_are_differences() -> None:
    law = by_hand(0.0, NEVER, 0.0, 0.25, 0.5, 1.0)
    assert law.pmf(np.arange(-2, 7)).tolist() == [0, 0, 0, 0.25, 0.25, 0.5, 0, 0, 0]
    assert law.pmf(3) == 0.5


def test_series_of_different_lengths_do_not_add() -> None:
    with pytest.raises(ValueError, match="zip"):
        add((1.0, 2.0), (1.0,))


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_series_multiply_like_polynomials(length: int) -> None:
    a, b = (2.0, 3.0, -1.0, 4.0, 7.0)[:length], (5.0, 7.0, 11.0, -2.0, 1.0)[:length]
    assert list(multiply(a, b)) == np.polymul(a[::-1], b[::-1])[::-1][:length].tolist()
