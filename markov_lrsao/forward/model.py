"""The one-step law of an agent as arrays, with enclosures of its numbers and names of values."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.rationals import next_floats, to_float
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.law import StepLaw

__all__ = ["Arrays", "Law", "Tables", "arrays_of", "room"]

Law: TypeAlias = StepLaw | JumpingLaw
_Room: TypeAlias = tuple[
    npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int16], npt.NDArray[np.int8]
]
IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
_NONE: IntArray = np.empty(0, dtype=np.int64)
_NAMES, _SUMS = 160, 400_000
"""Values that are known exactly: what a few updates from 0 lead to, where ties are made. There are
fewer where gains are many: all their sums are tabled."""


@dataclass(frozen=True, eq=False)
class Arrays:
    """What one step does, for kernels; see `kernels.cloud.expand`.

    Attributes
    ----------
    zero : the name of the value 0
    zero_gain : the number of the gain 0
    losses : (entry, gain, next row) of moves whose signs are found ahead; see `grounded`
    """

    row_of: IntArray
    first_move: IntArray
    move_to: IntArray
    move_weight: FloatArray
    gain_of: IntArray
    gains: FloatArray
    sums: npt.NDArray[np.int16]
    values: FloatArray
    keep: tuple[float, float]
    bootstrap: tuple[float, float]
    exploring: float
    zero: int
    zero_gain: int
    actions: int
    losses: tuple[IntArray, IntArray, IntArray] = field(
        default_factory=lambda: (_NONE.copy(), _NONE.copy(), _NONE.copy())
    )

    @property
    def learning(self) -> tuple[Any, ...]:
        """How entries are updated, as kernels read it."""
        return self.gains, self.sums, (self.keep, self.bootstrap), self.zero

    @property
    def moves(self) -> tuple[IntArray, IntArray, IntArray, FloatArray, IntArray]:
        """What can happen at a position, as kernels read it."""
        return self.row_of, self.first_move, self.move_to, self.move_weight, self.gain_of


def room(size: int, entries: int, pairs: int) -> _Room:
    """Return room for so many tables: lower and upper ends, names, and order of their entries."""
    return (
        np.empty((size, entries)),
        np.empty((size, entries)),
        np.empty((size, entries), dtype=np.int16),
        np.empty((size, pairs), dtype=np.int8),
    )


@dataclass(eq=False)
class Tables:
    """Tables with what they matter; see `kernels.layers` and `kernels.closing`."""

    position: IntArray
    phase: IntArray
    low: FloatArray
    high: FloatArray
    name: npt.NDArray[np.int16]
    order: npt.NDArray[np.int8]
    mass: FloatArray

    @classmethod
    def empty(cls, size: int, entries: int, pairs: int) -> Tables:
        """Return room for so many tables."""
        return cls(
            np.empty(size, dtype=np.int64),
            np.empty(size, dtype=np.int64),
            *room(size, entries, pairs),
            np.empty(size),
        )

    @classmethod
    def start(cls, law: StepLaw, arrays: Arrays) -> Tables:
        """Return the one table that runs start with."""
        rows, actions = int(law.row.max()) + 1, arrays.actions
        found = cls.empty(1, rows * actions, rows * actions * (actions - 1) // 2)
        milestones = np.array(law.landscape.milestones)
        found.position[:], found.mass[:] = 0, 1.0
        found.phase[:] = np.searchsorted(milestones, 0, side="right")
        found.low[:] = found.high[:] = 0.0
        found.name[:], found.order[:] = arrays.zero, 0
        return found

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What kernels read and write."""
        return (
            *(self.position, self.phase, self.low, self.high),
            *(self.name, self.order, self.mass),
        )

    def chosen(self, which: Any) -> Tables:
        """Return some of the tables."""
        return Tables(*(array[which] for array in self.arrays))


def _named(law: Law, gains: list[fmpq]) -> tuple[list[fmpq], npt.NDArray[np.int16]]:
    """Return values that few updates lead to, ascending, and which update leads to which."""
    a = law.algorithm
    values = [fmpq(0)]
    known = set(values)
    done = 0
    most = min(_NAMES, isqrt(_SUMS // len(gains)) + 1)
    while done < len(values) and len(values) < most:
        # Everything that the newest value makes with those before it.
        new = values[done]
        done += 1
        for other in values[:done]:
            for q, m in {(new, other), (other, new)}:
                for gain in gains:
                    found = a.keep * q + gain + a.bootstrap * m
                    if found not in known and len(values) < most:
                        known.add(found)
                        values.append(found)
    values.sort()
    number = {value: i for i, value in enumerate(values)}
    sums = np.full((len(values), len(values), len(gains)), -1, dtype=np.int16)
    for i, q in enumerate(values):
        for j, m in enumerate(values):
            for k, gain in enumerate(gains):
                sums[i, j, k] = number.get(a.keep * q + gain + a.bootstrap * m, -1)
    return values, sums


def arrays_of(law: Law) -> Arrays:
    """Write a law as arrays; positions beyond the optimum are none of its concern."""
    actions = len(law.actions)
    optimum = law.optimum
    gains = sorted(law.gains | {fmpq(0)})
    number = {gain: k for k, gain in enumerate(gains)}
    first, to, weight, gain_of = [0], [], [], []
    for p in range(len(law.row)):
        for b in range(actions):
            for chance, target, gain in law.moves(p, b) if p != optimum else ():
                to.append(target)
                weight.append(to_float(fmpq(chance) / law.denominator_at(p)))
                gain_of.append(number[gain])
            first.append(len(to))
    values, sums = _named(law, gains)
    a = law.algorithm
    return Arrays(
        row_of=np.asarray(law.row, dtype=np.int64),
        first_move=np.array(first, dtype=np.int64),
        move_to=np.array(to, dtype=np.int64),
        move_weight=np.array(weight),
        gain_of=np.array(gain_of, dtype=np.int64),
        gains=np.array([next_floats(g) for g in gains]),
        sums=sums,
        values=np.array([next_floats(v) for v in values]),
        keep=next_floats(a.keep),
        bootstrap=next_floats(a.bootstrap),
        exploring=to_float(a.epsilon),
        zero=values.index(fmpq(0)),
        zero_gain=number[fmpq(0)],
        actions=actions,
    )
