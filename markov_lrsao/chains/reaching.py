"""Whether, when and with what spread a chain reaches a target, from each of its start states.

Let h be the probability of reaching the target and T the time it takes (or what the steps
until then earn: r_i for a step from i, and r_ij more where it leads to j). Everything is
conditioned on reaching it at all, which changes nothing where h = 1. With g = E[T; reached],
m = g / h and c_ij = r_i + r_ij,

    h = P h,    g_i = sum_j P_ij h_j c_ij + (P g)_i,
    u = w + P u,  w_i = sum_j P_ij h_j (c_ij + m_j - m_i)^2,

on the states that can still reach the target, and u / h is the variance: sums of non-negative
terms throughout. Exact answers take s_i = sum_j P_ij c_ij (c_ij h_j + 2 g_j) + (P s)_i and
s / h - m^2 instead, whose numbers are shorter. Floats use the conditioned chain P_ij h_j / h_i
(Doob), which is the same divided by h_i and keeps products of small numbers apart.

Whether h is 0 or 1 is a question about the graph: h = 0 where the target cannot be reached,
and h = 1 where no state with h = 0 can be reached before it. No number decides it. Where
h < 1 the time is infinite with probability 1 - h and so is its expectation, however close to 1
a float h may come; the conditional mean and variance are still given.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.doubts import relative
from markov_lrsao.chains.reaching_systems import Rewards, Systems, TransitionRewards
from markov_lrsao.chains.solvers import Field, absorbing_outside, backward
from markov_lrsao.errors import NotAbsorbingError, ParameterError, SolverError
from markov_lrsao.exact.balls import Ball
from markov_lrsao.exact.frames import columns, data_frame
from markov_lrsao.exact.graphs import Components, reachable_from, reversed_graph
from markov_lrsao.exact.quantity import Approximate, Exact, Infinite, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "Reaching",
    "ReachingResult",
    "qualitative",
    "reach",
    "reach_probabilities",
    "reach_probabilities_with_errors",
]

BoolArray = npt.NDArray[np.bool_]
_COMPARED = 300  # states of a chain that is solved exactly where floats have no bound otherwise


@dataclass(frozen=True, kw_only=True)
class Reaching:
    """What is known from one start state.

    Attributes
    ----------
    certain : whether the target is reached with probability 1, by the graph
    probability : of reaching the target
    miss : the probability of never reaching it, with digits of its own where `probability` is
        a float next to 1; None where it is below the range of floats
    mean : expected time; infinite if the target may be missed
    conditional_mean, variance : given that the target is reached; None if it cannot be. The
        variance is also None where it exceeds the range of floats
    deviation : the square root of the variance, as a float (infinite beyond their range)
    """

    state: int
    name: str
    certain: bool
    probability: Quantity
    miss: Quantity | None
    mean: Quantity
    conditional_mean: Quantity | None
    variance: Quantity | None
    deviation: float | None

    @property
    def standard_deviation(self) -> Quantity | None:
        """The square root of the variance, with what is known of its error; None without one."""
        found = self.variance
        if found is None or (isinstance(found, Approximate) and found.error is None):
            return None
        return found.sqrt()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""

        def form(value: Quantity | None) -> dict[str, Any] | None:
            return None if value is None else value.to_dict()

        return {
            "state": self.state,
            "name": self.name,
            "probability": form(self.probability),
            "miss": form(self.miss),
            "mean": form(self.mean),
            "finite": self.certain,
            "conditional_mean": form(self.conditional_mean),
            "variance": form(self.variance),
            "deviation": None if self.deviation == math.inf else self.deviation,
            "standard_deviation": form(self.standard_deviation),
        }


@dataclass(frozen=True, kw_only=True)
class ReachingResult:
    """The answers for all start states of a chain, and how they were found."""

    field: Field
    states: int
    solved: int
    seconds: float
    starts: tuple[Reaching, ...]

    def to_frame(self) -> DataFrame:
        """Return a table with one line per start state."""
        return data_frame(
            {"state": start.state, "name": start.name}
            | columns(
                {
                    name: value
                    for name in ("probability", "mean", "conditional_mean", "variance")
                    if (value := getattr(start, name)) is not None
                }
            )
            for start in self.starts
        )


def qualitative(chain: MarkovChain, target: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return where the target is reached with probability 0, and where with probability 1.

    >>> from markov_lrsao.chains.sources import chain_from_rows
    >>> chain = chain_from_rows([{1: "1/2", 2: "1/2"}, {1: 1}, {2: 1}, {1: 1}])
    >>> never, surely = qualitative(chain, chain.at_positions([1]))
    >>> never.tolist(), surely.tolist()
    ([False, False, True, False], [False, True, False, True])
    """
    if "numba" in sys.modules:  # the compiler is there: its search is faster than building graphs
        never, surely, _ = _fates(chain, target)
        return never, surely
    cut = absorbing_outside(chain, ~target)
    back = reversed_graph(cut.indptr, cut.indices)
    never = ~reachable_from(*back, np.flatnonzero(target))
    return never, ~reachable_from(*back, np.flatnonzero(never))


def _fates(chain: MarkovChain, target: BoolArray) -> tuple[BoolArray, BoolArray, Components]:
    """Return the same by compiled code, with the components of the chain that ends in the target.

    No component has states of both kinds, so that those between the two are components of theirs.
    """
    from markov_lrsao.chains.kernels import graphs

    *order, fate = graphs.fates(chain.indptr, chain.indices, np.ascontiguousarray(target))
    return fate == graphs.MAY_MISS, fate == graphs.CAN, Components(*order)


def reach(
    chain: MarkovChain,
    target: BoolArray,
    *,
    start: Sequence[int] | None = None,
    rewards: Sequence[fmpq] | None = None,
    transition_rewards: TransitionRewards | None = None,
    field: Field = "exact",
    progress: Progress = no_progress,
) -> ReachingResult:
    """Return probability, mean and variance of reaching `target`.

    Parameters
    ----------
    start : states to start from; default: the chain's own
    rewards : what a step from each state earns; default 1, which counts steps
    transition_rewards : (i, j) -> what a step from i to j earns besides

    Raises
    ------
    ParameterError
        There is no start state or no target state, or rewards are negative in floats.
    SolverError
        Numbers leave the range of floats.

    >>> from markov_lrsao.chains.sources import birth_death_chain
    >>> chain = birth_death_chain([1, *["1/3"] * 59])
    >>> reach(chain, chain.at_positions([60])).starts[0].mean.value == 4 * fmpq(2)**60 - 184
    True
    """
    begun = time.perf_counter()
    given: dict[str, Any] = {
        "start": start,
        "rewards": rewards,
        "transition_rewards": transition_rewards,
    }
    starts = _starts(chain, start)
    if not target.any():
        raise ParameterError("the target is empty: no state carries it")
    earned = [*(rewards or ()), *(transition_rewards or {}).values()]
    if field == "float" and any(value < 0 for value in earned):
        raise ParameterError('negative rewards need exact arithmetic; use `field="exact"`')
    never, surely = qualitative(chain, target)
    cut = absorbing_outside(chain, ~target)
    seen = reachable_from(cut.indptr, cut.indices, starts)
    inside = seen & ~never & ~target
    problem = Systems(
        absorbing_outside(cut, inside),
        inside,
        target & seen,
        surely,
        Rewards(rewards, transition_rewards),
        field,
        progress,
    )
    answers = tuple(_answer(chain, problem, int(i)) for i in starts)
    if field == "float" and not problem.doubt.known:
        answers = _compared(answers, inside, partial(reach, chain, target, **given))
    return ReachingResult(
        field=field,
        states=chain.size,
        solved=problem.chain.size,
        seconds=time.perf_counter() - begun,
        starts=answers,
    )


def _starts(chain: MarkovChain, start: Sequence[int] | None) -> npt.NDArray[np.int64]:
    if start is None:
        starts = chain.start
    else:
        for state in start:
            if not 0 <= state < chain.size:
                raise ParameterError(
                    f"start state {state} does not exist: states are 0..{chain.size - 1}"
                )
        starts = np.unique(np.array(list(start), np.int64))
    if starts.size == 0:
        raise ParameterError("the chain has no start state; name one with `start`")
    return starts


def reach_probabilities(
    chain: MarkovChain,
    target: BoolArray,
    *,
    field: Field = "exact",
    progress: Progress = no_progress,
) -> Any:
    """Return the probability of reaching `target` from every state.

    >>> from markov_lrsao.chains.sources import chain_from_rows
    >>> chain = chain_from_rows([{0: "1/2", 1: "1/4", 2: "1/4"}, {1: 1}, {2: 1}])
    >>> reach_probabilities(chain, chain.at_positions([1]))
    [1/2, 1, 0]
    """
    if field == "float":
        return _float_probabilities(chain, target, None, progress)
    never, surely = qualitative(chain, target)
    one, zero = fmpq(1), fmpq(0)
    return backward(
        chain,
        ~never & ~surely,
        [zero] * chain.size,
        [one if t else zero for t in surely.tolist()],
        progress=progress,
    )


def reach_probabilities_with_errors(
    chain: MarkovChain, target: BoolArray, *, progress: Progress = no_progress
) -> Ball:
    """Return the probability of reaching `target` from every state, with bounds of the errors.

    >>> from markov_lrsao.chains.sources import chain_from_rows
    >>> chain = chain_from_rows([{0: "1/2", 1: "1/3", 2: "1/6"}, {1: 1}, {2: 1}])
    >>> chances = reach_probabilities_with_errors(chain, chain.at_positions([1]))
    >>> chances.rad[1:].tolist(), bool(abs(chances.mid[0] - 2 / 3) < chances.rad[0] < 1e-14)
    ([0.0, 0.0], True)
    """
    rounds = np.zeros(chain.size)
    values = _float_probabilities(chain, target, rounds, progress)
    return Ball(values, relative(rounds) * values)


def _float_probabilities(
    chain: MarkovChain,
    target: BoolArray,
    rounds: npt.NDArray[np.float64] | None,
    progress: Progress,
) -> npt.NDArray[np.float64]:
    from markov_lrsao.chains.solvers._system import System

    never, surely, order = _fates(chain, target)
    maybe = ~(never | surely)
    values = backward(
        chain,
        maybe,
        np.zeros(chain.size),
        surely.astype(np.float64),
        field="float",
        rounds=rounds,
        system=System.of(chain, maybe, order=order),
        positive=True,
        progress=progress,
    )
    return np.asarray(np.minimum(values, 1.0), dtype=np.float64)


def _answer(chain: MarkovChain, problem: Systems, state: int) -> Reaching:
    b = int(problem.class_of[state])
    certain, exact = bool(problem.surely[b]), problem.field == "exact"
    miss: Quantity | None
    spread: Quantity | None
    if exact:
        probability, miss = Quantity.of(problem.hit[b]), Quantity.of(1 - problem.hit[b])
    else:
        probability, miss = problem.chances(b)
    common: dict[str, Any] = {
        "state": state,
        "name": chain.label(state),
        "certain": certain,
        "probability": probability,
        "miss": miss,
    }
    if not (problem.inside[b] or problem.target[b]):
        return Reaching(
            **common, mean=Infinite(), conditional_mean=None, variance=None, deviation=None
        )
    variance, deviation = problem.variance(b)
    if exact:
        mean, spread = Quantity.of(problem.mean[b]), Quantity.of(variance)
    else:
        mean, spread = problem.mean_with_error(b), problem.with_error(b, variance)
    return Reaching(
        **common,
        mean=mean if certain else Infinite(),
        conditional_mean=mean,
        variance=spread,
        deviation=deviation,
    )


def _compared(
    answers: tuple[Reaching, ...], inside: BoolArray, exactly: Callable[[], ReachingResult]
) -> tuple[Reaching, ...]:
    """Return float answers without a bound with their distances from the exact ones."""
    if int(inside.sum()) > _COMPARED:
        raise SolverError(
            "numbers inside the float solution are too small for a bound of its error; "
            'use `field="exact"`'
        )

    def near(found: Quantity | None, truth: Quantity | None) -> Quantity | None:
        if not isinstance(found, Approximate) or not isinstance(truth, Exact):
            return found
        error = abs(truth.value - fmpq(*found.middle.as_integer_ratio()))
        return Approximate(found.middle, math.nextafter(to_float(error), math.inf))

    names = ("probability", "miss", "mean", "conditional_mean", "variance")
    result = []
    for found, truth in zip(answers, exactly().starts, strict=True):
        changes: dict[str, Any] = {
            name: near(getattr(found, name), getattr(truth, name)) for name in names
        }
        result.append(replace(found, **changes))
    return tuple(result)


def require_certain(result: Reaching) -> Quantity:
    """Return the mean, or raise NotAbsorbingError with the reason why it is infinite."""
    if result.certain:
        return result.mean
    raise NotAbsorbingError(
        f"from state {printable(result.name)} the target is reached with probability "
        f"{result.probability.decimal} only, so its expected time is infinite"
    )
