"""Compiled runs of searches that do not learn, event by event, and of agents that explore.

`walk_block` plays any finite chain: in a state the number of steps until it is left is geometric,
and where the walk goes then is drawn from the moves that leave it. Rejected moves cost nothing.

`explore_block` plays an epsilon-greedy agent in plain float64: its chosen entry need not be the
row's maximum, so only rejected moves of a single greedy action are skipped, as long as it stays so.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from math import floor, log, log1p

import numpy as np

from markov_lrsao.compiled import compiled
from simulate.kernels.philox import WORDS, start, unit
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
    """Play runs; facts[run] = (status, steps, restarts, state where it is stuck or -1, events)."""
    stream = np.zeros(WORDS, dtype=np.uint64)
    for i in range(len(facts)):
        start(stream, key0, key1, np.uint64(first + i), np.uint64(0))
        t, anew, restarts = 0, 0, 0
        state = begin[_first_at_least(began, 0, len(began), unit(stream) * began[-1])]
        status, where, events = DONE, -1, 0
        while not ends[state]:
            if asked(flag):
                return
            events += 1
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
        facts[i, 4] = events


@compiled(forceinline=True, allocates=False)
def _greedy(q, row, actions, tied):
    """Fill which entries are the largest; return their number, one of them and the next value."""
    best, count, one = q[row, 0], 1, 0
    for a in range(1, actions):
        if q[row, a] > best:
            best, count, one = q[row, a], 1, a
        elif q[row, a] == best:
            count += 1
    second = -np.inf
    for a in range(actions):
        tied[a] = q[row, a] == best
        if not tied[a]:
            second = max(second, q[row, a])
    return count, one, second


@compiled(forceinline=True, allocates=False)
def _lasting(value, second, shrink):
    """Return for how many rejected steps a single greedy entry is certainly chosen.

    Each multiplies the entry by `shrink`; a positive one may fall to the second largest.
    """
    if value <= 0.0 or second <= 0.0 or shrink >= 1.0:
        return _LONG
    if shrink <= 0.0:
        return 1.0
    return max(1.0, floor(log(second / value) / log(shrink)) - 1.0)


@compiled(forceinline=True, allocates=False)
def _weigh(indptr, after, chances, gains, p, epsilon, tied, count, skipped, cumulated):
    """Cumulate what may happen at p; return its sum, and the probability of idle steps.

    Idle steps, those of the action `skipped` that neither move nor are rewarded, weigh nothing.
    """
    actions = len(tied)
    total, idle, begin = 0.0, 0.0, indptr[p, 0]
    for a in range(actions):
        share = epsilon / actions + (1.0 - epsilon) * tied[a] / count
        for e in range(indptr[p, a], indptr[p, a + 1]):
            chance = share * chances[e]
            if a == skipped and after[e] == p and gains[e] == 0.0:
                idle += chance
                chance = 0.0
            total += chance
            cumulated[e - begin] = total
    return total, idle


@compiled(forceinline=True, allocates=False)
def _idle_steps(stream, total, idle):
    """Return the number of idle steps before another kind of step, at most 2^50."""
    if total <= 0.0:
        return _LONG
    return floor(log(unit(stream)) / log(idle)) if idle > 0.0 else 0.0


@compiled(forceinline=True, allocates=False)
def _largest(q, row, actions):
    """Return the largest entry of a row."""
    largest = q[row, 0]
    for a in range(1, actions):
        largest = max(largest, q[row, a])
    return largest


@compiled(nogil=True)
def explore_block(
    rows, indptr, after, chances, gains, keep, boot, epsilon, ends, over, places, began, key0,
    key1, first, limit, restart, hits, facts, flag,
):  # fmt: skip
    """Play runs of an epsilon-greedy agent; `ends` are the milestones, `over` where runs end.

    Entries indptr[p, a] .. of `after`, `chances` and `gains` are what action a can do at p. Steps
    in which a single greedy action changes nothing but its entry, which shrinks, are not made one
    by one: their number is geometric and drawn at once. Then one of the other steps is made.
    """
    stream = np.zeros(WORDS, dtype=np.uint64)
    actions = indptr.shape[1] - 1
    q = np.zeros((rows.max() + 1, actions))
    tied = np.zeros(actions, dtype=np.bool_)
    cumulated = np.zeros(np.max(indptr[:, -1] - indptr[:, 0]))
    shrink, shrinks = keep + boot, 0.0 <= keep + boot <= 1.0
    for i in range(len(facts)):
        start(stream, key0, key1, np.uint64(first + i), np.uint64(0))
        q[:] = 0.0
        p = places[_first_at_least(began, 0, len(began), unit(stream) * began[-1])]
        t, anew, restarts, phase = 0, 0, 0, 0
        status, where, events = DONE, -1, 0
        while not over[p]:
            if asked(flag):
                return
            events += 1
            if t >= limit:
                status, t = CENSORED, limit
                break
            if restart > 0 and t - anew >= restart:
                q[:] = 0.0
                p = places[_first_at_least(began, 0, len(began), unit(stream) * began[-1])]
                anew, phase = t, 0
                restarts += 1
                hits[i, :] = -1
                continue
            row = rows[p]
            count, one, second = _greedy(q, row, actions, tied)
            skipped = one if count == 1 and shrinks else -1
            total, idle = _weigh(
                indptr, after, chances, gains, p, epsilon, tied, count, skipped, cumulated
            )
            if total <= 0.0 and restart == 0:
                status, where, t = STUCK, p, limit
                break
            most = float(limit - t if restart == 0 else min(limit, anew + restart) - t)
            before = _idle_steps(stream, total, idle)
            idled = min(before, most, _lasting(q[row, one], second, shrink))
            if idled > 0.0:
                q[row, one] *= shrink**idled
                t += int(idled)
            if idled < before or idled >= most:
                continue
            begin, size = indptr[p, 0], indptr[p, actions] - indptr[p, 0]
            e = begin + _first_at_least(cumulated, 0, size, unit(stream) * total)
            a, to = np.searchsorted(indptr[p], e, side="right") - 1, after[e]
            learnt = gains[e] + boot * _largest(q, rows[to], actions)
            q[row, a] = keep * q[row, a] + learnt
            p, t = to, t + 1
            while phase < len(ends) and p >= ends[phase]:
                hits[i, phase] = t
                phase += 1
        if status == DONE:
            hits[i, len(ends) - 1] = t
        facts[i, 0], facts[i, 1], facts[i, 2], facts[i, 3] = status, t, restarts, where
        facts[i, 4] = events
