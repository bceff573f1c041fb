"""Runs on families: the kernels against the literal algorithm, with two to six objectives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from markov_lrsao import Landscape, StepLaw, runtime
from simulate.runs.decide import History
from simulate.runs.encoding import EncodedLaw
from simulate.runs.game import Game
from simulate.runs.reference import StreamChooser, objectives_on, run_on_positions
from simulate.runs.runner import simulate, trace_run
from simulate.runs.streams import Stream, stream_key
from simulate.statistics.comparisons import enclosed_means
from simulate.statistics.literal import bit_strings


def law_on(text: str, n: int, helpers: tuple[str, ...] = ()) -> StepLaw:
    return StepLaw.of(Landscape.named(text, n=n, helpers=helpers))


def check_choices(law: StepLaw) -> None:
    """The step kernel chooses like the algorithm on bit strings, and like the exact player."""
    parameters = law.algorithm.parameters
    assert parameters is not None
    assert bit_strings(law, parameters, 7, (1,), objectives_on(law.landscape)).p_value == 1.0
    for run in range(3):
        chooser = StreamChooser(Stream(stream_key(7), run))
        literal = list(run_on_positions(law, chooser, limit=400))
        trace = trace_run(law, seed=7, run=run, kernel="step", limit=400)
        made = [
            (int(t) + rejections, p, law.actions[a])
            for t, p, _, rejections, a, _ in trace.tolist()
            if a >= 0
        ]
        expected = {m.time: (m.position, m.action) for m in literal}
        assert made
        assert all(expected[t] == (p, a) for t, p, a in made)


@pytest.mark.parametrize(
    "text", ["regions:widths=2+2+2,bridges=shared", "regions:widths=2+1+2,bridges=all-but-last"]
)
def test_three_plateaus_and_three_objectives(text: str) -> None:
    check_choices(law_on(text, 11))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "n"), [("regions:widths=2+1+2", 10), ("regions:widths=2+1+1+1+2", 14)]
)
def test_four_and_six_objectives(text: str, n: int) -> None:
    law = law_on(text, n)
    assert len(law.actions) in (4, 6)
    check_choices(law)
    event = simulate(law, runs=4000, seed=1).times
    step = simulate(law, runs=4000, seed=2, kernel="step").times
    error = math.sqrt(event.var() / len(event) + step.var() / len(step))
    assert abs(event.mean() - step.mean()) < 4 * error


@pytest.mark.slow
def test_halves_are_played_as_they_are_computed() -> None:
    law = law_on("cliff:d=2", 6, ("onemax",))
    check_choices(law)
    times = simulate(law, runs=20_000, seed=1).times
    exact = runtime(law.landscape, law.algorithm)
    assert abs(times.mean() - float(exact.total)) < 4 * math.sqrt(float(exact.variance) / 20_000)


def test_decisions_from_part_of_a_history_are_those_from_all_of_it() -> None:
    """`decide` builds the candidates' history only, `entries` that of the whole row."""
    law = law_on("regions:widths=2+2+2,bridges=shared", 11)
    encoded = EncodedLaw.of(law)
    samples = simulate(law, runs=10_000, seed=11)
    assert samples.decisions.sum() >= 5
    game = Game(encoded, stream_key(11), True, True, None, None)
    for run in np.flatnonzero(samples.decisions)[:12].tolist():
        played = game.play_one(run, [])
        history = History(encoded)
        history.replay(played.trace)
        position, mask = int(played.facts[6]), int(played.facts[5])
        values = history._rationals(set(history.entries(position)))
        row = [values[node] for node in history.entries(position)]
        largest = max(row)
        expected = sum(1 << a for a, value in enumerate(row) if value == largest)
        again = History(encoded)
        half = len(played.trace) // 2  # in two parts, as one
        again.replay(played.trace[:half])
        again.replay(played.trace[half:])
        assert again.decide(position, mask) == expected == history.decide(position, mask)


def test_an_enclosure_that_is_wrong_is_refused() -> None:
    jump = Landscape.regions(9, (3, 2))
    samples = simulate(jump, runs=4000, seed=1)
    right = runtime(jump)
    assert all(test.p_value > 1e-4 for test in enclosed_means(right, samples))
    wrong = runtime(Landscape.regions(10, (3, 2)))
    assert any(test.p_value < 1e-6 for test in enclosed_means(wrong, samples))
    late = simulate(jump, runs=100, seed=1, limit=30)
    assert enclosed_means(right, late)[0].p_value == 0.0
