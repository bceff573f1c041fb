"""Budgets of agents whose choices no pattern decides: against whole tables in plain fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from bit_strings import Strings, not_worse, standard, step
from fraction_tables import laws

from markov_lrsao import Algorithm, Landscape, StepLaw, fixed_budget
from markov_lrsao.answers import table_budgets
from markov_lrsao.errors import StateSpaceTooLargeError

STEPS = 6
Law = dict[tuple[int, tuple[tuple[Fraction, ...], ...]], Fraction]


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        (Landscape.jump(9, 2), "earl"),
        (Landscape.named("onemax:helpers=zeromax", n=5), "lrsao:epsilon=1/3"),
        (Landscape.named("xdivk:k=2,helpers=onemax", n=4), "earl:variant=greedy,sees=position"),
    ],
    ids=["undecided", "exploring", "position"],
)
def test_tables_are_followed(shape: Landscape, name: str) -> None:
    algorithm = Algorithm.named(name).on(shape)
    assert isinstance(algorithm, Algorithm)
    law = StepLaw.of(shape, algorithm)
    expected = laws(law, STEPS, {0: Fraction(1)}, {law.optimum})
    found = fixed_budget(shape, algorithm, range(STEPS + 1), outside_h=True)
    values = [Fraction(str(shape.value(shape.target, p))) for p in range(shape.n + 1)]
    for point, known in zip(found.points, expected, strict=True):
        assert Fraction(str(point.mean)) == sum(w * values[p] for (p, _), w in known.items())
        ended = sum((w for (p, _), w in known.items() if p == law.optimum), Fraction(0))
        assert Fraction(str(point.reached)) == ended


def test_agents_with_standard_bit_mutation() -> None:
    """On bit strings of length 3, with OneMax and ZeroMax, alpha = 1/2 and gamma = 1/3."""
    ones, zeros = Strings.of_ones([0, 1, 2, 3]).f, Strings.of_ones([3, 2, 1, 0]).f
    masks, half, gamma = standard(3, Fraction(1, 3)), Fraction(1, 2), Fraction(1, 3)
    fresh = (Fraction(0), Fraction(0))
    now: Law = {(0, (fresh,) * 4): Fraction(1)}
    expected = []
    for _ in range(4):
        after: Law = {}
        for (x, q), weight in now.items():
            row = q[x.bit_count()]
            best = [a for a in (0, 1) if row[a] == max(row)] if x != 7 else []
            if x == 7:
                after[x, q] = after.get((x, q), Fraction(0)) + weight
            for a in best:
                for y, w in step((ones, zeros)[a], x, masks, not_worse):
                    ahead = gamma * max(q[y.bit_count()])
                    value = half * row[a] + half * (ones[y] - ones[x] + ahead)
                    table = list(q)
                    table[x.bit_count()] = (value, row[1]) if a == 0 else (row[0], value)
                    state = y, tuple(table)
                    after[state] = after.get(state, Fraction(0)) + weight * w / len(best)
        now = after
        expected.append(sum(w * ones[x] for (x, _), w in now.items()))
    shape = Landscape.named("onemax:helpers=zeromax", n=3)
    found = fixed_budget(shape, Algorithm.named("earl:variant=greedy,rate=1/n"), [1, 2, 3, 4])
    assert [Fraction(str(point.mean)) for point in found.points] == expected


@pytest.mark.slow
def test_too_many_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first numbers of steps are exact, those after them enclosures."""
    first, second = fixed_budget(Landscape.jump(9, 2), Algorithm.named("earl"), [3, 7]).points
    monkeypatch.setattr(table_budgets, "_MOST", 50)
    same, enclosed = fixed_budget(Landscape.jump(9, 2), Algorithm.named("earl"), [3, 7]).points
    assert same == first
    assert second.mean.exact
    assert not enclosed.mean.exact
    assert enclosed.mean.lower <= second.mean.value
    assert enclosed.mean.upper is not None
    assert second.mean.value <= enclosed.mean.upper
    with pytest.raises(StateSpaceTooLargeError, match="are too many for tables of Q-values"):
        fixed_budget(Landscape.jump(9, 2), Algorithm.named("earl"), [3, 10**6])
