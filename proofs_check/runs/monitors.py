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

from proofs_check.runs.steps import Record, Run

__all__ = ["Counter", "Monitor"]


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


@dataclass(frozen=True)
class Counter:
    """The statement that a step of some sort happens at most `bound` times.

    Attributes
    ----------
    counts : does this step count?
    resets : does this step set the count back to 0 (a new walk begins)?
    key : name for what is counted, for messages
    """

    statement: str
    part: str
    key: str
    bound: int
    counts: Callable[[Record], bool]
    resets: Callable[[Record], bool] = lambda record: False

    @property
    def expected(self) -> str:
        """What is promised."""
        return f"{self.key}: at most {self.bound}"

    def monitor(self) -> Monitor:
        """Return the counter as a monitor whose memory is the count."""

        def look(run: Run, record: Record, count: int) -> tuple[int, str | None]:
            if self.resets(record):
                count = 0
            if self.counts(record):
                count += 1
                if count > self.bound:
                    return count, f"{self.key}: {count}"
            return count, None

        return Monitor(self.statement, self.part, self.expected, look, 0)
