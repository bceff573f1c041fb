"""Polynomials in three unknowns, as dictionaries from exponents to coefficients."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .basics import need

__all__ = ["Polynomial", "added", "polynomial", "positive", "times", "value_at"]

Polynomial = dict[tuple[int, int, int], Fraction]


def polynomial(terms: Any) -> Polynomial:
    """Return {(i, j, k): c} for a list of terms [i, j, k, c], c n^i l^j H^k."""
    return added(*({(int(i), int(j), int(k)): Fraction(c)} for i, j, k, c in terms))


def added(*polynomials: Polynomial) -> Polynomial:
    """Return a sum, without zeros."""
    total: Polynomial = {}
    for one in polynomials:
        for key, c in one.items():
            total[key] = total.get(key, Fraction(0)) + c
    return {key: c for key, c in total.items() if c}


def times(*factors: Polynomial) -> Polynomial:
    """Return a product."""
    product: Polynomial = {(0, 0, 0): Fraction(1)}
    for factor in factors:
        total: Polynomial = {}
        for (i, j, k), c in product.items():
            for (a, b, d), e in factor.items():
                key = (i + a, j + b, k + d)
                total[key] = total.get(key, Fraction(0)) + c * e
        product = {key: c for key, c in total.items() if c}
    return product


def positive(poly: Polynomial, where: Any) -> bool:
    """Return whether a polynomial is positive for all n >= 2l + 5, l >= b (or l = b).

    With l = b + u and n = 2l + 5 + v (u, v >= 0) no coefficient is negative, and the constant one
    is not zero.
    """
    fixed = "equals" in where
    low = where["equals"] if fixed else where["at_least"]
    ell = added({(0, 0, 0): Fraction(low), (0, 1, 0): Fraction(not fixed)})
    n = added(
        times(ell, {(0, 0, 0): Fraction(2)}), {(0, 0, 0): Fraction(5), (1, 0, 0): Fraction(1)}
    )
    moved: Polynomial = {}
    for (i, j, k), c in poly.items():
        need(k == 0, "a denominator with H")
        moved = added(moved, times({(0, 0, 0): c}, *[n] * i, *[ell] * j))
    return moved.get((0, 0, 0), 0) > 0 and all(c >= 0 for c in moved.values())


def value_at(poly: Polynomial, n: int, ell: int, h: Fraction) -> Fraction:
    """Return the value at a point."""
    return sum(
        (c * Fraction(n) ** i * Fraction(ell) ** j * h**k for (i, j, k), c in poly.items()),
        Fraction(0),
    )
