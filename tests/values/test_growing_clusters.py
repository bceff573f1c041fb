"""How clusters of values grow, and when a walk is known to go straight to the optimum."""

from __future__ import annotations

from copy import copy
from fractions import Fraction

import numpy as np
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from refined import COARSE, Point, unmerged

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.crossing.blocks import Stretch
from markov_lrsao.exact.intervals import Interval
from markov_lrsao.rows.automata import derive_automata
from markov_lrsao.rows.patterns import Pattern
from markov_lrsao.values.cells import Precision, Safety, Traits, forgotten, rounded
from markov_lrsao.values.clusters import Clusters
from markov_lrsao.values.refinement import ValueWalk

numbers = st.fractions(-3, 3, max_denominator=12)


def rational(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low, high = sorted((draw(numbers), draw(numbers)))
    if low == high:
        return Interval.point(rational(low))
    return Interval(rational(low), rational(high), draw(st.booleans()), draw(st.booleans()))


@given(intervals(), intervals(), st.sampled_from([fmpq(1, 16), fmpq(1, 3), fmpq(2, 7)]))
@settings(max_examples=200)
def test_only_ends_that_move_are_rounded(old: Interval, new: Interval, mesh: fmpq) -> None:
    found = rounded(old, new, mesh)
    assert old in found
    assert new in found
    joined = old.join(new)
    for end, before, mine, attained, same in (
        (
            joined.low,
            old.low,
            found.low,
            found.low_attained,
            joined.low_attained == old.low_attained,
        ),
        (
            joined.high,
            old.high,
            found.high,
            found.high_attained,
            joined.high_attained == old.high_attained,
        ),
    ):
        if end == before and same:
            assert mine == end
        else:
            assert (mine / mesh).q == 1
            assert attained
            assert abs(mine - end) < mesh


def free_copy(clusters: Clusters) -> Clusters:
    """Return a copy that can be changed, with nothing left to settle."""
    c = copy(clusters)
    c.boxes, c.traits = list(clusters.boxes), list(clusters.traits)
    c.following, c.index = dict(clusters.following), dict(clusters.index)
    c.grown, c._growths, c._options = set(), {}, {}
    return c


def test_an_update_keeps_its_cluster_while_it_grows() -> None:
    """Where relations and forgetting are the same the cluster grows, whatever its new cell."""
    grown = 0
    whole = unmerged(Point(9, 2, "1/2", "1/5", "199/200").law, COARSE).tail.clusters
    for update, target in list(whole.following.items())[:300]:
        key, c = whole.traits[target], free_copy(whole)
        wide = 3 * c.precision.mesh * key.coarser
        source = c.traits[update.source]
        c.boxes[update.source] = tuple(
            Interval(b.low - wide, b.high + wide) if isinstance(cell, tuple) else b
            for b, cell in zip(c.boxes[update.source], source.cells, strict=True)
        )
        pattern, box = c.image(update)
        cells = tuple(c.grid.cell(b, key.coarser) for b in box)
        after = forgotten(Traits(pattern, cells, key.coarser), update.safe)
        now_wide = any(
            isinstance(cell, fmpq) and b.low != b.high
            for cell, b in zip(key.cells, box, strict=True)
        )
        kinds = [(x is None, y is None) for x, y in zip(after.cells, key.cells, strict=True)]
        if after.pattern != key.pattern or now_wide or any(x != y for x, y in kinds):
            continue
        c._again(update, target)
        assert c.following[update] == target
        assert len(c.traits) == len(whole.traits)
        for b, into, cell in zip(box, c.boxes[target], key.cells, strict=True):
            assert cell is None or b in into
        grown += after.cells != key.cells
    assert grown > 5


@given(st.data())
@settings(max_examples=80)
def test_a_walk_is_taken_over_only_if_it_leads_straight_up(data: st.DataObject) -> None:
    """One entry is left: tried out step by step on the objective that is always chosen."""
    n = data.draw(st.integers(2, 6))
    first = data.draw(st.integers(0, n - 1))
    other = st.lists(st.integers(0, 2), min_size=n + 1, max_size=n + 1)
    chosen = data.draw(st.one_of(other, st.just(list(range(n + 1)))))
    target = [*range(first), *[first] * (n - first), n + 1]
    law = StepLaw.of(
        Landscape.from_arrays({"T": target, "A": chosen}, "T"),
        Algorithm.lrsao(Parameters.of("1/2", "1/2", 0)),
    )
    row = int(law.row[n - 1])
    clusters = Clusters(law, Precision(fmpq(1), 24))
    clusters.traits.append(Traits(Pattern((-1, 1), (-1,)), (None, fmpq(1)), fmpq(1)))
    stretch = Stretch(derive_automata(law), 0, n, ())
    walk = ValueWalk(stretch, clusters, [row], final=True)
    for position in range(first, n):
        straight = all(
            chosen[p + 1] >= chosen[p] and (p == 0 or chosen[p - 1] < chosen[p])
            for p in range(position, n)
        )
        walk._safe[row, 0] = (Safety.NONE, Safety.FLOOR)
        assert walk._leads_up(position, row, 0, 0) == straight
        walk._safe[row, 0] = (Safety.FLOOR, Safety.NONE)
        assert not walk._leads_up(position, row, 0, 0)
    if first:
        walk._safe[row, 0] = (Safety.NONE, Safety.FLOOR)
        assert not walk._leads_up(first - 1, row, 0, 0)  # another row lies there
    assert bool(np.all(law.row[first:n] == row))
