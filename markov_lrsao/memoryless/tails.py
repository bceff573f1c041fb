"""P(T <= t) for all t up to a horizon, in floats with a bound of their error.

The law of (position, mode) is multiplied by the transition matrix again and again. All numbers are
non-negative, and at most w entries lead to one state, each rounded once: one step moves a
probability by a factor of at most (1 + u)^(w + 3), u = 2^-53, besides what is cut off of the law.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.fields import Balls
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.memoryless.best import with_best
from markov_lrsao.model.search_law import SearchLaw

__all__ = ["cumulated"]

_BITS = 128
_UNIT = 2.0**-53


def cumulated(
    law: SearchLaw, start: Mapping[int, fmpq], target: frozenset[int], horizon: int
) -> tuple[npt.NDArray[np.float64], float]:
    """Return P(T <= t) for t = 0 .. horizon, and a bound of the error of each."""
    from scipy.sparse import csr_array

    law = with_best(law)
    modes, field = law.modes, Balls(_BITS)
    size = (law.n + 1) * modes
    rows: list[int] = []
    columns: list[int] = []
    weights: list[float] = []
    missing = fmpq(0)
    with field.working():
        for x in range(law.n + 1):
            for g in range(modes):
                state = x * modes + g
                if x in target:
                    rows.append(state)
                    columns.append(state)
                    weights.append(1.0)
                    continue
                for to, y, w in law.transitions(g, x, field):
                    rows.append(state)
                    columns.append(y * modes + to)
                    weights.append(max(0.0, float(w.mid())))
                missing = max(missing, law.row(g, x, field).missing)
    forwards = csr_array((weights, (columns, rows)), shape=(size, size))
    widest = int(np.bincount(columns, minlength=1).max())
    now = np.zeros(size)
    for x, p in start.items():
        for g, v in law.search.start:
            now[x * modes + g] += to_float(p * v)
    ended = np.repeat(np.isin(np.arange(law.n + 1), sorted(target)), modes)
    found = np.empty(horizon + 1)
    for t in range(horizon + 1):
        found[t] = min(1.0, now[ended].sum())
        now = forwards @ now
    roundings = (horizon + 1) * (widest + 3) + size
    error = 1.01 * roundings * _UNIT + (horizon + 1) * to_float(missing)
    return found, error
