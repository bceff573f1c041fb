"""By which planes a lump is cut so that a given plane is decided on it.

Any plane may be used: cutting finer than necessary is never wrong, only dear. What follows a cut is
cut in turn, back along all moves, so the planes must not pile up: pulled back through updates again
and again, a plane's form comes ever closer to a limit. In this order:

* single entries: 0 and, in some styles, first gains, which many histories share;
* for a move that contracts one entry to a fixed point, in most styles only one that stays at its
  place: that point, and the limit of the form there;
* entries that hardly matter are dropped, the worst value within their bounds put in, and the
  constant moved half-way towards the representative, to the simplest fraction there; if that
  decides the plane, it serves its whole sequence;
* late, where nothing helped: an entry's exact value in the representative;
* the plane itself.

Whether this ends depends on the planes that are chosen, and no choice serves all systems: first
gains part what plateaus with one helper each keep apart anyway, and multiply what need not be told
apart elsewhere. So there are several `Style`s, each of which is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from flint import fmpq

from markov_lrsao.values.quotient.known import floats_of
from markov_lrsao.values.quotient.lumps import Lump, Move, sign_at
from markov_lrsao.values.quotient.planes import Plane, coordinate, plane, simplest
from markov_lrsao.values.quotient.systems import System

__all__ = ["BOLD", "PLAIN", "STEADY", "Cutter", "Style"]

_SMALL_SHARE = 1 / 8  # a term this much smaller than the largest may be dropped
_PINNED_SHARE = 1e-5
_LATE = 64  # planes on a lump's path
_LEAST_MARGIN = 1e-9
Cut = Callable[[Lump, Plane], None]


class Style(NamedTuple):
    """By which planes lumps are cut.

    Attributes
    ----------
    gains : by first gains, not only by 0
    moving : by limits of moves that lead elsewhere, too
    relaxed : by planes without entries that hardly matter, and by exact values late
    """

    gains: bool
    moving: bool
    relaxed: bool


STEADY = Style(gains=True, moving=False, relaxed=True)
BOLD = Style(gains=False, moving=False, relaxed=True)
PLAIN = Style(gains=False, moving=True, relaxed=False)


class Cutter:
    """Cuts lumps until planes are decided on them.

    Parameters
    ----------
    cut : cuts a lump by a plane that is undecided there
    """

    def __init__(self, system: System, cut: Cut, style: Style = STEADY) -> None:
        self._system = system
        self._cut = cut
        self._style = style
        kept = [self._marks, self._limits]
        self._ways = [*kept, self._simpler, self._pins] if style.relaxed else kept
        low, high = system.box
        self._width = [b - a for a, b in zip(low, high, strict=True)]

    def decide(self, lump: Lump, of: Plane, move: Move) -> None:
        """Cut a lump until a plane, pulled back through one of its moves, is decided."""
        wanted: Plane | None = of
        for first in self._ways:
            for candidate in first(lump, of, move):
                reduced, _ = lump.known.equalities.reduce(candidate)
                if reduced is None or lump.known.decide(reduced) is not None:
                    continue
                self._cut(lump, reduced)
                wanted, _ = lump.known.equalities.reduce(of)
                if wanted is None or lump.known.decide(wanted) is not None:
                    return
                of = wanted
        self._cut(lump, of)

    def _marks(self, lump: Lump, of: Plane, move: Move) -> list[Plane]:
        known, marks = lump.known, self._system.marks
        inside = [i for i, _ in of[0] if known.low[i] < known.high[i]]
        if not self._style.gains:
            return [coordinate(i) for i in inside]
        return [m for i in inside for m in marks[i]]

    def _limits(self, lump: Lump, of: Plane, move: Move) -> list[Plane]:
        """Return the fixed point of an update, and the form's limit."""
        if (move.to != lump.place and not self._style.moving) or len(move.update) != 1:
            return []
        terms = dict(of[0])
        a, form = move.update[0]
        if a not in terms or [j for j, _ in form[0]] != [a]:
            return []
        fixed = form[1] / (1 - form[0][0][1])
        rest = {j: fmpq(w) for j, w in of[0] if j != a}
        limit, _ = plane(rest, of[1] + terms[a] * fixed)
        return [coordinate(a, fixed), *([limit] if limit is not None else [])]

    def _simpler(self, lump: Lump, of: Plane, move: Move) -> list[Plane]:
        """Return the plane without entries that hardly matter, if there are such."""
        simpler = of
        while (shorter := self._dropped(lump, simpler)) is not None:
            simpler = shorter
        return [] if simpler == of else [self._relaxed(lump, simpler)]

    def _by_weight(self, of: Plane) -> list[tuple[float, int]]:
        return sorted((abs(v) * self._width[i], i) for i, v in floats_of(of)[0])

    def _dropped(self, lump: Lump, of: Plane) -> Plane | None:
        """Return the plane without its least entry; None: the representative would change side.

        The entry's worst value is put in: the form keeps its sign where the new one has it.
        """
        assert lump.point is not None
        sign = sign_at(of, lump.point)
        if sign == 0 or len(of[0]) < 2:
            return None
        weights = self._by_weight(of)
        if weights[0][0] > _SMALL_SHARE * weights[-1][0]:
            return None
        i = weights[0][1]
        v = dict(of[0])[i]
        low, high = self._system.bounds
        worst = low[i] if sign * v > 0 else high[i]
        found, factor = plane({j: fmpq(w) for j, w in of[0] if j != i}, of[1] + v * worst)
        assert found is not None
        return found if sign_at(found, lump.point) * factor == sign else None

    def _relaxed(self, lump: Lump, of: Plane) -> Plane:
        """Return a parallel plane between this one and the representative, a simple one."""
        assert lump.point is not None
        terms, constant = floats_of(of)
        margin = constant + sum(v * lump.point.floats[i] for i, v in terms)
        if abs(margin) < _LEAST_MARGIN:
            return of
        ends = sorted((constant - 0.75 * margin, constant - 0.25 * margin))
        largest = max(abs(v) for _, v in of[0])
        found, _ = plane({i: fmpq(v, largest) for i, v in of[0]}, simplest(*ends))
        assert found is not None
        return found

    def _pins(self, lump: Lump, of: Plane, move: Move) -> list[Plane]:
        """Return the representative's value of the entry that matters, on a long path."""
        assert lump.point is not None
        if len(of[0]) < 2 or len(lump.known.path) <= _LATE:
            return []
        weights = self._by_weight(of)
        if weights[-2][0] >= _PINNED_SHARE * weights[-1][0]:
            return []
        i = weights[-1][1]
        return [coordinate(i, lump.point.table[i])]
