"""The entries of a Q-table: their numbers, bounds that they keep, and values that come back.

Entry (row, action) has the number K row + action, rows in the order in which positions meet them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from math import ceil

from flint import fmpq

from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import Proposal, StepLaw
from markov_lrsao.values.quotient.planes import Plane, Table, coordinate

__all__ = ["Entries"]

_ROUNDS = 30
_GRID = 1024  # bounds are multiples of 1/1024
_ZERO = fmpq(0)


class Entries:
    """The entries of a law's Q-tables.

    Raises
    ------
    CrossingError
        An update is no mean of old and new: keep or bootstrap is negative, or they reach 1.
    """

    def __init__(self, law: StepLaw) -> None:
        algorithm = law.algorithm
        self.law = law
        self.actions = len(law.actions)
        self.keep, self.bootstrap = algorithm.keep, algorithm.bootstrap
        self.within = self.keep + self.bootstrap
        if self.keep < 0 or self.bootstrap < 0 or self.within >= 1:
            raise CrossingError("tables are followed where 0 <= keep, bootstrap and their sum < 1")
        rows = law.rows_met()
        self._first = {row: k * self.actions for k, row in enumerate(rows)}
        self.count = len(rows) * self.actions

    def of_row(self, row: int) -> range:
        """Return the numbers of a row's entries."""
        first = self._first[row]
        return range(first, first + self.actions)

    def largest(self, table: Table, row: int) -> tuple[int, ...]:
        """Return the numbers of a row's largest entries."""
        numbers = self.of_row(row)
        most = max(table[i] for i in numbers)
        return tuple(i for i in numbers if table[i] == most)

    def _updates(self) -> Iterator[tuple[int, Proposal, int | None]]:
        """Yield (entry, proposal, row that it learns from, None for its own) of all updates."""
        law = self.law
        for p in range(law.optimum):
            first = self._first[int(law.row[p])]
            for action in range(self.actions):
                for e in law.proposals(int(law.kind[p]), (action,)):
                    if p + e.moved != law.optimum:
                        other = None if e.move.stays_in_row else int(law.row[p + e.moved])
                        yield first + action, e, other

    @cached_property
    def bounds(self) -> tuple[list[fmpq], list[fmpq]]:
        """Rational bounds of every entry, which hold at the start and are kept by every update."""
        updates = list(self._updates())
        gains = [e.move.gain for _, e, _ in updates] or [_ZERO]
        low = [min(_ZERO, *gains) / (1 - self.within)] * self.count
        high = [max(_ZERO, *gains) / (1 - self.within)] * self.count
        for _ in range(_ROUNDS):
            low = self._once(low, updates, -1)
            high = self._once(high, updates, 1)
        return self._rounded(low, updates, -1), self._rounded(high, updates, 1)

    def _once(
        self, bound: list[fmpq], updates: list[tuple[int, Proposal, int | None]], side: int
    ) -> list[fmpq]:
        """Return what one update makes of bounds, 0 among them; side 1: from above, -1: below."""
        found = [_ZERO] * self.count
        for i, e, other in updates:
            if other is None:
                value = self.within * bound[i] + e.move.gain
            else:
                seen = max(bound[j] for j in self.of_row(other))
                value = self.keep * bound[i] + self.bootstrap * seen + e.move.gain
            if side * value > side * found[i]:
                found[i] = value
        return found

    def _rounded(
        self, bound: list[fmpq], updates: list[tuple[int, Proposal, int | None]], side: int
    ) -> list[fmpq]:
        """Return bounds with small denominators: nearest ones if updates keep them, else wider."""
        wider = [fmpq(side * (ceil(side * to_float(b) * _GRID) + 1), _GRID) for b in bound]
        near = [fmpq(round(to_float(b) * _GRID), _GRID) for b in bound]
        near = [
            n if abs(n - b) * 10**6 < 1 else w for n, b, w in zip(near, bound, wider, strict=True)
        ]
        kept = self._once(near, updates, side)
        fits = all(side * k <= side * n for k, n in zip(kept, near, strict=True))
        return near if fits else wider

    @cached_property
    def box(self) -> tuple[list[float], list[float]]:
        """The bounds as floats, rounded outwards."""
        low, high = self.bounds
        return (
            [math.nextafter(to_float(b), -math.inf) if b else 0.0 for b in low],
            [math.nextafter(to_float(b), math.inf) if b else 0.0 for b in high],
        )

    @cached_property
    def marks(self) -> list[tuple[Plane, ...]]:
        """Per entry the planes of 0 and of each first gain: values that many histories share."""
        found: list[dict[Plane, None]] = [{coordinate(i): None} for i in range(self.count)]
        for i, e, _ in self._updates():
            found[i][coordinate(i, e.move.gain)] = None
        return [tuple(planes) for planes in found]
