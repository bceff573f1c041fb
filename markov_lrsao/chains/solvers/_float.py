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
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.solvers._system import Eliminated, Layout, System
from markov_lrsao.errors import FloatRangeError, NotAbsorbingError, SolverError
from markov_lrsao.exact.graphs import reachable_from
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["solve_backward", "solve_forward"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
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


def _refuse(chain: MarkovChain, system: System, bad: int) -> None:
    """Raise what a kernel's return value stands for; -1 is nothing."""
    if bad < -1:
        raise SolverError(
            f"a value at state {printable(chain.label(-2 - bad))} is below the range "
            f'of floats; use `field="exact"`'
        )
    if bad >= 0:
        order = system.components
        label, c = order.label, order.label[bad]
        name = printable(chain.label(bad))
        for i in order.members[order.start[c] : order.start[c + 1]].tolist():
            if np.any(label[system.columns[system.pointer[i] : system.pointer[i + 1]]] != c):
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


def solve_backward(
    chain: MarkovChain,
    system: System,
    constant: FloatArray,
    values: FloatArray,
    rounds: FloatArray | None = None,
) -> None:
    """Fill `values` inside with the solution of v = constant + P v; outside they are given.

    `constant` and the given values should not be negative: signs cost digits.

    `rounds`, where it is given, says how many roundings are behind the given values, and behind
    the constants at inside states; it is filled for the solution, whose relative error is at most
    (1 + u)^rounds - 1. Only non-negative data and the chain's own probabilities have such a bound.
    """
    report = np.array([float(system.small), 1.0, 0.0])
    own = _Roundings(system)
    _sweep(chain, system, constant, values, report, own)
    _judge(values[system.inside], report, np.finfo(float).tiny)
    if rounds is not None:
        _bound(chain, system, constant, values, rounds, own)


class _Roundings:
    """How many roundings solving the components of several states adds to given values."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._counted: dict[int, tuple[int, int]] = {}
        self._proved: dict[int, float] = {}

    def counted(self, c: int, pairs: int, entries: int) -> None:
        """Note how a component was eliminated: pairs (k, m), and entries of its rows."""
        self._counted[c] = pairs, entries

    def proved(self, c: int, bound: float) -> None:
        """Note a certified bound of a component's relative error."""
        self._proved[c] = bound

    @property
    def proofs(self) -> list[int]:
        """The components whose error is proved."""
        return list(self._proved)

    def of(self, layout: Layout) -> FloatArray:
        """Return the number per component."""
        system, order = self._system, self._system.components
        if len(order) == system.size:
            return np.zeros(len(order))
        sizes = order.sizes.astype(np.float64)
        entries = np.add.reduceat(np.diff(system.pointer)[order.members], order.start[:-1])
        half = np.minimum(np.maximum(layout.band, 0), order.sizes)
        pairs, rows = sizes * half, sizes * half
        for c, (events, length) in self._counted.items():
            pairs[c], rows[c] = events, length
        own: FloatArray = 2 * (entries + 3 * sizes + 5 * pairs) + rows + 5 * sizes
        for c, bound in self._proved.items():
            # the right side is assembled with roundings of its own, as `entries` of one row at most
            own[c] = 1.01 * bound / _UNIT
        return own


def _bound(
    chain: MarkovChain,
    system: System,
    constant: FloatArray,
    values: FloatArray,
    rounds: FloatArray,
    own: _Roundings,
) -> None:
    """Fill `rounds`, and check that every equation holds as far as they promise."""
    from markov_lrsao.chains.kernels.residuals import consistent, count

    order, inside = system.components, system.inside
    brought = float(np.max(rounds, initial=0.0, where=inside))
    graph = system.pointer, system.columns
    added = own.of(system.layout)
    count(*graph, inside, order.label, order.members, order.start, added, brought, rounds)
    asked = inside[order.members[order.start[:-1]]]
    asked[own.proofs] = False  # their residuals are what was proved
    bad = consistent(
        *graph, system.weights, system.totals, order.label, asked, constant, values, rounds
    )
    if bad >= 0:
        raise SolverError(
            f"the float solution fails its equation in state {printable(chain.label(int(bad)))}; "
            'use `field="exact"`'
        )


def _sweep(
    chain: MarkovChain,
    system: System,
    constant: FloatArray,
    values: FloatArray,
    report: FloatArray,
    own: _Roundings,
) -> None:
    """Solve all components, successors first."""
    backward, _ = _kernels()
    layout, order = system.layout, system.components
    positive = _positive(system, constant, values)
    graph = system.pointer, system.columns, system.weights, system.totals
    data = (
        *(*graph, system.inside, layout.members, order.start, layout.band, order.label),
        *(constant, positive, values, report),
    )
    begin = 0
    for c in sorted(layout.large):
        _refuse(chain, system, int(backward(*data, begin, c)))
        begin = c
        states = layout.members[order.start[c] : order.start[c + 1]]
        if not system.inside[states[0]]:
            continue
        found = _large(chain, system, c, constant, values, positive[states], report, own)
        if found is not None:
            values[states] = found
            begin = c + 1
    _refuse(chain, system, int(backward(*data, begin, len(order))))


def _large(
    chain: MarkovChain,
    system: System,
    c: int,
    constant: FloatArray,
    values: FloatArray,
    positive: BoolArray,
    report: FloatArray,
    own: _Roundings,
) -> FloatArray | None:
    """Return the values of one large component; None if it is now one of those in a band."""
    from markov_lrsao.chains.kernels.sparse import solve_columns
    from markov_lrsao.chains.kernels.systems import given

    layout, order = system.layout, system.components
    states = layout.members[order.start[c] : order.start[c + 1]]
    graph = system.pointer, system.columns, system.weights, system.totals
    right: FloatArray = given(*graph, order.label, states, constant, values)
    way = layout.large[c]
    if not isinstance(way, Eliminated):
        found = way.solve(right)
        if found is not None:
            own.proved(c, found[1])
            return found[0]
        system.give_up(layout, c)
        if c not in layout.large:
            return None
        way = layout.large[c]
        assert isinstance(way, Eliminated)
    _note(chain, system, states, way, report)
    bad = int(solve_columns(way.factors, right, positive))
    _refuse(chain, system, -1 if bad < 0 else -2 - int(states[bad]))
    own.counted(c, *way.counts())
    return right


def _note(
    chain: MarkovChain, system: System, states: IntArray, way: Eliminated, report: FloatArray
) -> None:
    """Add to `report` what eliminating a component said."""
    if way.report[2]:
        _refuse(chain, system, int(states[int(way.report[2]) - 1]))
    report[0] = max(report[0], way.report[0])
    report[1] = min(report[1], way.report[1])


def _positive(system: System, constant: FloatArray, values: FloatArray) -> BoolArray:
    """Return where the solution is positive, by the graph; nowhere if a constant is negative."""
    given = np.where(system.inside, constant, values)
    if given.min() < 0:
        return np.zeros(system.size, dtype=np.bool_)
    above = given > 0
    if np.all(above | ~system.inside):
        return above
    from markov_lrsao.chains.kernels.systems import positive

    order = system.components
    found: BoolArray = positive(
        *(system.pointer, system.columns, order.label, order.members, order.start),
        *(system.inside, above),
    )
    return found


def solve_forward(chain: MarkovChain, system: System, source: FloatArray) -> FloatArray:
    """Return x = source + x P restricted to the inside: expected numbers of steps per state.

    Numbers from `NEGLIGIBLE_FLOW` on are right relative to their size.
    """
    from markov_lrsao.chains.kernels.sparse import solve_rows

    _, forward = _kernels()
    layout, order, inside = system.elimination, system.components, system.inside
    flow = source.copy()
    report = np.array([float(system.small), 1.0, 0.0])
    graph = system.pointer, system.columns, system.weights, system.totals
    data = (
        *(*graph, inside, layout.members, order.start, layout.band, order.label),
        *(flow, report),
    )
    end = len(order)
    for c in sorted(layout.large, reverse=True):
        _refuse(chain, system, int(forward(*data, c + 1, end)))
        states = layout.members[order.start[c] : order.start[c + 1]]
        local, way = flow[states], layout.large[c]
        assert isinstance(way, Eliminated)
        _note(chain, system, states, way, report)
        solve_rows(way.factors, local)
        flow[states] = local
        end = c + 1  # the component itself comes again, to pass its flow on
    _refuse(chain, system, int(forward(*data, 0, end)))
    met = reachable_from(system.pointer, system.columns, np.flatnonzero(source)) & inside
    if np.any(flow[met] < NEGLIGIBLE_FLOW):
        report[0] = 1.0
    _judge(flow[inside], report, NEGLIGIBLE_FLOW)
    return flow
