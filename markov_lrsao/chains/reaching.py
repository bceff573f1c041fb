"""Whether, when and with what spread a chain reaches a target, from each of its start states.

Let h be the probability of reaching the target and T the time it takes (or what the steps
until then earn: r_i for a step from i, and r_ij more where it leads to j). Everything is
conditioned on reaching it at all, which changes nothing where h = 1. With g = E[T; reached],
m = g / h and c_ij = r_i + r_ij,

    h = P h,    g_i = sum_j P_ij h_j c_ij + (P g)_i,
    u = w + P u,  w_i = sum_j P_ij h_j (c_ij + m_j - m_i)^2,

on the states that can still reach the target, and u / h is the variance: sums of non-negative
terms throughout. Floats use the conditioned chain P_ij h_j / h_i instead (Doob), which is the
same divided by h_i and keeps products of small numbers apart.

Whether h is 0 or 1 is a question about the graph: h = 0 where the target cannot be reached,
and h = 1 where no state with h = 0 can be reached before it. No number decides it. Where
h < 1 the time is infinite with probability 1 - h and so is its expectation, however close to 1
a float h may come; the conditional mean and variance are still given.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.reaching_systems import Rewards, Systems, TransitionRewards
from markov_lrsao.chains.solvers import Field, absorbing_outside, backward
from markov_lrsao.errors import NotAbsorbingError, ParameterError
from markov_lrsao.exact.frames import columns, data_frame
from markov_lrsao.exact.graphs import reachable_from, reversed_graph
from markov_lrsao.exact.quantity import Infinite, Quantity
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Reaching", "ReachingResult", "qualitative", "reach", "reach_probabilities"]

BoolArray = npt.NDArray[np.bool_]


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

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""

        def form(value: Quantity | None) -> dict[str, Any] | None:
            return None if value is None else value.to_dict()

        return {
            "state": self.state,
            "name": self.name,
            "probability": self.probability.to_dict(),
            "miss": form(self.miss),
            "mean": form(self.mean),
            "finite": self.certain,
            "conditional_mean": form(self.conditional_mean),
            "variance": form(self.variance),
            "deviation": None if self.deviation == math.inf else self.deviation,
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
    cut = absorbing_outside(chain, ~target)
    back = reversed_graph(cut.indptr, cut.indices)
    never = ~reachable_from(*back, np.flatnonzero(target))
    return never, ~reachable_from(*back, np.flatnonzero(never))


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
    never, surely = qualitative(chain, target)
    one, zero = (fmpq(1), fmpq(0)) if field == "exact" else (1.0, 0.0)
    values = backward(
        chain,
        ~never & ~surely,
        [zero] * chain.size,
        [one if t else zero for t in surely.tolist()],
        field=field,
        progress=progress,
    )
    return values if field == "exact" else np.minimum(values, 1.0)


def _answer(chain: MarkovChain, problem: Systems, state: int) -> Reaching:
    b = int(problem.class_of[state])
    hit, certain, exact = problem.hit[b], bool(problem.surely[b]), problem.field == "exact"

    def quantity(value: Any) -> Quantity:
        return Quantity.of(value if exact else float(value))

    if exact:
        miss: Quantity | None = Quantity.of(1 - hit)
    else:
        miss = None if problem.miss is None else quantity(problem.miss[b])
    common: dict[str, Any] = {
        "state": state,
        "name": chain.label(state),
        "certain": certain,
        "probability": quantity(hit),
        "miss": miss,
    }
    if not (problem.inside[b] or problem.target[b]):
        return Reaching(
            **common, mean=Infinite(), conditional_mean=None, variance=None, deviation=None
        )
    mean = quantity(problem.mean[b])
    variance, deviation = problem.variance(b)
    return Reaching(
        **common,
        mean=mean if certain else Infinite(),
        conditional_mean=mean,
        variance=None if variance is None else quantity(variance),
        deviation=deviation,
    )


def require_certain(result: Reaching) -> Quantity:
    """Return the mean, or raise NotAbsorbingError with the reason why it is infinite."""
    if result.certain:
        return result.mean
    raise NotAbsorbingError(
        f"from state {printable(result.name)} the target is reached with probability "
        f"{result.probability.decimal} only, so its expected time is infinite"
    )
