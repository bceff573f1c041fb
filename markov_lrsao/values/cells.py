"""The grid on which values of Q-entries are told apart, and what distinguishes a cluster.

An interval of values falls into a *cell*: a grid of mesh s, in which its middle lies; intervals
wider than s use grids of mesh 2s, 4s, .. Values that are short are cells of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from flint import fmpq

from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.model.law import StepLaw
from markov_lrsao.rows.patterns import Pattern

__all__ = ["Cell", "Grid", "Precision", "Traits", "forgotten", "rounded"]


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
    """

    mesh: fmpq
    exact_bits: int
    coarser: tuple[tuple[int, fmpq], ...] = ()


Cell = fmpq | tuple[int, int] | None
"""An exact value, a cell (level, index), or None: the entry is never chosen again."""


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

    def factor(self, row: int) -> fmpq:
        """Return how much coarser the grid of a row is."""
        return dict(self.precision.coarser).get(row, fmpq(1))

    def cell(self, values: Interval, coarser: fmpq) -> Cell:
        """Return the cell of an interval."""
        if values.low == values.high:
            v = values.low
            if v in self._simple or (
                v.p.bit_length() + v.q.bit_length() <= self.precision.exact_bits
            ):
                return v
        mesh, level, width = self.precision.mesh * coarser, 0, values.high - values.low
        while width > mesh:
            mesh, level = 2 * mesh, level + 1
        return (level, int(((values.high + values.low) / (2 * mesh)).floor()))


def forgotten(traits: Traits, safe: tuple[bool, ...]) -> Traits:
    """Forget the values of entries that are never chosen again.

    The entry j of a safe action never falls below min(q_j, 0) again. While q_i < min(q_j, 0),
    action i is not greedy and its entry does not change; so it is never greedy again.
    """
    pattern = traits.pattern
    k = len(traits.cells)
    gone = {
        i
        for i in range(k)
        if pattern.signs[i] == -1
        and any(safe[j] and pattern.relation(i, j) == -1 for j in range(len(safe)))
    }
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
    return replace(
        traits,
        pattern=Pattern(pattern.signs, order),
        cells=tuple(None if i in gone else c for i, c in enumerate(traits.cells)),
    )


def rounded(old: Interval, new: Interval, mesh: fmpq) -> Interval:
    """Join two intervals; ends of the old one that move are rounded outwards to the mesh."""
    joined = old.join(new)
    low, low_attained = joined.low, joined.low_attained
    high, high_attained = joined.high, joined.high_attained
    if low != old.low or low_attained != old.low_attained:
        low, low_attained = mesh * (low / mesh).floor(), True
    if high != old.high or high_attained != old.high_attained:
        high, high_attained = mesh * (high / mesh).ceil(), True
    return Interval(low, high, low_attained, high_attained)
