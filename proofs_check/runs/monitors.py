"""Monitors: statements about runs, written so that one step can violate them.

A monitor looks at a run after every step and either says nothing or what it saw instead of what
the statement promises. The same monitors judge random runs, the states of the joint chain and
the replay of a counterexample. A `Counter` is the special case "something happens at most k
times", which on the joint chain is decided by longest paths.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from markov_lrsao.model.law import StepLaw
from proofs_check.runs.run import Record, Run, SeenStep

__all__ = ["Counter", "Monitor", "step_monitor"]


@dataclass(frozen=True)
class Monitor:
    """A statement about single steps (and a little memory of earlier ones).

    Attributes
    ----------
    statement : id of the statement it belongs to
    part : which part of the statement
    expected : what is promised
    look : (run after the step, the step, memory) -> (memory, what was seen or None)
    start : the memory before the first step
    """

    statement: str
    part: str
    expected: str
    look: Callable[[Run, Record, Any], tuple[Any, str | None]]
    start: Hashable = None


def step_monitor(
    statement: str, part: str, expected: str, look: Callable[[Run, Record], str | None]
) -> Monitor:
    """Return a monitor without memory: `look` says what was seen, or None."""
    return Monitor(statement, part, expected, lambda run, step, memory: (None, look(run, step)))


@dataclass(frozen=True)
class Counter:
    """The statement that a step of some sort happens at most `bound` times.

    Attributes
    ----------
    counts : (law, step) -> does this step count?
    resets : (law, step) -> does it set the count back to 0 (a new walk begins)?
    key : name for what is counted, for messages
    """

    statement: str
    part: str
    key: str
    bound: int
    counts: Callable[[StepLaw, SeenStep], bool]
    resets: Callable[[StepLaw, SeenStep], bool] = lambda law, step: False

    @property
    def expected(self) -> str:
        """What is promised."""
        return f"{self.key}: at most {self.bound}"

    def after(self, law: StepLaw, step: SeenStep, count: int) -> int:
        """Return the count after a step."""
        if self.resets(law, step):
            count = 0
        return count + self.counts(law, step)

    def monitor(self) -> Monitor:
        """Return the counter as a monitor whose memory is the count."""

        def look(run: Run, record: Record, count: int) -> tuple[int, str | None]:
            count = self.after(run.law, record, count)
            return count, f"{self.key}: {count}" if count > self.bound else None

        return Monitor(self.statement, self.part, self.expected, look, 0)
