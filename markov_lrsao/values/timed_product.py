r"""Variances of walks whose product was explored: edges with weights that know the time.

An edge of the product (`markov_lrsao.values.row_product`) notes where its weight comes from: a
single step, a climb, an order that was told, or a passage, which may come with a maximum that was
told. The tables of these weights are short; here they are put together, for millions of edges at
once, and what is forgotten by relaxing rows is added (`markov_lrsao.values.second_moments`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from markov_lrsao.exact.series import Element, add
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.lost_moments import second_anywhere
from markov_lrsao.values.options import CERTAIN, LOST, NOTHING, OPTIMUM, ends_of, signed_ends
from markov_lrsao.values.policies import FloatArray
from markov_lrsao.values.row_product import Edges, Product, RowProduct
from markov_lrsao.values.row_tables import WEIGHT, lumps, weight_of
from markov_lrsao.values.second_moments import Left, TimedEdges
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.slopes import Passage
from markov_lrsao.values.ways import Way, way_of

__all__ = ["product_edges", "product_left"]

_ROUNDED = 1e-14
"""Relative to the sum of absolute values: more than the roundings of products and sums of a few."""
_ROUNDED_SUM = 1e-13
"""The same of sums of a thousand terms."""
_SHARE, _FIRST, _SECOND, _UNTOLD, _AGAINST = slice(0, 2), slice(2, 4), slice(4, 6), 6, slice(7, 9)


def product_edges(rows: RowProduct, found: Product) -> TimedEdges:
    """Return the weights of all edges of an exploration of a timed walk."""
    edges = found.edges
    assert edges is not None, "the walk's slopes know nothing of time"
    weights = _weights(rows, edges)
    untold = weights[:, _UNTOLD] + edges.forgotten
    lost = edges.target == LOST
    untold[lost] += _untold(rows, found, found.system.owner[edges.option[lost]])
    options = len(found.system.owner)
    second = np.array(
        [np.bincount(edges.option, side, minlength=options) for side in weights[:, _SECOND].T]
    )
    sizes = np.abs(weights[:, _SECOND]).max(axis=1)
    rounded = np.bincount(edges.option, sizes, minlength=options) * _ROUNDED_SUM
    # Parts of p_1 that are negative meet the other end of v_1: they are edges of their own.
    more = np.flatnonzero(weights[:, _AGAINST].any(axis=1))
    nothing = np.zeros(len(more))
    return TimedEdges(
        np.concatenate((edges.option, edges.option[more])),
        np.concatenate((edges.target, edges.target[more])).astype(np.int64),
        np.concatenate((edges.share, nothing)),
        np.concatenate((weights[:, _FIRST], weights[more, _AGAINST])).T.copy(),
        np.concatenate((np.sqrt(untold) * (1 + _ROUNDED), nothing)),
        second + np.array([-rounded, rounded]),
    )


def _weights(rows: RowProduct, edges: Edges) -> FloatArray:
    """Put the weights of all edges together, a row each."""
    from markov_lrsao.values.kernels import row_product as kinds

    told, handed, seen = rows.weights
    tables = {
        kinds.MOVE: move_weights(rows.walk),
        kinds.CLIMB: climb_weights(rows.walk),
        kinds.TOLD: told,
        kinds.HANDED: handed,
        kinds.PASSAGE: passage_weights(rows.walk),
    }
    found = np.empty((len(edges.kind), WEIGHT))
    for kind, table in tables.items():
        there = edges.kind == kind
        found[there] = table[edges.place[there]]
    both = np.flatnonzero(edges.told >= 0)
    found[both] = _both(found[both], seen[edges.told[both]])
    return found


def move_weights(walk: SharedRow) -> FloatArray:
    """Return the weights of single steps: share * (1 + x), by position, direction and actions."""
    n, actions = walk.n, len(walk.law.actions)
    found = np.zeros((n + 1, 2, actions + 1, WEIGHT))
    for p in walk.plateau:
        for d, share in ((DOWN, p), (UP, n - p)):
            for number in range(1, actions + 1):
                ends = ends_of(fmpq(share, n * number))
                found[p, d, number] = weight_of(Way(OPTIMUM, ends, ends))
    return found.reshape(-1, WEIGHT)


def climb_weights(walk: SharedRow) -> FloatArray:
    """Return the weights of climbs, by the position where they begin."""
    found = np.zeros((walk.n + 1, WEIGHT))
    for p, i in walk.plateau.items():
        time = walk.time(p, walk.place.plateaus[i][1])
        found[p] = weight_of(Way(OPTIMUM, CERTAIN, ends_of(time[1]), ends_of(time[2])))
    return found


def passage_weights(walk: SharedRow) -> FloatArray:
    """Return the weights of ways through slopes, in the order of `row_tables.slope_tables`."""
    return np.array(
        [
            weight
            for _, s, _, lump_of, words in lumps(walk)
            for word in words
            for weight in _passing(walk.slopes[s].words[word].passages, lump_of)
        ]
    )


def _passing(passages: Sequence[Passage], lump_of: Sequence[int]) -> list[tuple[float, ...]]:
    """Return the weights of a word's ways, which lead to lumps of words.

    What is left may be different for every word of a lump, and p_1 of either sign.
    """
    ways: dict[tuple[int, int], dict[int, Element]] = {}
    for x in passages:
        words = ways.setdefault((x.side, lump_of[x.word]), {})
        weight = tuple(map(arb, x.weight))
        words[x.word] = add(words[x.word], weight) if x.word in words else weight
    found: list[tuple[float, ...]] = []
    for words in ways.values():
        parts = list(words.values())
        share, first, second = (sum((x[k] for x in parts), arb(0)) for k in range(3))
        opposed = [x[1] for x in parts if not x[1] >= 0] if len(parts) > 1 else []
        against = sum(opposed, arb(0))
        whole = weight_of(way_of(OPTIMUM, (share, first - against, second)))
        found.append((*whole[: _AGAINST.start], *(signed_ends(against) if opposed else NOTHING)))
    return found


def _both(x: FloatArray, y: FloatArray) -> FloatArray:
    """Multiply weights: (p0 + p1 x + p2 x^2) (q0 + q1 x + q2 x^2), ends of all parts.

    Parts of p_1 stay apart; of q_1 there is one.
    """
    found = np.empty_like(x)
    whole = x[:, _FIRST] + x[:, _AGAINST]
    found[:, _SHARE] = _sum([_times(x[:, _SHARE], y[:, _SHARE])])
    found[:, _FIRST] = _sum(
        [_times(x[:, _SHARE], y[:, _FIRST]), _times(x[:, _FIRST], y[:, _SHARE])]
    )
    found[:, _AGAINST] = _sum([_times(x[:, _AGAINST], y[:, _SHARE])])
    found[:, _SECOND] = _sum(
        [
            _times(x[:, _SHARE], y[:, _SECOND]),
            _times(_sum([whole]), y[:, _FIRST]),
            _times(x[:, _SECOND], y[:, _SHARE]),
        ]
    )
    found[:, _UNTOLD] = (x[:, _UNTOLD] + y[:, _UNTOLD]) * (1 + _ROUNDED)
    return found


def _times(x: FloatArray, y: FloatArray) -> FloatArray:
    """Multiply intervals, up to roundings."""
    corners = np.stack([x[:, i] * y[:, j] for i in (0, 1) for j in (0, 1)], axis=1)
    return np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)


def _sum(parts: list[FloatArray]) -> FloatArray:
    """Add intervals, and more than what was rounded, here and in the products."""
    slack = sum(np.abs(part).max(axis=1) for part in parts) * _ROUNDED
    total: FloatArray = np.sum(parts, axis=0) + np.stack([-slack, slack], axis=1)
    return total


def _untold(rows: RowProduct, found: Product, nodes: npt.NDArray[np.int64]) -> FloatArray:
    """Return bounds of the variance of all steps that climbs of some nodes have not told."""
    numbers, which = np.unique(found.nodes[nodes, 3], return_inverse=True)
    known = np.array([rows.untold(row) for row in numbers.tolist()], dtype=np.float64)
    return known[which]


def product_left(rows: RowProduct, found: Product, left: FloatArray) -> Left:
    """Return bounds of both moments of what is left where runs are lost or nodes were cut off.

    Parameters
    ----------
    left : per option a bound of E[steps left], 0 where nothing is
    """
    walk = rows.walk
    assert walk.anywhere is not None, "runs are lost only where what is left is bounded"
    twice = second_anywhere(walk.place, walk.slopes, walk.anywhere)
    cut = np.isin(found.system.owner, found.cut)
    first, second, untold = np.zeros((3, len(left)))
    at = np.flatnonzero(left)
    owner = found.system.owner[at]
    position = found.nodes[owner, 1]
    below = {slope.last: slope.first - 1 for slope in walk.slopes}
    for i, p, gone in zip(at.tolist(), position.tolist(), cut[at].tolist(), strict=True):
        q = p if gone else below[p]
        first[i], second[i] = walk.anywhere.upper[q], twice[q]
    untold[at] = _untold(rows, found, owner)
    return Left(first, second, cut, untold)
