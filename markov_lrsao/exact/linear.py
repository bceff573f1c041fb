"""The linear systems of absorbing chains, dense and exact.

With P the probabilities inside a set of states that is left for sure, x = b + P x are expected
sums (b = 1: steps until the set is left), and x = b + x P are expected visits (b: where the walk
begins). Small systems only; chains have `markov_lrsao.chains.solvers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import fmpq, fmpq_mat

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
    size = len(rows)
    matrix = fmpq_mat(size, size)
    for i, row in enumerate(rows):
        matrix[i, i] = matrix[i, i] + 1
        for j, weight in row:
            at = (j, i) if transposed else (i, j)
            matrix[at] = matrix[at] - weight
    solution = matrix.solve(fmpq_mat(size, 1, list(right)))
    return [solution[i, 0] for i in range(size)]
