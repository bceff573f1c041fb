"""A run with its whole Q-table, as an affine system.

A place is a position and a phase. Entry (row, action) has the number K row + action, rows in the
order in which positions meet them.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from markov_lrsao.errors import CrossingError
from markov_lrsao.model.law import Proposal, StepLaw
from markov_lrsao.values.quotient.planes import Form, Plane, Table
from markov_lrsao.values.quotient.systems import Event, Learning, Look, Place, System, largest_of

__all__ = ["Tables"]


class Tables(System):
    """Positions, phases and Q-tables of a law.

    Raises
    ------
    CrossingError
        An update is no mean of old and new: keep or bootstrap is negative, or they reach 1.
    """

    def __init__(self, law: StepLaw) -> None:
        law.check_greedy()
        algorithm = law.algorithm
        self.law = law
        self.actions = len(law.actions)
        self.keep, self.bootstrap = algorithm.keep, algorithm.bootstrap
        self.within = self.keep + self.bootstrap
        if self.keep < 0 or self.bootstrap < 0 or self.within >= 1:
            raise CrossingError("tables are followed where 0 <= keep, bootstrap and their sum < 1")
        rows = law.rows_met()
        self._first = {row: k * self.actions for k, row in enumerate(rows)}
        self.count = len(rows) * self.actions
        self.start = (0, self.phase(0, 0))

    def of_row(self, row: int) -> range:
        """Return the numbers of a row's entries."""
        first = self._first[row]
        return range(first, first + self.actions)

    def phase(self, phase: int, position: int) -> int:
        """Return the milestones passed on arrival at a position, after some had been passed."""
        milestones = self.law.landscape.milestones
        while phase < len(milestones) and position >= milestones[phase]:
            phase += 1
        return phase

    def learnings(self) -> Iterator[Learning]:
        """Yield the updates of all proposals that do not end the run."""
        law = self.law
        for p in range(law.optimum):
            first = self._first[int(law.row[p])]
            for action in range(self.actions):
                for e in law.proposals(int(law.kind[p]), (action,)):
                    to = p + e.moved
                    if to == law.optimum:
                        continue
                    if e.move.stays_in_row:
                        yield Learning(first + action, self.within, e.move.gain)
                    else:
                        seen = self.of_row(int(law.row[to]))
                        yield Learning(first + action, self.keep, e.move.gain, self.bootstrap, seen)

    def look(self, place: Place, table: Table) -> Look:
        """Return the proposals of the greedy actions."""
        law, (position, phase) = self.law, place
        numbers = self.of_row(int(law.row[position]))
        greedy, comparisons = largest_of(table, numbers)
        events = []
        actions = tuple(i - numbers.start for i in greedy)
        for e in law.proposals(int(law.kind[position]), actions):
            to = position + e.moved
            weight = e.share.numerator(position, law.n) / law.denominator
            if weight == 0:
                continue
            if to == law.optimum:
                events.append(Event(e.share, weight, None))
                continue
            entry = numbers.start + e.action
            form, asked = self._learnt(table, entry, e, int(law.row[to]))
            comparisons += asked
            events.append(Event(e.share, weight, (to, self.phase(phase, to)), ((entry, form),)))
        return Look(greedy, comparisons, events)

    def _learnt(self, table: Table, entry: int, e: Proposal, row: int) -> tuple[Form, list[Plane]]:
        """Return the new value of an entry, and what it depends on."""
        gain: fmpq = e.move.gain
        if e.move.stays_in_row:
            return (((entry, self.within),), gain), []
        if self.bootstrap == 0:
            return (((entry, self.keep),), gain), []
        seen, comparisons = largest_of(table, self.of_row(row))
        return (((entry, self.keep), (seen[0], self.bootstrap)), gain), comparisons
