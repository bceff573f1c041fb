r"""Exploring a stretch of positions with values instead of patterns, choices where even they
do not decide.

`refine` explores a `ValueWalk`: on it the *tracked* rows are known by their row states of
`markov_lrsao.values.clusters`, all other rows by the patterns of their automata. A
comparison that the values leave open becomes a choice: the state has one list of transitions
per way the maximum may turn out, and the truth is one of them at every visit, in a manner
that may depend on the whole past. Whatever holds for all such choices holds for the
algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from flint import fmpq

from markov_lrsao.crossing.blocks import (
    Block,
    Exit,
    Explored,
    Options,
    State,
    Stretch,
    Walk,
    exits_of,
    explore,
    replaced,
)
from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.intervals import Interval
from markov_lrsao.model.law import Move, Proposal, Share, StepLaw
from markov_lrsao.rows.orders import Option, largest_of
from markov_lrsao.values.cells import Safety
from markov_lrsao.values.clusters import Clusters, Update
from markov_lrsao.values.invariants import check_invariant

__all__ = ["DOOMED", "GONE", "Refined", "ValueWalk", "refine", "safe_actions"]

GONE = -1
"""Row state of every row of a walk that is on its way to the optimum and never comes back."""
DOOMED = -2
"""Row state of every row of a walk that has left downwards, and never comes further up again."""
LARGEST_REFINEMENT = 200_000
"""Default limit of `refine`."""


@dataclass(frozen=True, eq=False)
class Refined(Explored):
    """A block with choices.

    Attributes
    ----------
    tracked : rows that are followed by values: their numbers in a state are clusters
    options : state number -> the transitions of each way the greedy choice may turn out
    after : where the last states are those of another block, with rows and clusters of its
        own, that block
    names : state number -> a text for people, where patterns do not tell
    method : what answers from this block are said to come from
    """

    clusters: Clusters
    tracked: frozenset[int]
    options: tuple[Options, ...]
    after: Refined | None = None
    names: Callable[[int], str] | None = None
    method: str = "joint"

    @property
    def undecided(self) -> tuple[int, ...]:
        """The states whose greedy choice is open."""
        return tuple(i for i, options in enumerate(self.options) if len(options) > 1)

    @property
    def exits(self) -> tuple[Exit, ...]:
        """All exits."""
        return exits_of(self.options)

    def block(self, chosen: Sequence[int] | None = None) -> Block:
        """Return the block in which state i takes its option ``chosen[i]``, by default 0."""
        picks = chosen if chosen is not None else [0] * len(self.options)
        edges = tuple(options[k] for options, k in zip(self.options, picks, strict=True))
        return Block(self.stretch, self.states, self.start, self.denominator, edges)


def safe_actions(
    law: StepLaw, first: int, last: int, row: int, lowest: Mapping[int, fmpq] | None = None
) -> tuple[int, ...]:
    """Return how the entries of a row can fall on first..last, see `Safety`.

    A safe action is never penalised there, and no update of its entry learns from another
    row, except that of the step with which the run ends.

    Parameters
    ----------
    lowest : bounds from below of the largest entry of rows. With them an update may learn from
        such a row where gain + bootstrap M >= 0; then keep q + gain + bootstrap M >= keep q,
        so that with keep > 0 a positive entry stays positive.
    """
    here = first + np.flatnonzero(law.row[first : last + 1] == row)
    positions = [p for p in here.tolist() if p != law.optimum]
    algorithm = law.algorithm

    def holds(p: int, e: Proposal) -> bool:
        if p + e.moved == law.optimum:
            return True
        if e.move.stays_in_row:
            return bool(e.move.gain >= 0)
        m = None if lowest is None else lowest.get(int(law.row[p + e.moved]))
        return m is not None and bool(e.move.gain + algorithm.bootstrap * m >= 0)

    kind = Safety.LASTING if lowest is not None and algorithm.keep > 0 else Safety.FLOOR
    return tuple(
        kind
        if all(holds(p, e) for p in positions for e in law.proposals(int(law.kind[p]), (action,)))
        else Safety.NONE
        for action in range(len(law.actions))
    )


class ValueWalk(Walk):
    """The walk on a stretch, some of whose rows are followed by values.

    Parameters
    ----------
    tracked : the rows whose values are followed; their numbers in a state are clusters
    final : the walk ends here: entries that are never chosen again are forgotten
    floors : the stretch is the whole run: rows that are never met again are forgotten, and so are
        entries that are never chosen again on the positions above the floor (see `floor`)
    lose : give up runs that leave downwards, instead of refusing; those that are doomed, since they
        never come further up than the first position again, leave with `DOOMED` rows
    """

    def __init__(
        self,
        stretch: Stretch,
        clusters: Clusters,
        tracked: Iterable[int],
        *,
        final: bool = False,
        floors: bool = False,
        lose: bool = False,
    ) -> None:
        super().__init__(stretch)
        self.clusters, self.tracked = clusters, frozenset(tracked)
        self.final, self.floors, self.lose = final, floors, lose
        self.gone = (GONE,) * len(stretch.rows)
        self._safe: dict[tuple[int, int], tuple[int, ...]] = {}
        self._takes_over: dict[tuple[int, int, int], bool] = {}
        self._barrier: dict[tuple[int, int], bool] = {}
        self._learnt: dict[int, Interval] = {}
        before_optimum = self.law.row[: self.law.optimum]
        self.last_met = [int(np.flatnonzero(before_optimum == r)[-1]) for r in stretch.rows]
        alone = np.bincount(before_optimum, minlength=int(self.law.row.max()) + 1) == 1
        self.sites = [
            p
            for p in range(self.law.optimum - 1, stretch.first, -1)
            if floors and alone[self.law.row[p]]
        ]

    @cached_property
    def lowest(self) -> dict[int, fmpq]:
        """Bounds from below of the largest entry of every row, from its automaton."""
        boxes, class_of = self.automata.boxes, self.automata.class_of
        return {
            r: min(largest_of(box).low for box in boxes[class_of(r)]) for r in self.stretch.rows
        }

    def floor(self, position: int, shown: tuple[int, ...]) -> int:
        """Return a position at or below this one that the walk never falls below again.

        A row that is shown at one position only changes by moves made there. Where no pattern
        that it can come to, or no entry that can be the largest again, accepts a move down, the
        walk stays at or above that position for ever; so the floor of a run never sinks.
        """
        for p in self.sites:
            if p <= position:
                pattern = shown[self.slot[int(self.law.row[p])]]
                if (p, pattern) not in self._barrier:
                    self._barrier[p, pattern] = self._is_barrier(p, pattern)
                if self._barrier[p, pattern]:
                    return p
        return self.stretch.first

    def _is_barrier(self, position: int, pattern: int) -> bool:
        """Whether no move down is ever accepted again at the only position of a row."""
        kind, c = self.automata.place(position)
        if int(self.law.row[position]) in self.tracked:
            cells = self.clusters.traits[pattern].cells
            alive = tuple(a for a, cell in enumerate(cells) if cell is not None)
            return all(e.moved >= 0 for e in self.law.proposals(kind, alive))
        seen, stack = {pattern}, [pattern]
        while stack:
            outcomes = self.automata.outcomes(kind, c, stack.pop())
            if not outcomes or any(moved < 0 for moved, _ in outcomes):
                return False
            fresh = {to for _, to in outcomes} - seen
            seen |= fresh
            stack += fresh
        return True

    def safe(self, row: int, floor: int) -> tuple[int, ...]:
        """Return the safe actions of a row on the positions from the floor on."""
        if not (self.final or self.floors):
            return ()
        if (row, floor) not in self._safe:
            lowest = self.lowest if self.floors else None
            self._safe[row, floor] = safe_actions(self.law, floor, self.stretch.last, row, lowest)
        return self._safe[row, floor]

    def corridor_end(self, state: State) -> int | None:
        """Return where the way up ends, once nothing but going up can happen."""
        return self.law.optimum - 1 if state.patterns == self.gone else None

    def options(self, state: State) -> Iterator[Iterable[tuple[int, tuple[int, ...], Share]]]:
        """Yield per option the (next position, row states, share) of one step."""
        law, position, shown = self.law, state.position, state.patterns
        row = int(law.row[position])
        if row not in self.tracked:
            yield from super().options(state)
            return
        at, kind = self.slot[row], int(law.kind[position])
        for option in self.clusters.options(shown[at]):
            steps = []
            for e in law.proposals(kind, option.greedy):
                to = position + e.moved
                # Where the run is over, or given up, what is learnt does not matter.
                over = to == law.optimum or (self.lose and to < self.stretch.first)
                after = shown[at] if over else self.update(shown, at, option, e.action, e.move, to)
                if to < self.stretch.first and self.lose and self.dooms(shown[at], option, e):
                    after = DOOMED
                steps.append((to, replaced(shown, at, after), e.share))
            yield steps

    def dooms(self, source: int, option: Option, e: Proposal) -> bool:
        """Whether a run that leaves the first position downwards never gets above it again.

        It would have to pass that position, whose row is shown nowhere else, and so is as the step
        down left it. If one action is its only largest entry and refuses every move there, the run
        is held: its entry becomes (keep + bootstrap)^k v, and stays above the others if v <= 0, or
        if they are at most 0. What was learnt is the largest entry of the row below, which was
        last changed before the stretch was entered.
        """
        law, first = self.law, self.stretch.first
        row, below, factor = int(law.row[first]), int(law.row[first - 1]), law.algorithm
        alone = np.count_nonzero(law.row == row) == 1
        if not alone or below in self.slot or factor.keep + factor.bootstrap <= 0:
            return False
        if below not in self._learnt:
            boxes = self.automata.boxes[self.automata.class_of(below)]
            self._learnt[below] = reduce(Interval.join, map(largest_of, boxes))
        update = Update(source, option, e.action, e.move.gain, self._learnt[below], ())
        pattern, box = self.clusters.image(update)
        if pattern.undecided is not None or len(pattern.maximal) != 1:
            return False
        (top,) = pattern.maximal
        refuses = all(p.moved == 0 for p in law.proposals(int(law.kind[first]), (top,)))
        others = [x for a, x in enumerate(box) if a != top]
        return refuses and (box[top].high <= 0 or all(x.high <= 0 for x in others))

    def update(
        self, shown: tuple[int, ...], at: int, option: Option, action: int, move: Move, to: int
    ) -> int:
        """Return the state of the row in slot `at` after a step to position `to`."""
        row, clusters = self.stretch.rows[at], self.clusters
        safe = self.safe(row, self.floor(to, shown))
        if move.stays_in_row:
            return clusters.follow(shown[at], option, action, move, None, safe)
        neighbour = int(self.law.row[to])
        if neighbour not in self.slot:
            raise CrossingError(f"a step to position {to} learns from a row that is not followed")
        other = shown[self.slot[neighbour]]
        m = other if neighbour in self.tracked else self.maximum(neighbour, other)
        return clusters.follow(shown[at], option, action, move, m, safe)

    def known(self, state: State) -> bool:
        """Whether the automata foresee this state; if not, no run ever has it."""
        return int(self.law.row[state.position]) in self.tracked or super().known(state)

    def maximum(self, row: int, pattern: int) -> Interval:
        """Bounds of the largest entry of a row that shows a pattern of its automaton.

        Merged patterns may attain it with different actions: all entries are looked at.
        """
        return largest_of(self.automata.boxes[self.automata.class_of(row)][pattern])

    def remembered(self, position: int, shown: tuple[int, ...]) -> tuple[int, ...]:
        """Forget all rows of a walk that is over, given up, or on its way to the optimum.

        With floors, also the rows that are met below the floor only.
        """
        over = position == self.law.optimum
        if self.lose and position < self.stretch.first:
            return (DOOMED,) * len(shown) if DOOMED in shown else self.gone
        if not (self.final or self.floors):
            return shown
        if over or self.takes_over(position, shown):
            return self.gone
        if not self.floors:
            return shown
        floor = self.floor(position, shown)
        return tuple(
            GONE if last < floor else k for k, last in zip(shown, self.last_met, strict=True)
        )

    def takes_over(self, position: int, shown: tuple[int, ...]) -> bool:
        """Whether one action is greedy for ever from here and leads straight to the optimum.

        All other entries are below that of a safe action for good, and it accepts upward
        moves only: the walk goes up through the rest of the region, which ends the run. A
        corridor's steps all belong to one phase, so it must not pass a milestone.
        """
        row = int(self.law.row[position])
        inside = self.stretch.first <= position <= self.stretch.last
        if not inside or row not in self.tracked:
            return False
        key = (position, shown[self.slot[row]], self.floor(position, shown))
        if key not in self._takes_over:
            self._takes_over[key] = self._leads_up(position, row, key[1], key[2])
        return self._takes_over[key]

    def _leads_up(self, position: int, row: int, number: int, floor: int) -> bool:
        law, state = self.law, self.clusters.traits[number]
        alive = [a for a, entry in enumerate(state.cells) if entry is not None]
        if len(alive) != 1 or not self.safe(row, floor)[alive[0]]:
            return False
        if bool(np.any(law.row[position : law.optimum] != row)):
            return False
        if any(position < m < law.optimum for m in self.stretch.milestones):
            return False
        return all(
            e.moved == e.direction  # up: by 1, down: by 0
            for kind in np.unique(law.kind[position : law.optimum]).tolist()
            for e in law.proposals(kind, (alive[0],))
        )


def refine(
    walk: ValueWalk, starts: Sequence[State], *, largest: int = LARGEST_REFINEMENT
) -> Refined:
    """Explore a walk from states on its stretch, with clusters that every update respects.

    Raises
    ------
    StateSpaceTooLargeError
        There are more than `largest` states.
    CrossingError, UndecidedComparisonError
    """
    clusters = walk.clusters
    while True:
        states, options = explore(walk, starts, largest)
        if not clusters.grown:
            break
        clusters.settle()
    check_invariant(clusters)
    return Refined(
        walk.stretch,
        states,
        tuple(range(len(starts))),
        walk.law.denominator,
        clusters,
        walk.tracked,
        options,
    )
