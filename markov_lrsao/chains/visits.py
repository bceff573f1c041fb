"""Visits of a chain: how often, at most how often, and with which law a position is hit.

A *visit* to position p is an arrival: a step that ends in p and did not begin there (the
paper's event H_t^p). The start counts as no arrival at position 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.solvers import NEGLIGIBLE_FLOW, Field, absorbing_outside, backward, forward
from markov_lrsao.errors import ParameterError, SolverError
from markov_lrsao.exact.graphs import reachable_from
from markov_lrsao.model.statements import implements

__all__ = ["expected_visits", "largest_number_of_visits", "visit_law"]

BoolArray = npt.NDArray[np.bool_]


def _arrivals(chain: MarkovChain, position: int) -> BoolArray:
    """Return which stored transitions are arrivals at the position."""
    return np.asarray(
        (chain.positions[chain.indices] == position) & (chain.positions[chain.sources] != position),
        dtype=np.bool_,
    )


def expected_visits(chain: MarkovChain, target: BoolArray, *, field: Field = "exact") -> Any:
    """Return the expected number of arrivals per position before and at hitting `target`."""
    source: Any
    if field == "exact":
        source = [fmpq(0)] * chain.size
        source[int(chain.start[0])] = fmpq(1)
    else:
        source = np.zeros(chain.size)
        source[chain.start[0]] = 1.0
    flow = forward(chain, ~target, source, field=field)
    moving = chain.positions[chain.indices] != chain.positions[chain.sources]
    moving &= ~target[chain.sources]
    last = int(chain.positions.max())
    if field == "float":
        cut = absorbing_outside(chain, ~target)
        where = chain.positions[chain.indices[moving]]
        arrivals = (chain.probabilities * flow[chain.sources])[moving]
        counts = np.bincount(where, weights=arrivals, minlength=last + 1)
        met = reachable_from(cut.indptr, cut.indices, chain.start[:1])[chain.sources[moving]]
        if np.any(counts[where[met]] < NEGLIGIBLE_FLOW):
            raise SolverError(
                "an expected number of visits is below the range of floats; ask for exact values"
            )
        return counts
    visits = [fmpq(0)] * (last + 1)
    for e in np.flatnonzero(moving).tolist():
        i, j = int(chain.sources[e]), int(chain.indices[e])
        if flow[i] != 0:
            visits[int(chain.positions[j])] += flow[i] * fmpq(
                int(chain.numerators[e]), int(chain.denominators[i])
            )
    return visits


@implements("Lemma 10")
def largest_number_of_visits(chain: MarkovChain, target: BoolArray, position: int) -> int | None:
    """Return the largest possible number of arrivals at a position; None if unbounded.

    The longest path over the components: an arrival inside a component can be repeated for
    ever, any other counts once.
    """
    order = chain.components
    counted = _arrivals(chain, position) & ~target[chain.sources]
    label = order.label
    if np.any(counted & (label[chain.sources] == label[chain.indices])):
        return None
    best = np.zeros(len(order), dtype=np.int64)
    keep = (label[chain.sources] != label[chain.indices]) & ~target[chain.sources]
    edges = np.stack(
        [label[chain.sources[keep]], label[chain.indices[keep]], counted[keep]], axis=1
    )
    edges = edges[np.argsort(edges[:, 0], kind="stable")]
    for source, to, gain in edges.tolist():  # sources ascend, successors are smaller: all final
        if best[to] + gain > best[source]:
            best[source] = best[to] + gain
    return int(best[label[chain.start[0]]])


def visit_law(
    chain: MarkovChain, target: BoolArray, position: int, count: int | None = None
) -> list[fmpq]:
    """Return P(V = k) for k = 0 .. count, V the number of arrivals at a position, exactly.

    `count` defaults to the largest possible number; where that is unbounded it must be given,
    and 1 minus the sum is the probability of more visits.

    g_k, the probability of exactly k arrivals from a state, solves
    g_k = (non-arriving part of P) g_k + (arriving part) g_{k-1}.
    """
    largest = largest_number_of_visits(chain, target, position)
    if count is None:
        if largest is None:
            raise ParameterError(
                f"the number of visits to position {position} is unbounded; give count"
            )
        count = largest
    arrivals = _arrivals(chain, position)
    flagged = [arrivals[chain.indptr[i] : chain.indptr[i + 1]] for i in range(chain.size)]
    rerouted = _without(chain, arrivals)
    zero = [fmpq(0)] * (chain.size + 1)
    previous = zero
    law: list[fmpq] = []
    inside = np.append(~target, False)
    for k in range(count + 1):
        constant = list(zero)
        if k > 0:
            for i in range(chain.size):
                if not target[i] and flagged[i].any():
                    constant[i] = sum(
                        (
                            w * previous[j]
                            for (j, w), hit in zip(chain.row(i), flagged[i], strict=True)
                            if hit
                        ),
                        fmpq(0),
                    )
        outside = list(zero)
        if k == 0:
            for i in np.flatnonzero(target).tolist():
                outside[i] = fmpq(1)
        previous = backward(rerouted, inside, constant, outside)
        law.append(previous[int(chain.start[0])])
    return law


def _without(chain: MarkovChain, dropped: BoolArray) -> MarkovChain:
    """Redirect the dropped transitions into one extra absorbing state."""
    from dataclasses import replace

    indices = np.where(dropped, chain.size, chain.indices)
    # several dropped transitions of one row now lead to the same state: add them up
    key = chain.sources * (chain.size + 1) + indices
    unique, inverse = np.unique(key, return_inverse=True)
    numerators = np.zeros(len(unique), dtype=chain.numerators.dtype)
    np.add.at(numerators, inverse, chain.numerators)
    rows = unique // (chain.size + 1)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=chain.size))])
    return replace(
        chain,
        indptr=np.append(indptr, indptr[-1] + 1).astype(np.int64),
        indices=np.append(unique % (chain.size + 1), chain.size).astype(np.int64),
        numerators=np.append(numerators, 1),
        denominators=np.append(chain.denominators, 1),
        positions=np.append(chain.positions, -1),
    )
