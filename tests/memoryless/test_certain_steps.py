"""Steps of probability 0 and 1: neither is a way to a trap, and certain times have variance 0."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, runtime
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.fields import Rationals
from markov_lrsao.memoryless.reaching import Task
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.search import Search
from markov_lrsao.model.search_law import SearchLaw


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("mmahh:p=1,q=0,accept=worsening", 5),
        ("mmahh:p=1/2,q=0,accept=worsening", 5),
        ("mmahh:p=1/2,q=0,accept=worsening", 1),
    ],
)
def test_a_step_that_is_never_refused_does_not_wait(name: str, n: int) -> None:
    """From 0^n one bit is always gained: no run waits there until its mode is worsening."""
    found = runtime(Landscape.onemax(n), Algorithm.named(name), at_least=1)
    assert found.trap is None
    assert (str(found.total), str(found.variance)) == ("1", "0")


def test_what_is_drawn_with_probability_0_does_not_save_a_run() -> None:
    """MAHH that never takes all moves stops below the gap, unless it begins with n ones or n - 1.

    By hand: 1 of 32 bit strings is the optimum, and from the 5 with 4 ones, where all neighbours
    are better, the first of them that is tried is the optimum once in 5 times.
    """
    shape = Landscape.named("jump-m:m=2", n=5)
    found = runtime(shape, Algorithm.named("mahh:p=0"), start="random")
    assert found.total.infinite
    assert found.trap is not None
    saved = Fraction(1, 32) + Fraction(5, 32) * Fraction(1, 5)
    assert Fraction(str(found.trap.probability)) == 1 - saved
    helped = Landscape.named("hurdle:w=2", n=4, helpers=("onemax",))
    alone = runtime(helped, Algorithm.named("random:weights=1+0"))
    assert alone.trap is not None
    assert alone.trap.lower == 1


@pytest.mark.parametrize("field", ["exact", "float"])
@pytest.mark.parametrize(
    ("name", "n", "least", "steps"),
    [
        ("rls", 2500, 1, 1),
        ("mmahh:p=1/3,q=1/2", 1200, 1, 1),
        ("ea-positive:rate=1/2", 200, 1, 1),
        ("ea:rate=1/n", 200, 0, 0),
        ("rls-k:k=3", 1001, 3, 1),
        ("gradient:portfolio=2+4,tau=2", 300, 2, 1),
    ],
)
def test_certain_times_in_balls(name: str, n: int, least: int, steps: int, field: str) -> None:
    """A variance of 0 has no relative width; no number of bits makes balls show it."""
    shape = Landscape.onemax(n)
    named = Algorithm.named(name)
    found = runtime(shape, named, at_least=least, field="float" if field == "float" else "exact")
    assert (float(found.total), float(found.variance)) == (steps, 0)
    assert found.variance.lower == found.variance.upper == 0


def test_certain_is_not_what_only_begins_so() -> None:
    """Runs of several lengths are refused: from a mixed start, or by a step that may stay."""

    def certain(name: str, start: dict[int, fmpq], least: int) -> int | None:
        shape = Landscape.onemax(4)
        search = Algorithm.named(name).on(shape)
        assert isinstance(search, Search)
        law = SearchLaw.of(shape, search)
        return Task(law, start, frozenset(range(least, 5)), Rationals()).certain

    half, one = fmpq(1, 2), fmpq(1)
    assert certain("rls", {0: one}, 1) == 1
    assert certain("rls", {0: one}, 2) is None
    assert certain("rls", {0: half, 1: half}, 1) is None
    assert certain("metropolis:base=1", {0: one}, 2) is None  # 0 1 2, or 0 1 0 1 2
    assert certain("ea-positive:rate=1/2", {1: one}, 2) is None
    assert certain("ea:rate=1/2", {0: one}, 1) is None


def test_the_only_level() -> None:
    found = runtime(LeadingOnes(1), Algorithm.named("rls"))
    assert (str(found.total), str(found.variance)) == ("1/2", "1/4")


def test_hostile_starts_and_periods() -> None:
    shape = Landscape.onemax(5)
    for start in ("²", "9" * 5000, "-1", ""):
        with pytest.raises(ParameterError, match=r"choose zero, random or a position 0\.\.5"):
            runtime(shape, Algorithm.named("rls"), start=start)
    with pytest.raises(ParameterError, match="modes"):
        runtime(shape, Algorithm.named("gradient:portfolio=1+2,tau=100000000"))


def test_times_beyond_all_floats_are_shown() -> None:
    """A rate of 10^-400 needs 10^400 steps: exact, but no float, neither in tables nor in JSON."""
    found = runtime(Landscape.onemax(1), Algorithm.named("ea:rate=1/10**400"))
    assert str(found.total) == str(10**400)
    assert "coupon" not in str(found)
    assert found.to_dict()["coupon_collector"]["ratio"] is None
    rough = runtime(Landscape.onemax(2), Algorithm.named("ea:rate=1/10**400"), field="float")
    assert "e+4" in str(rough).lower()
