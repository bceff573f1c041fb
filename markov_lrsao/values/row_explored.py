"""What is to be bounded of a walk on a shared row that was explored state by state."""

from __future__ import annotations

import numpy as np

from markov_lrsao.values.options import float_system, lost_of, steps_of
from markov_lrsao.values.policies import FloatArray
from markov_lrsao.values.row_bounds import Explored
from markov_lrsao.values.row_graph import RowGraph

__all__ = ["explored_of"]


def explored_of(graph: RowGraph) -> Explored:
    """Return options, bounds of their steps, and what is left where runs were given up."""
    return Explored(
        float_system(graph.options, len(graph.states)),
        steps_of(graph.options),
        np.array([o.phase for o in graph.options]),
        _least_left(graph),
        _left(graph),
        np.array(graph.cut, dtype=np.int64),
        lost_of(graph.options),
        graph.walk.apart,
    )


def _left(graph: RowGraph) -> FloatArray:
    """Return per option a bound of E[steps from a state on that was cut off, or a lost run]."""
    walk, cut = graph.walk, set(graph.cut)
    left = lost_of(graph.options)
    for i in np.flatnonzero(left).tolist():
        left[i] *= walk.most_left_to_lost(graph.states[graph.options[i].owner]) * (1 + 1e-15)
    for i, option in enumerate(graph.options):
        if option.owner in cut:
            assert walk.anywhere is not None
            left[i] = walk.most_left(graph.states[option.owner])
    return left


def _least_left(graph: RowGraph) -> FloatArray:
    """Return per option a bound from below of E[steps from a state on that was cut off]."""
    anywhere, cut = graph.walk.anywhere, set(graph.cut)
    least = np.zeros(len(graph.options))
    if anywhere is not None:
        for i, option in enumerate(graph.options):
            if option.owner in cut:
                least[i] = anywhere.lower[graph.states[option.owner].position]
    return least
