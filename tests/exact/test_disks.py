"""Disks contain what balls of many more bits find; points of the circle are those of FLINT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.disks import Circle, Disk

BITS = 250
part = st.floats(-8, 8).filter(lambda x: x == 0 or abs(x) > 1e-6)
number = st.builds(complex, part, part)
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: 1 - a + -b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "1/": lambda _, b: 1 / b,
}


def ball(x: complex) -> acb:
    return acb(arb(x.real), arb(x.imag))


def within(disk: Disk, index: int, truth: acb) -> bool:
    """Whether a ball of many bits lies in a disk."""
    distance = abs(ball(complex(disk.mid[index])) - truth)
    return bool(distance <= arb(float(disk.rad[index])))


@given(st.lists(st.sampled_from(sorted(OPERATIONS)), min_size=1, max_size=12), number, number)
@settings(max_examples=150)
def test_chains_of_operations_stay_inside(signs: list[str], x: complex, y: complex) -> None:
    a, b = Disk(np.array([x])), Disk(np.array([y]))
    with ctx.workprec(BITS):
        exact_a, exact_b = ball(x), ball(y)
        for sign in signs:
            try:
                a, b = OPERATIONS[sign](a, b), a
            except SolverError:
                return
            exact_a, exact_b = OPERATIONS[sign](exact_a, exact_b), exact_a
            if not np.all(np.abs(a.mid) < 1e60) or np.any(np.abs(a.mid) < 1e-60):
                return
            assert within(a, 0, exact_a)
            assert float(abs(exact_a).lower()) <= a.upper[0]
            assert within(a.modulus(), 0, acb(abs(exact_a)))


def test_quotients_of_integers() -> None:
    found = Disk.ratio(np.arange(1, 50), 3 * 10**20 + 1)
    with ctx.workprec(BITS):
        for k in range(49):
            assert within(found, k, acb(arb(fmpq(k + 1, 3 * 10**20 + 1))))
    assert np.all(found.rad < 1e-15 * found.mid)


@pytest.mark.parametrize("points", [1, 2, 7, 64, 1000, 10**9 + 7, 10**14])
def test_points_of_the_circle(points: int) -> None:
    circle = Circle(points)
    j = np.array([0, 1, 2, 5, points // 3, points // 2, points - 1, points, 3 * points + 1, -2])
    found, less = circle(j), circle.complements(j.tolist())
    with ctx.workprec(BITS):
        for k, number in enumerate(j.tolist()):
            truth = acb(arb(fmpq(2 * number, points))).exp_pi_i()
            assert within(found, k, truth)
            assert within(less, k, 1 - truth)
            assert less.rad[k] <= 1e-15 * abs(less.mid[k]) + 1e-40
    assert found.rad.max() < 1e-14


def test_cotangents() -> None:
    circle = Circle(1000)
    found = circle.half_cotangents(500)
    with ctx.workprec(BITS):
        for j in range(1, 501):
            assert within(found, j - 1, acb(arb(fmpq(j, 1000)).cot_pi() / 2))


def test_a_disk_around_zero_has_no_inverse() -> None:
    with pytest.raises(SolverError, match="reaches 0"):
        1 / Disk(np.array([1e-9 + 0j]), np.array([1e-8]))


def test_radii_are_needed() -> None:
    third = 1 / Disk(np.array([3 + 0j]))
    with ctx.workprec(BITS):
        assert within(third, 0, acb(arb(fmpq(1, 3))))
        assert not within(Disk(third.mid, np.array([0.0])), 0, acb(arb(fmpq(1, 3))))
