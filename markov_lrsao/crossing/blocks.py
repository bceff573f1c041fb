"""Blocks: a stretch of positions walked on its own, between exits at its two ends.

A block is the joint chain of (position, patterns of its rows) on consecutive positions
first..last. Leaving it upwards or downwards is an *exit*, labelled with the direction and
the patterns then shown; the walk later comes back at the end where it left, with the same
patterns, because rows outside the block are not its own.

A *corridor* is a stretch on which the row shown can never change its pattern again and only
upward moves are accepted: from p the walk reaches the end of the region after independent
geometric waiting times. Plateaus are crossed by corridors once their objective has been
learnt (Lemma 5 (2)), so a block has a number of states that does not depend on their length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.graphs import components
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.rows.automata import RowAutomata

__all__ = [
    "Block",
    "Corridor",
    "Exit",
    "State",
    "Weight",
    "component_order",
    "corridor_end",
    "explore_block",
    "is_explored",
    "moves",
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


Weight = tuple[int, int] | Corridor


@dataclass(frozen=True, eq=False)
class Block:
    """The explored block.

    Attributes
    ----------
    rows : rows of the law, in the order of the patterns in a state
    edges : state number -> [(target: state number or Exit, shares or Corridor)]; shares
        (a, b) mean the probability (a p + b (n - p)) / denominator at position p
    order : strongly connected components of the states, successors first
    """

    automata: RowAutomata
    first: int
    last: int
    rows: tuple[int, ...]
    states: tuple[State, ...]
    edges: tuple[tuple[tuple[int | Exit, Weight], ...], ...]
    denominator: int
    order: tuple[tuple[int, ...], ...]
    start: tuple[int, ...]

    def number(self, state: State) -> int:
        """Return the number of a state."""
        return self._index[state]

    @property
    def _index(self) -> dict[State, int]:
        return {state: i for i, state in enumerate(self.states)}

    def exits(self) -> dict[Exit, None]:
        """Return all exits."""
        return dict.fromkeys(t for row in self.edges for t, _ in row if isinstance(t, Exit))


def explore_block(
    automata: RowAutomata,
    first: int,
    last: int,
    starts: Sequence[State],
    milestones: Sequence[int],
    *,
    reenter: int | None = None,
    rows: tuple[int, ...] | None = None,
) -> Block:
    """Explore the block on first..last from the given states.

    Parameters
    ----------
    starts : states in it; patterns refer to `rows`
    milestones : positions whose first hitting raises the phase number
    reenter : direction of the exits after which the walk may come back, so that the states it
        then has are explored too, as far as the automata know them; the optimum is an exit
        that nothing comes back from
    rows : rows whose patterns are carried; default all rows of the positions
    """
    law = automata.law
    rows = rows if rows is not None else tuple(dict.fromkeys(law.row[first : last + 1].tolist()))
    slot = {r: i for i, r in enumerate(rows)}
    index = {state: i for i, state in enumerate(starts)}
    stack = list(starts)
    edges: dict[int, tuple[tuple[int | Exit, Weight], ...]] = {}

    def visit(position: int, phase: int, patterns: tuple[int, ...]) -> int | Exit:
        if phase < len(milestones) and position == milestones[phase]:
            phase += 1
        inside = first <= position <= last and position != law.optimum
        back = position if inside else min(max(position, first), last)
        state = State(back, phase, patterns)
        direction = UP if position > last or position == law.optimum else DOWN
        returns = (
            not inside
            and direction == reenter
            and position != law.optimum
            and is_explored(automata, back, patterns[slot[int(law.row[back])]])
        )
        if (inside or returns) and state not in index:
            index[state] = len(index)
            stack.append(state)
            if len(index) > _LARGEST_BLOCK:
                raise CrossingError(
                    f"positions {first}..{last} have more than {_LARGEST_BLOCK:,} "
                    f"states on their own: crossing counts do not help here"
                )
        if inside:
            return index[state]
        return Exit(direction, phase, patterns)

    while stack:
        state = stack.pop()
        row = int(law.row[state.position])
        at = slot[row]
        end = corridor_end(automata, state.position, state.patterns[at], last, milestones)
        if end is not None:
            target = visit(end + 1, state.phase, state.patterns)
            edges[index[state]] = ((target, Corridor(state.position, end)),)
            continue
        shares: dict[int | Exit, list[int]] = {}
        for moved, shown, share, direction in moves(automata, state.position, state.patterns[at]):
            patterns = (*state.patterns[:at], shown, *state.patterns[at + 1 :])
            target = visit(state.position + moved, state.phase, patterns)
            shares.setdefault(target, [0, 0])[direction] += share
        edges[index[state]] = tuple((target, (a, b)) for target, (a, b) in shares.items())
    ordered = [edges[i] for i in range(len(index))]
    return Block(
        automata,
        first,
        last,
        rows,
        tuple(index),
        tuple(ordered),
        law.denominator,
        component_order(ordered),
        tuple(range(len(starts))),
    )


def is_explored(automata: RowAutomata, position: int, pattern: int) -> bool:
    """Whether the derivation met this pattern here; if not, no run ever does."""
    law = automata.law
    c, kind = int(automata.regions.row_class[law.row[position]]), int(law.kind[position])
    return any(
        (kind, c, pattern, action, direction) in automata.following
        for action in range(len(law.actions))
        for direction in (DOWN, UP)
    )


def moves(
    automata: RowAutomata, position: int, pattern: int
) -> Iterable[tuple[int, int, int, int]]:
    """Yield (change of position, next pattern, share, direction) for one step at a position."""
    law = automata.law
    c, kind = int(automata.regions.row_class[law.row[position]]), int(law.kind[position])
    greedy = automata.choose(c, pattern)
    share = law.denominator // (law.n * len(greedy))
    for action in greedy:
        for direction, weight in ((DOWN, position), (UP, law.n - position)):
            if weight:
                move = law.kinds[kind][action][direction]
                shown = automata.following[kind, c, pattern, action, direction]
                yield ((2 * direction - 1) if move.accepted else 0), shown, share, direction


def corridor_end(
    automata: RowAutomata, position: int, pattern: int, last: int, milestones: Sequence[int]
) -> int | None:
    """Return the last position of the corridor that begins here, or None if none does.

    A corridor ends with its region, with the block, and just below a milestone.
    """
    law = automata.law
    c = int(automata.regions.row_class[law.row[position]])
    if automata.patterns[c][pattern].undecided is not None:
        return None
    greedy = automata.choose(c, pattern)
    limit = min([last, law.optimum - 1, *(m - 1 for m in milestones if m > position)])
    stretch = law.row[position : limit + 1] == law.row[position]
    end = position + (len(stretch) if stretch.all() else int(np.argmin(stretch))) - 1
    for kind in np.unique(law.kind[position : end + 1]).tolist():
        for action in greedy:
            for direction in (DOWN, UP):
                move = law.kinds[kind][action][direction]
                key = (kind, c, pattern, action, direction)
                if move.possible and (
                    move.accepted != (direction == UP) or automata.following.get(key) != pattern
                ):
                    return None
    return end


def component_order(
    edges: Sequence[Sequence[tuple[int | Exit, Weight]]],
) -> tuple[tuple[int, ...], ...]:
    """Return the strongly connected components of the states, successors first."""
    indptr: list[int] = [0]
    indices: list[int] = []
    for row in edges:
        indices.extend(t for t, _ in row if isinstance(t, int))
        indptr.append(len(indices))
    order = components(np.array(indptr, np.int64), np.array(indices, np.int64))
    return tuple(
        tuple(order.members[order.start[c] : order.start[c + 1]].tolist())
        for c in range(len(order))
    )
