"""Chains with options, in floats from below and from above: what explorations hand to solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from markov_lrsao.values.policies import FloatArray, FloatSystem

__all__ = ["OPTIMUM", "Edge", "Option", "edges_of", "float_system", "steps_of"]

OPTIMUM = -1


class Edge(NamedTuple):
    """A transition: bounds of its probability and of E[steps; transition]; -1 is the optimum."""

    target: int
    probability: tuple[float, float]
    steps: tuple[float, float]


class Option(NamedTuple):
    """All transitions of a state for one way in which its open comparison turns out."""

    owner: int
    phase: int
    edges: tuple[Edge, ...]


def edges_of(parts: Mapping[int, Sequence[tuple[Any, Any]]]) -> tuple[Edge, ...]:
    """Return edges from target -> (probability, E[steps; way]) of several ways there."""
    return tuple(
        Edge(t, _ends([x[0] for x in ways]), _ends([x[1] for x in ways]))
        for t, ways in parts.items()
    )


def _ends(parts: list[Any]) -> tuple[float, float]:
    """Return floats below and above a sum of numbers or balls that is not negative."""
    total = sum((x if isinstance(x, arb) else arb(x) for x in parts), arb(0))
    low, high = float(total.lower()), float(total.upper())
    return max(0.0, float(np.nextafter(low, -1.0))), float(np.nextafter(high, np.inf))


def float_system(options: Sequence[Option], states: int) -> FloatSystem:
    """Return options, which are grouped by owner, as matrices."""
    from scipy.sparse import csr_array

    owner = np.array([o.owner for o in options], dtype=np.int64)
    first = np.searchsorted(owner, np.arange(states))
    inner = [
        (i, e.target, e.probability)
        for i, o in enumerate(options)
        for e in o.edges
        if e.target >= 0
    ]
    index = (
        np.array([x[0] for x in inner], dtype=np.int64),
        np.array([x[1] for x in inner], dtype=np.int64),
    )
    lower, upper = (
        csr_array(
            (np.array([x[2][side] for x in inner]), index),
            shape=(len(options), states),
        )
        for side in (0, 1)
    )
    return FloatSystem(owner, first.astype(np.int64), lower, upper)


def steps_of(options: Sequence[Option]) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the expected steps of every option."""
    low, high = (
        np.array([sum(e.steps[side] for e in o.edges) for o in options]) for side in (0, 1)
    )
    # A sum of k floats errs by less than k units in the last place.
    return low * (1 - 1e-13), high * (1 + 1e-13)
