"""Lumps of tables, and the trees of planes that tell them apart.

At every place a tree holds the partition of the tables: an inner node is a plane, with a child for
each sign of its form, a leaf is a lump. A lump is made when a run meets it; the table it was met
with represents it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.values.quotient.known import Known, floats_of
from markov_lrsao.values.quotient.planes import Plane, Table, value_on
from markov_lrsao.values.quotient.systems import Place, Update

__all__ = ["Branch", "Lump", "Move", "Point", "Trees", "sign_at"]

_CERTAIN = 1e-11  # of the magnitudes of a sum: beyond it floats tell the sign


@dataclass(frozen=True, slots=True)
class Point:
    """A table, and its entries in floats, each rounded once."""

    table: Table
    floats: tuple[float, ...]

    @classmethod
    def zero(cls, entries: int) -> Point:
        """Return the table of the start."""
        return cls((fmpq(0),) * entries, (0.0,) * entries)

    def updated(self, update: Update) -> Point:
        """Return the table with entries replaced by values of forms."""
        table, floats = list(self.table), list(self.floats)
        for entry, (terms, value) in update:
            for j, w in terms:
                value += w * self.table[j]
            table[entry], floats[entry] = value, to_float(value)
        return Point(tuple(table), tuple(floats))


def sign_at(of: Plane, point: Point) -> int:
    """Return the sign of a plane's form at a table; exactly where floats do not tell."""
    terms, constant = floats_of(of)
    total, magnitude = constant, abs(constant)
    for i, v in terms:
        t = v * point.floats[i]
        total += t
        magnitude += abs(t)
    if abs(total) > magnitude * _CERTAIN + _CERTAIN**2:
        return 1 if total > 0 else -1
    exact = value_on(of, point.table)
    return int(exact > 0) - int(exact < 0)


@dataclass(slots=True, eq=False)
class Move:
    """What one event makes of a lump's tables.

    Attributes
    ----------
    to : where it leads; None: the run ends
    update : the entries that are replaced
    named : a number for the update
    image : what becomes of the representative
    target : the lump that the image lies in
    checked : so many planes of the target's path are decided for all images
    """

    share: Any
    weight: float
    to: Place | None
    update: Update = ()
    named: int = -1
    image: Point | None = None
    target: Lump | None = None
    checked: int = 0


@dataclass(slots=True, eq=False)
class Branch:
    """An inner node: a plane, and what lies on either side of it and on it."""

    place: Place
    plane: Plane
    known: Known
    parent: Branch | None
    side: int
    children: list[Branch | Lump | None] = field(default_factory=lambda: [None, None, None])


@dataclass(slots=True, eq=False)
class Lump:
    """A leaf: tables between planes.

    Attributes
    ----------
    point : the table that represents it; None: not met yet
    greedy : the entries that are chosen from there
    moves : what can happen there; None: not looked at yet
    entering : moves of other lumps that lead here
    mass : about how often runs come here for the first time, a priority
    """

    number: int
    place: Place
    known: Known
    parent: Branch | None
    side: int
    point: Point | None = None
    greedy: tuple[int, ...] = ()
    moves: list[Move] | None = None
    entering: dict[Move, Lump] = field(default_factory=dict)
    mass: float = 0.0
    queued: bool = False

    @property
    def stable(self) -> bool:
        """Whether every move is known to lead all tables into its target."""
        return self.moves is not None and all(
            m.target is None or m.checked == len(m.target.known.path) for m in self.moves
        )


class Trees:
    """The partition at every place.

    Attributes
    ----------
    size : how many lumps have been made
    """

    def __init__(self, everything: Known) -> None:
        self._everything = everything
        self._roots: dict[Place, Branch | Lump] = {}
        self.size = 0

    def _new(self, place: Place, known: Known, parent: Branch | None, side: int) -> Lump:
        self.size += 1
        return Lump(self.size - 1, place, known, parent, side)

    def leaf(self, place: Place, point: Point) -> Lump:
        """Return the lump that a table lies in."""
        node = self._roots.get(place)
        if node is None:
            node = self._roots[place] = self._new(place, self._everything, None, 0)
        while isinstance(node, Branch):
            node = self.child(node, sign_at(node.plane, point))
        return node

    def child(self, branch: Branch, sign: int) -> Branch | Lump:
        """Return what lies on one side of a plane; a new lump where nothing was met yet."""
        found = branch.children[sign + 1]
        if found is None:
            known = branch.known.plus(branch.plane, sign)
            found = branch.children[sign + 1] = self._new(branch.place, known, branch, sign + 1)
        return found

    def cut(self, lump: Lump, of: Plane) -> Iterator[tuple[Move, Lump, Branch | Lump]]:
        """Cut a lump by a plane; it keeps the side of its representative.

        Yields the moves that led to it, with their lumps and where they lead now.
        """
        assert lump.point is not None
        sign = sign_at(of, lump.point)
        branch = Branch(lump.place, of, lump.known, lump.parent, lump.side)
        if lump.parent is None:
            self._roots[lump.place] = branch
        else:
            lump.parent.children[lump.side] = branch
        facts = lump.known.facts
        lump.known = lump.known.plus(of, sign)
        lump.known.facts.update(facts)
        lump.parent, lump.side = branch, sign + 1
        branch.children[sign + 1] = lump
        entering, lump.entering = lump.entering, {}
        for move, source in entering.items():
            assert move.image is not None
            yield move, source, self.child(branch, sign_at(of, move.image))
