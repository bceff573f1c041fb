"""Compiled loops of the solvers, called directly, against NumPy's dense solver."""

from __future__ import annotations

import numpy as np
import pytest

from markov_lrsao.chains.kernels import bands, sparse

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def random_band(size: int, half: int, seed: int) -> tuple[list[np.ndarray], Floats]:
    """Return a component inside a band and a target, as kernels want it, and its matrix."""
    rng = np.random.default_rng(seed)
    matrix = rng.random((size, size))
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    matrix[(apart > half) | (rng.random((size, size)) < 0.3)] = 0
    matrix[apart == 1] = 0.5
    leak = rng.random(size)
    total = matrix.sum(axis=1) + leak
    pointer, columns, weights = [0], [], []
    for i in range(size):
        for j in np.flatnonzero(matrix[i]).tolist():
            columns.append(j)
            weights.append(matrix[i, j])
        columns.append(size)
        weights.append(leak[i])
        pointer.append(len(columns))
    columns.append(size)
    weights.append(1.0)
    pointer.append(len(columns))
    inside = np.arange(size + 1) < size
    return [
        np.array(pointer),
        np.array(columns, np.int32),
        np.array(weights),
        np.append(total, 1.0),
        inside,
        np.append(size, np.arange(size)),
        np.array([0, 1, size + 1]),
        np.array([0, half]),
        np.where(inside, 1, 0),
    ], matrix / total[:, None]


@pytest.mark.parametrize(("size", "half"), [(2, 1), (9, 1), (12, 3), (20, 7), (8, 7)])
@pytest.mark.parametrize("seed", range(3))
def test_band_elimination_solves_both_systems(size: int, half: int, seed: int) -> None:
    data, matrix = random_band(size, half, seed)
    rng = np.random.default_rng(seed + 100)
    constant, values = rng.random(size + 1), np.zeros(size + 1)
    values[size] = 3.0
    report = np.array([0.0, 1.0, 0.0])
    positive = np.ones(size + 1, dtype=np.bool_)
    assert bands.backward(*data, constant, positive, values, report, 0, 2) == -1
    given = constant[:size] + 3.0 * (1 - matrix.sum(axis=1))
    inverse = np.linalg.inv(np.eye(size) - matrix)
    assert np.allclose(values[:size], inverse @ given, rtol=1e-12)
    flow = np.append(constant[:size], 0.0)
    assert bands.forward(*data, flow, report, 0, 2) == -1
    assert np.allclose(flow[:size], constant[:size] @ inverse, rtol=1e-12)
    assert report[0] == 0.0
    assert 0 < report[1] <= 1


def test_a_band_that_is_hardly_left_is_told() -> None:
    """State 1 goes back only; state 0 leaves with a probability below what floats can hold."""
    data = [
        np.array([0, 2, 4, 5]),
        np.array([1, 2, 0, 2, 2], np.int32),
        np.array([1.0, 0.0, 1.0, 0.0, 1.0]),  # 0 -> 1, 0 -> out, 1 -> 0, 1 -> out
        np.ones(3),
        *random_band(2, 1, 0)[0][4:],
    ]
    report, values = np.array([0.0, 1.0, 0.0]), np.zeros(3)
    every = np.ones(3, dtype=np.bool_)
    assert bands.backward(*data, np.ones(3), every, values, report, 0, 2) == 0
    data[2][:] = [1.0, 1e-320, 1.0, 0.0, 1.0]
    assert bands.backward(*data, np.ones(3), every, values, report, 0, 2) == 0
    data[2][:] = [0.5, 0.5, 1.0, 0.0, 1.0]
    values[2] = 1e-310  # known to be positive, and lost among the floats
    assert bands.backward(*data, np.zeros(3), every, values, report, 0, 2) == -2


@pytest.mark.parametrize(("size", "degree"), [(5, 2), (60, 3), (150, 6), (80, 40)])
@pytest.mark.parametrize("seed", range(2))
def test_sparse_elimination_solves_both_systems(size: int, degree: int, seed: int) -> None:
    """With 40 transitions per state the rest is dense from the start, with 3 it fills up late."""
    rng = np.random.default_rng(seed)
    matrix = np.zeros((size, size))
    for i in range(size):
        others = np.delete(np.arange(size), i)
        matrix[i, rng.choice(others, degree, replace=False)] = rng.random(degree) + 0.01
        matrix[i, (i + 1) % size] += 0.1
    leak = rng.random(size) * (np.arange(size) % 4 == 0)
    total = matrix.sum(axis=1) + leak
    matrix, leak = matrix / total[:, None], leak / total
    pointer = np.append(0, np.cumsum((matrix > 0).sum(axis=1)))
    _, columns = np.nonzero(matrix)
    report = np.array([0.0, 1.0, 0.0])
    given = rng.random(size)
    columns = columns.astype(np.int32)
    factors = sparse.eliminate(pointer, columns, matrix[matrix > 0], leak, 10**6, report)
    inverse = np.linalg.inv(np.eye(size) - matrix)
    right, flow = given.copy(), given.copy()
    assert sparse.solve_columns(factors, right, np.ones(size, dtype=np.bool_)) == -1
    assert np.allclose(right, inverse @ given, rtol=1e-11)
    sparse.solve_rows(factors, flow)
    assert np.allclose(flow, given @ inverse, rtol=1e-11)
    assert report[2] == 0
    few = sparse.eliminate(pointer, columns, matrix[matrix > 0], leak, degree, report)
    assert len(few[0]) + len(few[9]) < size or size == len(few[9])
