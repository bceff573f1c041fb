"""The law of f(x_t) after a given number of steps.

The law of (position, mode) is carried forwards step by step; a run stays where it has reached the
target. What is cut off of a law (see `SearchLaw`) is at most `missing` a step, so that after t
steps no probability errs by more than t * missing; the answers are widened by that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.fields import Balls, Rationals, SearchField, ends
from markov_lrsao.memoryless.best import with_best
from markov_lrsao.memoryless.reaching import State
from markov_lrsao.model.search_law import SearchLaw

__all__ = ["Bounds", "after_steps"]

_BITS = 128
_MOST_EXACT, _MOST_BALLS = 200_000, 30_000_000
"""Products of a transition and a step: some seconds in rationals, some 15 in balls."""
Bounds: TypeAlias = tuple[fmpq, fmpq]
"""What a number lies between."""


def after_steps(
    law: SearchLaw,
    start: Mapping[int, fmpq],
    stop: frozenset[int],
    at_least: frozenset[int],
    times: Sequence[int],
    *,
    exact: bool,
) -> list[tuple[Bounds, Bounds]]:
    """Return bounds of E[f(x_t)] and of P(x_t in `at_least`) for increasing times.

    Parameters
    ----------
    stop : positions at which a run stays
    exact : rationals where they are affordable

    Raises
    ------
    StateSpaceTooLargeError
        It would take too long.
    """
    law = with_best(law)
    width = min(2 * law.reach + 1, law.n + 1)
    work = max(times, default=0) * (law.n + 1) * law.modes * width
    if exact and work <= _MOST_EXACT:
        return _carried(law, start, stop, at_least, times, Rationals())
    if not law.everywhere and work > _MOST_BALLS:
        raise StateSpaceTooLargeError(
            f"{law.search.name}: {max(times):,} steps on {law.n + 1:,} positions would take "
            f"{work:,} products, but {_MOST_BALLS:,} are allowed; estimate with `simulate()`"
        )
    return _carried(law, start, stop, at_least, times, Balls(_BITS))


def _carried(
    law: SearchLaw,
    start: Mapping[int, fmpq],
    stop: frozenset[int],
    at_least: frozenset[int],
    times: Sequence[int],
    field: SearchField,
) -> list[tuple[Bounds, Bounds]]:
    rows: dict[State, list[tuple[State, Any]]] = {}
    missing = fmpq(0)
    found = []
    with field.working():
        now = {
            (x, g): field.number(w * v)
            for x, w in start.items()
            for g, v in law.search.start
            if w * v
        }
        for before, until in pairwise([0, *times]):
            for _ in range(until - before):
                now = _step(law, now, stop, rows, field)
            if rows:
                missing = max(law.row(g, x, field).missing for x, g in rows)
            error = until * missing
            spread = max(law.values) - min(law.values)
            mean = sum(
                (p * field.number(law.values[x]) for (x, _), p in now.items()),
                field.number(fmpq(0)),
            )
            chance = sum((p for (x, _), p in now.items() if x in at_least), field.number(fmpq(0)))
            found.append((_wider(mean, error * spread), _wider(chance, error)))
    return found


def _step(
    law: SearchLaw,
    now: Mapping[State, Any],
    stop: frozenset[int],
    rows: dict[State, list[tuple[State, Any]]],
    field: SearchField,
) -> dict[State, Any]:
    after: dict[State, Any] = {}
    for state, probability in now.items():
        x, g = state
        if x in stop:
            after[state] = after[state] + probability if state in after else probability
            continue
        row = rows.get(state)
        if row is None:
            row = rows[state] = [
                ((y, to), w) for to, y, w in law.transitions(g, x, field) if w != 0
            ]
        for other, w in row:
            part = probability * w
            after[other] = after[other] + part if other in after else part
    return after


def _wider(number: Any, error: fmpq) -> Bounds:
    low, high = ends(number)
    return low - error, high + error
