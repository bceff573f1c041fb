r"""The law of a hitting time from powers of the transition matrix.

The distribution after t steps is the start vector times P^t. All numbers are non-negative, so
each step adds a few units in the last place to the error, and what has not been absorbed when
the iteration stops is known. States from which the target cannot be reached are found on the
graph beforehand; what enters them is set aside, and its total, P(T = infinity), is solved
exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.law_digits import ChainLaw
from markov_lrsao.answers.laws import Powers
from markov_lrsao.answers.plan import MOST_VALUED_STATES, Options, joint, quotient
from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.hitting import expected_at_hitting, phase_moments
from markov_lrsao.errors import Refused, StateSpaceTooLargeError, attempt
from markov_lrsao.exact.graphs import reachable_from, reversed_graph
from markov_lrsao.exact.quantity import Enclosed, Exact, Infinite, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.choices import probability_of_choice
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.solving import solve_values
from markov_lrsao.values.traps import fate
from markov_lrsao.values.whole_run import chain_with_values, chains_with_values

__all__ = [
    "HittingLaw",
    "hitting_law",
    "powers_of_few_patterns",
    "powers_of_patterns",
    "powers_of_quotient",
    "powers_of_values",
]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
_UNIT = 2.0**-53
_TAIL = 1e-15
_MOST_WORK = 40_000_000_000
"""Transitions times steps: a minute or two."""
_NARROW = fmpq(1, 10_000)
_FEW_STATES = 500_000


@dataclass(frozen=True, eq=False)
class HittingLaw:
    """The law of the time from hitting one set to hitting another.

    Attributes
    ----------
    probabilities : of T = 0, 1, ..
    error : every sum of the first of them is within this of P(T <= t)
    never : P(T = infinity), exactly
    """

    probabilities: FloatArray
    error: float
    never: fmpq


def hitting_law(
    chain: MarkovChain,
    begin: BoolArray | None,
    end: BoolArray,
    *,
    progress: Progress = no_progress,
) -> HittingLaw:
    """Return the law of the time from first hitting `begin` (default: the start) to `end`.

    Runs that never reach `begin` or `end` have T = infinity; `end` is part of `begin`.

    Raises
    ------
    StateSpaceTooLargeError
        The tail is so long that it would take too many steps.
    """
    dead = _never_reaching(chain, end)
    vector: FloatArray = np.zeros(chain.size)
    vector[chain.start] = 1.0
    lost, steps = 0.0, 0
    probabilities = [0.0]
    for target in ([] if begin is None else [begin]) + [end]:
        vector, probabilities, left = _absorbed(chain, vector, target, dead, progress)
        lost += left
        steps += len(probabilities)
    widest = int(np.bincount(chain.indices).max())
    # A step rounds each weight, product and sum; the last two for summing states and times.
    rounding = (steps * (widest + 4) + 64) * _UNIT
    never = fmpq(0)
    if dead.any():
        worth = [fmpq(1 if x else 0) for x in dead.tolist()]
        never = expected_at_hitting(chain, dead | end, worth)[int(chain.start[0])]
    return HittingLaw(np.array(probabilities), lost + rounding, never)


def _never_reaching(chain: MarkovChain, target: BoolArray) -> BoolArray:
    """Return the states from which the target cannot be reached."""
    indptr, indices = reversed_graph(chain.indptr, chain.indices)
    return ~reachable_from(indptr, indices, np.flatnonzero(target))


def _absorbed(
    chain: MarkovChain, vector: FloatArray, target: BoolArray, dead: BoolArray, progress: Progress
) -> tuple[FloatArray, list[float], float]:
    """Iterate until (almost) all has hit the target or is stuck.

    Returns where the target was hit, when, and how much was still under way.
    """
    matrix = chain.to_scipy().T.tocsr()
    arrived = np.where(target, vector, 0.0)
    probabilities = [float(arrived.sum())]
    going = ~(target | dead)
    vector = np.where(going, vector, 0.0)
    most = max(1, _MOST_WORK // max(matrix.nnz, 1))
    with progress("powers of the transition matrix") as bar:
        while (left := float(vector.sum())) > _TAIL:
            if len(probabilities) > most:
                raise StateSpaceTooLargeError(
                    f"after {most:,} steps {left:.1e} of the probability is still under way, too "
                    f"much for powers of a matrix with {matrix.nnz:,} entries; simulate instead"
                )
            vector = matrix @ vector
            hit = np.where(target, vector, 0.0)
            arrived += hit
            probabilities.append(float(hit.sum()))
            vector = np.where(going, vector, 0.0)
            bar.advance()
    return arrived, probabilities, left


def powers_of_patterns(law: StepLaw, phase: int | None, progress: Progress) -> Powers | Refused:
    """Return the law from the joint chain of all patterns."""
    found = joint(law, Options(field="float", progress=progress))
    if isinstance(found, Refused):
        return found
    return attempt(lambda: _powers_of_chain(law, found.chain, phase, progress))


def powers_of_few_patterns(law: StepLaw, phase: int | None, progress: Progress) -> Powers | Refused:
    """Return the same where that takes seconds."""
    found = joint(law, Options(field="float", max_states=_FEW_STATES, progress=progress))
    if isinstance(found, Refused):
        return found
    return attempt(lambda: _powers_of_chain(law, found.chain, phase, progress))


def _powers_of_chain(
    law: StepLaw, chain: MarkovChain, phase: int | None, progress: Progress
) -> Powers:
    ends = [chain.positions >= m for m in law.landscape.milestones]
    begin, end = _interval(ends, phase)
    found = hitting_law(chain, begin, end, progress=progress)
    moments: list[Quantity] = [Infinite()] * 2
    if found.never == 0:
        moments = [Quantity.of(x) for x in phase_moments(chain, begin, end, field="float")]
    return replace(
        _powers(found, moments, Exact(found.never), 0.0), source=ChainLaw(chain, begin, end)
    )


def powers_of_values(law: StepLaw, phase: int | None, progress: Progress) -> Powers | Refused:
    """Return the law from the joint chain with values, where patterns do not decide."""
    levels = chains_with_values(law, MOST_VALUED_STATES, progress)
    if isinstance(levels, Refused):
        return levels
    return attempt(lambda: _powers_of_levels(law, levels, phase, progress))


def powers_of_quotient(law: StepLaw, phase: int | None, progress: Progress) -> Powers | Refused:
    """Return the law from the quotient of all tables, in which nothing is open."""
    found = quotient(law, Options(progress=progress))
    if isinstance(found, Refused):
        return found
    return attempt(lambda: _powers_of_levels(law, found.levels, phase, progress))


def _powers_of_levels(
    law: StepLaw, levels: Iterable[Refined], phase: int | None, progress: Progress
) -> Powers:
    """Return the law from the level at which an open comparison is least likely to be met."""
    best: tuple[fmpq, Powers] | None = None
    for block in levels:
        outcome = fate(block)
        met = probability_of_choice(block, outcome.traps)[block.start[0]]
        if best is not None and met >= best[0]:
            continue
        chain, phases = chain_with_values(block)
        ends = [phases > k for k in range(len(law.landscape.milestones))]
        begin, end = _interval(ends, phase)
        found = hitting_law(chain, begin, end, progress=progress)
        values = solve_values(block, "exact" if block.undecided else "float", 2).values
        never = Quantity.enclosed(max(found.never - met, fmpq(0)), min(found.never + met, fmpq(1)))
        match values[0][0]:
            case Enclosed(_, fmpq()):
                never = Exact(fmpq(0))  # E[T] is finite, however it is resolved
        moments = values[0 if phase is None else phase]
        unsure = float(np.nextafter(to_float(met), 2.0)) if met else 0.0
        source = None if met else ChainLaw(chain, begin, end)
        best = met, replace(_powers(found, moments, never, unsure), source=source)
        if met <= _NARROW:
            break
    assert best is not None
    return best[1]


def _interval(ends: list[BoolArray], phase: int | None) -> tuple[BoolArray | None, BoolArray]:
    """Return where a phase begins and ends, given where each one ends."""
    if phase is None:
        return None, ends[-1]
    return (ends[phase - 2] if phase > 1 else None), ends[phase - 1]


def _powers(
    found: HittingLaw, moments: list[Quantity], never: Quantity, undecided: float
) -> Powers:
    pmf = found.probabilities
    total = float(pmf.sum())
    mean = float(pmf @ np.arange(len(pmf))) / total if total > 0 else inf
    return Powers(
        expectation=moments[0],
        variance=moments[1],
        finite_mean=mean,
        never=never,
        error=found.error + undecided if undecided else found.error,
        horizon=len(pmf) - 1,
        probabilities=pmf,
    )
