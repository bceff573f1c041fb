"""A proof for a whole range of one key: where no value is as good as the one that was found.

The range is cut into cells; for each a lower bound of E[T] is computed that holds for all values
of the cell, and cells whose bound exceeds what is known are done with. The others are halved. In a
cell every transition probability lies between two numbers, and what is best for the walk is taken
at each position by itself:

    steps of one, one mode     s(x) = (1 + down s(x-1)) / up, the time from x to x + 1, falls with
                               up and grows with down: down at its least, up at its largest
    the (1+1) EA               h(x) = (1 + sum P h) / (sum P) over better y, P at its largest where
                               h(y) is below h(x), else at its least
    the same, LeadingOnes      sum of 1 / (2 p (1-p)^i), each term at the best p of the cell

All is done in floats, cells side by side; only sums, products and quotients of non-negative numbers
occur, so that a margin of 1e-9 covers all rounding by far.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.searches import Start, positions_at_least, search_law, start_law
from markov_lrsao.answers.tuning.domains import Domain
from markov_lrsao.answers.tuning.results import Range
from markov_lrsao.exact.fields import Rationals
from markov_lrsao.exact.rationals import RationalLike, to_float
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes, LevelLaw
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.search import Search
from markov_lrsao.model.search_law import SearchLaw

__all__ = ["whole_range"]

FloatArray = npt.NDArray[np.float64]
Bound = Callable[[FloatArray, FloatArray], FloatArray]
"""From the lower and upper ends of cells to lower bounds of E[T] in them."""
_MARGIN = 1e-9
_MOST_CELLS = 20_000
_ROUNDS = 40
_LARGEST = {"steps": 2000, "mutation": 120}
_RATIONALS = Rationals()


def whole_range(
    named: NamedAlgorithm,
    domain: Domain,
    shape: Landscape | LeadingOnes,
    start: Start | None,
    at_least: RationalLike | None,
    best: fmpq,
) -> Range | None:
    """Return where values as good as the best can lie; None where no proof is known.

    Parameters
    ----------
    best : an upper bound of E[T] at the value that was found
    """
    bound = _bound(named, domain, shape, start, at_least)
    if bound is None:
        return None
    known = to_float(best) * (1 + _MARGIN)
    ends = np.linspace(*domain.ends, 65)
    first, last = ends[:-1], ends[1:]
    least = np.inf
    for _ in range(_ROUNDS):
        lows = np.array([to_float(domain.at(u)) for u in first])
        highs = np.array([to_float(domain.at(u)) for u in last])
        # Values are rounded to twelve digits: cells are widened by more than that.
        bounds = bound(lows * (1 - 1e-11), np.minimum(highs * (1 + 1e-11), _top(domain)))
        left = ~(bounds * (1 - _MARGIN) > known)
        done = bounds[~left]
        least = min(least, float(done.min())) if done.size else least
        first, last, bounds = first[left], last[left], bounds[left]
        if not first.size or 2 * first.size > _MOST_CELLS or (last - first).max() < 1e-4:
            break
        middle = (first + last) / 2
        first, last = np.concatenate([first, middle]), np.concatenate([middle, last])
    if not first.size or bounds.size != first.size:
        return None
    low, high = domain.at(float(first.min())), domain.at(float(last.max()))
    return Range(
        domain.low, domain.high, low, high, min(least, float(bounds.min())) * (1 - _MARGIN)
    )


def _top(domain: Domain) -> float:
    return 1.0 if domain.kind in ("probability", "weight") else np.inf


def _bound(
    named: NamedAlgorithm,
    domain: Domain,
    shape: Landscape | LeadingOnes,
    start: Start | None,
    at_least: RationalLike | None,
) -> Bound | None:
    name, key = named.name, domain.key
    other = {"rate", "beta"} & set(named.written)
    if (name, key) in (("ea", "rate"), ("ea-positive", "rate")) and "beta" not in named.written:
        return _mutation_bound(named, shape, start, at_least, positive=name == "ea-positive")
    linear = (name == "mahh" and key == "p") or (name == "random" and key == "weights[0]")
    if not isinstance(shape, Landscape) or other or shape.n > _LARGEST["steps"]:
        return None
    if linear and (name == "mahh" or len(shape.objectives) == 2):
        ends = [_Walk.of(named, shape, domain, value, start, at_least) for value in (0, 1)]
        if all(walk is not None for walk in ends):
            return _linear(*ends)  # type: ignore[arg-type]
    if name == "metropolis" and key == "base":
        return _metropolis(named, shape, start, at_least)
    return None


class _Walk:
    """A walk with steps of one: what is accepted upwards and downwards, and who passes by."""

    def __init__(self, up: FloatArray, down: FloatArray, passing: FloatArray) -> None:
        self.up, self.down, self.passing = up, down, passing

    @classmethod
    def of(
        cls,
        named: NamedAlgorithm,
        shape: Landscape,
        domain: Domain,
        value: int,
        start: Start | None,
        at_least: RationalLike | None,
    ) -> _Walk | None:
        """Return the walk where a probability is 0 or 1; None: it has no simple target."""
        if domain.kind == "weight":
            named = named.given("weights", (str(value), str(1 - value)))
        else:
            named = named.given(domain.key, fmpq(value))
        search = named.on(shape)
        assert isinstance(search, Search)
        law = search_law(shape, search)
        passing = _passing(law, start, at_least)
        if passing is None:
            return None
        up, down = np.zeros(len(passing)), np.zeros(len(passing))
        for x in range(len(passing)):
            moves = dict(law.row(0, x, _RATIONALS).moves)
            up[x] = to_float(moves.get(x + 1, fmpq(0)))
            down[x] = to_float(moves.get(x - 1, fmpq(0)))
        return cls(up, down, passing)


def _passing(
    law: SearchLaw, start: Start | None, at_least: RationalLike | None
) -> FloatArray | None:
    """Return P(start <= x) for x below the target; None unless the target is all that is above."""
    target = positions_at_least(law, at_least)
    first = min(target)
    if target != frozenset(range(first, law.n + 1)):
        return None
    begin = start_law(law, start)
    shares = np.array([to_float(begin.get(x, fmpq(0))) for x in range(first)])
    return np.cumsum(shares)


def _summed(passing: FloatArray, up: FloatArray, down: FloatArray) -> FloatArray:
    """Return the sum of P(start <= x) s(x), for cells side by side."""
    time = np.zeros(up.shape[1])
    total = np.zeros(up.shape[1])
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for x, share in enumerate(passing):
            back = np.where(down[x] > 0, down[x] * time, 0.0)  # the time may be infinite
            time = np.where(up[x] > 0, (1 + back) / up[x], np.inf)
            if share > 0:
                total = total + share * time
    return total


def _linear(at_zero: _Walk, at_one: _Walk) -> Bound:
    """Probabilities are linear in the key, so that each is largest at one end of a cell."""

    def bound(low: FloatArray, high: FloatArray) -> FloatArray:
        def between(zero: FloatArray, one: FloatArray, key: FloatArray) -> FloatArray:
            return np.asarray(zero[:, None] * (1 - key) + one[:, None] * key)

        up = np.maximum(*(between(at_zero.up, at_one.up, key) for key in (low, high)))
        down = np.minimum(*(between(at_zero.down, at_one.down, key) for key in (low, high)))
        return _summed(at_zero.passing, up, down)

    return bound


def _metropolis(
    named: NamedAlgorithm, shape: Landscape, start: Start | None, at_least: RationalLike | None
) -> Bound | None:
    """A loss of delta is accepted with probability base^-delta, which falls with the base."""
    search = named.given("base", fmpq(2)).on(shape)
    assert isinstance(search, Search)
    law = search_law(shape, search)
    passing = _passing(law, start, at_least)
    if passing is None:
        return None
    n = shape.n
    values = [to_float(v) for v in law.values]
    positions = np.arange(len(passing))
    gain_up = np.array([values[x + 1] - values[x] for x in positions])
    gain_down = np.array([values[x - 1] - values[x] if x else -1.0 for x in positions])

    def accepted(gain: FloatArray, base: FloatArray) -> FloatArray:
        return np.asarray(base[None, :] ** np.minimum(gain, 0.0)[:, None])

    def bound(low: FloatArray, high: FloatArray) -> FloatArray:
        up = ((n - positions) / n)[:, None] * accepted(gain_up, low)
        down = (positions / n)[:, None] * accepted(gain_down, high)
        return _summed(passing, up, down)

    return bound


def _mutation_bound(
    named: NamedAlgorithm,
    shape: Landscape | LeadingOnes,
    start: Start | None,
    at_least: RationalLike | None,
    *,
    positive: bool,
) -> Bound | None:
    search = named.given("rate", fmpq(1, 2)).on(shape)
    assert isinstance(search, Search)
    law = search_law(shape, search)
    target = positions_at_least(law, at_least)
    if isinstance(law, LevelLaw):
        return _levels_bound(law.n, min(target), positive=positive)
    distinct = len(set(law.values)) == len(law.values)
    if not distinct or law.n > _LARGEST["mutation"]:
        return None
    begin = {x: to_float(w) for x, w in start_law(law, start).items() if w}
    return _Descent(law, target, begin, positive=positive).bound


def _some(n: int, low: FloatArray, high: FloatArray, *, positive: bool) -> FloatArray:
    """Return a lower bound of the probability that a bit is flipped; 1 if it does not matter."""
    if not positive:
        return np.ones_like(low)
    return np.asarray(-np.expm1(n * np.log1p(-np.minimum(low, 1 - 1e-16))))


def _levels_bound(n: int, target: int, *, positive: bool) -> Bound:
    """E[T] is the sum of 1 / (2 p_i) over the levels below the target."""

    def bound(low: FloatArray, high: FloatArray) -> FloatArray:
        total = np.zeros_like(low)
        some = _some(n, low, high, positive=positive)
        with np.errstate(divide="ignore", over="ignore"):
            for i in range(target):
                best = np.clip(1 / (i + 1), low, high)
                total = total + some / (2 * best * (1 - best) ** i)
        return total

    return bound


class _Descent:
    """Lower bounds of the (1+1) EA's expected times, from the best position downwards."""

    def __init__(
        self, law: SearchLaw, target: frozenset[int], begin: dict[int, float], *, positive: bool
    ) -> None:
        self.n, self.target, self.begin, self.positive = law.n, target, begin, positive
        order = sorted(range(law.n + 1), key=lambda x: law.values[x], reverse=True)
        self.order = [x for x in order if x not in target]
        self.better = {
            x: [y for y in range(law.n + 1) if law.values[y] > law.values[x]] for x in self.order
        }

    def bound(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return lower bounds of E[T] in cells of the rate."""
        found: dict[int, FloatArray] = {x: np.zeros_like(low) for x in self.target}
        some = _some(self.n, low, high, positive=self.positive)
        for x in self.order:
            least = self._chances(x, low, 1 - high) / _some(
                self.n, high, high, positive=self.positive
            )
            most = self._chances(x, high, 1 - low) / some
            after = np.array([found[y] for y in self.better[x]])
            found[x] = _fraction(least, most, after)
        return np.asarray(sum(share * found[x] for x, share in self.begin.items()))

    def _chances(self, x: int, flip: FloatArray, keep: FloatArray) -> FloatArray:
        """Return sums of C(x, i) C(n-x, j) flip^(i+j) keep^(n-i-j) for the better positions."""
        n = self.n
        lost, won = _binomials(x, flip, keep), _binomials(n - x, flip, keep)
        rows = []
        for y in self.better[x]:
            first, last = max(0, x - y), min(x, n - y)
            shift = y - x
            both = lost[first : last + 1] * won[first + shift : last + shift + 1]
            rows.append(both.sum(axis=0))
        return np.array(rows)


def _binomials(count: int, flip: FloatArray, keep: FloatArray) -> FloatArray:
    """Return C(count, i) flip^i keep^(count-i), a line for every i."""
    weights = np.array([float(comb(count, i)) for i in range(count + 1)])
    powers = np.arange(count + 1)
    return np.asarray(
        weights[:, None] * flip ** powers[:, None] * keep ** (count - powers)[:, None]
    )


def _fraction(least: FloatArray, most: FloatArray, after: FloatArray) -> FloatArray:
    """Return a lower bound of (1 + sum P h) / sum P over P between `least` and `most`.

    It is the t at which F(t) = 1 + sum of (h - t) P, with P = most where h < t, else least, is 0; F
    falls with t, so that t is a lower bound wherever F(t) >= 0.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        time = (1 + (most * after).sum(axis=0)) / most.sum(axis=0)
        for _ in range(12):
            taken = np.where(after < time, most, least)
            time = (1 + (taken * after).sum(axis=0)) / taken.sum(axis=0)
        time = time * (1 - 1e-10)
        taken = np.where(after < time, most, least)
        holds = 1 + ((after - time) * taken).sum(axis=0) >= 0
    return np.asarray(np.where(holds, time, 0.0))
