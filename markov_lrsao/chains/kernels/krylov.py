"""Compiled Krylov iteration on the jump chain of one component, and its matrix by columns.

The system is scaled by the weights with which states are left: x = b + Q x with Q the jump chain.
The iteration is van der Vorst's BiCGSTAB. It proves nothing about its result, and breaks down on
some chains: the caller checks what it returns.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["bicgstab", "jumps", "transposed"]


_LOOSE = {"reassoc", "contract"}  # the order of sums is free: the result is checked anyway


@compiled()
def jumps(pointer, weights, leaving):  # type: ignore[no-untyped-def]
    """Return the transitions of the jump chain."""
    share = np.empty(len(weights))
    for i in range(len(leaving)):
        for e in range(pointer[i], pointer[i + 1]):
            share[e] = weights[e] / leaving[i]
    return share


@compiled(forceinline=True, allocates=False, fastmath=_LOOSE)
def _sweep(pointer, columns, share, x, source, y, shadow):  # type: ignore[no-untyped-def]
    """Set y = Q source from the last state on; return the products of x - y: shadow's, its own.

    Where `source` is x this is Q x. Where it is y, and y is a copy of x, states take what was found
    for those behind them: x - y is then (1 - U)^-1 (1 - Q) x, with U the transitions that lead on.
    """
    along, size = 0.0, 0.0
    for i in range(len(x) - 1, -1, -1):
        total = 0.0
        for e in range(pointer[i], pointer[i + 1]):
            total += share[e] * source[columns[e]]
        y[i] = total
        left = x[i] - total
        along += shadow[i] * left
        size += left * left
    return along, size


@compiled(fastmath=_LOOSE)
def bicgstab(pointer, columns, share, right, x, tolerance, steps, ahead):  # type: ignore[no-untyped-def]
    """Move x, which is 0, towards x - Q x = right; return whether it came near.

    Near is the relative `tolerance` of the residual. Gives up after `steps` steps, or when the
    iteration breaks down. `ahead` says whether the equations are multiplied by (1 - U)^-1 (Gauss
    and Seidel's preconditioner): a sweep takes about a quarter longer, and on the random graphs
    that were measured half as many are needed.
    """
    s = len(x)
    r = right.copy()
    first, rho = 0.0, 0.0
    for i in range(s - 1, -1, -1):
        first += right[i] * right[i]
        if ahead:
            for e in range(pointer[i], pointer[i + 1]):
                if columns[e] > i:
                    r[i] += share[e] * r[columns[e]]
        rho += r[i] * r[i]
    if first == 0.0:
        return True
    shadow = r.copy()
    p = r.copy()
    v = r.copy()  # p after a sweep; likewise t after one of r
    t = np.empty(s)
    for _ in range(steps):
        below, _size = _sweep(pointer, columns, share, p, v if ahead else p, v, shadow)
        if below == 0.0 or not np.isfinite(below):
            break
        alpha = rho / below
        for i in range(s):
            r[i] -= alpha * (p[i] - v[i])
            t[i] = r[i]
        along, size = _sweep(pointer, columns, share, r, t if ahead else r, t, r)
        omega = along / size if size > 0.0 else 0.0
        now, following = 0.0, 0.0
        for i in range(s):
            x[i] += alpha * p[i] + omega * r[i]
            r[i] -= omega * (r[i] - t[i])
            now += r[i] * r[i]
            following += shadow[i] * r[i]
        if now <= tolerance * tolerance * first:
            return True
        if omega == 0.0 or not np.isfinite(now):
            break
        beta = following / rho * (alpha / omega)
        rho = following
        if rho == 0.0 or not np.isfinite(beta):
            break
        for i in range(s):
            p[i] = r[i] + beta * (p[i] - omega * (p[i] - v[i]))
            v[i] = p[i]
    return False


@compiled()
def transposed(pointer, columns, weights, leaving):  # type: ignore[no-untyped-def]
    """Return the transpose of leaving - weights by columns, sorted: (data, rows, pointers)."""
    s = len(leaving)
    data = np.empty(len(columns) + s)
    rows = np.empty(len(columns) + s, np.int32)
    begin = np.zeros(s + 1, np.int32)
    used = 0
    for i in range(s):
        placed = False
        for e in range(pointer[i], pointer[i + 1]):
            if not placed and columns[e] > i:
                data[used] = leaving[i]
                rows[used] = i
                used += 1
                placed = True
            data[used] = -weights[e]
            rows[used] = columns[e]
            used += 1
        if not placed:
            data[used] = leaving[i]
            rows[used] = i
            used += 1
        begin[i + 1] = used
    return data, rows, begin
