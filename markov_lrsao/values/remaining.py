r"""Bounds of the steps that are left, for all values that an entry may have in some box.

The walk with a coarse mesh (`markov_lrsao.values.shared_row`) meets, from the start of a run, nodes
that stand for sets of states. Here nothing in it comes out by chance that a state already knows:
bits of climbs are options, like open comparisons. So a bound over all options holds for *every*
state that a node stands for, not only on average, by induction over the steps of a run.

Every state of a run lies in some node at its place, but for two kinds: the walk passes climbs and
waiting at the top of a slope at once. Within a climb only the bridge's entry changes, and what is
left is the rest of the climb and what is left on arrival. While the walk waits only the top's entry
changes, and the node of the beginning bounds what is left whatever that has become.

So what is left in a lump lies between the least lower and the largest upper bound of all nodes
whose intervals meet the lump's box, and in which no two entries are ordered otherwise than in it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.values.enclosure import counted_phases
from markov_lrsao.values.entries import NO_ENTRY
from markov_lrsao.values.options import float_system, steps_of
from markov_lrsao.values.quotient.lumps import Lump
from markov_lrsao.values.quotient.planes import difference
from markov_lrsao.values.quotient.plateaus import SharedEntries
from markov_lrsao.values.quotient.systems import Place
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.ways import Walk

__all__ = ["Remaining"]

FloatArray = npt.NDArray[np.float64]
_OPEN = 2


class Remaining:
    """Bounds of E[steps left in T and in each phase] on lumps.

    Raises
    ------
    StateSpaceTooLargeError
    """

    def __init__(self, system: SharedEntries, mesh: fmpq, largest: int) -> None:
        self.system = system
        walk = SharedRow(system.place, [coarse_grid(system.law.n, mesh)], chance=False)
        graph = RowGraph(walk)
        graph.explore(largest)
        self._counted = counted_phases(system.law)
        self._bounds = _bounds(graph, self._counted)
        nodes: dict[Place, list[int]] = defaultdict(list)
        for i, state in enumerate(graph.states):
            nodes[state.position, state.phase, state.words].append(i)
        self._nodes = {place: np.array(found) for place, found in nodes.items()}
        self._boxes = np.array([self._box(walk, state) for state in graph.states])
        self._pairs = list(combinations(system.row, 2))
        self._signs = np.array([self._order(walk, state) for state in graph.states], dtype=np.int8)
        self._known: dict[tuple[Lump, int], FloatArray] = {}

    def _box(self, walk: SharedRow, state: Walk) -> tuple[list[float], list[float]]:
        """Return lower and upper ends of all entries, rounded outwards."""
        low, high = [], []
        for v in (*state.entries, *state.above):
            found = walk.values.range[walk.values.zero if v == NO_ENTRY else v]
            low.append(math.nextafter(to_float(found.lower), -math.inf))
            high.append(math.nextafter(to_float(found.upper), math.inf))
        return low, high

    def _order(self, walk: SharedRow, state: Walk) -> list[int]:
        """Return the signs of all differences of the shared row's entries, or _OPEN."""
        found = []
        for i, j in self._pairs:
            sign = walk.compare(state, i, j)
            found.append(_OPEN if sign is None else sign)
        return found

    def of(self, lump: Lump) -> FloatArray:
        """Return lower and upper bounds (2 rows) of T and the phases (columns).

        Raises
        ------
        SolverError
            No node meets the lump's box: then either is wrong.
        """
        key = lump, len(lump.known.path)
        if key not in self._known:
            self._known[key] = self._found(lump)
        return self._known[key]

    def _found(self, lump: Lump) -> FloatArray:
        found = [self._bounds[:, :, self._meeting(lump, lump.place, self._waits(lump))]]
        climb = self.system.climb(lump.place)
        if climb is not None and _may_be_largest(lump, climb.bridge, self.system):
            arrived = self._meeting(lump, climb.to, climb.bridge)
            phase = lump.place[1]
            steps = np.array([to_float(climb.steps) * counted[phase] for counted in self._counted])
            rest = steps[:, None] + self._bounds[:, :, arrived]
            found.append(rest * np.array([1 - 1e-13, 1 + 1e-13])[:, None, None])
        both = np.concatenate(found, axis=2)
        if both.shape[2] == 0:
            raise SolverError(
                f"no node meets the values at {lump.place}; please report this instance"
            )
        return np.array([both[0].min(axis=1), both[1].max(axis=1)])

    def _waits(self, lump: Lump) -> int | None:
        return self.system.rejected_at(lump.place)

    def _meeting(self, lump: Lump, place: Place, free: int | None) -> npt.NDArray[np.int64]:
        """Return the nodes at a place that meet a lump's box; one entry may have any value."""
        nodes = self._nodes.get(place)
        if nodes is None:
            return np.zeros(0, dtype=np.int64)
        low, high = np.array(lump.known.low), np.array(lump.known.high)
        if free is not None:
            low[free], high[free] = -math.inf, math.inf
        boxes = self._boxes[nodes]
        meets = (boxes[:, 0] <= high) & (boxes[:, 1] >= low)
        found: npt.NDArray[np.int64] = nodes[meets.all(axis=1)]
        for k, (i, j) in enumerate(self._pairs):
            sign = None if free in (i, j) else _sign(lump, i, j)
            if sign is not None:
                signs = self._signs[found, k]
                found = found[(signs == sign) | (signs == _OPEN)]
        return found


def _may_be_largest(lump: Lump, entry: int, system: SharedEntries) -> bool:
    """Whether an entry of the shared row may be the largest on a lump."""
    for other in system.row:
        if other != entry:
            low, high = min(entry, other), max(entry, other)
            if _sign(lump, low, high) == (-1 if entry == low else 1):
                return False
    return True


def _sign(lump: Lump, i: int, j: int) -> int | None:
    """Return the sign of x_i - x_j on a lump, i < j; None: not known."""
    of, sign = lump.known.equalities.reduce(difference(i, j))
    if of is None:
        return sign
    decided = lump.known.decide(of)
    return None if decided is None else sign * decided


def _bounds(graph: RowGraph, counted: list[list[bool]]) -> FloatArray:
    """Return bounds: side x quantity x node."""
    system = float_system(graph.options, len(graph.states))
    steps = steps_of(graph.options)
    phase = np.array([o.phase for o in graph.options])
    marked = [np.array(c)[phase] for c in counted]
    low = [np.maximum(system.bound(steps[0] * m, -1), 0.0) for m in marked]
    high = [system.bound(steps[1] * m, 1) for m in marked]
    return np.array([low, high])
