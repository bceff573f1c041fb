r"""E[T] on plateaus that share a row, where words and rows multiply: enclosures from the product.

The product of rows and what is around them (`markov_lrsao.values.row_product`) is explored again
and again: first on the loosest grid, on which words of slopes are lumped and entries are little
more than their depths; then on all grids at once, nodes that matter less than a threshold being
handed down, with a lower threshold each time. What matters is told by the widths that the loosest
grid leaves open. It ends when the enclosure is narrow enough, stays as wide as it was, or does not
fit any more. All enclosures hold, and so does what they have in common.

Where slopes know the time the narrowest exploration has a variance, too, since edges note where
their weights come from (`markov_lrsao.values.timed_product`).

These explorations do not know the phase of a node, which would more than double them. Phases take
as many solutions each as the whole run, and are bounded on the largest exploration that is small
enough to be repeated with phases; the last one is the whole run less all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flint import fmpq

from markov_lrsao.errors import Refused, SolverError, attempt
from markov_lrsao.exact.quantity import UNKNOWN, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.answer import Answer
from markov_lrsao.values.enclosure import counted_phases
from markov_lrsao.values.entries import Grid
from markov_lrsao.values.plateaus import Plateaus
from markov_lrsao.values.policies import FloatArray
from markov_lrsao.values.row_bounds import Explored, too_large
from markov_lrsao.values.row_grids import grids, lumped_grids, residual_grids, sharp_grid
from markov_lrsao.values.row_product import Product, RowProduct, Widths
from markov_lrsao.values.second_moments import variance_of
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.timed_product import product_edges, product_left

__all__ = ["enclose_by_product", "enclose_sharply"]

_LUMPED_SHARES, _SHARES = (0.0, 0.01, 0.1, 0.3, 1.0), (0.0, 0.02, 0.1, 1.0)
_RESIDUAL_SHARES = (0.0, 0.02, 0.1, 0.3, 1.0)
"""Of the threshold, per grid: looser ones have fewer states."""
_ROOM = 4
"""What the loosest grid may take, if another one has fewer states: a quarter."""
_LAST = 1e4
"""How much more states matter that stay on the last plateau, where words are lumped."""
_FIRST_THRESHOLD, _FINER = 1e-3, 6.0
_STILL = 0.97
"""An enclosure that is so wide, beside another, is not worth many more nodes.

It does so by steps, as comparisons are decided: with three plateaus that share bridges, n = 1000,
its relative width is 2.4e-6, 2.3e-6 and 7.7e-7 in turn.
"""
_GROWN = 1.5
"""With so many times more nodes that made nothing narrower, more of them are of no use."""
_FASTER = 1.5
"""Exponent of the growth of nodes, from step to step."""
_FEW, _MOST_PHASED = 80_000, 300_000
"""Nodes of explorations that are repeated for phases, and how many there may be with phases."""
_WIDEST = fmpq(100)
_SPARE, _MOST_LEFT = 1e-5, 1e-3
"""Steps that nodes may add which are not looked at: enough, and (times n) more than is useful."""


def enclose_by_product(
    place: Plateaus,
    moments: int,
    *,
    tolerance: fmpq,
    largest: int,
    lumped: bool,
    timed: bool = False,
    progress: Progress = no_progress,
) -> Answer:
    """Return enclosures of E[T] and of the phases, and of the variance of T if steps are timed.

    Parameters
    ----------
    tolerance : relative width that is narrow enough
    largest : so many nodes are looked at in one exploration at most
    lumped : whether words of slopes are lumped on looser grids
    timed : whether slopes know how long passages took; not if they are long

    Raises
    ------
    CrossingError, StateSpaceTooLargeError, SolverError
    """
    rows, found, shares = _loosest(place, largest, lumped=lumped, timed=timed)
    walk = rows.walk
    low, high = _about(walk, found)
    look = _Look(rows, largest, Widths(found.nodes, found.table, high - low), lumped=lumped)
    width, mean = _width(low, high)
    threshold, size = _FIRST_THRESHOLD * width, len(found.nodes)
    worth = _Worth(width, size)
    best, limits = found, list[float]()
    with progress("refining values", total=None) as bar:
        while width > to_float(tolerance) * mean:
            bar.advance()
            now = [threshold * share for share in shares]
            finer = look.at(now, width)
            narrower, mean = _width(*_about(walk, finer))
            growth, size = len(finer.nodes) / size, len(finer.nodes)
            if narrower < width:
                width, best = narrower, finer
                limits = now if size <= _FEW else limits
            if width <= _STILL * worth.width:
                worth = _Worth(width, size)
            step = _step(size, growth, largest)
            if size > _GROWN * worth.size or step is None:
                break
            threshold /= step
        bar.advance()
        answer = _answer(rows, best, look.phased(limits, width), moments)
    if answer.relative_width > _WIDEST:
        raise too_large(largest)
    return answer


class _Worth(NamedTuple):
    """The last exploration that was clearly narrower than those before it, and its nodes."""

    width: float
    size: int


def _step(size: int, growth: float, largest: int) -> float | None:
    """Return how much lower the next threshold should be; None: nodes would not fit.

    With each step they grow faster than with the one before.
    """
    more = max(1.0, growth) ** _FASTER
    for step, larger in ((_FINER, more), (_FINER**0.5, more**0.5)):
        if size * larger <= largest:
            return step
    return None


class _Look:
    """Explorations of one product: finer where it matters, with phases or without."""

    def __init__(self, rows: RowProduct, largest: int, widths: Widths, *, lumped: bool) -> None:
        self._rows, self._largest, self._widths = rows, largest, widths
        self._last = _LAST if lumped else 1.0

    def at(self, limits: Sequence[float], width: float) -> Product:
        """Explore on all grids at once, without phases; `width` is about that of the start."""
        return self._explored(limits, width, self._largest, phased=False)

    def phased(self, limits: Sequence[float], width: float) -> Product | None:
        """Explore with phases, on the loosest grid without limits; None: it is too large."""
        most = min(self._largest, _MOST_PHASED)
        found = self._explored(limits, width, most, phased=True)
        return None if len(found.cut) else found

    def _explored(
        self, limits: Sequence[float], width: float, most: int, *, phased: bool
    ) -> Product:
        if not limits:
            return self._rows.explore(most, phased=phased)
        return self._rows.explore(
            most,
            level=len(self._rows.walk.values.grids) - 1,
            thresholds=limits,
            widths=self._widths,
            width=width,
            last=self._last,
            phased=phased,
        )


def _loosest(
    place: Plateaus, largest: int, *, lumped: bool, timed: bool
) -> tuple[RowProduct, Product, tuple[float, ...]]:
    """Explore the loosest grid, one that leaves room for finer ones; return their shares, too."""
    n = place.law.n

    def explored(chosen: list[Grid], room: int) -> tuple[RowProduct, Product]:
        rows = _rows(place, chosen, largest, timed=timed)
        return rows, rows.explore(room, phased=False)

    if lumped:
        return *explored(lumped_grids(n), largest), _LUMPED_SHARES
    rows, found = explored(residual_grids(n), largest // _ROOM)
    if not len(found.cut):
        return rows, found, _RESIDUAL_SHARES
    return *explored(grids(n), largest), _SHARES


def _rows(place: Plateaus, chosen: list[Grid], largest: int, *, timed: bool) -> RowProduct:
    """Return a walk as a product.

    Raises
    ------
    StateSpaceTooLargeError
        Nothing bounds what is left where a walk is cut off.
    """
    walk = SharedRow(place, chosen, timed=timed)
    if walk.anywhere is None:
        raise too_large(largest)
    return RowProduct(walk)


def enclose_sharply(place: Plateaus, moments: int, *, largest: int, timed: bool = False) -> Answer:
    """Return the same from one grid that tells rewards of the target apart, the likeliest first.

    With a bridge for each plateau nearly nothing stays open on it; what is cut off is counted by
    its position.

    Raises
    ------
    CrossingError, StateSpaceTooLargeError, SolverError
    """
    rows = _rows(place, [sharp_grid(place.law.n)], largest, timed=timed)
    found = rows.explore(largest, _SPARE)
    if found.left > _MOST_LEFT * place.law.n:
        raise too_large(largest)
    return _answer(rows, found, found, moments)


def _about(walk: SharedRow, found: Product) -> tuple[FloatArray, FloatArray]:
    """Return about the least and the largest E[steps left] per node."""
    system, (least, most) = found.system, _left(walk, found)
    return system.about(found.steps[0] + least, -1), system.about(found.steps[1] + most, 1)


def _width(low: FloatArray, high: FloatArray) -> tuple[float, float]:
    return float(high[0] - low[0]), float(low[0])


def _left(walk: SharedRow, found: Product) -> tuple[FloatArray, FloatArray]:
    """Return per option bounds of E[steps from a node on that was cut off, or of a lost run]."""
    assert walk.anywhere is not None
    lower, upper = walk.anywhere.lower, walk.anywhere.upper
    position = found.nodes[found.system.owner, 1]
    least, most = np.zeros(len(position)), np.zeros(len(position))
    fallen = {slope.last: upper[slope.first - 1] for slope in walk.slopes}
    for i in np.flatnonzero(found.lost).tolist():
        most[i] = found.lost[i] * fallen[int(position[i])] * (1 + 1e-15)
    for i in found.system.first[found.cut].tolist():
        least[i], most[i] = lower[int(position[i])], upper[int(position[i])]
    return least, most


def _explored(walk: SharedRow, found: Product) -> Explored:
    phases = found.nodes[found.system.owner, 2].astype(np.int64)
    least, most = _left(walk, found)
    return Explored(
        found.system, found.steps, phases, least, most, found.cut, found.lost, walk.apart
    )


def _answer(rows: RowProduct, found: Product, phases: Product | None, moments: int) -> Answer:
    """Bound E[T] on one exploration and the phases on another; without it by E[T] only."""
    walk, whole = rows.walk, _explored(rows.walk, found)
    total, counted = whole.total(), counted_phases(walk.law)[1:]
    if phases is None:
        quantities = [total, *(Quantity.enclosed(fmpq(0), total.upper) for _ in counted)]
    else:
        parts = whole if phases is found else _explored(walk, phases)
        others = list(map(parts.phase, counted[:-1]))
        quantities = [total, *others, _rest(total, others)]
    values = [[q, *[UNKNOWN] * (moments - 1)] for q in quantities]
    if walk.timed and moments > 1:
        variance = attempt(lambda: _variance(rows, found, whole, total), (SolverError,))
        values[0][1] = UNKNOWN if isinstance(variance, Refused) else variance
    return Answer(values, "crossing", len(found.nodes), undecided=whole.undecided())


def _variance(rows: RowProduct, found: Product, whole: Explored, mean: Quantity) -> Quantity:
    """Return what is known of Var[T]."""
    left = product_left(rows, found, whole.most) if whole.most.any() else None
    return variance_of(found.system, product_edges(rows, found), found.steps, mean, left)


def _rest(total: Quantity, others: list[Quantity]) -> Quantity:
    """Return what the last phase takes: the whole run less all others."""
    ends = [(q.lower, q.upper) for q in (total, *others)]
    (low, high), *parts = ((a, b) for a, b in ends if b is not None)
    assert len(parts) == len(others)
    lower = low - sum((b for _, b in parts), fmpq(0))
    return Quantity.enclosed(max(fmpq(0), lower), high - sum((a for a, _ in parts), fmpq(0)))
