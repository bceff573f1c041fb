"""Compiled updates of the Q-table in the true semantics; see `play` for the whole."""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import (
    ERROR,
    FIELDS,
    FIRST_NAME,
    NONE,
    SCALE,
    TAG,
    UNIT,
    combine,
    order,
    row_max,
)
from simulate.kernels.names import name
from simulate.kernels.tops import FRESH, changed, unpack, write_zeros

__all__ = ["learn", "share_tag"]


@compiled(forceinline=True, allocates=False)
def learn(numbers, q, tops, names, actions, row, target, mask, a, g):
    """Apply one proposal's update in the true semantics; `a` is one of the largest entries.

    Parameters
    ----------
    row, target : the row that the choice was made in, and the one where the move led
    mask : the largest entries of the row, certainly

    Where the tags of all ingredients are known, the result's tag and nearest float are looked up.
    """
    first, beyond = FIELDS * actions * row, FIELDS * actions * target
    write_zeros(q, tops, row, actions)
    i = first + FIELDS * a
    v, e, s, t = q[i], q[i + ERROR], q[i + SCALE], q[i + TAG]
    m = t
    mv, me, ms = 0.0, 0.0, 0.0
    if target != row:
        m = 0.0
        if tops[target] != FRESH:
            of, best, certain = unpack(tops[target], actions)
            mv, me, ms, m = row_max(q, beyond, actions, of, best, certain)
    x, y = -1, -1
    if NONE < t < FIRST_NAME and NONE < m < FIRST_NAME:
        x, y = numbers.core[int(t) - numbers.lowest], numbers.core[int(m) - numbers.lowest]
    if x >= 0 and y >= 0:
        nt = float(numbers.successor[x, g, y])
        nv, ns = numbers.tag_value[int(nt) - numbers.lowest], 0.0
        ne = abs(nv) * UNIT
    else:
        nt = name(names, t, g, m)
        if target == row:
            nv, ne, ns = combine(numbers.lam, v, e, s, numbers.gains[g], 0.0, 0.0, 0.0, 0.0)
        else:
            nv, ne, ns = combine(numbers.keep, v, e, s, numbers.gains[g], numbers.boot, mv, me, ms)
    q[i], q[i + ERROR], q[i + SCALE], q[i + TAG] = nv, ne, ns, nt
    tops[row] = changed(q, first, actions, mask, a, order(nv, ne, ns, nt, v, e, s, t))


@compiled(allocates=False)
def share_tag(q, row, actions, mask):
    """Entries that were decided to be equal get the tag that one of them has."""
    for a in range(actions):
        if mask >> a & 1 and q[row + FIELDS * a + TAG] > NONE:
            for b in range(actions):
                if mask >> b & 1:
                    for k in range(FIELDS):
                        q[row + FIELDS * b + k] = q[row + FIELDS * a + k]
