"""The row that comes back after the cut, and the row below it, as an affine system: any n.

Before the cut (see `markov_lrsao.crossing.decomposition`) signs decide everything, and the only
values that matter later are those of the row that comes back: it learns them on its lower region.
After the cut it is met again, together with the row just below the cut. So a run's values are two
rows, whatever n is. Between the lower region and the cut lie the sites, whose weights are those of
crossing counts; here they are one event: the walk comes back to the lower region, or hits the cut
with one of the marks that the row below can have.

Entries that are never the largest again (`markov_lrsao.values.cells.is_dead`) are put below all
others for good: what they were makes no difference any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from flint import fmpq

from markov_lrsao.crossing.blocks import Stretch
from markov_lrsao.crossing.decomposition import fell_below
from markov_lrsao.errors import CrossingError
from markov_lrsao.model.law import UP, Proposal
from markov_lrsao.rows.orders import largest_of as largest_entry
from markov_lrsao.values.cells import Safety, is_dead
from markov_lrsao.values.quotient.planes import Form, Plane, Table, coordinate, difference, plane
from markov_lrsao.values.quotient.systems import (
    Event,
    Learning,
    Look,
    Place,
    System,
    Update,
    largest_of,
)
from markov_lrsao.values.refinement import safe_actions
from markov_lrsao.values.tails import moves_to_cut

__all__ = ["DOOMED", "LOST", "AcrossCut"]

_ZERO = fmpq(0)
BOTTOM, OUT, TAIL = "bottom", "out", "tail"
LOST: Place = ("lost",)
"""A run that has left the rows after the cut downwards."""
DOOMED: Place = ("doomed",)
"""The same, and it never comes further up again."""


class AcrossCut(System):
    """The rows of a cut.

    Parameters
    ----------
    stretch : the lower region of the row that comes back, as a block that is left upwards
    marks : patterns of the row below with which the cut can be hit
    lose : give up runs that leave the rows after the cut downwards, instead of refusing

    Raises
    ------
    CrossingError
        A value that matters is not known exactly, or runs leave the rows after the cut.
    """

    def __init__(
        self, stretch: Stretch, cut: int, marks: Sequence[int], *, lose: bool = False
    ) -> None:
        self.stretch, self.automata, self.law = stretch, stretch.automata, stretch.law
        law, algorithm = self.law, self.law.algorithm
        self.cut, self.hit_with, self.lose = cut, tuple(marks), lose
        self.row, self.below = int(law.row[cut]), int(law.row[cut - 1])
        self.keep, self.bootstrap = algorithm.keep, algorithm.bootstrap
        self.within = self.keep + self.bootstrap
        if self.keep < 0 or self.bootstrap < 0 or self.within >= 1:
            raise CrossingError("values are followed where 0 <= keep, bootstrap and their sum < 1")
        self.actions = len(law.actions)
        self.count = 2 * self.actions
        self._slot = stretch.rows.index(self.row)
        others = tuple(0 for _ in stretch.rows)
        self.start = (BOTTOM, 0, self.phase(0, 0), others)
        self.safe = {r: safe_actions(law, cut - 1, law.optimum, r) for r in (self.row, self.below)}
        self._highest_below: fmpq | None = None

    def of_row(self, row: int) -> range:
        """Return the numbers of a row's entries."""
        first = 0 if row == self.row else self.actions
        return range(first, first + self.actions)

    def phase(self, phase: int, position: int) -> int:
        """Return the milestones passed on arrival at a position, after some had been passed."""
        milestones = self.law.landscape.milestones
        while phase < len(milestones) and position >= milestones[phase]:
            phase += 1
        return phase

    @cached_property
    def dead(self) -> fmpq:
        """A value below every entry that can be chosen."""
        worst = min([_ZERO, *(self.law.algorithm.learn * reward for reward in self.law.rewards)])
        return fmpq((worst / (1 - self.within)).floor() - 1)

    @cached_property
    def brought(self) -> dict[int, tuple[tuple[int, fmpq, fmpq] | None, tuple[fmpq, ...]]]:
        """Per mark what the row below is when the cut is hit.

        An update that learns from the row of the cut, if there is one: (action, its constant,
        gain); and the row before it. The last update of that row is the move to the cut; see
        `markov_lrsao.values.tails`, which has the same for intervals.
        """
        law, automata = self.law, self.automata
        kind, c = automata.place(self.cut - 1)
        patterns = automata.patterns[c]
        found: dict[int, tuple[tuple[int, fmpq, fmpq] | None, tuple[fmpq, ...]]] = {}
        for mark in self.hit_with:
            before = moves_to_cut(automata, self.cut, mark)
            if len(before) == 1 and patterns[before[0][0]].undecided is None:
                k, action = before[0]
                entries = self._points(k, {action}, mark)
                learnt = (action, self.keep * entries[action], law.kinds[kind][action][UP].gain)
                found[mark] = learnt, entries
            else:
                found[mark] = None, self._points(mark, set(), mark)
        return found

    def _points(self, shown: int, moved: set[int], mark: int) -> tuple[fmpq, ...]:
        """Return the entries of the row below in a pattern; those that die with a mark are dead."""
        c = self.automata.class_of(self.below)
        after, entries = self.automata.patterns[c][mark], []
        for a, box in enumerate(self.automata.boxes[c][shown]):
            if a not in moved and is_dead(after, a, self.safe[self.below]):
                entries.append(self.dead)
            elif box.low == box.high:
                entries.append(box.low)
            else:
                raise CrossingError("the row below the cut is not known exactly when it is hit")
        return tuple(entries)

    def learnings(self) -> Iterator[Learning]:
        """Yield all updates of the two rows."""
        law, own = self.law, (self.row, self.below)
        yield from (Learning(i, _ZERO, self.dead) for i in range(self.count))
        for learnt, entries in self.brought.values():
            yield from (
                Learning(self.actions + a, _ZERO, value)
                for a, value in enumerate(entries)
                if learnt is None or a != learnt[0]
            )
            if learnt is not None:
                action, constant, gain = learnt
                seen = self.of_row(self.row)
                yield Learning(self.actions + action, _ZERO, constant + gain, self.bootstrap, seen)
        inside = np.isin(law.row[: law.optimum], own)
        inside[self.stretch.last + 1 : self.cut - 1] = False
        for p in np.flatnonzero(inside).tolist():
            entries_here = self.of_row(int(law.row[p]))
            for action, entry in enumerate(entries_here):
                for e in law.proposals(int(law.kind[p]), (action,)):
                    to = p + e.moved
                    if to == law.optimum or (p == self.cut - 1 and e.moved < 0):
                        continue
                    if e.move.stays_in_row:
                        yield Learning(entry, self.within, e.move.gain)
                    elif p < self.cut - 1:  # M = 0, see `_check_fresh`
                        yield Learning(entry, self.keep, e.move.gain)
                    else:
                        seen = self.of_row(int(law.row[to]))
                        yield Learning(entry, self.keep, e.move.gain, self.bootstrap, seen)

    def look(self, place: Place, table: Table) -> Look:
        """Return what can happen at a place."""
        if place in (LOST, DOOMED):
            return Look((), [], [])
        if place[0] == OUT:
            return self._out(place, table)
        if place[0] == BOTTOM:
            return self._bottom(place, table)
        return self._tail(place, table)

    # -- before the cut -----------------------------------------------------------------

    def _bottom(self, place: Place, table: Table) -> Look:
        _, position, phase, others = place
        law, row = self.law, int(self.law.row[position])
        if row != self.row:
            slot = self.stretch.rows.index(row)
            found = self.automata.outcomes_at(position, others[slot])
            events = []
            for (moved, after), share in found.items():
                shown = (*others[:slot], after, *others[slot + 1 :])
                weight = share.numerator(position, law.n) / law.denominator
                if weight:
                    events.append(
                        Event(share, weight, self._entered(position + moved, phase, shown))
                    )
            return Look((), [], events)
        numbers = self.of_row(row)
        greedy, comparisons = largest_of(table, numbers)
        events = []
        for e in law.proposals(int(law.kind[position]), greedy):
            weight = e.share.numerator(position, law.n) / law.denominator
            if not weight:
                continue
            to = position + e.moved
            factor = self.within if e.move.stays_in_row else self.keep
            if not e.move.stays_in_row:
                self._check_fresh(to, others)
            update: Update = ((e.action, (((e.action, factor),), e.move.gain)),)
            events.append(Event(e.share, weight, self._entered(to, phase, others), update))
        return Look(greedy, comparisons, events)

    def _entered(self, to: int, phase: int, others: tuple[int, ...]) -> Place:
        after = self.phase(phase, to)
        return (OUT, after, others) if to > self.stretch.last else (BOTTOM, to, after, others)

    def _check_fresh(self, to: int, others: tuple[int, ...]) -> None:
        """Refuse to learn from a row whose largest entry is not 0: it is not known exactly."""
        row = int(self.law.row[to])
        if row in self.stretch.rows:
            boxes = self.automata.boxes[self.automata.class_of(row)]
            largest = largest_entry(boxes[others[self.stretch.rows.index(row)]])
            if largest.low == largest.high == 0:
                return
        raise CrossingError(f"a step to position {to} learns from a value that is not known")

    def _out(self, place: Place, table: Table) -> Look:
        """Return how the walk goes on above the lower region: back to it, or to the cut."""
        _, phase, others = place
        last, events = self.stretch.last, []
        row = int(self.law.row[last])
        at = self.stretch.rows.index(row)
        if row == self.row or self.automata.is_met(last, others[at]):
            events.append(Event(None, 0.5, (BOTTOM, last, phase, others)))
        greedy, comparisons = largest_of(table, self.of_row(self.row))
        to: Place = (TAIL, self.cut, self.phase(phase, self.cut))
        for mark, (learnt, entries) in self.brought.items():
            update: list[tuple[int, Form]] = [
                (self.actions + a, ((), value)) for a, value in enumerate(entries)
            ]
            if learnt is not None:
                action, constant, gain = learnt
                form: Form = ((greedy[0], self.bootstrap),), constant + gain
                update[action] = (self.actions + action, form)
            events.append(Event(mark, 0.5, to, tuple(update)))
        return Look((), comparisons, events)

    # -- after the cut ------------------------------------------------------------------

    def _tail(self, place: Place, table: Table) -> Look:
        _, position, phase = place
        law, row = self.law, int(self.law.row[position])
        numbers = self.of_row(row)
        gone, comparisons = self._gone(row, table)
        greedy, asked = largest_of(table, numbers)
        comparisons += asked
        events = []
        actions = tuple(i - numbers.start for i in greedy)
        for e in law.proposals(int(law.kind[position]), actions):
            weight = e.share.numerator(position, law.n) / law.denominator
            to = position + e.moved
            if not weight:
                continue
            if to == law.optimum:
                events.append(Event(e.share, weight, None))
            elif to < self.cut - 1:
                fallen, asked = self._fallen(table, e)
                comparisons += asked
                events.append(Event(e.share, weight, fallen))
            else:
                form, asked = self._learnt(table, numbers.start + e.action, e, int(law.row[to]))
                comparisons += asked
                update: Update = ((numbers.start + e.action, form), *gone)
                events.append(Event(e.share, weight, (TAIL, to, self.phase(phase, to)), update))
        return Look(greedy, comparisons, events)

    def _gone(self, row: int, table: Table) -> tuple[Update, list[Plane]]:
        """Return the entries of a row that are never the largest again, put below all others."""
        numbers, comparisons = self.of_row(row), []
        gone: list[tuple[int, Form]] = []
        for i in numbers:
            if table[i] == self.dead:
                comparisons.append(coordinate(i, self.dead))
                continue
            for j, kind in zip(numbers, self.safe[row], strict=True):
                if j == i or kind == Safety.NONE:
                    continue
                comparisons += [coordinate(i), difference(i, j)]
                if table[i] < table[j] and table[i] < 0:
                    gone.append((i, ((), self.dead)))
                    break
        return tuple(gone), comparisons

    def _learnt(self, table: Table, entry: int, e: Proposal, row: int) -> tuple[Form, list[Plane]]:
        gain: fmpq = e.move.gain
        if e.move.stays_in_row:
            return (((entry, self.within),), gain), []
        seen, comparisons = largest_of(table, self.of_row(row))
        return (((entry, self.keep), (seen[0], self.bootstrap)), gain), comparisons

    def _fallen(self, table: Table, e: Proposal) -> tuple[Place, list[Plane]]:
        """Return whether a run that leaves downwards is held when it comes back.

        See `ValueWalk.dooms`: one action is the only largest entry, refuses every move, and stays
        the largest while its entry shrinks. What was learnt is known to lie in an interval.
        """
        if not self.lose:
            raise fell_below(self.cut, self.cut - 1)
        law, first = self.law, self.cut - 1
        below = int(law.row[first - 1])
        alone = np.count_nonzero(law.row == self.below) == 1
        if not alone or below in (self.row, self.below) or self.within <= 0:
            return LOST, []
        if self._highest_below is None:
            boxes = self.automata.boxes[self.automata.class_of(below)]
            self._highest_below = max(largest_entry(box).high for box in boxes)
        numbers = self.of_row(self.below)
        entry = numbers.start + e.action
        rest = [i for i in numbers if i != entry]
        top, comparisons = largest_of(table, rest)
        # The moved entry is at most keep x + gain + bootstrap M with the largest M.
        constant = e.move.gain + self.bootstrap * self._highest_below
        terms = {top[0]: fmpq(1), entry: -self.keep}
        below_top, _ = plane(terms, -constant)
        assert below_top is not None
        comparisons.append(below_top)
        comparisons += [coordinate(i) for i in numbers]
        most = self.keep * table[entry] + constant
        if len(top) != 1 or table[top[0]] <= most:
            return LOST, comparisons
        action = top[0] - numbers.start
        refuses = all(p.moved == 0 for p in law.proposals(int(law.kind[first]), (action,)))
        others = [table[i] for i in rest if i != top[0]]
        # keep x + constant <= 0 wherever x <= 0 and constant <= 0.
        shrinks = table[entry] <= 0 and constant <= 0 and all(v <= 0 for v in others)
        if refuses and (table[top[0]] <= 0 or shrinks):
            return DOOMED, comparisons
        return LOST, comparisons
