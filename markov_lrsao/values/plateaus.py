"""Where a law has plateaus that share one row of Q, and slopes with rows of their own between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from markov_lrsao.errors import CrossingError, Refused, attempt
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from markov_lrsao.values.slopes import TIMED, Slope, slope_of

__all__ = ["LEAST_PLATEAUS", "Plateaus", "plateaus_of", "several_plateaus"]

LEAST_PLATEAUS = 3
_LONGEST_EXACT, _MANY_ACTIONS = 300, 4
"""Slopes of longer strings are machines in balls, where so many objectives have many words."""


@dataclass(frozen=True, eq=False)
class Plateaus:
    """Where a law has its plateaus and slopes.

    Attributes
    ----------
    plateaus : first and last position of each, ascending
    bridges : plateau -> the action that moves up there
    """

    law: StepLaw
    parameters: Parameters
    plateaus: tuple[tuple[int, int], ...]
    bridges: tuple[int, ...]

    @cached_property
    def slopes(self) -> tuple[Slope, ...]:
        """The slopes between the plateaus, as machines: exact, or nearly (`coupling_error`)."""
        many = len(self.law.actions) >= _MANY_ACTIONS
        return self._slopes(0, balls=many and self.law.n > _LONGEST_EXACT)

    @cached_property
    def timed_slopes(self) -> tuple[Slope, ...]:
        """The same with words that tell how long passages took, for variances."""
        return self._slopes(TIMED)

    def _slopes(self, order: int, *, balls: bool = False) -> tuple[Slope, ...]:
        ends = zip(self.plateaus, self.plateaus[1:], strict=False)
        return tuple(
            slope_of(self.law, left[1] + 1, right[0] - 1, order, balls=balls)
            for left, right in ends
        )


def plateaus_of(law: StepLaw) -> Plateaus:
    """Find plateaus that share the row of position 0, and slopes with rows of their own between.

    Raises
    ------
    CrossingError
        The landscape or the algorithm is another.
    """
    parameters, n = law.algorithm.parameters, law.n
    if parameters is None or law.algorithm != Algorithm.lrsao(parameters):
        raise CrossingError("values of a shared row are followed for LRSAO only")
    if not hypothesis_h(law.landscape, parameters).holds:
        raise CrossingError("hypothesis (H) does not hold: signs do not decide the slopes")
    if parameters.gamma * parameters.r >= 1 - parameters.gamma:
        raise CrossingError("a gain may leave an entry negative: signs do not decide the slopes")
    row = law.row[:n]
    shared = np.flatnonzero(row == row[0])
    private = row[row != row[0]]
    if law.optimum != n or shared[-1] != n - 1 or len(set(private.tolist())) != len(private):
        raise CrossingError("plateaus must share one row, and all other rows must differ")
    cuts = np.flatnonzero(np.diff(shared) > 1)
    firsts, lasts = shared[[0, *(cuts + 1)]].tolist(), shared[[*cuts, -1]].tolist()
    ends = {0, *firsts, *(p + 1 for p in lasts), n}
    if not set(law.landscape.milestones) <= ends:
        raise CrossingError("a milestone lies inside a plateau or a slope")
    bridges = [_bridge(law, a, b) for a, b in zip(firsts, lasts, strict=True)]
    return Plateaus(law, parameters, tuple(zip(firsts, lasts, strict=True)), tuple(bridges))


def _bridge(law: StepLaw, first: int, last: int) -> int:
    """Return the action that is rewarded by 1 for every move up on a plateau, and moves up only."""
    found = [
        a
        for a in range(len(law.actions))
        if all(
            (p == 0 or not law.accepted[p, a, DOWN])
            and law.accepted[p, a, UP]
            and law.reward(p, a, UP) == 1
            for p in range(first, last + 1)
        )
    ]
    if found and last == 0:
        # Nothing but a move up is proposed at 0: all that gain 1 by it are alike there.
        return found[0]
    if len(found) != 1:
        raise CrossingError(f"the plateau {first}..{last} has not exactly one bridge")
    return found[0]


def several_plateaus(law: StepLaw) -> Plateaus | Refused:
    """Return the plateaus of a law, if it has at least three that share a row."""

    def found() -> Plateaus:
        place = plateaus_of(law)
        if len(place.plateaus) < LEAST_PLATEAUS:
            raise CrossingError("fewer than three plateaus share a row")
        return place

    return attempt(found)
