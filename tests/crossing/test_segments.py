"""Segments: private rows of any shape at any n, against joint chains, published sums and force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from flint import fmpq, fmpq_mat

from markov_lrsao import Algorithm, Landscape, StepLaw, runtime
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.crossing.composition import slope_automaton
from markov_lrsao.crossing.line import line_of
from markov_lrsao.crossing.minimal import Automaton, minimise, scalar
from markov_lrsao.crossing.segments import private_rows, regions_between
from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.moments import central_from_factorial
from markov_lrsao.model.algorithm import Reward
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.rows.automata import derive_automata
from markov_lrsao.rows.lumping import merge_patterns

NOTHING = Reward()
RANDOM = Algorithm("random", NOTHING, NOTHING, NOTHING, fmpq(1), fmpq(0), fmpq(0))
"""The agent that never learns: it takes each objective with the same probability for ever."""


def xdivk(n: int, k: int, milestones: tuple[int, ...] | None = None) -> Landscape:
    objectives = {"X": [p // k for p in range(n + 1)], "O": list(range(n + 1))}
    return Landscape.from_arrays(objectives, "X", milestones)


def hurdle(n: int, width: int) -> Landscape:
    zeros = [n - p for p in range(n + 1)]
    target = [-(-z // width) * -10 * width - z % width for z in zeros]
    return Landscape.from_arrays({"H": target, "O": list(range(n + 1))}, "H")


def with_zeromax(n: int) -> Landscape:
    return Landscape.from_arrays({"O": list(range(n + 1)), "Z": list(range(n, -1, -1))}, "O")


def earl(n: int) -> Algorithm:
    return Algorithm.earl("1/2", fmpq(1, n))


ALGORITHMS: dict[str, Callable[[int], Algorithm | None]] = {
    "LRSAO": lambda n: None,
    "EA+RL": earl,
    "random": lambda n: RANDOM,
}
LANDSCAPES = {
    "XdivK": (xdivk(12, 3), xdivk(8, 4), xdivk(12, 3, (3, 9, 12))),
    "Hurdle": (hurdle(9, 3), hurdle(8, 4)),
    "ZeroMax": (with_zeromax(8),),
}


@pytest.mark.parametrize("name", LANDSCAPES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_segments_and_joint_chain_give_identical_fractions(name: str, algorithm: str) -> None:
    for landscape in LANDSCAPES[name]:
        chosen = ALGORITHMS[algorithm](landscape.n)
        ways = ("joint", "segments")
        joint, segments = (runtime(landscape, chosen, method=way, outside_h=True) for way in ways)
        assert segments.method == "segments"
        assert segments.total == joint.total
        assert segments.phases == joint.phases
        assert (segments.trap is None) == (joint.trap is None)
        if segments.trap is not None and joint.trap is not None:
            assert segments.trap.probability == joint.trap.probability
        else:
            assert segments.variance == joint.variance
            assert segments.phase_variances == joint.phase_variances


def test_published_sums() -> None:
    """RLS and the random agent on XdivK (k = 3), EA+RL on OneMax with ZeroMax."""
    thirds = Landscape.from_arrays({"X": [p // 3 for p in range(13)]}, "X")
    assert runtime(thirds, Algorithm.rls(), method="segments").total == fmpq(414622, 1155)
    assert runtime(xdivk(12, 3), RANDOM, method="segments").total == fmpq(9911, 70)
    assert runtime(with_zeromax(10), earl(10), method="segments").total == fmpq(6181, 120)


def sum_over_blocks(n: int, k: int, share: fmpq) -> fmpq:
    """E[T] of choosing the target with probability 1 - share, else OneMax, on XdivK.

    From m k + i the walk moves up for sure, and down with probability 1 - share if i > 0: the
    expected time of one step up is solved from below.
    """
    total = fmpq(0)
    for m in range(n // k):
        below = fmpq(0)
        for i in range(k):
            p = m * k + i
            down = fmpq(p, n) * (1 - share) if i else fmpq(0)
            below = (1 + down * below) / fmpq(n - p, n)
            total += below
    return total


@pytest.mark.parametrize("n", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_xdivk_exactly(n: int) -> None:
    """n = 60 had more than 3 million joint states."""
    fair = runtime(xdivk(n, 3), RANDOM, method="segments")
    assert fair.total == sum_over_blocks(n, 3, fmpq(1, 2))
    learnt = runtime(xdivk(n, 3), earl(n))
    assert (learnt.method, learnt.kind) == ("segments", "exact")
    # What EA+RL learns on XdivK does not change the law of T.
    assert (learnt.total, learnt.variance) == (fair.total, fair.variance)
    paper = runtime(xdivk(n, 3))
    assert (paper.method, paper.kind) == ("segments", "exact")
    assert float(paper.coupon_collector) <= float(paper.total) < float(fair.total)


def test_earl_with_zeromax_at_large_n() -> None:
    n = 1000
    published = sum((2 + x * (fmpq(1, n - x + 1) + fmpq(1, n - x)) for x in range(n)), fmpq(0))
    assert runtime(with_zeromax(n), earl(n)).total == published
    assert line_of(StepLaw.of(with_zeromax(200), earl(200))).passage(0, 1, order=1)[1] == sum(
        (2 + x * (fmpq(1, 201 - x) + fmpq(1, 200 - x)) for x in range(200)), fmpq(0)
    )


def test_runs_that_get_stuck_are_lost_and_found() -> None:
    line = line_of(StepLaw.of(hurdle(9, 3), earl(9)))
    reached = line.passage(0, 1, order=1)[0]
    assert reached == fmpq(320, 1309)
    trap = line.trap()
    assert trap is not None
    assert trap.lower == trap.upper == 1 - reached
    assert trap.state.startswith("p=0 ")
    assert line_of(StepLaw.of(xdivk(9, 3))).trap() is None


def test_floats_are_next_to_the_fractions() -> None:
    exact = runtime(xdivk(12, 3), method="segments", moments=4)
    floats = runtime(xdivk(12, 3), method="segments", moments=4, field="float")
    assert floats.kind == "float"
    for a, b in zip(
        (exact.total, exact.variance, *exact.higher),
        (floats.total, floats.variance, *floats.higher),
        strict=True,
    ):
        assert b.lower <= a.value
        assert b.upper is not None
        assert a.value <= b.upper


def test_refusals_say_why_and_what_works() -> None:
    with pytest.raises(CrossingError, match="milestone 4 lies within"):
        line_of(StepLaw.of(xdivk(12, 3, (4, 12))))
    assert private_rows(StepLaw.of(Landscape.jump(9, 2))) == {1, 2, 3, 4}
    with pytest.raises(CrossingError, match='use `method="segments"`'):
        runtime(xdivk(60, 3), method="crossing")


def test_the_law_of_a_line_is_refused_at_once() -> None:
    with pytest.raises(CrossingError, match=r"`runtime\(\)` gives moments"):
        distribution(xdivk(60, 3))


# -- slopes, entered from either end ------------------------------------------------------------


def weight_by_force(law: StepLaw, first: int, end: int, word: list[tuple[int, int]]) -> list[fmpq]:
    """E[z^steps; exits] of a word of crossings, on the joint memory of all rows of the segment."""
    automata, _ = merge_patterns(derive_automata(law))
    regions = list(regions_between(automata, first, end))
    assert all(region.first == region.last for region in regions)
    crossings = [region.crossings(Evaluation(exact=True, order=1)) for region in regions]
    mass = {(0,) * len(regions): (fmpq(1), fmpq(0))}
    for entered, left in word:
        at = {(0 if entered == DOWN else len(regions) - 1, entered, m): w for m, w in mass.items()}
        mass = {}
        for _ in range(400):  # what bounces longer has vanishing weight
            following: dict[tuple[int, int, tuple[int, ...]], tuple[fmpq, fmpq]] = {}
            for (site, end_, memory), weight in at.items():
                for exit_ in (DOWN, UP):
                    for (i, j), w in crossings[site][end_, exit_].items():
                        if i != memory[site]:
                            continue
                        new = (*memory[:site], j, *memory[site + 1 :])
                        term = (weight[0] * w[0], weight[0] * w[1] + weight[1] * w[0])
                        to = site + (1 if exit_ == UP else -1)
                        if 0 <= to < len(regions):
                            key = (to, 1 - exit_, new)
                            old = following.get(key, (fmpq(0), fmpq(0)))
                            following[key] = (old[0] + term[0], old[1] + term[1])
                        elif exit_ == left:
                            old = mass.get(new, (fmpq(0), fmpq(0)))
                            mass[new] = (old[0] + term[0], old[1] + term[1])
            at = following
            if not at:
                break
        assert not at, "the word is answered after finitely many crossings"
    return [sum((w[c] for w in mass.values()), fmpq(0)) for c in (0, 1)]


@pytest.mark.slow
def test_a_slope_is_a_small_automaton_with_the_weights_of_all_words() -> None:
    law = StepLaw.of(Landscape.jump(12, 3))
    automata, _ = merge_patterns(derive_automata(law))
    # The top three sites of the slope: entered from below, where counts are bounded.
    slope = slope_automaton(automata, 6, 9, order=1)
    assert slope.size <= 18
    for length in (1, 2, 3):
        for exits in product((DOWN, UP), repeat=length):
            word, at = [], DOWN
            for left in exits:
                word.append((at, left))
                at = left
            weight = slope.weight([(a, b, None) for a, b in word])
            assert list(weight) == weight_by_force(law, 6, 9, word)


def test_the_dimension_of_a_slope_does_not_grow_with_its_length() -> None:
    sizes = []
    for n in (16, 20, 24):
        automata, _ = merge_patterns(derive_automata(StepLaw.of(Landscape.jump(n, 3))))
        for marks in (False, True):
            sizes.append(slope_automaton(automata, 4, n - 3, order=0, marks=marks).size)
    assert sizes == [3, 4] * 3


def test_marks_split_weights() -> None:
    automata, _ = merge_patterns(derive_automata(StepLaw.of(Landscape.jump(12, 3))))
    plain = slope_automaton(automata, 4, 9, order=0)
    marked = slope_automaton(automata, 4, 9, order=0, marks=True)
    for word in ([(DOWN, UP)], [(DOWN, UP), (UP, UP)], [(DOWN, DOWN), (DOWN, UP), (UP, DOWN)]):
        choices = [[x for x in marked.letters if x[:2] == pair] for pair in word]
        total = sum((marked.weight(letters)[0] for letters in product(*choices)), fmpq(0))
        assert total == plain.weight([(*pair, None) for pair in word])[0]


# -- minimisation -------------------------------------------------------------------------------


def doubled() -> Automaton:
    """Two copies of one state, and one that is never reached."""
    letter = fmpq_mat(3, 3, [fmpq(1, 4), fmpq(1, 4), 0, fmpq(1, 4), fmpq(1, 4), 0, 7, 0, 0])
    start, end = fmpq_mat(1, 3, [1, 0, 0]), fmpq_mat(3, 1, [1, 1, 5])
    return Automaton(start, {"a": letter}, fmpq_mat(3, 3), end, 0)


def test_minimisation_keeps_weights_and_refuses_a_wrong_basis() -> None:
    automaton = doubled()
    smallest = minimise(automaton)
    assert smallest.size == 1
    words = [["a"] * k for k in range(5)]
    assert [smallest.weight(w) for w in words] == [automaton.weight(w) for w in words]
    # A proposed basis whose span is not mapped into itself, and one that is none.
    stubborn = Automaton(
        fmpq_mat(1, 2, [1, 0]),
        {"a": fmpq_mat(2, 2, [0, 1, fmpq(1, 3), fmpq(1, 5)])},
        fmpq_mat(2, 2),
        fmpq_mat(2, 1, [1, 2]),
        0,
    )
    too_small, dependent = ((-1, -1),), ((-1, -1), (0, 0), (1, 1))
    for wrong in (too_small, dependent):
        found = minimise(stubborn, (wrong, wrong))
        assert found.size == 2
        assert [found.weight(w) for w in words] == [stubborn.weight(w) for w in words]


def test_series_are_read_by_shifts() -> None:
    one = scalar(2)
    z = one.start + one.start * one.shift  # 1 + e
    assert one.value(z) == (1, 1, 0)
    assert one.value(z + z * one.shift) == (1, 2, 1)
    assert central_from_factorial(one.value(z))[0] == 1
    empty = minimise(Automaton(fmpq_mat(1, 2), {}, fmpq_mat(2, 2), fmpq_mat(2, 1), 1))
    assert empty.weight() == (0, 0)
    assert UP != DOWN
