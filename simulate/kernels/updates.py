"""Compiled updates of the Q-table, in both arithmetics; see `play` for the whole.

Plain float64 uses the same layout as the scaled entries of `entries`, but only VALUE.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import ERROR, FIELDS, NONE, SCALE, TAG, UNIT, combine, row_max

__all__ = ["argmax_float", "learn", "learn_float", "nth", "reject_float", "share_tag"]

_LONGEST = 1 << 24


@compiled(forceinline=True, allocates=False)
def argmax_float(q, row, actions):
    """Return (mask of the largest entries, one of them)."""
    best, mask = 0, 1
    for a in range(1, actions):
        value, largest = q[row + FIELDS * a], q[row + FIELDS * best]
        if value > largest:
            best, mask = a, 1 << a
        elif value == largest:
            mask |= 1 << a
    return mask, best


@compiled(allocates=False)
def reject_float(q, row, actions, a, count, complement, rate, discount):
    """Reject `a` up to `count` times, while it is the only maximum; return how often.

    A very long decay is cut, so that kernels look at their flag in between.
    """
    value = q[row + FIELDS * a]
    second = -math.inf
    for b in range(actions):
        if b != a:
            second = max(second, q[row + FIELDS * b])
    for k in range(count):
        if value <= second or k == _LONGEST:
            q[row + FIELDS * a] = value
            return k
        shrunk = complement * value + rate * (0.0 + discount * value)
        if shrunk == value:
            break
        value = shrunk
    q[row + FIELDS * a] = value
    return count


@compiled(forceinline=True, allocates=False)
def learn(numbers, q, actions, row, target, mask, best, certain, a, g):
    """Apply one proposal's update in the true semantics; `a` is a largest entry of its row.

    (mask, best, certain) is the target row's argmax, if that is another row.

    Where the tags of all ingredients are known, the result's tag and nearest float are looked up.
    """
    i = row + FIELDS * a
    v, e, s, t = q[i], q[i + ERROR], q[i + SCALE], q[i + TAG]
    m = t
    mv, me, ms = 0.0, 0.0, 0.0
    if target != row:
        mv, me, ms, m = row_max(q, target, actions, mask, best, certain)
    x, y = -1, -1
    if t > NONE and m > NONE:
        x, y = numbers.core[int(t) - numbers.lowest], numbers.core[int(m) - numbers.lowest]
    if x >= 0 and y >= 0:
        t = float(numbers.successor[x, g, y])
        v, s = numbers.tag_value[int(t) - numbers.lowest], 0.0
        e = abs(v) * UNIT
    else:
        t = NONE
        if target == row:
            v, e, s = combine(numbers.lam, v, e, s, numbers.gains[g], 0.0, 0.0, 0.0, 0.0)
        else:
            v, e, s = combine(numbers.keep, v, e, s, numbers.gains[g], numbers.boot, mv, me, ms)
    q[i], q[i + ERROR], q[i + SCALE], q[i + TAG] = v, e, s, t


@compiled(forceinline=True, allocates=False)
def learn_float(numbers, q, actions, row, target, a, g):
    """Apply one proposal's update in plain float64."""
    _, best = argmax_float(q, target, actions)
    largest = q[target + FIELDS * best]
    i = row + FIELDS * a
    q[i] = numbers.complement * q[i] + numbers.learn * (
        numbers.rewards[g] + numbers.discount * largest
    )


@compiled(allocates=False)
def share_tag(q, row, actions, mask):
    """Entries that were decided to be equal get the tag that one of them has."""
    for a in range(actions):
        if mask >> a & 1 and q[row + FIELDS * a + TAG] > NONE:
            for b in range(actions):
                if mask >> b & 1:
                    for k in range(FIELDS):
                        q[row + FIELDS * b + k] = q[row + FIELDS * a + k]


@compiled(forceinline=True, allocates=False)
def nth(mask, index):
    """Return the position of the index-th set bit."""
    a = 0
    while True:
        if mask >> a & 1:
            if index == 0:
                return a
            index -= 1
        a += 1
