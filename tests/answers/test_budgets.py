"""Fixed budgets against a chain on bit strings, and against the law of T."""

from __future__ import annotations

from fractions import Fraction

import pytest
from bit_strings import ONE, Law, Next, Strings, flips, metropolis, standard

from markov_lrsao import Algorithm, Landscape, LeadingOnes, runtime
from markov_lrsao.answers.budgets import fixed_budget
from markov_lrsao.errors import ParameterError


def law_after(next_: Next, start: Law, best: set[int], t: int) -> Law:
    now = dict(start)
    for _ in range(t):
        after: dict[tuple[int, int], Fraction] = {}
        for state, p in now.items():
            for other, w in [(state, ONE)] if state[0] in best else next_(state):
                after[other] = after.get(other, Fraction(0)) + p * w
        now = after
    return now


@pytest.mark.parametrize("name", ["metropolis:base=3", "ea:rate=1/n"])
def test_a_budget_is_that_of_bit_strings(name: str) -> None:
    values = [0, 2, 1, 2, 3]
    strings = Strings.of_ones(values)
    masks, rule = flips(4, 1), metropolis(Fraction(3))
    if name.startswith("ea"):
        masks, rule = standard(4, Fraction(1, 4)), lambda gain: ONE if gain >= 0 else Fraction(0)
    next_ = strings.mixed([(ONE, strings.f, masks, rule)])
    shape = Landscape.from_arrays({"F": values}, target="F")
    named = Algorithm.named(name)
    found = fixed_budget(shape, named, [0, 1, 5], start="random", at_least=2)
    floats = fixed_budget(shape, named, [0, 1, 5], start="random", at_least=2, field="float")
    for point, other in zip(found.points, floats.points, strict=True):
        now = law_after(next_, strings.start("random"), strings.best, point.steps)
        mean = sum(p * strings.f[x] for (x, _), p in now.items())
        good = sum(p for (x, _), p in now.items() if strings.f[x] >= 2)
        assert (Fraction(str(point.mean)), Fraction(str(point.reached))) == (mean, good)
        for exact, near in ((point.mean, other.mean), (point.reached, other.reached)):
            assert near.upper is not None
            assert near.lower <= exact.value <= near.upper


def test_the_tail_sums_up_to_the_mean() -> None:
    """E[T] is the sum of P(T > t)."""
    shape, named = Landscape.onemax(8), Algorithm.named("mmahh:p=1/3,q=1/2")
    found = fixed_budget(shape, named, range(1500), field="float")
    total = sum(1 - float(point.reached) for point in found.points)
    assert total == pytest.approx(float(runtime(shape, named).total), rel=1e-9)


def test_what_budgets_refuse() -> None:
    with pytest.raises(ParameterError, match="learns"):
        fixed_budget(LeadingOnes(8), Algorithm.named("lrsao"), [1])
    with pytest.raises(ParameterError, match="steps"):
        fixed_budget(Landscape.onemax(8), Algorithm.named("rls"), [-1])
