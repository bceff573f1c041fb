"""Whether, when and with what spread a chain reaches a target, from each of its start states.

Let h be the probability of reaching the target and T the time it takes (or what the steps
until then earn, r per step). Everything is conditioned on reaching it at all, which changes
nothing where h = 1. With g = E[T; reached] and m = g / h,

    h = P h,    g = r h + P g,    u = w + P u,  w_i = sum_j P_ij h_j (r_i + m_j - m_i)^2,

on the states that can still reach the target, and u / h is the variance: sums of
non-negative terms throughout. Which states those are is a question about the graph only, so
h = 1 is recognised without arithmetic. Where h < 1 the time is infinite with probability
1 - h and so is its expectation; the conditional mean and variance are still given.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import NotAbsorbingError, ParameterError, SolverError
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.results import Quantity
from markov_lrsao.solvers import Field, absorbing_outside, backward
from markov_lrsao.solvers.quotient import quotient, worth_merging
from markov_lrsao.structure import reachable_from, reversed_graph

__all__ = ["Reaching", "ReachingResult", "reach", "reach_probabilities"]

BoolArray = npt.NDArray[np.bool_]
_SMALLEST_CHANCE = 1e-290
"""Below this a float probability may have lost digits to the end of the range of floats."""


@dataclass(frozen=True, kw_only=True)
class Reaching:
    """What is known from one start state.

    Attributes
    ----------
    probability : of reaching the target
    mean : expected time; infinite if the target may be missed
    conditional_mean, variance : given that the target is reached; None if it cannot be
    deviation : the square root of the variance, as a float (infinite beyond their range)
    """

    state: int
    name: str
    probability: Quantity
    mean: Quantity
    conditional_mean: Quantity | None
    variance: Quantity | None
    deviation: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""

        def form(value: Quantity | None) -> dict[str, Any] | None:
            return None if value is None else value.to_dict()

        return {
            "state": self.state, "name": self.name, "probability": self.probability.to_dict(),
            "mean": form(self.mean), "finite": math.isfinite(float_of(self.mean)),
            "conditional_mean": form(self.conditional_mean), "variance": form(self.variance),
            "deviation": self.deviation,
        }


@dataclass(frozen=True, kw_only=True)
class ReachingResult:
    """The answers for all start states of a chain, and how they were found."""

    field: Field
    states: int
    solved: int
    seconds: float
    starts: tuple[Reaching, ...]


def float_of(value: Quantity) -> float:
    """Return a quantity as a float, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def reach(
    chain: MarkovChain,
    target: BoolArray,
    *,
    start: Sequence[int] | None = None,
    rewards: Sequence[fmpq] | None = None,
    field: Field = "exact",
    progress: Progress = no_progress,
) -> ReachingResult:
    """Return probability, mean and variance of reaching `target`.

    Parameters
    ----------
    start : states to start from; default: the chain's own
    rewards : what a step from each state earns; default 1, which counts steps

    Raises
    ------
    ParameterError
        There is no start state or no target state, or rewards are negative in floats.

    >>> from markov_lrsao.custom import birth_death_chain
    >>> chain = birth_death_chain([1, *["1/3"] * 59])
    >>> reach(chain, chain.at_positions([60])).starts[0].mean.value == 4 * fmpq(2)**60 - 184
    True
    """
    begun = time.perf_counter()
    starts = chain.start if start is None else np.unique(np.array(list(start), np.int64))
    if starts.size == 0:
        raise ParameterError("the chain has no start state; name one (--from STATE)")
    if not 0 <= starts[0] <= starts[-1] < chain.size:
        raise ParameterError(f"start state {starts[-1]} does not exist: states are "
                             f"0..{chain.size - 1}")
    if not target.any():
        raise ParameterError("the target is empty: no state carries it")
    if rewards is not None and field == "float" and any(value < 0 for value in rewards):
        raise ParameterError("negative rewards need exact arithmetic; add --exact")
    cut = absorbing_outside(chain, ~target)
    seen = reachable_from(cut.indptr, cut.indices, starts)
    can = reachable_from(*reversed_graph(cut.indptr, cut.indices), np.flatnonzero(target & seen)) \
        if (target & seen).any() else np.zeros(chain.size, dtype=np.bool_)
    inside = seen & can & ~target
    problem = _Problem(absorbing_outside(cut, inside), inside, target & seen,
                       rewards, bool(np.any(seen & ~can)), field, progress)
    answers = tuple(problem.answer(chain, int(i)) for i in starts)
    return ReachingResult(field=field, states=chain.size, solved=problem.chain.size,
                          seconds=time.perf_counter() - begun, starts=answers)


def reach_probabilities(
    chain: MarkovChain, target: BoolArray, *, field: Field = "exact",
    progress: Progress = no_progress,
) -> Any:
    """Return the probability of reaching `target` from every state.

    >>> from markov_lrsao.custom import chain_from_rows
    >>> chain = chain_from_rows([{0: "1/2", 1: "1/4", 2: "1/4"}, {1: 1}, {2: 1}])
    >>> reach_probabilities(chain, chain.at_positions([1]))
    [1/2, 1, 0]
    """
    cut = absorbing_outside(chain, ~target)
    can = reachable_from(*reversed_graph(cut.indptr, cut.indices), np.flatnonzero(target))
    one, zero = (fmpq(1), fmpq(0)) if field == "exact" else (1.0, 0.0)
    return backward(cut, can & ~target, [zero] * chain.size,
                    [one if t else zero for t in target.tolist()], field=field, progress=progress)


class _Problem:
    """The three systems, solved on the quotient where that is smaller."""

    def __init__(
        self, chain: MarkovChain, inside: BoolArray, target: BoolArray,
        rewards: Sequence[fmpq] | None, leaks: bool, field: Field, progress: Progress,
    ) -> None:
        self.field, self.progress = field, progress
        earned = [fmpq(1)] * chain.size if rewards is None else list(rewards)
        self.block = np.arange(chain.size)
        if field == "exact" and worth_merging(chain):
            merged = quotient(chain, inside, self._classes(inside, target, earned, rewards))
            chain, inside, self.block = merged.chain, merged.inside, merged.block
            target = target[merged.representative]
            earned = [earned[i] for i in merged.representative.tolist()]
        self.chain, self.inside, self.can = chain, inside, inside | target
        exact = field == "exact"
        one, zero = (fmpq(1), fmpq(0)) if exact else (1.0, 0.0)
        self.hit = self._solve([zero] * chain.size, [one if t else zero for t in target]) \
            if leaks else self._array([one if i or t else zero
                                       for i, t in zip(inside, target, strict=True)])
        step = self._array(earned if exact else [int(r.p) / int(r.q) for r in earned])
        total = self._solve([r * h for r, h in zip(step, self.hit, strict=True)])
        self.mean = self._array([g / h if h != 0 else zero
                                 for g, h in zip(total, self.hit, strict=True)])
        self.scale = one if exact else float(max(np.max(self.mean), 1.0))
        if not exact and not np.all(np.isfinite(self.mean)):
            raise SolverError("the expected time exceeds the range of floats; add --exact")
        self.spread = self._solve(self._step_variances(step))

    @staticmethod
    def _classes(
        inside: BoolArray, target: BoolArray, earned: Sequence[fmpq],
        rewards: Sequence[fmpq] | None,
    ) -> npt.NDArray[np.int64]:
        classes = target.astype(np.int64)
        if rewards is not None:
            numbers: dict[str, int] = {}
            for i in np.flatnonzero(inside).tolist():
                classes[i] = numbers.setdefault(str(earned[i]), len(numbers))
        return classes

    def _array(self, values: Any) -> Any:
        return values if self.field == "exact" else np.asarray(values, dtype=np.float64)

    def _solve(self, constant: Any, outside: Any = None) -> Any:
        return backward(self.chain, self.inside, self._array(constant),
                        None if outside is None else self._array(outside),
                        field=self.field, progress=self.progress)

    def _step_variances(self, step: Any) -> Any:
        """Return w, in units of scale^2."""
        chain, mean, hit = self.chain, self.mean, self.hit
        if self.field == "float":
            rows = chain.sources
            jump = (step[rows] + mean[chain.indices] - mean[rows]) / self.scale
            weights = chain.probabilities * hit[chain.indices] * jump**2
            return np.bincount(rows, weights=weights, minlength=chain.size)
        result = [fmpq(0)] * chain.size
        for i in np.flatnonzero(self.inside).tolist():
            before = step[i] - mean[i]
            result[i] = sum(
                (p * hit[j] * (before + mean[j]) ** 2 for j, p in chain.row(i)), fmpq(0))
        return result

    def answer(self, chain: MarkovChain, state: int) -> Reaching:
        b = int(self.block[state])
        hit, mean = self.hit[b], self.mean[b]
        exact = self.field == "exact"

        def quantity(value: Any) -> Quantity:
            return Quantity(value if exact else float(value))

        if not exact and self.can[b] and hit < _SMALLEST_CHANCE:
            raise SolverError("the probability is below the range of floats; add --exact")
        if hit == 0:
            return Reaching(state=state, name=chain.label(state), probability=quantity(hit),
                            mean=Quantity(math.inf), conditional_mean=None, variance=None,
                            deviation=None)
        ratio = self.spread[b] / hit
        deviation = _square_root(ratio) if exact else float(self.scale) * math.sqrt(ratio)
        variance = quantity(ratio if exact else deviation * deviation)
        return Reaching(
            state=state, name=chain.label(state), probability=quantity(hit),
            mean=quantity(mean) if hit == 1 else Quantity(math.inf),
            conditional_mean=quantity(mean), variance=variance, deviation=deviation,
        )


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


def require_certain(result: Reaching) -> Quantity:
    """Return the mean, or raise NotAbsorbingError with the reason why it is infinite."""
    if result.mean.exact or math.isfinite(float_of(result.mean)):
        return result.mean
    raise NotAbsorbingError(
        f"from state {result.name} the target is reached with probability "
        f"{result.probability.decimal} only, so its expected time is infinite")
