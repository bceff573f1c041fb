"""The quotient of all tables: planes, what is decided, and that lumps do what tables do."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, runtime
from markov_lrsao.chains.hitting import central_moments
from markov_lrsao.errors import CrossingError, StateSpaceTooLargeError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values.quotient.known import Known
from markov_lrsao.values.quotient.level import quotient_level
from markov_lrsao.values.quotient.lumps import Lump, Point, Trees, sign_at
from markov_lrsao.values.quotient.minimising import Minimised
from markov_lrsao.values.quotient.planes import (
    Equalities,
    Plane,
    coordinate,
    difference,
    plane,
    simplest,
    value_on,
)
from markov_lrsao.values.quotient.systems import largest_of
from markov_lrsao.values.quotient.tables import Tables
from markov_lrsao.values.whole_run import chain_with_values

ENTRIES = 4


def law_at(n: int, ell: int, alpha: str, gamma: str, r: str) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.of(alpha, gamma, r)))


def drawn_plane(rng: random.Random) -> Plane:
    while True:
        terms = {i: fmpq(rng.randint(-4, 4)) for i in rng.sample(range(ENTRIES), rng.randint(1, 3))}
        found, _ = plane(terms, fmpq(rng.randint(-6, 6), rng.randint(1, 4)))
        if found is not None:
            return found


def drawn_table(rng: random.Random) -> Point:
    table = tuple(fmpq(rng.randint(-24, 24), rng.choice((1, 2, 4, 8))) for _ in range(ENTRIES))
    table = tuple(max(min(x, fmpq(8)), fmpq(-8)) for x in table)
    return Point(table, tuple(int(x.p) / int(x.q) for x in table))


def test_a_plane_has_one_name() -> None:
    found, sign = plane({2: fmpq(-2, 3), 0: fmpq(-4)}, fmpq(2))
    assert (found, sign) == ((((0, 6), (2, 1)), -3), -1)
    assert plane({0: fmpq(6), 2: fmpq(1)}, fmpq(-3)) == (found, 1)
    assert plane({1: fmpq(0)}, fmpq(-1, 7)) == (None, -1)


@pytest.mark.parametrize(("low", "high"), [(0.3, 0.35), (-2.6, -2.51), (3.001, 3.9), (-1.0, 2.0)])
def test_the_simplest_fraction_lies_between(low: float, high: float) -> None:
    found = simplest(low, high)
    assert Fraction(low) <= Fraction(int(found.p), int(found.q)) <= Fraction(high)
    for q in range(1, int(found.q)):  # none is simpler
        assert Fraction(ceil(Fraction(low) * q), q) > Fraction(high)


def test_equalities_put_entries_in() -> None:
    rng = random.Random(7)
    for _ in range(200):
        equalities = Equalities({})
        planes = []
        for _ in range(2):
            of, _ = equalities.reduce(drawn_plane(rng))
            if of is not None:
                equalities = equalities.plus(of)
                planes.append(of)
        asked = drawn_plane(rng)
        reduced, sign = equalities.reduce(asked)
        table = _solution(planes, rng)
        value = value_on(asked, table)
        if reduced is None:
            assert (value > 0) - (value < 0) == sign
        else:
            other = value_on(reduced, table)
            assert (value > 0) - (value < 0) == sign * ((other > 0) - (other < 0))


def _solution(planes: list[Plane], rng: random.Random) -> tuple[fmpq, ...]:
    """A random table on all planes; each is solved for its last entry, latest planes first."""
    table = [fmpq(rng.randint(-9, 9)) for _ in range(ENTRIES)]
    for _ in range(4):
        for of in planes:
            i, v = of[0][-1]
            rest = fmpq(of[1]) + sum((w * table[j] for j, w in of[0][:-1]), fmpq(0))
            table[i] = -rest / v
    assert all(value_on(of, tuple(table)) == 0 for of in planes)
    return tuple(table)


def contradictions(known: Known, decided: dict[Plane, int], seed: int) -> int:
    """How often a table of the lump lies elsewhere than was decided."""
    rng = random.Random(seed)
    found = 0
    for _ in range(600):
        point = drawn_table(rng)
        inside = all(sign_at(of, point) == sign for of, sign in known.path)
        found += inside and any(sign_at(of, point) != sign for of, sign in decided.items())
    return found


def cut_out(rng: random.Random, cuts: int) -> Known:
    known = Known((), [-8.0] * ENTRIES, [8.0] * ENTRIES, Equalities({}))
    point = drawn_table(rng)
    for _ in range(cuts):
        of, _ = known.equalities.reduce(drawn_plane(rng))
        if of is not None and known.decide(of) is None:
            known = known.plus(of, sign_at(of, point))
    return known


def test_what_is_decided_holds_for_all_tables() -> None:
    rng = random.Random(11)
    decisions = 0
    for k in range(60):
        known = cut_out(rng, 4)
        decided = {}
        for _ in range(40):
            of = drawn_plane(rng)
            sign = known.decide(of)
            if sign is not None:
                decided[of] = sign
        decisions += len(decided)
        assert contradictions(known, decided, k) == 0
    assert decisions > 200  # it is no use to decide nothing


def test_a_wrong_box_is_seen() -> None:
    rng = random.Random(11)
    wrong = 0
    for k in range(30):
        known = cut_out(rng, 1)
        narrow = Known(known.path, [-1.0] * ENTRIES, [1.0] * ENTRIES, known.equalities)
        decided = {}
        for of in (drawn_plane(rng) for _ in range(40)):
            sign = narrow.decide(of)
            if sign is not None:
                decided[of] = sign
        wrong += contradictions(known, decided, k)
    assert wrong > 0


def test_sums_of_planes_decide() -> None:
    known = Known((), [-8.0] * ENTRIES, [8.0] * ENTRIES, Equalities({}))
    known = known.plus(difference(0, 1), 1).plus(coordinate(2), 1)
    assert known.decide((((0, 3), (1, -3), (2, 5)), 0)) == 1
    assert known.decide((((0, 3), (1, -3), (2, -5)), 0)) is None
    assert known.decide((((0, 3), (1, -4), (2, 5)), 0)) is None


def test_entries_keep_their_bounds() -> None:
    law = law_at(9, 2, "4/5", "1/10", "13/4")
    entries = Tables(law)
    low, high = entries.bounds
    rng = random.Random(3)
    for _ in range(30):
        for _, point in walked(law, entries, rng, 60):
            assert all(a <= x <= b for a, x, b in zip(low, point.table, high, strict=True))
    assert all(b - a < 20 for a, b in zip(low, high, strict=True))


def walked(
    law: StepLaw, entries: Tables, rng: random.Random, steps: int
) -> list[tuple[int, Point]]:
    """A run on tables by the law's table of single steps, which lumps know nothing of."""
    position, point = 0, Point.zero(entries.count)
    found = [(position, point)]
    for _ in range(steps):
        row = int(law.row[position])
        chosen = rng.choice(largest_of(point.table, entries.of_row(row))[0])
        direction = int(rng.random() >= position / law.n)
        action = chosen - entries.of_row(row).start
        accepted = bool(law.accepted[position, action, direction])
        to = position + 2 * direction - 1 if accepted else position
        if to == law.optimum:
            break
        seen = max(point.table[i] for i in entries.of_row(int(law.row[to])))
        algorithm = law.algorithm
        reward = algorithm.learn * law.reward(position, action, direction)
        value = algorithm.keep * point.table[chosen] + algorithm.bootstrap * seen + reward
        point = point.updated(((chosen, ((), value)),))
        position = to
        found.append((position, point))
    return found


def strays(minimised: Minimised, runs: int, seed: int) -> int:
    """Count the steps of random runs that do not go where the lumps' moves go."""
    entries = minimised.system
    assert isinstance(entries, Tables)
    law = entries.law
    rng = random.Random(seed)
    found = 0
    for _ in range(runs):
        lump = minimised.start
        phase = 0
        for (before, a), (position, b) in _pairs(walked(law, entries, rng, 150)):
            assert lump.moves is not None
            phase = entries.phase(phase, position)
            here = minimised.trees.leaf((position, phase), b)
            found += lump.greedy != largest_of(a.table, entries.of_row(int(law.row[before])))[0]
            ways = {m.target for m in lump.moves if m.to == (position, phase)}
            found += here not in ways
            lump = here
    return found


def _pairs(run: list[tuple[int, Point]]) -> list[tuple[tuple[int, Point], tuple[int, Point]]]:
    return list(pairwise(run))


TIE = ("19/20", "1/10", "41/25")


def test_runs_follow_the_blocks() -> None:
    minimised = Minimised(Tables(law_at(9, 2, *TIE)))
    assert minimised.refine(4000)
    assert strays(minimised, 60, 5) == 0
    victim = next(m for m in minimised.start.moves or () if m.target is not None)
    victim.target = Lump(-1, (0, 0), minimised.start.known, None, 0)
    assert strays(minimised, 60, 5) > 0


def test_leaves_are_found_by_signs() -> None:
    known = Known((), [-8.0] * ENTRIES, [8.0] * ENTRIES, Equalities({}))
    trees = Trees(known)
    point = Point((fmpq(1), fmpq(2), fmpq(0), fmpq(3)), (1.0, 2.0, 0.0, 3.0))
    lump = trees.leaf((0, 0), point)
    lump.point = point
    for _ in trees.cut(lump, difference(0, 1)):
        raise AssertionError("nothing led there")
    swapped = Point(
        (point.table[1], point.table[0], *point.table[2:]),
        (point.floats[1], point.floats[0], *point.floats[2:]),
    )
    assert trees.leaf((0, 0), point) is lump
    assert trees.leaf((0, 0), swapped) is not lump


@pytest.mark.parametrize(
    ("n", "ell", "alpha", "gamma", "r"),
    [
        pytest.param(9, 2, "4/5", "1/10", "13/4", marks=pytest.mark.slow),
        (9, 2, "19/20", "1/10", "3"),
        pytest.param(12, 3, "19/20", "1/10", "2", marks=pytest.mark.slow),
    ],
)
def test_the_quotient_equals_patterns_where_these_decide(
    n: int, ell: int, alpha: str, gamma: str, r: str
) -> None:
    law = law_at(n, ell, alpha, gamma, r)
    chain, _ = chain_with_values(quotient_level(law, largest=4000))
    found = central_moments(chain, chain.positions == law.optimum, 2)
    known = runtime(law.landscape, law.algorithm, outside_h=True)
    assert found[0][int(chain.start[0])] == known.total.value
    assert found[1][int(chain.start[0])] == known.variance.value


def test_the_quotient_equals_other_ways_elsewhere() -> None:
    for text, n in (("regions:widths=2+1,bridges=own", 6), ("xdivk:k=2", 6)):
        law = StepLaw.of(Landscape.named(text, n=n, helpers=("onemax",) if "x" in text else ()))
        chain, _ = chain_with_values(quotient_level(law, largest=4000))
        found = central_moments(chain, chain.positions == law.optimum, 2)
        known = runtime(law.landscape, law.algorithm, outside_h=True)
        assert known.kind == "exact"
        assert found[0][int(chain.start[0])] == known.total.value
        assert found[1][int(chain.start[0])] == known.variance.value


def positions_after(law: StepLaw, steps: int) -> list[dict[int, fmpq]]:
    """The law of the position after 0, 1, .. steps, by a distribution over whole tables."""
    entries = Tables(law)
    states: dict[tuple[int, tuple[fmpq, ...]], fmpq] = {(0, (fmpq(0),) * entries.count): fmpq(1)}
    found = []
    for _ in range(steps + 1):
        here: dict[int, fmpq] = defaultdict(fmpq)
        following: dict[tuple[int, tuple[fmpq, ...]], fmpq] = defaultdict(fmpq)
        for (position, table), weight in states.items():
            here[position] += weight
            if position == law.optimum:
                following[position, table] += weight
                continue
            row = int(law.row[position])
            greedy = largest_of(table, entries.of_row(row))[0]
            for chosen in greedy:
                action = chosen - entries.of_row(row).start
                for chance, to, gain in law.moves(position, action):
                    seen = fmpq(0)
                    if to != law.optimum:
                        seen = max(table[i] for i in entries.of_row(int(law.row[to])))
                    a = law.algorithm
                    value = a.keep * table[chosen] + a.bootstrap * seen + gain
                    new = (*table[:chosen], value, *table[chosen + 1 :])
                    following[to, new] += weight * fmpq(chance, law.n * len(greedy))
        found.append(dict(here))
        states = following
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "gamma", "r"), [TIE, ("4/5", "1/10", "13"), ("4/5", "1/10", "2")]
)
def test_the_law_of_the_position_is_that_of_the_tables(alpha: str, gamma: str, r: str) -> None:
    law = law_at(9, 2, alpha, gamma, r)
    chain, _ = chain_with_values(quotient_level(law, largest=4000))
    weights: dict[int, fmpq] = {int(chain.start[0]): fmpq(1)}
    for expected in positions_after(law, 9):
        here: dict[int, fmpq] = defaultdict(fmpq)
        following: dict[int, fmpq] = defaultdict(fmpq)
        for state, weight in weights.items():
            here[int(chain.positions[state])] += weight
            for to, probability in chain.row(state):
                following[to] += weight * probability
        assert here == expected
        weights = following


@pytest.mark.slow
def test_three_way_ties_are_exact() -> None:
    found = runtime(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.of(*TIE)))
    assert (found.kind, found.hypothesis_h, found.method) == ("exact", True, "crossing")
    assert found.total.rational == "14199723279661/320001883740"
    tables = runtime(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.of(*TIE)), method="joint")
    assert (tables.method, tables.total) == ("quotient", found.total)
    bounds = runtime(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.of(*TIE)), tolerance="1/100")
    assert bounds.kind == "enclosure"  # by another way, and the fraction lies in it
    assert bounds.total.upper is not None
    assert bounds.total.lower <= found.total.value <= bounds.total.upper
    assert bounds.phases[:2] == found.phases[:2]


@pytest.mark.slow
def test_the_probability_of_a_trap_is_exact() -> None:
    algorithm = Algorithm.lrsao(Parameters.of("4/5", "1/10", "13"))
    found = runtime(Landscape.jump(9, 2), algorithm, outside_h=True)
    assert found.kind == "infinite"
    assert found.trap is not None
    assert found.trap.lower == found.trap.upper == fmpq(30278863559, 197584449390)


def test_what_has_no_finite_quotient_is_refused() -> None:
    law = law_at(9, 2, "1/2", "9/10", "1/10")
    with pytest.raises(StateSpaceTooLargeError):
        quotient_level(law, largest=300)
    with pytest.raises(CrossingError, match="keep"):
        Tables(StepLaw.of(Landscape.jump(9, 2), _overshooting()))


def _overshooting() -> Algorithm:
    from dataclasses import replace

    return replace(Algorithm.lrsao(Parameters.of("4/5", "1/10", "3")), keep=fmpq(-1, 5))


@pytest.mark.slow
def test_states_have_words() -> None:
    level = quotient_level(law_at(9, 2, *TIE), largest=4000)
    chain, phases = chain_with_values(level)
    assert chain.label(0) == "p=0"
    assert any("[0: J>" in chain.label(i) for i in range(chain.size))
    assert np.all(phases[:-1] <= 2)
