"""Runtimes to certified digits: those of the exact fraction, or none."""

from __future__ import annotations

import pytest
from flint import arb, ctx, fmpq, fmpz

from markov_lrsao import Algorithm, Landscape, Parameters, RuntimeResult, runtime
from markov_lrsao.errors import ParameterError, VerificationError
from markov_lrsao.exact.digits import Digits
from markov_lrsao.exact.progressions import BallMatrices, Scaled
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import decimal_text


def numbers(result: RuntimeResult) -> list[Quantity]:
    """Return all numbers of a result."""
    return [
        result.total,
        *result.phases,
        result.variance,
        *result.phase_variances,
        *result.higher,
        *(x for phase in result.phase_higher for x in phase),
    ]


def same_digits(landscape: Landscape, digits: int, moments: int = 2) -> None:
    """Compare digits from balls with those of the fractions."""
    exact = runtime(landscape, method="crossing")
    found = runtime(landscape, method="crossing", digits=digits, moments=moments)
    assert found.certified
    assert found.kind == "digits"
    for number, fraction in zip(numbers(found)[:8], numbers(exact), strict=True):
        assert isinstance(number, Digits)
        assert number.known is None  # it comes from balls
        assert number.decimal == decimal_text(fraction.value, digits)
        assert number.upper is not None
        assert number.lower <= fraction.value <= number.upper


def test_digits_at_a_thousand_are_those_of_the_fraction() -> None:
    same_digits(Landscape.jump(1000, 2), 50)


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (30, 5), (41, 18), (200, 14)])
@pytest.mark.parametrize("digits", [1, 17, 300])
def test_digits_are_those_of_the_fraction(n: int, ell: int, digits: int) -> None:
    same_digits(Landscape.jump(n, ell), digits)


def test_four_moments_agree_with_the_joint_chain() -> None:
    joint = runtime(Landscape.jump(9, 2), method="joint", digits=40, moments=4)
    balls = runtime(Landscape.jump(9, 2), method="crossing", digits=40, moments=4)
    assert [x.decimal for x in numbers(joint)] == [x.decimal for x in numbers(balls)]
    assert joint.certified
    assert balls.certified
    assert len(numbers(balls)) == 16
    assert joint.total.rational == "51740216905/1185192162"
    assert balls.total.rational is None


def test_balls_agree_with_floats_far_beyond_the_exact_ones() -> None:
    landscape = Landscape.jump(20_001, 27)
    floats = runtime(landscape, field="float")
    balls = runtime(landscape, digits=30)
    assert balls.certified
    for rough, number in zip(numbers(floats), numbers(balls), strict=True):
        assert rough.upper is not None
        assert number.upper is not None
        assert rough.lower <= number.upper
        assert number.lower <= rough.upper
    rough, collected = floats.coupon_collector, balls.coupon_collector
    assert isinstance(collected, Digits)
    assert collected.certified
    assert rough.lower <= collected.lower
    assert rough.upper is not None
    assert collected.upper is not None
    assert collected.upper <= rough.upper


def test_probabilities_that_do_not_add_up_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    right = BallMatrices.of

    def wrong(exact: Scaled) -> BallMatrices:
        return right(Scaled(exact.layers, exact.below + fmpz(1), exact.step))

    monkeypatch.setattr(BallMatrices, "of", staticmethod(wrong))
    with pytest.raises(VerificationError, match="add up to"):
        runtime(Landscape.jump(40, 3), digits=30)


def test_balls_that_miss_the_truth_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    right = BallMatrices.of

    def beside(exact: Scaled) -> BallMatrices:
        first, *others = right(exact).layers
        first[0, 0] = first[0, 0] + arb(2) ** (16 - ctx.prec)  # far less than a digit asked for
        return BallMatrices([first, *others])

    monkeypatch.setattr(BallMatrices, "of", staticmethod(beside))
    with pytest.raises(VerificationError, match="add up to"):
        runtime(Landscape.jump(40, 3), digits=30)


@pytest.mark.slow
def test_an_open_comparison_leaves_an_enclosure() -> None:
    algorithm = Algorithm.lrsao(Parameters.of("4/5", "1/10", "2"))
    result = runtime(Landscape.jump(9, 2), algorithm, digits=12, tolerance="1/100", outside_h=True)
    assert not result.certified
    assert result.kind == "enclosure"
    total = result.total
    assert isinstance(total, Digits)
    assert total.upper is not None
    assert total.upper - total.lower > fmpq(1, 10**6)
    assert "not all of 12 digits are certain" in str(result)


def test_digits_and_floats_exclude_each_other() -> None:
    with pytest.raises(ParameterError, match="digits = 9 are certain, and floats are not"):
        runtime(Landscape.jump(9, 2), field="float", digits=9)
    with pytest.raises(ParameterError, match="digits = 0 is out of range"):
        runtime(Landscape.jump(9, 2), digits=0)
