r"""Segments: stretches of positions whose rows are met nowhere else, and how they are crossed.

From outside a segment takes the end at which it is entered, DOWN or UP, and gives the end at which
it is left, the steps in between and its new memory. The simplest segment is a *region*, a run of
positions with one row; its memory is the row's pattern. Regions of the same kinds of positions
share one exploration.

A region's `Crossings` are four matrices over its memory, one for each (end entered, end left), of
weights in any numbers of `markov_lrsao.exact.evaluation`. Memories that the automata never meet at
an end have no weights there. `markov_lrsao.crossing.composition` puts segments together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from markov_lrsao.crossing.blocks import Block, Corridor, Edge, Exit, State, Stretch, explore_block
from markov_lrsao.crossing.generating import solve_block
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.series import Element
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.rows.automata import RowAutomata

__all__ = ["ENDS", "Crossing", "Crossings", "Region", "private_rows", "regions_between"]

ENDS = (DOWN, UP)
Crossing = tuple[int, int]
"""The end at which a segment is entered, and the end at which it is left."""
Crossings = Mapping[Crossing, Mapping[tuple[int, int], Element]]
"""Crossing -> (memory before, memory after) -> weight; what is not there is 0."""


@dataclass(frozen=True, eq=False)
class Region:
    """A run of positions with one row that is met nowhere else.

    Attributes
    ----------
    block : the walk on the region, from all states in which it is ever entered
    memory : the patterns with which it is entered or left; the fresh row first
    """

    block: Block
    memory: tuple[int, ...]

    @property
    def first(self) -> int:
        """The lowest position."""
        return self.block.stretch.first

    @property
    def last(self) -> int:
        """The highest position."""
        return self.block.stretch.last

    @cached_property
    def number(self) -> dict[int, int]:
        """Pattern -> its number in the memory."""
        return {pattern: i for i, pattern in enumerate(self.memory)}

    def crossings(self, evaluation: Evaluation, counted: bool = True) -> Crossings:
        """Return the weights of all crossings; `counted` says whether steps weigh z or 1.

        What enters states that are never left is lost, so that some weights at z = 1 may add up
        to less than 1.
        """
        solved = solve_block(replace(evaluation, lossy=True), self.block, lambda _: counted)
        result: dict[Crossing, dict[tuple[int, int], Element]] = {
            (entered, left): {} for entered in ENDS for left in ENDS
        }
        for entered, position in zip(ENDS, (self.first, self.last), strict=True):
            for i, pattern in enumerate(self.memory):
                state = self.block.number.get(State(position, 0, (pattern,)))
                if state is None:
                    continue
                for exit_, weight in solved[state].items():
                    (after,) = exit_.patterns
                    result[entered, exit_.direction][i, self.number[after]] = weight
        return result


def private_rows(law: StepLaw) -> set[int]:
    """Return the rows that a run meets in one region only."""
    row = law.row[: law.optimum]
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    met, times = np.unique(row[begins], return_counts=True)
    return set(met[times == 1].tolist())


def regions_between(automata: RowAutomata, first: int, end: int) -> Iterator[Region]:
    """Yield the regions of the positions first .. end - 1, from the lowest on."""
    law = automata.law
    known: dict[tuple[int, ...], Region] = {}
    row = law.row[first:end]
    begins = (np.flatnonzero(np.diff(row, prepend=-1)) + first).tolist()
    for begin, stop in zip(begins, [*begins[1:], end], strict=True):
        kinds = law.kind[begin:stop].tolist()
        key = (automata.class_of(int(law.row[begin])), int(stop == law.optimum), *kinds)
        if key not in known:
            known[key] = _explored(automata, begin, stop - 1)
        yield _moved(known[key], begin)


def _explored(automata: RowAutomata, first: int, last: int) -> Region:
    """Explore a region from a fresh row and from all that it is left with."""
    stretch = Stretch(automata, first, last, ())
    starts = [State(first, 0, (0,))]
    while True:
        block = explore_block(stretch, starts)
        memory = dict.fromkeys([0, *(x.patterns[0] for x in block.exits)])
        back = [
            State(first if exit_.direction == DOWN else last, 0, exit_.patterns)
            for exit_ in block.exits
        ]
        new = [
            state
            for state in dict.fromkeys(back)
            if state not in block.number and automata.is_met(state.position, state.patterns[0])
        ]
        if not new:
            return Region(block, tuple(memory))
        starts += new


def _moved(region: Region, first: int) -> Region:
    """Return the same region elsewhere."""
    by = first - region.first
    if by == 0:
        return region
    block = region.block
    stretch = replace(block.stretch, first=first, last=region.last + by)
    states = tuple(replace(state, position=state.position + by) for state in block.states)
    edges = tuple(tuple(_moved_edge(edge, by) for edge in row) for row in block.edges)
    return Region(replace(block, stretch=stretch, states=states, edges=edges), region.memory)


def _moved_edge(edge: Edge, by: int) -> Edge:
    target, weight = edge
    assert isinstance(target, int | Exit)
    if isinstance(weight, Corridor):
        weight = Corridor(weight.first + by, weight.last + by)
    return target, weight
