"""The row automata as a set of claims, each tried on sampled values.

A transition of a row automaton claims: whenever the row shows the source pattern with its
entries anywhere in their bounds, and whatever the neighbour's row shows, the updated row
shows the target pattern. Here values are drawn from the bounds (their ends included or
approached), the update rule of the paper is applied by hand, and the target pattern is
compared with the numbers. Unlike runs of the algorithm this tries values that no run of a
few steps reaches, and every row of a class with its own neighbours.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from coupling import holds, law_of, sign
from hypothesis import given, settings
from instances import jump_automata
from oracles import Oracle
from random_oracles import oracles

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from markov_lrsao.rows.patterns import Pattern

NEAR = Fraction(1, 10**9)


def samples(x: Interval) -> list[Fraction]:
    """The attained ends, points close to both ends, and the middle."""
    low, high = fraction(x.low), fraction(x.high)
    if low == high:
        return [low]
    step = (high - low) * NEAR
    return [
        *([low] if x.low_attained else []),
        low + step,
        (low + high) / 2,
        high - step,
        *([high] if x.high_attained else []),
    ]


def shows(values: tuple[Fraction, ...], pattern: Pattern) -> bool:
    k = range(len(values))
    return all(pattern.signs[a] in (UNKNOWN, sign(values[a])) for a in k) and all(
        pattern.relation(a, b) in (UNKNOWN, sign(values[a] - values[b])) for a in k for b in k
    )


def rows_showing(automata: RowAutomata, c: int, k: int) -> list[tuple[Fraction, ...]]:
    """Sampled rows with the given pattern; tied entries are drawn together."""
    box, pattern = automata.boxes[c][k], automata.patterns[c][k]
    drawn = product(*(samples(x) for x in box))
    found = [values for values in drawn if shows(values, pattern)]
    for values in product(*(samples(x) for x in box)):
        tied = list(values)
        for a in range(len(box)):
            for b in range(a):
                if pattern.relation(a, b) == 0:
                    tied[a] = tied[b]
        inside = all(holds(x, interval) for x, interval in zip(tied, box, strict=True))
        if inside and shows(tuple(tied), pattern) and tuple(tied) not in found:
            found.append(tuple(tied))
    return found


def largest_entries(automata: RowAutomata, c: int) -> list[Fraction]:
    """Sampled values of M = max of a row of class c, over all its patterns."""
    found = {
        max(values)
        for k in range(len(automata.patterns[c]))
        for values in rows_showing(automata, c, k)
    }
    return sorted(found)[:2] + sorted(found)[-2:]


def check_claims(automata: RowAutomata, oracle: Oracle) -> int:
    law, regions = automata.law, automata.regions
    tried = 0
    maxima: dict[int, list[Fraction]] = {}
    for p in range(law.optimum):
        c, kind = int(regions.row_class[law.row[p]]), int(law.kind[p])
        for k, pattern in enumerate(automata.patterns[c]):
            if pattern.undecided is not None:
                continue
            rows = rows_showing(automata, c, k)
            for action, direction in product(pattern.maximal, (0, 1)):
                key = (kind, c, k, action, direction)
                if key not in automata.following:
                    continue
                new = p + 2 * direction - 1
                f = oracle.objectives[action]
                to = new if f[new] >= f[p] else p
                reward = (
                    Fraction(f[new] - f[p])
                    if f[new] > f[p]
                    else (-oracle.r if f[new] == f[p] else Fraction(0))
                )
                own = oracle.target[to] == oracle.target[p]
                if not own:
                    neighbour = int(regions.row_class[law.row[to]])
                    if neighbour not in maxima:
                        maxima[neighbour] = largest_entries(automata, neighbour)
                target = automata.patterns[c][automata.following[key]]
                for values in rows:
                    for m in [values[action]] if own else maxima[neighbour]:
                        changed = (1 - oracle.alpha) * values[action] + oracle.alpha * (
                            reward + oracle.gamma * m
                        )
                        after = (*values[:action], changed, *values[action + 1 :])
                        assert shows(after, target), (p, key, values, m, after, target)
                        tried += 1
    return tried


@pytest.mark.parametrize(
    ("n", "ell", "parameters"),
    [
        (9, 2, ()),
        (11, 2, ()),
        (14, 3, ("1/2", "1/5", "6")),
        (9, 2, ("99/100", "1/10", "3")),
        (11, 2, ("3/10", "1/100", "40")),
    ],
    ids=str,
)
def test_jump(n: int, ell: int, parameters: tuple[str, ...]) -> None:
    automata = jump_automata(n, ell, *parameters)
    used = automata.law.algorithm.parameters
    assert used is not None
    oracle = Oracle.jump(n, ell, *map(fraction, (used.alpha, used.gamma, used.r)))
    assert check_claims(automata, oracle) > 500


@given(oracles((2, 6)))
@settings(max_examples=10)
def test_random_landscapes(oracle: Oracle) -> None:
    try:
        automata = derive_automata(law_of(oracle))
    except SolverError:
        return
    check_claims(automata, oracle)


@pytest.mark.parametrize("r", [1, 4, 6, 7, 8, 12, 30])
@pytest.mark.parametrize("rates", [("9/10", "1/2"), ("1/2", "9/10"), ("9/10", "1/10")], ids=str)
def test_rows_of_one_class_with_different_neighbours(rates: tuple[str, str], r: int) -> None:
    """Positions 1 and 2 are of one kind, but only 2 lies next to the row that is paid well.

    After a plateau move upwards an entry is -alpha r + alpha gamma M, M the maximum next
    door: with r = 7 its sign differs between the two.
    """
    objectives = {"A": [0, 1, 2, 3, 4, 5], "B": [0, 0, 0, 0, 20, 20], "C": [0, 0, 0, 0, 0, 0]}
    oracle = Oracle(objectives, "A", Fraction(rates[0]), Fraction(rates[1]), Fraction(r))
    law = law_of(oracle)
    automata = derive_automata(law)
    row_class = automata.regions.row_class
    assert row_class[law.row[1]] == row_class[law.row[2]] != row_class[law.row[3]]
    assert check_claims(automata, oracle) > 50  # not vacuous
