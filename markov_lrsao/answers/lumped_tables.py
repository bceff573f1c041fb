r"""E[T] enclosed where the quotient of all tables is not found: by its lumps as far as they go.

Minimising (`markov_lrsao.values.quotient.minimising`) is stopped, and lumps are taken as they are.
All tables of a lump that was looked at have the same greedy actions. A move that is known to lead
all of them into one lump is followed without error; of any other only the place is known that it
leads to, and there stand bounds of the steps left that hold for every table
(`markov_lrsao.forward.coarse`), as in lumps that were not looked at:

    E[T] = E[steps in lumps that are followed] + sum over others of P(met first) * (steps left).

Lumps come first that leave most open, so that the sum falls with their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import Refused, SolverError, StateSpaceTooLargeError
from markov_lrsao.exact.rationals import next_floats, to_float
from markov_lrsao.forward.coarse import coarse
from markov_lrsao.forward.model import arrays_of
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.quotient.cutting import BOLD, STEADY, Style
from markov_lrsao.values.quotient.lumps import Lump, Move
from markov_lrsao.values.quotient.minimising import Minimised
from markov_lrsao.values.quotient.systems import Place
from markov_lrsao.values.quotient.tables import Tables

__all__ = ["MOST_LUMPS", "LumpedTables", "enclose_by_lumped_tables"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Bounds: TypeAlias = list[tuple[fmpq, fmpq]]
_FIRST, _GROWTH = 300, 1.4
_FEW, MOST_LUMPS = 1_500, 4_000
"""Lumps that are made in each style, and in the better of them: some ten seconds."""


def known_target(move: Move) -> Lump | None:
    """Return the lump that a move leads all tables into; None: that is not known, or it ends."""
    target = move.target
    return target if target is not None and move.checked == len(target.known.path) else None


class LumpedTables:
    """Lumps of a law's tables, made in one style, and what they tell of E[T].

    Attributes
    ----------
    width : about how wide the enclosure of E[T] is
    """

    def __init__(self, law: StepLaw, style: Style, left: FloatArray, counted: FloatArray) -> None:
        self.law = law
        self._left, self._counted = left, counted
        self._minimised = Minimised(Tables(law), style)
        self.width = float("inf")

    @property
    def size(self) -> int:
        """How many lumps were made."""
        return self._minimised.trees.size

    def refine(self, largest: int) -> None:
        """Make lumps, up to so many, those first that leave most open."""
        size = _FIRST
        while True:
            size = min(largest, max(size, int(_GROWTH * self.size)))
            before = self.size
            complete = self._minimised.refine(size, patient=True)
            self.width = self._prioritise()
            if complete or self.size >= largest or self.size == before:
                return

    def _followed(self) -> list[Lump]:
        """Return the lumps that runs meet before anything is open, and that were looked at."""
        start = self._minimised.start
        if start.moves is None:
            return []
        found, order = {start}, [start]
        for lump in order:
            for move in lump.moves or ():
                target = known_target(move)
                if target is not None and target.moves is not None and target not in found:
                    found.add(target)
                    order.append(target)
        return order

    def _prioritise(self) -> float:
        """Let the lumps come first that leave most open; return how much is left in all."""
        from scipy.sparse import csc_array, eye_array
        from scipy.sparse.linalg import splu

        order = self._followed()
        if not order:
            return float("inf")
        number = {lump: i for i, lump in enumerate(order)}
        rows, columns, shares = [], [], []
        for i, lump in enumerate(order):
            for move in lump.moves or ():
                target = known_target(move)
                if target in number:
                    rows.append(number[target])
                    columns.append(i)
                    shares.append(move.weight)
        size = len(order)
        moved = csc_array((shares, (rows, columns)), shape=(size, size))
        begun = np.zeros(size)
        begun[0] = 1.0
        visits = splu((eye_array(size, format="csc") - moved).tocsc()).solve(begun)
        urgent: dict[Lump, float] = {}
        total = 0.0
        for i, lump in enumerate(order):
            for move in lump.moves or ():
                target = known_target(move)
                if move.to is None or target in number:
                    continue
                open_ = float(visits[i]) * move.weight * self._gap(move.to)
                total += open_
                # A lump that was not looked at comes next; else the one that leads astray is cut.
                due = lump if target is None else target
                urgent[due] = urgent.get(due, 0.0) + open_
        self._minimised.prioritise(lambda lump: urgent.get(lump, 0.0))
        return total

    def _gap(self, place: Place) -> float:
        low, high = self._left[place[0], place[1], 0]
        return float(high - low)

    def enclosed(self) -> Bounds:
        """Return bounds of E[T] and of the phases.

        Raises
        ------
        SolverError
        """
        from scipy.sparse import csr_array

        order = self._followed()
        if not order:
            raise SolverError("no lump was looked at")
        number = {lump: i for i, lump in enumerate(order)}
        inner: list[tuple[int, int, float, float]] = []
        outer: list[tuple[int, Place, float, float]] = []
        for i, lump in enumerate(order):
            inside: dict[int, fmpq] = {}
            for move in lump.moves or ():
                if move.to is None:
                    continue
                share = self.law.probability(move.share, lump.place[0])
                target = known_target(move)
                if target in number:
                    t = number[target]
                    inside[t] = inside.get(t, fmpq(0)) + share
                else:
                    outer.append((i, move.to, *next_floats(share)))
            inner += [(i, t, *next_floats(share)) for t, share in inside.items()]
        size = len(order)
        where = [x[0] for x in inner], [x[1] for x in inner]
        lower, upper = (
            csr_array((np.array([x[side] for x in inner]), where), shape=(size, size))
            for side in (2, 3)
        )
        each = np.arange(size, dtype=np.int64)
        system = FloatSystem(each, each, lower, upper)
        phases = [lump.place[1] for lump in order]
        found = []
        for k in range(self._counted.shape[1]):
            costs = [self._counted[phases, k].astype(float) for _ in range(2)]
            for i, (position, phase), *ends in outer:
                for side in (0, 1):
                    costs[side][i] += ends[side] * self._left[position, phase, k, side]
            # A sum of few floats errs by less than this.
            found.append(system.enclose([costs[0] * (1 - 1e-12), costs[1] * (1 + 1e-12)]))
        return found


def enclose_by_lumped_tables(
    law: StepLaw,
    *,
    tolerance: fmpq,
    hasty: bool = False,
    progress: Progress = no_progress,
) -> tuple[Bounds, int] | Refused:
    """Return bounds of E[T] and of the phases, and the number of lumps.

    Two styles of cutting are tried, and the better one goes on. Refused where positions alone do
    not bound the steps that are left.

    Parameters
    ----------
    hasty : do not go on
    """
    phases = len(law.landscape.milestones)
    counted = np.array([[True, *(k == j for j in range(phases))] for k in range(phases)])
    left = coarse(law, arrays_of(law), counted).steps
    if not np.isfinite(left[: law.optimum]).all():
        return Refused(StateSpaceTooLargeError("positions alone do not bound the steps left"))
    tables = [LumpedTables(law, style, left, counted) for style in (BOLD, STEADY)]
    enough = to_float(tolerance)
    best: Bounds | None = None
    with progress("refining lumps of tables", total=len(tables) + 1) as bar:
        for each in tables:
            each.refine(_FEW)
            best = _both(best, each.enclosed())
            bar.advance()
            if _width(best) <= enough:
                break
        else:
            if not hasty:
                better = min(tables, key=lambda t: t.width)
                better.refine(MOST_LUMPS)
                best = _both(best, better.enclosed())
                bar.advance()
    assert best is not None
    return best, max(t.size for t in tables)


def _both(one: Bounds | None, other: Bounds) -> Bounds:
    """Return what two enclosures have in common.

    Raises
    ------
    SolverError
        They exclude each other.
    """
    if one is None:
        return other
    common = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True)]
    if any(a > b for a, b in common):
        raise SolverError("two enclosures exclude each other; please report this instance")
    return common


def _width(bounds: Sequence[tuple[fmpq, fmpq]]) -> float:
    """Return the relative width of the first of some enclosures."""
    low, high = (to_float(x) for x in bounds[0])
    return (high - low) / max(low, 1e-300)
