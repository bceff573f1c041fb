"""Affine systems: what the quotient needs to know of a run.

A run's state is a *place*, of which there are finitely many, and a point: a vector of exact
*entries*. Comparisons of entries decide what can happen; every event leads to a place and replaces
some entries by affine forms in the old ones. `markov_lrsao.values.quotient.tables` follows whole
Q-tables in this way, `markov_lrsao.values.quotient.plateaus` the one row that plateaus share.

Every new value is keep x + factor max(some entries) + gain, keep and factor not negative and their
sum below 1: so there are bounds that all entries keep.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple, TypeAlias

from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.values.quotient.planes import Form, Plane, Table, coordinate, difference

__all__ = ["Event", "Learning", "Look", "Place", "System", "Update", "largest_of"]

Place: TypeAlias = tuple[Any, ...]
"""A position, a phase, and whatever else of a state is no number."""
Update: TypeAlias = tuple[tuple[int, Form], ...]
"""Entries that are replaced all at once, and their new values as forms in the old ones."""
_ROUNDS = 30
_GRID = 1024  # bounds are multiples of 1/1024
_ZERO = fmpq(0)


class Learning(NamedTuple):
    """An update that may ever happen: keep x_entry + factor max(x_j, j in seen) + gain."""

    entry: int
    keep: fmpq
    gain: fmpq
    factor: fmpq = _ZERO
    seen: Sequence[int] = ()


class Event(NamedTuple):
    """What may happen next.

    Attributes
    ----------
    share : its weight, as those who read the quotient want it
    weight : its probability in floats, a priority
    to : where it leads; None: the run ends
    """

    share: Any
    weight: float
    to: Place | None
    update: Update = ()


class Look(NamedTuple):
    """What happens at a point, and at all points that agree with it on some comparisons."""

    greedy: tuple[int, ...]
    comparisons: list[Plane]
    events: list[Event]


class System(ABC):
    """A run as places, entries and affine updates.

    Attributes
    ----------
    count : how many entries there are; all are 0 at the start
    start : the place of the start
    """

    count: int
    start: Place

    @abstractmethod
    def learnings(self) -> Iterable[Learning]:
        """Return all updates that may ever happen, or more."""

    @abstractmethod
    def look(self, place: Place, table: Table) -> Look:
        """Return what can happen."""

    @cached_property
    def bounds(self) -> tuple[list[fmpq], list[fmpq]]:
        """Rational bounds of every entry, which hold at the start and are kept by every update."""
        learnings = list(self.learnings())
        gains = [e.gain for e in learnings] or [_ZERO]
        within = max((e.keep + e.factor for e in learnings), default=_ZERO)
        low = [min(_ZERO, *gains) / (1 - within)] * self.count
        high = [max(_ZERO, *gains) / (1 - within)] * self.count
        for _ in range(_ROUNDS):
            low = self._once(low, learnings, -1)
            high = self._once(high, learnings, 1)
        return self._rounded(low, learnings, -1), self._rounded(high, learnings, 1)

    def _once(self, bound: list[fmpq], learnings: list[Learning], side: int) -> list[fmpq]:
        """Return what one update makes of bounds, 0 among them; side 1: from above, -1: below."""
        found = [_ZERO] * self.count
        for i, keep, gain, factor, seen in learnings:
            value = keep * bound[i] + gain
            if seen:
                value += factor * max(bound[j] for j in seen)
            if side * value > side * found[i]:
                found[i] = value
        return found

    def _rounded(self, bound: list[fmpq], learnings: list[Learning], side: int) -> list[fmpq]:
        """Return bounds with small denominators: nearest ones if updates keep them, else wider."""
        wider = [fmpq(side * (ceil(side * to_float(b) * _GRID) + 1), _GRID) for b in bound]
        near = [fmpq(round(to_float(b) * _GRID), _GRID) for b in bound]
        near = [
            n if abs(n - b) * 10**6 < 1 else w for n, b, w in zip(near, bound, wider, strict=True)
        ]
        kept = self._once(near, learnings, side)
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
        for e in self.learnings():
            found[e.entry][coordinate(e.entry, e.gain)] = None
        return [tuple(planes) for planes in found]


def largest_of(table: Table, numbers: Sequence[int]) -> tuple[tuple[int, ...], list[Plane]]:
    """Return the numbers of the largest among some entries, and the comparisons that tell so."""
    most = max(table[i] for i in numbers)
    found = tuple(i for i in numbers if table[i] == most)
    return found, [difference(found[0], j) for j in numbers if j != found[0]]
