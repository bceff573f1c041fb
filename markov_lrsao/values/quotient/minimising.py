"""Online minimisation: lumps are met, cut and met again until every move is stable."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.values.quotient.cutting import STEADY, Cutter, Style
from markov_lrsao.values.quotient.known import Known
from markov_lrsao.values.quotient.lumps import Branch, Lump, Move, Point, Trees
from markov_lrsao.values.quotient.planes import Equalities, Plane, plane
from markov_lrsao.values.quotient.systems import System, Update

__all__ = ["Minimised", "minimise", "reached"]

_LONGEST_PATH = 150
_ZERO = fmpq(0)


class Minimised:
    """The quotient of an affine system.

    Parameters
    ----------
    style : by which planes lumps are cut; any is right

    Attributes
    ----------
    trees : the partition
    start : the lump of the start
    given_up : lumps that lie between too many planes to be cut any more
    """

    def __init__(self, system: System, style: Style = STEADY) -> None:
        self.system = system
        low, high = system.box
        self.trees = Trees(Known((), low, high, Equalities({})))
        self._cutter = Cutter(system, self._cut, style)
        self._updates: dict[Update, int] = {}
        self._pulled: dict[tuple[Plane, int], Plane | None] = {}
        self._queue: list[tuple[float, int, Lump]] = []
        self._order = count()
        self.given_up: set[Lump] = set()
        origin = Point.zero(system.count)
        self.start = self.trees.leaf(system.start, origin)
        self.start.point, self.start.mass = origin, 1.0
        self._push(self.start)

    def refine(self, largest: int, *, patient: bool = False) -> bool:
        """Cut and look until every move is stable, or more lumps than `largest` are made.

        Parameters
        ----------
        patient : go on when a lump has to be given up

        Returns
        -------
        bool
            Whether every move is stable.
        """
        while self._queue and self.trees.size <= largest and (patient or not self.given_up):
            lump = heapq.heappop(self._queue)[2]
            lump.queued = False
            self._stabilise(lump)
        return not self._queue and not self.given_up

    def settled(self, lump: Lump) -> bool:
        """Whether all moves of a lump are known to be stable."""
        return not lump.queued and lump not in self.given_up and lump.stable

    def prioritise(self, priority: Callable[[Lump], float]) -> None:
        """Sort the lumps that wait, the most urgent first."""
        self._queue = [(-priority(lump), k, lump) for _, k, lump in self._queue]
        heapq.heapify(self._queue)

    def _push(self, lump: Lump) -> None:
        if not lump.queued:
            lump.queued = True
            heapq.heappush(self._queue, (-lump.mass, next(self._order), lump))

    def _stabilise(self, lump: Lump) -> None:
        """Cut a lump until all its moves lead into one lump each."""
        if lump.moves is None:
            self._look(lump)
        assert lump.moves is not None
        for move in lump.moves:
            if move.target is None:
                continue
            # The target may be cut meanwhile, if it is this lump: then its path grows.
            while move.checked < len(move.target.known.path):
                of, _ = move.target.known.path[move.checked]
                pulled = self._pull(of, move)
                if pulled is not None:
                    pulled, _ = lump.known.equalities.reduce(pulled)
                if pulled is not None and lump.known.decide(pulled) is None:
                    if len(lump.known.path) > _LONGEST_PATH:
                        self.given_up.add(lump)
                        return
                    self._cutter.decide(lump, pulled, move)
                move.checked += 1

    def _look(self, lump: Lump) -> None:
        """Find what can happen in a lump, and cut it so that all its tables agree on that."""
        assert lump.point is not None
        lump.greedy, comparisons, events = self.system.look(lump.place, lump.point.table)
        for comparison in comparisons:
            of, _ = lump.known.equalities.reduce(comparison)
            if of is not None and lump.known.decide(of) is None:
                self._cut(lump, of)
        lump.moves = [Move(e.share, e.weight, e.to, e.update) for e in events]
        for move in lump.moves:
            if move.to is not None:
                move.named = self._updates.setdefault(move.update, len(self._updates))
                move.image = lump.point.updated(move.update)
                self._lead(lump, move, self.trees.leaf(move.to, move.image))

    def _cut(self, lump: Lump, of: Plane) -> None:
        for move, source, node in self.trees.cut(lump, of):
            assert not isinstance(node, Branch)
            self._lead(source, move, node)
            self._push(source)

    def _lead(self, source: Lump, move: Move, target: Lump) -> None:
        """Let a move lead to a lump, which is met thereby."""
        move.target = target
        target.entering[move] = source
        if target.point is None:
            target.point = move.image
            target.mass = source.mass * move.weight
            self._push(target)

    def _pull(self, of: Plane, move: Move) -> Plane | None:
        """Return the plane that a move maps into another; None: the form is constant there."""
        key = of, move.named
        if key not in self._pulled:
            self._pulled[key] = _pulled(of, move.update)
        return self._pulled[key]


def _pulled(of: Plane, update: Update) -> Plane | None:
    forms = dict(update)
    if not any(i in forms for i, _ in of[0]):
        return of
    terms: dict[int, fmpq] = {}
    constant = fmpq(of[1])
    for i, v in of[0]:
        replaced = forms.get(i)
        if replaced is None:
            terms[i] = terms.get(i, _ZERO) + v
            continue
        constant += v * replaced[1]
        for j, w in replaced[0]:
            terms[j] = terms.get(j, _ZERO) + v * w
    return plane(terms, constant)[0]


def minimise(system: System, largest: int, style: Style = STEADY) -> list[Lump]:
    """Return the lumps that runs meet, that of the start first.

    Raises
    ------
    StateSpaceTooLargeError
        More lumps than `largest`, or a lump between too many planes: there may be no finite
        quotient.
    """
    minimised = Minimised(system, style)
    if not minimised.refine(largest):
        if minimised.given_up:
            raise StateSpaceTooLargeError(
                f"a lump of tables lies between more than {_LONGEST_PATH} planes"
            )
        raise StateSpaceTooLargeError(f"more than {largest:,} lumps of tables")
    return reached(minimised.start, lambda lump: True)


def reached(start: Lump, inside: Callable[[Lump], bool]) -> list[Lump]:
    """Return the lumps that are reached from a start on moves out of those inside."""
    found, order = {start}, [start]
    for lump in order:
        if not inside(lump):
            continue
        assert lump.moves is not None
        for move in lump.moves:
            if move.target is not None and move.target not in found:
                found.add(move.target)
                order.append(move.target)
    return order
