"""Exact decisions: what happened last, histories as graphs, balls, rationals at last."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.exact.fields import Balls, ends
from simulate import simulate
from simulate.runs import recent
from simulate.runs.decide import History
from simulate.runs.encoding import EncodedLaw
from simulate.runs.events import Events
from simulate.runs.game import Game
from simulate.runs.streams import stream_key


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


# -- long runs -----------------------------------------------------------------------------


def five_plateaus() -> EncodedLaw:
    return EncodedLaw.of(StepLaw.of(Landscape.regions(200, (5,) * 5, "own")))


def test_a_choice_late_in_a_run_does_not_need_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run 5441 has made 90,254 steps when its first choice is open; it has 6,021 events."""
    encoded, asked, node = five_plateaus(), list[str](), History._node

    def counted(self: History, kind: str, *parts: int) -> int:
        asked.append(kind)
        return node(self, kind, *parts)

    monkeypatch.setattr(History, "_node", counted)
    samples = simulate(encoded.step_law, runs=1, seed=200051, first_run=5441, limit=10**7)
    assert samples.decisions.tolist() == [3]
    assert len(asked) < 100


def test_what_happened_last_and_the_whole_graph_decide_alike() -> None:
    game = Game(five_plateaus(), stream_key(200051), True, True, 10**7, None)
    kept, decisions = History(five_plateaus()), list[int]()
    for _ in range(3):
        played = game.play_one(5441, decisions)
        position, mask = int(played.facts[6]), int(played.facts[5])
        anew = History(five_plateaus())
        anew.replay(played.trace)
        entries = anew.entries(position)
        best = anew.largest(entries[a] for a in range(len(entries)) if mask >> a & 1)
        kept.follow(played.trace)
        nodes = kept.entries(position)  # a graph that has grown from trace to trace
        again = kept.largest(nodes[a] for a in range(len(nodes)) if mask >> a & 1)
        assert {a for a, i in enumerate(nodes) if i in again} == {
            a for a, i in enumerate(entries) if i in best
        }
        decisions.append(kept.decide(position, mask))
        assert decisions[-1] == sum(1 << a for a, i in enumerate(entries) if i in best)
    assert game.play_one(5441, decisions).facts[0] == game.kernels.DONE


def played_events(encoded: EncodedLaw) -> tuple[Events, dict[int, fmpq]]:
    """Return the events of a run, and the value that each of them made, step by step."""
    trace = Game(encoded, stream_key(3), True, True, None, None).play_one(2, []).trace
    events, algorithm = Events.of(encoded, trace), encoded.step_law.algorithm
    table = [fmpq(0)] * (encoded.law.rows * encoded.law.actions)
    made = {}
    for event, (entry, count, gain, target) in enumerate(
        zip(events.entry, events.count, events.gain, events.target, strict=True)
    ):
        if entry < 0:
            continue
        if count:
            table[entry] *= (algorithm.keep + algorithm.bootstrap) ** int(count)
        else:
            ahead = table[entry] if target < 0 else max(table[e] for e in events.of_row(target))
            table[entry] = (
                algorithm.keep * table[entry] + encoded.gains[gain] + algorithm.bootstrap * ahead
            )
        made[event] = table[entry]
    return events, made


@pytest.mark.parametrize("bits", [1, 8, 40, 200])
def test_the_recent_past_encloses_every_value(bits: int) -> None:
    encoded = EncodedLaw.of(StepLaw.of(Landscape.regions(40, (3, 3, 3), "own")))
    events, made = played_events(encoded)
    assert len(made) > 50
    widest = ends(recent._bound(encoded))[1]
    for event, value in made.items():
        ball = recent.enclosed(encoded, events, [event], bits)[event]
        with Balls(bits + 64).working():
            low, high = ends(ball)
        assert low <= value <= high
        assert high - low <= widest * fmpq(2) ** (8 - bits)


def test_a_bound_that_is_too_small_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = EncodedLaw.of(StepLaw.of(Landscape.regions(40, (3, 3, 3), "own")))
    events, made = played_events(encoded)
    monkeypatch.setattr(recent, "_bound", lambda _: arb(0, 1e-3))
    found = {e: ends(recent.enclosed(encoded, events, [e], 1)[e]) for e in made}
    assert not all(low <= made[e] <= high for e, (low, high) in found.items())


def test_entries_that_do_not_fade_have_no_bound(encoded: EncodedLaw) -> None:
    growing = replace(encoded.step_law.algorithm, keep=fmpq(1))
    assert not recent._bound(EncodedLaw.of(StepLaw.of(Landscape.jump(9, 2), growing))).is_finite()


def test_maxima_that_passed_over_different_entries_are_the_same(
    encoded: EncodedLaw, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without rationals: these have as many digits as the history has events."""
    monkeypatch.setattr(History, "_rationals", lambda *_: pytest.fail("rationals"))
    history = History(encoded)
    reward, penalty = gain(encoded, fmpq(4, 5)), gain(encoded, fmpq(-14, 5))
    low = history._node("learn", 0, penalty, 0)
    lower = history._node("learn", low, penalty, low)
    ends = [history._node("max", 0, low), history._node("max", 0, lower)]
    for _ in range(2000):
        ends = [history._node("learn", end, reward, 0) for end in ends]
    assert ends[0] != ends[1]
    assert history.largest(ends) == set(ends)
    assert history.largest([history._node("max", low, lower), low]) >= {low}
