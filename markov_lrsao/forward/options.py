"""E[steps left] where the greedy actions are one of several sets: bounds over all of them.

A state is a position and a phase, or a member (`forward.closing`); its options are the sets that
its greedy actions can be, each a line of probabilities. E[steps left] is at most any v >= 0 with
v >= 1 + P v for every option of every state. Where no choice can keep a run from ending it is at
least any v with v <= 1 + P v. Candidates come from policy iteration in floats; what makes them
bounds are these inequalities, checked in rationals.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward.closing import Closed, passed
from markov_lrsao.model.law import StepLaw

__all__ = ["Options", "bounded", "member_options", "position_options"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Line: TypeAlias = dict[int, fmpq]
"""State -> probability; what is missing to 1 ends."""
_POLICIES = 200
_MARGIN = 1e-9
_LONGEST = 1e12


@dataclass
class Options:
    """States, each a position and a phase, and the lines of their options."""

    law: StepLaw
    states: list[tuple[int, int]]
    lines: list[list[Line]]

    def up_to(self, phase: int) -> Options:
        """Return the part until the end of a phase."""
        here = [i for i, (_, k) in enumerate(self.states) if k <= phase]
        number = {i: new for new, i in enumerate(here)}
        part = copy(self)
        part.states = [self.states[i] for i in here]
        part.lines = [
            [{number[j]: w for j, w in line.items() if j in number} for line in self.lines[i]]
            for i in here
        ]
        return part

    def solved(self, costs: FloatArray, side: int) -> FloatArray | None:
        """Return the largest (side 1) or least E[costs], nearly; None: it is not finite."""
        from scipy.sparse import csr_matrix, identity
        from scipy.sparse.linalg import splu

        size = len(self.states)
        lines = [line for own in self.lines for line in own]
        first = np.cumsum([0, *(len(own) for own in self.lines[:-1])])
        ends = np.cumsum([0, *map(len, lines)])
        columns = np.array([j for line in lines for j in line], dtype=np.int64)
        weights = np.array([to_float(w) for line in lines for w in line.values()])
        matrix = csr_matrix((weights, columns, ends), shape=(len(lines), size))
        policy = first.copy()
        for _ in range(_POLICIES):
            try:
                values = splu((identity(size) - matrix[policy]).tocsc()).solve(costs)
            except RuntimeError:  # singular: a policy that never ends
                return None
            if not np.isfinite(values).all() or values.min() < -1e-6 or values.max() > _LONGEST:
                return None
            each = side * (matrix @ values)
            most = np.maximum.reduceat(each, first)
            better = most > each[policy] + 1e-11 * (1 + np.abs(most))
            if not better.any():
                return np.asarray(values)
            for i in np.flatnonzero(better):
                end = first[i] + len(self.lines[i])
                policy[i] = first[i] + int(np.argmax(each[first[i] : end]))
        return None

    def holds(self, values: FloatArray, costs: FloatArray, side: int) -> bool:
        """Whether values bound every option, exactly."""
        exact = [fmpq(*x.as_integer_ratio()) for x in values.tolist()]
        return all(
            side
            * (
                exact[i]
                - fmpq(int(costs[i]))
                - sum((w * exact[j] for j, w in line.items()), fmpq(0))
            )
            >= 0
            for i, own in enumerate(self.lines)
            for line in own
        )


def _sets(mask: int, actions: int) -> list[list[int]]:
    """Return the sets of a mask (`kernels.layers`)."""
    return [
        [a for a in range(actions) if members >> a & 1]
        for members in range(1, 2**actions)
        if mask >> members & 1
    ]


def position_options(law: StepLaw, masks: IntArray) -> Options:
    """Return what positions alone tell: at each of them one mask holds in all phases."""
    ahead, phases = passed(law), len(law.landscape.milestones)
    states = [
        (p, k) for p in range(law.n + 1) if p != law.optimum for k in range(int(ahead[p]), phases)
    ]
    number = {state: i for i, state in enumerate(states)}
    found = []
    for p, k in states:
        own: list[Line] = []
        for chosen in _sets(int(masks[p]), len(law.actions)):
            line: Line = {}
            for a in chosen:
                for chance, to, _ in law.moves(p, a):
                    if to != law.optimum:
                        j = number[to, max(k, int(ahead[to]))]
                        line[j] = line.get(j, fmpq(0)) + fmpq(chance, law.n * len(chosen))
            own.append(line)
        found.append(own)
    return Options(law, states, found)


def member_options(closed: Closed) -> Options:
    """Return what members tell."""
    law = closed.law
    at = closed.members.position.tolist(), closed.members.phase.tolist()
    found = []
    for p, (mask, target) in zip(at[0], closed.steps(), strict=True):
        sets = _sets(mask, len(law.actions))
        # Successors follow each other by action, and by move within it.
        where, slot = {}, 0
        for a in sorted({a for chosen in sets for a in chosen}):
            where[a] = slot
            slot += len(law.moves(p, a))
        own: list[Line] = []
        for chosen in sets:
            line: Line = {}
            for a in chosen:
                for m, (chance, _, _) in enumerate(law.moves(p, a)):
                    j = target[where[a] + m]
                    if j >= 0:
                        line[j] = line.get(j, fmpq(0)) + fmpq(chance, law.n * len(chosen))
            # Many options lead to the same members.
            if line not in own:
                own.append(line)
        found.append(own)
    return Options(law, list(zip(*at, strict=True)), found)


def bounded(
    options: Options, counted: npt.NDArray[np.bool_]
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return bounds of the counted steps left, [position, phase, quantity, side], and who is there.

    Parameters
    ----------
    counted : [phase, quantity] whether a step counts
    """
    phases, quantities = counted.shape
    found = np.zeros((options.law.n + 1, phases, quantities, 2))
    met = np.zeros((options.law.n + 1, phases), dtype=np.bool_)
    met[tuple(np.array(options.states).T)] = True
    for k in range(quantities):
        # What follows the last phase that counts is as good as the end.
        here = options.up_to(int(np.flatnonzero(counted[:, k]).max()))
        where = tuple(np.array(here.states).T)
        below, above = _enclosed(here, counted[where[1], k].astype(float))
        found[(*where, k, 0)] = inf
        np.minimum.at(found[:, :, k, 0], where, below)
        np.maximum.at(found[:, :, k, 1], where, above)
    return found, met


def _enclosed(here: Options, costs: FloatArray) -> tuple[FloatArray, FloatArray]:
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
