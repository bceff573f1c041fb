"""`markov-lrsao verify`: a verdict on every statement of the paper."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.completion import statements
from markov_lrsao.cli.options import JsonOption, NamesOption
from markov_lrsao.cli.output import emit, json_text
from markov_lrsao.progress import terminal_progress
from markov_lrsao.storage import check_writable, write_whole
from markov_lrsao.tables import VERDICT_COLOURS

if TYPE_CHECKING:
    from proofs_check.claims.verdict import StatementResult

__all__ = ["verify"]


class Level(StrEnum):
    """How far ranges go."""

    quick = "quick"
    full = "full"


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
    names: NamesOption = False,
    as_json: JsonOption = False,
) -> int:
    """Check statements of the paper and print a verdict with its evidence for each."""
    from proofs_check import Setting, Verdict
    from proofs_check import verify as run
    from proofs_check.verification.report import json_report, markdown_report

    if names:
        _list(as_json)
        return 0
    if markdown is not None:
        check_writable(markdown, "markdown")
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        check_writable(save / "x", "save")
    results = run(statement, Setting(level=level.value), progress=terminal_progress)
    if markdown is not None:
        write_whole(markdown, markdown_report(results, level.value))
    if save is not None:
        _save(results, save)
    emit(
        as_json,
        lambda: json_report(results, level.value),
        lambda: _text(results, bool(statement)),
        VERDICT_COLOURS,
    )
    worrying = any(r.verdict in (Verdict.REFUTED, Verdict.UNKNOWN) for r in results)
    return 1 if strict and worrying else 0


def _list(as_json: bool) -> None:
    from proofs_check.verification.registry import all_statements

    known = all_statements().values()
    emit(
        as_json,
        lambda: {"statements": [{"id": s.id, "title": s.title} for s in known]},
        lambda: "\n".join(f"{s.id}: {s.title}" for s in known),
    )


def _save(results: list[StatementResult], folder: Path) -> None:
    """Write every counterexample into a file of its own."""
    from markov_lrsao.report.verdicts import counterexample_file

    for result in results:
        count = len(result.counterexamples)
        for number, bad in enumerate(result.counterexamples):
            text = json_text(bad.to_dict(), indent=1) + "\n"
            write_whole(folder / counterexample_file(result.id, number, count), text)


def _text(results: list[StatementResult], detailed: bool) -> str:
    from proofs_check.verification.report import detail_text, summary_text, table_text

    if detailed:
        return "\n\n".join(detail_text(result) for result in results)
    return f"{table_text(results)}\n\n{summary_text(results)}"
