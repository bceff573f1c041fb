"""The number of ones of an offspring: the law of |y| given |x|, for every mutation.

With k flipped bits, i of them ones, |x| = x becomes y = x + k - 2i, with probability
C(x, i) C(n - x, k - i) / C(n, k). Three ways lead to it, all over rationals or balls:

    given sizes     set by set: every set of k bits has the probability P(k) / C(n, k)
    many bits       in balls from the likeliest i outwards, each term from the one before
    a rate          coefficients of (1-p)^n (1 + r/z)^x (1 + r z)^(n-x) with r = p / (1-p)

In balls laws may be cut off; `missing` then bounds the probability of what is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from math import comb
from typing import Any, TypeAlias

from flint import arb, arb_poly, fmpq, fmpz, fmpz_poly

from markov_lrsao.exact.fields import Balls, Rationals, SearchField
from markov_lrsao.model.search import Mutation

__all__ = ["Offspring"]

Number: TypeAlias = Any
"""An `fmpq` or an `arb`, as the field has it."""
Wanted: TypeAlias = Callable[[int], bool]
"""Which |y| are asked for."""
_ZERO = fmpq(0)
_MOST_FLIPS = 400
"""Standard bit mutation is cut off where this many flipped bits, or fewer, are negligible."""
_MANY = 64
"""From so many bits on, balls go outwards from the likeliest term."""


@dataclass(frozen=True, eq=False)
class Offspring:
    """The law of |y| != |x| for all |x| of one n; what is computed once is kept."""

    n: int
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    def law(
        self, mutation: Mutation, x: int, wanted: Wanted, field: SearchField, *, cut: bool
    ) -> tuple[dict[int, Number], fmpq]:
        """Return |y| -> probability, and what is missing at most.

        Parameters
        ----------
        wanted : which |y| are asked for; not |x|, which has what the others leave
        cut : whether something may be missing; never in rationals
        """
        if mutation.rate is not None:
            return self._by_polynomials(mutation, x, wanted, field, cut=cut)
        if mutation.beta is not None:
            return self._by_sets(self._heavy(mutation, field), x, wanted), _ZERO
        total: dict[int, Number] = {}
        missing = _ZERO
        for k, weight in mutation.sizes:
            if isinstance(field, Balls) and k >= _MANY:
                part, rest = self._outwards(k, x, wanted, field, cut=cut)
                missing += weight * rest
                _add(total, part, field.number(weight))
            else:
                per_set = field.number(weight / comb(self.n, k))
                _add(total, self._by_sets({k: per_set}, x, wanted), None)
        return total, missing

    def _by_sets(self, per_set: dict[int, Number], x: int, wanted: Wanted) -> dict[int, Number]:
        """Add up the sets of k bits, i of them ones, each with the probability `per_set[k]`."""
        most = max(per_set)
        ones, zeros = _binomials(x, most), _binomials(self.n - x, most)
        total: dict[int, Number] = {}
        for k, weight in per_set.items():
            for i in range(max(0, k + x - self.n), min(x, k) + 1):  # ones that are lost
                y = x + k - 2 * i
                if wanted(y):
                    part = weight * (ones[i] * zeros[k - i])
                    total[y] = total[y] + part if y in total else part
        return total

    def _outwards(
        self, k: int, x: int, wanted: Wanted, field: Balls, *, cut: bool
    ) -> tuple[dict[int, Number], fmpq]:
        """Go from the likeliest i in both directions; the terms are log-concave in i.

        So where a term is r times the one before, the rest is at most term / (1 - r).
        """
        n = self.n
        low, high = max(0, k + x - n), min(x, k)
        begin = min(max((x + 1) * (k + 1) // (n + 2), low), high)
        first = arb.bin_uiui(x, begin) * arb.bin_uiui(n - x, k - begin) / arb.bin_uiui(n, k)
        found = {x + k - 2 * begin: first} if wanted(x + k - 2 * begin) else {}
        missing = _ZERO
        small = arb(fmpq(1, 2**field.bits))
        for step in (1, -1):
            term, i = first, begin
            while i != (high if step == 1 else low):
                up, down = (x - i) * (k - i), (i + 1) * (n - x - k + i + 1)
                if step == -1:
                    up, down = i * (n - x - k + i), (x - i + 1) * (k - i + 1)
                term = term * up / down
                i += step
                if cut and term < small and 2 * up < down:
                    missing += fmpq(2, 2**field.bits)
                    break
                if wanted(x + k - 2 * i):
                    found[x + k - 2 * i] = term
        return found, missing

    def rate_weights(self, mutation: Mutation, field: SearchField) -> list[Number]:
        """Return the probabilities of the rates 1/n, 2/n, .. of heavy-tailed mutation."""
        if isinstance(field, Rationals) or mutation.beta is None or mutation.beta.q == 1:
            return [field.number(w) for w in mutation.powers()]
        weights = [arb(a) ** arb(-mutation.beta) for a in range(1, mutation.widest + 1)]
        total = sum(weights, arb(0))
        return [w / total for w in weights]

    def _heavy(self, mutation: Mutation, field: SearchField) -> dict[int, Number]:
        """Return k -> probability of every set of k bits: sum over rates of w p^k (1-p)^(n-k)."""
        key = mutation, field
        if key not in self._kept:
            n = self.n
            drawn = [
                (w, field.number(fmpq(a, n)), field.number(1 - fmpq(a, n)))
                for a, w in enumerate(self.rate_weights(mutation, field), start=1)
            ]
            self._kept[key] = {
                k: sum((w * p**k * q ** (n - k) for w, p, q in drawn), field.number(_ZERO))
                for k in range(n + 1)
            }
        found: dict[int, Number] = self._kept[key]
        return found

    def _by_polynomials(
        self, mutation: Mutation, x: int, wanted: Wanted, field: SearchField, *, cut: bool
    ) -> tuple[dict[int, Number], fmpq]:
        """Read the law off the product of one polynomial for the ones and one for the zeros."""
        p, n = mutation.rate, self.n
        assert p is not None
        some = 1 - (1 - p) ** n if mutation.positive else fmpq(1)
        product: Any
        whole: Number
        most, missing = n, _ZERO
        if isinstance(field, Rationals):
            a, b = int(p.p), int(p.q)
            product = fmpz_poly([a, b - a]) ** x * fmpz_poly([b - a, a]) ** (n - x)
            whole, shift = fmpq(1) / (fmpq(b) ** n * some), 0
        else:
            if cut:
                most, missing = self._cut(mutation, field.bits)
            ratio = arb(p / (1 - p))
            ones, zeros = _powers(x, ratio, most), _powers(n - x, ratio, most)
            product = arb_poly(ones[::-1]) * arb_poly(zeros)
            whole, shift = arb(1 - p) ** n / arb(some), len(ones) - 1 - x
        near = range(max(0, x - most), min(n, x + most) + 1)
        return {y: whole * product[y + shift] for y in near if wanted(y)}, missing

    def _cut(self, mutation: Mutation, bits: int) -> tuple[int, fmpq]:
        """Return the most bits that are followed, and a bound C(n, K+1) p^(K+1) of more."""
        key = mutation, bits
        if key not in self._kept:
            self._kept[key] = self._derive_cut(mutation, bits)
        found: tuple[int, fmpq] = self._kept[key]
        return found

    def _derive_cut(self, mutation: Mutation, bits: int) -> tuple[int, fmpq]:
        n, p = self.n, mutation.rate
        assert p is not None
        some = 1 - (1 - p) ** n if mutation.positive else fmpq(1)
        for k in range(min(n, _MOST_FLIPS)):
            bound = comb(n, k + 1) * p ** (k + 1) / some
            if bound < fmpq(1, 2**bits):
                return k, _power_above(bound)
        return n, _ZERO


def _add(total: dict[int, Number], part: dict[int, Number], weight: Number | None) -> None:
    for y, w in part.items():
        scaled = w if weight is None else weight * w
        total[y] = total[y] + scaled if y in total else scaled


@lru_cache(maxsize=4096)
def _binomials(n: int, most: int) -> list[fmpz]:
    """Return C(n, 0), C(n, 1), .. as far as they are needed, up to C(n, most)."""
    found = [fmpz(1)]
    for k in range(min(n, most)):
        found.append(found[-1] * (n - k) // (k + 1))
    return found


def _powers(count: int, ratio: arb, most: int) -> list[arb]:
    """Return C(count, i) ratio^i for i up to `most`."""
    found = [arb(1)]
    for i in range(min(count, most)):
        found.append(found[-1] * (count - i) * ratio / (i + 1))
    return found


def _power_above(bound: fmpq) -> fmpq:
    """Return a power of two that is at least a positive rational."""
    exponent = int(bound.p).bit_length() - int(bound.q).bit_length() + 1
    return fmpq(2) ** exponent
