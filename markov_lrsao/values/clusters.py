r"""Q-rows by clusters of values, where patterns do not decide.

Where the order of two entries depends on their values, patterns are not enough. A *cluster*
is a set of values of one row, all with the same pattern, for which every entry is either one
exact rational or known to lie in an interval. What an update makes of a cluster is computed
in exact interval arithmetic; the image becomes part of the cluster with its pattern and its
*cell*: a grid of mesh s, in which the middle of an interval falls into a cell, and intervals
wider than s use grids of mesh 2s, 4s, .. A cluster is thus what several histories have in
common (how often an entry was used, rewarded, or decayed by rejections), its interval is no
larger than what these histories produce, and a smaller mesh tells more histories apart.

Clusters grow until no update leads out of them (`Clusters.settle`); growing ends are rounded
outwards to a fraction of the mesh, so that this ends. The result is an inductive invariant;
`Clusters.check` confirms it once more from nothing but the clusters themselves.

Values stay exact as long as they are short: exact ties stay ties. The pattern keeps what
intervals lose: an entry that decays like lam^k stays positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError, VerificationError
from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.model.law import Move, StepLaw
from markov_lrsao.rows.orders import Option, largest_of, narrowed, resolutions
from markov_lrsao.rows.patterns import Pattern, updated_pattern

__all__ = ["Clusters", "Key", "Precision", "Update", "forgotten"]

_MOST_WORK = 150_000
"""Updates that may be carried out again until clusters settle: some ten seconds."""
_FINER = 16
"""Growing ends are rounded to this fraction of the mesh, to twice it the next time, .."""


@dataclass(frozen=True)
class Precision:
    """How finely values are told apart.

    Attributes
    ----------
    mesh : s of the description; smaller decides more comparisons and makes more clusters
    exact_bits : values whose numerator and denominator have at most this many bits together
        are kept exactly, and so are those after a single update
    coarser : rows and factors by which their grid is coarser: values that are only seen
        through gamma M need not be known as well
    """

    mesh: fmpq
    exact_bits: int
    coarser: tuple[tuple[int, fmpq], ...] = ()


Cell = fmpq | tuple[int, int] | None
"""An exact value, a cell (level, index), or None: the entry is never chosen again."""


@dataclass(frozen=True)
class Key:
    """What distinguishes a cluster: relations between the entries, and their cells."""

    pattern: Pattern
    cells: tuple[Cell, ...]
    coarser: fmpq

    def __hash__(self) -> int:
        # The hash of an fmpq is that of the Fraction it is converted to: slow.
        return hash((self.pattern, *((c.p, c.q) if isinstance(c, fmpq) else c for c in self.cells)))


@dataclass(frozen=True)
class Update:
    """A learning step of a cluster.

    Attributes
    ----------
    source : number of the cluster
    gain : learn * reward
    neighbour : cluster whose maximum M is learnt from, bounds of M, or None: the row itself
    safe : actions whose entry never falls below min(its value, 0) again; entries below such
        a one can be forgotten
    """

    source: int
    option: Option
    action: int
    gain: fmpq
    neighbour: int | Interval | None
    safe: tuple[bool, ...]

    def __hash__(self) -> int:
        return hash((self.source, self.option.pattern, self.action, self.neighbour))


Given = tuple[Pattern, tuple[Interval, ...], tuple[bool, ...], int]
"""A row with which a walk may begin (pattern, bounds, safe actions), and its cluster."""


@dataclass(eq=False)
class Clusters:
    """The clusters of a law's rows, numbered as they are met."""

    law: StepLaw
    precision: Precision
    keys: list[Key] = field(default_factory=list)
    boxes: list[tuple[Interval, ...]] = field(default_factory=list)
    index: dict[Key, int] = field(default_factory=dict)
    following: dict[Update, int] = field(default_factory=dict)
    given: set[Given] = field(default_factory=set)
    grown: set[int] = field(default_factory=set)
    _options: dict[int, tuple[Option, ...]] = field(default_factory=dict)
    _growths: dict[int, int] = field(default_factory=dict)
    _work: int = 0

    @cached_property
    def lowest(self) -> fmpq:
        """A bound below every entry: all learn from M >= lowest and the worst reward."""
        algorithm = self.law.algorithm
        worst = min([fmpq(0), *(algorithm.learn * reward for reward in self.law.rewards)])
        return worst / (1 - algorithm.keep - algorithm.bootstrap) - 1

    @cached_property
    def _simple(self) -> frozenset[fmpq]:
        """Values after no or one update, such as -alpha r: however long, they are kept."""
        algorithm = self.law.algorithm
        return frozenset([fmpq(0), *(algorithm.learn * r for r in self.law.rewards)])

    def factor(self, row: int) -> fmpq:
        """Return how much coarser the grid of a row is."""
        return dict(self.precision.coarser).get(row, fmpq(1))

    def fresh(self, row: int) -> int:
        """Return the cluster in which all entries are 0."""
        k = len(self.law.actions)
        return self.of_box(row, Pattern.zero(k), (Interval.point(0),) * k, ())

    def of_box(
        self, row: int, pattern: Pattern, box: Sequence[Interval], safe: tuple[bool, ...]
    ) -> int:
        """Return a cluster that holds every row with this pattern and entries in the box."""
        number = self.place(pattern, box, self.factor(row), safe)
        self.given.add((pattern, tuple(box), safe, number))
        return number

    def place(
        self, pattern: Pattern, box: Sequence[Interval], coarser: fmpq, safe: tuple[bool, ...]
    ) -> int:
        """Make the box part of the cluster it belongs to."""
        cells = tuple(self.cell(b, coarser) for b in box)
        key = forgotten(Key(pattern, cells, coarser), safe)
        number = self.index.get(key)
        if number is None:
            number = self.index[key] = len(self.keys)
            self.keys.append(key)
            self.boxes.append(self._known(key, box))
        else:
            self.grow(number, box)
        return number

    def _known(self, key: Key, box: Sequence[Interval]) -> tuple[Interval, ...]:
        everything = Interval(self.lowest, fmpq(0), high_attained=False)
        return narrowed(
            key.pattern,
            [everything if c is None else b for c, b in zip(key.cells, box, strict=True)],
        )

    def cell(self, values: Interval, coarser: fmpq) -> Cell:
        """Return the cell of an interval."""
        if values.low == values.high:
            v = values.low
            if v in self._simple or (
                v.p.bit_length() + v.q.bit_length() <= self.precision.exact_bits
            ):
                return v
        mesh, level, width = self.precision.mesh * coarser, 0, values.high - values.low
        while width > mesh:
            mesh, level = 2 * mesh, level + 1
        return (level, int(((values.high + values.low) / (2 * mesh)).floor()))

    def grow(self, number: int, box: Sequence[Interval]) -> None:
        """Make a cluster's box contain another; ends that move are rounded outwards."""
        key, present = self.keys[number], self.boxes[number]
        times = 1 << min(self._growths.get(number, 0), 8)
        fraction = self.precision.mesh * key.coarser * times / _FINER
        wider = [
            old if cell is None or new in old else self._rounded(old, new, fraction)
            for cell, old, new in zip(key.cells, present, box, strict=True)
        ]
        found = narrowed(key.pattern, wider)
        if any(b not in a for a, b in zip(present, found, strict=True)):
            self.boxes[number] = tuple(a.join(b) for a, b in zip(present, found, strict=True))
            self.grown.add(number)
            self._growths[number] = self._growths.get(number, 0) + 1
            self._options.pop(number, None)

    @staticmethod
    def _rounded(old: Interval, new: Interval, mesh: fmpq) -> Interval:
        joined = old.join(new)
        low, low_attained, high, high_attained = (
            joined.low,
            joined.low_attained,
            joined.high,
            joined.high_attained,
        )
        if low != old.low or low_attained != old.low_attained:
            low, low_attained = mesh * (low / mesh).floor(), True
        if high != old.high or high_attained != old.high_attained:
            high, high_attained = mesh * (high / mesh).ceil(), True
        return Interval(low, high, low_attained, high_attained)

    # -- what is known of a cluster -----------------------------------------------------

    def largest(self, number: int) -> Interval:
        """Return bounds of the row's maximum."""
        box = self.boxes[number]
        return largest_of([box[a] for a in self.keys[number].pattern.maximal])

    def options(self, number: int) -> tuple[Option, ...]:
        """Return how the greedy choice may turn out; one option where it is decided."""
        found = self._options.get(number)
        if found is None:
            found = self._options[number] = tuple(
                resolutions(self.keys[number].pattern, self.boxes[number])
            )
        return found

    def image(self, update: Update) -> tuple[Pattern, tuple[Interval, ...]]:
        """Return the pattern and the entries' bounds after an update."""
        algorithm = self.law.algorithm
        box = narrowed(update.option.pattern, self.boxes[update.source])
        x = box[update.action]
        if update.neighbour is None:
            factor = algorithm.keep + algorithm.bootstrap
            new, change = x.affine(factor, update.gain), x.affine(factor - 1, update.gain)
        else:
            m = (
                update.neighbour
                if isinstance(update.neighbour, Interval)
                else self.largest(update.neighbour)
            )
            learnt = m.affine(algorithm.bootstrap, update.gain)
            new = x.affine(algorithm.keep, fmpq(0)) + learnt
            change = x.affine(algorithm.keep - 1, fmpq(0)) + learnt
        pattern = updated_pattern(update.option.pattern, box, update.action, new, change)
        moved = [new if a == update.action else b for a, b in enumerate(box)]
        return pattern, narrowed(pattern, moved)

    def follow(
        self,
        source: int,
        option: Option,
        action: int,
        move: Move,
        neighbour: int | Interval | None,
        safe: tuple[bool, ...] = (),
    ) -> int:
        """Return the cluster after an update of the chosen entry."""
        update = Update(source, option, action, move.gain, neighbour, safe)
        found = self.following.get(update)
        if found is None:
            found = self.following[update] = self.place(
                *self.image(update), self.keys[source].coarser, safe
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
        key = self.keys[target]
        cells = tuple(self.cell(b, key.coarser) for b in box)
        same = forgotten(Key(pattern, cells, key.coarser), update.safe)
        if same.pattern == key.pattern and [c is None for c in same.cells] == [
            c is None for c in key.cells
        ]:
            exact = any(
                isinstance(c, fmpq) and b.low != b.high for c, b in zip(key.cells, box, strict=True)
            )
            if not exact:
                self.grow(target, box)
                return
        self.following[update] = self.place(pattern, box, key.coarser, update.safe)

    def check(self) -> None:
        """Confirm that every update leads into its cluster and keeps the claimed relations.

        Raises
        ------
        VerificationError
            It does not: the clusters are not an invariant.
        """
        for number, key in enumerate(self.keys):
            narrowed(key.pattern, self.boxes[number])
        for pattern, box, safe, number in self.given:
            self._check_within(pattern, narrowed(pattern, box), safe, number, "a row given")
        for update, target in self.following.items():
            self._check_within(
                *self.image(update),
                update.safe,
                target,
                f"an update of action {self.law.actions[update.action]}",
            )

    def _check_within(
        self,
        pattern: Pattern,
        box: Sequence[Interval],
        safe: tuple[bool, ...],
        number: int,
        what: str,
    ) -> None:
        key, into = self.keys[number], self.boxes[number]
        wrong = [a for a, b in enumerate(box) if key.cells[a] is not None and b not in into[a]]
        if wrong or not implies(pattern, key, safe):
            raise VerificationError(
                f"{what} leads out of its cluster of values: {', '.join(map(str, box))} is not "
                f"within {', '.join(map(str, into))}"
            )


def implies(pattern: Pattern, key: Key, safe: tuple[bool, ...]) -> bool:
    """Whether a pattern proves all relations, and all forgetting, that a key claims."""
    k = len(key.cells)
    claims = [(pattern.signs[i], key.pattern.signs[i]) for i in range(k)]
    claims += [
        (pattern.relation(i, j), key.pattern.relation(i, j)) for i, j in combinations(range(k), 2)
    ]
    fine = all(claimed in (UNKNOWN, known) for known, claimed in claims)
    return fine and all(
        cell is not None
        or (
            pattern.signs[i] == -1
            and any(safe[j] and pattern.relation(i, j) == -1 for j in range(len(safe)))
        )
        for i, cell in enumerate(key.cells)
    )


def forgotten(key: Key, safe: tuple[bool, ...]) -> Key:
    """Forget the values of entries that are never chosen again.

    The entry j of a safe action never falls below min(q_j, 0) again. While q_i < min(q_j, 0),
    action i is not greedy and its entry does not change; so it is never greedy again.
    """
    pattern = key.pattern
    k = len(key.cells)
    gone = {
        i
        for i in range(k)
        if pattern.signs[i] == -1
        and any(safe[j] and pattern.relation(i, j) == -1 for j in range(len(safe)))
    }
    if not gone:
        return key

    def kept(i: int, j: int) -> int:
        relation = pattern.relation(i, j)
        if i not in gone and j not in gone:
            return relation
        above = j if i in gone else i
        known = above not in gone and safe[above] and relation == (-1 if i in gone else 1)
        return relation if known else UNKNOWN

    order = tuple(kept(i, j) for i, j in combinations(range(k), 2))
    return replace(
        key,
        pattern=Pattern(pattern.signs, order),
        cells=tuple(None if i in gone else c for i, c in enumerate(key.cells)),
    )
