"""The best action at every position, for searches that never lose: dynamic programming.

From the best position downwards, h(x) = min over actions a of (1 + sum over y of P_a(x, y) h(y)) /
P_a(leave x): what follows is already known, so the action of x is the best against it. "drift"
takes the largest expected gain instead; it needs no h. Ties go to the later action.

Comparisons are made in balls; where these overlap, in exact fractions. So they are never guessed.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from flint import fmpq

from markov_lrsao.errors import ParameterError, UndecidedComparisonError
from markov_lrsao.exact.fields import Balls, Rationals, SearchField
from markov_lrsao.model.search_law import Row, SearchLaw

__all__ = ["best_policy"]

Number: TypeAlias = Any
_BITS = 256
_RATIONALS = Rationals()


def best_policy(law: SearchLaw) -> tuple[int, ...]:
    """Return the best action of every position.

    Raises
    ------
    ParameterError
        The search may lose, or positions of equal value can be exchanged for each other.
    UndecidedComparisonError
        Two actions are too close for balls, and too large for fractions.
    """
    search = law.search
    if not search.elitist:
        raise ParameterError(f"{search.name}: the best action is found for elitist searches only")
    distinct = len(set(law.values)) == len(law.values)
    if not distinct:
        raise ParameterError(
            f"{search.name}: positions with the same value of the target need one action for "
            f"all of them; the best actions are found where all values differ"
        )
    return _Choice(law).policy()


class _Choice:
    def __init__(self, law: SearchLaw) -> None:
        self.law, self.field = law, Balls(_BITS)
        self.order = sorted(range(law.n + 1), key=lambda x: law.values[x], reverse=True)
        self.times: dict[int, Number] = {}
        self.exact_times: dict[int, fmpq] = {}
        self.chosen: dict[int, int] = {}

    def policy(self) -> tuple[int, ...]:
        with self.field.working():
            for x in self.order:
                self.chosen[x] = self._best(x)
        return tuple(self.chosen[x] for x in range(self.law.n + 1))

    def _best(self, x: int) -> int:
        search = self.law.search
        if x == self.order[0]:
            self.times[x] = self.field.number(fmpq(0))
            return 0
        rows = {
            a: row
            for a in range(len(search.actions))
            if (row := self.law.action_row(a, x, self.field)).moves
        }
        if not rows:
            raise ParameterError(
                f"no action leaves {self.law.label} = {x}; add one that does, e.g. k = 1"
            )
        if search.best == "drift":
            best = self._steepest(x, rows)
        else:
            best = self._fastest(x, rows)
        self.times[x] = _time(rows[best], self.times, self.field)
        return best

    def _steepest(self, x: int, rows: dict[int, Row]) -> int:
        """Return the action with the largest expected gain."""
        values, number = self.law.values, self.field.number
        drifts = {
            a: sum((w * number(values[y] - values[x]) for y, w in row.moves), number(fmpq(0)))
            for a, row in rows.items()
        }
        likely = max(drifts, key=lambda a: float(drifts[a].mid()))
        rivals = [a for a in drifts if not drifts[a] < drifts[likely]]
        return max(rivals, key=lambda a: (self._drift(a, x), a))

    def _drift(self, action: int, x: int) -> fmpq:
        """Return the expected gain, exactly."""
        row = self.law.action_row(action, x, _RATIONALS)
        values = self.law.values
        return sum((w * (values[y] - values[x]) for y, w in row.moves), fmpq(0))

    def _fastest(self, x: int, rows: dict[int, Row]) -> int:
        times = {a: _time(row, self.times, self.field) for a, row in rows.items()}
        likely = min(times, key=lambda a: float(times[a].mid()))
        rivals = [a for a in times if not times[a] > times[likely]]
        if len(rivals) == 1:
            return likely
        known = {a: self._exact(a, x) for a in rivals}
        return max(rivals, key=lambda a: (-known[a], a))

    def _exact(self, action: int, x: int) -> fmpq:
        """Return the time of an action at x in fractions, those of what follows first."""
        if self.law.n > 400:
            raise UndecidedComparisonError(
                f"two actions at {self.law.label} = {x} are equal to {_BITS} bits, and their "
                f"fractions are too large at n = {self.law.n}; take a smaller n or fewer actions"
            )
        for y in self.order:
            if y == x:
                break
            if y not in self.exact_times:
                row = self.law.action_row(self.chosen[y], y, _RATIONALS)
                self.exact_times[y] = (
                    fmpq(0) if y == self.order[0] else _time(row, self.exact_times, _RATIONALS)
                )
        return fmpq(_time(self.law.action_row(action, x, _RATIONALS), self.exact_times, _RATIONALS))


def _time(row: Row, times: dict[int, Number], field: SearchField) -> Number:
    total, leave = field.number(fmpq(1)), field.number(fmpq(0))
    for y, w in row.moves:
        leave += w
        total += w * times[y]
    if row.missing:
        raise ParameterError("the best action is found for mutations of given sizes only")
    return total / leave
