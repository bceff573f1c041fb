from __future__ import annotations

from unittest.mock import patch

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import markov_lrsao.exact.graphs as graphs
from markov_lrsao.exact.graphs import components, components_of, reachable_from, sort_components

edges = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30)


def csr(size: int, pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = sorted(set(pairs))
    indptr = np.zeros(size + 1, np.int64)
    for source, _ in pairs:
        indptr[source + 1] += 1
    return np.cumsum(indptr), np.array([t for _, t in pairs], np.int64)


@given(edges, st.booleans())
def test_components_are_networkxs_and_successors_come_first(
    pairs: list[tuple[int, int]], by_scipy: bool
) -> None:
    with patch.object(graphs, "_SMALL", 0 if by_scipy else graphs._SMALL):
        found = components(*csr(12, pairs))
        same = components_of([[t for s, t in pairs if s == i] for i in range(12)])
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(range(12))
    expected = {frozenset(c) for c in nx.strongly_connected_components(graph)}
    parts = [found.members[found.start[c] : found.start[c + 1]].tolist() for c in range(len(found))]
    assert {frozenset(p) for p in parts} == expected
    assert len(parts) == len(expected)
    assert found.sizes.tolist() == [len(p) for p in parts]
    assert list(found) == [tuple(p) for p in parts]
    assert list(same) == list(found)
    for c, part in enumerate(parts):
        assert all(found.label[i] == c for i in part)
    assert all(found.label[s] >= found.label[t] for s, t in pairs)


@given(edges)
@settings(max_examples=200)
def test_sort_components(pairs: list[tuple[int, int]]) -> None:
    acyclic = [(min(p), max(p)) for p in pairs]  # upwards only, self-loops included
    shuffle = np.random.default_rng(5).permutation(12)
    source = np.array([shuffle[a] for a, _ in acyclic], np.int64)
    target = np.array([shuffle[b] for _, b in acyclic], np.int64)
    number = sort_components(12, source, target)
    assert sorted(number.tolist()) == list(range(12))
    assert all(number[a] >= number[b] for a, b in zip(source, target, strict=True))


@given(edges, st.sets(st.integers(0, 11), max_size=3), st.booleans())
def test_reachability(pairs: list[tuple[int, int]], start: set[int], by_scipy: bool) -> None:
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(range(12))
    expected = set(start).union(*(nx.descendants(graph, s) for s in start))
    with patch.object(graphs, "_SMALL", 0 if by_scipy else graphs._SMALL):
        seen = reachable_from(*csr(12, pairs), np.array(sorted(start), np.int64))
    assert set(np.flatnonzero(seen).tolist()) == expected
