r"""Bounds on E[T_3] that hold for every choice of hyper-parameters in (H).

The cells of `proofs_check.automata.plateau` leave some things open: which of two entries in one
cell is larger, and which cell an updated entry reaches. Letting an adversary decide them, step by
step, gives a Markov decision process on (position, cells) that contains the walk of every instance
in (H); its largest and smallest expected time to the optimum enclose E[T_3] for all of (H). At
n-l-1 the share of greedy actions that move up is between 1/2 and 1 (statement "Leaving n-l-1").
Policy iteration in floats; the linear systems have a few hundred unknowns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from markov_lrsao.model.law import DOWN, UP
from proofs_check.automata.plateau import BEYOND, END, ENTRY, SECOND, TOP, Leg, Place, PlateauGraph

__all__ = ["enclosure", "start_law"]

CellState = tuple[int, tuple[str, ...]]
Option = list[tuple[float, CellState | None]]
"""One decision: (probability, next state), None for the optimum."""


def start_law(n: int) -> dict[tuple[str, str], float]:
    """Return the law of the cells of (J, R) with which phase 1 ends; see the proof of (A)."""
    one, both = (n - 1) / (3 * (2 * n - 1)), 2 * n / (3 * (2 * n - 1))
    return {("0", "0"): 1 / 3, ("=", "0"): one, ("0", "="): one, ("=", "="): both}


def _place(p: int, n: int, ell: int) -> str:
    return {n - ell - 1: TOP, n - ell: ENTRY, n - ell + 1: SECOND, n: END}.get(p, BEYOND)


class _Process:
    """The decision process of one (n, l)."""

    def __init__(self, graph: PlateauGraph, n: int, ell: int) -> None:
        self.n, self.ell = n, ell
        self.legs: dict[Place, list[Leg]] = {}
        for leg in graph.legs:
            self.legs.setdefault(leg.source, []).append(leg)
        self.states: list[CellState] = [(n - ell, place[1]) for place in graph.starts]
        self.index = {state: i for i, state in enumerate(self.states)}
        self.options: list[list[Option]] = []
        for state in self.states:
            found = self._options(state)
            self.options.append(found)
            for option in found:
                for _, target in option:
                    if target is not None and target not in self.index:
                        self.index[target] = len(self.states)
                        self.states.append(target)

    def _options(self, state: CellState) -> list[Option]:
        p, cells = state
        n, ell = self.n, self.ell
        if p == n - ell - 1:
            return [
                [(share * (ell + 1) / n, (p + 1, cells)), (1 - share * (ell + 1) / n, state)]
                for share in (0.5, 1.0)
            ]
        here = self.legs.get((_place(p, n, ell), cells), [])
        result: list[Option] = []
        for action in sorted({leg.action for leg in here}):
            ends: dict[int, list[CellState | None]] = {DOWN: [], UP: []}
            for leg in here:
                if leg.action == action:
                    q = p + (2 * leg.direction - 1) * leg.accepted
                    if (
                        _place(q, n, ell) == leg.target[0]
                        and (target := None if q == n else (q, leg.target[1]))
                        not in ends[leg.direction]
                    ):
                        ends[leg.direction].append(target)
            result.extend(
                [(p / n, down), ((n - p) / n, up)] for down in ends[DOWN] for up in ends[UP]
            )
        return result

    def solve(self, best: Callable[[Sequence[float]], int]) -> npt.NDArray[np.float64]:
        """Return the optimal expected times; `best` picks the index of the better value."""
        size = len(self.states)
        policy = [0] * size
        for _ in range(200):
            matrix = np.eye(size)
            for i, options in enumerate(self.options):
                for chance, target in options[policy[i]]:
                    if target is not None:
                        matrix[i, self.index[target]] -= chance
            values = np.linalg.solve(matrix, np.ones(size)).astype(np.float64)
            changed = False
            for i, options in enumerate(self.options):
                totals = [
                    1 + sum(c * values[self.index[t]] for c, t in o if t is not None)
                    for o in options
                ]
                choice = best(totals)
                if abs(totals[choice] - totals[policy[i]]) > 1e-9 * max(1.0, abs(totals[choice])):
                    policy[i], changed = choice, True
            if not changed:
                return values
        return values


def enclosure(graph: PlateauGraph, n: int, ell: int) -> tuple[float, float]:
    """Return the smallest and largest E[T_3] that any hyper-parameters in (H) could have."""
    process = _Process(graph, n, ell)
    low = process.solve(lambda totals: int(np.argmin(totals)))
    high = process.solve(lambda totals: int(np.argmax(totals)))
    law = start_law(n)
    ends = []
    for values in (low, high):
        ends.append(
            sum(
                weight * float(values[process.index[(n - ell, ("+", j, r))]])
                for (j, r), weight in law.items()
            )
        )
    return ends[0], ends[1]
