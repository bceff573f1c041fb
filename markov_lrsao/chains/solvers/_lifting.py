r"""Exact solutions of one large component by p-adic lifting (Dixon), sparse throughout.

With d_i the denominator of row i, A = diag(d) (1 - P) is an integer matrix, and A x = d b. It is
factored once modulo a prime p, in the order of a sparse LU that fills in little; every further
digit of x to the base p costs one triangular solve and one multiplication by A in machine
integers. Right sides of any length are fed in by their digits. When there are digits enough,
numerators and a common denominator are reconstructed, and A x = d b is checked in integers: only
then the answer is returned. The number of digits is that of the answer's numerator and
denominator, not of a bound for them. Where anything does not fit, the caller eliminates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpz

__all__ = ["lifted"]

IntArray = npt.NDArray[np.int64]
_PRIME = 2_147_483_629
_LARGEST_SUM = 2**30  # of a row of A, so that products with digits stay below 2^62
_LARGEST_FACTORS = 20_000_000
_MOST_DIGITS = 1 << 14
_LONGEST_RIGHT = 400_000  # bits
_FIRST_DIGITS = 8  # a power of 2; joining digits to long numbers takes longer than finding them
_SPARE_BITS = 60  # by which fractions must be shorter than the digits allow


def lifted(
    pointer: IntArray, columns: IntArray, values: IntArray, right: Sequence[fmpq]
) -> list[fmpq] | None:
    """Return x with A x = right for a sparse integer matrix (CSR, sorted), or None.

    The diagonal of A must dominate its rows, as that of an M-matrix does.
    """
    sums = np.add.reduceat(np.abs(values), pointer[:-1])
    scale = fmpz(1)
    for b in right:
        scale = scale.lcm(b.q)
    whole = [b.p * (scale // b.q) for b in right]
    length = max(b.bit_length() for b in whole)
    if sums.max() >= _LARGEST_SUM or length > _LONGEST_RIGHT:
        return None
    shape = _shape(pointer, columns, values)
    if shape is None:
        return None
    order, parts = shape
    from markov_lrsao.chains.kernels import modular

    matrix = _permuted(pointer, columns, values, order)
    ok, *numbers = modular.factor(*matrix, *parts, _PRIME)
    if not ok:
        return None
    given = [whole[i] for i in order.tolist()]
    fed = _digits(given, length)
    rest = fed[0].copy()
    found: list[Any] = []
    steps, known = max(_FIRST_DIGITS, 1 << len(fed).bit_length()), 0
    while known < _MOST_DIGITS:
        digits = modular.lift(matrix, parts, tuple(numbers), _PRIME, rest, fed[known + 1 :], steps)
        found.append(_joined(digits))
        known += steps
        steps = known
        answer = _reconstructed(_stacked(found, known), fmpz(_PRIME) ** known, length)
        if answer is not None and _holds(matrix, *answer, given):
            numerators, below = answer[0], answer[1] * scale
            result = [fmpq(0)] * len(order)
            for i, above in zip(order.tolist(), numerators, strict=True):
                result[i] = fmpq(above, below)
            return result
    return None


def _digits(numbers: Sequence[fmpz], length: int) -> IntArray:
    """Return the digits to the base p of numbers of at most `length` bits, the lowest first.

    The last digit carries the sign.
    """
    count = 1 << (length // (_PRIME.bit_length() - 1)).bit_length()
    parts = [list(numbers)]
    while len(parts) < count:
        base = fmpz(_PRIME) ** (count // len(parts) // 2)
        parts = [half for part in parts for half in _divided(part, base)]
    return np.array([[int(digit) for digit in part] for part in parts], dtype=np.int64)


def _divided(numbers: list[fmpz], base: fmpz) -> tuple[list[fmpz], list[fmpz]]:
    pairs = [divmod(number, base) for number in numbers]
    return [low for _, low in pairs], [high for high, _ in pairs]


def _shape(
    pointer: IntArray, columns: IntArray, values: IntArray
) -> tuple[IntArray, tuple[IntArray, ...]] | None:
    """Return an order of little fill, and the patterns of both factors in it."""
    from scipy.sparse import csc_array

    from markov_lrsao.chains.solvers._methods import sparse_lu

    size = len(pointer) - 1
    transposed = csc_array(
        (values.astype(np.float64), columns.astype(np.int32), pointer.astype(np.int32)),
        shape=(size, size),
    )
    try:
        factors = sparse_lu(transposed)
    except (RuntimeError, MemoryError):
        return None
    if factors.nnz > _LARGEST_FACTORS or not np.array_equal(factors.perm_r, factors.perm_c):
        return None
    order = np.argsort(factors.perm_c).astype(np.int64)
    # the transpose is factored, so that columns of its factors are rows of ours
    below, above = csc_array(factors.U), csc_array(factors.L)
    below.sort_indices()
    above.sort_indices()
    return order, (*_without_diagonal(below), *_without_diagonal(above))


def _without_diagonal(matrix: Any) -> tuple[IntArray, IntArray]:
    own = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    keep = matrix.indices != own
    counts = np.bincount(own[keep], minlength=matrix.shape[1])
    begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return begin, matrix.indices[keep].astype(np.int64)


def _permuted(
    pointer: IntArray, columns: IntArray, values: IntArray, order: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    counts = np.diff(pointer)[order]
    begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    at = np.repeat(pointer[order] - begin[:-1], counts) + np.arange(begin[-1])
    return begin, place[columns[at]], values[at]


def _joined(digits: IntArray) -> Any:
    """Return the numbers with these digits to the base p, an even number of them."""
    numbers: Any = digits[0::2] + digits[1::2] * _PRIME  # below 2^62
    numbers = np.frompyfunc(fmpz, 1, 1)(numbers.astype(object))
    base = fmpz(_PRIME) ** 2
    while len(numbers) > 1:
        numbers = numbers[0::2] + numbers[1::2] * base
        base = base * base
    return numbers[0]


def _stacked(found: list[Any], known: int) -> Any:
    """Put a part behind what was known, which has as many digits; keep the result."""
    if len(found) > 1:
        found[:] = [found[0] + found[1] * fmpz(_PRIME) ** (known // 2)]
    return found[0]


def _reconstructed(residues: Any, modulus: fmpz, longer: int = 0) -> tuple[list[fmpz], fmpz] | None:
    """Return numerators over a common denominator, whose product is far below the modulus.

    Numerators may have `longer` bits more. A few of the numbers are tried first: with too few
    digits, they are no short fractions.
    """
    if modulus.bit_length() < longer + 4 * _SPARE_BITS:
        return None
    half = modulus // 2
    most = (half << longer).isqrt()
    least = half // most
    short, shorter = most >> _SPARE_BITS, least >> _SPARE_BITS
    listed = residues.tolist()
    for residue in (listed[0], listed[len(listed) // 2], listed[-1]):
        found = _fraction(residue, modulus, most)
        if found is None or abs(found[0]) > short or found[1] > shorter:
            return None
    common = fmpz(1)
    numerators: list[fmpz] = []
    for residue in listed:
        value = residue * common % modulus
        value = value - modulus if value > half else value
        if abs(value) > short:
            found = _fraction(residue * common % modulus, modulus, most)
            if found is None or common * found[1] > shorter:
                return None
            value, factor = found
            common *= factor
            numerators = [above * factor for above in numerators]
        numerators.append(value)
    return numerators, common


def _fraction(residue: fmpz, modulus: fmpz, most: fmpz) -> tuple[fmpz, fmpz] | None:
    """Return (a, b) with a = residue b modulo the modulus, |a| <= most, 2 |a b| < it (Wang)."""
    old, new = modulus, residue
    before, now = fmpz(0), fmpz(1)
    while new > most:
        q = old // new
        old, new = new, old - q * new
        before, now = now, before - q * now
    if now == 0 or 2 * abs(now) * most > modulus or new.gcd(now) != 1:
        return None
    return (new, now) if now > 0 else (-new, -now)


def _holds(
    matrix: tuple[IntArray, IntArray, IntArray],
    numerators: Sequence[fmpz],
    common: fmpz,
    right: Sequence[fmpz],
) -> bool:
    """Whether A numerators = common * right, in integers."""
    pointer, columns, values = (part.tolist() for part in matrix)
    for i, given in enumerate(right):
        total = fmpz(0)
        for e in range(pointer[i], pointer[i + 1]):
            total += values[e] * numerators[columns[e]]
        if total != common * given:
            return False
    return True
