"""Layers of tables: every run stays within the tables followed, and enclosures hold the truth."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from flint import fmpq
from random_plateaus import RandomPlateaus
from usable import Usable

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.answers.layered import enclose_by_layers
from markov_lrsao.answers.plan import Options
from markov_lrsao.errors import Refused, VerificationError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward import coarse as coarsely
from markov_lrsao.forward.coarse import check_ends, entry_ends
from markov_lrsao.forward.layers import Layer, Layers
from markov_lrsao.forward.measures import Kind
from markov_lrsao.forward.model import Tables
from markov_lrsao.forward.options import position_options
from markov_lrsao.values.solving import most_steps
from markov_lrsao.values.whole_run import chains_with_values
from simulate.runs.runner import simulate

Point = tuple[int, int, str, str, str]
POINTS: list[Point] = [
    (9, 2, "4/5", "1/2", "1"),
    (9, 2, "1/3", "9/10", "1/10"),
    (9, 2, "4/5", "99/100", "1/100"),
    (9, 2, "4/5", "4/5", "1/2"),
    (10, 2, "19/20", "7/10", "1/4"),
    (12, 3, "4/5", "1/2", "1/10"),
    (9, 2, "4/5", "1/10", "7/2"),
    (9, 2, "9/10", "1/2", "0"),
]


def law_of(point: Point) -> StepLaw:
    n, ell, *rest = point
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.of(*rest)))


def followed(law: StepLaw, tables: int, steps: int) -> tuple[Layers, list[Tables]]:
    """Return layers, and the tables of all of them."""
    found = Layers(law)
    every = [found.tables]
    for _ in range(steps):
        found.step(tables)
        every.append(found.tables)
    return found, every


def bounds(law: StepLaw, tables: int) -> np.ndarray:
    found = Layers(law)
    while found.going > 1e-3 and len(found.kept) < 400:
        found.step(tables)
    return np.asarray(found.solved()[0])


class Run:
    """A run in fractions, and the node of each layer in which it should be."""

    def __init__(self, law: StepLaw, layers: Layers, every: list[Tables], seed: int) -> None:
        self.law, self.layers, self.every = law, layers, every
        self.random = random.Random(seed)
        self.position, self.phase, self.node = 0, 0, 0
        rows = int(law.row.max()) + 1
        self.table = [[fmpq(0)] * len(law.actions) for _ in range(rows)]
        self.twin = layers.unused.twin.reshape(rows, -1)
        self.first = [
            np.concatenate([[0], np.cumsum([self.moves(layer, s) for s in range(len(layer.mask))])])
            for layer in layers.kept
        ]

    def moves(self, layer: Layer, s: int) -> int:
        classes, most = int(layer.classes[s]), len(self.layers.waiting.bounds)
        if classes:
            return classes + int(classes < most)
        return sum(
            len(self.law.moves(int(layer.position[s]), a)) for a in self.actions(int(layer.mask[s]))
        )

    def actions(self, mask: int) -> list[int]:
        count = len(self.law.actions)
        sets = [m for m in range(1, 2**count) if mask >> m & 1]
        return [a for a in range(count) if any(m >> a & 1 for m in sets)]

    def inside(self, depth: int) -> bool:
        """Whether position, phase, values and orders are those of the node.

        What no run from here can use need not be there, and twins may have been exchanged: then
        they are here too, for runs move alike.
        """
        tables, s = self.every[depth], self.node
        if (tables.position[s], tables.phase[s]) != (self.position, self.phase):
            return False
        usable = Usable.of(self.law, self.position, self.table)
        for r, row in enumerate(self.table):
            used = [
                (q, usable.matters(r, a), r in usable.met and (r, a) not in usable.dead)
                for a, q in enumerate(row)
            ]
            fitting = (
                [used[b] for b in order]
                for order in permutations(range(len(row)))
                if all(self.twin[r][a] == self.twin[r][b] for a, b in enumerate(order))
            )
            found = [line for line in fitting if self.fits(tables, r, line)]
            if not found:
                return False
            # Where several do, nothing was dropped of the one that has most values in the node.
            best = max(found, key=lambda line: self.held(tables, r, line))
            self.table[r] = [q for q, _, _ in best]
        return True

    def held(self, tables: Tables, r: int, row: list[tuple[fmpq, bool, bool]]) -> int:
        """Return how many values of a row are in the node, whether they are of use or not."""
        first = r * len(row)
        return sum(
            tables.low[self.node, first + a] <= to_float(q) <= tables.high[self.node, first + a]
            for a, (q, _, _) in enumerate(row)
        )

    def fits(self, tables: Tables, r: int, row: list[tuple[fmpq, bool, bool]]) -> bool:
        """Whether what is of use in a row has the values and the order of the node, and lives."""
        actions, s = len(row), self.node
        pairs = [(a, b) for a in range(actions) for b in range(a + 1, actions)]
        for a, (q, used, alive) in enumerate(row):
            if alive and tables.high[s, r * actions + a] <= self.layers.unused.dead:
                return False
            low, high = (
                fmpq(*float(ends[s, r * actions + a]).as_integer_ratio())
                for ends in (tables.low, tables.high)
            )
            # An exact value may not be a float: its interval has the floats next to it.
            if used and not low <= q <= high:
                return False
        for k, (a, b) in enumerate(pairs):
            (p, first, _), (q, second, _) = row[a], row[b]
            sign = (p > q) - (p < q)
            if first and second and int(tables.order[s, r * len(pairs) + k]) not in (2, sign):
                return False
        return True

    def step(self) -> tuple[int, list[int], int]:
        """Play one step; return the action, the greedy ones and the number of the move."""
        row = self.table[int(self.law.row[self.position])]
        greedy = [a for a, q in enumerate(row) if q == max(row)]
        a = self.random.choice(greedy)
        moves = self.law.moves(self.position, a)
        down = len(moves) == 2 and self.random.random() < moves[0][0] / self.law.n
        number = 0 if down or len(moves) == 1 else 1
        _, to, gain = moves[number]
        algorithm = self.law.algorithm
        seen = max(self.table[int(self.law.row[to])])
        row[a] = algorithm.keep * row[a] + gain + algorithm.bootstrap * seen
        self.position = to
        while self.phase < len(self.law.landscape.milestones) and (
            to >= self.law.landscape.milestones[self.phase]
        ):
            self.phase += 1
        return a, greedy, number

    def macro(self, depth: int) -> bool:
        """Play what leads to the next layer; return whether the greedy actions were foreseen."""
        layer = self.layers.kept[depth]
        mask, classes = int(layer.mask[self.node]), int(layer.classes[self.node])
        begun, refused, before = self.position, 0, list(self.layers.waiting.bounds)
        while True:
            a, greedy, number = self.step()
            if not mask >> sum(2**b for b in greedy) & 1:
                return False
            if not classes:
                ahead = [b for b in self.actions(mask) if b < a]
                at = sum(len(self.law.moves(begun, b)) for b in ahead) + number
                break
            if self.position != begun:
                at = max(c for c in range(classes) if before[c] <= refused)
                break
            refused += 1
            if classes < len(before) and refused == before[classes]:
                at = classes
                break
        self.node = int(layer.target[self.first[depth][self.node] + at])
        return True


def strays(law: StepLaw, layers: Layers, every: list[Tables], runs: int) -> int:
    """Return how many runs leave the tables that are followed."""
    found = 0
    model = Run(law, layers, every, 0)
    for seed in range(runs):
        run = Run.__new__(Run)
        run.law, run.layers, run.every = law, layers, every
        run.first, run.twin = model.first, model.twin
        run.random = random.Random(seed)
        run.position, run.phase, run.node = 0, 0, 0
        run.table = [[fmpq(0)] * len(law.actions) for _ in range(int(law.row.max()) + 1)]
        for depth in range(len(layers.kept)):
            if not run.inside(depth) or not run.macro(depth):
                found += 1
                break
            if run.position == law.optimum:
                found += run.node != -1
                break
    return found


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(p, marks=[pytest.mark.slow] if i not in (1, 2) else [])
        for i, p in enumerate(POINTS)
    ],
)
def test_runs_stay_within_the_tables(point: Point) -> None:
    law = law_of(point)
    layers, every = followed(law, 150, 25)
    assert strays(law, layers, every, 40) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [42, 173, 225])
def test_runs_stay_within_the_tables_of_twins(seed: int) -> None:
    """Several plateaus, and helpers that are alike in some rows."""
    law = RandomPlateaus.held_out(seed).law
    layers, every = followed(law, 150, 25)
    assert strays(law, layers, every, 40) == 0


@pytest.mark.slow
def test_twins_that_are_none_lose_runs() -> None:
    law = RandomPlateaus.held_out(42).law
    layers = Layers(law)
    right = layers.unused.twin.copy()
    layers.unused.twin[:] = 0
    every = [layers.tables]
    for _ in range(25):
        layers.step(150)
        every.append(layers.tables)
    layers.unused.twin = right
    assert strays(law, layers, every, 40) > 0


@pytest.mark.parametrize("kind", ["needs", "evenly"])
def test_no_truth_rests_on_the_measure(kind: Kind) -> None:
    """Tables are told apart by what later choices need: no run is lost, and E[T] is enclosed.

    Tables that are said to lie elsewhere are noticed: the same runs stray from them.
    """
    law = RandomPlateaus.held_out(48).law
    layers = Layers(law, kind=kind)
    every = [layers.tables]
    for _ in range(30):
        layers.step(100)
        every.append(layers.tables)
    assert strays(law, layers, every, 40) == 0
    for tables in every:
        tables.low[:] += 1.0
        tables.high[:] += 1.0
    assert strays(law, layers, every, 40) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["needs", "evenly"])
def test_needs_tell_more_than_visits(kind: Kind) -> None:
    """With a small alpha, and as many tables; E[T] is 38.7 by simulation."""
    law = RandomPlateaus.held_out(48).law

    def enclosed(kind: Kind) -> tuple[float, float]:
        layers = Layers(law, kind=kind)
        while layers.going > 1e-4:
            layers.step(500)
        low, high = layers.solved()[0, 0].tolist()
        return low, high

    (low, high), (lower, upper) = enclosed(kind), enclosed("visits")
    assert low <= 38.6 < 38.8 <= high
    assert high - low < (upper - lower) / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_no_truth_rests_on_what_steers(seed: int) -> None:
    """Widths that nobody learnt, and levels that change on the way, lose no run."""
    law = law_of(POINTS[0])
    widths = 10.0 ** np.random.default_rng(seed).uniform(-6, 3, 2**20)
    layers = Layers(law, widths=widths)
    every = [layers.tables]
    for depth in range(25):
        layers.always = 3 - depth // 9
        layers.step(150)
        every.append(layers.tables)
    assert strays(law, layers, every, 40) == 0


@pytest.mark.exhaustive
def test_what_is_learnt_narrows() -> None:
    """As many tables, told apart where it was wide: a third less is open."""
    law = law_of(POINTS[0])
    widths, found = None, []
    for _ in range(2):
        layers = Layers(law, widths=widths)
        while layers.going > 1e-3:
            layers.step(4_000)
        found.append(layers.solved()[0, 0])
        widths = layers.widths
    (low, high), (least, most) = found
    assert most - least < 0.8 * (high - low)
    assert max(low, least) < 61.6 < min(high, most)  # 61.63 +- 0.12, by 200,000 runs


def _narrow_ends(layers: Layers) -> None:
    least = np.zeros_like(layers.coarse.least)
    layers.coarse = replace(layers.coarse, least=least)


def _no_bootstrap(layers: Layers) -> None:
    layers.arrays = replace(layers.arrays, bootstrap=(0.0, 0.0), sums=layers.arrays.sums * 0 - 1)


def _no_decay(layers: Layers) -> None:
    layers.waiting.powers[:] = 1.0


def _sure_to_wait(layers: Layers) -> None:
    layers.waiting.powers[:, 0] = 1.0
    layers.coarse = replace(layers.coarse, most=layers.coarse.most / 3)


def _less_gain(layers: Layers) -> None:
    layers.arrays = replace(
        layers.arrays, gains=layers.arrays.gains * 0.9, sums=layers.arrays.sums * 0 - 1
    )


@pytest.mark.parametrize(
    "wrong", [_narrow_ends, _no_bootstrap, _no_decay, _sure_to_wait, _less_gain]
)
def test_wrong_images_lose_runs(wrong: object) -> None:
    law = law_of(POINTS[0])
    layers = Layers(law)
    wrong(layers)  # type: ignore[operator]
    every = [layers.tables]
    for _ in range(25):
        layers.step(150)
        every.append(layers.tables)
    assert strays(law, layers, every, 40) > 0


@pytest.mark.slow
def test_exact_answers_lie_in_the_enclosures() -> None:
    for point in [(9, 2, "4/5", "1/10", "7/2"), (9, 2, "19/20", "1/10", "103/100")]:
        law = law_of(point)
        exact = runtime(law.landscape, law.algorithm)
        found = bounds(law, 2_000)
        for (low, high), known in zip(found, [exact.total, *exact.phases], strict=True):
            assert low <= to_float(known.value) <= high
        assert found[0, 1] < 1.5 * found[0, 0]
        first = to_float(exact.phases[0].value)  # decided within few steps
        assert found[1, 1] - found[1, 0] < 1e-6 * first


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(p, marks=pytest.mark.exhaustive if k else pytest.mark.slow)
        for k, p in enumerate(POINTS[:3])
    ],
)
def test_simulated_means_lie_in_the_enclosures(point: Point) -> None:
    law = law_of(point)
    times = simulate(law, runs=4_000, seed=3).times
    error = 4 * times.std() / len(times) ** 0.5
    low, high = bounds(law, 1_500)[0]
    assert low - error <= times.mean() <= high + error
    assert high < 700


@pytest.mark.parametrize("factor", [1.0, 0.99, pytest.param(1.01, marks=pytest.mark.slow)])
def test_the_first_phase_is_known_and_wrong_steps_are_seen(factor: float) -> None:
    """Before n-l is hit few comparisons are open: both ends are E[T1], unless waiting is wrong."""
    layers = Layers(law_of(POINTS[6]))
    layers.waiting.steps *= factor
    for _ in range(40):
        layers.step(150)
    low, high = layers.solved()[0, 1]
    truth = 9853 / 2856
    assert (abs(low - truth) < 1e-6 and abs(high - truth) < 1e-6) == (factor == 1.0)


@pytest.mark.slow
def test_more_tables_are_narrower() -> None:
    law = law_of(POINTS[0])
    few, more = bounds(law, 200)[0], bounds(law, 3_000)[0]
    assert more[1] - more[0] < 0.7 * (few[1] - few[0])
    assert more[0] <= few[1]
    assert few[0] <= more[1]


def test_ends_of_entries_are_checked() -> None:
    law = law_of(POINTS[0])
    least, most, floors = entry_ends(law)
    moves = coarsely.moves_of(law)
    check_ends(law.algorithm, moves, least, most, floors)
    for ends, step in ((least, fmpq(1, 10**6)), (most, -fmpq(1, 10**6))):
        row, action = next(
            (r, a) for r, line in enumerate(ends) for a, x in enumerate(line) if x != 0
        )
        ends[row][action] += step
        with pytest.raises(VerificationError, match="can leave its ends"):
            check_ends(law.algorithm, moves, least, most, floors)
        ends[row][action] -= step
    floors[0] += fmpq(1, 10**6)
    with pytest.raises(VerificationError, match="below its floor"):
        check_ends(law.algorithm, moves, least, most, floors)


def test_a_row_that_was_left_is_not_as_low_as_inside() -> None:
    """At gamma = 4/5, r = 1/2 row 0 can sink to -r / (1 - gamma) = -5/2, but not be left there."""
    least, _, floors = entry_ends(law_of(POINTS[3]))
    assert max(least[0]) < -fmpq(24, 10)
    assert floors[0] == fmpq(1, 5) * max(least[0]) - fmpq(4, 5) * fmpq(1, 2)


@pytest.mark.slow
def test_where_a_row_was_left_both_ends_are_known() -> None:
    """At the same point: with all that row 0 could sink to the upper end would be infinite."""
    assert np.isfinite(bounds(law_of(POINTS[3]), 100)[0]).all()


def test_candidates_for_positions_are_checked() -> None:
    law = law_of(POINTS[0])
    right = np.full(law.n + 1, 1 << 4)  # R alone is greedy, everywhere
    positions = position_options(law, right)
    ones = np.ones(len(positions.states))
    high = positions.solved(ones, 1)
    assert high is not None
    assert positions.holds(high * (1 + 1e-9), ones, 1)
    assert not positions.holds(high * (1 - 1e-9), ones, 1)
    assert positions.holds(high * (1 - 1e-9), ones, -1)
    assert not positions.holds(high * (1 + 1e-9), ones, -1)


@pytest.mark.slow
def test_no_upper_end_where_runs_can_get_stuck() -> None:
    layers = Layers(law_of((9, 2, "4/5", "1/10", "30")))
    while layers.going > 1e-3 and len(layers.kept) < 400:
        layers.step(500)
    found = layers.solved()[0]
    assert found[0, 1] == np.inf
    assert np.isfinite(found[1]).all()
    assert layers.widths is None  # nothing to steer by


@pytest.mark.slow
def test_small_limits_still_give_an_enclosure() -> None:
    law = law_of(POINTS[0])
    result = runtime(law.landscape, law.algorithm, outside_h=True, max_states=300)
    assert (result.kind, result.method) == ("enclosure", "layers")
    low, high = result.total.lower, result.total.upper
    assert low is not None
    assert high is not None
    assert low < fmpq(613, 10) < high


@pytest.mark.slow
def test_a_chain_with_values_stands_behind_the_last_layer() -> None:
    """Few values bound the steps left here, as closely as anything. Too small a bound is seen.

    E[T] is 38.7 by simulation, and certainly more than 37.
    """
    law = RandomPlateaus.held_out(48).law
    levels = chains_with_values(law, 15_000, exact=False)
    assert not isinstance(levels, Refused)
    most = most_steps(next(levels))
    assert most is not None

    def enclosed(most: float | None) -> tuple[float, float]:
        layers = Layers(law, most=most)
        for _ in range(80):
            layers.step(1000)
        low, high = layers.solved()[0, 0].tolist()
        return low, high

    low, high = enclosed(to_float(most) * (1 + 1e-12))
    assert low <= 38.6 < 38.8 <= high <= enclosed(None)[1]
    assert high < 60
    assert enclosed(30.0)[1] < 37


def test_large_tables_are_refused() -> None:
    law = StepLaw.of(Landscape.jump(40, 3), Algorithm.lrsao(Parameters.of("4/5", "1/2", "1")))
    assert isinstance(enclose_by_layers(law, Options()), Refused)
