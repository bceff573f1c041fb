"""The law of the runtime: powers against inversion, exact fractions, quantiles, tails."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.joint.enumeration import enumerate_joint


def paper(n: int) -> Algorithm:
    return Algorithm.lrsao(Parameters.paper(n))


@pytest.mark.parametrize("phase", [None, 1, 2, 3])
@pytest.mark.parametrize(("n", "ell"), [(9, 2), (13, 3)])
def test_powers_and_inversion_agree_within_their_bounds(
    n: int, ell: int, phase: int | None
) -> None:
    landscape = Landscape.jump(n, ell)
    a = distribution(landscape, paper(n), phase=phase, method="powers")
    b = distribution(landscape, paper(n), phase=phase, method="inversion")
    times = np.arange(0, 800)
    assert np.abs(a.cdf(times) - b.cdf(times)).max() <= a.error + b.error
    assert a.error < 1e-10
    assert b.error < 1e-10
    for q in (0.01, 0.3, 0.5, 0.9, 0.999):
        assert a.quantile(q) == b.quantile(q)


def test_powers_are_the_exact_probabilities() -> None:
    landscape = Landscape.jump(9, 2)
    chain = enumerate_joint(StepLaw.of(landscape, paper(9))).chain
    law = distribution(landscape, paper(9), method="powers")
    mass = {int(chain.start[0]): fmpq(1)}
    for t in range(25):
        arrived = sum((w for i, w in mass.items() if chain.positions[i] == 9), fmpq(0))
        assert abs(to_float(arrived) - law.cdf(t)) <= law.error
        following: dict[int, fmpq] = {}
        for i, w in mass.items():
            for j, p in chain.row(i):
                following[j] = following.get(j, fmpq(0)) + w * p
        mass = following
    assert arrived > 0


@pytest.mark.parametrize(
    ("n", "ell"),
    [
        (150, 72),
        *(pytest.param(*x, marks=pytest.mark.slow) for x in ((100, 2), (200, 2), (300, 17))),
    ],
)
def test_moments_of_the_inverted_law(n: int, ell: int) -> None:
    landscape = Landscape.jump(n, ell)
    law = distribution(landscape, paper(n), method="inversion")
    result = runtime(landscape, paper(n), field="float")
    step = max(1, int(law.deviation) // 200)
    times = np.arange(0, int(law.mean + 25 * law.deviation), step)
    survival = 1 - law.cdf(times)
    # E[T] = sum of P(T > t); a sum over every step-th t is off by at most one step
    assert abs(survival.sum() * step - float(result.total)) <= step + 1
    assert law.mean == pytest.approx(float(result.total), rel=1e-12)
    assert law.deviation == pytest.approx(float(result.variance) ** 0.5, rel=1e-9)


@pytest.mark.slow
def test_probabilities_add_up_and_are_monotone() -> None:
    law = distribution(Landscape.jump(60, 5), paper(60), method="inversion")
    times = np.arange(-2, law.quantile(0.9999))
    values = law.cdf(times)
    assert values[0] == 0.0
    assert np.all(np.diff(values) >= -2 * law.error)
    assert law.pmf(times).sum() == pytest.approx(float(values[-1]), abs=1e-8)
    assert law.cdf(59) <= law.error  # sixty ones need sixty steps
    assert law.cdf(law.horizon + 10) == pytest.approx(1, abs=law.error)


@pytest.mark.parametrize("q", [0, 1, -0.5, 2])
def test_quantile_levels_are_checked(q: float) -> None:
    law = distribution(Landscape.jump(9, 2), paper(9))
    with pytest.raises(ParameterError, match="0 < q < 1"):
        law.quantile(q)


def test_unknown_phase_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"1\.\.3"):
        distribution(Landscape.jump(9, 2), paper(9), phase=4)


@pytest.mark.exhaustive
def test_thousands() -> None:
    law = distribution(Landscape.jump(2000, 2), paper(2000))
    assert law.method == "inversion"
    assert law.error < 1e-8
    assert law.cdf(law.quantile(0.5)) >= 0.5


def test_the_law_of_a_line_that_its_joint_chain_gives() -> None:
    """Segments have no law where a walk falls back any number of times; 6,142 states do."""
    landscape = Landscape.named("xdivk:k=3", n=30, helpers=["onemax"])
    law = distribution(landscape)
    assert law.method == "powers"
    assert law.error < 1e-11
    assert law.mean == pytest.approx(float(runtime(landscape).total), rel=1e-9)
