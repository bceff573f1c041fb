"""Entries of a shared row: relaxed, told and ordered, against what runs do."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from flint import fmpq

from markov_lrsao import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values.entries import UNORDERED, Climb, Entries, Grid
from markov_lrsao.values.plateaus import plateaus_of
from markov_lrsao.values.row_grids import coarse_grid, grids, residual_grids
from markov_lrsao.values.shared_row import SharedRow
from tests.values.test_relearning import regions

ALPHA, LAM, PENALTY = fmpq(4, 5), fmpq(1, 4), fmpq(5)
ZERO = fmpq(0)
N = 10


def entries(climbs: fmpq, plain: fmpq, *, remembers: bool = True) -> Entries:
    grid = Grid(climbs, plain, fmpq(1, 4), remembers, 60)
    return Entries(N, (ALPHA, LAM, PENALTY), [grid], fmpq(1, 3), [fmpq(2)], 6)


def climbed(values: Entries, position: int, first: int, base: fmpq, factor: fmpq) -> int:
    start = values.exactly(ALPHA)
    return values.number(base, base, factor, Climb(position, first, start))


@pytest.mark.parametrize("factor", [fmpq(1), fmpq(1, 50)])
def test_what_is_relaxed_still_contains_what_it_was(factor: fmpq) -> None:
    values = entries(fmpq(1, 16), fmpq(1, 16))
    entry = climbed(values, 4, 2, -PENALTY, factor)
    before, after = values.range[entry], values.range[values.relaxed(entry, 0)]
    assert after.lower <= before.lower < before.upper <= after.upper
    # Every such value exceeds -5; rounding must not invent a tie with it.
    assert after.lower == -5
    assert not after.with_lower
    exact = values.exactly(-PENALTY)
    assert values.relaxed(exact, 0) == exact


def rounded_entries(*, residual: bool) -> Entries:
    grid = Grid(fmpq(1, 4), fmpq(1, 4), fmpq(1, 4), False, 10, residual=residual)
    return Entries(N, (ALPHA, LAM, PENALTY), [grid], fmpq(1, 3), [fmpq(2)], 6)


def penalised(values: Entries, entry: int) -> int:
    return values.moved(entry, LAM, -PENALTY, None)


def test_residual_grids_contain_what_they_round_and_no_level() -> None:
    values, random = rounded_entries(residual=True), Random(7)
    for _ in range(300):
        x = -fmpq(random.randrange(1, 66_000), 10_007)
        if x in values.levels:
            continue
        found = values.range[values.relaxed(values.exactly(x), 0)]
        assert found.lower < x < found.upper
        assert not any(found.lower < level < found.upper for level in values.levels)


def test_a_penalty_maps_intervals_of_residual_grids_to_intervals_of_them() -> None:
    """But at powers of 2. On other grids an interval grows by being rounded once more."""
    random = Random(8)
    grown = {False: 0, True: 0}
    for residual in grown:
        values = rounded_entries(residual=residual)
        for _ in range(100):
            x = -fmpq(random.randrange(1, 49_000), 10_007)
            entry = values.relaxed(values.exactly(x), 0)
            for _ in range(3):
                entry = penalised(values, entry)
                again = values.relaxed(entry, 0)
                grown[residual] += again != entry
                entry = again
    assert 50 * grown[True] < grown[False]


def test_ends_of_residual_grids_are_no_entries() -> None:
    """n = 13: lam = 9/35, so that ends in thirds would be divided by lam's threes, too.

    Ends that are levels, or what penalties make of a mark, are told from entries by comparing.
    """
    place = plateaus_of(StepLaw.of(Landscape.regions(13, (3, 3, 3), "shared")))
    plain, residual = SharedRow(place, grids(13)), SharedRow(place, residual_grids(13))
    assert plain.values._offset == fmpq(1, 3)
    prime = residual.values._offset.q
    assert residual.lam.p % 3 == 0 != residual.lam.p % prime
    marks = set(residual.values._marks)
    for _ in range(6):
        marks |= {residual.lam * x + residual.penalty for x in marks}
    met = 0
    for x in (fmpq(-5, 4), fmpq(-21, 5), fmpq(-22, 5), fmpq(-49, 10)):
        entry = residual.values.plain(residual.values.exactly(x), residual.values.grids[0])
        low, high = residual.values.lower[entry], residual.values.upper[entry]
        for end in {low, high} - marks:
            assert end.q % prime == 0
            met += 1
    assert met >= 4


def played(values: Entries, entry: int, random: Random) -> fmpq:
    """One value that an entry may have, its counts being drawn."""
    climb = values.climb[entry]
    if climb is None:
        assert values.lower[entry] == values.upper[entry]
        return values.lower[entry]
    y = played(values, climb.start, random)
    for q in range(climb.first, climb.position + 1):
        if q > climb.first:
            y = ALPHA + LAM * y
        while random.random() < q / N:
            y *= LAM
    return values.lower[entry] + values.factor[entry] * y


def test_orders_that_are_told_have_the_probabilities_of_played_climbs() -> None:
    values = entries(fmpq(1, 10**6), fmpq(1, 10**6))
    a = climbed(values, 3, 1, -PENALTY, fmpq(1))
    b = climbed(values, 5, 4, -PENALTY, fmpq(1))
    law: dict[int, float] = {}
    for outcome in values.orders((a, b), (UNORDERED,)):
        low, high = outcome.probability
        assert 0 < low <= high < low * (1 + 1e-11)
        law[outcome.order[0]] = law.get(outcome.order[0], 0.0) + high
    assert sum(law.values()) == pytest.approx(1, abs=1e-9)
    random, runs = Random(5), 20_000
    above = sum(played(values, a, random) > played(values, b, random) for _ in range(runs))
    error = 4 * (0.25 / runs) ** 0.5
    assert law[1] - error <= above / runs <= law[1] + law.get(UNORDERED, 0.0) + error
    assert law.get(UNORDERED, 0.0) < 0.05


def test_a_penalty_leaves_the_residual_and_its_order_alone() -> None:
    values = entries(fmpq(1, 10**6), fmpq(1, 10**6))
    random = Random(7)
    numbers = [values.exactly(fmpq(random.randint(-499, 99), 100)) for _ in range(12)]
    for _ in range(3):
        deeper = [values.moved(v, LAM, -PENALTY, None) for v in numbers]
        for v, w in zip(numbers, deeper, strict=True):
            before, after = values.residual[v], values.residual[w]
            assert before is not None
            assert after is not None
            assert after.depth == before.depth + 1
            assert after.range == before.range
        for (v, x), (w, y) in combinations(zip(numbers, deeper, strict=True), 2):
            # Across depths: the residuals' order is that of the values once depths are equal.
            assert values.residual_sign(v, w) == values.residual_sign(x, y)
            if values.residual[v].depth == values.residual[w].depth:  # type: ignore[union-attr]
                assert values.sign(v, w) == values.residual_sign(v, w)
        numbers = deeper


def test_two_climbs_of_the_same_form_are_independent() -> None:
    values = entries(fmpq(1, 64), fmpq(1, 64))
    one = climbed(values, 4, 2, ZERO, fmpq(1))
    assert values.sign(one, one) is None
    assert values.residual_sign(one, one) is None
    exact = values.exactly(fmpq(1, 2))
    assert values.sign(exact, exact) == 0


def test_what_was_told_is_forgotten_where_the_grid_says_so() -> None:
    for remembers in (True, False):
        values = entries(fmpq(1, 1000), fmpq(1, 4), remembers=remembers)
        rejected, accepted = values.told(climbed(values, 4, 2, ZERO, fmpq(1)))
        for entry in (rejected, accepted):
            kept = values.relaxed(entry, 0)
            assert (values.climb[kept] is not None) == remembers
            assert values.range[kept].lower <= values.range[entry].lower
            assert values.range[kept].upper >= values.range[entry].upper


def test_climbs_become_intervals_before_a_comparison_is_left_open() -> None:
    place = plateaus_of(StepLaw.of(regions(20, (3, 3, 3), shared=True)))
    walk = SharedRow(place, [coarse_grid(20)])
    values = walk.values
    wide = values.number(fmpq(-2), fmpq(-1))
    # Two entries whose order is open, maybe because of Y, and one far below that shows Y.
    shows = values.number(fmpq(-30), fmpq(-30), fmpq(1), Climb(2, 1, values.exactly(walk.alpha)))
    state = walk.start()._replace(position=10, entries=(wide, wide, shows))
    assert walk.greedy(state) == ([(0,), (1,)], True)
    (way,) = walk.ways(state, 0)
    ((after, *_),) = way.targets
    assert not isinstance(after, int)
    assert all(values.climb[v] is None for v in after.entries)
    assert walk.greedy(after) == ([(0,), (1,)], False)
    first, second = walk.ways(after, 0)
    for ways, sign in ((first, 1), (second, -1)):
        for target, *_ in ways.targets:
            assert not isinstance(target, int)
            if values.residual[target.entries[0]] and values.residual[target.entries[1]]:
                assert target.order[0] in (sign, UNORDERED)


def test_a_choice_is_remembered_by_the_order() -> None:
    place = plateaus_of(StepLaw.of(regions(20, (3, 3, 3), shared=True)))
    walk = SharedRow(place, [coarse_grid(20)])
    middle = place.plateaus[1][0] + 1
    wrong, bridge = 1, place.bridges[1]
    low = walk.values.levels[1]
    wide = walk.values.number(low, low + fmpq(1, 2))
    deep = walk.values.exactly(walk.values.levels[3])
    state = walk.start()._replace(position=middle, entries=(deep, wide, wide))
    first, second = walk.ways(state, 0)
    pair = walk.orders.pairs.index((wrong, bridge))
    # The wrong one is the larger: it is penalised wherever it moves, and the order is known.
    for target, *_ in first.targets:
        assert not isinstance(target, int)
        assert target.entries[bridge] == wide
        assert target.order[pair] == 1
        again = target._replace(entries=(deep, target.entries[wrong], target.entries[wrong]))
        assert walk.greedy(again)[0] == [(wrong,)]
    # The bridge climbs, and what was known of it is of no use any more.
    ((target, *_),) = second.targets
    assert not isinstance(target, int)
    assert target.order[pair] == UNORDERED


def test_actions_that_are_alike_are_exchanged_with_their_orders() -> None:
    place = plateaus_of(StepLaw.of(regions(60, (5, 5, 5), shared=False)))
    walk = SharedRow(place, grids(60))
    values, last = walk.values, place.plateaus[-1][0]
    word = next(
        w
        for w, x in enumerate(walk.slopes[1].words)
        if x.entry == 1 and not walk.slopes[1].falls[w]
    )
    interval = values.number(values.levels[1], values.levels[1] + fmpq(1, 4))
    other = values.exactly(values.levels[2])
    state = walk.start()._replace(position=last, words=(0, word))
    assert walk.hidden(state) == 1
    one, two = (
        walk.normal(state._replace(entries=e, order=o), 0)
        for e, o in (
            # T, B0, B1, B2: the bridges of plateaus that are never met again are alike.
            ((other, interval, interval, other), order(walk, {(1, 2): 1})),
            ((other, interval, interval, other), order(walk, {(1, 2): -1})),
        )
    )
    assert one == two
    assert one.order != order(walk, {})


def order(walk: SharedRow, known: dict[tuple[int, int], int]) -> tuple[int, ...]:
    return tuple(known.get(pair, UNORDERED) for pair in walk.orders.pairs)
