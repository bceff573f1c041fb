"""The least and the largest expected time over all that an abstraction leaves open.

The true agent follows one way of choosing among the candidates for greedy; so its E[T] lies
between the least and the largest over all ways. Both are values of a Markov decision process, found
in floats by improving choices and solving. What is believed is only what a vector v proves:

    v - P_a v >= 1 - d  for all choices    then v / (1 - d) is an upper bound,
    v - P_a v <= 1 + d  for all choices    then v / (1 + d) is a lower one,

since every step takes one unit of time, and all that leave v bounded end. A margin covers rounding.
The second moment is enclosed likewise: E[T^2] = w with w - P w = 2 v - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.exploring.tables import Explored

__all__ = ["Bounds", "bounds_of"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
_ROUNDS = 200
_ENOUGH = 1e-9


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of E[T], and of E[T^2], from every state."""

    low: FloatArray
    high: FloatArray
    square_low: FloatArray
    square_high: FloatArray


def bounds_of(explored: Explored) -> Bounds:
    """Return certified bounds for all states.

    Raises
    ------
    SolverError
        Floats do not settle.
    """
    process = _Process(explored)
    low, high = process.solved(least=True), process.solved(least=False)
    ones = np.ones(process.size)
    below = process.certified(low, ones, least=True)
    above = process.certified(high, ones, least=False)
    squares = []
    for v, least in ((below, True), (above, False)):
        side = 2 * v - 1
        squares.append(process.certified(process.solved(least=least, side=side), side, least=least))
    return Bounds(below, above, squares[0], squares[1])


class _Process:
    """A Markov decision process: P_a for every action, and which of them may be greedy."""

    def __init__(self, explored: Explored) -> None:
        from scipy.sparse import csr_array

        law = explored.law
        self.size, self.actions = len(explored.states), len(law.actions)
        self.epsilon = to_float(law.algorithm.epsilon)
        self.matrices = []
        below = [law.denominator_at(p) for p in range(law.n + 1)]
        for a in range(self.actions):
            rows, columns, chances = [], [], []
            for i, moves in enumerate(explored.moves):
                whole = below[explored.states[i][0]]
                for chance, j in moves[a]:
                    if j >= 0:
                        rows.append(i)
                        columns.append(j)
                        chances.append(chance / whole)
            shape = (self.size, self.size)
            self.matrices.append(csr_array((chances, (rows, columns)), shape=shape))
        self.share = np.zeros((self.actions, self.size))
        self.may = np.zeros((self.actions, self.size), dtype=bool)
        self.open = ~np.array(explored.tied)
        for i, greedy in enumerate(explored.greedy):
            self.may[greedy, i] = True
            if explored.tied[i]:
                self.share[greedy, i] = 1 / len(greedy)

    def _taken(self, after: FloatArray, *, least: bool) -> FloatArray:
        """Return the weights of the actions that are best, or worst, against what follows."""
        ranked = np.where(self.may, after, np.inf if least else -np.inf)
        best = ranked.argmin(axis=0) if least else ranked.argmax(axis=0)
        chosen = (np.arange(self.actions)[:, None] == best).astype(float)
        return np.asarray(np.where(self.open, chosen, self.share))

    def solved(self, *, least: bool, side: FloatArray | None = None) -> FloatArray:
        """Return a vector that nearly solves v = side + P v with the least, or largest, choices."""
        from scipy.sparse import diags_array, eye_array
        from scipy.sparse.linalg import bicgstab, splu

        right = np.ones(self.size) if side is None else side
        v = np.zeros(self.size)
        known: FloatArray | None = None
        for _ in range(_ROUNDS):
            after = np.array([matrix @ v for matrix in self.matrices])
            taken = self._taken(after, least=least)
            if known is not None and np.array_equal(taken, known):
                break
            known = taken
            weights = self.epsilon / self.actions + (1 - self.epsilon) * taken
            system: Any = eye_array(self.size)
            for a, matrix in enumerate(self.matrices):
                system = system - diags_array(weights[a]) @ matrix
            if self.size <= 3000:
                v = splu(system.tocsc()).solve(right)
            else:
                v, failed = bicgstab(system.tocsr(), right, x0=v, rtol=1e-13, maxiter=20_000)
                if failed < 0:
                    raise SolverError("an agent that explores: the iteration breaks down")
        for _ in range(50):  # a few steps of the process itself smooth what is left
            v = right + self._followed(v, least=least)
        return np.asarray(v)

    def _followed(self, v: FloatArray, *, least: bool) -> FloatArray:
        """Return the expected v after a step, with the least, or largest, choices."""
        after = np.array([matrix @ v for matrix in self.matrices])
        taken = self._taken(after, least=least)
        greedy = (taken * after).sum(axis=0)
        return np.asarray(self.epsilon * after.mean(axis=0) + (1 - self.epsilon) * greedy)

    def certified(self, v: FloatArray, side: FloatArray, *, least: bool) -> FloatArray:
        """Return a vector that is certainly below, or above, the solution.

        With v - P v <= (1 + d) side for all choices, v / (1 + d) is below it, and so on.
        """
        if not (np.isfinite(v).all() and (v > 0).all() and (side > 0).all()):
            raise SolverError("an agent that explores: floats do not settle")
        gap = v - self._followed(v, least=least)
        # A row has at most a dozen products, each with v at most its largest: a generous margin.
        rounding = 1e-14 * float(v.max())
        if least:
            excess = float(((gap + rounding) / side).max()) - 1
            return np.asarray(v / (1 + max(excess, 0.0)) * (1 - _ENOUGH))
        lack = 1 - float(((gap - rounding) / side).min())
        if lack >= 1:
            raise SolverError("an agent that explores: floats do not settle")
        return np.asarray(v / (1 - max(lack, 0.0)) * (1 + _ENOUGH))
