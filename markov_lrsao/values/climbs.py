r"""Values that are known as far as they matter: forms in unknown climbs.

While a bridge is the only greedy action on a plateau of its own it is used until the plateau is
left upwards. At position j it is rejected N_j times, N_j geometric with ratio j/n, which
multiplies its entry by lam = 1 - alpha(1 - gamma) each time, and then accepted: lam times the
entry, plus alpha. So with

    Y_j = lam^(N_j) (alpha + lam Y_(j-1)),   Y_f = lam^(N_f) (value on arrival at the first f),

the entry is (1 - alpha) Y_b + alpha when the last position b has been left. The counts are
independent of all else, and E[T] is linear: they need not be known before they decide something.
An `Unknown` is such a Y_j. An entry is a `Form`: a number, or an open interval, plus non-negative
multiples of unknowns. Where a comparison depends on an unknown Y_j, one bit of it is *told*:
rejected once more (probability j/n, Y_j becomes lam Y_j: geometric laws have no memory) or not
(alpha + lam Y_(j-1)).

Forms would grow for ever, so they are relaxed: what moves an entry by less than a mesh becomes an
interval whose ends lie on a grid. No entry ever lies on that grid, since its points have a
prime factor in the denominator that no entry has: intervals are open, and neighbours never tie.
Values of one entry that only penalties have made stay exact, since they do tie.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flint import fmpq

__all__ = [
    "EXACTLY_ZERO",
    "Form",
    "Grid",
    "Range",
    "Unknown",
    "add",
    "affine",
    "exactly",
    "spread",
    "substitute",
]


class Form(NamedTuple):
    """lower..upper plus the sum of coefficient times unknown; an interval if the ends differ."""

    lower: fmpq
    upper: fmpq
    terms: tuple[tuple[int, fmpq], ...] = ()


class Unknown(NamedTuple):
    """Y_j of a climb from `first` that began at the value `start`, j = `position`."""

    position: int
    first: int
    start: Form


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


_ZERO = fmpq(0)
EXACTLY_ZERO = Form(_ZERO, _ZERO)


def exactly(value: fmpq) -> Form:
    """Return a known number."""
    return Form(value, value)


def affine(form: Form, factor: fmpq, constant: fmpq) -> Form:
    """Return factor * form + constant, factor > 0."""
    return Form(
        factor * form.lower + constant,
        factor * form.upper + constant,
        tuple((v, factor * c) for v, c in form.terms),
    )


def add(form: Form, other: Form, factor: fmpq) -> Form:
    """Return form + factor * other; a negative factor turns intervals round."""
    terms = dict(form.terms)
    for v, c in other.terms:
        terms[v] = terms.get(v, _ZERO) + factor * c
    low, high = (other.lower, other.upper) if factor > 0 else (other.upper, other.lower)
    return Form(
        form.lower + factor * low,
        form.upper + factor * high,
        tuple(sorted((v, c) for v, c in terms.items() if c != 0)),
    )


def spread(
    form: Form, unknowns: Sequence[Unknown], laws: tuple[fmpq, fmpq], known: dict[int, Range]
) -> Range:
    """Return the interval in which a form lies, whatever the unknowns are.

    Parameters
    ----------
    laws : alpha and lam
    known : ranges of unknowns, filled while they are found
    """
    low, high = form.lower, form.upper
    with_low = with_high = low == high
    for v, c in form.terms:
        if v not in known:
            known[v] = _range_of(unknowns[v], unknowns, laws, known)
        r = known[v] if c > 0 else Range(*known[v][1::-1], *known[v][:1:-1])
        low += c * r.lower
        high += c * r.upper
        with_low, with_high = with_low and r.with_lower, with_high and r.with_upper
    return Range(low, high, with_low, with_high)


def _range_of(
    unknown: Unknown,
    unknowns: Sequence[Unknown],
    laws: tuple[fmpq, fmpq],
    known: dict[int, Range],
) -> Range:
    alpha, lam = laws
    low, high, with_low, with_high = spread(unknown.start, unknowns, laws, known)
    for p in range(unknown.first, unknown.position + 1):
        if p > unknown.first:
            low, high = alpha + lam * low, alpha + lam * high
        if p == 0 or (low == 0 == high and with_low):
            continue  # never rejected; or nothing that a rejection would shrink
        if low >= 0:
            low, with_low = _ZERO, False
        if high <= 0:
            high, with_high = _ZERO, False
    return Range(low, high, with_low, with_high)


@dataclass(frozen=True)
class Grid:
    """How forms are relaxed.

    Attributes
    ----------
    laws : alpha and lam
    mesh : entries; what moves one by less is not followed. The grid is four times finer
    coarse : the same for maxima of neighbouring rows, which are seen through alpha * gamma
    offset : where grid points lie between multiples of the grid's size
    marks : increasing exact values of interest: no interval is rounded across one
    bits : numbers that are longer than this are rounded too
    """

    laws: tuple[fmpq, fmpq]
    mesh: fmpq
    coarse: fmpq
    offset: fmpq
    marks: tuple[fmpq, ...]
    bits: int

    def relax(
        self, form: Form, unknowns: Sequence[Unknown], known: dict[int, Range], *, coarse: bool
    ) -> Form:
        """Return a form that contains the given one, with ends on the grid unless it is exact."""
        low, high, terms = form
        mesh = self.coarse if coarse else self.mesh
        left = []
        with_low = with_high = low == high
        for v, c in terms:
            r = spread(Form(_ZERO, _ZERO, ((v, c),)), unknowns, self.laws, known)
            if coarse or r.upper - r.lower < mesh:
                low, high = low + r.lower, high + r.upper
                with_low, with_high = with_low and r.with_lower, with_high and r.with_upper
            else:
                left.append((v, c))
        if low == high and _length(low) <= self.bits:
            return Form(low, high, tuple(left))
        # A reward of the target is worth its position; a coarse value will do.
        size = max(mesh, fmpq(1 << (int(low.floor()).bit_length() - 1), 8)) if low > 2 else mesh
        size /= 4
        while 4 * size < high - low:
            size *= 2
        return Form(*self._outwards(Range(low, high, with_low, with_high), size), tuple(left))

    def _outwards(self, r: Range, size: fmpq) -> tuple[fmpq, fmpq]:
        """Return ends on the grid, or marks, of an open interval that contains the given one."""
        down = (fmpq((r.lower / size - self.offset).floor()) + self.offset) * size
        up = (fmpq((r.upper / size - self.offset).ceil()) + self.offset) * size
        marks = self.marks
        below = (bisect_left if r.with_lower else bisect_right)(marks, r.lower) - 1
        above = (bisect_right if r.with_upper else bisect_left)(marks, r.upper)
        if below >= 0:
            down = max(down, marks[below])
        if above < len(marks):
            up = min(up, marks[above])
        return down, up


def _length(x: fmpq) -> int:
    return int(x.p).bit_length() + int(x.q).bit_length()


def substitute(form: Form, replaced: Mapping[int, Form]) -> Form:
    """Put forms in the place of unknowns."""
    result = Form(form.lower, form.upper, tuple(t for t in form.terms if t[0] not in replaced))
    for v, c in form.terms:
        if v in replaced:
            result = add(result, replaced[v], c)
    return result
