"""The answer of last resort: a simulation with the true semantics, labelled as such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markov_lrsao.tables import table

if TYPE_CHECKING:
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.levels import LeadingOnes
    from markov_lrsao.model.search import Search
    from markov_lrsao.progress import Progress
    from simulate.runs.samples import Samples

__all__ = ["Estimated", "estimate"]

_LIMIT = 10**8
_SEED = 1


@dataclass(frozen=True)
class Estimated:
    """A simulated mean of T and of the phases.

    Attributes
    ----------
    reason : why there is neither an exact value nor an enclosure
    """

    samples: Samples
    reason: str

    @property
    def censored(self) -> int:
        """How many runs did not end within the step limit."""
        return int(self.samples.censored.sum())

    def _named(self) -> list[tuple[str, Any]]:
        from simulate.statistics.estimates import mean_estimate

        if not len(self.samples.times):
            return []
        phases = self.samples.phase_times
        count = phases.shape[1]
        return [
            ("total", mean_estimate(self.samples.times)),
            *((f"phase{k + 1}", mean_estimate(phases[:, k])) for k in range(count) if count > 1),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: estimates with standard error and 95% interval."""
        result = self.samples.describe() | {
            "kind": "simulation",
            "exact": False,
            "reason": self.reason,
            "censored": self.censored,
        }
        for name, found in self._named():
            numbers = found.to_dict()
            result[name] = {"estimate": numbers.pop("value"), **numbers, "exact": False}
        return result

    def text(self) -> str:
        """Return a table for people."""
        described = self.samples.describe()
        size = f"n = {described['n']}" + (f", l = {described['ell']}" if described["ell"] else "")
        head = (
            f"{described['algorithm']} on {described['landscape']}, {size}\n"
            f"SIMULATED, not exact: {self.samples.runs:,} runs, seed {self.samples.seed}\n"
            f"because {self.reason}"
        )
        names = {"total": "E[T]"} | {f"phase{k}": f"E[T{k}]" for k in range(1, 10)}
        rows = [
            [names[name], f"{e.point:.6g}", f"{e.error:.2g}", f"[{e.low:.6g}, {e.high:.6g}]"]
            for name, e in self._named()
        ]
        body = table(["quantity", "mean", "standard error", "95% interval"], rows)
        foot = (
            ""
            if not self.censored
            else (
                f"\n\n{self.censored:,} runs did not end within {_LIMIT:,} steps and are left out: "
                f"the means are of the others, and E[T] may be infinite"
            )
        )
        return f"{head}\n\n{body}{foot}"


def estimate(
    landscape: Landscape | LeadingOnes,
    algorithm: Algorithm | Search,
    runs: int,
    reason: str,
    progress: Progress,
    *,
    start: str | None = None,
    at_least: str | None = None,
) -> Estimated:
    """Simulate an instance."""
    from simulate.runs.runner import kernel_of, simulate

    samples = simulate(
        landscape,
        algorithm,
        runs=runs,
        seed=_SEED,
        limit=_LIMIT,
        kernel=kernel_of(landscape, algorithm),
        start=start,
        at_least=at_least,
        progress=progress,
    )
    return Estimated(samples, reason)
