"""Bounds that know the position only: against exact values, all policies, and wrong candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from flint import arb, fmpq

from markov_lrsao import Landscape, runtime
from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.model.families import regions
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.values import anywhere
from markov_lrsao.values.anywhere import Choice, Spot, bounds_anywhere, choices, extreme, holds
from markov_lrsao.values.options import float_system, steps_of
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.relearning import _bounded
from markov_lrsao.values.row_explored import _least_left, _left
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.straight_up import steps_straight_up

LANDSCAPES = [
    Landscape.jump(9, 2),
    Landscape.jump(13, 4),
    Landscape.jump(20, 3),
    regions((2, 1, 1), "shared").at(7),
    regions((3, 3, 3), "all-but-last").at(13),
    regions((4, 4, 4, 4), "all-but-last").at(40),
]


def place_of(landscape: Landscape) -> Plateaus:
    return plateaus_of(StepLaw.of(landscape))


def graph_of(place: Plateaus) -> RowGraph:
    return RowGraph(SharedRow(place, [coarse_grid(place.law.n)]))


@pytest.mark.parametrize(
    "landscape",
    [*LANDSCAPES[:5], pytest.param(LANDSCAPES[5], marks=pytest.mark.slow)],
    ids=lambda x: f"{x.name}-{x.n}",
)
def test_exact_values_lie_between_the_bounds(landscape: Landscape) -> None:
    place = place_of(landscape)
    found, truth = bounds_anywhere(place), runtime(landscape).total
    assert truth.upper is not None
    assert found.lower[0] <= float(truth.lower) <= float(truth.upper) <= found.upper[0]
    assert found.upper[0] <= found.largest
    assert found.largest < steps_straight_up(place) / 5
    assert all(found.lower[q] >= landscape.n - q for q in found.lower)


@pytest.mark.parametrize("landscape", LANDSCAPES[:5], ids=lambda x: str(x.n))
def test_every_state_lies_between_the_bounds_of_its_position(landscape: Landscape) -> None:
    graph = graph_of(place_of(landscape))
    graph.explore(20_000)
    system = float_system(graph.options, len(graph.states))
    steps, found = steps_of(graph.options), graph.walk.anywhere
    assert found is not None
    low, high = system.bound(steps[0], -1), system.bound(steps[1], 1)
    assert {state.position for state in graph.states} <= set(found.upper)
    for state, a, b in zip(graph.states, low, high, strict=True):
        assert found.lower[state.position] <= a * (1 + 1e-9)
        assert b * (1 - 1e-9) <= found.upper[state.position]


def tiny() -> tuple[Plateaus, list[Choice]]:
    """Three plateaus at n = 7: few states, and 48 policies."""
    place = place_of(regions((2, 1, 1), "shared").at(7))
    return place, choices(place, place.slopes)


def solved(policy: Sequence[Choice], side: int) -> dict[Spot, Fraction]:
    """Eliminate one state after another, in fractions of the standard library."""
    rows = {
        o.owner: (fraction(o.steps[side]), {t: fraction(p) for t, p in o.edges.items()})
        for o in policy
    }
    order = sorted(rows)
    for k, spot in enumerate(order):
        cost, edges = rows[spot]
        again = 1 - edges.pop(spot, Fraction(0))
        cost, edges = cost / again, {t: p / again for t, p in edges.items()}
        rows[spot] = cost, edges
        for later in order[k + 1 :]:
            share = rows[later][1].pop(spot, Fraction(0))
            if share:
                for t, p in edges.items():
                    rows[later][1][t] = rows[later][1].get(t, Fraction(0)) + share * p
                rows[later] = rows[later][0] + share * cost, rows[later][1]
    values: dict[Spot, Fraction] = {}
    for spot in reversed(order):
        cost, edges = rows[spot]
        values[spot] = cost + sum((p * values[t] for t, p in edges.items()), Fraction(0))
    return values


@pytest.mark.parametrize("sign", [-1, 1])
def test_no_policy_is_better(sign: int) -> None:
    _, options = tiny()
    spots = sorted({o.owner for o in options})
    side = 1 if sign > 0 else 0
    found = [
        solved(policy, side)
        for policy in product(*([o for o in options if o.owner == spot] for spot in spots))
    ]
    assert 10 < len(found) < 20_000
    best = extreme(options, sign)
    pick = max if sign > 0 else min
    assert {s: fraction(v) for s, v in best.items()} == {
        spot: pick(values[spot] for values in found) for spot in spots
    }


def test_options_are_those_of_the_law() -> None:
    """The last plateau, 6, is left by its bridge, or both ways by any other objective."""
    place, options = tiny()
    law, q = place.law, 6
    here = [o for o in options if o.owner.position == q and o.owner.entry not in (DOWN, UP)]
    kinds = {(law.accepted[q, a, DOWN], law.accepted[q, a, UP]) for a in range(len(law.actions))}
    assert len(here) == len(kinds) == 2
    assert {sum(o.edges.values(), fmpq(0)) for o in here} == {fmpq(6, 7)}
    assert {spot.position for o in here for spot in o.edges} == {5, 6}
    words = sum(len(slope.words) for slope in place.slopes)
    assert sum(o.owner.entry in (DOWN, UP) for o in options) == words


@pytest.mark.parametrize("landscape", LANDSCAPES[:4], ids=lambda x: str(x.n))
def test_wrong_candidates_are_refused(landscape: Landscape) -> None:
    place = place_of(landscape)
    options = choices(place, place.slopes)
    for sign in (1, -1):
        values, little = extreme(options, sign), fmpq(1, 10**30)
        assert holds(options, values, sign)
        for spot, value in values.items():
            assert not holds(options, {**values, spot: value - sign * little}, sign)
        assert not holds(options, {spot: -1 - v for spot, v in values.items()}, sign)


def test_a_dropped_option_is_seen() -> None:
    _, options = tiny()
    for sign in (1, -1):
        values, seen = extreme(options, sign), 0
        for dropped in options:
            kept = [o for o in options if o is not dropped]
            if not any(o.owner == dropped.owner for o in kept):
                continue
            fewer = extreme(kept, sign)
            assert holds(kept, fewer, sign)
            assert holds(options, fewer, sign) == (fewer == values)
            seen += fewer != values
        assert seen >= 2


def test_an_objective_that_rejects_moves_up_is_refused() -> None:
    place = place_of(Landscape.jump(9, 2))
    accepted = place.law.accepted.copy()
    accepted[8, 0, UP] = False
    with pytest.raises(CrossingError, match="rejects a move up at position 8"):
        bounds_anywhere(replace(place, law=replace(place.law, accepted=accepted)))


def test_a_slope_that_is_left_downwards_only_is_refused() -> None:
    place = place_of(Landscape.jump(9, 2))
    slope = place.slopes[0]
    words = tuple(
        replace(word, passages=tuple(replace(x, side=DOWN) for x in word.passages))
        if word.entry == UP
        else word
        for word in slope.words
    )
    # The lower end is still left upwards sometimes: a run may fall for ever all the same.
    with pytest.raises(CrossingError, match="left downwards only"):
        bounds_anywhere(
            place,
            [replace(slope, words=tuple(replace(w, passages=words[-1].passages) for w in words))],
        )


def test_long_fractions_are_rounded_outwards(monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of(regions((3, 3, 3), "own").at(20))
    exact = bounds_anywhere(place)
    monkeypatch.setattr(anywhere, "_SHORT", 0)
    monkeypatch.setattr(anywhere, "_BITS", 20)
    short = bounds_anywhere(place)
    assert short != exact
    for q, value in exact.upper.items():
        assert value <= short.upper[q] <= value * (1 + 1e-3)
        assert exact.lower[q] * (1 - 1e-3) <= short.lower[q] <= exact.lower[q]


@pytest.mark.parametrize("share", [fmpq(1, 3) ** 400, 1 - fmpq(1, 3) ** 400, fmpq(2, 3) ** 300])
def test_short_fractions_are_close_on_both_sides(share: fmpq) -> None:
    low, high = sorted(anywhere._short(share))
    assert 0 < low < share < high < 1
    assert high - low <= min(share, 1 - share) / 2**60
    assert anywhere._short(fmpq(1)) == {fmpq(1)}
    assert anywhere._short(fmpq(1, 3)) == {fmpq(1, 3)}


def test_times_of_passages_are_rounded_outwards() -> None:
    place = place_of(regions((3, 3, 3), "own").at(20))
    for word in place.slopes[0].words:
        low, high = anywhere._steps(word)
        time = sum((x.steps for x in word.passages), arb(0))
        assert arb(low) <= time.upper()
        assert low <= high <= low + fmpq(1, 10**9)


def test_many_states_have_the_crude_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of(Landscape.jump(9, 2))
    fine = bounds_anywhere(place)
    monkeypatch.setattr(anywhere, "_MOST_SPOTS", 3)
    crude = bounds_anywhere(place)
    assert set(crude.upper.values()) == {steps_straight_up(place)}
    for q in fine.upper:
        assert crude.lower[q] <= fine.lower[q] <= fine.upper[q] <= crude.upper[q]


def test_what_is_cut_off_costs_what_its_position_says() -> None:
    landscape = Landscape.jump(11, 2)
    graph = graph_of(place_of(landscape))
    graph.explore_likely(60)
    found = graph.walk.anywhere
    assert found is not None
    assert graph.cut
    left, least = _left(graph), _least_left(graph)
    for option, a, b in zip(graph.options, least, left, strict=True):
        if option.owner in graph.cut:
            position = graph.states[option.owner].position
            assert (a, b) == (found.lower[position], found.upper[position])
        else:
            assert a == b == 0
    truth = runtime(landscape).total.value
    total = _bounded(graph, 1).values[0][0]
    assert total.upper is not None
    assert total.lower <= truth <= total.upper
    # Without the bound from below, runs that are cut off would end at once.
    graph.walk.anywhere = replace(found, lower=dict.fromkeys(found.lower, 0.0))
    assert _bounded(graph, 1).values[0][0].lower < total.lower
    graph.walk.anywhere = replace(found, lower=found.upper)
    assert _bounded(graph, 1).values[0][0].lower > truth


def test_lost_runs_cost_what_is_left_where_they_arrive() -> None:
    graph = graph_of(place_of(regions((5, 5, 5), "own").at(100)))
    graph.explore_likely(2_000)
    found = graph.walk.anywhere
    assert found is not None
    lost = [(o, x) for o, x in zip(graph.options, _left(graph), strict=True) if -2 in o.edges]
    assert lost
    for option, left in lost:
        at = graph.states[option.owner].position
        below = max(b for _, b in graph.walk.place.plateaus if b < at)
        assert left == pytest.approx(option.edges[-2][1] * found.upper[below], rel=1e-12)
        assert left <= 2e-9
