"""Which states of a search matter: those that a run can meet before its target.

If one of them cannot reach the target, runs get stuck with positive probability and E[T] is
infinite; `Task.doomed` are those states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from flint import fmpq

from markov_lrsao.exact.fields import Balls, SearchField
from markov_lrsao.model.search_law import SearchLaw

__all__ = ["State", "Task", "hopeless"]

State: TypeAlias = tuple[int, int]
"""(position, mode)."""


@dataclass(frozen=True, eq=False)
class Task:
    """A law, where its runs begin and where they end.

    Attributes
    ----------
    start : position -> probability
    target : positions at which a run ends
    """

    law: SearchLaw
    start: Mapping[int, fmpq]
    target: frozenset[int]
    field: SearchField

    def _next(self, state: State) -> Iterable[State]:
        """Return the states that can follow, and no others, without probabilities."""
        x, mode = state
        law, search = self.law, self.law.search
        if search.switch_first:
            for g, _ in law.switch(mode).otherwise:
                if law.may_stay(g, x):
                    yield x, g
                for y, _ in law.row(g, x, self.field).moves:
                    yield y, g
            return
        switch = law.switch(mode)
        for y, _ in law.row(mode, x, self.field).moves:
            better = law.values[y] > law.values[x]
            for g, _ in switch.better if better else switch.otherwise:
                yield y, g
        if law.may_stay(mode, x):
            for g, _ in switch.otherwise:
                yield x, g

    @cached_property
    def begin(self) -> list[State]:
        """The states in which runs can begin, also those of the target."""
        modes = [g for g, v in self.law.search.start if v]
        return [(x, g) for x, w in self.start.items() if w for g in modes]

    @cached_property
    def inside(self) -> frozenset[State]:
        """The states that runs meet before the target."""
        if self.law.everywhere:
            best = {x for x in range(self.law.n + 1) if x not in self.target}
            return frozenset((x, g) for x in best for g in range(self.law.modes))
        open_ = [state for state in self.begin if state[0] not in self.target]
        found = set(open_)
        while open_:
            for state in self._next(open_.pop()):
                if state[0] not in self.target and state not in found:
                    found.add(state)
                    open_.append(state)
        return frozenset(found)

    @cached_property
    def doomed(self) -> frozenset[State]:
        """Those of them from which the target cannot be reached."""
        if self.law.everywhere:
            return frozenset()
        return self.inside - self._distances().keys()

    @cached_property
    def certain(self) -> int | None:
        """The number of steps that every run takes, if there is one number for all of them.

        Then and only then every step comes nearer to the target by one. The variance is 0, which
        balls cannot show. Where every step may reach the best position, only 0 and 1 are possible.
        """
        law, target = self.law, self.target
        waiting = [state for state in self.begin if state[0] not in target]
        if not waiting:
            return 0
        if len(waiting) < len(self.begin):
            return None
        if law.everywhere and law.policy is None:
            others = {x: set(range(law.n + 1)) - {x} for x, _ in waiting}
            sure = all(not law.may_stay(g, x) and others[x] <= target for x, g in waiting)
            return 1 if sure else None
        met, open_ = set(waiting), list(waiting)
        while open_:
            state = x, g = open_.pop()
            after = set(self._next(state))
            if state in after or law.row(g, x, self.field).missing:
                return None
            fresh = {other for other in after if other[0] not in target} - met
            met |= fresh
            open_ += fresh
        away = self._distances()
        for state in met:
            for other in self._next(state):
                steps = 0 if other[0] in target else away.get(other)
                if steps is None or away.get(state) != steps + 1:
                    return None
        found = {away[state] for state in waiting}
        return found.pop() if len(found) == 1 else None

    def _distances(self) -> dict[State, int]:
        """Return the fewest steps to the target of the states that can reach it."""
        before: dict[State, list[State]] = {}
        ending: list[State] = []
        for state in self.inside:
            for other in self._next(state):
                if other[0] in self.target:
                    ending.append(state)
                else:
                    before.setdefault(other, []).append(state)
        found = dict.fromkeys(ending, 1)
        open_ = list(found)
        for state in open_:  # in the order of their distances; it grows
            for other in before.get(state, ()):
                if other not in found:
                    found[other] = found[state] + 1
                    open_.append(other)
        return found


def hopeless(law: SearchLaw, start: Mapping[int, fmpq], target: frozenset[int]) -> bool:
    """Whether no run at all reaches the target; the best actions, if any, must be known."""
    task = Task(law, start, target, Balls(64))
    with task.field.working():
        return task.doomed.issuperset(task.begin)
