"""`markov-lrsao verify`: a verdict on every statement of the paper."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from markov_lrsao.cli.completion import statements
from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import json_text

__all__ = ["register"]


class Level(StrEnum):
    """How far ranges go."""

    quick = "quick"
    full = "full"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify", epilog='Example: markov-lrsao verify "Lemma 10"')(verify)


def verify(
    statement: Annotated[
        list[str] | None,
        typer.Argument(
            help='Statements such as "Lemma 10"; all if none is given.', autocompletion=statements
        ),
    ] = None,
    level: Annotated[
        Level, typer.Option(help="quick: two minutes; full: some five minutes.")
    ] = Level.quick,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write a linked report to this file.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", help="Write counterexamples (JSON, for `replay`) into this folder."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything is REFUTED or UNKNOWN.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--list", help="Only list the statements that can be checked.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Check statements of the paper and print a verdict with its evidence for each."""
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.report.files import check_writable, write_whole
    from markov_lrsao.tables import VERDICT_COLOURS, show
    from proofs_check import Setting, Verdict
    from proofs_check import verify as run
    from proofs_check.statements.registry import all_statements
    from proofs_check.statements.report import (
        detail_text,
        json_report,
        markdown_report,
        summary_text,
        table_text,
    )

    if names:
        known = all_statements().values()
        print(
            json_text({"statements": [{"id": s.id, "title": s.title} for s in known]})
            if as_json
            else "\n".join(f"{s.id}: {s.title}" for s in known)
        )
        return 0
    setting = Setting(level=level.value)
    if markdown is not None:
        check_writable(markdown, "markdown")
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        check_writable(save / "x", "save")
    results = run(statement, setting, progress=terminal_progress)
    if markdown is not None:
        write_whole(markdown, markdown_report(results, level.value))
    if save is not None:
        for result in results:
            for number, bad in enumerate(result.counterexamples):
                name = "".join(c if c.isalnum() else "-" for c in result.id).strip("-").lower()
                suffix = f"-{number + 1}" if len(result.counterexamples) > 1 else ""
                text = json_text(bad.to_dict(), indent=1) + "\n"
                write_whole(save / f"{name}{suffix}.json", text)
    if as_json:
        print(json_text(json_report(results, level.value)))
    elif statement:
        show("\n\n".join(detail_text(result) for result in results), VERDICT_COLOURS)
    else:
        show(table_text(results) + "\n\n" + summary_text(results), VERDICT_COLOURS)
    worrying = any(r.verdict in (Verdict.REFUTED, Verdict.UNKNOWN) for r in results)
    return 1 if strict and worrying else 0
