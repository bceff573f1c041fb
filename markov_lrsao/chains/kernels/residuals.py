"""Compiled checks of float solutions: rigorous residuals, and counts of roundings.

Numbers are rounded to nearest, u = 2^-53. A sum of d terms, each with at most a few roundings
behind it, errs by at most (d + few) u times the sum of the terms' sizes; products that underflow
err by 2^-1075 each. Both are added to every bound here, with room to spare.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["consistent", "count", "weighted_residual"]

_UNIT = 2.0**-53
_SLACK = 1.01  # pays for the roundings of the bounds themselves
_TINY = 2.0**-1074


@compiled(allocates=False)
def weighted_residual(pointer, columns, values, leak, degree, right, x, barrier):  # type: ignore[no-untyped-def]
    """Return k with |x - x*| <= k w in every state, or -1 - i for a state i that forbids it.

    Here x* = right + P x* for the transitions P = (pointer, columns, values), a loop of each row
    being what its transitions, `leak` included, lack to 1; w is the `barrier`. All data are
    floats with at most degree + 2 roundings behind them. With r = right + P x - x and
    s = w - P w, which has to be positive, k = max |r_i| / s_i: k w - (x - x*) and k w + (x - x*)
    are superharmonic, and not negative where the states are left.
    """
    worst = 0.0
    for i in range(len(leak)):
        here, level = x[i], barrier[i]
        if not (level > 0.0 and level < np.inf):
            return -1.0 - i
        off = right[i] - leak[i] * here
        size = abs(right[i]) + leak[i] * abs(here)
        rise = leak[i] * level
        height = rise
        for e in range(pointer[i], pointer[i + 1]):
            j = columns[e]
            term = values[e] * (x[j] - here)
            off += term
            size += abs(term)
            term = values[e] * (level - barrier[j])
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


@compiled(allocates=False)
def count(indptr, indices, inside, label, members, start, own, brought, rounds):  # type: ignore[no-untyped-def]
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
                if label[indices[e]] != c:
                    most = max(most, rounds[indices[e]])
            if alone:
                most += 2.0 * (indptr[i + 1] - indptr[i]) + 5.0
        if not alone:
            most += own[c]
        for k in range(start[c], start[c + 1]):
            rounds[members[k]] = most


@compiled(allocates=False)
def consistent(indptr, indices, weights, totals, inside, constant, values, rounds):  # type: ignore[no-untyped-def]
    """Return an inside state whose equation fails by more than `rounds` explains, or -1.

    If every value is within its roundings of the truth, then t c + sum w (v_j - v_i) is at most
    their relative size times t c + sum w (v_j + v_i).
    """
    for i in range(len(inside)):
        if not inside[i]:
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
