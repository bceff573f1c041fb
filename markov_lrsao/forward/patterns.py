r"""A grounded law by the signs of few rows: what runs can do, whatever their Q-values.

By `grounded` each entry of a row is 0, the one positive, or dead, and an update needs only to be
known by its sign. A *pattern* of a row says which: ZERO, POSITIVE, DEAD, or SOLE for an entry all
others of the row being dead (it is then the choice for ever). Here only the patterns of some rows
are followed, those that can hold a walk and those of several positions (`rows_to_follow`). Rows
that are not may choose any action, and an update whose sign the bounds of the values leave open may
end either way: a Markov decision process, in which every run is one way of deciding. What holds for
all ways holds for the law.

The values' upper bounds are the least u >= 0 with, for every move of entry (r, a) of gain g to row
s, u_ra >= (g + bootstrap max_b u_sb) / (1 - keep); within its row the chosen entry is the largest,
so that there u_ra >= g / (1 - keep - bootstrap). They are found in floats, enlarged, and checked
exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError, VerificationError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward.grounded import loses_something
from markov_lrsao.forward.model import Law

__all__ = [
    "DEAD",
    "POSITIVE",
    "SOLE",
    "ZERO",
    "Patterns",
    "State",
    "Way",
    "rows_to_follow",
    "upper_ends",
]

ZERO, POSITIVE, DEAD, SOLE = range(4)
Pattern: TypeAlias = tuple[int, ...]
State: TypeAlias = tuple[int, tuple[Pattern, ...]]
"""A position, and the patterns of the rows that are followed."""
Outcome: TypeAlias = tuple[fmpq, tuple[int, ...]]
"""A probability, and the states of which one follows."""
Way: TypeAlias = tuple[Outcome, ...]
Learning: TypeAlias = tuple[int, int, fmpq, int]
"""A row, an action, the gain of its entry, and the next row."""
_MARGIN = fmpq(1, 10**12)
_ROUNDS = 100_000
_MOST = 30_000


def upper_ends(law: Law) -> list[list[fmpq]]:
    """Return [row][action] -> what no value of the entry exceeds.

    Raises
    ------
    VerificationError
        The floats were not good enough.
    """
    a = law.algorithm
    moves = _learning_moves(law)
    near = _near_ends(law, moves)
    margin = _MARGIN * (1 + _exactly(float(near.max()))) * (1 - a.keep) / (1 - a.keep - a.bootstrap)
    found = [[_exactly(x) + margin for x in one] for one in near.tolist()]
    least = _least_ends(law, moves, found)
    for r, one in enumerate(near.tolist()):
        for b, x in enumerate(one):
            if x == 0.0 and least[r][b] <= 0:
                found[r][b] = fmpq(0)  # the entry never gains
            elif found[r][b] < least[r][b]:
                raise VerificationError(f"an upper end of the values of row {r} does not hold")
    return found


def _near_ends(law: Law, moves: Sequence[Learning]) -> npt.NDArray[np.float64]:
    """Return nearly the least upper ends, by iteration from 0."""
    a = law.algorithm
    ends = np.zeros((int(law.row.max()) + 1, len(law.actions)))
    gains = np.array([to_float(m[2]) for m in moves])
    row, action, to = (np.array([m[k] for m in moves], dtype=np.int64) for k in (0, 1, 3))
    keep, bootstrap = to_float(a.keep), to_float(a.bootstrap)
    for _ in range(_ROUNDS if moves else 0):
        beyond = (gains + bootstrap * ends.max(axis=1)[to]) / (1 - keep)
        before = ends.copy()
        np.maximum.at(
            ends, (row, action), np.where(row == to, gains / (1 - keep - bootstrap), beyond)
        )
        if np.max(ends - before) <= 4e-16 * (1 + np.max(ends)):
            break
    return ends


def _least_ends(
    law: Law, moves: Sequence[Learning], ends: Sequence[Sequence[fmpq]]
) -> list[list[fmpq]]:
    """Return what the ends must be at least, in view of those after a step."""
    a = law.algorithm
    largest = [max(one) for one in ends]
    least = [[fmpq(0)] * len(law.actions) for _ in ends]
    for r, b, gain, s in moves:
        here = gain / (1 - a.keep - a.bootstrap)
        if s != r:
            here = (gain + a.bootstrap * largest[s]) / (1 - a.keep)
        least[r][b] = max(least[r][b], here)
    return least


def _exactly(x: float) -> fmpq:
    return fmpq(*x.as_integer_ratio())


def _learning_moves(law: Law) -> list[Learning]:
    """Return (row, action, gain, next row) of all moves after which a run goes on."""
    found = {
        (int(law.row[p]), b, gain, int(law.row[to]))
        for p in range(len(law.row))
        if p != law.optimum
        for b in range(len(law.actions))
        for _, to, gain in law.moves(p, b)
        if to != law.optimum
    }
    # Within its row an entry without a gain only shrinks.
    return sorted((m for m in found if m[0] != m[3] or m[2] > 0), key=lambda m: (m[0], m[1], m[3]))


def rows_to_follow(law: Law) -> tuple[int, ...]:
    """Return the rows in which an action can hold the walk, and those of several positions."""
    met = [p for p in range(len(law.row)) if p != law.optimum]
    count = Counter(int(law.row[p]) for p in met)
    held = {
        int(law.row[p])
        for p in met
        for b in range(len(law.actions))
        if all(to == p for _, to, _ in law.moves(p, b))
    }
    return tuple(sorted({row for row, times in count.items() if times > 1} | held))


@dataclass(eq=False)
class Patterns:
    """The decision process, explored from the states that are asked for.

    Attributes
    ----------
    rows : the rows that are followed
    states : those explored; the first is the optimum
    ways : state -> what can be chosen there; none at the optimum
    """

    law: Law
    rows: tuple[int, ...]
    states: list[State] = field(default_factory=list)
    ways: list[tuple[Way, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        law = self.law
        self._loses = loses_something(law)
        self._ends = upper_ends(law)
        self._slot = {row: k for k, row in enumerate(self.rows)}
        self._number: dict[State, int] = {}
        self._end: State = law.optimum, ()
        self.state_number(self._end)

    @property
    def fresh(self) -> tuple[Pattern, ...]:
        """The patterns of a table of zeros."""
        return (self.settled(-1, (ZERO,) * len(self.law.actions)),) * len(self.rows)

    def settled(self, row: int, pattern: Pattern) -> Pattern:
        """Return a pattern in which dead entries are seen to be; `row` -1: nothing is positive."""
        if POSITIVE in pattern:
            top = pattern.index(POSITIVE)
            if not self._loses[row, top] and self.law.algorithm.keep > 0:
                pattern = tuple(POSITIVE if b == top else DEAD for b in range(len(pattern)))
        if sum(status != DEAD for status in pattern) == 1:
            return tuple(DEAD if status == DEAD else SOLE for status in pattern)
        return pattern

    def state_number(self, state: State) -> int:
        """Return a state's number; it is explored later by `explore`."""
        if state[0] == self.law.optimum:
            state = self._end
        found = self._number.get(state)
        if found is None:
            if len(self.states) >= _MOST:
                raise StateSpaceTooLargeError(f"more than {_MOST:,} patterns of rows")
            found = self._number[state] = len(self.states)
            self.states.append(state)
        return found

    def explore(self) -> None:
        """Find what can follow every state."""
        while len(self.ways) < len(self.states):
            state = self.states[len(self.ways)]
            self.ways.append(() if state is self._end else self._ways(state))

    def _ways(self, state: State) -> tuple[Way, ...]:
        p, patterns = state
        row = int(self.law.row[p])
        slot = self._slot.get(row)
        every = range(len(self.law.actions))
        if slot is None:
            return tuple(self._outcomes(p, patterns, b, fmpq(1)) for b in every)
        pattern = patterns[slot]
        greedy = [b for b in every if pattern[b] in (POSITIVE, SOLE)]
        greedy = greedy or [b for b in every if pattern[b] == ZERO]
        share = fmpq(1, len(greedy))
        return (tuple(x for b in greedy for x in self._outcomes(p, patterns, b, share)),)

    def _outcomes(
        self, p: int, patterns: tuple[Pattern, ...], action: int, share: fmpq
    ) -> tuple[Outcome, ...]:
        law = self.law
        row = int(law.row[p])
        slot = self._slot.get(row)
        found = []
        for chance, to, gain in law.moves(p, action):
            follow = [patterns]
            if slot is not None and to != law.optimum:
                learnt = self._learnt(patterns, row, action, int(law.row[to]), gain)
                follow = [(*patterns[:slot], one, *patterns[slot + 1 :]) for one in learnt]
            numbers = {self.state_number((to, one)) for one in follow}
            found.append((share * chance / law.denominator_at(p), tuple(sorted(numbers))))
        return tuple(found)

    def _learnt(
        self, patterns: tuple[Pattern, ...], row: int, action: int, to: int, gain: fmpq
    ) -> list[Pattern]:
        """Return the patterns of a row of which one follows an update."""
        a = self.law.algorithm
        pattern = patterns[self._slot[row]]
        if pattern[action] == SOLE:
            return [pattern]
        positive = pattern[action] == POSITIVE
        q = self._ends[row][action] if positive else fmpq(0)
        seen, seen_positive = self._seen(patterns, to)
        if to == row:  # the chosen entry is the largest
            seen, seen_positive = q, positive
        high = a.keep * q + gain + a.bootstrap * seen
        grows = (positive and a.keep > 0) or (seen_positive and a.bootstrap > 0)
        new = []
        if gain < 0:
            new.append(DEAD)
        if high > 0:
            new.append(POSITIVE)
        if gain <= 0 <= high and not (grows and gain == 0):
            new.append(ZERO)
        if high < 0 or (high == 0 and grows):
            new = [DEAD]
        return [self._with(row, pattern, action, status) for status in new]

    def _with(self, row: int, pattern: Pattern, action: int, status: int) -> Pattern:
        return self.settled(row, (*pattern[:action], status, *pattern[action + 1 :]))

    def _seen(self, patterns: tuple[Pattern, ...], row: int) -> tuple[fmpq, bool]:
        """Return what the largest entry of a row is at most, and whether it is known positive."""
        slot = self._slot.get(row)
        most = max(self._ends[row])
        if slot is None:
            return most, False
        pattern = patterns[slot]
        if POSITIVE in pattern:
            return self._ends[row][pattern.index(POSITIVE)], True
        if SOLE in pattern:
            return self._ends[row][pattern.index(SOLE)], False
        return fmpq(0), False

    def consistent(self, row: int, statuses: list[set[int]]) -> list[Pattern]:
        """Return the patterns of a row whose entries have one of some statuses each."""
        found = {
            self.settled(row, one)
            for one in product(*(sorted(x) for x in statuses))
            if one.count(POSITIVE) <= 1 and any(x != DEAD for x in one)
        }
        return sorted(found)
