"""Q-entries that keep the true semantics: scaled floats with a rigorous error and a certificate.

An entry stands for a rational number x that is never stored. It carries

    value, error, scale    |x - value * 2^(512 scale)| <= error * 2^(512 scale),  scale <= 0
    tag                    the name of x, or NONE: entries of one name are equal. Tags below
                           FIRST_NAME are those of `encoding`, ordered like the rationals that
                           they name, and tag 0 is the number 0; for the others see `names`

so a decayed entry keeps its sign for ever: lam^k times it is a smaller scale, not 0. Entries with
scale < 0 have error < |value| < 2^256, hence a certain sign and |x| < 2^-250. Two entries are equal
only if their tags say so, and different only if their error bars, tags or signs say so; everything
else is *unknown* and left to exact arithmetic outside.

The table is one flat array, FIELDS numbers per entry in the order VALUE, ERROR, SCALE, TAG (scale
and tag are integers that floats hold exactly); an entry is addressed by the index of its first
number, a row by that of its first entry.

Rounding: u = 2^-53 bounds the relative error of one float operation and of every coefficient
(each is the float nearest to its rational, checked to lie in a range where nothing underflows).
The bounds below add these up with room to spare; `_FLOOR` covers what underflow can do.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = [
    "EQUAL",
    "ERROR",
    "FIELDS",
    "FIRST_NAME",
    "GREATER",
    "LESS",
    "NONE",
    "SCALE",
    "TAG",
    "UNKNOWN",
    "VALUE",
    "argmax",
    "combine",
    "compare",
    "decay",
    "order",
    "row_max",
    "safe_rejections",
]

FIELDS, VALUE, ERROR, SCALE, TAG = 4, 0, 1, 2, 3
NONE = -(2.0**40)
FIRST_NAME = 2.0**20
LESS, EQUAL, GREATER, UNKNOWN = -1, 0, 1, 2

UNIT = 2.0**-53
SLACK = 1.0 + 2.0**-45  # covers the rounding of the error bounds themselves
_FLOOR = 2.0**-1000
_BITS = 512
_UP, _DOWN = 2.0**512, 2.0**-512
_HALVES = 0.5 ** np.arange(_BITS + 1)  # powers of two are exact
_SMALL, _LARGE = 2.0**-256, 2.0**256
_TINY = 2.0**-250  # above |x| / 2^(512 s) of any entry x whose scale is below s


@compiled(forceinline=True, allocates=False)
def compare(q, i, j):
    """Compare the entries at i and j: LESS, EQUAL, GREATER, or UNKNOWN."""
    return order(
        q[i], q[i + ERROR], q[i + SCALE], q[i + TAG], q[j], q[j + ERROR], q[j + SCALE], q[j + TAG]
    )


@compiled(forceinline=True, allocates=False)
def order(vi, ei, si, ti, vj, ej, sj, tj):
    """Compare (value, error, scale, tag) with another."""
    if ti > NONE and tj > NONE:
        if ti == tj:
            return EQUAL
        if ti < FIRST_NAME and tj < FIRST_NAME:
            return GREATER if ti > tj else LESS
    if ti == 0.0 or tj == 0.0 or si == sj:
        difference, bound = vi - vj, (ei + ej) * SLACK
        if difference > bound:
            return GREATER
        if difference < -bound:
            return LESS
        return UNKNOWN
    if vi > ei and vj < -ej:
        return GREATER
    if vi < -ei and vj > ej:
        return LESS
    if si > sj:
        if vi - ei > _TINY:
            return GREATER
        if vi + ei < -_TINY:
            return LESS
    else:
        if vj - ej > _TINY:
            return LESS
        if vj + ej < -_TINY:
            return GREATER
    return UNKNOWN


@compiled(forceinline=True, allocates=False)
def argmax(q, row, actions):
    """Return (mask of the largest entries, one of them, whether the mask is certain).

    If it is not certain, the mask holds every entry that may be the largest.
    """
    # One exit only, here and below: arrays are reference-counted on paths that leave early.
    best, mask, certain = 0, 1, True
    for b in range(1, actions):
        found = compare(q, row + FIELDS * best, row + FIELDS * b)
        if found == EQUAL:
            mask |= 1 << b
        elif found == LESS:
            best, mask = b, 1 << b
        elif found == UNKNOWN:
            certain = False
    if not certain:
        mask, best, certain = _candidates(q, row, actions)
    return mask, best, certain


@compiled(allocates=False)
def _candidates(q, row, actions):
    """Return what `argmax` returns where some comparison is unknown."""
    mask, best = 0, -1
    all_equal = True
    for a in range(actions):
        beaten = False
        for b in range(actions):
            if b != a and compare(q, row + FIELDS * a, row + FIELDS * b) == LESS:
                beaten = True
        if not beaten:
            mask |= 1 << a
            best = a
    for a in range(actions):
        for b in range(a):
            if mask >> a & mask >> b & 1:
                found = compare(q, row + FIELDS * a, row + FIELDS * b)
                all_equal = all_equal and found == EQUAL
    return mask, best, all_equal


@compiled(forceinline=True, allocates=False)
def row_max(q, row, actions, mask, best, certain):
    """Return the largest entry of a row as (value, error, scale, tag), given its `argmax`.

    Which entry is the largest need not be known: the error covers all that may be.
    """
    i = row + FIELDS * best
    v, e, s, t = q[i], q[i + ERROR], q[i + SCALE], q[i + TAG]
    if not certain:
        v, e, s = _hull(q, row, actions, mask)
        t = NONE
    return v, e, s, t


@compiled(allocates=False)
def _hull(q, row, actions, mask):
    """Enclose the largest of several entries, at the largest of their scales."""
    s = -math.inf
    for b in range(actions):
        if mask >> b & 1:
            s = max(s, q[row + FIELDS * b + SCALE])
    low, high = -math.inf, -math.inf
    for b in range(actions):
        if mask >> b & 1:
            i = row + FIELDS * b
            if q[i + SCALE] == s:
                low = max(low, q[i] - q[i + ERROR])
                high = max(high, q[i] + q[i + ERROR])
            else:
                low, high = max(low, -_TINY), max(high, _TINY)
    middle = 0.5 * (low + high)
    wide = (0.5 * (high - low) + 4.0 * UNIT * (abs(low) + abs(high))) * SLACK + _FLOOR
    return _normal(middle, wide, s)


@compiled(forceinline=True, allocates=False)
def _normal(v, e, s):
    """Move an entry whose sign is certain to the scale where 2^-256 <= |v| < 2^256.

    An uncertain sign belongs to scale 0, where it is 0 up to the entry's size.
    """
    if e >= abs(v):
        if s == 0.0:
            return v, e, s
        return 0.0, _TINY, 0.0
    while abs(v) >= _LARGE and s < 0.0:
        v *= _DOWN
        e *= _DOWN
        s += 1.0
    while abs(v) < _SMALL:
        v *= _UP
        e *= _UP
        s -= 1.0
    return v, e, s


@compiled(forceinline=True, allocates=False)
def combine(keep, v, e, s, gain, boot, mv, me, ms):
    """Return keep * x + gain + boot * y, where x = (v, e, s) and y = (mv, me, ms)."""
    top = 0.0
    if gain == 0.0 and (s < 0.0 or ms < 0.0):
        if boot == 0.0 or (mv == 0.0 and me == 0.0):
            top = s
        elif v == 0.0 and e == 0.0:
            top = ms
        else:
            top = max(s, ms)
    if s < top:
        v, e = 0.0, _TINY if not (v == 0.0 and e == 0.0) else 0.0
    if ms < top:
        mv, me = 0.0, _TINY if not (mv == 0.0 and me == 0.0) else 0.0
    a, b = keep * v, boot * mv
    first = a + gain
    total = first + b
    size = abs(a) + abs(b) + abs(gain) + abs(first) + abs(total)
    error = (abs(keep) * e + abs(boot) * me + 3.0 * UNIT * size) * SLACK + _FLOOR
    return _normal(total, error, top)


@compiled(forceinline=True, allocates=False)
def decay(v, e, s, count, lam_mantissa, lam_exponent):
    """Return lam^count * x, digit by digit of count in base 64.

    lam^(j 64^d) = lam_mantissa[64 d + j] * 2^lam_exponent[64 d + j], with mantissas in [1/2, 1]
    and exponents <= 0. The product of the mantissas has a relative error of at most 2.1 u per
    factor.
    """
    factor, exponent, factors, digit = 1.0, 0, 0.0, 0
    while count > 0:
        j = digit + (count & 63)
        factor *= lam_mantissa[j]
        exponent += lam_exponent[j]
        factors += 1.0
        count >>= 6
        digit += 64
    v *= factor
    e = (e * factor + abs(v) * (2.2 * factors + 1.2) * UNIT) * SLACK
    if exponent > -_BITS:
        power = _HALVES[-exponent]
        return _normal(v * power, e * power + _FLOOR, s)
    if e >= abs(v):  # an uncertain sign stays at scale 0
        return 0.0, _TINY, 0.0
    steps = -exponent // _BITS
    power = _HALVES[-exponent - _BITS * steps]
    return _normal(v * power, e * power, s - steps)


@compiled(allocates=False)
def safe_rejections(q, row, actions, best, log_lam):
    """Return how often `best` may be rejected while it surely stays the only largest entry.

    At a negative or zero maximum, or above entries that are not positive, that is for ever
    (-1); above a positive entry it ends when the decaying maximum comes near it.
    """
    i = row + FIELDS * best
    v, e = q[i], q[i + ERROR]
    if v < -e or log_lam >= 0.0 or q[i + TAG] == 0.0:
        return -1
    if v <= e:
        return 1  # sign unknown
    limit = -1
    for b in range(actions):
        j = row + FIELDS * b
        high = q[j] + q[j + ERROR]
        if b == best or high <= 0.0:
            continue
        log_a = math.log(v - e) + q[i + SCALE] * (_BITS * 0.6931471805599453)
        log_b = math.log(high) + q[j + SCALE] * (_BITS * 0.6931471805599453)
        # Rounding moves a logarithm by far less than 1e-9 of its size; one more step is margin.
        room = 1e-9 * (abs(log_a) + abs(log_b) + 1.0)
        steps = math.floor((log_a - log_b - room) / -log_lam) - 1
        allowed = max(1, int(steps))
        if limit < 0 or allowed < limit:
            limit = allowed
    return limit
