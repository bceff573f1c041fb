"""`markov-lrsao figures`: the paper's pictures redrawn, with their data beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markov_lrsao.cli.completion import figure_names
from markov_lrsao.cli.options import JsonOption, NamesOption, QuickOption, SchedulerOption
from markov_lrsao.cli.output import emit
from markov_lrsao.progress import terminal_progress
from markov_lrsao.tables import table

__all__ = ["figures"]


def figures(
    out: Annotated[
        Path, typer.Option("--out", help="Folder of the files; made if missing.")
    ] = Path("figures"),
    quick: QuickOption = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help="A figure's name; repeat it for several.",
            show_default="all",
            autocompletion=figure_names,
        ),
    ] = None,
    scheduler: SchedulerOption = None,
    names: NamesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draw the figures as PNG and SVG and save the data behind each as JSON and CSV.

    Figures that are there already, made with the same settings, are kept: an interrupted run is
    finished by starting it again.
    """
    from markov_lrsao.figures import Settings, build, chosen

    selected = chosen(only)
    listed = [[f.name, f.title] for f in selected]
    if names:
        emit(
            as_json,
            lambda: {"figures": [{"name": f.name, "title": f.title} for f in selected]},
            lambda: table(["name", "title"], listed),
        )
        return
    settings = Settings.quick() if quick else Settings.full()
    paths = build([f.name for f in selected], out, settings, terminal_progress, scheduler=scheduler)
    emit(
        as_json,
        lambda: {
            "folder": str(out),
            "settings": settings.to_dict(),
            "figures": [
                {"name": f.name, "title": f.title, "data": str(path)}
                for f, path in zip(selected, paths, strict=True)
            ],
        },
        lambda: (
            f"{table(['figure', 'title'], listed)}\n\n"
            f"{len(paths)} figures in {out}, each as png, svg, json and csv"
        ),
    )
