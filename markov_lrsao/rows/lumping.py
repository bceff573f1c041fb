"""Merging patterns that behave alike (bisimulation of the row automata).

Two patterns of a row are equivalent if, at every kind of position where the row is met,
each direction is accepted with the same probability and leads to equivalent patterns with
the same probabilities. A row's transitions depend on its own pattern only, so replacing
every row's pattern by its class lumps the joint chain exactly: positions, and with them
runtimes, phases and visits, keep their law.

On an interior slope site of Jump this leaves three classes: both plateau objectives
unused, one of them used, and the target objective alone.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace

from markov_lrsao.exact.intervals import Interval
from markov_lrsao.exact.partitions import coarsest_partition
from markov_lrsao.model.law import add_shares
from markov_lrsao.rows.automata import RowAutomata

__all__ = ["merge_patterns", "pattern_classes"]


def pattern_classes(automata: RowAutomata, row_class: int) -> list[int]:
    """Return for each pattern of a row class the number of its equivalence class.

    A pattern whose greedy choice is undecided is never merged. Classes are numbered by first
    member.
    """
    kinds = sorted({k for k, c, *_ in automata.following if c == row_class})
    shown = automata.patterns[row_class]
    apart = [None if p.undecided is None else k for k, p in enumerate(shown)]

    def signature(pattern: int, classes: Sequence[int]) -> Hashable:
        """Return per kind the shares of (change of position, next class)."""
        if apart[pattern] is not None:
            return None
        return tuple(
            frozenset(
                add_shares(
                    ((moved, classes[to]), share)
                    for (moved, to), share in automata.outcomes(kind, row_class, pattern).items()
                ).items()
            )
            for kind in kinds
        )

    return list(coarsest_partition(apart, signature))


def merge_patterns(
    automata: RowAutomata, apart: Collection[int] = ()
) -> tuple[RowAutomata, list[list[int]]]:
    """Return the automata with equivalent patterns merged, and the class of each pattern.

    A class is represented by its first pattern: its label and greedy actions. Two members may
    use different actions; what they share is the law of moves and of classes. Its bounds hold
    for all members, so bounds of the maximum must be taken over all entries.
    The patterns of row classes in `apart` are not merged.
    """
    classes = [
        list(range(len(automata.patterns[c]))) if c in apart else pattern_classes(automata, c)
        for c in range(automata.regions.classes)
    ]
    first = [[numbers.index(i) for i in range(max(numbers) + 1)] for numbers in classes]
    following = {
        (kind, c, classes[c][k], action, direction): classes[c][to]
        for (kind, c, k, action, direction), to in automata.following.items()
        if first[c][classes[c][k]] == k
    }
    merged = replace(
        automata,
        patterns=tuple(
            tuple(automata.patterns[c][k] for k in kept) for c, kept in enumerate(first)
        ),
        boxes=tuple(_joined(automata.boxes[c], classes[c]) for c in range(len(classes))),
        following=following,
    )
    return merged, classes


def _joined(
    boxes: Sequence[tuple[Interval, ...]], classes: Sequence[int]
) -> tuple[tuple[Interval, ...], ...]:
    """Return per class the bounds that hold for all its members."""
    result: dict[int, tuple[Interval, ...]] = {}
    for box, c in zip(boxes, classes, strict=True):
        result[c] = (
            box
            if c not in result
            else tuple(a.join(b) for a, b in zip(result[c], box, strict=True))
        )
    return tuple(result[c] for c in range(len(result)))
