"""Agents that explore: abstractions against whole tables in fractions, and against simulations."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import fmpq
from fraction_tables import still_running

from markov_lrsao import Algorithm, Landscape, StepLaw, runtime, simulate
from markov_lrsao.errors import ParameterError, SolverError, StateSpaceTooLargeError
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.exploring import bounds, tables
from markov_lrsao.exploring.enclosure import enclose_exploring
from markov_lrsao.exploring.tables import Explored, explore, grid_width


def law_of(landscape: str, n: int, algorithm: str) -> StepLaw:
    shape = Landscape.named(landscape, n=n)
    return StepLaw.of(shape, Algorithm.named(algorithm).on(shape))  # type: ignore[arg-type]


def by_abstraction(found: Explored, steps: int) -> list[Fraction]:
    """The same of an abstraction in which nothing is open."""
    law = found.law
    epsilon, actions = fraction(law.algorithm.epsilon), len(law.actions)
    now, left = {0: Fraction(1)}, [Fraction(1)]
    for _ in range(steps):
        after: dict[int, Fraction] = {}
        for i, weight in now.items():
            for b in range(actions):
                share = epsilon / actions
                if b in found.greedy[i]:
                    share += (1 - epsilon) / len(found.greedy[i])
                for chance, j in found.moves[i][b]:
                    if j >= 0:
                        after[j] = after.get(j, Fraction(0)) + weight * share * Fraction(
                            chance, law.n
                        )
        now = after
        left.append(sum(now.values(), Fraction(0)))
    return left


DECIDED = [
    ("cliff:d=2,helpers=onemax", 5, "earl:variant=greedy,epsilon=1/4", 1),
    ("xdivk:k=2,helpers=onemax", 4, "earl:variant=greedy,epsilon=1/10", 0),
    ("onemax", 4, "lrsao:epsilon=1/3", 0),
]


@pytest.mark.parametrize(("landscape", "n", "algorithm", "level"), DECIDED)
def test_what_nothing_is_open_in_is_the_chain_itself(
    landscape: str, n: int, algorithm: str, level: int
) -> None:
    law = law_of(landscape, n, algorithm)
    width = grid_width(law) / 2**level
    found = explore(law, width, [0], frozenset((law.optimum,)), largest=5000)
    assert found.decided
    assert by_abstraction(found, 7) == still_running(law, 7)
    exact = runtime(law.landscape, law.algorithm, outside_h=True)
    assert exact.exact
    assert exact.method.startswith("exploring")
    played = simulate(law, runs=20_000, seed=3, threads=1)
    error = float(exact.variance) ** 0.5 / 20_000**0.5
    assert abs(played.times.mean() - float(exact.total)) < 4.5 * error


def test_the_shortcut_of_greedy_agents_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """keep + bootstrap times the chosen entry, as if it were the largest: another law of T."""
    law = law_of("onemax:helpers=zeromax", 3, "earl:alpha=1/2,gamma=1/2,epsilon=1/2")
    right = tables._Step._updated

    def shortcut(
        self: tables._Step, low: int, high: int, gain: int, least: int, most: int
    ) -> tuple[int, int]:
        return right(self, low, high, gain, low, high)

    assert _walks_inside(law)
    monkeypatch.setattr(tables._Step, "_updated", shortcut)
    assert not _walks_inside(law)


def _walks_inside(law: StepLaw) -> bool:
    """Whether random walks with Q-values in fractions stay inside of the abstraction's tables."""
    found = explore(law, grid_width(law), [0], frozenset((law.optimum,)), largest=40_000)
    a = law.algorithm
    keep, learn, boot = map(fraction, (a.keep, a.learn, a.bootstrap))
    width, actions = fraction(found.width), len(law.actions)
    rows = list(dict.fromkeys(law.row.tolist()))
    dice = random.Random(5)
    for _ in range(60):
        state, p = 0, 0
        q = {row: [Fraction(0)] * actions for row in rows}
        for _ in range(25):
            b, up = dice.randrange(actions), int(dice.randrange(law.n) >= p)
            to = p + 2 * up - 1 if law.accepted[p, b, up] else p
            state = found.moves[state][b][up if p else 0][1]
            if to == law.optimum:
                break
            row, seen = int(law.row[p]), int(law.row[to])
            q[row][b] = (
                keep * q[row][b] + learn * fraction(law.reward(p, b, up)) + boot * max(q[seen])
            )
            p = to
            ends = found.states[state][1]
            for r, row in enumerate(rows):
                for c in range(actions):
                    low, high = ends[2 * (r * actions + c)], ends[2 * (r * actions + c) + 1]
                    x = q[row][c] / width
                    above = x >= low // 2 if low % 2 == 0 else x > low // 2
                    below = x <= high // 2 if high % 2 == 0 else x < (high + 1) // 2
                    if not (above and below):
                        return False
    return True


@pytest.mark.parametrize(
    ("landscape", "n", "algorithm"),
    [
        ("onemax:helpers=zeromax", 3, "earl:variant=greedy,epsilon=1/10"),
        ("onemax:helpers=zeromax", 5, "earl:variant=greedy,epsilon=1/10"),
        ("xdivk:k=3,helpers=onemax", 6, "lrsao:epsilon=1/10"),
        ("onemax:helpers=zeromax", 3, "lrsao:epsilon=1/2"),
    ],
)
def test_enclosures_contain_what_is_simulated(landscape: str, n: int, algorithm: str) -> None:
    law = law_of(landscape, n, algorithm)
    found = enclose_exploring(
        law, {0: fmpq(1)}, frozenset((law.optimum,)), fmpq(1, 1000), largest=7000
    )
    low, high = map(float, map(fraction, found.mean))
    played = simulate(law, runs=40_000, seed=2, threads=1)
    error = 4.5 * played.times.std() / 200
    assert low - error < played.times.mean() < high + error
    assert fraction(found.variance[0]) <= played.times.var() * 1.1
    assert fraction(found.variance[1]) >= played.times.var() * 0.9
    # E[T] is the sum of P(T > t), so the first terms are below it.
    assert sum(still_running(law, 4), Fraction(0)) < fraction(found.mean[1])


def test_wrong_candidates_are_no_certificates() -> None:
    """A vector that is too small is widened until it is true, and one of noise is refused."""
    law = law_of("onemax:helpers=zeromax", 3, "earl:variant=greedy,epsilon=1/10")
    found = explore(law, grid_width(law), [0], frozenset((law.optimum,)), largest=5000)
    process = bounds._Process(found)
    import numpy as np

    ones = np.ones(process.size)
    low, high = process.solved(least=True), process.solved(least=False)
    truth = bounds.bounds_of(found)
    for factor in (0.5, 0.9, 0.999):
        assert process.certified(factor * high, ones, least=False)[0] >= truth.high[0] * (1 - 1e-6)
        assert process.certified(low / factor, ones, least=True)[0] <= truth.low[0] * (1 + 1e-6)
    noise = np.random.default_rng(1).random(process.size)
    with pytest.raises(SolverError):
        process.certified(noise, ones, least=False)
    assert process.certified(1 + noise, ones, least=True)[0] <= truth.low[0]


def test_epsilon_of_one_is_a_random_choice() -> None:
    shape = Landscape.named("xdivk:k=3,helpers=onemax", n=6)
    agent = runtime(shape, Algorithm.named("earl:variant=greedy,epsilon=1"))
    assert agent.exact
    assert agent.total == runtime(shape, Algorithm.named("random")).total


def test_starts_and_ends_of_agents_that_explore() -> None:
    shape = Landscape.named("cliff:d=2,helpers=onemax", n=5)
    named = Algorithm.named("earl:variant=greedy,epsilon=1/4")
    times = [runtime(shape, named, start=p).total for p in range(5)]
    random_start = runtime(shape, named, start="random").total
    weights = [1, 5, 10, 10, 5]
    mean = sum(Fraction(w, 32) * Fraction(str(t)) for w, t in zip(weights, times, strict=True))
    assert Fraction(str(random_start)) == mean
    assert runtime(shape, named, at_least=3).total < times[0]


def test_what_is_refused_and_what_can_be_had() -> None:
    shape = Landscape.jump(9, 2)
    with pytest.raises(StateSpaceTooLargeError, match=r"class D.*every agent.*\[.*simulate"):
        runtime(shape, Algorithm.named("lrsao:epsilon=1/10"), max_states=300)
    with pytest.raises(ParameterError, match="mean and variance"):
        runtime(
            Landscape.onemax(4), Algorithm.named("lrsao:epsilon=1/3"), moments=3, outside_h=True
        )
