"""What is known of all tables of a lump, and which planes that decides.

A plane is *decided* on a lump if its form has one sign there. What is asked is answered from four
kinds of knowledge: the planes by which the lump was cut; a box that contains it; signs of single
entries; and sums, h = k g + rest with a known plane g and the rest decided by the box. A plane that
none of them decides may be decided all the same: then the lump is cut in vain, which costs states
and nothing else.

Boxes are floats rounded outwards: every sum is moved by 1e-12 of the sum of its magnitudes, some
thousand times what its roundings can amount to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markov_lrsao.values.quotient.planes import (
    Equalities,
    Plane,
    coordinate,
    in_floats,
    primitive,
)

__all__ = ["Known"]

_SLACK = 1e-12  # of the magnitudes of a sum, against their rounding
_LEAST = 1e-290  # and against underflow
_SMALL = 1e-9  # a coefficient by which nothing is divided
_NEARLY = 1e-6  # a bound that may be 0 is looked at exactly
_floats: dict[Plane, tuple[tuple[tuple[int, float], ...], float]] = {}
_MOST_FLOATS = 500_000

Floats = tuple[tuple[tuple[int, float], ...], float]


def floats_of(of: Plane) -> Floats:
    """Return a plane's form in floats; kept."""
    found = _floats.get(of)
    if found is None:
        if len(_floats) > _MOST_FLOATS:
            _floats.clear()
        found = _floats[of] = in_floats(of)
    return found


@dataclass(slots=True)
class Known:
    """Knowledge of a lump.

    Attributes
    ----------
    path : the planes by which the lump was cut out, with the signs of their forms
    low, high : a box: bounds of every entry
    equalities : those of the path with sign 0
    facts : planes that are decided, those of the path among them
    """

    path: tuple[tuple[Plane, int], ...]
    low: Sequence[float]
    high: Sequence[float]
    equalities: Equalities
    facts: dict[Plane, int] = field(default_factory=dict)

    def plus(self, of: Plane, sign: int) -> Known:
        """Return what is known on one side of a plane, or on it; facts of the path only."""
        low, high = _tightened(self.low, self.high, of, sign)
        equalities = self.equalities.plus(of) if sign == 0 else self.equalities
        path = (*self.path, (of, sign))
        return Known(path, low, high, equalities, dict(path))

    def decide(self, of: Plane) -> int | None:
        """Return the sign of a form on the lump; None: not known."""
        found = self.facts.get(of)
        if found is None:
            found = self._decided(of)
            if found is not None:
                self.facts[of] = found
        return found

    def _decided(self, of: Plane) -> int | None:
        terms, constant = floats_of(of)
        low, high = self._range(terms, constant)
        if low > 0:
            return 1
        if high < 0:
            return -1
        sign, strict = self._signs(of)
        if sign == 0 or (sign is not None and strict):
            return sign
        return self._by_sums(of, dict(terms), constant)

    def _range(self, terms: Sequence[tuple[int, float]], constant: float) -> tuple[float, float]:
        """Return bounds of a form on the box."""
        low = high = constant
        magnitude = abs(constant)
        for i, v in terms:
            a, b = v * self.low[i], v * self.high[i]
            magnitude += abs(a) + abs(b)
            if v > 0:
                low += a
                high += b
            else:
                low += b
                high += a
        slack = magnitude * _SLACK + _LEAST
        return low - slack, high + slack

    def _signs(self, of: Plane) -> tuple[int | None, bool]:
        """Return the sign of a form whose terms have one sign, and whether it is strict.

        Without a strict term the form may be 0 as well.
        """
        positive, negative = of[1] > 0, of[1] < 0
        strict = of[1] != 0
        for i, v in of[0]:
            sign, certain = self._sign(i)
            if sign is None:
                return None, False
            strict = strict or (certain and sign != 0)
            positive = positive or sign * v > 0
            negative = negative or sign * v < 0
        if positive and negative:
            return None, False
        return int(positive) - int(negative), strict

    def _sign(self, i: int) -> tuple[int | None, bool]:
        """Return the sign of an entry, and whether it is certainly not 0 unless that is 0."""
        known = self.facts.get(coordinate(i))
        if known is not None:
            return known, True
        low, high = self.low[i], self.high[i]
        if low > 0 or high < 0:
            return (1 if low > 0 else -1), True
        if low == 0:
            return (0 if high == 0 else 1), False
        return (-1 if high == 0 else None), False

    def _by_sums(self, of: Plane, terms: dict[int, float], constant: float) -> int | None:
        """Decide h = k g + rest, k g having a known sign that the rest does not spoil."""
        for other, sign in self.path:
            if sign == 0:
                continue
            floats, moved = floats_of(other)
            for i, v in floats:
                w = terms.get(i)
                if w is None or abs(v) < _SMALL or abs(w) < _SMALL:
                    continue
                wanted = sign if w * v > 0 else -sign
                low, high = self._rest(terms, constant, floats, moved, w / v, i)
                if (wanted > 0 and low > 0) or (wanted < 0 and high < 0):
                    return wanted
                near = low > -_NEARLY if wanted > 0 else high < _NEARLY
                if near and self._rest_agrees(of, other, i, wanted):
                    return wanted
        return None

    def _rest(
        self,
        terms: dict[int, float],
        constant: float,
        other: Sequence[tuple[int, float]],
        moved: float,
        factor: float,
        without: int,
    ) -> tuple[float, float]:
        """Return bounds of h - factor g on the box; the entry that cancels is left out."""
        rest = dict(terms)
        del rest[without]
        scale = abs(constant) + abs(factor * moved)
        for j, u in other:
            if j != without:
                before = rest.get(j, 0.0)
                rest[j] = before - factor * u
                largest = max(abs(self.low[j]), abs(self.high[j]))
                scale += (abs(before) + abs(factor * u)) * largest
        low, high = self._range(tuple(rest.items()), constant - factor * moved)
        return low - scale * _SLACK, high + scale * _SLACK

    def _rest_agrees(self, of: Plane, other: Plane, i: int, wanted: int) -> bool:
        """Whether |g_i| h - (h_i sign g_i) g, in integers, is 0 or has the wanted sign."""
        mine, theirs = dict(of[0]), dict(other[0])
        scale = abs(theirs[i])
        factor = mine[i] if theirs[i] > 0 else -mine[i]
        rest = {j: u * scale for j, u in of[0]}
        for j, u in other[0]:
            rest[j] = rest.get(j, 0) - factor * u
        terms = tuple((j, u) for j, u in sorted(rest.items()) if u)
        constant = of[1] * scale - factor * other[1]
        if not terms:
            return constant * wanted >= 0
        if len(terms) == 1:
            named, sign = primitive(terms, constant)
            known = self.facts.get(named)
            if known is not None:
                return known * sign * wanted >= 0
        found, _ = self._signs((terms, constant))
        return found is not None and found * wanted >= 0


def _tightened(
    low: Sequence[float], high: Sequence[float], of: Plane, sign: int
) -> tuple[list[float], list[float]]:
    """Return the box of one side of a plane: each entry in turn, the others at their ends."""
    below, above = list(low), list(high)
    terms, constant = floats_of(of)
    exact_zero = len(terms) == 1 and of[1] == 0
    for side in (sign,) if sign else (1, -1):
        for i, v in terms:
            if abs(v) < _SMALL:
                continue
            # side (v x_i + rest) >= 0, and side rest <= most.
            most, magnitude = side * constant, abs(constant)
            for j, w in terms:
                if j != i:
                    t = side * w * (above[j] if side * w > 0 else below[j])
                    most += t
                    magnitude += abs(t)
            most += magnitude * _SLACK + _LEAST
            a = side * v
            end = 0.0 if exact_zero else -most / a
            if not exact_zero:
                end -= abs(end) * _SLACK * (1 if a > 0 else -1)
            if a > 0:
                below[i] = max(below[i], end)
            else:
                above[i] = min(above[i], end)
    return below, above
