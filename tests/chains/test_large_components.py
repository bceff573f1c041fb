"""Large strongly connected components: every elimination gives the same answer."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import MarkovChain
from markov_lrsao.chains.hitting import hitting_times
from markov_lrsao.chains.solvers import _elimination, _system, backward, forward
from markov_lrsao.chains.sources import birth_death_chain, chain_from_matrix, chain_from_rows
from markov_lrsao.errors import NotAbsorbingError, StateSpaceTooLargeError
from markov_lrsao.exact.rationals import to_float


def random_chain(size: int, degree: int, seed: int) -> MarkovChain:
    """A ring with random chords, one component, and one absorbing state behind it."""
    rng = random.Random(seed)
    rows: list[dict[int, object]] = []
    for i in range(size):
        row: dict[int, int] = {}
        for j in [(i + 1) % size, *(rng.randrange(size) for _ in range(degree - 1))]:
            row[j] = row.get(j, 0) + 1
        if rng.random() < 0.1 or i == 0:
            row[size] = 1
        rows.append({j: fmpq(w, sum(row.values())) for j, w in row.items()})
    return chain_from_rows([*rows, {size: 1}])


def sparse_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_system, "_WIDE", 0)
    monkeypatch.setattr(_system, "_SLOW_BAND", 0.0)
    monkeypatch.setattr(_system, "_PAYS_FOR_PLANNING", 10**9)


CLOSE = {"band": 1e-13, "sparse": 1e-13, "planned": 1e-11}
"""Relative errors: of eliminations some roundings, of other methods what they stop at."""


@pytest.fixture(params=CLOSE)
def elimination(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "sparse":
        sparse_only(monkeypatch)
    elif request.param == "band":
        monkeypatch.setattr(_system, "_PAYS_FOR_PLANNING", 10**9)
    return str(request.param)


@pytest.mark.parametrize("size", [3, 40, pytest.param(300, marks=pytest.mark.slow)])
def test_exact_equals_float_both_ways(size: int, elimination: str) -> None:
    chain = random_chain(size, 3, seed=size)
    target = np.arange(size + 1) == size
    assert chain.components.sizes.max() == size
    exact = [to_float(v) for v in hitting_times(chain, target)]
    floats = hitting_times(chain, target, field="float")
    np.testing.assert_allclose(floats, exact, rtol=CLOSE[elimination])
    source = [fmpq(int(i == 0)) for i in range(size + 1)]
    flow = forward(chain, ~target, source)
    # Every step is begun somewhere: the steps per state add up to the time from the start.
    assert sum(flow[:-1], fmpq(0)) == hitting_times(chain, target)[0]
    float_flow = forward(chain, ~target, np.eye(size + 1)[0], field="float")
    np.testing.assert_allclose(float_flow[:-1], [to_float(x) for x in flow[:-1]], rtol=1e-12)


@pytest.mark.parametrize("dense", [0, 10**9])
def test_the_dense_rest_changes_nothing(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = random_chain(60, 4, seed=5)
    target = np.arange(61) == 60
    usual = hitting_times(chain, target)
    usual_flow = forward(chain, ~target, [fmpq(int(i == 3)) for i in range(61)])
    monkeypatch.setattr(_elimination, "_EXPENSIVE", dense)
    assert hitting_times(chain, target) == usual
    assert forward(chain, ~target, [fmpq(int(i == 3)) for i in range(61)]) == usual_flow


@pytest.mark.parametrize("field", ["exact", "float"])
def test_sets_that_are_never_left(field: str, elimination: str) -> None:
    rows: list[dict[int, object]] = [{0: "1/2", 1: "1/2"}, {2: 1}, {1: "1/2", 2: "1/2"}, {3: 1}]
    chain = chain_from_rows(rows)
    inside = np.array([True, True, True, False])
    constant = [fmpq(1)] * 4 if field == "exact" else np.ones(4)
    with pytest.raises(NotAbsorbingError, match="never left"):
        backward(chain, inside, constant, field=field)  # type: ignore[arg-type]


def test_a_component_that_fills_up_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse_only(monkeypatch)
    monkeypatch.setattr(_system, "_LARGEST_FACTORS", 100)
    chain = random_chain(300, 4, seed=1)
    with pytest.raises(StateSpaceTooLargeError, match="300 states fills up"):
        hitting_times(chain, np.arange(301) == 300, field="float")


@pytest.mark.slow
def test_a_million_states_in_one_component() -> None:
    """The symmetric walk on 0..N, at 0 staying with probability 1/2: E = N (N + 1)."""
    from scipy.sparse import diags_array

    size = 1_000_001
    down, up = np.full(size - 1, 0.5), np.full(size - 1, 0.5)
    stay = np.zeros(size)
    stay[0], stay[-1], down[-1] = 0.5, 1.0, 0.0
    chain = chain_from_matrix(diags_array([down, stay, up], offsets=[-1, 0, 1]))
    assert chain.components.sizes.max() == size - 1
    values = hitting_times(chain, np.arange(size) == size - 1, field="float")
    n = size - 1
    assert values[0] == pytest.approx(n * (n + 1), rel=1e-10)
    assert values[n - 1] == pytest.approx(2 * n, rel=1e-10)


def test_two_thousand_states_exactly() -> None:
    chain = birth_death_chain(["1/2"] * 2000)
    values = hitting_times(chain, np.arange(2001) == 2000)
    assert values[0] == 2000 * 2001
