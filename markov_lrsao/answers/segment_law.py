"""Which law is wanted of segments between shared rows; see `markov_lrsao.answers.inversion`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.crossing.shared import Chain, Core, generating_function
from markov_lrsao.exact.balls import checked
from markov_lrsao.exact.disks import Circle, Disk
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.series import Element
from markov_lrsao.model.law import StepLaw

__all__ = ["SegmentProblem", "at_points", "shortest"]

IntArray = npt.NDArray[np.int64]


def at_points(
    evaluate: Callable[[Evaluation], Element], circle: Circle, numbers: IntArray, majorant: bool
) -> Disk:
    """Return a generating function at points of the unit circle, or the bound of its modulus."""
    complements = circle.complements(numbers.tolist())
    evaluation = Evaluation(
        exact=False, nodes=1 - complements, complements=complements, majorant=majorant
    )
    found = evaluate(evaluation)[0]
    # Where no step counts, the value is one for all.
    shape = (len(numbers),)
    return Disk(np.broadcast_to(found.mid, shape), np.broadcast_to(found.rad, shape))


def shortest(law: StepLaw, phase: int | None) -> int:
    """Return how many steps a run, or one phase of it, takes at least."""
    ends = [0, *law.landscape.milestones]
    return ends[-1] if phase is None else max(0, ends[phase] - ends[phase - 1])


@dataclass(frozen=True, eq=False)
class SegmentProblem:
    """The law of T, or of one phase, of a core.

    Attributes
    ----------
    phase : counted from 1; None for T
    """

    core: Core
    phase: int | None

    @cached_property
    def chain(self) -> Chain:
        """The chain whose steps are counted."""
        if self.phase is not None:
            return self.core.chain(self.phase - 1, self.phase)
        return self.core.chain(0, len(self.core.law.landscape.milestones))

    @property
    def lossy(self) -> bool:
        """Whether runs can get stuck before the end."""
        return self.chain.trapped is not None

    @property
    def least(self) -> int:
        """A lower bound of T: positions change by one."""
        return shortest(self.core.law, self.phase)

    @property
    def sites(self) -> int:
        """How many numbers one point takes."""
        return len(self.chain.states) + sum(len(m) for m in self.core.middles)

    def evaluate(self, evaluation: Evaluation) -> Element:
        """Return E[z^T; T < infinity]."""
        return generating_function(self.chain, replace(evaluation, lossy=self.lossy))

    @cached_property
    def reached(self) -> fmpq:
        """P(T < infinity), exactly."""
        return fmpq(self.evaluate(Evaluation(exact=True, order=0))[0]) if self.lossy else fmpq(1)

    @cached_property
    def moments(self) -> list[Quantity]:
        """Mean and variance given T < infinity, in floats with bounds."""
        with checked():
            found = self.evaluate(Evaluation(exact=False, central=True, order=2))
        return [Quantity.of(x) for x in found[1:]]

    def at(self, circle: Circle, numbers: IntArray, *, majorant: bool = False) -> Disk:
        """Return G at points of the unit circle, or the bound B of its modulus."""
        return at_points(self.evaluate, circle, numbers, majorant)
