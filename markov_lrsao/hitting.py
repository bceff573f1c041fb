"""Hitting times of a chain: means, variances and values at hitting.

With h = E[T] and P the transition matrix, h = 1 + P h outside the target. The variance v
satisfies v = w + P v with w_i = sum_j P_ij (1 + h_j - h_i)^2, the variance contributed by
one step; unlike E[T^2] - E[T]^2 this is a sum of non-negative terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chain import MarkovChain
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.solvers import Field, backward

__all__ = ["expected_at_hitting", "hitting_times", "hitting_variances", "mean_and_variance"]

BoolArray = npt.NDArray[np.bool_]


def hitting_times(
    chain: MarkovChain, target: BoolArray, *, field: Field = "exact",
    progress: Progress = no_progress,
) -> Any:
    """Return E_i[T] for every state i, T the first time in `target`.

    >>> from markov_lrsao.custom import birth_death_chain
    >>> chain = birth_death_chain([fmpq(1, 2)] * 3)
    >>> hitting_times(chain, chain.at_positions([3]))
    [6, 4, 2, 0]
    """
    one = [fmpq(1)] * chain.size if field == "exact" else np.ones(chain.size)
    return backward(chain, ~target, one, field=field, progress=progress)


def hitting_variances(
    chain: MarkovChain, target: BoolArray, means: Any, *, field: Field = "exact",
    progress: Progress = no_progress,
) -> Any:
    """Return Var_i[T] for every state i, given the means."""
    constant: Any
    if field == "exact":
        pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
        numerators, denominators = chain.numerators.tolist(), chain.denominators.tolist()
        constant = [fmpq(0)] * chain.size
        for i in np.flatnonzero(~target).tolist():
            total, before = fmpq(0), 1 - means[i]
            for k in range(pointers[i], pointers[i + 1]):
                total += numerators[k] * (before + means[columns[k]]) ** 2
            constant[i] = total / denominators[i]
    else:
        sources = chain.sources
        jump = 1 + means[chain.indices] - means[sources]
        weights = chain.numerators.astype(np.float64) / chain.denominators[sources]
        constant = np.bincount(sources, weights=weights * jump**2, minlength=chain.size)
    return backward(chain, ~target, constant, field=field, progress=progress)


def expected_at_hitting(
    chain: MarkovChain, target: BoolArray, values: Any, *, field: Field = "exact"
) -> Any:
    """Return E_i[values(X_T)], X_T the state in which `target` is first hit."""
    zero = [fmpq(0)] * chain.size if field == "exact" else np.zeros(chain.size)
    return backward(chain, ~target, zero, values, field=field)


def mean_and_variance(
    chain: MarkovChain, begin: BoolArray | None, end: BoolArray, *, field: Field = "exact",
    progress: Progress = no_progress,
) -> tuple[Any, Any]:
    """Return mean and variance of the time from first hitting `begin` to first hitting `end`.

    The chain starts in its only start state; `begin` None means the start. With m and v the
    conditional mean and variance given the state X at which `begin` is hit, the variance is
    E[v(X)] + Var[m(X)].
    """
    start = int(chain.start[0])
    means = hitting_times(chain, end, field=field, progress=progress)
    variances = hitting_variances(chain, end, means, field=field, progress=progress)
    if begin is None:
        return means[start], variances[start]
    mean = expected_at_hitting(chain, begin, means, field=field)[start]
    if field == "exact":
        spread = [v + (m - mean) ** 2 for m, v in zip(means, variances, strict=True)]
    else:
        spread = variances + (means - mean) ** 2
    return mean, expected_at_hitting(chain, begin, spread, field=field)[start]
