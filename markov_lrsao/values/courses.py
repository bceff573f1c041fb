r"""The course of a decided process: which actions are greedy after every history.

A *history* is what chance does: which of several greedy actions was drawn, and which way each
proposal went. Two hyper-parameters have the same *course* if after every history they have the
same greedy actions. Then they have the same law of T, and more is true:

**Between two penalties.** *Fix the landscape, alpha and gamma. If r1 < r2 have the same course,
every r in between has it too.* After a history the greedy sets of r1 and r2 agree up to here, so
every Q-entry has come about by the same updates: keep q + learn R + bootstrap M, where R is affine
in r, and M is the entry of an action that is greedy in the neighbour's row (in the next step, for
the update leaves that row alone), or q itself. By induction every entry is affine in r on
[r1, r2]. A difference of two entries that is positive (zero, negative) at both ends is so between
them: hence the same greedy set there, and the induction goes on.

So of a row of points only those next to a border of a regime need be solved. `course_of` gives the
course a form in which it can be compared for equality: nothing is hashed away, and two forms are
equal if and only if the automata behind them are.

**The form.** Until the cut, greedy actions are told by the patterns of the rows' automata, as
derived; these are part of the form as they are. What a row of values brings to the cut, and all
that follows, is a deterministic automaton: at a row that is followed by values a step is labelled
by its action and direction, at any other row by the change of position and the pattern that
follows (known from the automata), at an exit upwards by the pattern with which the top region is
left at last, or by coming back. That automaton is minimised and its states are numbered in the
order in which they are met, which makes it unique.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from markov_lrsao.crossing.blocks import Exit, State
from markov_lrsao.exact.partitions import coarsest_partition
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.values.refinement import Refined, ValueWalk

__all__ = ["Course", "course_of"]

Course = tuple[Hashable, ...]
"""What is compared: equal for two laws of one landscape only if their courses are equal."""


@dataclass
class _Graph:
    """A deterministic automaton: nodes with labels, and successors in the order of their labels."""

    labels: list[Hashable] = field(default_factory=list)
    successors: list[tuple[int, ...]] = field(default_factory=list)

    def minimal(self, start: int) -> Course:
        """Return the minimal automaton, numbered from the start in the order of the labels."""
        classes = coarsest_partition(
            self.labels,
            lambda i, now: tuple(now[j] for j in self.successors[i]),
            lambda i: self.successors[i],
        )
        member = {c: i for i, c in reversed([*enumerate(classes)])}
        number, queue, table = {classes[start]: 0}, [classes[start]], list[Hashable]()
        for c in queue:
            to = [classes[j] for j in self.successors[member[c]]]
            for d in to:
                if d not in number:
                    number[d] = len(number)
                    queue.append(d)
            table.append((self.labels[member[c]], tuple(number[d] for d in to)))
        return tuple(table)


def course_of(
    automata: RowAutomata,
    bottom: Refined,
    tail: Refined,
    entered: Mapping[tuple[int, int], State],
    marks: Sequence[int],
) -> Course | None:
    """Return the course of a run that is decided before and after the cut.

    Parameters
    ----------
    automata : until the cut, before patterns are merged
    bottom, tail : what was explored before and after the cut, before states are merged
    entered : (cluster with which the cut is hit, mark) -> state of the tail
    marks : patterns with which the region below the cut is left at last

    Returns None where the course cannot be told from these: choices are open, or several actions
    lead straight to the optimum.
    """
    law = automata.law
    if bottom.undecided or tail.undecided:
        return None
    graph = _Graph()
    after = _add(graph, tail, ValueWalk(tail.stretch, tail.clusters, tail.tracked, final=True), {})
    if after is None:
        return None
    slot = bottom.stretch.rows.index(*bottom.tracked)
    ends = {
        x: tuple(after[entered[x.patterns[slot], m]] for m in marks)
        for x in bottom.exits
        if x.direction == UP
    }
    before = _add(graph, bottom, ValueWalk(bottom.stretch, bottom.clusters, bottom.tracked), ends)
    if before is None:
        return None
    (start,) = bottom.start
    return (
        law.landscape.name,
        law.n,
        law.landscape.ell,
        _shape(law),
        automata.patterns,
        tuple(sorted(automata.following.items())),
        tuple(marks),
        *graph.minimal(before[bottom.states[start]]),
    )


def _shape(law: StepLaw) -> Hashable:
    """Return which moves are possible where, without the rewards."""
    moves = tuple(
        tuple(tuple((m.possible, m.accepted, m.stays_in_row) for m in moves) for moves in kind)
        for kind in law.kinds
    )
    return law.kind.tobytes(), law.row.tobytes(), moves


def _add(
    graph: _Graph, block: Refined, walk: ValueWalk, ends: Mapping[Exit, tuple[int, ...]]
) -> dict[State, int] | None:
    """Add the states and exits of a block to a graph; return the states' nodes.

    An exit is followed by what is given for it, and by the state in which the walk comes back.
    """
    base = len(graph.labels)
    node = {state: base + i for i, state in enumerate(block.states)}
    exits = {x: base + len(node) + k for k, x in enumerate(block.exits)}
    for state in block.states:
        made = _steps(walk, state, node, exits)
        if made is None:
            return None
        graph.labels.append((state.position, state.phase, made[0]))
        graph.successors.append(made[1])
    for x in exits:
        back = block.comes_back(x) if x in ends else None
        again = () if back is None else (base + back,)
        graph.labels.append(("exit", x.direction, x.phase, bool(again)))
        graph.successors.append((*ends.get(x, ()), *again))
    return node


def _steps(
    walk: ValueWalk, state: State, node: Mapping[State, int], exits: Mapping[Exit, int]
) -> tuple[Hashable, tuple[int, ...]] | None:
    """Return the label of a state, and where its steps lead, in the order of their labels."""
    law = walk.law

    def place(position: int, shown: tuple[int, ...]) -> int:
        to, inside = walk.entered(position, state.phase, shown)
        if inside:
            return node[to]
        above = position > walk.stretch.last or position == law.optimum
        return exits[Exit(UP if above else DOWN, to.phase, to.patterns)]

    end = walk.corridor_end(state)
    if end is not None:
        straight = _straight_up(law, state.position, end)
        return (("corridor", end), (place(end + 1, state.patterns),)) if straight else None
    ((*steps,),) = walk.options(state)
    row = int(law.row[state.position])
    label: Hashable
    if row in walk.tracked:
        (option,) = walk.clusters.options(state.patterns[walk.slot[row]])
        label = option.greedy
    else:
        at = walk.slot[row]
        label = tuple((to, shown[at]) for to, shown, _ in steps)
    return label, tuple(place(to, shown) for to, shown, _ in steps)


def _straight_up(law: StepLaw, first: int, last: int) -> bool:
    """Whether a single action walks up here and never down, so that it must be the greedy one."""
    kinds = np.unique(law.kind[first : last + 1]).tolist()
    ways = [
        action
        for action in range(len(law.actions))
        if all(e.moved == e.direction for kind in kinds for e in law.proposals(kind, (action,)))
    ]
    return len(ways) == 1
