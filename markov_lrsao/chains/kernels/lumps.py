"""Compiled loops that merge states with the same future; arrays in, arrays out.

Components come successors first. A component is written down as the rows of its states,
each row a list of (target, numerator) over one reduced denominator, where a target outside
is the *lump* of that state and a target inside is -1 minus its place in the component.
Two components with the same text are isomorphic over the same lumps, so their states have
equal futures and share lumps. Texts are compared entry by entry; hashes only find candidates.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["check", "merge"]

_PRIME, _FACTOR, _SPREAD = 2147483647, 1103515245, 1000003


@compiled(forceinline=True, allocates=False)
def _mix(h, x, y):  # type: ignore[no-untyped-def]
    """Return a hash below 2^31 of h, x and y; nothing overflows while |x|, |y| < 2^31."""
    return (h * _FACTOR + x * _SPREAD + y) % _PRIME


@compiled(forceinline=True, allocates=False)
def _gcd(a, b):  # type: ignore[no-untyped-def]
    while b:
        a, b = b, a % b
    return a


@compiled(allocates=False)
def _write(graph, i, c, anonymous, at, text, weight):  # type: ignore[no-untyped-def]
    """Write the row of state i from `at` on; return (end, reduced denominator).

    `graph` is (indptr, indices, numerators, denominators, component, place in it, lump).
    """
    indptr, indices, nums, dens, label, place, lump = graph
    end = at
    for e in range(indptr[i], indptr[i + 1]):
        j = indices[e]
        if label[j] == c:
            target = -1 if anonymous else -1 - place[j]
        else:
            target = lump[j]
        k = end
        while k > at and text[k - 1] > target:
            k -= 1
        if k > at and text[k - 1] == target:
            weight[k - 1] += nums[e]
            continue
        for m in range(end, k, -1):
            text[m] = text[m - 1]
            weight[m] = weight[m - 1]
        text[k] = target
        weight[k] = nums[e]
        end += 1
    g = dens[i]
    for k in range(at, end):
        g = _gcd(g, weight[k])
    for k in range(at, end):
        weight[k] //= g
    return end, dens[i] // g


@compiled(allocates=False)
def _arrange(graph, c, states, classes, at, text, weight, order, keys):  # type: ignore[no-untyped-def]
    """Bring the states of component c into a canonical order, where hashes of rows differ.

    Any order would be sound. The text from `at` on, `order` and `keys` are scratch.
    """
    for k in range(len(states)):
        end, below = _write(graph, states[k], c, True, at, text, weight)
        h = _mix(0, below, classes[states[k]])
        for e in range(at, end):
            h = _mix(h, text[e], weight[e])
        m = k
        while m > 0 and keys[m - 1] > h:
            keys[m] = keys[m - 1]
            order[m] = order[m - 1]
            m -= 1
        keys[m] = h
        order[m] = states[k]
    for k in range(len(states)):
        states[k] = order[k]


@compiled(forceinline=True, allocates=False)
def _same(f, g, s, pointer, target, numerator, denominator, lump_class):  # type: ignore[no-untyped-def]
    """Whether the components of s lumps that begin at f and at g have the same text."""
    shift = pointer[g] - pointer[f]
    same = pointer[f + s] - pointer[f] == pointer[g + s] - pointer[g]
    k = 0
    while same and k < s:
        same = (
            denominator[f + k] == denominator[g + k]
            and lump_class[f + k] == lump_class[g + k]
            and pointer[f + k + 1] + shift == pointer[g + k + 1]
        )
        k += 1
    e = pointer[f]
    while same and e < pointer[f + s]:
        same = target[e] == target[e + shift] and numerator[e] == numerator[e + shift]
        e += 1
    return same


@compiled()
def merge(  # type: ignore[no-untyped-def]
    indptr, indices, nums, dens, inside, label, members, start, classes, class_count, limit
):
    """Return (lump of each state, lumps, row pointers, targets, numerators, denominators,
    first lump of each lump's component, a representative state of each lump).

    States outside are merged by class. Components of more than `limit` states, and states of
    different classes, are never merged.
    """
    size = len(inside)
    edges = len(indices)
    lump = np.full(size, -1, np.int64)
    place = np.zeros(size, np.int64)
    pointer = np.zeros(size + 1, np.int64)
    target = np.empty(edges, np.int64)
    numerator = np.empty(edges, np.int64)
    denominator = np.empty(size, np.int64)
    first = np.empty(size, np.int64)
    representative = np.empty(size, np.int64)
    lump_class = np.empty(size, np.int64)
    width = np.zeros(size, np.int64)  # states of the component that begins at this lump
    code = np.zeros(size, np.int64)
    capacity = 16
    while capacity < 2 * size:
        capacity *= 2
    table = np.full(capacity, -1, np.int64)
    mask = capacity - 1
    outside_lump = np.full(class_count, -1, np.int64)
    graph = (indptr, indices, nums, dens, label, place, lump)
    order = np.empty(max(limit, 1), np.int64)
    keys = np.empty(max(limit, 1), np.int64)
    lumps = 0
    filled = 0
    for c in range(len(start) - 1):
        s = start[c + 1] - start[c]
        states = members[start[c] : start[c + 1]]
        i = states[0]
        if s == 1 and not inside[i]:
            o = classes[i]
            if outside_lump[o] < 0:
                outside_lump[o] = lumps
                target[filled] = -1
                numerator[filled] = 1
                filled += 1
                denominator[lumps] = 1
                first[lumps] = lumps
                representative[lumps] = i
                lump_class[lumps] = o
                lumps += 1
                pointer[lumps] = filled
            lump[i] = outside_lump[o]
            continue
        if 1 < s <= limit:
            _arrange(graph, c, states, classes, filled, target, numerator, order, keys)
        for k in range(s):
            place[states[k]] = k
        # Write the component tentatively behind the quotient; keep it if it is new.
        at = filled
        h = s
        for k in range(s):
            i = states[k]
            at, below = _write(graph, i, c, False, at, target, numerator)
            denominator[lumps + k] = below
            lump_class[lumps + k] = classes[i]
            pointer[lumps + k + 1] = at
            if s <= limit:
                h = _mix(h, below, classes[i])
                for e in range(pointer[lumps + k], at):
                    h = _mix(h, target[e], numerator[e])
        found = -1
        if s <= limit:
            slot = h & mask
            while table[slot] >= 0:
                f = table[slot]
                if (
                    code[f] == h
                    and width[f] == s
                    and _same(f, lumps, s, pointer, target, numerator, denominator, lump_class)
                ):
                    found = f
                    break
                slot = (slot + 1) & mask
            if found < 0:
                table[slot] = lumps
        if found >= 0:
            for k in range(s):
                lump[states[k]] = found + k
            continue
        width[lumps] = s
        code[lumps] = h
        for k in range(s):
            lump[states[k]] = lumps + k
            first[lumps + k] = lumps
            representative[lumps + k] = states[k]
        lumps += s
        filled = at
    return (
        lump,
        lumps,
        pointer[: lumps + 1],
        target[:filled],
        numerator[:filled],
        denominator[:lumps],
        first[:lumps],
        representative[:lumps],
    )


@compiled()
def check(indptr, indices, nums, dens, inside, lump, qptr, qidx, qnum, qden):  # type: ignore[no-untyped-def]
    """Return -1 if every inside state's row, summed by lump, equals its lump's row exactly.

    Otherwise return a state where it does not. Denominators must be below 2^31.
    """
    total = np.zeros(len(qptr) - 1, np.int64)
    for i in range(len(inside)):
        if not inside[i]:
            continue
        b = lump[i]
        for e in range(indptr[i], indptr[i + 1]):
            total[lump[indices[e]]] += nums[e]
        for e in range(qptr[b], qptr[b + 1]):
            if total[qidx[e]] * qden[b] != qnum[e] * dens[i]:
                return i
            total[qidx[e]] = 0
        for e in range(indptr[i], indptr[i + 1]):
            if total[lump[indices[e]]] != 0:
                return i
    return -1
