"""Moments of T: from any start to any target, in rationals or in balls.

T = 0 in the target, and T = 1 + T' after a step; so the factorial moments h_k = E[C(T, k)] satisfy
h_k = b_k + P h_k with b_1 = 1 and b_(k+1) = P h_k = h_k - b_k: one system per moment, always with
the same matrix.

Balls begin with few bits and take more until the answers are narrow enough, so that certified
digits cost no thought; what is cut off of a law shrinks with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from flint import fmpq

from markov_lrsao.errors import SolverError, StateSpaceTooLargeError
from markov_lrsao.exact.fields import Balls, Rationals, SearchField, ends
from markov_lrsao.exact.moments import central_from_factorial
from markov_lrsao.memoryless.best import with_best
from markov_lrsao.memoryless.levels import by_levels, solved_by_levels
from markov_lrsao.memoryless.methods import Name, class_of, solve
from markov_lrsao.memoryless.reaching import State, Task
from markov_lrsao.model.levels import LevelLaw
from markov_lrsao.model.search_law import SearchLaw

__all__ = ["NARROW", "Found", "Limits", "hitting_time"]

_FIRST_BITS, _MOST_BITS = 96, 3 << 14
NARROW = fmpq(1, 2**64)
"""Relative width of enclosures, unless a smaller one is asked for."""


@dataclass(frozen=True)
class Limits:
    """States up to which a class is solved: all moments and the mean in rationals; in balls.

    Where levels have closed forms, the last is a number of levels.

    Beyond the second an answer is enclosed, beyond the third it is refused; dense systems are then
    solved in floats, whose enclosures are wider (`floats`).
    """

    birth_death: tuple[int, int, int] = (1_500, 3_000, 200_000)
    elitist_steps_of_one: tuple[int, int, int] = (2_000, 20_000, 200_000)
    block_tridiagonal: tuple[int, int, int] = (800, 2_100, 100_000)
    small_sizes: tuple[int, int, int] = (400, 1_000, 30_000)
    back_substitution: tuple[int, int, int] = (101, 151, 30_000)
    shared_levels: tuple[int, int, int] = (51, 71, 30_000)
    levels: tuple[int, int, int] = (1_200, 3_000, 1_000_000)
    dense: tuple[int, int, int] = (60, 60, 400)
    dense_in_floats: int = 2_000


LIMITS = Limits()


@dataclass(frozen=True)
class Found:
    """What was found.

    Attributes
    ----------
    moments : mean and central moments of T as (lower, upper); None: infinite
    method : the class's method
    states : how many states were solved
    stuck : (a state in words, probability of getting stuck) if runs can
    policy : the best actions, if the search takes them
    """

    moments: tuple[tuple[fmpq, fmpq], ...] | None
    method: str
    states: int
    stuck: tuple[str, fmpq, fmpq] | None = None
    policy: tuple[int, ...] | None = None


def hitting_time(
    law: SearchLaw,
    start: Mapping[int, fmpq],
    target: frozenset[int],
    *,
    moments: int = 2,
    exact: bool = True,
    method: Name | None = None,
    narrow: fmpq = NARROW,
) -> Found:
    """Return mean and central moments of the time to the target.

    Parameters
    ----------
    moments : how many; 1 is the mean alone
    exact : rationals where the class allows; else balls
    method : use this one rather than that of the class; "dense" takes every class
    narrow : relative width of what balls enclose, at most

    Raises
    ------
    StateSpaceTooLargeError, SolverError
    """
    law = with_best(law)
    task = Task(law, start, target, Rationals() if exact else Balls(_FIRST_BITS))
    name: Name | Literal["levels"] = class_of(task) if method is None else method
    if isinstance(law, LevelLaw) and method is None and solved_by_levels(law, target):
        name = "levels"
    most_all, most_mean, most = _limits(law, name)
    size = (law.n + 1) * law.modes
    solved = law.n + 1 if name == "levels" else size
    if name == "dense" and most < solved <= LIMITS.dense_in_floats:
        return replace(_in_floats(task, moments), policy=law.policy)
    if solved > most:
        largest = max(most, LIMITS.dense_in_floats) if name == "dense" else most
        raise StateSpaceTooLargeError(
            f"{law.search.name} is of the class solved by {name}, which takes up to {largest:,} "
            f"states; here there are {solved:,}; estimate with `simulate()`",
            advised=True,
        )
    if exact and size <= most_all:
        found = _solved(task, name, moments)
    elif exact and size <= most_mean:
        found = _solved(task, name, 1)
        if found.moments is not None and moments > 1:
            others = _narrowed(task, name, moments, narrow).moments
            assert others is not None
            found = replace(found, moments=(*found.moments, *others[1:]))
    else:
        found = _narrowed(task, name, moments, narrow)
    described = name if name == "levels" or not isinstance(law, LevelLaw) else f"levels, {name}"
    return replace(found, policy=law.policy, method=described)


def _limits(law: SearchLaw, name: str) -> tuple[int, int, int]:
    if name == "birth-death" and law.search.elitist:
        return LIMITS.elitist_steps_of_one
    if name == "back-substitution" and all(a.mutation.rate is None for a in law.search.actions):
        return LIMITS.small_sizes
    if name == "back-substitution" and len(set(law.values)) < len(law.values):
        return LIMITS.shared_levels
    limits: tuple[int, int, int] = getattr(LIMITS, name.replace("-", "_"))
    return limits


def _narrowed(task: Task, name: Name | Literal["levels"], moments: int, narrow: fmpq) -> Found:
    """Solve in balls of more and more bits, until all moments are narrow."""
    bits = _FIRST_BITS
    begun = replace(task, field=Balls(bits))
    with begun.field.working():
        certain = begun.certain
    if certain is not None:
        known = [fmpq(certain), *[fmpq(0)] * (moments - 1)]
        return Found(tuple((value, value) for value in known), name, len(begun.inside))
    while bits <= _MOST_BITS:
        try:
            found = _solved(replace(task, field=Balls(bits)), name, moments)
        except SolverError:
            found = None
        if found is not None and _narrow(found, narrow):
            return found
        bits *= 2
    raise SolverError(
        f"{task.law.search.name}: balls of {_MOST_BITS} bits do not give the digits asked for; "
        f"estimate with `simulate()`"
    )


def _in_floats(task: Task, moments: int) -> Found:
    """Solve a dense system in floats with proven errors; what is stuck is left to balls."""
    from markov_lrsao.memoryless.floats import factorial_moments

    field = Balls(_FIRST_BITS)
    task = replace(task, field=field)
    with field.working():
        if task.certain is not None or task.doomed:
            return _narrowed(task, "dense", moments, NARROW)
        found = factorial_moments(task, moments)
    exact_enough = Balls(4 * _FIRST_BITS)
    with exact_enough.working():
        balls = [exact_enough.number(low).union(exact_enough.number(high)) for low, high in found]
        central = central_from_factorial((exact_enough.number(fmpq(1)), *balls))
        return Found(tuple(ends(c) for c in central), "dense, in floats", len(task.inside))


def _narrow(found: Found, narrow: fmpq) -> bool:
    if found.moments is None:
        return True
    mean = abs(found.moments[0][1])
    wide = [high - low for low, high in found.moments]
    if len(wide) > 1 and wide[1] > narrow * abs(found.moments[1][1]):
        return False
    return all(
        width <= narrow * max(abs(high), mean ** (k + 1))
        for k, (width, (_, high)) in enumerate(zip(wide, found.moments, strict=True))
    )


def _solved(task: Task, name: Name | Literal["levels"], moments: int) -> Found:
    field = task.field
    with field.working():
        if name == "levels":
            assert isinstance(task.law, LevelLaw)
            element = by_levels(task.law, task.target, moments, field)
            central = central_from_factorial(element)
            return Found(tuple(ends(value) for value in central), name, task.law.n)
        if task.doomed:
            return _stuck(task, name)
        factorial = [field.number(fmpq(1))]
        right: dict[State, Any] = {state: field.number(fmpq(1)) for state in task.inside}
        for k in range(moments):
            times = solve(task, name, right)
            factorial.append(_average(task, times))
            if k + 1 < moments:
                right = {state: times[state] - right[state] for state in task.inside}
        central = central_from_factorial(tuple(factorial))
        bounds = tuple(ends(value) for value in central)
    return Found(bounds, name, len(task.inside))


def _average(task: Task, times: Mapping[State, Any]) -> Any:
    """Return the mean over positions and modes at the start."""
    field = task.field
    total = field.number(fmpq(0))
    for x, w in task.start.items():
        if w and x not in task.target:
            for g, v in task.law.search.start:
                total += field.number(w * v) * times[x, g]
    return total


def _stuck(task: Task, name: Name) -> Found:
    """Return an infinite answer with the probability of getting stuck."""
    field: SearchField = task.field
    doomed = task.doomed
    whole = Task(task.law, task.start, task.target, field)
    inside = task.inside - doomed
    whole.__dict__["inside"] = inside
    right = {
        (x, g): sum(
            (w for to, y, w in task.law.transitions(g, x, field) if (y, to) in doomed),
            field.number(fmpq(0)),
        )
        for x, g in inside
    }
    entered = solve(whole, name, right)
    total = field.number(fmpq(0))
    for x, w in task.start.items():
        for g, v in task.law.search.start:
            if (x, g) in doomed:
                total += field.number(w * v)
            elif (x, g) in entered:
                total += field.number(w * v) * entered[x, g]
    x, mode = min(doomed)
    words = f"{task.law.label} = {x}" + (f", mode {mode}" if task.law.modes > 1 else "")
    return Found(None, name, len(task.inside), (words, *ends(total)))
