"""The largest entries of a row, kept as one integer per row and renewed when the row changes.

A choice needs only the set of largest entries, and a move changes one entry of one row, so the
set is worked out once per change: from how the chosen entry moved, if that says it, else by
comparing. FRESH rows have not been written since the run began: all entries are exactly 0, and
what the table of entries holds there is left from an earlier run.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import EQUAL, FIELDS, GREATER, LESS, argmax

__all__ = ["FRESH", "MOST_ACTIONS", "changed", "pack", "unpack", "write_zeros"]

FRESH = 0
MOST_ACTIONS = 40
_BEST, _CERTAIN = 40, 48
_MASK = (1 << _BEST) - 1


@compiled(forceinline=True, allocates=False)
def pack(mask, best, certain):
    """Return the integer that stands for (mask, one of its entries, whether it is certain)."""
    return mask | best << _BEST | int(certain) << _CERTAIN


@compiled(forceinline=True, allocates=False)
def unpack(top, actions):
    """Return (mask, one of its entries, whether it is certain)."""
    if top == FRESH:
        return (1 << actions) - 1, 0, True
    return top & _MASK, top >> _BEST & 255, top >> _CERTAIN != 0


@compiled(forceinline=True, allocates=False)
def write_zeros(q, tops, row, actions):
    """Make the entries of a fresh row what they stand for, before one of them is written."""
    if tops[row] == FRESH:
        first = FIELDS * actions * row
        for i in range(FIELDS * actions):
            q[first + i] = 0.0


@compiled(forceinline=True, allocates=False)
def changed(q, first, actions, mask, a, order):
    """Return the largest entries, packed, after entry `a`, one of the largest, has changed.

    Parameters
    ----------
    first : where the row begins in the table
    mask : the largest entries before, certainly
    order : how the entry compares with what it was
    """
    others = mask & ~(1 << a)
    if order == GREATER or (order == EQUAL and others == 0):
        top = pack(1 << a, a, True)
    elif order == EQUAL:
        top = pack(mask, a, True)
    elif order == LESS and others != 0:
        best = 0
        while not others >> best & 1:
            best += 1
        top = pack(others, best, True)
    else:
        found, best, certain = argmax(q, first, actions)
        top = pack(found, best, certain)
    return top
