"""Whether a target is surely reached, or never: decided on the graph, in both fields."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Literal

import networkx as nx
import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from peer_chains import chains

from markov_lrsao import MarkovChain
from markov_lrsao.chains.reaching import qualitative, reach, reach_probabilities
from markov_lrsao.chains.sources import chain_from_rows

FIELDS = ["exact", "float"]


def retries(packets: int, most: int, loss: Fraction) -> MarkovChain:
    """Send packets one by one, each at most `most` times.

    State (p, k) is the k-th attempt at packet p; two more states are "done" and "failed".
    """
    rows: list[dict[int, object]] = []
    done = packets * most
    for p in range(packets):
        for k in range(most):
            following = done if p == packets - 1 else (p + 1) * most
            again = done + 1 if k == most - 1 else p * most + k + 1
            rows.append({following: 1 - loss, again: loss})
    return chain_from_rows([*rows, {done: 1}, {done + 1: 1}])


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    ("packets", "most", "loss"),
    [(9, 10, "1/97"), (40, 7, "3/1000"), (1, 1, "1/100000000000000000000")],
)
def test_a_chance_of_failure_below_the_precision_of_floats(
    field: Literal["exact", "float"], packets: int, most: int, loss: str
) -> None:
    lost = Fraction(loss)
    chain = retries(packets, most, lost)
    done = np.arange(chain.size) == packets * most
    (r,) = reach(chain, done, field=field).starts
    truth = 1 - (1 - lost**most) ** packets
    assert 0 < truth < 1e-16
    assert not r.certain
    assert math.isinf(float(r.mean))
    assert r.miss is not None
    assert float(r.miss) == pytest.approx(float(truth), rel=1e-13)
    assert float(r.probability) <= 1.0
    assert r.to_dict()["finite"] is False
    # Reaching either end is certain, whatever the floats say.
    (either,) = reach(
        chain, done | (np.arange(chain.size) == packets * most + 1), field=field
    ).starts
    assert either.certain
    assert float(either.probability) == 1
    assert math.isfinite(float(either.mean))


def leaking(size: int, seed: int) -> MarkovChain:
    """A random strongly connected graph before the goal, and one start that may leak away."""
    rng = random.Random(seed)
    rows: list[dict[int, object]] = []
    for i in range(size):
        row: dict[int, int] = {}
        for j in [(i + 1) % size, *(rng.randrange(size) for _ in range(3))]:
            row[j] = row.get(j, 0) + rng.randrange(1, 50)
        if i % 7 == 0:
            row[size] = 1
        rows.append({j: fmpq(w, sum(row.values())) for j, w in row.items()})
    goal, sink, leak = size, size + 1, size + 2
    rows += [{goal: 1}, {sink: 1}, {0: "2/3", sink: "1/3"}]
    return chain_from_rows(rows, start=[*range(size), leak])


def test_sure_starts_beside_a_leaking_one() -> None:
    size = 900
    result = reach(leaking(size, 3), np.arange(size + 3) == size, field="float")
    sure, leak = result.starts[:-1], result.starts[-1]
    assert all(r.certain and float(r.probability) == 1.0 for r in sure)
    assert all(
        math.isfinite(float(r.mean)) and r.miss is not None and float(r.miss) == 0 for r in sure
    )
    assert not leak.certain
    assert float(leak.probability) == pytest.approx(2 / 3, rel=1e-15)
    assert math.isinf(float(leak.mean))


@settings(max_examples=150)
@given(chain=chains())
def test_random_graphs_against_networkx(chain: MarkovChain) -> None:
    """prob0 and prob1 by definition, on a graph library's reachability."""
    target = chain.labelled("goal")
    graph = nx.DiGraph()
    graph.add_nodes_from(range(chain.size))
    for i in np.flatnonzero(~target).tolist():
        graph.add_edges_from((i, j) for j, _ in chain.row(i))
    goal = set(np.flatnonzero(target).tolist())
    after = {i: nx.descendants(graph, i) | {i} for i in graph}
    never, surely = qualitative(chain, target)
    for i in range(chain.size):
        assert never[i] == (not after[i] & goal)
        assert surely[i] == all(after[j] & goal for j in after[i])
    exact = reach_probabilities(chain, target)
    floats = reach_probabilities(chain, target, field="float")
    for i in range(chain.size):
        assert (exact[i] == 1, exact[i] == 0) == (surely[i], never[i])
        assert floats[i] <= 1.0
        if surely[i] or never[i]:
            assert floats[i] == float(surely[i])
        assert floats[i] == pytest.approx(
            float(Fraction(int(exact[i].p), int(exact[i].q))), rel=1e-14
        )
    for field in FIELDS:
        for r in reach(chain, target, start=range(chain.size), field=field).starts:  # type: ignore[arg-type]
            assert r.certain == surely[r.state]
            assert (r.conditional_mean is None) == never[r.state]
            assert math.isinf(float(r.mean)) == (not surely[r.state])


def test_an_exact_mean_beyond_the_floats_is_finite() -> None:
    tiny = Fraction(1, 10**320)
    chain = chain_from_rows([{0: 1 - tiny, 1: tiny}, {1: 1}])
    (r,) = reach(chain, np.array([False, True])).starts
    assert r.certain
    assert r.to_dict()["finite"] is True
    assert r.mean.value == 10**320
    assert r.to_dict()["deviation"] is None


@pytest.mark.parametrize("state", [-1, 3, 10**20, -(10**30)])
def test_start_states_outside(state: int) -> None:
    from markov_lrsao.errors import ParameterError

    chain = chain_from_rows([{1: 1}, {1: 1}, {2: 1}])
    with pytest.raises(ParameterError, match=r"does not exist: states are 0\.\.2"):
        reach(chain, np.array([False, True, False]), start=[0, state])


@pytest.mark.parametrize("down", [None, 0, 1], ids=["any", "upwards", "upwards but one"])
@pytest.mark.parametrize("seed", range(20))
def test_compiled_searches_and_components_agree(seed: int, down: int | None) -> None:
    """Compiled and uncompiled code give the same sets, and components in a valid order.

    Where all transitions lead upwards there is a shorter way; one that leads down forbids it.
    """
    from markov_lrsao.chains.kernels import graphs
    from markov_lrsao.exact.graphs import (
        components,
        components_within,
        reachable_from,
        reversed_graph,
    )

    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    degree = rng.integers(1, 4, size)
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    indices = rng.integers(0, size, indptr[-1]).astype(np.int64)
    if down is not None:
        changed = rng.permutation(len(indices))[down:]
        lowest = np.repeat(np.arange(size), degree)
        indices[changed] = rng.integers(lowest[changed], size)
    label, members, start = graphs.components(indptr, indices)
    usual = components(indptr, indices)
    pairs = {*zip(label.tolist(), usual.label.tolist(), strict=True)}
    assert len(pairs) == len(usual) == len(start) - 1
    assert np.all(label[np.repeat(np.arange(size), degree)] >= label[indices])
    for c in range(len(start) - 1):
        own = members[start[c] : start[c + 1]]
        assert own.tolist() == np.flatnonzero(label == c).tolist()
    target = rng.random(size) < 0.2
    kept = np.repeat(~target, degree)
    cut = np.concatenate([[0], np.cumsum(np.where(target, 0, degree))]).astype(np.int64)
    back = reversed_graph(cut, indices[kept])
    never = ~reachable_from(*back, np.flatnonzero(target))
    surely = ~reachable_from(*back, np.flatnonzero(never))
    label, _, start, fate = graphs.fates(indptr, indices, target)
    assert np.array_equal(fate == graphs.MAY_MISS, never)
    assert np.array_equal(fate == graphs.CAN, surely)
    assert len(start) - 1 == len(components(cut, indices[kept]))
    assert np.all(label[np.repeat(np.arange(size), degree)[kept]] >= label[indices[kept]])
    maybe = components_within(indptr, indices, ~never & ~surely)  # the same, number by number
    assert len({*label[~never & ~surely].tolist()}) == len(maybe)
