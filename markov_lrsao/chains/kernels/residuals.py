"""Compiled checks of float solutions: rigorous residuals, and counts of roundings.

Numbers are rounded to nearest, u = 2^-53. A sum of d terms, each with at most a few roundings
behind it, errs by at most (d + few) u times the sum of the terms' sizes; products that underflow
err by 2^-1075 each. Both are added to every bound here, with room to spare.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["close_residual", "consistent", "count", "weighted_residual"]

_UNIT = 2.0**-53
_SLACK = 1.01  # pays for the roundings of the bounds themselves
_TINY = 2.0**-1074


@compiled(allocates=False)
def weighted_residual(pointer, columns, weights, leak, totals, degree, right, x, barrier, same):  # type: ignore[no-untyped-def]
    """Return k with |x - x*| <= k w in every state, or -1 - i for a state i that forbids it.

    Here t right + W x* = l x*, with t the totals, W the weights and l what leaves a state, `leak`
    included: x* = right + P x* with loops that fill up every row. All data are floats with at
    most degree + 2 roundings behind them. With r = t right + sum W_ij (x_j - x_i) - leak x and
    s the same for -w, without a right side, which has to be positive, k = max |r_i| / s_i:
    k w - (x - x*) and k w + (x - x*) are superharmonic, and not negative where the states are left.
    `same` says that the barrier is x itself, whose differences are then read once.
    """
    worst = 0.0
    for i in range(len(leak)):
        here, level = x[i], barrier[i]
        if not (level > 0.0 and level < np.inf):
            return -1.0 - i
        asked = totals[i] * right[i]
        off = asked - leak[i] * here
        size = abs(asked) + leak[i] * abs(here)
        rise = leak[i] * level
        height = rise
        for e in range(pointer[i], pointer[i + 1]):
            j = columns[e]
            term = weights[e] * (x[j] - here)
            off += term
            size += abs(term)
            term = -term if same else weights[e] * (level - barrier[j])
            rise += term
            height += abs(term)
        unsure = (2 * degree[i] + 8) * _UNIT * _SLACK
        padding = (degree[i] + 8) * _TINY
        least = rise - (unsure * height + padding)
        most = abs(off) + (unsure * size + padding)
        if not (least > 0.0 and most < np.inf):
            return -1.0 - i
        worst = max(worst, most / least)
    return worst * _SLACK + _TINY


@compiled(forceinline=True, allocates=False)
def _sum(a, b):  # type: ignore[no-untyped-def]
    """Return the rounded sum of two floats, and its error exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@compiled(forceinline=True, allocates=False)
def _product(a, b):  # type: ignore[no-untyped-def]
    """Return the rounded product of two floats, and its error exactly (Dekker, Veltkamp)."""
    total = a * b
    split = 134217729.0 * a
    a_high = split - (split - a)
    a_low = a - a_high
    split = 134217729.0 * b
    b_high = split - (split - b)
    b_low = b - b_high
    return total, ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low


@compiled(allocates=False)
def close_residual(  # type: ignore[no-untyped-def]
    pointer, columns, weights, leak, totals, data, right, x, low, barrier, residual
):
    """Return k as `weighted_residual` does, for x + low instead of x, and fill r itself.

    Sums are carried in two floats: `off`, of which nothing is lost, and `lost`, which is added up
    in single floats. With m terms of size S in all, and L for those with `low`, the parts of `lost`
    are at most (m + 3) u S + L, in at most 6 m additions and products; hence r errs by less than
    6 m u ((m + 3) u S + L), and by its own rounding. `data` are the roundings behind weights, leak
    and totals, 0 where they are exact; the right side is taken as it is.
    """
    worst = 0.0
    for i in range(len(leak)):
        here, rest, level = x[i], low[i], barrier[i]
        if not (level > 0.0 and level < np.inf):
            return -1.0 - i
        off, lost = _product(totals[i], right[i])
        size = abs(off)
        term, error = _product(-leak[i], here)
        off, more = _sum(off, term)
        lost += more + (error - leak[i] * rest)
        size += abs(term)
        small = leak[i] * abs(rest)
        rise = leak[i] * level
        height = rise
        for e in range(pointer[i], pointer[i + 1]):
            j = columns[e]
            apart, further = _sum(x[j], -here)
            further += low[j] - rest
            term, error = _product(weights[e], apart)
            off, more = _sum(off, term)
            lost += more + (error + weights[e] * further)
            size += abs(term)
            small += weights[e] * (abs(low[j]) + abs(rest))
            term = weights[e] * (level - barrier[j])
            rise += term
            height += abs(term)
        count = pointer[i + 1] - pointer[i] + 3.0
        residual[i] = off + lost
        unsure = 6.0 * count * _UNIT * ((count + 3.0) * _UNIT * size + small)
        unsure += data[i] * _UNIT * (size + small)
        padding = 8.0 * (count + 8.0) * _TINY * (1.0 + totals[i])
        most = abs(residual[i]) * (1.0 + 4 * _UNIT) + _SLACK * (unsure + padding)
        least = rise - ((2 * count + 8 + data[i]) * _UNIT * _SLACK * height + padding)
        if not (least > 0.0 and most < np.inf):
            return -1.0 - i
        worst = max(worst, most / least)
    return worst * _SLACK + _TINY


@compiled(allocates=False)
def count(indptr, indices, inside, members, start, own, brought, rounds):  # type: ignore[no-untyped-def]
    """Fill `rounds` inside: roundings behind each value, components successors first.

    `own` is what solving a component of several states adds, `brought` the roundings behind the
    constants; outside, `rounds` is given. A state by itself, v = (c + sum p v) / sum p with d
    transitions, adds d + 2 for the numerator, d for the denominator, 1 for the quotient and 2
    for weights that are rounded themselves.
    """
    for c in range(len(start) - 1):
        if not inside[members[start[c]]]:
            continue
        most = brought
        alone = start[c + 1] - start[c] == 1
        for k in range(start[c], start[c + 1]):
            i = members[k]
            for e in range(indptr[i], indptr[i + 1]):
                # a state of this component still has what is behind its constant: `brought` or less
                most = max(most, rounds[indices[e]])
            if alone:
                most += 2.0 * (indptr[i + 1] - indptr[i]) + 5.0
        if not alone:
            most += own[c]
        for k in range(start[c], start[c + 1]):
            rounds[members[k]] = most


@compiled(allocates=False)
def consistent(indptr, indices, weights, totals, label, asked, constant, values, rounds):  # type: ignore[no-untyped-def]
    """Return a state whose equation fails by more than `rounds` explains, or -1.

    If every value is within its roundings of the truth, then t c + sum w (v_j - v_i) is at most
    their relative size times t c + sum w (v_j + v_i). `asked` says of which components.
    """
    for i in range(len(label)):
        if not asked[label[i]]:
            continue
        off = totals[i] * constant[i]
        size = off
        most = rounds[i]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j != i:
                off += weights[e] * (values[j] - values[i])
                size += weights[e] * (values[j] + values[i])
                most = max(most, rounds[j])
        degree = indptr[i + 1] - indptr[i]
        allowed = _SLACK * _UNIT * (most + 2 * degree + 8) * size + (degree + 8) * _TINY
        if not abs(off) <= allowed:
            return i
    return -1
