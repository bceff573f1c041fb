"""Products of many small matrices whose entries are truncated power series.

Floats are multiplied in a tree over arrays: all neighbouring pairs at once, then the pairs
of these, so that n matrices take log2 n array operations. About z = 1 the constant terms of
a row are probabilities and add up to exactly 1; each product is rescaled to that. Without it
the rounding errors of n factors add up to a relative error of some n * 1e-16 (1e-10 at
n = 10^6); with it each of the log2 n levels adds a few units in the last place, because
entries are sums of products of non-negative numbers.

Exact products, and those in balls, come from `markov_lrsao.exact.progressions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpz, fmpz_mat

from markov_lrsao.exact.measures import Measure
from markov_lrsao.exact.progressions import Scaled
from markov_lrsao.exact.series import Element, add, multiply, pick, scale

__all__ = ["Product", "SiteMatrices", "Vector", "product"]

SiteMatrices = dict[tuple[int, int], Element]
"""(row, column) -> element whose coefficients are arrays over the factors."""
Vector = dict[int, Element]


@dataclass(frozen=True, eq=False)
class Product:
    """A product of matrices: elements in floats or balls, or integers over denominators."""

    entries: dict[tuple[int, int], Element] | None
    exact: Scaled | None = None

    def contract(self, pairs: Sequence[tuple[Vector, Vector]]) -> Element | None:
        """Return the sum of row * product * column over the pairs; None: of nothing.

        Exact results are accumulated as integers and reduced once.
        """
        if self.exact is not None:
            return self._contract_exact(self.exact, pairs)
        assert self.entries is not None
        total: Element | None = None
        for row, column in pairs:
            for (i, j), entry in self.entries.items():
                if i in row and j in column:
                    term = multiply(multiply(row[i], entry), column[j])
                    total = term if total is None else add(total, term)
        return total

    @staticmethod
    def _contract_exact(middle: Scaled, pairs: Sequence[tuple[Vector, Vector]]) -> Element:
        length = len(middle.layers)
        size, width = middle.layers[0].nrows(), middle.layers[0].ncols()
        left = _integer_vectors([row for row, _ in pairs], size, length)
        right = _integer_vectors([column for _, column in pairs], width, length)
        sums, below, step = [fmpz(0)] * length, fmpz(1), fmpz(1)
        for before, after in zip(left, right, strict=True):
            column = Scaled([c.transpose() for c in after.layers], after.below, after.step)
            found = before @ middle @ column
            sums = [s + layer[0, 0] for s, layer in zip(sums, found.layers, strict=True)]
            below, step = found.below, found.step  # the same for all
        result = []
        for s in sums:
            result.append(fmpq(s, below))
            below = below * step
        return tuple(result)


def _integer_vectors(vectors: Sequence[Vector], size: int, length: int) -> list[Scaled]:
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
        result.append(Scaled(layers, common, fmpz(1)))
    return result


def product(factors: Iterable[SiteMatrices], *, stochastic: bool) -> Product:
    """Multiply all matrices of floats, in order.

    Parameters
    ----------
    factors : runs of matrices of one shape
    stochastic : whether the elements are series about z = 1
    """
    entries: dict[tuple[int, int], Element] | None = None
    for matrices in factors:
        one = _float_tree(matrices, stochastic=stochastic)
        entries = one if entries is None else _multiply_float(entries, one, stochastic=stochastic)
    return Product(entries)


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
