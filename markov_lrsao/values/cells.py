"""The grid on which values of Q-entries are told apart, and what distinguishes a cluster.

An interval of values falls into a *cell*: a grid of mesh s, in which its middle lies; intervals
wider than s use grids of mesh 2s, 4s, .. Values that are short are cells of their own. Where few
clusters leave something open, their cells can be halved (`markov_lrsao.values.focus`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from itertools import combinations

from flint import fmpq

from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.model.law import StepLaw
from markov_lrsao.rows.patterns import Pattern

__all__ = ["Cell", "Grid", "Precision", "Safety", "Traits", "forgotten", "is_dead", "rounded"]

_ONE = fmpq(1)


@dataclass(frozen=True)
class Precision:
    """How finely values are told apart.

    Attributes
    ----------
    mesh : s of the description; smaller decides more comparisons and makes more clusters
    exact_bits : values whose numerator and denominator have at most this many bits together
        are kept exactly, and so are those after a single update
    coarser : rows and factors by which their grid is coarser: values that are only seen
        through gamma M need not be known as well
    landmarks : whether values above 0 or above the value after a single update, such as -alpha r,
        are told from those below, however close. Penalties leave -alpha r + keep q with q > 0 as
        small as one likes: without landmarks rounding would make it a tie with -alpha r.
    slack : intervals up to so many meshes wide use the grid of mesh s. What a cell holds is then up
        to (slack + 1) s wide, and stays on that grid after an update that shrinks it by lam, if
        lam (slack + 1) <= slack; otherwise it climbs to ever coarser grids.
    """

    mesh: fmpq
    exact_bits: int
    coarser: tuple[tuple[int, fmpq], ...] = ()
    landmarks: bool = False
    slack: fmpq = _ONE


Cell = fmpq | tuple[int, ...] | None
"""An exact value, a cell (level, index[, landmarks below]), or None: never chosen again."""


@dataclass(frozen=True)
class Traits:
    """What distinguishes a cluster from others: relations between the entries, and their cells."""

    pattern: Pattern
    cells: tuple[Cell, ...]
    coarser: fmpq

    def __hash__(self) -> int:
        # The hash of an fmpq is that of the Fraction it is converted to: slow.
        return hash((self.pattern, *((c.p, c.q) if isinstance(c, fmpq) else c for c in self.cells)))


@dataclass(frozen=True, eq=False)
class Grid:
    """The cells of a law's entries."""

    law: StepLaw
    precision: Precision

    @cached_property
    def lowest(self) -> fmpq:
        """A bound below every entry: all learn from M >= lowest and the worst reward."""
        algorithm = self.law.algorithm
        worst = min([fmpq(0), *(algorithm.learn * reward for reward in self.law.rewards)])
        return worst / (1 - algorithm.keep - algorithm.bootstrap) - 1

    @cached_property
    def _simple(self) -> frozenset[fmpq]:
        """Values after no or one update, such as -alpha r: however long, they are kept."""
        algorithm = self.law.algorithm
        return frozenset([fmpq(0), *(algorithm.learn * r for r in self.law.rewards)])

    @cached_property
    def landmarks(self) -> tuple[fmpq, ...]:
        """The values that cells do not reach across, in order; the first is below all entries."""
        return (self.lowest, *sorted(self._simple)) if self.precision.landmarks else ()

    def factor(self, row: int) -> fmpq:
        """Return how much coarser the grid of a row is."""
        return dict(self.precision.coarser).get(row, fmpq(1))

    def cell(self, values: Interval, coarser: fmpq, halvings: int = 0) -> Cell:
        """Return the cell of an interval, on a mesh that was halved so many times."""
        if values.low == values.high:
            v = values.low
            if v in self._simple or (
                v.p.bit_length() + v.q.bit_length() <= self.precision.exact_bits
            ):
                return v
        mesh = self.precision.mesh * coarser / (1 << halvings)
        level, width = -halvings, values.high - values.low
        while width > mesh * self.precision.slack:
            mesh, level = 2 * mesh, level + 1
        index = int(((values.high + values.low) / (2 * mesh)).floor())
        if not self.precision.landmarks:
            return (level, index)
        below = sum(v <= values.low for v in self.landmarks)
        apart = below == sum(v < values.high for v in self.landmarks)
        return (level, index, below if apart else -1)


class Safety(IntEnum):
    """How an entry can fall.

    NONE: any way; FLOOR: never below min(its value, 0); LASTING: moreover, once positive it stays
    positive (keep > 0).
    """

    NONE = 0
    FLOOR = 1
    LASTING = 2


def is_dead(pattern: Pattern, i: int, safe: Sequence[int]) -> bool:
    """Whether the entry of action i is never the largest again.

    While it is not, it does not change. The entry j of a safe action never falls below min(q_j, 0)
    again, so q_i < min(q_j, 0) lasts; and if q_j lasts above 0, so does q_i <= 0 < q_j.
    """
    return any(
        kind
        and (
            (pattern.signs[i] == -1 and pattern.relation(i, j) == -1)
            or (kind == Safety.LASTING and pattern.signs[j] == 1 and pattern.signs[i] in (-1, 0))
        )
        for j, kind in enumerate(safe)
    )


def forgotten(traits: Traits, safe: Sequence[int]) -> Traits:
    """Forget the values of entries that are never chosen again."""
    pattern = traits.pattern
    k = len(traits.cells)
    gone = {i for i in range(k) if is_dead(pattern, i, safe)}
    if not gone:
        return traits

    def kept(i: int, j: int) -> int:
        relation = pattern.relation(i, j)
        if i not in gone and j not in gone:
            return relation
        above = j if i in gone else i
        known = above not in gone and safe[above] and relation == (-1 if i in gone else 1)
        return relation if known else UNKNOWN

    order = tuple(kept(i, j) for i, j in combinations(range(k), 2))
    # Where entries that are 0 are gone too, whether one is 0 or below is forgotten with it.
    lasting = Safety.LASTING in safe
    signs = tuple(UNKNOWN if lasting and i in gone else x for i, x in enumerate(pattern.signs))
    return replace(
        traits,
        pattern=Pattern(signs, order),
        cells=tuple(None if i in gone else c for i, c in enumerate(traits.cells)),
    )


def rounded(old: Interval, new: Interval, mesh: fmpq, landmarks: Sequence[fmpq] = ()) -> Interval:
    """Join two intervals; ends of the old one that move are rounded outwards to the mesh.

    They are not rounded across a landmark, which is left out where it was not in.
    """
    joined = old.join(new)
    low, low_attained = joined.low, joined.low_attained
    high, high_attained = joined.high, joined.high_attained
    if low != old.low or low_attained != old.low_attained:
        low, low_attained = mesh * (low / mesh).floor(), True
        near = max((v for v in landmarks if low <= v <= joined.low), default=None)
        if near is not None:
            low, low_attained = near, near == joined.low and joined.low_attained
    if high != old.high or high_attained != old.high_attained:
        high, high_attained = mesh * (high / mesh).ceil(), True
        near = min((v for v in landmarks if joined.high <= v <= high), default=None)
        if near is not None:
            high, high_attained = near, near == joined.high and joined.high_attained
    return Interval(low, high, low_attained, high_attained)
