"""The oracle against all policies of small landscapes, and the price of learning on Jump."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from markov_lrsao import Algorithm, Landscape
from markov_lrsao.answers.oracle import oracle
from markov_lrsao.errors import NotAbsorbingError


def time_of(policy: tuple[str, ...], objectives: dict[str, list[int]], n: int) -> Fraction | None:
    """E[T] from 0 to n of a fixed choice per position; None: infinite."""
    total = before = Fraction(0)
    for p, name in enumerate(policy):
        f = objectives[name]
        up = Fraction(n - p, n) if f[p + 1] >= f[p] else Fraction(0)
        down = Fraction(p, n) if p > 0 and f[p - 1] >= f[p] else Fraction(0)
        if up == 0:
            return None
        before = (1 + down * before) / up
        total += before
    return total


@pytest.mark.parametrize("seed", range(8))
def test_no_policy_is_better(seed: int) -> None:
    dice, n = random.Random(seed), 5
    objectives = {name: [dice.randrange(3) for _ in range(n + 1)] for name in "AB"}
    objectives["A"][n] = 5
    known = [time_of(policy, objectives, n) for policy in product("AB", repeat=n)]
    finite = [t for t in known if t is not None]
    shape = Landscape.from_arrays(objectives, target="A")
    if not finite:
        with pytest.raises(NotAbsorbingError):
            oracle(shape)
        return
    found = oracle(shape, Algorithm.earl(), outside_h=True)
    assert Fraction(str(found.best)) == min(finite)
    chosen = tuple(p.choice for p in found.positions)
    assert time_of(chosen, objectives, n) == min(finite)
    assert sum(Fraction(str(p.best)) for p in found.positions) == min(finite)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "ell", "price"),
    [
        (9, 2, 1.715),
        (100, 47, 1.022),
        pytest.param(1000, 2, 17.0, marks=pytest.mark.slow),
    ],
)
def test_the_price_of_learning_on_jump(n: int, ell: int, price: float) -> None:
    found = oracle(Landscape.jump(n, ell))
    assert Fraction(str(found.best)) == n * sum(Fraction(1, k) for k in range(1, n + 1))
    assert float(found.price) == pytest.approx(price, rel=2e-3)
    spent = [p.agent for p in found.positions]
    assert sum(s for s in spent if s is not None) == pytest.approx(float(found.agent.total))
