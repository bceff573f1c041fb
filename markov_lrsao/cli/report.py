"""`markov-lrsao report`: one HTML page that shows and explains what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markov_lrsao.cli.options import JsonOption, QuickOption, WorkersOption
from markov_lrsao.cli.output import emit
from markov_lrsao.progress import terminal_progress

__all__ = ["report"]


def report(
    out: Annotated[Path, typer.Option("--out", help="The file to write.")] = Path("report.html"),
    quick: QuickOption = False,
    figures: Annotated[
        Path,
        typer.Option(
            "--figures",
            help="Folder of the figures; those that are missing are made, and what "
            "else takes long is kept in its subfolder `report`.",
        ),
    ] = Path("figures"),
    verify: Annotated[
        Path | None,
        typer.Option(
            "--verify",
            help="Verdicts saved by `markov-lrsao verify --json > FILE`; without it "
            "they are made (two minutes) and kept.",
        ),
    ] = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write one self-contained HTML page: exact results, verdicts, findings, figures.

    An interrupted run leaves no page; started again it goes on where it stopped.
    """
    from markov_lrsao.figures import Settings
    from markov_lrsao.report import Scope, make_report

    path = make_report(
        out,
        scope=Scope.quick() if quick else Scope.full(),
        settings=Settings.quick() if quick else Settings.full(),
        figures=figures,
        verify=verify,
        workers=workers,
        command="markov-lrsao report" + (" --quick" if quick else ""),
        progress=terminal_progress,
    )
    size = path.stat().st_size
    emit(
        as_json,
        lambda: {"file": str(path), "bytes": size},
        lambda: f"written: {path} ({size / 1e6:.1f} MB)",
    )
