"""Two ways to compute with numbers: exact rationals, or balls of a given precision.

A method that only adds, multiplies and divides is written once and works with both: with `fmpq`
it is exact, with `arb` every result encloses the truth. Precision is a setting of the library,
so balls are made and used inside ``with field.working():``.

>>> field = Balls(64)
>>> with field.working():
...     low, high = ends(field.number(fmpq(1, 3)))
>>> low < fmpq(1, 3) < high, high - low < fmpq(1, 10**17)
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from markov_lrsao.errors import SolverError

__all__ = ["Balls", "Rationals", "SearchField", "ends"]


@dataclass(frozen=True)
class Rationals:
    """Exact rationals."""

    exact = True
    bits = 0

    @contextmanager
    def working(self) -> Iterator[None]:
        """Do nothing: rationals need no setting."""
        yield

    def number(self, value: fmpq) -> fmpq:
        """Return the number itself."""
        return value

    def up_to(self, value: fmpq) -> fmpq:
        """Return the interval [0, value], which must be a point."""
        assert value == 0
        return value

    def solve(self, matrix: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> Any:
        """Return the columns of X with matrix X = right, row by row.

        Raises
        ------
        ZeroDivisionError
            The matrix is singular.
        """
        return fmpq_mat(matrix).solve(fmpq_mat(right)).tolist()


@dataclass(frozen=True)
class Balls:
    """Real balls with midpoints of `bits` bits."""

    bits: int
    exact = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """Set the precision inside the block."""
        before, ctx.prec = ctx.prec, self.bits
        try:
            yield
        finally:
            ctx.prec = before

    def number(self, value: fmpq) -> arb:
        """Return the ball of a rational."""
        return arb(value)

    def up_to(self, value: fmpq) -> arb:
        """Return the interval [0, value] as a ball."""
        return arb(value / 2, arb(value / 2))

    def solve(self, matrix: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> Any:
        """Return the columns of X with matrix X = right, row by row.

        Raises
        ------
        ZeroDivisionError
            The precision does not suffice to tell the matrix from a singular one.
        """
        return arb_mat(matrix).solve(arb_mat(right)).tolist()


SearchField: TypeAlias = Rationals | Balls
"""What a search is solved in."""


def ends(number: fmpq | arb) -> tuple[fmpq, fmpq]:
    """Return two rationals between which a number lies; of a rational itself, twice.

    Raises
    ------
    SolverError
        The ball has grown beyond all bounds; more bits are needed.
    """
    if isinstance(number, fmpq):
        return number, number
    if not number.is_finite():
        raise SolverError("a ball has grown beyond all bounds; more bits are needed")
    return _dyadic(number.lower()), _dyadic(number.upper())


def _dyadic(end: arb) -> fmpq:
    """Return the lower or upper end of a ball, which is a point, as a rational."""
    mantissa, exponent = end.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)
