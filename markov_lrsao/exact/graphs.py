"""Strongly connected components in an order in which linear systems can be solved.

Hitting times are solved component by component, successors first. scipy finds the
components in compiled code where a graph is large; that its labels are a topological order is
not documented, so it is checked on every edge, and sorted out by hand where it should ever fail.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = [
    "Components",
    "components",
    "components_of",
    "components_within",
    "grouped",
    "reachable_from",
    "reversed_graph",
    "sort_components",
]

IntArray = npt.NDArray[np.int64]
_SMALL = 30_000
"""States and edges of a graph that is walked before scipy would have been imported."""


@dataclass(frozen=True, eq=False)
class Components:
    """Components numbered so that every edge leads to the same or a smaller number.

    ``members[start[c]:start[c + 1]]`` are the states of component c.
    """

    label: IntArray
    members: IntArray
    start: IntArray

    def __len__(self) -> int:
        return len(self.start) - 1

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Yield the states of each component, successors first."""
        members, start = self.members.tolist(), self.start.tolist()
        return (tuple(members[a:b]) for a, b in pairwise(start))

    @cached_property
    def sizes(self) -> IntArray:
        """Number of states per component."""
        return np.diff(self.start)


def components(indptr: IntArray, indices: IntArray) -> Components:
    """Return the strongly connected components of a graph in CSR form, successors first."""
    size = len(indptr) - 1
    if size + len(indices) <= _SMALL:
        ends, to = indptr.tolist(), indices.tolist()
        count, found = _tarjan([to[a:b] for a, b in pairwise(ends)])
        label = np.array(found, dtype=np.int64)
    else:
        count, label = _by_scipy(indptr, indices)
    members = np.argsort(label, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=count))])
    return Components(label, members.astype(np.int64), start.astype(np.int64))


def components_within(
    indptr: IntArray,
    indices: IntArray,
    inside: npt.NDArray[np.bool_],
    find: Callable[[IntArray, IntArray], Components] = components,
) -> Components:
    """Return the components among some of the states; `members` are these, `label` is theirs.

    `find` finds those of a whole graph.
    """
    states = np.flatnonzero(inside)
    if len(states) == len(inside):
        return find(indptr, indices)
    place = np.full(len(inside), -1, dtype=np.int64)
    place[states] = np.arange(len(states))
    counts = np.diff(indptr)[states]
    at = np.repeat(indptr[states] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    to = place[indices[at]]
    kept = np.concatenate([[0], np.cumsum(to >= 0)])
    ends = kept[np.concatenate([[0], np.cumsum(counts)])]
    found = find(ends.astype(np.int64), to[to >= 0])
    return Components(found.label, states[found.members], found.start)


def _by_scipy(indptr: IntArray, indices: IntArray) -> tuple[int, IntArray]:
    """Return the number of components, and the label of every state."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    size = len(indptr) - 1
    graph = csr_array((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=(size, size))
    count, label = connected_components(graph, directed=True, connection="strong")
    label = label.astype(np.int64)
    source = np.repeat(np.arange(size), np.diff(indptr))
    if not np.all(label[source] >= label[indices]):
        if np.all(label[source] <= label[indices]):
            label = count - 1 - label
        else:
            label = sort_components(count, label[source], label[indices])[label]
    return int(count), label


def _tarjan(successors: Sequence[Collection[int]]) -> tuple[int, list[int]]:
    """Return the same by Tarjan's algorithm, which completes successors first."""
    size = len(successors)
    label, seen, low = [-1] * size, [0] * size, [0] * size
    # What is still to be followed of each state's successors, in one order whatever theirs is.
    further = [sorted(row, reverse=True) if len(row) > 1 else list(row) for row in successors]
    stack: list[int] = []
    count = time = 0
    for root in range(size):
        if seen[root]:
            continue
        path, node = [root], root
        time += 1
        seen[root] = low[root] = time
        stack.append(root)
        while path:
            rest = further[node]
            while rest:
                successor = rest.pop()
                if not seen[successor]:
                    node = successor
                    path.append(node)
                    time += 1
                    seen[node] = low[node] = time
                    stack.append(node)
                    rest = further[node]
                elif label[successor] < 0 and seen[successor] < low[node]:
                    low[node] = seen[successor]
            path.pop()
            if low[node] == seen[node]:
                while label[node] < 0:
                    label[stack.pop()] = count
                count += 1
            if path:
                if low[node] < low[path[-1]]:
                    low[path[-1]] = low[node]
                node = path[-1]
    return count, label


def grouped(successors: Sequence[Collection[int]]) -> tuple[list[int], list[list[int]]]:
    """Return the component of every state, and the states of each component, successors first.

    The same as `components_of` in plain lists: for small graphs, of which there are many.

    >>> grouped([[1], [0, 2], []])
    ([1, 1, 0], [[2], [0, 1]])
    """
    count, label = _tarjan(successors)
    members: list[list[int]] = [[] for _ in range(count)]
    for state, c in enumerate(label):
        members[c].append(state)
    return label, members


def components_of(successors: Sequence[Collection[int]]) -> Components:
    """Return the components of a graph given by the successors of every state."""
    return components(
        np.cumsum([0, *map(len, successors)], dtype=np.int64),
        np.array([j for row in successors for j in row], dtype=np.int64),
    )


def sort_components(count: int, source: IntArray, target: IntArray) -> IntArray:
    """Return new numbers for the nodes of an acyclic graph, so that edges never lead upwards.

    Kahn's algorithm; edges from a node to itself are ignored.
    """
    edges = np.unique(np.stack([source, target], axis=1)[source != target], axis=0)
    waiting = np.bincount(edges[:, 0], minlength=count) if len(edges) else np.zeros(count, int)
    by_target = edges[np.argsort(edges[:, 1], kind="stable")]
    begin = np.searchsorted(by_target[:, 1], np.arange(count + 1))
    number = np.full(count, -1, dtype=np.int64)
    ready = np.flatnonzero(waiting == 0).tolist()
    following = 0
    while ready:
        node = ready.pop()
        number[node] = following
        following += 1
        for predecessor in by_target[begin[node] : begin[node + 1], 0].tolist():
            waiting[predecessor] -= 1
            if waiting[predecessor] == 0:
                ready.append(predecessor)
    return number


def reachable_from(
    indptr: IntArray, indices: npt.NDArray[np.signedinteger], start: IntArray
) -> npt.NDArray[np.bool_]:
    """Return which states can be reached from any of `start` (themselves included)."""
    size = len(indptr) - 1
    if size + len(indices) <= _SMALL:
        return _searched(indptr.tolist(), indices.tolist(), start.tolist())
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    seen = np.zeros(size + 1, dtype=np.bool_)
    first = np.unique(start)
    # One more node leads to all of `start`, so that one search finds everything.
    targets = np.concatenate([indices, first])
    pointers = np.concatenate([indptr, [len(targets)]])
    graph = csr_array(
        (np.ones(len(targets), np.int8), targets, pointers), shape=(size + 1, size + 1)
    )
    seen[breadth_first_order(graph, size, return_predecessors=False)] = True
    return seen[:size]


def _searched(indptr: list[int], indices: list[int], start: list[int]) -> npt.NDArray[np.bool_]:
    seen = np.zeros(len(indptr) - 1, dtype=np.bool_)
    found = set(start)
    stack = list(found)
    while stack:
        node = stack.pop()
        for successor in indices[indptr[node] : indptr[node + 1]]:
            if successor not in found:
                found.add(successor)
                stack.append(successor)
    seen[list(found)] = True
    return seen


def reversed_graph(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    """Return the graph with every edge turned round, in CSR form."""
    size = len(indptr) - 1
    source = np.repeat(np.arange(size, dtype=np.int64), np.diff(indptr))
    begin = np.concatenate([[0], np.cumsum(np.bincount(indices, minlength=size))])
    return begin.astype(np.int64), source[np.argsort(indices, kind="stable")]
