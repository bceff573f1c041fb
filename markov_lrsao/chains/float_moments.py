r"""Moments of hitting times in floats, with a rigorous bound of their error.

Elimination without subtraction is accurate, but its error has no sharp bound in advance. A
bound afterwards is cheap. If S >= 1 + P S outside the target, then S bounds the expected
number of steps; and if v~ satisfies |c + P v~ - v~| <= k everywhere there, then
|v - v~| <= k S, because the difference d solves d = e + P d with |e| <= k. Both inequalities
are checked in floats with their own roundings added; S is the computed mean, slightly enlarged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.solvers import backward
from markov_lrsao.errors import SolverError
from markov_lrsao.exact.balls import Ball, Positive, checked
from markov_lrsao.progress import Progress, no_progress

__all__ = ["float_moments"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
_UNIT = 2.0**-53


def float_moments(
    chain: MarkovChain,
    begin: BoolArray | None,
    end: BoolArray,
    order: int = 2,
    *,
    progress: Progress = no_progress,
) -> list[Ball]:
    """Return what `hitting.phase_moments` returns, in floats with bounds.

    Raises
    ------
    SolverError
        The means are so large that floats allow no bound.
    """
    with checked():
        found = _Moments(chain, end, progress)
        start = int(chain.start[0])
        moments = [found.means]
        for k in range(2, order + 1):
            moments.append(found.solve(~end, found.contributions(moments, k), _nothing(chain)))
        if begin is None:
            return [m[start] for m in moments]
        zero = _nothing(chain)
        mean = found.solve(~begin, zero, moments[0])[start]
        result = [mean]
        distance = moments[0] - mean
        for k in range(2, order + 1):
            spread = _power(distance, k)
            for m in range(2, k + 1):
                spread = spread + comb(k, m) * (moments[m - 1] * _power(distance, k - m))
            result.append(found.solve(~begin, zero, spread)[start])
        return result


def _nothing(chain: MarkovChain) -> Ball:
    return Ball(np.zeros(chain.size), np.zeros(chain.size))


def _power(base: Ball, k: int) -> Ball:
    result = Ball(1.0)
    for _ in range(k):
        result = result * base
    return result


@dataclass(frozen=True, eq=False)
class _Moments:
    """Certified solutions of v = c + P v for one chain and target."""

    chain: MarkovChain
    target: BoolArray
    progress: Progress

    @cached_property
    def weights(self) -> Positive:
        """The probability of every transition."""
        sources = self.chain.sources
        return Positive(
            self.chain.numerators.astype(np.float64)
            / self.chain.denominators[sources].astype(np.float64),
            3,
        )

    @cached_property
    def _steps(self) -> tuple[FloatArray, float]:
        """The expected number of steps as computed, and by how much its equations fail."""
        inside = ~self.target
        values = backward(
            self.chain, inside, np.ones(self.chain.size), field="float", progress=self.progress
        )
        each = Ball(inside.astype(np.float64), np.zeros(len(inside)))
        return values, self.residual(inside, each, values)

    @cached_property
    def means(self) -> Ball:
        """The expected number of steps to the target."""
        values, off = self._steps
        return Ball(values, off * self.bound)

    @cached_property
    def bound(self) -> FloatArray:
        """S >= 1 + P S outside the target, and 0 in it."""
        values, off = self._steps
        if not off <= 0.5:
            raise SolverError(
                "the expected number of steps is too large for floats with a bound "
                "of their error; use exact fractions"
            )
        # values >= 1 - off + P values, so that values / (1 - off) will do
        return np.asarray(values * ((1 + 4 * _UNIT) / (1 - off)))

    def expected(self, terms: Ball) -> Ball:
        """Return the sum of probability times term over the transitions of every state."""
        sources, size = self.chain.sources, self.chain.size
        each = self.weights * terms
        most = int(np.diff(self.chain.indptr).max())
        total = np.bincount(sources, weights=each.mid, minlength=size)
        sizes = np.bincount(sources, weights=np.abs(each.mid), minlength=size)
        radius = np.bincount(sources, weights=each.rad, minlength=size)
        return Ball(total, radius + most * _UNIT * sizes)

    def residual(self, inside: BoolArray, constant: Ball, values: FloatArray) -> float:
        """Return a bound of |c + P v - v| over the given states."""
        exact = Ball(values, np.zeros(len(values)))
        off = constant + (self.expected(exact[self.chain.indices]) - exact)
        bound = np.where(inside, np.abs(off.mid) + off.rad, 0.0)
        return 1.01 * float(bound.max())

    def solve(self, inside: BoolArray, constant: Ball, outside: Ball) -> Ball:
        """Solve v = c + P v inside, v as given outside, which contains the target."""
        values = backward(
            self.chain,
            inside,
            np.where(inside, constant.mid, 0.0),
            outside.mid,
            field="float",
            progress=self.progress,
        )
        error = self.residual(inside, constant, values) * self.bound
        entered = np.zeros(len(inside), dtype=np.bool_)
        entered[self.chain.indices[inside[self.chain.sources]]] = True
        entered[self.chain.start] = True
        brought = outside.rad[entered & ~inside]
        if brought.size:
            error = error + float(brought.max())
        return Ball(values, np.where(inside, error, outside.rad))

    def contributions(self, moments: list[Ball], k: int) -> Ball:
        """Return sum_j P_ij sum_(l < k) binom(k, l) d_ij^(k-l) m^l_j, the known part of m^k_i.

        Here d_ij = 1 + h_j - h_i, h the means; see `markov_lrsao.chains.hitting`.
        """
        columns, sources = self.chain.indices, self.chain.sources
        jump = Ball(1.0) + (self.means[columns] - self.means[sources])
        terms = _power(jump, k)
        for m in range(2, k):
            terms = terms + comb(k, m) * (_power(jump, k - m) * moments[m - 1][columns])
        found = self.expected(terms)
        inside: Any = ~self.target
        return Ball(np.where(inside, found.mid, 0.0), np.where(inside, found.rad, 0.0))
