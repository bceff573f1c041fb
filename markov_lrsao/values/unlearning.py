r"""How often objectives are unlearnt on plateaus that share a row, enclosed.

An objective is *unlearnt* when a penalty takes its positive entry of the shared row below 0; what
the step that ends the run does is not counted. What the walk of `markov_lrsao.values.shared_row`
does to entries tells that: each option has an expected number of such moves, a cost like its steps,
and the sum of costs along a run is bounded over all options. Every one of them takes a step, so
that what is left to a run that was lost counts at most its steps.

Above a slope that is as good as never met again the walk does not tell objectives apart that are
accepted and rewarded alike from there on: such groups are counted together.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.entries import Range
from markov_lrsao.values.plateaus import Plateaus
from markov_lrsao.values.policies import FloatArray
from markov_lrsao.values.row_bounds import enclosed
from markov_lrsao.values.row_explored import explored_of
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.ways import Walk, Ways

__all__ = ["unlearnings"]

_MOST_STATES = 150_000
_ROUNDED = 1e-12
"""More than sums of some hundred probabilities are rounded by, relative to them."""


def unlearnings(
    place: Plateaus, *, largest: int = _MOST_STATES, progress: Progress = no_progress
) -> Mapping[tuple[int, tuple[str, ...]], Quantity]:
    """Enclose how often objectives are unlearnt on each plateau.

    Returns (plateau, objectives that are alike) -> expected number; plateaus are counted from 0.

    Raises
    ------
    StateSpaceTooLargeError
        There are more than `largest` states.
    SolverError
    """
    walk = SharedRow(place, [coarse_grid(place.law.n)])
    graph = RowGraph(walk)
    graph.explore(largest)
    found, costs = explored_of(graph), _costs(graph)
    result = dict[tuple[int, tuple[str, ...]], Quantity]()
    groups = [(i, group) for i in range(len(place.plateaus)) for group in _groups(walk, i)]
    with progress("counting what is unlearnt", total=len(groups)) as bar:
        for i, group in groups:
            low, high = (
                side[i][group].sum(axis=0) * (1 + slack)
                for side, slack in zip(costs, (-_ROUNDED, _ROUNDED), strict=True)
            )
            names = tuple(place.law.actions[a] for a in group)
            result[i, names] = enclosed(found.system, low, high, found.most)
            bar.advance()
    return result


def _groups(walk: SharedRow, plateau: int) -> list[list[int]]:
    """Return the actions, those together that may have been exchanged below a plateau."""
    groups = walk.alike[plateau - 1] if plateau > 1 else []
    alone = set(range(len(walk.law.actions))).difference(*groups)
    return [[a] for a in sorted(alone)] + groups


def _costs(graph: RowGraph) -> FloatArray:
    """Return bounds: side, plateau, action, option."""
    walk, at = graph.walk, 0
    shape = (2, len(walk.place.plateaus), len(walk.law.actions), len(graph.options))
    costs = np.zeros(shape)
    for k, state in enumerate(graph.states):
        for way in graph.ways(k)[0]:
            if state.position in walk.plateau:
                _count(walk, state, way, costs[:, walk.plateau[state.position], :, at])
            at += 1
    assert at == len(graph.options)
    return costs


def _count(walk: SharedRow, state: Walk, way: Ways, costs: FloatArray) -> None:
    """Add the probabilities with which an option takes entries from positive to negative ones."""
    for target, (low, high), *_ in way.targets:
        if isinstance(target, int):
            continue
        for a, (v, w) in enumerate(zip(state.entries, target.entries, strict=True)):
            if v == w:
                continue
            before, after = _positive(walk.values.range[v]), _positive(walk.values.range[w])
            costs[0, a] += low if before is True and after is False else 0.0
            costs[1, a] += high if before is not False and after is not True else 0.0


def _positive(r: Range) -> bool | None:
    """Whether all numbers between are positive, or none; None: some may be."""
    if r.lower > 0 or (r.lower == 0 and not r.with_lower):
        return True
    return False if r.upper <= 0 else None
