"""States of a walk on a shared row, and what may happen from one (`values.shared_row`)."""

from __future__ import annotations

from typing import NamedTuple

from markov_lrsao.exact.series import Element
from markov_lrsao.values.options import NOTHING, Ends, ends_of, signed_ends

__all__ = ["Told", "Walk", "Way", "Ways", "way_of"]


class Walk(NamedTuple):
    """A state; `order` has, per pair of entries, what is known of their residuals beside values."""

    position: int
    phase: int
    words: tuple[int, ...]
    entries: tuple[int, ...]
    above: tuple[int, ...]
    order: tuple[int, ...]


class Way(NamedTuple):
    """One thing that may happen: a state that has not been relaxed, `OPTIMUM` or `LOST`.

    Its weight is share + first x + second x^2, x = z - 1 (`markov_lrsao.values.second_moments`).

    Attributes
    ----------
    share : bounds of the probability
    first, second : bounds of the other coefficients; those of slopes are left out where the walk
        is not timed
    untold : bound of the variance of steps, counted before, about which nothing is known any more
    """

    target: Walk | int
    share: Ends
    first: Ends = NOTHING
    second: Ends = NOTHING
    untold: float = 0.0


class Ways(NamedTuple):
    """What may happen if an open comparison turns out in one way: E[steps], and where to."""

    steps: Ends
    targets: list[Way]


class Told(NamedTuple):
    """What is told of a state before anything is chosen in it."""

    options: list[Ways]


def way_of(target: Walk | int, weight: Element, untold: float = 0.0) -> Way:
    """Return a way with a weight of balls, a series or the probability alone."""
    first, second = (signed_ends(w) for w in weight[1:]) if len(weight) > 1 else (NOTHING, NOTHING)
    return Way(target, ends_of(weight[0]), first, second, untold)
