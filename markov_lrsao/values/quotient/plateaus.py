"""Plateaus that share a row, as an affine system: any n.

The slopes between the plateaus are machines (`markov_lrsao.values.slopes`), whose words are part
of the place: (position, milestones passed, words). The entries are those of the shared row, and for
every slope the largest entry of its topmost row, which the plateau above sees, 0 until that row has
learnt its bridge. A slope is passed at once, except where its topmost row has learnt: there every
rejection shrinks its entry, so that the walk waits step by step. Slopes that can never be left
downwards again hide what is below them.

A bridge that is the only greedy action of the last plateau climbs to the end of the run at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from flint import fmpq

from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.plateaus import Plateaus
from markov_lrsao.values.quotient.planes import Form, Table
from markov_lrsao.values.quotient.systems import (
    Event,
    Learning,
    Look,
    Place,
    System,
    Update,
    largest_of,
)

__all__ = ["Climb", "SharedEntries", "Timed"]

_ONE = fmpq(1)
_ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class Timed:
    """The weight of an event: its probability, and E[steps; event]."""

    probability: fmpq
    steps: Any


class Climb(NamedTuple):
    """Using a plateau's bridge until it is left: expected steps, and the place of arrival."""

    bridge: int
    steps: fmpq
    to: Place


class SharedEntries(System):
    """The row that plateaus share, and what they see of slopes."""

    def __init__(self, place: Plateaus) -> None:
        self.place, self.law, self.slopes = place, place.law, place.slopes
        p = place.parameters
        self.alpha, self.keep, self.lam = p.alpha, 1 - p.alpha, p.decay
        self.seen = p.alpha * p.gamma
        self.plateau = {q: i for i, (a, b) in enumerate(place.plateaus) for q in range(a, b + 1)}
        self.row = range(len(place.law.actions))
        self.count = len(self.row) + len(self.slopes)
        self.start = (0, 0, (0,) * len(self.slopes))

    def learnings(self) -> Iterator[Learning]:
        """Yield updates of the shared row and of the topmost rows of slopes."""
        law = self.law
        for p, i in self.plateau.items():
            for action in self.row:
                for direction in (DOWN, UP):
                    q = p + 2 * direction - 1
                    if not law.accepted[p, action, direction]:
                        yield Learning(action, self.lam, _ZERO)
                    elif 0 <= q < law.n:
                        gain = self.alpha * law.reward(p, action, direction)
                        if q in self.plateau:
                            yield Learning(action, self.lam, gain)
                        elif direction == UP:
                            yield Learning(action, self.keep, gain)
                        else:
                            seen = [self._above(i - 1)]
                            yield Learning(action, self.keep, gain, self.seen, seen)
        for s, slope in enumerate(self.slopes):
            yield Learning(self._above(s), self.lam, _ZERO)
            after = {x.word for word in slope.words for x in word.passages if x.side == UP}
            for action in sorted({a for w in after if (a := slope.learnt[w]) is not None}):
                gain = self._gain(s, action)
                yield Learning(self._above(s), self.keep, gain, self.seen, self.row)

    def _above(self, s: int) -> int:
        return len(self.row) + s

    def _gain(self, s: int, action: int) -> fmpq:
        """Return what the topmost row of a slope learns from a move up."""
        law, top = self.law, self.slopes[s].last
        if law.accepted[top, action, DOWN] or not law.accepted[top, action, UP]:
            # Its entry would depend on how often the walk fell back below the top, and so would
            # what the slope's rows are: choices would tell more than words do.
            raise CrossingError(f"position {top} keeps an action that may also move down")
        return self.alpha * law.reward(top, action, UP)

    def look(self, place: Place, table: Table) -> Look:
        """Return moves on a plateau, or passages through a slope."""
        greedy, comparisons = largest_of(table, self.row)
        if place[0] not in self.plateau:
            return Look(greedy, comparisons, self._crossed(place, greedy[0]))
        i = self.plateau[place[0]]
        if greedy == (self.place.bridges[i],) and self.place.plateaus[i][1] + 1 == self.law.n:
            return Look(greedy, comparisons, [self._finish(place[0])])
        return Look(greedy, comparisons, list(self._moves(place, greedy)))

    def climb(self, place: Place) -> Climb | None:
        """Return the climb from a place on a plateau, if it does not end the run."""
        i = self.plateau.get(place[0])
        if i is None or self.place.plateaus[i][1] + 1 == self.law.n:
            return None
        n, last = self.law.n, self.place.plateaus[i][1]
        steps = sum((fmpq(n, n - q) for q in range(place[0], last + 1)), _ZERO)
        to = self._event(_ONE, steps, place, last + 1, ()).to
        assert to is not None
        return Climb(self.place.bridges[i], steps, to)

    def rejected_at(self, place: Place) -> int | None:
        """Return the entry that shrinks while the walk waits at the top of a slope."""
        at = [s for s, slope in enumerate(self.slopes) if slope.last == place[0]]
        return self._above(at[0]) if at else None

    def _finish(self, p: int) -> Event:
        n = self.law.n
        steps = sum((fmpq(n, n - q) for q in range(p, n)), _ZERO)
        return Event(Timed(_ONE, steps), 1.0, None)

    def _moves(self, place: Place, greedy: tuple[int, ...]) -> Iterator[Event]:
        """Yield what one proposal on a plateau may do."""
        law, p = self.law, place[0]
        i = self.plateau[p]
        for action in greedy:
            for direction, count in ((DOWN, p), (UP, law.n - p)):
                share = fmpq(count, law.n * len(greedy))
                q = p + 2 * direction - 1
                if not count:
                    continue
                if not law.accepted[p, action, direction]:
                    form: Form = ((action, self.lam),), _ZERO
                    yield self._event(share, share, place, p, ((action, form),))
                    continue
                if q == law.n:
                    yield Event(Timed(share, share), to_float(share), None)
                    continue
                gain = self.alpha * law.reward(p, action, direction)
                if q in self.plateau:
                    form = ((action, self.lam),), gain
                elif direction == UP:
                    form = ((action, self.keep),), gain
                else:
                    form = ((action, self.keep), (self._above(i - 1), self.seen)), gain
                yield self._event(share, share, place, q, ((action, form),))

    def _crossed(self, place: Place, largest: int) -> list[Event]:
        """Return the passages through a slope; `largest` is an action of the shared row."""
        p, phase, words = place
        s = self._slope_at(p, words)
        slope, word = self.slopes[s], words[s]
        above = self._above(s)
        waits = slope.learnt[word] is not None and slope.words[word].entry == UP
        events = []
        for x in slope.words[word].passages:
            after = (p, phase, (*words[:s], x.word, *words[s + 1 :]))
            if x.side == DOWN:
                events.append(self._event(x.probability, x.steps, after, slope.first - 1, ()))
                continue
            action, share, steps = slope.learnt[x.word], x.probability, x.steps
            form: Form = (), _ZERO
            if action is not None:
                form = ((largest, self.seen),), self._gain(s, action)
            if waits:
                if share != 1 or action != slope.learnt[word]:
                    raise CrossingError(f"the slope below {slope.last + 1} is left in several ways")
                share = steps = fmpq(self.law.n - p, self.law.n)
                form = ((above, self.keep), *form[0]), form[1]
                rejected: Form = ((above, self.lam),), _ZERO
                events.append(self._event(1 - share, 1 - share, place, p, ((above, rejected),)))
            events.append(self._event(share, steps, after, slope.last + 1, ((above, form),)))
        return events

    def _slope_at(self, position: int, words: tuple[int, ...]) -> int:
        for s, slope in enumerate(self.slopes):
            entry = slope.words[words[s]].entry
            if position == (slope.first if entry == DOWN else slope.last):
                return s
        raise CrossingError(f"no slope is entered at position {position}")

    def _event(self, share: fmpq, steps: Any, place: Place, to: int, update: Update) -> Event:
        """Return an event that leads to a position; what cannot be met again is hidden."""
        _, phase, words = place
        passed = sum(m <= to for m in self.law.landscape.milestones)
        hidden = self._hidden(to, words)
        kept = tuple(u for u in update if u[0] - len(self.row) not in range(hidden))
        forgotten: Update = tuple((self._above(s), ((), _ZERO)) for s in range(hidden))
        words = (0,) * hidden + words[hidden:]
        return Event(
            Timed(share, steps),
            to_float(share),
            (to, max(phase, passed), words),
            (*kept, *forgotten),
        )

    def _hidden(self, position: int, words: tuple[int, ...]) -> int:
        """Return how many slopes can never be met again."""
        for s in range(len(self.slopes) - 1, 0, -1):
            slope, word = self.slopes[s], words[s]
            inside = slope.words[word].entry == UP and position >= slope.last
            if inside and not slope.falls[word]:
                return s
        return 0
