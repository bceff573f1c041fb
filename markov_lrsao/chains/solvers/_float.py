"""Float elimination without subtraction (GTH), component by component, compiled.

A state's probability of being left is the *sum* of its other transitions, never one minus
its self-loop, and eliminating a state only adds and divides non-negative numbers. Every
operation therefore keeps full relative accuracy, whatever the size of the answer: a walk
whose hitting time is 2^1000 comes out with a relative error of some 1e-13, where solvers
that subtract return noise.

Error bound. Write a component's row i as its transitions, its leak and its right side. Its
solution is a quotient of two sums of products of non-negative numbers, each product with at most
one factor from every row (Kirchhoff, Tutte: sums over forests), so changing the entries of one
row by factors within 1 +- e changes the solution by at most 2 e to first order. Eliminating k
changes the row of each m that leads to k: it computes a_mj + a_mk a_kj / l_k with at most 5
roundings (2 for the compensated sum l_k, a division, a product, a sum), all relative to the
result. With d_i transitions in row i, which enter with d_i + 3 roundings, and E pairs (k, m),
elimination therefore is the exact elimination of a chain that is relatively close:
2 (sum (d_i + 3) + 5 E) roundings, and back substitution adds len + 5 for each state it goes
through. Given values' roundings are added, for the solution is linear in them without signs.
`_own_roundings` is that sum; nothing in it depends on how ill-conditioned the system is. It is a
bound for the chain's exact rationals: d_i + 3 counts their rounding to floats.

Underflow. The bound needs numbers in the range of floats, at every intermediate:

* A product below 2^-1022 has an absolute error of at most 2^-1074. A right-hand side that ends
  at 2^-1005 or above therefore keeps its accuracy whatever its terms were. One that ends below
  although the graph says that it is positive is refused; so is a probability of leaving.
* A transition that underflows, given or made by elimination, changes its row by at most
  2^-1074. With L the least probability of leaving and M the quotient of the largest and the
  smallest positive value, that is a relative change of at most 2^-1074 M / L in one step of
  elimination, and s states have at most s^3 of them. `_judge` refuses unless the product stays
  below u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.solvers._wide import Component, solve_certified
from markov_lrsao.errors import (
    FloatRangeError,
    NotAbsorbingError,
    SolverError,
    StateSpaceTooLargeError,
)
from markov_lrsao.exact.graphs import Components, reachable_from
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["solve_backward", "solve_forward"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
_LARGEST_FACTORS = 400_000_000  # numbers that elimination of one component may keep: 3.2 GB
_WIDE = 8  # half-bandwidth from which a better order of the states is looked for
_SLOW_BAND = 3e8  # multiplications in a band, from which sparse elimination is preferred
_PLANNED_BAND = 1e7  # multiplications in a band, from which other methods are tried first
_WORTH_ORDERING = 2e5  # multiplications in a band, from which a better order is looked for
_PAYS_FOR_PLANNING = 400  # states of a component; smaller ones are eliminated
_CHEAP = 2  # transitions in times transitions out of a state that hardly fills anything
_PLANNED = -2
_UNIT = 2.0**-53
_LOST = -1073.0  # log2 of what underflow can change in one transition, twice over
_NEGLIGIBLE = -53.0
NEGLIGIBLE_FLOW = 1e-200
"""Expected numbers of steps are right relative to their size from here on; below, absolutely."""


@cache
def _kernels() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compile the kernels when they are first needed; numba is a heavy import."""
    from markov_lrsao.chains.kernels import bands

    return bands.backward, bands.forward


def _find_components(chain: MarkovChain) -> None:
    """Find the components by compiled code, which is faster where the compiler is there anyway."""
    if "components" not in chain.__dict__:
        from markov_lrsao.chains.kernels.graphs import components

        chain.__dict__["components"] = Components(*components(chain.indptr, chain.indices))


def _bands(
    chain: MarkovChain, eliminated: set[int] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Order the states of each component so that its matrix is a narrow band.

    Returns the states in solving order and the half-bandwidth per component, -1 where the
    band is so wide that sparse elimination is better, and _PLANNED where other methods are to be
    tried first; not so for the components that are `eliminated` for certain (None: all).
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
    work = sizes * band.astype(np.float64) ** 2
    wide = np.flatnonzero((band > _WIDE) & (work > min(_WORTH_ORDERING, _SLOW_BAND)))
    if wide.size:
        members = members.copy()
    for c in wide.tolist():
        own = of == c
        span = slice(int(order.start[c]), int(order.start[c + 1]))
        if (
            eliminated is not None
            and c not in eliminated
            and _looks_wide(int(sizes[c]), rows[own], columns[own])
        ):
            band[c] = _PLANNED
            continue
        if _falls_apart(int(sizes[c]), rows[own], columns[own]):
            band[c] = -1
            continue
        best, band[c] = _narrow(int(sizes[c]), rows[own], columns[own], int(band[c]))
        members[span] = members[span][best]
        if (
            int(sizes[c]) * int(band[c]) ** 2 > _SLOW_BAND
            or int(sizes[c]) * (2 * int(band[c]) + 1) > _LARGEST_FACTORS
        ):
            band[c] = -1
    return members, band


def _falls_apart(size: int, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> bool:
    """Whether most states can be eliminated at little cost, one after the other."""
    loops = rows == columns
    out = np.bincount(rows[~loops], minlength=size)
    into = np.bincount(columns[~loops], minlength=size)
    return bool(np.mean(out * into <= _CHEAP) > 0.5)


def _looks_wide(size: int, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> bool:
    """Whether a large component has so wide levels that no order makes it a narrow band."""
    if size < _PAYS_FOR_PLANNING or _falls_apart(size, rows, columns):
        return False
    from markov_lrsao.chains.kernels.krylov import levels

    pointer = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
    _, widest = levels(pointer, columns, size)
    return size * float(widest) ** 2 > _PLANNED_BAND


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


def _weights(chain: MarkovChain, tilted: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return weights and totals per row, whose quotients are the probabilities."""
    if tilted is not None:
        return tilted, np.ones(chain.size)
    if chain.denominators.dtype != object and chain.denominators.max() < 2**53:
        return chain.numerators.astype(np.float64), chain.denominators.astype(np.float64)
    return chain.probabilities, np.ones(chain.size)


def _new_report(
    chain: MarkovChain, weights: FloatArray, totals: FloatArray, *, tilted: bool
) -> FloatArray:
    """Return (whether a transition underflowed, least probability of leaving, bad state + 1).

    A chain's own transitions are positive; tilted ones of weight 0 are absent.
    """
    from markov_lrsao.chains.kernels.bands import NORMAL

    small = weights < NORMAL * totals[chain.sources]
    if tilted:
        small &= weights > 0
    return np.array([float(np.any(small)), 1.0, 0.0])


def _component(
    chain: MarkovChain,
    states: npt.NDArray[np.int64],
    probabilities: FloatArray,
    constant: FloatArray | None = None,
    values: FloatArray | None = None,
) -> tuple[Component, FloatArray]:
    """Return one large component, its states being in this order, and what it is given."""
    from markov_lrsao.chains.kernels.krylov import local

    nothing = np.zeros(0)
    pointer, columns, weights, leak, right = local(
        chain.indptr,
        chain.indices,
        probabilities,
        states,
        nothing if constant is None else constant,
        nothing if values is None else values,
    )
    if leak.max() == 0.0:
        _refuse(chain, int(states[0]))
    degree = chain.indptr[states + 1] - chain.indptr[states]
    return Component(pointer, columns, weights, leak, degree), right


def _sparse(
    chain: MarkovChain, states: npt.NDArray[np.int64], own: Component, report: FloatArray
) -> tuple[Any, ...]:
    """Return the factors of one large component."""
    from markov_lrsao.chains.kernels import sparse

    factors: tuple[Any, ...] = sparse.eliminate(
        own.pointer, own.columns, own.values, own.leak, _LARGEST_FACTORS, report
    )
    if report[2]:
        _refuse(chain, int(states[int(report[2]) - 1]))
    if len(factors[0]) + len(factors[9]) < len(states):
        raise StateSpaceTooLargeError(
            f"a strongly connected component of {len(states):,} states fills up when it is "
            f"eliminated (more than {_LARGEST_FACTORS:,} numbers)"
        )
    return factors


def _refuse(chain: MarkovChain, bad: int) -> None:
    """Raise what a kernel's return value stands for; -1 is nothing."""
    if bad < -1:
        raise SolverError(
            f"a value at state {printable(chain.label(-2 - bad))} is below the range "
            f'of floats; use `field="exact"`'
        )
    if bad >= 0:
        label = chain.components.label
        own = label[chain.sources] == label[bad]
        name = printable(chain.label(bad))
        if np.any(label[chain.indices[own]] != label[bad]):
            raise SolverError(
                f"the probability of leaving the component of state {name} is below "
                f'the range of floats; use `field="exact"`'
            )
        raise NotAbsorbingError(f"state {name} is in a set that is never left")


def _judge(values: FloatArray, report: FloatArray, floor: float) -> None:
    """Raise SolverError where underflow may have reached the digits of values above `floor`."""
    if not np.all(np.isfinite(values)):
        raise FloatRangeError('a value exceeds the range of floats; use `field="exact"`')
    if not report[0]:
        return
    size = np.abs(values)
    size = size[size >= floor]
    spread = math.log2(size.max()) - math.log2(size.min()) if size.size else 0.0
    loss = spread - math.log2(report[1]) + 3 * math.log2(max(len(values), 1)) + _LOST
    if loss > _NEGLIGIBLE:
        raise SolverError(
            "numbers inside the float solution fall below the range of floats, so "
            'its digits cannot be trusted; use `field="exact"`'
        )


def _positive(
    chain: MarkovChain, inside: BoolArray, constant: FloatArray, values: FloatArray
) -> BoolArray:
    """Return where the solution is positive, by the graph; nowhere if a constant is negative."""
    given = np.where(inside, constant, values)
    least = given.min()
    if least < 0:
        return np.zeros(chain.size, dtype=np.bool_)
    if np.all(given[inside] > 0):
        return np.asarray(given > 0)
    from markov_lrsao.chains.kernels.graphs import leading_to

    found: BoolArray = leading_to(chain.indptr, chain.indices, given > 0)
    return found


def solve_backward(
    chain: MarkovChain,
    inside: BoolArray,
    constant: FloatArray,
    values: FloatArray,
    tilted: FloatArray | None = None,
    rounds: FloatArray | None = None,
) -> None:
    """Fill `values` inside with the solution of v = constant + P v; outside they are given.

    `constant` and the given values should not be negative: signs cost digits. `tilted` are
    probabilities per transition to be used instead of the chain's own; 0 is for those that are
    absent, so one that underflows must be rounded up.

    `rounds`, where it is given, says how many roundings are behind the given values, and behind
    the constants at inside states; it is filled for the solution, whose relative error is at most
    (1 + u)^rounds - 1. Only non-negative data and the chain's own probabilities have such a bound.
    """
    _find_components(chain)
    eliminated: set[int] = set()
    report = _new_report(chain, *_weights(chain, tilted), tilted=tilted is not None)
    given = values.copy()
    while True:
        solved = _Solved(*_bands(chain, eliminated))
        unproved = _sweep(chain, inside, constant, values, tilted, report, solved)
        if unproved is None:
            break
        eliminated.add(unproved)  # no method but elimination will do: begin again
        values[:] = given
    _judge(values[inside], report, np.finfo(float).tiny)
    if rounds is not None:
        _bound(chain, inside, constant, values, rounds, solved)


def _bound(
    chain: MarkovChain,
    inside: BoolArray,
    constant: FloatArray,
    values: FloatArray,
    rounds: FloatArray,
    solved: _Solved,
) -> None:
    """Fill `rounds`, and check that every equation holds as far as they promise."""
    from markov_lrsao.chains.kernels.residuals import consistent, count

    order = chain.components
    brought = float(np.max(rounds[inside], initial=0.0))
    graph = chain.indptr, chain.indices
    own = _own_roundings(chain, solved)
    count(*graph, inside, order.label, order.members, order.start, own, brought, rounds)
    bad = consistent(*graph, *_weights(chain, None), inside, constant, values, rounds)
    if bad >= 0:
        raise SolverError(
            f"the float solution fails its equation in state {printable(chain.label(int(bad)))}; "
            'use `field="exact"`'
        )


@dataclass(frozen=True, eq=False)
class _Solved:
    """How each component is solved.

    Attributes
    ----------
    members, band : see `_bands`
    pairs : component -> pairs (k, m) of its sparse elimination, and entries of its rows
    proved : component -> a certified bound of its relative error
    """

    members: npt.NDArray[np.int64]
    band: npt.NDArray[np.int64]
    pairs: dict[int, tuple[int, int]] = field(default_factory=dict)
    proved: dict[int, float] = field(default_factory=dict)


def _own_roundings(chain: MarkovChain, solved: _Solved) -> FloatArray:
    """Return how many roundings solving a component of several states adds to given values."""
    order = chain.components
    sizes = order.sizes.astype(np.float64)
    entries = np.bincount(order.label, np.diff(chain.indptr), len(order)) + 3 * sizes
    half = np.minimum(np.maximum(solved.band, 0), order.sizes)
    pairs, rows = sizes * half, sizes * half
    for c, (events, length) in solved.pairs.items():
        pairs[c], rows[c] = events, length
    own: FloatArray = 2 * (entries + 5 * pairs) + rows + 5 * sizes
    for c, bound in solved.proved.items():
        # the right side is assembled with roundings of its own, as `entries` of one row at most
        own[c] = 1.01 * bound / _UNIT
    return own


def _sweep(
    chain: MarkovChain,
    inside: BoolArray,
    constant: FloatArray,
    values: FloatArray,
    tilted: FloatArray | None,
    report: FloatArray,
    solved: _Solved,
) -> int | None:
    """Solve all components, successors first; return one of which no certificate was found."""
    backward, _ = _kernels()
    order = chain.components
    members, band = solved.members, solved.band
    weights, totals = _weights(chain, tilted)
    probabilities = chain.probabilities if tilted is None else tilted
    positive = _positive(chain, inside, constant, values)
    data = (
        chain.indptr,
        chain.indices,
        weights,
        totals,
        inside,
        members,
        order.start,
        band,
        order.label,
        constant,
        positive,
        values,
        report,
    )
    begin = 0
    for c in np.flatnonzero(band < 0).tolist():
        states = members[order.start[c] : order.start[c + 1]]
        if not inside[states[0]]:
            continue
        _refuse(chain, int(backward(*data, begin, c)))
        # What the component is given: constants and values outside; its own count as 0.
        values[states] = 0.0
        own, right = _component(chain, states, probabilities, constant, values)
        found = _large(chain, c, states, own, right, positive, report, solved)
        if found is None:
            return c
        values[states] = found
        begin = c + 1
    _refuse(chain, int(backward(*data, begin, len(order))))
    return None


def _large(
    chain: MarkovChain,
    c: int,
    states: npt.NDArray[np.int64],
    own: Component,
    right: FloatArray,
    positive: BoolArray,
    report: FloatArray,
    solved: _Solved,
) -> FloatArray | None:
    """Return the values of one large component; None if a planned method had no certificate."""
    if solved.band[c] == _PLANNED:
        # a certificate counts roundings; of what underflowed, elimination keeps account
        found = None if report[0] else solve_certified(own, right)
        if found is None:
            return None
        solved.proved[c] = found[1]
        return found[0]
    from markov_lrsao.chains.kernels.sparse import solve_columns

    factors = _sparse(chain, states, own, report)
    bad = int(solve_columns(factors, right, positive[states]))
    _refuse(chain, -1 if bad < 0 else -2 - int(states[bad]))
    dense = len(factors[9])
    solved.pairs[c] = (
        int(factors[6][-1]) + dense * dense // 2,
        int(factors[3][factors[0]].sum()) + dense * dense // 2,
    )
    return right


def solve_forward(chain: MarkovChain, inside: BoolArray, source: FloatArray) -> FloatArray:
    """Return x = source + x P restricted to the inside: expected numbers of steps per state.

    Numbers from `NEGLIGIBLE_FLOW` on are right relative to their size.
    """
    _, forward = _kernels()
    order = chain.components
    members, band = _bands(chain)
    flow = source.copy()
    weights, totals = _weights(chain, None)
    report = _new_report(chain, weights, totals, tilted=False)
    data = (
        chain.indptr,
        chain.indices,
        weights,
        totals,
        inside,
        members,
        order.start,
        band,
        order.label,
        flow,
        report,
    )
    end = len(order)
    for c in np.flatnonzero(band < 0)[::-1].tolist():
        from markov_lrsao.chains.kernels.sparse import solve_rows

        _refuse(chain, int(forward(*data, c + 1, end)))
        states = members[order.start[c] : order.start[c + 1]]
        local = flow[states]
        own, _ = _component(chain, states, chain.probabilities)
        solve_rows(_sparse(chain, states, own, report), local)
        flow[states] = local
        end = c + 1  # the component itself comes again, to pass its flow on
    _refuse(chain, int(forward(*data, 0, end)))
    met = reachable_from(chain.indptr, chain.indices, np.flatnonzero(source)) & inside
    if np.any(flow[met] < NEGLIGIBLE_FLOW):
        report[0] = 1.0
    _judge(flow[inside], report, NEGLIGIBLE_FLOW)
    return flow
