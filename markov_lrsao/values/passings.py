r"""What may happen when a slope is passed of which a lump of words is known: as few options as do.

Every word of the lump is an option: E[steps], and per side and lump of words after it a
probability. Ways that lead to the same lump are one. Options whose numbers are averages of others'
may be left out, since no function that is linear in these numbers is larger there than at one of
the others, nor smaller. A word's hundred options have a handful of corners.

Which ones are left out is found in floats, and then bounded. Let o be left out, k be kept, V the
largest (or least) expected steps left over all options, 0 <= V <= L, and w_k >= 0 of sum 1. Then

    c_o + P_o V <= max_k (c_k + P_k V) + |c_o - sum w_k c_k| + |P_o - sum w_k P_k|_1 L,

so that V solves, up to inequality, what is left with the last two terms added to all c_k: whoever
satisfies the inequalities of the kept options with these costs bounds V. At the other end they are
subtracted. The two are around 1e-10 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from markov_lrsao.values.options import Ends, ends_of
from markov_lrsao.values.slopes import Slope

__all__ = ["Passing", "passings", "spare"]

_MOST_SPARE = 1e-6
"""Steps that may be added to a passage so that fewer options need be looked at."""
_CLOSE = 1e-11

Side = tuple[int, int]
"""Where a passage leads: the end of the slope, and a lump of words after it."""


class Passing(NamedTuple):
    """An option: bounds of E[steps], and of the probability of each way."""

    steps: Ends
    ways: dict[Side, Ends]


class _Exact(NamedTuple):
    """The same, in balls."""

    steps: arb
    ways: dict[Side, arb]


def passings(
    slope: Slope, words: Sequence[int], lump_of: Sequence[int], longest: float | None
) -> list[Passing]:
    """Return options for all words of a lump.

    Parameters
    ----------
    lump_of : word -> name of its lump
    longest : a bound of E[steps left] in every state; None: there is none, and all are kept
    """
    found = [_passing(slope, word, lump_of) for word in words]
    if longest is None or len(found) == 1:
        return [_ends(x, arb(0)) for x in found]
    kept = _corners(found)
    added, again = arb(0), list[int]()
    for i in sorted(set(range(len(found))) - set(kept)):
        needed = spare(found[i], [found[k] for k in kept], longest)
        if needed < _MOST_SPARE:
            added = added.max(needed)
        else:
            again.append(i)
    return [_ends(found[i], added) for i in sorted([*kept, *again])]


def spare(left_out: _Exact, kept: Sequence[_Exact], longest: float) -> arb:
    """Bound what must be added to the costs of some options so that another may be left out."""
    weights = _fitted(left_out, kept)[0].tolist()
    total = sum(map(arb, weights), arb(0))
    shares = [arb(w) / total for w in weights]
    steps = left_out.steps - sum((w * k.steps for w, k in zip(shares, kept, strict=True)), arb(0))
    apart = arb(0)
    for side in {*left_out.ways, *(s for k in kept for s in k.ways)}:
        mean = sum(
            (w * k.ways.get(side, arb(0)) for w, k in zip(shares, kept, strict=True)), arb(0)
        )
        apart += abs(left_out.ways.get(side, arb(0)) - mean)
    return arb((abs(steps) + apart * longest).upper())


def _passing(slope: Slope, word: int, lump_of: Sequence[int]) -> _Exact:
    steps, ways = arb(0), dict[Side, arb]()
    for x in slope.words[word].passages:
        side = (x.side, lump_of[x.word])
        ways[side] = ways.get(side, arb(0)) + x.chance
        steps += x.steps
    return _Exact(steps, ways)


def _ends(x: _Exact, added: arb) -> Passing:
    (low, _), (_, high) = ends_of(x.steps - added), ends_of(x.steps + added)
    return Passing((low, high), {side: ends_of(chance) for side, chance in x.ways.items()})


def _corners(options: Sequence[_Exact]) -> list[int]:
    """Return which options are, nearly, no averages of others."""
    kept = list(range(len(options)))
    for i in range(len(options)):
        others = [k for k in kept if k != i]
        if others and _fitted(options[i], [options[k] for k in others])[1] <= _CLOSE:
            kept = others
    return kept


def _fitted(option: _Exact, others: Sequence[_Exact]) -> tuple[npt.NDArray[np.float64], float]:
    """Return weights with which others average to an option, nearly, and what is left over."""
    from scipy.optimize import nnls

    points = _points([option, *others])
    weights, rest = nnls(points[1:].T, points[0])
    return weights, float(rest)


def _points(options: Sequence[_Exact]) -> npt.NDArray[np.float64]:
    """Return options as rows of numbers of the order of 1, the last of which is 1."""
    sides = sorted({side for x in options for side in x.ways})
    chances = [[float(x.ways.get(side, arb(0)).mid()) for side in sides] for x in options]
    steps = np.array([float(x.steps.mid()) for x in options])
    return np.column_stack((chances, steps / steps.max(), np.ones(len(options))))
