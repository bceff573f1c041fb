"""Products of many small matrices whose entries are truncated power series.

Floats are multiplied in a tree over arrays: all neighbouring pairs at once, then the pairs
of these, so that n matrices take log2 n array operations. About z = 1 the constant terms of
a row are probabilities and add up to exactly 1; each product is rescaled to that. Without it
the rounding errors of n factors add up to a relative error of some n * 1e-16 (1e-10 at
n = 10^6); with it each of the log2 n levels adds a few units in the last place, because
entries are sums of products of non-negative numbers.

Exact matrices are first written over one common denominator each, and multiplied as integer
matrices in a tree by FLINT; the fraction is reduced once, at the end. A sequential sum of
fractions would reduce at every step and take minutes where this takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpz, fmpz_mat

from markov_lrsao.exact.measures import Measure
from markov_lrsao.exact.series import Element, add, multiply, pick, scale

__all__ = ["Product", "SiteMatrices", "Vector", "product"]

SiteMatrices = dict[tuple[int, int], Element]
"""(row, column) -> element whose coefficients are arrays over the factors."""
Factors = tuple[SiteMatrices, tuple[int, int]]
Vector = dict[int, Element]


@dataclass(frozen=True, eq=False)
class Product:
    """A product of matrices: float elements, or integer matrices over one denominator."""

    entries: dict[tuple[int, int], Element] | None
    numerators: list[fmpz_mat] | None
    denominator: fmpz

    def contract(self, pairs: Sequence[tuple[Vector, Vector]]) -> Element | None:
        """Return the sum of row * product * column over the pairs; None: of nothing.

        Exact results are accumulated as integers and reduced once.
        """
        if self.entries is not None:
            total: Element | None = None
            for row, column in pairs:
                for (i, j), entry in self.entries.items():
                    if i in row and j in column:
                        term = multiply(multiply(row[i], entry), column[j])
                        total = term if total is None else add(total, term)
            return total
        assert self.numerators is not None
        length = len(self.numerators)
        size, width = self.numerators[0].nrows(), self.numerators[0].ncols()
        left, under_left = _integer_vectors([row for row, _ in pairs], size, length)
        right, under_right = _integer_vectors([column for _, column in pairs], width, length)
        sums = [fmpz(0)] * length
        for before, after in zip(left, right, strict=True):
            layers = _multiply_exact(
                _multiply_exact(before, self.numerators), [c.transpose() for c in after]
            )
            sums = [s + layer[0, 0] for s, layer in zip(sums, layers, strict=True)]
        return tuple(fmpq(s, self.denominator * under_left * under_right) for s in sums)


def _integer_vectors(
    vectors: Sequence[Vector], size: int, length: int
) -> tuple[list[list[fmpz_mat]], fmpz]:
    """Write row vectors as integer matrices over one denominator for all of them."""
    common = fmpz(1)
    for vector in vectors:
        for element in vector.values():
            for value in element:
                common = common.lcm(value.q)
    result = []
    for vector in vectors:
        layers = [fmpz_mat(1, size) for _ in range(length)]
        for i, element in vector.items():
            for k, value in enumerate(element):
                layers[k][0, i] = value.p * (common // value.q)
        result.append(layers)
    return result, common


def product(factors: Iterable[Factors], *, exact: bool, length: int, stochastic: bool) -> Product:
    """Multiply all matrices, in order.

    Parameters
    ----------
    factors : runs of matrices of one shape
    length : number of coefficients of an element
    stochastic : whether the elements are series about z = 1
    """
    if exact:
        numerator: list[fmpz_mat] | None = None
        denominator = fmpz(1)
        for matrices, shape in factors:
            part, below = _exact_tree(*_integer_matrices(matrices, shape, length))
            numerator = part if numerator is None else _multiply_exact(numerator, part)
            denominator *= below
        return Product(None, numerator, denominator)
    entries: dict[tuple[int, int], Element] | None = None
    for matrices, _ in factors:
        one = _float_tree(matrices, stochastic=stochastic)
        entries = one if entries is None else _multiply_float(entries, one, stochastic=stochastic)
    return Product(entries, None, fmpz(1))


def _multiply_float(
    a: dict[tuple[int, int], Element], b: dict[tuple[int, int], Element], *, stochastic: bool
) -> dict[tuple[int, int], Element]:
    result: dict[tuple[int, int], Element] = {}
    for (i, k), x in a.items():
        for (m, j), y in b.items():
            if k == m:
                term = multiply(x, y)
                result[i, j] = add(result[i, j], term) if (i, j) in result else term
    return _rescaled(result) if stochastic else result


def _rescaled(entries: dict[tuple[int, int], Element]) -> dict[tuple[int, int], Element]:
    """Divide each row by the sum of its constant terms, which is 1 but for rounding."""
    sums: dict[int, Any] = {}
    for (i, _), element in entries.items():
        sums[i] = sums[i] + element[0] if i in sums else element[0]
    factors = {i: 1 / total for i, total in sums.items()}
    return {(i, j): scale(element, factors[i]) for (i, j), element in entries.items()}


def _float_tree(matrices: SiteMatrices, *, stochastic: bool) -> dict[tuple[int, int], Element]:
    count = _count(matrices)
    current = _rescaled(matrices) if stochastic else matrices
    leftover: dict[tuple[int, int], Element] | None = None
    while count > 1:
        if count % 2:  # set the last one aside
            last = {key: pick(v, -1) for key, v in current.items()}
            leftover = (
                last if leftover is None else _multiply_float(last, leftover, stochastic=stochastic)
            )
            current = {key: pick(v, slice(-1)) for key, v in current.items()}
            count -= 1
        even = {key: pick(v, slice(0, None, 2)) for key, v in current.items()}
        odd = {key: pick(v, slice(1, None, 2)) for key, v in current.items()}
        current = _multiply_float(even, odd, stochastic=stochastic)
        count //= 2
    first = {key: pick(v, 0) for key, v in current.items()}
    if leftover is None:
        return first
    return _multiply_float(first, leftover, stochastic=stochastic)


def _count(matrices: SiteMatrices) -> int:
    """Return the number of factors."""
    element = next(iter(matrices.values()))
    return len(element[0].value if isinstance(element, Measure) else element[0])


def _integer_matrices(
    matrices: SiteMatrices, shape: tuple[int, int], length: int
) -> tuple[list[list[fmpz_mat]], list[fmpz]]:
    """Write each matrix as integer matrices (one per coefficient) over one denominator."""
    count = len(next(iter(matrices.values()))[0])
    result: list[list[fmpz_mat]] = []
    denominators: list[fmpz] = []
    keys = list(matrices)
    for s in range(count):
        entries: dict[tuple[int, int], list[fmpq]] = {
            key: [matrices[key][k][s] for k in range(length)] for key in keys
        }
        common = fmpz(1)
        for values in entries.values():
            for value in values:
                common = common.lcm(value.q)
        layers = []
        for k in range(length):
            layer = fmpz_mat(*shape)
            for key, values in entries.items():
                layer[key] = values[k].p * (common // values[k].q)
            layers.append(layer)
        result.append(layers)
        denominators.append(common)
    return result, denominators


def _multiply_exact(a: list[fmpz_mat], b: list[fmpz_mat]) -> list[fmpz_mat]:
    result = []
    for k in range(len(a)):
        total: Any = a[0] * b[k]
        for i in range(1, k + 1):
            total = total + a[i] * b[k - i]
        result.append(total)
    return result


def _exact_tree(
    matrices: list[list[fmpz_mat]], denominators: list[fmpz]
) -> tuple[list[fmpz_mat], fmpz]:
    while len(matrices) > 1:
        pairs = [_multiply_exact(a, b) for a, b in zip(matrices[::2], matrices[1::2], strict=False)]
        below = [a * b for a, b in zip(denominators[::2], denominators[1::2], strict=False)]
        if len(matrices) % 2:
            pairs.append(matrices[-1])
            below.append(denominators[-1])
        matrices, denominators = pairs, below
    return matrices[0], denominators[0]
