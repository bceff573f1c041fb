"""Runs that cannot end: found in a simulation's censored runs, and explained by their trap.

The event kernel itself sees a run at a position where every further move is rejected. Runs that go
round in accepted moves look like slow ones; for them the exact engine is asked whether the
optimum may never be reached, within a small limit of states, so that it takes seconds at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from markov_lrsao.answers.expected import runtime
from markov_lrsao.errors import LrsaoError
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.progress import Progress, no_progress
from simulate.runs.samples import Samples

__all__ = ["Endless", "explain"]

_MOST_STATES = 20_000
_LARGEST_N = 1000


@dataclass(frozen=True)
class Endless:
    """Why runs cannot end.

    Attributes
    ----------
    run : a run that surely never ends, None if it is not known which
    position : where it stays, if every move is rejected there
    state : a state that is met again and again for ever, if the engine has found one
    probability : that a run gets there
    """

    run: int | None
    position: int | None
    state: str | None
    probability: Quantity | None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "run": self.run,
            "position": self.position,
            "state": self.state,
            "probability": None if self.probability is None else self.probability.to_dict(),
        }

    def text(self, seed: int) -> str:
        """Return it for people."""
        lines = []
        if self.run is not None:
            lines.append(
                f"run {self.run:,} of seed {seed} can never end: at position "
                f"{self.position:,} every further move is rejected"
            )
        if self.probability is not None:
            exact = f"{self.probability}, about {float(self.probability):.6g}"
            size = exact if self.probability.exact else f"in {self.probability}"
            lines.append(
                f"a run gets stuck for ever with probability {size}, e.g. in the state\n"
                f"  {self.state}"
            )
        return "\n".join(lines)


def explain(samples: Samples, progress: Progress = no_progress) -> Endless | None:
    """Return why censored runs cannot end; None if there are none, or it is not known."""
    if not samples.censored.any() or samples.restart is not None:
        return None
    run = position = None
    if samples.stuck is not None and (samples.stuck >= 0).any():
        first = int(np.flatnonzero(samples.stuck >= 0)[0])
        run, position = samples.first_run + first, int(samples.stuck[first])
    trap = None
    if samples.arithmetic == "exact" and samples.law.n <= _LARGEST_N:
        try:
            trap = runtime(
                samples.law.landscape,
                samples.law.algorithm,
                outside_h=True,
                max_states=_MOST_STATES,
                progress=progress,
            ).trap
        except LrsaoError:
            trap = None  # the engine does not know; the simulation says what it saw
    if trap is not None and not trap.lower > 0:
        trap = None  # it may be that nobody ever gets there
    if run is None and trap is None:
        return None
    return Endless(
        run,
        position,
        None if trap is None else trap.state,
        None if trap is None else trap.probability,
    )
