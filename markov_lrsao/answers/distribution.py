r"""The law of the runtime: P(T <= t), P(T = t), quantiles and P(T = infinity), with error bounds.

Small chains go through powers of the transition matrix (`markov_lrsao.answers.powers`), any n
through inversion of the generating function (`markov_lrsao.answers.inversion`), agents that nothing
decides through tables carried forwards (`markov_lrsao.answers.forward_law`); what comes out is a
`Distribution` (`markov_lrsao.answers.laws`).

Where not all comparisons are decided, one way of resolving them is evaluated, and the
probability of ever meeting an open one is added to the error; E[T] is then an enclosure. Where
runs can get stuck, P(T <= t) tends to 1 - P(T = infinity), and quantiles beyond that are
infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from markov_lrsao.answers.accounts import by_signs
from markov_lrsao.answers.asked_laws import law_by_powers
from markov_lrsao.answers.expected import check_hypothesis, check_learner, check_size
from markov_lrsao.answers.forward_law import law_forward
from markov_lrsao.answers.inversion import invert
from markov_lrsao.answers.laws import Distribution
from markov_lrsao.answers.plan import asked_elsewhere, is_small
from markov_lrsao.answers.powers import (
    powers_of_few_patterns,
    powers_of_patterns,
    powers_of_quotient,
    powers_of_values,
)
from markov_lrsao.answers.searches import Start
from markov_lrsao.errors import LrsaoError, ParameterError, Refused, UndecidedComparisonError
from markov_lrsao.exact.rationals import RationalLike
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily, algorithm_at
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Progress, no_progress

__all__ = ["distribution"]

Way: TypeAlias = Callable[[StepLaw, int | None, Progress], Distribution | Refused]
_NARROW = 1e-6
"""An error with which no other way is tried."""
_LARGEST_FOLLOWED_N = 40
"""Up to here values are followed through the whole run where nothing else gives the law."""


def distribution(
    landscape: Landscape | LeadingOnes,
    algorithm: Algorithm | AlgorithmFamily | Search | NamedAlgorithm | None = None,
    *,
    phase: int | None = None,
    method: Literal["auto", "powers", "inversion", "forward"] = "auto",
    outside_h: bool = False,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    progress: Progress = no_progress,
) -> Distribution:
    """Return the law of T, or of the time of one phase (counted from 1).

    A phase that is never completed takes infinite time.

    Parameters
    ----------
    algorithm : default LRSAO with the paper's hyper-parameters at the landscape's n
    method : "powers" of the joint chain (small n), "inversion" of the generating function
        (any n), "forward": tables carried forwards (small n, any agent, wide), or "auto"
    start, at_least : where runs begin and end; see `runtime`

    Raises
    ------
    ParameterError, CrossingError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    if isinstance(algorithm, NamedAlgorithm):
        algorithm = algorithm.on(landscape)
    if not isinstance(algorithm, Search):
        check_learner(landscape, algorithm)
        assert isinstance(landscape, Landscape)
        algorithm = algorithm_at(algorithm, landscape.n)
        check_hypothesis(landscape, algorithm, outside_h=outside_h)
    if isinstance(algorithm, Search) or asked_elsewhere(start, at_least):
        if phase is not None or method == "inversion":
            raise ParameterError(
                "phases and the method inversion are those of agents that learn, from 0^n to the "
                "optimum; leave them out"
            )
        return law_by_powers(landscape, algorithm, start, at_least, progress)
    assert isinstance(landscape, Landscape)
    check_size(landscape)
    count = len(landscape.milestones)
    if phase is not None and not 1 <= phase <= count:
        raise ParameterError(f"phase = {phase} is out of range: choose 1..{count}")
    law = StepLaw.of(landscape, algorithm)
    small = is_small(law)
    if law.algorithm.epsilon != 0 and method == "auto":
        method = "forward"
    signed = method == "auto" and phase is None and by_signs(law)
    ways = _ways(method, small=small, signed=signed)
    if method == "auto" and not small and law.n <= _LARGEST_FOLLOWED_N:
        ways = [*ways, powers_of_values]
    return _best(law, phase, ways, progress, small=small)


def _ways(method: str, *, small: bool, signed: bool) -> Sequence[Way]:
    """Return the ways to the law, the first to try first.

    Where signs tell the probability to end, tables carried forwards know more than values do.
    """
    if signed:
        return [powers_of_patterns, law_forward, invert]
    if method == "forward":
        return [law_forward]
    if method == "inversion":
        return [invert]
    if method == "powers":
        return [powers_of_patterns, powers_of_values]
    if small:
        return [powers_of_patterns, invert, powers_of_quotient, powers_of_values, law_forward]
    return [invert, powers_of_patterns]


def _best(
    law: StepLaw, phase: int | None, ways: Sequence[Way], progress: Progress, *, small: bool
) -> Distribution:
    """Return the law with the least error of those found on the way to a good one.

    Raises
    ------
    LrsaoError
        Every way refuses, or no way can begin.
    """
    best: Distribution | None = None
    reasons: list[LrsaoError] = []
    for way in ways:
        if best is not None and best.never.exact and way is not powers_of_quotient:
            return best  # else runs were given up that a chain with values follows
        found = way(law, phase, progress)
        if isinstance(found, Refused):
            if found.reason.advised:  # no way can begin, but for chains of moderate size
                again = len(ways) > 1 and way is not powers_of_patterns
                few = powers_of_few_patterns(law, phase, progress) if again else found
                if isinstance(few, Refused):
                    raise found.reason
                return few
            reasons.append(found.reason)
            continue
        best = found if best is None or found.error < best.error else best
        if best.error <= _NARROW or not small:
            return best
    if best is not None:
        return best
    if len(reasons) == 1:
        raise reasons[0]
    raise UndecidedComparisonError(
        f"the distribution is not found within the limits: {reasons[0]}; estimate it with "
        f"`simulate()`"
    )
