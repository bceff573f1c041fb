r"""Lumps of histories: a slope of which less is known than its word.

With a bridge for each plateau a slope has dozens of words, and states multiply with those of every
slope. Nearly all of them are alike: they differ by a few percent in what the walk meets below. A
*lump* is a set of words; a state that has a lump instead of a word stands for all states that have
one of its words, and when the slope is entered every word of the lump is an option of its own.
Whatever the true word is, what it does is among the options, and the word after it is in the lump
that the option leads to. So bounds over all options bound the truth, for every partition; which one
is taken decides only how narrow they are.

Words of a lump have the same entry and the same action learnt at the top, since the walk reads
these. Beyond that they are lumped by what they do, in floats: how likely the next passage leads
down, how many of those after it do, how many steps all these take, later ones weighing less. Words
of a lump are no further apart in any of these than a tolerance (complete linkage).

A lump is written as that of its words which falls most likely, so that what is hidden is hidden for
all of them. (Were it not, a run that falls would be lost, and a bound of that be added.)
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.model.law import DOWN
from markov_lrsao.values.slopes import Slope

__all__ = ["Lumps", "Words"]

_LATER = 0.99
"""The weight of a passage, beside the one before it."""


class Words(Enum):
    """What is told apart: each word; words that do much the same; roughly so; next to nothing.

    Next to nothing is: where the walk comes in, and if that is the upper end, what has been learnt
    there. The value is how far words of a lump may be apart.
    """

    EACH = 0.0
    ALIKE = 0.02
    ROUGHLY = 0.3
    SIDES = np.inf


class Lumps:
    """A partition of the words of every slope.

    Parameters
    ----------
    falls : per slope and word a bound of the probability of ever leaving it downwards again
    """

    def __init__(
        self, slopes: Sequence[Slope], falls: Sequence[Sequence[float]], kind: Words
    ) -> None:
        self._members: list[dict[int, list[int]]] = []
        self._of: list[list[int]] = []
        unit = sum(map(_longest, slopes))
        for slope, bounds in zip(slopes, falls, strict=True):
            number = [0] * len(slope.words)
            named: dict[int, list[int]] = {}
            for words in _partition(slope, kind, unit):
                name = max(words, key=bounds.__getitem__)
                named[name] = words
                for word in words:
                    number[word] = name
            self._members.append(named)
            self._of.append(number)

    def of(self, words: tuple[int, ...]) -> tuple[int, ...]:
        """Return the names of the lumps of some words, one per slope."""
        return tuple(number[word] for number, word in zip(self._of, words, strict=True))

    def name(self, s: int, word: int) -> int:
        """Return the name of the lump of a word of one slope."""
        return self._of[s][word]

    def members(self, s: int, name: int) -> list[int]:
        """Return the words of a lump."""
        return self._members[s][name]


def _longest(slope: Slope) -> float:
    """Return about E[steps] of the longest passage of a slope."""
    return max(float(sum(x.steps.mid() for x in word.passages)) for word in slope.words)


def _partition(slope: Slope, kind: Words, unit: float) -> list[list[int]]:
    """Return the lumps of a slope; so many steps weigh as much as a fall."""
    if kind == Words.EACH:
        return [[word] for word in range(len(slope.words))]
    known: dict[tuple[object, ...], list[int]] = {}
    for word in range(len(slope.words)):
        known.setdefault(_key(slope, word, kind), []).append(word)
    if kind == Words.SIDES:
        return list(known.values())
    behaviours = _behaviours(slope, unit)
    return [
        [words[i] for i in lump]
        for words in known.values()
        for lump in _near(behaviours[words], kind.value)
    ]


def _key(slope: Slope, word: int, kind: Words) -> tuple[object, ...]:
    """Return what words of a lump have in common, at least; the fresh one is mostly alone."""
    entry = slope.words[word].entry
    if kind == Words.SIDES and entry == DOWN:
        return (DOWN,)  # fresh or not
    if word == 0:
        return (word,)
    return (entry, slope.learnt[word], slope.falls[word])


def _behaviours(slope: Slope, unit: float) -> npt.NDArray[np.float64]:
    """Return per word falls and steps of the next passage, and the same of all to come.

    Whoever left the slope at one end comes back at the same one.
    """
    size = len(slope.words)
    next_one, after = np.zeros((size, 2)), np.zeros((size, size))
    for i, word in enumerate(slope.words):
        for x in word.passages:
            chance = float(x.chance.mid())
            after[i, x.word] += chance
            next_one[i] += (chance * (x.side == DOWN), float(x.steps.mid()) / unit)
    # All will do the same in the end: only what is different before that counts.
    return np.hstack((next_one, np.linalg.solve(np.eye(size) - _LATER * after, next_one)))


def _near(points: npt.NDArray[np.float64], apart: float) -> list[list[int]]:
    """Return groups of points, none of whose coordinates are further apart than that."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(points) == 1:
        return [[0]]
    tree: Any = linkage(points, "complete", "chebyshev")
    lumps: dict[int, list[int]] = {}
    for i, lump in enumerate(fcluster(tree, apart, "distance").tolist()):
        lumps.setdefault(lump, []).append(i)
    return list(lumps.values())
