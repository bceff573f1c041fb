"""The best selectors without memory, against all of them and against bit strings."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from bit_strings import ONE, Strings, flips, moments, not_worse
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, StepLaw
from markov_lrsao.answers import selectors
from markov_lrsao.answers.oracle import oracle
from markov_lrsao.answers.selectors import best_selectors
from markov_lrsao.exact.rationals import fraction, rational_text

Objectives = dict[str, list[int]]


def drawn(seed: int, n: int = 5) -> Objectives:
    dice = random.Random(seed)
    found = {name: [dice.randrange(3) for _ in range(n + 1)] for name in "ABC"}
    found["A"] = [dice.randrange(2) for _ in range(n)] + [5]
    return found


def time_of(choice: dict[int, dict[str, Fraction]], objectives: Objectives) -> Fraction | None:
    """E[T] from 0 to n of weights per value of A, by the times from x to x + 1."""
    n = len(objectives["A"]) - 1
    total = before = Fraction(0)
    for p in range(n):
        up = down = Fraction(0)
        for name, w in choice[objectives["A"][p]].items():
            f = objectives[name]
            up += w * Fraction(n - p, n) * (f[p + 1] >= f[p])
            down += w * Fraction(p, n) * (p > 0 and f[p - 1] >= f[p])
        if up == 0:
            return None
        before = (1 + down * before) / up
        total += before
    return total


def on_strings(choice: dict[int, dict[str, Fraction]], objectives: Objectives) -> Fraction:
    """The same on all 2^n bit strings, nothing lumped."""
    n = len(objectives["A"]) - 1
    strings = Strings.of_ones(objectives["A"])
    masks = flips(n, 1)
    tables = {
        name: [Fraction(f[x.bit_count()]) for x in range(2**n)] for name, f in objectives.items()
    }
    rules = {
        value: strings.mixed([(w, tables[name], masks, not_worse) for name, w in some.items()])
        for value, some in choice.items()
    }
    return moments(
        lambda state: rules[objectives["A"][state[0].bit_count()]](state),
        {(0, 0): ONE},
        strings.best,
    )[0]


@pytest.mark.parametrize("seed", range(12))
def test_no_deterministic_selector_is_better(seed: int) -> None:
    """All 9 selectors of three objectives and two agent states."""
    objectives = drawn(seed)
    states = sorted(set(objectives["A"][:-1]))
    known = {}
    for chosen in product("ABC", repeat=len(states)):
        choice = {v: {name: ONE} for v, name in zip(states, chosen, strict=True)}
        known[chosen] = time_of(choice, objectives)
    finite = [t for t in known.values() if t is not None]
    law = StepLaw.of(Landscape.from_arrays(objectives, target="A"), Algorithm.earl())
    found = best_selectors(law)
    if not finite:
        assert found.deterministic.total.infinite
        return
    assert Fraction(str(found.deterministic.total)) == min(finite)
    shown = {int(state): dict(some) for state, some in found.deterministic.states}
    choice = {v: {name: fraction(w) for name, w in some.items()} for v, some in shown.items()}
    assert time_of(choice, objectives) == min(finite) == on_strings(choice, objectives)


@pytest.mark.parametrize("seed", range(8))
def test_weights_are_as_good_as_a_grid_and_the_bound_is_below(seed: int) -> None:
    objectives = drawn(seed, 4) | {"C": drawn(seed, 4)["A"]}
    law = StepLaw.of(Landscape.from_arrays(objectives, target="A"), Algorithm.earl())
    found = best_selectors(law).randomised
    states = sorted(set(objectives["A"][:-1]))
    parts = [Fraction(i, 12) for i in range(13)]
    grid = []
    for shares in product(parts, repeat=len(states)):
        choice = {v: {"A": 1 - w, "B": w} for v, w in zip(states, shares, strict=True)}
        grid.append(time_of(choice, objectives))
    finite = [t for t in grid if t is not None]
    if not finite:
        assert found.total.infinite
        return
    total = Fraction(str(found.total))
    assert total <= min(finite)
    assert found.least is not None
    assert fraction(found.least) <= min(total, *finite)
    choice = {int(s): {name: fraction(w) for name, w in some} for s, some in found.states}
    assert time_of(choice, objectives) == total == on_strings(choice, objectives)


def test_weights_can_beat_every_objective() -> None:
    """Two positions of one state need different objectives: only weights get anywhere."""
    objectives = {"A": [0, 0, 0, 5], "B": [0, 1, 0, 0], "C": [1, 0, 1, 1]}
    law = StepLaw.of(Landscape.from_arrays(objectives, target="A"), Algorithm.earl())
    found = best_selectors(law)
    assert Fraction(str(found.deterministic.total)) == time_of({0: {"A": ONE}}, objectives)
    assert found.randomised.total < found.deterministic.total
    assert found.randomised.least is not None
    assert 0 < found.randomised.total.value - found.randomised.least < found.randomised.total / 500


def test_a_bound_that_takes_the_worst_corner_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would see a bound that is too large."""
    objectives = {"A": [0, 0, 0, 5], "B": [0, 1, 0, 0], "C": [1, 0, 1, 1]}
    law = StepLaw.of(Landscape.from_arrays(objectives, target="A"), Algorithm.earl())
    right = selectors._Walk._bounds

    def wrong(self: selectors._Walk, rows: list[int], cells: list[np.ndarray]) -> np.ndarray:
        return np.asarray(1.2 * right(self, rows, cells))

    monkeypatch.setattr(selectors._Walk, "_bounds", wrong)
    found = best_selectors(law).randomised
    assert found.least is not None
    assert found.least > found.total.value


def test_jump_and_what_memory_is_worth() -> None:
    """R alone, for both plateaus, is nearly as good as knowing everything, unless l is large."""
    n = 30
    found = oracle(Landscape.jump(n, 5))
    assert found.selectors is not None
    best = found.selectors.deterministic
    assert dict(best.states)["0"] == (("R", fmpq(1)),)
    total = before = Fraction(0)
    for p in range(n):  # accepts everything on the left plateau, never loses elsewhere
        before = (1 + (Fraction(p, n) if p <= 5 else 0) * before) * Fraction(n, n - p)
        total += before
    assert rational_text(best.total.value) == str(total)
    large = oracle(Landscape.jump(100, 47))
    assert large.selectors is not None
    assert large.selectors.randomised.least is not None
    assert large.agent.total < large.selectors.randomised.least
