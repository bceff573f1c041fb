r"""Exploring walks on a shared row: finely where it matters, coarsely elsewhere.

Nodes are states that were relaxed by one of the walk's grids, from the loosest (level 0) to the
finest. A node is *expanded*: its targets are nodes of the same level; or it is *handed down*: a
step that takes no time leads to the same state on the next looser grid, after all orders that its
climbs know have been told. Both are right whatever is chosen, so that the choice may rest on
estimates: a node is expanded if (probability of being met) * (width of what is left, from a
coarser exploration) exceeds a threshold. Nodes of level 0 are always expanded.

Where not all nodes fit, those are looked at that would cost most: (probability of being met) *
(bound of the steps left at their position). The others are `cut`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

from markov_lrsao.values.options import NOTHING, Ends, Option, total
from markov_lrsao.values.row_bounds import too_large
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.ways import Walk, Ways

__all__ = ["RowGraph"]

_LOOK_AROUND = 2_000
_FLOOR, _HUGE = 1e-2, 1e6


class RowGraph:
    """What was found of a walk: a finite system of options.

    Attributes
    ----------
    states, levels : the nodes; node 0 is the start
    options : grouped by owner, in its order
    cut : nodes that were met and not looked at; their options lead nowhere
    left : about the steps left at most to runs which meet one of these; the probability of meeting
        one, if these steps are not bounded
    open : number of nodes in which a comparison stays open
    """

    def __init__(self, walk: SharedRow) -> None:
        self.walk = walk
        self.states: list[Walk] = []
        self.levels: list[int] = []
        self.options: list[Option] = []
        self.cut: list[int] = []
        self.left = 0.0
        self.open = 0
        self._number: dict[tuple[int, Walk], int] = {}
        self._masses: list[float] = []
        self._worst: list[float] = []  # the same if whoever chooses wants to come there
        self._most: list[float] = []  # bounds of the steps left
        self._weights: list[float] = []
        self._handed: dict[int, int] = {}
        self._last = 1.0

    def explore(self, largest: int) -> None:
        """Find all states of level 0.

        Raises
        ------
        StateSpaceTooLargeError
        """
        self._begin(0)
        for i, _ in enumerate(self.states):  # grows while it is read
            self.options += self._expanded(i)
            if len(self.states) > largest:
                raise too_large(largest)

    def explore_likely(
        self,
        most: int,
        negligible: float = 0.0,
        *,
        level: int = 0,
        thresholds: Sequence[float] = (0.0,),
        widths: Mapping[Walk, float] | None = None,
        width: float = 1.0,
        last: float = 1.0,
    ) -> None:
        """Look at so many nodes at most, those that matter most first.

        Parameters
        ----------
        negligible : stop when the nodes that are left may cost about so many steps (`left`). Masses
            are estimates that order the nodes; no bound rests on them
        level : where to begin
        thresholds : per level; nodes that matter less are handed down
        widths : of what is left, about, per state of level 0; `width` is that of the start
        last : how much more than others states matter that stay on the last plateau
        """
        self._last = last
        self._begin(level)
        self._weights[0] = width
        found: dict[int, list[Option]] = {}
        queue = [(-1.0, 0)]
        while queue and len(found) < most:
            _, i = heappop(queue)
            if i in found:  # its mass grew after it had been queued
                continue
            if negligible and len(found) % _LOOK_AROUND == 0:
                left = self._cost(k for k in range(len(self.states)) if k not in found)
                if left <= negligible:
                    break
            at = self.levels[i]
            if at and self._matters(i) < thresholds[at]:
                found[i] = [self._handed_down(i, thresholds)]
            else:
                found[i] = self._expanded(i)
            # Undivided masses grow without limit where loops have options: only where what is cut
            # off must be tiny, since its bound is huge, are they of use.
            shares = 1 if (self.walk.longest or 0.0) > _HUGE else len(found[i])
            for option in found[i]:
                for target, ends in option.edges.items():
                    if target >= 0 and target not in found:
                        self._masses[target] += self._masses[i] * ends[1] / len(found[i])
                        self._worst[target] += self._worst[i] * ends[1] / shares
                        self._weigh(target, widths, self._weights[i])
                        met = max(self._masses[target], self._worst[target] * _FLOOR)
                        heappush(queue, (-met * self._most[target], target))
        self.cut = [i for i in range(len(self.states)) if i not in found]
        self.left = self._cost(self.cut)
        self.options = [
            option
            for i, state in enumerate(self.states)
            for option in found.get(i) or (Option(i, state.phase, (0.0, 0.0), {}),)
        ]

    def _cost(self, nodes: Iterable[int]) -> float:
        """Estimate the steps that are added if these nodes are not looked at."""
        return sum(self._worst[i] * self._most[i] for i in nodes)

    def _matters(self, i: int) -> float:
        """Estimate what a node adds to the width; there are few states on the last plateau."""
        matters = self._masses[i] * self._weights[i]
        return matters * self._last if self.walk.is_final(self.states[i]) else matters

    def _weigh(self, i: int, widths: Mapping[Walk, float] | None, inherited: float) -> None:
        """Estimate how wide what is left is."""
        if self._weights[i] < 0:
            known = None
            if widths is not None:
                known = widths.get(self.walk.normal(self.states[i], 0))
            self._weights[i] = inherited if known is None else known

    def _begin(self, level: int) -> None:
        self.states, self.levels, self.options, self.cut = [], [], [], []
        self._number, self._masses, self._weights, self.open, self.left = {}, [], [], 0, 0.0
        self._handed = {}
        self._worst, self._most = [], []
        self._node(self.walk.start(), level)
        self._masses[0] = self._worst[0] = self._weights[0] = 1.0

    def _node(self, state: Walk, level: int) -> int:
        """Return the number of a state's node, which may be new."""
        relaxed = self.walk.normal(state, level)
        number = self._number.setdefault((level, relaxed), len(self.states))
        if number == len(self.states):
            self.states.append(relaxed)
            self.levels.append(level)
            self._masses.append(0.0)
            self._worst.append(0.0)
            self._most.append(self.walk.most_left(relaxed))
            self._weights.append(-1.0)
        return number

    def _expanded(self, i: int) -> list[Option]:
        """Return the options of a node."""
        level = self.levels[i]
        ways = self.walk.ways(self.states[i], level)
        self.open += len(ways) > 1
        return [self._option(i, way, level) for way in ways]

    def _handed_down(self, i: int, thresholds: Sequence[float]) -> Option:
        """Hand a node down to the finest looser grid on which it would be expanded."""
        matters, level = self._matters(i), self.levels[i] - 1
        while level and matters < thresholds[level]:
            level -= 1
        self._handed[i] = level
        return self._option(i, self._handing_down(i), level)

    def _handing_down(self, i: int) -> Ways:
        return Ways(NOTHING, self.walk.without_laws(self.states[i]))

    def ways(self, i: int) -> tuple[list[Ways], int]:
        """Return what was explored from a node that was not cut, and the level of its targets."""
        if i in self._handed:
            return [self._handing_down(i)], self._handed[i]
        return self.walk.ways(self.states[i], self.levels[i]), self.levels[i]

    def number(self, state: Walk, level: int) -> tuple[int, float]:
        """Return the node of a state, and the variance of steps that relaxing it forgets."""
        relaxed = self.walk.normal(state, level)
        return self._number[level, relaxed], self.walk.forgotten(state, relaxed)

    def untold(self, i: int) -> float:
        """Return a bound of the variance of all steps that climbs of a node have not told."""
        return self.walk.untold(self.states[i])

    def _option(self, i: int, way: Ways, level: int) -> Option:
        edges: dict[int, Ends] = {}
        for target, ends, *_ in way.targets:
            number = target if isinstance(target, int) else self._node(target, level)
            edges[number] = total(edges[number], ends) if number in edges else ends
        return Option(i, self.states[i].phase, way.steps, edges)
