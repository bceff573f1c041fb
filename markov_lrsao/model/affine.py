"""Affine forms in the position p, the parameters n and l and others by name; pieces of objectives.

They are the symbolic half of a landscape: evaluated they give arrays, unevaluated they feed
proofs in which n and l are unknown. Parameters that are not affine in n, such as the length of
one of several slopes, are `Derived`: a form divided by another, rounded down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral

from markov_lrsao.errors import ParameterError

__all__ = ["ELL", "Affine", "Derived", "J", "N", "P", "Piece", "parameter"]


@dataclass(frozen=True)
class Affine:
    """The affine form ``p * position + n * N + ell * ELL + constant`` with integer coefficients.

    `named` has the coefficients of other parameters, by name and sorted; none of them is zero.

    >>> form = N - 2 * ELL - 5
    >>> str(form), form(n=9, ell=2)
    ('n - 2*l - 5', 0)
    >>> form = N - 2 * parameter("m")
    >>> str(form), form(n=9, ell=0, m=3)
    ('n - 2*m', 3)
    """

    p: int = 0
    n: int = 0
    ell: int = 0
    constant: int = 0
    named: tuple[tuple[str, int], ...] = ()

    @staticmethod
    def of(value: Affine | int) -> Affine:
        """Return `value` itself, or the constant form of an integer."""
        if isinstance(value, Affine):
            return value
        if not isinstance(value, Integral):
            raise ParameterError(f"{value!r} is not an integer or an affine form in p, n and l")
        return Affine(constant=int(value))

    def __add__(self, other: Affine | int) -> Affine:
        o = Affine.of(other)
        return Affine(
            self.p + o.p,
            self.n + o.n,
            self.ell + o.ell,
            self.constant + o.constant,
            _sum(self.named, o.named) if self.named or o.named else (),
        )

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-Affine.of(other))

    def __rsub__(self, other: int) -> Affine:
        return Affine.of(other) - self

    def __mul__(self, factor: int) -> Affine:
        return Affine(
            self.p * factor,
            self.n * factor,
            self.ell * factor,
            self.constant * factor,
            tuple((name, c * factor) for name, c in self.named) if factor else (),
        )

    __rmul__ = __mul__

    def __call__(self, *, n: int, ell: int, p: int = 0, **named: int) -> int:
        """Evaluate the form."""
        rest = sum(c * named[name] for name, c in self.named) if self.named else 0
        return self.p * p + self.n * n + self.ell * ell + self.constant + rest

    def __str__(self) -> str:
        parts = []
        own = ((self.p, "p"), (self.n, "n"), (self.ell, "l"))
        for coefficient, symbol in (*own, *((c, name) for name, c in self.named)):
            if coefficient:
                size = "" if abs(coefficient) == 1 else f"{abs(coefficient)}*"
                parts.append((coefficient < 0, size + symbol))
        if self.constant or not parts:
            parts.append((self.constant < 0, str(abs(self.constant))))
        head = ("-" if parts[0][0] else "") + parts[0][1]
        return head + "".join(f" {'-' if neg else '+'} {text}" for neg, text in parts[1:])


def _sum(
    some: tuple[tuple[str, int], ...], more: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    total = dict(some)
    for name, coefficient in more:
        total[name] = total.get(name, 0) + coefficient
    return tuple(sorted((name, c) for name, c in total.items() if c))


def parameter(name: str) -> Affine:
    """Return the form that is a parameter itself.

    >>> str(parameter("d") + 1)
    'd + 1'
    """
    return Affine(named=((name, 1),))


P, N, ELL = Affine(p=1), Affine(n=1), Affine(ell=1)
J = parameter("j")
"""The number of a repetition, counted from 0, in the value of a piece that is repeated."""
_ONE = Affine(constant=1)


@dataclass(frozen=True)
class Piece:
    """An objective's value on the positions ``first..last``, both ends included.

    Attributes
    ----------
    value : the value times `over`
    over : a denominator, a positive number once n, l and the other parameters are known
    every : the piece is repeated at this distance, upwards or (if negative) downwards, until it
        leaves 0..n; there it is cut off. None: it stands once
    """

    first: Affine
    last: Affine
    value: Affine
    over: Affine = _ONE
    every: Affine | None = None

    @staticmethod
    def of(
        first: Affine | int,
        last: Affine | int,
        value: Affine | int,
        *,
        over: Affine | int = 1,
        every: Affine | int | None = None,
    ) -> Piece:
        """Build a piece from affine forms or integers."""
        return Piece(
            Affine.of(first),
            Affine.of(last),
            Affine.of(value),
            Affine.of(over),
            None if every is None else Affine.of(every),
        )


@dataclass(frozen=True)
class Derived:
    """A parameter that is computed: floor(form / divisor), but at most `most`.

    >>> half = Derived("s", N - 1, Affine(constant=2))
    >>> str(half), half.at(10, {})
    ('(n - 1) // 2', 4)
    """

    name: str
    form: Affine
    divisor: Affine = field(default=_ONE)
    most: Affine | None = None

    def at(self, n: int, known: Mapping[str, int]) -> int:
        """Return its value, given n and the parameters before it.

        Raises
        ------
        ParameterError
            The divisor is not positive.
        """
        divisor = self.divisor(n=n, ell=0, **known)
        if divisor < 1:
            raise ParameterError(f"{self.name} = {self} at n = {n}: the divisor must be positive")
        value = self.form(n=n, ell=0, **known) // divisor
        return value if self.most is None else min(value, self.most(n=n, ell=0, **known))

    def __str__(self) -> str:
        text = str(self.form)
        if self.divisor != _ONE:
            text = f"({text}) // {_bare(self.divisor)}"
        return text if self.most is None else f"min({text}, {self.most})"


def _bare(form: Affine) -> str:
    text = str(form)
    return f"({text})" if " " in text else text
