"""Compiled loops of p-adic lifting: sparse triangular factors modulo a prime below 2^31.

Rows are in an order in which no row needs to be exchanged; the patterns of both factors are
given. Nothing is checked here: the caller compares the lifted solution with its equations.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["factor", "lift"]


@compiled(allocates=False)
def _inverse(a, p):  # type: ignore[no-untyped-def]
    """Return 1/a modulo p, 0 for 0."""
    old, new = a, p
    before, now = np.int64(1), np.int64(0)
    while new:
        q = old // new
        old, new = new, old - q * new
        before, now = now, before - q * now
    return before % p if old == 1 else np.int64(0)


@compiled()
def factor(pointer, columns, values, lower, low_columns, upper, up_columns, p):  # type: ignore[no-untyped-def]
    """Return (ok, factors below the diagonal, above it, inverses of the diagonal) of a matrix.

    `lower` and `upper` point into the columns of each row below and above the diagonal, sorted.
    """
    s = len(pointer) - 1
    low = np.zeros(len(low_columns), np.int64)
    up = np.zeros(len(up_columns), np.int64)
    inverse = np.zeros(s, np.int64)
    work = np.zeros(s, np.int64)
    for i in range(s):
        for e in range(pointer[i], pointer[i + 1]):
            work[columns[e]] = values[e] % p
        for e in range(lower[i], lower[i + 1]):
            k = low_columns[e]
            share = work[k] * inverse[k] % p
            work[k] = 0
            low[e] = share
            if share:
                for f in range(upper[k], upper[k + 1]):
                    j = up_columns[f]
                    work[j] = (work[j] + (p - share) * up[f]) % p
        inverse[i] = _inverse(work[i], p)
        if inverse[i] == 0:
            return False, low, up, inverse
        work[i] = 0
        for e in range(upper[i], upper[i + 1]):
            up[e] = work[up_columns[e]]
            work[up_columns[e]] = 0
    return True, low, up, inverse


@compiled()
def lift(matrix, shape, numbers, p, rest, fed, steps):  # type: ignore[no-untyped-def]
    """Return `steps` digits of A^-1 b to the base p, where b = rest + p (digits `fed`).

    matrix = (pointer, columns, values); shape = (lower, low_columns, upper, up_columns);
    numbers = what `factor` returned. The digits y are those of A y = rest modulo p, and rest
    becomes (rest - A y) / p and the next digit of b, in integers below the row sums of A and p.
    """
    pointer, columns, values = matrix
    lower, low_columns, upper, up_columns = shape
    low, up, inverse = numbers
    s = len(rest)
    digits = np.empty((steps, s), np.int64)
    square = np.uint64(p) * np.uint64(p) * np.uint64(2)
    for t in range(steps):
        y = digits[t]
        for i in range(s):
            total = np.uint64(0)
            for e in range(lower[i], lower[i + 1]):
                total += np.uint64(low[e]) * np.uint64(y[low_columns[e]])
                if total >= square:
                    total -= square
            y[i] = (rest[i] - np.int64(total % np.uint64(p))) % p
        for i in range(s - 1, -1, -1):
            total = np.uint64(0)
            for e in range(upper[i], upper[i + 1]):
                total += np.uint64(up[e]) * np.uint64(y[up_columns[e]])
                if total >= square:
                    total -= square
            y[i] = (y[i] - np.int64(total % np.uint64(p))) % p * inverse[i] % p
        for i in range(s):
            left = rest[i]
            for e in range(pointer[i], pointer[i + 1]):
                left -= values[e] * y[columns[e]]
            rest[i] = left // p
            if t < len(fed):
                rest[i] += fed[t, i]
    return digits
