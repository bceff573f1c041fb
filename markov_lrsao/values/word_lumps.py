r"""Lumps of histories: a slope of which less is known than its word.

With a bridge for each plateau a slope has dozens of words, and states multiply with those of every
slope. Nearly all of them are alike: they have the same signs at the top and differ by a few percent
in what the walk meets below. A *lump* is a set of words; a state that has a lump instead of a word
stands for all states that have one of its words, and when the slope is entered every word of the
lump is an option of its own. Whatever the true word is, what it does is among the options, and the
word after it is in the lump that the option leads to. So bounds over all options bound the truth,
for every partition; which one is taken decides only how narrow they are.

Words of a lump have the same entry and, if that is the upper end, the same action learnt at the
top, since the walk reads these. A lump is written as that of its words which falls most likely, so
that what is hidden is hidden for all of them. (Were it not, a run that falls would be lost, and a
bound of that be added.)
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from markov_lrsao.model.law import DOWN
from markov_lrsao.values.slopes import Slope

__all__ = ["Lumps", "Words"]


class Words(Enum):
    """What is told apart: each word; signs of the topmost row; what it has learnt; next to nothing.

    Next to nothing is: where the walk comes in, and if that is the upper end, what `KINDS` knows.
    """

    EACH = auto()
    SIGNS = auto()
    KINDS = auto()
    SIDES = auto()


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
        for slope, bounds in zip(slopes, falls, strict=True):
            lumps: dict[tuple[object, ...], list[int]] = {}
            for word in range(len(slope.words)):
                lumps.setdefault(_key(slope, word, kind), []).append(word)
            number = [0] * len(slope.words)
            named: dict[int, list[int]] = {}
            for words in lumps.values():
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


def _key(slope: Slope, word: int, kind: Words) -> tuple[object, ...]:
    """Return what words of the same lump have in common; the fresh one is mostly alone."""
    known = slope.words[word]
    if kind == Words.SIDES and known.entry == DOWN:
        return (DOWN,)  # fresh or not
    if kind == Words.EACH or word == 0:
        return (word,)
    key = (known.entry, slope.learnt[word], slope.falls[word])
    return (*key, known.signs) if kind == Words.SIGNS else key
