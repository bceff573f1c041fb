"""Solving linear systems of a chain, exactly or in floats.

``backward`` solves v = constant + P v on a set of states (expected costs until the set is
left, with given values outside), ``forward`` solves x = source + x P (expected numbers of
steps spent in each state). Exact solutions are fmpq and checked with ==; float solutions
come from subtraction-free elimination.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain, absorbing_outside
from markov_lrsao.chains.doubts import NEGLIGIBLE_FLOW
from markov_lrsao.chains.solvers import _exact
from markov_lrsao.progress import Progress, no_progress

if TYPE_CHECKING:
    from markov_lrsao.chains.solvers._system import System

__all__ = ["NEGLIGIBLE_FLOW", "Field", "absorbing_outside", "backward", "forward"]

Field = Literal["exact", "float"]
BoolArray = npt.NDArray[np.bool_]


def backward(
    chain: MarkovChain,
    inside: BoolArray,
    constant: Sequence[Any] | npt.NDArray[np.float64],
    outside: Sequence[Any] | npt.NDArray[np.float64] | None = None,
    *,
    field: Field = "exact",
    tilted: npt.NDArray[np.float64] | None = None,
    rounds: npt.NDArray[np.float64] | None = None,
    system: System | None = None,
    positive: bool = False,
    progress: Progress = no_progress,
) -> Any:
    """Solve v = constant + P v inside, v = outside elsewhere (default 0).

    Parameters
    ----------
    inside : which states are unknown; components must not straddle it, except that an
        outside state inside a component simply has its given value
    constant, outside : one number per state, fmpq for "exact", float (>= 0) for "float"
    tilted : for "float" only, and where every outside state is absorbing: probabilities per
        transition to be used instead of the chain's own
    rounds : for "float" only: the roundings behind the constants (inside) and the values given
        (outside); inside it is filled with those behind the solution. The exact solution for the
        chain's rational probabilities is within a factor (1 + 2^-53)^rounds of each value
    system : for "float" only: `System.of(chain, inside, tilted)`, where several are solved with it
    positive : for "float" only: whether the solution is known to be positive wherever it is asked

    Returns
    -------
    list of fmpq, or a float array

    Raises
    ------
    NotAbsorbingError
        Some inside states are never left.
    SolverError
        The exact solution fails its residual check, or numbers leave the range of floats.
    """
    if field == "exact":
        values = list(outside) if outside is not None else [fmpq(0)] * chain.size
        return _exact.solve_backward(chain, inside, list(constant), values, progress)
    from markov_lrsao.chains.solvers import _float, _system

    array = np.zeros(chain.size) if outside is None else np.array(outside, dtype=np.float64)
    if system is None:
        system = _system.System.of(chain, inside, tilted)
    given = np.asarray(constant, dtype=np.float64)
    _float.solve_backward(chain, system, given, array, rounds, positive=positive, progress=progress)
    return array


def forward(
    chain: MarkovChain,
    inside: BoolArray,
    source: Sequence[Any] | npt.NDArray[np.float64],
    *,
    field: Field = "exact",
    progress: Progress = no_progress,
) -> Any:
    """Solve x = source + x P inside: the expected number of steps begun in each state."""
    if field == "exact":
        return _exact.solve_forward(chain, inside, list(source), progress)
    from markov_lrsao.chains.solvers import _float, _system

    given = np.asarray(source, dtype=np.float64)
    return _float.solve_forward(chain, _system.System.of(chain, inside), given)
