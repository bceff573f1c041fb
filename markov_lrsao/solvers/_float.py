"""Float elimination without subtraction (GTH), component by component, compiled.

A state's probability of being left is the *sum* of its other transitions, never one minus
its self-loop, and eliminating a state only adds and divides non-negative numbers. Every
operation therefore keeps full relative accuracy, whatever the size of the answer: a walk
whose hitting time is 2^1000 comes out with a relative error of some 1e-13, where solvers
that subtract return noise.

Error bound. Each of the values is built from non-negative data by additions,
multiplications and divisions; a chain of m such operations has a relative error of at most
m u / (1 - m u), u = 2^-53. `depth` counts the longest such chain for states outside large
components.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import NotAbsorbingError, StateSpaceTooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["solve_backward", "solve_forward"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
_LARGEST_BAND = 400_000_000  # entries of the band of one component: 3.2 GB


@cache
def _kernels() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compile the kernels when they are first needed; numba is a heavy import."""
    from markov_lrsao.solvers import _kernels

    return _kernels.backward, _kernels.forward


def _bands(chain: MarkovChain) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Order the states of each component so that its matrix is a narrow band.

    Returns the states in solving order and the half-bandwidth per component.
    """
    order = chain.components
    members = order.members.copy()
    sizes = order.sizes
    band = np.zeros(len(order), dtype=np.int64)
    large = np.flatnonzero(sizes > 1)
    if large.size == 0:
        return members, band
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    place = np.empty(chain.size, dtype=np.int64)
    for c in large.tolist():
        states = members[order.start[c] : order.start[c + 1]]
        place[states] = np.arange(len(states))
        spans = np.concatenate(
            [np.arange(chain.indptr[i], chain.indptr[i + 1]) for i in states.tolist()]
        ) if len(states) < 1000 else np.flatnonzero(order.label[chain.sources] == c)
        rows, columns = chain.sources[spans], chain.indices[spans]
        local = order.label[columns] == c
        rows, columns = place[rows[local]], place[columns[local]]
        if len(states) > 2:
            graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(states),) * 2)
            best = reverse_cuthill_mckee(graph, symmetric_mode=False)
            new = np.empty_like(best)
            new[best] = np.arange(len(best), dtype=best.dtype)
            if np.abs(new[rows] - new[columns]).max() < np.abs(rows - columns).max():
                members[order.start[c] : order.start[c + 1]] = states[best]
                rows, columns = new[rows], new[columns]
        band[c] = np.abs(rows - columns).max()
        if len(states) * (2 * int(band[c]) + 1) > _LARGEST_BAND:
            raise StateSpaceTooLargeError(
                f"a strongly connected component of {len(states):,} states has bandwidth "
                f"{band[c]:,}: its elimination does not fit into memory"
            )
    return members, band


def solve_backward(
    chain: MarkovChain, inside: BoolArray, constant: FloatArray, values: FloatArray
) -> None:
    """Fill `values` inside with the solution of v = constant + P v; outside they are given.

    `constant` and the given values must not be negative.
    """
    backward, _ = _kernels()
    members, band = _bands(chain)
    bad = backward(
        chain.indptr, chain.indices, chain.numerators.astype(np.float64),
        chain.denominators.astype(np.float64), inside, members, chain.components.start, band,
        chain.components.label, constant, values,
    )
    if bad >= 0:
        raise NotAbsorbingError(f"state {chain.label(int(bad))} is in a set that is never left")


def solve_forward(chain: MarkovChain, inside: BoolArray, source: FloatArray) -> FloatArray:
    """Return x = source + x P restricted to the inside: expected numbers of steps per state."""
    _, forward = _kernels()
    members, band = _bands(chain)
    flow = source.copy()
    bad = forward(
        chain.indptr, chain.indices, chain.numerators.astype(np.float64),
        chain.denominators.astype(np.float64), inside, members, chain.components.start, band,
        chain.components.label, flow,
    )
    if bad >= 0:
        raise NotAbsorbingError(f"state {chain.label(int(bad))} is in a set that is never left")
    return flow
