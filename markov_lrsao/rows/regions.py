"""Regions of positions, classes of Q-rows, and the small position graphs on which
patterns are explored.

A *region* is a maximal run of positions with the same agent state. Rows with one region
whose positions are of the same kinds, in the same order, form one *row class*; a row with
several regions, and each row next to one of its regions, is a class of its own. Those rows
form a *group* that is explored together; every other class is a group by itself.

Positions beyond the optimum cannot be reached from position 0 and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from markov_lrsao.model.law import StepLaw

__all__ = ["AbstractPosition", "Group", "Regions"]

IntArray = npt.NDArray[np.int64]
_KEPT_AT_ENDS = 8
"""Positions kept apart at each end of a long run of one kind. Any number is sound; this
many leave room for all the uses of objectives that a plateau of Jump allows (Lemma 14)."""


@dataclass(frozen=True)
class AbstractPosition:
    """A position of the exploration, a run of alike positions, or a gap outside the group.

    Attributes
    ----------
    number : index in its group
    slot : which of the group's rows it shows; None for a gap
    below, above : where an accepted move may lead; empty means the run has ended
    outside : per direction the row classes that M ranges over when the move leaves the row
    """

    number: int
    slot: int | None
    row_class: int
    kind: int
    below: tuple[int, ...]
    above: tuple[int, ...]
    outside: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Group:
    """Rows that are explored together, on which positions, and where that begins."""

    rows: tuple[int, ...]
    positions: tuple[AbstractPosition, ...]
    starts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Regions:
    """Row classes of a step law.

    Attributes
    ----------
    last : the position at whose hitting the exploration ends
    row_class : row -> class; the optimum's row is a class of its own
    tracked : rows that are explored as one group
    representative : class -> one of its rows
    together : whether they are; if not, each is explored alone, and the walk may enter it at
        any of its regions. That is coarser, and sound as well.
    anywhere : whether runs may begin at any position, not in 0^n only
    """

    law: StepLaw
    last: int
    row_class: IntArray
    tracked: tuple[int, ...]
    representative: tuple[int, ...]
    together: bool = True
    anywhere: bool = False

    @classmethod
    def of(cls, law: StepLaw, last: int | None = None, *, anywhere: bool = False) -> Regions:
        """Find the regions and classes of all rows that a run meets before it hits `last`.

        The default is the optimum, the end of the run.
        """
        last = law.optimum if last is None else last
        row, kind = law.row[:last], law.kind[:last]
        begins = np.flatnonzero(np.diff(row, prepend=-1))
        ends = np.append(begins[1:], last)
        regions_of_row = np.bincount(row[begins], minlength=int(law.row.max()) + 1)
        several = regions_of_row[row[begins]] > 1
        tracked: set[int] = set()
        for begin, end in zip(begins[several].tolist(), ends[several].tolist(), strict=True):
            tracked.update(int(row[p]) for p in (begin - 1, begin, end) if 0 <= p < last)
        keys: dict[tuple[object, ...], int] = {}
        representative: list[int] = []
        row_class = np.full(len(regions_of_row), -1, dtype=np.int64)
        apart = np.zeros(len(regions_of_row), dtype=np.bool_)
        apart[list(tracked)] = True
        lone = (ends - begins == 1) & ~apart[row[begins]]
        lone_rows, lone_kinds = row[begins[lone]], kind[begins[lone]]
        for k in np.flatnonzero(np.bincount(lone_kinds)).tolist():  # many rows of few kinds
            members = lone_rows[lone_kinds == k]
            keys["kinds", (k,)] = len(representative)
            row_class[members] = len(representative)
            representative.append(int(members[0]))
        for begin, end in zip(begins[~lone].tolist(), ends[~lone].tolist(), strict=True):
            r = int(row[begin])
            if row_class[r] >= 0:
                continue
            key = ("row", r) if r in tracked else ("kinds", tuple(kind[begin:end].tolist()))
            if key not in keys:
                keys[key] = len(representative)
                representative.append(r)
            row_class[r] = keys[key]
        at_end = int(law.row[last])
        if row_class[at_end] < 0:  # where the run ends: a row that stays fresh
            row_class[at_end] = len(representative)
            representative.append(at_end)
        # Number the classes by first position, as people read them.
        order = np.argsort([int(np.argmax(law.row == r)) for r in representative])
        rank = np.argsort(order)
        row_class[row_class >= 0] = rank[row_class[row_class >= 0]]
        return cls(
            law,
            last,
            row_class,
            tuple(sorted(tracked)),
            tuple(representative[i] for i in order.tolist()),
            anywhere=anywhere,
        )

    @property
    def classes(self) -> int:
        """Number of row classes."""
        return len(self.representative)

    def class_name(self, row_class: int) -> str:
        """Return the agent state of a class, or the range of states it stands for."""
        rows = np.flatnonzero(self.row_class == row_class)
        values = [self.law.state(row) for row in rows.tolist()]
        return str(values[0]) if len(rows) == 1 else f"{min(values)}..{max(values)}"

    @cached_property
    def groups(self) -> list[Group]:
        """The groups, each with its graph of abstract positions."""
        met = self._classes_at(slice(self.last))
        alone = [
            (r,) for c, r in enumerate(self.representative) if r not in self.tracked and c in met
        ]
        tracked = [self.tracked] if self.together else [(r,) for r in self.tracked]
        return [self._group(rows) for rows in tracked + alone if rows]

    def _group(self, rows: tuple[int, ...]) -> Group:
        law, last = self.law, self.last
        row, kind = law.row, law.kind
        inside = np.flatnonzero(np.isin(row[:last], rows))
        # Runs of positions of one kind and row, all of whose members have both neighbours
        # in that row, are cut down to their ends and one position of unknown depth.
        stays = np.zeros(last + 2, dtype=np.bool_)
        stays[1:last] = (row[1:last] == row[: last - 1]) & (row[1:last] == row[2 : last + 1])
        blocks: list[tuple[int, int]] = []  # (first, last) positions that one number stands for
        breaks = np.flatnonzero(
            (np.diff(inside, prepend=-9) != 1) | (kind[inside] != kind[np.maximum(inside - 1, 0)])
        )
        for a, b in zip(breaks.tolist(), [*breaks[1:].tolist(), len(inside)], strict=True):
            first, end = int(inside[a]), int(inside[b - 1])
            if end - first > 2 * _KEPT_AT_ENDS and bool(stays[first]):
                blocks += [(p, p) for p in range(first, first + _KEPT_AT_ENDS)]
                blocks.append((first + _KEPT_AT_ENDS, end - _KEPT_AT_ENDS))
                blocks += [(p, p) for p in range(end - _KEPT_AT_ENDS + 1, end + 1)]
            else:
                blocks += [(p, p) for p in range(first, end + 1)]
        single = len(rows) == 1 and len(breaks) > 0 and self._one_region(rows[0])
        return Group(rows, *self._graph(rows, blocks, returns_where_it_left=single))

    @cached_property
    def _class_at(self) -> IntArray:
        """The row class of every position."""
        return self.row_class[self.law.row[: self.last + 1]]

    @cached_property
    def _enters(self) -> npt.NDArray[np.bool_]:
        """Whether a position is the first of its region, from below."""
        enters: npt.NDArray[np.bool_] = np.diff(self.law.row[: self.last], prepend=-1) != 0
        return enters

    def _classes_at(self, positions: IntArray | slice) -> tuple[int, ...]:
        """Row classes at given positions, in order, each once. They are few: nothing is sorted."""
        return tuple(np.flatnonzero(np.bincount(self._class_at[positions])).tolist())

    def _one_region(self, r: int) -> bool:
        positions = np.flatnonzero(self.law.row[: self.last] == r)
        return bool(positions[-1] - positions[0] + 1 == len(positions))

    def _graph(
        self, rows: tuple[int, ...], blocks: list[tuple[int, int]], *, returns_where_it_left: bool
    ) -> tuple[tuple[AbstractPosition, ...], tuple[int, ...]]:
        law, last = self.law, self.last
        gaps: dict[tuple[int, int], list[int]] = {}  # (block below, block above) -> its numbers
        result: list[AbstractPosition] = []
        below_of: list[tuple[int, ...]] = []
        above_of: list[tuple[int, ...]] = []
        count = len(blocks)

        def leave(number: int, position: int, neighbour: int | None) -> tuple[int, ...]:
            """Where an accepted move to `position` leads; `neighbour` is the next block."""
            if position == last:
                return ()
            if neighbour is not None and blocks[neighbour][0] <= position <= blocks[neighbour][1]:
                return (neighbour,)
            if returns_where_it_left:
                return (number,)
            pair = (number, neighbour) if position > blocks[number][1] else (neighbour, number)
            low, high = (x if x is not None else -1 for x in pair)
            gaps.setdefault((low, high), [x for x in (low, high) if x >= 0])
            return (count + list(gaps).index((low, high)),)

        for number, (first, end) in enumerate(blocks):
            down = number - 1 if number > 0 else None
            up = number + 1 if number + 1 < count else None
            below = leave(number, first - 1, down) if first > 0 else ()
            above = leave(number, end + 1, up)
            if end > first:
                below, above = (number, *below), (number, *above)
            below_of.append(below)
            above_of.append(above)
        for number, (first, end) in enumerate(blocks):
            r = int(law.row[first])
            result.append(
                AbstractPosition(
                    number=number,
                    slot=rows.index(r),
                    row_class=int(self.row_class[r]),
                    kind=int(law.kind[first]),
                    below=below_of[number],
                    above=above_of[number],
                    outside=(self._outside(r, first, -1), self._outside(r, end, 1)),
                )
            )
        for ends in gaps.values():
            result.append(AbstractPosition(len(result), None, -1, -1, tuple(ends), (), ((), ())))
        if self.anywhere:
            return tuple(result), tuple(range(len(result)))
        start = next((b for b, (first, _) in enumerate(blocks) if first == 0), None)
        if start is None:  # the walk enters a group from below
            start = 0
        return tuple(result), (start,)

    def _outside(self, r: int, position: int, step: int) -> tuple[int, ...]:
        """Row classes next to `position`, over all rows of the class of row r."""
        law, last = self.law, self.last
        if r in self.tracked:
            at = np.array([position])
        else:
            starts = np.flatnonzero((self._class_at[:last] == self.row_class[r]) & self._enters)
            at = starts + (position - int(np.argmax(law.row == r)))
        neighbours = at + step
        neighbours = neighbours[(neighbours >= 0) & (neighbours <= last)]
        return self._classes_at(neighbours)
