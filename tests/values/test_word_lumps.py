"""Lumps of words, entries of several depths and dead entries: bounds that must still hold."""

from __future__ import annotations

from itertools import pairwise

import pytest
from flint import arb, fmpq

from markov_lrsao import Landscape, runtime
from markov_lrsao.model.families import regions
from markov_lrsao.model.law import DOWN, StepLaw
from markov_lrsao.values.entries import Climb
from markov_lrsao.values.options import ends_of
from markov_lrsao.values.plateaus import plateaus_of
from markov_lrsao.values.relearning import _bounded
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid, lumped_grids
from markov_lrsao.values.row_orders import RowOrders
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.word_lumps import Lumps, Words


def jump(n: int, ell: int, level: int) -> tuple[float, float, float]:
    """E[T] of Jump on one of the loose grids, and the truth."""
    landscape = Landscape.jump(n, ell)
    truth = runtime(landscape, method="crossing").total.value
    walk = SharedRow(plateaus_of(StepLaw.of(landscape)), lumped_grids(n)[level : level + 1])
    graph = RowGraph(walk)
    graph.explore_likely(50_000)
    found = _bounded(graph, 1).values[0][0]
    return float(found.lower), float(found.upper or 0), float(truth)


@pytest.mark.parametrize("level", range(5))
@pytest.mark.parametrize(("n", "ell"), [(9, 2), (11, 2)])
def test_loose_grids_enclose_the_exact_value(n: int, ell: int, level: int) -> None:
    low, high, truth = jump(n, ell, level)
    assert low <= truth <= high


def test_every_word_of_a_lump_is_an_option() -> None:
    place = plateaus_of(StepLaw.of(regions((3, 3, 3), "own").at(13)))
    walk = SharedRow(place, lumped_grids(13))
    slope = place.slopes[0]
    for level, grid in enumerate(lumped_grids(13)):
        for word, known in enumerate(slope.words):
            position = slope.first if known.entry == DOWN else slope.last
            state = walk.start()._replace(position=position, phase=1, words=(word, 0))
            ways = walk.ways(walk.normal(state, level), level)
            steps = ends_of(sum((x.steps for x in known.passages), arb(0)))
            assert steps in [way.steps for way in ways]
            assert (len(ways) == 1) or grid.words != Words.EACH


def test_lumps_are_partitions_of_words_with_one_entry() -> None:
    place = plateaus_of(StepLaw.of(regions((3, 3, 3), "own").at(13)))
    falls = [[float(f) for f in slope.falls] for slope in place.slopes]
    sizes = []
    for kind in Words:
        lumps = Lumps(place.slopes, falls, kind)
        size = 0
        for s, slope in enumerate(place.slopes):
            names = {lumps.of((0,) * s + (w,) + (0,) * (1 - s))[s] for w in range(len(slope.words))}
            members = [w for name in names for w in lumps.members(s, name)]
            assert sorted(members) == list(range(len(slope.words)))
            if kind != Words.SIDES:
                assert lumps.members(s, 0) == [0]
            for name in names:
                words = lumps.members(s, name)
                assert len({slope.words[w].entry for w in words}) == 1
                if slope.words[name].entry != DOWN:
                    assert len({slope.learnt[w] for w in words}) == 1
            size += len(names)
        sizes.append(size)
    assert sizes[0] > sizes[1] > sizes[2] > sizes[3]


def test_parts_of_an_entry_cover_it_and_have_one_depth_each() -> None:
    place = plateaus_of(StepLaw.of(regions((3, 3, 3), "own").at(13)))
    values = SharedRow(place, lumped_grids(13)).values
    levels = values.levels
    wide = values.number((levels[3] + levels[2]) / 2, fmpq(1, 2))
    parts = values.parts(wide)
    assert all(values.residual[v] is not None for v in parts)
    ends = [values.range[v] for v in parts]
    assert ends[0].upper == values.range[wide].upper
    assert ends[-1].lower == values.range[wide].lower
    for above, below in pairwise(ends):
        assert above.lower == below.upper
        assert above.with_lower != below.with_upper  # no number is missed, none is in two parts
    for level in range(5):
        for v in parts:
            loose = values.range[values.relaxed(v, level)]
            assert loose.lower <= values.range[v].lower
            assert values.range[v].upper <= loose.upper
            if values.range[v].with_upper and values.range[v].upper == loose.upper:
                assert loose.with_upper


def test_climbs_become_intervals_before_a_depth_is_chosen() -> None:
    """The interval may have swallowed a multiple of the climb that another entry still shows."""
    place = plateaus_of(StepLaw.of(regions((3, 3, 3), "own").at(13)))
    walk = SharedRow(place, lumped_grids(13))
    values = walk.values
    wide = values.number((values.levels[3] + values.levels[2]) / 2, fmpq(-1))
    start = values.exactly(walk.alpha)
    shows = values.number(fmpq(-30), fmpq(-30), fmpq(1), Climb(2, 1, start))
    state = walk.start()._replace(entries=(shows, wide, wide, wide))
    (way,) = walk.ways(state, 3)
    ((after, *_, untold),) = way.targets
    assert not isinstance(after, int)
    assert all(values.climb[v] is None for v in after.entries)
    assert untold >= values.untold(shows) > 0
    assert len(walk.ways(after, 3)) == len(values.parts(wide)) > 1


@pytest.mark.slow
def test_nothing_but_dead_entries_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were entries above the last bridge forgotten as well, the truth would be excluded."""
    landscape = regions((4, 4, 4, 4), "all-but-last").at(40)
    truth = runtime(landscape, method="segments").total.value

    def enclosed() -> tuple[fmpq, fmpq | None]:
        graph = RowGraph(SharedRow(plateaus_of(StepLaw.of(landscape)), [coarse_grid(40)]))
        graph.explore_likely(50_000, 1e-30)
        found = _bounded(graph, 1).values[0][0]
        return found.lower, found.upper

    low, high = enclosed()
    assert high is not None
    assert low <= truth <= high
    right, killed = RowOrders.without_dead, []

    def too_much(
        self: RowOrders, entries: tuple[int, ...], order: tuple[int, ...], bridge: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        entries, order = right(self, entries, order, bridge)
        killed.append(entries)
        alone = (e if a == bridge else self._values.dead for a, e in enumerate(entries))
        return tuple(alone), self.nothing

    monkeypatch.setattr(RowOrders, "without_dead", too_much)
    low, high = enclosed()
    assert killed
    assert high is not None
    assert high < truth
