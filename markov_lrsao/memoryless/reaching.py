"""Which states of a search matter: those that a run can meet before its target.

If one of them cannot reach the target, runs get stuck with positive probability and E[T] is
infinite; `Task.doomed` are those states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from flint import fmpq

from markov_lrsao.exact.fields import SearchField
from markov_lrsao.model.search_law import SearchLaw

__all__ = ["State", "Task"]

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
        """Return the states that can follow, without probabilities."""
        x, mode = state
        law, search = self.law, self.law.search
        if search.switch_first:
            for g, _ in law.switch(mode).otherwise:
                yield x, g  # a state that every path through the mode's moves shares
                for y, _ in law.row(g, x, self.field).moves:
                    yield y, g
            return
        switch = law.switch(mode)
        for y, _ in law.row(mode, x, self.field).moves:
            better = law.values[y] > law.values[x]
            for g, _ in switch.better if better else switch.otherwise:
                yield y, g
        for g, _ in switch.otherwise:
            yield x, g

    @cached_property
    def inside(self) -> frozenset[State]:
        """The states that runs meet before the target."""
        if self.law.everywhere:
            best = {x for x in range(self.law.n + 1) if x not in self.target}
            return frozenset((x, g) for x in best for g in range(self.law.modes))
        begin = [
            (x, g)
            for x, w in self.start.items()
            if w and x not in self.target
            for g, v in self.law.search.start
            if v
        ]
        found, open_ = set(begin), begin
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
        before: dict[State, list[State]] = {}
        ending: list[State] = []
        for state in self.inside:
            for other in self._next(state):
                if other[0] in self.target:
                    ending.append(state)
                else:
                    before.setdefault(other, []).append(state)
        safe = _closure(ending, before)
        return self.inside - safe


def _closure(begin: Iterable[State], before: Mapping[State, Collection[State]]) -> set[State]:
    found = set(begin)
    open_ = list(found)
    while open_:
        for state in before.get(open_.pop(), ()):
            if state not in found:
                found.add(state)
                open_.append(state)
    return found
