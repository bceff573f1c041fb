"""Partition refinement against the pairs that no finite look ahead tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from markov_lrsao.exact.partitions import coarsest_partition, numbered, settled_colours

Graph = list[tuple[int, list[int]]]
"""Node -> (what is seen of it, its successors)."""

graphs = st.integers(1, 7).flatmap(
    lambda k: st.lists(
        st.tuples(st.integers(0, 1), st.lists(st.integers(0, k - 1), max_size=2)),
        min_size=k,
        max_size=k,
    )
)


def told_apart(graph: Graph) -> set[tuple[int, int]]:
    """Return the pairs that differ in what is seen, or step into a pair that differs.

    Successors are compared as sets: every one must have a counterpart.
    """
    pairs = set(combinations(range(len(graph)), 2))
    apart = {(a, b) for a, b in pairs if graph[a][0] != graph[b][0]}

    def differ(a: int, b: int) -> bool:
        return (min(a, b), max(a, b)) in apart

    def unmatched(a: int, b: int) -> bool:
        return any(all(differ(x, y) for y in graph[b][1]) for x in graph[a][1])

    while True:
        more = {(a, b) for a, b in pairs - apart if unmatched(a, b) or unmatched(b, a)}
        if not more:
            return apart
        apart |= more


def classes_of(graph: Graph) -> Sequence[int]:
    return coarsest_partition(
        [seen for seen, _ in graph],
        lambda i, classes: frozenset(classes[j] for j in graph[i][1]),
    )


@given(graphs)
def test_classes_are_exactly_the_pairs_that_nothing_tells_apart(graph: Graph) -> None:
    classes, apart = classes_of(graph), told_apart(graph)
    for a, b in combinations(range(len(graph)), 2):
        assert (classes[a] != classes[b]) == ((a, b) in apart)
    assert list(classes) == numbered(classes)  # numbered by first member


def test_a_difference_far_away_is_seen() -> None:
    """Two chains of length 4; only their ends differ, so four rounds are needed."""
    graph: Graph = [(0, [1]), (0, [2]), (0, [3]), (1, []), (0, [5]), (0, [6]), (0, [7]), (2, [])]
    assert len(set(classes_of(graph))) == 8


def test_colours_settle_when_no_class_is_split() -> None:
    rounds: list[int] = []

    def recolour(colours: Sequence[str]) -> list[str]:
        rounds.append(len(set(colours)))
        return [c + "x" for c in colours]

    assert settled_colours(["a", "b", "a"], recolour) == ["ax", "bx", "ax"]
    assert rounds == [2]
