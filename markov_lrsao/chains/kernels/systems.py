"""Compiled loops that prepare a linear system: its rows in floats, and the shape of its graph.

Rows are those of the inside states, without loops: weights, whose quotients by the row's total are
the probabilities. Where the chain has integers below 2^53, both are exact.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.chains.kernels.bands import NORMAL
from markov_lrsao.compiled import compiled

__all__ = ["given", "levels", "local", "positive", "rows", "shapes"]


@compiled()
def rows(indptr, indices, above, below, inside, absent):  # type: ignore[no-untyped-def]
    """Return (pointer, columns, weights, totals, small) of the rows inside; others are empty.

    `small` says whether a probability is below the normal floats; `absent`, whether weights of 0
    are no transitions. Otherwise they are rounded ones.
    """
    size = len(inside)
    room = 0
    for i in range(size):
        if inside[i]:
            room += indptr[i + 1] - indptr[i]
    pointer = np.empty(size + 1, np.int64)
    columns = np.empty(room, np.int32)
    weights = np.empty(room)
    totals = np.ones(size)
    small = False
    used = 0
    for i in range(size):
        pointer[i] = used
        if not inside[i]:
            continue
        total = np.float64(below[i])
        totals[i] = total
        least = NORMAL * total
        for e in range(indptr[i], indptr[i + 1]):
            weight = np.float64(above[e])
            if indices[e] != i and not (absent and weight == 0.0):
                columns[used] = indices[e]
                weights[used] = weight
                used += 1
                if weight < least:
                    small = True
    pointer[size] = used
    return pointer, columns[:used], weights[:used], totals, small


@compiled()
def shapes(pointer, columns, label, members, start):  # type: ignore[no-untyped-def]
    """Return the half-bandwidth of every component, and the transitions among its states."""
    size = len(label)
    place = np.empty(size, np.int64)
    band = np.zeros(len(start) - 1, np.int64)
    inner = np.zeros(len(start) - 1, np.int64)
    for c in range(len(start) - 1):
        for k in range(start[c], start[c + 1]):
            place[members[k]] = k
    for i in range(size):
        c = label[i]
        if start[c + 1] - start[c] > 1:
            here = place[i]
            most = 0
            count = 0
            for e in range(pointer[i], pointer[i + 1]):
                j = columns[e]
                if label[j] == c:
                    most = max(most, abs(place[j] - here))
                    count += 1
            band[c] = max(band[c], most)
            inner[c] += count
    return band, inner


@compiled()
def positive(pointer, columns, label, members, start, inside, above):  # type: ignore[no-untyped-def]
    """Return where a solution is positive, `above` saying which constants and given values are."""
    found = above.copy()
    for c in range(len(start) - 1):
        if not inside[members[start[c]]]:
            continue
        any_above = False
        for k in range(start[c], start[c + 1]):
            i = members[k]
            any_above = any_above or found[i]
            for e in range(pointer[i], pointer[i + 1]):
                any_above = any_above or found[columns[e]]
        for k in range(start[c], start[c + 1]):
            found[members[k]] = any_above
    return found


@compiled()
def local(pointer, columns, weights, states, place):  # type: ignore[no-untyped-def]
    """Return (pointer, columns, weights, leak, leaving, cheap) of the states of a component.

    `place` is a workspace of -1s, one for each state of the chain. `cheap` is how many states have
    at most two pairs of a transition in and one out: eliminating them fills in nothing.
    """
    s = len(states)
    room = 0
    for k in range(s):
        place[states[k]] = k
        room += pointer[states[k] + 1] - pointer[states[k]]
    begin = np.zeros(s + 1, np.int64)
    to = np.empty(room, np.int32)
    inner = np.empty(room)
    leak = np.zeros(s)
    leaving = np.zeros(s)
    into = np.zeros(s, np.int32)
    used = 0
    for k in range(s):
        i = states[k]
        total, lost = 0.0, 0.0
        for e in range(pointer[i], pointer[i + 1]):
            at = place[columns[e]]
            if at < 0:
                lost += weights[e]
            else:
                to[used] = at
                inner[used] = weights[e]
                into[at] += 1
                used += 1
                total += weights[e]
        leak[k] = lost
        leaving[k] = lost + total
        begin[k + 1] = used
    cheap = 0
    for k in range(s):
        place[states[k]] = -1
        if into[k] * (begin[k + 1] - begin[k]) <= 2:
            cheap += 1
    return begin, to[:used], inner[:used], leak, leaving, cheap


@compiled()
def given(pointer, columns, weights, totals, label, states, leak, constant, values):  # type: ignore[no-untyped-def]
    """Return what the states of a component are given: constants, and values outside of it.

    `leak` says with which weight each state leaves the component; 0 spares looking for transitions.

    A row with d transitions has at most d - 1 that lead out, each with three roundings behind its
    term (the reciprocal, two products): d + 2 with those of the sum.
    """
    right = np.empty(len(states))
    own = label[states[0]]
    for k in range(len(states)):
        i = states[k]
        total = constant[i]
        if leak[k] == 0.0:
            right[k] = total
            continue
        unit = 1.0 / totals[i]
        for e in range(pointer[i], pointer[i + 1]):
            if label[columns[e]] != own:
                total += weights[e] * unit * values[columns[e]]
        right[k] = total
    return right


@compiled()
def levels(pointer, columns):  # type: ignore[no-untyped-def]
    """Return how many levels a breadth-first search from state 0 has, and the largest of them."""
    s = len(pointer) - 1
    seen = np.zeros(s, np.bool_)
    queue = np.empty(s, np.int32)
    queue[0] = 0
    seen[0] = True
    begin, end = 0, 1
    depth, widest = 0, 1
    while begin < end:
        last = end
        for k in range(begin, last):
            i = queue[k]
            for e in range(pointer[i], pointer[i + 1]):
                j = columns[e]
                if not seen[j]:
                    seen[j] = True
                    queue[end] = j
                    end += 1
        widest = max(widest, last - begin)
        depth += 1
        begin = last
    return depth, widest
