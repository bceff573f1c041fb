"""The law of T, and fixed budgets, from tables that are carried forwards with their probabilities.

For agents whose choices nothing else decides (`markov_lrsao.forward`): small instances, or few
steps. What was lost on the way is part of the error, so that where much is, little is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import inf
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.accounts import Account, Signs, account_of, signs_of
from markov_lrsao.answers.laws import Powers
from markov_lrsao.errors import Refused, StateSpaceTooLargeError
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Infinite, Quantity, Trap
from markov_lrsao.forward.law import Moment, carry, most_tables
from markov_lrsao.forward.ledger import Ledger
from markov_lrsao.forward.model import Law, arrays_of
from markov_lrsao.memoryless.budgets import Bounds
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress

__all__ = ["Forward", "budgets_forward", "law_forward", "trap_forward"]

_FINE = (4.0, 16.0, 64.0)
_GROUNDED_FINE, _FINEST = 64.0, 4096.0
_COARSE, _FEW = 2.0, 3_000
"""With so few tables it is seen in a second whether runs get stuck at all."""
_QUICK_STEPS = 200
_UNDER_WAY, _SETTLED_UNDER_WAY = 1e-6, 1e-10
_MOST_WORK = 600_000_000
"""Entries of all tables times steps: half a minute."""
_MOST_STEPS = 100_000
_WIDE = 0.25
"""A law of which less is known says nothing."""
_ZERO, _ONE = fmpq(0), fmpq(1)
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Forward(Powers):
    """From tables carried forwards: half of what was lost in a step counts as ended in it.

    Attributes
    ----------
    trap : where runs get stuck for ever, if they are seen to
    lost : what was lost before each step, as far as it may end
    rounding : by so much sums of these may be wrong
    """

    trap: Trap | None = None
    lost: FloatArray
    rounding: float
    method: ClassVar[str] = "forward"

    def until(self, horizon: int) -> tuple[FloatArray, FloatArray]:
        """Return P(T <= t) for t = 0 .. horizon; its error grows with what is lost up to t."""
        values = np.asarray(self.cdf(np.arange(horizon + 1)), dtype=float)
        errors = np.full(horizon + 1, self.error)
        known = min(horizon + 1, len(self.lost))
        errors[:known] = np.minimum(np.cumsum(self.lost)[:known] / 2 + self.rounding, self.error)
        return values, errors


@dataclass(frozen=True, eq=False)
class _Carried:
    """A cloud at the end of one level, and what was lost on the way."""

    moment: Moment
    ledger: Ledger | None
    work: int


def _carried(
    law: Law, fine: float, largest: int, signs: Signs | None, progress: Progress
) -> _Carried:
    """Carry tables until hardly any are under way, or it has been enough work."""
    ledger = None if signs is None else _ledger(law, signs)
    enough = _UNDER_WAY if signs is None else _SETTLED_UNDER_WAY
    work = steps = 0
    with progress("carrying tables forwards") as bar:
        for moment in carry(law, {0: _ONE}, fine=fine, largest=largest, ledger=ledger):
            bar.advance()
            work += moment.tables.low.size
            if moment.going <= enough or work > _MOST_WORK or steps == _MOST_STEPS:
                break
            steps += 1
    return _Carried(moment, ledger, work)


def _ledger(law: Law, signs: Signs) -> Ledger | None:
    return Ledger.of(signs.patterns.rows, len(law.row), len(law.actions), arrays_of(law).zero)


def _levels(law: Law, largest: int, signs: Signs | None, progress: Progress) -> Iterator[_Carried]:
    """Yield what is known at finer and finer levels, until finer ones cannot know more."""
    for fine in _FINE:
        found = _carried(law, fine, largest, signs, progress)
        yield found
        # Four times as fine are some twice as many tables; what must be cut, finer ones lose more.
        many = 2 * found.moment.largest > largest
        if many or found.work > _MOST_WORK or sum(found.moment.lost) < _UNDER_WAY:
            return


def _grounded_levels(
    law: Law, largest: int, signs: Signs, progress: Progress
) -> Iterator[_Carried]:
    """Yield what is known at a quick level, and at one that is as fine as there is room for."""
    found = _carried(law, _GROUNDED_FINE, largest, signs, progress)
    yield found
    # The number of tables grows nearly with the root of how fine they are.
    finer = min(_FINEST, _GROUNDED_FINE * (0.8 * largest / found.moment.largest) ** 2)
    if finer >= 2 * _GROUNDED_FINE and sum(found.moment.lost) > _SETTLED_UNDER_WAY:
        yield _carried(law, finer, largest, signs, progress)


def law_forward(law: Law, phase: int | None, progress: Progress) -> Forward | Refused:
    """Return the law of T; refused where little is known of it, and for single phases."""
    if phase is not None:
        return Refused(StateSpaceTooLargeError("phases are not told apart by carrying forwards"))
    most = most_tables(law)
    signs = signs_of(law)
    ways = _levels if signs is None else _grounded_levels
    found = [_law(one, signs) for one in ways(law, most, signs, progress)]  # type: ignore[arg-type]
    best = min(found, key=lambda known: known.error)
    if best.error > _WIDE:
        return Refused(
            StateSpaceTooLargeError(
                f"carried forwards, {most:,} tables of Q-values leave open with which "
                f"probability, up to {min(2 * best.error, 1.0):.2g}, a run has ended; "
                f"estimate with `simulate()`"
            )
        )
    return best


def _account(carried: _Carried, signs: Signs | None) -> Account:
    """Return what becomes of what was lost; where no signs are followed it may do anything."""
    moment = carried.moment
    if signs is not None and carried.ledger is not None:
        known = account_of(moment, carried.ledger, signs)
        if known is not None:
            return known
    rounding = moment.rounding
    stuck = sum(moment.stuck.values()) + moment.doomed
    low = _exactly(max(sum(moment.ended) - 2 * rounding, 0.0))
    high = _exactly(min(1.0 - stuck + rounding, 1.0))
    late = np.append(np.array(moment.lost), 0.0)
    return Account(late, moment.going, Quantity.enclosed(low, max(low, high)), UNKNOWN)


def _law(carried: _Carried, signs: Signs | None) -> Forward:
    moment = carried.moment
    known = _account(carried, signs)
    ended, late = np.array(moment.ended), known.late[:-1]
    rounding = moment.rounding
    never = 1 - known.reached
    return Forward(
        expectation=_expectation(moment, known, never),
        variance=Infinite() if never.lower > 0 else UNKNOWN,
        finite_mean=_middle(known.mean, ended),
        ending=known.mean,
        never=never,
        error=float(late.sum()) / 2 + float(known.late[-1]) + known.after + 4 * rounding,
        horizon=len(ended) - 1,
        probabilities=ended + late / 2,
        trap=_trap(moment, never),
        lost=late,
        rounding=4 * rounding,
    )


def _expectation(moment: Moment, known: Account, never: Quantity) -> Quantity:
    """Return E[T]: infinite, that of the runs that end if all do, or a lower end."""
    if never.lower > 0:
        return Infinite()
    if never.exact:
        return known.mean
    # E[T] is the sum of P(T > t), and what is not known to have ended may go on.
    above = 1.0 - np.cumsum(np.array(moment.ended) + known.late[:-1]) - 2 * moment.rounding
    return Enclosed(_exactly(float(np.maximum(above, 0.0).sum()) * (1 - 1e-12)), None)


def _middle(mean: Quantity, ended: FloatArray) -> float:
    """Return E[T | T < infinity] as far as it is known, or that of what has ended."""
    if mean.upper is not None:
        return float(mean)
    finite = float(ended.sum())
    return float(ended @ np.arange(len(ended))) / finite if finite > 0 else inf


def _trap(moment: Moment, never: Quantity) -> Trap | None:
    if not never.lower > 0:
        return None
    assert never.upper is not None
    where = "the optimum is out of reach"
    if moment.stuck:
        where = f"p={max(moment.stuck, key=lambda p: moment.stuck[p])}"
    return Trap(where, never.lower, never.upper)


def trap_forward(
    law: StepLaw, progress: Progress, largest: int | None = None
) -> tuple[Trap, int] | None:
    """Return a trap that runs enter with a positive probability, and the number of tables.

    None: a quick look finds none.

    Parameters
    ----------
    largest : tables to keep; default `most_tables`
    """
    largest = most_tables(law) if largest is None else min(largest, most_tables(law))
    quick = carry(law, {0: _ONE}, fine=_COARSE, largest=_FEW)
    for moment in islice(quick, _QUICK_STEPS):
        if moment.stuck or moment.doomed > 0:
            break
    else:
        return None
    signs = signs_of(law)
    best: Forward | None = None
    size = 0
    for carried in _levels(law, largest, signs, progress):
        found = _law(carried, signs)
        size = max(size, carried.moment.largest)
        if best is None or found.error < best.error:
            best = found
    assert best is not None
    return None if best.trap is None else (best.trap, size)


def budgets_forward(
    law: Law,
    begin: Mapping[int, fmpq],
    values: Sequence[fmpq],
    good: frozenset[int],
    times: Sequence[int],
    progress: Progress,
) -> list[tuple[Bounds, Bounds]]:
    """Enclose E[f(x_t)] and P(x_t good) for increasing times.

    Raises
    ------
    StateSpaceTooLargeError
        It would take too many steps.
    """
    if times[-1] > _MOST_STEPS:
        raise _too_many(times[-1], f"ask for at most {_MOST_STEPS:,}")
    found: list[tuple[Bounds, Bounds]] = []
    moments = carry(law, begin, fine=_FINE[1], giving_up=False)
    moment = next(moments)
    work = 0
    with progress("carrying tables forwards", total=times[-1]) as bar:
        for before, until in pairwise([0, *times]):
            for made in range(before, until):
                work += moment.tables.low.size
                if work > 2 * _MOST_WORK:
                    raise _too_many(times[-1], f"ask for at most {made:,}")
                moment = next(moments)
                bar.advance()
            found.append(_budget(moment, law.optimum, values, good))
    return found


def _too_many(steps: int, instead: str) -> StateSpaceTooLargeError:
    return StateSpaceTooLargeError(
        f"{steps:,} steps are too many for tables of Q-values carried forwards; {instead}, or "
        f"estimate with `simulate()`",
        advised=True,
    )


def _budget(
    moment: Moment, optimum: int, values: Sequence[fmpq], good: frozenset[int]
) -> tuple[Bounds, Bounds]:
    """Return bounds of E[f(x)] and P(x good); what was lost may be anywhere."""
    at = np.bincount(moment.tables.position, moment.tables.mass, minlength=len(values))
    at[optimum] += sum(moment.ended)
    for p, mass in moment.stuck.items():
        at[p] += mass
    slack = _exactly(4 * moment.rounding)
    known = [_exactly(x) for x in at.tolist()]
    open_ = max(_ONE - sum(known, _ZERO), _ZERO) + slack
    mean = sum((w * v for w, v in zip(known, values, strict=True)), _ZERO)
    reached = sum((known[p] for p in good), _ZERO)
    least, most = min(values), max(values)
    size = max(abs(least), abs(most))
    return (
        (
            mean + open_ * min(least, _ZERO) - slack * size,
            mean + open_ * max(most, _ZERO) + slack * size,
        ),
        (max(reached - slack, _ZERO), min(reached + open_ + slack, _ONE)),
    )


def _exactly(number: float) -> fmpq:
    return fmpq(*number.as_integer_ratio())
