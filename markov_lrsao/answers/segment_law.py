"""Which law is wanted of segments between shared rows; see `markov_lrsao.answers.inversion`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from flint import fmpq

from markov_lrsao.crossing.shared import Chain, Core, generating_function
from markov_lrsao.exact.balls import checked
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.series import Element

__all__ = ["SegmentProblem"]


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
    def positions(self) -> int:
        """How many positions a run can be at."""
        return self.core.law.n

    @property
    def sites(self) -> int:
        """How many numbers one point takes."""
        return len(self.chain.states) + sum(len(m) for m in self.core.middles)

    @property
    def largest(self) -> int:
        """The states of the largest component that is eliminated at once."""
        return int(self.chain.order.sizes.max())

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

    @cached_property
    def steps(self) -> float:
        """The expected number of steps of all phases until the end, of runs that end."""
        chain = self.core.chain(0, self.chain.end)
        evaluation = Evaluation(exact=False, central=True, order=1, lossy=self.lossy)
        with checked():
            return float(generating_function(chain, evaluation)[1])
