"""Independent oracles: the paper's Algorithm 1 on full exact Q-tables, and closed forms.

Nothing here imports the engine. Algorithm 1 is written from the paper, on positions
p = |x|_1, with one Fraction per (agent state, objective); there are no patterns and no
bounds. `Oracle.propagate` carries the exact probability distribution over (position, whole
Q-table) forwards, merging equal tables only.

Values are interned: a table is a tuple of small integers, each of which stands for one
exact Fraction, so that equal tables are equal tuples and hashing is cheap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

DOWN, UP = 0, 1
Table = tuple[tuple[int, ...], ...]
Weights = dict[tuple[int, Table], int]


def paper_objectives(n: int, ell: int) -> dict[str, list[int]]:
    """LeftBridge, Jump and RightBridge, section 3.1 of the paper."""
    positions = range(n + 1)
    return {
        "L": [p if 0 <= p <= ell + 1 else 0 for p in positions],
        "J": [p if ell + 1 <= p <= n - ell - 1 or p == n else 0 for p in positions],
        "R": [p if n - ell - 1 <= p <= n else 0 for p in positions],
    }


def paper_parameters(n: int) -> tuple[Fraction, Fraction, Fraction]:
    """alpha, gamma and r as in the paper's experiments."""
    alpha, gamma = Fraction(4, 5), Fraction(1, n + 1)
    return alpha, gamma, n * (1 / (alpha * (1 - gamma)) - 1)


def h_interval(n: int, ell: int, alpha: Fraction, gamma: Fraction) -> tuple[Fraction, Fraction]:
    """Hypothesis (H): the open interval in which r must lie."""
    return (1 / (alpha * (1 - gamma)) - 1) * (n - ell - 1), 1 / (alpha * gamma)


class Choice(NamedTuple):
    """One outcome of a step: its weight over `Oracle.denominator`, and what it leads to."""

    weight: int
    action: int
    direction: int
    position: int
    table: Table


class Oracle:
    """Algorithm 1 on the given objectives (plain lists over 0..n)."""

    def __init__(
        self,
        objectives: Mapping[str, Sequence[int]],
        target: str,
        alpha: Fraction,
        gamma: Fraction,
        r: Fraction,
    ) -> None:
        self.objectives = [list(v) for v in objectives.values()]
        self.names = tuple(objectives)
        self.target = list(objectives[target])
        self.n = len(self.target) - 1
        self.alpha, self.gamma, self.r = Fraction(alpha), Fraction(gamma), Fraction(r)
        best = max(self.target)
        self.optimum = self.target.index(best)
        self.states = sorted(set(self.target), key=self.target.index)
        self.state_of = [self.states.index(v) for v in self.target]
        self.denominator = self.n * lcm(*range(1, len(self.names) + 1))
        self.values: list[Fraction] = [Fraction(0)]
        self._id: dict[Fraction, int] = {Fraction(0): 0}
        self._updated: dict[tuple[int, Fraction, int], int] = {}
        self._best: dict[tuple[int, ...], tuple[tuple[int, ...], int]] = {}

    @classmethod
    def jump(cls, n: int, ell: int, *parameters: Fraction) -> Oracle:
        """Return LRSAO on Jump; without parameters those of the paper's experiments."""
        return cls(paper_objectives(n, ell), "J", *(parameters or paper_parameters(n)))

    def zero_table(self) -> Table:
        """Return Q_0, filled with zeros."""
        return ((0,) * len(self.names),) * len(self.states)

    def intern(self, value: Fraction) -> int:
        """Return the number that stands for a value."""
        number = self._id.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number

    def row(self, table: Table, position: int) -> list[Fraction]:
        """Return the values of the row that the agent sees at a position."""
        return [self.values[x] for x in table[self.state_of[position]]]

    def greedy(self, row: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        """Return the maximising actions of a row, and the number of the maximum."""
        if row not in self._best:
            values = [self.values[x] for x in row]
            top = max(values)
            self._best[row] = (
                tuple(a for a, v in enumerate(values) if v == top),
                row[values.index(top)],
            )
        return self._best[row]

    def choices(self, position: int, table: Table) -> Iterator[Choice]:
        """Yield all outcomes of one iteration of Algorithm 1's loop."""
        n, s = self.n, self.state_of[position]
        actions, _ = self.greedy(table[s])
        for a in actions:
            f = self.objectives[a]
            for direction, bits in ((DOWN, position), (UP, n - position)):
                if bits == 0:
                    continue
                new = position + (1 if direction == UP else -1)
                if f[new] >= f[position]:
                    after, reward = new, Fraction(f[new] - f[position])
                    if reward == 0:
                        reward = -self.r
                else:
                    after, reward = position, Fraction(0)
                maximum = self.greedy(table[self.state_of[after]])[1]
                key = (table[s][a], reward, maximum)
                if key not in self._updated:
                    q, m = self.values[table[s][a]], self.values[maximum]
                    self._updated[key] = self.intern(
                        (1 - self.alpha) * q + self.alpha * (reward + self.gamma * m)
                    )
                row = (*table[s][:a], self._updated[key], *table[s][a + 1 :])
                weight = self.denominator // (n * len(actions)) * bits
                yield Choice(weight, a, direction, after, (*table[:s], row, *table[s + 1 :]))

    def propagate(
        self, start: Weights, steps: int, *, stop: int | None = None, largest: int = 10**9
    ) -> Iterator[Weights]:
        """Yield the distribution after 0, 1, .. steps, as weights over denominator**t.

        Runs that reach the position `stop` (default: the optimum) stay there; they are
        merged, whatever their table. Ends early when there are more than `largest` states.
        """
        stop = self.optimum if stop is None else stop
        now = dict(start)
        done = sum(w for (p, _), w in now.items() if p == stop)
        now = {k: w for k, w in now.items() if k[0] != stop}
        end = (stop, self.zero_table())
        for t in range(steps + 1):
            yield now | ({end: done} if done else {})
            if t == steps or len(now) > largest:
                return
            following: Weights = {}
            done *= self.denominator
            for (p, table), weight in now.items():
                for c in self.choices(p, table):
                    if c.position == stop:
                        done += weight * c.weight
                    else:
                        key = (c.position, c.table)
                        following[key] = following.get(key, 0) + weight * c.weight
            now = following


def position_law(weights: Mapping[tuple[int, Table], int]) -> dict[int, int]:
    """Return position -> weight of a distribution over (position, table)."""
    law: dict[int, int] = {}
    for (p, _), w in weights.items():
        law[p] = law.get(p, 0) + w
    return law


def harmonic(k: int) -> Fraction:
    """Return the k-th harmonic number."""
    return sum((Fraction(1, i) for i in range(1, k + 1)), Fraction(0))


Form = tuple[Fraction, Fraction, Fraction]
"""A reward c0 + c1 D + c2 E in the gains D of the chosen objective and E of the target."""


class Rule(NamedTuple):
    """What a learning local search does, as the docstring of Algorithm 1's variants states it.

    `forms` are the rewards of a worse, an equal and a better offspring.
    """

    keep: Fraction
    learn: Fraction
    bootstrap: Fraction
    forms: tuple[Form, Form, Form]
    accept_equal: bool = True
    blind: bool = False
    only_target: bool = False

    @classmethod
    def lrsao(cls, alpha: Fraction, gamma: Fraction, r: Fraction) -> Rule:
        """Return the paper's algorithm."""
        zero = Fraction(0)
        return cls(
            1 - alpha,
            alpha,
            alpha * gamma,
            ((zero, zero, zero), (-r, zero, zero), (zero, Fraction(1), zero)),
        )


class RuleOracle(Oracle):
    """Any `Rule` on full exact Q-tables, written without the engine."""

    def __init__(self, objectives: Mapping[str, Sequence[int]], target: str, rule: Rule) -> None:
        super().__init__(objectives, target, Fraction(0), Fraction(0), Fraction(0))
        self.rule = rule
        if rule.only_target:
            self.objectives, self.names = [self.target], (target,)
            self.denominator = self.n
        if rule.blind:
            self.states, self.state_of = [0], [0] * (self.n + 1)

    def choices(self, position: int, table: Table) -> Iterator[Choice]:
        """Yield all outcomes of one step."""
        rule, n, s = self.rule, self.n, self.state_of[position]
        actions, _ = self.greedy(table[s])
        for a in actions:
            f = self.objectives[a]
            for direction, bits in ((DOWN, position), (UP, n - position)):
                if bits == 0:
                    continue
                offspring = position + (1 if direction == UP else -1)
                gain = f[offspring] - f[position]
                accepted = gain > 0 or (gain == 0 and rule.accept_equal)
                after = offspring if accepted else position
                c0, c1, c2 = rule.forms[0 if gain < 0 else 1 if gain == 0 else 2]
                reward = c0 + c1 * gain + c2 * (self.target[after] - self.target[position])
                maximum = self.values[self.greedy(table[self.state_of[after]])[1]]
                new = self.intern(
                    rule.keep * self.values[table[s][a]]
                    + rule.learn * reward
                    + rule.bootstrap * maximum
                )
                row = (*table[s][:a], new, *table[s][a + 1 :])
                weight = self.denominator // (n * len(actions)) * bits
                yield Choice(weight, a, direction, after, (*table[:s], row, *table[s + 1 :]))
