"""`markov-lrsao figures`: the paper's pictures redrawn, with their data beside them."""

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
        "figures", epilog="Example: markov-lrsao figures --quick --only objectives --out figures"
    )(figures)


def figures(
    out: Annotated[
        Path, typer.Option("--out", help="Folder of the files; made if missing.")
    ] = Path("figures"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points and runs: all figures within two minutes.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="A figure's name; repeat it for several.", show_default="all"),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Print the names and stop.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Draw the figures as PNG and SVG and save the data behind each as JSON and CSV.

    Figures that are there already, made with the same settings, are kept: an interrupted run is
    finished by starting it again.
    """
    from markov_lrsao.figures import Settings, build, chosen
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.tables import table

    selected = chosen(only)
    if list_:
        if as_json:
            print(json_text([{"name": f.name, "title": f.title} for f in selected]))
        else:
            print(table(["name", "title"], [[f.name, f.title] for f in selected]))
        return
    settings = Settings.quick() if quick else Settings.full()
    paths = build([f.name for f in selected], out, settings, terminal_progress)
    if as_json:
        print(
            json_text(
                {
                    "folder": str(out),
                    "settings": settings.to_dict(),
                    "figures": [
                        {"name": f.name, "title": f.title, "data": str(path)}
                        for f, path in zip(selected, paths, strict=True)
                    ],
                }
            )
        )
    else:
        print(table(["figure", "title"], [[f.name, f.title] for f in selected]))
        print(f"\n{len(paths)} figures in {out}, each as png, svg, json and csv")
