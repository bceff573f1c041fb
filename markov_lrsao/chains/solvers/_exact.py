"""Exact solutions over the rationals, component by component.

Successors are solved first, so a component sees known values outside itself; inside it,
states are eliminated (`_elimination`). Nothing is rounded, and the caller's residual check
compares with ==.

`solve_backward` first looks for states with equal futures (`quotient`): where the chain
shrinks, the quotient is solved and checked instead, and its values are handed to all states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpz

from markov_lrsao.chains.chain import MarkovChain, absorbing_outside, strong_components
from markov_lrsao.chains.solvers._elimination import Factors, Rows, factor
from markov_lrsao.chains.solvers.quotient import quotient, worth_merging
from markov_lrsao.errors import NotAbsorbingError, SolverError
from markov_lrsao.exact.graphs import components_within
from markov_lrsao.progress import Progress

__all__ = ["check_residual", "solve_backward", "solve_forward"]

BoolArray = npt.NDArray[np.bool_]
_PAYS_FOR_LIFTING = 400  # states of a component from which lifting is tried
_PAYS_FOR_LIFTING_PATHS = 4000  # the same where states have two transitions: nothing fills in
_WORTH_LIFTING = 0.9  # a quotient that is nearly as large as the chain saves nothing


def solve_backward(
    chain: MarkovChain,
    inside: BoolArray,
    constant: Sequence[fmpq],
    values: list[fmpq],
    progress: Progress,
) -> list[fmpq]:
    """Return the solution of v = constant + P v inside; outside, `values` are given.

    The result has passed its residual check.
    """
    if worth_merging(chain):
        cut = absorbing_outside(chain, inside)
        merged = quotient(cut, inside, _classes(inside, constant, values))
        if merged.chain.size < _WORTH_LIFTING * chain.size:
            first = merged.representative.tolist()
            small_constant = [constant[i] for i in first]
            small = [values[i] for i in first]
            _solve(merged.chain, merged.inside, small_constant, small, progress)
            check_residual(merged.chain, merged.inside, small_constant, small)
            return [small[b] for b in merged.class_of.tolist()]
    result = list(values)
    _solve(chain, inside, constant, result, progress)
    check_residual(chain, inside, constant, result)
    return result


def _classes(
    inside: BoolArray, constant: Sequence[fmpq], values: Sequence[fmpq]
) -> npt.NDArray[np.int64]:
    """Number the states by what they are given: constants inside, values outside."""
    result = np.zeros(len(inside), dtype=np.int64)
    within, beyond = np.flatnonzero(inside), np.flatnonzero(~inside)
    result[within] = _numbers([constant[i] for i in within.tolist()])
    result[beyond] = _numbers([values[i] for i in beyond.tolist()])
    return result


def _numbers(given: list[fmpq]) -> npt.NDArray[np.int64]:
    """Number the distinct values; hashing an fmpq is slow, so equal objects are found first."""
    objects = {id(value): value for value in given}
    if len(objects) <= 1:
        return np.zeros(len(given), dtype=np.int64)
    texts: dict[str, int] = {}
    number = {key: texts.setdefault(str(value), len(texts)) for key, value in objects.items()}
    return np.fromiter((number[id(value)] for value in given), np.int64, len(given))


def _solve(
    chain: MarkovChain,
    inside: BoolArray,
    constant: Sequence[fmpq],
    values: list[fmpq],
    progress: Progress,
) -> None:
    data = Rows.of(chain)
    pointers, columns, numerators, denominators = data
    order = components_within(chain.indptr, chain.indices, inside, strong_components)
    starts, members = order.start.tolist(), order.members.tolist()
    with progress("solving exactly", total=len(members)) as bar:
        for c in range(len(order)):
            states = members[starts[c] : starts[c + 1]]
            i = states[0]
            if len(states) == 1:
                values[i] = _alone(chain, data, i, constant[i], values)
            else:
                local = set(states)
                right = {}
                for i in states:
                    total = None
                    for k in range(pointers[i], pointers[i + 1]):
                        if columns[k] not in local:
                            term = numerators[k] * values[columns[k]]
                            total = term if total is None else total + term
                    right[i] = constant[i] + total / denominators[i] if total else constant[i]
                found = _lifted(chain, states, right)
                if found is None:
                    found = _factor(chain, data, states).columns(right)
                for i, value in found.items():
                    values[i] = value
            if c & 4095 == 0:
                bar.advance(4096)


def _alone(chain: MarkovChain, data: Rows, i: int, constant: fmpq, values: Sequence[fmpq]) -> fmpq:
    """Return the value of a state that is a component by itself, given those of its successors."""
    pointers, columns, numerators, denominators = data
    first, end = pointers[i], pointers[i + 1]
    if end == first + 1 and columns[first] != i and not constant:
        return values[columns[first]]  # the one step is certain
    total: Any = constant * denominators[i] if constant else None
    leaving = 0
    for k in range(first, end):
        j = columns[k]
        if j != i:
            term = values[j] if numerators[k] == 1 else numerators[k] * values[j]
            total = term if total is None else total + term
            leaving += numerators[k]
    if leaving == 0:
        raise NotAbsorbingError(f"state {chain.label(i)} is never left")
    value: fmpq = total / leaving
    return value


def _lifted(
    chain: MarkovChain, states: Sequence[int], right: Mapping[int, fmpq]
) -> dict[int, fmpq] | None:
    """Solve a large component by lifting digits, where that is possible."""
    if len(states) < _PAYS_FOR_LIFTING or chain.denominators.dtype == object:
        return None
    if chain.denominators.max() >= 2**30:
        return None
    from markov_lrsao.chains.solvers import _lifting

    own = np.array(sorted(states), dtype=np.int64)
    counts = chain.indptr[own + 1] - chain.indptr[own]
    if counts.max() <= 2 and len(states) < _PAYS_FOR_LIFTING_PATHS:
        return None
    place = np.full(chain.size, -1, dtype=np.int64)
    place[own] = np.arange(len(own))
    at = np.repeat(chain.indptr[own] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    rows, columns = np.repeat(np.arange(len(own)), counts), place[chain.indices[at]]
    keep = columns >= 0
    if keep.all():
        return None  # never left; elimination says so
    from scipy.sparse import coo_array

    every = np.arange(len(own))
    entries = np.concatenate([-chain.numerators[at][keep], chain.denominators[own]])
    both = np.concatenate([rows[keep], every]), np.concatenate([columns[keep], every])
    matrix = coo_array((entries, both), shape=(len(own), len(own))).tocsr()
    matrix.sort_indices()
    found = _lifting.lifted(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.int64),
        [int(chain.denominators[i]) * right[i] for i in own.tolist()],
    )
    return None if found is None else dict(zip(own.tolist(), found, strict=True))


def _factor(chain: MarkovChain, data: Rows, states: Sequence[int]) -> Factors:
    try:
        return factor(data, states)
    except NotAbsorbingError:
        raise NotAbsorbingError(
            f"state {chain.label(states[0])} is in a set that is never left"
        ) from None


def solve_forward(
    chain: MarkovChain, inside: BoolArray, source: Sequence[fmpq], progress: Progress
) -> list[fmpq]:
    """Return x = source + x P restricted to the inside: expected numbers of steps per state."""
    data = Rows.of(chain)
    pointers, columns, numerators, denominators = data
    within = inside.tolist()
    order = components_within(chain.indptr, chain.indices, inside, strong_components)
    starts, members = order.start.tolist(), order.members.tolist()
    flow = list(source)
    with progress("solving exactly", total=len(members)) as bar:
        for c in range(len(order) - 1, -1, -1):
            states = members[starts[c] : starts[c + 1]]
            if len(states) == 1:
                i = states[0]
                stay = sum(
                    numerators[k] for k in range(pointers[i], pointers[i + 1]) if columns[k] == i
                )
                if stay == denominators[i]:
                    raise NotAbsorbingError(f"state {chain.label(i)} is never left")
                flow[i] = flow[i] * fmpq(denominators[i], denominators[i] - stay)
            elif states and any(flow[i] != 0 for i in states):
                factors = _factor(chain, data, states)
                for i, value in factors.rows({i: flow[i] for i in states}).items():
                    flow[i] = value
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


def check_residual(
    chain: MarkovChain, inside: BoolArray, constant: Sequence[fmpq], values: Sequence[fmpq]
) -> None:
    """Raise SolverError unless v = constant + P v holds exactly in every inside state."""
    pointers, columns, numerators, denominators = Rows.of(chain)
    objects = {id(value): value for value in values} | {id(value): value for value in constant}
    below = _common_denominator(objects.values())
    whole: Sequence[Any] = values
    known: Sequence[Any] = constant
    if below is not None:  # the equations times one number, so that integers are compared
        scaled = {key: value.p * (below // value.q) for key, value in objects.items()}
        whole = [scaled[id(value)] for value in values]
        known = [scaled[id(value)] for value in constant]
    for i in np.flatnonzero(inside).tolist():
        first, end, given = pointers[i], pointers[i + 1], known[i]
        if given:
            given = given * denominators[i]
        elif end == first + 1 and whole[i] is whole[columns[first]]:
            continue  # one certain step
        total = given
        for k in range(first, end):
            value = whole[columns[k]]
            term = value if numerators[k] == 1 else numerators[k] * value
            total = total + term if total else term
        if total != denominators[i] * whole[i]:
            raise SolverError(f"the exact solution fails its equation in state {chain.label(i)}")


def _common_denominator(values: Iterable[fmpq]) -> Any:
    """Return a common multiple of all denominators, None where it would be much longer than one."""
    common, longest = fmpz(1), 1
    for value in values:
        own = value.q
        if common % own != 0:
            common = common * (own // common.gcd(own))
            longest = max(longest, own.bit_length())
            if common.bit_length() > 4 * longest + 64:
                return None
    return common
