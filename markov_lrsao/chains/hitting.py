"""Hitting times of a chain: means, variances and values at hitting.

With h = E[T] and P the transition matrix, h = 1 + P h outside the target. The variance v
satisfies v = w + P v with w_i = sum_j P_ij (1 + h_j - h_i)^2, the variance contributed by
one step; unlike E[T^2] - E[T]^2 this is a sum of non-negative terms. Higher central moments
follow the same pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.doubts import relative
from markov_lrsao.chains.solvers import Field, absorbing_outside, backward, forward
from markov_lrsao.chains.solvers.quotient import quotient, worth_merging
from markov_lrsao.exact.balls import Ball
from markov_lrsao.exact.graphs import reachable_from
from markov_lrsao.progress import Progress, no_progress

__all__ = [
    "central_moments",
    "expected_at_hitting",
    "hitting_distribution",
    "hitting_times",
    "hitting_times_with_errors",
    "moments_of_phases",
    "phase_moments",
]

BoolArray = npt.NDArray[np.bool_]


def hitting_times(
    chain: MarkovChain,
    target: BoolArray,
    *,
    field: Field = "exact",
    progress: Progress = no_progress,
) -> Any:
    """Return E_i[T] for every state i, T the first time in `target`.

    >>> from markov_lrsao.chains.sources import birth_death_chain
    >>> chain = birth_death_chain([fmpq(1, 2)] * 3)
    >>> hitting_times(chain, chain.at_positions([3]))
    [12, 10, 6, 0]
    """
    one = [fmpq(1)] * chain.size if field == "exact" else np.ones(chain.size)
    return backward(chain, ~target, one, field=field, progress=progress)


def hitting_times_with_errors(
    chain: MarkovChain, target: BoolArray, *, progress: Progress = no_progress
) -> Ball:
    """Return E_i[T] for every state i in floats, with certain bounds of their errors.

    >>> from markov_lrsao.chains.sources import birth_death_chain
    >>> chain = birth_death_chain([fmpq(1, 2)] * 3)
    >>> times = hitting_times_with_errors(chain, chain.at_positions([3]))
    >>> bool(np.all(np.abs(times.mid - [12, 10, 6, 0]) <= times.rad)), bool(times.rad.max() < 1e-12)
    (True, True)
    """
    rounds = np.zeros(chain.size)
    times = backward(
        chain, ~target, np.ones(chain.size), field="float", rounds=rounds, progress=progress
    )
    return Ball(times, relative(rounds) * times)


def central_moments(
    chain: MarkovChain,
    target: BoolArray,
    order: int,
    *,
    field: Field = "exact",
    progress: Progress = no_progress,
) -> list[Any]:
    """Return [E_i[T], Var_i[T], third, .. central moment up to `order`] for every state i.

    With d_ij = 1 + h_j - h_i the k-th central moment m^k satisfies
    m^k_i = sum_j P_ij sum_l binom(k, l) d_ij^(k-l) m^l_j with m^0 = 1, m^1 = 0.
    """
    means = hitting_times(chain, target, field=field, progress=progress)
    moments: list[Any] = [means]
    for k in range(2, order + 1):
        constant = _contributions(chain, target, moments, k, field)
        moments.append(backward(chain, ~target, constant, field=field, progress=progress))
    return moments


def _contributions(
    chain: MarkovChain, target: BoolArray, moments: list[Any], k: int, field: Field
) -> Any:
    """Return sum_j P_ij sum_(l < k) binom(k, l) d_ij^(k-l) m^l_j: the known part of m^k_i."""
    means = moments[0]
    lower = range(2, k)
    if field == "float":
        sources = chain.sources
        jump = 1 + means[chain.indices] - means[sources]
        weights = chain.numerators.astype(np.float64) / chain.denominators[sources]
        terms = jump**k
        for m in lower:
            terms = terms + comb(k, m) * jump ** (k - m) * moments[m - 1][chain.indices]
        return np.bincount(sources, weights=weights * terms, minlength=chain.size)
    pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
    numerators, denominators = chain.numerators.tolist(), chain.denominators.tolist()
    constant = [fmpq(0)] * chain.size
    for i in np.flatnonzero(~target).tolist():
        total, before = fmpq(0), 1 - means[i]
        for e in range(pointers[i], pointers[i + 1]):
            j = columns[e]
            jump = before + means[j]
            term = jump**k
            for m in lower:
                term += comb(k, m) * jump ** (k - m) * moments[m - 1][j]
            total += numerators[e] * term
        constant[i] = total / denominators[i]
    return constant


def expected_at_hitting(
    chain: MarkovChain, target: BoolArray, values: Any, *, field: Field = "exact"
) -> Any:
    """Return E_i[values(X_T)], X_T the state in which `target` is first hit."""
    zero = [fmpq(0)] * chain.size if field == "exact" else np.zeros(chain.size)
    return backward(chain, ~target, zero, values, field=field)


def _merged(
    chain: MarkovChain, begin: BoolArray | None, end: BoolArray
) -> tuple[MarkovChain, BoolArray | None, BoolArray]:
    """Merge states with equal futures up to `end`, none in `begin` with one outside it."""
    colours = end.astype(np.int64) if begin is None else 2 * end.astype(np.int64) + begin
    merged = quotient(absorbing_outside(chain, ~end), ~end, colours)
    first = merged.representative
    return merged.chain, None if begin is None else begin[first], end[first]


def phase_moments(
    chain: MarkovChain,
    begin: BoolArray | None,
    end: BoolArray,
    order: int = 2,
    *,
    field: Field = "exact",
    progress: Progress = no_progress,
) -> list[Any]:
    """Return mean and central moments of the time from first hitting `begin` to hitting `end`.

    The chain starts in its only start state; `begin` None means the start. The moments given
    the state X at which `begin` is hit are averaged over X; the k-th central moment is
    E[sum_l binom(k, l) m^l(X) (m(X) - m)^(k-l)]. In floats each carries a bound of its error.
    """
    if field == "float":
        from markov_lrsao.chains.float_moments import float_moments

        return float_moments(chain, begin, end, order, progress=progress)
    if worth_merging(chain):
        chain, begin, end = _merged(chain, begin, end)
    if begin is None:
        start = int(chain.start[0])
        found = central_moments(chain, end, order, progress=progress)
        return [values[start] for values in found]
    after = _after(chain, begin, end)
    return _averaged(chain, begin, central_moments(chain, end | ~after, order, progress=progress))


def moments_of_phases(
    chain: MarkovChain,
    ends: Sequence[BoolArray],
    order: int = 2,
    *,
    field: Field = "exact",
    progress: Progress = no_progress,
) -> list[list[Any]]:
    """Return the moments of the whole time, and of each phase: `ends` are what phases end with.

    The last phase ends with the whole time, so that exact moments of all states serve both.
    """
    begins = [None, *ends[:-1]]
    if field == "float" or worth_merging(chain) or len(ends) == 1:
        total = phase_moments(chain, None, ends[-1], order, field=field, progress=progress)
        if len(ends) == 1:
            return [total, total]
        pairs = zip(begins, ends, strict=True)
        return [
            total,
            *(phase_moments(chain, *p, order, field=field, progress=progress) for p in pairs),
        ]
    whole = central_moments(chain, ends[-1], order, progress=progress)
    start = int(chain.start[0])
    return [
        [values[start] for values in whole],
        *(
            phase_moments(chain, begin, end, order, progress=progress)
            for begin, end in zip(begins[:-1], ends[:-1], strict=True)
        ),
        _averaged(chain, ends[-2], whole),
    ]


def _after(chain: MarkovChain, begin: BoolArray, end: BoolArray) -> BoolArray:
    """Return the states that can be met between `begin` and `end`."""
    cut = absorbing_outside(chain, ~end)
    return reachable_from(cut.indptr, cut.indices, np.flatnonzero(begin))


def _averaged(chain: MarkovChain, begin: BoolArray, moments: list[Any]) -> list[Any]:
    """Return mean and central moments from where `begin` is first hit, given those of its states.

    With m(X) the mean from the state X that is hit, the k-th central moment is
    E[sum_l binom(k, l) m^l(X) (m(X) - m)^(k-l)].
    """
    where = hitting_distribution(chain, begin)
    mean = sum((p * moments[0][i] for i, p in where.items()), fmpq(0))
    result = [mean]
    for k in range(2, len(moments) + 1):
        total = fmpq(0)
        for i, p in where.items():
            off = moments[0][i] - mean
            spread = off**k
            for m in range(2, k + 1):
                spread += comb(k, m) * moments[m - 1][i] * off ** (k - m)
            total += p * spread
        result.append(total)
    return result


def hitting_distribution(chain: MarkovChain, target: BoolArray) -> dict[int, fmpq]:
    """Return with which probability each state of `target` is the first one that is met.

    >>> from markov_lrsao.chains.sources import chain_from_rows
    >>> chain = chain_from_rows([{0: "1/3", 1: "1/3", 2: "1/3"}, {1: 1}, {2: 1}])
    >>> hitting_distribution(chain, chain.at_positions([1, 2]))
    {1: 1/2, 2: 1/2}
    """
    share = fmpq(1, len(chain.start))
    source = [fmpq(0)] * chain.size
    for i in chain.start.tolist():
        source[i] = share
    found = {i: share for i in chain.start.tolist() if target[i]}
    seen = reachable_from(chain.indptr, chain.indices, chain.start)
    inside = seen & ~target
    steps = forward(chain, inside, source)
    for i in np.flatnonzero(inside).tolist():
        if steps[i] != 0:
            for j, p in chain.row(i):
                if target[j]:
                    found[j] = found.get(j, fmpq(0)) + steps[i] * p
    return found
