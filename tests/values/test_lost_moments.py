"""Second moments of what is left where runs are lost: against exact ones, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.sparse import csr_array

from markov_lrsao import Landscape, runtime
from markov_lrsao.model.families import regions
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.values import relearning, second_moments
from markov_lrsao.values.anywhere import Anywhere, bounds_anywhere
from markov_lrsao.values.lost_moments import second_anywhere
from markov_lrsao.values.options import LOST
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid
from markov_lrsao.values.second_moments import Left, TimedEdges, left_out
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.slopes import Slope, Word

DECIDED = [
    Landscape.jump(9, 2),
    regions((2, 1, 1), "all-but-last").at(7),
    regions((3, 3, 3), "all-but-last").at(13),
]


def place_of(landscape: Landscape) -> Plateaus:
    return plateaus_of(StepLaw.of(landscape))


def bounds_of(place: Plateaus) -> tuple[Anywhere, Mapping[int, float]]:
    found = bounds_anywhere(place, place.timed_slopes)
    return found, second_anywhere(place, place.timed_slopes, found)


@pytest.mark.parametrize("landscape", DECIDED, ids=lambda x: f"{x.name}-{x.n}")
def test_moments_of_whole_runs_are_below(landscape: Landscape) -> None:
    found, twice = bounds_of(place_of(landscape))
    result = runtime(landscape)
    mean, variance = result.total.value, result.variance.value
    assert float(fmpq((variance + mean * mean - mean) / 2)) <= twice[0]
    assert twice[0] <= 100 * found.upper[0] ** 2


def excess(slope: Slope, word: Word, found: Anywhere, twice: Mapping[int, float], n: int) -> float:
    """Return what a word takes more than its bound, with covariances at their worst, in floats."""
    q = slope.last
    position = slope.first if word.entry == DOWN else slope.last
    told = (q * n) ** 0.5 / (n - q)
    total = -twice[position]
    for x in word.passages:
        p0, p1, p2 = (float(c.p) / float(c.q) for c in map(fmpq, x.weight))
        at = slope.first - 1 if x.side == DOWN else slope.last + 1
        total += p2 + max(p1 * found.lower[at], p1 * found.upper[at]) + p0 * twice[at]
        total += p0 * found.upper[at] * told / 2 if x.side == UP else 0.0
    return total / twice[position]


@pytest.mark.parametrize("landscape", DECIDED[::2], ids=lambda x: f"{x.name}-{x.n}")
def test_every_option_keeps_below_the_bounds_and_smaller_ones_are_refused(
    landscape: Landscape,
) -> None:
    """Slopes of two positions and more: an end of a shorter one has a bound for either entry."""
    place = place_of(landscape)
    found, twice = bounds_of(place)
    law, n = place.law, landscape.n

    def worst(share: float) -> float:
        less = {q: share * v for q, v in twice.items()}
        worst = [
            excess(slope, word, found, less, n)
            for slope in place.timed_slopes
            for word in slope.words
        ]
        for first, last in place.plateaus:
            for q in range(first, last + 1):
                for a in range(len(law.actions)):
                    total = -less[q]
                    for d, weight in ((DOWN, q / n), (UP, 1 - q / n)):
                        at = q + 2 * d - 1 if law.accepted[q, a, d] and weight else q
                        if at < n:
                            total += weight * (found.upper[at] + less[at])
                    worst.append(total / less[q])
        return max(worst)

    assert worst(1.0) <= 1e-12
    assert worst(0.2) > 0


def toy(time: list[float], later: float, second: float) -> tuple[FloatSystem, TimedEdges, Left]:
    """A step that loses the run, of which E[time] was counted before."""
    edges = TimedEdges(
        option=np.array([0, 1]),
        target=np.array([1, LOST]),
        share=np.ones(2),
        first=np.array([time, time]),
        untold=np.zeros(2),
        second=np.zeros((2, 2)),
    )
    system = FloatSystem(np.arange(2), np.arange(2), *[csr_array([[0.0, 1.0], [0.0, 0.0]])] * 2)
    left = Left(
        np.array([0.0, later]), np.array([0.0, second]), np.zeros(2, dtype=bool), np.zeros(2)
    )
    return system, edges, left


def test_the_time_before_tells_what_is_left() -> None:
    """With 1/10 a passage takes 101 steps and 10 are left, else it takes 1, and nothing is left.

    E[left] is 1 given the word. E[time * left] is 101, whereas E[time] E[left] is 11: the weights
    of the timed word after it say so, p_2 = E[(left choose 2)] + Cov(time, left) = 4.5 + 90.
    """
    found = left_out(*toy([11.0, 0.0], 1.0, 94.5))
    assert 105.5 <= found == pytest.approx(105.5)
    # as if the word's rows had the law that they have given the word alone:
    assert left_out(*toy([11.0, 0.0], 1.0, 4.5)) < 101 + 4.5


def test_climbs_that_are_lost_are_forgotten() -> None:
    """C = 0 or 10 steps were counted; 20 are left after 10, none after 0: E[C left] is 100."""
    system, edges, left = toy([5.0, 0.0], 20.0, 0.0)
    assert left_out(system, edges, left) == pytest.approx(100)
    told = replace(edges, untold=np.array([0.0, 5.0]))
    assert left_out(system, told, left) == pytest.approx(100 + 20 / 2 * 5)
    cut = replace(left, cut=np.array([False, True]), untold=np.array([0.0, 25.0]))
    ended = replace(edges, option=np.array([0]), target=np.array([1]), share=np.ones(1))
    ended = replace(ended, first=np.array([[5.0], [5.0]]), untold=np.zeros(1))
    assert left_out(system, ended, cut) == pytest.approx(100 + 20 / 2 * 5)


@pytest.mark.parametrize("most", [200, 400])
def test_variances_hold_whatever_is_cut_off(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    landscape = DECIDED[2]
    place = place_of(landscape)
    graph = RowGraph(SharedRow(place, [coarse_grid(13)], timed=True))
    graph.explore_likely(most)
    assert graph.cut
    truth = runtime(landscape).variance.value
    found = relearning._bounded(graph, 2).values[0][1]
    assert found.upper is not None
    assert found.lower <= truth <= found.upper
    monkeypatch.setattr(second_moments, "left_out", lambda *_: 0.0)
    ended = relearning._bounded(graph, 2).values[0][1]
    assert ended.upper is not None
    assert ended.upper < truth


def test_words_that_know_no_time_have_no_moments() -> None:
    place = place_of(DECIDED[0])
    found = bounds_anywhere(place)
    with pytest.raises(ValueError, match="unpack"):
        second_anywhere(place, place.slopes, found)
    assert arb(second_anywhere(place, place.timed_slopes, found)[0]).is_finite()
