r"""Arrays of complex floats that carry their error: disks, and roots of unity in them.

A `Disk` is an array of midpoints, complex or real, and one of radii: the true number lies within
the radius of the midpoint. With u = 2^-53 and no overflow, floats guarantee

    |fl(a + b) - (a + b)| <= u |a + b|,         |fl(a b) - a b| <= sqrt(5) u |a b|,

the latter for complex numbers multiplied by the usual formula, with or without fused operations;
real numbers have u in place of sqrt(5) u. An inverse is conj(d) / (re^2 + im^2), within 4u. A
modulus is sqrt(re^2 + im^2), within 3u. Radii are floats too: each is raised by 16u for its own
roundings, and `_TINY` makes up for underflow, in radii and in midpoints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import acb, arb, ctx, fmpq

from markov_lrsao.errors import SolverError

__all__ = ["Circle", "Disk"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_UNIT = 2.0**-53
_UP = 1 + 16 * _UNIT
_TINY = 1e-150
_TABLE_BITS, _ROUNDED = 160, 1e-40
"""Precision of balls before they are rounded to floats, and a bound of their radii then."""


def _modulus(x: Any) -> Any:
    """Return an upper bound of |x|."""
    if not np.iscomplexobj(x):
        return np.abs(x)
    return np.sqrt(x.real * x.real + x.imag * x.imag) * _UP + _TINY


class Disk:
    """Arrays of numbers, each within its radius of its midpoint.

    >>> third = 1 / Disk(np.array([3 + 0j]))
    >>> bool(abs(third.mid[0] - 1 / 3) <= third.rad[0] < 1e-15)
    True
    """

    __slots__ = ("_size", "mid", "rad")
    __array_ufunc__ = None  # numpy leaves operations to this class

    def __init__(self, mid: Any, rad: Any = None) -> None:
        self.mid = mid
        self.rad = np.zeros(np.shape(mid)) if rad is None else rad
        self._size: Any = None

    @classmethod
    def ratio(cls, numerators: Any, denominator: int) -> Disk:
        """Return real quotients of integers, each rounded at most three times."""
        values = np.asarray(numerators, dtype=np.float64) / denominator
        return cls(values, 4 * _UNIT * np.abs(values) + _TINY)

    @property
    def size(self) -> Any:
        """An upper bound of the midpoint's modulus."""
        if self._size is None:
            self._size = _modulus(self.mid)
        return self._size

    @property
    def upper(self) -> Any:
        """An upper bound of the modulus."""
        return (self.size + self.rad) * _UP

    @property
    def zero(self) -> bool:
        """Whether one of the numbers is 0 for certain."""
        return bool(np.any((self.mid == 0) & (self.rad == 0)))

    def __len__(self) -> int:
        return len(self.mid)

    def __getitem__(self, index: Any) -> Disk:
        return Disk(self.mid[index], self.rad[index])

    def __neg__(self) -> Disk:
        return Disk(-self.mid, self.rad)

    def __add__(self, other: Any) -> Disk:
        b = _disk(other)
        found = Disk(self.mid + b.mid, 0.0)
        found.rad = (self.rad + b.rad + (2 * _UNIT) * found.size) * _UP
        return found

    __radd__ = __add__

    def __rsub__(self, other: Any) -> Disk:
        return _disk(other) + (-self)

    def __mul__(self, other: Any) -> Disk:
        b = _disk(other)
        x, y = self.size, b.size
        rad = x * (b.rad + (3 * _UNIT) * y) + (y + b.rad) * self.rad
        return Disk(self.mid * b.mid, rad * _UP + _TINY)

    __rmul__ = __mul__

    def __truediv__(self, other: Disk) -> Disk:
        return self * other.inverse()

    def __rtruediv__(self, other: Any) -> Disk:
        return _disk(other) * self.inverse()

    def inverse(self) -> Disk:
        """Return 1/d.

        Raises
        ------
        SolverError
            The disk reaches 0.
        """
        return Disk(*self._inverse(np.conj(self.mid)))

    def inverse_modulus(self) -> Disk:
        """Return 1/|d|, whose error is at most that of 1/d."""
        inverse, rad = self._inverse(np.conj(self.mid))
        return Disk(_modulus(inverse), (rad + 20 * _UNIT * _modulus(inverse)) * _UP + _TINY)

    def _inverse(self, conjugate: Any) -> tuple[Any, Any]:
        square = self.mid.real * self.mid.real + self.mid.imag * self.mid.imag
        least = np.sqrt(square) * (1 - 16 * _UNIT) - _TINY
        if not np.all(least > 2 * self.rad):
            raise SolverError("a disk to be inverted reaches 0; use exact fractions")
        rad = (4 * _UNIT + self.rad / (least - self.rad)) / least
        return conjugate / square, rad * _UP + _TINY

    def modulus(self) -> Disk:
        """Return |x|."""
        found = self.size
        return Disk(found, (self.rad + 20 * _UNIT * found) * _UP + _TINY)


def _disk(number: Any) -> Disk:
    """Return a small integer or a float as it is."""
    return number if isinstance(number, Disk) else Disk(number, 0.0)


@dataclass(frozen=True, eq=False)
class Circle:
    """The points exp(2 pi i j / N) of the unit circle, j = 0, 1, .., N - 1.

    Three tables hold about the cube root of N of them each; FLINT rounds an entry once, from a
    ball of 160 bits. Any other point is a product of three.
    """

    points: int

    @cached_property
    def _width(self) -> int:
        width: int = round(self.points ** (1 / 3))
        return max(1, width)

    @cached_property
    def _tables(self) -> tuple[Disk, Disk, Disk]:
        width = self._width
        fine, middle = range(width), range(0, width * width, width)
        coarse = range(0, self.points, width * width)
        return self._exact(coarse, 0), self._exact(middle, 0), self._exact(fine, 0)

    def __call__(self, j: IntArray) -> Disk:
        """Return the points of any numbers, quickly.

        >>> found = Circle(8)(np.array([1, 2, 8, -2]))
        >>> np.round(found.mid, 6).tolist(), bool(found.rad.max() < 2e-15)
        ([(0.707107+0.707107j), 1j, (1+0j), -1j], True)
        """
        coarse, middle, fine = self._tables
        upper, last = np.divmod(j % self.points, self._width)
        first, second = np.divmod(upper, self._width)
        return coarse[first] * middle[second] * fine[last]

    def complements(self, j: Iterable[int]) -> Disk:
        """Return 1 - exp(2 pi i j / N), each part as accurate as a float can be."""
        return self._exact(j, 1)

    def _exact(self, numbers: Iterable[int], less: int) -> Disk:
        """Return the points, or 1 less the points."""
        sign = -1 if less else 1
        with ctx.workprec(_TABLE_BITS):
            found = [
                complex(acb(less) + sign * acb(arb(fmpq(2 * int(j), self.points))).exp_pi_i())
                for j in numbers
            ]
        values = np.array(found, np.complex128)
        return Disk(values, 3 * _UNIT * _modulus(values) + _ROUNDED)

    def half_cotangents(self, count: int) -> Disk:
        """Return cot(pi j / N) / 2 for j = 1 .. count, count < N."""
        with ctx.workprec(_TABLE_BITS):
            found = [float(arb(fmpq(j, self.points)).cot_pi() / 2) for j in range(1, count + 1)]
        values = np.array(found, np.float64)
        return Disk(values, 3 * _UNIT * np.abs(values) + _ROUNDED)
