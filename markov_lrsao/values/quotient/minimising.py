"""Online minimisation: lumps are met, cut and met again until every move is stable."""

from __future__ import annotations

import heapq
from itertools import count

from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.model.law import Proposal, StepLaw
from markov_lrsao.values.quotient.cutting import Cutter
from markov_lrsao.values.quotient.entries import Entries
from markov_lrsao.values.quotient.known import Known
from markov_lrsao.values.quotient.lumps import Branch, Lump, Move, Place, Point, Trees
from markov_lrsao.values.quotient.planes import Equalities, Form, Plane, difference, plane

__all__ = ["Minimised", "minimise"]

_LONGEST_PATH = 150
_ZERO = fmpq(0)


class Minimised:
    """The quotient of a law's (position, phase, table).

    Attributes
    ----------
    trees : the partition
    start : the lump of the start

    Raises
    ------
    StateSpaceTooLargeError
        More lumps than `largest`, or a lump between too many planes: there may be no finite
        quotient.
    """

    def __init__(self, law: StepLaw, largest: int) -> None:
        law.check_greedy()
        self.law = law
        self.entries = Entries(law)
        low, high = self.entries.box
        self.trees = Trees(Known((), low, high, Equalities({})))
        self._cutter = Cutter(self.entries, self._cut)
        self._updates: dict[tuple[int, Form], int] = {}
        self._pulled: dict[tuple[Plane, int], Plane | None] = {}
        self._queue: list[tuple[float, int, Lump]] = []
        self._order = count()
        origin = Point.zero(self.entries.count)
        self.start = self.trees.leaf((0, self._phase(0, 0)), origin)
        self.start.point, self.start.mass = origin, 1.0
        self._push(self.start)
        while self._queue:
            lump = heapq.heappop(self._queue)[2]
            lump.queued = False
            self._stabilise(lump)
            if self.trees.size > largest:
                raise StateSpaceTooLargeError(
                    f"more than {largest:,} lumps of tables at n = {law.n}"
                )

    def _phase(self, phase: int, position: int) -> int:
        milestones = self.law.landscape.milestones
        while phase < len(milestones) and position >= milestones[phase]:
            phase += 1
        return phase

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
                        raise StateSpaceTooLargeError(
                            f"a lump of tables lies between more than {_LONGEST_PATH} planes"
                        )
                    self._cutter.decide(lump, pulled, move)
                move.checked += 1

    def _look(self, lump: Lump) -> None:
        """Find what can happen in a lump, and cut it so that all its tables agree on that."""
        assert lump.point is not None
        law, (position, phase), table = self.law, lump.place, lump.point.table
        row = int(law.row[position])
        lump.greedy = self.entries.largest(table, row)
        self._agree(lump, row, lump.greedy[0])
        first = self.entries.of_row(row).start
        moves = []
        actions = tuple(i - first for i in lump.greedy)
        for e in law.proposals(int(law.kind[position]), actions):
            to = position + e.moved
            weight = e.share.numerator(position, law.n) / law.denominator
            if weight == 0:
                continue
            if to == law.optimum:
                moves.append(Move(e.share, weight, None))
                continue
            place: Place = (to, self._phase(phase, to))
            form = self._update(lump, first + e.action, e, int(law.row[to]))
            entry = first + e.action
            update = self._updates.setdefault((entry, form), len(self._updates))
            image = lump.point.updated(entry, form)
            moves.append(Move(e.share, weight, place, entry, form, update, image))
        lump.moves = moves
        for move in moves:
            if move.to is not None and move.image is not None:
                self._lead(lump, move, self.trees.leaf(move.to, move.image))

    def _update(self, lump: Lump, entry: int, e: Proposal, row: int) -> Form:
        """Return the new value of an entry; what it learns from is made known."""
        entries = self.entries
        if e.move.stays_in_row:
            return ((entry, entries.within),), e.move.gain
        if entries.bootstrap == 0:
            return ((entry, entries.keep),), e.move.gain
        assert lump.point is not None
        seen = entries.largest(lump.point.table, row)[0]
        self._agree(lump, row, seen)
        return ((entry, entries.keep), (seen, entries.bootstrap)), e.move.gain

    def _agree(self, lump: Lump, row: int, largest: int) -> None:
        """Cut a lump so that the comparisons of a row's largest entry come out alike."""
        for other in self.entries.of_row(row):
            if other != largest:
                of, _ = lump.known.equalities.reduce(difference(largest, other))
                if of is not None and lump.known.decide(of) is None:
                    self._cut(lump, of)

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
        key = of, move.update
        if key not in self._pulled:
            self._pulled[key] = _pulled(of, move.entry, move.form)
        return self._pulled[key]


def _pulled(of: Plane, entry: int, form: Form) -> Plane | None:
    terms: dict[int, fmpq] = {i: fmpq(v) for i, v in of[0]}
    factor = terms.pop(entry, None)
    if factor is None:
        return of
    for j, w in form[0]:
        terms[j] = terms.get(j, _ZERO) + factor * w
    return plane(terms, of[1] + factor * form[1])[0]


def minimise(law: StepLaw, largest: int) -> list[Lump]:
    """Return the lumps that runs meet, that of the start first.

    Raises
    ------
    StateSpaceTooLargeError, CrossingError
    """
    start = Minimised(law, largest).start
    found, order = {start}, [start]
    for lump in order:
        assert lump.moves is not None
        assert lump.stable
        for move in lump.moves:
            if move.target is not None and move.target not in found:
                found.add(move.target)
                order.append(move.target)
    return order
