"""Fixed budgets: E[f(x_t)] and P(f(x_t) >= a) after t steps, for searches that do not learn.

>>> from markov_lrsao.model.algorithm import Algorithm
>>> from markov_lrsao.model.landscape import Landscape
>>> found = fixed_budget(Landscape.onemax(10), Algorithm.named("rls"), [1, 10])
>>> [str(point.mean) for point in found.points]
['1', '6513215599/1000000000']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markov_lrsao.answers.searches import (
    Start,
    enclosed_or_float,
    positions_at_least,
    search_law,
    start_law,
)
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import RationalLike, integer, rational_text
from markov_lrsao.memoryless.budgets import after_steps
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.search import Search
from markov_lrsao.tables import table

__all__ = ["Budget", "BudgetResult", "fixed_budget"]


@dataclass(frozen=True)
class Budget:
    """What is known after `steps` steps: E[f(x_t)], and P(f(x_t) >= a)."""

    steps: int
    mean: Quantity
    reached: Quantity


@dataclass(frozen=True)
class BudgetResult:
    """The fixed-budget results of one instance; a run that has ended stays where it is."""

    landscape: str
    algorithm: str
    n: int
    at_least: str
    points: tuple[Budget, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "landscape": self.landscape,
            "algorithm": self.algorithm,
            "n": self.n,
            "at_least": self.at_least,
            "budgets": [
                {"steps": p.steps, "mean": p.mean.to_dict(), "reached": p.reached.to_dict()}
                for p in self.points
            ],
        }

    def __str__(self) -> str:
        """Return a table for people."""
        rows = [[f"{p.steps:,}", p.mean.cells[0], p.reached.cells[0]] for p in self.points]
        head = f"{self.algorithm} on {self.landscape}, n = {self.n}"
        return f"{head}\n\n{table(['steps', 'E[f(x_t)]', f'P(f(x_t) >= {self.at_least})'], rows)}"


def fixed_budget(
    landscape: Landscape | LeadingOnes,
    algorithm: Search | NamedAlgorithm,
    steps: Sequence[int],
    *,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    field: Literal["exact", "float"] = "exact",
) -> BudgetResult:
    """Return E[f(x_t)] and P(f(x_t) >= `at_least`) for every t of `steps`.

    Parameters
    ----------
    start : "zero" (default), "random", a position, or position -> probability
    at_least : default: the largest value, so that P(T <= t) is returned
    field : "float": balls, rounded to floats with a bound of their error

    Raises
    ------
    ParameterError
        The algorithm learns, or a number of steps is negative.
    StateSpaceTooLargeError
        It would take too long.
    """
    chosen = algorithm.on(landscape) if isinstance(algorithm, NamedAlgorithm) else algorithm
    if not isinstance(chosen, Search):
        raise ParameterError(
            f"{chosen.name} learns: fixed budgets are computed for searches that do not; estimate "
            f"with `simulate()`"
        )
    times = sorted({integer(t, "steps") for t in steps})
    if not times or times[0] < 0:
        raise ParameterError(f"steps = {list(steps)} must be numbers of steps >= 0")
    law = search_law(landscape, chosen)
    best, good = positions_at_least(law, None), positions_at_least(law, at_least)
    found = after_steps(law, start_law(law, start), best, good, times, exact=field == "exact")
    least = min(law.values[x] for x in good)
    return BudgetResult(
        landscape=landscape.name,
        algorithm=chosen.name,
        n=landscape.n,
        at_least=rational_text(least) if at_least is None else str(at_least),
        points=tuple(
            Budget(t, enclosed_or_float(mean, field), enclosed_or_float(chance, field))
            for t, (mean, chance) in zip(times, found, strict=True)
        ),
    )
