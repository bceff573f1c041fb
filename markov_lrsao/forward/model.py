"""The one-step law of an agent as arrays, with enclosures of its numbers and names of values."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isqrt, nextafter
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.law import StepLaw

__all__ = ["Arrays", "Law", "arrays_of", "outer"]

Law: TypeAlias = StepLaw | JumpingLaw
IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
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

    @property
    def moves(self) -> tuple[IntArray, IntArray, IntArray, FloatArray, IntArray]:
        """What can happen at a position, as kernels read it."""
        return self.row_of, self.first_move, self.move_to, self.move_weight, self.gain_of


def outer(value: fmpq) -> tuple[float, float]:
    """Return the floats next to a rational: both are it, if it is a float."""
    near = to_float(value)
    exact = fmpq(*near.as_integer_ratio())
    low = near if exact <= value else nextafter(near, -inf)
    high = near if exact >= value else nextafter(near, inf)
    return low, high


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
        gains=np.array([outer(g) for g in gains]),
        sums=sums,
        values=np.array([outer(v) for v in values]),
        keep=outer(a.keep),
        bootstrap=outer(a.bootstrap),
        exploring=to_float(a.epsilon),
        zero=values.index(fmpq(0)),
        zero_gain=number[fmpq(0)],
        actions=actions,
    )
