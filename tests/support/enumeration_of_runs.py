"""All runs of LRSAO up to some length, by the paper's Algorithm 1 in plain Fractions.

Written on its own: nothing of the engine is used. A run is its list of steps; what a claim says
is read off that list and the Q-tables along it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

Step = tuple[int, str, str, int]
"""Position, action, "up" or "down", next position."""
Table = dict[tuple[int, str], Fraction]
"""(state, action) -> value; what is missing is 0."""


@dataclass(frozen=True)
class Model:
    """A landscape with the target's name, and hyper-parameters."""

    objectives: dict[str, list[int]]
    target: str
    alpha: Fraction
    gamma: Fraction
    r: Fraction

    @property
    def n(self) -> int:
        return len(self.objectives[self.target]) - 1

    @property
    def optimum(self) -> int:
        values = self.objectives[self.target]
        return values.index(max(values))

    def state(self, p: int) -> int:
        return self.objectives[self.target][p]


def runs(model: Model, longest: int) -> Iterator[tuple[list[Step], list[Table]]]:
    """Yield every run of at most so many steps, shortest first, with its tables."""
    level: list[tuple[list[Step], list[Table]]] = [([], [{}])]
    for _ in range(longest + 1):
        yield from level
        level = [longer for run in level for longer in _longer(model, *run)]


def _longer(
    model: Model, steps: list[Step], tables: list[Table]
) -> Iterator[tuple[list[Step], list[Table]]]:
    p = steps[-1][3] if steps else 0
    if p == model.optimum:
        return
    table = tables[-1]

    def entry(position: int, action: str) -> Fraction:
        return table.get((model.state(position), action), Fraction(0))

    best = max(entry(p, a) for a in model.objectives)
    for action, values in model.objectives.items():
        if entry(p, action) != best:
            continue
        for word, to in (("down", p - 1), ("up", p + 1)):
            if not 0 <= to <= model.n:
                continue
            gain = values[to] - values[p]
            after = to if gain >= 0 else p
            reward = Fraction(gain) if gain > 0 else -model.r if gain == 0 else Fraction(0)
            following = max(entry(after, a) for a in model.objectives)
            new = (1 - model.alpha) * best + model.alpha * (reward + model.gamma * following)
            yield (
                [*steps, (p, action, word, after)],
                [*tables, {**table, (model.state(p), action): new}],
            )


def violates(model: Model, claim: str, steps: list[Step], tables: list[Table]) -> bool:
    """Whether a claim fails at the end of a run: read off the run from its first step on."""
    left, relation, right = claim.rsplit(" ", 2)
    compare: dict[str, Callable[[Fraction, Fraction], bool]] = {
        "<=": lambda a, b: a <= b,
        "<": lambda a, b: a < b,
        "=": lambda a, b: a == b,
        ">=": lambda a, b: a >= b,
        ">": lambda a, b: a > b,
    }
    bound = Fraction(right)
    over = bool(steps) and steps[-1][3] == model.optimum
    if left.startswith(("entry", "positive")):
        return not over and any(
            not compare[relation](v, bound) for v in _state_values(model, left, tables[-1])
        )
    closed = over
    if left.startswith("moves before hit"):
        goal = int(left.split("(")[1].split(")")[0])
        hits = [k for k, step in enumerate(steps) if step[3] == goal]
        closed = goal == 0 or bool(hits)
        steps = [] if goal == 0 else steps[: hits[0] + 1] if hits else steps
    for count in _counts(model, left, steps):
        if closed and not compare[relation](Fraction(count), bound):
            return True
        if relation in ("<=", "<") and not compare[relation](Fraction(count), bound):
            return True
        if relation == "=" and count > bound:
            return True
    return False


def _counts(model: Model, left: str, steps: list[Step]) -> list[int]:
    """Return the counts of all targets."""
    positions = range(model.n + 1)
    if left.startswith("visits"):
        places = [0, *(to for p, _, _, to in steps if to != p)]
    elif left.startswith("uses"):
        name = left.split("(")[1].split(")")[0]
        places = [p for p, action, _, _ in steps if action == name]
    else:
        places = [p for p, _, _, to in steps if to != p]
    if left.endswith("per row"):
        states = {model.state(p) for p in positions}
        return [sum(model.state(p) == s for p in places) for s in states]
    if left.endswith("per position") or left == "visits":
        return [places.count(s) for s in positions]
    if " at " in left:
        return [places.count(int(left.rsplit(" ", 1)[1]))]
    return [len(places)]


def _state_values(model: Model, left: str, table: Table) -> list[Fraction]:
    states = sorted({model.state(p) for p in range(model.n + 1)})
    if " at " in left:
        states = [model.state(int(left.rsplit(" ", 1)[1]))]
    if left.startswith("entry"):
        name = left.split("(")[1].split(")")[0]
        return [table.get((s, name), Fraction(0)) for s in states]
    positive = [sum(table.get((s, a), 0) > 0 for a in model.objectives) for s in states]
    return (
        [Fraction(sum(positive))] if left == "positive entries" else list(map(Fraction, positive))
    )
