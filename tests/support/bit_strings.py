"""Searches on bit strings, state by state: an oracle that imports nothing of the engine.

A state is (bit string as an integer, mode). Masks are flipped one by one, with the probabilities
that the algorithms' definitions give them; the moments of T follow from Gaussian elimination over
Fractions on all 2^n strings. Nothing is lumped, no class is recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb

State = tuple[int, int]
Law = Mapping[State, Fraction]
Next = Callable[[State], Iterator[tuple[State, Fraction]]]
Masks = list[tuple[int, Fraction]]
Accept = Callable[[Fraction], Fraction]
Part = tuple[Fraction, list[Fraction], Masks, Accept]
ONE, ZERO = Fraction(1), Fraction(0)


def flips(n: int, k: int) -> Masks:
    """All masks of k bits."""
    return [(m, Fraction(1, comb(n, k))) for m in range(2**n) if m.bit_count() == k]


def standard(n: int, rate: Fraction, *, positive: bool = False) -> Masks:
    """Standard bit mutation."""
    first = 1 if positive else 0
    weights = {
        m: rate ** m.bit_count() * (1 - rate) ** (n - m.bit_count()) for m in range(first, 2**n)
    }
    total = sum(weights.values())
    return [(m, w / total) for m, w in weights.items()]


def not_worse(gain: Fraction) -> Fraction:
    return ONE if gain >= 0 else ZERO


def better(gain: Fraction) -> Fraction:
    return ONE if gain > 0 else ZERO


def worse(gain: Fraction) -> Fraction:
    return ONE if gain < 0 else ZERO


def everything(gain: Fraction) -> Fraction:
    return ONE


def metropolis(base: Fraction) -> Accept:
    return lambda gain: ONE if gain >= 0 else ONE / base ** int(-gain)


def leading_ones(x: int, n: int) -> int:
    """Leading ones, the lowest bit first."""
    count = 0
    while count < n and x >> count & 1:
        count += 1
    return count


def step(f: list[Fraction], x: int, masks: Masks, accept: Accept) -> Iterator[tuple[int, Fraction]]:
    """Yield what becomes of x, and with which probability."""
    for mask, w in masks:
        y = x ^ mask
        taken = accept(f[y] - f[x])
        if taken:
            yield y, w * taken
        if taken != 1:
            yield x, w * (1 - taken)


def moments(
    next_: Callable[[State], Iterator[tuple[State, Fraction]]], start: Law, target: set[int]
) -> tuple[Fraction, Fraction]:
    """Return E[T] and Var[T], T the time until the bit string is in the target."""
    states = [s for s in _reachable(next_, start, target) if s[0] not in target]
    index = {s: i for i, s in enumerate(states)}
    rows: list[dict[int, Fraction]] = []
    for s in states:
        row = {index[s]: ONE}
        for after, w in next_(s):
            if after in index:
                row[index[after]] = row.get(index[after], ZERO) - w
        rows.append(row)
    first = _solved(rows, [ONE] * len(states))
    second = _solved(rows, [2 * h - 1 for h in first])  # E[T^2]: 1 + 2 E[T'] = 2 E[T] - 1
    mean = sum((w * first[index[s]] for s, w in start.items() if s in index), ZERO)
    square = sum((w * second[index[s]] for s, w in start.items() if s in index), ZERO)
    return mean, square - mean * mean


def _reachable(
    next_: Callable[[State], Iterator[tuple[State, Fraction]]], start: Law, target: set[int]
) -> list[State]:
    found = {s: None for s, w in start.items() if w}
    open_ = list(found)
    while open_:
        state = open_.pop()
        if state[0] in target:
            continue
        for after, w in next_(state):
            if w and after not in found:
                found[after] = None
                open_.append(after)
    return sorted(found)


def _solved(rows: list[dict[int, Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Gaussian elimination on sparse rows."""
    lines = [dict(row) for row in rows]
    sides = list(right)
    for i in range(len(lines)):
        pivot = lines[i][i]
        for j in range(i + 1, len(lines)):
            if i in lines[j]:
                factor = lines[j].pop(i) / pivot
                for k, w in lines[i].items():
                    if k > i:
                        lines[j][k] = lines[j].get(k, ZERO) - factor * w
                sides[j] -= factor * sides[i]
    found = [ZERO] * len(lines)
    for i in reversed(range(len(lines))):
        known = sum((w * found[k] for k, w in lines[i].items() if k > i), ZERO)
        found[i] = (sides[i] - known) / lines[i][i]
    return found


class Strings:
    """Named algorithms on bit strings of length n with the values f, written from definitions."""

    def __init__(self, n: int, f: list[Fraction]) -> None:
        self.n, self.f = n, f
        self.best = {x for x in range(2**n) if f[x] == max(f)}

    @classmethod
    def of_ones(cls, values: list[int]) -> Strings:
        """A function of the number of ones."""
        n = len(values) - 1
        return cls(n, [Fraction(values[x.bit_count()]) for x in range(2**n)])

    def start(self, kind: str, modes: Mapping[int, Fraction] | None = None) -> Law:
        shown = modes or {0: ONE}
        strings = {0: ONE} if kind == "zero" else dict.fromkeys(range(2**self.n), ONE / 2**self.n)
        return {(x, g): w * v for x, w in strings.items() for g, v in shown.items()}

    def mixed(self, parts: Sequence[Part]) -> Callable[[State], Iterator[tuple[State, Fraction]]]:
        """One mode: with a probability, masks and acceptance by the values of some objective."""

        def next_(state: State) -> Iterator[tuple[State, Fraction]]:
            for share, f, masks, accept in parts:
                if share:
                    for y, w in step(f, state[0], masks, accept):
                        yield (y, 0), share * w

        return next_

    def two_modes(
        self, second: Accept, p: Fraction, q: Fraction, *, switch_first: bool
    ) -> Callable[[State], Iterator[tuple[State, Fraction]]]:
        """Improving moves in mode 0, others in mode 1."""
        masks = flips(self.n, 1)
        rules = (better, second)

        def switched(g: int) -> list[tuple[int, Fraction]]:
            leave = (p, q)[g]
            return [(g, 1 - leave), (1 - g, leave)]

        def next_(state: State) -> Iterator[tuple[State, Fraction]]:
            x, g = state
            if switch_first:
                for h, v in switched(g):
                    for y, w in step(self.f, x, masks, rules[h]):
                        yield (y, h), v * w
            else:
                for y, w in step(self.f, x, masks, rules[g]):
                    for h, v in switched(g):
                        yield (y, h), v * w

        return next_

    def gradient(
        self, sizes: list[int], tau: int, accept: Accept
    ) -> Callable[[State], Iterator[tuple[State, Fraction]]]:
        """Mode (index of k) * tau + failures so far."""

        def next_(state: State) -> Iterator[tuple[State, Fraction]]:
            x, g = state
            which, failed = divmod(g, tau)
            for y, w in step(self.f, x, flips(self.n, sizes[which]), accept):
                if self.f[y] > self.f[x]:
                    yield (y, which * tau), w
                elif failed + 1 < tau:
                    yield (y, g + 1), w
                else:
                    for other in range(len(sizes)):
                        yield (y, other * tau), w / len(sizes)

        return next_
