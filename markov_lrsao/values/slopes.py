r"""Slopes between plateaus that share a row: what they answer to who comes in.

A slope's rows belong to it alone, and under (H) their signs decide every choice on it: an
accepted gain makes an entry positive, a penalty makes it negative, a rejection changes no sign.
From outside a slope is a machine that is entered at one end and left at one end. What it will do
next depends on its rows, of which the outside knows the *word* of entries and exits so far; so
its state is that word, kept as the law of the rows given the word (a belief). Words with the same
belief are merged, and all words after which the topmost site can only be left upwards are one.
Words are bounded in number, whatever the length: every exit but those of a settled top uses up an
entry for good.

Sites are added one at a time from the bottom. Probabilities are exact fractions, so that equal
beliefs are seen to be equal; expected steps only add up, and are balls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from markov_lrsao.errors import CrossingError, StateSpaceTooLargeError
from markov_lrsao.model.law import DOWN, UP, StepLaw

__all__ = ["Passage", "Slope", "Word", "slope_of"]

_MOST_WORDS = 400


@dataclass(frozen=True)
class Passage:
    """One way through: side of the exit, word after it, probability and E[steps; this way]."""

    side: int
    word: int
    probability: fmpq
    steps: arb


@dataclass(frozen=True)
class Word:
    """What is known of a slope.

    Attributes
    ----------
    entry : the side at which the walk comes in next: DOWN is the lower end
    signs : signs of the topmost site's row
    passages : what may happen when the walk comes in
    """

    entry: int
    signs: tuple[int, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, eq=False)
class Slope:
    """A slope on the positions first..last as a machine; word 0 is the fresh one.

    Attributes
    ----------
    falls : word -> whether the lower end can ever be left downwards again
    learnt : word -> the action that is positive at the topmost site, or None
    """

    first: int
    last: int
    words: tuple[Word, ...]
    falls: tuple[bool, ...]
    learnt: tuple[int | None, ...]


class _Site:
    """The sign automaton of one position: state 0 is fresh, moves are numbered states."""

    def __init__(self, law: StepLaw, p: int) -> None:
        self.law, self.p = law, p
        self.alike = self._alike()
        self.states: list[tuple[int, ...]] = [(0,) * len(law.actions)]
        self.moves: list[list[tuple[int, int, fmpq, arb]]] = []
        number = {self.states[0]: 0}
        for signs in self.states:
            stay, ways = fmpq(0), dict[tuple[int, int], fmpq]()
            greedy = self.greedy(signs)
            for action in greedy:
                for direction in (DOWN, UP):
                    share = fmpq(p if direction == DOWN else law.n - p, law.n * len(greedy))
                    if not law.accepted[p, action, direction]:
                        stay += share
                        continue
                    sign = 1 if law.reward(p, action, direction) > 0 else -1
                    after = self._sorted((*signs[:action], sign, *signs[action + 1 :]))
                    if after not in number:
                        number[after] = len(self.states)
                        self.states.append(after)
                    way = (direction, number[after])
                    ways[way] = ways.get(way, fmpq(0)) + share
            if stay == 1:
                raise CrossingError(f"the walk can be stuck at position {p}")
            self.moves.append(
                [(d, s, w / (1 - stay), arb(w / (1 - stay) ** 2)) for (d, s), w in ways.items()]
            )

    def greedy(self, signs: tuple[int, ...]) -> list[int]:
        """Return the actions with the largest sign: it decides, if it is 0 or of one entry."""
        largest = max(signs)
        chosen = [a for a, sign in enumerate(signs) if sign == largest]
        if largest < 0 or (largest > 0 and len(chosen) > 1):
            raise CrossingError(f"signs do not decide at position {self.p}")
        return chosen

    def settled(self, state: int) -> bool:
        """Whether the site can only be left upwards from now on, always by the same actions."""
        law, p = self.law, self.p
        return all(
            not law.accepted[p, a, DOWN]
            and (not law.accepted[p, a, UP] or law.reward(p, a, UP) > 0)
            for a in self.greedy(self.states[state])
        )

    def _alike(self) -> list[list[int]]:
        """Return groups of actions that are accepted and rewarded alike here."""
        law, p = self.law, self.p
        groups: dict[tuple[Any, ...], list[int]] = {}
        for a in range(len(law.actions)):
            same = tuple(law.reward(p, a, d) if law.accepted[p, a, d] else None for d in (DOWN, UP))
            groups.setdefault(same, []).append(a)
        return [g for g in groups.values() if len(g) > 1]

    def _sorted(self, signs: tuple[int, ...]) -> tuple[int, ...]:
        """Exchange actions that are alike: which of them has been tried makes no difference."""
        result = list(signs)
        for group in self.alike:
            for a, sign in zip(group, sorted(signs[a] for a in group), strict=True):
                result[a] = sign
        return tuple(result)


_BITS = 128


def slope_of(law: StepLaw, first: int, last: int) -> Slope:
    """Return the slope on first..last, both ends included.

    Raises
    ------
    CrossingError
        Signs do not decide, or the lowest row keeps a positive entry when it is left downwards.
    StateSpaceTooLargeError
    """
    with ctx.workprec(_BITS):
        words = _grown(law, first, last)
    falls = [any(x.side == DOWN for x in word.passages) for word in words]
    for _ in words:
        falls = [
            f or any(falls[x.word] for x in word.passages)
            for f, word in zip(falls, words, strict=True)
        ]
    learnt = tuple(
        next((a for a, sign in enumerate(word.signs) if sign > 0), None) for word in words
    )
    return Slope(first, last, words, tuple(falls), learnt)


def _grown(law: StepLaw, first: int, last: int) -> tuple[Word, ...]:
    """Add site to site, from the lowest."""
    lowest = _Site(law, first)
    for moves in lowest.moves:
        if any(d == DOWN and max(lowest.states[s]) > 0 for d, s, _, _ in moves):
            raise CrossingError(f"the row of position {first} is positive when it is left")
    words = tuple(
        Word(-1, signs, tuple(Passage(d, s, w, t) for d, s, w, t in moves))
        for signs, moves in zip(lowest.states, lowest.moves, strict=True)
    )
    if first == last:
        words = _Adding((Word(DOWN, (), (Passage(UP, 0, fmpq(1), arb(0)),)),), lowest).words()
    for p in range(first + 1, last + 1):
        words = _Adding(words, _Site(law, p)).words()
    return words


class _Adding:
    """A slope with one more site on top: words of both, as beliefs about those of the slope."""

    def __init__(self, below: tuple[Word, ...], site: _Site) -> None:
        self.below, self.site = below, site
        self.number: dict[tuple[Any, ...], int] = {}
        self.beliefs: list[tuple[int, int, dict[int, fmpq]]] = []

    def words(self) -> tuple[Word, ...]:
        """Return all words that can be met."""
        self._word(DOWN, 0, {0: fmpq(1)})
        found: list[Word] = []
        for entry, state, belief in self.beliefs:  # grows while it is read
            ways: dict[tuple[int, int], list[Any]] = {}
            for (side, after), (mass, steps) in self._exits(entry, state, belief).items():
                total = sum(mass.values(), fmpq(0))
                way = ways.setdefault((side, self._word(side, after, mass)), [fmpq(0), arb(0)])
                way[0] += total
                way[1] += steps
            found.append(
                Word(
                    entry,
                    self.site.states[state],
                    tuple(Passage(side, word, *way) for (side, word), way in ways.items()),
                )
            )
            if len(self.beliefs) > _MOST_WORDS:
                raise StateSpaceTooLargeError(
                    f"the slope around position {self.site.p} has more than {_MOST_WORDS} histories"
                )
        return tuple(found)

    def _word(self, entry: int, state: int, mass: dict[int, fmpq]) -> int:
        """Return the number of the word after which the slope's rows have this law."""
        key: tuple[Any, ...]
        if entry == UP and self.site.settled(state):
            signs = self.site.states[state]  # nothing below matters any more
            learnt = signs.index(1) if 1 in signs else None
            key, belief = (entry, learnt, state if learnt is None else 0), {-1: fmpq(1)}
        else:
            total = sum(mass.values(), fmpq(0))
            belief = {w: m / total for w, m in mass.items()}
            key = (entry, state, tuple(sorted(belief.items())))
        if key not in self.number:
            self.number[key] = len(self.beliefs)
            self.beliefs.append((entry, state, belief))
        return self.number[key]

    def _exits(
        self, entry: int, state: int, belief: dict[int, fmpq]
    ) -> dict[tuple[int, int], tuple[dict[int, fmpq], arb]]:
        """Return per (side, state of the site) the masses of words below and E[steps; exit]."""
        nodes: list[tuple[int, int, bool]] = []
        number: dict[tuple[int, int, bool], int] = {}

        def node(word: int, site: int, above: bool) -> int:
            key = (word, site, above)
            if key not in number:
                number[key] = len(nodes)
                nodes.append(key)
            return number[key]

        begun = [(node(w, state, entry == UP), b) for w, b in belief.items()]
        inner: list[tuple[int, int, fmpq, arb]] = []
        outer: list[tuple[int, int, int, int, fmpq, arb]] = []
        for i, (word, site, above) in enumerate(nodes):  # grows while it is read
            if above:
                for side, after, weight, steps in self.site.moves[site]:
                    if side == UP:
                        outer.append((i, UP, word, after, weight, steps))
                    else:
                        inner.append((i, node(word, after, False), weight, steps))
            else:
                for x in self.below[word].passages:
                    if x.side == DOWN:
                        outer.append((i, DOWN, x.word, site, x.probability, x.steps))
                    else:
                        inner.append((i, node(x.word, site, True), x.probability, x.steps))
        size = len(nodes)
        matrix = fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
        for i, j, weight, _ in inner:
            matrix[j, i] -= weight
        right = [fmpq(0)] * size
        for j, b in begun:
            right[j] += b
        # Solved for one right side each: fractions grow with the slope, their inverse would more.
        visits = matrix.solve(fmpq_mat(size, 1, right)).entries()
        late = [arb(0)] * size
        for i, j, _, steps in inner:
            late[j] += visits[i] * steps
        delayed = arb_mat(matrix).solve(arb_mat(size, 1, late)).entries()
        exits: dict[tuple[int, int], tuple[dict[int, fmpq], arb]] = {}
        for i, side, word, site, weight, steps in outer:
            mass, total = exits.get((side, site), ({}, arb(0)))
            mass[word] = mass.get(word, fmpq(0)) + visits[i] * weight
            exits[side, site] = (mass, total + visits[i] * steps + delayed[i] * weight)
        return exits
