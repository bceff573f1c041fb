r"""Laws by mass, mean and central moments: an algebra in which nothing cancels.

Generating functions of runtimes are sums and products of those of smaller pieces. Raw or
factorial moments add up to numbers of the size of E[T]^k, from which a central moment remains
after almost all digits have cancelled (at n = 10^6 thirteen of sixteen). So every piece
is kept as a *measure*: its mass, and mean and central moments given that it occurs. Then

* a product (one piece after the other) adds means, second and third central moments;
  the fourth is a4 + 6 a2 b2 + b4;
* a sum (one piece or the other) is a mixture: with weights w, v and d the difference of
  the means, the second moment is w a2 + v b2 + w v d^2, and so on;
* 1/(1 - a) is a sum of a geometric number of copies of a; its moments are polynomials with
  positive coefficients.

The numbers may be of any kind; with `Positive` masses and `Ball` moments the result carries a
rigorous bound of its error.

>>> from flint import fmpq
>>> coin = Measure((fmpq(1, 2), fmpq(1), fmpq(0), fmpq(0), fmpq(0)))  # stays for one step
>>> [str(x) for x in coin.repeated(fmpq(1, 2))]  # how often, until it leaves
['2', '1', '2', '6', '38']
"""

from __future__ import annotations

from typing import Any

from markov_lrsao.exact.balls import Ball, Mixture, Positive

__all__ = ["Measure"]


class Measure(tuple[Any, ...]):
    """(mass, mean, second, third, fourth central moment), as far as they are asked for."""

    __slots__ = ()

    def scaled(self, factor: Any) -> Measure:
        """Return the measure times a number: the law given that it occurs stays."""
        return Measure((self[0] * factor, *self[1:]))

    def followed_by(self, other: Measure) -> Measure:
        """Return the product."""
        result = [self[0] * other[0], *(a + b for a, b in zip(self[1:], other[1:], strict=True))]
        if len(self) > 4:
            result[4] = result[4] + 6 * (self[2] * other[2])
        return Measure(result)

    def mixed(self, other: Measure) -> Measure:
        """Return the sum."""
        for a, b in ((self, other), (other, self)):
            if _is_zero(a[0]):
                return b
        if len(self) == 1:
            return Measure((self[0] + other[0],))
        mean_of = Mixture(self[0], other[0])
        w, v = mean_of.w, mean_of.v
        result = [mean_of.total, mean_of(self[1], other[1])]
        d, both = other[1] - self[1], w * v
        if len(self) > 2:
            a2, b2, d2 = self[2], other[2], d * d
            result.append(mean_of(a2, b2) + both * d2)
        if len(self) > 3:
            a3, b3 = self[3], other[3]
            odd = 3 * (d * (b2 - a2)) + (w - v) * (d2 * d)
            result.append(mean_of(a3, b3) + both * odd)
        if len(self) > 4:
            rest = 4 * (d * (b3 - a3)) + 6 * (d2 * (v * a2 + w * b2))
            rest = rest + (v * v * v + w * w * w) * (d2 * d2)
            result.append(mean_of(self[4], other[4]) + both * rest)
        return Measure(result)

    def repeated(self, leaving: Any) -> Measure:
        """Return 1 / (1 - a), given 1 minus the mass of a.

        The number N of copies is geometric with the cumulants p/q, p/q^2, p(1+p)/q^3 and
        p(1+4p+p^2)/q^4, p the mass and q = 1 - p; a central moment of the sum follows from
        the composition of the two cumulant generating functions.
        """
        p, mass = self[0], 1 / leaving
        if len(self) == 1:
            return Measure((mass,))
        x = self[1]
        c1 = p * mass
        result = [mass, c1 * x]
        if len(self) > 2:
            c2, x2 = c1 * mass, self[2]
            result.append(c1 * x2 + c2 * (x * x))
        if len(self) > 3:
            c3, x3 = (p + p * p) * mass * mass * mass, self[3]
            result.append(c1 * x3 + (3 * c2) * (x * x2) + c3 * (x * x * x))
        if len(self) > 4:
            pp = p * p
            c4 = (p + 4 * pp + pp * p) * (mass * mass) * (mass * mass)
            square = x * x
            result.append(
                c1 * self[4]
                + (4 * c2) * (x * x3)
                + (6 * (c1 * c1)) * (x2 * x2)
                + (6 * (c3 + c1 * c2)) * (square * x2)
                + (c4 + 3 * (c2 * c2)) * (square * square)
            )
        return Measure(result)

    def picked(self, index: Any) -> Measure:
        """Return part of a measure of arrays."""
        return Measure(c[index] for c in self)

    def full(self, count: int) -> Measure:
        """Return a measure of arrays of the given length, also where all are equal."""
        return Measure(c.full(count) for c in self)

    @classmethod
    def certain(cls, mean: int, order: int) -> Measure:
        """Return the law of a known number of steps, in floats with bounds."""
        return cls((Positive(1.0), Ball(float(mean)), *[Ball(0.0)] * (order - 1))[: order + 1])


def _is_zero(mass: Any) -> bool:
    """Whether a single mass is 0; arrays of masses are positive throughout."""
    value = mass.value if isinstance(mass, Positive) else mass
    return bool(value == 0) if not hasattr(value, "shape") or value.shape == () else False
