"""Which numbers of bits can be the best at a position: floats with bounds of their errors.

For |x| = x and k flipped bits the terms C(x, i) C(n-x, k-i) are followed outwards from the largest,
which is set to 1: their sum stands for probability one. A term that is m steps away has at most
4m roundings; sums of L terms add L more. What is cut off beyond a term is a geometric series, since
the terms are log-concave. So every number below is between two floats that are computed with it.

Hoeffding (1963): drawing without replacement, P(|y - E y| >= d) <= 2 exp(-d^2 / (2 k)). A k is left
out where this alone makes it worse than one that is known.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from math import exp, sqrt

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["MOST", "by_drift", "by_time"]

MOST = 8
"""So many rivals are listed."""
_UNIT = 2.0**-53
_CUT = 1e-24
_FAR = 1 << 40
_HUGE = 1e300


@compiled(forceinline=True, allocates=False)
def _scan(n, x, k, worth, low, high):
    """Return sums of terms: all, better, these times low, high, worth; the rest; their count."""
    first, last = max(0, k + x - n), min(x, k)
    begin = min(max(int((x + 1.0) * (k + 1.0) / (n + 2.0)), first), last)
    total, share, lower, upper, gain, rest, terms = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for side in range(2):
        term, i = 1.0, begin
        while True:
            if side == 0 or i < begin:
                terms += 1
                total += term
                y = x + k - 2 * i
                if worth[y] > 0.0:
                    share += term
                    lower += term * low[y]
                    upper += term * high[y]
                    gain += term * worth[y]
            if i == (last if side == 0 else first):
                break
            if side == 0:
                ratio = (float(x - i) * (k - i)) / ((i + 1.0) * (n - x - k + i + 1))
                i += 1
            else:
                ratio = (float(i) * (n - x - k + i)) / ((x - i + 1.0) * (k - i + 1))
                i -= 1
            term *= ratio
            if term < _CUT and ratio < 0.99:
                rest += 1.01 * term / (1.0 - ratio)
                break
    return total, share, lower, upper, gain, rest, terms


@compiled(allocates=False)
def _look(n, x, values, low, worth, above, below, least):
    """Fill what is better than x, the nearest better positions, and prefix minima of times."""
    nearest = _FAR
    for y in range(n, -1, -1):
        worth[y] = values[y] - values[x]
        if worth[y] > 0.0:
            nearest = y
        above[y] = nearest
    nearest, smallest = -_FAR, _HUGE
    for y in range(n + 1):
        if worth[y] > 0.0:
            nearest, smallest = y, min(smallest, low[y])
        below[y] = nearest
        least[y] = smallest


@compiled(forceinline=True, allocates=False)
def _gap(mean, above, below, n):
    """Return a lower bound of the distance from the mean of |y| to a better position."""
    at = int(mean)
    return max(0.0, min(above[min(at + 1, n)] - mean, mean - below[at]) - 1e-6 * (1.0 + mean))


@compiled(forceinline=True, allocates=False)
def _hopeless(n, k, mean, above, below, least, known):
    """Whether k bits certainly take longer than what is known."""
    rare = _gap(mean, above, below, n) ** 2 / (2.0 * k)
    if rare > 1.0 and 0.499 * exp(min(rare, 600.0)) > known:
        return True
    # Beyond `reached` lies a probability of at most e^-40: the time is at least
    # (1 + (share - e^-40) least) / share >= least + 1 - e^-40 least.
    reached = min(n, int(mean + sqrt(80.0 * k)) + 2)
    smallest = least[reached]
    return smallest < 1e15 and (smallest + 1.0 - 5e-18 * smallest) * (1.0 - 1e-9) > known


@compiled()
def by_time(n, order, values, sizes, rivals, counts):
    """List for every position the sizes that may minimise the expected time.

    Positions come from the best downwards; rivals[x] has indices into `sizes`, counts[x] their
    number (more than MOST are not listed).
    """
    m = len(sizes)
    low, high, worth, least = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    above, below = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    lowest = np.empty(m)
    largest, guess = 0.0, 0
    for place in range(1, n + 1):
        x = order[place]
        _look(n, x, values, low, worth, above, below, least)
        known, best = _HUGE, guess
        lowest[:] = _HUGE
        for step in range(-1, m):
            j = best if step == -1 else step
            k = sizes[j]
            mean = x + k * (1.0 - 2.0 * x / n)
            if step >= 0 and (j == best or _hopeless(n, k, mean, above, below, least, known)):
                continue
            total, share, lower, upper, _, rest, terms = _scan(n, x, k, worth, low, high)
            error = (6 * terms + 20) * _UNIT
            if share + rest > 0.0:
                lowest[j] = (total + lower) * (1.0 - 2.0 * error) / (share + rest)
            if share > 0.0:
                most = (total + rest + upper + rest * largest) * (1.0 + 3.0 * error) / share
                if most < known:
                    known, guess = most, j
        count = 0
        low[x], high[x] = _HUGE, known
        for j in range(m):
            if lowest[j] <= known:
                if count < MOST:
                    rivals[x, count] = j
                count += 1
            low[x] = min(low[x], lowest[j])
        counts[x] = count
        largest = max(largest, known)


@compiled()
def by_drift(n, order, values, sizes, rivals, counts):
    """List for every position the sizes that may maximise the expected gain of the target."""
    m = len(sizes)
    none, worth, least = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    above, below = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    highest = np.empty(m)
    guess = 0
    for place in range(1, n + 1):
        x = order[place]
        _look(n, x, values, none, worth, above, below, least)
        most = worth.max()
        known, best = 0.0, guess
        highest[:] = -1.0
        for step in range(-1, m):
            j = best if step == -1 else step
            k = sizes[j]
            if step >= 0:
                gap = _gap(x + k * (1.0 - 2.0 * x / n), above, below, n)
                rare = 2.002 * exp(-gap * gap / (2.0 * k))
                if j == best or rare * most < known:
                    continue
            total, _, _, _, gain, rest, terms = _scan(n, x, k, worth, none, none)
            error = (6 * terms + 20) * _UNIT
            highest[j] = (gain + rest * most) * (1.0 + 3.0 * error) / total
            sure = gain * (1.0 - 3.0 * error) / (total + rest)
            if sure > known:
                known, guess = sure, j
        count = 0
        for j in range(m):
            if highest[j] >= known and highest[j] > 0.0:
                if count < MOST:
                    rivals[x, count] = j
                count += 1
        counts[x] = count
