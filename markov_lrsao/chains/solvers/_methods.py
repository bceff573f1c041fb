"""One large strongly connected component in floats, and methods that solve its equations.

Each method solves leaving x - weights x = given, and none of them is to be trusted: what they
return is certified in `_wide`. Which of them is the quickest is told by the graph: few wide levels
of a breadth-first search say that Krylov methods end soon by themselves; many, that they need the
coarser levels; narrow ones, that separators are small and factors sparse.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ROUGHLY", "Component", "Factored", "Krylov", "Multilevel", "sparse_lu"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
ROUGHLY = 1e-4
"""The tolerance of a correction."""
_TOLERANCE = 1e-12
_STEPS = 400
_SHORT = 6  # transitions of a state; on herman's denser rings the preconditioner took longer
_FEW = 14  # steps of the multilevel method on a grid
_LARGEST_LU = 2e12  # multiplications, by estimate
_COMPLEX = 2.2  # entries of all levels, relative to the first
_COARSEST = 100  # states of the last level, which is inverted


@dataclass(frozen=True, eq=False)
class Component:
    """The transitions of one component among its own states, without loops.

    Attributes
    ----------
    pointer, columns, weights : the transitions (CSR), as weights of the rows' totals
    leak : the weight of leaving the component, per state
    leaving : the weight of leaving the state
    totals : what a row's weights, with those of its loop, add up to
    degree : transitions of the whole row, which bounds the roundings behind leak and right sides
    exact : whether weights and totals are exact
    """

    pointer: IntArray
    columns: npt.NDArray[np.int32]
    weights: FloatArray
    leak: FloatArray
    leaving: FloatArray
    totals: FloatArray
    degree: IntArray
    exact: bool = False

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.leak)

    @cached_property
    def levels(self) -> tuple[int, int]:
        """The number of levels of a breadth-first search, and the size of the largest."""
        from markov_lrsao.chains.kernels import systems

        depth, widest = systems.levels(self.pointer, self.columns)
        return int(depth), int(widest)

    @cached_property
    def work(self) -> dict[Callable[[Component], Any], float]:
        """The methods that are worth trying, with their multiplications by estimate."""
        depth, widest = self.levels
        pass_over = len(self.columns) + 5.0 * self.size
        found: dict[Callable[[Component], Any], float] = {
            Krylov: 4.0 * depth * pass_over,
            Multilevel: 240.0 * pass_over,
            Factored: 10.0 * float(widest) ** 3 + 200.0 * self.size * np.log(self.size),
        }
        if found[Factored] > _LARGEST_LU:
            del found[Factored]
        return found

    @cached_property
    def plan(self) -> list[Callable[[Component], Any]]:
        """The methods that are worth trying, the most promising first."""
        return sorted(self.work, key=self.work.__getitem__)


def sparse_lu(matrix: Any) -> Any:
    """Return SuperLU's factors of an M-matrix in a minimum-degree order, without pivoting."""
    from scipy.sparse.linalg import splu

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return splu(
            matrix,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )


# -- methods: each solves leaving x - weights x = given ---------------------------------------


class Factored:
    """Sparse LU factors without pivoting: the matrix is an M-matrix, diagonally dominant."""

    def __init__(self, component: Component) -> None:
        from scipy.sparse import csc_array

        from markov_lrsao.chains.kernels.krylov import transposed

        size = component.size
        parts = transposed(
            component.pointer, component.columns, component.weights, component.leaving
        )
        matrix = csc_array(parts, shape=(size, size))
        self._factors = sparse_lu(matrix)

    def solve(self, given: FloatArray, tolerance: float = _TOLERANCE) -> FloatArray:
        return np.asarray(self._factors.solve(given, "T"), dtype=np.float64)


class Krylov:
    """BiCGSTAB on the jump chain; where rows are short, with what each sweep has found already."""

    def __init__(self, component: Component) -> None:
        from markov_lrsao.chains.kernels.krylov import jumps

        self._component = component
        self._jumps = jumps(component.pointer, component.weights, component.leaving)

    def solve(self, given: FloatArray, tolerance: float = _TOLERANCE) -> FloatArray:
        from markov_lrsao.chains.kernels.krylov import bicgstab

        own, x = self._component, np.zeros(len(given))
        right = given / own.leaving
        ahead = len(own.columns) < _SHORT * own.size
        rows = own.pointer, own.columns, self._jumps
        _near(bicgstab(*rows, right, x, tolerance, _STEPS, ahead))
        return x


class Multilevel:
    """BiCGSTAB with smoothed aggregation as preconditioner.

    Rows are weighted so that the matrix is symmetric, if the walk is reversible.
    """

    def __init__(self, component: Component) -> None:
        from markov_lrsao.chains.kernels import multilevel

        own, work = component, component.work
        share = work[Factored] / work[Multilevel] if Factored in work else np.inf
        self._steps = int(min(_STEPS, max(_FEW, _FEW * share)))  # more, and factors are quicker
        scale = multilevel.symmetric(own.pointer, own.columns, own.weights)
        self._scale = scale if scale.size else 1.0 / own.leaving
        entries = np.repeat(-self._scale, np.diff(own.pointer)) * own.weights
        self._levels, self._first = _hierarchy(
            (own.pointer, own.columns.copy(), entries), self._scale * own.leaving
        )

    def solve(self, given: FloatArray, tolerance: float = _TOLERANCE) -> FloatArray:
        from markov_lrsao.chains.kernels.multilevel import bicgstab

        x = np.zeros(len(given))
        given = self._scale * given
        _near(bicgstab(self._levels, self._first, given, x, tolerance, self._steps))
        return x


def _near(came: bool) -> None:
    if not came:
        raise ArithmeticError("the iteration does not come near a solution")


def _hierarchy(rows: Any, diagonal: FloatArray) -> tuple[tuple[Any, ...], IntArray]:
    """Return all levels in one, as `kernels.multilevel` wants them, and their first rows.

    Raises ArithmeticError where aggregates stay small or coarser levels fill up.
    """
    from markov_lrsao.chains.kernels import multilevel

    found: list[tuple[Any, FloatArray, Any, Any]] = []
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
    down: Any = (np.zeros(len(diagonal) + 1, np.int64), *nothing[1:])  # into the finest level
    while len(diagonal) > _COARSEST:
        own, count = multilevel.aggregates(*rows)
        if count > 0.7 * len(diagonal):
            raise ArithmeticError("no strong couplings to aggregate states by")
        up = multilevel.prolongation(*rows, diagonal, own, count)
        found.append((rows, diagonal, up, down))
        down = multilevel.turned(*up, count)
        rows, diagonal = multilevel.coarser(rows, diagonal, up, down, count)
        if sum(len(level[0][1]) for level in found) > _COMPLEX * len(found[0][0][1]):
            raise ArithmeticError("coarser levels fill up")
    last = np.diag(diagonal)
    np.add.at(last, (np.repeat(np.arange(len(diagonal)), np.diff(rows[0])), rows[1]), rows[2])
    found.append((rows, diagonal, (np.zeros(len(diagonal) + 1, np.int64), *nothing[1:]), down))
    first = np.cumsum([0, *(len(level[1]) for level in found)], dtype=np.int64)
    middle = [multilevel.divided(*level[0]) for level in found]
    inner, up, down = (
        _stacked([level[k] for level in found], first, shift)
        for k, shift in ((0, 0), (2, 1), (3, -1))
    )
    corners = np.concatenate([level[1] for level in found])
    edges = np.cumsum([0, *(len(level[0][1]) for level in found)])
    levels = (
        inner[0],
        np.concatenate([part + edge for part, edge in zip(middle, edges, strict=False)]),
        *inner[1:],
        corners,
        *up,
        *down,
        np.linalg.inv(last),
        1.0 / corners,
    )
    return levels, first


def _stacked(parts: list[Any], first: IntArray, shift: int) -> tuple[Any, ...]:
    """Put matrices below each other; columns of the k-th are rows of level k + shift."""
    pointer, columns = [np.zeros(1, np.int64)], []
    edges = 0
    for k, (begin, to, _) in enumerate(parts):
        pointer.append(begin[1:] + edges)
        edges += len(to)
        columns.append(to + np.int32(first[max(0, k + shift)]))
    weights = np.concatenate([part[2] for part in parts])
    return np.concatenate(pointer), np.concatenate(columns), weights
