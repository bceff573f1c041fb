"""Compiled loops over a chain's graph: components, and from where states can be reached."""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["components", "leading_to", "qualitative"]


@compiled()
def components(indptr, indices):  # type: ignore[no-untyped-def]
    """Return (label, members, start) of the strongly connected components, successors first.

    Tarjan's algorithm with a stack of its own; within a component, states ascend.
    """
    size = len(indptr) - 1
    label = np.full(size, -1, np.int64)
    index = np.zeros(size, np.int32)  # when a state was met; 0: not yet
    low = np.zeros(size, np.int32)
    path = np.empty(size, np.int32)
    at = np.empty(size, np.int64)  # the next transition of each state on the path
    waiting = np.empty(size, np.int32)
    held, met, count = 0, 0, 0
    for root in range(size):
        if index[root]:
            continue
        depth = -1
        following = root
        while depth >= 0 or following >= 0:
            if following >= 0:
                met += 1
                index[following] = met
                low[following] = met
                waiting[held] = following
                held += 1
                depth += 1
                path[depth] = following
                at[depth] = indptr[following]
                following = -1
            i = path[depth]
            if at[depth] < indptr[i + 1]:
                j = indices[at[depth]]
                at[depth] += 1
                if index[j] == 0:
                    following = j
                elif label[j] < 0:
                    low[i] = min(low[i], index[j])
                continue
            if low[i] == index[i]:
                while label[i] < 0:
                    held -= 1
                    label[waiting[held]] = count
                count += 1
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[i])
    start = np.zeros(count + 1, np.int64)
    for i in range(size):
        start[label[i] + 1] += 1
    for c in range(count):
        start[c + 1] += start[c]
    members = np.empty(size, np.int64)
    place = start[:-1].copy()
    for i in range(size):
        members[place[label[i]]] = i
        place[label[i]] += 1
    return label, members, start


@compiled()
def _reversed(indptr, indices, stopped):  # type: ignore[no-untyped-def]
    """Return the graph turned round, without the transitions of `stopped` states."""
    size = len(indptr) - 1
    begin = np.zeros(size + 1, np.int64)
    for i in range(size):
        if not stopped[i]:
            for e in range(indptr[i], indptr[i + 1]):
                begin[indices[e] + 1] += 1
    for j in range(size):
        begin[j + 1] += begin[j]
    source = np.empty(begin[size], np.int32)
    place = begin[:-1].copy()
    for i in range(size):
        if not stopped[i]:
            for e in range(indptr[i], indptr[i + 1]):
                source[place[indices[e]]] = i
                place[indices[e]] += 1
    return begin, source


@compiled()
def _search(begin, source, seeds):  # type: ignore[no-untyped-def]
    """Return which states can be reached from the seeds."""
    seen = seeds.copy()
    queue = np.empty(len(seeds), np.int32)
    end = 0
    for i in range(len(seeds)):
        if seeds[i]:
            queue[end] = i
            end += 1
    at = 0
    while at < end:
        j = queue[at]
        at += 1
        for e in range(begin[j], begin[j + 1]):
            i = source[e]
            if not seen[i]:
                seen[i] = True
                queue[end] = i
                end += 1
    return seen


@compiled()
def leading_to(indptr, indices, seeds):  # type: ignore[no-untyped-def]
    """Return which states lead to the seeds, themselves included."""
    begin, source = _reversed(indptr, indices, np.zeros(len(seeds), np.bool_))
    return _search(begin, source, seeds)


@compiled()
def qualitative(indptr, indices, target):  # type: ignore[no-untyped-def]
    """Return where the target is reached with probability 0, and where with probability 1."""
    begin, source = _reversed(indptr, indices, target)
    never = ~_search(begin, source, target)
    return never, ~_search(begin, source, never)
