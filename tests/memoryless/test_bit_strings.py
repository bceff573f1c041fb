"""Every class of searches against a chain on bit strings that knows nothing of classes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from bit_strings import (
    ONE,
    Next,
    Part,
    Strings,
    better,
    everything,
    flips,
    leading_ones,
    metropolis,
    moments,
    not_worse,
    standard,
    worse,
)

from markov_lrsao import Algorithm, Landscape, runtime
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.levels import LeadingOnes

TENTH, THIRD, HALF = Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)
ONE_BIT: dict[str, Callable[[Strings], Sequence[Part]]] = {
    "rls": lambda s: [(ONE, s.f, flips(s.n, 1), not_worse)],
    "mahh:p=1/10": lambda s: [
        (TENTH, s.f, flips(s.n, 1), everything),
        (1 - TENTH, s.f, flips(s.n, 1), better),
    ],
    "metropolis:base=5": lambda s: [(ONE, s.f, flips(s.n, 1), metropolis(Fraction(5)))],
    "ea:rate=1/n": lambda s: [(ONE, s.f, standard(s.n, Fraction(1, s.n)), not_worse)],
    "ea:rate=2/5": lambda s: [(ONE, s.f, standard(s.n, Fraction(2, 5)), not_worse)],
    "ea-positive:rate=1/4": lambda s: [
        (ONE, s.f, standard(s.n, Fraction(1, 4), positive=True), not_worse)
    ],
}
MODES: dict[str, Callable[[Strings], Next]] = {
    "mmahh:p=1/10,q=1/2": lambda s: s.two_modes(everything, TENTH, HALF, switch_first=False),
    "mmahh:p=1/3,q=1/n,order=switch-first": lambda s: s.two_modes(
        everything, THIRD, Fraction(1, s.n), switch_first=True
    ),
    "mmahh:p=1/10,q=1/3,accept=worsening": lambda s: s.two_modes(
        worse, TENTH, THIRD, switch_first=False
    ),
}
GRADIENTS = {
    "gradient:portfolio=1+2,tau=1": ([1, 2], 1, better),
    "gradient:portfolio=1+2,tau=3": ([1, 2], 3, better),
    "gradient:portfolio=1+3,tau=2,accept=not-worse": ([1, 3], 2, not_worse),
}


def jump_m(n: int, m: int) -> list[int]:
    return [m + p if p <= n - m or p == n else n - p for p in range(n + 1)]


def landscape(values: list[int]) -> Landscape:
    return Landscape.from_arrays({"F": values}, target="F")


def same(result: RuntimeResult, expected: tuple[Fraction, Fraction]) -> bool:
    return (Fraction(str(result.total)), Fraction(str(result.variance))) == expected


def oracle(strings: Strings, name: str, start: str) -> tuple[Fraction, Fraction]:
    if name in ONE_BIT:
        return moments(strings.mixed(ONE_BIT[name](strings)), strings.start(start), strings.best)
    if name in MODES:
        return moments(MODES[name](strings), strings.start(start), strings.best)
    sizes, tau, accept = GRADIENTS[name]
    shown = {a * tau: Fraction(1, len(sizes)) for a in range(len(sizes))}
    return moments(strings.gradient(sizes, tau, accept), strings.start(start, shown), strings.best)


@pytest.mark.parametrize("start", ["zero", "random"])
@pytest.mark.parametrize("name", [*ONE_BIT, *MODES, *GRADIENTS])
def test_every_named_search_on_onemax(name: str, start: str) -> None:
    n = 3 if name in MODES or name in GRADIENTS else 4
    strings = Strings.of_ones(list(range(n + 1)))
    found = runtime(landscape(list(range(n + 1))), Algorithm.named(name), start=start)
    assert found.exact
    assert same(found, oracle(strings, name, start))


@pytest.mark.parametrize(("k", "n"), [(2, 4), (2, 6), (3, 3), (3, 4)])
def test_k_bits_at_a_time(k: int, n: int) -> None:
    """Two bits lead from 0 ones to 4 or 6; three bits get stuck at 2 of 4 ones, or at 3."""
    strings = Strings.of_ones(list(range(n + 1)))
    found = runtime(landscape(list(range(n + 1))), Algorithm.named(f"rls-k:k={k}"))
    parts = [(ONE, strings.f, flips(n, k), not_worse)]
    if (k, n) == (3, 4):
        assert found.total.infinite
        assert found.trap is not None
        assert found.trap.lower == 1
        with pytest.raises(ZeroDivisionError):
            moments(strings.mixed(parts), strings.start("zero"), strings.best)
    else:
        assert same(found, moments(strings.mixed(parts), strings.start("zero"), strings.best))


ESCAPING = ["mahh:p=1/10", "metropolis:base=5", "ea:rate=1/n", "ea-positive:rate=1/4", *MODES]


@pytest.mark.parametrize("name", ESCAPING)
def test_searches_that_escape_on_jump(name: str) -> None:
    values = jump_m(4, 2)
    found = runtime(landscape(values), Algorithm.named(name), start="random")
    assert same(found, oracle(Strings.of_ones(values), name, "random"))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ESCAPING)
def test_random_landscapes(name: str, seed: int) -> None:
    """Values at random, also equal ones; the optimum anywhere but at 0."""
    dice = random.Random(f"{name} {seed}")
    n = dice.choice([3, 4, 5] if name not in MODES else [3, 4])
    values = [dice.randrange(3) for _ in range(n + 1)]
    values[dice.randrange(1, n + 1)] = 3
    strings = Strings.of_ones(values)
    found = runtime(landscape(values), Algorithm.named(name), start="random")
    if found.total.infinite:
        with pytest.raises(ZeroDivisionError):
            oracle(strings, name, "random")
    else:
        assert same(found, oracle(strings, name, "random"))
        dense = runtime(landscape(values), Algorithm.named(name), start="random", method="dense")
        assert dense.total == found.total
        assert dense.variance == found.variance


@pytest.mark.parametrize("weights", [None, "1/4+3/4"])
def test_a_random_objective(weights: str | None) -> None:
    n, shares = 4, (HALF, HALF) if weights is None else (Fraction(1, 4), Fraction(3, 4))
    first, second = list(range(n + 1)), [p // 2 for p in range(n + 1)]
    strings = Strings.of_ones(first)
    other = Strings.of_ones(second).f
    one = flips(n, 1)
    parts = [(shares[0], strings.f, one, not_worse), (shares[1], other, one, not_worse)]
    expected = moments(strings.mixed(parts), strings.start("zero"), strings.best)
    shape = Landscape.from_arrays({"A": first, "B": second}, target="A")
    name = "random" if weights is None else f"random:weights={weights}"
    assert same(runtime(shape, Algorithm.named(name)), expected)


LEVELS: dict[str, Callable[[Strings], Sequence[Part]] | None] = {
    "rls": lambda s: [(ONE, s.f, flips(s.n, 1), not_worse)],
    "rls-k:k=2": None,
    "ea:rate=1/n": lambda s: [(ONE, s.f, standard(s.n, Fraction(1, s.n)), not_worse)],
    "ea-positive:rate=1/3": lambda s: [(ONE, s.f, standard(s.n, THIRD, positive=True), not_worse)],
}


@pytest.mark.parametrize("name", LEVELS)
def test_leading_ones_by_levels(name: str) -> None:
    n = 4
    strings = Strings(n, [Fraction(leading_ones(x, n)) for x in range(2**n)])
    found = runtime(LeadingOnes(n), Algorithm.named(name))
    parts = LEVELS[name]
    if parts is None:  # two bits at a time never reach the last level from the one below
        assert found.total.infinite
        return
    expected = moments(strings.mixed(parts(strings)), strings.start("random"), strings.best)
    assert same(found, expected)


@pytest.mark.parametrize("name", ["gradient:portfolio=1+2,tau=1", "gradient:portfolio=1+2,tau=3"])
def test_gradients_on_leading_ones(name: str) -> None:
    n = 3
    strings = Strings(n, [Fraction(leading_ones(x, n)) for x in range(2**n)])
    assert same(runtime(LeadingOnes(n), Algorithm.named(name)), oracle(strings, name, "random"))


def test_fixed_targets() -> None:
    """f >= a instead of the optimum, also where that is a set with holes."""
    values = [0, 2, 1, 2, 3]
    strings = Strings.of_ones(values)
    good = {x for x in range(16) if strings.f[x] >= 2}
    played = ONE_BIT["metropolis:base=5"](strings)
    expected = moments(strings.mixed(played), strings.start("zero"), good)
    named = Algorithm.named("metropolis:base=5")
    assert same(runtime(landscape(values), named, at_least=2), expected)
    with pytest.raises(ParameterError, match="largest value"):
        runtime(landscape(values), named, at_least=4)


def test_levels_refuse_what_loses() -> None:
    with pytest.raises(ParameterError, match="never what is worse"):
        runtime(LeadingOnes(5), Algorithm.named("mahh:p=1/10"))
    with pytest.raises(ParameterError, match="random starts"):
        runtime(LeadingOnes(5), Algorithm.named("rls"), start="zero")
    with pytest.raises(ParameterError, match="do not learn"):
        runtime(LeadingOnes(5), Algorithm.named("lrsao"))
