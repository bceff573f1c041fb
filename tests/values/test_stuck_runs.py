"""Closed sets of tables, and runs that are proved to be stuck without a chain."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq
from oracles import RuleOracle
from random_plateaus import RandomPlateaus

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.exact.intervals import Interval
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.values.closed import closed_from, is_closed
from markov_lrsao.values.stuck import beginnings, seen_trap

TOP = {"T": [0, 1, 0, 3], "H": [0, 1, 2, 3]}
"""At position 1 the target rejects both neighbours."""


def law_of(objectives: dict[str, list[int]], alpha: str, gamma: str, r: str) -> StepLaw:
    algorithm = Algorithm.lrsao(Parameters(alpha, gamma, r))
    return StepLaw.of(Landscape.from_arrays(objectives, "T"), algorithm)


def table(law: StepLaw, **entries: str) -> list[fmpq]:
    """Return a table of zeros but for entries such as r1H="-1": row 1, action H."""
    found = [fmpq(0)] * ((int(law.row.max()) + 1) * len(law.actions))
    for name, value in entries.items():
        at = int(name[1]) * len(law.actions) + law.actions.index(name[2:])
        found[at] = fmpq(*Fraction(value).as_integer_ratio())
    return found


def test_waiting_for_ever_is_closed() -> None:
    law = law_of(TOP, "4/5", "1/4", "2")
    members = closed_from(law, 1, table(law, r1H="-1/3"))
    assert members is not None
    assert is_closed(law, members)
    assert {p for p, _ in members} == {1}


def test_an_entry_that_decays_stays_above_zero() -> None:
    """Q[T] = lam^k tends to 0 and never comes down to the other entry, which is 0."""
    law = law_of(TOP, "4/5", "1/4", "2")
    members = closed_from(law, 1, table(law, r1T="1"))
    assert members is not None
    ends = [box[int(law.row[1]) * 2] for _, box in members]
    assert min(x.low for x in ends) == 0
    assert not any(x.low_attained for x in ends if x.low == 0)


def test_what_may_end_is_not_closed() -> None:
    law = law_of(TOP, "4/5", "1/4", "2")
    assert closed_from(law, 1, table(law, r1H="1")) is None
    assert closed_from(law, 0, table(law)) is None
    # T = H = 0 is a tie, and H leads on.
    assert closed_from(law, 1, table(law)) is None


def test_wrong_sets_are_refused() -> None:
    """A set that an update leaves, one that holds a tie, and one that holds the optimum."""
    law = law_of(TOP, "4/5", "1/4", "2")
    members = closed_from(law, 1, table(law, r1T="1"))
    assert members is not None
    at = int(law.row[1]) * 2
    position, box = members[0]
    point = (*box[:at], Interval.point(1), *box[at + 1 :])
    assert not is_closed(law, [(position, point)])
    with_tie = (*box[:at], Interval(fmpq(0), fmpq(1)), *box[at + 1 :])
    assert not is_closed(law, [(position, with_tie)])
    assert not is_closed(law, [*members, (law.optimum, box)])
    assert is_closed(
        law, [(position, (*box[:at], Interval(fmpq(0), fmpq(1), False), *box[at + 1 :]))]
    )


def test_beginnings_are_those_of_the_algorithm() -> None:
    """Every beginning is played again on whole tables by the oracle, which knows no intervals."""
    instance = RandomPlateaus.hostile(126)
    law = instance.law
    found = list(beginnings(law))
    assert found
    oracle = RuleOracle(instance.objectives, "T", instance.rule)
    for beginning in found:
        position, now, probability = 0, oracle.zero_table(), Fraction(1)
        for action, direction in beginning.steps:
            (choice,) = [
                c
                for c in oracle.choices(position, now)
                if (c.action, c.direction) == (action, direction)
            ]
            probability *= Fraction(choice.weight, oracle.denominator)
            position, now = choice.position, choice.table
        assert position == beginning.position
        assert probability == Fraction(int(beginning.probability.p), int(beginning.probability.q))
        own = [Fraction(int(x.p), int(x.q)) for x in beginning.table]
        for row, value in enumerate(oracle.states):
            if value != max(oracle.target):
                k = len(law.actions)
                mine = next(r for r in law.rows_met() if law.row_value[r] == value)
                assert own[mine * k : (mine + 1) * k] == [oracle.values[x] for x in now[row]]


@pytest.mark.parametrize(
    "seed", [*(pytest.param(seed, marks=pytest.mark.slow) for seed in (109, 126)), 135]
)
def test_answers_are_infinite(seed: int) -> None:
    """Before, a minute of following values came to nothing here."""
    law = RandomPlateaus.hostile(seed).law
    result = runtime(law.landscape, law.algorithm, outside_h=True)
    assert result.kind == "infinite"
    assert result.trap is not None
    assert 0 < to_float(result.trap.lower) <= to_float(result.trap.upper) <= 1


@pytest.mark.parametrize("seed", [1, 2])
def test_runs_that_end_are_not_called_stuck(seed: int) -> None:
    law = RandomPlateaus.drawn(seed).law
    assert runtime(law.landscape, law.algorithm, outside_h=True).kind == "exact"
    assert seen_trap(law) is None
