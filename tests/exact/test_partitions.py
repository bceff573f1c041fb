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


def classes_of(graph: Graph, known: bool = False) -> Sequence[int]:
    return coarsest_partition(
        [seen for seen, _ in graph],
        lambda i, classes: frozenset(classes[j] for j in graph[i][1]),
        (lambda i: graph[i][1]) if known else None,
    )


@given(graphs)
def test_known_successors_give_the_same_classes(graph: Graph) -> None:
    """Only what can have changed is looked at again; the coarsest partition is one."""
    assert list(classes_of(graph, known=True)) == list(classes_of(graph))


def test_long_chains_with_known_successors() -> None:
    """Rounds that move one element each, from either end, and counts of signatures."""
    length = 60
    graph: Graph = [(int(i == length - 1), [min(i + 1, length - 1)]) for i in range(length)]
    assert classes_of(graph, known=True) == list(range(length)) == list(classes_of(graph))
    asked: list[int] = []

    def signature(i: int, classes: Sequence[int]) -> int:
        asked.append(i)
        return classes[min(i + 1, length - 1)]

    found = coarsest_partition([seen for seen, _ in graph], signature, lambda i: graph[i][1])
    assert len(set(found)) == length
    assert len(asked) < 5 * length  # and not length squared


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
