"""The oracle on full Q-tables: right where others are, and no wrong answer passes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from against_tables import (
    Disagreement,
    compare_behaviour,
    compare_bounds,
    compare_positions,
    tables_of,
)
from behaviours import settled
from flint import fmpq
from full_tables import FullTables
from landscape_campaign import decided_chain
from oracles import RuleOracle, paper_objectives, paper_parameters, position_law
from random_plateaus import RandomPlateaus

from markov_lrsao import Quantity, RuntimeResult, runtime
from markov_lrsao.exact.quantity import Trap

WORK = 20_000
NUDGE = fmpq(1, 10**9)


def solved(instance: RandomPlateaus) -> RuntimeResult:
    law = instance.law
    return runtime(law.landscape, law.algorithm, outside_h=True)


def test_two_oracles_have_the_same_laws() -> None:
    """They were written apart; the other one has tables of plain entries and no numbered rows."""
    instance = RandomPlateaus.held_out(4)
    other = RuleOracle(instance.objectives, "T", instance.rule)
    known = other.propagate({(0, other.zero_table()): 1}, 7)
    for t, (law, weights) in enumerate(zip(tables_of(instance).laws(WORK), known, strict=False)):
        expected = {p: Fraction(w, other.denominator**t) for p, w in position_law(weights).items()}
        assert law == expected


def test_one_step_by_hand() -> None:
    """Jump, n = 9, l = 2: L is drawn with 1/3 and gains 1; J and R lose r on the plateau."""
    tables = FullTables(paper_objectives(9, 2), "J", *paper_parameters(9))
    found = {
        (tuple(tables.table(to)[0]), to[0]): Fraction(w, tables.unit)
        for w, to in tables.outcomes(tables.start)
    }
    loss, zero = -Fraction(4, 5) * paper_parameters(9)[2], Fraction(0)
    third = Fraction(1, 3)
    assert found == {
        ((Fraction(4, 5), zero, zero), 1): third,
        ((zero, loss, zero), 1): third,
        ((zero, zero, loss), 1): third,
    }


def test_an_exact_mean_is_confirmed_and_no_other() -> None:
    instance = RandomPlateaus.held_out(3)
    result = solved(instance)
    assert result.kind == "exact"
    assert "identical" in compare_behaviour(instance, result, WORK)
    for wrong in (result.total.lower + NUDGE, result.total.lower - NUDGE):
        with pytest.raises(Disagreement):
            compare_behaviour(instance, replace(result, total=Quantity.of(wrong)), WORK)
    small = replace(result, total=Quantity.of(result.total.lower * fmpq(1, 2)))
    assert compare_bounds(instance, result, 100, 200)
    with pytest.raises(Disagreement):
        compare_bounds(instance, small, 100, 200)


def test_a_changed_transition_is_seen() -> None:
    """In any row that runs meet early, a hundredth of a transition's weight is moved to another."""
    instance = RandomPlateaus.held_out(3)
    chain = decided_chain(instance.law)
    assert chain is not None
    assert compare_positions(instance, chain, WORK) >= 10
    seen = 0
    for row in range(chain.size):
        first, end = int(chain.indptr[row]), int(chain.indptr[row + 1])
        if end - first < 2:
            continue
        numerators, denominators = chain.numerators * 100, chain.denominators * 100
        numerators[first] -= chain.numerators[first]
        numerators[end - 1] += chain.numerators[first]
        wrong = replace(chain, numerators=numerators, denominators=denominators)
        with pytest.raises(Disagreement):
            compare_positions(instance, wrong, WORK)
        seen += 1
    assert seen > chain.size // 2


@pytest.mark.parametrize(("name", "value"), [("alpha", "1/2"), ("r", "0")])
def test_another_law_is_seen(name: str, value: str) -> None:
    """The engine's answer for other hyper-parameters, of which E[T] depends on these two."""
    instance = RandomPlateaus.held_out(36)
    known = compare_behaviour(instance, solved(instance), 10 * WORK)
    assert "identical" in known
    other = replace(instance, **{name: Fraction(value)})  # type: ignore[arg-type]
    wrong = solved(other)
    assert wrong.total != solved(instance).total
    with pytest.raises(Disagreement):
        compare_behaviour(instance, wrong, 10 * WORK)


def test_a_trap_is_confirmed_and_no_other() -> None:
    instance = RandomPlateaus.held_out(21)
    result = solved(instance)
    trap = result.trap
    assert trap is not None
    assert "identical" in compare_behaviour(instance, result, 5 * WORK)
    assert "in [" in compare_bounds(instance, result, 100, 200)
    for lower, upper in (
        (trap.lower + NUDGE, trap.lower + NUDGE),
        (trap.upper * fmpq(11, 10), fmpq(1)),
        (fmpq(0), trap.upper * fmpq(9, 10)),
    ):
        off = replace(result, trap=Trap(trap.state, lower, upper))
        with pytest.raises(Disagreement):
            compare_behaviour(instance, off, 5 * WORK)
    ends = solved(RandomPlateaus.held_out(3))
    with pytest.raises(Disagreement):
        compare_behaviour(instance, ends, 5 * WORK)
    with pytest.raises(Disagreement):
        compare_bounds(instance, ends, 100, 200)
    with pytest.raises(Disagreement):
        compare_behaviour(RandomPlateaus.held_out(3), result, WORK)
    more = replace(result, trap=Trap(trap.state, fmpq(99, 100), fmpq(1)))
    less = replace(result, trap=Trap(trap.state, fmpq(0), fmpq(1, 100)))
    for wrong in (more, less):
        with pytest.raises(Disagreement):
            compare_bounds(instance, wrong, 100, 200)


def test_what_has_no_finite_behaviour_is_not_settled() -> None:
    """Where classes become ever more nothing is said, rather than something nearly right."""
    instance = RandomPlateaus.held_out(48)
    assert settled(tables_of(instance), 2 * WORK, depths=(4, 6, 8)) is None


def test_survival_encloses_the_exact_law() -> None:
    instance = RandomPlateaus.held_out(3)
    seen = tables_of(instance).follow(12, 10**6)
    ends = [law.get(instance.n, Fraction(0)) for law in tables_of(instance).laws(WORK)][:13]
    for alive, done, end in zip(seen.alive, seen.done, ends, strict=False):
        assert done <= end <= 1 - Fraction(alive)
        assert done == pytest.approx(float(end), abs=1e-9)
    few = tables_of(instance).follow(12, 5)
    assert np.all(np.array(few.alive) <= np.array(seen.alive))
    assert few.alive[-1] < seen.alive[-1]
