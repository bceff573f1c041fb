"""Exact decisions: histories as graphs, balls of growing precision, rationals at last."""

from __future__ import annotations

import numpy as np
import pytest
from flint import ctx, fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from simulate.runs.decide import History
from simulate.runs.encoding import EncodedLaw


@pytest.fixture
def encoded() -> EncodedLaw:
    return EncodedLaw.of(StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9))))


def gain(encoded: EncodedLaw, value: fmpq) -> int:
    return encoded.gains.index(value)


def test_same_history_is_the_same_node(encoded: EncodedLaw) -> None:
    history, before = History(encoded), ctx.prec
    penalty = gain(encoded, fmpq(-14, 5))
    left = history._node("learn", 0, penalty, 0)
    assert history._node("learn", 0, penalty, 0) == left
    assert history.largest([left, left]) == {left}
    assert ctx.prec == before


@pytest.mark.parametrize("count", [1, 40, 400, 5000])
def test_differences_of_any_size_are_seen(encoded: EncodedLaw, count: int) -> None:
    """-alpha r + alpha gamma lam^count x against -alpha r: apart by 0.28^count."""
    history = History(encoded)
    reward, penalty = gain(encoded, fmpq(4, 5)), gain(encoded, fmpq(-14, 5))
    small = history._node("decay", history._node("learn", 0, reward, 0), count)
    raised = history._node("learn", 0, penalty, small)
    plain = history._node("learn", 0, penalty, 0)
    assert history.largest([plain, raised]) == {raised}
    lowest = history._node("max", plain, raised)
    assert history.largest([lowest, plain]) == {lowest}


def test_equal_numbers_with_different_histories_tie(encoded: EncodedLaw) -> None:
    history = History(encoded)
    reward, nothing = gain(encoded, fmpq(4, 5)), gain(encoded, fmpq(0))
    entry = history._node("learn", 0, reward, 0)
    by_rejection = history._node("decay", entry, 1)
    by_update = history._node("learn", entry, nothing, entry)
    assert by_rejection != by_update
    assert history.largest([by_rejection, by_update, 0]) == {by_rejection, by_update}


def test_replay_follows_the_trace(encoded: EncodedLaw) -> None:
    """Up with L from 0 (reward 1), two rejections at 1, a restart, up with R (penalty)."""
    law = encoded.step_law
    left, right = law.actions.index("L"), law.actions.index("R")
    history = History(encoded)
    history.replay(np.array([[0, 0, 0b111, 0, left, 1], [1, 1, 1 << left, 2, -1, -1]]))
    values = history._rationals(set(history.entries(1)))
    lam = law.algorithm.keep + law.algorithm.bootstrap
    assert [values[node] for node in history.entries(0)] == [fmpq(4, 5) * lam**2, 0, 0]
    assert history.decide(0, 0b111) == 1 << left
    history.replay(np.array([[3, -1, -1, -1, -1, -1], [3, 0, 0b111, 0, right, 1]]))
    assert [history._rationals({node})[node] for node in history.entries(1)] == [
        0,
        0,
        -law.algorithm.learn * Parameters.paper(9).r,
    ]
    assert history.decide(1, 0b111) == 0b011
