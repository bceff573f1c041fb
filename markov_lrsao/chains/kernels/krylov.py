"""Compiled Krylov iteration for one component, its transitions, and the shape of its graph.

The system is scaled by the probabilities of leaving: x = b + Q x with Q the jump chain. The
iteration is van der Vorst's BiCGSTAB. It proves nothing about its result, and breaks down on
some chains: the caller checks what it returns.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["bicgstab", "levels", "local", "transposed"]


_LOOSE = {"reassoc", "contract"}  # the order of sums is free: the result is checked anyway


@compiled(forceinline=True, allocates=False, fastmath=_LOOSE)
def _apply(pointer, columns, jumps, x, y):  # type: ignore[no-untyped-def]
    """Set y = x - Q x."""
    for i in range(len(x)):
        total = 0.0
        for e in range(pointer[i], pointer[i + 1]):
            total += jumps[e] * x[columns[e]]
        y[i] = x[i] - total


@compiled(forceinline=True, allocates=False, fastmath=_LOOSE)
def _dot(x, y):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@compiled(fastmath=_LOOSE)
def bicgstab(pointer, columns, values, leaving, right, x, tolerance, steps):  # type: ignore[no-untyped-def]
    """Improve x towards (1 - Q) x = right / leaving; return the reduction of the residual.

    Stops at the relative `tolerance`, after `steps` steps, or when the iteration breaks down.
    """
    s = len(leaving)
    narrow = columns.astype(np.int32)
    jumps = np.empty(len(columns))
    for i in range(s):
        for e in range(pointer[i], pointer[i + 1]):
            jumps[e] = values[e] / leaving[i]
    r = np.empty(s)
    _apply(pointer, narrow, jumps, x, r)
    for i in range(s):
        r[i] = right[i] / leaving[i] - r[i]
    first = _dot(r, r)
    if first == 0.0:
        return 0.0
    shadow = r.copy()
    p = r.copy()
    v = np.empty(s)
    t = np.empty(s)
    rho = first
    now = first
    for _ in range(steps):
        _apply(pointer, narrow, jumps, p, v)
        below = _dot(shadow, v)
        if below == 0.0 or not np.isfinite(below):
            break
        alpha = rho / below
        for i in range(s):
            r[i] -= alpha * v[i]
        _apply(pointer, narrow, jumps, r, t)
        size = _dot(t, t)
        omega = _dot(t, r) / size if size > 0.0 else 0.0
        for i in range(s):
            x[i] += alpha * p[i] + omega * r[i]
        for i in range(s):
            r[i] -= omega * t[i]
        now = _dot(r, r)
        if now <= tolerance * tolerance * first or omega == 0.0 or not np.isfinite(now):
            break
        following = _dot(shadow, r)
        beta = following / rho * (alpha / omega)
        rho = following
        if rho == 0.0 or not np.isfinite(beta):
            break
        for i in range(s):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
    return np.sqrt(now / first)


@compiled()
def levels(pointer, columns, s):  # type: ignore[no-untyped-def]
    """Return how many levels a breadth-first search from state 0 has, and the largest of them."""
    seen = np.zeros(s, np.bool_)
    queue = np.empty(s, np.int64)
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


@compiled()
def local(indptr, indices, probabilities, states, constant, values):  # type: ignore[no-untyped-def]
    """Return (pointer, columns, weights, leak, right) of some states, loops left out.

    `right` is what they are given: the constant, and probability times value outside.
    """
    s = len(states)
    place = np.full(len(indptr) - 1, -1, np.int64)
    room = 0
    for k in range(s):
        place[states[k]] = k
        room += indptr[states[k] + 1] - indptr[states[k]]
    pointer = np.zeros(s + 1, np.int64)
    columns = np.empty(room, np.int64)
    weights = np.empty(room)
    leak = np.zeros(s)
    right = np.zeros(s)
    used = 0
    for k in range(s):
        i = states[k]
        if len(constant):
            right[k] = constant[i]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if place[j] < 0:
                leak[k] += probabilities[e]
                if len(values):
                    right[k] += probabilities[e] * values[j]
            elif j != i and probabilities[e] > 0.0:
                columns[used] = place[j]
                weights[used] = probabilities[e]
                used += 1
        pointer[k + 1] = used
    return pointer, columns[:used], weights[:used], leak, right


@compiled()
def transposed(pointer, columns, values, leaving):  # type: ignore[no-untyped-def]
    """Return the transpose of (leaving - P) by columns: (data, rows, pointers)."""
    s = len(leaving)
    data = np.empty(len(columns) + s)
    rows = np.empty(len(columns) + s, np.int32)
    begin = np.zeros(s + 1, np.int32)
    used = 0
    for i in range(s):
        placed = False
        for e in range(pointer[i], pointer[i + 1]):
            if not placed and columns[e] > i:
                data[used] = leaving[i]
                rows[used] = i
                used += 1
                placed = True
            data[used] = -values[e]
            rows[used] = columns[e]
            used += 1
        if not placed:
            data[used] = leaving[i]
            rows[used] = i
            used += 1
        begin[i + 1] = used
    return data, rows, begin
