r"""Exploring a stretch of positions with values instead of patterns, choices where even they
do not decide.

`refine` is `markov_lrsao.crossing.blocks.explore_block` with *tracked* rows: their state is a row
state of `markov_lrsao.values.clusters`, all other rows keep the patterns of their automata. A
comparison that the values leave open becomes a choice: the state has one list of transitions
per way the maximum may turn out, and the truth is one of them at every visit, in a manner
that may depend on the whole past. Whatever holds for all such choices holds for the
algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from markov_lrsao.crossing.blocks import (
    Block,
    Corridor,
    Exit,
    State,
    Weight,
    component_order,
    is_explored,
    moves,
)
from markov_lrsao.errors import CrossingError, StateSpaceTooLargeError
from markov_lrsao.exact.intervals import Interval
from markov_lrsao.model.law import DOWN, UP, Move, StepLaw
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.orders import Option, largest_of
from markov_lrsao.values.clusters import Clusters

__all__ = ["Edge", "Refined", "refine", "safe_actions"]

Edge = tuple[int | Exit, Weight]
_GONE = -1
"""Row state of every row of a walk that is on its way to the optimum and never comes back."""
LARGEST_REFINEMENT = 200_000
"""Default limit of `refine`."""


@dataclass(frozen=True, eq=False)
class Refined:
    """A block with choices.

    Attributes
    ----------
    tracked : rows that are followed by values: their numbers in a state are clusters
    options : state number -> the transitions of each way the greedy choice may turn out
    after : where the last states are those of another block, with rows and clusters of its
        own, that block
    """

    automata: RowAutomata
    clusters: Clusters
    first: int
    last: int
    rows: tuple[int, ...]
    tracked: frozenset[int]
    states: tuple[State, ...]
    options: tuple[tuple[tuple[Edge, ...], ...], ...]
    denominator: int
    start: tuple[int, ...]
    after: Refined | None = None

    @property
    def undecided(self) -> tuple[int, ...]:
        """The states whose greedy choice is open."""
        return tuple(i for i, options in enumerate(self.options) if len(options) > 1)

    def block(self, chosen: Sequence[int] | None = None) -> Block:
        """Return the block in which state i takes its option ``chosen[i]``, by default 0."""
        edges = tuple(
            options[chosen[i] if chosen is not None else 0]
            for i, options in enumerate(self.options)
        )
        return Block(
            self.automata,
            self.first,
            self.last,
            self.rows,
            self.states,
            edges,
            self.denominator,
            component_order(edges),
            self.start,
        )


def safe_actions(law: StepLaw, first: int, last: int, row: int) -> tuple[bool, ...]:
    """Return which entries of a row never fall below min(their value, 0) on first..last.

    Such an action is never penalised there, and no update of its entry learns from another
    row, except that of the step with which the run ends.
    """
    positions = first + np.flatnonzero(law.row[first : last + 1] == row)
    return tuple(
        all(
            not move.possible
            or (p + 2 * direction - 1 == law.optimum and move.accepted)
            or (move.gain >= 0 and move.stays_in_row)
            for p in positions.tolist()
            if p != law.optimum
            for direction, move in enumerate(law.kinds[int(law.kind[p])][action])
        )
        for action in range(len(law.actions))
    )


class _Walk:
    """The transitions of (position, row states)."""

    def __init__(
        self,
        automata: RowAutomata,
        clusters: Clusters,
        first: int,
        last: int,
        rows: tuple[int, ...],
        tracked: frozenset[int],
        final: bool,
        lose: bool,
    ) -> None:
        self.automata, self.clusters, self.law = automata, clusters, automata.law
        self.first, self.last = first, last
        self.rows, self.tracked, self.final, self.lose = rows, tracked, final, lose
        self.slot = {r: i for i, r in enumerate(rows)}
        self.safe = {r: safe_actions(self.law, first, last, r) if final else () for r in tracked}
        self._takes_over: dict[tuple[int, int], bool] = {}

    def options(
        self, position: int, shown: tuple[int, ...]
    ) -> Iterator[list[tuple[int, tuple[int, ...], int, int]]]:
        """Yield per option the list of (next position, row states, share, direction)."""
        law = self.law
        row = int(law.row[position])
        at = self.slot[row]
        if row not in self.tracked:
            yield [
                (position + moved, (*shown[:at], after, *shown[at + 1 :]), share, direction)
                for moved, after, share, direction in moves(self.automata, position, shown[at])
            ]
            return
        kind = law.kinds[int(law.kind[position])]
        for option in self.clusters.options(shown[at]):
            share = law.denominator // (law.n * len(option.greedy))
            steps = []
            for action in option.greedy:
                for direction, weight in ((DOWN, position), (UP, law.n - position)):
                    if not weight:
                        continue
                    move = kind[action][direction]
                    to = position + (2 * direction - 1 if move.accepted else 0)
                    if to == law.optimum or (self.lose and to < self.first):
                        # The run is over, or given up: what is learnt does not matter.
                        steps.append((to, shown, share, direction))
                        continue
                    after = self.update(shown, at, option, action, move, to)
                    steps.append((to, (*shown[:at], after, *shown[at + 1 :]), share, direction))
            yield steps

    def update(
        self, shown: tuple[int, ...], at: int, option: Option, action: int, move: Move, to: int
    ) -> int:
        """Return the state of the row in slot `at` after a step to position `to`."""
        row, clusters = self.rows[at], self.clusters
        if move.stays_in_row:
            return clusters.follow(shown[at], option, action, move, None, self.safe[row])
        neighbour = int(self.law.row[to])
        if neighbour not in self.slot:
            raise CrossingError(f"a step to position {to} learns from a row that is not followed")
        other = shown[self.slot[neighbour]]
        m = other if neighbour in self.tracked else self.maximum(neighbour, other)
        return clusters.follow(shown[at], option, action, move, m, self.safe[row])

    def known(self, state: State) -> bool:
        """Whether the automata foresee this state; if not, no run ever has it."""
        row = int(self.law.row[state.position])
        shown = state.patterns[self.slot[row]]
        return row in self.tracked or is_explored(self.automata, state.position, shown)

    def maximum(self, row: int, pattern: int) -> Interval:
        """Bounds of the largest entry of a row that shows a pattern of its automaton.

        Merged patterns may attain it with different actions: all entries are looked at.
        """
        return largest_of(self.automata.boxes[int(self.automata.regions.row_class[row])][pattern])

    def takes_over(self, position: int, shown: tuple[int, ...]) -> bool:
        """Whether one action is greedy for ever from here and leads straight to the optimum.

        All other entries are below that of a safe action for good, and it accepts upward
        moves only: the walk goes up through the rest of the region, which ends the run.
        """
        row = int(self.law.row[position])
        if not self.final or row not in self.tracked:
            return False
        number = shown[self.slot[row]]
        key = (position, number)
        if key not in self._takes_over:
            self._takes_over[key] = self._leads_up(position, row, number)
        return self._takes_over[key]

    def _leads_up(self, position: int, row: int, number: int) -> bool:
        law, state = self.law, self.clusters.keys[number]
        alive = [a for a, entry in enumerate(state.cells) if entry is not None]
        if len(alive) != 1 or not self.safe[row][alive[0]]:
            return False
        if bool(np.any(law.row[position : law.optimum] != row)):
            return False
        return all(
            move.accepted == (direction == UP)
            for kind in np.unique(law.kind[position : law.optimum]).tolist()
            for direction, move in enumerate(law.kinds[kind][alive[0]])
            if move.possible
        )


def refine(
    automata: RowAutomata,
    clusters: Clusters,
    first: int,
    last: int,
    starts: Sequence[State],
    milestones: Sequence[int],
    *,
    rows: tuple[int, ...],
    tracked: Iterable[int],
    reenter: int | None = None,
    final: bool = False,
    lose: bool = False,
    largest: int = LARGEST_REFINEMENT,
) -> Refined:
    """Explore the positions first..last from the given states.

    Parameters
    ----------
    starts : states in it; for tracked rows their numbers are those of `clusters`
    milestones : positions whose first hitting raises the phase number
    rows : all rows met here
    tracked : those of them whose values are followed
    reenter : direction of the exits after which the walk may come back
    final : the walk ends here: entries that are never chosen again are forgotten
    lose : give up runs that leave downwards, instead of refusing
    largest : refuse to explore more states

    Raises
    ------
    StateSpaceTooLargeError, CrossingError, UndecidedComparisonError
    """
    walk = _Walk(automata, clusters, first, last, rows, frozenset(tracked), final, lose)
    while True:
        explored = _explore(walk, starts, milestones, reenter, largest)
        if not clusters.grown:
            break
        clusters.settle()
    clusters.check()
    states, options = explored
    return Refined(
        automata,
        clusters,
        first,
        last,
        rows,
        walk.tracked,
        states,
        options,
        automata.law.denominator,
        tuple(range(len(starts))),
    )


def _explore(
    walk: _Walk,
    starts: Sequence[State],
    milestones: Sequence[int],
    reenter: int | None,
    largest: int,
) -> tuple[tuple[State, ...], tuple[tuple[tuple[Edge, ...], ...], ...]]:
    """Collect the states that the present clusters allow, and their transitions."""
    law, first, last = walk.law, walk.first, walk.last
    index = {state: i for i, state in enumerate(starts)}
    stack = list(index)
    found: dict[int, tuple[tuple[Edge, ...], ...]] = {}
    gone = (_GONE,) * len(walk.rows)

    def visit(position: int, phase: int, shown: tuple[int, ...]) -> int | Exit:
        if phase < len(milestones) and position == milestones[phase]:
            phase += 1
        inside = first <= position <= last and position != law.optimum
        if position == law.optimum:
            return Exit(UP, phase, gone if walk.final else shown)
        if walk.lose and position < first:
            return Exit(DOWN, phase, gone)
        # A corridor's steps all belong to one phase: it must not pass a milestone.
        last_phase = not any(position < m < law.optimum for m in milestones)
        if inside and last_phase and walk.takes_over(position, shown):
            shown = gone
        state = State(position if inside else min(max(position, first), last), phase, shown)
        direction = UP if position > last else DOWN
        if state not in index and (inside or (direction == reenter and walk.known(state))):
            if len(index) >= largest:
                raise StateSpaceTooLargeError(
                    f"positions {first}..{last} have more than {largest:,} states"
                )
            index[state] = len(index)
            stack.append(state)
        return index[state] if inside else Exit(direction, phase, shown)

    while stack:
        state = stack.pop()
        number = index[state]
        if state.patterns == gone:
            phase = state.phase + sum(state.position < m <= law.optimum for m in milestones)
            way_up = Corridor(state.position, law.optimum - 1)
            found[number] = (((Exit(UP, phase, gone), way_up),),)
            continue
        options = []
        for steps in walk.options(state.position, state.patterns):
            shares: dict[int | Exit, list[int]] = {}
            for to, shown, share, direction in steps:
                target = visit(to, state.phase, shown)
                shares.setdefault(target, [0, 0])[direction] += share
            options.append(tuple((target, (a, b)) for target, (a, b) in shares.items()))
        found[number] = tuple(dict.fromkeys(options))
    return tuple(index), tuple(found[i] for i in range(len(index)))
