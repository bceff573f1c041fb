"""What is known of every table of a run: ends of all entries, and bounds of E[steps left].

An entry changes only when it is chosen, and then it is the largest of its row. So with

    l_i <= 0 <= u_i,    L_r = max over row r of l,    U_r = max over row r of u

no entry ever leaves [l_i, u_i] if for every move of every action, from row r to row s,

    l_i <= keep L_r + gain + bootstrap L_s,     u_i >= keep u_i + gain + bootstrap U_s,

with u_i in place of U_s if s = r. They are solved exactly, for ends that are only approached too.

A row that a walk has left keeps the entry that it was left by: as long as the walk is elsewhere the
largest entry of row s is at least any f_s <= 0 with f_s <= keep L_s + gain + bootstrap max(L, f)_t
for every move from row s to another row t. So where s is not r, max(L_s, f_s) may stand for L_s
above. On the plateaus of Jump L_0 is -r / (1 - gamma), and f_0 is far from it.

With such ends the greedy actions at a position are one of finitely many sets. E[steps left] from a
position is at most a v with v >= 1 + P v for each of them, and at least a v with v <= 1 + P v.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward.kernels import cloud, layers
from markov_lrsao.forward.model import Arrays
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.law import StepLaw
from markov_lrsao.rows.bounds import Term, least_bounds

__all__ = ["Coarse", "check_ends", "coarse", "entry_ends", "moves_of", "passed"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
_ROUNDS, _POLICIES = 300, 200
_MARGIN = 1e-9


@dataclass(frozen=True, eq=False)
class Coarse:
    """Bounds that hold for every table.

    Attributes
    ----------
    least, most : ends of each entry
    steps : [position, phase, quantity, side] of E[counted steps left]; inf: no upper end
    """

    least: FloatArray
    most: FloatArray
    steps: FloatArray


def passed(law: StepLaw) -> IntArray:
    """Return position -> how many phases have ended there at the latest."""
    milestones = np.array(law.landscape.milestones)
    return np.searchsorted(milestones, np.arange(law.n + 1), side="right").astype(np.int64)


_Moves: TypeAlias = list[tuple[int, int, int, fmpq]]
_Ends: TypeAlias = list[list[fmpq]]


def moves_of(law: StepLaw) -> _Moves:
    """Return all (row, action, next row, gain)."""
    return sorted(
        {
            (int(law.row[p]), a, int(law.row[to]), gain)
            for p in range(law.n + 1)
            if p != law.optimum
            for a in range(len(law.actions))
            for _, to, gain in law.moves(p, a)
        }
    )


def entry_ends(law: StepLaw) -> tuple[_Ends, _Ends, list[fmpq]]:
    """Return ends that no Q-entry ever leaves, [row][action], and floors of rows that were left."""
    actions, rows = len(law.actions), int(law.row.max()) + 1
    moves = moves_of(law)
    keep, bootstrap = law.algorithm.keep, law.algorithm.bootstrap
    size = rows * actions
    zero = [Term(i, fmpq(0)) for i in range(size + rows)]
    above = [
        Term(row * actions + a, gain, ((row * actions + a, keep), (seen, bootstrap)))
        for row, a, after, gain in moves
        for seen in (
            (row * actions + a,) if after == row else range(after * actions, (after + 1) * actions)
        )
    ]
    inside, outside = _leading(law, moves, rows, actions)
    below = [
        Term(changed, -gain, ((inside[row], keep), (seen, bootstrap)))
        for row, a, after, gain in moves
        for seen in (inside[row] if after == row else outside[after],)
        for changed in ((row * actions + a,) if after == row else (row * actions + a, size + row))
    ]
    low = [-(x or fmpq(0)) for x in least_bounds(size + rows, zero + below, ())[0]]
    high = [x or fmpq(0) for x in least_bounds(size, zero[:size] + above, ())[0]]
    least, most = (
        [found[r * actions : (r + 1) * actions] for r in range(rows)] for found in (low, high)
    )
    floors = low[size:]
    check_ends(law.algorithm, moves, least, most, floors)
    return least, most, floors


def _leading(law: StepLaw, moves: _Moves, rows: int, actions: int) -> tuple[list[int], list[int]]:
    """Return for every row which of its ends most likely is the largest, from inside and outside.

    From inside it is an entry's, from outside an entry's or the floor. Whichever is taken, the
    row's largest entry is no smaller: the ends are right, if less narrow.
    """
    keep, bootstrap = to_float(law.algorithm.keep), to_float(law.algorithm.bootstrap)
    row, action, after = (np.array([m[k] for m in moves]) for k in range(3))
    gain = np.array([to_float(m[3]) for m in moves])
    ends, floors, left = np.zeros((rows, actions)), np.zeros(rows), row != after
    for _ in range(_ROUNDS):
        largest = ends.max(axis=1)
        seen = np.where(left, np.maximum(largest, floors)[after], largest[row])
        changed = keep * largest[row] + gain + bootstrap * seen
        np.minimum.at(ends, (row, action), changed)
        np.minimum.at(floors, row[left], changed[left])
    inside = [r * actions + int(ends[r].argmax()) for r in range(rows)]
    higher = floors > ends.max(axis=1)
    return inside, [rows * actions + r if higher[r] else inside[r] for r in range(rows)]


def check_ends(
    algorithm: Algorithm, moves: _Moves, least: _Ends, most: _Ends, floors: list[fmpq]
) -> None:
    """Confirm the inequalities above.

    Raises
    ------
    VerificationError
    """
    keep, bootstrap = algorithm.keep, algorithm.bootstrap
    for row, a, after, gain in moves:
        low, high = max(least[row]), most[row][a]
        seen = low, high
        if after != row:
            seen = max(*least[after], floors[after]), max(most[after])
        down, up = (keep * x + gain + bootstrap * y for x, y in zip((low, high), seen, strict=True))
        if down < least[row][a] or up > most[row][a] or not least[row][a] <= 0 <= most[row][a]:
            raise VerificationError(
                f"a Q-entry of row {row} can leave its ends; please report this instance"
            )
        if floors[row] > 0 or (after != row and down < floors[row]):
            raise VerificationError(
                f"row {row} can be left below its floor; please report this instance"
            )


def _outwards(ends: _Ends, side: int) -> FloatArray:
    """Return floats beyond the ends, row after row; 0 remains 0."""
    return np.array(
        [
            float(np.nextafter(to_float(x), side * inf)) if x != 0 else 0.0
            for line in ends
            for x in line
        ]
    )


def no_waiting(arrays: Arrays) -> tuple[IntArray, IntArray, FloatArray]:
    """Return for kernels that no action waits: all steps are plain."""
    none = np.full(len(arrays.first_move) - 1, -1, dtype=np.int64)
    return none, np.zeros(1, dtype=np.int64), np.ones((1, 2))


def coarse(law: StepLaw, arrays: Arrays, counted: npt.NDArray[np.bool_]) -> Coarse:
    """Return ends of all entries, and bounds of the steps left from every position and phase.

    Parameters
    ----------
    counted : [phase, quantity] whether a step counts; the first quantity is T
    """
    ends = entry_ends(law)
    least, most = _outwards(ends[0], -1), _outwards(ends[1], 1)
    positions = np.arange(law.n + 1)
    pairs = len(least) // arrays.actions * (arrays.actions * (arrays.actions - 1) // 2)
    masks, *others = (np.zeros(len(positions), dtype=np.int64) for _ in range(3))
    layers.greedy_sets(
        *(positions, np.tile(least, (len(positions), 1)), np.tile(most, (len(positions), 1))),
        np.full((len(positions), pairs), cloud.OPEN, dtype=np.int8),
        *(arrays.row_of, arrays.first_move, *no_waiting(arrays)),
        (masks, *others),
    )
    return Coarse(least, most, _bounded(_Positions(law, masks, counted), counted))


class _Positions:
    """Options at every (position, phase): the sets that the greedy actions can be."""

    def __init__(self, law: StepLaw, masks: IntArray, counted: npt.NDArray[np.bool_]) -> None:
        phases = counted.shape[0]
        ahead = passed(law)
        self.states = [
            (p, k)
            for p in range(law.n + 1)
            for k in range(phases)
            if p != law.optimum and ahead[p] <= k
        ]
        number = {state: i for i, state in enumerate(self.states)}
        self.options: list[list[dict[int, fmpq]]] = []
        for p, k in self.states:
            own = []
            for members in range(1, 2 ** len(law.actions)):
                if not int(masks[p]) >> members & 1:
                    continue
                chosen = [a for a in range(len(law.actions)) if members >> a & 1]
                row: dict[int, fmpq] = {}
                for a in chosen:
                    for chance, to, _ in law.moves(p, a):
                        if to != law.optimum:
                            j = number[to, max(k, int(ahead[to]))]
                            row[j] = row.get(j, fmpq(0)) + fmpq(chance, law.n * len(chosen))
                own.append(row)
            self.options.append(own)

    def up_to(self, phase: int) -> _Positions:
        """Return the part until the end of a phase."""
        here = [i for i, (_, k) in enumerate(self.states) if k <= phase]
        number = {i: new for new, i in enumerate(here)}
        part = copy(self)
        part.states = [self.states[i] for i in here]
        part.options = [
            [{number[j]: w for j, w in row.items() if j in number} for row in self.options[i]]
            for i in here
        ]
        return part

    def solved(self, costs: FloatArray, side: int) -> FloatArray | None:
        """Return the largest (side 1) or least E[costs], nearly; None: it is not finite."""
        size = len(self.states)
        rows = [[_dense(row, size) for row in own] for own in self.options]
        policy = [0] * size
        values = np.zeros(size)
        for _ in range(_POLICIES):
            matrix = np.array([rows[i][policy[i]] for i in range(size)])
            try:
                values = np.linalg.solve(np.eye(size) - matrix, costs)
            except np.linalg.LinAlgError:
                return None
            if not np.isfinite(values).all() or values.min() < -1e-6 or values.max() > 1e12:
                return None
            better = False
            for i in range(size):
                each = [side * float(row @ values) for row in rows[i]]
                best = int(np.argmax(each))
                if each[best] > each[policy[i]] + 1e-11 * (1 + abs(each[best])):
                    policy[i], better = best, True
            if not better:
                return values
        return None

    def holds(self, values: FloatArray, costs: FloatArray, side: int) -> bool:
        """Whether values bound every option, exactly."""
        exact = [fmpq(*x.as_integer_ratio()) for x in values.tolist()]
        return all(
            side
            * (
                exact[i]
                - fmpq(int(costs[i]))
                - sum((w * exact[j] for j, w in row.items()), fmpq(0))
            )
            >= 0
            for i, own in enumerate(self.options)
            for row in own
        )


def _dense(row: dict[int, fmpq], size: int) -> FloatArray:
    found = np.zeros(size)
    for j, w in row.items():
        found[j] = to_float(w)
    return found


def _bounded(options: _Positions, counted: npt.NDArray[np.bool_]) -> FloatArray:
    """Return bounds of the counted steps left: [position, phase, quantity, side]."""
    phases, quantities = counted.shape
    positions = max(p for p, _ in options.states) + 2
    found = np.zeros((positions, phases, quantities, 2))
    for k in range(quantities):
        # What follows the last phase that counts is as good as the end.
        until = int(np.flatnonzero(counted[:, k]).max())
        here = options.up_to(until)
        where = tuple(np.array(here.states).T)
        below, above = _enclosed(here, counted[where[1], k].astype(float))
        found[(*where, k, 0)], found[(*where, k, 1)] = below, above
    return found


def _enclosed(here: _Positions, costs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return certain bounds of E[costs] from all states; the upper ones may be infinite.

    A candidate is moved outwards along an upper bound of all steps, which gains as much in every
    inequality, and is checked exactly. Where no choice can keep a run from ending, a v bounded with
    v <= costs + P v is a lower bound; where one can, only 0 is, unless every step counts.
    """
    every = np.ones(len(costs))
    steps = here.solved(every, 1)
    if steps is not None and not here.holds(steps * (1 + _MARGIN), every, 1):
        steps = None
    slack = np.zeros(len(costs)) if steps is None else steps * _MARGIN
    above, below = np.full(len(costs), inf), np.zeros(len(costs))
    if steps is not None:
        high = here.solved(costs, 1)
        if high is not None and here.holds(high + slack, costs, 1):
            above = high + slack
    if steps is not None or costs.all():
        low = here.solved(costs, -1)
        if low is not None:
            low = low * (1 - _MARGIN) if steps is None else low - slack
            if here.holds(low, costs, -1):
                below = np.maximum(low, 0.0)
    return below, above
