"""Agents that learn from other starts and to other ends, and after given numbers of steps."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from fraction_tables import laws, still_running

from markov_lrsao import (
    Algorithm,
    Landscape,
    LeadingOnes,
    StepLaw,
    distribution,
    fixed_budget,
    runtime,
    simulate,
)
from markov_lrsao.answers.asked_laws import forwards_of
from markov_lrsao.answers.learners import begin_and_end, joint_between
from markov_lrsao.answers.plan import Options
from markov_lrsao.errors import LrsaoError, ParameterError
from markov_lrsao.exact.rationals import fraction


def drawn(seed: int) -> tuple[Landscape, Algorithm]:
    dice = random.Random(seed)
    n = 4
    values = {name: [dice.randrange(3) for _ in range(n + 1)] for name in "AB"}
    values["A"][n] = 4
    shape = Landscape.from_arrays(values, target="A")
    text = dice.choice(["earl:variant=greedy", "earl:alpha=1/3,gamma=1/5", "earl:variant=mistakes"])
    sees = dice.choice(["target", "nothing", "position"])
    algorithm = Algorithm.named(f"{text},sees={sees}").on(shape)
    assert isinstance(algorithm, Algorithm)
    return shape, algorithm


DECIDED = [s for s in range(24) if s not in (2, 9, 11, 13, 15)]
"""Seeds whose choices patterns decide."""


@pytest.mark.parametrize("seed", DECIDED)
def test_the_joint_chain_from_anywhere_is_that_of_whole_tables(seed: int) -> None:
    shape, algorithm = drawn(seed)
    law = StepLaw.of(shape, algorithm)
    start = {seed % 4: "1/3", (seed + 1) % 4: "2/3"}
    least = 2 if seed % 3 == 0 else None
    begin, ends = begin_and_end(law, start, least)
    joint = joint_between(law, begin, ends, Options())
    over = set(ends) | {law.optimum}
    first = {p: fraction(w) for p, w in begin.items()}
    truth = still_running(law, 5, first, over)
    rows = joint.chain.exact_rows()
    positions = joint.chain.positions.tolist()
    now = {int(s): first[positions[s]] for s in joint.chain.start.tolist()}
    for left in truth:
        assert left == sum((w for s, w in now.items() if positions[s] not in over), Fraction(0))
        after: dict[int, Fraction] = {}
        for s, w in now.items():
            for j, p in rows[s]:
                after[j] = after.get(j, Fraction(0)) + w * fraction(p)
        now = after


def test_a_random_start_is_the_mean_of_all_starts() -> None:
    shape = Landscape.named("onemax:helpers=zeromax", n=5)
    named = Algorithm.named("earl:variant=greedy")
    means = [runtime(shape, named, start=p) for p in range(5)]
    whole = runtime(shape, named, start="random", moments=3)
    weights = [Fraction(w, 32) for w in (1, 5, 10, 10, 5)]
    mean = sum(w * Fraction(str(m.total)) for w, m in zip(weights, means, strict=True))
    assert Fraction(str(whole.total)) == mean
    square = sum(
        w * (Fraction(str(m.variance)) + Fraction(str(m.total)) ** 2)
        for w, m in zip(weights, means, strict=True)
    )
    assert Fraction(str(whole.variance)) == square - mean * mean
    assert means[0].total == runtime(shape, named).total
    played = simulate(shape, named, runs=20_000, seed=4, threads=1, start="random")
    assert abs(played.times.mean() - float(mean)) < 4.5 * float(whole.std) / 20_000**0.5


def test_lrsao_to_the_end_of_its_first_slope() -> None:
    """f >= 5 at n = 9, l = 2: E[T1], and what the slope takes up to 5."""
    found = runtime(Landscape.jump(9, 2), at_least=5)
    assert found.total.rational == "2949511/328440"
    played = simulate(Landscape.jump(9, 2), runs=20_000, seed=1, threads=1, at_least=5)
    assert abs(played.times.mean() - float(found.total)) < 4.5 * float(found.std) / 20_000**0.5


@pytest.mark.slow
def test_values_on_a_grid_where_patterns_leave_a_choice_open() -> None:
    shape = Landscape.jump(9, 2)
    found = runtime(shape, start=4)
    assert found.method == "values on a grid of 2/5"
    assert float(found.total) == pytest.approx(38.52874874, rel=1e-8)
    played = simulate(shape, runs=100_000, seed=1, threads=1, start=4)
    error = float(found.variance) ** 0.5 / 100_000**0.5
    assert abs(played.times.mean() - float(found.total)) < 4.5 * error


def test_budgets_of_agents_that_learn() -> None:
    shape = Landscape.named("xdivk:k=2,helpers=onemax", n=4)
    named = Algorithm.named("earl:variant=greedy")
    found = fixed_budget(shape, named, [0, 1, 3, 5], at_least=1)
    floats = fixed_budget(shape, named, [0, 1, 3, 5], at_least=1, field="float")
    law = StepLaw.of(shape, named.on(shape))  # type: ignore[arg-type]
    truth = laws(law, 5, {0: Fraction(1)}, {4})
    for point, rough in zip(found.points, floats.points, strict=True):
        now = truth[point.steps]
        mean = sum(w * (p // 2) for (p, _), w in now.items())
        good = sum((w for (p, _), w in now.items() if p >= 2), Fraction(0))
        assert Fraction(str(point.mean)) == mean
        assert Fraction(str(point.reached)) == good
        for exact, near in ((mean, rough.mean), (good, rough.reached)):
            assert near.upper is not None
            assert fraction(near.lower) <= exact <= fraction(near.upper)
    with pytest.raises(ParameterError, match="outside hypothesis"):
        fixed_budget(Landscape.jump(9, 2), Algorithm.named("lrsao:r=50"), [1])


@pytest.mark.parametrize(
    ("name", "shape", "start"),
    [
        ("mahh:p=1/5", Landscape.named("cliff:d=2", n=6), "random"),
        ("ea:rate=1/n", LeadingOnes(6), None),
        ("mmahh:p=1/3,q=1/2", Landscape.named("jump-m:m=2", n=5), "0:1/2,3:1/2"),
    ],
)
def test_laws_of_searches_have_the_exact_moments(
    name: str, shape: Landscape | LeadingOnes, start: str | None
) -> None:
    law = distribution(shape, Algorithm.named(name), start=start)
    exact = runtime(shape, Algorithm.named(name), start=start)
    t = np.arange(law.horizon + 1)
    mean = float(law.pmf(t) @ t)
    assert mean == pytest.approx(float(exact.total), rel=1e-8)
    assert float(law.pmf(t) @ (t - mean) ** 2) == pytest.approx(float(exact.variance), rel=1e-6)
    assert law.error < 1e-8
    assert float(law.cdf(law.quantile(0.5))) >= 0.5 > float(law.cdf(law.quantile(0.5) - 1))


def test_all_times_at_once_by_a_transform() -> None:
    law = distribution(Landscape.jump(30, 5), method="inversion")
    found, errors = law.until(law.horizon)
    error = float(errors[0])
    assert np.all(errors == error)
    times = np.arange(0, law.horizon + 1, 37)
    assert np.abs(found[times] - law.cdf(times)).max() <= error < 1e-11
    assert len(found) == law.horizon + 1


def test_what_is_refused() -> None:
    shape = Landscape.jump(9, 2)
    with pytest.raises(ParameterError, match="no distribution"):
        runtime(shape, start=10)
    with pytest.raises(ParameterError, match="largest value"):
        runtime(shape, at_least=10)
    with pytest.raises(ParameterError, match="law of positions"):
        runtime(shape, start="0:1/2,x:1/2")
    with pytest.raises(ParameterError, match="joint"):
        runtime(shape, at_least=5, method="crossing")
    with pytest.raises(ParameterError, match="phases"):
        distribution(Landscape.onemax(5), Algorithm.named("rls"), phase=1)
    with pytest.raises(LrsaoError):
        forwards_of(shape, Algorithm.lrsao().at(9), 4, None)
