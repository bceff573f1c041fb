"""Partition refinement: the coarsest partition whose classes cannot be told apart.

Give every element a colour, then again and again the colour that its own and those of its
successors make, until a round splits no class. Elements of one colour then behave alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

__all__ = ["coarsest_partition", "numbered", "settled_colours"]

Colour = TypeVar("Colour", bound=Hashable)


def numbered(keys: Iterable[Hashable]) -> list[int]:
    """Number keys by first occurrence; equal keys have equal numbers.

    >>> numbered("abca")
    [0, 1, 2, 0]
    """
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def settled_colours(
    colours: Sequence[Colour], recolour: Callable[[Sequence[Colour]], Sequence[Colour]]
) -> Sequence[Colour]:
    """Recolour until a round splits no class. A new colour must tell the old one."""
    count = len(set(colours))
    while True:
        colours = recolour(colours)
        found = len(set(colours))
        if found == count:
            return colours
        count = found


def coarsest_partition(
    initial: Iterable[Hashable], signature: Callable[[int, Sequence[int]], Hashable]
) -> Sequence[int]:
    """Return the class of each element, classes numbered by first member.

    Parameters
    ----------
    initial : elements that differ here are never in one class
    signature : (element, classes so far) -> what must agree within a class
    """
    return settled_colours(
        numbered(initial),
        lambda classes: numbered((c, signature(i, classes)) for i, c in enumerate(classes)),
    )
