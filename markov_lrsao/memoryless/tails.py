"""P(T <= t) for all t up to a horizon, in floats with a bound of their error.

The law of (position, mode) is multiplied by the transition matrix again and again. All numbers are
non-negative, and at most w entries lead to one state, each rounded once: one step moves a
probability by a factor of at most (1 + u)^(w + 3), u = 2^-53, besides what is cut off of the law.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.fields import Balls
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.memoryless.best import with_best
from markov_lrsao.model.search_law import SearchLaw

__all__ = ["Forwards", "cumulated"]

FloatArray = npt.NDArray[np.float64]
_BITS = 128
_UNIT = 2.0**-53
_FEW_STEPS = 1 << 13
"""So many are made sooner than the compiler is loaded."""
_LONGEST_STRETCH = 1 << 18


def cumulated(
    law: SearchLaw, start: Mapping[int, fmpq], target: frozenset[int], horizon: int
) -> tuple[FloatArray, float]:
    """Return P(T <= t) for t = 0 .. horizon, and a bound of the error of each."""
    return Forwards.of(law, start, target).until(horizon)


@dataclass(frozen=True, eq=False)
class Forwards:
    """A law that is carried forwards.

    Attributes
    ----------
    matrix : the transposed transition matrix; what has ended stays
    begin : the law at the start
    ended : the states in which a run has ended
    missing : a bound of what the matrix leaves out in one step
    """

    matrix: Any
    begin: FloatArray
    ended: npt.NDArray[np.bool_]
    missing: float = 0.0

    @classmethod
    def of(cls, law: SearchLaw, start: Mapping[int, fmpq], target: frozenset[int]) -> Forwards:
        """Return the chain of a search on (position, mode)."""
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
        begin = np.zeros(size)
        for x, p in start.items():
            for g, v in law.search.start:
                begin[x * modes + g] += to_float(p * v)
        ended = np.repeat(np.isin(np.arange(law.n + 1), sorted(target)), modes)
        matrix = csr_array((weights, (columns, rows)), shape=(size, size))
        return cls(matrix, begin, ended, to_float(missing))

    def stretches(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield P(ended) and P(under way) after 0, 1, 2, .. steps, in growing stretches."""
        now, made, length = self.begin.copy(), 0, 256
        while True:
            reached, going = np.empty(length), np.empty(length)
            if made + length <= _FEW_STEPS:
                for t in range(length):
                    reached[t], going[t] = now[self.ended].sum(), now[~self.ended].sum()
                    now = self.matrix @ now
            else:
                from markov_lrsao.memoryless.kernels.powers import carry

                matrix = self.matrix
                carry(
                    *(matrix.indptr, matrix.indices, matrix.data, self.ended),
                    *(now, np.empty_like(now), reached, going),
                )
            yield np.minimum(reached, 1.0), going
            made += length
            length = min(2 * length, _LONGEST_STRETCH)

    def until(self, horizon: int) -> tuple[FloatArray, float]:
        """Return P(T <= t) for t = 0 .. horizon, and a bound of the error of each."""
        found: list[FloatArray] = []
        for reached, _ in self.stretches():
            found.append(reached)
            if sum(map(len, found)) > horizon:
                break
        return np.concatenate(found)[: horizon + 1], self.error(horizon)

    @cached_property
    def _widest(self) -> int:
        return int(np.diff(self.matrix.indptr).max())

    def error(self, horizon: int) -> float:
        """Return a bound of the error of every P(T <= t), t <= horizon."""
        roundings = (horizon + 1) * (self._widest + 3) + len(self.begin)
        return 1.01 * roundings * _UNIT + (horizon + 1) * self.missing
