"""A linear system of a chain in floats: its rows, its components, and how each of them is solved.

Components whose states can be ordered into a narrow band are eliminated there by one compiled loop
(`kernels.bands`). Wide ones are taken out: eliminated in an order of their own (`kernels.sparse`)
or, where that would fill up, given to methods whose answers are certified (`_wide`). Whatever is
found out about a component is kept, so that further right sides cost little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.solvers._methods import Component
from markov_lrsao.chains.solvers._wide import Planned
from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.graphs import Components

__all__ = ["Eliminated", "Layout", "System"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_LARGEST_FACTORS = 400_000_000  # numbers that elimination of one component may keep: 3.2 GB
_WIDE = 8  # half-bandwidth from which a better order of the states is looked for
_SLOW_BAND = 3e8  # multiplications in a band, from which sparse elimination is preferred
_LESS_WORK = 0.5  # of other methods, by estimate, from which these are tried before a band
_WORTH_ORDERING = 2e5  # multiplications in a band, from which a better order is looked for
_PAYS_FOR_PLANNING = 100  # states of a component; smaller ones are eliminated
_EXACT_IN_FLOATS = 2**53


class Eliminated:
    """The factors of a component that was eliminated without subtraction.

    `report` is what `kernels.bands` says of it; there report[2] is 1 + a state that is left too
    rarely for floats, and then there are no factors.
    """

    def __init__(self, component: Component, small: bool) -> None:
        from markov_lrsao.chains.kernels import sparse

        own, self.report = component, np.array([float(small), 1.0, 0.0])
        self.leak = own.leak
        self.factors: tuple[Any, ...] = ()
        if own.leak.max() == 0.0:
            self.report[2] = 1.0
            return
        below = np.repeat(own.totals, np.diff(own.pointer))
        self.factors = sparse.eliminate(
            *(own.pointer, own.columns, own.weights / below, own.leak / own.totals),
            *(_LARGEST_FACTORS, self.report),
        )
        if not self.report[2] and len(self.factors[0]) + len(self.factors[9]) < own.size:
            raise StateSpaceTooLargeError(
                f"a strongly connected component of {own.size:,} states fills up when it is "
                f"eliminated (more than {_LARGEST_FACTORS:,} numbers)"
            )

    def counts(self) -> tuple[int, int]:
        """Return the pairs (k, m) of the elimination, and the entries of its rows."""
        dense = len(self.factors[9])
        return (
            int(self.factors[6][-1]) + dense * dense // 2,
            int(self.factors[3][self.factors[0]].sum()) + dense * dense // 2,
        )


@dataclass(eq=False)
class Layout:
    """How the components of a system are solved.

    Attributes
    ----------
    members : the states, component by component, in the order in which they are solved
    band : half-bandwidth per component; -1 for those that are `large`
    large : component -> how it is solved
    """

    members: IntArray
    band: IntArray
    large: dict[int, Eliminated | Planned]


@dataclass(frozen=True, eq=False)
class System:
    """The unknowns of v = constant + P v, or of x = source + x P: the states inside.

    Attributes
    ----------
    pointer, columns, weights, totals : see `kernels.systems`
    small : whether a probability is below the normal floats
    exact : whether weights and totals are exact
    order : components of the states inside, successors first, where they are known; those of
        other states are not looked at
    """

    pointer: IntArray
    columns: npt.NDArray[np.int32]
    weights: FloatArray
    totals: FloatArray
    inside: BoolArray
    small: bool
    exact: bool
    order: Components | None = None

    @classmethod
    def of(
        cls,
        chain: MarkovChain,
        inside: BoolArray,
        tilted: FloatArray | None = None,
        order: Components | None = None,
    ) -> System:
        """Prepare the rows of a chain; `tilted` are probabilities instead of its own."""
        from markov_lrsao.chains.kernels import systems

        below: Any = chain.denominators
        exact = tilted is None and below.dtype != object and below.max() < _EXACT_IN_FLOATS
        above: Any = chain.numerators
        if not exact:
            above = chain.probabilities if tilted is None else tilted
            below = np.ones(chain.size)
        absent = tilted is not None
        pointer, columns, weights, totals, small = systems.rows(
            chain.indptr, chain.indices, above, below, inside, absent
        )
        return cls(pointer, columns, weights, totals, inside, bool(small), bool(exact), order)

    @property
    def size(self) -> int:
        """Number of states, inside and outside."""
        return len(self.inside)

    @cached_property
    def components(self) -> Components:
        """Strongly connected components, successors first."""
        if self.order is not None:
            return self.order
        from markov_lrsao.chains.kernels.graphs import components

        return Components(*components(self.pointer, self.columns))

    def component(self, states: IntArray) -> tuple[Component, bool]:
        """Return a component, and whether most of its states can be eliminated at little cost."""
        from markov_lrsao.chains.kernels import systems

        place = np.full(self.size, -1, np.int32)
        pointer, columns, weights, leak, leaving, cheap = systems.local(
            self.pointer, self.columns, self.weights, states, place
        )
        own = Component(
            *(pointer, columns, weights, leak, leaving, self.totals[states]),
            degree=self.pointer[states + 1] - self.pointer[states],
            exact=self.exact,
        )
        return own, 2 * cheap > len(states)

    @cached_property
    def layout(self) -> Layout:
        """How each component is solved; other methods than elimination are tried first."""
        return self._layout(planned=True)

    @cached_property
    def elimination(self) -> Layout:
        """The same with elimination only."""
        return self._layout(planned=False)

    def _layout(self, *, planned: bool) -> Layout:
        from markov_lrsao.chains.kernels import systems

        order = self.components
        if len(order) == self.size:
            return Layout(order.members, np.zeros(self.size, np.int64), {})
        band, _ = systems.shapes(
            self.pointer, self.columns, order.label, order.members, order.start
        )
        found = Layout(order.members, band, {})
        work = order.sizes * band.astype(np.float64) ** 2
        wide = np.flatnonzero((band > _WIDE) & (work > min(_WORTH_ORDERING, _SLOW_BAND)))
        if wide.size:
            found.members = order.members.copy()
        for c in wide.tolist():
            self._place(found, c, planned=planned)
        return found

    def _place(self, layout: Layout, c: int, *, planned: bool) -> None:
        """Decide how a component is solved whose band is wide as it stands."""
        order = self.components
        span = slice(int(order.start[c]), int(order.start[c + 1]))
        own, falls_apart = self.component(layout.members[span])
        if falls_apart or own.leak.max() == 0.0:
            layout.large[c] = Eliminated(own, self.small)
        elif planned and not self.small and _looks_wide(own):
            layout.large[c] = Planned(own)
        else:
            best, half = _narrow(own)
            if own.size * half**2 > _SLOW_BAND or own.size * (2 * half + 1) > _LARGEST_FACTORS:
                layout.large[c] = Eliminated(own, self.small)
            else:
                layout.band[c], layout.members[span] = half, layout.members[span][best]
        if c in layout.large:
            layout.band[c] = -1

    def give_up(self, layout: Layout, c: int) -> None:
        """Have a component eliminated of which no other method could be certified."""
        del layout.large[c]
        self._place(layout, c, planned=False)


def _looks_wide(own: Component) -> bool:
    """Whether a component has so wide levels that no order makes it a cheap band."""
    if own.size < _PAYS_FOR_PLANNING:
        return False
    band = own.size * float(own.levels[1]) ** 2
    return band > _LESS_WORK * min(own.work.values())


def _narrow(own: Component) -> tuple[IntArray, int]:
    """Return an order of a component's states, and its half-bandwidth."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    size = own.size
    ones = np.ones(len(own.columns), np.int8)
    graph = csr_array((ones, own.columns, own.pointer), shape=(size, size))
    best = reverse_cuthill_mckee(graph, symmetric_mode=False).astype(np.int64)
    new = np.empty_like(best)
    new[best] = np.arange(size)
    rows = np.repeat(np.arange(size), np.diff(own.pointer))
    half = int(np.abs(rows - own.columns).max())
    better = int(np.abs(new[rows] - new[own.columns]).max())
    return (best, better) if better < half else (np.arange(size), half)
