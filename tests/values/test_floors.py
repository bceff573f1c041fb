"""What is forgotten below a floor, and beside an entry that lasts, changes no answer."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq
from oracles import RuleOracle
from random_plateaus import RandomPlateaus
from three_ways import agree, compare_with_oracle

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.rows.patterns import Pattern
from markov_lrsao.values import whole_run
from markov_lrsao.values.cells import Grid, Precision, Safety, Traits, forgotten, is_dead, rounded
from markov_lrsao.values.invariants import implies
from markov_lrsao.values.refinement import Refined, ValueWalk, safe_actions
from markov_lrsao.values.solving import solve_values
from markov_lrsao.values.whole_run import chain_with_values, everything

SEEDS = range(300, 312)


def followed(instance: RandomPlateaus, *, all_rows: bool, largest: int = 1500) -> Refined | None:
    law = instance.law
    mesh = 4 * law.algorithm.learn
    try:
        return everything(law, mesh, exact_bits=16, largest=largest, all_rows=all_rows)
    except StateSpaceTooLargeError:
        return None


class WithoutFloors(ValueWalk):
    def __init__(self, *arguments: object, floors: bool, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]


@pytest.mark.slow
def test_answers_with_and_without_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact answers are the same fractions, and enclosures overlap."""
    compared, exact = 0, 0
    for seed in SEEDS[:10]:
        instance = RandomPlateaus.drawn(seed)
        short = followed(instance, all_rows=True, largest=600)
        with monkeypatch.context() as patch:
            patch.setattr(whole_run, "ValueWalk", WithoutFloors)
            long = followed(instance, all_rows=True, largest=600)
        if short is None or long is None:
            continue
        one, two = (solve_values(b, "exact", 2) for b in (short, long))
        for a, b in zip(one.values, two.values, strict=True):
            assert all(agree(x, y) for x, y in zip(a, b, strict=True)), seed
        compared += 1
        exact += one.undecided is None and two.undecided is None
    assert compared >= exact >= 2


@pytest.mark.slow
def test_laws_with_floors() -> None:
    """The chain with floors has the laws of the position that full Q-tables have."""
    compared = 0
    for seed in SEEDS[:12]:
        instance = RandomPlateaus.drawn(seed)
        block = followed(instance, all_rows=True, largest=300)
        if block is not None and not block.undecided:
            chain = chain_with_values(block)[0]
            compared += compare_with_oracle(instance, chain, 20, largest=120) >= 4
    assert compared >= 3


@pytest.mark.slow
def test_a_floor_is_never_fallen_below() -> None:
    """On every transition of a chain with floors: floors never sink, positions stay above."""
    risen = 0
    for seed in SEEDS[:6]:
        instance = RandomPlateaus.drawn(seed)
        block = followed(instance, all_rows=False, largest=400)
        if block is None:
            continue
        walk = ValueWalk(block.stretch, block.clusters, block.tracked, floors=True)
        floors = [
            None if s.patterns == walk.gone else walk.floor(s.position, s.patterns)
            for s in block.states
        ]
        for i, options in enumerate(block.options):
            for target, _ in (edge for edges in options for edge in edges):
                if not isinstance(target, int) or floors[target] is None:
                    continue
                here, there = floors[i], floors[target]
                assert here is not None
                assert there is not None
                assert here <= there <= block.states[target].position
                risen += there > here
    assert risen > 3


@pytest.mark.parametrize("seed", [128])
def test_rounded_ends_stay_above_all_penalties(seed: int) -> None:
    """Ends were rounded to below every value that an entry can have; the certificate refused."""
    law = RandomPlateaus.drawn(seed).law
    block = everything(law, 64 * law.algorithm.learn, exact_bits=16, largest=4000)
    assert all(b.low >= block.clusters.grid.lowest for box in block.clusters.boxes for b in box)


def test_a_floor_saves_most_states() -> None:
    """Three plateaus and four objectives: there was no answer within a minute."""
    law = RandomPlateaus.drawn(3).law
    block = everything(law, law.algorithm.learn / 2, exact_bits=0, largest=4000)
    assert len(block.states) < 1500


def test_which_entries_are_dead() -> None:
    # A is above B; both negative, or A positive and B zero
    both, apart = Pattern((-1, -1), (1,)), Pattern((1, 0), (1,))
    none, floor, lasting = Safety.NONE, Safety.FLOOR, Safety.LASTING
    assert not is_dead(both, 1, (none, none))
    assert is_dead(both, 1, (floor, none))
    assert not is_dead(both, 0, (floor, floor))
    assert not is_dead(apart, 1, (floor, none))  # A may decay to 0, and B is 0
    assert is_dead(apart, 1, (lasting, none))
    assert not is_dead(Pattern((1, UNKNOWN), (1,)), 1, (lasting, none))
    assert not is_dead(Pattern((0, 0), (0,)), 1, (lasting, none))


def test_forgetting_without_a_reason_is_refused() -> None:
    """The certificate of the clusters accepts a forgotten entry only beside a safe one."""
    pattern = Pattern((1, 0), (1,))
    traits = Traits(pattern, (fmpq(1), fmpq(0)), fmpq(1))
    short = forgotten(traits, (Safety.LASTING, Safety.NONE))
    assert short.cells == (fmpq(1), None)
    assert short.pattern.maximal == (0,)
    assert implies(pattern, short, (Safety.LASTING, Safety.NONE))
    assert not implies(pattern, short, (Safety.FLOOR, Safety.NONE))
    assert not implies(pattern, short, ())


@pytest.mark.slow
def test_safe_entries_in_runs() -> None:
    """Along runs in Fractions no safe entry falls below min(its value, 0), none that lasts to 0."""
    seen = 0
    for seed in SEEDS[:10]:
        instance = RandomPlateaus.drawn(seed)
        block = followed(instance, all_rows=False)
        if block is None:
            continue
        law = instance.law
        walk = ValueWalk(block.stretch, block.clusters, block.tracked, floors=True)
        safe = {r: safe_actions(law, 0, law.optimum, r, walk.lowest) for r in range(law.row.max())}
        oracle = RuleOracle(instance.objectives, "T", instance.rule)
        position, table = 0, oracle.zero_table()
        for t in range(60):
            choices = list(oracle.choices(position, table))
            choice = choices[(7 * t + seed) % len(choices)]
            row = oracle.state_of[position]
            before, after = (oracle.values[x[row][choice.action]] for x in (table, choice.table))
            kind = safe[row][choice.action]
            if kind and choice.position != oracle.optimum:
                assert after >= min(before, Fraction(0))
                assert kind != Safety.LASTING or before <= 0 or after > 0
                seen += 1
            position, table = choice.position, choice.table
            if position == oracle.optimum:
                break
    assert seen > 40


def test_ends_are_not_rounded_across_landmarks() -> None:
    mark = fmpq(-1, 3)
    old, new = Interval.point(fmpq(-1, 4)), Interval.point(fmpq(-33, 100))
    assert rounded(old, new, fmpq(1)) == Interval(fmpq(-1), fmpq(-1, 4))
    beside = rounded(old, new, fmpq(1), (mark,))
    assert (beside.low, beside.low_attained) == (mark, False)
    at = rounded(old, Interval.point(mark), fmpq(1), (mark,))
    assert (at.low, at.low_attained) == (mark, True)
    below = rounded(Interval.point(fmpq(-1, 2)), Interval.point(fmpq(-2, 5)), fmpq(1), (mark,))
    assert (below.high, below.high_attained) == (mark, False)


def test_cells_do_not_reach_across_landmarks() -> None:
    law = RandomPlateaus.drawn(300).law
    grid = Grid(law, Precision(fmpq(10**6), 0, landmarks=True))
    lowest, penalty, *_ = grid.landmarks
    assert lowest < penalty
    step = fmpq(1, 997)
    above = grid.cell(Interval(penalty + step, penalty + 2 * step), fmpq(1))
    under = grid.cell(Interval(penalty - 2 * step, penalty - step), fmpq(1))
    across = grid.cell(Interval(penalty - step, penalty + step), fmpq(1))
    assert len({above, under, across}) == 3
