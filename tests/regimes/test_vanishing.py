"""r = 0 and r -> 0+: the small chains against the engine, an independent walk, simulations."""

from __future__ import annotations

import math

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.errors import ParameterError, StateSpaceTooLargeError
from markov_lrsao.regimes.vanishing import expected_time, vanishing_chain, vanishing_law
from simulate import simulate

NINE = Landscape.jump(9, 2)


def law(n: int = 9, ell: int = 2, alpha: str = "4/5", gamma: str = "1/10") -> StepLaw:
    return vanishing_law(Landscape.jump(n, ell), Parameters.of(alpha, gamma, 0))


@pytest.mark.slow
def test_r_zero_is_the_engine_s_fraction() -> None:
    from markov_lrsao import runtime

    engine = runtime(NINE, Algorithm.lrsao(Parameters.of("4/5", "1/10", 0)), outside_h=True)
    assert engine.total.value == expected_time(law(), limit=False).value


def test_r_zero_and_the_limit_differ() -> None:
    zero, limit = (expected_time(law(), limit=flag) for flag in (False, True))
    assert zero.decimal == "367.39869209467916009"  # the engine's joint chain of 46,761 states
    assert limit.rational == "9647632255879/28577564400"


@pytest.mark.parametrize(("alpha", "gamma"), [("1/20", "9/10"), ("99/100", "1/10"), ("1/2", "1/2")])
@pytest.mark.parametrize("limit", [False, True])
def test_alpha_and_gamma_do_not_matter(alpha: str, gamma: str, limit: bool) -> None:
    assert (
        expected_time(law(alpha=alpha, gamma=gamma), limit=limit).value
        == expected_time(law(), limit=limit).value
    )


@pytest.mark.parametrize(("r", "limit"), [("0", False), ("1e-40", True)])
@pytest.mark.parametrize("ell", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_simulations_agree(r: str, limit: bool, ell: int) -> None:
    """At z = 4.5 a right value fails with probability 7e-6."""
    n = 2 * ell + 5
    exact = float(expected_time(law(n, ell), limit=limit, field="float"))
    step_law = StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.of("4/5", "1/10", r)))
    times = simulate(step_law, runs=20_000, seed=5, limit=10**8).times
    assert len(times) == 20_000
    assert abs(times.mean() - exact) <= 4.5 * times.std() / math.sqrt(len(times))


@pytest.mark.parametrize("limit", [False, True])
def test_chain_is_stochastic_and_starts_fresh(limit: bool) -> None:
    found = vanishing_chain(law(), limit=limit)
    assert found.places[0][0] == 0
    assert found.ends.sum() == 1
    for state in range(found.chain.size):
        assert sum((w for _, w in found.chain.row(state)), fmpq(0)) == 1


def test_floats_are_the_fractions() -> None:
    exact = expected_time(law(10), limit=True)
    assert exact.exact
    assert float(expected_time(law(10), limit=True, field="float")) == pytest.approx(
        float(exact), rel=1e-10
    )


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="vanishing_law"):
        vanishing_chain(StepLaw.of(NINE, Algorithm.lrsao(Parameters.paper(9))), limit=True)
    with pytest.raises(StateSpaceTooLargeError, match="more than 50 states"):
        vanishing_chain(law(), limit=True, max_states=50)
