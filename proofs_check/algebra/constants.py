r"""Explicit constants: n H_l + rest against C (n^2/l^2 + n ln l), for all l >= 2 and n >= 2l + 5.

The logarithm is bracketed by rationals only. ln x = 2 sum_j z^(2j+1)/(2j+1), z = (x-1)/(x+1), has
positive terms, so a partial sum is below it; and H_l - ln l falls with l, since
ln(1 + 1/l) >= 1/(l+1), and stays positive. So with a rational a <= ln m

    H_l <= ln l + (H_m - a)  and  ln l >= a    for all l >= m,      H_l >= ln l    for all l >= 1.

Below m each l is looked at on its own. What remains are rational functions of n and l, whose
sign `proofs_check.algebra.ratios` reads from coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.exact.rationals import harmonic_difference
from proofs_check.algebra.ratios import Ratio, substitution
from proofs_check.claims.expressions import evaluate

__all__ = ["Comparison", "at_least", "at_most", "log_floor", "settled"]

_SPLIT = 12
"""From this l on all l are treated at once."""
_DIGITS = 10**4
_TERMS = 60


def log_floor(x: int) -> fmpq:
    """Return a rational below ln x, x >= 1, that differs by about 10^-4 for small x.

    >>> log_floor(2), log_floor(1)
    (6931/10000, 0)
    """
    z = fmpq(x - 1, x + 1)
    total, power = fmpq(0), z
    for j in range(_TERMS):
        total += 2 * power / (2 * j + 1)
        power *= z * z
    return fmpq(int((total * _DIGITS).floor()), _DIGITS)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A difference that must not be negative on a range of n and l."""

    where: str
    region: dict[str, str]
    gap: Ratio

    @property
    def holds(self) -> bool:
        """Whether the coefficients settle it."""
        return self.gap.non_negative

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison for an independent checker."""
        return {"where": self.where, "region": self.region, **self.gap.terms()}


def settled(text: str, ell: str = "u + 2", where: str = "l >= 2") -> Comparison:
    """Return the comparison "text >= 0" for all n >= 2l + 5 and a range of l.

    >>> settled("n - 2*l").holds, settled("n - 3*l").holds
    (True, False)
    """
    region = {"l": ell, "n": "2*l + 5 + v"}
    value = evaluate(text, substitution(region), {"number": Ratio.of})
    return Comparison(f"{where}: {text} >= 0", region, Ratio.of(value))


def at_most(rest: str, constant: fmpq) -> Iterator[Comparison]:
    """Yield what proves n H_l + rest <= C (n^2/l^2 + n ln l); nothing is yielded for C < 1.

    >>> all(c.holds for c in at_most("n", fmpq(3))), all(c.holds for c in at_most("n**2", fmpq(3)))
    (True, False)
    """
    if constant < 1:
        return
    for ell in range(2, _SPLIT):
        share = constant * log_floor(ell) - harmonic_difference(0, ell)
        text = f"({constant})*n**2/l**2 + ({share})*n - ({rest})"
        yield settled(text, str(ell), f"l = {ell}")
    low = log_floor(_SPLIT)
    share = (constant - 1) * low - (harmonic_difference(0, _SPLIT) - low)
    text = f"({constant})*n**2/l**2 + ({share})*n - ({rest})"
    yield settled(text, f"u + {_SPLIT}", f"l >= {_SPLIT}")


def at_least(rest: str, constant: fmpq) -> Iterator[Comparison]:
    """Yield what proves n H_l + rest >= c (n^2/l^2 + n ln l); nothing is yielded unless 0 < c <= 1.

    The same proves n H_n + rest >= c (n^2/l^2 + n ln n), as only ln >= ln 2 is used.

    >>> all(c.holds for c in at_least("n**2/l**2/4", fmpq(1, 4)))
    True
    """
    if not 0 < constant <= 1:
        return
    text = f"({(1 - constant) * log_floor(2)})*n + ({rest}) - ({constant})*n**2/l**2"
    yield settled(text)
