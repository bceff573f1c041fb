"""Bounds on entries, with the values of few rows followed at a time.

For an upper bound on an entry the largest values decide. The update keep q + gain + bootstrap M is
monotone, and patterns tell which steps are possible, so a walk of `Abstraction` is given the
largest values that a run with these patterns can have: those of followed rows are computed along
the walk, and M of any other row is at most what its automaton allows. A table is left out if one at
the same place with no smaller entry was met no later: all that the first can do the second can, and
more. If no walk exceeds the bound, no run does; a walk that does is played exactly, and if it is no
run, or no violation, one more row is followed. Lower bounds are the same with all signs turned.

All of this needs patterns that decide every greedy choice of the instance.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from flint import fmpq

from proofs_check.own.abstraction import Abstraction, Fails, Holds, too_many
from proofs_check.own.targets import State
from proofs_check.runs.run import Choice, Run

__all__ = ["search_bounds"]

Table = tuple[tuple[fmpq, ...], ...]
_COMPARISONS = 20
"""Comparisons of two tables that take as long as following one."""


class _Bounds:
    """Walks with the largest (or smallest) values of the followed rows."""

    def __init__(self, walks: Abstraction, followed: Sequence[int], upper: bool) -> None:
        self.walks, self.law, self.upper = walks, walks.law, upper
        self.rows = self.law.row.tolist()
        self.slot = {row: i for i, row in enumerate(followed)}
        self.met: dict[Any, list[Table]] = {}
        self.compared = 0

    def largest(self, row: int, table: Table) -> fmpq:
        """Return a bound of the largest entry of a row."""
        at = self.slot.get(row)
        if at is not None:
            return max(table[at])
        automata = self.walks.automata
        if row not in self.walks.rows_met:
            return fmpq(0)  # the optimum's
        boxes = automata.boxes[automata.class_of(row)]
        if self.upper:
            return max(max(x.high for x in box) for box in boxes)
        return min(max(x.low for x in box) for box in boxes)

    def update(self, table: Table, position: int, action: int, direction: int, to: int) -> Table:
        """Return the values after a step."""
        at = self.slot.get(self.rows[position])
        if at is None:
            return table
        rule, row = self.law.algorithm, table[at]
        new = (
            rule.keep * row[action]
            + rule.learn * self.law.reward(position, action, direction)
            + rule.bootstrap * self.largest(self.rows[to], table)
        )
        return (*table[:at], (*row[:action], new, *row[action + 1 :]), *table[at + 1 :])

    def adds(self, place: Any, table: Table) -> bool:
        """Remember a table; return whether it must be followed."""
        known = self.met.setdefault(place, [])
        self.compared += len(known)
        if any(self._covers(other, table) for other in known):
            return False
        known[:] = [other for other in known if not self._covers(table, other)]
        known.append(table)
        return True

    def _covers(self, a: Table, b: Table) -> bool:
        larger, smaller = (a, b) if self.upper else (b, a)
        return all(
            x >= y
            for one, two in zip(larger, smaller, strict=True)
            for x, y in zip(one, two, strict=True)
        )

    def shortest(self, target: State, below: int | None) -> tuple[list[Choice] | None, int]:
        """Return a shortest walk whose value violates the claim, and the number of states."""
        assert target.row is not None
        assert target.action is not None
        law, own = self.law, self.slot[target.row]
        index = {name: a for a, name in enumerate(law.actions)}
        if not target.claim.holds(0):
            return [], 1
        zero: Table = tuple((fmpq(0),) * len(law.actions) for _ in self.slot)
        queue: deque[tuple[Any, Table, Any, int]] = deque(
            [((0, (0,) * len(self.slot)), zero, None, 0)]
        )
        count = 1
        while queue:
            (position, shown), table, trail, depth = queue.popleft()
            if position == law.optimum or (below is not None and depth + 1 >= below):
                continue
            at = self.slot.get(self.rows[position], -1)
            for e in self.walks.events(position, shown[at] if at >= 0 else -1):
                after = shown if at < 0 else (*shown[:at], e.following, *shown[at + 1 :])
                values = self.update(table, position, index[e.action], e.direction, e.next_position)
                history = (trail, (e.action, e.direction))
                if e.next_position == law.optimum:
                    continue
                if not target.claim.holds(values[own][target.action]):
                    return _choices(history), count
                if self.adds((e.next_position, after), values):
                    queue.append(((e.next_position, after), values, history, depth + 1))
                    count += 1
            self.walks.bar.advance()
            if count + self.compared // _COMPARISONS > self.walks.limit:
                raise too_many(self.walks.limit)
        return None, count


def search_bounds(walks: Abstraction, target: State, below: int | None) -> Holds | Fails:
    """Decide a bound on an entry.

    Raises
    ------
    StateSpaceTooLargeError
    """
    assert target.row is not None
    upper = target.claim.relation in ("<=", "<")
    followed = [target.row]
    while True:
        choices, states = _Bounds(walks, followed, upper).shortest(target, below)
        if choices is None:
            return Holds(states, len(followed))
        run, further = _played(walks, choices, followed)
        if further is None and not target.claim.holds(target.value(run.q)):
            return Fails(tuple(choices))
        if further is None:
            further = _neighbour(walks, choices, followed)
        followed.append(further)


def _played(
    walks: Abstraction, choices: Sequence[Choice], followed: Sequence[int]
) -> tuple[Run, int | None]:
    """Play a walk; return the run and the row whose pattern forbids a step, or None."""
    run = Run(walks.law)
    for action, direction in choices:
        if action not in run.greedy():
            row = int(walks.law.row[run.position])
            assert row not in followed, "patterns decide the greedy actions of a followed row"
            return run, row
        run.step(action, direction)
    return run, None


def _neighbour(walks: Abstraction, choices: Sequence[Choice], followed: Sequence[int]) -> int:
    """Return the first row, not followed yet, whose largest entry was only bounded."""
    run, law = Run(walks.law), walks.law
    for action, direction in choices:
        record = run.step(action, direction)
        begin, end = (int(law.row[p]) for p in (record.position, record.next_position))
        if begin in followed and end not in followed and end in walks.rows_met:
            return end
    raise AssertionError("with all rows followed values are exact")


def _choices(trail: Any) -> list[Choice]:
    found: list[Choice] = []
    while trail is not None:
        trail, choice = trail
        found.append(choice)
    return found[::-1]
