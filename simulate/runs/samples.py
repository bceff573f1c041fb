"""What a simulation returns: frozen records of runs, monitors and violations.

A run that reached its step limit is *censored*: it has no runtime, only a number of steps spent,
and every statistic has to say what it does with it. Nothing here averages over censored runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from markov_lrsao.exact.frames import data_frame
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.law import StepLaw
from simulate.runs.searching import SearchTable

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Table

__all__ = ["Arithmetic", "Kernel", "Monitors", "Samples", "Violation"]

Kernel = Literal["event", "step"]
Arithmetic = Literal["exact", "float64"]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Violation:
    """The first step that broke a rule, and how the run got there.

    Attributes
    ----------
    rule : one of `simulate.runs.rules.RULES`
    seed, run : which run it is; they replay it
    step : number of steps made when it happened
    state : the agent's state (the target's value, as text where it is a fraction) before the step,
        whose row was updated
    position, action : where the last step began, and the objective it used
    q_row : (short name, value, error bound) of the row's entries after the step; a value is
        mantissa * 2^exponent, written as text because it may be far below the smallest float
    trace : lines (time, position, tied actions, rejections, action, direction) up to the step
    """

    rule: str
    seed: int
    run: int
    step: int
    state: int | str
    position: int
    action: str
    q_row: tuple[tuple[str, str, str], ...]
    trace: tuple[tuple[int, int, tuple[str, ...], int, str | None, int | None], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "rule": self.rule,
            "seed": self.seed,
            "run": self.run,
            "step": self.step,
            "state": self.state,
            "position": self.position,
            "action": self.action,
            "q_row": {name: {"value": value, "error": error} for name, value, error in self.q_row},
            "trace": [list(line) for line in self.trace],
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Monitors:
    """Counts over all runs of a simulation.

    Attributes
    ----------
    visits : [position] arrivals at a position (the start counts as one)
    uses : [phase, position, action] steps in which an objective was chosen
    positives : [row, c] runs in which c was the most positive entries that the row ever had; an
        entry whose error bar contains 0 is not counted as positive
    violation : of the run with the smallest number that broke a rule, the first step; or None
    """

    visits: IntArray
    uses: IntArray
    positives: IntArray
    violation: Violation | None

    def to_dict(self, actions: tuple[str, ...]) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "visits": self.visits.tolist(),
            "uses": [
                {name: self.uses[k, :, a].tolist() for a, name in enumerate(actions)}
                for k in range(len(self.uses))
            ],
            "positive_entries": self.positives.tolist(),
            "violation": self.violation.to_dict() if self.violation else None,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """The runs of one simulation.

    Attributes
    ----------
    hits : [run, phase] time at which each milestone was first reached, -1 if it was not; after
        a restart the times of the last attempt, on the clock of the whole run
    steps : [run] steps made, which is the runtime unless the run is censored
    censored : [run] whether the run did not end within the limit
    restarts : [run] number of restarts
    decisions : [run] choices that were left to exact arithmetic
    limit, restart : step limit and restart period, None if there is none
    stuck : [run] position at which a censored run surely stays for ever, else -1; None where it
        was not recorded. The event kernel sees it where every move is rejected
    events : [run] draws that the kernel made, which is what a run costs; None: not recorded
    """

    law: StepLaw | JumpingLaw | SearchTable = field(repr=False)
    seed: int
    path: tuple[int, ...]
    first_run: int
    kernel: Kernel
    arithmetic: Arithmetic
    limit: int | None
    restart: int | None
    hits: IntArray
    steps: IntArray
    censored: npt.NDArray[np.bool_]
    restarts: IntArray
    decisions: IntArray
    seconds: float
    monitors: Monitors | None = None
    stuck: IntArray | None = None
    events: IntArray | None = None

    @classmethod
    def joined(cls, parts: Sequence[Samples]) -> Samples:
        """Return runs that were played in parts, one after the other, without monitors."""
        both: dict[str, Any] = {"seconds": sum(part.seconds for part in parts)}
        for name in ("hits", "steps", "censored", "restarts", "decisions", "stuck", "events"):
            columns = [getattr(part, name) for part in parts]
            both[name] = None if any(c is None for c in columns) else np.concatenate(columns)
        return replace(parts[0], **both)

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.steps)

    @property
    def times(self) -> IntArray:
        """Runtimes of the runs that ended."""
        return self.steps[~self.censored]

    @property
    def phase_times(self) -> IntArray:
        """[run, phase] durations of the phases, of the runs that ended."""
        return np.diff(self.hits[~self.censored], axis=1, prepend=0)

    def to_frame(self) -> DataFrame:
        """Return a table with one line per run; phase times of censored runs are missing."""
        times = np.full(self.hits.shape, np.nan)
        times[~self.censored] = self.phase_times
        return data_frame(
            {
                "run": self.first_run + np.arange(self.runs),
                "steps": self.steps,
                "censored": self.censored,
                "restarts": self.restarts,
            }
            | {f"phase{k}": column for k, column in enumerate(times.T, start=1)}
        )

    def to_arrow(self) -> Table:
        """Return a pyarrow Table with one line per run and the settings in its metadata."""
        from simulate.runs.tables import arrow_table

        return arrow_table(self)

    def save(self, path: str | Path) -> None:
        """Write one line per run; .csv, .parquet, .arrow or .feather says the format."""
        from simulate.runs.tables import write_runs

        write_runs(self, path)

    def describe(self) -> dict[str, Any]:
        """Return what was simulated, for results and files."""
        landscape, algorithm = self.law.landscape, self.law.algorithm
        parameters = alpha = gamma = None
        if isinstance(algorithm, Algorithm):
            parameters = algorithm.parameters
            if algorithm.learn != 0:
                alpha = rational_text(algorithm.learn)
                gamma = rational_text(algorithm.bootstrap / algorithm.learn)
        return {
            "landscape": landscape.name,
            "algorithm": algorithm.name,
            "n": landscape.n,
            "ell": landscape.ell,
            "alpha": alpha,
            "gamma": gamma,
            "r": rational_text(parameters.r) if parameters else None,
            "runs": self.runs,
            "seed": self.seed,
            "kernel": self.kernel,
            "arithmetic": self.arithmetic,
            "limit": self.limit,
            "restart": self.restart,
        }
