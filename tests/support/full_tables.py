"""An oracle on full Q-tables: the law of (position, whole Q-table), stepped forwards.

Nothing here imports the engine, nor the other oracles. It reads objectives, alpha, gamma and r, and
plays the paper's loop, with the number of ones for the bit string:

    s <- target(x);  f <- an objective with the largest Q[s, f], uniformly among equals
    y <- x with one uniform bit flipped
    if f(y) > f(x):  x' <- y, reward f(y) - f(x)
    if f(y) = f(x):  x' <- y, reward -r
    if f(y) < f(x):  x' <- x, reward 0
    Q[s, f] <- (1 - alpha) Q[s, f] + alpha (reward + gamma max Q[target(x'), .])

A table is all entries as exact fractions; equal tables at the same position are merged, and nothing
else ever is. Rows and values have numbers, so that tables are short tuples.

Two things are read off. `laws` gives the exact law of the position after every step, as far as
the tables can be listed. `follow` goes on with the heaviest tables in floats that are too small, so
that P(T <= t) has certain bounds for long times, and E[T] has a lower one. `behaviours` builds on
this module, and gives E[T] itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

__all__ = ["FullTables", "State", "Survival"]

State: TypeAlias = tuple[int, ...]
"""A position, and the number of every row's content."""
_LOSS = 1 - 2.0**-36
"""More than what a step's roundings can add to a mass: it is a sum of fewer than 2^16 products."""


@dataclass
class _Row:
    """The content of a row: its values by number, the largest, and where that stands."""

    values: tuple[int, ...]
    largest: int
    greedy: tuple[int, ...]


@dataclass(frozen=True)
class Survival:
    """Bounds of the law of T.

    Attributes
    ----------
    alive, done : lower bounds of P(T > t) and of P(T <= t), t = 0, 1, ..
    caught : a lower bound of P(T = infinity), from runs that are seen to reject for ever
    """

    alive: tuple[float, ...]
    done: tuple[float, ...]
    caught: float

    @property
    def least_mean(self) -> float:
        """A lower bound of E[T], the sum of P(T > t)."""
        return math.fsum(self.alive) * _LOSS


@dataclass
class FullTables:
    """The search on given objectives (lists over 0..n); it ends at the target's first maximum."""

    objectives: Mapping[str, Sequence[int]]
    target: str
    alpha: Fraction
    gamma: Fraction
    r: Fraction
    values: list[Fraction] = field(default_factory=list)
    rows: list[_Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.aims = [list(f) for f in self.objectives.values()]
        seen = list(self.objectives[self.target])
        self.n = len(seen) - 1
        self.optimum = seen.index(max(seen))
        states = list(dict.fromkeys(seen))
        self.state = [states.index(v) for v in seen]
        self.unit = self.n * math.lcm(*range(1, len(self.aims) + 1))
        self._value: dict[Fraction, int] = {}
        self._row: dict[tuple[int, ...], int] = {}
        self._outcomes: dict[tuple[int, int, int, int], list[tuple[int, int, int]]] = {}
        empty = self._numbered((self._number(Fraction(0)),) * len(self.aims))
        self.start: State = (0, *[empty] * len(states))

    def _number(self, value: Fraction) -> int:
        number = self._value.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number

    def _numbered(self, row: tuple[int, ...]) -> int:
        number = self._row.setdefault(row, len(self.rows))
        if number == len(self.rows):
            entries = [self.values[v] for v in row]
            top = max(entries)
            greedy = tuple(a for a, q in enumerate(entries) if q == top)
            self.rows.append(_Row(row, row[greedy[0]], greedy))
        return number

    def table(self, state: State) -> list[list[Fraction]]:
        """Return the Q-table of a state."""
        return [[self.values[v] for v in self.rows[k].values] for k in state[1:]]

    def outcomes(self, state: State) -> Iterator[tuple[int, State]]:
        """Yield what one iteration of the loop leads to, with weights that sum to `unit`."""
        x = state[0]
        s = self.state[x]
        below = self.rows[state[1 + self.state[x - 1]]].largest if x > 0 else -1
        above = self.rows[state[1 + self.state[x + 1]]].largest if x < self.n else -1
        key = x, state[1 + s], below, above
        if key not in self._outcomes:
            self._outcomes[key] = list(self._iterate(*key))
        for weight, after, row in self._outcomes[key]:
            yield weight, (after, *state[1 : 1 + s], row, *state[2 + s :])

    def _iterate(self, x: int, row: int, below: int, above: int) -> Iterator[tuple[int, int, int]]:
        """Yield weight, position and the new content of the row seen: one iteration, as above."""
        now = self.rows[row]
        for a in now.greedy:
            f, q = self.aims[a], self.values[now.values[a]]
            for y, bits, there in ((x - 1, x, below), (x + 1, self.n - x, above)):
                if bits == 0:
                    continue
                if f[y] > f[x]:
                    after, reward, best = y, Fraction(f[y] - f[x]), there
                elif f[y] == f[x]:
                    after, reward, best = y, -self.r, there
                else:
                    after, reward, best = x, Fraction(0), now.largest
                new = (1 - self.alpha) * q + self.alpha * (reward + self.gamma * self.values[best])
                updated = (*now.values[:a], self._number(new), *now.values[a + 1 :])
                weight = self.unit // (self.n * len(now.greedy)) * bits
                yield weight, after, self._numbered(updated)

    def distributions(self, work: int) -> Iterator[tuple[dict[State, int], int]]:
        """Yield the weights of all states and of the runs that have ended, over unit^t.

        Ends when more than `work` states have been advanced.
        """
        now, ended = {self.start: 1}, 0
        while True:
            yield now, ended
            work -= len(now)
            if work < 0:
                return
            following: dict[State, int] = {}
            ended *= self.unit
            for state, weight in now.items():
                for share, to in self.outcomes(state):
                    if to[0] == self.optimum:
                        ended += weight * share
                    else:
                        following[to] = following.get(to, 0) + weight * share
            now = following

    def laws(self, work: int) -> Iterator[dict[int, Fraction]]:
        """Yield the exact law of the position after 0, 1, .. steps."""
        for t, (now, ended) in enumerate(self.distributions(work)):
            law = {self.optimum: ended} if ended else {}
            for state, weight in now.items():
                law[state[0]] = law.get(state[0], 0) + weight
            yield {x: Fraction(w, self.unit**t) for x, w in law.items()}

    def rejects_for_ever(self, state: State) -> bool:
        """Whether one objective is chosen and rejects every offspring, now and for good.

        Its entry q is multiplied by 1 - alpha + alpha gamma < 1 again and again: it stays the only
        largest one if it is 0 or rises to 0, or if it falls to 0 and no other entry is positive.
        """
        x, row = state[0], self.rows[state[1 + self.state[state[0]]]]
        if len(row.greedy) > 1:
            return False
        a = row.greedy[0]
        f = self.aims[a]
        if any(f[y] >= f[x] for y in (x - 1, x + 1) if 0 <= y <= self.n):
            return False
        others = [self.values[v] for b, v in enumerate(row.values) if b != a]
        return self.values[row.largest] <= 0 or all(q <= 0 for q in others)

    def follow(self, steps: int, heaviest: int) -> Survival:
        """Follow the heaviest states in floats; the others count neither as alive nor as ended."""
        now, ended, caught = {self.start: 1.0}, 0.0, 0.0
        alive, done = [1.0 * _LOSS], [0.0]
        for _ in range(steps):
            following: dict[State, float] = {}
            for state, mass in now.items():
                for share, to in self.outcomes(state):
                    part = mass * (share / self.unit)
                    if to[0] == self.optimum:
                        ended += part
                    else:
                        following[to] = following.get(to, 0.0) + part
            ended *= _LOSS
            for state in [s for s in following if self.rejects_for_ever(s)]:
                caught += following.pop(state) * _LOSS
            kept = sorted(following.items(), key=lambda item: -item[1])
            now = {state: mass * _LOSS for state, mass in kept[:heaviest]}
            alive.append((math.fsum(now.values()) + caught) * _LOSS)
            done.append(ended)
        return Survival(tuple(alive), tuple(done), caught * _LOSS)
