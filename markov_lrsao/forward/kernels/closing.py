"""Tables of all times in a finite number of members: each grows until no step leads out of it."""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

import numpy as np

from markov_lrsao.compiled import compiled
from markov_lrsao.forward.kernels.cloud import OPEN, UNKNOWN, _copy, _mixed

__all__ = ["FULL", "contained", "join"]

FULL = -1
_PATIENT, _IMPATIENT = 12, 60
"""So often a member grows before its ends go to a grid, and before they go to a coarse one."""
_FINE, _COARSE = 16.0, 2.0
_NONE = np.uint64(0)


@compiled(forceinline=True, allocates=False)
def _beyond(q, side, cells, unit):
    """Return a value on a grid that is at least as far on one side (1: above, -1: below)."""
    t = math.log2(1.0 + abs(q) / unit) * cells
    away = (q > 0.0) == (side > 0)
    number = math.ceil(t) if away else math.floor(t)
    value = unit * (2.0 ** (number / cells) - 1.0)
    found = value if q > 0.0 else -value
    return max(found, q) if side > 0 else min(found, q)


@compiled(forceinline=True, allocates=False)
def _grid(grown):
    """Return how fine the grid is after a member has grown so often; 0: none."""
    if grown < _PATIENT:
        return 0.0
    return _FINE if grown < _IMPATIENT else _COARSE


@compiled(forceinline=True, allocates=False)
def _grow(tables, s, members, t, ends, unit, cells):
    """Make a member hold a table; return whether it had to grow."""
    _, _, low, high, name, order, _ = tables
    _, _, to_low, to_high, to_name, to_order, _ = members
    least, most = ends
    grew = False
    for i in range(low.shape[1]):
        if low[s, i] < to_low[t, i]:
            q = low[s, i] if cells == 0.0 else _beyond(low[s, i], -1, cells, unit)
            to_low[t, i] = min(max(q, least[i]), low[s, i])
            grew = True
        if high[s, i] > to_high[t, i]:
            q = high[s, i] if cells == 0.0 else _beyond(high[s, i], 1, cells, unit)
            to_high[t, i] = max(min(q, most[i]), high[s, i])
            grew = True
        if to_name[t, i] != UNKNOWN and to_name[t, i] != name[s, i]:
            to_name[t, i] = UNKNOWN
            grew = True
    for k in range(order.shape[1]):
        if to_order[t, k] != OPEN and to_order[t, k] != order[s, k]:
            to_order[t, k] = OPEN
            grew = True
    return grew


@compiled(allocates=False)
def join(tables, followed, actions, unit, ends, hashes, members, count, growth, target):
    """Put every table into a member, which grows to hold it; return their number, or FULL.

    A member is known by its position, its phase and the order of the rows that are followed. It is
    the hull of its tables; which of them share one costs width, not truth.

    Parameters
    ----------
    followed : rows whose order tells members apart
    ends : that no entry ever leaves
    hashes : keys, a power of two, and the member of each
    growth : of every member whether it is to be expanded again, and how often it has grown
    target : written: table -> member
    """
    position, phase, low, high, name, order, _ = tables
    keys, member_of = hashes
    waiting, grown = growth
    pairs = actions * (actions - 1) // 2
    mask = np.int64(len(keys) - 1)
    for s in range(len(position)):
        key = _mixed(np.uint64(position[s]), np.uint64(phase[s]))
        for row in followed:
            for k in range(row * pairs, (row + 1) * pairs):
                key = _mixed(key, np.uint64(order[s, k] + 1))
        key |= np.uint64(1)
        j = np.int64(key >> np.uint64(1)) & mask
        while keys[j] != _NONE and (
            keys[j] != key
            or members[0][member_of[j]] != position[s]
            or members[1][member_of[j]] != phase[s]
        ):
            j = (j + 1) & mask
        t = member_of[j]
        if keys[j] == _NONE:
            if count == len(members[0]):
                return FULL
            t = count
            keys[j], member_of[j] = key, t
            members[0][t], members[1][t] = position[s], phase[s]
            _copy(low, high, name, order, s, members[2], members[3], members[4], members[5], t)
            waiting[t], grown[t] = True, 0
            count += 1
        elif _grow(tables, s, members, t, ends, unit, _grid(grown[t])):
            waiting[t] = True
            grown[t] += 1
        target[s] = t
    return count


@compiled(allocates=False)
def contained(tables, members, target):
    """Whether every table lies in the member that it is said to lie in."""
    position, phase, low, high, name, order, _ = tables
    for s in range(len(position)):
        t = target[s]
        if position[s] != members[0][t] or phase[s] != members[1][t]:
            return False
        for i in range(low.shape[1]):
            if low[s, i] < members[2][t, i] or high[s, i] > members[3][t, i]:
                return False
            if members[4][t, i] != UNKNOWN and members[4][t, i] != name[s, i]:
                return False
        for k in range(order.shape[1]):
            if members[5][t, k] != OPEN and members[5][t, k] != order[s, k]:
                return False
    return True
