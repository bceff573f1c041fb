"""Floats that carry their error: every bound is reached by a worst case, and no more."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.balls import Ball, Mixture, Positive, checked
from markov_lrsao.exact.measures import Measure

UNIT = 2.0**-53
MANY = 2**39
"""Roundings that make a relative error of 6e-5: far above those of the operations themselves."""


def exact(x: float) -> fmpq:
    return fmpq(*float(x).as_integer_ratio())


def ends(x: Ball | Positive) -> list[fmpq]:
    """The two ends of what a number may be."""
    if isinstance(x, Ball):
        return [exact(x.mid) - exact(x.rad), exact(x.mid) + exact(x.rad)]
    spread = exact(x.roundings * UNIT)
    return [exact(x.value) * (1 - spread), exact(x.value) * (1 + spread)]


def assert_tight(found: Ball, truths: list[fmpq], room: float = 1.1) -> None:
    """All truths lie in the ball, and the ball is not much larger than they need."""
    worst = max(abs(t - exact(found.mid)) for t in truths)
    assert worst <= exact(found.error)
    assert exact(found.error) <= worst * exact(room)


def test_a_sum_is_off_by_half_a_unit() -> None:
    assert_tight(Ball(1.0) + Ball(UNIT), [1 + exact(UNIT)])
    assert_tight(Ball(1.0) - Ball(-UNIT), [1 + exact(UNIT)])


def test_a_product_is_off_by_half_a_unit() -> None:
    a, b = 1 + 2.0**-27, 1 + 2.0**-26
    assert_tight(Ball(a) * Ball(b), [exact(a) * exact(b)])
    assert_tight(Positive(a) * Ball(b), [exact(a) * exact(b)], room=2.1)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Ball(3.0, 0.25), Ball(5.0, 0.5)),
        (Ball(-3.0, 0.25), Ball(5.0, 0.5)),
        (Ball(0.0, 2.0), Ball(-7.0, 1.0)),
        (Ball(1.0, 3.0), Ball(1.0, 3.0)),
        (Positive(3.0, MANY), Ball(5.0, 0.5)),
        (Positive(3.0, MANY), Ball(-5.0)),
    ],
)
def test_radii_reach_the_corners(a: Any, b: Ball) -> None:
    corners = list(product(ends(a), ends(b)))
    assert_tight(a * b, [x * y for x, y in corners])
    if isinstance(a, Ball):
        assert_tight(a + b, [x + y for x, y in corners])
        assert_tight(a - b, [x - y for x, y in corners])


def test_relative_errors_add_up() -> None:
    a, b = Positive(3.0, MANY), Positive(7.0, 3 * MANY)
    for found, expected in ((a * b, 4 * MANY + 1), (a / b, 4 * MANY + 1), (a + b, 3 * MANY + 1)):
        assert found.roundings == expected
    assert_tight((a - b), [x - y for x, y in product(ends(a), ends(b))])
    assert (2 * a).roundings == MANY + 1
    total = sum([a, b])
    assert isinstance(total, Positive)
    assert total.roundings == 3 * MANY + 1


def test_a_relative_bound_is_the_number_of_roundings() -> None:
    assert MANY * UNIT <= Positive(1.0, MANY).relative <= 1.02 * MANY * UNIT
    with pytest.raises(SolverError, match="roundings"):
        _ = Positive(1.0, 2**44).relative


@pytest.mark.parametrize(("x", "y"), [(1.0, 1.0), (1.0, 40.0), (40.0, 1.0)])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Ball(3.0), Ball(4.0)),
        (Ball(-3.0), Ball(1000.0)),
        (Ball(5.0, 0.5), Ball(5.0, 0.25)),
        (Ball(1.0, 0.5), Ball(2.0)),
        (Ball(1.0), Ball(2.0, 0.5)),
    ],
)
@pytest.mark.parametrize("roundings", [(MANY, MANY), (MANY, 0), (0, MANY)])
def test_mixtures_reach_the_corners(
    x: float, y: float, a: Ball, b: Ball, roundings: tuple[int, int]
) -> None:
    masses = Positive(x, roundings[0]), Positive(y, roundings[1])
    truths = [
        (p * s + q * t) / (p + q) for p, q, s, t in product(*(ends(m) for m in (*masses, a, b)))
    ]
    # The bound takes the larger of the two masses' errors for both: at most twice too much.
    assert_tight(Mixture(*masses)(a, b), truths, room=2.2)


def test_a_mixture_of_equals_does_not_see_the_errors_of_its_weights() -> None:
    found = Mixture(Positive(1.0, MANY), Positive(3.0, MANY))(Ball(1e6), Ball(1e6))
    assert found.error < 1e-8


@pytest.mark.parametrize("seed", range(40))
def test_roundings_of_a_mixture_are_covered(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, a, b = (float(v) for v in rng.uniform(0.1, 10, 4))
    a = -a if seed % 2 else a
    found = Mixture(Positive(x), Positive(y))(Ball(a), Ball(b))
    truth = (exact(x) * exact(a) + exact(y) * exact(b)) / (exact(x) + exact(y))
    assert abs(exact(found.mid) - truth) <= exact(found.error)
    assert found.error <= 8 * UNIT * (abs(a) + abs(b))


def random_measure(rng: np.random.Generator, top: float = 1.0) -> list[fmpq]:
    """A measure of three atoms: mass, mean, central moments."""
    at = [exact(v) for v in rng.integers(1, 30, 3)]
    weights = [fmpq(int(w)) for w in rng.integers(1, 9, 3)]
    mass = exact(int(rng.integers(1, 60))) / 64 * exact(top)
    total = sum(weights, fmpq(0))
    mean = sum((w * t for w, t in zip(weights, at, strict=True)), fmpq(0)) / total
    return [
        mass,
        mean,
        *(
            sum((w * (t - mean) ** k for w, t in zip(weights, at, strict=True)), fmpq(0)) / total
            for k in (2, 3, 4)
        ),
    ]


def as_floats(values: list[fmpq]) -> Measure:
    def ball(v: fmpq) -> Ball:
        mid = int(v.p) / int(v.q)
        return Ball(mid, UNIT * abs(mid))

    return Measure((Positive(int(values[0].p) / int(values[0].q), 1), *map(ball, values[1:])))


@pytest.mark.parametrize("seed", range(30))
def test_measures_in_floats_contain_the_exact_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_measure(rng), random_measure(rng)
    leaving = 1 - a[0]
    pairs = [
        (Measure(a).followed_by(Measure(b)), as_floats(a).followed_by(as_floats(b))),
        (Measure(a).mixed(Measure(b)), as_floats(a).mixed(as_floats(b))),
        (
            Measure(a).repeated(leaving),
            as_floats(a).repeated(Positive(int(leaving.p) / int(leaving.q), 1)),
        ),
    ]
    for truth, found in pairs:
        assert abs(exact(found[0].value) / truth[0] - 1) <= exact(found[0].relative)
        for t, x in zip(truth[1:], found[1:], strict=True):
            assert abs(exact(x.mid) - t) <= exact(x.error)
            assert x.error <= 1e-12 * max(abs(x.mid), float(found[1].mid))


def test_a_measure_is_its_atoms() -> None:
    """Mixture and convolution of point masses against sums over the atoms."""

    def law(atoms: dict[int, fmpq]) -> list[fmpq]:
        mass = sum(atoms.values(), fmpq(0))
        mean = sum((t * w for t, w in atoms.items()), fmpq(0)) / mass
        return [
            mass,
            mean,
            *(
                sum(((t - mean) ** k * w for t, w in atoms.items()), fmpq(0)) / mass
                for k in (2, 3, 4)
            ),
        ]

    a = {1: fmpq(1, 3), 4: fmpq(1, 6), 11: fmpq(1, 12)}
    b = {0: fmpq(1, 5), 7: fmpq(1, 7)}
    both: dict[int, fmpq] = {}
    for (s, w), (t, v) in product(a.items(), b.items()):
        both[s + t] = both.get(s + t, fmpq(0)) + w * v
    assert list(Measure(law(a)).followed_by(Measure(law(b)))) == law(both)
    assert list(Measure(law(a)).mixed(Measure(law(b)))) == law({**a, **b})


def test_repetitions_against_their_sum() -> None:
    """1 / (1 - a) = 1 + a + a^2 + ..: forty terms leave less than 1e-11."""
    one = Measure((fmpq(1), *[fmpq(0)] * 4))
    a = Measure((fmpq(1, 4), fmpq(3), fmpq(2), fmpq(-1), fmpq(9)))
    total, power = one, one
    for _ in range(40):
        power = power.followed_by(a)
        total = total.mixed(power)
    for x, y in zip(total, a.repeated(fmpq(3, 4)), strict=True):
        assert abs(x - y) < fmpq(1, 10**11)


def test_underflow_and_overflow_are_refused() -> None:
    for operation in (
        lambda: Positive(1e-200) * Positive(1e-200),
        lambda: Positive(np.array([1e-200])) * Positive(np.array([1e-200])),
        lambda: Ball(np.array([1e200])) * Ball(np.array([1e200])),
        lambda: Positive(np.array([1.0])) / Positive(np.array([0.0])),
    ):
        with pytest.raises(SolverError, match="floats do not hold"), checked():
            operation()
