r"""E[T (T - 1)] / 2 of walks on a shared row, enclosed: what variances are made of.

Write E[z^T] at z = 1 + x as a series; its coefficient of x^2 is E[T (T - 1)] / 2. Every edge of a
timed walk has a weight p_0 + p_1 x + p_2 x^2, such that the product of the weights along a run is
E[z^steps; run]: 1 + x times the probability for one step, the generating function of a whole climb
when it begins, that of a passage given a slope's word (`markov_lrsao.values.slopes`). What is told
later about steps that have been counted already corrects the weight: one more rejection has the
share b z of a climb's weight, none 1 - b z (`markov_lrsao.values.entries`). So with v_1 and v_2 the
coefficients from a state on,

    v_1 = sum p_1 + sum p_0 v_1',        v_2 = sum p_2 + sum p_1 v_1' + sum p_0 v_2'.

The first is E[steps left]. p_1 may be negative: given the past, v_2 is E[(steps left choose 2)]
plus the covariance of steps left with steps already counted.

*Forgetting.* Where a climb becomes an interval, later choices may depend on its counts in any way.
Let C be the steps that it has not told, f = E[steps left | counts], which lies between the bounds
of v_1 of the state whatever the counts are. Then v_2 changes by Cov(C, f), and

    |Cov(C, f)| <= (largest f - least f) / 2 * standard deviation of C.

*Choices.* An open comparison makes one of several options true, which one may depend on anything
that was forgotten. v_1' then lies between its bounds, and v_2 between the least and the largest
solution over all options, with every cost at its worst.

*Lost runs* and states that were cut off are counted as if the run ended there: T becomes t. What
this leaves out of v_1 is d_1, and of v_2 it is d_2, with

    d_1 = sum p_0 d_1',        d_2 = sum p_1 d_1' + sum p_0 d_2'

(and covariances of what is forgotten, as above). Where the run was left, d_1 <= U, a bound of the
steps left there, and d_2 <= V (`markov_lrsao.values.lost_moments`), plus U / 2 times the standard
deviation of all that climbs have not told: nothing is known of them any more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.moments import central_enclosures
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.values.options import LOST
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.row_graph import RowGraph

__all__ = [
    "Left",
    "TimedEdges",
    "left_out",
    "second_factorial_moment",
    "timed_edges",
    "variance_of",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_ROUNDED = 1e-13
"""Relative to the sum of absolute values: more than the roundings of a thousand terms."""


@dataclass(frozen=True, eq=False)
class TimedEdges:
    """Weights of all edges, beside their probabilities, one row each.

    Attributes
    ----------
    option, target : where an edge begins, and the node (or `OPTIMUM`, `LOST`) where it ends
    share : a bound of its probability
    first : lower and upper ends of p_1
    untold : a bound of the standard deviation of steps that it forgets
    second : lower and upper ends of the sum of p_2, per option
    """

    option: IntArray
    target: IntArray
    share: FloatArray
    first: FloatArray
    untold: FloatArray
    second: FloatArray


@dataclass(frozen=True, eq=False)
class Left:
    """What is left where runs are lost, or states were cut off, per option; 0 where neither is.

    Attributes
    ----------
    first, second : bounds of v_1 and of v_2
    cut : whether the option belongs to a state that was cut off; else its edges to `LOST` count
    untold : bounds of the variance of steps that states which were cut off have not told
    """

    first: FloatArray
    second: FloatArray
    cut: npt.NDArray[np.bool_]
    untold: FloatArray


def timed_edges(graph: RowGraph) -> TimedEdges:
    """Look at every node of a timed walk once more, and note the weights of its edges."""
    assert graph.walk.timed, "the walk's slopes know nothing of time"
    cut = set(graph.cut)
    option, target = list[int](), list[int]()
    numbers: list[tuple[float, float, float, float]] = []
    second, sizes = np.zeros((2, len(graph.options))), np.zeros(len(graph.options))
    at = 0
    for i in range(len(graph.states)):
        if i in cut:
            at += 1
            continue
        ways, level = graph.ways(i)
        for way in ways:
            assert graph.options[at].owner == i
            for to, share, first, pairs, untold in way.targets:
                number, more = (to, 0.0) if isinstance(to, int) else graph.number(to, level)
                if number == LOST:
                    more = graph.untold(i)
                option.append(at)
                target.append(number)
                numbers.append((share[1], *first, untold + more))
                second[:, at] += pairs
                sizes[at] += max(abs(pairs[0]), abs(pairs[1]))
            at += 1
    # They may cancel: what rounds off is measured by all parts, not by their sum.
    second += np.array([[-1.0], [1.0]]) * _ROUNDED * sizes
    rows = np.array(numbers).reshape(-1, 4).T
    return TimedEdges(
        np.array(option, dtype=np.int64),
        np.array(target, dtype=np.int64),
        rows[0],
        rows[1:3],
        np.sqrt(rows[3]) * (1 + _ROUNDED),
        second,
    )


def second_factorial_moment(
    system: FloatSystem, edges: TimedEdges, steps: tuple[FloatArray, FloatArray]
) -> tuple[float, float]:
    """Return bounds of E[t (t - 1)] / 2, where runs end when they are lost.

    Parameters
    ----------
    steps : bounds of the expected steps of every option

    Raises
    ------
    SolverError
    """
    low, high = (system.bound(costs, sign) for costs, sign in zip(steps, (-1, 1), strict=True))
    found = []
    for side, sign in ((0, -1), (1, 1)):
        costs = _correlated(edges, low, high, len(system.owner))[side] + edges.second[side]
        found.append(float(system.bound(costs, sign)[0]))
    return max(0.0, found[0]), found[1]


def _correlated(
    edges: TimedEdges, low: FloatArray, high: FloatArray, options: int
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of sum p_1 v', and of what is forgotten, per option; v' is between two."""
    inner = edges.target >= 0
    at = edges.target[inner]
    ends = np.array([first * v for first in edges.first[:, inner] for v in (low[at], high[at])])
    blur = 0.5 * edges.untold[inner] * edges.share[inner] * (high[at] - low[at])
    option = edges.option[inner]
    found = [
        np.bincount(option, part, minlength=options)
        for part in (ends.min(axis=0) - blur, ends.max(axis=0) + blur)
    ]
    sizes = np.bincount(option, np.abs(ends).max(axis=0) + blur, minlength=options)
    return found[0] - _ROUNDED * sizes, found[1] + _ROUNDED * sizes


def left_out(system: FloatSystem, edges: TimedEdges, left: Left) -> float:
    """Return a bound of what E[T (T - 1)] / 2 exceeds that of runs that end when they are lost.

    Raises
    ------
    SolverError
    """
    options = len(system.owner)
    lost = edges.target == LOST
    at, share = edges.option[lost], edges.share[lost]
    # d_1 and d_2 of runs that were left here, and what their time so far has to do with it.
    ended = np.bincount(at, share * left.first[at], minlength=options)
    time = np.maximum(edges.first[1][lost], 0.0) * left.first[at]
    blur = 0.5 * share * edges.untold[lost] * left.first[at]
    second = np.bincount(at, time + blur + share * left.second[at], minlength=options)
    first = np.where(left.cut, left.first, ended) * (1 + _ROUNDED)
    blur = 0.5 * np.sqrt(left.untold) * left.first
    second = np.where(left.cut, left.second + blur, second)
    later = system.small_bounds(first)
    costs = second + _correlated(edges, np.zeros(len(later)), later, options)[1]
    return float(system.small_bounds(np.maximum(costs, 0.0) * (1 + _ROUNDED))[0])


def variance_of(
    system: FloatSystem,
    edges: TimedEdges,
    steps: tuple[FloatArray, FloatArray],
    mean: Quantity,
    left: Left | None,
) -> Quantity:
    """Return what is known of Var[T].

    Parameters
    ----------
    mean : bounds of E[T]
    left : what is left where runs are lost or states were cut off; None: they are nowhere

    Raises
    ------
    SolverError
    """
    low, high = second_factorial_moment(system, edges, steps)
    if left is not None:
        # The sum of two maxima is at least the maximum of the sum.
        high = math.nextafter(high + left_out(system, edges, left), math.inf)
    assert mean.upper is not None
    ends = [
        (fmpq(1), m, fmpq(*c.as_integer_ratio()))
        for m, c in ((mean.lower, low), (mean.upper, high))
    ]
    return central_enclosures(*ends)[1]
