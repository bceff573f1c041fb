"""Floats that leave their range inside a solve: right to the last digits, or refused."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import MarkovChain
from markov_lrsao.chains.reaching import reach, reach_probabilities
from markov_lrsao.chains.solvers import _float, _system, backward, forward
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.chains.visits import expected_visits
from markov_lrsao.errors import SolverError
from markov_lrsao.exact.rationals import to_float


def power(exponent: int) -> Fraction:
    return Fraction(10) ** exponent


def agrees(chain: MarkovChain, target: np.ndarray, **options: Any) -> bool:
    """Return whether floats answered; assert that what they answered is right."""
    exact = reach(chain, target, **options).starts
    try:
        floats = reach(chain, target, field="float", **options).starts
    except SolverError as error:
        assert str(error).endswith('use `field="exact"`')  # noqa: PT017
        return False
    for a, b in zip(exact, floats, strict=True):
        assert a.certain == b.certain
        assert float(b.probability) == pytest.approx(float(a.probability), rel=1e-12, abs=0)
        assert (a.conditional_mean is None) == (b.conditional_mean is None)
        if a.conditional_mean is not None and b.conditional_mean is not None:
            assert float(b.conditional_mean) == pytest.approx(
                float(a.conditional_mean), rel=1e-12, abs=0
            )
            assert b.deviation == pytest.approx(a.deviation, rel=1e-9, abs=0)
    return True


def detour(first: int, second: int, third: int) -> MarkovChain:
    """From 0 to 1 with 10^first, there stay long (leave with 10^second), win with 10^third."""
    a, b, c = power(first), power(second), power(third)
    rows: list[dict[int, object]] = [
        {1: a, 4: 1 - a},
        {1: 1 - b, 2: b},
        {3: c, 4: 1 - c},
        {3: 1},
        {4: 1},
    ]
    return chain_from_rows(rows)


@pytest.mark.parametrize(
    "exponents",
    [
        (-150, -180, -290),
        (-170, -190, -1),
        (-280, -10, -10),
        (-1, -200, -1),
        (0, -290, -280),
        (-310, 0, 0),
        (0, -330, 0),
        (-1, -1, -1),
        (-100, -100, -100),
        (-101, -140, -200),
    ],
)
def test_small_factors_one_after_the_other(exponents: tuple[int, int, int]) -> None:
    answered = agrees(detour(*exponents), np.arange(5) == 3)
    assert answered == (exponents[0] + exponents[2] > -303 and exponents[1] > -303)


def test_a_small_branch_inside_is_noticed() -> None:
    """From the start the chance is large; only an inner state's is below the floats."""
    rows: list[dict[int, object]] = [
        {1: "1/2", 3: "1/2"},
        {2: power(-200), 4: 1 - power(-200)},
        {3: power(-150), 4: 1 - power(-150)},
        {3: 1},
        {4: 1},
    ]
    assert not agrees(chain_from_rows(rows), np.arange(5) == 3)


@pytest.mark.parametrize("seed", range(60))
def test_random_chains_with_numbers_of_all_sizes(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randrange(4, 9)
    rows: list[dict[int, object]] = []
    for i in range(size - 2):
        others = rng.sample([j for j in range(size) if j != i], rng.randrange(1, 4))
        small = [power(-rng.choice([0, 1, 5, 60, 120, 160, 200, 290])) / 4 for _ in others]
        rows.append({**dict(zip(others, small, strict=True)), i: 1 - sum(small)})
    chain = chain_from_rows([*rows, {size - 2: 1}, {size - 1: 1}])
    rewards = [fmpq(10) ** rng.choice([-150, -30, 0, 0, 40, 200]) for _ in range(size)]
    target = np.arange(size) == size - 2
    agrees(chain, target)
    agrees(chain, target, rewards=rewards)


def test_most_random_chains_are_answered() -> None:
    """The check above would pass if floats refused everything."""
    answered = 0
    for seed in range(40):
        rng = random.Random(seed)
        rows: list[dict[int, object]] = []
        for i in range(6):
            others = rng.sample([j for j in range(8) if j != i], 3)
            small = [power(-rng.choice([0, 1, 5, 30])) / 4 for _ in others]
            rows.append({**dict(zip(others, small, strict=True)), i: 1 - sum(small)})
        chain = chain_from_rows([*rows, {6: 1}, {7: 1}])
        answered += agrees(chain, np.arange(8) == 6)
    assert answered == 40


@pytest.mark.parametrize("value", [power(-399), power(-320), power(-308), power(309), power(400)])
def test_rewards_outside_the_floats(value: Fraction) -> None:
    chain = chain_from_rows([{0: "1/2", 1: "1/2"}, {1: 1}])
    reward = fmpq(value.numerator, value.denominator)
    with pytest.raises(SolverError, match=r'reward .*range of floats; use `field="exact"`'):
        reach(chain, np.array([False, True]), rewards=[reward, fmpq(0)], field="float")
    (r,) = reach(chain, np.array([False, True]), rewards=[reward, fmpq(0)]).starts
    assert r.mean.value == 2 * reward


@pytest.mark.parametrize("value", [power(-200), power(-140), power(150), power(180)])
def test_rewards_whose_variance_leaves_the_floats(value: Fraction) -> None:
    chain = chain_from_rows([{0: "1/2", 1: "1/2"}, {1: 1}])
    rewards = [fmpq(value.numerator, value.denominator), fmpq(0)]
    target = np.array([False, True])
    if value == power(-200):
        with pytest.raises(SolverError, match="variance is below the range of floats"):
            reach(chain, target, rewards=rewards, field="float")
        return
    (r,) = reach(chain, target, rewards=rewards, field="float").starts
    assert float(r.mean) == pytest.approx(2 * float(value), rel=1e-15)
    assert r.deviation == pytest.approx(math.sqrt(2) * float(value), rel=1e-15)
    assert (r.variance is None) == (value == power(180))


def test_a_variance_that_a_distant_scale_would_hide() -> None:
    """One start takes 10^200 steps, the other about 2: its variance is 2 all the same."""
    tiny = power(-200)
    rows: list[dict[int, object]] = [{0: 1 - tiny, 2: tiny}, {1: "1/2", 2: "1/2"}, {2: 1}]
    chain = chain_from_rows(rows, start=[0, 1])
    target = np.arange(3) == 2
    with pytest.raises(SolverError, match="variance has no digits"):
        reach(chain, target, field="float")
    (r,) = reach(chain, target, start=[0], field="float").starts
    assert r.deviation == pytest.approx(1e200, rel=1e-13)
    # Steps of little variance after a long wait do not matter to the one who waits.
    after: list[dict[int, object]] = [{0: 1 - tiny, 1: tiny}, {1: "1/2", 2: "1/2"}, {2: 1}]
    (r,) = reach(chain_from_rows(after), target, field="float").starts
    assert r.deviation == pytest.approx(1e200, rel=1e-13)


@pytest.mark.parametrize("exponent", [3, 15, 25, 60, 200])
def test_rounding_errors_of_very_many_steps(exponent: int) -> None:
    """A cycle whose states differ a little, left once in 10^exponent rounds."""
    out = Fraction(1, 10**exponent)
    rows: list[dict[int, object]] = [
        {1: "1/3", 2: "2/3"},
        {2: "3/7", 0: "4/7"},
        {0: "1/5", 1: Fraction(4, 5) - out / 2, 3: out / 2},
        {3: 1},
    ]
    assert agrees(chain_from_rows(rows), np.arange(4) == 3)


def test_sums_of_long_waits_are_answered_or_refused() -> None:
    """Fifty cycles one after the other: the deviation is a seventh of the mean."""
    refused = 0
    for exponent in (2, 4, 6, 14, 30):
        out = Fraction(1, 10**exponent)
        rows: list[dict[int, object]] = []
        for k in range(50):
            rows += [
                {2 * k + 1: Fraction(2, 3), 2 * k: Fraction(1, 3)},
                {2 * k: 1 - out, 2 * k + 2: out},
            ]
        refused += not agrees(chain_from_rows([*rows, {100: 1}]), np.arange(101) == 100)
    assert refused == 0


def test_a_certain_time_has_no_variance() -> None:
    rows: list[dict[int, object]] = [{k + 1: 1} for k in range(500)]
    (r,) = reach(chain_from_rows([*rows, {500: 1}]), np.arange(501) == 500, field="float").starts
    assert float(r.mean) == 500
    assert r.deviation == 0


def test_a_variance_without_digits_is_refused() -> None:
    """An error of 1e-10 of the variance, or 1e-20 of the squared mean, and no more."""
    from markov_lrsao.chains.reaching_systems import Systems

    systems = Systems.__new__(Systems)
    systems.field, systems.scale = "float", 1.0
    systems.mean, systems.spread = np.array([1.0]), np.array([1e-7])
    for error, good in [(0.9e-17, True), (1.1e-17, False)]:
        systems.error = np.array([error])
        if good:
            assert systems.variance(0)[1] == pytest.approx(math.sqrt(1e-7))
        else:
            with pytest.raises(SolverError, match="no digits"):
                systems.variance(0)


@pytest.fixture(params=["band", "sparse"])
def elimination(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "sparse":
        monkeypatch.setattr(_system, "_WIDE", 0)
        monkeypatch.setattr(_system, "_SLOW_BAND", 0.0)
    return str(request.param)


def ladder(size: int, up: Fraction, leak: Fraction, chords: int = 0) -> MarkovChain:
    """Up with a small chance, else down; from every state straight to the end with `leak`."""
    rng = random.Random(size)
    rows: list[dict[int, object]] = []
    for k in range(size):
        row: dict[int, Fraction] = {}
        for j, p in ((min(k + 1, size), up), (max(k - 1, 0), 1 - up - leak), (size, leak)):
            row[j] = row.get(j, Fraction(0)) + p
        for _ in range(chords):
            j = rng.randrange(size)
            row = {i: p / 2 for i, p in row.items()}
            row[j] = row.get(j, Fraction(0)) + Fraction(1, 2)
        rows.append({j: p for j, p in row.items() if p})
    return chain_from_rows([*rows, {size: 1}])


def test_fill_that_underflows_without_harm_is_no_reason_to_refuse(elimination: str) -> None:
    """Climbing 60 steps at once has a chance of 10^-600, and nobody minds."""
    chain = ladder(60, power(-10), Fraction(1, 10))
    target = np.arange(61) == 60
    ones, zeros = [fmpq(1)] * 61, [fmpq(0)] * 61
    exact = [to_float(v) for v in backward(chain, ~target, ones, zeros)]
    floats = backward(chain, ~target, np.ones(61), np.zeros(61), field="float")
    np.testing.assert_allclose(floats, exact, rtol=1e-13)


@pytest.mark.parametrize("chords", [0, 1])
@pytest.mark.parametrize("up", [-3, -6, -30])
def test_chances_of_leaving_below_the_floats(elimination: str, up: int, chords: int) -> None:
    """Without a leak one must climb all the way; floats refuse where that is 10^-300 and less."""
    size = 60
    chain = ladder(size, power(up), Fraction(0), chords)
    target = np.arange(size + 1) == size
    exact = backward(chain, ~target, [fmpq(1)] * (size + 1))
    try:
        floats = backward(chain, ~target, np.ones(size + 1), field="float")
    except SolverError as error:
        assert "range of floats" in str(error)  # noqa: PT017
        assert exact[0] > fmpq(10) ** 290
    else:
        np.testing.assert_allclose(floats, [to_float(v) for v in exact], rtol=1e-11)


def test_probabilities_of_reaching_far_states(elimination: str) -> None:
    rows: list[dict[int, object]] = [{201: 1}]
    rows += [{k - 1: "99/100", k + 1: "1/100"} for k in range(1, 200)]
    chain = chain_from_rows([*rows, {200: 1}, {201: 1}], start=[199])
    target = np.arange(202) == 200
    with pytest.raises(SolverError, match='below the range of floats; use `field="exact"`'):
        reach_probabilities(chain, target, field="float")


@pytest.mark.parametrize("factor", [-3, -5])
def test_visits_of_improbable_positions(factor: int, elimination: str) -> None:
    """Every step goes on with a small chance: the k-th position has 10^(factor k) arrivals."""
    p = power(factor)
    rows: list[dict[int, object]] = [{k + 1: p, 101: 1 - p} for k in range(100)]
    chain = chain_from_rows([*rows, {100: 1}, {101: 1}])
    target = np.arange(102) >= 100
    if factor == -5:
        with pytest.raises(SolverError, match="below the range of floats"):
            expected_visits(chain, target, field="float")
    exact = [to_float(v) for v in forward(chain, ~target, [fmpq(int(i == 0)) for i in range(102)])]
    flow = forward(chain, ~target, np.eye(102)[0], field="float")
    large = np.array(exact) > 1e-200
    np.testing.assert_allclose(flow[large], np.array(exact)[large], rtol=1e-13)


def judged(values: list[float], report: list[float]) -> bool:
    try:
        _float._judge(np.array(values), np.array(report), 1e-300)
    except SolverError:
        return False
    return True


def test_the_judge_of_lost_digits() -> None:
    """2^-1073 M s^3 / L must stay below 2^-53: here M = 2^m, L = 2^-k, s = 2."""
    assert judged([1.0, 2.0**500], [0.0, 2.0**-1000, 0.0])  # nothing was lost
    for m, k, good in [
        (0, 0, True),
        (500, 500, True),
        (500, 517, True),
        (500, 518, False),
        (0, 1017, True),
        (0, 1018, False),
        (900, 900, False),
    ]:
        assert judged([1.0, 2.0**m], [1.0, 2.0**-k, 0.0]) is good, (m, k)
    assert not judged([1.0, math.inf], [0.0, 1.0, 0.0])
    assert not judged([1.0, math.nan], [0.0, 1.0, 0.0])
    assert judged([], [1.0, 1.0, 0.0])
