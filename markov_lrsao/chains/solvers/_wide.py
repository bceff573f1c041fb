r"""Large strongly connected components in floats: a certificate of every answer.

Elimination without subtraction (`kernels.sparse`) is accurate by itself, but slow where factors
fill up. The methods of `_methods` are faster, and are not to be trusted. What they return is
therefore certified: if w > 0 and s = w - P w > 0 on the component, then |x - x*| <= k w with
k = max |r_i| / s_i and r = b + P x - x (`kernels.residuals.weighted_residual`). The barrier w is x
itself where b > 0, for then s is about b; otherwise it solves w = x + P w, which makes s about x
and k w / x the relative error.

The rounding of x alone makes residuals of the size of u x. Where that is too much, the residual is
computed in two floats, the method is asked for a correction, and x with its correction is certified
(`close_residual`). Where nothing gives a bound that is small enough, the component is eliminated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.solvers._methods import ROUGHLY, Component

__all__ = ["Planned", "certified", "corrected", "relative_bound"]

FloatArray = npt.NDArray[np.float64]
_GOOD_ENOUGH = 1e-11  # a certified relative error that needs no correction
_CORRECTIONS = 4
_ACCEPTED = 1e-8  # a worse one is not taken where elimination can do better ...
_LARGE = 30_000  # ... on components of up to as many states; on larger ones it would take too long
_ACCEPTED_ON_LARGE = 1e-6
_IN_RANGE = 1e-250  # below, products leave the range in which roundings are relative
_LARGEST = 1e150  # above, products with weights may leave it
_UNIT = 2.0**-53


def relative_bound(
    component: Component, right: FloatArray, x: FloatArray, barrier: FloatArray
) -> float:
    """Return a bound of max |x - x*| / x, infinite where the barrier proves nothing."""
    from markov_lrsao.chains.kernels.residuals import weighted_residual

    if not _in_range(x):
        return np.inf
    own = component
    k = float(
        weighted_residual(
            *(own.pointer, own.columns, own.weights, own.leak, own.totals, own.degree),
            *(right, x, barrier, barrier is x),
        )
    )
    return np.inf if k < 0 else 1.01 * k * _ratio(barrier, x)


def _ratio(barrier: FloatArray, x: FloatArray) -> float:
    return 1.0 if barrier is x else float(np.max(barrier / x))


def _in_range(x: FloatArray) -> bool:
    return bool(x.min() > _IN_RANGE and x.max() < _LARGEST)


def _close(
    component: Component, right: FloatArray, x: FloatArray, low: FloatArray, barrier: FloatArray
) -> tuple[float, FloatArray]:
    """Return a bound of max |x + low - x*| / x, for the right side as it is, and the residual."""
    from markov_lrsao.chains.kernels.residuals import close_residual

    own, residual = component, np.empty(len(x))
    data = np.zeros(own.size) if own.exact else own.degree + 3.0
    k = float(
        close_residual(
            *(own.pointer, own.columns, own.weights, own.leak, own.totals, data),
            *(right, x, low, barrier, residual),
        )
    )
    return np.inf if k < 0 else 1.01 * k * _ratio(barrier, x), residual


def corrected(
    solve: Callable[..., FloatArray],
    component: Component,
    right: FloatArray,
    x: FloatArray,
    barrier: FloatArray,
) -> tuple[FloatArray, float]:
    """Return x with corrections, rounded, and a bound of its relative error."""
    low = np.zeros(len(x))
    best, residual = _close(component, right, x, low, barrier)
    for _ in range(_CORRECTIONS):
        if best == np.inf or best < _GOOD_ENOUGH:
            break
        more = low + solve(residual, ROUGHLY)
        if not (np.all(np.isfinite(more)) and np.all(np.abs(more) <= 0.5 * x)):
            break
        bound, residual = _close(component, right, x, more, barrier)
        if not bound < best:
            break
        low, best = more, bound
    # the right side was assembled from non-negative terms, and the sum is rounded
    own = (float(component.degree.max()) + 5.0) * _UNIT
    return x + low, 1.01 * (2.0 * best + own)


class Planned:
    """The solutions of one component by the first method that can be certified, which is kept."""

    def __init__(self, component: Component) -> None:
        self._component = component
        self.leak = component.leak
        self._methods = list(component.plan)
        self._solver: Any = None

    def solve(self, right: FloatArray) -> tuple[FloatArray, float] | None:
        """Return x = right + P x with a bound of its relative error; None: nothing proved one."""
        own = self._component
        if not np.all(right >= 0) or np.any((right > 0) & (right < _IN_RANGE)):
            return None
        if own.weights.size == 0 or np.any(own.weights.min() < _IN_RANGE * own.totals):
            return None
        accepted = _ACCEPTED if own.size <= _LARGE else _ACCEPTED_ON_LARGE
        while self._methods:
            try:
                if self._solver is None:
                    self._solver = self._methods[0](own)
                found = certified(self._solver.solve, own, right)
            except (RuntimeError, MemoryError, ArithmeticError, np.linalg.LinAlgError):
                found = None  # singular in floats, or too large
            if found is not None and found[1] <= accepted:
                return found
            self._solver = None
            del self._methods[0]
        return None


def certified(
    solve: Callable[..., FloatArray],
    component: Component,
    right: FloatArray,
    x: FloatArray | None = None,
) -> tuple[FloatArray, float] | None:
    """Return a method's solution, or x corrected by it, with a bound of its relative error."""
    if x is None:
        x = solve(component.totals * right)
    if not _in_range(x):
        return None
    bound = np.inf
    if right.min() > 0:
        x, bound = _judged(solve, component, right, x, x)
    if bound > _GOOD_ENOUGH:
        barrier = solve(component.totals * x)
        found, again = _judged(solve, component, right, x, barrier)
        if again < bound:
            return found, again
    return x, bound


def _judged(
    solve: Callable[..., FloatArray],
    component: Component,
    right: FloatArray,
    x: FloatArray,
    barrier: FloatArray,
) -> tuple[FloatArray, float]:
    """Return x, corrected if need be, with the bound that a barrier gives."""
    bound = relative_bound(component, right, x, barrier)
    if bound > _GOOD_ENOUGH:
        better, closer = corrected(solve, component, right, x, barrier)
        if closer < bound:
            return better, closer
    return x, bound
