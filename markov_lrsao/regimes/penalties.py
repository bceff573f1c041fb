r"""What hypothesis (H) buys: penalties below its lower and above its upper bound.

With lambda = 1 - alpha(1-gamma) and G the largest gain of a step short of the optimum, entries
of the target stay below G/(1-gamma), and a move on the plateau takes Q to lambda Q - alpha r.
So k moves in a row take every positive entry to 0 or below iff

    lambda^k (G + r) <= r,

and k = 1 is (H)'s lower bound. On Jump's right plateau an entry R that was penalised once on
the left holds -alpha r, and J must fall below that: k + 1 moves in a row, none of them down
from n-l, where J is rewarded again. A walk of k + 1 moves that does not leave the plateau has
at least ceil((k+1)/2) moves up, of probability about l/n each, and a trial costs the n/l steps
in which n-l-1 is left: (n/l)^(1 + ceil((k+1)/2)) steps. Within l + 1 moves up the optimum is
found by chance. For fixed l this gives `plateau_degree`.

At r = 0 nothing is ever unlearnt. A slope site learns J with an upward move; if it learns L
or R (by a downward move to a site with a positive entry) it is blind for ever. Above the
highest site b with J the walk is then blind up to n, which takes about C(n, b) steps
(`blind_time`), exponential in n - b, while the probability of it is a product over sites:
`growth_rate` is the best exponent.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, log, sqrt
from typing import Literal

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.parameters import Parameters, hypothesis_h

__all__ = ["Blind", "blind_time", "growth_rate", "penalties", "plateau_degree", "relative_penalty"]

Blind = Literal["zero", "limit", "proved"]

_MOST_PENALTIES = 10_000


def relative_penalty(
    landscape: Landscape, parameters: Parameters, factor: fmpq, bound: Literal["lower", "upper"]
) -> Parameters:
    """Return the parameters with r = factor times a bound of (H).

    >>> relative_penalty(Landscape.jump(9, 2), Parameters.paper(9), fmpq(9, 10), "lower").r
    21/10
    """
    if factor < 0:
        raise ParameterError(f"factor = {factor} is out of range: the penalty must be r >= 0")
    h = hypothesis_h(landscape, parameters)
    r = factor * (h.lower if bound == "lower" else h.upper)
    return Parameters(parameters.alpha, parameters.gamma, r)


def penalties(landscape: Landscape, parameters: Parameters) -> int | None:
    """Return the least k such that k penalties in a row unlearn any entry; None at r = 0.

    >>> [penalties(Landscape.jump(9, 2), Parameters.of("4/5", "1/10", r)) for r in ("7/2", "2.3")]
    [1, 2]
    """
    if parameters.r == 0:
        return None
    gain = fmpq(landscape.largest_gain)
    left, k = gain + parameters.r, 0
    while left > parameters.r and k < _MOST_PENALTIES:
        left *= parameters.decay
        k += 1
    return k


def plateau_degree(ell: int, k: int | None) -> int:
    """Return the degree in n of the third phase on Jump at fixed l, k penalties being needed.

    This is the order of magnitude of the argument above, not a proof.

    >>> [plateau_degree(4, k) for k in (1, 2, 3, 4, 5, None)]
    [2, 3, 3, 4, 4, 5]
    """
    return ell + 1 if k is None else min(1 + (k + 2) // 2, ell + 1)


def blind_time(n: int, barrier: int) -> fmpq:
    """Return the expected time from `barrier` to n of a walk that accepts every proposal.

    At the barrier itself downward moves are rejected. From k to k + 1 it takes
    sum(C(n, j), j = barrier .. k) / C(n-1, k) steps (the walk is reversible, with weights C(n, j)).

    >>> blind_time(3, 2), blind_time(9, 6)
    (3, 147)
    """
    if not 0 <= barrier < n:
        raise ParameterError(f"barrier = {barrier} is out of range: 0..{n - 1} is needed")
    total, weight = fmpq(0), 0
    for k in range(barrier, n):
        weight += comb(n, k)
        total += fmpq(weight, comb(n - 1, k))
    return total


def growth_rate(kind: Blind) -> float:
    r"""Return the base c of the growth c^n of E[T] for l = o(n) as the penalty vanishes.

    A site at x = s/n above the highest one with J becomes blind with probability w(x), given
    that those below are: c = exp(max over x of H(x) + integral of ln w from x to 1), where H is
    the entropy and the maximum is at w(x) x = 1 - x.

    * "zero" (r = 0): the walk must return below a site before any visited site takes J, so
      w = d + u w^2 with u = 2(1-x)/(3-x), d = 2x/(3-x);
    * "limit" (r -> 0+): L and R can each be used once for nothing, so at most two sites wait,
      w^2 = d w + u d (x/(2-x))^2;
    * "proved": every site must turn blind on its first visit, w = d. This one is a proved lower
      bound of both, for fixed l.

    >>> [round(growth_rate(kind), 4) for kind in ("zero", "limit", "proved")]
    [1.8283, 1.7818, 1.7307]
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq

    chance: dict[str, Callable[[float], float]] = {
        "zero": _chance_at_zero,
        "limit": _chance_in_the_limit,
        "proved": _chance_at_once,
    }
    if kind not in chance:
        raise ParameterError(f"kind = {kind!r} is unknown: choose {', '.join(chance)}")
    w = chance[kind]
    x = brentq(lambda x: w(x) * x - (1 - x), 0.4, 0.9)
    entropy = -x * log(x) - (1 - x) * log(1 - x)
    return float(exp(entropy + quad(lambda u: log(w(u)), x, 1)[0]))


def _chance_at_zero(x: float) -> float:
    # The smaller root of u w^2 - w + d = 0, written without cancellation near x = 1.
    return 4 * x / (3 - x + sqrt(17 * x * x - 22 * x + 9))


def _chance_in_the_limit(x: float) -> float:
    up, down = 2 * (1 - x) / (3 - x), 2 * x / (3 - x)
    return (down + sqrt(down * down + 4 * up * down * (x / (2 - x)) ** 2)) / 2


def _chance_at_once(x: float) -> float:
    return 2 * x / (3 - x)
