r"""Crossing counts where patterns do not decide: values in the row that comes back.

Under (H) all comparisons before the cut (see `markov_lrsao.crossing.decomposition`) are decided by
signs; on the right plateau the order of several negative entries of row 0 depends on their values.
So the automata are derived for runs until the cut only, and values are followed (by the
clusters of `markov_lrsao.values.clusters`) where they matter: in the row of the cut, first on its
lower region, where it learns what it brings along, then after the cut together with the row
just below. Everything in between is as it was.

What the values leave open becomes a choice, see `markov_lrsao.values.choices`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from flint import fmpq

from markov_lrsao.crossing.blocks import Block, Exit, State, Stretch
from markov_lrsao.crossing.decomposition import (
    Decomposition,
    Site,
    cut_of,
    exit_marks,
    fell_below,
    find_sites,
    phase_of_sites,
    regions_below,
)
from markov_lrsao.errors import CrossingError
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns
from markov_lrsao.values.cells import Precision, Traits
from markov_lrsao.values.clusters import Clusters
from markov_lrsao.values.courses import course_of
from markov_lrsao.values.merging import merge_alike
from markov_lrsao.values.refinement import DOOMED, Refined, ValueWalk, refine, safe_actions

__all__ = [
    "LEVELS",
    "AroundCut",
    "Followed",
    "Level",
    "Tail",
    "around_cut",
    "before_cut",
    "followed",
    "merged_tail",
    "moves_to_cut",
    "refined_decomposition",
]


@dataclass(frozen=True)
class Level:
    """One step of refinement; see `Precision` for what the numbers do.

    Attributes
    ----------
    mesh : in units of alpha, the size of one reward
    below : how much finer the row below the cut is told apart
    exact : values are exact up to this many times the length of alpha and gamma, above 1 of
        all hyper-parameters
    """

    mesh: fmpq
    below: int
    exact: int

    def precision(self, law: StepLaw, row_below: int) -> Precision:
        """Return the precision of this level for a law."""
        algorithm = law.algorithm
        if algorithm.learn == 0:
            raise CrossingError("nothing is learnt: there are no values to follow")
        known = [algorithm.learn, algorithm.bootstrap / algorithm.learn]
        if self.exact > 1:  # penalties may be long: ties that involve them are rare
            known.append(max(law.rewards, key=lambda v: v.p.bit_length() + v.q.bit_length()))
        length = sum(v.p.bit_length() + v.q.bit_length() for v in known)
        # Values of the row below are seen through bootstrap * M only.
        coarser = max(fmpq(1), 1 / (8 * self.below * max(algorithm.bootstrap, fmpq(1, 10**9))))
        return Precision(
            abs(algorithm.learn) * self.mesh,
            self.exact * min(max(length, 24), 200),
            ((row_below, coarser),),
        )


LEVELS = (
    Level(fmpq(1), 1, 1),
    Level(fmpq(1, 4), 1, 1),
    Level(fmpq(1, 4), 8, 2),
    Level(fmpq(1, 16), 8, 0),
    Level(fmpq(1, 64), 32, 0),
    Level(fmpq(1, 256), 64, 0),
    Level(fmpq(1, 1024), 256, 0),
    Level(fmpq(1, 4096), 1024, 0),
)
"""Exact values first, for ties; then ever finer meshes, where exact values would be too many."""


def refined_decomposition(
    law: StepLaw,
    level: Level,
    automata: RowAutomata | None = None,
    *,
    largest: int = 60_000,
    lose: bool = False,
) -> Decomposition:
    """Split the positions into blocks and sites, with values where they matter.

    Parameters
    ----------
    automata : row automata until the cut, if already derived
    largest : refuse to follow more states than this
    lose : give up runs that fall below the tail, instead of refusing; such a decomposition
        always has `choices`, and is good for finding traps only

    Raises
    ------
    CrossingError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    around = around_cut(law, automata)
    precision = level.precision(law, around.below)
    bottom = before_cut(around.stretch, around.row, precision, largest)
    return followed(around, bottom, precision, largest=largest, lose=lose).decomposition


class Followed(NamedTuple):
    """A decomposition with values after the cut, and the walk on them before it was merged."""

    decomposition: Decomposition
    tail: Refined


def followed(
    around: AroundCut,
    bottom: Refined,
    precision: Precision,
    *,
    largest: int,
    lose: bool = False,
    finer: Mapping[Traits, tuple[int, ...]] | None = None,
) -> Followed:
    """Follow values after the cut from what the lower region brings along.

    Parameters
    ----------
    bottom : the lower region with values, see `before_cut`
    finer : clusters that are to be told apart further, see `Clusters`

    Raises
    ------
    CrossingError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    slot, marks = around.stretch.rows.index(around.row), around.marks
    exits = [x for x in bottom.exits if x.direction == UP]
    pairs = [(x.patterns[slot], mark) for x in exits for mark in marks]
    tail = Tail(around.automata, around.cut, precision, bottom.clusters, pairs, finer)
    found, states = tail.explore(largest, lose=lose)
    whole, entered = merged_tail(found, states)
    starts = {(x, m): entered[x.patterns[slot], m] for x in exits for m in marks}
    course = partial(course_of, around.derived, bottom, found, states, marks)
    parts = around.decomposition(bottom, whole, starts, lose=lose, course=course)
    return Followed(parts, found)


@dataclass(frozen=True, eq=False)
class AroundCut:
    """What crossing counts know of a law by patterns alone, where values follow the cut.

    Attributes
    ----------
    derived, automata : row automata until the cut, and the same with patterns merged
    row, below : the row of the cut, and that of the position just below
    stretch : the lower region of the cut's row, a block that is left upwards
    sites, counts, top, phase : see `Decomposition`
    """

    law: StepLaw
    derived: RowAutomata
    automata: RowAutomata
    cut: int
    row: int
    below: int
    stretch: Stretch
    sites: tuple[Site, ...]
    counts: int
    top: Block
    phase: int

    @property
    def marks(self) -> list[int]:
        """The patterns of the row below with which the cut is hit."""
        return exit_marks(self.top)

    def decomposition(
        self,
        bottom: Refined,
        whole: Refined,
        starts: Mapping[tuple[Exit, int], int],
        *,
        lose: bool = False,
        course: Callable[[], Hashable | None] | None = None,
    ) -> Decomposition:
        """Put the parts together.

        Parameters
        ----------
        bottom : the lower region with values
        whole : the walk after the cut, merged
        starts : (upward exit of the bottom, mark) -> state of the walk after the cut
        """
        marks = self.marks

        def outcome(x: Exit) -> tuple[object, ...]:
            return (x.direction, x.phase, *(starts[x, m] for m in marks if (x, m) in starts))

        short, _, left = merge_alike(bottom, outcome, returns=UP)
        exits = dict.fromkeys(left[x] for x in bottom.exits if x.direction == UP)
        decided = not whole.undecided and not lose
        return Decomposition(
            self.law,
            self.automata,
            self.cut,
            self.top,
            self.counts,
            self.sites,
            short.block(),
            whole.block() if decided else None,
            {(x, m): starts[x, m] for x in exits for m in marks},
            self.phase,
            None if decided else whole,
            course if decided else None,
        )


def around_cut(law: StepLaw, automata: RowAutomata | None = None) -> AroundCut:
    """Return what is known by patterns of a law whose values matter after the cut only.

    Raises
    ------
    CrossingError, UndecidedComparisonError, NotAbsorbingError
    """
    cut = cut_of(law)
    if cut == law.optimum:
        raise CrossingError("no row comes back: there is nothing to refine")
    automata = automata if automata is not None else automata_of(law, cut)
    row, below = int(law.row[cut]), int(law.row[cut - 1])
    merged, _ = merge_patterns(automata, {automata.class_of(r) for r in (row, below)})
    regions, milestones = regions_below(law, cut), law.landscape.milestones
    sites, counts, top, bottom_last = find_sites(merged, cut, regions, milestones)
    phase = phase_of_sites(milestones, cut, bottom_last)
    if top is None:
        raise CrossingError("no sites lie between the two regions of one row")
    if law.rows_met(int(regions[-1])) != (below, row):
        raise CrossingError(f"above position {cut} the walk meets more than two agent states")
    stretch = Stretch(merged, 0, bottom_last, milestones, reenter=UP)
    if row not in stretch.rows:
        raise CrossingError(
            f"agent state {law.state(row)} is met both among the sites and after the cut"
        )
    return AroundCut(law, automata, merged, cut, row, below, stretch, sites, counts, top, phase)


def before_cut(stretch: Stretch, row: int, precision: Precision, largest: int) -> Refined:
    """Follow the row that comes back after the cut by values, on a stretch that begins at 0.

    Raises
    ------
    CrossingError
        A comparison depends on these values already.
    StateSpaceTooLargeError, UndecidedComparisonError
    """
    clusters = Clusters(stretch.law, replace(precision, coarser=()))
    start = State(0, 0, tuple(clusters.fresh(r) if r == row else 0 for r in stretch.rows))
    found = refine(ValueWalk(stretch, clusters, [row]), [start], largest=largest)
    if found.undecided:
        raise CrossingError("a comparison before the cut depends on values")
    return found


class Tail:
    """The walk after the cut, on the rows of the cut and of the position below.

    Parameters
    ----------
    automata : row automata until the cut
    brought : clusters in which the row of the cut is when the cut is hit
    pairs : (cluster of `brought`, pattern of the row below) with which it can be hit
    finer : clusters that are to be told apart further, see `Clusters`
    """

    def __init__(
        self,
        automata: RowAutomata,
        cut: int,
        precision: Precision,
        brought: Clusters,
        pairs: Sequence[tuple[int, int]],
        finer: Mapping[Traits, tuple[int, ...]] | None = None,
    ) -> None:
        law = automata.law
        self.law, self.automata, self.cut = law, automata, cut
        self.clusters = Clusters(law, precision, finer=finer)
        self.brought, self.pairs = brought, list(dict.fromkeys(pairs))
        self.row, self.below = int(law.row[cut]), int(law.row[cut - 1])
        self.safe = {r: safe_actions(law, cut - 1, law.optimum, r) for r in (self.row, self.below)}

    def explore(
        self, largest: int, *, lose: bool = False
    ) -> tuple[Refined, dict[tuple[int, int], State]]:
        """Return the explored tail, and its state for each pair.

        Raises
        ------
        CrossingError
            The walk can fall below the tail, and `lose` does not give such runs up.
        """
        stretch = Stretch(
            self.automata, self.cut - 1, self.law.optimum, self.law.landscape.milestones
        )
        walk = ValueWalk(stretch, self.clusters, stretch.rows, final=True, lose=lose)
        entered = self.entered()
        while True:
            found = refine(walk, list(dict.fromkeys(entered.values())), largest=largest)
            again = self.entered()  # clusters have grown: the walk may begin in others
            if again == entered and not self.clusters.grown:
                break
            entered = again
        if not lose and any(x.direction == DOWN for x in found.exits):
            raise fell_below(self.cut, self.cut - 1)
        return found, entered

    def entered(self) -> dict[tuple[int, int], State]:
        """Return the state in which the cut is hit, per pair."""
        phase = sum(m <= self.cut for m in self.law.landscape.milestones)
        result = {}
        for brought, mark in self.pairs:
            a = self.clusters.of_box(
                self.row,
                self.brought.traits[brought].pattern,
                self.brought.boxes[brought],
                self.safe[self.row],
            )
            result[brought, mark] = State(self.cut, phase, (self.row_below(mark, a), a))
        return result

    def row_below(self, mark: int, brought: int) -> int:
        """Return the cluster of the row below when the cut is hit.

        The last update of that row is the move to the cut, which learnt from the maximum of
        the cut's row. Where it follows from the mark which move that was, the update is
        carried out here; otherwise the automaton's bounds are taken.
        """
        law, automata, row = self.law, self.automata, self.below
        kind, c = automata.place(self.cut - 1)
        patterns, boxes = automata.patterns[c], automata.boxes[c]
        before = moves_to_cut(automata, self.cut, mark)
        if len(before) != 1 or patterns[before[0][0]].undecided is not None:
            return self.clusters.of_box(row, patterns[mark], boxes[mark], self.safe[row])
        k, action = before[0]
        source = self.clusters.of_box(row, patterns[k], boxes[k], ())
        return self.clusters.follow(
            source,
            self.clusters.options(source)[0],
            action,
            law.kinds[kind][action][UP],
            brought,
            self.safe[row],
        )


def moves_to_cut(automata: RowAutomata, cut: int, mark: int) -> list[tuple[int, int]]:
    """Return the (pattern, action) of the row below from which a move to the cut leaves a mark."""
    law = automata.law
    kind, c = automata.place(cut - 1)
    return [
        (k, action)
        for (at, of, k, action, direction), to in automata.following.items()
        if (at, of, direction, to) == (kind, c, UP, mark)
        and law.kinds[kind][action][UP].accepted
        and action in automata.patterns[c][k].maximal
    ]


def merged_tail(
    found: Refined, entered: Mapping[tuple[int, int], State]
) -> tuple[Refined, dict[tuple[int, int], int]]:
    """Return a tail with its states merged, and the number of the one that each pair enters."""
    merged, became, _ = merge_alike(found, lambda x: (x.direction, x.phase, DOOMED in x.patterns))
    return merged, {key: became[found.number[state]] for key, state in entered.items()}
