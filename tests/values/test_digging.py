"""Runs that get stuck with a probability that no simulation shows: found, and proved."""

from __future__ import annotations

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.values import digging
from markov_lrsao.values.closed import closed_from
from markov_lrsao.values.digging import dug_run, dug_trap
from markov_lrsao.values.stuck import replayed, seen_trap


def law_of(alpha: str, gamma: str, r: str) -> StepLaw:
    return StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters(alpha, gamma, r)))


@pytest.mark.exhaustive
def test_a_run_that_lowers_row_0_again_and_again() -> None:
    """Some hundred steps, less likely than 1e-100: 600 played runs do not show it."""
    law = law_of("1/2", "19/20", "1/2")
    assert seen_trap(law) is None
    found = dug_run(law)
    assert found is not None
    assert found.position == 6
    left, jump, right = found.table[12:15]
    assert (left < 0, jump == 0, right < 0) == (True, True, True)
    assert 0 < found.probability < fmpq(1, 10**100)
    assert replayed(law, found.steps)[-1] == found
    assert closed_from(law, found.position, found.table) is not None


@pytest.mark.slow
def test_what_is_easily_seen_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    law = law_of("4/5", "9/10", "3/2")
    found = dug_run(law, rounds=200_000)
    assert found is not None
    trap = dug_trap(law)
    assert trap is not None
    assert trap.state.startswith("p=6 ")
    assert 0 < trap.lower < trap.upper == fmpq(1)
    # A run that is not held is no proof, whoever found it.
    steps = list(found.steps)
    monkeypatch.setattr(digging, "_sought", lambda *_: steps[:-1])
    assert dug_run(law) is None
    monkeypatch.setattr(digging, "_sought", lambda *_: [*steps[:3], (2, 0), *steps[3:]])
    assert dug_run(law) is None


def test_where_traps_are_excluded_none_is_found() -> None:
    assert dug_run(law_of("4/5", "9/10", "1"), rounds=50_000) is None
