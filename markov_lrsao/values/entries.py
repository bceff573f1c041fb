r"""Entries of a shared row: numbers that are known as far as they matter.

While a bridge is the only greedy action on a plateau of its own it is used until the plateau is
left upwards. At position j it is rejected N_j times, N_j geometric with ratio j/n, which
multiplies its entry by lam = 1 - alpha(1 - gamma) each time, and then accepted: lam times the
entry, plus alpha. So with

    Y_j = lam^(N_j) (alpha + lam Y_(j-1)),   Y_f = lam^(N_f) (value on arrival at the first f),

the entry is (1 - alpha) Y_b + alpha when the last position b has been left. The counts are
independent of all else, and E[T] is linear: they need not be known before they decide something.
A `Climb` is such a Y_j. An entry is a number, or an open interval, plus a non-negative multiple of
one climb of its own. Where a comparison depends on it, one bit of it is *told*: rejected once more
(probability j/n, Y_j becomes lam Y_j: geometric laws have no memory) or not (alpha + lam Y_(j-1)).

Entries would multiply for ever, so they are relaxed: what moves one by less than a mesh becomes
an interval whose ends lie on a grid. No entry ever lies on that grid, since its points have a prime
factor in the denominator that no entry has: intervals are open, and neighbours never tie. What
only penalties have made stays exact, since it does tie.

A penalty on a plateau maps an entry x to f(x) = lam x - alpha r. Let d be the depth of x, d = -1
for x > 0 and else level d + 1 < x <= level d, where level d is f^d(0). Its *residual* is f^(-d)(x):
penalties raise the depth and leave the residual alone. Entries of different depths are ordered by
these, those of the same depth by their residuals. So an order of residuals, once it is known,
outlives the values (`markov_lrsao.values.shared_row`).

Entries are numbered; equal ones have the same number, and everything is computed once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flint import arb, fmpq

from markov_lrsao.exact.series import Element, multiply
from markov_lrsao.values.options import Ends, ends_of, signed_ends, times
from markov_lrsao.values.word_lumps import Words

__all__ = ["NO_ENTRY", "UNORDERED", "Climb", "Entries", "Grid", "Ordered", "Range", "Residual"]

NO_ENTRY = -1
"""Stands for a maximum that is 0, since nothing was learnt."""
UNORDERED = 2
"""Stands for an order that is not known, or that the values tell."""
_ZERO = fmpq(0)
_DULL = 4
"""An unknown that moves an entry by less than this part of its interval is not worth telling."""
_LEAST_LIKELY = 1e-3
"""Bits are told until an outcome is less likely than this; what is open then stays open."""


class Climb(NamedTuple):
    """Y_j of a climb from `first` that began with the entry `start`, j = `position`."""

    position: int
    first: int
    start: int


class Range(NamedTuple):
    """An interval, and whether its ends belong to it."""

    lower: fmpq
    upper: fmpq
    with_lower: bool
    with_upper: bool

    @property
    def sign(self) -> int | None:
        """The sign of all its numbers: 1, 0 or -1; None: they have not the same."""
        if self.lower == 0 == self.upper and self.with_lower:
            return 0
        if self.lower > 0 or (self.lower == 0 and not self.with_lower):
            return 1
        if self.upper < 0 or (self.upper == 0 and not self.with_upper):
            return -1
        return None

    def minus(self, other: Range) -> Range:
        """Return the interval of all differences."""
        return Range(
            self.lower - other.upper,
            self.upper - other.lower,
            self.with_lower and other.with_upper,
            self.with_upper and other.with_lower,
        )

    def plus(self, other: Range, factor: fmpq) -> Range:
        """Return the interval of all x + factor y, factor > 0."""
        return Range(
            self.lower + factor * other.lower,
            self.upper + factor * other.upper,
            self.with_lower and other.with_lower,
            self.with_upper and other.with_upper,
        )


class Residual(NamedTuple):
    """The depth of an entry, and where its residual lies."""

    depth: int
    range: Range


@dataclass(frozen=True)
class Grid:
    """How entries are relaxed.

    Attributes
    ----------
    climbs : multiples of climbs that move an entry by less are not followed
    plain : entries without climbs; the grid is four times finer
    seen : the same for maxima of neighbouring rows, which are seen through alpha * gamma
    remembers : whether what has been told stays known, or becomes an interval of `plain`
    bits : numbers that are longer than this are rounded too
    words : which histories of slopes are told apart
    gains : into how many parts rewards of the target are divided, from a power of 2 to the next
    residual : whether entries without climbs are rounded as what penalties have made of a positive
        number: then a penalty maps intervals to intervals
    blunt : of entries but 0 no more is kept than their depth
    ordered : whether orders are carried before the last plateau too
    """

    climbs: fmpq
    plain: fmpq
    seen: fmpq
    remembers: bool
    bits: int
    words: Words = Words.EACH
    blunt: bool = False
    ordered: bool = True
    gains: int = 8
    residual: bool = False


class Entries:
    """All entries that were met.

    Parameters
    ----------
    n : length of the bit strings
    alpha, lam, penalty : learning rate, what a rejection leaves, and alpha r
    grids : the ways in which entries are relaxed
    offset : where grid points lie between multiples of the grid's size
    marks : exact values of interest: no interval is rounded across one
    depths : how many levels are told apart

    Attributes
    ----------
    zero, dead : the number 0; one below all others, for entries that do not matter any more
    """

    def __init__(
        self,
        n: int,
        laws: tuple[fmpq, fmpq, fmpq],
        grids: Sequence[Grid],
        offset: fmpq,
        marks: Sequence[fmpq],
        depths: int,
    ) -> None:
        self.n, self.grids, self._offset = n, tuple(grids), offset
        self._alpha, self._lam, penalty = laws
        self.levels = [_ZERO]
        for _ in range(depths):
            self.levels.append(self._lam * self.levels[-1] - penalty)
        self._powers = [self._lam**d for d in range(depths + 1)]
        self._level_set = {(int(x.p), int(x.q)) for x in self.levels}
        self._marks = sorted({*self.levels, *marks})
        self.lower: list[fmpq] = []
        self.upper: list[fmpq] = []
        self.factor: list[fmpq] = []
        self.climb: list[Climb | None] = []
        self.told_bits: list[int] = []
        self.closed: list[bool] = []
        self.range: list[Range] = []
        self.residual: list[Residual | None] = []
        self._number: dict[tuple[object, ...], int] = {}
        self._moved: dict[tuple[object, ...], int] = {}
        self._told: dict[int, tuple[int, int]] = {}
        self._parts: dict[int, tuple[int, ...]] = {}
        self._signs: dict[tuple[int, int], int | None] = {}
        self._orders: dict[tuple[object, ...], list[Ordered]] = {}
        self._relaxed: list[dict[int, int]] = [{} for _ in grids]
        self._seen: list[dict[int, int]] = [{} for _ in grids]
        self._bits: dict[int, tuple[Element, Element]] = {}
        self._untold: dict[int, float] = {}
        self.zero = self.exactly(_ZERO)
        self.dead = self.exactly(self._marks[0] - 1)

    def exactly(self, value: fmpq) -> int:
        """Return a known number."""
        return self.number(value, value)

    def number(
        self,
        lower: fmpq,
        upper: fmpq,
        factor: fmpq = _ZERO,
        climb: Climb | None = None,
        told: int = 0,
        *,
        closed: bool = False,
    ) -> int:
        """Return the number of lower..upper + factor * climb, of which `told` bits were told.

        `closed`: the upper end belongs to the interval.
        """
        ends = (int(lower.p), int(lower.q), int(upper.p), int(upper.q), closed)
        key = (*ends, int(factor.p), int(factor.q), climb, told)
        found = self._number.get(key)
        if found is None:
            found = self._number[key] = len(self.lower)
            self.lower.append(lower)
            self.upper.append(upper)
            self.factor.append(factor)
            self.climb.append(climb)
            self.told_bits.append(told)
            self.closed.append(closed)
            exact = lower == upper
            within = Range(lower, upper, exact, exact or closed)
            if climb is not None:
                within = within.plus(self.spread(climb), factor)
            self.range.append(within)
            self.residual.append(self._residual(within))
        return found

    def spread(self, climb: Climb) -> Range:
        """Return the interval in which a climb lies, whatever its counts are."""
        low, high, with_low, with_high = self.range[climb.start]
        for p in range(climb.first, climb.position + 1):
            if p > climb.first:
                low, high = self._alpha + self._lam * low, self._alpha + self._lam * high
            if p == 0 or (low == 0 == high and with_low):
                continue  # never rejected; or nothing that a rejection would shrink
            if low >= 0:
                low, with_low = _ZERO, False
            if high <= 0:
                high, with_high = _ZERO, False
        return Range(low, high, with_low, with_high)

    def _residual(self, r: Range) -> Residual | None:
        """Return depth and residual of an entry, if all its values have the same depth."""
        if r.lower > 0 or (r.lower == 0 and not r.with_lower):
            first = self.levels[1]
            ends = (self._lam * r.lower + first, self._lam * r.upper + first)
            return Residual(-1, Range(*ends, *r[2:]))
        for depth in range(len(self.levels) - 1):
            top, bottom = self.levels[depth], self.levels[depth + 1]
            above = r.lower > bottom or (r.lower == bottom and not r.with_lower)
            if above and r.upper <= top:
                power = self._powers[depth]
                ends = ((r.lower - top) / power, (r.upper - top) / power)
                return Residual(depth, Range(*ends, *r[2:]))
        return None

    def moved(self, v: int, factor: fmpq, constant: fmpq, seen: tuple[int, fmpq] | None) -> int:
        """Return factor * v + constant, plus a multiple of a maximum that is seen."""
        move = (int(factor.p), int(factor.q), int(constant.p), int(constant.q))
        key = (v, move, seen and seen[0])
        found = self._moved.get(key)
        if found is None:
            low, high = factor * self.lower[v] + constant, factor * self.upper[v] + constant
            if seen is not None:
                low += seen[1] * self.lower[seen[0]]
                high += seen[1] * self.upper[seen[0]]
            multiple, told = factor * self.factor[v], self.told_bits[v]
            closed = self.closed[v] or (seen is not None and self.closed[seen[0]])
            found = self.number(low, high, multiple, self.climb[v], told, closed=closed)
            self._moved[key] = found
        return found

    def told(self, v: int) -> tuple[int, int]:
        """Return an entry whose climb was rejected once more, and the same accepted."""
        found = self._told.get(v)
        if found is None:
            climb, factor, told = self.climb[v], self.factor[v], self.told_bits[v] + 1
            assert climb is not None
            low, high, (position, first, start) = self.lower[v], self.upper[v], climb
            closed = self.closed[v]
            rejected = self.number(low, high, factor * self._lam, climb, told, closed=closed)
            if position > first:
                low, high = low + factor * self._alpha, high + factor * self._alpha
                below = Climb(position - 1, first, start)
                accepted = self.number(low, high, factor * self._lam, below, told, closed=closed)
            else:
                low, high = low + factor * self.lower[start], high + factor * self.upper[start]
                multiple, closed = factor * self.factor[start], closed or self.closed[start]
                accepted = self.number(low, high, multiple, self.climb[start], told, closed=closed)
            found = self._told[v] = (rejected, accepted)
        return found

    def sign(self, a: int, b: int) -> int | None:
        """Return the sign of a - b; None: values leave it open. Their climbs are independent."""
        return self.range[a].minus(self.range[b]).sign if a != b else self._same(a)

    def _same(self, a: int) -> int | None:
        return 0 if self.range[a].lower == self.range[a].upper else None

    def residual_sign(self, a: int, b: int) -> int | None:
        """Return the sign of the residual of a minus that of b, both of which have one."""
        if a > b:
            sign = self.residual_sign(b, a)
            return None if sign is None else -sign
        if (a, b) not in self._signs:
            one, other = self.residual[a], self.residual[b]
            assert one is not None
            assert other is not None
            self._signs[a, b] = self._same(a) if a == b else one.range.minus(other.range).sign
        return self._signs[a, b]

    def relaxed(self, v: int, level: int) -> int:
        """Return an entry that contains the given one, with ends on the grid unless it is exact."""
        found = self._relaxed[level].get(v)
        if found is None:
            grid = self.grids[level]
            if v == self.dead:
                found = v
            elif grid.blunt:
                found = self._blunt(v)
            elif self.told_bits[v] and not grid.remembers:
                found = self.plain(v, grid)
            else:
                found = self._relax(v, grid)
            self._relaxed[level][v] = found
        return found

    def parts(self, v: int) -> tuple[int, ...]:
        """Return entries without climbs of one depth each, which cover one of several depths."""
        found = self._parts.get(v)
        if found is None:
            found = (v,)
            if self.residual[v] is None and self.climb[v] is None:
                found = self._divided(v)
            self._parts[v] = found
        return found

    def _divided(self, v: int) -> tuple[int, ...]:
        # Levels within are parts of their own: so intervals stay open, and levels tie.
        low, high = self.range[v][:2]
        found, upper, closed = list[int](), high, self.closed[v]
        for level in self.levels:
            if low < level < high:
                found += [self.number(level, upper, closed=closed), self.exactly(level)]
                upper, closed = level, False
        found.append(self.number(low, upper, closed=closed))
        return tuple(found)

    def _blunt(self, v: int) -> int:
        """Return the depths that an entry may have, as an interval between levels."""
        low, high, with_low, with_high = self.range[v]
        if v == self.zero:
            return v
        lower = next((x for x in self.levels if x < low or (x == low and not with_low)), None)
        if lower is None:
            lower = min(low, self._marks[0])
        if high > 0:
            marks = (x for x in self._marks if x > high or (x == high and not with_high))
            return self.number(lower, next(marks, high + 1))
        upper = next(x for x in reversed(self.levels) if x >= high)
        return self.number(lower, upper, closed=True)

    def plain(self, v: int, grid: Grid, mesh: fmpq | None = None) -> int:
        """Return an entry without a climb, an interval on the grid unless it is a level."""
        low, high = self.range[v][:2]
        if low != high or not self._is_level(low):
            return self._interval(self.range[v], grid, mesh, closed=self.closed[v])
        return self.number(low, high)

    def _interval(self, r: Range, grid: Grid, mesh: fmpq | None, *, closed: bool) -> int:
        """Return an interval on the grid; an upper end that is a level stays, and stays closed."""
        if not closed:
            return self.number(*self._on_grid(r, grid, mesh))
        low, high = self._on_grid(r._replace(with_upper=False), grid, mesh)
        return self.number(low, high, closed=high == r.upper)

    def _on_grid(self, r: Range, grid: Grid, mesh: fmpq | None) -> tuple[fmpq, fmpq]:
        """Return the ends of an interval without a climb, by a mesh of its own or the grid's."""
        if mesh is not None:
            return self._rounded(r, mesh, grid.gains)
        found = self._residual(r) if grid.residual else None
        if found is None or found.depth < 0:
            return self._rounded(r, grid.plain, grid.gains)
        # One penalty made the residual of y > 0: rounding y, all depths have the same intervals.
        first, (low, high, *belong) = self.levels[1], found.range
        y = Range((low - first) / self._lam, (high - first) / self._lam, *belong)
        top, power = self.levels[found.depth], self._powers[found.depth]
        low, high = (
            top + power * (self._lam * end + first)
            for end in self._rounded(y, grid.plain, grid.gains)
        )
        return max(low, self.levels[found.depth + 1]), min(high, top)

    def _relax(self, v: int, grid: Grid) -> int:
        climbs, bits, gains = grid.climbs, grid.bits, grid.gains
        low, high, factor, climb = self.lower[v], self.upper[v], self.factor[v], self.climb[v]
        within = Range(low, high, low == high, low == high)
        if climb is not None:
            spread = self.spread(climb)
            least = max(climbs, (high - low) / _DULL)
            if factor * (spread.upper - spread.lower) < least:
                within, factor, climb = self.range[v], _ZERO, None
            else:
                climb = self._shortened(climb, least / factor, bits, gains)
        (low, high), closed, told = within[:2], self.closed[v], self.told_bits[v]
        if low != high or (_length(low) > bits and not self._is_level(low)):
            if closed:
                within = within._replace(with_upper=False)
            low, high = self._on_grid(within, grid, None if climb is None else climbs)
            closed = closed and high == within.upper
        return self.number(low, high, factor, climb, told, closed=closed)

    def _shortened(self, climb: Climb, mesh: fmpq, bits: int, gains: int) -> Climb:
        """Forget the beginning of a climb as far as it moves its end by less than a mesh."""
        position, first, start = climb
        for q in range(position, first, -1):
            y = self.spread(Climb(q - 1, first, start))
            if self._lam * (y.upper - y.lower) < mesh:
                exact = Range(self._alpha, self._alpha, True, True)
                arrived = exact.plus(y, self._lam)
                low, high = arrived[:2]
                if low != high or _length(low) > bits:
                    low, high = self._rounded(arrived, mesh, gains)
                return Climb(position, q, self.number(low, high))
            mesh /= self._lam
        coarse = Grid(mesh, mesh, mesh, True, bits, gains=gains)
        return Climb(position, first, self._relax(start, coarse))

    def _is_level(self, x: fmpq) -> bool:
        return (int(x.p), int(x.q)) in self._level_set

    def seen(self, r: Range, level: int) -> int:
        """Return a maximum that is seen from above a slope, relaxed."""
        low, high = r[:2]
        if low != high or _length(low) > self.grids[level].bits:
            low, high = self._rounded(r, self.grids[level].seen, self.grids[level].gains)
        return self.number(low, high)

    def seen_again(self, v: int, level: int) -> int:
        """Return such a maximum relaxed by another grid."""
        if v == NO_ENTRY:
            return v
        found = self._seen[level].get(v)
        if found is None:
            found = self._seen[level][v] = self.seen(self.range[v], level)
        return found

    def _rounded(self, r: Range, mesh: fmpq, gains: int) -> tuple[fmpq, fmpq]:
        """Return ends on the grid, or marks, of an open interval that contains the given one."""
        # A reward of the target is worth its position; a coarse value will mostly do.
        size = mesh
        if r.lower > 2:
            size = fmpq(1 << (int(r.lower.floor()).bit_length() - 1), gains)
        size /= 4
        while 4 * size < r.upper - r.lower:
            size *= 2
        down = (fmpq((r.lower / size - self._offset).floor()) + self._offset) * size
        up = (fmpq((r.upper / size - self._offset).ceil()) + self._offset) * size
        marks = self._marks
        below = (bisect_left if r.with_lower else bisect_right)(marks, r.lower) - 1
        above = (bisect_right if r.with_upper else bisect_left)(marks, r.upper)
        if below >= 0:
            down = max(down, marks[below])
        if above < len(marks):
            up = min(up, marks[above])
        return down, up

    def orders(self, values: tuple[int, ...], known: tuple[int, ...]) -> list[Ordered]:
        """Tell bits of climbs until the order of all residuals is known, and return its law.

        What cannot be told, or is too unlikely, stays `UNORDERED`.

        Parameters
        ----------
        values : entries, all of which have residuals
        known : orders of their pairs (in the order of `itertools.combinations`) that are known
        """
        key = (values, known)
        if key not in self._orders:
            found: list[Ordered] = []
            self._tell(values, known, (arb(1), arb(0), arb(0)), found)
            self._orders[key] = found
        return self._orders[key]

    def _tell(
        self,
        values: tuple[int, ...],
        known: tuple[int, ...],
        weight: Element,
        found: list[Ordered],
    ) -> None:
        order, k = list(known), 0
        widest, telling = _ZERO, -1
        likely = float(weight[0].upper()) > _LEAST_LIKELY
        for i, a in enumerate(values):
            for j in range(i + 1, len(values)):
                b = values[j]
                sign = None
                if self.residual[a] is not None and self.residual[b] is not None:
                    sign = self.residual_sign(a, b)
                if sign is not None:
                    order[k] = sign
                elif known[k] == UNORDERED and likely:
                    dull = max(self._width(a), self._width(b)) / _DULL
                    for c in (i, j):
                        wide = self.range[values[c]]
                        width = wide.upper - wide.lower - self._width(values[c])
                        if width > max(dull, widest):
                            widest, telling = width, c
                k += 1
        if telling < 0:
            late = signed_ends(weight[1]), signed_ends(weight[2])
            found.append(Ordered(values, tuple(order), ends_of(weight[0]), late))
            return
        climb = self.climb[values[telling]]
        assert climb is not None
        for after, bit in zip(self.told(values[telling]), self.bits(climb.position), strict=True):
            if not bit[0].is_zero():
                put = (*values[:telling], after, *values[telling + 1 :])
                self._tell(put, known, multiply(weight, bit), found)

    def bits(self, position: int) -> tuple[Element, Element]:
        """Return the weights of one more rejection and of none.

        The steps of a climb are counted when it begins, by P(z) = (1 - b) z / (1 - b z) for b =
        position / n. Of that, what begins with a rejection has the share b z P(z), the other
        (1 - b) z: a b z-th and a (1 - b z)-th part.
        """
        if position not in self._bits:
            b = arb(fmpq(position, self.n))
            self._bits[position] = ((b, b, arb(0)), (1 - b, -b, arb(0)))
        return self._bits[position]

    def untold(self, v: int) -> float:
        """Return a bound of the variance of the steps that an entry's climb has not told."""
        found = self._untold.get(v)
        if found is None:
            found, climb = 0.0, self.climb[v]
            if climb is not None:
                counts = (
                    fmpq(q * self.n, (self.n - q) ** 2) for q in range(climb[1], climb[0] + 1)
                )
                found = times(ends_of(sum(counts, _ZERO))[1] + self.untold(climb.start))
            self._untold[v] = found
        return found

    def _width(self, v: int) -> fmpq:
        return self.upper[v] - self.lower[v]


class Ordered(NamedTuple):
    """Entries after bits of them were told, the orders of their pairs, and the weight.

    Attributes
    ----------
    late : coefficients of x and x^2 in the weight: what the bits say about steps counted before
    """

    values: tuple[int, ...]
    order: tuple[int, ...]
    probability: Ends
    late: tuple[Ends, Ends]


def _length(x: fmpq) -> int:
    return int(x.p).bit_length() + int(x.q).bit_length()
