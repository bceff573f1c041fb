"""Orders of a shared row's entries that outlive their values (see `markov_lrsao.values.entries`).

An order is kept per pair of entries: the sign of the difference of their residuals, `UNORDERED`
where it is not known or values tell it.
"""

from __future__ import annotations

from functools import cmp_to_key
from itertools import combinations

from markov_lrsao.values.entries import UNORDERED, Entries

__all__ = ["RowOrders"]


class RowOrders:
    """What is known of the orders of entries, beside their values.

    Attributes
    ----------
    pairs, number : all pairs of actions, and where each stands in an order
    nothing : an order of which nothing is known
    """

    def __init__(self, values: Entries, actions: int) -> None:
        self._values = values
        self.pairs = list(combinations(range(actions), 2))
        self.number = {pair: k for k, pair in enumerate(self.pairs)}
        self.nothing = (UNORDERED,) * len(self.pairs)

    def compare(
        self, entries: tuple[int, ...], order: tuple[int, ...], a: int, b: int
    ) -> int | None:
        """Return the sign of the difference of two entries; None: it is open."""
        one, other = entries[a], entries[b]
        sign = self._values.sign(one, other)
        if sign is None:
            known = order[self.number[a, b]]
            if known != UNORDERED and self.same_depth(one, other):
                return known
        return sign

    def same_depth(self, one: int, other: int) -> bool:
        """Whether two entries are known to have the same depth."""
        x, y = self._values.residual[one], self._values.residual[other]
        return x is not None and y is not None and x.depth == y.depth

    def carried(
        self, before: tuple[int, ...], order: tuple[int, ...], after: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Return the orders of entries that were relaxed."""
        values, found = self._values, []
        for k, (a, b) in enumerate(self.pairs):
            one, other = after[a], after[b]
            if not self._has_open_order(one, other):
                found.append(UNORDERED)
            elif order[k] != UNORDERED:
                found.append(order[k])
            elif values.residual[before[a]] is None or values.residual[before[b]] is None:
                found.append(UNORDERED)
            else:
                sign = values.residual_sign(before[a], before[b])
                found.append(UNORDERED if sign is None else sign)
        return tuple(found)

    def _has_open_order(self, one: int, other: int) -> bool:
        """Whether two entries have residuals whose order values do not tell."""
        values = self._values
        if values.residual[one] is None or values.residual[other] is None:
            return False
        return values.residual_sign(one, other) is None

    def without(self, order: tuple[int, ...], action: int) -> tuple[int, ...]:
        """Return orders after an entry got a new residual."""
        if order == self.nothing:
            return order
        return tuple(
            UNORDERED if action in pair else sign
            for pair, sign in zip(self.pairs, order, strict=True)
        )

    def without_dead(
        self, entries: tuple[int, ...], order: tuple[int, ...], bridge: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Forget entries below that of the last bridge, on whose plateau the walk is for good.

        They are never the largest again: the first use of the bridge ends the run, and until
        then neither its entry changes nor theirs.
        """
        found, dead = list(entries), self._values.dead
        for a in range(len(entries)):
            if a != bridge:
                pair = (min(a, bridge), max(a, bridge))
                sign = self.compare(entries, order, *pair)
                if sign is not None and sign * (1 if a < bridge else -1) < 0:
                    found[a] = dead
        if dead not in found:
            return entries, order
        kept = (
            UNORDERED if dead in (found[a], found[b]) else sign
            for (a, b), sign in zip(self.pairs, order, strict=True)
        )
        return tuple(found), tuple(kept)

    def exchanged(
        self, groups: list[list[int]], entries: tuple[int, ...], order: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Put actions that are alike wherever the walk can still come into one order."""
        if not groups:
            return entries, order

        def compare(a: int, b: int) -> int:
            sign = self._ordered(order, a, b)
            return entries[a] - entries[b] or (0 if sign == UNORDERED else sign)

        put = list(range(len(entries)))
        for group in groups:
            for a, b in zip(group, sorted(group, key=cmp_to_key(compare)), strict=True):
                put[a] = b
        exchanged = tuple(self._ordered(order, put[a], put[b]) for a, b in self.pairs)
        return tuple(entries[b] for b in put), exchanged

    def _ordered(self, order: tuple[int, ...], a: int, b: int) -> int:
        """Return what is known of the order of two entries."""
        if a < b:
            return order[self.number[a, b]]
        sign = order[self.number[b, a]]
        return sign if sign == UNORDERED else -sign
