"""Statistics: hand-made cases, and the exact engine against the kernels."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.errors import ParameterError
from simulate.runs.runner import simulate
from simulate.statistics.crossval import cross_validate, goodness_of_fit, grid
from simulate.statistics.estimates import (
    band_halfwidth,
    ecdf,
    expected_running_time,
    mean_estimate,
    penalised_average,
    success_interval,
    summary,
)


def lrsao(n: int, ell: int) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


def test_ert_and_par10() -> None:
    steps, censored = np.array([10, 20, 50, 50]), np.array([False, False, True, True])
    assert expected_running_time(steps, censored) == 65.0
    assert penalised_average(steps, censored) == (10 + 20 + 500 + 500) / 4
    assert expected_running_time(steps, np.ones(4, dtype=bool)) == math.inf


def test_mean_interval_is_students() -> None:
    estimate = mean_estimate(np.array([1, 2, 3, 4]), 0.9)
    half = stats.t.ppf(0.95, 3) * estimate.error
    assert estimate.point == 2.5
    assert estimate.error == pytest.approx(math.sqrt(5 / 3 / 4))
    assert estimate.high - estimate.low == pytest.approx(2 * half)
    with pytest.raises(ParameterError, match="no run ended"):
        mean_estimate(np.array([], dtype=np.int64))


def test_success_interval_at_the_ends() -> None:
    none, all_ = success_interval(0, 10), success_interval(10, 10)
    assert none.low == 0.0
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert all_.high == 1.0
    assert all_.low == pytest.approx(0.025 ** (1 / 10))


def test_censored_runs_are_never_averaged_in() -> None:
    samples = simulate(lrsao(9, 2), runs=1000, seed=1, limit=40)
    found = summary(samples)
    assert found.censored == int(samples.censored.sum()) > 0
    told = found.to_dict()
    assert told["mean"] is None
    assert told["mean_of_successes"]["value"] == samples.times.mean()
    assert told["ert"]["value"] == pytest.approx(samples.steps.sum() / len(samples.times))
    assert found.ert.low < found.ert.point < found.ert.high
    times, shares = ecdf(samples)
    assert shares[-1] == pytest.approx(len(samples.times) / 1000)
    assert (np.diff(times) > 0).all()
    hopeless = summary(
        simulate(StepLaw.of(Landscape.jump(9, 2), Algorithm.rls()), runs=5, seed=1, limit=100)
    )
    assert hopeless.total is None
    assert hopeless.to_dict()["ert"]["value"] is None


def test_ecdf_stays_in_the_band_around_the_exact_law() -> None:
    from markov_lrsao.answers.distribution import distribution

    law = lrsao(9, 2)
    samples = simulate(law, runs=50_000, seed=77)
    times, shares = ecdf(samples)
    exact = distribution(law.landscape, law.algorithm).cdf(times)
    assert abs(shares - exact).max() < band_halfwidth(50_000, 0.9999)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0])
def test_bad_levels(level: float) -> None:
    with pytest.raises(ParameterError, match="level"):
        mean_estimate(np.array([1, 2]), level)
    with pytest.raises(ParameterError, match="level"):
        cross_validate([(9, 2)], runs=100, level=level)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "n", "ell"), [("event", 11, 3), ("step", 10, 2)])
def test_cross_validation_on_a_small_grid(kernel: str, n: int, ell: int) -> None:
    """Seeds fixed beforehand; family-wise error level 0.1%."""
    agreement = cross_validate([(n, ell)], runs=40_000, seed=20_250_714, kernel=kernel)  # type: ignore[arg-type]
    assert agreement.agrees, agreement.failures
    assert agreement.tests == 3 * 11
    assert agreement.threshold == pytest.approx(0.001 / 33)
    assert stats.norm.sf(agreement.largest_z) * 2 == pytest.approx(agreement.threshold)


@pytest.mark.slow
def test_cross_validation_finds_a_wrong_law_and_names_the_cell() -> None:
    """Plain float64 is right at n = 9 and wrong at n = 1000, in phase 3 only."""
    large = cross_validate(
        [(9, 2), (1000, 2)],
        runs=6000,
        seed=1,
        distributions=False,
        arithmetic="float64",
        points=("paper",),
    )
    assert not large.agrees
    assert {(experiment.n, test.quantity) for experiment, test in large.failures} == {
        (1000, name) for name in ("T", "T3", "Var T", "Var T3")
    }
    assert large.to_dict()["failures"][0]["n"] == 1000


def test_goodness_of_fit_sees_another_law() -> None:
    ten = Landscape.jump(10, 2)
    runs = simulate(lrsao(9, 2), runs=5000, seed=1)
    rules = Algorithm.lrsao(Parameters.paper(10))
    assert goodness_of_fit(ten, rules, runs).p_value < 1e-10
    with pytest.raises(ParameterError, match="too few"):
        goodness_of_fit(ten, rules, simulate(lrsao(10, 2), runs=20, seed=1))


@pytest.mark.slow
def test_event_and_step_kernels_draw_from_the_same_law() -> None:
    """Two-sample Kolmogorov-Smirnov on T and every phase, 0.1% in all."""
    for n, ell, runs in [(30, 2, 20_000), (60, 20, 20_000), (200, 2, 2000)]:
        event = simulate(lrsao(n, ell), runs=runs, seed=100)
        step = simulate(lrsao(n, ell), runs=runs, seed=200, kernel="step")
        columns = [(event.times, step.times)] + [
            (event.phase_times[:, k], step.phase_times[:, k]) for k in range(3)
        ]
        for a, b in columns:
            assert stats.ks_2samp(a, b, method="asymp").pvalue > 0.001 / 12


def test_empty_grid() -> None:
    with pytest.raises(ParameterError, match="nothing to compare"):
        cross_validate(grid(8), runs=10)


LARGE = [
    *grid(16),
    (25, 2),
    (25, 5),
    (25, 10),
    (40, 2),
    (40, 6),
    (40, 17),
    (60, 3),
    (100, 2),
    (100, 10),
    (100, 47),
    (300, 2),
    (300, 17),
    (1000, 2),
    (1000, 31),
    (1000, 497),
    (4000, 2),
]


@pytest.mark.parametrize(
    "experiments",
    [
        pytest.param(
            random.Random(12).sample(LARGE, len(LARGE) // 10), id="a tenth", marks=pytest.mark.slow
        ),
        pytest.param(LARGE, id="all", marks=pytest.mark.exhaustive),
    ],
)
def test_moments_on_a_large_grid(experiments: list[tuple[int, int]]) -> None:
    """At least 30 (n, l), 10^6 runs on the small ones, 0.1% family-wise; seed fixed beforehand."""
    assert len(LARGE) >= 30
    agreement = cross_validate(
        experiments,
        seed=20_250_714,
        distributions=False,
        points=("paper",),
        runs=lambda n, ell: 1_000_000 if n <= 16 else 100_000 if n <= 100 else 10_000,
    )
    assert agreement.agrees, agreement.failures
