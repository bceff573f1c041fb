"""Laws of T that are carried forwards for many steps."""

from __future__ import annotations

import numpy as np
import pytest

from markov_lrsao import Algorithm, Search, distribution, runtime
from markov_lrsao.answers.searches import positions_at_least, search_law, start_law
from markov_lrsao.memoryless import tails
from markov_lrsao.memoryless.tails import Forwards
from markov_lrsao.model.families import jump_m

SHAPE = jump_m(3).at(7)
SLOW = "mmahh:p=1/100,q=1/2,accept=all"


def carried() -> Forwards:
    search = Algorithm.named(SLOW).on(SHAPE)
    assert isinstance(search, Search)
    law = search_law(SHAPE, search)
    return Forwards.of(law, start_law(law, "random"), positions_at_least(law, None))


def test_the_compiled_steps_are_those_of_the_matrix() -> None:
    forwards = carried()
    horizon = 2 * tails._FEW_STEPS  # beyond it steps are compiled
    found, error = forwards.until(horizon)
    power, at = np.linalg.matrix_power(forwards.matrix.toarray(), 1000), forwards.begin
    for t in range(0, horizon + 1, 1000):
        assert found[t] == pytest.approx(at[forwards.ended].sum(), abs=2 * error)
        at = power @ at
    steps = np.concatenate([r for _, (r, _) in zip(range(3), forwards.stretches(), strict=False)])
    assert np.array_equal(found[: len(steps)], steps)


def test_what_roundings_have_moved_is_not_waited_for() -> None:
    """Sums of rounded weights are not 1: P(T <= t) in floats need not come near 1 ever."""
    found = distribution(SHAPE, Algorithm.named(SLOW), start="random")
    mean = float(runtime(SHAPE, Algorithm.named(SLOW), start="random").total)
    assert 20 * mean < found.horizon < 40 * mean
    assert found.error < 1e-8
    assert found.finite_mean == pytest.approx(mean, rel=1e-6)


def test_a_long_law_ends_at_the_horizon_that_is_affordable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("markov_lrsao.answers.asked_laws._LONGEST", 3000)
    found = distribution(SHAPE, Algorithm.named(SLOW), start="random")
    assert found.horizon == 2999
    whole, _ = carried().until(3000)
    assert found.error == pytest.approx(1 - whole[2999], rel=1e-6)  # what is still under way
