from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from instances import valid_pairs
from oracles import h_interval, paper_parameters

from markov_lrsao import Algorithm, AlgorithmFamily, Landscape, Parameters, hypothesis_h
from markov_lrsao.answers.expected import check_hypothesis
from markov_lrsao.errors import ExactnessError, ParameterError
from markov_lrsao.exact.rationals import RationalLike, fraction

rates = st.fractions(Fraction(1, 100), Fraction(99, 100))


@pytest.mark.parametrize("n", [9, 10, 50, 10_000])
def test_the_papers_parameters(n: int) -> None:
    p = Parameters.paper(n)
    assert tuple(map(fraction, (p.alpha, p.gamma, p.r))) == paper_parameters(n)
    assert fraction(p.decay) == 1 - Fraction(4, 5) * Fraction(n, n + 1)


def test_given_values_replace_defaults_and_r_follows() -> None:
    p = Parameters.paper(9, alpha="1/2", gamma="0.2")
    assert (p.alpha, p.gamma) == (fmpq(1, 2), fmpq(1, 5))
    assert p.r == 9 * (1 / (fmpq(1, 2) * fmpq(4, 5)) - 1)
    assert Parameters.paper(9, r=0).r == 0


@pytest.mark.parametrize("name", ["alpha", "gamma"])
@pytest.mark.parametrize("value", ["0", "1", "-1/2", "3/2"])
def test_rates_lie_in_the_open_unit_interval(name: str, value: str) -> None:
    with pytest.raises(ParameterError, match=f"{name} = {value} is out of range: 0 < {name} < 1"):
        Parameters.paper(9, **{name: value})


def test_other_bad_values() -> None:
    with pytest.raises(ParameterError, match="r = -1 is out of range"):
        Parameters.of("1/2", "1/2", -1)
    with pytest.raises(ExactnessError, match=r"alpha = 0\.8 is a binary float"):
        Parameters.of(0.8, "1/2", 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("build", [Parameters, Parameters.of])
@pytest.mark.parametrize("alpha", ["0.8", "4/5", Fraction(4, 5), fmpq(4, 5), Decimal("0.8")])
@pytest.mark.parametrize("r", [3, "3", np.int64(3), np.uint8(3), Fraction(3), Decimal(3)])
def test_anything_exact_will_do(
    build: Callable[..., Parameters], alpha: RationalLike, r: RationalLike
) -> None:
    found = build(alpha, "1/10", r)
    assert [type(x) for x in (found.alpha, found.gamma, found.r)] == [fmpq] * 3
    assert (found.alpha, found.gamma, found.r) == (fmpq(4, 5), fmpq(1, 10), fmpq(3))
    same = Parameters(r=3, alpha="0.80", gamma="0.1")
    assert found == same
    assert hash(found) == hash(same)
    assert Algorithm.lrsao(found) == Algorithm.lrsao(same)
    assert hash(Algorithm.lrsao(found)) == hash(Algorithm.lrsao(same))
    assert found != Parameters(alpha, "1/10", "3.1")


@pytest.mark.parametrize("value", [0.5, np.float64(0.5), np.float32(0.5)])
@pytest.mark.parametrize("name", ["alpha", "gamma", "r"])
def test_floats_are_refused_wherever_they_stand(name: str, value: object) -> None:
    given: dict[str, object] = {"alpha": "1/2", "gamma": "1/2", "r": "1/2", name: value}
    line = rf'{name} = 0\.5 is a binary float, .*: write "0\.5" or "1/2"$'
    for build in (Parameters, AlgorithmFamily):
        with pytest.raises(ExactnessError, match=line):
            build(**given)  # type: ignore[arg-type]


def test_numpys_integers_are_integers() -> None:
    assert Parameters.paper(np.int64(9)) == Parameters.paper(9)
    with pytest.raises(ParameterError, match=r"n = 9\.0 is not an integer"):
        Parameters.paper(9.0)  # type: ignore[arg-type]


def test_families_of_algorithms_compare_by_what_is_given() -> None:
    assert Algorithm.lrsao() == AlgorithmFamily()
    assert AlgorithmFamily("0.8") == AlgorithmFamily(fmpq(4, 5)) != AlgorithmFamily()
    assert len({AlgorithmFamily("0.8"), AlgorithmFamily("4/5")}) == 1


@given(st.sampled_from(valid_pairs(25)), rates, rates, st.fractions(0, 200))
def test_hypothesis_h(pair: tuple[int, int], alpha: Fraction, gamma: Fraction, r: Fraction) -> None:
    n, ell = pair
    h = hypothesis_h(Landscape.jump(n, ell), Parameters.of(alpha, gamma, r))
    low, high = h_interval(n, ell, alpha, gamma)
    assert (fraction(h.lower), fraction(h.upper)) == (low, high)
    assert h.holds == (low < r < high)
    # the paper's condition for the interval to be non-empty
    assert h.satisfiable == ((1 - gamma) / (gamma * (1 - alpha * (1 - gamma))) > n - ell - 1)
    assert ("no r satisfies" in h.describe()) != h.satisfiable


@given(st.sampled_from(valid_pairs(30)), rates)
def test_small_gamma_suffices(pair: tuple[int, int], alpha: Fraction) -> None:
    # "it is enough to take gamma <= 1/(n+1) without any assumptions on alpha or l"
    n, ell = pair
    h = hypothesis_h(Landscape.jump(n, ell), Parameters.paper(n, alpha))
    assert h.satisfiable
    assert hypothesis_h(Landscape.jump(n, ell), Parameters.paper(n)).holds


def test_the_ends_of_the_interval_are_excluded() -> None:
    landscape = Landscape.jump(9, 2)
    for r in ("7/3", "25/2"):
        assert not hypothesis_h(landscape, Parameters.paper(9, r=r)).holds
        with pytest.raises(ParameterError, match=r"7/3 < r < 25/2.*`outside_h=True`"):
            check_hypothesis(landscape, Algorithm.lrsao(Parameters.paper(9, r=r)))
    assert check_hypothesis(landscape, Algorithm.lrsao(Parameters.paper(9))) is True
    assert check_hypothesis(landscape, Algorithm.rls()) is None
    outside = Algorithm.lrsao(Parameters.paper(9, r=100))
    assert check_hypothesis(landscape, outside, outside_h=True) is False
