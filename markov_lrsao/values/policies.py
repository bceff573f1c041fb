"""Optimal values of chains with choices, in floats, and bounds that floats alone can certify.

A candidate bounds the truth if it satisfies one inequality per option (see
`markov_lrsao.values.choices`). Here the inequalities are checked in floats, with a bound of their
rounding errors: a sum of k products of floats errs by at most (k + 2) u / (1 - (k + 2) u) times
the sum of absolute values, u = 2^-53. Probabilities and costs come as floats from below and from
above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import NotAbsorbingError, SolverError
from markov_lrsao.exact.graphs import components

__all__ = ["FloatSystem", "optimal_values"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_MOST_POLICIES = 60
_MARGINS = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
_SMALL_MARGINS = (1e-9, 1e-7, 1e-5, 1e-3)
_TINY = 1e-280
_LARGEST_COMPONENT = 2_000
_ROUNDED = 1e-8
"""Relative gains below this may be roundings of large components."""
_UNIT = 2.0**-53


def optimal_values(
    matrix: Any,
    owner: IntArray,
    first: IntArray,
    costs: FloatArray,
    sign: int,
    order: IntArray | None = None,
) -> FloatArray:
    """Solve v = max (sign 1) or min (-1) over options of (P v + costs) by policy iteration.

    Parameters
    ----------
    matrix : option x state, sparse
    owner, first : option -> its state; state -> its first option
    order : states in an order in which small components follow each other: then elimination goes
        along it, without pivoting, so that values keep their relative accuracy however small

    Raises
    ------
    NotAbsorbingError
    """
    from scipy.sparse import eye_array

    policy = first.copy()
    identity = eye_array(len(first), format="csc")
    values: FloatArray = np.zeros(len(first))
    fewest = len(owner) + 1
    for _ in range(_MOST_POLICIES):
        solve = _factored(identity - matrix[policy], order)
        values = solve(costs[policy])
        values += solve(costs[policy] - values + matrix[policy] @ values)
        each = matrix @ values + costs
        best = each[policy]
        better = sign * (each - best[owner]) > 1e-12 * np.abs(best[owner])
        number = int(better.sum())
        if number == 0:
            return values
        # Options that are equally good take turns for ever: roundings tell them apart.
        gained = np.abs(each - best[owner])[better] > _ROUNDED * np.abs(best[owner][better])
        if number >= fewest and not gained.any():
            return values
        fewest = min(fewest, number)
        for option in np.flatnonzero(better).tolist():
            state = int(owner[option])
            if sign * (each[option] - each[policy[state]]) > 0:
                policy[state] = option
    return values


def _factored(matrix: Any, order: IntArray | None) -> Callable[[FloatArray], FloatArray]:
    """Return what solves a linear system."""
    from scipy.sparse.linalg import splu

    try:
        if order is None:
            return cast("Callable[[FloatArray], FloatArray]", splu(matrix.tocsc()).solve)
        factors = splu(
            matrix.tocsr()[order][:, order].tocsc(),
            permc_spec="NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        raise NotAbsorbingError(
            "the walk can enter a set of states that it never leaves: E[T] is infinite"
        ) from None

    def solve(right: FloatArray) -> FloatArray:
        values: FloatArray = np.empty(len(right))
        values[order] = factors.solve(right[order])
        return values

    return solve


@dataclass(frozen=True, eq=False)
class FloatSystem:
    """Options with probabilities between two matrices.

    Attributes
    ----------
    owner, first : option -> its state; state -> its first option
    lower, upper : option x state, sparse, entrywise bounds of the probabilities
    """

    owner: IntArray
    first: IntArray
    lower: Any
    upper: Any

    @cached_property
    def _order(self) -> IntArray | None:
        """The states component by component, successors last; None: a component is large."""
        from scipy.sparse import csr_array

        edges = self.upper.tocoo()
        graph = csr_array(
            (np.ones(len(edges.row)), (self.owner[edges.row], edges.col)),
            shape=(len(self.first),) * 2,
        )
        found = components(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
        if int(found.sizes.max(initial=0)) > _LARGEST_COMPONENT:
            return None
        return found.members[::-1].copy()

    def _optimal(self, matrix: Any, costs: FloatArray, sign: int) -> FloatArray:
        return optimal_values(matrix, self.owner, self.first, costs, sign, self._order)

    def about(self, costs: FloatArray, sign: int) -> FloatArray:
        """Return about the largest (sign 1) or least (-1) E[sum of costs]; nothing is certain."""
        return self._optimal(self.upper, costs, sign)

    @cached_property
    def steps(self) -> FloatArray:
        """A bound S >= 1 + P S for every option: of the number of states passed."""
        ones = np.ones(len(self.owner))
        found = self._optimal(self.upper, ones, 1)
        for margin in (1e-9, 1e-6, 1e-3, 1.0):
            candidate = found * (1 + margin)
            if (found > 0).all() and self.holds(candidate, ones, 1):
                return candidate
        raise SolverError("the number of steps could not be bounded; please report this instance")

    def holds(self, values: FloatArray, costs: FloatArray, sign: int) -> bool:
        """Whether values bound every option from above (sign 1) or from below (-1), for certain."""
        matrix = self.upper if sign > 0 else self.lower
        if not np.isfinite(values).all():
            return False
        most = int(np.diff(matrix.indptr).max(initial=0)) + 4
        # Negative values would need the other bound of a probability: they may only help.
        part = np.maximum(values, 0.0) if sign < 0 else values
        if sign > 0 and (values < 0).any():
            return False
        inner = matrix @ part
        negative = self.upper @ np.minimum(values, 0.0) if sign < 0 else 0.0 * inner
        # Costs may be negative: what rounds off is measured by all parts, not by their sum.
        error = 1.01 * most * _UNIT * (inner + np.abs(costs) + np.abs(negative)) + 1e-300
        return bool((sign * (values[self.owner] - (inner + costs) - negative) >= error).all())

    def bound(self, costs: FloatArray, sign: int) -> FloatArray:
        """Return values that bound E[sum of costs] from above (sign 1) or below (-1), per state.

        Raises
        ------
        SolverError
        """
        matrix = self.upper if sign > 0 else self.lower
        found = self._optimal(matrix, costs, sign)
        scale = max(1.0, float(np.abs(found).max())) / float(self.steps.max())
        for margin in _MARGINS:
            for factor in (1.0, self.steps.max()):
                candidate = found + sign * scale * margin * factor * self.steps
                if self.holds(candidate, costs, sign):
                    return candidate
        raise SolverError(
            "bounds over the undecided comparisons could not be confirmed; "
            "please report this instance"
        )

    def small_bound(self, costs: FloatArray) -> float:
        """Return a bound of E[sum of costs] from state 0, relatively close however small it is."""
        return float(self.small_bounds(costs)[0])

    def small_bounds(self, costs: FloatArray) -> FloatArray:
        """Return such bounds from every state.

        What `bound` adds to be sure is small beside the largest value, here everything is relative:
        w = costs + d v + P w exceeds v = costs + P v by little, and satisfies the inequality by
        d v, which is large beside the roundings of w.

        Raises
        ------
        SolverError
        """
        if not costs.any():
            return np.zeros(len(self.first))
        found = np.maximum(self._optimal(self.upper, costs, 1), 0.0)
        for margin in _SMALL_MARGINS:
            slack = costs + margin * found[self.owner]
            candidate = np.maximum(self._optimal(self.upper, slack, 1), 0.0)
            candidate += _TINY * self.steps  # where all is 0 there would be no room for roundings
            if self.holds(candidate, costs, 1):
                return candidate
        raise SolverError("a small probability could not be bounded; please report this instance")

    def enclose(self, costs: Sequence[FloatArray]) -> tuple[fmpq, fmpq]:
        """Return rationals around E[sum of costs] from state 0; costs lie between the two given."""
        low = max(0.0, float(self.bound(costs[0], -1)[0]))
        high = float(self.bound(costs[1], 1)[0])
        return fmpq(*low.as_integer_ratio()), fmpq(*high.as_integer_ratio())
