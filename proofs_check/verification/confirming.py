"""Counterexamples judged: the claim is computed anew on the run, or at the point.

Nothing that a counterexample says about itself is believed. Its run is played from its own numbers;
landscape, algorithm and hyper-parameters must be those that the statement speaks about; then the
statement's monitors watch the run, or its function looks at the point. What they see is the
verdict, and what the file says to have been observed is held against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from markov_lrsao.errors import LrsaoError, ParameterError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import hypothesis_h
from proofs_check.claims.counterexample import OWN, Counterexample
from proofs_check.claims.setting import Setting
from proofs_check.own.language import parse_claim
from proofs_check.own.targets import first_violation
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.runs.run import Record, choices_of, law_at, replay
from proofs_check.runs.search import watch
from proofs_check.statements.statement import Statement
from proofs_check.statements.workspace import Workspace
from proofs_check.verification.changes import check_changes
from proofs_check.verification.registry import all_statements, find, workspace_of

__all__ = ["Judgement", "Status", "confirm"]


class Status(StrEnum):
    """What became of a counterexample."""

    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not confirmed"
    CANNOT_BE_JUDGED = "cannot be judged"


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was computed anew.

    Attributes
    ----------
    reason : why it is confirmed, or not
    steps : after how many steps the run violates the claim; None for a point, or if it does not
    seen : what is seen there
    expected : what the claim promises, in the statement's words
    hypothesis : whether the hyper-parameters satisfy (H), in words; "" where that has no meaning
    records : the steps of the run, as far as it can be played
    remarks : where the file says something else
    """

    status: Status
    reason: str
    steps: int | None = None
    seen: str = ""
    expected: str = ""
    hypothesis: str = ""
    records: tuple[Record, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement for machines; the steps of the run are not in it."""
        return {
            "status": self.status.value,
            "reason": self.reason,
            "violated_after": self.steps,
            "seen": self.seen,
            "expected": self.expected,
            "hypothesis": self.hypothesis,
            "remarks": list(self.remarks),
        }


def confirm(
    counterexample: Counterexample, setting: Setting | None = None, *, again: bool = True
) -> Judgement:
    """Judge a counterexample.

    Parameters
    ----------
    setting : model and hypothesis of the statement, by default the paper's; changed terms of the
        statement are read from the counterexample
    again : where a statement has nothing that judges a single run or point, run its checks again
        and see whether they come to the very same one

    >>> confirm(Counterexample(statement="Smallest n", expected="", observed="",
    ...         values={"n": "8"})).status.value
    'confirmed'
    """
    try:
        judged = _judged(counterexample, setting if setting is not None else Setting(), again)
    except _Impossible as error:
        return Judgement(status=Status.NOT_CONFIRMED, reason=str(error))
    except LrsaoError as error:
        return Judgement(status=Status.CANNOT_BE_JUDGED, reason=str(error))
    remarks = list(judged.remarks)
    if judged.status is Status.CONFIRMED and judged.seen != counterexample.observed:
        remarks.append(f"the file says {counterexample.observed!r} instead")
    if judged.steps is not None and judged.steps < len(counterexample.steps):
        more = len(counterexample.steps) - judged.steps
        remarks.append(f"the last {more} steps of the run are not needed")
    return replace(judged, remarks=tuple(remarks))


class _Impossible(Exception):
    """The run cannot be made, or is none that the statement speaks about."""


def _judged(bad: Counterexample, setting: Setting, again: bool) -> Judgement:
    if bad.statement == OWN:
        return _own(bad)
    try:
        statement = find(bad.statement)
    except ParameterError as error:
        raise ParameterError(f"the statement is unknown: {error}") from None
    terms = {(statement.id, key): text for key, text in bad.terms.items()}
    setting = setting.mutate(terms={**setting.terms, **terms})
    check_changes(setting, all_statements())
    workspace = workspace_of(setting)
    changed = tuple(
        f"the claim was changed: {key!r} is {text}, the paper has {statement.terms.get(key)}"
        for key, text in bad.terms.items()
        if text != statement.terms.get(key)
    )
    found = (_run if bad.replayable else _point)(bad, statement, workspace)
    if found is None and not again:
        raise ParameterError(
            f"{statement.id} has nothing that judges a single witness of this part"
        )
    if found is None:
        found = _found_again(bad, statement, setting)
    return replace(found, remarks=(*changed, *found.remarks))


def _played(bad: Counterexample) -> tuple[StepLaw, tuple[Record, ...], str]:
    """Return law and steps of a run, and whether (H) holds, in words."""
    law = law_at(bad)
    try:
        records = tuple(replay(bad)[1])
    except ParameterError as error:
        raise _Impossible(f"the run cannot be made: {error}") from None
    parameters = law.algorithm.parameters
    if parameters is None:
        return law, records, ""
    h = hypothesis_h(law.landscape, parameters)
    return law, records, f"{'satisfied' if h.holds else 'NOT satisfied'}: {h.describe()}"


def _not_needed(hypothesis: str) -> str:
    unmet = hypothesis.startswith("NOT")
    return f"{hypothesis}; the claim does not assume it" if unmet else hypothesis


def _own(bad: Counterexample) -> Judgement:
    claim = parse_claim(bad.claim)
    law, records, hypothesis = _played(bad)
    found = first_violation(claim, law, choices_of(bad))
    return _watched(found, str(claim), _not_needed(hypothesis), records)


def _watched(
    found: tuple[int, str] | None, expected: str, hypothesis: str, records: tuple[Record, ...]
) -> Judgement:
    if found is None:
        return Judgement(
            status=Status.NOT_CONFIRMED,
            reason=f"the run of {len(records)} steps does not violate the claim",
            expected=expected,
            hypothesis=hypothesis,
            records=records,
        )
    return Judgement(
        status=Status.CONFIRMED,
        reason=f"the run violates the claim after {found[0]} steps",
        steps=found[0],
        seen=found[1],
        expected=expected,
        hypothesis=hypothesis,
        records=records,
    )


def _run(bad: Counterexample, statement: Statement, workspace: Workspace) -> Judgement | None:
    """Judge a run by the statement's monitors; None if it has none for this part."""
    law, records, hypothesis = _played(bad)
    monitors = _monitors(statement, workspace, law)
    if bad.part is not None:
        monitors = [m for m in monitors if m.part == bad.part]
    if not monitors:
        return None
    why = _outside(statement, workspace.setting, law)
    if why is not None:
        return Judgement(
            status=Status.NOT_CONFIRMED,
            reason=why,
            expected=monitors[0].expected,
            hypothesis=hypothesis,
            records=records,
        )
    if statement.general:
        hypothesis = _not_needed(hypothesis)
    choices = choices_of(bad)
    seen = [(found, m) for m in monitors if (found := watch(law, choices, m)) is not None]
    if not seen:
        return _watched(None, monitors[0].expected, hypothesis, records)
    found, monitor = min(seen, key=lambda pair: pair[0][0])
    return _watched(found, monitor.expected, hypothesis, records)


def _monitors(statement: Statement, workspace: Workspace, law: StepLaw) -> list[Monitor]:
    found: list[Monitor | Counter] = []
    if statement.monitors is not None:
        found += statement.monitors(workspace)
    if statement.watched is not None:
        found += statement.watched(workspace, law)
    return [m.monitor() if isinstance(m, Counter) else m for m in found]


def _outside(statement: Statement, setting: Setting, law: StepLaw) -> str | None:
    """Return why a run is none that the statement speaks about, or None."""
    shape, parameters = law.landscape, law.algorithm.parameters
    if parameters is None or law.algorithm != setting.algorithm(parameters):
        return f"the run is one of {law.algorithm.name}, not of the statement's algorithm"
    if statement.general:
        return None if parameters.r > 0 else f"{statement.id} is about r > 0"
    try:
        own = setting.family.at(shape.n, shape.ell)
    except ParameterError as error:
        return f"the instance is none of the statement's: {error}"
    content = [(x.target, x.milestones, x.listed()) for x in (shape, own)]
    if content[0] != content[1]:
        return f"the landscape is not {setting.family.name} at n = {shape.n}, l = {shape.ell}"
    if not setting.admits(shape.n, shape.ell, parameters):
        return "the hyper-parameters violate the statement's hypothesis (H)"
    return None


def _point(bad: Counterexample, statement: Statement, workspace: Workspace) -> Judgement | None:
    """Judge a point by the statement's own function; None if it has none for this part."""
    parts: Sequence[str] = list(statement.points) if bad.part is None else [bad.part]
    judges: Mapping[str, Any] = {p: statement.points[p] for p in parts if p in statement.points}
    if not judges:
        return None
    for judge in judges.values():
        seen = judge(workspace, bad.values)
        if seen is not None:
            return Judgement(
                status=Status.CONFIRMED,
                reason="the claim fails at the point",
                seen=seen,
                expected=statement.claim,
            )
    return Judgement(
        status=Status.NOT_CONFIRMED,
        reason="the claim does not fail at the point",
        expected=statement.claim,
    )


def _found_again(bad: Counterexample, statement: Statement, setting: Setting) -> Judgement:
    """Run the checks of a statement again, and look for the same witness.

    Raises
    ------
    ParameterError
        They do not come to it: that says nothing about it.
    """
    from proofs_check.verification.checking import verify

    [result] = verify([statement.id], setting)
    for found in result.counterexamples:
        same = found.values == bad.values and found.steps == bad.steps
        if same and bad.part in (None, found.part) and found.objectives == bad.objectives:
            return Judgement(
                status=Status.CONFIRMED,
                reason="the checks of the statement, run again, come to the same witness",
                seen=found.observed,
                expected=found.expected,
            )
    raise ParameterError(
        f"{statement.id} has nothing that judges a single witness, and its checks, run again, do "
        f"not come to this one"
    )
