"""Compiled loops of the float solver; arrays in, arrays out, no validation.

Within a component of s states and half-bandwidth b, ``band[k, d]`` holds the probability of
going from the k-th to the (k + d - b)-th state. States are eliminated from the last to the
first; eliminating one adds to the transitions among those before it, inside the band.

`report` collects what the caller needs in order to judge underflow: whether a product of
transitions may have fallen below the normal floats, and the least probability of leaving a
state. A right-hand side that ends below SMALLEST although it is positive is returned as
-2 - state; see `_float`.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["NORMAL", "SMALLEST", "add", "backward", "forward"]

SMALLEST = 2.0**-1005  # a sum from here on is right, though some of its terms underflowed
NORMAL = 2.0**-1021  # products from here on have full precision


@compiled(forceinline=True, allocates=False)
def add(total, lost, term):  # type: ignore[no-untyped-def]
    """Return total + term and what rounding has lost so far: in the end their sum is right to 2u.

    Without it, the sum over a long row would be behind every number that elimination makes.
    """
    larger = total + term
    part = larger - total
    return larger, lost + ((total - (larger - part)) + (term - part))


@compiled(allocates=False)
def _load(indptr, indices, weights, totals, label, c, states, half, place, band, leak):  # type: ignore[no-untyped-def]
    """Fill band and leak (probability of leaving the component) of one component."""
    band[:] = 0.0
    leak[:] = 0.0
    for k in range(len(states)):
        place[states[k]] = k
    for k in range(len(states)):
        i = states[k]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j == i:
                continue
            if label[j] == c:
                band[k, place[j] - k + half] += weights[e] / totals[i]
            else:
                leak[k] += weights[e] / totals[i]


@compiled(forceinline=True, allocates=False)
def _note(band, leak, k, low, half, leaving, report):  # type: ignore[no-untyped-def]
    """Record how small the products of eliminating the k-th state can be."""
    report[1] = min(report[1], leaving)
    row = leak[k] if leak[k] > 0.0 else 1.0
    column = 1.0
    for m in range(low, k):
        if band[k, m - k + half] > 0.0:
            row = min(row, band[k, m - k + half])
        if band[m, k - m + half] > 0.0:
            column = min(column, band[m, k - m + half] / leaving)
    if row * column < NORMAL:
        report[0] = 1.0


@compiled(forceinline=True, allocates=False)
def _eliminate(band, leak, k, half, report):  # type: ignore[no-untyped-def]
    """Eliminate the k-th state; return the probability of leaving it for those before it.

    Where that is below SMALLEST nothing is done. The k-th row and column stay as they are.
    """
    low = max(0, k - half)
    leaving, lost = leak[k], 0.0
    for m in range(low, k):
        leaving, lost = add(leaving, lost, band[k, m - k + half])
    leaving += lost
    if leaving >= SMALLEST:
        _note(band, leak, k, low, half, leaving, report)
        for m in range(low, k):
            factor = band[m, k - m + half] / leaving
            if factor != 0.0:
                for t in range(low, k):
                    if t != m:
                        band[m, t - m + half] += factor * band[k, t - k + half]
                leak[m] += factor * leak[k]
    return leaving


@compiled(forceinline=True, allocates=False)
def _value(indptr, indices, weights, totals, constant, positive, values, report, i):  # type: ignore[no-untyped-def]
    """Solve for a state that is a component by itself; returns as `backward` does."""
    bad = -1
    right = constant[i] * totals[i]
    leaving = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        j = indices[e]
        if j != i:
            right += weights[e] * values[j]
            leaving += weights[e]
    if leaving < SMALLEST:
        bad = i
    else:
        report[1] = min(report[1], leaving / totals[i])
        values[i] = right / leaving
        if positive[i] and right < SMALLEST:
            # Dividing first may keep the terms in range.
            values[i] = constant[i] * (totals[i] / leaving)
            for e in range(indptr[i], indptr[i + 1]):
                if indices[e] != i:
                    values[i] += weights[e] / leaving * values[indices[e]]
            if values[i] < SMALLEST:
                bad = -2 - i
    return bad


@compiled(forceinline=True, allocates=False)
def _given(indptr, indices, weights, totals, label, c, states, constant, values, right_side):  # type: ignore[no-untyped-def]
    """Fill what the states of component c are given: constants, and values outside of it."""
    for k in range(len(states)):
        i = states[k]
        right_side[k] = constant[i]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if label[j] != c:
                right_side[k] += weights[e] / totals[i] * values[j]


@compiled()
def backward(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    weights,
    totals,
    inside,
    members,
    start,
    halves,
    label,
    constant,
    positive,
    values,
    report,
    begin,
    end,
):
    """Solve v = constant + P v in the components begin..end-1; return -1, a state whose
    probability of being left is 0 or below the floats, or -2 - i for a state i whose value,
    known to be positive, is below them.
    """
    place = np.empty(len(inside), dtype=np.int64)
    for c in range(begin, end):
        states = members[start[c] : start[c + 1]]
        i = states[0]
        if not inside[i]:
            continue
        if len(states) == 1:
            bad = _value(indptr, indices, weights, totals, constant, positive, values, report, i)
            if bad != -1:
                return bad
            continue
        half = halves[c]
        s = len(states)
        band = np.empty((s, 2 * half + 1))
        leak = np.empty(s)
        right_side = np.empty(s)
        leaving_of = np.empty(s)
        _load(indptr, indices, weights, totals, label, c, states, half, place, band, leak)
        _given(indptr, indices, weights, totals, label, c, states, constant, values, right_side)
        for k in range(s - 1, -1, -1):
            leaving = _eliminate(band, leak, k, half, report)
            if leaving < SMALLEST:
                return states[k]
            leaving_of[k] = leaving
            for m in range(max(0, k - half), k):
                factor = band[m, k - m + half] / leaving
                if factor != 0.0:
                    right_side[m] += factor * right_side[k]
        for k in range(s):
            total = right_side[k]
            for m in range(max(0, k - half), k):
                total += band[k, m - k + half] * values[states[m]]
            if positive[states[k]] and total < SMALLEST:
                return -2 - states[k]
            values[states[k]] = total / leaving_of[k]
    return -1


@compiled()
def forward(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    weights,
    totals,
    inside,
    members,
    start,
    halves,
    label,
    flow,
    report,
    begin,
    end,
):
    """Turn flow (the source) into x = source + x P in the components end-1..begin, and pass it
    on; return -1, or a state whose probability of being left is 0 or below the floats. A
    half-bandwidth of -1 says that the flow in a component is known already and is only passed
    on.
    """
    place = np.empty(len(inside), dtype=np.int64)
    for c in range(end - 1, begin - 1, -1):
        states = members[start[c] : start[c + 1]]
        i = states[0]
        if not inside[i]:
            continue
        s = len(states)
        if s == 1:
            leaving = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                if indices[e] != i:
                    leaving += weights[e]
            if leaving < SMALLEST:
                return i
            report[1] = min(report[1], leaving / totals[i])
            flow[i] = flow[i] * totals[i] / leaving
        elif halves[c] >= 0:
            half = halves[c]
            band = np.empty((s, 2 * half + 1))
            leak = np.empty(s)
            leaving_of = np.empty(s)
            _load(indptr, indices, weights, totals, label, c, states, half, place, band, leak)
            for k in range(s - 1, -1, -1):
                leaving = _eliminate(band, leak, k, half, report)
                if leaving < SMALLEST:
                    return states[k]
                leaving_of[k] = leaving
                share = flow[states[k]] / leaving
                for m in range(max(0, k - half), k):
                    flow[states[m]] += share * band[k, m - k + half]
            for k in range(s):
                total = flow[states[k]]
                for m in range(max(0, k - half), k):
                    # band[m, k] is as it was when k was eliminated: flow from m into k
                    total += flow[states[m]] * band[m, k - m + half]
                flow[states[k]] = total / leaving_of[k]
        for k in range(s):
            i = states[k]
            if flow[i] == 0.0:
                continue
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if inside[j] and label[j] != c:
                    flow[j] += flow[i] * weights[e] / totals[i]
    return -1
