"""Draws of the event kernel and lines of traces, called directly."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from simulate.kernels import moves, philox, traces
from simulate.kernels.records import KernelLaw
from simulate.runs.encoding import EncodedLaw


def law() -> KernelLaw:
    """Jump, n = 9, l = 2: at position 4 (the slope) all three objectives count."""
    return EncodedLaw.of(StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))).law


def stream() -> np.ndarray:
    words = np.zeros(philox.WORDS, dtype=np.uint64)
    philox.start(words, np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(0))
    return words


@pytest.mark.parametrize(
    ("p", "mask"), [(4, 0b001), (4, 0b111), (0, 0b011), (8, 0b110), (1, 0b100)]
)
def test_rejections_and_the_accepted_move_have_their_laws(p: int, mask: int) -> None:
    kernel, words = law(), stream()
    actions = [a for a in range(3) if mask >> a & 1]
    accepted = {
        (a, d): (p if d == 0 else 9 - p)
        for a in actions
        for d in (0, 1)
        if kernel.accepted[kernel.kind[p], a, d]
    }
    size, best = len(actions), actions[0]
    total = moves.accepted_weight(kernel, p, mask, size, best)
    assert total == sum(accepted.values()) > 0
    chance = total / (9 * len(actions))
    counts, moved = Counter[int](), Counter[tuple[int, int]]()
    draws = 4000
    for _ in range(draws):
        rejections, cut, action, direction = moves.draw_rejections(
            kernel, words, p, mask, size, best, total, 10**6
        )
        assert not cut
        if action < 0:
            action, direction = moves.accepted_move(kernel, words, p, mask, size, best, total)
        counts[min(rejections, 3)] += 1
        moved[action, direction] += 1
    geometric = [chance * (1 - chance) ** k for k in range(3)]
    expected = draws * np.array([*geometric, (1 - chance) ** 3])
    likely = expected > 0
    found = np.array([counts[k] for k in range(4)])
    assert not found[~likely].any()
    assert likely.sum() == 1 or stats.chisquare(found[likely], expected[likely]).pvalue > 1e-5
    assert set(moved) <= set(accepted)
    shares = [draws * w / total for w in accepted.values()]
    assert len(shares) == 1 or (stats.chisquare([moved[m] for m in accepted], shares).pvalue > 1e-5)


def test_rejections_are_cut_at_the_horizon() -> None:
    kernel, words = law(), stream()
    blocked = kernel._replace(accepted=np.zeros_like(kernel.accepted))
    assert moves.draw_rejections(blocked, words, 4, 1, 1, 0, 0, 17)[:3] == (17, True, -1)
    cuts = [moves.draw_rejections(kernel, words, 4, 3, 2, 0, 1, 3)[:2] for _ in range(400)]
    assert {made for made, _ in cuts} == {0, 1, 2, 3}
    assert all(cut == (made == 3) for made, cut in cuts)


def test_quiet_events_one_after_the_other_share_a_line() -> None:
    trace = np.zeros((4, traces.COLUMNS), dtype=np.int64)
    line = traces.trace_event(trace, (0, False, 0, 0, 0), 0, 5, 3, 1, 5, 0, 1, True)
    line = traces.trace_event(trace, line, 6, 6, 3, 1, 0, 0, 1, True)  # it goes on
    assert line == (1, True, 3, 1, 7)
    line = traces.trace_event(trace, line, 7, 9, 3, 1, 2, 0, 1, False)  # and ends with a move
    assert trace[0].tolist() == [0, 3, 1, 9, 0, 1]
    line = traces.trace_event(trace, line, 10, 10, 3, 1, 0, 0, 0, False)
    line = traces.trace_restart(trace, line, 11)
    assert line[:2] == (3, False)
    assert trace[1].tolist() == [10, 3, 1, 0, 0, 0]
    assert trace[2].tolist() == [11, -1, -1, -1, -1, -1]
    for moment in (20, 30, 40):  # lines are counted where there is no more room
        line = traces.trace_event(trace, line, moment, moment, 1, 2, 0, 1, 0, False)
    assert line[0] == 6
    assert trace[3, 0] == 20
