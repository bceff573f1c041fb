r"""P(T <= t) to any number of digits: the generating function in complex balls, or powers.

*Inversion.* G(z) = sum a_s z^s with a_s = P(T = s) is evaluated at N points of the circle of radius
rho < 1, z_j = rho exp(2 pi i j / N). For 0 <= t < N

    1/N sum_j G(z_j) (1 - z_j^-(t+1)) / (1 - 1/z_j) = P(T <= t) + sum over k >= 1 of e_k,

with e_k = rho^(kN) (a_(kN) + .. + a_(kN+t)) >= 0, in all at most rho^N. So N need not exceed the
whole tail, only t; the price is a factor rho^-t that uses up bits. Points beyond theta_c are left
out: there |G| <= B(theta_c), the majorant on the unit circle (see
`markov_lrsao.answers.inversion`). It bounds |G| inside as well: |z / (1 - p z)| is 1 / |1/z - p|,
and the point 1/z moves away from p in [0, 1] when |z| decreases. Their weights are at most

    (1 + rho^-(t+1)) / |1 - 1/z|,    |1 - 1/z| >= |rho - exp(i theta)| >= min(1, 2 theta_c / pi).

*Powers.* For a chain, the law after t steps is computed in integers, in units of 2^-b, every
quotient rounded down: what is lost in a step is less than a unit for each row, and the sum is
found from below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import acb, arb, fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.hitting import hitting_distribution
from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.digits import Digits, bits_of, ends, precision
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.series import Element
from markov_lrsao.progress import Progress

__all__ = ["ChainLaw", "PointLaw", "cumulated", "inverted", "refined_law"]

BoolArray = npt.NDArray[np.bool_]
Bounds = tuple[fmpq, fmpq]
_SPARE = 6  # digits beyond those that are asked for
_MAJORANT_BITS = 64
_CHUNK = 2_000  # sites times points at once
_MOST_WORK = 12_000_000  # sites times points: some ten minutes
_MOST_PRODUCTS = 300_000_000  # transitions times steps: some minutes
_MOST_DIGITS = 3_000  # behind the point, for probabilities that are very small
_TRIES = 3  # more digits, where the size of a number is known
_LOG2_10 = 3.3219280949


@dataclass(frozen=True, eq=False)
class PointLaw:
    """A law by its generating function.

    Attributes
    ----------
    generate : evaluates E[z^T; T < infinity]
    sites : how many numbers one point takes
    least : T is at least this
    """

    generate: Callable[[Evaluation], Element]
    sites: int
    least: int


@dataclass(frozen=True, eq=False)
class ChainLaw:
    """The law of the time from hitting `begin` (None: from the start) to hitting `end`."""

    chain: MarkovChain
    begin: BoolArray | None
    end: BoolArray


def refined_law(
    ends: Callable[[int], list[Bounds]], digits: int, *, above: bool = False
) -> list[Digits]:
    """Return probabilities, or 1 less them, to so many significant digits where that is possible.

    `ends` encloses them to so many digits behind the point; small ones need more of these.
    """
    wanted, tries, found = digits, 0, list[Digits]()
    while tries < _TRIES and wanted <= _MOST_DIGITS:
        found = [
            Digits(1 - high, 1 - low, digits) if above else Digits(low, high, digits)
            for low, high in ends(wanted)
        ]
        open_ones = [x for x in found if not x.certified]
        if not open_ones:
            break
        least = min(x.lower for x in open_ones)
        if least <= 0:  # not even its size is known
            wanted = 2 * wanted + _SPARE
        else:
            tries += 1
            behind = ceil((least.q.bit_length() - least.p.bit_length() + 1) / _LOG2_10)
            wanted = max(digits + behind, wanted + _SPARE)
    return found


def inverted(law: PointLaw, times: Sequence[int], digits: int, progress: Progress) -> list[Bounds]:
    """Return ends of P(T <= t) that are some 10^-digits apart.

    Raises
    ------
    StateSpaceTooLargeError
        There are too many points.
    """
    asked = [t for t in times if t >= law.least]
    found = dict(zip(asked, _inverted(law, asked, digits, progress), strict=True)) if asked else {}
    return [found.get(t, (fmpq(0), fmpq(0))) for t in times]


def _inverted(law: PointLaw, times: Sequence[int], digits: int, progress: Progress) -> list[Bounds]:
    last, sites = max(times), law.sites
    points = 2 * (last // 2 + 1)  # more than `last`
    shrink = (digits + _SPARE) * _LOG2_10  # rho^N = 2^-shrink
    grown = shrink * (last + 1) / points
    cut, beyond = _truncated(law.generate, points, shrink + grown)
    if (cut + 1) * sites > _MOST_WORK:
        raise StateSpaceTooLargeError(
            f"{digits} digits of the distribution need {cut + 1:,} points at {sites:,} sites"
        )
    with precision(bits_of(digits + _SPARE) + ceil(grown) + 2 * points.bit_length()):
        circle = _Circle(points, shrink)
        totals = [acb(0)] * len(times)
        chunk = max(1, _CHUNK // sites)
        with progress("inverting the generating function", total=cut + 1) as bar:
            for begin in range(0, cut + 1, chunk):
                numbers = range(begin, min(begin + chunk, cut + 1))
                nodes = [circle(j) for j in numbers]
                values = _evaluated(law.generate, nodes)
                for j, z, value in zip(numbers, nodes, values, strict=True):
                    term = value / (1 - 1 / z) * (1 if 2 * j in (0, points) else 2)
                    for k, t in enumerate(times):
                        totals[k] += term * (1 - circle.power(j, -(t + 1)))
                bar.advance(len(nodes))
        aliased = ends(circle.radius_power(points))[1]
        result = []
        for t, total in zip(times, totals, strict=True):
            low, high = ends((total / points).real)
            left_out = ends(beyond * (1 + circle.radius_power(-(t + 1))))[1]
            lower, upper = low - left_out - aliased, high + left_out
            result.append((max(lower, fmpq(0)), min(upper, fmpq(1))))
    return result


class _Circle:
    """The points rho exp(2 pi i j / N) with rho^N = 2^-shrink, and their powers."""

    def __init__(self, points: int, shrink: float) -> None:
        self._points = points
        self._shrink = arb(shrink)  # a float is exact

    def radius_power(self, exponent: int) -> arb:
        """Return rho^exponent."""
        return (-self._shrink * exponent * arb(2).log() / self._points).exp()

    def power(self, j: int, exponent: int) -> acb:
        """Return the j-th point to this power."""
        turns = fmpq(2 * (j * exponent % self._points), self._points)
        return acb(arb(turns)).exp_pi_i() * self.radius_power(exponent)

    def __call__(self, j: int) -> acb:
        return self.power(j, 1)


def _evaluated(
    generate: Callable[[Evaluation], Element], nodes: list[acb], *, majorant: bool = False
) -> list[Any]:
    array = np.empty(len(nodes), dtype=object)
    array[:] = nodes
    evaluation = Evaluation(exact=False, balls=True, nodes=array, majorant=majorant)
    return list(np.broadcast_to(generate(evaluation)[0], (len(nodes),)))


def _truncated(
    generate: Callable[[Evaluation], Element], points: int, bits: float
) -> tuple[int, arb]:
    """Return the last point that is used, and a bound of what all others add, but for rho^-t.

    The bound is about 2^-bits, or 0 where all points are used.
    """
    half = points // 2
    low, high, found = 0, half, arb(0)
    with precision(_MAJORANT_BITS):
        enough = arb(2) ** arb(-ceil(bits))
        while high - low > max(1, low // 50):
            middle = (low + high) // 2
            node = acb(arb(fmpq(2 * middle, points))).exp_pi_i()
            bound = arb(_evaluated(generate, [node], majorant=True)[0].upper())
            if bound < enough:
                high, found = middle, bound
            else:
                low = middle
        if high == half:
            return half, arb(0)
        least = (4 * arb(fmpq(high, points))).min(arb(1))  # 2 theta_c / pi
        return high, (found / least).upper()


def cumulated(law: ChainLaw, times: Sequence[int], digits: int, progress: Progress) -> list[Bounds]:
    """Return ends of P(T <= t) that are some 10^-digits apart.

    Raises
    ------
    StateSpaceTooLargeError
        It would take too long.
    """
    chain, last = law.chain, max(0, *times)
    if (last + 1) * chain.transitions > _MOST_PRODUCTS:
        raise StateSpaceTooLargeError(
            f"{digits} digits of the distribution need {last:,} steps of a chain with "
            f"{chain.transitions:,} transitions"
        )
    bits = bits_of(digits + _SPARE) + ((last + 1) * chain.transitions).bit_length()
    pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
    numerators, denominators = chain.numerators.tolist(), chain.denominators.tolist()
    ended = law.end.tolist()
    now = {i: int((p.p << bits) // p.q) for i, p in _begun(law).items()}
    lost = len(now) + last * chain.transitions
    arrived, never = 0, 0
    found: list[int] = []
    with progress("powers of the transition matrix", total=last) as bar:
        for _ in range(last + 1):
            here = [i for i in now if ended[i]]  # a mass may be 0: they can be met all the same
            arrived += sum(now.pop(i) for i in here)
            never += not (here or arrived or len(found) > never)
            found.append(arrived)
            following: dict[int, int] = {}
            for i, mass in now.items():
                for e in range(pointers[i], pointers[i + 1]):
                    j = columns[e]
                    share = numerators[e] * mass // denominators[i]
                    following[j] = following.get(j, 0) + share
            now = following
            bar.advance()
    unit = fmpq(1, 2) ** bits
    return [
        (fmpq(0), fmpq(0))
        if t < never
        else (found[t] * unit, min((found[t] + lost) * unit, fmpq(1)))
        for t in times
    ]


def _begun(law: ChainLaw) -> dict[int, fmpq]:
    """Return where the time begins: the start, or where `begin` is first hit, exactly."""
    if law.begin is not None:
        return hitting_distribution(law.chain, law.begin)
    return {int(i): fmpq(1, len(law.chain.start)) for i in law.chain.start}
