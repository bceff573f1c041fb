"""Float elimination without subtraction (GTH), component by component, compiled.

A state's probability of being left is the *sum* of its other transitions, never one minus
its self-loop, and eliminating a state only adds and divides non-negative numbers. Every
operation therefore keeps full relative accuracy, whatever the size of the answer: a walk
whose hitting time is 2^1000 comes out with a relative error of some 1e-13, where solvers
that subtract return noise.

Error bound. Each of the values is built from non-negative data by additions,
multiplications and divisions; a chain of m such operations has a relative error of at most
m u / (1 - m u), u = 2^-53. `depth` counts the longest such chain for states outside large
components. This needs numbers in the range of floats; where one falls below it the solver
refuses, since the answer would then be above it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import NotAbsorbingError, SolverError, StateSpaceTooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["solve_backward", "solve_forward"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
_LARGEST_FACTORS = 400_000_000  # numbers that elimination of one component may keep: 3.2 GB
_WIDE = 8  # half-bandwidth from which a better order of the states is looked for
_SLOW_BAND = 3e8  # multiplications in a band, from which sparse elimination is preferred


@cache
def _kernels() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compile the kernels when they are first needed; numba is a heavy import."""
    from markov_lrsao.solvers import _kernels

    return _kernels.backward, _kernels.forward


def _bands(chain: MarkovChain) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Order the states of each component so that its matrix is a narrow band.

    Returns the states in solving order and the half-bandwidth per component, -1 where the
    band is so wide that sparse elimination is better.
    """
    order = chain.components
    members, sizes = order.members, order.sizes
    band = np.zeros(len(order), dtype=np.int64)
    if sizes.max() == 1:
        return members, band
    place = np.empty(chain.size, dtype=np.int64)
    place[members] = np.arange(chain.size) - np.repeat(order.start[:-1], sizes)
    of = order.label[chain.sources]
    local = (sizes[of] > 1) & (of == order.label[chain.indices])
    of, rows, columns = of[local], place[chain.sources[local]], place[chain.indices[local]]
    np.maximum.at(band, of, np.abs(rows - columns))
    wide = np.flatnonzero(band > _WIDE)
    if wide.size:
        members = members.copy()
    for c in wide.tolist():
        own = of == c
        span = slice(int(order.start[c]), int(order.start[c + 1]))
        best, band[c] = _narrow(int(sizes[c]), rows[own], columns[own], int(band[c]))
        members[span] = members[span][best]
        if (int(sizes[c]) * int(band[c]) ** 2 > _SLOW_BAND
                or int(sizes[c]) * (2 * int(band[c]) + 1) > _LARGEST_FACTORS):
            band[c] = -1
    return members, band


def _narrow(
    size: int, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], half: int
) -> tuple[npt.NDArray[np.int64], int]:
    """Return an order of a component's states, and its half-bandwidth."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    graph = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))
    best = reverse_cuthill_mckee(graph, symmetric_mode=False).astype(np.int64)
    new = np.empty_like(best)
    new[best] = np.arange(size)
    better = int(np.abs(new[rows] - new[columns]).max())
    return (best, better) if better < half else (np.arange(size), half)


def _weights(chain: MarkovChain) -> tuple[FloatArray, FloatArray]:
    """Return weights and totals per row, whose quotients are the probabilities."""
    if chain.denominators.dtype != object and chain.denominators.max() < 2**53:
        return chain.numerators.astype(np.float64), chain.denominators.astype(np.float64)
    return chain.probabilities, np.ones(chain.size)


def _sparse(chain: MarkovChain, states: npt.NDArray[np.int64]) -> tuple[Any, ...]:
    """Return the factors of one large component, its states being in this order."""
    from markov_lrsao.solvers import _sparse_kernels

    place = np.full(chain.size, -1, dtype=np.int64)
    place[states] = np.arange(len(states))
    counts = chain.indptr[states + 1] - chain.indptr[states]
    ends = np.cumsum(counts)
    at = np.repeat(chain.indptr[states] - ends + counts, counts) + np.arange(ends[-1])
    rows = np.repeat(np.arange(len(states)), counts)
    columns, probability = place[chain.indices[at]], chain.probabilities[at]
    leak = np.bincount(rows[columns < 0], probability[columns < 0], minlength=len(states))
    if leak.max() == 0.0:
        _refuse(chain, int(states[0]))
    keep = (columns >= 0) & (columns != rows)
    pointer = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=len(states)))])
    factors: tuple[Any, ...] = _sparse_kernels.eliminate(
        pointer, columns[keep], probability[keep], leak, _LARGEST_FACTORS)
    if len(factors[0]) + len(factors[9]) < len(states):
        raise StateSpaceTooLargeError(
            f"a strongly connected component of {len(states):,} states fills up when it is "
            f"eliminated (more than {_LARGEST_FACTORS:,} numbers)"
        )
    return factors


def _refuse(chain: MarkovChain, bad: int) -> None:
    if bad >= 0:
        label = chain.components.label
        own = label[chain.sources] == label[bad]
        if np.any(label[chain.indices[own]] != label[bad]):
            raise SolverError(
                f"the probability of leaving the component of state {chain.label(bad)} is below "
                f"the range of floats; add --exact"
            )
        raise NotAbsorbingError(f"state {chain.label(bad)} is in a set that is never left")


def solve_backward(
    chain: MarkovChain, inside: BoolArray, constant: FloatArray, values: FloatArray
) -> None:
    """Fill `values` inside with the solution of v = constant + P v; outside they are given.

    `constant` and the given values must not be negative.
    """
    backward, _ = _kernels()
    order = chain.components
    members, band = _bands(chain)
    data = (chain.indptr, chain.indices, *_weights(chain), inside, members, order.start, band,
            order.label, constant, values)
    begin = 0
    for c in np.flatnonzero(band < 0).tolist():
        _refuse(chain, int(backward(*data, begin, c)))
        states = members[order.start[c] : order.start[c + 1]]
        # What the component is given: constants and values outside; its own count as 0.
        values[states] = 0.0
        spans = order.label[chain.sources] == c
        received = np.bincount(
            chain.sources[spans], chain.probabilities[spans] * values[chain.indices[spans]],
            minlength=chain.size,
        )
        right = constant[states] + received[states]
        from markov_lrsao.solvers._sparse_kernels import solve_columns

        solve_columns(_sparse(chain, states), right)
        values[states] = right
        begin = c + 1
    _refuse(chain, int(backward(*data, begin, len(order))))


def solve_forward(chain: MarkovChain, inside: BoolArray, source: FloatArray) -> FloatArray:
    """Return x = source + x P restricted to the inside: expected numbers of steps per state."""
    _, forward = _kernels()
    order = chain.components
    members, band = _bands(chain)
    flow = source.copy()
    data = (chain.indptr, chain.indices, *_weights(chain), inside, members, order.start, band,
            order.label, flow)
    end = len(order)
    for c in np.flatnonzero(band < 0)[::-1].tolist():
        from markov_lrsao.solvers._sparse_kernels import solve_rows

        _refuse(chain, int(forward(*data, c + 1, end)))
        states = members[order.start[c] : order.start[c + 1]]
        local = flow[states]
        solve_rows(_sparse(chain, states), local)
        flow[states] = local
        end = c + 1  # the component itself comes again, to pass its flow on
    _refuse(chain, int(forward(*data, 0, end)))
    return flow
