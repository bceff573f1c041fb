"""Chains with options, in floats from below and from above: what explorations hand to solvers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from markov_lrsao.values.policies import FloatArray, FloatSystem

__all__ = [
    "CERTAIN",
    "LOST",
    "NOTHING",
    "OPTIMUM",
    "Ends",
    "Option",
    "edges_of",
    "ends_of",
    "float_system",
    "lost_of",
    "product",
    "signed_ends",
    "steps_of",
    "times",
    "total",
]

OPTIMUM = -1
LOST = -2
"""Where a run is that is not followed any more; what is left to it is bounded crudely."""

Ends = tuple[float, float]
"""Floats below and above a number."""
CERTAIN: Ends = (1.0, 1.0)
NOTHING: Ends = (0.0, 0.0)


class Option(NamedTuple):
    """All transitions of a state for one way in which its open comparison turns out.

    Attributes
    ----------
    steps : bounds of E[steps]
    edges : target -> bounds of the probability; targets may be `OPTIMUM` or `LOST`
    """

    owner: int
    phase: int
    steps: Ends
    edges: Mapping[int, Ends]


def edges_of(parts: Mapping[int, Sequence[tuple[Any, Any]]]) -> tuple[Ends, dict[int, Ends]]:
    """Return E[steps] and edges from target -> (probability, E[steps; way]) of several ways."""
    steps = sum((_ball(x[1]) for ways in parts.values() for x in ways), arb(0))
    edges = {t: ends_of(sum((_ball(x[0]) for x in ways), arb(0))) for t, ways in parts.items()}
    return ends_of(steps), edges


def _ball(x: Any) -> arb:
    return x if isinstance(x, arb) else arb(x)


def ends_of(x: Any) -> Ends:
    """Return floats below and above a number or ball that is not negative."""
    ball = _ball(x)
    low, high = float(ball.lower()), float(ball.upper())
    return max(0.0, math.nextafter(low, -1.0)), math.nextafter(high, math.inf)


def signed_ends(x: Any) -> Ends:
    """Return floats below and above a number or ball of any sign."""
    ball = _ball(x)
    low, high = float(ball.lower()), float(ball.upper())
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)


def product(x: Ends, y: Ends) -> Ends:
    """Return bounds of a product."""
    return max(0.0, math.nextafter(x[0] * y[0], -1.0)), times(x[1] * y[1])


def total(x: Ends, y: Ends) -> Ends:
    """Return bounds of a sum."""
    return max(0.0, math.nextafter(x[0] + y[0], -1.0)), times(x[1] + y[1])


def times(x: float) -> float:
    """Return a float above a result that was rounded once."""
    return math.nextafter(x, math.inf)


def float_system(options: Sequence[Option], states: int) -> FloatSystem:
    """Return options, which are grouped by owner, as matrices."""
    from scipy.sparse import csr_array

    owner = np.array([o.owner for o in options], dtype=np.int64)
    first = np.searchsorted(owner, np.arange(states))
    inner = [
        (i, target, *ends)
        for i, o in enumerate(options)
        for target, ends in o.edges.items()
        if target >= 0
    ]
    rows, columns, low, high = (list(x) for x in zip(*inner, strict=True)) if inner else ([],) * 4
    index = (np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))
    lower, upper = (
        csr_array((np.array(side, dtype=np.float64), index), shape=(len(options), states))
        for side in (low, high)
    )
    return FloatSystem(owner, first.astype(np.int64), lower, upper)


def steps_of(options: Sequence[Option]) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the expected steps of every option."""
    return np.array([o.steps[0] for o in options]), np.array([o.steps[1] for o in options])


def lost_of(options: Sequence[Option]) -> FloatArray:
    """Return bounds of the probability with which every option loses a run."""
    return np.array([o.edges[LOST][1] if LOST in o.edges else 0.0 for o in options])
