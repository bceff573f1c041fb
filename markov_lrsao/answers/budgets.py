"""Fixed budgets: E[f(x_t)] and P(f(x_t) >= a) after t steps.

Searches that do not learn have their law on (position, mode), agents that do the joint chain of all
(position, patterns), which small instances have. Both are carried forwards step by step. Where no
pattern decides a choice, and where agents explore, all tables of Q-values are, for few steps; for
more of them the likeliest, and what is left out makes an enclosure.

>>> from markov_lrsao.model.algorithm import Algorithm
>>> from markov_lrsao.model.landscape import Landscape
>>> found = fixed_budget(Landscape.onemax(10), Algorithm.named("rls"), [1, 10])
>>> [str(point.mean) for point in found.points]
['1', '6513215599/1000000000']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from flint import fmpq

from markov_lrsao.answers.asked_laws import joint_forwards
from markov_lrsao.answers.expected import check_hypothesis, check_learner
from markov_lrsao.answers.forward_law import budgets_forward
from markov_lrsao.answers.learners import begin_and_end, joint_between
from markov_lrsao.answers.plan import Options
from markov_lrsao.answers.searches import (
    Start,
    enclosed_or_float,
    positions_at_least,
    search_law,
    start_law,
)
from markov_lrsao.answers.table_budgets import by_tables
from markov_lrsao.errors import (
    ParameterError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
)
from markov_lrsao.exact.quantity import Enclosed, Quantity
from markov_lrsao.exact.rationals import RationalLike, integer, rational_text, to_float
from markov_lrsao.joint.enumeration import JointChain
from markov_lrsao.memoryless.budgets import Bounds, after_steps
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.tables import table

__all__ = ["Budget", "BudgetResult", "fixed_budget"]

_ZERO = fmpq(0)
_MOST_EXACT, _MOST_FLOAT = 300_000, 4_000_000_000
"""Products of a transition and a step: some seconds in rationals, some ten in floats."""


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
        rows = [[f"{p.steps:,}", _shown(p.mean), _shown(p.reached)] for p in self.points]
        head = f"{self.algorithm} on {self.landscape}, n = {self.n}"
        return f"{head}\n\n{table(['steps', 'E[f(x_t)]', f'P(f(x_t) >= {self.at_least})'], rows)}"


def _shown(quantity: Quantity) -> str:
    """Return the digits of a number, or both ends of an enclosure."""
    return quantity.cells[1 if isinstance(quantity, Enclosed) else 0]


def fixed_budget(
    landscape: Landscape | LeadingOnes,
    algorithm: Algorithm | AlgorithmFamily | Search | NamedAlgorithm,
    steps: Sequence[int],
    *,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    field: Literal["exact", "float"] = "exact",
    outside_h: bool = False,
    progress: Progress = no_progress,
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
        A number of steps is negative, or (H) does not hold and `outside_h` does not allow that.
    StateSpaceTooLargeError
        It would take too long; of agents whose choices patterns do not decide, beyond some steps.
    """
    chosen = algorithm.on(landscape) if isinstance(algorithm, NamedAlgorithm) else algorithm
    times = sorted({integer(t, "steps") for t in steps})
    if not times or times[0] < 0:
        raise ParameterError(f"steps = {list(steps)} must be numbers of steps >= 0")
    if isinstance(chosen, Search):
        law = search_law(landscape, chosen)
        values: Sequence[fmpq] = law.values
        best, good = positions_at_least(law, None), positions_at_least(law, at_least)
        found = after_steps(law, start_law(law, start), best, good, times, exact=field == "exact")
        name = chosen.name
    else:
        check_learner(landscape, chosen)
        assert isinstance(landscape, Landscape)
        step: StepLaw | JumpingLaw
        if isinstance(chosen, Algorithm) and chosen.rate is not None:
            step = JumpingLaw.of(landscape, chosen)
        else:
            step = StepLaw.of(landscape, chosen)
        check_hypothesis(landscape, step.algorithm, outside_h=outside_h)
        values = [landscape.value(landscape.target, p) for p in range(landscape.n + 1)]
        good = positions_at_least(values, at_least)
        options = Options(field=field, progress=progress)
        found = _of_learner(step, start, values, good, times, options)
        name = step.algorithm.name
    least = min(values[x] for x in good)
    return BudgetResult(
        landscape=landscape.name,
        algorithm=name,
        n=landscape.n,
        at_least=rational_text(least) if at_least is None else str(at_least),
        points=tuple(
            Budget(t, enclosed_or_float(mean, field), enclosed_or_float(chance, field))
            for t, (mean, chance) in zip(times, found, strict=True)
        ),
    )


def _of_learner(
    law: StepLaw | JumpingLaw,
    start: Start | None,
    values: Sequence[fmpq],
    good: frozenset[int],
    times: Sequence[int],
    options: Options,
) -> list[tuple[Bounds, Bounds]]:
    """Carry the joint chain forwards, in fractions where that is little work, else in floats."""
    begin, _ = begin_and_end(law, start, None)
    if isinstance(law, JumpingLaw) or law.algorithm.epsilon != 0:
        return _of_tables(law, begin, values, good, times, options.progress)
    try:
        joint = joint_between(law, begin, frozenset((law.optimum,)), options)
    except UndecidedComparisonError:
        return _of_tables(law, begin, values, good, times, options.progress)
    found: list[tuple[Bounds, Bounds]] = []
    if options.field == "exact":
        found = _in_fractions(joint, begin, values, good, times)
    if len(found) < len(times):
        found += _in_floats(joint, begin, values, good, times)[len(found) :]
    return found


def _of_tables(
    law: StepLaw | JumpingLaw,
    begin: Mapping[int, fmpq],
    values: Sequence[fmpq],
    good: frozenset[int],
    times: Sequence[int],
    progress: Progress,
) -> list[tuple[Bounds, Bounds]]:
    """Follow all tables in fractions; when they become too many, the likeliest in intervals."""
    found = by_tables(law, begin, values, good, times, progress)
    if len(found) < len(times):
        enclosed = budgets_forward(law, begin, values, good, times, progress)
        found += enclosed[len(found) :]
    return found


def _in_fractions(
    joint: JointChain,
    begin: Mapping[int, fmpq],
    values: Sequence[fmpq],
    good: frozenset[int],
    times: Sequence[int],
) -> list[tuple[Bounds, Bounds]]:
    """Return what is known for the first times, as far as fractions are affordable."""
    chain, work = joint.chain, 0
    positions = chain.positions.tolist()
    rows: dict[int, list[tuple[int, fmpq]]] = {}
    now = {int(s): begin[int(chain.positions[s])] for s in chain.start}
    found: list[tuple[Bounds, Bounds]] = []
    for before, until in pairwise([0, *times]):
        for _ in range(until - before):
            after: dict[int, fmpq] = {}
            for state, weight in now.items():
                if state not in rows:
                    rows[state] = chain.row(state)
                for to, chance in rows[state]:
                    after[to] = after.get(to, _ZERO) + weight * chance
                work += len(rows[state])
            now = after
            if work > _MOST_EXACT:
                return found
        mean = sum((w * values[positions[s]] for s, w in now.items()), _ZERO)
        reached = sum((w for s, w in now.items() if positions[s] in good), _ZERO)
        found.append(((mean, mean), (reached, reached)))
    return found


def _in_floats(
    joint: JointChain,
    begin: Mapping[int, fmpq],
    values: Sequence[fmpq],
    good: frozenset[int],
    times: Sequence[int],
) -> list[tuple[Bounds, Bounds]]:
    chain = joint.chain
    if times[-1] * chain.transitions > _MOST_FLOAT:
        raise StateSpaceTooLargeError(
            f"{joint.law.algorithm.name}: {times[-1]:,} steps on {chain.size:,} states are too "
            f"many; estimate with `simulate()`"
        )
    forwards = joint_forwards(joint, begin, frozenset((joint.law.optimum,)))
    worth = np.array([to_float(values[p]) for p in chain.positions.tolist()])
    inside = np.isin(chain.positions, sorted(good)).astype(float)
    largest = max(abs(v) for v in values)
    vector = forwards.begin
    found: list[tuple[Bounds, Bounds]] = []
    for before, until in pairwise([0, *times]):
        for _ in range(until - before):
            vector = forwards.matrix @ vector
        # Every probability has a relative error of at most this; the sums add as much again.
        error = _exactly(2 * forwards.error(until))
        mean, reached = _exactly(float(vector @ worth)), _exactly(float(vector @ inside))
        slack = error * largest
        found.append(
            (
                (mean - slack, mean + slack),
                (max(_ZERO, reached - error), min(fmpq(1), reached + error)),
            )
        )
    return found


def _exactly(number: float) -> fmpq:
    return fmpq(*number.as_integer_ratio())
