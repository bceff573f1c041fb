"""Exact elimination over the rationals, component by component.

Successors are solved first, so a component sees known values outside itself; inside it,
states are eliminated one by one (their incoming transitions are redirected along their
outgoing ones) and then substituted back. Nothing is rounded, and the caller's residual
check compares with ==.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import NotAbsorbingError, SolverError
from markov_lrsao.progress import Progress

__all__ = ["check_residual", "solve_backward", "solve_forward"]

BoolArray = npt.NDArray[np.bool_]


def solve_backward(
    chain: MarkovChain, inside: BoolArray, constant: Sequence[fmpq], values: list[fmpq],
    progress: Progress,
) -> None:
    """Fill `values` inside with the solution of v = constant + P v; outside they are given."""
    pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
    numerators, denominators = chain.numerators.tolist(), chain.denominators.tolist()
    within = inside.tolist()
    order = chain.components
    starts, members = order.start.tolist(), order.members.tolist()
    with progress("solving exactly", total=chain.size) as bar:
        for c in range(len(order)):
            states = members[starts[c] : starts[c + 1]]
            if len(states) == 1:
                i = states[0]
                if not within[i]:
                    continue
                total, leaving = constant[i] * denominators[i], 0
                for k in range(pointers[i], pointers[i + 1]):
                    j = columns[k]
                    if j != i:
                        total += numerators[k] * values[j]
                        leaving += numerators[k]
                if leaving == 0:
                    raise NotAbsorbingError(f"state {chain.label(i)} is never left")
                values[i] = total / leaving
            else:
                _solve_component(chain, [i for i in states if within[i]], constant, values)
            if c & 4095 == 0:
                bar.advance(4096)


def _solve_component(
    chain: MarkovChain, states: list[int], constant: Sequence[fmpq], values: list[fmpq]
) -> None:
    """Eliminate the states of one component in turn, then substitute back."""
    local = set(states)
    rows: dict[int, dict[int, fmpq]] = {}
    right: dict[int, fmpq] = {}
    into: dict[int, set[int]] = {i: set() for i in states}
    leak: dict[int, fmpq] = {}  # probability of leaving the component (or the inside)
    for i in states:
        row: dict[int, fmpq] = {}
        total, leaving = constant[i], fmpq(0)
        for j, probability in chain.row(i):
            if j in local:
                row[j] = probability
                into[j].add(i)
            else:
                total += probability * values[j]
                leaving += probability
        rows[i], right[i], leak[i] = row, total, leaving
    for i in states:
        row = rows[i]
        row.pop(i, None)
        into[i].discard(i)
        leaving = leak[i] + sum(row.values(), fmpq(0))
        if leaving == 0:
            raise NotAbsorbingError(f"state {chain.label(i)} is in a set that is never left")
        scale = 1 / leaving
        rows[i] = row = {j: w * scale for j, w in row.items()}
        right[i] *= scale
        leak[i] *= scale
        for k in into[i]:
            weight = rows[k].pop(i)
            for j, w in row.items():
                rows[k][j] = rows[k].get(j, fmpq(0)) + weight * w
                into[j].add(k)
            right[k] += weight * right[i]
            leak[k] += weight * leak[i]
        for j in row:
            into[j].discard(i)
    for i in reversed(states):
        values[i] = right[i] + sum((w * values[j] for j, w in rows[i].items()), fmpq(0))


def solve_forward(
    chain: MarkovChain, inside: BoolArray, source: Sequence[fmpq], progress: Progress
) -> list[fmpq]:
    """Return x = source + x P restricted to the inside: expected numbers of steps per state."""
    pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
    numerators, denominators = chain.numerators.tolist(), chain.denominators.tolist()
    within = inside.tolist()
    order = chain.components
    starts, members = order.start.tolist(), order.members.tolist()
    flow = list(source)
    with progress("solving exactly", total=chain.size) as bar:
        for c in range(len(order) - 1, -1, -1):
            states = [i for i in members[starts[c] : starts[c + 1]] if within[i]]
            if len(states) == 1:
                i = states[0]
                stay = sum(
                    numerators[k] for k in range(pointers[i], pointers[i + 1]) if columns[k] == i
                )
                if stay == denominators[i]:
                    raise NotAbsorbingError(f"state {chain.label(i)} is never left")
                flow[i] = flow[i] * fmpq(denominators[i], denominators[i] - stay)
            elif states:
                _forward_component(chain, states, flow)
            local = set(states)
            for i in states:
                if flow[i] == 0:
                    continue
                for k in range(pointers[i], pointers[i + 1]):
                    j = columns[k]
                    if j not in local and within[j]:
                        flow[j] += flow[i] * fmpq(numerators[k], denominators[i])
            if c & 4095 == 0:
                bar.advance(4096)
    return flow


def _forward_component(chain: MarkovChain, states: list[int], flow: list[fmpq]) -> None:
    """Solve x = flow + x P inside one component by a dense exact solve."""
    from flint import fmpq_mat

    local = {i: k for k, i in enumerate(states)}
    matrix = fmpq_mat(len(states), len(states))
    for i, k in local.items():
        matrix[k, k] = matrix[k, k] + 1
        for j, probability in chain.row(i):
            if j in local:  # transposed
                matrix[local[j], k] = matrix[local[j], k] - probability
    try:
        solution = matrix.solve(fmpq_mat(len(states), 1, [flow[i] for i in states]))
    except ZeroDivisionError:
        raise NotAbsorbingError(
            f"state {chain.label(states[0])} is in a set that is never left"
        ) from None
    for i, k in local.items():
        flow[i] = solution[k, 0]


def check_residual(
    chain: MarkovChain, inside: BoolArray, constant: Sequence[fmpq], values: Sequence[fmpq]
) -> None:
    """Raise SolverError unless v = constant + P v holds exactly in every inside state."""
    pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
    numerators, denominators = chain.numerators.tolist(), chain.denominators.tolist()
    for i in np.flatnonzero(inside).tolist():
        total = constant[i] * denominators[i]
        for k in range(pointers[i], pointers[i + 1]):
            total += numerators[k] * values[columns[k]]
        if total != denominators[i] * values[i]:
            raise SolverError(f"the exact solution fails its equation in state {chain.label(i)}")
