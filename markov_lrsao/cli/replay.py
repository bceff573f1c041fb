"""`markov-lrsao replay`: a counterexample judged, its run step by step with exact Q-values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import emit
from markov_lrsao.tables import table
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from proofs_check.claims.counterexample import Counterexample
    from proofs_check.runs.run import Record
    from proofs_check.verification.confirming import Judgement

__all__ = ["replay"]

_CODES = {"confirmed": 0, "not confirmed": 1, "cannot be judged": 3}


def replay(
    file: Annotated[Path, typer.Argument(help="Counterexample written by `verify --save`.")],
    as_json: JsonOption = False,
) -> int:
    """Judge a counterexample: play its run with exact Q-values and compute the claim anew.

    What the file says to have been observed is compared, not believed. Exit code 0: confirmed;
    1: not confirmed; 2: unreadable; 3: cannot be judged.
    """
    from proofs_check.claims.counterexample import Counterexample
    from proofs_check.runs.run import law_at
    from proofs_check.verification.confirming import confirm

    bad = Counterexample.load(file)
    if bad.replayable:
        law_at(bad)  # numbers that make no landscape or algorithm are an unreadable file
    judged = confirm(bad)
    emit(as_json, lambda: _object(bad, judged), lambda: printable(_text(bad, judged), "\n"))
    return _CODES[judged.status.value]


def _object(bad: Counterexample, judged: Judgement) -> dict[str, Any]:
    from markov_lrsao.exact.rationals import rational_text

    about = {
        "statement": bad.statement,
        "part": bad.part,
        "claim": bad.claim or _about(bad)[1],
        "terms": dict(bad.terms),
        "values": dict(bad.values),
        "judgement": judged.to_dict(),
        "said_to_be_observed": bad.observed,
    }
    if not bad.replayable:
        return about
    steps = [
        {
            "time": r.time,
            "position": r.position,
            "tied": list(r.tied),
            "step": r.sign,
            "accepted": r.accepted,
            "reward": rational_text(r.reward),
            "old": rational_text(r.old),
            "new": rational_text(r.new),
            "next_position": r.next_position,
            "phase": r.phase,
        }
        for r in judged.records
    ]
    landscape = {"objectives": {k: list(v) for k, v in bad.objectives.items()}}
    return {**about, "target": bad.target, **landscape, "steps": steps}


def _about(bad: Counterexample) -> tuple[str, str]:
    """Return a heading and the claim in words."""
    from proofs_check.claims.counterexample import OWN
    from proofs_check.verification.registry import all_statements

    if bad.statement == OWN:
        return "counterexample to an own claim", bad.claim
    statement = all_statements().get(bad.statement)
    part = f", part {bad.part}" if bad.part else ""
    if statement is None:
        return f"counterexample to {bad.statement}{part}", "(no such statement)"
    title = f"{statement.id}{part}: {statement.title} (source lines {statement.where})"
    return f"counterexample to {title}", statement.claim


def _text(bad: Counterexample, judged: Judgement) -> str:
    from markov_lrsao.exact.rationals import shorten

    heading, claim = _about(bad)
    at = ", ".join(f"{k} = {shorten(v, 40)}" for k, v in bad.values.items())
    lines = [heading, claim, at]
    if judged.hypothesis:
        lines.append(f"hypothesis (H): {judged.hypothesis}")
    if bad.replayable:
        lines += ["", *_landscape(bad)]
    if judged.records:
        lines += ["", _steps(judged.records)]
    lines.append("")
    if judged.expected and judged.expected != claim:
        lines.append(f"expected: {judged.expected}")
    if judged.seen:
        lines.append(f"observed: {judged.seen}")
    lines += [f"{judged.status.value}: {judged.reason}", *judged.remarks]
    return "\n".join(lines)


def _landscape(bad: Counterexample) -> list[str]:
    """Return the landscape in words: a family's name, or the values of all objectives."""
    from markov_lrsao.model.landscape import FAMILIES
    from proofs_check.runs.run import law_at

    law = law_at(bad)
    shape = law.landscape
    own = shape.listed()
    for name, family in FAMILIES.items():
        span = family.ell_range(shape.n)
        if span is not None and span[0] <= shape.ell <= span[1]:
            known = family.at(shape.n, shape.ell)
            if own == known.listed():
                return [f"{law.algorithm.name} on {name}"]
    rows = [
        f"  {name}: {' '.join(map(str, values))}{' (target)' if name == shape.target else ''}"
        for name, values in own.items()
    ]
    return [f"{law.algorithm.name} on the objectives, at positions 0..{shape.n}", *rows]


def _steps(records: tuple[Record, ...]) -> str:
    from markov_lrsao.exact.rationals import rational_text, shorten

    rows = [
        [
            str(r.time),
            str(r.phase),
            str(r.position),
            ",".join(r.tied),
            r.sign,
            "accepted" if r.accepted else "rejected",
            rational_text(r.reward),
            shorten(rational_text(r.old), 28),
            shorten(rational_text(r.new), 28),
            str(r.next_position),
        ]
        for r in records
    ]
    header = ["t", "phase", "position", "largest", "step", "outcome", "reward"]
    header += ["Q before", "Q after", "next"]
    return table(header, rows, right=[0, 1, 2, 6, 7, 8, 9])
