"""The best rate of standard bit mutation at every position, for searches that never lose.

As in `markov_lrsao.memoryless.best`, from the best position downwards; only that the action is a
real number, so that it is found by a search in floats: a grid of rates, then Brent's method between
the neighbours of the best. Rates become rationals of twelve digits. E[T] of a search with these
rates is as exact as any other; that no rates are better is not proved. On LeadingOnes p (1-p)^i is
largest at p = 1/(i+1), exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.rationals import rational, to_float
from markov_lrsao.model.levels import LevelLaw
from markov_lrsao.model.search import Action, Mutation, Search
from markov_lrsao.model.search_law import SearchLaw

__all__ = ["best_rates"]

FloatArray = npt.NDArray[np.float64]
_GRID = 40
_DIGITS = 12
_NEGLIGIBLE = 1e-25


def best_rates(law: SearchLaw) -> SearchLaw:
    """Return the law of the search that has the best rate at every position."""
    positive = law.search.actions[0].mutation.positive
    rates = _of_levels(law) if isinstance(law, LevelLaw) else _Descent(law, positive).rates()
    actions = [Action(Mutation.at_rate(p, law.n, positive=positive)) for p in rates]
    search = Search.by_position(law.search.name, actions)
    return type(law)(search, law.n, law.values, law.objectives, search.table)


def _of_levels(law: LevelLaw) -> list[fmpq]:
    """Return for every level the rate at which it is most likely left."""
    least = law.search.least
    assert least is not None
    if not law.search.actions[0].mutation.positive:
        return [max(fmpq(1, i + 1), least) for i in range(law.n)] + [fmpq(1)]

    def leave(i: int) -> Callable[[float], float]:
        return lambda p: -p * (1 - p) ** i / -np.expm1(law.n * np.log1p(-p)) if p < 1 else 0.0

    low = max(to_float(least), 1e-9)
    return [_minimum(leave(i), low) if i else fmpq(1) for i in range(law.n)] + [fmpq(1)]


class _Descent:
    """Expected times, or gains, in floats, from the best position downwards."""

    def __init__(self, law: SearchLaw, positive: bool) -> None:
        self.law, self.positive = law, positive
        self.values = np.array([to_float(v) for v in law.values])
        self.times = np.zeros(law.n + 1)

    def rates(self) -> list[fmpq]:
        law, search = self.law, self.law.search
        assert search.least is not None
        low = max(to_float(search.least), 1e-3 / law.n**2)
        order = sorted(range(law.n + 1), key=lambda x: law.values[x], reverse=True)
        found = {order[0]: fmpq(1)}
        for x in order[1:]:
            time, gain = self._at(x)
            found[x] = _minimum(time if search.best == "time" else gain, low)
            self.times[x] = time(to_float(found[x]))
        return [found[x] for x in range(law.n + 1)]

    def _at(self, x: int) -> tuple[Callable[[float], float], Callable[[float], float]]:
        """Return the expected time at x, and minus the expected gain, over the rate."""
        n = self.law.n
        gains = self.values - self.values[x]
        better = gains > 0

        def law(rate: float) -> FloatArray:
            if rate >= 1.0:
                only = np.zeros(n + 1)
                only[n - x] = 1.0
                return only
            lost, first = _binomial(x, rate)
            won, begin = _binomial(n - x, rate)
            both = np.convolve(won, lost[::-1])  # |y| = x - lost + won
            found = np.zeros(n + 1)
            low = x + begin - (first + len(lost) - 1)
            found[low : low + len(both)] = both
            if self.positive:
                found /= -np.expm1(n * np.log1p(-rate))
            return found

        def time(rate: float) -> float:
            chances = law(rate)[better]
            leave = float(chances.sum())
            return (1 + float(chances @ self.times[better])) / leave if leave > 0 else np.inf

        def gain(rate: float) -> float:
            return -float(law(rate)[better] @ gains[better])

        return time, gain


def _binomial(count: int, rate: float) -> tuple[FloatArray, int]:
    """Return the probabilities of a binomial law that are not negligible, and the first of them."""
    from scipy.stats import binom

    low = int(binom.ppf(_NEGLIGIBLE, count, rate)) if count else 0
    high = int(binom.isf(_NEGLIGIBLE, count, rate)) if count else 0
    return np.asarray(binom.pmf(np.arange(low, high + 1), count, rate)), low


def _minimum(function: Callable[[float], float], low: float) -> fmpq:
    """Return a rate between `low` and 1 at which a function is small."""
    from scipy.optimize import minimize_scalar

    grid = np.append(np.geomspace(low, 0.999, _GRID), 1.0)
    known = np.array([function(p) for p in grid])
    best = int(np.argmin(known))
    if best == len(grid) - 1:
        return fmpq(1)
    ends = np.log(grid[max(best - 1, 0)]), np.log(grid[min(best + 1, len(grid) - 2)])
    found = minimize_scalar(
        lambda u: function(float(np.exp(u))), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    rate = float(np.exp(found.x)) if found.fun < known[best] else float(grid[best])
    return rational(f"{rate:.{_DIGITS}g}", "rate")
