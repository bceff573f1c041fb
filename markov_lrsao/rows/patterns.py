"""Patterns: what of a Q-row the walk can see.

The agent reads a row only through argmax. A *pattern* therefore records, for the entries
q_a of a row, the sign of each and the order of each pair; values are not kept. Every
relation is -1, 0, 1 or UNKNOWN: a relation that bounds on the values do not decide stays
unknown in the pattern and does no harm until the greedy choice depends on it.

>>> Pattern.zero(3).label("LJR")
'0=L=J=R'
>>> Pattern((1, 0, -1), (1, 1, 1)).label("LJR")
'L>0=J>R'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from flint import fmpq

from markov_lrsao.exact.intervals import UNKNOWN, Interval, compare

__all__ = ["Pattern", "updated_entry", "updated_pattern"]

_ZERO = fmpq(0)
_SIGN = {-1: "-", 0: "0", 1: "+", UNKNOWN: "?"}


@dataclass(frozen=True)
class Pattern:
    """Signs of the entries, and signs of the differences q_i - q_j for i < j."""

    signs: tuple[int, ...]
    order: tuple[int, ...]

    @classmethod
    def zero(cls, actions: int) -> Pattern:
        """Return the pattern of a fresh row: all entries are 0."""
        return cls((0,) * actions, (0,) * (actions * (actions - 1) // 2))

    def relation(self, i: int, j: int) -> int:
        """Return the sign of q_i - q_j, or UNKNOWN."""
        return self.matrix[i][j]

    @cached_property
    def matrix(self) -> tuple[tuple[int, ...], ...]:
        """The signs of q_i - q_j for all i and j, or UNKNOWN."""
        k = len(self.signs)
        matrix = [[0] * k for _ in range(k)]
        for (i, j), relation in zip(combinations(range(k), 2), self.order, strict=True):
            matrix[i][j] = relation
            matrix[j][i] = relation if relation == UNKNOWN else -relation
        return tuple(map(tuple, matrix))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.signs, self.order))

    @cached_property
    def maximal(self) -> tuple[int, ...]:
        """The actions that no other is known to exceed."""
        actions = range(len(self.signs))
        return tuple(i for i in actions if all(self.relation(j, i) != 1 for j in actions))

    @cached_property
    def undecided(self) -> tuple[int, int] | None:
        """Two maximal entries whose order is unknown, or None when argmax is decided."""
        for i, j in combinations(self.maximal, 2):
            if self.relation(i, j) == UNKNOWN:
                return (i, j)
        return None

    @cached_property
    def visible(self) -> Pattern:
        """The pattern without the order of entries of the same sign, the largest ones apart.

        It claims less than the pattern itself, so whatever holds for all rows that show it
        holds for all rows that show the pattern. Where the pattern decides the greedy choice,
        so does this one.
        """
        k = len(self.signs)
        seen = self.maximal if self.undecided is None else ()
        order = tuple(
            self.relation(i, j)
            if i in seen or j in seen
            else _by_signs(self.signs[i], self.signs[j])
            for i, j in combinations(range(k), 2)
        )
        return Pattern(self.signs, order)

    def label(self, names: Sequence[str]) -> str:
        """Return the weak order of the entries and 0, largest first, e.g. "L>0=J>R"."""
        if UNKNOWN in self.signs or UNKNOWN in self.order:
            signs = " ".join(f"{a}{_SIGN[s]}" for a, s in zip(names, self.signs, strict=True))
            known = [
                f"{names[i]}{ {1: '>', 0: '=', -1: '<'}[self.relation(i, j)] }{names[j]}"
                for i, j in combinations(range(len(names)), 2)
                if self.relation(i, j) != UNKNOWN
            ]
            return ", ".join([signs, *known])
        # The number of entries (and 0) below an entry sorts the weak order.
        rank = {
            names[i]: sum(self.relation(i, j) == 1 for j in range(len(names))) + (s == 1)
            for i, s in enumerate(self.signs)
        }
        zero = sum(s == -1 for s in self.signs)
        levels = sorted({zero, *rank.values()}, reverse=True)
        return ">".join(
            "=".join((["0"] if level == zero else []) + [a for a in names if rank[a] == level])
            for level in levels
        )


def _by_signs(a: int, b: int) -> int:
    """Return what the signs of two numbers say about their order."""
    if UNKNOWN in (a, b) or a == b != 0:
        return UNKNOWN
    return (a > b) - (a < b)


def updated_entry(
    x: Interval, m: Interval | None, keep: fmpq, bootstrap: fmpq, gain: fmpq
) -> Interval:
    """Return the bounds of keep x + gain + bootstrap M for M in `m`; None: M is x itself.

    With keep - 1 instead of keep this is the change of the entry.
    """
    if m is None:
        return x.affine(keep + bootstrap, gain)
    return x.affine(keep, _ZERO) + m.affine(bootstrap, gain)


def updated_pattern(
    pattern: Pattern,
    entries: Sequence[Interval],
    action: int,
    new: Interval,
    change: Callable[[], Interval],
) -> Pattern:
    """Return the pattern after the entry of `action` has moved into `new`.

    Parameters
    ----------
    entries : bounds of all entries before the update
    new : bounds of the updated entry
    change : returns bounds of (new value - old value); sharper than the difference of the
        bounds, because both depend on the same old value. Asked for only where `new` leaves
        something open, which is rare.

    A relation is decided by the bounds, or by the old relation together with the direction
    of the change (an entry that was not below another and grew is above it), or by
    transitivity through a third entry.
    """
    k = len(entries)
    before = pattern.matrix
    relations = [compare(new, entry) for entry in entries]
    relations[action] = 0
    if UNKNOWN in relations:
        direction = change().sign
        for j in range(k):
            if relations[j] == UNKNOWN and direction != UNKNOWN:
                old = before[action][j]
                if old != UNKNOWN and old * direction >= 0:
                    relations[j] = old or direction
        _through_others(relations, before, action)
    sign = new.sign
    if sign == UNKNOWN:
        for j in range(k):
            through, other = relations[j], pattern.signs[j]
            known = j != action and through != UNKNOWN and other != UNKNOWN
            if known and through * other >= 0:
                sign = through or other
    signs = (*pattern.signs[:action], sign, *pattern.signs[action + 1 :])
    order = [
        relations[j]
        if i == action
        else (relations[i] if relations[i] == UNKNOWN else -relations[i])
        if j == action
        else before[i][j]
        for i in range(k)
        for j in range(i + 1, k)
    ]
    return Pattern(signs, tuple(order))


def _through_others(relations: list[int], before: tuple[tuple[int, ...], ...], action: int) -> None:
    """Decide relations of the entry of `action` by transitivity through a third entry."""
    for j in range(len(relations)):
        for i, through in enumerate(relations):
            other = before[i][j]
            if (
                relations[j] == UNKNOWN
                and i not in (action, j)
                and other != UNKNOWN
                and through != UNKNOWN
                and other * through >= 0
            ):
                relations[j] = through or other
