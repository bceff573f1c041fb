"""Names for numbers with short histories, given while a run is played.

An entry that was never decayed is made of a few updates  keep x + gain + boot y.  The same update
of the same numbers gives the same number, so such entries are *named* by (name of x, gain, name of
y): equal names are equal numbers, and ties between entries with alike histories are certain
without exact arithmetic. The tags of `encoding` are names that are known before a run; the others
are places of a hash table, empty at the beginning of every run (a run must not depend on
those before it). Unlike tags they are not ordered, and different names may be equal numbers.

A table is one array: how many places are taken, which, and the keys of all.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import FIRST_NAME, NONE

__all__ = ["LENGTH", "forget", "name"]

_PLACES = 1024
_MOST = 512
_TRIES = 4
_KEYS = 1 + _MOST
LENGTH = _KEYS + _PLACES
_GAINS = 1 << 19
_OFFSET, _BITS = 1 << 20, 22  # names lie between -2^20 and 2^20 + _PLACES
_MIX = 0x9E3779B97F4A7C1


@compiled(forceinline=True, allocates=False)
def forget(names):
    """Empty the table."""
    for k in range(names[0]):
        names[_KEYS + names[1 + k]] = 0
    names[0] = 0


@compiled(forceinline=True, allocates=False)
def name(names, x, gain, y):
    """Return the name of keep x + gain + boot y, or NONE where there is no room for it."""
    found = NONE
    if x > NONE and y > NONE and gain < _GAINS:
        key = ((int(x) + _OFFSET) << _BITS | (int(y) + _OFFSET)) * _GAINS + gain + 1
        place = (key * _MIX >> 40) & (_PLACES - 1)
        for _ in range(_TRIES):
            held = names[_KEYS + place]
            if held == 0 and names[0] < _MOST:
                names[_KEYS + place] = held = key
                names[1 + names[0]] = place
                names[0] += 1
            if held == key:
                found = FIRST_NAME + place
                break
            place = (place + 1) & (_PLACES - 1)
    return found
