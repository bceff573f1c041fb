"""The linear systems of absorbing chains, dense and exact.

With P the probabilities inside a set of states that is left for sure, x = b + P x are expected
sums (b = 1: steps until the set is left), and x = b + x P are expected visits (b: where the walk
begins). Small systems only; chains have `markov_lrsao.chains.solvers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import fmpq, fmpz, fmpz_mat

__all__ = ["solve_columns", "solve_rows"]

Row = Iterable[tuple[int, fmpq]]
"""(column, weight); a column may come several times."""


def solve_columns(rows: Sequence[Row], right: Sequence[fmpq]) -> list[fmpq]:
    """Return x with x = right + P x, where rows[i] is the i-th row of P.

    Raises
    ------
    ZeroDivisionError
        The solution is not unique: some states are never left.

    >>> half = fmpq(1, 2)
    >>> solve_columns([[(1, half)], [(0, half), (1, half)]], [fmpq(1), fmpq(1)])
    [4, 6]
    """
    return _solve(rows, right, transposed=False)


def solve_rows(rows: Sequence[Row], right: Sequence[fmpq]) -> list[fmpq]:
    """Return x with x = right + x P, where rows[i] is the i-th row of P.

    Raises
    ------
    ZeroDivisionError
        The solution is not unique: some states are never left.

    >>> half = fmpq(1, 2)
    >>> solve_rows([[(1, half)], [(0, half), (1, half)]], [fmpq(1), fmpq(0)])
    [2, 2]
    """
    return _solve(rows, right, transposed=True)


def _solve(rows: Sequence[Row], right: Sequence[fmpq], *, transposed: bool) -> list[fmpq]:
    """Solve in integers: with row i times d_i, A = diag(d) (1 - P), the systems are A x = d b and
    A^T y = b, x = d y. One denominator of the whole right side keeps the entries of A short.
    """
    size = len(rows)
    matrix = fmpz_mat(size, size)
    scales = []
    for i, row in enumerate(rows):
        entries: dict[int, fmpq] = {i: fmpq(1)}
        for j, weight in row:
            entries[j] = entries.get(j, 0) - weight
        scale = fmpz(1)
        for weight in entries.values():
            scale = scale.lcm(weight.q)
        for j, weight in entries.items():
            matrix[(j, i) if transposed else (i, j)] = weight.p * (scale // weight.q)
        scales.append(scale)
    given = list(right) if transposed else [d * b for d, b in zip(scales, right, strict=True)]
    below = fmpz(1)
    for value in given:
        below = below.lcm(value.q)
    whole = fmpz_mat(size, 1, [value.p * (below // value.q) for value in given])
    solution = matrix.solve(whole)
    found = [solution[i, 0] / below for i in range(size)]
    return [d * y for d, y in zip(scales, found, strict=True)] if transposed else found
