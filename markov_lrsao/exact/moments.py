"""Central moments from factorial moments, of exact numbers and of enclosed ones."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from markov_lrsao.exact.quantity import Enclosed, Quantity
from markov_lrsao.exact.series import Element

__all__ = ["central_enclosures", "central_from_factorial"]

_STIRLING = ((1,), (1, 2), (1, 6, 6), (1, 14, 36, 24))
"""E[T^k] = sum_j S(k, j) j! E[(T choose j)], S the Stirling numbers of the second kind."""


def central_from_factorial(element: Element) -> list[Any]:
    """Return mean, variance and further central moments from E[(T choose k)], k = 0, 1, .., 4.

    `element` is E[z^T] about z = 1, so its constant term is 1. Its numbers may be rationals or
    quantities, and so are the moments.

    >>> central_from_factorial((fmpq(1), fmpq(3), fmpq(6)))  # T has mean 3, E[T(T-1)] = 12
    [3, 6]
    """
    _, *binomial = element
    raw = [
        sum(w * b for w, b in zip(weights, binomial, strict=False))
        for weights, _ in zip(_STIRLING, binomial, strict=False)
    ]
    mean, square = raw[0], raw[0] * raw[0]
    result = [mean]
    if len(raw) > 1:
        result.append(raw[1] - square)
    if len(raw) > 2:
        result.append(raw[2] - 3 * mean * raw[1] + 2 * mean * square)
    if len(raw) > 3:
        result.append(raw[3] - 4 * mean * raw[2] + 6 * square * raw[1] - 3 * square * square)
    return result


def central_enclosures(lower: Element, upper: Element) -> list[Quantity]:
    """Return mean, variance, .. from bounds of E[(T choose k)], k = 0, 1, ..

    Equal bounds give exact moments; even ones are not negative.

    >>> q = central_enclosures((fmpq(1), fmpq(3), fmpq(6)), (fmpq(1), fmpq(3), fmpq(6)))
    >>> [str(v) for v in q]
    ['3', '6']
    """
    found: list[Quantity] = central_from_factorial(
        tuple(Quantity.enclosed(low, high) for low, high in zip(lower, upper, strict=True))
    )
    for k in range(1, len(found), 2):
        match found[k]:
            case Enclosed(low, high) if low < 0:
                found[k] = Quantity.enclosed(fmpq(0), high)
    return found
