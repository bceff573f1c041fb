"""Entries that tie exactly inside (H): the greedy choice among them is uniform."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import fmpq
from histories import GONE, Followed, Foreseen, biased_run
from oracles import Oracle, h_interval, position_law
from refined import COARSE, PLAIN, bounds, distance, law_at
from ties import Tie, known_ties, play

from markov_lrsao.crossing.blocks import Corridor, Exit
from markov_lrsao.errors import granted
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values.enclosure import resolve
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.tails import Level, refined_decomposition

TIES = known_ties()
DECIDED = [tie for tie in TIES if tie.equal != (0, 1, 2)]


def law_of(tie: Tie, factor: Fraction = Fraction(1)) -> StepLaw:
    return law_at(tie.n, tie.ell, str(tie.alpha), str(tie.gamma), str(tie.r * factor))


@cache
def foreseen(tie: Tie, level: Level) -> Foreseen:
    return Foreseen(law_of(tie), level)


def follow(tie: Tie, known: Foreseen) -> Followed:
    """Lead a run along the choices after which the entries tie, checking all claims."""
    run = Followed(known)
    for action, direction in tie.choices:
        run.advance(
            next(c for c in run.choices() if (c.action, c.direction) == (action, direction))
        )
    return run


@pytest.mark.parametrize("tie", TIES, ids=str)
def test_the_entries_tie_inside_h(tie: Tie) -> None:
    low, high = h_interval(tie.n, tie.ell, tie.alpha, tie.gamma)
    assert low < tie.r < high
    oracle = tie.oracle()
    _, table = play(oracle, tie.choices)
    assert oracle.greedy(table[0])[0] == tie.equal
    for factor in (1 - Fraction(1, 10**9), 1 + Fraction(1, 10**9)):
        other = tie.oracle(tie.r * factor)
        assert other.greedy(play(other, tie.choices)[1][0])[0] != tie.equal


@pytest.mark.parametrize("level", [COARSE, PLAIN], ids=["coarse", "plain"])
@pytest.mark.parametrize("tie", TIES, ids=str)
def test_the_walk_foresees_the_tie(tie: Tie, level: Level) -> None:
    known = foreseen(tie, level)
    run = follow(tie, known)
    assert run.state is not None
    number = run.state.patterns[known.whole.tail.stretch.rows.index(known.row)]
    options = [o.greedy for o in known.whole.tail.clusters.options(number)]
    assert tie.equal in options
    rng = np.random.default_rng(5)
    for _ in range(3):  # and what follows a tie
        run = follow(tie, known)
        for _ in range(40):
            if run.position == known.law.optimum:
                break
            options_now = run.choices()
            run.advance(options_now[int(rng.integers(len(options_now)))])
        biased_run(known, rng, 60)


@pytest.mark.parametrize("tie", DECIDED, ids=str)
def test_a_tie_is_a_third_answer(tie: Tie) -> None:
    """r a billionth less or more gives other values of E[T], on the two sides of the tie's."""
    (below, tied, above) = (
        bounds(refined_decomposition(law_of(tie, factor), PLAIN), 1)[0]
        for factor in (1 - Fraction(1, 10**9), Fraction(1), 1 + Fraction(1, 10**9))
    )
    assert below[0] == below[1]  # decided: fractions
    assert tied[0] == tied[1]
    assert above[1][1] < tied[0][1] < below[0][1]


@pytest.mark.parametrize("tie", DECIDED, ids=str)
def test_the_law_of_the_walk_from_the_tie_is_that_of_the_oracle(tie: Tie) -> None:
    known = foreseen(tie, PLAIN)
    tail = known.whole.tail
    assert not tail.undecided
    run = follow(tie, known)
    assert run.state is not None
    start = known.numbers["tail"][run.state]
    steps = 9
    oracle = run.oracle
    laws = list(oracle.propagate({(run.position, run.table): 1}, steps))
    assert len(laws) == steps + 1
    now: dict[int | tuple[str, int], int] = {start: 1}
    for t, weights in enumerate(laws):
        expected = position_law(weights)
        assert sum(expected.values()) == oracle.denominator**t
        assert _positions(now, tail, oracle) == expected, f"the laws differ at time {t}"
        now = _step(now, tail, oracle)


def _positions(
    now: dict[int | tuple[str, int], int], tail: Refined, oracle: Oracle
) -> dict[int, int]:
    law: dict[int, int] = {}
    for key, weight in now.items():
        p = key[1] if isinstance(key, tuple) else tail.states[key].position
        law[p] = law.get(p, 0) + weight
    return law


def _step(
    now: dict[int | tuple[str, int], int], tail: Refined, oracle: Oracle
) -> dict[int | tuple[str, int], int]:
    """Carry the weights of tail states on by one step; ("up", p) walks up a corridor at p."""
    n, unit = oracle.n, oracle.denominator // oracle.n
    result: dict[int | tuple[str, int], int] = {}

    def add(key: int | tuple[str, int], weight: int) -> None:
        if weight:
            result[key] = result.get(key, 0) + weight

    for key, weight in now.items():
        if not isinstance(key, tuple) and tail.states[key].patterns == GONE:
            assert isinstance(tail.options[key][0][0][1], Corridor)
            key = ("up", tail.states[key].position)
        if isinstance(key, tuple):
            p = key[1]
            if p == oracle.optimum:
                add(key, weight * oracle.denominator)
            else:
                add(key, weight * unit * p)
                add(("up", p + 1), weight * unit * (n - p))
            continue
        p = tail.states[key].position
        for target, share in tail.options[key][0]:
            assert isinstance(share, tuple)
            to = ("up", oracle.optimum) if isinstance(target, Exit) else target
            add(to, weight * (share[0] * p + share[1] * (n - p)))
    return result


@pytest.mark.parametrize("tie", [TIES[0], *DECIDED], ids=str)
@pytest.mark.slow
def test_the_simulator_agrees_at_ties(tie: Tie) -> None:
    law = law_of(tie)
    level = PLAIN if tie in DECIDED else Level(fmpq(1, 16), 8, 0)
    low, high = bounds(refined_decomposition(law, level), 1)[0]
    assert distance(law, low[1], high[1], runs=100_000, seed=4) <= 4


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(10**6, marks=pytest.mark.exhaustive),
        pytest.param(10**7, marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize("tie", TIES, ids=str)
def test_many_runs_agree_at_ties(tie: Tie, runs: int) -> None:
    law = law_of(tie)
    low, high = bounds(granted(resolve(law)), 1)[0]
    assert distance(law, low[1], high[1], runs=runs, seed=5) <= 4
    assert (high[1] - low[1]) / low[1] <= fmpq(1, 1000)
