"""E[T] as a fraction from full Q-tables: tables are told apart by what they do.

Two tables *behave alike for k steps* if they stand at the same position and every next position
leads, with the same probability, to tables that behave alike for k-1 steps. That is found by
unrolling the tables of `full_tables` themselves, k steps deep, and by nothing else: neither orders
nor signs nor bounds of entries are looked at. Tables that behave alike for k steps are put into one
class, each class is followed from the first table that was met in it, and the finite chain is
solved modulo a prime and in floats.

Classes need not be right for a given k: two tables may differ later. Too small a k merges too much,
and E[T] then changes with k. So an answer counts as *settled* only if k and several larger depths
give the same number of classes and the same numbers modulo the prime; an engine that says
something else is then asked to explain itself. Nothing is settled where classes become ever more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import nmod_mat
from full_tables import FullTables, State

__all__ = ["DEPTHS", "Behaviour", "behaviour", "settled"]

PRIME = 2**61 - 1
DEPTHS = (6, 8, 10, 12, 14)
_AGREEING = 3
Chain: TypeAlias = list[dict[int, int]]
_END = -1


class TooManyError(Exception):
    """More classes or tables than allowed."""


@dataclass(frozen=True)
class Behaviour:
    """What tables that are told apart for `depth` steps say of T.

    Attributes
    ----------
    classes : how many are met
    stuck : P(T = infinity), modulo PRIME
    mean : E[T; T < infinity] modulo PRIME
    stuck_nearly, mean_nearly : the same in floats
    """

    depth: int
    classes: int
    stuck: int
    mean: int
    stuck_nearly: float
    mean_nearly: float

    def alike(self, other: Behaviour) -> bool:
        """Whether two depths say the same."""
        mine, theirs = ((b.classes, b.stuck, b.mean) for b in (self, other))
        return mine == theirs

    def confirms_mean(self, value: Fraction) -> bool:
        """Whether E[T] is the given fraction."""
        return self.stuck == 0 and self.mean == _residue(value)

    def confirms_stuck(self, value: Fraction) -> bool:
        """Whether P(T = infinity) is the given fraction."""
        return self.stuck == _residue(value)


def _residue(value: Fraction) -> int:
    return value.numerator * pow(value.denominator, -1, PRIME) % PRIME


class _Unrolled:
    """Classes of tables by depth."""

    def __init__(self, tables: FullTables, work: int) -> None:
        self._tables, self._work = tables, work
        self._found: list[dict[State, int]] = []
        self._names: dict[object, int] = {}
        self._next: dict[State, dict[State, int]] = {}

    def following(self, state: State) -> dict[State, int]:
        """Return the weights of what follows; all ends are one."""
        known = self._next.get(state)
        if known is None:
            known = self._next[state] = {}
            for weight, to in self._tables.outcomes(state):
                at = (_END,) if to[0] == self._tables.optimum else to
                known[at] = known.get(at, 0) + weight
        return known

    def name(self, state: State, depth: int) -> int:
        """Return the class of a table, told apart for so many steps."""
        if depth == 0 or state[0] == _END:
            return state[0]
        while len(self._found) <= depth:
            self._found.append({})
        known = self._found[depth].get(state)
        if known is None:
            self._work -= 1
            if self._work < 0:
                raise TooManyError
            after: dict[int, int] = {}
            for to, weight in self.following(state).items():
                there = self.name(to, depth - 1)
                after[there] = after.get(there, 0) + weight
            key = depth, state[0], frozenset(after.items())
            # Numbers of classes are no positions.
            known = self._names.setdefault(key, 1000 + len(self._names))
            self._found[depth][state] = known
        return known


def behaviour(unrolled: _Unrolled, tables: FullTables, depth: int, most: int) -> Behaviour:
    """Return what the classes of one depth say.

    Raises
    ------
    TooManyError
    """
    number = {unrolled.name(tables.start, depth): 0}
    chain: Chain = []
    first = [tables.start]
    for state in first:
        row: dict[int, int] = {}
        for to, weight in unrolled.following(state).items():
            name = unrolled.name(to, depth)
            if name != _END and name not in number:
                number[name] = len(first)
                first.append(to)
                if len(first) > most:
                    raise TooManyError
            there = _END if name == _END else number[name]
            row[there] = row.get(there, 0) + weight
        chain.append(row)
    return _solved(chain, tables.unit, depth)


def _solved(chain: Chain, unit: int, depth: int) -> Behaviour:
    """Return E[T; T < infinity] and P(T = infinity) of a chain.

    On the states that can end, h = P(end) solves (I - P) h = (one step to the end), and
    m = E[T; end] solves (I - P) m = h, as every step adds P(end from there on) once.
    """
    entering: dict[int, set[int]] = {}
    for i, row in enumerate(chain):
        for j in row:
            entering.setdefault(j, set()).add(i)
    can_end, waiting = set[int](), [_END]
    while waiting:
        for i in entering.get(waiting.pop(), ()):
            if i not in can_end:
                can_end.add(i)
                waiting.append(i)
    if 0 not in can_end:
        return Behaviour(depth, len(chain), 1, 0, 1.0, 0.0)
    order = sorted(can_end)
    at = {i: k for k, i in enumerate(order)}
    size = len(order)
    whole = np.zeros((size, size), dtype=object)
    ends = np.zeros(size, dtype=object)
    for k, i in enumerate(order):
        whole[k, k] += unit
        for j, weight in chain[i].items():
            if j == _END:
                ends[k] += weight
            elif j in at:
                whole[k, at[j]] -= weight
    matrix = nmod_mat(size, size, [int(v) % PRIME for v in whole.ravel()], PRIME)
    first = matrix.solve(nmod_mat(size, 1, [int(v) % PRIME for v in ends], PRIME))
    scaled = [int(first[k, 0]) * unit % PRIME for k in range(size)]
    second = matrix.solve(nmod_mat(size, 1, scaled, PRIME))
    floats = whole.astype(float) / unit
    reached = np.linalg.solve(floats, ends.astype(float) / unit)
    steps = np.linalg.solve(floats, reached)
    return Behaviour(
        depth,
        len(chain),
        (1 - int(first[0, 0])) % PRIME,
        int(second[0, 0]),
        1 - float(reached[0]),
        float(steps[0]),
    )


def settled(
    tables: FullTables, work: int, most: int = 1500, depths: Sequence[int] = DEPTHS
) -> Behaviour | None:
    """Return what several depths in a row agree on; None: they do not, within the work allowed.

    Parameters
    ----------
    work : tables that are told apart, all depths together
    most : classes
    """
    unrolled = _Unrolled(tables, work)
    found: list[Behaviour] = []
    for depth in depths:
        try:
            found.append(behaviour(unrolled, tables, depth, most))
        except TooManyError:
            return None
        last = found[-_AGREEING:]
        if len(last) == _AGREEING and all(b.alike(last[0]) for b in last):
            return last[0]
    return None
