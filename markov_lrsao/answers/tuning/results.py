"""What tuning found, and what is certain about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, log
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.exact.digits import with_digits
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import rational_text, to_float
from markov_lrsao.tables import table

__all__ = ["Bracket", "Fit", "Range", "TuneResult", "Tuned", "fit"]

_DIGITS = 15


@dataclass(frozen=True)
class Bracket:
    """Two neighbours of a value that was found, at which E[T] is certainly larger.

    E[T] is continuous in the key (of an integer: between neighbours there is nothing), so a
    local minimum lies between them, all other keys being as they were found.

    Attributes
    ----------
    certain : both comparisons are certain; else the value is at an end of its range, or E[T] is
        too flat
    edge : the value is at an end of its range
    """

    key: str
    low: fmpq
    high: fmpq
    certain: bool
    edge: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "key": self.key,
            "low": rational_text(self.low),
            "high": rational_text(self.high),
            "certain": self.certain,
            "edge": self.edge,
        }


@dataclass(frozen=True)
class Range:
    """What is proved about a whole range of one key: all minima lie in a part of it.

    Attributes
    ----------
    first, last : the range
    low, high : no value outside of these is as good as the one that was found
    least : a lower bound of E[T] over the whole range
    """

    first: fmpq
    last: fmpq
    low: fmpq
    high: fmpq
    least: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "first": rational_text(self.first),
            "last": rational_text(self.last),
            "low": rational_text(self.low),
            "high": rational_text(self.high),
            "least": self.least,
        }


@dataclass(frozen=True)
class Tuned:
    """The best parameters at one n.

    Attributes
    ----------
    values : key -> value; weights have one key for all of them
    total : E[T] there, exact or enclosed
    tried : how many settings were tried, of which none is better
    flat : E[T] is the same at all of them
    brackets : one for every key
    range : what is proved about the whole range, where there is one key and a proof
    """

    n: int
    ell: int
    values: tuple[tuple[str, tuple[fmpq, ...]], ...]
    total: Quantity
    method: str
    tried: int
    brackets: tuple[Bracket, ...]
    range: Range | None = None
    flat: bool = False

    @property
    def certified(self) -> str:
        """What is certain, in words."""
        if self.flat:
            return f"E[T] is the same at all {self.tried:,} tried"
        told = [f"no better among {self.tried:,} tried"]
        for b in self.brackets:
            if b.edge:
                told.append(f"{b.key} is at an end of its range")
            elif b.certain:
                told.append(f"a local minimum in {_short(b.low)} < {b.key} < {_short(b.high)}")
        if self.range is not None:
            r = self.range
            told.append(
                f"nothing as good in {_short(r.first)} .. {_short(r.last)} outside of "
                f"{_short(r.low)} .. {_short(r.high)}, and nothing below {r.least:.6g}"
            )
        return "; ".join(told)

    def value(self, key: str) -> fmpq:
        """Return the value of a key."""
        return dict(self.values)[key][0]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "n": self.n,
            "ell": self.ell,
            "values": {key: "+".join(map(rational_text, value)) for key, value in self.values},
            "total": self.total.to_dict(),
            "method": self.method,
            "tried": self.tried,
            "flat": self.flat,
            "brackets": [b.to_dict() for b in self.brackets],
            "range": None if self.range is None else self.range.to_dict(),
            "certified": self.certified,
        }


@dataclass(frozen=True)
class Fit:
    """The exponent b of a power law c n^b: of least squares, and between neighbours."""

    of: str
    exponent: float
    factor: float
    between: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "of": self.of,
            "exponent": self.exponent,
            "factor": self.factor,
            "between": list(self.between),
        }


def fit(of: str, ns: Sequence[int], numbers: Sequence[float]) -> Fit | None:
    """Fit a power law; None where there are fewer than two n, or numbers that have no logarithm.

    >>> found = fit("E[T]", [10, 20, 40], [200.0, 800.0, 3200.0])
    >>> round(found.exponent, 9), round(found.factor, 9)
    (2.0, 2.0)
    """
    if len(set(ns)) < 2 or not all(isfinite(x) and x > 0 for x in numbers):
        return None
    x, y = np.log(np.array(ns, dtype=float)), np.log(np.array(numbers))
    slope, intercept = np.polyfit(x, y, 1)
    between = tuple(
        log(b / a) / log(m / n)
        for (n, a), (m, b) in pairwise(zip(ns, numbers, strict=True))
        if m != n
    )
    return Fit(of, float(slope), float(np.exp(intercept)), between)


@dataclass(frozen=True)
class TuneResult:
    """The best parameters over n, with fitted exponents."""

    landscape: str
    algorithm: str
    keys: tuple[str, ...]
    points: tuple[Tuned, ...]

    @property
    def fits(self) -> tuple[Fit, ...]:
        """Exponents of E[T] and of the parameters over n."""
        ns = [p.n for p in self.points]
        columns = {"E[T]": [float(p.total) for p in self.points]}
        for key in self.keys if not any(p.flat for p in self.points) else ():
            if all(len(dict(p.values)[key]) == 1 for p in self.points):
                columns[key] = [to_float(p.value(key)) for p in self.points]
        found = (fit(of, ns, numbers) for of, numbers in columns.items())
        return tuple(f for f in found if f is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "landscape": self.landscape,
            "algorithm": self.algorithm,
            "keys": list(self.keys),
            "points": [p.to_dict() for p in self.points],
            "fits": [f.to_dict() for f in self.fits],
        }

    def __str__(self) -> str:
        """Return a table for people."""
        rows = []
        for p in self.points:
            shown = ["+".join(map(_short, value)) for _, value in p.values]
            rows.append([str(p.n), *shown, with_digits(p.total, _DIGITS).cells[0]])
        body = table(["n", *self.keys, "E[T]"], rows, right=[0])
        lines = [
            f"{self.algorithm} on {self.landscape}, tuned: {', '.join(self.keys)}",
            "",
            body,
            "",
        ]
        for p in self.points:
            lines.append(f"n = {p.n}: {p.certified}")
        for f in self.fits:
            between = ", ".join(f"{b:.4f}" for b in f.between)
            lines.append(
                f"{f.of} is about {f.factor:.4g} n^{f.exponent:.4f} (least squares; between "
                f"neighbouring n: {between})"
            )
        return "\n".join(lines)


def _short(value: fmpq) -> str:
    """Return a number for people: an integer or short fraction as it is, else eight digits."""
    text = rational_text(value)
    return text if len(text) <= 7 else f"{to_float(value):.8g}"
