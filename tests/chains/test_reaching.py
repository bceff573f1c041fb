"""Reaching a target: certain, possible, impossible; and chains from matrices and graphs."""

from __future__ import annotations

import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from flint import fmpq

from markov_lrsao import MarkovChain
from markov_lrsao.chains.reaching import reach, require_certain
from markov_lrsao.chains.sources import chain_from_matrix, chain_from_networkx, chain_from_rows
from markov_lrsao.errors import NotAbsorbingError, ParameterError, SolverError
from markov_lrsao.exact.rationals import rational


def ruin(top: int, up: Fraction) -> MarkovChain:
    """A gambler from 0 to top, both absorbing."""
    rows: list[dict[int, object]] = [{0: 1}]
    rows += [{k - 1: 1 - up, k + 1: up} for k in range(1, top)]
    return chain_from_rows([*rows, {top: 1}], start=range(1, top))


@pytest.mark.parametrize("field", ["exact", "float"])
def test_gamblers_ruin(field: str) -> None:
    """Fair game: P = k/N, and given a win E = (N^2 - k^2)/3 (Stern 1975)."""
    chain, top = ruin(10, Fraction(1, 2)), 10
    result = reach(chain, np.arange(11) == top, field=field)  # type: ignore[arg-type]
    assert [r.state for r in result.starts] == list(range(1, 10))
    for r in result.starts:
        assert float(r.probability) == pytest.approx(r.state / 10, rel=1e-14)
        assert r.conditional_mean is not None
        assert float(r.conditional_mean) == pytest.approx((100 - r.state**2) / 3, rel=1e-13)
        assert math.isinf(float(r.mean))
        with pytest.raises(NotAbsorbingError, match="infinite"):
            require_certain(r)
    if field == "exact":
        assert result.starts[2].probability.value == fmpq(3, 10)


@pytest.mark.parametrize("field", ["exact", "float"])
def test_conditional_variance_against_the_conditioned_chain(field: str) -> None:
    """Condition by hand (Doob): P_ij h_j / h_i is a chain that wins for sure."""
    chain = ruin(7, Fraction(2, 5))
    target = np.arange(8) == 7
    result = reach(chain, target, field=field)  # type: ignore[arg-type]
    exact = {r.state: r for r in reach(chain, target).starts}
    h = {k: rational(str(exact[k].probability.value)) for k in range(1, 7)}
    h |= {0: fmpq(0), 7: fmpq(1)}
    rows: list[dict[int, object]] = [{0: 1}]
    for i in range(1, 7):
        rows.append({j: p * h[j] / h[i] for j, p in chain.row(i) if h[j] != 0})
    conditioned = chain_from_rows([*rows, {7: 1}], start=range(1, 7))
    for r, sure in zip(result.starts, reach(conditioned, target).starts, strict=True):
        assert float(sure.probability) == 1
        assert r.conditional_mean is not None
        assert r.variance is not None
        assert sure.variance is not None
        assert float(r.conditional_mean) == pytest.approx(float(sure.mean), rel=1e-13)
        assert float(r.variance) == pytest.approx(float(sure.variance), rel=1e-12)


@pytest.mark.parametrize("field", ["exact", "float"])
def test_geometric_time(field: str) -> None:
    chain = chain_from_rows([{0: "9/10", 1: "1/10"}, {1: 1}])
    (r,) = reach(chain, np.array([False, True]), field=field).starts  # type: ignore[arg-type]
    assert float(r.mean) == pytest.approx(10, rel=1e-15)
    assert r.variance is not None
    assert float(r.variance) == pytest.approx(90, rel=1e-14)
    assert r.deviation == pytest.approx(math.sqrt(90), rel=1e-15)


@pytest.mark.parametrize("field", ["exact", "float"])
def test_unreachable_and_already_there(field: str) -> None:
    chain = chain_from_rows([{0: 1}, {1: 1}], start=[0, 1])
    away, there = reach(chain, np.array([False, True]), field=field).starts  # type: ignore[arg-type]
    assert float(away.probability) == 0
    assert away.conditional_mean is None
    assert math.isinf(float(away.mean))
    assert float(there.mean) == 0
    assert there.deviation == 0


def test_the_target_need_not_be_absorbing() -> None:
    chain = chain_from_rows([{0: "1/2", 1: "1/2"}, {0: 1}])
    (r,) = reach(chain, np.array([False, True])).starts
    assert r.mean.value == 2


def test_states_that_cannot_be_met_do_not_matter() -> None:
    """State 2 is never left, but nothing leads there."""
    chain = chain_from_rows([{1: 1}, {1: 1}, {2: 1}])
    (r,) = reach(chain, np.array([False, True, False])).starts
    assert r.mean.value == 1


def test_rewards_and_their_refusals() -> None:
    chain = chain_from_rows([{0: "1/2", 1: "1/2"}, {2: 1}, {2: 1}])
    target = np.arange(3) == 2
    (r,) = reach(chain, target, rewards=[fmpq(3), fmpq(-1), fmpq(9)]).starts
    assert r.mean.value == 5
    assert r.variance is not None
    assert r.variance.value == 18
    with pytest.raises(ParameterError, match="negative rewards"):
        reach(chain, target, rewards=[fmpq(3), fmpq(-1), fmpq(9)], field="float")
    with pytest.raises(ParameterError, match="no start state"):
        reach(chain, target, start=[])
    with pytest.raises(ParameterError, match="does not exist"):
        reach(chain, target, start=[7])
    with pytest.raises(ParameterError, match="target is empty"):
        reach(chain, np.zeros(3, dtype=bool))


def test_beyond_the_range_of_floats() -> None:
    rows: list[dict[int, object]] = [{1: 1}]
    rows += [{k - 1: "9/10", k + 1: "1/10"} for k in range(1, 400)]
    chain = chain_from_rows([*rows, {400: 1}])
    target = np.arange(401) == 400
    with pytest.raises(SolverError, match='range of floats; use `field="exact"`'):
        reach(chain, target, field="float")
    (r,) = reach(chain, target).starts
    assert r.mean.exact
    assert r.deviation == math.inf


def test_chances_below_the_range_of_floats() -> None:
    rows: list[dict[int, object]] = [{k + 1: "1/1000", 200: "999/1000"} for k in range(199)]
    chain = chain_from_rows([*rows, {199: 1}, {200: 1}])
    target = np.arange(201) == 199
    with pytest.raises(SolverError, match='below the range of floats; use `field="exact"`'):
        reach(chain, target, field="float")
    (r,) = reach(chain, target).starts
    assert r.probability.value == fmpq(1, 1000) ** 199
    assert r.conditional_mean is not None
    assert r.conditional_mean.value == 199


def test_quantities_are_the_same_on_the_quotient(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = ruin(30, Fraction(1, 3))
    target = np.arange(31) == 30
    before = reach(chain, target)
    monkeypatch.setattr("markov_lrsao.chains.reaching_systems.worth_merging", lambda _: True)
    assert reach(chain, target).starts == before.starts


def test_matrices_of_all_kinds() -> None:
    dense = np.array([[0.25, 0.75], [0.0, 1.0]])
    kinds = [dense, *(getattr(scipy.sparse, f"{k}_array")(dense) for k in ("csr", "csc", "coo"))]
    for matrix in [*kinds, scipy.sparse.csr_matrix(dense)]:
        chain = chain_from_matrix(matrix, labels={"end": [1]})
        assert chain.row(0) == [(0, fmpq(1, 4)), (1, fmpq(3, 4))]
        assert chain.labels["end"].tolist() == [1]
    assert abs(chain.to_scipy() - scipy.sparse.csr_array(dense)).max() == 0


def test_rows_of_floats_are_divided_by_their_sum() -> None:
    chain = chain_from_matrix(np.array([[1 / 3, 1 / 3, 1 / 3], [0, 1, 0], [0, 0, 1.0]]))
    assert [p for _, p in chain.row(0)] == [fmpq(1, 3)] * 3
    thirds = np.array([[0.1, 0.2, 0.7], [0, 1, 0], [0, 0, 1.0]])
    chain = chain_from_matrix(thirds)
    assert sum((p for _, p in chain.row(0)), fmpq(0)) == 1
    np.testing.assert_allclose(chain.to_scipy().toarray(), thirds, rtol=1e-15)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.4], [0, 1]], "row 0 sums to 0.9"),
        ([[1.5, -0.5], [0, 1]], "negative"),
        ([[0.5, 0.5]], "square"),
        ([[float("nan"), 1], [0, 1]], "not a probability"),
        ([[0.0, 0.0], [0, 1]], "row 0 sums to"),
    ],
)
def test_bad_matrices(matrix: list[list[float]], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        chain_from_matrix(np.array(matrix))


def test_tiny_probabilities_stay_exact() -> None:
    chain = chain_from_matrix(np.array([[1 - 2.0**-53, 2.0**-53], [0, 1]]))
    assert chain.row(0)[1] == (1, fmpq(1, 2**53))
    chain = chain_from_matrix(np.array([[1.0, 1e-300], [0, 1]]))
    (r,) = reach(chain, np.array([False, True])).starts
    assert float(r.mean) == pytest.approx(1e300)
    (r,) = reach(chain, np.array([False, True]), field="float").starts
    assert float(r.mean) == pytest.approx(1e300, rel=1e-15)


def test_graphs() -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", probability=Fraction(1, 3))
    graph.add_edge("a", "a", probability="2/3")
    graph.add_edge("b", "b", probability=1.0)
    chain = chain_from_networkx(graph, start=["a"], labels={"done": ["b"]})
    assert reach(chain, chain.labelled("done")).starts[0].mean.value == 3
    again = chain_from_networkx(chain.to_networkx(), start=0)
    assert again.exact_rows() == chain.exact_rows()


def test_bad_graphs() -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=1)
    graph.add_edge("b", "b", weight=1)
    with pytest.raises(ParameterError, match="no attribute 'probability'"):
        chain_from_networkx(graph, start="a")
    assert chain_from_networkx(graph, start="a", probability="weight").size == 2
    with pytest.raises(ParameterError, match="'z', which is not a node"):
        chain_from_networkx(graph, start="z", probability="weight")
    with pytest.raises(ParameterError, match="directed"):
        chain_from_networkx(nx.Graph(), start="a")
