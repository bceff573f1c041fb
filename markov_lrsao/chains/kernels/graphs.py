"""Compiled loops over a chain's graph: strongly connected components."""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["components"]


@compiled()
def components(indptr, indices):  # type: ignore[no-untyped-def]
    """Return (label, members, start) of the strongly connected components, successors first.

    Tarjan's algorithm with a stack of its own; within a component, states ascend.
    """
    size = len(indptr) - 1
    label = np.full(size, -1, np.int64)
    index = np.zeros(size, np.int64)  # when a state was met; 0: not yet
    low = np.zeros(size, np.int64)
    path = np.empty(size, np.int64)
    at = np.empty(size, np.int64)  # the next transition of each state on the path
    waiting = np.empty(size, np.int64)
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
