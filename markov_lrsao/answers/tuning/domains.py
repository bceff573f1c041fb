"""What can be tuned: the numeric keys of named algorithms, their ranges, and their coordinates.

A search in floats wants coordinates in which nothing is cramped: the logit of a probability, the
logarithm of a positive number, of a base above one that of base - 1. Integers have the logarithm,
too, and are rounded; weights have the logarithms of their quotients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import Literal, TypeAlias

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import RationalLike, rational, to_float
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.named import ALGORITHMS, NamedAlgorithm
from markov_lrsao.model.naming import Expression, expression
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from markov_lrsao.model.search import MOST_MODES

__all__ = ["Domain", "Limits", "Setting", "domains", "keys_of"]

Kind = Literal["probability", "positive", "base", "integer", "weight"]
Setting: TypeAlias = tuple[fmpq, ...]
"""One value for every domain."""
Limits: TypeAlias = Mapping[str, tuple[RationalLike, RationalLike]]
"""Key -> smallest and largest value to try; rationals, or texts with expressions in n."""
_DIGITS = 12

_KINDS: dict[str, Kind] = {
    "p": "probability", "q": "probability", "rate": "probability", "alpha": "probability",
    "gamma": "probability", "epsilon": "probability", "r": "positive", "base": "base",
    "beta": "base", "k": "integer", "tau": "integer", "widest": "integer", "weights": "weight",
}  # fmt: skip
_FIRST: dict[str, tuple[str, ...]] = {
    "rls-k": ("k",), "ea": ("rate",), "ea-positive": ("rate",), "metropolis": ("base",),
    "mahh": ("p",), "mmahh": ("p", "q"), "random": ("weights",), "gradient": ("tau",),
    "earl": ("alpha", "gamma"), "lrsao": ("r",),
}  # fmt: skip
"""What is tuned unless keys are named."""


@dataclass(frozen=True)
class Domain:
    """A key, or one weight of several, with its range and its coordinate.

    Attributes
    ----------
    closed : 0 and 1 may be taken where the search is drawn to an end of the range
    """

    key: str
    kind: Kind
    low: fmpq
    high: fmpq
    closed: bool = False

    @property
    def whole(self) -> bool:
        """Whether values are integers."""
        return self.kind == "integer"

    def coordinate(self, value: fmpq) -> float:
        """Return the coordinate of a value."""
        x = to_float(value)
        match self.kind:
            case "probability" | "weight":
                return log(x) - log(to_float(1 - value))
            case "base":
                return log(to_float(value - 1))
        return log(x)

    def at(self, coordinate: float) -> fmpq:
        """Return the value at a coordinate, a rational of twelve digits inside the range."""
        match self.kind:
            case "probability" | "weight":
                x = 1 / (1 + exp(-coordinate)) if coordinate > -700 else 0.0
            case "base":
                x = 1 + exp(min(coordinate, 700))
            case _:
                x = exp(min(coordinate, 700))
        found = rational(str(round(x)) if self.whole else f"{x:.{_DIGITS}g}", self.key)
        return min(max(found, self.low), self.high)

    @property
    def ends(self) -> tuple[float, float]:
        """The coordinates of the range."""
        return self.coordinate(self.low), self.coordinate(self.high)


def keys_of(named: NamedAlgorithm, given: Sequence[str], keys: Sequence[str] | None) -> list[str]:
    """Return what is to be tuned: the keys that are named, or those that come first to mind.

    Parameters
    ----------
    given : keys that the algorithm's text has

    Raises
    ------
    ParameterError
        A key is not known, has no number to tune, or has a value already.
    """
    known = [key for key in ALGORITHMS.get(named.name, {}) if key in _KINDS]
    if keys is None:
        found = [key for key in _FIRST.get(named.name, ()) if key not in given]
        if not found:
            left = ", ".join(known) or "none"
            raise ParameterError(
                f"algorithm {named.text!r} leaves nothing to tune; its numeric keys are {left}"
            )
        return found
    for key in keys:
        if key not in known:
            raise ParameterError(
                f"{key!r} cannot be tuned: the numeric keys of {named.name} are "
                f"{', '.join(known) or 'none'}"
            )
        if key in given:
            raise ParameterError(f"{key!r} is to be tuned, but {named.text!r} has a value of it")
    return list(dict.fromkeys(keys))


def domains(
    named: NamedAlgorithm,
    keys: Sequence[str],
    landscape: Landscape | LeadingOnes,
    limits: Limits,
    *,
    outside_h: bool,
) -> list[Domain]:
    """Return the domains at a landscape's n.

    Raises
    ------
    ParameterError
        A range is empty or too wide.
    """
    found = []
    for key in keys:
        low, high = _standard(named, key, landscape, outside_h=outside_h)
        if key in limits:
            low, high = (_number(end, key, landscape.n) for end in limits[key])
        closed = key not in limits and key in ("p", "q", "weights")
        found += [replace(domain, closed=closed) for domain in _checked(key, low, high, landscape)]
    return found


def _number(end: RationalLike, key: str, n: int) -> fmpq:
    return expression(end, key)(n=n) if isinstance(end, str) else rational(end, key)


def _standard(
    named: NamedAlgorithm, key: str, landscape: Landscape | LeadingOnes, *, outside_h: bool
) -> tuple[fmpq, fmpq]:
    n = landscape.n
    tiny = min(fmpq(1, 1000), fmpq(1, n**3))
    match _KINDS[key]:
        case "probability" | "weight":
            return tiny, 1 - tiny
        case "base":
            return 1 + fmpq(1, 1000), fmpq(3) if key == "beta" else fmpq(n**4 + 10)
        case "integer":
            most = n
            if key == "tau":
                portfolio = dict(named.values)["portfolio"]
                assert isinstance(portfolio, tuple)
                most = min(n * n + 10, MOST_MODES // len(portfolio))
            return fmpq(1), fmpq(most)
    if outside_h or not isinstance(landscape, Landscape):
        return fmpq(1, 100), fmpq(100 * n)
    interval = hypothesis_h(landscape, _parameters(named, n))
    margin = (interval.upper - interval.lower) / 1000
    return interval.lower + margin, interval.upper - margin


def _parameters(named: NamedAlgorithm, n: int) -> Parameters:
    """Return LRSAO's hyper-parameters with those that are given; r does not matter here."""
    given = {}
    for key in ("alpha", "gamma"):
        value = dict(named.values).get(key)
        if isinstance(value, Expression):
            given[key] = value(n=n)
    found = Algorithm.lrsao(Parameters.paper(n, **given)).parameters
    assert found is not None
    return found


def _checked(key: str, low: fmpq, high: fmpq, landscape: Landscape | LeadingOnes) -> list[Domain]:
    kind = _KINDS[key]
    below, above = fmpq(0), fmpq(1) if kind in ("probability", "weight") else None
    if kind == "base":
        below = fmpq(1)
    inside = low > below if kind != "integer" else low >= 1
    if not (inside and low < high and (above is None or high < above)):
        allowed = f"{below} < {key}" + (f" < {above}" if above is not None else "")
        raise ParameterError(
            f"{key} from {low} to {high} is no range: {allowed}, smaller end first"
        )
    if kind != "weight":
        return [Domain(key, kind, low, high)]
    count = len(landscape.objectives) if isinstance(landscape, Landscape) else 1
    if count < 2:
        raise ParameterError(
            f"weights of one objective have nothing to tune: {landscape.name} needs helpers"
        )
    return [Domain(f"{key}[{i}]", kind, low, high) for i in range(count - 1)]
