"""Compiled elimination without subtractions, in floats whose exponents have no end.

A non-negative number is value * 2^(512 scale) with 2^-256 <= value < 2^256, or 0. Powers of two
are exact, so a product, quotient or sum has one rounding, as of floats; a summand that is below
2^-512 of the other is left out, which is far less than a rounding.

Leaving i with the weights p(i, j), j != i, eliminating a state s adds p(i, s) p(s, j) / leave(s) to
p(i, j), and leave(s) is the sum of the p(s, j) that are left (Grassmann, Taksar and Heyman 1985).
Sums are made of parts of `PART` terms: a term passes through PART + terms / PART additions.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled

__all__ = ["PART", "eliminate", "substitute"]

PART = 64
_UP, _DOWN = 2.0**512, 2.0**-512
_SMALL, _LARGE = 2.0**-256, 2.0**256


@compiled(forceinline=True, allocates=False)
def _normal(v, s):
    if v >= _LARGE:
        v, s = v * _DOWN, s + 1
    elif 0.0 < v < _SMALL:
        v, s = v * _UP, s - 1
    return v, s


@compiled(forceinline=True, allocates=False)
def _plus(v, s, w, t):
    if w == 0.0 or (v != 0.0 and s > t + 1):
        return v, s
    if v == 0.0 or t > s + 1:
        return w, t
    if s == t:
        return _normal(v + w, s)
    if s > t:
        return _normal(v + w * _DOWN, s)
    return _normal(w + v * _DOWN, t)


@compiled(forceinline=True, allocates=False)
def _leave(values, scales, s):
    """Return the sum of row s behind its diagonal, part by part."""
    last = values.shape[1]
    v, t = 0.0, 0
    j = s + 1
    while j < last:
        pv, pt = 0.0, 0
        end = min(j + PART, last)
        while j < end:
            pv, pt = _plus(pv, pt, values[s, j], scales[s, j])
            j += 1
        v, t = _plus(v, t, pv, pt)
    return v, t


@compiled(nogil=True, allocates=False)
def eliminate(values, scales, leave, leave_scales):
    """Eliminate the states from the first to the last, in place; the last column is the target.

    Below the diagonal stands afterwards what a state hands on, p(i, s) / leave(s); above it the
    weights of s when it was eliminated. Returns whether every state can be left.
    """
    states = values.shape[0]
    for s in range(states):
        v, t = _leave(values, scales, s)
        if v == 0.0:
            return False
        leave[s], leave_scales[s] = v, t
        for i in range(s + 1, states):
            if values[i, s] == 0.0:
                continue
            f, g = _normal(values[i, s] / v, scales[i, s] - t)
            values[i, s], scales[i, s] = f, g
            for j in range(s + 1, states + 1):
                if j != i and values[s, j] != 0.0:
                    w, k = _normal(f * values[s, j], g + scales[s, j])
                    values[i, j], scales[i, j] = _plus(values[i, j], scales[i, j], w, k)
    return True


@compiled(nogil=True, allocates=False)
def substitute(values, scales, leave, leave_scales, right, right_scales):
    """Turn a right side into the solution, in place."""
    states = values.shape[0]
    for s in range(states):
        if right[s] != 0.0:
            for i in range(s + 1, states):
                if values[i, s] != 0.0:
                    w, k = _normal(values[i, s] * right[s], scales[i, s] + right_scales[s])
                    right[i], right_scales[i] = _plus(right[i], right_scales[i], w, k)
    for s in range(states - 1, -1, -1):
        v, t = right[s], right_scales[s]
        for j in range(s + 1, states):
            if values[s, j] != 0.0:
                w, k = _normal(values[s, j] * right[j], scales[s, j] + right_scales[j])
                v, t = _plus(v, t, w, k)
        right[s], right_scales[s] = _normal(v / leave[s], t - leave_scales[s])
