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

With such ends the greedy actions at a position are one of finitely many sets, and fewer where it is
known what runs can do at all (`forward.closing`); so E[steps left] is bounded (`forward.options`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward.closing import closed, no_waiting
from markov_lrsao.forward.kernels import cloud, layers
from markov_lrsao.forward.model import Arrays
from markov_lrsao.forward.options import bounded, member_options, position_options
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.law import StepLaw
from markov_lrsao.rows.bounds import Term, least_bounds

__all__ = ["Coarse", "check_ends", "coarse", "entry_ends", "moves_of"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
_ROUNDS = 300


@dataclass(frozen=True, eq=False)
class Coarse:
    """Bounds that hold for every table.

    Attributes
    ----------
    least, most : ends of each entry
    steps : [position, phase, quantity, side] of E[counted steps left]; inf: no upper end
    met : [position, phase] whether a run can be there at all
    """

    least: FloatArray
    most: FloatArray
    steps: FloatArray
    met: npt.NDArray[np.bool_]


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


def coarse(law: StepLaw, arrays: Arrays, counted: npt.NDArray[np.bool_]) -> Coarse:
    """Return ends of all entries, and bounds of the steps left from every position and phase.

    Parameters
    ----------
    counted : [phase, quantity] whether a step counts; the first quantity is T
    """
    ends = entry_ends(law)
    least, most = _outwards(ends[0], -1), _outwards(ends[1], 1)
    masks = _masks_within(law, arrays, least, most)
    steps, met = bounded(position_options(law, masks), counted)
    found = closed(law, arrays, (least, most))
    if found is not None:
        # What no run ever does need not be feared.
        least, most = found.hull()
        narrow, met = bounded(member_options(found), counted)
        steps[met, :, 0] = np.maximum(steps[met, :, 0], narrow[met, :, 0])
        steps[met, :, 1] = np.minimum(steps[met, :, 1], narrow[met, :, 1])
    return Coarse(least, most, steps, met)


def _masks_within(law: StepLaw, arrays: Arrays, least: FloatArray, most: FloatArray) -> IntArray:
    """Return position -> the sets that greedy actions can be, as far as the ends tell."""
    positions = np.arange(law.n + 1)
    pairs = len(least) // arrays.actions * (arrays.actions * (arrays.actions - 1) // 2)
    masks, *others = (np.zeros(len(positions), dtype=np.int64) for _ in range(3))
    layers.greedy_sets(
        *(positions, np.tile(least, (len(positions), 1)), np.tile(most, (len(positions), 1))),
        np.full((len(positions), pairs), cloud.OPEN, dtype=np.int8),
        *(arrays.row_of, arrays.first_move, *no_waiting(arrays)),
        (masks, *others),
    )
    return masks
