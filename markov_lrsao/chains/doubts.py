r"""Rigorous bounds of the errors of float answers about reaching a target.

The solver counts the roundings behind each of its non-negative solutions (`solvers._float`): with
R of them the relative error is at most (1 + u)^R - 1, u = 2^-53. Probabilities h, means m and
second moments s have such counts. The variance V is bounded in two ways.

* Its jumps J = c + m_j - m_i err by d <= e (c + m_i + m_j), e being the means' relative error
  and 4 u more. Let ||J||^2 be the expected sum of J^2 over a run, so that V = ||J||^2. Then
  | ||J~|| - ||J|| | <= ||J~ - J|| <= sqrt(B), B the expected sum of d^2, and hence
  |V~ - V| <= 2 sqrt(V~ B) + B. Loops have J = c, up to the rounding of c.
* s - m^2 errs by at most the errors of s and of m^2.

Both hold for the chain's exact rational probabilities; their rounding to floats is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import overload

import numpy as np
import numpy.typing as npt

__all__ = ["NEGLIGIBLE_FLOW", "Doubt", "relative"]

NEGLIGIBLE_FLOW = 1e-200
"""Expected numbers of steps are right relative to their size from here on; below, absolutely."""

FloatArray = npt.NDArray[np.float64]
_UNIT = 2.0**-53
_SLACK = 1.01
_MOST_RELATIVE = 1e-3
_JUMP_ERROR = 2.0**-51  # in units of which the solver sums up squared errors of jumps


@overload
def relative(rounds: float) -> float: ...
@overload
def relative(rounds: FloatArray) -> FloatArray: ...
def relative(rounds: float | FloatArray) -> float | FloatArray:
    """Return a bound of (1 + u)^rounds - 1, infinite where it says nothing."""
    bound = _SLACK * rounds * _UNIT
    if isinstance(bound, np.ndarray):
        return np.where(bound <= _MOST_RELATIVE, bound, np.inf)
    return bound if bound <= _MOST_RELATIVE else np.inf


@dataclass
class Doubt:
    """How far the answers of one float solution may be off.

    Attributes
    ----------
    hit, miss, mean : roundings behind the probabilities and the means
    spread : a bound of the variances' errors, in their own units
    known : whether there is a bound at all
    """

    hit: float = 0.0
    miss: float = 0.0
    mean: float = 0.0
    spread: FloatArray = field(default_factory=lambda: np.zeros(0))
    known: bool = True

    def forget(self) -> None:
        """Say that no bound of means and variances is known."""
        self.known = False

    def of_jumps(self, spread: FloatArray, squares: FloatArray, rounds: float) -> None:
        """Bound the errors of variances that are sums of squared jumps.

        `squares` is the expected sum of squared errors of the jumps for e = 2^-51, with what
        underflow hides; `rounds` are those behind the variances, given the jumps.
        """
        factor = (relative(self.mean) + 4 * _UNIT) / _JUMP_ERROR
        b = _SLACK * max(factor, 1.0) ** 2 * squares
        own = relative(rounds + 8.0)
        # two roots: the product of two small numbers may underflow
        self.spread = _SLACK * (spread * own + 2 * np.sqrt(spread) * np.sqrt(b) + 2 * b)

    def of_second(self, second: FloatArray, mean: FloatArray, rounds: float) -> FloatArray:
        """Bound the errors of s - m^2."""
        squared = mean**2
        bound = second * relative(rounds + 2.0) + squared * relative(2 * self.mean + 4.0)
        return np.asarray(_SLACK * bound)
