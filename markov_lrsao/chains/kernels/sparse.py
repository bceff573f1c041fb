"""Compiled sparse elimination without subtraction for one large component.

A component with s states is given by its transitions among themselves (no loops) and the
probability `leak` of leaving it. States are eliminated by least (in x out) transitions;
what elimination of k records is l_k, the probability of leaving k, its row and its column
at that moment. When the rest has become dense it is eliminated as a dense matrix. As in
`bands`, numbers are only added, multiplied and divided, never subtracted, and `report`
says how small they became; there, report[2] is 1 + a state that is left too rarely for floats.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.chains.kernels.bands import NORMAL, SMALLEST, add
from markov_lrsao.compiled import compiled

__all__ = ["eliminate", "solve_columns", "solve_rows"]

_BUCKETS = 1 << 22  # costs at or above this share the last bucket
_DENSE_SHARE = 0.4  # a rest is dense once its sparsest cheapest row fills this share


@compiled()
def _grown(array, needed):  # type: ignore[no-untyped-def]
    larger = np.empty(max(needed, 2 * len(array)), array.dtype)
    for k in range(len(array)):
        larger[k] = array[k]
    return larger


@compiled()
def _put(k, cost, head, following, preceding, bucket):  # type: ignore[no-untyped-def]
    """Move state k to the bucket of its cost."""
    new = min(cost, len(head) - 1)
    old = bucket[k]
    if old == new:
        return
    if old >= 0:
        if preceding[k] >= 0:
            following[preceding[k]] = following[k]
        else:
            head[old] = following[k]
        if following[k] >= 0:
            preceding[following[k]] = preceding[k]
    bucket[k] = new
    if new >= 0:
        preceding[k] = -1
        following[k] = head[new]
        if head[new] >= 0:
            preceding[head[new]] = k
        head[new] = k


@compiled()
def _predecessors(pointer, index, s):  # type: ignore[no-untyped-def]
    """Return the lists of predecessors: a pool, where each list starts, how long it is."""
    edges = pointer[s]
    length = np.zeros(s, np.int64)
    for e in range(edges):
        length[index[e]] += 1
    start = np.zeros(s, np.int64)
    for k in range(1, s):
        start[k] = start[k - 1] + length[k - 1]
    pool = np.empty(2 * edges + 16, np.int64)
    length[:] = 0
    for k in range(s):
        for e in range(pointer[k], pointer[k + 1]):
            j = index[e]
            pool[start[j] + length[j]] = k
            length[j] += 1
    return pool, start, length


@compiled(forceinline=True, allocates=False)
def _take_out(m, k, start, length, columns, values, where):  # type: ignore[no-untyped-def]
    """Take the transition to k out of the row of m; return its probability.

    Afterwards `where` says for each state at which place of the row it stands, or -1.
    """
    for e in range(start[m], start[m] + length[m]):
        where[columns[e]] = e
    at = where[k]
    weight = values[at]
    last = start[m] + length[m] - 1
    columns[at] = columns[last]
    values[at] = values[last]
    where[columns[at]] = at
    where[k] = -1
    length[m] -= 1
    return weight


@compiled(forceinline=True, allocates=False)
def _move_row(m, to, start, length, columns, values, where):  # type: ignore[no-untyped-def]
    """Move the row of m to another place of the pool."""
    for e in range(length[m]):
        columns[to + e] = columns[start[m] + e]
        values[to + e] = values[start[m] + e]
        where[columns[to + e]] = to + e
    start[m] = to


@compiled()
def _dense(rest, leak, start, length, columns, values, where, report):  # type: ignore[no-untyped-def]
    """Eliminate the states that are left as a dense matrix; return it and its l."""
    r = len(rest)
    for b in range(r):
        where[rest[b]] = b
    dense = np.zeros((r, r))
    dense_leak = np.empty(r)
    for b in range(r):
        m = rest[b]
        dense_leak[b] = leak[m]
        for e in range(start[m], start[m] + length[m]):
            dense[b, where[columns[e]]] = values[e]
    leaving = np.zeros(r)
    for k in range(r - 1, -1, -1):
        total, lost = dense_leak[k], 0.0
        row = dense_leak[k] if dense_leak[k] > 0.0 else 1.0
        for m in range(k):
            total, lost = add(total, lost, dense[k, m])
            if dense[k, m] > 0.0:
                row = min(row, dense[k, m])
        total += lost
        if total < SMALLEST:
            report[2] = rest[k] + 1
            break
        leaving[k] = total
        report[1] = min(report[1], total)
        for m in range(k):
            share = dense[m, k] / total
            if share != 0.0:
                if share * row < NORMAL:
                    report[0] = 1.0
                for t in range(k):
                    dense[m, t] += share * dense[k, t]
                dense_leak[m] += share * dense_leak[k]
    return dense, leaving


@compiled()
def eliminate(pointer, index, value, leak, limit, report):  # type: ignore[no-untyped-def]
    """Return the factors of a component, or factors whose first array is empty if they would
    need more than `limit` numbers, or where `report` says so.

    Factors are (order, l, row start, row length, row columns, row values, column start,
    column states, column values, dense states, dense matrix, dense l).
    """
    s = len(leak)
    leak = leak.copy()
    edges = pointer[s]
    # Rows and lists of predecessors live in pools; one that outgrows its place moves behind.
    columns = np.empty(2 * edges + 16, np.int64)
    values = np.empty(2 * edges + 16)
    for e in range(edges):  # a loop: slices that are assigned take seconds to compile
        columns[e] = index[e]
        values[e] = value[e]
    used = edges
    start = pointer[:s].copy()
    length = pointer[1 : s + 1] - pointer[:s]
    room = length.copy()
    into, into_start, into_length = _predecessors(pointer, index, s)
    into_used = edges
    into_room = into_length.copy()
    count = into_length.copy()  # predecessors that are still there
    alive = np.ones(s, np.bool_)
    where = np.full(s, -1, np.int64)
    order = np.empty(s, np.int64)
    leaving = np.zeros(s)
    left_start = np.zeros(s + 1, np.int64)
    left_state = np.empty(edges + 16, np.int64)
    left_value = np.empty(edges + 16)
    left_used = 0
    head = np.full(min(s * s + 1, 4096 + 32 * s, _BUCKETS), -1, np.int64)
    following = np.full(s, -1, np.int64)
    preceding = np.full(s, -1, np.int64)
    bucket = np.full(s, -1, np.int64)
    for k in range(s - 1, -1, -1):
        _put(k, length[k] * count[k], head, following, preceding, bucket)
    lowest = 0
    done = 0
    while done < s:
        while head[lowest] < 0:
            lowest += 1
        k = head[lowest]
        if length[k] > 32 and length[k] > _DENSE_SHARE * (s - done):
            break
        total, lost = leak[k], 0.0
        row = leak[k] if leak[k] > 0.0 else 1.0
        for e in range(start[k], start[k] + length[k]):
            total, lost = add(total, lost, values[e])
            row = min(row, values[e])
        total += lost
        if total < SMALLEST:
            report[2] = k + 1
        if used > limit or left_used > limit or total < SMALLEST:
            return (
                order[:0],
                leaving,
                start,
                length,
                columns,
                values,
                left_start,
                left_state,
                left_value,
                order[:0],
                np.empty((0, 0)),
                np.empty(0),
            )
        leaving[k] = total
        report[1] = min(report[1], total)
        alive[k] = False
        _put(k, -1, head, following, preceding, bucket)
        order[done] = k
        for e in range(start[k], start[k] + length[k]):
            count[columns[e]] -= 1
        for b in range(into_start[k], into_start[k] + into_length[k]):
            m = into[b]
            if not alive[m]:
                continue
            weight = _take_out(m, k, start, length, columns, values, where)
            if left_used == len(left_state):
                left_state = _grown(left_state, left_used + 1)
                left_value = _grown(left_value, left_used + 1)
            left_state[left_used] = m
            left_value[left_used] = weight
            left_used += 1
            share = weight / total
            if share * row < NORMAL:
                report[0] = 1.0
            leak[m] += share * leak[k]
            if length[m] + length[k] > room[m]:
                room[m] = 2 * (length[m] + length[k])
                if used + room[m] > len(columns):
                    columns = _grown(columns, used + room[m])
                    values = _grown(values, used + room[m])
                _move_row(m, used, start, length, columns, values, where)
                used += room[m]
            for e in range(start[k], start[k] + length[k]):
                j = columns[e]
                if j == m:
                    continue
                if where[j] >= 0:
                    values[where[j]] += share * values[e]
                else:
                    at = start[m] + length[m]
                    columns[at] = j
                    values[at] = share * values[e]
                    where[j] = at
                    length[m] += 1
                    if into_length[j] == into_room[j]:
                        into_room[j] = 2 * into_room[j] + 4
                        if into_used + into_room[j] > len(into):
                            into = _grown(into, into_used + into_room[j])
                        for b2 in range(into_length[j]):
                            into[into_used + b2] = into[into_start[j] + b2]
                        into_start[j] = into_used
                        into_used += into_room[j]
                    into[into_start[j] + into_length[j]] = m
                    into_length[j] += 1
                    count[j] += 1
            for e in range(start[m], start[m] + length[m]):
                where[columns[e]] = -1
            _put(m, length[m] * count[m], head, following, preceding, bucket)
            lowest = min(lowest, bucket[m])
        for e in range(start[k], start[k] + length[k]):
            j = columns[e]
            _put(j, length[j] * count[j], head, following, preceding, bucket)
            lowest = min(lowest, bucket[j])
        done += 1
        left_start[done] = left_used
    rest = np.flatnonzero(alive)
    dense, dense_leaving = _dense(rest, leak, start, length, columns, values, where, report)
    return (
        order[:done],
        leaving,
        start,
        length,
        columns,
        values,
        left_start[: done + 1],
        left_state,
        left_value,
        rest,
        dense,
        dense_leaving,
    )


@compiled()
def solve_columns(factors, right, positive):  # type: ignore[no-untyped-def]
    """Turn `right` into v = right + P v; return -1, or a place where v, known to be positive,
    is below the floats.
    """
    order, leaving, start, length, columns, values = factors[:6]
    left, state, weight, rest, dense, below = factors[6:]
    for t in range(len(order)):
        k = order[t]
        share = right[k] / leaving[k]
        for e in range(left[t], left[t + 1]):
            right[state[e]] += weight[e] * share
    for b in range(len(rest) - 1, -1, -1):
        share = right[rest[b]] / below[b]
        for m in range(b):
            right[rest[m]] += dense[m, b] * share
    for b in range(len(rest)):
        total = right[rest[b]]
        for m in range(b):
            total += dense[b, m] * right[rest[m]]
        if positive[rest[b]] and total < SMALLEST:
            return rest[b]
        right[rest[b]] = total / below[b]
    for t in range(len(order) - 1, -1, -1):
        k = order[t]
        total = right[k]
        for e in range(start[k], start[k] + length[k]):
            total += values[e] * right[columns[e]]
        if positive[k] and total < SMALLEST:
            return k
        right[k] = total / leaving[k]
    return -1


@compiled()
def solve_rows(factors, flow):  # type: ignore[no-untyped-def]
    """Turn `flow` into x = flow + x P."""
    order, leaving, start, length, columns, values = factors[:6]
    left, state, weight, rest, dense, below = factors[6:]
    for t in range(len(order)):
        k = order[t]
        share = flow[k] / leaving[k]
        for e in range(start[k], start[k] + length[k]):
            flow[columns[e]] += values[e] * share
    for b in range(len(rest) - 1, -1, -1):
        share = flow[rest[b]] / below[b]
        for m in range(b):
            flow[rest[m]] += dense[b, m] * share
    for b in range(len(rest)):
        total = flow[rest[b]]
        for m in range(b):
            total += dense[m, b] * flow[rest[m]]
        flow[rest[b]] = total / below[b]
    for t in range(len(order) - 1, -1, -1):
        k = order[t]
        total = flow[k]
        for e in range(left[t], left[t + 1]):
            total += weight[e] * flow[state[e]]
        flow[k] = total / leaving[k]
