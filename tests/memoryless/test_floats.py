"""Dense chains in floats: against rationals and balls, and what a wrong bound would say."""

from __future__ import annotations

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, runtime
from markov_lrsao.answers.searches import search_law
from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.fields import Balls, Rationals
from markov_lrsao.exact.quantity import Enclosed
from markov_lrsao.memoryless import floats, times
from markov_lrsao.memoryless.methods import solve
from markov_lrsao.memoryless.reaching import Task

NAMED = ["metropolis:base=3,rate=1/n", "mahh:p=1/10,rate=1/n", "mmahh:p=1/10,q=1/2,rate=1/n"]


def asked(name: str, n: int) -> Task:
    onemax = Landscape.onemax(n)
    search = Algorithm.named(name).on(onemax)
    law = search_law(onemax, search)  # type: ignore[arg-type]
    return Task(law, {0: fmpq(1, 3), 2: fmpq(2, 3)}, frozenset((n,)), Balls(96))


def in_floats(task: Task, moments: int) -> list[tuple[fmpq, fmpq]]:
    with task.field.working():
        return floats.factorial_moments(task, moments)


def exactly(task: Task, moments: int) -> list[fmpq]:
    """Return the same from rationals, by the solver of all other dense chains."""
    exact = Task(task.law, task.start, task.target, Rationals())
    right = dict.fromkeys(exact.inside, fmpq(1))
    found = []
    for _ in range(moments):
        solved = solve(exact, "dense", right)
        found.append(times._average(exact, solved))
        right = {state: solved[state] - right[state] for state in exact.inside}
    return found


@pytest.mark.parametrize("name", NAMED)
def test_rationals_are_enclosed(name: str) -> None:
    task = asked(name, 14)
    for (low, high), value in zip(in_floats(task, 4), exactly(task, 4), strict=True):
        assert low < value < high
        assert high - low < value * fmpq(1, 10**10)


def test_without_the_bound_of_its_error_the_truth_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Roundings are there: an enclosure that leaves them out is wrong in most cases."""
    monkeypatch.setattr(floats, "_error", lambda _: 0.0)
    missed = 0
    for n in range(8, 14):
        task = asked(NAMED[0], n)
        found = zip(in_floats(task, 2), exactly(task, 2), strict=True)
        missed += sum(not low <= value <= high for (low, high), value in found)
    assert missed > 0


def test_another_chain_is_not_enclosed() -> None:
    """A base that differs by 10^-9 of itself moves E[T] out of the enclosure at n = 14."""
    (low, high), _ = in_floats(asked(NAMED[0], 14), 2)
    other = exactly(asked("metropolis:base=3000000003/1000000000,rate=1/n", 14), 1)[0]
    assert not low <= other <= high


@pytest.mark.parametrize(("name", "n"), [(NAMED[0], 90), (NAMED[2], 40)])
def test_balls_and_floats_agree_on_the_way_to_the_user(
    name: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    onemax = Landscape.onemax(n)
    by_balls = runtime(onemax, Algorithm.named(name))
    monkeypatch.setattr(times, "LIMITS", times.Limits(dense=(5, 5, 5), dense_in_floats=100))
    by_floats = runtime(onemax, Algorithm.named(name))
    assert by_floats.method == "dense, in floats"
    for one, other in (
        (by_balls.total, by_floats.total),
        (by_balls.variance, by_floats.variance),
    ):
        assert isinstance(one, Enclosed)
        assert isinstance(other, Enclosed)
        assert one.upper is not None
        assert other.upper is not None
        assert other.lower <= one.lower <= one.upper <= other.upper
        assert other.upper - other.lower < other.lower * fmpq(1, 10**8)
    with pytest.raises(StateSpaceTooLargeError, match="up to 100 states; here there are"):
        runtime(Landscape.onemax(110), Algorithm.named(name))


def test_weights_far_below_the_smallest_float_count() -> None:
    """From 0 the target 200 is reached in one step with probability 200^-200, about 10^-460."""
    task = asked(NAMED[0], 200)
    with task.field.working():
        values, scales = floats._chain(task, sorted(task.inside))
    there = fmpq(*float(values[0, 200]).as_integer_ratio()) * fmpq(2) ** (512 * int(scales[0, 200]))
    assert scales[0, 200] < 0
    assert abs(there * 200**200 - 1) < fmpq(1, 2**52)


def test_every_size_of_number_is_kept() -> None:
    for exponent in (-3000, -1025, -513, -512, -257, -256, -1, 0, 255, 256, 257, 511, 512, 4000):
        value, scale = floats._scaled(0.75, exponent)
        assert 2.0**-256 <= value < 2.0**256
        assert fmpq(*value.as_integer_ratio()) * fmpq(2) ** (512 * scale) == (
            fmpq(3, 4) * fmpq(2) ** exponent
        )
