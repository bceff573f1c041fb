"""Planes in the space of Q-tables, in a normal form, and what equalities make of them.

A plane is the set where c + v_1 x_i + v_2 x_j + .. = 0; the x are entries of the table, numbered
row by row. Integers without a common divisor, the first of them positive, name it once and for all:
what was asked before is recognised by looking it up.

>>> plane({0: fmpq(-1, 2), 3: fmpq(1, 3)}, fmpq(1))
((((0, 3), (3, -2)), -6), -1)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from math import gcd, lcm
from typing import TypeAlias

from flint import fmpq

__all__ = [
    "Equalities",
    "Form",
    "Plane",
    "Table",
    "coordinate",
    "difference",
    "in_floats",
    "plane",
    "primitive",
    "simplest",
    "value_on",
]

Plane: TypeAlias = tuple[tuple[tuple[int, int], ...], int]
"""Coefficients of some entries, and the constant."""
Form: TypeAlias = tuple[tuple[tuple[int, fmpq], ...], fmpq]
"""The same with rational coefficients and in no normal form."""
Table: TypeAlias = tuple[fmpq, ...]
_ZERO = fmpq(0)
_HUGE = 10**300


def primitive(terms: Iterable[tuple[int, int]], constant: int) -> tuple[Plane, int]:
    """Return the plane of integer coefficients (sorted, none 0), and the sign of the factor."""
    terms = tuple(terms)
    divisor = abs(constant)
    for _, v in terms:
        divisor = gcd(divisor, v)
    sign = 1 if terms[0][1] > 0 else -1
    divisor *= sign
    return (tuple((i, v // divisor) for i, v in terms), constant // divisor), sign


def plane(terms: Mapping[int, fmpq], constant: fmpq) -> tuple[Plane | None, int]:
    """Return the plane where a form is 0, and the sign of the factor between them.

    A form without terms has no plane; then the sign is that of its constant.
    """
    kept = sorted((i, v) for i, v in terms.items() if v != 0)
    if not kept:
        return None, int(constant > 0) - int(constant < 0)
    below = lcm(int(constant.q), *(int(v.q) for _, v in kept))
    return primitive(
        ((i, int(v.p) * (below // int(v.q))) for i, v in kept),
        int(constant.p) * (below // int(constant.q)),
    )


def coordinate(i: int, value: fmpq = _ZERO) -> Plane:
    """Return the plane where an entry has a value."""
    return ((i, int(value.q)),), -int(value.p)


def difference(i: int, j: int) -> Plane:
    """Return the plane where two entries are equal."""
    return ((min(i, j), 1), (max(i, j), -1)), 0


def value_on(of: Plane, table: Table) -> fmpq:
    """Return the value of the plane's form at a table."""
    total = fmpq(of[1])
    for i, v in of[0]:
        total += v * table[i]
    return total


def in_floats(of: Plane) -> tuple[tuple[tuple[int, float], ...], float]:
    """Return the form divided by its largest coefficient, each number with one rounding.

    A constant beyond the range of floats is cut off: it decides the sign all the same.
    """
    largest = max(abs(v) for _, v in of[0])
    constant = of[1]
    if abs(constant) >= _HUGE * largest:
        return tuple((i, v / largest) for i, v in of[0]), math.copysign(1e300, constant)
    return tuple((i, v / largest) for i, v in of[0]), constant / largest


def simplest(low: float, high: float) -> fmpq:
    """Return the rational with the smallest denominator between two floats.

    >>> simplest(0.3, 0.35)
    1/3
    """
    if low <= 0 <= high:
        return fmpq(0)
    if high < 0:
        return -simplest(-high, -low)
    whole = math.floor(low)
    if whole == low:
        return fmpq(whole)
    if whole + 1 <= high:
        return fmpq(whole + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


class Equalities:
    """Linear equalities that all tables of a lump obey: some entries as forms in the others."""

    def __init__(self, solved: Mapping[int, Form]) -> None:
        self._solved = solved
        self._reduced: dict[Plane, tuple[Plane | None, int]] = {}
        self._with: dict[Plane, Equalities] = {}

    def reduce(self, of: Plane) -> tuple[Plane | None, int]:
        """Return a plane with the solved entries put in; None: the form is constant."""
        found = self._reduced.get(of)
        if found is None:
            found = self._reduced[of] = self._put_in(of)
        return found

    def _put_in(self, of: Plane) -> tuple[Plane | None, int]:
        if not any(i in self._solved for i, _ in of[0]):
            return of, 1
        terms: dict[int, fmpq] = {}
        constant = fmpq(of[1])
        for i, v in of[0]:
            known = self._solved.get(i)
            if known is None:
                terms[i] = terms.get(i, _ZERO) + v
                continue
            constant += v * known[1]
            for j, w in known[0]:
                terms[j] = terms.get(j, _ZERO) + v * w
        return plane(terms, constant)

    def plus(self, of: Plane) -> Equalities:
        """Return these equalities and that of a plane, which is reduced."""
        found = self._with.get(of)
        if found is None:
            found = self._with[of] = Equalities(self._solve(of))
        return found

    def _solve(self, of: Plane) -> dict[int, Form]:
        last, v = of[0][-1]
        form: Form = (tuple((j, fmpq(-w, v)) for j, w in of[0][:-1]), fmpq(-of[1], v))
        solved: dict[int, Form] = {}
        for i, (terms, constant) in self._solved.items():
            left = dict(terms)
            factor = left.pop(last, None)
            if factor is not None:
                constant += factor * form[1]
                for j, w in form[0]:
                    left[j] = left.get(j, _ZERO) + factor * w
            solved[i] = tuple((j, w) for j, w in sorted(left.items()) if w != 0), constant
        solved[last] = form
        return solved
