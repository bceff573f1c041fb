"""Rows that never sink below 0: what is forgotten changes no law, and signs tell who ends."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Literal

import numpy as np
import pytest
from flint import fmpq

import markov_lrsao.forward.grounded as grounded
import markov_lrsao.forward.patterns as patterns
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, distribution, runtime
from markov_lrsao.answers.accounts import account_of, by_signs, signs_of
from markov_lrsao.answers.remainders import Remainders
from markov_lrsao.answers.table_budgets import by_tables
from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.quantity import Infinite, Quantity
from markov_lrsao.forward.grounded import Grounded, is_grounded
from markov_lrsao.forward.law import Moment, carry
from markov_lrsao.forward.ledger import Ledger
from markov_lrsao.forward.model import arrays_of
from markov_lrsao.forward.patterns import Patterns, rows_to_follow
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.law import agent_states
from markov_lrsao.progress import no_progress
from simulate.runs.runner import simulate

ONE = fmpq(1)
EARL = Algorithm.earl()
SHORT = Landscape.from_arrays(
    {"L": [0, 1, 2, 0, 0, 0], "J": [0, 0, 2, 3, 0, 5], "R": [0, 0, 0, 3, 4, 5]}, "J"
)
AGENTS = {
    "EA+RL": EARL,
    "greedy": Algorithm.earl("1/2", "1/5"),
    "far-sighted": Algorithm.earl("3/10", "999/1000"),
    "preserving": EARL.preserving(mistakes=False),
    "mistakes": EARL.preserving(mistakes=True),
    "blind": replace(EARL, state="blind"),
    "sees the position": replace(EARL, state="position"),
    "keeps nothing": replace(EARL, keep=fmpq(0), bootstrap=fmpq(1, 2)),
}


def moment_after(law: StepLaw | JumpingLaw, steps: int, **options: object) -> Moment:
    moments = carry(law, {0: ONE}, **{"fine": 1e6, "largest": 10**6, **options})  # type: ignore[arg-type]
    return next(islice(moments, steps, None))


def exact_chances(law: StepLaw | JumpingLaw, steps: int) -> list[fmpq]:
    values = [fmpq(0)] * len(law.row)
    good = frozenset((law.optimum,))
    found = by_tables(law, {0: ONE}, values, good, range(1, steps + 1), no_progress)
    return [chance for _, (chance, _) in found]


def wrong_by(law: StepLaw | JumpingLaw, exact: list[fmpq]) -> float:
    """Return by how much P(T <= t) misses its bounds, t = 1, 2, .., nothing being merged."""
    moment = moment_after(law, len(exact))
    ended, lost = np.cumsum(moment.ended)[1:], np.cumsum(moment.lost)[1:]
    truth = np.array([float(x.p) / float(x.q) for x in exact])
    stuck = sum(moment.stuck.values()) + moment.doomed
    below = float(np.max(np.maximum(ended - truth, truth - ended - lost)))
    return max(below, float(truth[-1]) - (1 - stuck)) - moment.rounding


# -- forgetting changes no law --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in ("far-sighted", "mistakes") else name
        for name in AGENTS
    ],
)
def test_against_all_tables(name: str) -> None:
    law = StepLaw.of(SHORT, AGENTS[name])
    assert is_grounded(law)
    exact = exact_chances(law, 7)
    assert exact[-1] > fmpq(1, 1000) or law.algorithm.preserve  # which never crosses the valley
    assert wrong_by(law, exact) <= 0


def random_landscape(seed: int) -> Landscape:
    """Return small random objectives; the target's optimum is last, and often beyond a valley."""
    random = Random(seed)
    n = random.choice((4, 5))
    shape = {name: [random.randrange(4) for _ in range(n)] for name in "AB"}
    target = [random.choice((0, 0, 1, 2, 3)) for _ in range(n)] + [5]
    return Landscape.from_arrays(
        {"T": target} | {name: [*v, random.randrange(6)] for name, v in shape.items()}, "T"
    )


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 12))]
)
def test_random_landscapes(seed: int) -> None:
    agent = Algorithm.earl(
        *Random(seed).choice([("4/5", "99/100"), ("1/2", "1/2"), ("1/5", "1/3")])
    )
    law = StepLaw.of(random_landscape(seed), agent)
    assert wrong_by(law, exact_chances(law, 6)) <= 0


def test_many_flips() -> None:
    landscape = Landscape.from_arrays({"J": [0, 1, 0, 2, 3], "O": [0, 1, 2, 3, 4]}, "J")
    law = JumpingLaw.of(landscape, Algorithm.earl("1/2", "1/4").mutating("1/4"))
    assert is_grounded(law)
    assert wrong_by(law, exact_chances(law, 5)) <= 0


@pytest.mark.slow
def test_tables_become_few() -> None:
    """And what is known is the same."""
    law = StepLaw.of(Landscape.jump(9, 2), EARL)
    options = {"fine": 4.0, "largest": 100_000}
    some = moment_after(law, 16, **options)
    every = moment_after(law, 16, forgetting=False, **options)
    assert 8 * some.largest < every.largest
    first, second = (np.cumsum(m.ended)[-1] for m in (some, every))
    assert first <= second + sum(every.lost) + 1e-9
    assert second <= first + sum(some.lost) + 1e-9


@lru_cache
def wrong_case() -> tuple[StepLaw, list[fmpq]]:
    """Return a law in which what was learnt is unlearnt within few steps."""
    shape = Landscape.from_arrays(
        {"L": [0, 1, 0, 0, 0], "J": [0, 1, 2, 0, 5], "R": [0, 0, 0, 1, 2]}, "J"
    )
    law = StepLaw.of(shape, Algorithm.earl("4/5", "1/10"))
    return law, exact_chances(law, 8)


@pytest.mark.parametrize("wrong", ["", "all stay positive", "all are twins", "another optimum"])
def test_wrong_forgetting_is_seen(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law, exact = wrong_case()
    right = Grounded.of

    def changed(law: StepLaw, arrays: object) -> Grounded | None:
        found = right(law, arrays)  # type: ignore[arg-type]
        assert found is not None
        if wrong == "all are twins":
            return replace(found, twin=np.zeros_like(found.twin))
        if not wrong:
            return found
        if wrong == "all stay positive":
            return replace(found, safe=np.ones_like(found.safe))
        return replace(found, optimum=0)

    monkeypatch.setattr(Grounded, "of", changed)
    by = wrong_by(law, exact)
    assert by > 1e-6 if wrong else by <= 0


@pytest.mark.slow
def test_agents_that_are_not_grounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """LRSAO's rows sink below 0, and agents that explore choose what is dead."""
    lrsao = StepLaw.of(SHORT, Algorithm.lrsao(Parameters.of("1/2", "9/10", "1/10")))
    exploring = StepLaw.of(SHORT, EARL.exploring("1/10"))
    exact = [exact_chances(law, 7) for law in (lrsao, exploring)]
    for law, truth in zip((lrsao, exploring), exact, strict=True):
        assert not is_grounded(law)
        assert signs_of(law) is None
        assert wrong_by(law, truth) <= 0
    monkeypatch.setattr(grounded, "is_grounded", lambda law: True)
    assert any(wrong_by(law, x) > 1e-6 for law, x in zip((lrsao, exploring), exact, strict=True))


# -- signs: who ends, and when --------------------------------------------------------------------


def ends_at_once(n: int, ell: int) -> fmpq:
    """Return the chance that a walk which accepts all comes from n - l to n before n - l - 1."""
    total = product = ONE
    for p in range(n - ell, n):
        product *= fmpq(p, n - p)
        total += product
    return 1 / total


def closed_form(n: int, ell: int) -> fmpq:
    """Return P(success): the shared row keeps L, J or R, each with 1/3, from the left plateau on.

    R ends. L and J come back unless they end at once; R takes each run across n - l - 1 exactly
    once more, and L if its one step there is upwards.
    """
    a, up = ends_at_once(n, ell), fmpq(ell + 1, n)
    return fmpq(1, 3) + fmpq(2, 3) * (a + (1 - a) * up * a)


def closed_form_open(n: int, ell: int) -> fmpq:
    """Return the same for bridges without end points: L cannot leave the left plateau.

    At n - l - 1 L and R have one step each, upwards or not.
    """
    a, up = ends_at_once(n, ell), fmpq(ell + 1, n)
    return 1 - ((1 - up) ** 2 + (1 - up * a) ** 2) / 2


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (10, 2), (11, 3), (20, 2), (21, 7), (60, 4)])
def test_success_in_closed_form(n: int, ell: int) -> None:
    for name, form in (("jump", closed_form), ("jump-open", closed_form_open)):
        law = StepLaw.of(Landscape.named(f"{name}:l={ell}", n=n), EARL)
        signs = signs_of(law)
        assert signs is not None
        assert signs.reached == form(n, ell)
        assert signs.trap is not None
        assert signs.trap.state == f"p={n - ell - 1}"
        assert signs.trap.lower == signs.trap.upper == 1 - form(n, ell)


def test_runtime_tells_it_at_once() -> None:
    found = runtime(Landscape.jump(9, 2), EARL)
    assert found.method == "signs"
    assert found.trap is not None
    assert found.trap.probability.value == fmpq(2702, 4225)
    assert isinstance(found.total, Infinite)


def test_other_answers_are_as_before() -> None:
    """Where all runs end, or patterns decide, signs have nothing to say."""
    found = runtime(Landscape.named("xdivk:k=3,helpers=onemax", n=6), EARL)
    assert found.method != "signs"
    assert found.total.exact
    signs = signs_of(StepLaw.of(Landscape.named("xdivk:k=3,helpers=onemax", n=6), EARL))
    assert signs is not None
    assert signs.reached == 1
    assert signs.trap is None


@lru_cache
def carried(fine: float) -> tuple[StepLaw, Moment, Ledger]:
    law = StepLaw.of(Landscape.jump(9, 2), EARL)
    ledger = Ledger.of(rows_to_follow(law), 10, 3, arrays_of(law).zero)
    assert ledger is not None
    moment = moment_after(law, 150, fine=fine, largest=20_000, ledger=ledger)
    return law, moment, ledger


def mean_of(fine: float) -> Quantity:
    law, moment, ledger = carried(fine)
    signs = signs_of(law)
    assert signs is not None
    found = account_of(moment, ledger, signs)
    assert found is not None
    return found.mean


@pytest.mark.slow
def test_the_time_of_runs_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lost is bounded, so that levels that lose much and little agree; and runs agree."""
    wide, narrow = mean_of(1.0), mean_of(8.0)
    assert wide.upper is not None
    assert narrow.upper is not None
    assert wide.lower <= narrow.lower < narrow.upper <= wide.upper
    assert narrow.upper - narrow.lower < fmpq(1, 2)
    runs = 40_000
    times = simulate(carried(8.0)[0], runs=runs, seed=5, limit=4_000).times
    error = 4 * float(times.std()) / len(times) ** 0.5
    assert float(narrow.lower) - error <= times.mean() <= float(narrow.upper) + error
    # As if what is lost ended at once: the wide level then contradicts the narrow one.
    nothing = lambda left: (np.zeros(len(left.hopeless)),) * 2  # noqa: E731
    monkeypatch.setattr(Remainders, "times", property(nothing))
    upper = mean_of(1.0).upper
    assert upper is not None
    assert upper < narrow.lower


@pytest.mark.slow
def test_a_wrong_chance_contradicts_the_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    law, moment, ledger = carried(8.0)
    monkeypatch.setattr("markov_lrsao.answers.accounts.Signs.reached", fmpq(2, 5))
    signs = signs_of(law)
    assert signs is not None
    with pytest.raises(VerificationError, match="2/5 of all runs end, but"):
        account_of(moment, ledger, signs)


def test_what_is_not_followed_may_do_anything() -> None:
    """Without the row of n - l - 1 the chance depends on decisions, and is enclosed or unknown."""
    law = StepLaw.of(Landscape.jump(9, 2), EARL)
    for rows, ends in (((0, 1), False), ((0, 1, 4), True), ((0, 1, 2, 4), True)):
        process = Patterns(law, rows)
        start = process.state_number((0, process.fresh))
        process.explore()
        left = Remainders(process)
        assert left.always_decided == ends
        assert (left.exact is not None) == ends
        low, high = (float(x[start]) for x in left.chances)
        assert low <= 1523 / 4225 <= high
        assert (high - low < 1e-9) == ends
        least, most = (float(x[start]) for x in left.times)
        assert least <= 32.437 * 1523 / 4225 <= most
        assert np.isfinite(most) == ends


def test_upper_ends_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    law = StepLaw.of(Landscape.jump(9, 2), EARL)
    ends = patterns.upper_ends(law)
    assert ends[4] == [0, 0, 0]  # nothing is gained at n - l - 1
    assert abs(ends[0][0] - 6) < fmpq(1, 10**6)
    near = patterns._near_ends
    monkeypatch.setattr(patterns, "_near_ends", lambda *given: near(*given) * 0.999)
    with pytest.raises(VerificationError, match="does not hold"):
        patterns.upper_ends(law)


@pytest.mark.parametrize("state", ["target", "blind", "position"])
def test_signs_against_runs(state: Literal["target", "blind", "position"]) -> None:
    """Bounds of the chance to end contain that of runs, whatever the agent sees."""
    agent = replace(EARL, state=state)
    landscape = Landscape.from_arrays(
        {"L": [0, 1, 2, 0, 0, 0], "J": [0, 1, 2, 0, 0, 5], "R": [0, 0, 0, 1, 2, 3]}, "J"
    )
    law = StepLaw.of(landscape, agent)
    assert len(set(agent_states(landscape, agent)[0].tolist())) >= 1
    signs = signs_of(law)
    assert signs is not None
    low, high = (float(x[signs.start]) for x in signs.remainders.chances)
    share = len(simulate(law, runs=4_000, seed=1, limit=2_000).times) / 4_000
    assert low - 0.04 <= share <= high + 0.04


def test_large_instances_are_left_to_others() -> None:
    assert by_signs(StepLaw.of(Landscape.jump(14, 2), EARL))
    assert not by_signs(StepLaw.of(Landscape.jump(60, 2), EARL))
    assert not by_signs(StepLaw.of(Landscape.jump(9, 2)))


def test_agents_that_learn_nothing_have_no_signs() -> None:
    """RLS keeps all it has: there are no bounds of values to look at."""
    law = StepLaw.of(Landscape.onemax(4), Algorithm.rls())
    assert is_grounded(law)
    assert signs_of(law) is None
    assert not is_grounded(StepLaw.of(SHORT, replace(EARL, keep=fmpq(-1, 5))))
    assert distribution(Landscape.onemax(4), Algorithm.rls()).always_ends
