"""Merging states that behave alike changes no moment, and levels agree with one another."""

from __future__ import annotations

import pytest
from flint import fmpq
from refined import COARSE, PLAIN, Point, bounds, exact_moments, unmerged

from markov_lrsao.crossing.decomposition import decompose
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.rows.automata import derive_automata
from markov_lrsao.rows.lumping import merge_patterns
from markov_lrsao.rows.orders import largest_of
from markov_lrsao.values.tails import LEVELS, Level, refined_decomposition

DECIDED = [
    Point(9, 2, "4/5", "1/10", "1/2"),
    Point(14, 4, "1/2", "7/50", "199/200"),
    Point(24, 7, "19/20", "1/1000", "1/20"),
]
OPEN = [
    Point(9, 2, "1/2", "1/5", "199/200"),
    Point(12, 3, "19/20", "1/4", "1/20"),
    Point(16, 3, "99/100", "1/10", "1/200"),
]


@pytest.mark.parametrize("point", DECIDED, ids=str)
def test_merged_and_unmerged_tails_give_identical_moments(point: Point) -> None:
    law = point.law
    level = next(level for level in LEVELS if refined_decomposition(law, level).choices is None)
    whole, merged = unmerged(law, level), refined_decomposition(law, level)
    assert merged.tail is not None
    assert len(merged.tail.states) < len(whole.tail.states)
    assert len(merged.bottom.states) < len(whole.bottom.states)
    assert exact_moments(merged, 4) == exact_moments(whole.decomposition, 4)


@pytest.mark.parametrize("point", OPEN[1:], ids=str)
def test_merging_leaves_the_bounds_over_all_choices_alone(point: Point) -> None:
    law = point.law
    whole, merged = unmerged(law, COARSE), refined_decomposition(law, COARSE)
    assert merged.choices is not None
    assert len(merged.choices.states) < len(whole.tail.states)
    for a, b in zip(bounds(merged), bounds(whole.decomposition), strict=True):
        for one, two in zip((*a[0], *a[1]), (*b[0], *b[1]), strict=True):
            # Both are certified, with margins of some 1e-12 of their own.
            assert abs(one - two) <= fmpq(1, 10**9) * max(one, fmpq(1))


@pytest.mark.parametrize("point", OPEN[1:], ids=str)
def test_enclosures_of_all_levels_have_a_number_in_common(point: Point) -> None:
    law = point.law
    levels = [COARSE, Level(fmpq(4), 1, 0), PLAIN]
    found = [bounds(refined_decomposition(law, level), 2) for level in levels]
    for quantity in zip(*found, strict=True):
        for k in (1, 2):
            lower = max(low[k] for low, _ in quantity)
            upper = min(high[k] for _, high in quantity)
            assert lower <= upper
    coarse, fine = (f[0][1][1] - f[0][0][1] for f in (found[0], found[-1]))
    assert fine < coarse / 2


def test_bounds_of_merged_patterns_hold_for_all_members() -> None:
    """Here J = 0 above two negative entries behaves like J > 0, but its maximum is 0."""
    law = StepLaw.of(
        Landscape.jump(10, 2), Algorithm.lrsao(Parameters.of("607/1000", "33/250", "11527/250"))
    )
    automata = derive_automata(law)
    merged, classes = merge_patterns(automata)
    assert any(len(set(numbers)) < len(numbers) for numbers in classes)
    for c, numbers in enumerate(classes):
        for k, number in enumerate(numbers):
            joined = merged.boxes[c][number]
            assert all(b in a for a, b in zip(joined, automata.boxes[c][k], strict=True))
            assert largest_of(automata.boxes[c][k]) in largest_of(joined)


@pytest.mark.slow
def test_phases_may_end_within_the_last_region() -> None:
    """Steps towards the optimum belong to the phases they are made in."""
    n, ell, inner = 12, 3, (10, 11)
    plain = Landscape.jump(n, ell)
    split = Landscape.from_arrays(
        plain.objectives, plain.target, (*plain.milestones[:-1], *inner, n)
    )
    algorithm = Algorithm.lrsao(Parameters.of("1/2", "1/20", "12"))
    whole, parts = (
        exact_moments(refined_decomposition(StepLaw.of(landscape, algorithm), PLAIN), 1)
        for landscape in (plain, split)
    )
    assert parts[0] == whole[0]
    assert parts[1:3] == whole[1:3]
    assert sum((p[1] for p in parts[3:]), fmpq(0)) == whole[3][1]
    # The plain method, which splits its corridors at milestones, finds the same.
    assert parts == exact_moments(decompose(StepLaw.of(split, algorithm)), 1)
