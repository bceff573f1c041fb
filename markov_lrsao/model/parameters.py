"""Hyper-parameters alpha, gamma, r as exact rationals, and hypothesis (H).

(H) reads, with G = n - l - 1 the largest gain of one step that does not reach the optimum,

    (1 / (alpha (1 - gamma)) - 1) G  <  r  <  1 / (alpha gamma),

and the interval is non-empty iff (1 - gamma) / (gamma (1 - alpha (1 - gamma))) > G.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsIndex

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import RationalLike, integer, rational
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.statements import implements

__all__ = ["H_LOWER", "H_UPPER", "HypothesisH", "Parameters", "h_lower", "h_upper", "hypothesis_h"]

H_LOWER = "(1/(alpha*(1 - gamma)) - 1)*G"
H_UPPER = "1/(alpha*gamma)"
"""The ends of (H). Numbers, borders and proofs are all derived from these two texts."""


def _formula(text: str) -> Callable[[Any, Any, Any], Any]:
    """Return (alpha, gamma, G) -> the value of one of the texts above, over any algebra."""
    function: Callable[[Any, Any, Any], Any] = eval(f"lambda alpha, gamma, G: {text}")
    return function


h_lower, h_upper = _formula(H_LOWER), _formula(H_UPPER)


@dataclass(frozen=True, init=False)
class Parameters:
    """Learning rate alpha in (0,1), discount gamma in (0,1) and plateau penalty r >= 0.

    Anything exact will do: "0.8", "4/5", integers, also numpy's, Fraction, Decimal, `fmpq`.

    >>> Parameters("0.8", "1/10", "7/2")
    Parameters(alpha=4/5, gamma=1/10, r=7/2)
    >>> Parameters("1.5", "1/10", 1)
    Traceback (most recent call last):
        ...
    markov_lrsao.errors.ParameterError: alpha = 3/2 is out of range: 0 < alpha < 1 is needed
    """

    alpha: fmpq
    gamma: fmpq
    r: fmpq

    @classmethod
    def of(cls, alpha: RationalLike, gamma: RationalLike, r: RationalLike) -> Parameters:
        """Return the same as `Parameters(alpha, gamma, r)`."""
        return cls(alpha, gamma, r)

    def __init__(self, alpha: RationalLike, gamma: RationalLike, r: RationalLike) -> None:
        for name, given in (("alpha", alpha), ("gamma", gamma), ("r", r)):
            value = rational(given, name)
            if name == "r" and value < 0:
                raise ParameterError(f"r = {value} is out of range: the penalty must be r >= 0")
            if name != "r" and not 0 < value < 1:
                raise ParameterError(f"{name} = {value} is out of range: 0 < {name} < 1 is needed")
            object.__setattr__(self, name, value)

    @classmethod
    def paper(
        cls,
        n: SupportsIndex,
        alpha: RationalLike | None = None,
        gamma: RationalLike | None = None,
        r: RationalLike | None = None,
    ) -> Parameters:
        """Return section 6's choice alpha = 4/5, gamma = 1/(n+1), r = n(1/(alpha(1-gamma)) - 1).

        A value that is given replaces the default; r's default follows alpha and gamma.

        >>> Parameters.paper(9)
        Parameters(alpha=4/5, gamma=1/10, r=7/2)
        """
        n = integer(n, "n")
        if n < 1:
            raise ParameterError(f"n = {n} is too small: n >= 1 is needed")
        # Refuses alpha and gamma before they are divided by.
        found = cls(
            fmpq(4, 5) if alpha is None else alpha,
            fmpq(1, n + 1) if gamma is None else gamma,
            0 if r is None else r,
        )
        if r is not None:
            return found
        return cls(found.alpha, found.gamma, n * (1 / (found.alpha * (1 - found.gamma)) - 1))

    @property
    def decay(self) -> fmpq:
        """The factor 1 - alpha(1 - gamma) by which a rejected move shrinks the chosen entry."""
        return 1 - self.alpha * (1 - self.gamma)


@dataclass(frozen=True)
class HypothesisH:
    """The open interval (lower, upper) that (H) allows for r, and whether r lies in it."""

    lower: fmpq
    upper: fmpq
    holds: bool

    @property
    def satisfiable(self) -> bool:
        """Whether any r satisfies (H) for this alpha and gamma."""
        return bool(self.lower < self.upper)

    def describe(self) -> str:
        """Return the interval as text."""
        if not self.satisfiable:
            return (
                f"no r satisfies (H), since its lower bound {self.lower} is not below its upper "
                f"bound {self.upper}; take a smaller gamma"
            )
        return f"(H) needs {self.lower} < r < {self.upper}"


@implements("(H)")
def hypothesis_h(landscape: Landscape, parameters: Parameters) -> HypothesisH:
    """Return hypothesis (H)'s interval for r and whether it holds.

    >>> hypothesis_h(Landscape.jump(9, 2), Parameters.paper(9))
    HypothesisH(lower=7/3, upper=25/2, holds=True)
    """
    values = parameters.alpha, parameters.gamma, landscape.largest_gain
    lower, upper = h_lower(*values), h_upper(*values)
    return HypothesisH(lower, upper, bool(lower < parameters.r < upper))
