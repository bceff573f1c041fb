"""The best action at every position where positions share a value of the target.

A search that never loses walks among the positions of one value before it finds a better one, so
their actions depend on each other. Within such a level Howard's policy iteration: from actions that
surely leave the level, solve h(x) = (1 + sum over y of P_a(x, y) h(y)) / P_a(leave x), then take an
action with a smaller right side wherever there is one; when there is none, h is the smallest
possible. Every action that attains it is as good (costs are positive, so no choice among these
stays for ever); ties go to the later one.

Comparisons are made in balls, and where these overlap everything is done in fractions.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any, TypeAlias

from flint import fmpq

from markov_lrsao.errors import ParameterError, UndecidedComparisonError
from markov_lrsao.exact.fields import Balls, Rationals, SearchField
from markov_lrsao.model.search_law import Row, SearchLaw

__all__ = ["shared_policy"]

Number: TypeAlias = Any
Rows: TypeAlias = dict[int, dict[int, Row]]
"""Position -> action -> what it does, for actions that do something."""
_BITS = 256
_LARGEST_EXACT = 60


def shared_policy(law: SearchLaw) -> tuple[int, ...]:
    """Return the action of every position that minimises the expected time.

    Raises
    ------
    ParameterError
        From some position no better one can be reached.
    UndecidedComparisonError
        Two actions are too close for balls, and n is too large for fractions.
    """
    field = Balls(_BITS)
    try:
        with field.working():
            return _Levels(law, field).policy()
    except UndecidedComparisonError:
        if law.n > _LARGEST_EXACT:
            raise
    return _Levels(law, Rationals()).policy()


class _Levels:
    def __init__(self, law: SearchLaw, field: SearchField) -> None:
        self.law, self.field = law, field
        self.times: dict[int, Number] = {}
        self.chosen: dict[int, int] = {}

    def policy(self) -> tuple[int, ...]:
        values = self.law.values
        order = sorted(range(self.law.n + 1), key=lambda x: values[x], reverse=True)
        for value, level in groupby(order, key=lambda x: values[x]):
            xs = list(level)
            if value == values[order[0]]:
                self.times |= {x: self.field.number(fmpq(0)) for x in xs}
                self.chosen |= dict.fromkeys(xs, 0)
            else:
                self._settle(xs)
        return tuple(self.chosen[x] for x in range(self.law.n + 1))

    def _settle(self, xs: list[int]) -> None:
        """Find the best actions of a level, those of better ones being known."""
        count = len(self.law.search.actions)
        rows: Rows = {
            x: {
                a: row for a in range(count) if (row := self.law.action_row(a, x, self.field)).moves
            }
            for x in xs
        }
        policy = self._leaving(rows)
        while True:
            self.times |= self._evaluated(rows, policy)
            better = {x: self._better(rows[x], policy[x]) for x in xs}
            if better == policy:
                break
            policy = better
        self.chosen |= {x: self._last_best(rows[x], policy[x]) for x in xs}

    def _leaving(self, rows: Rows) -> dict[int, int]:
        """Return actions that leave the level with probability 1, sooner or later."""
        policy: dict[int, int] = {}
        known = set(self.times)
        while len(policy) < len(rows):
            found = {
                x: a
                for x, choices in rows.items()
                if x not in policy
                for a, row in choices.items()
                if any(y in known for y, _ in row.moves)
            }
            if not found:
                x = min(x for x in rows if x not in policy)
                raise ParameterError(
                    f"no action leaves {self.law.label} = {x}; add one that does, e.g. k = 1"
                )
            policy |= found
            known |= set(found)
        return policy

    def _evaluated(self, rows: Rows, policy: dict[int, int]) -> dict[int, Number]:
        """Solve for the expected times of a policy of the level."""
        xs = sorted(rows)
        zero, one = self.field.number(fmpq(0)), self.field.number(fmpq(1))
        matrix = [[zero] * len(xs) for _ in xs]
        side = [[one] for _ in xs]
        for i, x in enumerate(xs):
            for y, w in rows[x][policy[x]].moves:
                matrix[i][i] += w
                if y in rows:
                    matrix[i][xs.index(y)] -= w
                else:
                    side[i][0] += w * self.times[y]
        return {x: line[0] for x, line in zip(xs, self.field.solve(matrix, side), strict=True)}

    def _time(self, row: Row) -> Number:
        total, leave = self.field.number(fmpq(1)), self.field.number(fmpq(0))
        for y, w in row.moves:
            leave += w
            total += w * self.times[y]
        return total / leave

    def _better(self, choices: dict[int, Row], now: int) -> int:
        """Return an action that is certainly better than the present one, or that one."""
        best, least = now, self._time(choices[now])
        for a, row in choices.items():
            time = self._time(row)
            if time < least:
                best, least = a, time
        return best

    def _last_best(self, choices: dict[int, Row], now: int) -> int:
        """Return the last of the best actions.

        Raises
        ------
        UndecidedComparisonError
            Balls do not tell which are.
        """
        least = self._time(choices[now])
        rivals = [a for a, row in choices.items() if not least < self._time(row)]
        if len(rivals) > 1 and not self.field.exact:
            raise UndecidedComparisonError(
                f"two actions are equal to {_BITS} bits, and their fractions are too large at n = "
                f"{self.law.n}; take a smaller n or fewer actions"
            )
        return max(rivals)
