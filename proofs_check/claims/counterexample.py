"""Counterexamples: concrete numbers, and a run that a person can replay step by step.

A counterexample to a statement about runs is a landscape, an algorithm and a list of
(action, direction) choices from the start; everything else follows. One to a formula is a point at
which two sides differ. Both name the part of the statement that they contradict (or the claim, if
it is a user's own), so that `markov-lrsao replay` can compute it anew: what a file says to have
been observed is compared, never believed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from markov_lrsao.errors import FileFormatError
from markov_lrsao.inputs import load_json, read_text

__all__ = ["OWN", "Counterexample"]

FORMAT = "markov-lrsao counterexample 2"
_FIRST_FORMAT = "markov-lrsao counterexample 1"
_SINCE_2 = ("part", "claim", "terms", "algorithm")

OWN = "own claim"
"""Stands for the statement where the claim is a user's own."""


@dataclass(frozen=True, kw_only=True)
class Counterexample:
    """What contradicts a statement.

    Attributes
    ----------
    statement : the id of the statement
    expected, observed : what the statement says, and what happens instead
    part : the part of the statement; None in files of version 1, which do not name it
    claim : a user's own claim; "" for statements of the paper
    terms : terms of the statement that were changed, key -> text
    values : name -> exact text, e.g. {"n": "9", "l": "2", "alpha": "4/5"}
    algorithm : "lrsao", "earl", "rls", or the coefficients of another algorithm by name
    objectives : short name -> values at the positions 0..n (fractions as text); empty for a formula
    target, milestones : of the landscape
    steps : (action, "up" or "down") from the all-zeros string with a fresh Q-table
    """

    statement: str
    expected: str
    observed: str
    part: str | None = ""
    claim: str = ""
    terms: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    algorithm: str | Mapping[str, str] = "lrsao"
    objectives: Mapping[str, tuple[int | str, ...]] = field(default_factory=dict)
    target: str = ""
    milestones: tuple[int, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()

    @property
    def replayable(self) -> bool:
        """Whether it is a run (rather than a point at which a formula fails)."""
        return bool(self.objectives)

    def describe(self) -> str:
        """Return one line for people."""
        at = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        run = f"; run of {len(self.steps)} steps" if self.replayable else ""
        return f"{at}{run}: expected {self.expected}; observed {self.observed}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": FORMAT,
            "statement": self.statement,
            "part": self.part,
            "claim": self.claim,
            "terms": dict(self.terms),
            "expected": self.expected,
            "observed": self.observed,
            "values": dict(self.values),
            "algorithm": self.algorithm
            if isinstance(self.algorithm, str)
            else dict(self.algorithm),
            "objectives": {name: list(v) for name, v in self.objectives.items()},
            "target": self.target,
            "milestones": list(self.milestones),
            "steps": [list(step) for step in self.steps],
        }

    @classmethod
    def from_dict(cls, data: Any, source: str = "counterexample") -> Counterexample:
        """Read the JSON form; files of version 1 have no part, claim, terms and algorithm.

        Raises
        ------
        FileFormatError
            A key is missing or unknown, or a value is of the wrong kind.
        """
        known = {"format", *(f.name for f in fields(cls))}
        version = data.get("format") if isinstance(data, dict) else None
        if version == _FIRST_FORMAT:
            known -= set(_SINCE_2)
        elif version != FORMAT:
            raise FileFormatError(f'{source}: not a counterexample ("format": "{FORMAT}" needed)')
        if set(data) != known:
            wrong = sorted(set(data) ^ known)
            raise FileFormatError(f"{source}: missing or unknown keys {wrong}")
        if version == _FIRST_FORMAT:
            data = {**data, "part": None, "claim": "", "terms": {}, "algorithm": "lrsao"}
        try:
            steps = tuple((str(a), str(d)) for a, d in data["steps"])
            objectives = {str(k): tuple(map(_value, v)) for k, v in data["objectives"].items()}
            values, terms = (_texts(data[key]) for key in ("values", "terms"))
            milestones = tuple(int(m) for m in data["milestones"])
            algorithm = data["algorithm"]
            algorithm = algorithm if isinstance(algorithm, str) else _texts(algorithm)
        except (AttributeError, TypeError, ValueError) as error:
            raise FileFormatError(f"{source}: {error}") from None
        if any(d not in ("up", "down") for _, d in steps):
            raise FileFormatError(f'{source}: a direction must be "up" or "down"')
        if steps and not objectives:
            raise FileFormatError(f"{source}: a run needs the objectives it is made on")
        return cls(
            statement=str(data["statement"]),
            expected=str(data["expected"]),
            observed=str(data["observed"]),
            part=None if data["part"] is None else str(data["part"]),
            claim=str(data["claim"]),
            terms=terms,
            values=values,
            algorithm=algorithm,
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


def _value(given: Any) -> int | str:
    """Return a value of an objective: an integer, or a fraction as text."""
    return given if isinstance(given, str) and "/" in given else int(given)


def _texts(mapping: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in mapping.items()}
