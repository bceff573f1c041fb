"""`markov-lrsao replay`: a counterexample's run, step by step, with exact Q-values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import json_text

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "replay",
        epilog="Example: markov-lrsao verify 'Lemma 5' --save bad\n"
        "         markov-lrsao replay bad/lemma-5.json",
    )(replay)


def replay(
    file: Annotated[Path, typer.Argument(help="Counterexample written by `verify --save`.")],
    as_json: JsonOption = False,
) -> None:
    """Replay a counterexample: every step with the exact Q-entry it changes."""
    from markov_lrsao.exact.rationals import rational_text, shorten
    from markov_lrsao.tables import show, table
    from proofs_check.claims.counterexample import Counterexample
    from proofs_check.runs.run import replay as play

    bad = Counterexample.load(file)
    if not bad.replayable:
        point = {
            "statement": bad.statement,
            "values": dict(bad.values),
            "expected": bad.expected,
            "observed": bad.observed,
        }
        if as_json:
            print(json_text(point))
        else:
            show(f"{bad.statement}: a point, not a run\n{bad.describe()}")
        return
    _, records = play(bad)
    if as_json:
        print(
            json_text(
                {
                    "statement": bad.statement,
                    "expected": bad.expected,
                    "observed": bad.observed,
                    "values": dict(bad.values),
                    "steps": [
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
                    ],
                }
            )
        )
        return
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
    header = [
        "t",
        "phase",
        "position",
        "largest",
        "step",
        "outcome",
        "reward",
        "Q before",
        "Q after",
        "next",
    ]
    show(
        f"counterexample to {bad.statement}\n{at}\n\n"
        f"{table(header, rows, right=[0, 1, 2, 6, 7, 8, 9])}\n\n"
        f"expected: {bad.expected}\nobserved: {bad.observed}"
    )
