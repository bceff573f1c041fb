r"""Large strongly connected components in floats: a planner, and a certificate of every answer.

Elimination without subtraction (`kernels.sparse`) is accurate by itself, but slow where factors
fill up. Sparse LU in a minimum-degree order (SuperLU) and a Krylov method (BiCGSTAB on the jump
chain) are faster on grids and on random graphs, and are not to be trusted. What they return is
therefore certified: if w > 0 and s = w - P w > 0 on the component, then |x - x*| <= k w with
k = max |r_i| / s_i and r = b + P x - x (`kernels.residuals.weighted_residual`). The barrier w is x
itself where b > 0, for then s is about b; otherwise it solves w = x + P w, which makes s about x
and k w / x the relative error. Where neither gives a bound that is small enough, the
component is eliminated.

Which method comes first is decided by the graph: a breadth-first search with many narrow levels
says that separators are small and factors sparse; few wide levels, that Krylov methods end soon.
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

__all__ = ["Component", "relative_bound", "solve_certified", "sparse_lu"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
_GOOD_ENOUGH = 1e-10  # a certified relative error that needs no better barrier
_ACCEPTED = 1e-8  # a worse one is not taken where elimination can do better ...
_LARGE = 30_000  # ... on components of up to as many states; on larger ones it would take too long
_ACCEPTED_ON_LARGE = 1e-6
_TOLERANCE = 1e-13
_STEPS = 400
_IN_RANGE = 1e-250  # below, products leave the range in which roundings are relative
_LARGEST_LU = 2e12  # multiplications, by estimate


@dataclass(frozen=True, eq=False)
class Component:
    """The transitions of one component among its own states, without loops.

    Attributes
    ----------
    pointer, columns, values : the transitions (CSR)
    leak : probability of leaving the component, per state
    degree : transitions of the whole row, which bounds the roundings behind leak and right sides
    """

    pointer: IntArray
    columns: IntArray
    values: FloatArray
    leak: FloatArray
    degree: IntArray

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.leak)

    @cached_property
    def leaving(self) -> FloatArray:
        """The probability of leaving each state."""
        rows = np.repeat(np.arange(self.size), np.diff(self.pointer))
        return np.asarray(self.leak + np.bincount(rows, self.values, self.size), dtype=np.float64)

    @cached_property
    def plan(self) -> list[Callable[[Component], Any]]:
        """The methods that are worth trying, the most promising first."""
        from markov_lrsao.chains.kernels import krylov

        depth, widest = krylov.levels(self.pointer, self.columns, self.size)
        iteration = 20.0 * depth * (len(self.columns) + 5 * self.size)
        direct = 10.0 * widest**3 + 200.0 * self.size * np.log(self.size)
        if iteration < direct:
            return [_Krylov, _Factored] if direct < _LARGEST_LU else [_Krylov]
        return [_Factored, _Krylov]


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


class _Factored:
    """Sparse LU factors without pivoting: the matrix is an M-matrix, diagonally dominant."""

    def __init__(self, component: Component) -> None:
        from scipy.sparse import csc_array

        from markov_lrsao.chains.kernels.krylov import transposed

        size = component.size
        parts = transposed(
            component.pointer, component.columns, component.values, component.leaving
        )
        matrix = csc_array(parts, shape=(size, size))
        self._factors = sparse_lu(matrix)

    def solve(self, right: FloatArray) -> FloatArray:
        return np.asarray(self._factors.solve(right, "T"), dtype=np.float64)


class _Krylov:
    """BiCGSTAB on the jump chain; it can be begun anew from where it ended."""

    def __init__(self, component: Component) -> None:
        self._component = component

    def solve(self, right: FloatArray) -> FloatArray:
        x = np.zeros(self._component.size)
        self.improve(x, right)
        return x

    def improve(self, x: FloatArray, right: FloatArray) -> None:
        """Go on from x, with residuals that are computed anew."""
        from markov_lrsao.chains.kernels.krylov import bicgstab

        own = self._component
        bicgstab(own.pointer, own.columns, own.values, own.leaving, right, x, _TOLERANCE, _STEPS)


def relative_bound(
    component: Component, right: FloatArray, x: FloatArray, barrier: FloatArray
) -> float:
    """Return a bound of max |x - x*| / x, infinite where the barrier proves nothing."""
    from markov_lrsao.chains.kernels.residuals import weighted_residual

    if not np.all(x > _IN_RANGE) or not np.all(np.isfinite(x)):
        return np.inf
    k = float(
        weighted_residual(
            component.pointer,
            component.columns,
            component.values,
            component.leak,
            component.degree,
            right,
            x,
            barrier,
        )
    )
    return np.inf if k < 0 else 1.01 * k * float(np.max(barrier / x))


def solve_certified(component: Component, right: FloatArray) -> tuple[FloatArray, float] | None:
    """Return x = right + P x with a bound of its relative error; None: no method proved one."""
    if not np.all(right >= 0) or np.any((right > 0) & (right < _IN_RANGE)):
        return None
    if component.values.size == 0 or component.values.min() < _IN_RANGE:
        return None
    accepted = _ACCEPTED if component.size <= _LARGE else _ACCEPTED_ON_LARGE
    for method in component.plan:
        try:
            solver = method(component)
            x = solver.solve(right)
            bound = relative_bound(component, right, x, x) if right.min() > 0 else np.inf
            if bound > _GOOD_ENOUGH and isinstance(solver, _Krylov):
                solver.improve(x, right)
                bound = relative_bound(component, right, x, x) if right.min() > 0 else np.inf
            if bound > _GOOD_ENOUGH and np.all(x > _IN_RANGE) and np.all(np.isfinite(x)):
                barrier = solver.solve(x)
                bound = min(bound, relative_bound(component, right, x, barrier))
        except (RuntimeError, MemoryError, ArithmeticError):  # singular in floats, or too large
            continue
        if bound <= accepted:
            return x, bound
    return None
