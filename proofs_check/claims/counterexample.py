"""Counterexamples: concrete numbers, and a run that a person can replay step by step.

A counterexample to a statement about runs is a landscape, hyper-parameters and a list of
(action, direction) choices from the start; everything else follows from the algorithm. One to
a formula is a point at which two sides differ. Both say what was expected and what was
observed. The JSON form is what `markov-lrsao replay` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markov_lrsao.errors import FileFormatError
from markov_lrsao.inputs import load_json, read_text

__all__ = ["Counterexample"]

FORMAT = "markov-lrsao counterexample 1"


@dataclass(frozen=True, kw_only=True)
class Counterexample:
    """What contradicts a statement.

    Attributes
    ----------
    statement : the id of the statement
    expected, observed : what the statement says, and what happens instead
    values : name -> exact text, e.g. {"n": "9", "l": "2", "alpha": "4/5"}
    objectives : short name -> values at the positions 0..n; empty for a formula
    target, milestones : of the landscape
    steps : (action, "up" or "down") from the all-zeros string with a fresh Q-table
    """

    statement: str
    expected: str
    observed: str
    values: Mapping[str, str] = field(default_factory=dict)
    objectives: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    target: str = ""
    milestones: tuple[int, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()

    @property
    def replayable(self) -> bool:
        """Whether it is a run (rather than a point at which a formula fails)."""
        return bool(self.steps)

    def describe(self) -> str:
        """Return one line for people."""
        at = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        run = f"; run of {len(self.steps)} steps" if self.steps else ""
        return f"{at}{run}: expected {self.expected}; observed {self.observed}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": FORMAT,
            "statement": self.statement,
            "expected": self.expected,
            "observed": self.observed,
            "values": dict(self.values),
            "objectives": {name: list(v) for name, v in self.objectives.items()},
            "target": self.target,
            "milestones": list(self.milestones),
            "steps": [list(step) for step in self.steps],
        }

    @classmethod
    def from_dict(cls, data: Any, source: str = "counterexample") -> Counterexample:
        """Read the JSON form.

        Raises
        ------
        FileFormatError
            A key is missing or unknown, or a value is of the wrong kind.
        """
        known = {
            "format",
            "statement",
            "expected",
            "observed",
            "values",
            "objectives",
            "target",
            "milestones",
            "steps",
        }
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise FileFormatError(f'{source}: not a counterexample ("format": "{FORMAT}" needed)')
        if set(data) != known:
            wrong = sorted(set(data) ^ known)
            raise FileFormatError(f"{source}: missing or unknown keys {wrong}")
        try:
            steps = tuple((str(a), str(d)) for a, d in data["steps"])
            objectives = {str(k): tuple(int(x) for x in v) for k, v in data["objectives"].items()}
            values = {str(k): str(v) for k, v in data["values"].items()}
            milestones = tuple(int(m) for m in data["milestones"])
        except (AttributeError, TypeError, ValueError) as error:
            raise FileFormatError(f"{source}: {error}") from None
        if any(d not in ("up", "down") for _, d in steps):
            raise FileFormatError(f'{source}: a direction must be "up" or "down"')
        return cls(
            statement=str(data["statement"]),
            expected=str(data["expected"]),
            observed=str(data["observed"]),
            values=values,
            objectives=objectives,
            target=str(data["target"]),
            milestones=milestones,
            steps=steps,
        )

    def save(self, path: str | Path) -> None:
        """Write the JSON form."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Counterexample:
        """Read a file written by `save`."""
        return cls.from_dict(load_json(read_text(path), str(path)), str(path))
