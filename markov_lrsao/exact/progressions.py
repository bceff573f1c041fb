r"""Products M(x) M(x-1) .. M(x-m+1) of matrices over Q(x), at consecutive integers.

The matrices of all sites of one kind, and the waiting times along a corridor, are rational
functions of the position: M(x) = sum over k of M_k(x) e^k, with

    M_k(x) = N_k(x) / (b(x) s(x)^k),       N_k, b, s polynomials with integer coefficients,

so the coefficient of e^k has k more factors s below. The functions are found once. The product of
eight factors is again of this form; it is found once, too, and evaluated at every eighth
position. From there on a tree multiplies values.

*Exact.* `Scaled` has integer matrices over b s^k. Two neighbours take for s the least common
multiple of theirs: positions share most prime factors of their s, and lcm(1, .., N) has 1.44 N
bits where N! has N log2(N/e). Along the way factors that all of a matrix has in common with b are
taken out, near the root of the tree, where they are most of b.

*Balls.* Matrices of `arb`: midpoints with as many bits as asked for and a radius that contains
every rounding. The products of eight factors are exact integers still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from flint import arb, arb_mat, fmpz, fmpz_mat, fmpz_poly

from markov_lrsao.exact.functions import RationalFunction
from markov_lrsao.exact.series import Element, add, inverse, multiply

__all__ = ["BallMatrices", "Progression", "Scaled"]

Polynomials = list[list[list[fmpz_poly]]]
"""Coefficient -> row -> column -> polynomial."""
_RUN = 8
"""Factors whose product is evaluated at once."""
Matrix = list[list[Element]]
"""Row -> column -> a series over Q(x)."""


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """Matrices of series over Q: the coefficient of e^k is layers[k] / (below step^k)."""

    layers: list[fmpz_mat]
    below: fmpz
    step: fmpz

    def __matmul__(self, other: Scaled) -> Scaled:
        """Return the product."""
        step = self.step.lcm(other.step)
        a = _spread(self.layers, step // self.step)
        b = _spread(other.layers, step // other.step)
        return Scaled(_multiply(a, b), self.below * other.below, step)

    def reduced(self) -> Scaled:
        """Take out what all entries have in common with `below`.

        The greatest common divisor of `below` and two combinations of the entries is a
        multiple of that of all; usually it is equal, which the divisions below show.
        """
        common = self.below
        for weights in ((1, 3, 5, 7, 11, 13), (17, 19, 23, 29, 31, 37)):
            total = fmpz(0)
            for index, entry in enumerate(_entries(self.layers)):
                total += weights[index % len(weights)] * (index + 1) * entry
            common = common.gcd(total)
        if common == 1:
            return self
        for entry in _entries(self.layers):
            if entry % common != 0:
                common = common.gcd(entry)
        layers = [
            fmpz_mat(m.nrows(), m.ncols(), [x // common for x in m.entries()]) for m in self.layers
        ]
        return Scaled(layers, self.below // common, self.step)


def _entries(layers: list[fmpz_mat]) -> list[fmpz]:
    return [entry for layer in layers for entry in layer.entries()]


def _spread(layers: list[fmpz_mat], factor: fmpz) -> list[fmpz_mat]:
    """Write the coefficients over a larger step."""
    if factor == 1:
        return layers
    result, power = [layers[0]], fmpz(1)
    for layer in layers[1:]:
        power *= factor
        result.append(layer * power)
    return result


def _multiply(a: list[Any], b: list[Any]) -> list[Any]:
    """Return the truncated product of two series of matrices."""
    result = []
    for k in range(len(a)):
        total = a[0] * b[k]
        for i in range(1, k + 1):
            total = total + a[i] * b[k - i]
        result.append(total)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class BallMatrices:
    """Matrices of series in balls, of the precision that is set."""

    layers: list[arb_mat]

    @classmethod
    def of(cls, exact: Scaled) -> BallMatrices:
        """Return the rounded quotients."""
        below, layers = arb(exact.below), []
        for layer in exact.layers:
            layers.append(arb_mat(layer) * (1 / below))
            below = below * exact.step
        return cls(layers)

    def __matmul__(self, other: BallMatrices) -> BallMatrices:
        """Return the product."""
        return BallMatrices(_multiply(self.layers, other.layers))

    @property
    def entries(self) -> dict[tuple[int, int], Element]:
        """The series of each entry."""
        rows, columns = self.layers[0].nrows(), self.layers[0].ncols()
        return {
            (i, j): tuple(layer[i, j] for layer in self.layers)
            for i in range(rows)
            for j in range(columns)
        }


class Progression:
    """The matrix M(x), and its products at consecutive integers.

    >>> x = RationalFunction.variable()
    >>> harmonic = Progression({(0, 0): (1 + 0 * x, 1 / x)}, (1, 1))  # 1 + e/x
    >>> product = harmonic.exact(4, 1)
    >>> product.layers[1][0, 0], product.below * product.step  # 1/4 + 1/3 + 1/2 + 1
    (25, 12)
    """

    def __init__(
        self,
        entries: Mapping[tuple[int, int], tuple[RationalFunction, ...]],
        shape: tuple[int, int],
    ) -> None:
        zero = tuple(0 * RationalFunction.variable() for _ in next(iter(entries.values())))
        self._matrix: Matrix = [
            [entries.get((i, j), zero) for j in range(shape[1])] for i in range(shape[0])
        ]

    @cached_property
    def _single(self) -> _Run:
        return _Run.of(self._matrix)

    @cached_property
    def _parts(self) -> tuple[_Run, _Run, _Run]:
        """Left end, core and right end: M(x) .. M(y) = left(x) core(x) .. core(y+1) right(y).

        With M = C R, R the rows that are no multiples of others, the core is R(x) C(x-1), a
        smaller matrix. About z = 1 its constant terms are probabilities; in a basis that has
        the vector of ones last, all but one entry of their last row vanish.
        """
        columns, rows = _factored(self._matrix)
        following = [[tuple(f.shifted(1) for f in entry) for entry in row] for row in columns]
        core = _times(rows, following)
        into, back = _basis_of_ones(core)
        return (
            _Run.of(_times(columns, back)),
            _Run.of(_times(_times(into, core), back)),
            _Run.of(_times(into, rows)),
        )

    @cached_property
    def _several(self) -> _Run:
        run, count = self._parts[1], 1
        while count < _RUN:
            run, count = run.followed_by(run.shifted(count)), 2 * count
        return run

    def exact(self, high: int, low: int) -> Scaled:
        """Return M(high) .. M(low), exactly."""
        found: Scaled = self._product(high, low, lambda part: part)
        return found

    def balls(self, high: int, low: int) -> BallMatrices:
        """Return M(high) .. M(low) in balls of the precision that is set."""
        found: BallMatrices = self._product(high, low, BallMatrices.of)
        return found

    def _product(self, high: int, low: int, leaf: Callable[[Scaled], Any]) -> Any:
        if high == low:
            return leaf(self._single(high))
        left, _, right = self._parts
        core = self._tree(high, high - low, leaf)
        return leaf(left(high)) @ core @ leaf(right(low))

    def _tree(self, high: int, count: int, leaf: Callable[[Scaled], Any]) -> Any:
        """Multiply halves; depth first, so that few matrices are held at once."""
        if count == 1:
            return leaf(self._parts[1](high))
        if count == _RUN:
            return leaf(self._several(high))
        half = count // 2
        if count > _RUN:
            half = max(half - half % _RUN, _RUN)
        return self._tree(high, half, leaf) @ self._tree(high - half, count - half, leaf)


class _Run:
    """A product of some factors as polynomials in the first of their positions."""

    def __init__(self, numerators: Polynomials, below: fmpz_poly, step: fmpz_poly) -> None:
        self._numerators, self._below, self._step = numerators, below, step

    @classmethod
    def of(cls, matrix: Matrix) -> _Run:
        """Write one factor over common denominators."""
        length = len(matrix[0][0])
        denominators = [_common(e[k].q for row in matrix for e in row) for k in range(length)]
        below, step = denominators[0], fmpz_poly([1])
        for k, denominator in enumerate(denominators[1:], start=1):
            step *= denominator // denominator.gcd(below * step**k)
        numerators = []
        for k in range(length):
            under = below * step**k
            numerators.append([[e[k].p * (under // e[k].q) for e in row] for row in matrix])
        return cls(numerators, below, step)

    def __call__(self, x: int) -> Scaled:
        """Return the values at an integer."""
        at = fmpz(x)
        layers = [fmpz_mat([[p(at) for p in row] for row in layer]) for layer in self._numerators]
        return Scaled(layers, self._below(at), self._step(at))

    def shifted(self, count: int) -> _Run:
        """Return the same `count` positions further down."""
        x = fmpz_poly([-count, 1])
        layers = [[[p(x) for p in row] for row in layer] for layer in self._numerators]
        return _Run(layers, self._below(x), self._step(x))

    def followed_by(self, other: _Run) -> _Run:
        """Return the product."""
        length, step = len(self._numerators), _common((self._step, other._step))
        a, b = (
            [_scaled(layer, (step // run._step) ** k) for k, layer in enumerate(run._numerators)]
            for run in (self, other)
        )
        layers = []
        for k in range(length):
            total = _polynomial_product(a[0], b[k])
            for i in range(1, k + 1):
                total = [
                    [x + y for x, y in zip(left, right, strict=True)]
                    for left, right in zip(total, _polynomial_product(a[i], b[k - i]), strict=True)
                ]
            layers.append(total)
        return _Run(layers, self._below * other._below, step)


def _common(polynomials: Iterable[fmpz_poly]) -> fmpz_poly:
    """Return the least common multiple."""
    result = fmpz_poly([1])
    for q in polynomials:
        result = result * (q // q.gcd(result))
    return result


def _scaled(layer: list[list[fmpz_poly]], factor: fmpz_poly) -> list[list[fmpz_poly]]:
    return [[p * factor for p in row] for row in layer]


def _polynomial_product(
    a: list[list[fmpz_poly]], b: list[list[fmpz_poly]]
) -> list[list[fmpz_poly]]:
    zero, columns = fmpz_poly([]), list(zip(*b, strict=True))
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), zero) for column in columns]
        for row in a
    ]


def _times(a: Matrix, b: Matrix) -> Matrix:
    """Multiply matrices of series over Q(x)."""
    columns = list(zip(*b, strict=True))
    return [
        [
            reduce(add, (multiply(x, y) for x, y in zip(row, column, strict=True)))
            for column in columns
        ]
        for row in a
    ]


def _factored(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Return C and R with M = C R, R the rows that are not multiples of rows before them."""
    zero = tuple(0 * f for f in matrix[0][0])
    one = (1 + zero[0], *zero[1:])
    kept: list[list[Element]] = []
    found: list[tuple[int, Element]] = []
    for row in matrix:
        for index, other in enumerate(kept):
            factor = _multiple(row, other)
            if factor is not None:
                found.append((index, factor))
                break
        else:
            found.append((len(kept), one))
            kept.append(row)
    return [[f if j == at else zero for j in range(len(kept))] for at, f in found], kept


def _multiple(row: list[Element], other: list[Element]) -> Element | None:
    """Return the series that turns another row into a row, None if there is none."""
    first = next((k for k, e in enumerate(other) if e[0] != 0), None)
    if first is None:
        return None
    factor = multiply(row[first], inverse(other[first]))
    same = all(multiply(factor, b) == a for a, b in zip(row, other, strict=True))
    return factor if same else None


def _basis_of_ones(core: Matrix) -> tuple[Matrix, Matrix]:
    """Return a change of basis and its inverse: unit vectors but the last, which is all ones.

    It is the identity where the rows' constant terms do not add up to 1.
    """
    size = len(core)
    zero = tuple(0 * f for f in core[0][0])
    one, minus = (1 + zero[0], *zero[1:]), (zero[0] - 1, *zero[1:])
    unit = [[one if i == j else zero for j in range(size)] for i in range(size)]
    if any(sum(e[0] for e in row) != 1 for row in core):
        return unit, unit
    last = size - 1
    into = [[*row[:-1], minus if i < last else one] for i, row in enumerate(unit)]
    return into, [[*row[:-1], one] for row in unit]
