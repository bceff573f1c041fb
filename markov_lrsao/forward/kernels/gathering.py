"""Tables of a layer that become one: those that are alike, the less they matter the more of them.

Any tables at the same position and in the same phase may be joined: what is kept of them is true of
each. So keys that collide cost width, not truth.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

import numpy as np

from markov_lrsao.compiled import compiled
from markov_lrsao.forward.kernels.cloud import OPEN, UNKNOWN, _copy, _mixed

__all__ = ["contexts", "gather"]

_NONE = np.uint64(0)


@compiled(forceinline=True, allocates=False)
def _measured(low, high, s, i, unit, scales, place):
    """Return an entry's middle as it is measured: in its scale, or in octaves where none is given.

    Octaves say how far beyond `unit` from 0 it is, with its sign.
    """
    q = 0.5 * (low[s, i] + high[s, i])
    if len(scales) > 0:
        return q * scales[place, i]
    return math.copysign(math.log2(1.0 + abs(q) / unit), q) if q != 0.0 else 0.0


@compiled(forceinline=True, allocates=False)
def _cell(octaves, cells):
    """Return the number of a measured value's cell, so many to an octave or step."""
    if octaves == 0.0:
        return np.uint64(0)
    number = np.int64(math.floor(cells * abs(octaves)))
    return np.uint64(2 * number + (1 if octaves > 0.0 else 2))


@compiled(forceinline=True, allocates=False)
def _finer(h, level, octaves, order, s, t, actions):
    """Return a key that tells more apart: a row's order, or the cells of its entries.

    The measured entries of table s stand in line t.
    """
    row = np.int64(level[0])
    pairs = actions * (actions - 1) // 2
    if level[1] == 0.0:
        for k in range(row * pairs, (row + 1) * pairs):
            h = _mixed(h, np.uint64(order[s, k] + 1))
    else:
        for i in range(row * actions, (row + 1) * actions):
            h = _mixed(h, _cell(octaves[t, i], level[1]))
    return h


@compiled(forceinline=True, allocates=False)
def _slot(keys, key):
    """Return where a key stands in a table of keys, or may be put: a power of two has room."""
    mask = np.int64(len(keys) - 1)
    j = np.int64(key) & mask
    while keys[j] != _NONE and keys[j] != key:
        j = (j + 1) & mask
    return j


@compiled(forceinline=True, allocates=False)
def _met(position, phase, order, s, row_of, actions):
    """Return a key of a table's position, phase and order of the row met."""
    pairs = actions * (actions - 1) // 2
    h = _mixed(np.uint64(position[s]), np.uint64(phase[s]))
    row = row_of[position[s]]
    for k in range(row * pairs, (row + 1) * pairs):
        h = _mixed(h, np.uint64(order[s, k] + 1))
    return h


@compiled(allocates=False)
def contexts(tables, row_of, actions, levels, unit, scales, depth, size, line, found):
    """Write for every table a number below `size`: what its first levels tell apart, hashed.

    Others may have the same one. It says where experience with like tables is kept.

    Parameters
    ----------
    scales : [place, entry] how entries are measured; empty: in octaves beyond `unit`
    line : room for the measured entries of one table
    """
    position, phase, low, high, _, order, _ = tables
    phases = len(levels) // len(row_of)
    for s in range(len(position)):
        h = _met(position, phase, order, s, row_of, actions)
        place = position[s] * phases + phase[s]
        for i in range(low.shape[1]):
            line[0, i] = _measured(low, high, s, i, unit, scales, place)
        for g in range(depth):
            h = _finer(h, levels[place, g], line, order, s, 0, actions)
        found[s] = h % np.uint64(size)


@compiled(allocates=False)
def gather(tables, weight, row_of, actions, levels, unit, scales, small, always, scratch, target):
    """Join tables that are alike, the less they weigh the more of them; return how many are left.

    Tables at the same position, in the same phase and with the same order of the row met are told
    apart level by level, as long as together they weigh at least `small`. The first of those that
    become one has the hull of them all, and of their orders what they agree in. A table that is
    alone with its key is told apart from all others: further levels need not look at it.

    Parameters
    ----------
    weight : how much it matters that a table is told apart
    levels : [place, level], a place being a position and a phase: (row, 0) tells orders of the row
        apart, (row, c) values, with c cells to an octave, or to a step
    unit, scales : as for `contexts`
    always : so many levels are told apart whatever they weigh: without them the worst may happen
        for good
    scratch : keys of tables; tables that are still told apart, and their slots; keys, masses and
        numbers of tables (later their first ones) of a hash table; octaves of entries
    target : written: table -> number of the one that it has become
    """
    position, phase, low, high, _, order, _ = tables
    own, active, slots, keys, masses, first, octaves = scratch
    count = len(position)
    phases = len(levels) // len(row_of)
    for s in range(count):
        place = position[s] * phases + phase[s]
        for i in range(low.shape[1]):
            octaves[s, i] = _measured(low, high, s, i, unit, scales, place)
        own[s] = _met(position, phase, order, s, row_of, actions) | np.uint64(1)
        active[s] = s
    remaining = count
    for g in range(-1, levels.shape[1]):
        if g >= 0:
            for x in range(remaining):
                s = active[x]
                place = position[s] * phases + phase[s]
                own[s] = _finer(
                    own[s], levels[place, g], octaves, order, s, s, actions
                ) | np.uint64(1)
        for x in range(remaining):
            j = _slot(keys, own[active[x]])
            if keys[j] == _NONE:
                keys[j] = own[active[x]]
                first[j] = 0
            masses[j] += weight[active[x]]
            first[j] += 1
            slots[x] = j
        still = 0
        for x in range(remaining):
            s = active[x]
            if first[slots[x]] > 1 and (masses[slots[x]] >= small or g < always - 1):
                active[still] = s
                still += 1
            else:
                own[s] = _mixed(own[s], np.uint64(g + 2)) | np.uint64(1)
        for x in range(remaining):
            keys[slots[x]] = _NONE
            masses[slots[x]] = 0.0
        remaining = still
        if remaining == 0:
            break
    return _joined(tables, own, keys, first, slots, target)


@compiled(allocates=False)
def _joined(tables, own, keys, first, slots, target):
    """Join all tables with the same key, position and phase at the front; return their number."""
    position, phase, low, high, name, order, mass = tables
    left = 0
    for s in range(len(position)):
        key = own[s]
        j = _slot(keys, key)
        while keys[j] != _NONE and (
            position[first[j]] != position[s] or phase[first[j]] != phase[s]
        ):
            key += np.uint64(2)
            j = _slot(keys, key)
        if keys[j] == _NONE:
            keys[j] = key
            first[j] = left
            slots[left] = j
            target[s] = left
            position[left], phase[left], mass[left] = position[s], phase[s], mass[s]
            if left != s:
                _copy(low, high, name, order, s, low, high, name, order, left)
            left += 1
            continue
        t = first[j]
        target[s] = t
        mass[t] += mass[s]
        for i in range(low.shape[1]):
            low[t, i] = min(low[t, i], low[s, i])
            high[t, i] = max(high[t, i], high[s, i])
            if name[t, i] != name[s, i]:
                name[t, i] = UNKNOWN
        for k in range(order.shape[1]):
            if order[t, k] != order[s, k]:
                order[t, k] = OPEN
    for x in range(left):
        keys[slots[x]] = _NONE
    return left
