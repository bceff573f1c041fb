"""`markov-lrsao replay`: a counterexample's run, step by step, with exact Q-values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import emit
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from proofs_check.claims.counterexample import Counterexample
    from proofs_check.runs.run import Record

__all__ = ["replay"]


def replay(
    file: Annotated[Path, typer.Argument(help="Counterexample written by `verify --save`.")],
    as_json: JsonOption = False,
) -> None:
    """Replay a counterexample: every step with the exact Q-entry it changes."""
    from proofs_check.claims.counterexample import Counterexample
    from proofs_check.runs.run import replay as play

    bad = Counterexample.load(file)
    records = play(bad)[1] if bad.replayable else None
    emit(as_json, lambda: _object(bad, records), lambda: _text(bad, records))


def _object(bad: Counterexample, records: Sequence[Record] | None) -> dict[str, Any]:
    from markov_lrsao.exact.rationals import rational_text

    about = {
        "statement": bad.statement,
        "expected": bad.expected,
        "observed": bad.observed,
        "values": dict(bad.values),
    }
    if records is None:
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
        for r in records
    ]
    return {**about, "steps": steps}


def _text(bad: Counterexample, records: Sequence[Record] | None) -> str:
    from markov_lrsao.exact.rationals import rational_text, shorten

    if records is None:
        return f"{bad.statement}: a point, not a run\n{bad.describe()}"
    at = ", ".join(f"{k} = {shorten(v, 40)}" for k, v in bad.values.items())
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
    return (
        f"counterexample to {bad.statement}\n{at}\n\n"
        f"{table(header, rows, right=[0, 1, 2, 6, 7, 8, 9])}\n\n"
        f"expected: {bad.expected}\nobserved: {bad.observed}"
    )
