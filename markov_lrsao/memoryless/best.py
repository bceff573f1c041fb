"""The best action at every position, for searches that never lose: dynamic programming.

From the best position downwards, h(x) = min over actions a of (1 + sum over y of P_a(x, y) h(y)) /
P_a(leave x): what follows is already known, so the action of x is the best against it. "drift"
takes the largest expected gain instead; it needs no h. Where positions share a value, what follows
is not known yet: `shared_best`. Ties go to the later action. On LeadingOnes
what follows an improvement does not depend on the action, so both take the likeliest improvement.

Comparisons are made in floats with bounds of their errors first, where there are many actions
(`kernels.rivals`), then in balls, and where these overlap, in exact fractions. So none is guessed.
"""

from __future__ import annotations

from math import lcm, lgamma
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq

from markov_lrsao.errors import ParameterError, UndecidedComparisonError
from markov_lrsao.exact.fields import Balls, Rationals, SearchField
from markov_lrsao.memoryless.rates import best_rates
from markov_lrsao.memoryless.shared_best import shared_policy
from markov_lrsao.model.levels import LevelLaw
from markov_lrsao.model.search_law import Row, SearchLaw

__all__ = ["best_policy", "with_best"]

Number: TypeAlias = Any
_BITS = 256
_RATIONALS = Rationals()
_FEW = 24
"""Up to so many actions are compared without compiled loops."""
_LARGEST_EXACT = 400
_LARGEST_FLOAT = 2**52


def with_best(law: SearchLaw) -> SearchLaw:
    """Return the law with the best actions, if its search takes them; else the law itself."""
    if law.search.best is None or law.policy is not None:
        return law
    if law.search.least is not None:
        _check(law)
        if _shares(law):
            raise ParameterError(
                f"{law.search.name}: positions with the same value of the target need one rate "
                f"for all of them; the best rates are found where all values differ"
            )
        return best_rates(law)
    return law.with_policy(best_policy(law))


def best_policy(law: SearchLaw) -> tuple[int, ...]:
    """Return the best action of every position.

    Raises
    ------
    ParameterError
        The search may lose, or no action leaves a position.
    UndecidedComparisonError
        Two actions are too close for balls, and too large for fractions.
    """
    _check(law)
    if isinstance(law, LevelLaw):
        return _likeliest(law)
    if law.search.best == "time" and _shares(law):
        return shared_policy(law)
    return _Choice(law).policy()


def _shares(law: SearchLaw) -> bool:
    """Whether positions have the same value of the target."""
    return len(set(law.values)) < len(law.values)


def _check(law: SearchLaw) -> None:
    """Refuse searches for which dynamic programming would be wrong."""
    search = law.search
    if not search.elitist:
        raise ParameterError(f"{search.name}: the best action is found for elitist searches only")


def _likeliest(law: LevelLaw) -> tuple[int, ...]:
    """Return for every level the action that most likely leaves it."""
    n, actions = law.n, law.search.actions
    sizes = None
    if all(len(action.mutation.sizes) == 1 for action in actions):
        sizes = np.array([action.mutation.sizes[0][0] for action in actions])
        logs = np.array([lgamma(i + 1) for i in range(n + 1)])
        whole = logs[n] - logs[sizes] - logs[n - sizes]
    found = []
    for level in range(n):
        shown = np.arange(len(actions))
        if sizes is not None:  # C(n-i-1, k-1) / C(n, k); the errors are far below the margin
            zeros = n - level
            fits = np.flatnonzero(sizes <= zeros)
            near = np.full(len(actions), -np.inf)
            k = sizes[fits]
            near[fits] = logs[zeros - 1] - logs[k - 1] - logs[zeros - k] - whole[fits]
            shown = np.flatnonzero(near >= near.max() - 1e-9 - 1e-13 * logs[n])
        chances = {a: law.improving(actions[a].mutation, level) for a in shown.tolist()}
        best = max(chances, key=lambda a: (chances[a], a))
        if not chances[best]:
            raise _stuck(law, level)
        found.append(best)
    return (*found, 0)


def _stuck(law: SearchLaw, x: int) -> ParameterError:
    return ParameterError(f"no action leaves {law.label} = {x}; add one that does, e.g. k = 1")


class _Choice:
    def __init__(self, law: SearchLaw) -> None:
        self.law, self.field = law, Balls(_BITS)
        self.order = sorted(range(law.n + 1), key=lambda x: law.values[x], reverse=True)
        self.rivals = _rivals(law, self.order)
        self.times: dict[int, Number] = {}
        self.exact_times: dict[int, fmpq] = {}
        self.chosen: dict[int, int] = {}

    def policy(self) -> tuple[int, ...]:
        if self.rivals is not None and all(len(some) == 1 for some in self.rivals.values()):
            return tuple(self.rivals[x][0] for x in range(self.law.n + 1))
        with self.field.working():
            for x in self.order:
                self.chosen[x] = self._best(x)
        return tuple(self.chosen[x] for x in range(self.law.n + 1))

    def _best(self, x: int) -> int:
        search = self.law.search
        if x == self.order[0]:
            self.times[x] = self.field.number(fmpq(0))
            return 0
        shown = range(len(search.actions)) if self.rivals is None else self.rivals[x]
        if search.best == "drift" and len(shown) == 1:
            return shown[0]
        rows = {a: row for a in shown if (row := self.law.action_row(a, x, self.field)).moves}
        if not rows:
            raise _stuck(self.law, x)
        if search.best == "drift":
            return self._steepest(x, rows)
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
        if len(rivals) == 1:
            return likely
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
        if self.law.n > _LARGEST_EXACT:
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


def _rivals(law: SearchLaw, order: list[int]) -> dict[int, list[int]] | None:
    """Return the actions of every position that floats leave in the race; None: not looked at."""
    actions = law.search.actions
    scale = lcm(*(int(v.q) for v in law.values))
    values = [int(v * scale) for v in law.values]
    if (
        len(actions) <= _FEW
        or any(len(a.mutation.sizes) != 1 or a.acceptance != actions[0].acceptance for a in actions)
        or max(map(abs, values)) > _LARGEST_FLOAT
    ):
        return None
    from markov_lrsao.memoryless.kernels.rivals import MOST, by_drift, by_time

    sizes = np.array([a.mutation.sizes[0][0] for a in actions], dtype=np.int64)
    found = np.zeros((law.n + 1, MOST), dtype=np.int64)
    counts = np.ones(law.n + 1, dtype=np.int64)
    look = by_time if law.search.best == "time" else by_drift
    look(law.n, np.array(order), np.array(values, dtype=np.float64), sizes, found, counts)
    for x in order[1:]:
        if not counts[x]:
            raise _stuck(law, x)
    every = list(range(len(actions)))
    return {
        x: every if counts[x] > MOST else found[x, : counts[x]].tolist() for x in range(law.n + 1)
    }


def _time(row: Row, times: dict[int, Number], field: SearchField) -> Number:
    total, leave = field.number(fmpq(1)), field.number(fmpq(0))
    for y, w in row.moves:
        leave += w
        total += w * times[y]
    if row.missing:
        raise ParameterError("the best action is found for mutations of given sizes only")
    return total / leave
