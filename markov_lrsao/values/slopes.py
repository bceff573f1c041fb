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

For variances that is not enough: how long a passage took tells something about the rows. A *timed*
slope has series in x = z - 1 in place of probabilities: the belief after a word is the generating
function of the steps so far over the rows, divided by its sum, and words are merged if these
series are equal, up to x^2. A passage then has the weight p_0 + p_1 x + p_2 x^2, with p_0 its
probability given the word, and products of weights along a run are E[z^steps; run].

Fractions of long slopes have thousands of digits. In *balls* words are merged where their beliefs
differ by little, and what that changes is bounded. Let eps bound the distance in total variation
of beliefs that are merged. Replace beliefs one merge after another: before the j-th the run is that
of the machine, after it that of the rows themselves. One more replacement changes the law of the
rows, given all that was seen of them from outside, by eps at most, so the expected steps by eps
times what may be left at most, if the run comes so far; and whether it does is decided before. A
passage of any slope that grows here takes a step, and passages of the same slope do not overlap:
there are at most n T merges. With E[T] <= U for the machine and <= V for the rows, from any state,

    |E[T] of the rows - E[T] of the machine| <= eps n U V,     V <= U / (1 - eps n U),

the latter from the former (`coupling_error`). The same holds for the steps of a phase.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from markov_lrsao.errors import CrossingError, SolverError, StateSpaceTooLargeError
from markov_lrsao.exact.series import Element, accumulate, add, inverse, multiply
from markov_lrsao.model.law import DOWN, UP, StepLaw

__all__ = ["TIMED", "Passage", "Slope", "Word", "coupling_error", "slope_of", "waiting"]

TIMED = 2
"""The order of timed slopes: enough for variances."""

_MOST_WORDS = 1_000
_MOST_MERGED = 0.5


@dataclass(frozen=True)
class Passage:
    """One way through: side of the exit, word after it, its weight and E[steps; this way].

    `weight` is the probability alone, a fraction or a ball, or a series of a timed slope.
    """

    side: int
    word: int
    weight: Element
    steps: arb

    @property
    def probability(self) -> fmpq:
        """The probability of this way, of a slope in fractions."""
        return fmpq(self.weight[0])

    @property
    def chance(self) -> arb:
        """The probability of this way, as a ball."""
        return arb(self.weight[0])


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
    merged : how far beliefs were apart that were merged, at most; 0 for fractions
    """

    first: int
    last: int
    words: tuple[Word, ...]
    falls: tuple[bool, ...]
    learnt: tuple[int | None, ...]
    merged: float = 0.0


def waiting(stay: fmpq, order: int) -> Element:
    """Return the generating function of the steps until a move that is made with 1 - stay.

    At z = 1 + x that is (1 - stay) z / (1 - stay z) = (1 + x) / (1 - rate x), rate = stay / (1 -
    stay).

    >>> waiting(fmpq(1, 2), 2)  # mean 2, E[steps (steps - 1)] / 2 = 2
    (1, 2, 2)
    """
    rate = stay / (1 - stay)
    return (fmpq(1), *(rate**k + rate ** (k - 1) for k in range(1, order + 1)))


class _Site:
    """The sign automaton of one position: state 0 is fresh, moves are numbered states."""

    def __init__(self, law: StepLaw, p: int, order: int) -> None:
        self.law, self.p = law, p
        self.alike = self._alike()
        self.states: list[tuple[int, ...]] = [(0,) * len(law.actions)]
        self.moves: list[list[tuple[int, int, Element, arb]]] = []
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
            waits = waiting(stay, order)
            self.moves.append(
                [
                    (
                        d,
                        s,
                        multiply(_certain(w / (1 - stay), order), waits),
                        arb(w / (1 - stay) ** 2),
                    )
                    for (d, s), w in ways.items()
                ]
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


def _certain(number: fmpq, order: int) -> Element:
    return (number, *(fmpq(0),) * order)


_BALL_BITS = 3000
_APART = 2.0**-300
"""Beliefs in balls that are less apart, for certain, are merged."""


def coupling_error(n: int, merged: float, longest: float) -> float:
    """Bound what merging beliefs that are so far apart changes in E[T], or in a phase's steps.

    Parameters
    ----------
    longest : a bound of E[steps left] of the machine in every state

    Raises
    ------
    SolverError
        The two are too large for a bound.
    """
    merges = merged * n * longest * (1 + 1e-15)
    if not merges <= _MOST_MERGED:
        raise SolverError("what merging histories of slopes changes cannot be bounded")
    return merges * longest / (1 - merges) * (1 + 1e-15)


def slope_of(law: StepLaw, first: int, last: int, order: int = 0, *, balls: bool = False) -> Slope:
    """Return the slope on first..last, both ends included.

    Parameters
    ----------
    order : 0, or `TIMED`
    balls : whether probabilities are balls, and beliefs that are nearly equal are merged

    Raises
    ------
    CrossingError
        Signs do not decide, or the lowest row keeps a positive entry when it is left downwards.
    StateSpaceTooLargeError
    SolverError
        Balls have become too wide.
    """
    if balls and order:
        raise ValueError("a timed slope is made in fractions")
    with ctx.workprec(_BALL_BITS if balls else _BITS):
        words = _grown(law, first, last, order, _Balls() if balls else _Fractions())
    if not all(x.chance.is_finite() and x.steps.is_finite() for w in words for x in w.passages):
        raise SolverError(f"{_BALL_BITS} bits are too few for the slope {first}..{last}")
    falls = [any(x.side == DOWN for x in word.passages) for word in words]
    for _ in words:
        falls = [
            f or any(falls[x.word] for x in word.passages)
            for f, word in zip(falls, words, strict=True)
        ]
    learnt = tuple(
        next((a for a, sign in enumerate(word.signs) if sign > 0), None) for word in words
    )
    return Slope(first, last, words, tuple(falls), learnt, _APART if balls else 0.0)


class _Fractions:
    """Probabilities as fractions: beliefs are the same if they are equal."""

    certain: Any = fmpq(1)

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], int] = {}

    def fresh(self) -> _Fractions:
        """Return the same, knowing no beliefs."""
        return type(self)()

    def number(self, key: tuple[Any, ...], belief: dict[int, Element]) -> int:
        """Return the number of a belief; new ones are numbered in turn."""
        return self._known.setdefault((key, tuple(sorted(belief.items()))), len(self._known))

    def matrix(self, size: int, entries: list[Any]) -> Any:
        """Return a square matrix."""
        return fmpq_mat(size, size, entries)

    def solve(self, matrix: Any, right: list[Any]) -> list[Any]:
        """Solve one linear system."""
        # One right side each: fractions grow with the slope, their inverse would more.
        return list(matrix.solve(fmpq_mat(len(right), 1, right)).entries())


class _Balls(_Fractions):
    """Probabilities as balls: beliefs are the same if they are nearly equal, for certain."""

    certain: Any = arb(1)

    def __init__(self) -> None:
        super().__init__()
        self._beliefs: list[tuple[tuple[Any, ...], dict[int, Element]]] = []

    def number(self, key: tuple[Any, ...], belief: dict[int, Element]) -> int:
        """Return the number of a belief that is less than `_APART` away, or of a new one."""
        for i, (known, other) in enumerate(self._beliefs):
            if known == key and other.keys() == belief.keys():
                # Twice the distance in total variation: ample room for what is rounded below.
                apart = sum((abs(belief[w][0] - x[0]) for w, x in other.items()), arb(0))
                if apart.upper() < _APART:
                    return i
        self._beliefs.append((key, belief))
        return len(self._beliefs) - 1

    def matrix(self, size: int, entries: list[Any]) -> Any:
        """Return a square matrix."""
        return arb_mat(size, size, entries)

    def solve(self, matrix: Any, right: list[Any]) -> list[Any]:
        """Solve one linear system."""
        return list(matrix.solve(arb_mat(len(right), 1, right)).entries())


def _grown(
    law: StepLaw, first: int, last: int, order: int, numbers: _Fractions
) -> tuple[Word, ...]:
    """Add site to site, from the lowest."""
    lowest = _Site(law, first, order)
    for moves in lowest.moves:
        if any(d == DOWN and max(lowest.states[s]) > 0 for d, s, _, _ in moves):
            raise CrossingError(f"the row of position {first} is positive when it is left")
    words = tuple(
        Word(-1, signs, tuple(Passage(d, s, w, t) for d, s, w, t in moves))
        for signs, moves in zip(lowest.states, lowest.moves, strict=True)
    )
    if first == last:
        # Below the only site there is nothing: who comes in passes, from either end.
        through = _certain(fmpq(1), order)
        nothing = (
            Word(DOWN, (), (Passage(UP, 1, through, arb(0)),)),
            Word(UP, (), (Passage(DOWN, 0, through, arb(0)),)),
        )
        words = _Adding(nothing, lowest, order, numbers.fresh()).words()
    for p in range(first + 1, last + 1):
        words = _Adding(words, _Site(law, p, order), order, numbers.fresh()).words()
    return words


class _Adding:
    """A slope with one more site on top: words of both, as beliefs about those of the slope."""

    def __init__(
        self, below: tuple[Word, ...], site: _Site, order: int, numbers: _Fractions
    ) -> None:
        self.below, self.site, self.order, self.numbers = below, site, order, numbers
        self.beliefs: list[tuple[int, int, dict[int, Element]]] = []

    def words(self) -> tuple[Word, ...]:
        """Return all words that can be met."""
        self._word(DOWN, 0, {0: _certain(self.numbers.certain, self.order)})
        found: list[Word] = []
        for entry, state, belief in self.beliefs:  # grows while it is read
            ways: dict[tuple[int, int], list[Any]] = {}
            for (side, after), (mass, steps) in self._exits(entry, state, belief).items():
                word = self._word(side, after, mass)
                way = ways.setdefault((side, word), [_certain(fmpq(0), self.order), arb(0)])
                way[0] = add(way[0], self._total(mass))
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

    def _total(self, mass: dict[int, Element]) -> Element:
        total = _certain(fmpq(0), self.order)
        for weight in mass.values():
            total = add(total, weight)
        return total

    def _word(self, entry: int, state: int, mass: dict[int, Element]) -> int:
        """Return the number of the word after which the slope's rows have this law."""
        key: tuple[Any, ...]
        if entry == UP and self.site.settled(state):
            signs = self.site.states[state]  # nothing below matters any more
            learnt = signs.index(1) if 1 in signs else None
            key = (entry, learnt, state if learnt is None else 0, True)
            belief = {-1: _certain(fmpq(1), self.order)}
        else:
            share = inverse(self._total(mass))
            belief = {w: multiply(m, share) for w, m in mass.items()}
            key = (entry, state, False)
        found = self.numbers.number(key, belief)
        if found == len(self.beliefs):
            self.beliefs.append((entry, state, belief))
        return found

    def _exits(
        self, entry: int, state: int, belief: dict[int, Element]
    ) -> dict[tuple[int, int], tuple[dict[int, Element], arb]]:
        """Return per (side, state of the site) the weights of words below and E[steps; exit]."""
        nodes: list[tuple[int, int, bool]] = []
        number: dict[tuple[int, int, bool], int] = {}

        def node(word: int, site: int, above: bool) -> int:
            key = (word, site, above)
            if key not in number:
                number[key] = len(nodes)
                nodes.append(key)
            return number[key]

        begun = [(node(w, state, entry == UP), b) for w, b in belief.items()]
        inner: list[tuple[int, int, Element, arb]] = []
        outer: list[tuple[int, int, int, int, Element, arb]] = []
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
                        outer.append((i, DOWN, x.word, site, x.weight, x.steps))
                    else:
                        inner.append((i, node(x.word, site, True), x.weight, x.steps))
        visits, delayed = self._visits(len(nodes), begun, inner)
        exits: dict[tuple[int, int], tuple[dict[int, Element], arb]] = {}
        for i, side, word, site, weight, steps in outer:
            mass, total = exits.get((side, site), ({}, arb(0)))
            accumulate(mass, word, multiply(visits[i], weight))
            total += visits[i][0] * steps + delayed[i] * weight[0]
            exits[side, site] = (mass, total)
        return exits

    def _visits(
        self,
        size: int,
        begun: list[tuple[int, Element]],
        inner: list[tuple[int, int, Element, arb]],
    ) -> tuple[list[Element], list[arb]]:
        """Return the weights of all visits of the nodes, and E[steps before a visit]."""
        identity = [int(i == j) for i in range(size) for j in range(size)]
        matrix = self.numbers.matrix(size, identity)
        for i, j, weight, _ in inner:
            matrix[j, i] -= weight[0]
        found: list[list[Any]] = []
        for k in range(self.order + 1):
            right = [fmpq(0)] * size
            for j, b in begun:
                right[j] += b[k]
            for i, j, weight, _ in inner:
                for m in range(1, k + 1):
                    right[j] += weight[m] * found[k - m][i]
            found.append(self.numbers.solve(matrix, right))
        late = [arb(0)] * size
        for i, j, _, steps in inner:
            late[j] += found[0][i] * steps
        delayed = arb_mat(matrix).solve(arb_mat(size, 1, late)).entries()
        return list(zip(*found, strict=True)), delayed
