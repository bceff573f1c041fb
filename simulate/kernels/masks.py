"""Sets of actions as bits of an integer."""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled

__all__ = ["nth", "size_of"]


@compiled(forceinline=True, allocates=False)
def size_of(mask):
    """Return the number of set bits."""
    size = 1
    mask &= mask - 1
    while mask:
        size += 1
        mask &= mask - 1
    return size


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
