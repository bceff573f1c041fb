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
    initial: Iterable[Hashable],
    signature: Callable[[int, Sequence[int]], Hashable],
    successors: Callable[[int], Iterable[int]] | None = None,
) -> Sequence[int]:
    """Return the class of each element, classes numbered by first member.

    Parameters
    ----------
    initial : elements that differ here are never in one class
    signature : (element, classes so far) -> what must agree within a class
    successors : the elements whose classes a signature depends on; where they are given, only
        signatures that can have changed are computed again

    >>> coarsest_partition("aaab", lambda i, classes: classes[(i + 1) % 4])
    [0, 1, 2, 3]
    """
    classes = numbered(initial)
    if successors is None:
        return settled_colours(
            classes,
            lambda now: numbered((c, signature(i, now)) for i, c in enumerate(now)),
        )
    before: list[list[int]] = [[] for _ in classes]
    for i in range(len(classes)):
        for j in set(successors(i)):
            before[j].append(i)
    members: dict[int, set[int]] = {}
    for i, c in enumerate(classes):
        members.setdefault(c, set()).add(i)
    dirty = set(range(len(classes)))
    while dirty:
        dirty = {i for j in _split(dirty, classes, members, signature) for i in before[j]}
    return numbered(classes)


def _split(
    dirty: set[int],
    classes: list[int],
    members: dict[int, set[int]],
    signature: Callable[[int, Sequence[int]], Hashable],
) -> Iterable[int]:
    """Split the classes of elements whose signatures may have changed; return who has moved.

    The others of a class still have one signature, that of any of them. The largest part keeps the
    number of its class, so that few elements move.
    """
    parts: dict[int, dict[Hashable, list[int]]] = {}
    for i in dirty:
        parts.setdefault(classes[i], {}).setdefault(signature(i, classes), []).append(i)
    moved: dict[int, int] = {}
    for c, found in parts.items():
        rest = len(members[c]) - sum(map(len, found.values()))
        resting: Hashable = None
        if rest:
            resting = signature(next(i for i in members[c] if i not in dirty), classes)
            found.setdefault(resting, [])
        if len(found) == 1:
            continue
        stays = max(found, key=lambda key: len(found[key]) + (rest if key == resting else 0))
        if rest and stays != resting:
            found[resting] += [i for i in members[c] if i not in dirty]
        for key, part in found.items():
            if key != stays:
                new = len(members)
                members[new] = set(part)
                members[c] -= members[new]
                moved |= dict.fromkeys(part, new)
    for i, c in moved.items():
        classes[i] = c
    return moved
