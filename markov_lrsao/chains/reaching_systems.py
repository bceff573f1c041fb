"""The linear systems behind `reachability`, exact or in floats; see there for the equations.

Variances in floats. A step's jump c_ij + m_j - m_i has a rounding error of some 4 u (c_ij + m_i
+ m_j), which a run collects in every step that leaves its state; u = w + P u sums up the squares,
and the same system sums up the squared errors. Where a run takes very many steps, those add up
to more than the variance. Then the second moment s = E[T^2], s_i = sum_j P_ij (c_ij^2 + 2 c_ij
m_j) + (P s)_i, is better: it has no differences, and s - m^2 loses little where the deviation is
of the order of the mean, as it is after a long wait. Of the two, the one with the smaller error
is taken; where neither has digits left the answer is refused.

Bounds of all errors are in `doubts`. They are known for v = h m, which is summed up with the
chain's own transitions. Where its numbers are too small for floats, the conditioned chain
P_ij h_j / h_i is taken instead; then no bound is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.doubts import Doubt, relative
from markov_lrsao.chains.solvers import Field, backward
from markov_lrsao.chains.solvers._system import System
from markov_lrsao.chains.solvers.quotient import quotient, worth_merging
from markov_lrsao.errors import FloatRangeError, SolverError
from markov_lrsao.exact.balls import Ball
from markov_lrsao.exact.quantity import Approximate, Quantity
from markov_lrsao.progress import Progress

__all__ = ["Rewards", "Systems", "TransitionRewards"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
TransitionRewards = Mapping[tuple[int, int], fmpq]
_SMALLEST = 2.0**-1005  # as in the float solver: sums from here on are right
_PAD = 2.0**-1004  # in units of scale^2: more than what underflow hides of a step's variance
_JUMP_ERROR = 2.0**-51  # of c + m_j - m_i, relative to c + m_i + m_j
_SECOND_ERROR = 1e-13  # of a second moment
_JUMP_ACCURACY = 1e-10  # error of a variance that is accepted, relative to itself
_MEAN_ACCURACY = 1e-20  # or to the squared mean
_DENORMAL = 5e-324
_RARE = 1e-60  # probabilities from here on leave room for products with squared times


@dataclass(frozen=True)
class Rewards:
    """What steps earn, per state and per transition; nothing given counts steps."""

    states: Sequence[fmpq] | None
    transitions: TransitionRewards | None

    def of_states(self, size: int) -> list[fmpq]:
        """Return what a step from each state earns, wherever it leads."""
        if self.states is not None:
            return list(self.states)
        return [fmpq(0 if self.transitions is not None else 1)] * size

    def of_transitions(self, chain: MarkovChain) -> dict[int, fmpq]:
        """Return place of a stored transition -> what it earns, without zeros."""
        if not self.transitions:
            return {}
        pairs = zip(chain.sources.tolist(), chain.indices.tolist(), strict=True)
        found = {e: self.transitions.get(pair) for e, pair in enumerate(pairs)}
        return {e: value for e, value in found.items() if value}


def _floats(values: Sequence[fmpq]) -> FloatArray:
    """Return rewards as floats, or raise SolverError where one leaves their range."""
    known: dict[tuple[int, int], float] = {}
    result = np.empty(len(values))
    for k, value in enumerate(values):
        pair = int(value.p), int(value.q)
        if pair not in known:
            try:
                known[pair] = pair[0] / pair[1]
            except OverflowError:
                raise FloatRangeError(
                    'a reward exceeds the range of floats; use `field="exact"`'
                ) from None
            if pair[0] and known[pair] < _SMALLEST:
                raise SolverError('a reward is below the range of floats; use `field="exact"`')
        result[k] = known[pair]
    return result


@dataclass(frozen=True)
class _Given:
    """How systems are conditioned on reaching the target.

    Attributes
    ----------
    weights : what a transition counts in a constant
    below : what solutions are divided by
    system : what is solved, with the chain's own transitions or others
    rounds : roundings behind weights and below; None if they are not known
    """

    weights: FloatArray
    below: FloatArray
    system: System
    rounds: float | None


class Systems:
    """The systems for probability, mean and variance, on the quotient where that is smaller."""

    hit: Any
    miss: Any
    mean: Any
    second: Any
    spread: Any
    error: Any
    doubt: Doubt

    def __init__(
        self,
        chain: MarkovChain,
        inside: BoolArray,
        target: BoolArray,
        surely: BoolArray,
        rewards: Rewards,
        field: Field,
        progress: Progress,
    ) -> None:
        self.field, self.progress = field, progress
        earned = rewards.of_states(chain.size)
        self.class_of = np.arange(chain.size)
        if field == "exact" and rewards.transitions is None and worth_merging(chain):
            merged = quotient(chain, inside, self._colours(inside, target, earned, rewards))
            chain, inside, self.class_of = merged.chain, merged.inside, merged.class_of
            first = merged.representative
            target, surely = target[first], surely[first]
            earned = [earned[i] for i in first.tolist()]
        self.chain, self.inside, self.target = chain, inside, target
        self.surely = surely & (inside | target)
        moving = rewards.of_transitions(chain)
        if field == "exact":
            self._exactly(earned, moving)
        else:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                self._in_floats(earned, moving)

    @staticmethod
    def _colours(
        inside: BoolArray, target: BoolArray, earned: Sequence[fmpq], rewards: Rewards
    ) -> npt.NDArray[np.int64]:
        colours = target.astype(np.int64)
        if rewards.states is not None:
            numbers: dict[str, int] = {}
            for i in np.flatnonzero(inside).tolist():
                colours[i] = numbers.setdefault(str(earned[i]), len(numbers))
        return colours

    def _solve(
        self,
        constant: Any,
        outside: Any = None,
        *,
        where: Any = None,
        **in_floats: Any,
    ) -> Any:
        return backward(
            self.chain,
            self.inside if where is None else where,
            constant,
            outside,
            field=self.field,
            progress=self.progress,
            **in_floats,
        )

    @cached_property
    def _own(self) -> System:
        """The system of the states inside, with the chain's own transitions."""
        return System.of(self.chain, self.inside)

    def _of(self, where: BoolArray) -> System:
        return self._own if np.array_equal(where, self.inside) else System.of(self.chain, where)

    def _exactly(self, step: Sequence[fmpq], moving: Mapping[int, fmpq]) -> None:
        chain, zero, one = self.chain, fmpq(0), fmpq(1)
        hit = [one if t else zero for t in self.surely.tolist()]
        maybe = self.inside & ~self.surely
        if maybe.any():
            hit = self._solve([zero] * chain.size, hit, where=maybe)
        first = [r * h for r, h in zip(step, hit, strict=True)]
        sources, indices = chain.sources.tolist(), chain.indices.tolist()
        for e, value in moving.items():
            i, j = sources[e], indices[e]
            below = int(chain.denominators[i])
            first[i] += fmpq(int(chain.numerators[e]), below) * hit[j] * value
        total = self._solve(first)
        # s = E[T^2; reached]: unlike jumps of means, its right side has one short denominator
        pointers = chain.indptr.tolist()
        second = [zero] * chain.size
        for i in np.flatnonzero(self.inside).tolist():
            for e, (j, p) in enumerate(chain.row(i), start=pointers[i]):
                earned = step[i] + moving.get(e, zero)
                second[i] += p * earned * (earned * hit[j] + 2 * total[j])
        self.hit, self.miss, self.second = hit, None, self._solve(second)
        self.mean = [g / h if h != 0 else zero for g, h in zip(total, hit, strict=True)]

    def _in_floats(self, earned: Sequence[fmpq], moving: Mapping[int, fmpq]) -> None:
        self._probabilities()
        step, extra = _floats(earned), np.zeros(self.chain.transitions)
        extra[list(moving)] = _floats(list(moving.values()))
        chain, maybe = self.chain, self.inside & ~self.surely
        try:
            if np.any(self.hit[maybe] < _RARE):
                raise SolverError("probabilities are too small for products with them")
            # v / h with v = sum p h c + P v: a bound of the error is known
            below = np.where(maybe, self.hit, 1.0)
            reached = chain.probabilities * self.hit[chain.indices]
            self._moments(step, extra, _Given(reached, below, self._own, self.doubt.hit + 3.0))
        except SolverError:
            if not maybe.any():
                raise
            tilted = self._tilted()
            other = System.of(chain, self.inside, tilted)
            self._moments(step, extra, _Given(tilted, np.ones(chain.size), other, None))
            self.doubt.forget()

    def _moments(self, step: FloatArray, extra: FloatArray, given: _Given) -> None:
        chain, rows = self.chain, self.chain.sources
        moving = np.bincount(rows, given.weights * extra, chain.size).astype(np.float64)
        first: FloatArray = np.where(self.inside, step * given.below, 0.0) + moving
        if np.any((extra > 0) & self.inside[rows] & (first[rows] < _SMALLEST)):
            raise SolverError(
                'an expected reward is below the range of floats; use `field="exact"`'
            )
        degree = float(np.diff(chain.indptr).max())
        try:
            mean, rounds = self._solved(first, given, degree)
        except FloatRangeError:
            raise FloatRangeError(
                'the expected time exceeds the range of floats; use `field="exact"`'
            ) from None
        self.mean = mean / given.below
        self.doubt.mean = rounds + (given.rounds or 0.0)
        # A power of two, so that dividing by it rounds nothing.
        self.scale = math.ldexp(1.0, math.frexp(float(np.max(self.mean)))[1] - 1)
        inside = np.where(self.inside[rows], given.weights, 0.0)
        self._variances(step[rows] + extra, inside, given, degree)

    def _solved(
        self, constant: FloatArray, given: _Given, degree: float, roundings: float = 0.0
    ) -> tuple[FloatArray, float]:
        """Return a solution with the roundings behind it, the constant being a sum over a row."""
        if given.rounds is None:
            return self._solve(constant, system=given.system), 0.0
        rounds = np.zeros(self.chain.size)
        rounds[self.inside] = given.rounds + degree + roundings + 4.0
        values = self._solve(constant, system=given.system, rounds=rounds)
        return values, float(np.max(rounds[self.inside], initial=0.0))

    def _variances(
        self, earned: FloatArray, weights: FloatArray, given: _Given, degree: float
    ) -> None:
        """Solve for the variance and for bounds of its errors, in units of scale^2."""
        chain, rows, mean = self.chain, self.chain.sources, self.mean / self.scale
        costs = earned / self.scale

        def per_state(values: FloatArray) -> FloatArray:
            return np.bincount(rows, weights * values, chain.size).astype(np.float64)

        here, there = mean[rows], mean[chain.indices]
        jump = costs + (there - here)
        variances = per_state(jump**2)
        moved = np.zeros(chain.size, dtype=np.bool_)
        moved[rows[(jump != 0.0) & (weights > 0.0)]] = True
        rounding = per_state(np.where(rows == chain.indices, 0.0, (costs + here + there) ** 2))
        least = float(np.min(given.below[self.inside], initial=1.0))
        padded = np.where(self.inside, given.below * (_PAD / least), 0.0)
        error, _ = self._solved(np.maximum(_JUMP_ERROR**2 * rounding, padded), given, degree)
        self.error = error / given.below
        if np.any(moved & (variances < _SMALLEST)):
            # Some steps' variances underflowed; the error is padded by more than that.
            variances = np.maximum(variances, padded)
        spread, rounds = self._solved(variances, given, degree)
        self.spread = spread / given.below
        self.doubt.of_jumps(self.spread, self.error, rounds + (given.rounds or 0.0))
        large = self.doubt.spread if self.doubt.known else self.error
        if np.any(large > _JUMP_ACCURACY * self.spread + _MEAN_ACCURACY * mean**2):
            first = per_state(costs * (costs + 2 * there))
            # by what is earned: costs, in units of the largest mean, may have underflowed
            earns = (earned > 0.0) & self.inside[rows] & (self.hit[chain.indices] > 0.0)
            if not np.any(first[rows[earns]] < _SMALLEST):
                second, rounds = self._solved(first, given, degree, self.doubt.mean)
                second = second / given.below
                error, spread = _SECOND_ERROR * second, np.maximum(second - mean**2, 0.0)
                certified = self.doubt.of_second(second, mean, rounds + (given.rounds or 0.0))
                better = certified < self.doubt.spread if self.doubt.known else error < self.error
                self.spread = np.where(better, spread, self.spread)
                self.error = np.where(better, error, self.error)
                self.doubt.spread = np.minimum(certified, self.doubt.spread)

    def _probabilities(self) -> None:
        """Find the probabilities of reaching the target, and of missing it."""
        chain, maybe = self.chain, self.inside & ~self.surely
        self.doubt = Doubt()
        self.hit, self.miss = self.surely.astype(np.float64), np.zeros(chain.size)
        lost = ~self.inside & ~self.target
        if not maybe.any():
            self.miss[lost] = 1.0
            return
        nothing, rounds = np.zeros(chain.size), np.zeros(chain.size)
        given: Any = {"where": maybe, "rounds": rounds, "system": self._of(maybe), "positive": True}
        self.hit = self._solve(nothing, self.hit, **given)
        self.doubt.hit = float(np.max(rounds[maybe]))
        try:
            rounds[:] = 0.0
            self.miss = self._solve(nothing, lost.astype(np.float64), **given)
            self.doubt.miss = float(np.max(rounds[maybe]))
            # Next to 1 a probability has no digits left for the difference.
            self.hit = np.where(self.miss < 0.5, 1.0 - self.miss, self.hit)
            self.doubt.hit = max(self.doubt.hit, self.doubt.miss + 1.0)
        except SolverError:
            self.miss = None
        self.hit = np.minimum(self.hit, 1.0)

    def _tilted(self) -> FloatArray:
        """Return the transitions given success."""
        chain = self.chain
        here = np.where(self.inside, self.hit, 1.0)[chain.sources]
        there = self.hit[chain.indices]
        tilted = chain.probabilities * (there / here)
        return np.where(there > 0.0, np.maximum(tilted, _DENORMAL), 0.0)

    def chances(self, b: int) -> tuple[Quantity, Quantity | None]:
        """Return the probabilities of reaching the target and of missing it, in floats."""
        hit = float(self.hit[b])
        miss = None if self.miss is None else float(self.miss[b])
        if self.surely[b] or not (self.inside[b] or self.target[b]):
            return Approximate(hit, 0.0), None if miss is None else Approximate(miss, 0.0)
        if miss is None:
            return _near(hit, hit * relative(self.doubt.hit)), None
        error = miss * relative(self.doubt.miss)
        # next to 1 the probability is 1 - miss, rounded once
        own = error + 2.0**-53 if miss < 0.5 else hit * relative(self.doubt.hit)
        return _near(hit, own), _near(miss, error)

    def mean_with_error(self, b: int) -> Quantity:
        """Return the mean, with a bound of its error where one is known."""
        value = float(self.mean[b])
        known = self.doubt.known
        return _near(value, value * relative(self.doubt.mean)) if known else Approximate(value)

    def with_error(self, b: int, variance: float | None) -> Quantity | None:
        """Return a variance, with a bound of its error where one is known."""
        if variance is None or not self.doubt.known:
            return None if variance is None else Approximate(variance)
        # dividing by scale^2 first keeps the bound in range; the last digits are for the root
        share = float(self.doubt.spread[b]) + 1e-15 * float(self.spread[b])
        return _near(variance, self.scale * share * self.scale)

    def variance(self, b: int) -> tuple[Any, float]:
        """Return variance (None above the range of floats) and deviation at a class."""
        if self.field == "exact":
            spread = self.second[b] / self.hit[b] - self.mean[b] ** 2
            return spread, _square_root(spread)
        deviation = self.scale * math.sqrt(self.spread[b])
        variance, relative = deviation * deviation, self.mean[b] / self.scale
        if deviation and variance < _SMALLEST:
            raise SolverError('the variance is below the range of floats; use `field="exact"`')
        if self.error[b] > _JUMP_ACCURACY * self.spread[b] + _MEAN_ACCURACY * relative**2:
            raise SolverError(
                'the variance has no digits that floats can be trusted with; use `field="exact"`'
            )
        return variance if math.isfinite(variance) else None, deviation


def _near(value: float, error: float) -> Quantity:
    """Return a float with its error rounded up; 0 where not even the sign is known."""
    if value == 0.0 and error == 0.0:
        return Approximate(0.0, 0.0)
    if not error < math.inf:
        return Approximate(value)
    return Quantity.of(Ball(value, math.nextafter(error, math.inf)))


def _square_root(value: fmpq) -> float:
    """Return the root as a float: infinite if it is too large, right to some 1e-15."""
    above, below = int(value.p), int(value.q)
    shift = 128 + max(0, below.bit_length() - above.bit_length())
    shift += shift % 2
    root = math.isqrt((above << shift) // below)
    try:
        return root / (1 << shift // 2)
    except OverflowError:
        return math.inf
