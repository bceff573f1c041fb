"""Compiled runs of searches that do not learn, event by event, and of agents that explore.

`walk_block` plays any finite chain: in a state the number of steps until it is left is geometric,
and where the walk goes then is drawn from the moves that leave it. Rejected moves cost nothing.

`explore_block` plays an epsilon-greedy agent step by step in plain float64: its chosen entry need
not be the row's maximum, so no rejections can be skipped.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from math import log, log1p

import numpy as np

from markov_lrsao.compiled import compiled
from simulate.kernels.philox import WORDS, below, start, unit
from simulate.kernels.stop import asked

__all__ = ["CENSORED", "DONE", "STUCK", "explore_block", "walk_block"]

DONE, CENSORED, STUCK = 0, 1, 2
_LONG = 2.0**50


@compiled(forceinline=True, allocates=False)
def _first_at_least(cumulated, low, high, value):
    """Return the first index in low .. high - 1 whose cumulated weight is at least `value`."""
    last = high - 1
    while low < last:
        middle = (low + last) // 2
        if cumulated[middle] >= value:
            last = middle
        else:
            low = middle + 1
    return low


@compiled(forceinline=True, allocates=False)
def _waiting(stream, leave):
    """Return the number of steps until a state is left, at most 2^50."""
    if leave >= 1.0:
        return 1
    steps = log(unit(stream)) / log1p(-leave)
    return int(_LONG) if steps >= _LONG else int(steps) + 1


@compiled(nogil=True)
def walk_block(
    indptr, targets, cumulated, ends, begin, began, key0, key1, first, limit, restart, facts, flag
):
    """Play runs; facts[run] = (status, steps, restarts, state in which it is stuck or -1)."""
    stream = np.zeros(WORDS, dtype=np.uint64)
    for i in range(len(facts)):
        start(stream, key0, key1, np.uint64(first + i), np.uint64(0))
        t, anew, restarts = 0, 0, 0
        state = begin[_first_at_least(began, 0, len(began), unit(stream) * began[-1])]
        status, where = DONE, -1
        while not ends[state]:
            if asked(flag):
                return
            low, high = indptr[state], indptr[state + 1]
            if low == high and restart == 0:
                status, where, t = STUCK, state, limit
                break
            wait = _waiting(stream, cumulated[high - 1]) if low < high else int(_LONG)
            if restart > 0 and t - anew + wait > restart and anew + restart < limit:
                t = anew = anew + restart
                restarts += 1
                state = begin[_first_at_least(began, 0, len(began), unit(stream) * began[-1])]
                continue
            t += wait
            if t > limit:
                status, t = CENSORED, limit
                break
            drawn = unit(stream) * cumulated[high - 1]
            state = targets[_first_at_least(cumulated, low, high, drawn)]
        facts[i, 0], facts[i, 1], facts[i, 2], facts[i, 3] = status, t, restarts, where


@compiled(forceinline=True, allocates=False)
def _chosen(q, row, actions, epsilon, stream):
    """Return the action: any with probability epsilon, else a largest entry, ties uniformly."""
    if unit(stream) <= epsilon:
        return np.int64(below(stream, np.uint64(actions)))
    best, ties = q[row, 0], 1
    for a in range(1, actions):
        if q[row, a] > best:
            best, ties = q[row, a], 1
        elif q[row, a] == best:
            ties += 1
    rank = np.int64(below(stream, np.uint64(ties)))
    for a in range(actions):
        if q[row, a] == best:
            if rank == 0:
                return np.int64(a)
            rank -= 1
    return np.int64(0)


@compiled(nogil=True)
def explore_block(
    rows, accepted, gains, keep, boot, epsilon, ends, key0, key1, first, limit, restart,
    hits, facts, flag,
):  # fmt: skip
    """Play runs of an epsilon-greedy agent; `ends` are the milestones, the optimum last."""
    stream = np.zeros(WORDS, dtype=np.uint64)
    n, actions = len(rows) - 1, accepted.shape[1]
    q = np.zeros((rows.max() + 1, actions))
    for i in range(len(facts)):
        start(stream, key0, key1, np.uint64(first + i), np.uint64(0))
        q[:] = 0.0
        p, t, anew, restarts, phase = 0, 0, 0, 0, 0
        status = DONE
        while phase < len(ends):
            if asked(flag):
                return
            if t >= limit:
                status = CENSORED
                break
            if restart > 0 and t - anew >= restart:
                q[:] = 0.0
                p, anew, phase = 0, t, 0
                restarts += 1
                hits[i, :] = -1
            row = rows[p]
            a = _chosen(q, row, actions, epsilon, stream)
            up = 0 if np.int64(below(stream, np.uint64(n))) < p else 1
            to = p + 2 * up - 1 if accepted[p, a, up] else p
            largest = q[rows[to], 0]
            for b in range(1, actions):
                largest = max(largest, q[rows[to], b])
            q[row, a] = keep * q[row, a] + gains[p, a, up] + boot * largest
            p = to
            t += 1
            while phase < len(ends) and p >= ends[phase]:
                hits[i, phase] = t
                phase += 1
        facts[i, 0], facts[i, 1], facts[i, 2], facts[i, 3] = status, t, restarts, -1
