"""Tables carried forwards: what they say of P(T <= t) is true, whatever is merged or lost."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice

import numpy as np
import pytest
from flint import fmpq

import markov_lrsao.answers.forward_law as answers_forward
import markov_lrsao.answers.restarts as restarting
import markov_lrsao.answers.table_budgets as table_budgets
import markov_lrsao.forward.law as forward_law
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, distribution, restarts
from markov_lrsao.answers.budgets import fixed_budget
from markov_lrsao.answers.forward_law import budgets_forward, law_forward, trap_forward
from markov_lrsao.answers.table_budgets import by_tables
from markov_lrsao.errors import (
    NotAbsorbingError,
    ParameterError,
    Refused,
    StateSpaceTooLargeError,
)
from markov_lrsao.exact.quantity import Infinite
from markov_lrsao.forward.kernels import cloud
from markov_lrsao.forward.law import Cloud, Moment, carry, most_tables
from markov_lrsao.forward.model import Arrays, arrays_of
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.progress import no_progress
from simulate.runs.runner import simulate

ONE = fmpq(1)
JUMP = Landscape.jump(9, 2)
LEARNERS = {
    "paper": Algorithm.lrsao(Parameters.paper(9)),
    "three-way tie": Algorithm.lrsao(Parameters.of("19/20", "1/10", "41/25")),
    "small penalty": Algorithm.lrsao(Parameters.of("1/2", "9/10", "1/10")),
    "EA+RL": Algorithm.earl(),
    "forgets": replace(Algorithm.earl(), keep=fmpq(0), bootstrap=fmpq(0)),
    "explores": Algorithm.lrsao(Parameters.paper(9)).exploring("1/10"),
}


def after(law: StepLaw | JumpingLaw, steps: int, **options: float) -> Moment:
    moments = carry(law, {0: ONE}, **{"fine": 4.0, **options})  # type: ignore[arg-type]
    return next(islice(moments, steps, None))


def bounds(moment: Moment) -> list[tuple[float, float]]:
    """Return bounds of P(T <= t), t = 0, 1, .."""
    ended, lost = np.cumsum(moment.ended), np.cumsum(moment.lost)
    slack = moment.rounding
    return list(zip(ended - slack, ended + lost + slack, strict=True))


# -- against all tables in fractions ------------------------------------------------------------


def exact_chances(law: StepLaw | JumpingLaw, steps: int) -> list[fmpq]:
    good = frozenset((law.optimum,))
    values = [fmpq(0)] * len(law.row)
    found = by_tables(law, {0: ONE}, values, good, range(1, steps + 1), no_progress)
    return [chance for _, (chance, _) in found]


SHORT = Landscape.from_arrays(
    {"L": [0, 1, 2, 0, 0, 0], "J": [0, 0, 2, 3, 0, 5], "R": [0, 0, 0, 3, 4, 5]}, "J"
)


@lru_cache
def short(name: str) -> tuple[StepLaw, list[fmpq]]:
    """Return the law of an agent on two short plateaus, and P(T <= t) for t = 1, 2, .."""
    law = StepLaw.of(SHORT, LEARNERS[name])
    return law, exact_chances(law, {"explores": 7, "paper": 8}.get(name, 9))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    ("fine", "largest"), [(1e6, 10**6), pytest.param(4.0, 10**6, marks=pytest.mark.slow), (1.0, 40)]
)
def test_bounds_contain_the_truth(name: str, fine: float, largest: int) -> None:
    law, exact = short(name)
    steps = len(exact)
    assert exact[-1] > fmpq(1, 200)
    moment = after(law, steps, fine=fine, largest=largest)
    found = bounds(moment)[1:]
    for truth, (low, high) in zip(exact, found, strict=True):
        assert fmpq(*low.as_integer_ratio()) <= truth <= fmpq(*high.as_integer_ratio())
    if fine > 100:  # nothing is merged, so nothing is lost
        assert moment.cut == 0
        assert sum(moment.lost) == 0
        assert all(high - low < 1e-11 for low, high in found)


def test_agents_that_flip_many_bits() -> None:
    landscape = Landscape.from_arrays({"J": [0, 1, 0, 2, 3], "O": [0, 1, 2, 3, 4]}, "J")
    law = JumpingLaw.of(landscape, Algorithm.earl("1/2", "1/4").mutating("1/4"))
    exact = exact_chances(law, 5)
    found = bounds(after(law, 5, fine=8.0))[1:]
    for truth, (low, high) in zip(exact, found, strict=True):
        assert low <= float(truth) <= high


@pytest.mark.parametrize("wrong", ["", "keep", "bootstrap", "gains", "weights"])
def test_a_wrong_law_is_seen(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the comparison with fractions rests on: another law leaves the bounds."""
    law, exact = short("small penalty")

    def changed(law: StepLaw) -> Arrays:
        a = law.algorithm
        match wrong:
            case "keep":
                return arrays_of(StepLaw.of(SHORT, replace(a, keep=fmpq(0))))
            case "bootstrap":
                return arrays_of(StepLaw.of(SHORT, replace(a, bootstrap=fmpq(0))))
            case "gains":
                return arrays_of(StepLaw.of(SHORT, replace(a, learn=-a.learn)))
            case "":
                return arrays_of(law)
        return replace(arrays_of(law), move_weight=arrays_of(law).move_weight[::-1].copy())

    def contained() -> bool:
        found = bounds(after(law, len(exact), fine=1e6, largest=10**6))[1:]
        return all(a <= float(x) <= b for (a, b), x in zip(found, exact, strict=True))

    monkeypatch.setattr(forward_law, "arrays_of", changed)
    assert contained() == (wrong == "")


# -- against laws that other ways know ----------------------------------------------------------


@pytest.mark.parametrize("fine", [pytest.param(1.0, marks=pytest.mark.slow), 8.0])
def test_the_law_of_the_paper_s_agent(fine: float) -> None:
    """Merged much or little: the bounds contain the law from powers of the joint chain."""
    exact = distribution(JUMP, LEARNERS["paper"])
    moment = after(StepLaw.of(JUMP, LEARNERS["paper"]), 150, fine=fine, largest=4_000)
    for t, (low, high) in enumerate(bounds(moment)):
        least, most = exact.bounds(t)
        assert low <= most
        assert least <= high


@pytest.mark.slow
def test_the_probability_of_a_trap() -> None:
    """Known exactly from the quotient: the bounds contain it."""
    law = StepLaw.of(JUMP, Algorithm.lrsao(Parameters.of("4/5", "1/10", "13")))
    moment = after(law, 150, fine=4.0, largest=30_000)
    assert list(moment.stuck) == [6]
    truth = float(fmpq(30278863559, 197584449390))
    assert 0.05 < sum(moment.stuck.values()) - moment.rounding <= truth
    assert truth <= 1 - sum(moment.ended) + moment.rounding


@pytest.mark.slow
def test_no_trap_is_seen_where_none_is() -> None:
    assert trap_forward(StepLaw.of(JUMP, LEARNERS["paper"]), no_progress) is None


# -- EA+RL on Jump --------------------------------------------------------


@pytest.fixture(scope="module")
def earl() -> Moment:
    return after(StepLaw.of(JUMP, Algorithm.earl()), 125, fine=4.0, largest=30_000)


@pytest.mark.slow
def test_earl_against_runs(earl: Moment) -> None:
    runs = 40_000
    samples = simulate(StepLaw.of(JUMP, Algorithm.earl()), runs=runs, seed=11, limit=125)
    times = samples.times
    for t in (20, 30, 50, 80, 125):
        share = float((times <= t).sum()) / runs
        slack = 4 * (share * (1 - share) / runs) ** 0.5
        low, high = bounds(earl)[t]
        assert low - slack <= share <= high + slack
    low, high = bounds(earl)[-1]
    assert 0.3 < low < high < 0.45
    assert set(earl.stuck) == {6}  # J refuses both ways there, and L and R were penalised


@pytest.mark.slow
def test_masses_add_up(earl: Moment) -> None:
    known = sum(earl.ended) + sum(earl.lost) + sum(earl.stuck.values()) + earl.doomed + earl.going
    assert abs(known - 1) <= earl.rounding
    assert earl.largest <= 30_000
    assert 0 < earl.cut <= sum(earl.lost)


@pytest.mark.slow
def test_earl_to_one_percent_and_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    law = distribution(JUMP, Algorithm.earl(), method="forward")
    assert law.method == "forward"
    assert law.error < 5e-3
    assert law.never.upper is not None
    assert law.never.upper - law.never.lower < fmpq(1, 100)
    assert isinstance(law.expectation, Infinite)
    values, errors = law.until(law.horizon + 5)
    assert np.all(np.diff(errors) >= 0)
    assert errors[-1] == law.error
    assert errors[20] < 1e-3
    samples = simulate(StepLaw.of(JUMP, Algorithm.earl()), runs=100_000, seed=3, limit=1000)
    ended = samples.times
    for t in (25, 40, 90):
        share = float((ended <= t).sum()) / 100_000
        assert abs(share - values[t]) <= errors[t] + 4 * (share * (1 - share) / 1e5) ** 0.5
    monkeypatch.setattr(restarting, "distribution", lambda *_, **__: law)  # without the other ways
    found = restarts(JUMP, Algorithm.earl())
    assert found.settled
    assert found.pays
    cutoff = found.cutoff
    spent = float(np.minimum(ended, cutoff).sum()) + cutoff * (100_000 - len(ended))
    estimate = spent / float((ended <= cutoff).sum())
    assert abs(estimate - found.value) <= found.error + 0.02 * found.value


# -- what users ask ------------------------------------------------------------------------------


def test_budgets_beyond_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tables in fractions are too many; earlier they are compared with them."""
    law = StepLaw.of(JUMP, Algorithm.earl())
    values = [JUMP.value(JUMP.target, p) for p in range(10)]
    good = frozenset((3, 4, 9))
    times = [0, 1, 5, 8]
    exact = by_tables(law, {0: ONE}, values, good, times, no_progress)
    found = budgets_forward(law, {0: ONE}, values, good, times, no_progress)
    for (mean, chance), (mean_bounds, chance_bounds) in zip(exact, found, strict=True):
        assert mean_bounds[0] <= mean[0] <= mean_bounds[1]
        assert chance_bounds[0] <= chance[0] <= chance_bounds[1]
        assert mean_bounds[1] - mean_bounds[0] < fmpq(1, 100)
    monkeypatch.setattr(table_budgets, "_MOST", 1_000)
    monkeypatch.setattr(forward_law, "_ENTRIES", 60_000)
    (point,) = fixed_budget(JUMP, Algorithm.earl(), [40]).points
    assert not point.reached.exact
    samples = simulate(law, runs=20_000, seed=2, limit=40)
    share = float((~samples.censored).mean())
    slack = 4 * (share * (1 - share) / 20_000) ** 0.5
    assert float(point.reached.lower) - slack <= share
    assert point.reached.upper is not None
    assert share <= float(point.reached.upper) + slack


def test_an_agent_that_explores_has_a_law() -> None:
    landscape = Landscape.onemax(4)
    agent = Algorithm.earl("1/2", "1/4").exploring("1/2")
    law = distribution(landscape, agent)
    assert law.method == "forward"
    assert law.error < 0.01


def test_little_is_refused_and_so_are_phases() -> None:
    law = StepLaw.of(JUMP, LEARNERS["small penalty"])
    refused = law_forward(law, 1, no_progress)
    assert isinstance(refused, Refused)
    assert "phases" in str(refused.reason)


def test_values_that_may_grow_are_refused() -> None:
    agent = replace(Algorithm.earl(), keep=fmpq(1))
    with pytest.raises(ParameterError, match=r"keep \+ bootstrap < 1"):
        next(carry(StepLaw.of(JUMP, agent), {0: ONE}, fine=4.0))


@pytest.mark.parametrize("lasting", [True, False])
@pytest.mark.parametrize("other", [-0.1, 0.0, 0.1])
def test_what_is_stuck(other: float, lasting: bool) -> None:
    """J refuses both ways at 1 and has the value 1/2, which becomes 0 at once, or never."""
    landscape = Landscape.from_arrays({"J": [0, 1, 0, 2], "O": [0, 1, 2, 3]}, "J")
    arrays = arrays_of(StepLaw.of(landscape, Algorithm.earl()))
    tables = Cloud.start(arrays, {1: 1.0})
    first = 2 * int(arrays.row_of[1])
    tables.low[0, first : first + 2] = tables.high[0, first : first + 2] = 0.5, other
    tables.order[0, first // 2] = 1
    stuck = other < 0 or (other == 0 and lasting)
    count = np.zeros(1, dtype=np.int64)
    cloud.outcomes(tables.arrays, arrays.moves, arrays.zero_gain, lasting, True, count)
    assert count[0] == (cloud.STUCK if stuck else 2)
    cloud.outcomes(tables.arrays, arrays.moves, arrays.zero_gain, lasting, False, count)
    assert count[0] == 4  # an agent that explores leaves


def test_budgets_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    law = StepLaw.of(JUMP, Algorithm.earl())
    values, good = [fmpq(0)] * 10, frozenset((9,))
    monkeypatch.setattr(answers_forward, "_MOST_WORK", 20_000)
    with pytest.raises(StateSpaceTooLargeError, match=r"ask for at most \d+, or estimate") as told:
        budgets_forward(law, {0: ONE}, values, good, [60], no_progress)
    made = int(str(told.value).split("at most ")[1].split(",")[0])
    assert 0 < made < 60
    assert len(budgets_forward(law, {0: ONE}, values, good, [made], no_progress)) == 1


def test_fewer_tables_where_each_has_many_successors() -> None:
    greedy, exploring = (StepLaw.of(JUMP, LEARNERS[a]) for a in ("paper", "explores"))
    assert most_tables(exploring) == most_tables(greedy) // 3
    flipping = JumpingLaw.of(JUMP, Algorithm.earl().mutating("1/9"))
    assert most_tables(flipping) < most_tables(greedy) / 3


@pytest.mark.slow
def test_many_gains_have_few_names() -> None:
    landscape = Landscape.from_arrays({"J": [p * p for p in range(60)]}, "J")
    arrays = arrays_of(StepLaw.of(landscape, Algorithm.earl()))
    assert len(arrays.gains) > 50
    assert arrays.sums.size < 500_000


@pytest.mark.parametrize("horizon", [None, 50])
def test_restarts_where_no_run_ends(horizon: int | None) -> None:
    shape = Landscape.from_arrays({"J": [0, 1, 0, 2]}, "J")
    with pytest.raises(NotAbsorbingError, match="no run is known to end within"):
        restarts(shape, Algorithm.earl(), horizon=horizon)
