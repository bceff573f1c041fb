"""What runs can do at all: finitely many members that hold every table of every run.

A *member* is a position, a phase and a set of Q-tables: an interval for every entry, and what is
known of the order within rows (`kernels.cloud`). Members are closed if the start lies in one of
them and every possible step from a member leads into a member, or to the optimum. Then by induction
every run is in one of them at all times, and the greedy actions that a member leaves possible at
its position are all there are.

Ends that hold for all tables at once (`forward.coarse`) do not see what can no longer happen. Here
tables are told apart by the order of a few rows: of those that serve several regions, and of those
in which some action refuses every move, for there a run may get stuck. The other rows are followed
by their hull alone, so that the number of members hardly depends on n: on Jump some thousand.

A member grows to hold what comes to it, first by as much as is needed, later to the next value of a
grid, so that it comes to an end. What was found is then confirmed from nothing but the members.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import VerificationError
from markov_lrsao.forward.kernels import closing, layers
from markov_lrsao.forward.model import Arrays, Tables
from markov_lrsao.model.law import StepLaw

__all__ = ["Closed", "closed", "no_waiting", "passed"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
_MOST_MEMBERS, _MOST_ROUNDS = 2**14, 2_000
_BATCH = 2_048


def passed(law: StepLaw) -> IntArray:
    """Return position -> how many phases have ended there at the latest."""
    milestones = np.array(law.landscape.milestones)
    return np.searchsorted(milestones, np.arange(law.n + 1), side="right").astype(np.int64)


def no_waiting(arrays: Arrays) -> tuple[IntArray, IntArray, FloatArray]:
    """Return for kernels that no action waits: all steps are plain."""
    none = np.full(len(arrays.first_move) - 1, -1, dtype=np.int64)
    return none, np.zeros(1, dtype=np.int64), np.ones((1, 2))


def followed_rows(law: StepLaw) -> IntArray:
    """Return the rows whose order tells members apart."""
    found = set()
    for row in law.rows_met():
        here = [p for p in range(law.n + 1) if law.row[p] == row and p != law.optimum]
        apart = here[-1] - here[0] >= len(here)
        refusing = any(
            all(to == p for _, to, _ in law.moves(p, a))
            for p in here
            for a in range(len(law.actions))
        )
        if apart or refusing:
            found.add(row)
    return np.array(sorted(found), dtype=np.int64)


@dataclass(eq=False)
class _After:
    """Masks of members, numbers of their successors, and those that are not at the optimum."""

    masks: IntArray
    count: IntArray
    under_way: IntArray
    tables: Tables


@dataclass(eq=False)
class Closed:
    """Members, and how steps are taken from them.

    Attributes
    ----------
    ends : that no entry ever leaves, below and above
    """

    law: StepLaw
    arrays: Arrays
    ends: tuple[FloatArray, FloatArray]
    members: Tables

    def after(self, which: IntArray) -> _After:
        """Return what steps from some members lead to."""
        a, rules = self.arrays, no_waiting(self.arrays)
        now = self.members.chosen(which)
        now.mass[:] = 1.0
        masks, classes, count = (np.empty(len(which), dtype=np.int64) for _ in range(3))
        layers.greedy_sets(
            *(now.position, now.low, now.high, now.order, a.row_of, a.first_move, *rules),
            (masks, classes, count),
        )
        found = Tables.empty(int(count.sum()), now.low.shape[1], now.order.shape[1])
        layers.expand(
            *(now.arrays, masks, classes, a.moves, (*rules, np.ones((1, 1)), np.ones((1, 1)))),
            (a.gains, a.sums, a.values, (a.keep, a.bootstrap), *self.ends, a.actions),
            *((a.zero_gain, a.zero), np.empty(a.actions, dtype=np.int64), found.arrays),
        )
        under_way = np.flatnonzero(found.position != self.law.optimum)
        found = found.chosen(under_way)
        np.maximum(found.phase, passed(self.law)[found.position], out=found.phase)
        return _After(masks, count, under_way, found)

    def batches(self) -> Iterator[IntArray]:
        """Yield the numbers of all members, some at a time."""
        for first in range(0, len(self.members.mass), _BATCH):
            yield np.arange(first, min(first + _BATCH, len(self.members.mass)))

    def steps(self) -> Iterator[tuple[int, list[int]]]:
        """Yield of every member the mask of its greedy actions, and where its successors lie.

        They follow each other by action, for all that may be greedy, and by move; -1: the optimum.

        Raises
        ------
        VerificationError
            The start lies in no member, or a step leads out of them.
        """
        finder = _Finder(self, followed_rows(self.law), len(self.members.mass))
        finder.check(Tables.start(self.law, self.arrays))
        for which in self.batches():
            after = self.after(which)
            target = np.full(int(after.count.sum()), -1, dtype=np.int64)
            target[after.under_way] = finder.check(after.tables)
            ends = np.cumsum(after.count).tolist()
            for mask, size, end in zip(after.masks.tolist(), after.count, ends, strict=True):
                yield mask, target[end - size : end].tolist()

    def hull(self) -> tuple[FloatArray, FloatArray]:
        """Return ends of every entry in all members."""
        return self.members.low.min(axis=0), self.members.high.max(axis=0)


def _copied(tables: Tables) -> Tables:
    return tables.chosen(np.arange(len(tables.mass)))


class _Finder:
    """Members by position, phase and the order of followed rows."""

    def __init__(self, of: Closed, rows: IntArray, count: int) -> None:
        self.of, self.rows, self.count = of, rows, count
        largest = np.abs(of.arrays.gains).max(axis=1)
        self.unit = float(largest[largest > 0].min(initial=1.0)) / 4
        size = 4 * len(of.members.mass)
        size = 1 << (size - 1).bit_length()
        self.hashes = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int64)
        room = len(of.members.mass)
        self.waiting, self.grown = np.zeros(room, dtype=np.bool_), np.zeros(room, dtype=np.int64)
        if count:
            self._numbered()

    def _numbered(self) -> None:
        """Enter members that are there already."""
        copy, count = _copied(self.of.members), self.count
        if self._join(copy, 0) != count:
            raise VerificationError("two members cannot be told apart; please report this instance")

    def _join(self, tables: Tables, count: int) -> int:
        self.target = np.empty(len(tables.mass), dtype=np.int64)
        found: int = closing.join(
            *(tables.arrays, self.rows, self.of.arrays.actions, self.unit, self.of.ends),
            *(self.hashes, self.of.members.arrays, count),
            *((self.waiting, self.grown), self.target),
        )
        return found

    def add(self, tables: Tables) -> bool:
        """Let members grow to hold tables; return whether there is room."""
        self.count = self._join(tables, self.count)
        return self.count != closing.FULL

    def check(self, tables: Tables) -> IntArray:
        """Return in which members tables lie, as these are.

        Raises
        ------
        VerificationError
            One lies in none of them.
        """
        members = self.of.members
        self.of.members = _copied(members)  # may grow in vain
        count = self._join(tables, self.count)
        self.of.members = members
        if count != self.count or not closing.contained(tables.arrays, members.arrays, self.target):
            raise VerificationError("a run can leave its members; please report this instance")
        return self.target


def closed(law: StepLaw, arrays: Arrays, ends: tuple[FloatArray, FloatArray]) -> Closed | None:
    """Return members that hold all tables of all runs; None: they would be too many.

    Parameters
    ----------
    ends : that no entry ever leaves
    """
    start = Tables.start(law, arrays)
    room = Tables.empty(_MOST_MEMBERS, start.low.shape[1], start.order.shape[1])
    found = Closed(law, arrays, ends, room)
    finder = _Finder(found, followed_rows(law), 0)
    finder.add(start)
    for _ in range(_MOST_ROUNDS):
        waiting = np.flatnonzero(finder.waiting[: finder.count])
        if not len(waiting):
            found.members = room.chosen(slice(0, finder.count))
            return found
        for first in range(0, len(waiting), _BATCH):
            which = waiting[first : first + _BATCH]
            finder.waiting[which] = False
            if not finder.add(found.after(which).tables):
                return None
    return None
