"""Random chains that are hard for floats, in five families; seeds are numbers.

* decomposable: blocks that hang together with probabilities down to 10^-14;
* tiny: probabilities of all sizes down to 10^-300, loops taking the rest;
* loops: states that stay with probability up to 1 - 10^-15;
* random: a ring with random chords, left from some states;
* grid: walks on a rectangle with random holes in it, to one corner, perhaps with a second end.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from flint import fmpq

from markov_lrsao import MarkovChain
from markov_lrsao.chains.sources import chain_from_rows

__all__ = ["FAMILIES", "hard_chain", "ring", "square"]

Row = dict[int, Fraction]
FAMILIES = ("decomposable", "tiny", "loops", "random", "grid")


def _weights(rng: random.Random, states: list[int]) -> Row:
    """Return probabilities in these states, fractions of small integers."""
    row: Row = {}
    for j in states:
        row[j] = row.get(j, Fraction(0)) + rng.randrange(1, 8)
    total = sum(row.values())
    return {j: p / total for j, p in row.items()}


def _mixed(parts: list[tuple[Fraction, Row]]) -> Row:
    row: Row = {}
    for share, part in parts:
        for j, p in part.items():
            row[j] = row.get(j, Fraction(0)) + share * p
    return row


def _decomposable(rng: random.Random, size: int) -> list[Row]:
    blocks = rng.randrange(2, 6)
    coupling = Fraction(1, 10 ** rng.randrange(3, 15))
    rows = []
    for i in range(size):
        own = [j for j in range(size) if j % blocks == i % blocks]
        row = _weights(rng, [rng.choice(own) for _ in range(3)])
        other = rng.randrange(size + 2) if rng.random() < 0.4 else (i + 1) % (size + 1)
        rows.append(_mixed([(1 - coupling, row), (coupling, {other: Fraction(1)})]))
    return rows


def _tiny(rng: random.Random, size: int) -> list[Row]:
    rows = []
    for i in range(size):
        deepest = 300 if rng.random() < 0.1 else 40
        row: Row = {}
        for j in [(i + 1) % (size + 1), rng.randrange(size + 2), rng.randrange(size)]:
            if j != i:
                row[j] = Fraction(rng.randrange(1, 9), 40 * 10 ** rng.randrange(0, deepest))
        row[i] = 1 - sum(row.values(), Fraction(0))
        rows.append(row)
    return rows


def _loops(rng: random.Random, size: int) -> list[Row]:
    rows = []
    for i in range(size):
        leaving = Fraction(1, 10 ** rng.randrange(0, 16))
        states = [(i + 1) % (size + 1), rng.randrange(size), rng.randrange(size)]
        if rng.random() < 0.2:
            states.append(size + 1)
        rows.append(_mixed([(leaving, _weights(rng, states)), (1 - leaving, {i: Fraction(1)})]))
    return rows


def _random(rng: random.Random, size: int) -> list[Row]:
    rows = []
    for i in range(size):
        states = [(i + 1) % (size + 1), *(rng.randrange(size) for _ in range(2))]
        if rng.random() < 0.1:
            states.append(size + rng.randrange(2))
        rows.append(_weights(rng, states))
    return rows


def _grid(rng: random.Random, size: int) -> list[Row]:
    width = max(2, round(size**0.5))
    height = max(2, size // width)
    end, other, rows = width * height, width * height + 1, []
    second = rng.random() < 0.5
    for i in range(width * height):
        x, y = i % width, i // width
        row: Row = {}
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = x + dx, y + dy
            inside = 0 <= a < width and 0 <= b < height and rng.random() < 0.9
            j = a + width * b if inside else i
            row[j] = row.get(j, Fraction(0)) + Fraction(1, 4)
        if i in (0, width * height - 1) or (x == 0 and y == height - 1 and second):
            gone = end if i else (other if second else i)
            row = _mixed([(Fraction(1, 2), row), (Fraction(1, 2), {gone: Fraction(1)})])
        rows.append(row)
    return rows


_SIZES = {"tiny": [3, 6, 10, 16, 20], "grid": [9, 25, 49, 100, 144]}
_MAKERS = {
    "decomposable": _decomposable,
    "tiny": _tiny,
    "loops": _loops,
    "random": _random,
    "grid": _grid,
}


def hard_chain(family: str, seed: int) -> tuple[MarkovChain, np.ndarray]:
    """Return a chain and its target, a state behind it; another state is a trap."""
    rng = random.Random(f"{family} {seed}")
    size = rng.choice(_SIZES.get(family, [3, 6, 10, 20, 40, 60]))
    rows = _MAKERS[family](rng, size)
    count = len(rows)
    given: list[dict[int, object]] = [{j: p for j, p in row.items() if p} for row in rows]
    chain = chain_from_rows([*given, {count: 1}, {count + 1: 1}])
    return chain, np.arange(count + 2) == count


def ring(size: int, seed: int = 1) -> MarkovChain:
    """A ring with random chords, one component that is left from a tenth of its states."""
    rng = random.Random(seed)
    rows: list[dict[int, object]] = []
    for i in range(size):
        states = [(i + 1) % size, rng.randrange(size), rng.randrange(size)]
        if i % 10 == 0:
            states.append(size)
        rows.append({j: fmpq(states.count(j), len(states)) for j in states})
    return chain_from_rows([*rows, {size: 1}])


def square(side: int) -> MarkovChain:
    """The walk on a square that stays where it would leave it, to the last corner."""
    rows: list[dict[int, object]] = []
    for i in range(side * side - 1):
        row: dict[int, fmpq] = {}
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            x, y = i % side + dx, i // side + dy
            j = x + side * y if 0 <= x < side and 0 <= y < side else i
            row[j] = row.get(j, fmpq(0)) + fmpq(1, 4)
        rows.append(dict(row))
    return chain_from_rows([*rows, {side * side - 1: 1}])
