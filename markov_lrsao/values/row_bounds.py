"""Bounds over all options of a walk on a shared row that was explored, whoever explored it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.values.policies import FloatArray, FloatSystem

__all__ = ["Explored", "enclosed", "too_large"]

_MODERATE = 1e9
"""Steps left that do not drown others in roundings."""


@dataclass(frozen=True, eq=False)
class Explored:
    """What was explored of a walk.

    Attributes
    ----------
    system, steps, phases : the options, bounds of E[steps] of each, and its phase
    least, most : per option, bounds of E[steps from a state on that was cut off]; `most` has those
        of runs that are lost, too
    cut : states that were not looked at
    lost : bounds of the probability with which an option loses a run
    apart : how far expected steps of the walk may be from the truth
    """

    system: FloatSystem
    steps: tuple[FloatArray, FloatArray]
    phases: npt.NDArray[np.int64]
    least: FloatArray
    most: FloatArray
    cut: npt.NDArray[np.int64]
    lost: FloatArray
    apart: float = 0.0

    def total(self) -> Quantity:
        """Enclose E[T]; states that were cut off cost what is left there at least, and at most."""
        low, high = self.steps
        return self._truly(enclosed(self.system, low + self.least, high, self.most))

    def phase(self, counted: Sequence[bool]) -> Quantity:
        """Enclose E[steps in some phases]; at the lower end, what was cut off costs nothing."""
        marked = np.array(counted)[self.phases]
        # What is left belongs to the phase of the state or to a later one.
        later = self.phases <= max(k for k, counts in enumerate(counted) if counts)
        low, high = (side * marked for side in self.steps)
        return self._truly(enclosed(self.system, low, high, np.where(later, self.most, 0.0)))

    def _truly(self, found: Quantity) -> Quantity:
        """Return an enclosure of the truth from one of the walk."""
        apart = fmpq(*self.apart.as_integer_ratio())
        assert found.upper is not None
        return Quantity.enclosed(max(fmpq(0), found.lower - apart), found.upper + apart)

    def undecided(self) -> fmpq | None:
        """Return a bound of the probability of ever meeting what is open; None: nothing is."""
        from scipy.sparse import diags_array

        system, number = self.system, np.bincount(self.system.owner)
        met = (number[system.owner] > 1) | np.isin(system.owner, self.cut)
        if not met.any() and not self.lost.any():
            return None
        upper = (diags_array(1.0 - met) @ system.upper).tocsr()
        ended = FloatSystem(system.owner, system.first, upper, upper)
        # Options that averages stand for may differ by less than what was added to their steps
        # (`values.passings`), and an event of the walk is as likely as in truth up to `apart`.
        low, high = self.steps
        missed = np.where(met, 1.0, self.lost + (high - low))
        bound = float(ended.bound(missed, 1)[0]) + self.apart
        return fmpq(*min(1.0, bound).as_integer_ratio())


def enclosed(system: FloatSystem, low: FloatArray, high: FloatArray, left: FloatArray) -> Quantity:
    """Enclose a sum of costs to which what is left may come at the upper end.

    Where what is left is moderate, all costs are bounded together. Where it is huge it would drown
    the others in roundings, and is added for the worst of all choices, apart from those that the
    others are bounded over: the two maxima are at least the maximum of the sum.
    """
    most = float(left.max(initial=0.0))
    if most <= _MODERATE:
        return Quantity.enclosed(*system.enclose([low, (high + left) * (1 + 1e-15)]))
    lower, upper = system.enclose([low, high])
    share = system.small_bound(left / most)
    upper += fmpq(*(share * most * (1 + 1e-12)).as_integer_ratio())  # few roundings
    return Quantity.enclosed(lower, upper)


def too_large(largest: int) -> StateSpaceTooLargeError:
    """Return the error that a walk has too many states."""
    return StateSpaceTooLargeError(
        f"following the shared row takes more than {largest:,} states; "
        f"raise `max_states`, or estimate with `simulate()`",
        advised=True,
    )
