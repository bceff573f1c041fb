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
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.doubts import NEGLIGIBLE_FLOW
from markov_lrsao.chains.solvers._system import Eliminated, System
from markov_lrsao.chains.solvers._wide import Planned, certified
from markov_lrsao.errors import FloatRangeError, NotAbsorbingError, SolverError
from markov_lrsao.exact.graphs import reachable_from
from markov_lrsao.progress import Bar, Progress, no_progress
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["solve_backward", "solve_forward"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_UNIT = 2.0**-53
_MANY = 3e-12 / _UNIT  # roundings of a component that are worth a certificate
_LOST = -1073.0  # log2 of what underflow can change in one transition, twice over
_NEGLIGIBLE = -53.0


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
    *,
    positive: bool = False,
    progress: Progress = no_progress,
) -> None:
    """Fill `values` inside with the solution of v = constant + P v; outside they are given.

    `constant` and the given values should not be negative: signs cost digits. `positive` says that
    the solution is known to be positive; otherwise the graph is asked where it is.

    `rounds`, where it is given, says how many roundings are behind the given values, and behind
    the constants at inside states; it is filled for the solution, whose relative error is at most
    (1 + u)^rounds - 1. Only non-negative data and the chain's own probabilities have such a bound.
    """
    report = np.array([float(system.small), 1.0, 0.0])
    above = system.inside if positive else _positive(system, constant, values)
    sweep = _Sweep(chain, system, constant, values, above, report)
    with progress("solving in floats", total=system.size) as bar:
        sweep.solve(bar, closely=rounds is not None and not system.small)
    _judge(values[system.inside], report, np.finfo(float).tiny)
    if rounds is not None:
        _bound(chain, system, constant, values, rounds, sweep.own)


class _Roundings:
    """How many roundings solving the components of several states adds to given values."""

    def __init__(self, system: System) -> None:
        layout, order = system.layout, system.components
        self.numbers = np.zeros(len(order))
        self.proofs: list[int] = []  # the components whose error is proved
        if len(order) < system.size:
            degrees = np.diff(system.pointer)[order.members]
            self._entries = np.add.reduceat(degrees, order.start[:-1])
            self._sizes = order.sizes
            pairs = order.sizes * np.minimum(np.maximum(layout.band, 0), order.sizes)
            self.numbers = self._counted(slice(None), pairs, pairs)

    def _counted(self, c: Any, pairs: Any, rows: Any) -> Any:
        entries, sizes = self._entries[c], self._sizes[c]
        return 2.0 * (entries + 3 * sizes + 5 * pairs) + rows + 5 * sizes

    def eliminated(self, c: int, pairs: int, rows: int) -> None:
        """Note how a component was eliminated: pairs (k, m), and entries of its rows."""
        self.numbers[c] = self._counted(c, pairs, rows)

    def proved(self, c: int, bound: float) -> None:
        """Note a certified bound of a component's relative error."""
        # the right side is assembled with roundings of its own, as `entries` of one row at most
        self.numbers[c] = 1.01 * bound / _UNIT
        self.proofs.append(c)

    def many(self) -> list[int]:
        """Return the components of which counting alone proves too little."""
        return np.flatnonzero(self.numbers > _MANY).tolist()


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
    count(*graph, inside, order.members, order.start, own.numbers, brought, rounds)
    asked = inside[order.members[order.start[:-1]]]
    # of components that were not eliminated, the residual is what was proved
    asked[[c for c in own.proofs if isinstance(system.layout.large.get(c), Planned)]] = False
    bad = consistent(
        *graph, system.weights, system.totals, order.label, asked, constant, values, rounds
    )
    if bad >= 0:
        raise SolverError(
            f"the float solution fails its equation in state {printable(chain.label(int(bad)))}; "
            'use `field="exact"`'
        )


@dataclass(eq=False)
class _Sweep:
    """One right side: components are solved one after the other, successors first.

    `positive` says where values cannot be 0; `report` collects what the kernels say.
    """

    chain: MarkovChain
    system: System
    constant: FloatArray
    values: FloatArray
    positive: BoolArray
    report: FloatArray

    def __post_init__(self) -> None:
        self.own = _Roundings(self.system)

    def solve(self, bar: Bar, *, closely: bool) -> None:
        """Fill the values; `closely`: certify them where counting roundings proves too little."""
        layout, order = self.system.layout, self.system.components
        close = self.own.many() if closely else []
        begin, told = 0, 0
        for c in sorted({*layout.large, *close}):
            self._in_bands(begin, c)
            bar.advance(int(order.start[c]) - told)
            begin, told = c + 1, int(order.start[c])
            states = self._states(c)
            if self.system.inside[states[0]]:
                if c not in layout.large or not self._large(c):
                    self._in_bands(c, c + 1)
                if closely and self.own.numbers[c] > _MANY and c not in self.own.proofs:
                    self._closer(c)
        self._in_bands(begin, len(order))

    def _states(self, c: int) -> IntArray:
        order = self.system.components
        return self.system.layout.members[order.start[c] : order.start[c + 1]]

    def _in_bands(
        self, begin: int, end: int, constant: FloatArray | None = None, values: Any = None
    ) -> None:
        """Solve the components begin..end-1, with these or other constants and values."""
        backward, _ = _kernels()
        system, order = self.system, self.system.components
        layout, other = system.layout, constant is not None
        bad = backward(
            *(system.pointer, system.columns, system.weights, system.totals, system.inside),
            *(layout.members, order.start, layout.band, order.label),
            constant if other else self.constant,
            np.zeros(system.size, np.bool_) if other else self.positive,
            values if other else self.values,
            self.report,
            begin,
            end,
        )
        _refuse(self.chain, system, int(bad))

    def _given(self, c: int, leak: FloatArray) -> FloatArray:
        from markov_lrsao.chains.kernels.systems import given

        system = self.system
        right: FloatArray = given(
            *(system.pointer, system.columns, system.weights, system.totals),
            *(system.components.label, self._states(c), leak, self.constant, self.values),
        )
        return right

    def _large(self, c: int) -> bool:
        """Solve one large component; False if it is now one of those in a band."""
        from markov_lrsao.chains.kernels.sparse import solve_columns

        layout, states = self.system.layout, self._states(c)
        way = layout.large[c]
        right = self._given(c, way.leak)
        if not isinstance(way, Eliminated):
            found = way.solve(right)
            if found is not None:
                self.values[states] = found[0]
                self.own.proved(c, found[1])
                return True
            self.system.give_up(layout, c)
            if c not in layout.large:
                pairs = len(states) * int(layout.band[c])
                self.own.eliminated(c, pairs, pairs)
                return False
            way = layout.large[c]
            assert isinstance(way, Eliminated)
        _note(self.chain, self.system, states, way, self.report)
        bad = int(solve_columns(way.factors, right, self.positive[states]))
        _refuse(self.chain, self.system, -1 if bad < 0 else -2 - int(states[bad]))
        self.values[states] = right
        self.own.eliminated(c, *way.counts())
        return True

    def _closer(self, c: int) -> None:
        """Correct a component that was eliminated, if that can be certified."""
        states = self._states(c)
        component, _ = self.system.component(states)
        right = self._given(c, component.leak)
        if not right.min() >= 0.0:
            return
        x = self.values[states]
        found = certified(partial(self._again, c), component, right, x)
        if found is not None and found[1] < self.own.numbers[c] * _UNIT:
            self.values[states] = found[0]
            self.own.proved(c, found[1])

    def _again(self, c: int, given: FloatArray, tolerance: float = 0.0) -> FloatArray:
        """Return the solution of a component's equations with another right side, eliminated."""
        from markov_lrsao.chains.kernels.sparse import solve_columns

        system, states = self.system, self._states(c)
        right, way = given / system.totals[states], system.layout.large.get(c)
        if isinstance(way, Eliminated):
            solve_columns(way.factors, right, np.zeros(len(states), np.bool_))
            return right
        constant, values = np.zeros(system.size), np.zeros(system.size)
        constant[states] = right
        self._in_bands(c, c + 1, constant, values)
        return values[states]


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
