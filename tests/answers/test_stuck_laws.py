"""Laws of runs that can get stuck, or that meet open comparisons: P(T = infinity) and ranges."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from open_instances import without_quotients

import markov_lrsao.answers.inversion as inversion
import markov_lrsao.answers.powers as powers
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.answers.inversion import Problem
from markov_lrsao.errors import CrossingError, ParameterError, granted
from markov_lrsao.exact.quantity import Enclosed, Exact
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.families import jump_m
from markov_lrsao.progress import no_progress


def paper(n: int) -> Algorithm:
    return Algorithm.lrsao(Parameters.paper(n))


@pytest.fixture(
    params=["without quotients", pytest.param("looked for", marks=pytest.mark.exhaustive)]
)
def open_instance(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StepLaw:
    """What stays open: after a long search for what decides it, or because none is made."""
    if request.param == "without quotients":
        without_quotients(monkeypatch)
    return StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.of("1/20", "1/10", "128")))


STUCK = (
    {"T": [0, 1, 1, 2, 7], "C": [1, 1, 1, 3, 1], "W": [0, 1, 2, 1, 0]},
    {"T": [0, 0, 0, 7], "C": [1, 1, 1, 1], "W": [0, 1, 0, 1]},
    {"T": [0, 0, 1, 0, 1, 7], "C": [1, 0, 1, 2, 1, 0]},
    {"T": [0, 2, 1, 3, 7], "C": [4, 1, 2, 0, 3]},
)


def test_where_no_run_ever_ends_that_is_said() -> None:
    """RLS does not cross a gap of three: nothing is said of a horizon, which is not the reason."""
    with pytest.raises(ParameterError, match="no run from this start ever ends"):
        distribution(jump_m(3).at(7), Algorithm.named("rls"))


@pytest.mark.parametrize(
    ("objectives", "r"),
    [
        pytest.param(objectives, r, marks=[pytest.mark.slow] if (k, r) == (0, "1/2") else [])
        for k, objectives in enumerate(STUCK)
        for r in ("1/2", "5")
    ],
)
def test_runs_that_never_end(objectives: dict[str, list[int]], r: str) -> None:
    shape = Landscape.from_arrays(objectives, target="T")
    algorithm = Algorithm.lrsao(Parameters.of("1/2", "1/4", r))
    found = distribution(shape, algorithm, method="powers", outside_h=True)
    result = runtime(shape, algorithm, method="joint", outside_h=True)
    if result.trap is None:
        assert found.never.value == 0
        return
    assert found.expectation.infinite
    assert result.trap.lower <= found.never.value <= result.trap.upper
    ended = 1 - to_float(found.never.value)
    assert abs(float(found.cdf(10**9)) - ended) <= found.error
    assert str(found.quantile_range(1 - (1 - ended) / 2)) == "infinite"
    if objectives is STUCK[0] and r == "1/2":  # a bottom that never ends: joint chain only
        with pytest.raises(CrossingError):
            distribution(shape, algorithm, method="inversion", outside_h=True)
        return
    other = distribution(shape, algorithm, method="inversion", outside_h=True)
    assert other.never == found.never
    times = np.arange(0, 2000)
    assert np.abs(found.cdf(times) - other.cdf(times)).max() <= found.error + other.error
    if ended > 0:
        assert other.finite_mean == pytest.approx(found.finite_mean, rel=1e-9)


@pytest.mark.slow  # of `runtime` the same is asked at n = 40 in `test_kinds_of_answers`
def test_phases_before_a_trap_are_those_inside_the_hypothesis() -> None:
    """Signs decide the first two phases; the third gets stuck with a probability in a range."""
    shape = Landscape.jump(20, 3)
    outside = Algorithm.lrsao(Parameters.paper(20, r="90"))
    for phase in (1, 2):
        a = distribution(shape, outside, phase=phase, outside_h=True)
        b = distribution(shape, paper(20), phase=phase)
        times = np.arange(0, b.quantile(0.9999))
        assert a.error < 1e-9
        assert a.never.value == 0
        assert np.abs(a.cdf(times) - b.cdf(times)).max() <= a.error + b.error
        assert float(a.expectation) == pytest.approx(float(b.expectation), rel=1e-12)
    third = distribution(shape, outside, phase=3, outside_h=True)
    trap = runtime(shape, outside, outside_h=True).trap
    assert trap is not None
    assert third.expectation.infinite
    low, high = 1 - third.reached[1], 1 - third.reached[0]
    assert max(low, trap.lower) <= min(high, trap.upper)
    assert 0 < low < high < 1


def test_a_phase_that_ends_before_the_trap_has_a_law_of_its_own() -> None:
    """The trap lies after the first milestone: phase 1 ends surely, phase 2 not."""
    shape = Landscape.from_arrays(
        {"T": [0, 1, 0, 0, 7], "C": [0, 1, 1, 1, 1]}, target="T", milestones=[1, 4]
    )
    algorithm = Algorithm.lrsao(Parameters.of("1/2", "1/4", "1/2"))
    first, second, whole = (
        distribution(shape, algorithm, phase=phase, outside_h=True) for phase in (1, 2, None)
    )
    assert first.never.value == 0
    assert second.never == whole.never
    assert second.never.value > 0


def test_an_open_instance_claims_no_more_than_it_knows(open_instance: StepLaw) -> None:
    shape, algorithm = open_instance.landscape, open_instance.algorithm
    law = distribution(shape, algorithm)
    result = runtime(shape, algorithm, method="crossing")
    assert result.kind == "enclosure"
    assert law.expectation == result.total
    assert law.never.value == 0
    assert result.undecided is not None
    assert result.undecided.upper is not None
    assert law.error == pytest.approx(to_float(result.undecided.upper), rel=1e-3)
    assert law.quantile_range(1 - law.error / 2).high == math.inf
    assert law.quantile_range(0.5).high < math.inf


@pytest.mark.parametrize(
    ("met", "low", "high"),
    [
        (fmpq(0), fmpq(23, 27), fmpq(23, 27)),
        (fmpq(1, 100), fmpq(23, 27) - fmpq(1, 100), fmpq(23, 27) + fmpq(1, 100)),
        (fmpq(1, 4), fmpq(23, 27) - fmpq(1, 4), fmpq(1)),
        (fmpq(1), fmpq(0), fmpq(1)),
    ],
)
def test_what_is_open_widens_the_law_of_values(
    met: fmpq, low: fmpq, high: fmpq, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P(T = infinity) = 23/27, and open comparisons are met with a probability made up here."""
    law = StepLaw.of(Landscape.from_arrays(STUCK[1], target="T"), paper(3))
    plain = granted(powers.powers_of_patterns(law, None, no_progress))
    monkeypatch.setattr(
        powers, "probability_of_choice", lambda block, traps: [met] * len(block.states)
    )
    found = granted(powers.powers_of_values(law, None, no_progress))
    assert found.reached == (1 - high, 1 - low)
    assert plain.never.value == fmpq(23, 27)
    assert float(met) <= found.error <= float(met) + 1e-12
    times = np.arange(0, 300)
    assert np.abs(found.cdf(times) - plain.cdf(times)).max() < 1e-12


@pytest.mark.parametrize(("met", "infinite"), [(1.0, False), (1e-9, True)])
def test_a_mean_is_infinite_only_where_some_runs_surely_get_stuck(
    met: float, infinite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inversion, "_given_up", lambda *_: met)
    shape = Landscape.jump(9, 2)
    law = StepLaw.of(shape, Algorithm.lrsao(Parameters.paper(9, r="90")))
    found = granted(inversion.invert(law, 3, no_progress))
    low, high = 1 - found.reached[1], 1 - found.reached[0]
    assert (low > 0) == infinite
    assert high == 1 or infinite
    assert found.expectation.infinite == found.variance.infinite == infinite
    if not infinite:
        assert found.expectation.lower == 0
        assert found.expectation.upper is None


@pytest.mark.slow
def test_where_the_mean_is_enclosed_all_runs_end(monkeypatch: pytest.MonkeyPatch) -> None:
    without_quotients(monkeypatch)
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.of("1/20", "1/10", "128")))
    found = granted(powers.powers_of_values(law, None, no_progress))
    assert isinstance(found.expectation, Enclosed)
    assert found.expectation.upper is not None
    assert found.never.value == 0
    assert 1e-4 < found.error < 1e-2
    truth = runtime(law.landscape, law.algorithm, method="crossing").total
    assert truth.upper is not None
    assert truth.lower <= found.expectation.upper
    assert found.expectation.lower <= truth.upper


def test_one_way_of_resolving_is_within_the_error_of_another(open_instance: StepLaw) -> None:
    """Take the last option instead of the first in every open state: both are possible."""
    d = granted(inversion._decomposition(open_instance, no_progress))
    assert d.choices is not None
    met = inversion._given_up(d, d.choices, False)
    laws = []
    for chosen in ([0] * len(d.choices.options), [len(o) - 1 for o in d.choices.options]):
        tail = replace(d, tail=d.choices.block(chosen), choices=None)
        problem = Problem.of(tail, None)
        laws.append(
            inversion._inversion(problem, problem.moments, Exact(fmpq(0)), 0.0, no_progress)
        )
    times = np.arange(0, 400)
    gap = float(np.abs(laws[0].cdf(times) - laws[1].cdf(times)).max())
    assert 1e-3 * met < gap <= met + 2 * laws[0].error
