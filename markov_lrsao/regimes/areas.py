r"""The areas that the borders cut out of (H).

Two questions split the interval of r that (H) allows at an alpha (`markov_lrsao.regimes.borders`):
does L always, never, or sometimes come back above R, and after how many exits k does J become
positive? Where L never does and k has an answer, the law of T depends on n, l and k only. Where L
always does, the same was found at every point that was tried; a map whose points say otherwise is
refused (`markov_lrsao.figures.maps`). Between "J always, k" and "J never, k", and between
"L always" and "L never", the law may depend on values; those areas are *open*.

>>> [(area.name, area.decided) for area in areas(9, 2, [fmpq(4, 5)], fmpq(1, 10))]
[('k = 1', True)]
>>> low, high = areas(9, 2, [fmpq(4, 5)], fmpq(1, 10))[0].interval(fmpq(4, 5))
>>> low, high  # all of (H)
(7/3, 25/2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.exact.rationals import RationalLike, rational, to_float
from markov_lrsao.regimes.borders import Border, borders

__all__ = ["MOST_EXITS", "Area", "areas", "inner_point"]

MOST_EXITS = 100
"""Areas with more exits are not told apart."""
_MOST_DIGITS = 400
_Side = tuple[str, bool, tuple[Border, ...], tuple[Border, ...]]
"""Name, whether it is decided, and what r must exceed and stay below."""


@dataclass(frozen=True, eq=False)
class Area:
    """Hyper-parameters between borders.

    Attributes
    ----------
    name : e.g. "k = 2", "L always, k = 1", "J open, 2"
    decided : whether the borders decide the law of T
    lower, upper : r lies above all of the former and below all of the latter; (H)'s come first
    """

    name: str
    decided: bool
    lower: tuple[Border, ...]
    upper: tuple[Border, ...]

    def interval(self, alpha: fmpq) -> tuple[fmpq, fmpq] | None:
        """Return the r of the area at an alpha as the ends of an interval; None: there are none."""
        low, high = max(b.r(alpha) for b in self.lower), min(b.r(alpha) for b in self.upper)
        return (low, high) if low < high else None

    def outline(self, alpha: float) -> tuple[float, float] | None:
        """Return the same in floats, for drawing; beyond (H) its nearest end, twice.

        So outlines meet the ends of (H) in their corners, although few alphas are looked at.
        """
        (bottom, *low), (top, *high) = (
            [b.float(alpha) for b in limits] for limits in (self.lower, self.upper)
        )
        if bottom >= top or max(low, default=bottom) >= min(high, default=top):
            return None
        if max(low, default=bottom) >= top:
            return top, top
        if min(high, default=top) <= bottom:
            return bottom, bottom
        return max([bottom, *low]), min([top, *high])

    def contains(self, alpha: fmpq, r: fmpq) -> bool:
        """Whether a point lies strictly within the area; points on borders are in none."""
        found = self.interval(alpha)
        return found is not None and bool(found[0] < r < found[1])


def areas(
    n: int, ell: int, alphas: Sequence[fmpq], gamma: RationalLike | None = None
) -> tuple[Area, ...]:
    """Return the areas that are met at some of the alphas; decided ones first, then by k.

    They are looked for in floats, so an area of a relative width below 1e-12 may be missed.
    """
    g = fmpq(1, n + 1) if gamma is None else rational(gamma, "gamma")
    found = {b.name: b for b in borders(n, ell, g, exits=MOST_EXITS)}
    bottom, top = found["(H), lower"], found["(H), upper"]
    at = [to_float(a) for a in alphas]
    met = []
    for l_name, l_decided, l_low, l_high in _sides_of_l(found):
        for j_name, j_decided, j_low, j_high in _sides_of_j(found, at):
            name = ", ".join(part for part in (l_name, j_name) if part)
            low, high = (bottom, *l_low, *j_low), (top, *l_high, *j_high)
            area = Area(name, l_decided and j_decided, low, high)
            if any(low < high for low, high in filter(None, map(area.outline, at))):
                met.append(area)
    return tuple(sorted(met, key=lambda area: not area.decided))


def _sides_of_l(found: dict[str, Border]) -> list[_Side]:
    always, never = found["L always"], found["L never"]
    return [
        ("", True, (never,), ()),
        ("L always", True, (), (always,)),
        ("L open", False, (always,), (never,)),
    ]


def _sides_of_j(found: dict[str, Border], alphas: Sequence[float]) -> list[_Side]:
    sides: list[_Side] = []
    tops = [(a, found["(H), upper"].float(a)) for a in alphas]
    for k in range(1, MOST_EXITS + 1):
        always, never = found[f"J always, {k}"], found[f"J never, {k}"]
        before = (found[f"J never, {k - 1}"],) if k > 1 else ()
        if all(border.float(a) >= top for border in before for a, top in tops) and before:
            return sides  # beyond (H)
        sides.append((f"k = {k}", True, before, (always,)))
        sides.append((f"J open, {k}", False, (always,), (never,)))
    return [*sides, (f"k > {MOST_EXITS}", False, (found[f"J never, {MOST_EXITS}"],), ())]


def inner_point(area: Area, alphas: Sequence[fmpq]) -> tuple[fmpq, fmpq]:
    """Return a point well within an area: where its interval is relatively longest, in the middle.

    The penalty is a decimal with as few digits as still lie within the middle half.
    """

    def length(alpha: fmpq) -> float:
        found = area.outline(to_float(alpha))
        return 0.0 if found is None else found[1] / found[0]

    alpha = max(alphas, key=length)
    interval: Any = area.interval(alpha)
    low, high = interval
    quarter = (high - low) / 4
    for digits in range(_MOST_DIGITS):
        unit = fmpq(10) ** digits
        r = fmpq(((low + high) / 2 * unit + fmpq(1, 2)).floor()) / unit
        if low + quarter <= r <= high - quarter:
            return alpha, r
    raise ArithmeticError(f"the area {area.name} is too thin")  # its width is positive
