"""One step: its proposals, events and outcomes, against the table and the oracle."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from oracles import Oracle

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.errors import UndecidedComparisonError, VerificationError
from markov_lrsao.exact.intervals import UNKNOWN
from markov_lrsao.model.law import DOWN, UP, Share, add_shares
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from markov_lrsao.rows.lumping import merge_patterns
from markov_lrsao.rows.patterns import Pattern
from markov_lrsao.rows.steps import gathered

LAW = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))


@pytest.fixture(scope="module")
def automata() -> RowAutomata:
    return derive_automata(LAW)


def test_shares_are_forms_in_p_and_n() -> None:
    assert Share(3, 0) + Share(1, 2) == Share(4, 2)
    assert Share(4, 2).numerator(3, 9) == 4 * 3 + 2 * 6
    assert add_shares([("a", Share(1, 0)), ("b", Share(0, 2)), ("a", Share(0, 3))]) == {
        "a": Share(1, 3),
        "b": Share(0, 2),
    }


@pytest.mark.parametrize("ties", [1, 2, 3])
def test_proposals_say_what_the_table_says(ties: int) -> None:
    """Every greedy action with probability 1/ties, downwards with p/n; moved as accepted."""
    n = LAW.n
    for p in range(n + 1):
        for greedy in combinations(range(len(LAW.actions)), ties):
            found = LAW.proposals(int(LAW.kind[p]), greedy)
            seen = {(e.action, e.direction): e for e in found}
            assert len(seen) == len(found)
            possible = [d for d, there in ((DOWN, p > 0), (UP, p < n)) if there]
            assert set(seen) == {(a, d) for a in greedy for d in possible}
            for (a, d), e in seen.items():
                step = LAW.step(p, LAW.actions[a], d)
                assert p + e.moved == step.next_position
                assert e.move.gain == LAW.algorithm.learn * step.reward
                weight = Fraction(p if d == DOWN else n - p, n * ties)
                assert Fraction(str(LAW.probability(e.share, p))) == weight
            assert sum(e.share.numerator(p, n) for e in found) == LAW.denominator


def agrees(row: Sequence[Fraction], pattern: Pattern) -> bool:
    """Whether a row has all relations that a pattern claims."""
    true = [*row, *(a - b for a, b in combinations(row, 2))]
    return all(
        claim in (UNKNOWN, (x > 0) - (x < 0))
        for x, claim in zip(true, (*pattern.signs, *pattern.order), strict=True)
    )


def test_events_are_those_of_the_algorithm(automata: RowAutomata) -> None:
    """Along random runs on full Q-tables: the same events and weights, true next patterns."""
    oracle, rng = Oracle.jump(9, 2), random.Random(5)
    compared = set()
    for _ in range(40):
        position, table = 0, oracle.zero_table()
        shown = [0] * len(oracle.states)
        while position != oracle.optimum:
            state = oracle.state_of[position]
            patterns = automata.patterns[automata.place(position)[1]]
            events = {
                (e.action, e.direction): e for e in automata.events_at(position, shown[state])
            }
            choices = list(oracle.choices(position, table))
            assert {(c.action, c.direction) for c in choices} == set(events)
            for c in choices:
                e = events[c.action, c.direction]
                assert position + e.moved == c.position
                assert e.share.numerator(position, 9) == c.weight
                assert agrees([oracle.values[x] for x in c.table[state]], patterns[e.following])
            compared.add((position, shown[state]))
            chosen = rng.choices(choices, weights=[c.weight for c in choices])[0]
            shown[state] = events[chosen.action, chosen.direction].following
            position, table = chosen.position, chosen.table
    assert len(compared) > 40


@pytest.mark.parametrize("merge", [False, True])
def test_outcomes_add_up_the_events(automata: RowAutomata, merge: bool) -> None:
    shown = merge_patterns(automata)[0] if merge else automata
    met = {(kind, c, k) for kind, c, k, _, _ in shown.following}
    for kind, c, k in met:
        events, outcomes = shown.events(kind, c, k), shown.outcomes(kind, c, k)
        assert outcomes == {
            outcome: Share(sum(e.share.down for e in group), sum(e.share.up for e in group))
            for outcome, group in gathered(events).items()
        }
        inner = Share(LAW.unit, LAW.unit)
        assert sum(outcomes.values(), Share(0, 0)) in (inner, Share(0, LAW.unit))


def test_a_pattern_that_no_run_shows_has_no_events(automata: RowAutomata) -> None:
    """It is not taken for a state that is never left: whoever asks at a position is refused."""
    law = automata.law
    unmet = next(
        (p, k)
        for p in range(law.optimum)
        for k in range(len(automata.patterns[automata.place(p)[1]]))
        if not automata.is_met(p, k)
    )
    assert automata.events(*automata.place(unmet[0]), unmet[1]) == ()
    with pytest.raises(VerificationError, match="not foreseen by the row automata"):
        automata.events_at(*unmet)
    with pytest.raises(VerificationError, match="not foreseen by the row automata"):
        automata.outcomes_at(*unmet)
    assert automata.is_met(0, 0)


def test_an_undecided_choice_has_no_events(automata: RowAutomata) -> None:
    kind, c = automata.place(0)
    unknown = Pattern((0, 0, 0), (UNKNOWN, 0, 0))
    changed = [list(patterns) for patterns in automata.patterns]
    changed[c][0] = unknown
    wrong = replace(automata, patterns=tuple(map(tuple, changed)))
    with pytest.raises(UndecidedComparisonError):
        wrong.events(kind, c, 0)
    assert wrong.is_met(0, 0)  # it can be shown; what follows is not known
