"""The joint chain with its steps labelled: exhaustive evidence, and shortest counterexamples.

States are (position, phase, pattern of every row), steps carry action and direction. A statement
about single steps is decided by looking at every reachable step, one about counts by the longest
path over strongly connected components. A violation yields a shortest path from the start, which
is a run that can be replayed with exact Q-values, because the patterns are exact.

Rows that no run can meet again are forgotten. A position with a row of its own is a *barrier* once
no pattern that this row can still reach accepts a downward move: whoever is at or above it stays
there, and the rows of which all positions are below it never matter nor change again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.graphs import Components, components_of
from markov_lrsao.model.law import StepLaw
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from proofs_check.runs.run import Choice, SeenStep

__all__ = ["Edge", "Graph", "JointState", "explore"]

JointState = tuple[int, int, tuple[int, ...]]
"""Position, phase (from 1) and the pattern numbers of all rows."""


@dataclass(frozen=True, kw_only=True)
class Edge(SeenStep):
    """A step between two nodes."""

    source: int
    target: int


@dataclass(frozen=True, eq=False)
class Graph:
    """All reachable nodes and steps.

    Attributes
    ----------
    rows : rows whose patterns are in a node, in order
    """

    law: StepLaw
    automata: RowAutomata
    nodes: tuple[JointState, ...]
    edges: tuple[Edge, ...]
    rows: tuple[int, ...]

    @cached_property
    def outgoing(self) -> list[list[Edge]]:
        """JointState -> its steps."""
        out: list[list[Edge]] = [[] for _ in self.nodes]
        for edge in self.edges:
            out[edge.source].append(edge)
        return out

    @cached_property
    def _sign(self) -> dict[tuple[int, int], tuple[int, ...]]:
        automata = self.automata
        return {
            (r, k): shown.signs
            for r in self.rows
            for k, shown in enumerate(automata.patterns[automata.class_of(r)])
        }

    def signs(self, node: int, row: int) -> tuple[int, ...]:
        """Return the signs of a row's entries at a node."""
        return self._sign[row, self.nodes[node][2][self.rows.index(row)]]

    @cached_property
    def _order(self) -> Components:
        return components_of([[e.target for e in row] for row in self.outgoing])

    def largest_count(self, counts: Callable[[Edge], bool]) -> int | None:
        """Return the largest number of counted steps in a run; None if unbounded."""
        label = self._order.label.tolist()
        best = [0] * len(self._order)
        edges = sorted(
            ((label[e.source], label[e.target], counts(e)) for e in self.edges),
            key=lambda item: item[0],
        )
        for source, to, counted in edges:
            if source == to:
                if counted:
                    return None
            else:
                best[source] = max(best[source], best[to] + counted)
        return int(best[label[0]])

    def shortest(
        self, look: Callable[[Any, Edge], tuple[Hashable, bool]], start: Hashable = None
    ) -> list[Edge] | None:
        """Return a shortest run whose last step is flagged by `look`, or None.

        `look` maps (memory, step) to (memory, flagged); memories must be finitely many.
        """
        first = (0, start)
        origin: dict[Any, tuple[Any, Edge] | None] = {first: None}
        queue = deque([first])
        while queue:
            state = queue.popleft()
            for edge in self.outgoing[state[0]]:
                memory, flagged = look(state[1], edge)
                following = (edge.target, memory)
                if flagged:
                    path = [edge]
                    link = origin[state]
                    while link is not None:
                        path.append(link[1])
                        link = origin[link[0]]
                    return path[::-1]
                if following not in origin:
                    origin[following] = (state, edge)
                    queue.append(following)
        return None

    @staticmethod
    def choices(path: Sequence[Edge]) -> list[Choice]:
        """Return a path as the choices of a run."""
        return [(e.action, e.direction) for e in path]


def explore(law: StepLaw, *, limit: int = 2_000_000) -> Graph:
    """Enumerate the joint chain with labelled steps.

    Raises
    ------
    UndecidedComparisonError, StateSpaceTooLargeError
    """
    automata = derive_automata(law)
    rows = law.rows_met()
    slot = {r: i for i, r in enumerate(rows)}
    milestones = law.landscape.milestones
    start: JointState = (0, 1, (0,) * len(rows))
    index, nodes, edges = {start: 0}, [start], []
    forget = _Forgetting(automata, rows)
    position = 0
    while position < len(nodes):
        p, phase, shown = nodes[position]
        if p != law.optimum:
            at = slot[int(law.row[p])]
            for e in automata.events_at(p, shown[at]):
                after = p + e.moved
                hit = phase <= len(milestones) and after == milestones[phase - 1]
                changed = (*shown[:at], e.following, *shown[at + 1 :])
                node: JointState = (after, phase + hit, forget(after, changed))
                if node not in index:
                    index[node] = len(nodes)
                    nodes.append(node)
                    if len(nodes) > limit:
                        raise StateSpaceTooLargeError(f"more than {limit:,} joint states")
                edges.append(
                    Edge(
                        source=position,
                        target=index[node],
                        position=p,
                        action=law.actions[e.action],
                        direction=e.direction,
                        accepted=e.move.accepted,
                        next_position=after,
                        phase=phase,
                        next_phase=phase + hit,
                    )
                )
        position += 1
    return Graph(law, automata, tuple(nodes), tuple(edges), rows)


class _Forgetting:
    """Sets rows that cannot be met again back to their first pattern."""

    def __init__(self, automata: RowAutomata, rows: tuple[int, ...]) -> None:
        self.automata, self.slot = automata, {r: i for i, r in enumerate(rows)}
        law = automata.law
        places: dict[int, list[int]] = {r: [] for r in rows}
        for p in range(law.n + 1):
            if int(law.row[p]) in places and p != law.optimum:
                places[int(law.row[p])].append(p)
        self.last = [max(places[r]) for r in rows]
        self.own = {held[0]: self.slot[r] for r, held in places.items() if len(held) == 1}
        self.closed: dict[tuple[int, int], bool] = {}

    def _barrier(self, position: int, pattern: int) -> bool:
        """Whether no pattern that the row can still reach here accepts a downward move."""
        key = (position, pattern)
        if key not in self.closed:
            reached = [pattern]
            falls = False
            for k in reached:
                # A pattern that was never met here has not been entered yet: all is open.
                if not self.automata.is_met(position, k):
                    falls = True
                    break
                for e in self.automata.events_at(position, k):
                    falls = falls or e.moved < 0
                    if e.following not in reached:
                        reached.append(e.following)
            self.closed[key] = not falls
        return self.closed[key]

    def __call__(self, position: int, shown: tuple[int, ...]) -> tuple[int, ...]:
        """Return the patterns of a node at a position, without those of dead rows."""
        for barrier in range(position, 0, -1):
            at = self.own.get(barrier)
            if at is not None and self._barrier(barrier, shown[at]):
                return tuple(0 if self.last[i] < barrier else k for i, k in enumerate(shown))
        return shown
