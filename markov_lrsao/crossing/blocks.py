"""Blocks: a stretch of positions walked on its own, between exits at its two ends.

A block is the joint chain of (position, patterns of its rows) on consecutive positions
first..last. Leaving it upwards or downwards is an *exit*, labelled with the direction and
the patterns then shown; the walk later comes back at the end where it left, with the same
patterns, because rows outside the block are not its own.

A *corridor* is a stretch on which the row shown can never change its pattern again and only
upward moves are accepted: from p the walk reaches the end of the region after independent
geometric waiting times. Plateaus are crossed by corridors once their objective has been
learnt (Lemma 5 (2)), so a block has a number of states that does not depend on their length.

One exploration serves all walks: `explore` collects the states that a `Walk` has on a stretch.
Here rows are known by their patterns; `markov_lrsao.values.refinement` has a walk that follows
values, and may have several *options* in a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from markov_lrsao.errors import CrossingError, StateSpaceTooLargeError
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.model.law import DOWN, UP, Share, StepLaw, add_shares
from markov_lrsao.rows.automata import RowAutomata

__all__ = [
    "Block",
    "Corridor",
    "Edge",
    "Exit",
    "Explored",
    "Options",
    "State",
    "Stretch",
    "Target",
    "Walk",
    "Weight",
    "corridor_end",
    "explore",
    "explore_block",
]

_LARGEST_BLOCK = 20_000


@dataclass(frozen=True)
class State:
    """A position, the number of milestones passed, and the patterns of the block's rows."""

    position: int
    phase: int
    patterns: tuple[int, ...]


@dataclass(frozen=True)
class Exit:
    """Leaving the block in a direction, with the patterns then shown."""

    direction: int
    phase: int
    patterns: tuple[int, ...]


@dataclass(frozen=True)
class Corridor:
    """Walking up from `first` through `last`, never back: geometric waiting times."""

    first: int
    last: int


Weight = Share | Corridor
Target = int | Exit
"""A state's number, or an exit."""
Edge = tuple[Target, Weight]
Options = tuple[tuple[Edge, ...], ...]
"""The transitions of a state, for each way in which its greedy choice may turn out."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Positions that are walked on their own.

    Attributes
    ----------
    milestones : positions whose first hitting raises the phase number
    reenter : direction of the exits after which the walk may come back, so that the states it
        then has are explored too, as far as the automata know them; the optimum is an exit
        that nothing comes back from
    """

    automata: RowAutomata
    first: int
    last: int
    milestones: tuple[int, ...]
    reenter: int | None = None

    @property
    def law(self) -> StepLaw:
        """The step law."""
        return self.automata.law

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The rows met here before the optimum, in the order of the patterns in a state."""
        return self.law.rows_met(self.first, min(self.last + 1, self.law.optimum))


@dataclass(frozen=True, eq=False)
class Explored:
    """The states of a walk on a stretch.

    Attributes
    ----------
    denominator : of all shares
    start : numbers of the states in which the walk may begin
    """

    stretch: Stretch
    states: tuple[State, ...]
    start: tuple[int, ...]
    denominator: int

    @property
    def law(self) -> StepLaw:
        """The step law."""
        return self.stretch.law

    @cached_property
    def number(self) -> dict[State, int]:
        """State -> its number."""
        return {state: i for i, state in enumerate(self.states)}

    def comes_back(self, exit_: Exit) -> int | None:
        """Return the state in which the walk comes back from an exit, at the end it left.

        None where the automata show that it never does.
        """
        end = self.stretch.last if exit_.direction == UP else self.stretch.first
        return self.number.get(State(end, exit_.phase, exit_.patterns))

    def probability(self, state: int, weight: Weight) -> fmpq:
        """Return the probability of a transition; a corridor is walked to its end for sure."""
        if isinstance(weight, Corridor):
            return fmpq(1)
        p = self.states[state].position
        return fmpq(weight.numerator(p, self.law.n), self.denominator)


@dataclass(frozen=True, eq=False)
class Block(Explored):
    """An explored block.

    Attributes
    ----------
    edges : state number -> its transitions: where they lead, and how likely they are
    """

    edges: tuple[tuple[Edge, ...], ...]

    @cached_property
    def order(self) -> tuple[tuple[int, ...], ...]:
        """Strongly connected components of the states, successors first."""
        return tuple(
            components_of([[t for t, _ in row if isinstance(t, int)] for row in self.edges])
        )

    @cached_property
    def exits(self) -> tuple[Exit, ...]:
        """All exits."""
        return exits_of((row,) for row in self.edges)


def exits_of(options: Iterable[Options]) -> tuple[Exit, ...]:
    """Return all exits among the options of some states."""
    return tuple(
        dict.fromkeys(t for o in options for row in o for t, _ in row if isinstance(t, Exit))
    )


class Walk:
    """The walk on a stretch whose rows are known by their patterns."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch, self.automata, self.law = stretch, stretch.automata, stretch.law
        self.slot = {r: i for i, r in enumerate(stretch.rows)}

    def corridor_end(self, state: State) -> int | None:
        """Return the last position of the corridor that begins in a state; None: none does."""
        at = self.slot[int(self.law.row[state.position])]
        return corridor_end(self.stretch, state.position, state.patterns[at])

    def options(self, state: State) -> Iterable[Iterable[tuple[int, tuple[int, ...], Share]]]:
        """Yield per option the (next position, patterns, share) of one step."""
        at = self.slot[int(self.law.row[state.position])]
        position, shown = state.position, state.patterns
        yield [
            (position + moved, replaced(shown, at, after), share)
            for (moved, after), share in self.automata.outcomes_at(position, shown[at]).items()
        ]

    def known(self, state: State) -> bool:
        """Whether the automata foresee this state; if not, no run ever has it."""
        row = int(self.law.row[state.position])
        return self.automata.is_met(state.position, state.patterns[self.slot[row]])

    def remembered(self, position: int, shown: tuple[int, ...]) -> tuple[int, ...]:
        """Return what still matters of the patterns when a position is entered."""
        return shown

    def entered(self, position: int, phase: int, shown: tuple[int, ...]) -> tuple[State, bool]:
        """Return the state in which a position is entered, and whether that is on the stretch.

        If not, the state is the one in which the walk would come back, at the end that it left.
        """
        stretch = self.stretch
        if phase < len(stretch.milestones) and position == stretch.milestones[phase]:
            phase += 1
        inside = stretch.first <= position <= stretch.last and position != self.law.optimum
        end = position if inside else min(max(position, stretch.first), stretch.last)
        return State(end, phase, self.remembered(position, shown)), inside


def replaced(shown: tuple[int, ...], at: int, after: int) -> tuple[int, ...]:
    """Return the patterns with one of them replaced."""
    return (*shown[:at], after, *shown[at + 1 :])


def explore(
    walk: Walk, starts: Sequence[State], largest: int
) -> tuple[tuple[State, ...], tuple[Options, ...]]:
    """Collect the states of a walk, and their transitions.

    Raises
    ------
    StateSpaceTooLargeError
        There are more than `largest` states.
    """
    stretch, optimum = walk.stretch, walk.law.optimum
    first, last = stretch.first, stretch.last
    index = {state: i for i, state in enumerate(starts)}
    stack = list(index)
    found: dict[int, Options] = {}

    def visit(position: int, phase: int, patterns: tuple[int, ...]) -> Target:
        state, inside = walk.entered(position, phase, patterns)
        direction = UP if position > last or position == optimum else DOWN
        number = index.get(state) if position != optimum else None
        reentered = direction == stretch.reenter and position != optimum
        if number is None and (inside or (reentered and walk.known(state))):
            if len(index) >= largest:
                raise StateSpaceTooLargeError(
                    f"positions {first}..{last} have more than {largest:,} states"
                )
            number = index[state] = len(index)
            stack.append(state)
        if inside and number is not None:
            return number
        return Exit(direction, state.phase, state.patterns)

    while stack:
        state = stack.pop()
        end = walk.corridor_end(state)
        if end is not None:
            target = visit(end + 1, state.phase, state.patterns)
            found[index[state]] = (((target, Corridor(state.position, end)),),)
            continue
        options = (
            add_shares((visit(to, state.phase, shown), share) for to, shown, share in steps)
            for steps in walk.options(state)
        )
        found[index[state]] = tuple(dict.fromkeys(tuple(o.items()) for o in options))
    return tuple(index), tuple(found[i] for i in range(len(index)))


def explore_block(stretch: Stretch, starts: Sequence[State]) -> Block:
    """Explore a stretch by patterns, from states on it.

    Raises
    ------
    CrossingError
        It has too many states.
    """
    try:
        states, options = explore(Walk(stretch), starts, _LARGEST_BLOCK)
    except StateSpaceTooLargeError as error:
        raise CrossingError(f"{error} on their own: crossing counts do not help here") from None
    edges = tuple(only for (only,) in options)
    return Block(stretch, states, tuple(range(len(starts))), stretch.law.denominator, edges)


def corridor_end(stretch: Stretch, position: int, pattern: int) -> int | None:
    """Return the last position of the corridor that begins here, or None if none does.

    A corridor ends with its region, with the stretch, and just below a milestone.
    """
    law, automata = stretch.law, stretch.automata
    c = automata.class_of(law.row[position])
    if automata.patterns[c][pattern].undecided is not None:
        return None
    ahead = (m - 1 for m in stretch.milestones if m > position)
    limit = min([stretch.last, law.optimum - 1, *ahead])
    same = law.row[position : limit + 1] == law.row[position]
    end = position + (len(same) if same.all() else int(np.argmin(same))) - 1
    for kind in np.unique(law.kind[position : end + 1]).tolist():
        events = automata.events(kind, c, pattern)
        # Upward proposals (direction 1) must move by 1, downward ones (direction 0) by 0.
        if not events or any(e.moved != e.direction or e.following != pattern for e in events):
            return None
    return end
