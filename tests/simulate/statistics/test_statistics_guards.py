"""P-values, degrees of freedom and intervals against SciPy, by hand, and by simulated nulls."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.quantity import Quantity, Simulated
from simulate.runs.samples import Samples
from simulate.statistics import comparisons, crossval
from simulate.statistics.comparisons import Comparison, mean_test, variance_test
from simulate.statistics.crossval import Agreement, Experiment, cross_validate, grid
from simulate.statistics.estimates import (
    ecdf,
    mean_estimate,
    success_interval,
    summary,
)

LAW = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))


def samples(hits: list[list[int]], steps: list[int], seed: int = 1, **more: Any) -> Samples:
    array = np.array(hits, dtype=np.int64)
    count = len(steps)
    return Samples(
        law=LAW,
        seed=seed,
        path=(),
        first_run=0,
        kernel="event",
        arithmetic="exact",
        limit=50,
        restart=None,
        hits=array,
        steps=np.array(steps),
        censored=array[:, -1] < 0,
        restarts=np.zeros(count, dtype=np.int64),
        decisions=np.zeros(count, dtype=np.int64),
        seconds=0.0,
        **more,
    )


SIX = samples(
    [[3, 9, 20], [4, 8, 31], [3, 7, -1], [5, -1, -1], [3, 11, 25], [4, 6, 40]],
    [20, 31, 50, 50, 25, 40],
)


# -- intervals -------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("values", [[1, 5], [3, 1, 4, 1, 5, 9, 2, 6]])
def test_students_interval(values: list[int], level: float) -> None:
    found = mean_estimate(np.array(values), level)
    low, high = stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))
    assert found.point == pytest.approx(np.mean(values))
    assert found.error == pytest.approx(stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_one_value_has_no_interval() -> None:
    assert mean_estimate(np.array([7])) == Simulated(7.0, math.inf, -math.inf, math.inf, 1, 0.95)
    assert mean_estimate(np.array([7])).to_dict() == {
        "value": 7.0,
        "standard_error": None,
        "low": None,
        "high": None,
    }
    assert Simulated(1.0, 2.0, 3.0, 4.0, 10, 0.95).to_dict() == {
        "value": 1.0,
        "standard_error": 2.0,
        "low": 3.0,
        "high": 4.0,
    }


@pytest.mark.parametrize("level", [0.6, 0.95])
@pytest.mark.parametrize(("successes", "runs"), [(0, 7), (1, 7), (3, 10), (6, 7), (7, 7), (1, 1)])
def test_clopper_and_pearsons_interval(successes: int, runs: int, level: float) -> None:
    found = success_interval(successes, runs, level)
    truth = stats.binomtest(successes, runs).proportion_ci(level, method="exact")
    assert (found.low, found.high) == pytest.approx((truth.low, truth.high))
    rate = successes / runs
    assert found.point == rate
    assert found.error == pytest.approx(math.sqrt(rate * (1 - rate) / runs))


@pytest.mark.parametrize("level", [-0.5, 0.0, 1.0, 1.5, math.nan])
def test_levels_outside_the_open_interval(level: float) -> None:
    for use in (
        lambda: mean_estimate(np.array([1, 2]), level),
        lambda: success_interval(1, 2, level),
        lambda: summary(SIX, level),
        lambda: cross_validate([(9, 2)], runs=10, level=level),
    ):
        with pytest.raises(ParameterError, match="level"):
            use()


# -- summaries by hand -----------------------------------------------------------------------


def test_a_summary_by_hand() -> None:
    found = summary(SIX)
    assert (found.runs, found.censored) == (6, 2)
    assert found.total is not None
    assert found.total.point == (20 + 31 + 25 + 40) / 4
    assert [phase.point for phase in found.phases] == [
        (3 + 4 + 3 + 4) / 4,
        (6 + 4 + 8 + 2) / 4,
        (11 + 23 + 14 + 34) / 4,
    ]
    assert found.success.point == 4 / 6
    assert found.ert.point == (20 + 31 + 50 + 50 + 25 + 40) / 4
    assert found.penalised == (20 + 31 + 500 + 500 + 25 + 40) / 6
    assert dict(found.quantiles) == {0.05: 20, 0.25: 25, 0.5: 31, 0.75: math.inf, 0.95: math.inf}
    told = found.to_dict()
    assert told["mean"] is None
    assert told["mean_of_successes"]["value"] == 29.0
    times, shares = ecdf(SIX)
    assert times.tolist() == [20, 25, 31, 40]
    assert shares.tolist() == [1 / 6, 2 / 6, 3 / 6, 4 / 6]


def test_quantiles_of_many_runs() -> None:
    steps = list(range(1, 101))
    found = summary(samples([[1, 2, t] for t in steps], steps))
    assert dict(found.quantiles) == {0.05: 5, 0.25: 25, 0.5: 50, 0.75: 75, 0.95: 95}
    assert found.to_dict()["mean"]["value"] == 50.5
    assert found.ert == mean_estimate(np.array(steps))


def test_the_bootstrap_of_ert() -> None:
    """Against SciPy's percentile bootstrap, and reproducible for any seed."""
    draw = np.random.default_rng(5)
    steps = np.minimum(draw.geometric(0.03, 300), 50)
    ended = steps < 50
    runs = samples(
        [[1, 2, int(t) if ok else -1] for t, ok in zip(steps, ended, strict=True)],
        steps.tolist(),
        seed=2**70 + 3,
    )
    for level in (0.9, 0.99):
        found = summary(runs, level).ert
        truth = stats.bootstrap(
            (steps.astype(float), ended),
            lambda s, e: s.sum() / e.sum(),
            paired=True,
            vectorized=False,
            n_resamples=4000,
            method="percentile",
            confidence_level=level,
            random_state=np.random.default_rng(1),
        )
        assert found.low == pytest.approx(truth.confidence_interval.low, rel=0.02)
        assert found.high == pytest.approx(truth.confidence_interval.high, rel=0.02)
        assert found.error == pytest.approx(truth.standard_error, rel=0.05)
        assert found == summary(runs, level).ert
    few = summary(samples([[1, 2, -1], [1, 2, 7]], [50, 7])).ert
    assert few.point == 57.0
    assert few.high == math.inf  # a quarter of the resamples has no success


# -- tests against exact values --------------------------------------------------------------


def moments_of(law: Any) -> tuple[float, float, float, float]:
    mean, variance, skew, kurtosis = law.stats(moments="mvsk")
    return (
        float(mean),
        float(variance),
        float(skew * variance**1.5),
        float((kurtosis + 3) * variance**2),
    )


def test_tests_of_moments_by_hand() -> None:
    values = np.array([4, 9, 2, 5, 5, 11, 3, 1])
    found = mean_test("T", values, 4.0, 9.0, 0.0)
    assert (found.quantity, found.exact, found.simulated) == ("T", 4.0, 5.0)
    assert found.statistic == pytest.approx(1 / math.sqrt(9 / 8))
    assert found.p_value == pytest.approx(2 * stats.norm.sf(1 / math.sqrt(9 / 8)))
    skew = mean_test("T", values, 4.0, 9.0, 54.0)  # skewness 2, of the mean 2 / sqrt(8)
    upper = stats.pearson3.sf(found.statistic, 2 / math.sqrt(8))
    assert skew.p_value == pytest.approx(2 * upper)
    spread = variance_test("T", values, 4.0, 9.0, 243.0)
    average = float(np.mean((values - 4.0) ** 2))
    assert (spread.quantity, spread.exact, spread.simulated) == ("Var T", 9.0, average)
    assert spread.statistic == pytest.approx((average - 9) / math.sqrt((243 - 81) / 8))
    of_squares = stats.skew((values - 4.0) ** 2) / math.sqrt(8)
    assert spread.p_value == pytest.approx(
        2
        * min(
            stats.pearson3.sf(spread.statistic, of_squares),
            stats.pearson3.cdf(spread.statistic, of_squares),
        )
    )


def test_phases_that_take_one_step_in_all_runs_agree() -> None:
    """A first plateau of one position: T1 = 1, which once was no agreement for want of variance."""
    values = np.ones(50, dtype=np.int64)
    assert mean_test("T1", values, 1.0, 0.0, 0.0).p_value == 1.0
    assert variance_test("T1", values, 1.0, 0.0, 0.0).p_value == 1.0
    assert mean_test("T1", values, 1.5, 0.0, 0.0).p_value == 0.0
    values[0] = 2
    assert variance_test("T1", values, 1.0, 0.0, 0.0).p_value == 0.0


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan])
def test_variances_that_cannot_be_are_found(wrong: float) -> None:
    values = np.array([4, 9, 2, 5])
    assert mean_test("T", values, 4.0, wrong, 1.0).p_value == 0.0
    assert variance_test("T", values, 4.0, 9.0, 81.0 + min(wrong, 0.0)).p_value == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("law", "runs"), [(stats.geom(0.05), 2000), (stats.nbinom(3, 0.2), 500)])
def test_the_null_distribution_is_right_in_the_tails(law: Any, runs: int) -> None:
    """6,000 nulls: the share of p-values below 5%, 1% and 0.1% is what it says.

    Binomial bands of five standard deviations, and 20% (of 0.1%: 60%) for the approximation.
    """
    nulls = 6000
    mean, variance, third, fourth = moments_of(law)
    generator = np.random.default_rng(9)
    p = np.empty((nulls, 2))
    for k in range(nulls):
        values = law.rvs(runs, random_state=generator)
        p[k] = (
            mean_test("T", values, mean, variance, third).p_value,
            variance_test("T", values, mean, variance, fourth).p_value,
        )
    for level, allowed in ((0.05, 0.1), (0.01, 0.2), (0.001, 0.6)):
        band = 5 * math.sqrt(level / nulls) + allowed * level
        assert abs((p < level).mean(axis=0) - level).max() < band


def test_chi_square_is_scipys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that is uniform on 1..200: equal bins, whose counts are known."""

    class Uniform:
        def quantile(self, q: float) -> int:
            return max(1, math.ceil(200 * q - 1e-9))

        def cdf(self, times: Any) -> Any:
            return np.asarray(times) / 200

    import_module("markov_lrsao.answers.distribution")
    monkeypatch.setattr(
        sys.modules["markov_lrsao.answers.distribution"], "distribution", lambda *a: Uniform()
    )
    for runs, bins in ((100, 5), (130, 6), (5000, 40)):
        times = np.random.default_rng(runs).integers(1, 201, runs)
        played = samples([[1, 2, int(t)] for t in times], times.tolist())
        found = comparisons.goodness_of_fit(LAW.landscape, LAW.algorithm, played)
        edges = [0, *(Uniform().quantile(k / bins) for k in range(1, bins)), 200]
        observed = [int(((times > a) & (times <= b)).sum()) for a, b in pairwise(edges)]
        expected = runs * np.diff(edges) / 200
        truth = stats.chisquare(observed, expected)
        assert found.test == f"chi-square({bins - 1})"
        assert found.statistic == pytest.approx(truth.statistic)
        assert found.p_value == pytest.approx(truth.pvalue)
    for runs in (1, 39):
        played = samples([[1, 2, 3]] * runs, [3] * runs)
        with pytest.raises(ParameterError, match=f"runs = {runs} are too few"):
            comparisons.goodness_of_fit(LAW.landscape, LAW.algorithm, played)
    played = samples([[1, 2, 3]] * 20 + [[1, 2, 190]] * 20, [3] * 20 + [190] * 20)
    assert comparisons.goodness_of_fit(LAW.landscape, LAW.algorithm, played).statistic == 0.0


def test_bins_are_pooled_until_each_holds_enough() -> None:
    def pooled(expected: list[float], observed: list[float]) -> list[list[float]]:
        return [list(x) for x in comparisons._pool(expected, observed)]

    assert pooled([12.0, 3.0, 4.0, 5.0, 30.0], [1, 2, 3, 4, 5]) == [[12.0, 12.0, 30.0], [1, 9, 5]]
    assert pooled([12.0, 10.0, 9.0], [1, 2, 3]) == [[12.0, 19.0], [1, 5]]  # the last joins
    assert pooled([9.0, 10.0], [4, 5]) == [[19.0], [9]]
    assert pooled([10.0, 10.0], [4, 5]) == [[10.0, 10.0], [4, 5]]
    assert pooled([3.0], [7]) == [[3.0], [7]]
    with pytest.raises(ValueError, match=r"shorter|longer"):
        pooled([10.0, 10.0], [4])


def test_the_step_limit_is_out_of_reach() -> None:
    """Chebyshev with the fourth moment: a run beyond it has probability 1e-6 level at most."""
    exact = SimpleNamespace(
        total=Quantity.of(50.0), higher=(Quantity.of(0.0), Quantity.of(10.0**6))
    )
    limit = comparisons.step_limit(exact, 1000, 0.01)  # type: ignore[arg-type]
    assert 1000 * 10.0**6 / (limit - 50) ** 4 <= 1e-6 * 0.01
    assert 1000 * 10.0**6 / (limit - 52) ** 4 > 1e-6 * 0.01
    late = comparisons.all_end(SIX, 0.01)
    assert (late.simulated, late.test) == (2.0, "limit 50")
    assert late.p_value == pytest.approx(1e-8)
    fine = comparisons.all_end(samples([[1, 2, 3]], [3]), 0.01)
    assert (fine.simulated, fine.p_value) == (0.0, 1.0)


def test_which_moments_are_compared() -> None:
    """T and three phases, each with the phase's own exact values."""
    played = samples([[3, 9, 20], [4, 8, 31], [3, 11, 25]], [20, 31, 25])

    def quantities(*values: float) -> tuple[Quantity, ...]:
        return tuple(Quantity.of(v) for v in values)

    exact: Any = SimpleNamespace(
        total=Quantity.of(25.0),
        variance=Quantity.of(20.0),
        higher=quantities(1.0, 900.0),
        phases=quantities(3.0, 5.0, 17.0),
        phase_variances=quantities(1.0, 2.0, 3.0),
        phase_higher=[quantities(0.1, 4.0), quantities(0.2, 9.0), quantities(0.3, 16.0)],
    )
    found = comparisons.moments(exact, played)
    assert [(c.quantity, c.exact) for c in found] == [
        ("T", 25.0),
        ("Var T", 20.0),
        ("T1", 3.0),
        ("Var T1", 1.0),
        ("T2", 5.0),
        ("Var T2", 2.0),
        ("T3", 17.0),
        ("Var T3", 3.0),
    ]
    assert found[4].simulated == pytest.approx((6 + 4 + 8) / 3)
    one_phase: Any = SimpleNamespace(**vars(exact) | {"phases": quantities(25.0)})
    assert [c.quantity for c in comparisons.moments(one_phase, played)] == ["T", "Var T"]


def agreement(p_values: list[float], level: float = 0.01) -> Agreement:
    tests = tuple(Comparison("T", "z", 1.0, 1.0, 0.0, p) for p in p_values)
    return Agreement(
        level=level, experiments=(Experiment(9, 2, "paper", 10, 1, tests, 99, "joint"),)
    )


def test_the_family_wise_level() -> None:
    found = agreement([0.5, 0.0024, 0.9, 0.2])
    assert found.tests == 4
    assert found.threshold == 0.01 / 4
    assert not found.agrees
    assert [c.p_value for _, c in found.failures] == [0.0024]
    assert agreement([0.5, 0.0025, 0.9, 0.2]).agrees
    assert not agreement([0.5, math.nan]).agrees  # what is no number is no agreement
    assert 2 * stats.norm.sf(found.largest_z) == pytest.approx(0.0025)
    assert found.to_dict()["failures"] == [
        {"n": 9, "ell": 2, "point": "paper", "quantity": "T", "p_value": 0.0024}
    ]


def test_the_grid_is_all_of_jump() -> None:
    for low, high in ((9, 14), (1, 9), (-5, 11), (13, 13), (12, 11)):
        assert grid(high, low) == [
            (n, ell)
            for n in range(max(low, 1), high + 1)
            for ell in range(2, n)
            if n >= 2 * ell + 5
        ]


@pytest.mark.slow
def test_what_a_cross_validation_compares() -> None:
    found = cross_validate([(9, 2)], runs=400, points=("paper",))
    names = [c.quantity for c in found.experiments[0].comparisons]
    moments = [f"{kind}{name}" for name in ("T", "T1", "T2", "T3") for kind in ("", "Var ")]
    assert names == ["bit strings", "runs that do not end", *moments, "law of T"]
    assert (found.experiments[0].point, found.experiments[0].seed) == ("paper", 1)
    short = cross_validate([(9, 2)], runs=400, points=("paper",), distributions=False)
    assert [c.quantity for c in short.experiments[0].comparisons] == names[:-1]
    with pytest.raises(ParameterError, match="nothing to compare"):
        cross_validate([])


@pytest.mark.parametrize("name", crossval.POINTS)
def test_points_lie_inside_h(name: str) -> None:
    from markov_lrsao.model.parameters import hypothesis_h

    for n, ell in [*grid(20), (50, 3), (300, 100), (3000, 2)]:
        assert hypothesis_h(Landscape.jump(n, ell), crossval.point(name, n, ell)).holds
