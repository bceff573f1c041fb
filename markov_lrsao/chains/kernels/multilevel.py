"""Compiled loops of a multilevel method (smoothed aggregation), for walks on grids and the like.

A system A x = b with A = D - W, W >= 0, is given by its rows, `entries` being those of -W.
States that are strongly coupled form aggregates; T, which says who belongs to which, smoothed
by one damped Jacobi step is the prolongation P = (1 - 2/3 D^-1 A) T, and P^T A P is the system
of the next level. Rows of all levels are numbered through, so that one vector holds a quantity
on every level. None of this proves anything about the result: the caller checks it.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["aggregates", "bicgstab", "coarser", "divided", "prolongation", "symmetric", "turned"]

_LOOSE = {"reassoc", "contract"}  # the order of sums is free: the result is checked anyway
_DAMPING = 2.0 / 3.0
_STRONG = 0.25  # of a row's largest entry
_UNIT = 2.0**-53
_TRIED = 4  # steps after which it is asked how many more there will be


@compiled()
def symmetric(pointer, columns, values):  # type: ignore[no-untyped-def]
    """Return weights m with m_i P_ij = m_j P_ji on every transition, or an empty array.

    They are found along a breadth-first tree and checked (to six digits) on the rest.
    """
    s = len(pointer) - 1
    none = np.empty(0)
    weights = np.zeros(s)
    queue = np.empty(s, np.int64)
    queue[0] = 0
    weights[0] = 1.0
    begin, end = 0, 1
    while begin < end:
        i = queue[begin]
        begin += 1
        for e in range(pointer[i], pointer[i + 1]):
            j = columns[e]
            back = 0.0
            for f in range(pointer[j], pointer[j + 1]):
                if columns[f] == i:
                    back = values[f]
            flow = weights[i] * values[e]
            if weights[j] == 0.0 and back > 0.0:
                weights[j] = flow / back
                if not (weights[j] > 1e-12 and weights[j] < 1e12):
                    return none
                queue[end] = j
                end += 1
            if not abs(flow - weights[j] * back) <= 1e-6 * flow:
                return none
    return weights


@compiled()
def aggregates(pointer, columns, entries):  # type: ignore[no-untyped-def]
    """Return the aggregate of every state, and how many there are.

    A state whose strong neighbours are all free founds one with them; what is left over joins
    the aggregate it is most strongly coupled to.
    """
    s = len(pointer) - 1
    own = np.full(s, -1, np.int32)
    count = 0
    for i in range(s):
        if own[i] >= 0:
            continue
        strong = 0.0
        for e in range(pointer[i], pointer[i + 1]):
            strong = min(strong, entries[e])
        strong *= _STRONG
        free = strong < 0.0
        for e in range(pointer[i], pointer[i + 1]):
            if entries[e] <= strong and own[columns[e]] >= 0:
                free = False
                break
        if free:
            own[i] = count
            for e in range(pointer[i], pointer[i + 1]):
                if entries[e] <= strong:
                    own[columns[e]] = count
            count += 1
    joined = own.copy()
    for i in range(s):
        if own[i] < 0:
            best = 0.0
            for e in range(pointer[i], pointer[i + 1]):
                if own[columns[e]] >= 0 and entries[e] < best:
                    best = entries[e]
                    joined[i] = own[columns[e]]
    for i in range(s):
        if joined[i] < 0:
            joined[i] = count
            for e in range(pointer[i], pointer[i + 1]):
                if joined[columns[e]] < 0:
                    joined[columns[e]] = count
            count += 1
    return joined, count


@compiled()
def prolongation(pointer, columns, entries, diagonal, own, count):  # type: ignore[no-untyped-def]
    """Return the rows of P = (1 - 2/3 D^-1 A) T."""
    s = len(diagonal)
    begin = np.zeros(s + 1, np.int64)
    to = np.empty(pointer[s] + s, np.int32)
    weight = np.empty(pointer[s] + s)
    where = np.full(count, -1, np.int64)
    used = 0
    for i in range(s):
        first = used
        where[own[i]] = used
        to[used] = own[i]
        weight[used] = 1.0 - _DAMPING
        used += 1
        for e in range(pointer[i], pointer[i + 1]):
            a = own[columns[e]]
            if where[a] < first:
                where[a] = used
                to[used] = a
                weight[used] = 0.0
                used += 1
            weight[where[a]] -= _DAMPING * entries[e] / diagonal[i]
        begin[i + 1] = used
    return begin, to[:used].copy(), weight[:used].copy()


@compiled()
def turned(pointer, columns, entries, count):  # type: ignore[no-untyped-def]
    """Return the transpose of a matrix with `count` columns."""
    begin = np.zeros(count + 1, np.int64)
    for e in range(len(columns)):
        begin[columns[e] + 1] += 1
    for j in range(count):
        begin[j + 1] += begin[j]
    to = np.empty(len(columns), np.int32)
    weight = np.empty(len(columns))
    place = begin[:-1].copy()
    for i in range(len(pointer) - 1):
        for e in range(pointer[i], pointer[i + 1]):
            k = place[columns[e]]
            place[columns[e]] += 1
            to[k] = i
            weight[k] = entries[e]
    return begin, to, weight


@compiled()
def _product(pointer, columns, entries, diagonal, begin, to, weight, count):  # type: ignore[no-untyped-def]
    """Return the rows of (diagonal + entries) times the matrix (begin, to, weight)."""
    s = len(pointer) - 1
    lead = np.zeros(s + 1, np.int64)
    onto = np.empty(2 * len(to) + 16, np.int32)
    found = np.empty(len(onto))
    where = np.full(count, -1, np.int64)
    used = 0
    for i in range(s):
        first = used
        room = 0
        if len(diagonal):
            room += begin[i + 1] - begin[i]
        for e in range(pointer[i], pointer[i + 1]):
            room += begin[columns[e] + 1] - begin[columns[e]]
        if used + room > len(onto):
            more, further = np.empty(2 * len(onto) + room, np.int32), np.empty(2 * len(onto) + room)
            for k in range(used):
                more[k], further[k] = onto[k], found[k]
            onto, found = more, further
        if len(diagonal):
            for f in range(begin[i], begin[i + 1]):
                where[to[f]] = used
                onto[used] = to[f]
                found[used] = diagonal[i] * weight[f]
                used += 1
        for e in range(pointer[i], pointer[i + 1]):
            j = columns[e]
            for f in range(begin[j], begin[j + 1]):
                a = to[f]
                if where[a] < first:
                    where[a] = used
                    onto[used] = a
                    found[used] = 0.0
                    used += 1
                found[where[a]] += entries[e] * weight[f]
        lead[i + 1] = used
    return lead, onto[:used], found[:used]


@compiled()
def coarser(rows, diagonal, up, down, count):  # type: ignore[no-untyped-def]
    """Return P^T A P as (pointer, columns, entries) and its diagonal; `down` is P^T."""
    lead, onto, found = _product(rows[0], rows[1], rows[2], diagonal, up[0], up[1], up[2], count)
    none = np.empty(0)
    lead, onto, found = _product(down[0], down[1], down[2], none, lead, onto, found, count)
    pointer = np.zeros(count + 1, np.int64)
    columns = np.empty(len(onto), np.int32)
    entries = np.empty(len(onto))
    corner = np.zeros(count)
    used = 0
    for i in range(count):
        for e in range(lead[i], lead[i + 1]):
            if onto[e] == i:
                corner[i] = found[e]
            else:
                columns[used] = onto[e]
                entries[used] = found[e]
                used += 1
        pointer[i + 1] = used
    return (pointer, columns[:used].copy(), entries[:used].copy()), corner


@compiled()
def divided(pointer, columns, entries):  # type: ignore[no-untyped-def]
    """Sort every row into columns before and behind its own; return where the latter begin."""
    s = len(pointer) - 1
    middle = np.empty(s, np.int64)
    for i in range(s):
        k = pointer[i]
        for e in range(pointer[i], pointer[i + 1]):
            if columns[e] < i:
                columns[e], columns[k] = columns[k], columns[e]
                entries[e], entries[k] = entries[k], entries[e]
                k += 1
        middle[i] = k
    return middle


@compiled(allocates=False, fastmath=_LOOSE)
def _cycle(levels, first, b, x, r):  # type: ignore[no-untyped-def]
    """Set x on level 0 to about the solution of A x = b, by one V-cycle.

    Down: a Gauss-Seidel sweep from 0, whose residual is what lies behind the diagonal; up: the
    correction, and a sweep backwards.
    """
    pointer, middle, columns, entries, _, up, to, share, down, of, weight, inverse, below = levels
    last = len(first) - 2
    for level in range(last):
        for i in range(first[level], first[level + 1]):
            total = b[i]
            for e in range(pointer[i], middle[i]):
                total -= entries[e] * x[columns[e]]
            x[i] = total * below[i]
        for i in range(first[level], first[level + 1]):
            total = 0.0
            for e in range(middle[i], pointer[i + 1]):
                total -= entries[e] * x[columns[e]]
            r[i] = total
        for i in range(first[level + 1], first[level + 2]):
            total = 0.0
            for e in range(down[i], down[i + 1]):
                total += weight[e] * r[of[e]]
            b[i] = total
    shift = first[last]
    for i in range(len(inverse)):
        total = 0.0
        for j in range(len(inverse)):
            total += inverse[i, j] * b[shift + j]
        x[shift + i] = total
    for level in range(last - 1, -1, -1):
        for i in range(first[level], first[level + 1]):
            total = x[i]
            for e in range(up[i], up[i + 1]):
                total += share[e] * x[to[e]]
            x[i] = total
        for i in range(first[level + 1] - 1, first[level] - 1, -1):
            total = b[i]
            for e in range(pointer[i], pointer[i + 1]):
                total -= entries[e] * x[columns[e]]
            x[i] = total * below[i]


@compiled(allocates=False, fastmath=_LOOSE)
def _apply(levels, s, x, y):  # type: ignore[no-untyped-def]
    """Set y = A x on level 0."""
    pointer, columns, entries, diagonal = levels[0], levels[2], levels[3], levels[4]
    for i in range(s):
        total = diagonal[i] * x[i]
        for e in range(pointer[i], pointer[i + 1]):
            total += entries[e] * x[columns[e]]
        y[i] = total


@compiled(fastmath=_LOOSE)
def bicgstab(levels, first, right, x, tolerance, steps):  # type: ignore[no-untyped-def]
    """Move x, which is 0, towards A x = right; return whether it came near.

    BiCGSTAB with one V-cycle as preconditioner. Near is a residual of the relative `tolerance`, or
    one that the rounding of x alone makes. Gives up where more than `steps` steps seem necessary.
    """
    s = len(x)
    diagonal = levels[4]
    b, p, q, r2 = (
        np.zeros(first[-1]),
        np.zeros(first[-1]),
        np.zeros(first[-1]),
        np.empty(first[-1]),
    )
    v, t, r = np.empty(s), np.empty(s), right.copy()
    start = 0.0
    for i in range(s):
        start += r[i] * r[i]
    if start == 0.0:
        return True
    target = tolerance * tolerance * start
    shadow, direction = r.copy(), r.copy()
    rho = start
    for step in range(steps):
        for i in range(s):
            b[i] = direction[i]
        _cycle(levels, first, b, p, r2)
        _apply(levels, s, p, v)
        below = 0.0
        for i in range(s):
            below += shadow[i] * v[i]
        if below == 0.0 or not np.isfinite(below):
            break
        alpha = rho / below
        for i in range(s):
            r[i] -= alpha * v[i]
            b[i] = r[i]
        _cycle(levels, first, b, q, r2)
        _apply(levels, s, q, t)
        size, along = 0.0, 0.0
        for i in range(s):
            size += t[i] * t[i]
            along += t[i] * r[i]
        omega = along / size if size > 0.0 else 0.0
        now, following, noise = 0.0, 0.0, 0.0
        for i in range(s):
            x[i] += alpha * p[i] + omega * q[i]
            r[i] -= omega * t[i]
            now += r[i] * r[i]
            following += shadow[i] * r[i]
            noise += (diagonal[i] * x[i]) ** 2
        target = max(target, 0.25 * _UNIT * _UNIT * noise)
        if now <= target:
            return True
        if omega == 0.0 or not np.isfinite(now) or following == 0.0:
            break
        done = step + 1.0
        if done >= _TRIED and np.log(start / now) * steps < np.log(start / target) * done:
            break
        beta = following / rho * (alpha / omega)
        rho = following
        for i in range(s):
            direction[i] = r[i] + beta * (direction[i] - omega * v[i])
    return False
