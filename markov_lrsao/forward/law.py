r"""P(T <= t) with bounds, a cloud of tables being carried forwards.

Of the probability 1 that starts, some has ended after t steps, some is stuck for ever, some is
under way and some was lost. What was lost up to t may have ended, or not:

    ended(t) <= P(T <= t) <= ended(t) + lost(t),
    stuck(t) + doomed(t) <= P(T = infinity) <= 1 - ended(t).

What tables of a grounded law cannot use any more is forgotten after every step (`grounded`), so
that more of them are alike; those from which no run can end are doomed. Masses are floats: products
and sums of non-negative numbers. A step multiplies a mass by a share and a weight, each with a few
roundings, and adds up to m of them; so the total is wrong by at most m + 16 roundings of 2^-53 a
step, and that is added to both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward.grounded import Grounded
from markov_lrsao.forward.kernels import cloud
from markov_lrsao.forward.kernels.forgetting import DOOMED, HELD
from markov_lrsao.forward.ledger import Ledger
from markov_lrsao.forward.model import Arrays, Law, arrays_of, room

__all__ = ["Cloud", "Moment", "carry", "most_tables"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
_UNIT = 2.0**-53
_NEGLIGIBLE = 1e-13
_THINNED, _THINNED_GROUNDED = 2.0, 4.0
"""Tables that are ten times less likely have cells so many times as wide."""
_ENTRIES = 3_000_000
"""Entries of all tables that are kept by default: some tenths of a second a step, some 400 MB."""


@dataclass(eq=False)
class Cloud:
    """Tables with their probabilities; see `kernels.cloud`."""

    position: IntArray
    low: FloatArray
    high: FloatArray
    name: npt.NDArray[np.int16]
    order: npt.NDArray[np.int8]
    mass: FloatArray
    ahead: npt.NDArray[np.int8]

    @classmethod
    def empty(cls, size: int, entries: int, pairs: int, losses: int) -> Cloud:
        """Return room for so many tables."""
        return cls(
            np.empty(size, dtype=np.int64),
            *room(size, entries, pairs),
            np.empty(size),
            np.empty((size, losses), dtype=np.int8),
        )

    @classmethod
    def start(cls, arrays: Arrays, begin: Mapping[int, float]) -> Cloud:
        """Return tables of zeros."""
        rows, actions = int(arrays.row_of.max()) + 1, arrays.actions
        pairs = rows * actions * (actions - 1) // 2
        found = cls.empty(len(begin), rows * actions, pairs, len(arrays.losses[0]))
        found.position[:] = list(begin)
        found.mass[:] = list(begin.values())
        found.low[:] = found.high[:] = 0.0
        found.name[:] = arrays.zero
        found.order[:] = 0
        found.ahead[:] = -1  # a loss, and nothing else
        return found

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What kernels read and write."""
        return self.position, self.low, self.high, self.name, self.order, self.mass, self.ahead

    def chosen(self, which: IntArray) -> Cloud:
        """Return some of the tables."""
        return Cloud(*(array[which] for array in self.arrays))


@dataclass(eq=False)
class Moment:
    """Where the probability is after some steps.

    Attributes
    ----------
    tables : those under way
    ended : probability of T = 0, 1, .., as far as it is known to have ended
    lost : what was lost in each step
    stuck : position -> probability that is known to stay there for ever
    doomed : what else is known not to end; it was given up
    cut : what of the lost was too unlikely to be kept; of the rest the greedy action is open
    rounding : every sum of these is wrong by at most this
    largest : the largest number of tables at once
    """

    tables: Cloud
    ended: list[float]
    lost: list[float] = field(default_factory=lambda: [0.0])
    stuck: dict[int, float] = field(default_factory=dict)
    doomed: float = 0.0
    cut: float = 0.0
    rounding: float = 0.0
    largest: int = 1

    @property
    def going(self) -> float:
        """What is under way."""
        return float(self.tables.mass.sum())


def most_tables(law: Law) -> int:
    """Return how many tables are kept by default: fewer if each has many successors."""
    actions = len(law.actions)
    entries = actions * (int(law.row.max()) + 1)
    widest = max(
        len(law.moves(p, a))
        for p in range(len(law.row))
        if p != law.optimum
        for a in range(actions)
    )
    successors = widest * (actions if law.algorithm.epsilon else 1)
    return max(1, 2 * _ENTRIES // (entries * successors))


def carry(
    law: Law,
    begin: Mapping[int, fmpq],
    *,
    fine: float,
    largest: int | None = None,
    forgetting: bool = True,
    giving_up: bool = True,
    ledger: Ledger | None = None,
) -> Iterator[Moment]:
    """Yield the same `Moment` after 0, 1, 2, .. steps from tables of zeros, each a step further.

    Parameters
    ----------
    begin : probability of each position
    fine : likely tables whose entries differ by a factor of more than 2^(1/fine) are kept apart
    largest : tables to keep after each step, the likeliest; default `most_tables`
    forgetting : forget what tables of a grounded law cannot use any more
    giving_up : do not carry on what cannot end; where the walk goes then is not known
    ledger : where to note what is lost
    """
    law.check_bounded()
    largest = most_tables(law) if largest is None else largest
    arrays = arrays_of(law)
    grounded = Grounded.of(law, arrays) if forgetting else None
    if grounded is not None:
        arrays = replace(arrays, losses=grounded.losses)
    thinned = _THINNED if grounded is None else _THINNED_GROUNDED
    going = {p: to_float(w) for p, w in begin.items() if w and p != law.optimum}
    now = Moment(Cloud.start(arrays, going), [to_float(begin.get(law.optimum, fmpq(0)))])
    now.rounding = 4 * _UNIT
    while True:
        yield now
        _step(arrays, law.optimum, now, ledger)
        if grounded is not None:
            _forget(grounded, now, giving_up=giving_up)
        now.tables, left_out, longest = _merged(now.tables, fine, thinned, largest)
        cut = float(left_out.mass.sum())
        now.largest = max(now.largest, len(now.tables.mass))
        now.lost[-1] += cut
        now.cut += cut
        now.rounding += longest * _UNIT
        if ledger is not None:
            ledger.lose(len(now.ended) - 1, left_out)


def _forget(grounded: Grounded, now: Moment, *, giving_up: bool) -> None:
    """Forget what tables cannot use; give up those that cannot end."""
    fate = grounded.forget(now.tables)
    mass = now.tables.mass
    held = fate == HELD
    for p in np.unique(now.tables.position[held]).tolist():
        here = held & (now.tables.position == p)
        now.stuck[p] = now.stuck.get(p, 0.0) + float(mass[here].sum())
    given_up = (fate == DOOMED) & giving_up
    now.doomed += float(mass[given_up].sum())
    now.tables = now.tables.chosen(np.flatnonzero(~(held | given_up)))


def _step(arrays: Arrays, optimum: int, now: Moment, ledger: Ledger | None) -> None:
    """Move all tables by one step; lose those whose greedy action is open."""
    before, a = now.tables, arrays
    count = np.empty(len(before.mass), dtype=np.int64)
    lasting = a.keep[0] > 0.0 or a.bootstrap[0] > 0.0
    cloud.outcomes(before.arrays, a.moves, a.zero_gain, lasting, a.exploring == 0.0, count)
    lost = float(before.mass[count == cloud.LOST].sum())
    if ledger is not None:
        ledger.lose(len(now.ended) - 1, before.chosen(np.flatnonzero(count == cloud.LOST)))
    for s in np.flatnonzero(count == cloud.STUCK).tolist():
        p = int(before.position[s])
        now.stuck[p] = now.stuck.get(p, 0.0) + float(before.mass[s])
    size = int(np.maximum(count, 0).sum())
    shapes = (x.shape[1] for x in (before.low, before.order, before.ahead))
    after = Cloud.empty(size, *shapes)
    cloud.expand(
        before.arrays, count, a.moves, a.learning, a.values, a.losses, a.exploring, after.arrays
    )
    there = after.position == optimum
    now.ended.append(float(after.mass[there].sum()))
    now.tables = after.chosen(np.flatnonzero(~there))
    now.lost.append(lost)
    now.rounding += (max(len(count), size) + 16) * _UNIT


def _merged(after: Cloud, fine: float, thinned: float, largest: int) -> tuple[Cloud, Cloud, int]:
    """Merge tables that are alike; return the likeliest, those left out, and the longest sum."""
    key = np.empty(len(after.mass), dtype=np.uint64)
    cloud.keys(*after.arrays, fine, thinned, key)
    sequence = np.argsort(key, kind="stable")
    longest = cloud.merge(sequence, key, *after.arrays)
    kept = np.flatnonzero(after.mass > _NEGLIGIBLE)
    if (many := len(kept) - largest) > 0:
        kept = np.sort(kept[np.argpartition(after.mass[kept], many)[many:]])
    left_out = after.mass > 0.0
    left_out[kept] = False
    return after.chosen(kept), after.chosen(np.flatnonzero(left_out)), int(longest)
