"""Mean and central moments in floats: bounds that hold, against fractions and many digits."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.answers.counting import moments_in_floats
from markov_lrsao.chains import solvers
from markov_lrsao.chains.float_moments import float_moments
from markov_lrsao.chains.hitting import phase_moments
from markov_lrsao.crossing.decomposition import decompose
from markov_lrsao.crossing.generating import Evaluation, GeneratingFunction
from markov_lrsao.errors import SolverError
from markov_lrsao.exact.moments import central_from_factorial
from markov_lrsao.exact.quantity import Approximate, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.values.enclosure import counted_phases


def law_of(n: int, ell: int, **given: str) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n, **given)))


def exactly(x: float) -> fmpq:
    return fmpq(*float(x).as_integer_ratio())


def assert_encloses(quantity: Quantity, truth: fmpq, relative: float) -> None:
    assert isinstance(quantity, Approximate)
    assert quantity.error is not None
    assert abs(exactly(quantity.middle) - truth) <= exactly(quantity.error)
    assert quantity.error <= relative * abs(quantity.middle)


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (37, 4), (150, 2), (151, 73), (260, 31)])
def test_floats_are_within_their_bounds_of_the_fractions(n: int, ell: int) -> None:
    d = decompose(law_of(n, ell))
    chosen = counted_phases(d.law)
    function = GeneratingFunction(d, Evaluation(exact=True, order=4))
    for phases, floats in zip(chosen, moments_in_floats(d, chosen, 4), strict=True):
        for quantity, truth in zip(floats, central_from_factorial(function(phases)), strict=True):
            assert_encloses(quantity, truth, 1e-10)


class _Digits(Evaluation):
    """Series in numbers of 120 digits with certified radii, by the same formulas as floats."""

    def number(self, numerator: int, denominator: int) -> Any:
        return arb(fmpq(numerator, denominator))

    def column(self, numerators: Any, denominator: int) -> Any:
        return np.array([arb(fmpq(int(x), denominator)) for x in numerators], dtype=object)


def digits(law: StepLaw) -> list[list[Any]]:
    """Central moments from raw ones, in 120 digits: a hundred may cancel."""
    d = decompose(law)
    ctx.prec = 400
    try:
        function = GeneratingFunction(d, _Digits(exact=False, order=4))
        return [central_from_factorial(function(phases)) for phases in counted_phases(law)]
    finally:
        ctx.prec = 53


def compare_with_digits(n: int, ell: int) -> None:
    law = law_of(n, ell)
    found = moments_in_floats(decompose(law), counted_phases(law), 4)
    for floats, truths in zip(found, digits(law), strict=True):
        for quantity, truth in zip(floats, truths, strict=True):
            low, high = truth.lower(), truth.upper()
            assert isinstance(quantity, Approximate)
            assert quantity.error is not None
            off = max(abs(float(quantity) - low), abs(float(quantity) - high))
            assert off <= quantity.error
            assert quantity.error <= 1e-10 * abs(float(quantity))


@pytest.mark.parametrize(("n", "ell"), [(1_201, 598), (700, 6)])
def test_nothing_cancels_at_larger_n(n: int, ell: int) -> None:
    compare_with_digits(n, ell)


@pytest.mark.parametrize(
    ("n", "ell"),
    [
        pytest.param(150_001, 74_998, marks=pytest.mark.exhaustive),
        pytest.param(15_000, 120, marks=pytest.mark.slow),
        pytest.param(5_001, 2_498, marks=pytest.mark.slow),
    ],
)
def test_nothing_cancels_at_large_n(n: int, ell: int) -> None:
    compare_with_digits(n, ell)


def test_collecting_coupons_at_n_of_300_000() -> None:
    """RLS on OneMax: a sum of independent geometric times, whose cumulants add up."""
    n = 300_000
    result = runtime(
        Landscape.onemax(n), Algorithm.rls(), field="float", moments=4, method="crossing"
    )
    p = np.arange(n) / n  # a step is lost with this probability
    q = np.arange(n, 0, -1) / n
    mean, second, third, fourth = (
        fsum(x) for x in (1 / q, p / q**2, p * (1 + p) / q**3, p * (1 + 4 * p + p**2) / q**4)
    )
    truths = (mean, second, third, fourth + 3 * second**2)
    for quantity, truth in zip(
        (result.total, result.variance, *result.higher), truths, strict=True
    ):
        assert float(quantity) == pytest.approx(truth, rel=1e-13)
        assert isinstance(quantity, Approximate)
        assert quantity.error is not None
        assert quantity.error < 1e-12 * truth


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (11, 3)])
def test_joint_floats_are_within_their_bounds(n: int, ell: int) -> None:
    chain = enumerate_joint(law_of(n, ell)).chain
    ends = [chain.positions >= m for m in Landscape.jump(n, ell).milestones]
    for begin, end in [(None, ends[-1]), *zip([None, *ends], ends, strict=False)]:
        truths = phase_moments(chain, begin, end, 4)
        for ball, truth in zip(float_moments(chain, begin, end, 4), truths, strict=True):
            assert_encloses(Quantity.of(ball), truth, 1e-7)


def test_a_wrong_solution_shows_in_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spoil what the solver returns: the error bound must grow to cover it."""
    import markov_lrsao.chains.float_moments as module

    chain = enumerate_joint(law_of(9, 2)).chain
    end = chain.positions == 9
    truths = phase_moments(chain, None, end, 3)
    usual = solvers.backward

    for spoilt in (0, 1, 2):
        calls = 0

        def backward(*given: Any, at: int = spoilt, **named: Any) -> Any:
            nonlocal calls
            values = usual(*given, **named)
            calls += 1
            if calls - 1 == at:
                rng = np.random.default_rng(at)
                inside = given[1]
                values = np.where(inside, values * (1 + 1e-6 * rng.random(len(values))), values)
            return values

        monkeypatch.setattr(module, "backward", backward)
        found = float_moments(chain, None, end, 3)
        assert calls == 3
        for ball, truth in zip(found, truths, strict=True):
            assert abs(exactly(ball.mid) - truth) <= exactly(ball.error)
        assert found[spoilt].error > 1e-8 * abs(float(found[spoilt]))


def test_a_hopeless_solution_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import markov_lrsao.chains.float_moments as module

    chain = enumerate_joint(law_of(9, 2)).chain
    usual = solvers.backward
    monkeypatch.setattr(module, "backward", lambda *given, **named: 0.3 * usual(*given, **named))
    with pytest.raises(SolverError, match="exact fractions"):
        float_moments(chain, None, chain.positions == 9, 2)


def test_digits_are_those_that_are_known() -> None:
    """The printed decimal is within a unit of its last digit of the truth."""
    law = law_of(60, 3)
    function = GeneratingFunction(decompose(law), Evaluation(exact=True, order=4))
    truths = central_from_factorial(function([True] * 3))
    (found,) = moments_in_floats(decompose(law), [[True] * 3], 4)
    for error in (None, 1e-3, 0.5):
        for quantity, truth in zip(found, truths, strict=True):
            shown = quantity
            if error is not None:
                shown = Approximate(float(quantity), error * abs(float(quantity)))
            mantissa = shown.decimal.partition("e")[0]
            digits_shown = len(mantissa.replace(".", "").lstrip("0"))
            value = to_float(truth)
            unit = 10.0 ** (np.floor(np.log10(abs(value))) - digits_shown + 1)
            assert abs(float(shown.decimal) - value) <= unit
            if error is not None:
                assert digits_shown <= (3 if error == 1e-3 else 1)


def test_an_unknown_sign_is_shown_as_nothing() -> None:
    from markov_lrsao.exact.balls import Ball

    found = Quantity.of(Ball(-3.0, 5.0))
    assert isinstance(found, Approximate)
    assert (found.middle, found.decimal) == (0.0, "0")
    assert found.error is not None
    assert found.error >= 8.0
    assert found.to_dict()["error"].startswith("8.0")
