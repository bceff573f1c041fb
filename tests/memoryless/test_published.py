"""Numbers that others published, and closed forms: fractions identical, floats to 1e-12."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from markov_lrsao import Algorithm, Landscape, runtime
from markov_lrsao.model.levels import LeadingOnes


def fraction(name: str, landscape: Landscape | LeadingOnes, **how: object) -> Fraction:
    found = runtime(landscape, Algorithm.named(name), **how)  # type: ignore[arg-type]
    assert found.exact
    return Fraction(str(found.total))


def xdivk(n: int, k: int, *, onemax: bool = False) -> Landscape:
    values = {"X": [p // k for p in range(n + 1)]}
    return Landscape.from_arrays(
        values | ({"O": list(range(n + 1))} if onemax else {}), target="X", milestones=[n]
    )


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("rls", 449.4230337079514),
        ("ea:rate=1/n", 1069.5384972597178),
        pytest.param("rls-k:k=optimal", 432.35715093205295, marks=pytest.mark.slow),
        pytest.param("rls-k:k=drift", 432.5806535421, marks=pytest.mark.slow),
    ],
)
def test_onemax_of_100_bits(name: str, published: float) -> None:
    """Buskulic and Doerr, repository OneMaxOptimal: random start."""
    found = runtime(Landscape.onemax(100), Algorithm.named(name), start="random", field="float")
    assert float(found.total) == pytest.approx(published, rel=1e-12)


def test_earl_on_onemax_and_zeromax() -> None:
    """Buzdalova, Buzdalov and others: sum of 2 + x (1/(n-x+1) + 1/(n-x))."""
    n = 10
    shape = Landscape.from_arrays(
        {"O": list(range(n + 1)), "Z": list(range(n, -1, -1))}, target="O"
    )
    form = sum(2 + x * (Fraction(1, n - x + 1) + Fraction(1, n - x)) for x in range(n))
    assert form == Fraction(6181, 120)
    assert fraction("earl:variant=greedy", shape) == form


def xdivk_sum(n: int, k: int, weight: Fraction) -> Fraction:
    """Sum over blocks m and i, j of C(n, mk+i-j) / C(n-1, mk+i), with weights^j."""
    return sum(
        (
            weight**j * Fraction(comb(n, m * k + i - j), comb(n - 1, m * k + i))
            for m in range(n // k)
            for i in range(k)
            for j in range(i + 1)
        ),
        Fraction(0),
    )


def test_xdivk() -> None:
    assert fraction("rls", xdivk(12, 3)) == Fraction(414622, 1155) == xdivk_sum(12, 3, Fraction(1))
    mixed = xdivk(12, 3, onemax=True)
    assert fraction("random", mixed) == Fraction(9911, 70) == xdivk_sum(12, 3, Fraction(1, 2))


def test_onemax_or_zeromax() -> None:
    """OneMax with probability 1 - 1/k, else ZeroMax: n = 10, k = 5."""
    n = 10
    shape = Landscape.from_arrays(
        {"O": list(range(n + 1)), "Z": list(range(n, -1, -1))}, target="O"
    )
    found = fraction("random:weights=4/5+1/5", shape)
    assert float(found) == pytest.approx(77.24196532415965, rel=1e-12)


def test_portfolio_on_leading_ones() -> None:
    found = fraction("portfolio:k=1+2+3", LeadingOnes(50))
    assert float(found) == pytest.approx(1010.5539, abs=5e-5)
    # With optimal switching every level is visited with probability 1/2.
    n = 50
    best = [max(Fraction(comb(n - i - 1, k - 1), comb(n, k)) for k in (1, 2, 3)) for i in range(n)]
    assert found == sum(1 / p for p in best) / 2


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_coupon_collector(n: int) -> None:
    harmonic = sum(Fraction(1, k) for k in range(1, n + 1))
    assert fraction("rls", Landscape.onemax(n)) == n * harmonic
    assert fraction("mahh:p=0", Landscape.onemax(n)) == n * harmonic
    old = runtime(Landscape.onemax(n), Algorithm.rls())
    assert Fraction(str(old.total)) == n * harmonic


@pytest.mark.parametrize("n", [1, 5, 30])
def test_ea_on_leading_ones(n: int) -> None:
    """Boettcher, Doerr and Neumann: (1/(2 p^2)) ((1-p)^(1-n) - (1-p))."""
    p = Fraction(1, n + 1)
    expected = ((1 - p) ** (1 - n) - (1 - p)) / (2 * p * p)
    assert fraction("ea:rate=1/(n+1)", LeadingOnes(n)) == expected
