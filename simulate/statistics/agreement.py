"""What a cross-validation finds: experiments with their tests, and the verdict on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulate.runs.samples import Samples
from simulate.statistics.comparisons import Comparison

__all__ = ["Agreement", "Experiment"]


@dataclass(frozen=True)
class Experiment:
    """One (n, l) at one point of (H): how it was simulated and what came out.

    Attributes
    ----------
    omitted : what could not be compared, and why; empty where everything was
    """

    n: int
    ell: int
    point: str
    runs: int
    seed: int
    comparisons: tuple[Comparison, ...]
    limit: int | None = None
    method: str = ""
    decisions: int = 0
    omitted: str = ""

    def and_then(
        self,
        tests: Sequence[Comparison],
        samples: Samples | None = None,
        method: str = "",
        omitted: str = "",
    ) -> Experiment:
        """Return the experiment with more tests, and how they were made."""
        return replace(
            self,
            comparisons=(*self.comparisons, *tests),
            limit=None if samples is None else samples.limit,
            method=method,
            decisions=0 if samples is None else int(samples.decisions.sum()),
            omitted=omitted,
        )


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """All experiments, and what the family of tests says.

    Attributes
    ----------
    level : family-wise error level
    threshold : p-value below which a single test fails, level / number of tests
    largest_z : the same as a bound on |z|
    """

    level: float
    experiments: tuple[Experiment, ...]

    @property
    def tests(self) -> int:
        """Number of tests."""
        return sum(len(experiment.comparisons) for experiment in self.experiments)

    @property
    def threshold(self) -> float:
        """Level of one test."""
        return self.level / self.tests

    @property
    def largest_z(self) -> float:
        """Largest |z| that passes."""
        from scipy.stats import norm

        return float(norm.isf(self.threshold / 2))

    @property
    def failures(self) -> tuple[tuple[Experiment, Comparison], ...]:
        """The tests that fail, with their experiments."""
        return tuple(
            (experiment, c)
            for experiment in self.experiments
            for c in experiment.comparisons
            if not c.p_value >= self.threshold
        )

    @property
    def agrees(self) -> bool:
        """Whether no test fails."""
        return not self.failures

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "agrees": self.agrees,
            "family_wise_level": self.level,
            "tests": self.tests,
            "p_threshold": self.threshold,
            "z_threshold": self.largest_z,
            "failures": [
                {
                    "n": experiment.n,
                    "ell": experiment.ell,
                    "point": experiment.point,
                    "quantity": c.quantity,
                    "p_value": c.p_value,
                }
                for experiment, c in self.failures
            ],
            "experiments": [
                {
                    "n": experiment.n,
                    "ell": experiment.ell,
                    "point": experiment.point,
                    "runs": experiment.runs,
                    "seed": experiment.seed,
                    "limit": experiment.limit,
                    "exact_method": experiment.method,
                    "exact_decisions": experiment.decisions,
                    "omitted": experiment.omitted or None,
                    "tests": [c.to_dict() for c in experiment.comparisons],
                }
                for experiment in self.experiments
            ],
        }
