r"""Q-rows by clusters of values, where patterns do not decide.

Where the order of two entries depends on their values, patterns are not enough. A *cluster*
is a set of values of one row, all with the same pattern, for which every entry is either one
exact rational or known to lie in an interval. What an update makes of a cluster is computed
in exact interval arithmetic; the image becomes part of the cluster with its pattern and its
cells (`markov_lrsao.values.cells`). A cluster is thus what several histories have in
common (how often an entry was used, rewarded, or decayed by rejections), its interval is no
larger than what these histories produce, and a smaller mesh tells more histories apart.

Clusters grow until no update leads out of them (`Clusters.settle`); growing ends are rounded
outwards to a fraction of the mesh, so that this ends. The result is an inductive invariant;
`markov_lrsao.values.invariants` confirms it once more from nothing but the clusters themselves.

Values stay exact as long as they are short: exact ties stay ties. The pattern keeps what
intervals lose: an entry that decays like lam^k stays positive.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.intervals import Interval
from markov_lrsao.model.law import Move, StepLaw
from markov_lrsao.rows.orders import Option, largest_of, narrowed, resolutions
from markov_lrsao.rows.patterns import Pattern, updated_entry, updated_pattern
from markov_lrsao.values.cells import Grid, Precision, Traits, forgotten, rounded

__all__ = ["Clusters", "Update"]

_MOST_WORK = 150_000
"""Updates that may be carried out again until clusters settle: some ten seconds."""
_PATIENCE = 8
"""Growths of a cluster before its ends are rounded more coarsely, where cells are divided."""
_FINER = 16
"""Growing ends are rounded to this fraction of the mesh, to twice it the next time, .."""


@dataclass(frozen=True)
class Update:
    """A learning step of a cluster.

    Attributes
    ----------
    source : number of the cluster
    gain : learn * reward
    neighbour : cluster whose maximum M is learnt from, bounds of M, or None: the row itself
    safe : per action its `Safety`: entries that stay below a safe one can be forgotten
    """

    source: int
    option: Option
    action: int
    gain: fmpq
    neighbour: int | Interval | None
    safe: tuple[int, ...]

    def __hash__(self) -> int:
        return hash((self.source, self.option.pattern, self.action, self.neighbour))


Given = tuple[Pattern, tuple[Interval, ...], tuple[int, ...], int]
"""A row with which a walk may begin (pattern, bounds, safe actions), and its cluster."""


@dataclass(eq=False)
class Clusters:
    """The clusters of a law's rows, numbered as they are met.

    Attributes
    ----------
    finer : clusters that are to be told apart further, and how often the mesh of each entry is to
        be halved there. None: nowhere; then clusters grow faster, and fewer updates are carried out
    halvings : how often they were, per cluster
    """

    law: StepLaw
    precision: Precision
    traits: list[Traits] = field(default_factory=list)
    boxes: list[tuple[Interval, ...]] = field(default_factory=list)
    index: dict[Traits, int] = field(default_factory=dict)
    following: dict[Update, int] = field(default_factory=dict)
    given: set[Given] = field(default_factory=set)
    grown: set[int] = field(default_factory=set)
    finer: Mapping[Traits, tuple[int, ...]] | None = None
    halvings: list[tuple[int, ...]] = field(default_factory=list)
    _options: dict[int, tuple[Option, ...]] = field(default_factory=dict)
    _growths: dict[int, int] = field(default_factory=dict)
    _work: int = 0

    @cached_property
    def grid(self) -> Grid:
        """The cells of the values."""
        return Grid(self.law, self.precision)

    def fresh(self, row: int) -> int:
        """Return the cluster in which all entries are 0."""
        k = len(self.law.actions)
        return self.of_box(row, Pattern.zero(k), (Interval.point(0),) * k, ())

    def of_box(
        self, row: int, pattern: Pattern, box: Sequence[Interval], safe: tuple[int, ...]
    ) -> int:
        """Return a cluster that holds every row with this pattern and entries in the box."""
        number = self.place(pattern, box, self.grid.factor(row), safe)
        self.given.add((pattern, tuple(box), safe, number))
        return number

    def place(
        self, pattern: Pattern, box: Sequence[Interval], coarser: fmpq, safe: tuple[int, ...]
    ) -> int:
        """Make the box part of the cluster it belongs to."""
        traits, halvings = self.told_apart(pattern, box, coarser, safe)
        number = self.index.get(traits)
        if number is None:
            number = self.index[traits] = len(self.traits)
            self.traits.append(traits)
            self.halvings.append(halvings)
            self.boxes.append(self._known(traits, box))
        else:
            self.grow(number, box)
        return number

    def told_apart(
        self, pattern: Pattern, box: Sequence[Interval], coarser: fmpq, safe: tuple[int, ...]
    ) -> tuple[Traits, tuple[int, ...]]:
        """Return what distinguishes the cluster of a box, and how often its meshes were halved.

        Cells that `finer` names are divided, and what they are divided into, if it names that.
        """
        halvings = (0,) * len(box)
        while True:
            cells = tuple(self.grid.cell(b, coarser, h) for b, h in zip(box, halvings, strict=True))
            traits = forgotten(Traits(pattern, cells, coarser), safe)
            wanted = None if self.finer is None else self.finer.get(traits)
            if wanted is None or all(map(operator.le, wanted, halvings)):
                return traits, halvings
            halvings = tuple(map(max, halvings, wanted))

    def _known(self, traits: Traits, box: Sequence[Interval]) -> tuple[Interval, ...]:
        everything = Interval(self.grid.lowest, fmpq(0))
        return narrowed(
            traits.pattern,
            [everything if c is None else b for c, b in zip(traits.cells, box, strict=True)],
        )

    def grow(self, number: int, box: Sequence[Interval]) -> None:
        """Make a cluster's box contain another; ends that move are rounded outwards."""
        traits, present = self.traits[number], self.boxes[number]
        patience = 0 if self.finer is None else _PATIENCE
        times = 1 << min(max(self._growths.get(number, 0) - patience, 0), 8)
        fraction = self.precision.mesh * traits.coarser * times / _FINER
        wider = [
            old
            if cell is None or new in old
            else rounded(old, new, fraction / (1 << h), self.grid.landmarks)
            for cell, old, new, h in zip(
                traits.cells, present, box, self.halvings[number], strict=True
            )
        ]
        found = narrowed(traits.pattern, wider)
        if any(b not in a for a, b in zip(present, found, strict=True)):
            self.boxes[number] = tuple(a.join(b) for a, b in zip(present, found, strict=True))
            self.grown.add(number)
            self._growths[number] = self._growths.get(number, 0) + 1
            self._options.pop(number, None)

    # -- what is known of a cluster -----------------------------------------------------

    def largest(self, number: int) -> Interval:
        """Return bounds of the row's maximum."""
        box = self.boxes[number]
        return largest_of([box[a] for a in self.traits[number].pattern.maximal])

    def options(self, number: int) -> tuple[Option, ...]:
        """Return how the greedy choice may turn out; one option where it is decided."""
        found = self._options.get(number)
        if found is None:
            found = self._options[number] = tuple(
                resolutions(self.traits[number].pattern, self.boxes[number])
            )
        return found

    def image(self, update: Update) -> tuple[Pattern, tuple[Interval, ...]]:
        """Return the pattern and the entries' bounds after an update."""
        algorithm = self.law.algorithm
        box = narrowed(update.option.pattern, self.boxes[update.source])
        x = box[update.action]
        m = (
            self.largest(update.neighbour)
            if isinstance(update.neighbour, int)
            else update.neighbour
        )
        keep, bootstrap = algorithm.keep, algorithm.bootstrap
        new = updated_entry(x, m, keep, bootstrap, update.gain)
        pattern = updated_pattern(
            update.option.pattern,
            box,
            update.action,
            new,
            lambda: updated_entry(x, m, keep - 1, bootstrap, update.gain),
        )
        moved = [new if a == update.action else b for a, b in enumerate(box)]
        return pattern, narrowed(pattern, moved)

    def follow(
        self,
        source: int,
        option: Option,
        action: int,
        move: Move,
        neighbour: int | Interval | None,
        safe: tuple[int, ...] = (),
    ) -> int:
        """Return the cluster after an update of the chosen entry."""
        update = Update(source, option, action, move.gain, neighbour, safe)
        found = self.following.get(update)
        if found is None:
            found = self.following[update] = self.place(
                *self.image(update), self.traits[source].coarser, safe
            )
        return found

    # -- the fixed point ----------------------------------------------------------------

    def settle(self) -> None:
        """Grow the clusters until every update met so far leads into its cluster.

        Raises
        ------
        StateSpaceTooLargeError
            This does not end within the allowed amount of work.
        """
        while self.grown:
            grown, self.grown = self.grown, set()
            for update, target in list(self.following.items()):
                if update.source in grown or update.neighbour in grown:
                    self._again(update, target)
                    self._work += 1
            if self._work > _MOST_WORK:
                raise StateSpaceTooLargeError(
                    f"the clusters of values did not settle within {_MOST_WORK:,} updates"
                )

    def _again(self, update: Update, target: int) -> None:
        """Follow an update once more after its source has grown."""
        pattern, box = self.image(update)
        traits = self.traits[target]
        if self.finer is not None:  # it may belong elsewhere now
            self.following[update] = self.place(pattern, box, traits.coarser, update.safe)
            return
        cells = tuple(self.grid.cell(b, traits.coarser) for b in box)
        same = forgotten(Traits(pattern, cells, traits.coarser), update.safe)
        if same.pattern == traits.pattern and [c is None for c in same.cells] == [
            c is None for c in traits.cells
        ]:
            exact = any(
                isinstance(c, fmpq) and b.low != b.high
                for c, b in zip(traits.cells, box, strict=True)
            )
            if not exact:
                self.grow(target, box)
                return
        self.following[update] = self.place(pattern, box, traits.coarser, update.safe)
