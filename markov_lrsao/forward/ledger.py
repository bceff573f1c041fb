"""What a cloud lost, by position and by the signs of the rows that `patterns` follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from markov_lrsao.forward.kernels import cloud
from markov_lrsao.forward.patterns import DEAD, POSITIVE, ZERO, Patterns, State

if TYPE_CHECKING:
    from markov_lrsao.forward.law import Cloud

__all__ = ["Ledger"]

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
_BITS = {1: ZERO, 2: POSITIVE, 4: DEAD}
_WIDTH = 3
_MOST_BITS = 60


@dataclass(eq=False)
class Ledger:
    """Masses that were lost, with the step and what was known of them.

    An entry has three bits: it may be zero, positive, dead.

    Attributes
    ----------
    rows : the rows whose signs are kept
    """

    rows: tuple[int, ...]
    actions: int
    zero: int
    _lost: list[tuple[int, IntArray, FloatArray]] = field(default_factory=list)

    @classmethod
    def of(cls, rows: tuple[int, ...], positions: int, actions: int, zero: int) -> Ledger | None:
        """Return an empty one; None: so many signs have no room in an integer."""
        bits = positions.bit_length() + _WIDTH * len(rows) * actions
        return cls(rows, actions, zero) if bits <= _MOST_BITS else None

    def codes(self, tables: Cloud) -> IntArray:
        """Return for every table its position and the signs of the rows, as one integer."""
        found = tables.position.copy()
        for row in self.rows:
            for i in range(row * self.actions, (row + 1) * self.actions):
                name, low, high = tables.name[:, i], tables.low[:, i], tables.high[:, i]
                known = np.where(name == self.zero, 1, np.where(name > self.zero, 2, 4))
                open_ = (
                    np.where((low <= 0.0) & (high >= 0.0), 1, 0)
                    + np.where(high > 0.0, 2, 0)
                    + np.where(low < 0.0, 4, 0)
                )
                bits = np.where(name >= 0, known, open_)
                bits = np.where(name == cloud.DEAD, 4, np.where(name == cloud.FREE, 3, bits))
                found = (found << _WIDTH) | bits
        return found

    def lose(self, step: int, tables: Cloud) -> None:
        """Note tables that are given up after so many steps."""
        if len(tables.mass):
            codes, which = np.unique(self.codes(tables), return_inverse=True)
            self._lost.append((step, codes, np.bincount(which, tables.mass).astype(float)))

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        """Yield (step, code, mass) of all that was lost."""
        for step, codes, masses in self._lost:
            for code, mass in zip(codes.tolist(), masses.tolist(), strict=True):
                yield step, code, mass

    def states(self, code: int, patterns: Patterns) -> list[State]:
        """Return the states of which one is what a code stands for."""
        bits = []
        for _ in range(len(self.rows) * self.actions):
            bits.append(code & 7)
            code >>= _WIDTH
        bits.reverse()
        found: list[State] = [(code, ())]
        for k, row in enumerate(self.rows):
            mine = bits[k * self.actions : (k + 1) * self.actions]
            statuses = [{s for bit, s in _BITS.items() if bit & x} for x in mine]
            fitting = patterns.consistent(row, statuses)
            found = [(p, (*before, one)) for p, before in found for one in fitting]
        return found
