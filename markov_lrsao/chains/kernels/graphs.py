"""Compiled loops over a chain's graph: components, and whether a target is reached."""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["CAN", "MAY_MISS", "components", "fates"]


CAN, MAY_MISS = 1, 2  # what a state's fate says: the target can be reached; it can be missed


@compiled()
def components(indptr, indices):  # type: ignore[no-untyped-def]
    """Return (label, members, start) of the strongly connected components, successors first.

    Within a component, states ascend.
    """
    label, members, start, _ = fates(indptr, indices, np.zeros(len(indptr) - 1, np.bool_))
    return label, members, start


@compiled()
def _grouped(label, count):  # type: ignore[no-untyped-def]
    """Return the states by their labels, ascending, and where those of each label start."""
    size = len(label)
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
    return members, start


@compiled()
def _ascending(indptr, indices, target, fate):  # type: ignore[no-untyped-def]
    """Find the fates where every transition leads further up, or nowhere; return whether it does.

    Then each state is a component, and a pass from the last to the first knows all that follows.
    The pass ends at the first transition that leads down: most graphs have one among the last.
    """
    for i in range(len(indptr) - 2, -1, -1):
        shared = 0
        if target[i]:
            shared = CAN
        else:
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j < i:
                    return False
                if j > i:
                    shared |= fate[j]
        fate[i] = shared if shared else MAY_MISS
    return True


@compiled()
def fates(indptr, indices, target):  # type: ignore[no-untyped-def]
    """Return the components of the graph that ends in `target`, and the fate of every state.

    Target states are not left. A component that leads nowhere misses the target; others share the
    fates of what they lead to.
    """
    size = len(indptr) - 1
    fate = np.zeros(size, np.uint8)
    if _ascending(indptr, indices, target, fate):
        order = np.arange(size - 1, -1, -1)
        return order, order.copy(), np.arange(size + 1), fate
    fate[:] = 0
    return _searched(indptr, indices, target, fate)


@compiled()
def _searched(indptr, indices, target, fate):  # type: ignore[no-untyped-def]
    """Return the same by Tarjan's algorithm with a stack of its own.

    All that a component leads to is known when it is complete.
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
                if target[following]:
                    fate[following] = CAN
                    at[depth] = indptr[following + 1]
                following = -1
            i = path[depth]
            if at[depth] < indptr[i + 1]:
                j = indices[at[depth]]
                at[depth] += 1
                if index[j] == 0:
                    following = j
                elif label[j] < 0:
                    low[i] = min(low[i], index[j])
                else:
                    fate[i] |= fate[j]
                continue
            if low[i] == index[i]:
                first = held
                shared = 0
                while label[i] < 0:
                    first -= 1
                    label[waiting[first]] = count
                    shared |= fate[waiting[first]]
                for k in range(first, held):
                    fate[waiting[k]] = shared if shared else MAY_MISS
                held = first
                count += 1
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[i])
                if label[i] >= 0:
                    fate[path[depth]] |= fate[i]
    members, start = _grouped(label, count)
    return label, members, start, fate
