"""The answer of last resort: a simulation with the true semantics, labelled as such.

Runs may take for ever, so all of them together have a budget: how often a kernel may draw.
They are played in parts whose sizes depend on what the runs before them took, and on nothing
else, so that an answer, or a refusal, is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markov_lrsao.errors import SolverError
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
_BUDGET = 10**9  # draws of the kernels: a minute or two
_FIRST_PART = 4
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
        rows = [
            [
                f"E[T{name.removeprefix('phase') if name != 'total' else ''}]",
                f"{e.point:.6g}",
                f"{e.error:.2g}",
                f"[{e.low:.6g}, {e.high:.6g}]",
            ]
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
    """Simulate an instance.

    Raises
    ------
    SolverError
        No run ended, or the budget was used up before all were played.
    """
    from markov_lrsao.progress import no_progress
    from simulate.runs.runner import check_runs, kernel_of, simulate
    from simulate.runs.samples import Samples

    check_runs(runs)
    parts: list[Samples] = []
    played, drawn, size = 0, 0, min(runs, _FIRST_PART)
    with progress("simulating", total=runs) as bar:
        while size > 0:
            part = simulate(
                landscape,
                algorithm,
                runs=size,
                seed=_SEED,
                limit=_LIMIT,
                first_run=played,
                kernel=kernel_of(landscape, algorithm),
                start=start,
                at_least=at_least,
                progress=no_progress,
            )
            assert part.events is not None
            parts.append(part)
            played, drawn = played + size, drawn + int(part.events.sum())
            bar.advance(size)
            size = _next_part(runs, played, drawn)
    found = Estimated(Samples.joined(parts), reason)
    if played < runs or not len(found.samples.times):
        raise SolverError(_refusal(found, runs, drawn), advised=True)
    return found


def _next_part(runs: int, played: int, drawn: int) -> int:
    """Return how many runs to play next: as many as before, if the budget most likely allows."""
    if drawn >= _BUDGET:
        return 0
    affordable = (_BUDGET - drawn) * played // max(drawn, 1)
    return min(runs - played, played, max(1, affordable))


def _refusal(found: Estimated, runs: int, drawn: int) -> str:
    """Say how far the simulation came, and what can be had instead."""
    ended = len(found.samples.times)
    why = "" if drawn < _BUDGET else f", for which {drawn:,} draws were made ({_BUDGET:,} allowed)"
    instead = (
        f"`--runs {ended}` estimates E[T] from as many"
        if ended == found.samples.runs
        else "a smaller n may be solved exactly; `markov-lrsao simulate` with `--limit` counts the "
        "runs that end by then"
    )
    return (
        f"{found.reason}; simulated instead, {ended:,} of {runs:,} runs ended: "
        f"{found.samples.runs:,} were played, up to {_LIMIT:,} steps each{why}; {instead}"
    )
