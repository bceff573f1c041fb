"""The law of T, and fixed budgets, from tables that are carried forwards with their probabilities.

For agents whose choices nothing else decides (`markov_lrsao.forward`): small instances, or few
steps. What was lost on the way is part of the error, so that where much is, little is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.laws import Powers
from markov_lrsao.errors import Refused, StateSpaceTooLargeError
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Infinite, Quantity, Trap
from markov_lrsao.forward.law import Moment, carry, most_tables
from markov_lrsao.forward.model import Law
from markov_lrsao.memoryless.budgets import Bounds
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress

__all__ = ["Forward", "budgets_forward", "law_forward", "trap_forward"]

_FINE = (4.0, 16.0, 64.0)
_COARSE, _FEW = 2.0, 3_000
"""With so few tables it is seen in a second whether runs get stuck at all."""
_QUICK_STEPS = 200
_UNDER_WAY = 1e-6
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
    lost : what was lost in each step
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


def _levels(law: Law, largest: int, progress: Progress) -> Iterator[Moment]:
    """Yield what is known at finer and finer levels, until finer ones cannot know more."""
    for fine in _FINE:
        work = steps = 0
        with progress("carrying tables forwards") as bar:
            for moment in carry(law, {0: _ONE}, fine=fine, largest=largest):
                bar.advance()
                work += moment.tables.low.size
                if moment.going <= _UNDER_WAY or work > _MOST_WORK or steps == _MOST_STEPS:
                    break
                steps += 1
        yield moment
        # Four times as fine are some twice as many tables; what must be cut, finer ones lose more.
        many = 2 * moment.largest > largest
        if many or work > _MOST_WORK or sum(moment.lost) < _UNDER_WAY:
            return


def law_forward(law: StepLaw, phase: int | None, progress: Progress) -> Forward | Refused:
    """Return the law of T; refused where little is known of it, and for single phases."""
    if phase is not None:
        return Refused(StateSpaceTooLargeError("phases are not told apart by carrying forwards"))
    found = [_law(moment) for moment in _levels(law, most_tables(law), progress)]
    best = min(found, key=lambda known: known.error)
    if best.error > _WIDE:
        return Refused(
            StateSpaceTooLargeError(
                f"carried forwards, {most_tables(law):,} tables of Q-values leave open with which "
                f"probability, up to {min(2 * best.error, 1.0):.2g}, a run has ended; "
                f"estimate with `simulate()`"
            )
        )
    return best


def _law(moment: Moment) -> Forward:
    ended, lost = np.array(moment.ended), np.array(moment.lost)
    rounding = moment.rounding
    times = np.arange(len(ended))
    finite = float(ended.sum())
    stuck = _exactly(max(sum(moment.stuck.values()) - rounding, 0.0))
    never = Quantity.enclosed(stuck, min(_ONE, _exactly(1.0 - finite + 2 * rounding)))
    # E[T] is the sum of P(T > t), and what is not known to have ended may go on.
    above = 1.0 - np.cumsum(ended + lost) - 2 * rounding
    least = _exactly(float(np.maximum(above, 0.0).sum()) * (1 - 1e-12))
    return Forward(
        expectation=Infinite() if stuck > 0 else Enclosed(least, None),
        variance=Infinite() if stuck > 0 else UNKNOWN,
        finite_mean=float(ended @ times) / finite if finite > 0 else float("inf"),
        never=never,
        error=float(lost.sum()) / 2 + moment.going + 4 * rounding,
        horizon=len(ended) - 1,
        probabilities=ended + lost / 2,
        trap=_trap(moment, stuck, never),
        lost=lost,
        rounding=4 * rounding,
    )


def _trap(moment: Moment, stuck: fmpq, never: Quantity) -> Trap | None:
    if not stuck > 0:
        return None
    assert never.upper is not None
    where = max(moment.stuck, key=lambda p: moment.stuck[p])
    return Trap(f"p={where}", stuck, never.upper)


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
        if moment.stuck:
            break
    else:
        return None
    best: Forward | None = None
    size = 0
    for moment in _levels(law, largest, progress):
        found = _law(moment)
        size = max(size, moment.largest)
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
    moments = carry(law, begin, fine=_FINE[1])
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
