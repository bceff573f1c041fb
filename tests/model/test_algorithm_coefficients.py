"""Coefficients of the Q-update: which the exact methods allow, and what they answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from coupling import law_of, random_run
from flint import fmpq
from oracles import Oracle

import markov_lrsao.rows.automata
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.errors import ParameterError, StateSpaceTooLargeError
from markov_lrsao.exact.rationals import rational
from markov_lrsao.model.algorithm import Reward
from markov_lrsao.rows.automata import derive_automata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.values.cells import Grid, Precision

CHANGE, NOTHING = Reward(target=fmpq(1)), Reward()
OBJECTIVES = {"A": [0, 1, 1, 2, 1, 3], "B": [0, 2, 1, 1, 2, 0]}
LANDSCAPE = Landscape.from_arrays(OBJECTIVES, "A")


def algorithm(keep: str, learn: str, bootstrap: str, reward: Reward = CHANGE) -> Algorithm:
    return Algorithm(
        "X", NOTHING, reward, reward, rational(keep), rational(learn), rational(bootstrap)
    )


def random_agent(objectives: dict[str, list[int]]) -> float:
    """E[T] of choosing one of the objectives at random in each step, by numpy."""
    n = len(objectives["A"]) - 1
    matrix = np.zeros((n, n))
    for p in range(n):
        matrix[p, p] = 1.0
        for f in objectives.values():
            for to, bits in ((p - 1, p), (p + 1, n - p)):
                if bits:
                    after = to if f[to] >= f[p] else p
                    if after < n:
                        matrix[p, after] -= bits / n / len(objectives)
    return float(np.linalg.solve(matrix, np.ones(n))[0])


@pytest.mark.parametrize(
    ("keep", "learn", "bootstrap", "reward"),
    [
        ("1", "0", "0", CHANGE),
        ("2", "0", "0", CHANGE),
        ("0", "0", "1", CHANGE),
        ("1/2", "0", "1/4", CHANGE),
        ("-3", "0", "5", CHANGE),
        ("1", "1/2", "0", NOTHING),
        ("3/2", "1", "2", NOTHING),
    ],
)
@pytest.mark.parametrize("method", ["joint", "crossing", "auto"])
def test_an_agent_that_never_gains_chooses_at_random(
    keep: str, learn: str, bootstrap: str, reward: Reward, method: str
) -> None:
    result = runtime(LANDSCAPE, algorithm(keep, learn, bootstrap, reward), method=method)
    assert result.kind == "exact"
    assert float(result.total) == pytest.approx(random_agent(OBJECTIVES), rel=1e-12)


@pytest.mark.parametrize(
    ("keep", "learn", "bootstrap"),
    [
        ("1", "1/2", "0"),
        ("2", "1", "0"),
        ("1/2", "1/2", "1/2"),
        ("1/2", "1/2", "3/4"),
        ("3/2", "1/2", "1/4"),
        ("-1/2", "1/2", "1/4"),
        ("1/2", "1/2", "-1/4"),
        ("0", "1", "1"),
    ],
)
@pytest.mark.parametrize("method", ["joint", "crossing", "auto"])
def test_values_that_need_not_stay_bounded_are_refused(
    keep: str, learn: str, bootstrap: str, method: str
) -> None:
    with pytest.raises(ParameterError, match=r"keep \+ bootstrap < 1") as refused:
        runtime(LANDSCAPE, algorithm(keep, learn, bootstrap), method=method)
    assert f"keep = {keep}, bootstrap = {bootstrap}" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("keep", "learn", "bootstrap"),
    [
        ("0", "1", "0"),
        ("0", "1", "9/10"),
        ("9/10", "1/10", "0"),
        pytest.param("1/2", "-1/2", "1/4", marks=pytest.mark.exhaustive),
        ("1/2", "2", "1/4"),
    ],
)
def test_contractions_of_all_kinds_are_answered(keep: str, learn: str, bootstrap: str) -> None:
    found = [
        runtime(LANDSCAPE, algorithm(keep, learn, bootstrap), method=m, max_states=4_000)
        for m in ("joint", "crossing")
    ]
    assert found[0].total == found[1].total
    assert (found[0].trap is None) == (found[1].trap is None)


def test_the_lowest_value_also_where_learning_is_reversed() -> None:
    """With learn < 0 it is the best reward that hurts most: 2 * 3 / (1 - 3/4), and 1 to spare."""
    best = Reward(constant=fmpq(3))
    reverse = Algorithm("X", NOTHING, best, best, fmpq(1, 2), fmpq(-2), fmpq(1, 4))
    law = StepLaw.of(LANDSCAPE, reverse)
    assert Grid(law, Precision(fmpq(1), 24)).lowest == -25


def test_groups_that_are_too_large_are_explored_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the automata then claim is true of all runs on full Q-tables."""
    monkeypatch.setattr(markov_lrsao.rows.automata, "LARGEST_GROUP", 5)
    rng = np.random.default_rng(3)
    alone = decided = 0
    for _ in range(14):
        objectives = {a: rng.integers(0, 2, 7).tolist() for a in "AB"}
        objectives["A"][6] = 4
        oracle = Oracle(objectives, "A", Fraction(1, 2), Fraction(1, 5), Fraction(3, 2))
        automata = derive_automata(law_of(oracle))
        alone += not automata.regions.together
        decided += sum(random_run(oracle, automata, rng, 60)[1] for _ in range(10))
    assert alone >= 6, alone
    assert decided >= 40, decided


def test_too_many_patterns_are_refused_once(monkeypatch: pytest.MonkeyPatch) -> None:
    landscape = Landscape.jump(9, 2)
    algorithm = Algorithm.lrsao(Parameters.paper(9))
    monkeypatch.setattr(markov_lrsao.rows.automata, "MOST_TRANSITIONS", 20)
    law = StepLaw.of(landscape, algorithm)
    with pytest.raises(StateSpaceTooLargeError, match="3 objectives") as first:
        automata_of(law)
    monkeypatch.undo()
    with pytest.raises(StateSpaceTooLargeError) as second:
        automata_of(law)
    assert second.value is first.value  # not derived again
    assert "simulate" in str(first.value)
    monkeypatch.setattr(markov_lrsao.rows.automata, "MOST_TRANSITIONS", 20)
    for method in ("joint", "crossing", "auto"):
        with pytest.raises(StateSpaceTooLargeError, match="simulate"):
            runtime(landscape, algorithm, method=method)
