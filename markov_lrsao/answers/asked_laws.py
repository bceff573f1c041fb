"""The law of T of searches that do not learn, and of agents from other starts or to other ends.

Powers of the transition matrix on (position, mode), or of the joint chain of patterns, until what
is under way is negligible, or as far as it is affordable; what is left then is part of the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.laws import Powers
from markov_lrsao.answers.learners import begin_and_end, joint_between
from markov_lrsao.answers.plan import Options
from markov_lrsao.answers.searches import (
    Start,
    positions_at_least,
    search_law,
    search_runtime,
    start_law,
)
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.quantity import Exact, Infinite, Quantity
from markov_lrsao.exact.rationals import RationalLike, to_float
from markov_lrsao.joint.enumeration import JointChain
from markov_lrsao.memoryless.tails import Forwards
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Progress, no_progress

__all__ = ["forwards_of", "joint_forwards", "law_by_powers"]

_TAIL = 1e-13
_WORK = 4_000_000_000
"""Transitions and states times steps: some ten seconds."""
_LONGEST = 1 << 24
"""Steps of a law: their probabilities take 128 MiB."""


def joint_forwards(joint: JointChain, begin: Mapping[int, fmpq], ends: frozenset[int]) -> Forwards:
    """Return the joint chain as a law that is carried forwards."""
    chain = joint.chain
    start = np.zeros(chain.size)
    for s in chain.start:
        start[s] = to_float(begin.get(int(chain.positions[s]), fmpq(0)))
    ended = np.isin(chain.positions, sorted(ends | {joint.law.optimum}))
    return Forwards(chain.to_scipy().T.tocsr(), start, ended)


def forwards_of(
    landscape: Landscape | LeadingOnes,
    algorithm: Algorithm | Search,
    start: Start | None,
    at_least: RationalLike | None,
    progress: Progress = no_progress,
) -> Forwards:
    """Return the chain whose powers give the law of T.

    Raises
    ------
    ParameterError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    if isinstance(algorithm, Search):
        law = search_law(landscape, algorithm)
        return Forwards.of(law, start_law(law, start), positions_at_least(law, at_least))
    assert isinstance(landscape, Landscape)
    step = StepLaw.of(landscape, algorithm)
    begin, ends = begin_and_end(step, start, at_least)
    joint = joint_between(step, begin, ends, Options(field="float", progress=progress))
    return joint_forwards(joint, begin, ends)


def law_by_powers(
    landscape: Landscape | LeadingOnes,
    algorithm: Algorithm | Search,
    start: Start | None,
    at_least: RationalLike | None,
    progress: Progress = no_progress,
) -> Powers:
    """Return the law of T.

    Raises
    ------
    ParameterError
        No run ever ends, or none is seen to within the horizon that is affordable.
    """
    forwards = forwards_of(landscape, algorithm, start, at_least, progress)
    mean, variance, never = _moments(landscape, algorithm, start, at_least)
    if never.lower >= 1:
        raise ParameterError(
            f"{algorithm.name}: no run from this start ever ends, T is infinite; begin elsewhere, "
            f"e.g. at random"
        )
    reached, late = _reached(forwards, to_float(never.lower), progress)
    done = float(reached[-1])
    if done <= 0.0:
        raise ParameterError(
            f"{algorithm.name}: no run ends within {len(reached):,} steps, as far as the law of T "
            f"is computed; estimate with `simulate()`"
        )
    probabilities = np.diff(reached, prepend=0.0)
    horizon = len(reached) - 1
    times = np.arange(len(probabilities))
    return Powers(
        expectation=mean,
        variance=variance,
        finite_mean=float(probabilities @ times) / done if done else inf,
        never=never,
        error=forwards.error(horizon) + late,
        horizon=horizon,
        probabilities=np.maximum(probabilities, 0.0),
    )


def _reached(
    forwards: Forwards, never: float, progress: Progress
) -> tuple[npt.NDArray[np.float64], float]:
    """Return P(T <= t) until hardly a run is under way that will end, and how many still are.

    Hardly: less than the roundings may have moved, which no further step makes smaller.
    """
    longest = min(_LONGEST, _WORK // (forwards.matrix.nnz + len(forwards.begin)))
    found: list[npt.NDArray[np.float64]] = []
    made, late = 0, 1.0
    with progress("powers of the transition matrix") as bar:
        for reached, going in forwards.stretches():
            left = going - never
            errors = forwards.error(0) + np.arange(made, made + len(left)) * forwards.error(1)
            enough = np.flatnonzero(left < np.maximum(errors, _TAIL))
            kept = min(longest - made, int(enough[0]) + 1 if len(enough) else len(left))
            found.append(reached[:kept])
            made, late = made + kept, max(0.0, float(left[kept - 1]))
            bar.advance(kept)
            if len(enough) or made >= longest:
                break
    return np.concatenate(found), late


def _moments(
    landscape: Landscape | LeadingOnes,
    algorithm: Algorithm | Search,
    start: Start | None,
    at_least: RationalLike | None,
) -> tuple[Quantity, Quantity, Quantity]:
    """Return E[T], Var[T] and P(T = infinity)."""
    if isinstance(algorithm, Search):
        found = search_runtime(landscape, algorithm, start=start, at_least=at_least, field="float")
    else:
        from markov_lrsao.answers.expected import runtime

        found = runtime(landscape, algorithm, start=start, at_least=at_least, outside_h=True)
    if found.trap is None:
        return found.total, found.variance, Exact(fmpq(0))
    return Infinite(), Infinite(), found.trap.probability
