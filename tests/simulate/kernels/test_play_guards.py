"""Runs of the kernels: what they count, when they stop, and by which law they draw.

Laws are compared with scipy's; counts with the traces, which the reference in rationals replays.
"""

from __future__ import annotations

import copy
import threading
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from simulate.kernels import monitors, philox
from simulate.runs.encoding import EncodedLaw
from simulate.runs.game import Game, Watch
from simulate.runs.rules import Rules
from simulate.runs.runner import simulate, trace_run
from simulate.runs.stopping import Stop
from simulate.runs.streams import stream_key

RUNS = 40


def test_unwatched_runs_end_and_leave_the_monitors_alone() -> None:
    """A run that goes on and on is ended by the flag, and seen by its status."""
    encoded = EncodedLaw.of(StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9))))
    law, stop = encoded.law, Stop()
    game = Game(encoded, stream_key(5), True, True, 100_000, None, stop)
    game.compile()
    hits, facts = game.arrays(RUNS)
    counts = Watch.empty(encoded, 5, Rules()).fresh()
    before = copy.deepcopy(counts[1:-1])
    timer = threading.Timer(20.0, stop.set)
    timer.start()
    game.kernels.play_block(
        law,
        encoded.numbers,
        encoded.sites,
        game.mode,
        counts._replace(watch=False),
        0,
        np.zeros(0, dtype=np.int64),
        np.zeros(RUNS + 1, dtype=np.int64),
        game.scratch(),
        hits,
        facts,
        stop.flag,
    )
    timer.cancel()
    assert (facts[:, 0] == game.kernels.DONE).all()
    assert (hits[:, -1] == facts[:, 1]).all()
    assert (np.diff(hits, axis=1) > 0).all()
    for counted, untouched in zip(counts[1:-1], before, strict=True):
        assert np.array_equal(counted, untouched)


def counted(
    law: StepLaw, runs: int, limit: int, restart: int | None = None
) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Return visits, and (run, step) of every third arrival at 0 within an attempt, by traces."""
    visits = np.zeros(law.n + 1, dtype=np.int64)
    third = []
    for run in range(runs):
        visits[0] += 1
        at_start = 1
        for t, p, _, rejections, a, d in trace_run(
            law, seed=6, run=run, limit=limit, restart=restart
        ).tolist():
            if p < 0:
                visits[0] += 1
                at_start = 1
            elif a >= 0 and law.accepted[p, a, d]:
                visits[p + 2 * d - 1] += 1
                at_start += p + 2 * d - 1 == 0
                if at_start >= 3 and p + 2 * d - 1 == 0:
                    third.append((run, t + rejections + 1))
    return visits, third


def test_visits_are_counted_from_the_start_and_from_restarts() -> None:
    law = StepLaw.of(Landscape.jump(10, 2), Algorithm.earl())
    monitors = simulate(
        law,
        runs=60,
        seed=6,
        limit=900,
        restart=60,
        monitors=True,
        rules=Rules(most_positive=3, most_visits={0: 2}),
    ).monitors
    visits, third = counted(law, 60, limit=900, restart=60)
    assert monitors is not None
    assert (monitors.visits == visits).all()
    found = monitors.violation
    assert (found is None) == (not third)
    if found is not None:
        assert (found.run, found.step, found.rule) == (*third[0], "visits")


def test_the_first_violation_of_the_first_run_is_reported() -> None:
    """Back and forth on a plateau: the start is visited again and again, already in run 0."""
    flat = [0, 0, 0, -1, 9]
    law = StepLaw.of(
        Landscape.from_arrays({"F": flat, "G": flat, "H": flat}, "F"), Algorithm.earl()
    )
    samples = simulate(
        law, runs=4, seed=6, limit=400, monitors=True, rules=Rules(most_visits={0: 2})
    )
    visits, third = counted(law, 4, limit=400)
    assert samples.monitors is not None
    assert (samples.monitors.visits == visits).all()
    found = samples.monitors.violation
    assert found is not None
    assert (found.run, found.step) == third[0]
    assert found.run == 0
    assert len([run for run, _ in third if run == 0]) > 1


def test_rejections_of_ties_are_shared_by_their_weights() -> None:
    law = EncodedLaw.of(StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))).law
    # At position 4 of 10 four actions accept a proposal with weights 10, 4, 0, 6.
    law = law._replace(
        n=10,
        actions=4,
        kind=np.zeros(11, dtype=np.int32),
        accepted=np.array([[[1, 1], [1, 0], [0, 0], [0, 1]]], dtype=np.uint8),
    )
    uses = np.zeros((2, 5, 4), dtype=np.int64)
    stream = np.zeros(philox.WORDS, dtype=np.uint64)
    philox.start(stream, np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(1))
    stop = Stop().flag
    monitors.note_rejections(law, uses, stream, 1, 4, 0b1110, 3, 1, 9000, stop)
    assert uses[0].sum() == 0
    assert uses[1, 4, 0] == 0
    assert uses.sum() == 9000
    expected = 9000 * np.array([6, 10, 4]) / 20
    assert stats.chisquare(uses[1, 4, 1:], expected).pvalue > 1e-5
    monitors.note_rejections(law, uses, stream, 0, 4, 0b0100, 1, 2, 50, stop)
    assert uses[0, 4].tolist() == [0, 0, 50, 0]


# -- random choices of the event kernel ------------------------------------------------------


def test_ties_and_directions_are_drawn_by_their_probabilities() -> None:
    """Three objectives that agree, n = 3: 1/3 each, and down with probability p / n."""
    flat = [0, 0, 0, 0, 5]
    landscape = Landscape.from_arrays({"A": flat, "B": flat, "C": flat}, "A")
    law = StepLaw.of(landscape, Algorithm.lrsao(Parameters.of("1/2", "1/5", "1")))
    actions, down = Counter[int](), Counter[int]()
    for run in range(1500):
        trace = trace_run(law, seed=2, run=run, limit=12)
        actions[int(trace[0, 4])] += 1
        for _, p, _, _, a, d in trace.tolist():
            if p == 2 and a >= 0:
                down[d] += 1
    assert stats.chisquare([actions[a] for a in range(3)]).pvalue > 1e-5
    assert sum(down.values()) > 1000
    assert stats.binomtest(down[0], down[0] + down[1], 0.5).pvalue > 1e-5


def test_rare_moves_are_drawn_by_their_probabilities() -> None:
    """Below one half of the proposals accepted, the kernel draws the moves by their weights."""
    tied = StepLaw.of(
        Landscape.from_arrays(
            {"A": [0, 0, 0, 0, 9, 0, 0], "B": [3, 2, 1, 0, 0, 1, 2], "C": [6, 5, 4, 3, 2, 1, 0]},
            "A",
        ),
        Algorithm.earl(),
    )
    seen: Counter[tuple[int, int]] = Counter()
    for run in range(1500):
        for _, p, mask, _, a, d in trace_run(tied, seed=3, run=run, limit=60).tolist():
            if p == 0 and mask == 0b111 and a >= 0:
                seen[a, d] += 1
    # at 0 only up is possible, and of A, B, C only A accepts it
    assert set(seen) == {(0, 1)}


@pytest.mark.parametrize("accepting", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_rejections_are_geometric(accepting: int) -> None:
    """At 0 all moves go up; of three tied objectives one accepts (drawn), or two do (tried)."""
    up, down = [0, 1, 2, 3, 4], [4, 3, 2, 1, 0]
    tied = StepLaw.of(
        Landscape.from_arrays({"A": up, "B": up if accepting == 2 else down, "C": down}, "A"),
        Algorithm.earl(),
    )
    counts = Counter(
        min(int(trace_run(tied, seed=9, run=run, limit=60)[0, 3]), 5) for run in range(1500)
    )
    law = stats.geom(accepting / 3, loc=-1)
    expected = [1500 * law.pmf(k) for k in range(5)] + [1500 * law.sf(4)]
    assert stats.chisquare([counts[k] for k in range(6)], expected).pvalue > 1e-5


@pytest.mark.parametrize("kernel", ["event", "step"])
def test_restarts_come_after_equal_times(kernel: str) -> None:
    law = StepLaw.of(Landscape.jump(12, 2), Algorithm.earl())
    for run in range(20):
        trace = trace_run(
            law,
            seed=4,
            run=run,
            kernel=kernel,  # type: ignore[arg-type]
            restart=70,
            limit=500,
        )
        times = trace[trace[:, 1] == -1, 0]
        assert times.tolist() == [70 * (k + 1) for k in range(len(times))]
        played = trace[trace[:, 1] >= 0]
        ends = played[:, 0] + played[:, 3] + (played[:, 4] >= 0)
        assert (played[1:, 0] == ends[:-1]).all()
