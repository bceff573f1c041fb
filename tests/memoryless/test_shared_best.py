"""The best k where positions share a value: against all policies, on bit strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import pytest
from bit_strings import Strings, flips, moments, not_worse, step

from markov_lrsao import Algorithm, Landscape, runtime
from markov_lrsao.answers.searches import search_law
from markov_lrsao.errors import ParameterError, UndecidedComparisonError
from markov_lrsao.exact.fields import Balls, SearchField
from markov_lrsao.memoryless import shared_best
from markov_lrsao.memoryless.best import best_policy
from markov_lrsao.model.search import Search
from markov_lrsao.model.search_law import SearchLaw

State = tuple[int, int]


def law_of(shape: Landscape, text: str) -> SearchLaw:
    search = Algorithm.named(text).on(shape)
    assert isinstance(search, Search)
    return search_law(shape, search)


VALUES = {
    "plateau:k=2": [0, 1, 2, 2, 4],
    "plateau:k=3": [0, 1, 1, 1, 4],
    "xdivk:k=2": [0, 0, 1, 1, 2],
    "needle": [0, 0, 0, 0, 1],
}


def time_of(strings: Strings, policy: Sequence[int], start: str) -> Fraction:
    def next_(state: State) -> Iterator[tuple[State, Fraction]]:
        x, mode = state
        masks = flips(strings.n, policy[x.bit_count()])
        for y, w in step(strings.f, x, masks, not_worse):
            yield (y, mode), w

    return moments(next_, strings.start(start), strings.best)[0]


def best_time(strings: Strings, sizes: Sequence[int], start: str) -> Fraction:
    times = []
    for policy in product(sizes, repeat=strings.n):
        try:
            times.append(time_of(strings, policy, start))
        except ZeroDivisionError:
            continue  # some run never ends
    return min(times)


@pytest.mark.parametrize("name", VALUES)
def test_no_policy_is_better(name: str) -> None:
    strings = Strings.of_ones(VALUES[name])
    found = runtime(Landscape.named(name, n=4), Algorithm.named("portfolio:k=1+2"), start="random")
    assert Fraction(str(found.total)) == best_time(strings, [1, 2], "random")


@pytest.mark.slow
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("start", ["zero", "random"])
def test_no_k_is_better(name: str, start: str) -> None:
    strings = Strings.of_ones(VALUES[name])
    found = runtime(Landscape.named(name, n=4), Algorithm.named("rls-k:k=optimal"), start=start)
    assert Fraction(str(found.total)) == best_time(strings, [1, 2, 3, 4], start)


def test_drift_needs_no_times() -> None:
    """On XdivK the drift is that of gaining a block; 0 at first only if no k gains one."""
    strings = Strings.of_ones(VALUES["xdivk:k=2"])
    sizes = []
    for ones in range(4):
        x = (1 << ones) - 1
        drifts = [
            (sum(w * (strings.f[y] - strings.f[x]) for y, w in step(strings.f, x, m, not_worse)), k)
            for k in range(1, 5)
            for m in [flips(4, k)]
        ]
        sizes.append(max(drifts)[1])
    found = runtime(Landscape.named("xdivk:k=2", n=4), Algorithm.named("rls-k:k=drift"))
    assert Fraction(str(found.total)) == time_of(strings, sizes, "zero")


def test_balls_and_fractions_choose_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = Landscape.named("plateau:k=3", n=20)
    law = law_of(shape, "portfolio:k=1+2+3")
    known = best_policy(law)
    plain = shared_best._Levels.policy
    fields: list[SearchField] = []

    def only_fractions(self: shared_best._Levels) -> tuple[int, ...]:
        fields.append(self.field)
        if isinstance(self.field, Balls):
            raise UndecidedComparisonError("for the test")
        return plain(self)

    monkeypatch.setattr(shared_best._Levels, "policy", only_fractions)
    assert best_policy(law) == known
    assert [field.exact for field in fields] == [False, True]


def test_ties_are_decided_in_fractions_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two actions that are the same the later one is taken; two bits keep the parity."""
    shape = Landscape.named("needle", n=4)
    with pytest.raises(ParameterError, match="no action leaves"):
        best_policy(law_of(shape, "portfolio:k=2+4"))
    equal = law_of(shape, "portfolio:k=1+1")
    assert best_policy(equal)[0] == 1
    monkeypatch.setattr(shared_best, "_LARGEST_EXACT", 3)
    with pytest.raises(UndecidedComparisonError, match="equal to 256 bits"):
        best_policy(equal)


def test_rates_still_need_different_values() -> None:
    with pytest.raises(ParameterError, match="best rates are found where all values differ"):
        runtime(Landscape.named("needle", n=4), Algorithm.named("ea:rate=optimal"))
