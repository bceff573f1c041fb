r"""Second moments of what is left where only the position is known.

Variances need E[(steps left choose 2)], and what it has to do with the steps before, where runs are
lost or states were cut off as well. Bounds of E[steps left] per position do not tell: they are over
words, which are mixtures of a slope's rows, and given how long a passage took the mixture is
another one. But the words of a timed slope (`markov_lrsao.values.slopes`) have weights p_0 + p_1 x
+ p_2 x^2 that know it, and so

    v_1 = sum p_1 + sum p_0 v_1',        v_2 = sum p_2 + sum p_1 v_1' + sum p_0 v_2'

(`markov_lrsao.values.second_moments`) hold beyond what was explored. Let an adversary choose as in
`markov_lrsao.values.anywhere`: at a position of a plateau any objective, whose moves have the
weights share * (1 + x), at an end of a slope any timed word that is entered there. Then v_1 lies
between L and U of the position, and where a passage upwards tells the plateau of rejections at the
slope's top, N of them, of variance q n / (n - q)^2, and later choices depend on N in any way, v_2
changes by their covariance, |Cov| <= U / 2 * standard deviation of N. So per option v_2 is at most
c + sum p_0 v_2' with

    c = sum p_2 + sum max(p_1 L', p_1 U') + sum over exits upwards p_0 U' sd(N) / 2.

Every option takes some expected steps s >= 1 and U >= s + sum p_0 U'. With K at least c / s for all
options, K U >= c + sum p_0 K U': by induction over the options taken, of which there are
finitely many on average, v_2 <= K U.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flint import arb, ctx, fmpq

from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.anywhere import Anywhere

if TYPE_CHECKING:
    from markov_lrsao.values.plateaus import Plateaus
    from markov_lrsao.values.slopes import Slope, Word

__all__ = ["second_anywhere"]

_BITS = 128


def second_anywhere(
    place: Plateaus, slopes: Sequence[Slope], anywhere: Anywhere
) -> Mapping[int, float]:
    """Return a bound of v_2 in all states at a position of a plateau or an end of a slope.

    Parameters
    ----------
    slopes : timed
    anywhere : bounds of E[steps left], over words of these slopes
    """
    with ctx.workprec(_BITS):
        ratios = [*_on_plateaus(place, anywhere), *_on_slopes(place, slopes, anywhere)]
        largest = max(arb.max(ratio, arb(0)).upper() for ratio in ratios)
        return {
            q: float((largest * left).upper()) * (1 + 1e-15) for q, left in anywhere.upper.items()
        }


def _on_plateaus(place: Plateaus, anywhere: Anywhere) -> list[arb]:
    """Return c of all options on plateaus, each of one step."""
    law, n, found = place.law, place.law.n, []
    for first, last in place.plateaus:
        for q in range(first, last + 1):
            for a in range(len(law.actions)):
                cost = arb(0)
                for direction, share in ((DOWN, fmpq(q, n)), (UP, fmpq(n - q, n))):
                    moves = law.accepted[q, a, direction] and share
                    at = q + (2 * direction - 1 if moves else 0)
                    cost += arb(share) * anywhere.upper.get(at, 0.0)  # 0 at the optimum
                found.append(cost)
    return found


def _on_slopes(place: Plateaus, slopes: Sequence[Slope], anywhere: Anywhere) -> list[arb]:
    """Return c / s of all options at ends of slopes."""
    n, found = place.law.n, []
    for slope in slopes:
        q = slope.last
        told = arb(fmpq(q * n, (n - q) ** 2)).sqrt()
        for word in slope.words:
            found.append(_cost(slope, word, told, anywhere) / _least_steps(word))
    return found


def _cost(slope: Slope, word: Word, told: arb, anywhere: Anywhere) -> arb:
    """Return c of a word.

    Parameters
    ----------
    told : standard deviation of the rejections at the top
    """
    cost = arb(0)
    for x in word.passages:
        p0, p1, p2 = map(arb, x.weight)
        at = slope.first - 1 if x.side == DOWN else slope.last + 1
        low, high = anywhere.lower[at], anywhere.upper[at]
        cost += p2 + arb.max(p1 * low, p1 * high)
        if x.side == UP:
            cost += p0 * high * told / 2
    return cost


def _least_steps(word: Word) -> arb:
    return arb(sum((x.steps for x in word.passages), arb(0)).lower())
