"""`markov-lrsao curve` and `markov-lrsao reference`: E[T] over many instances."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from markov_lrsao.cli.completion import choices
from markov_lrsao.cli.options import JsonOption, WorkersOption
from markov_lrsao.cli.output import json_text

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("curve", epilog="Example: markov-lrsao curve --ell sqrt --n 50:10000:50")(curve)
    app.command("reference", epilog="Example: markov-lrsao reference --out reference_values.csv")(
        reference
    )


def curve(
    ell: Annotated[
        str,
        typer.Option(
            "--ell",
            "-l",
            help="A number, or cbrt, sqrt, half = floor((n-5)/2).",
            autocompletion=choices("2", "cbrt", "sqrt", "half"),
        ),
    ] = "2",
    n: Annotated[
        str, typer.Option("--n", help="first:last:step, or a comma-separated list.")
    ] = "50:1000:50",
    exact: Annotated[bool, typer.Option("--exact", help="Exact fractions (slower).")] = False,
    workers: WorkersOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Print E[T], its phases and its ratio to n H_n for a schedule of l (paper's parameters)."""
    from markov_lrsao.answers.curves import curve as points
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.tables import show, table
    from simulate.sweeps.plan import parse_range

    chosen = points(
        parse_range(n),
        ell,
        field="exact" if exact else "float",
        workers=workers or os.cpu_count() or 1,
        progress=terminal_progress,
    )
    if as_json:
        print(json_text([p.result.to_dict() for p in chosen]))
        return
    rows = [
        [
            str(p.n),
            str(p.ell),
            f"{float(p.result.total):.8g}",
            *(f"{float(q):.8g}" for q in p.result.phases),
            f"{float(p.result.variance) ** 0.5:.6g}",
            f"{p.coupon_collector:.8g}",
            f"{float(p.result.total) / p.coupon_collector:.4f}",
        ]
        for p in chosen
    ]
    show(
        table(
            ["n", "l", "E[T]", "E[T1]", "E[T2]", "E[T3]", "sd[T]", "n H_n", "ratio"],
            rows,
            right=range(9),
        )
    )


def reference(
    out: Annotated[
        Path | None, typer.Option("--out", help="Write to this file instead of printing.")
    ] = None,
) -> None:
    """Print exact E[T], phases and variance for a grid of (n, l), as CSV to cite."""
    from markov_lrsao.answers.curves import reference_csv, reference_instances
    from markov_lrsao.errors import ParameterError
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.report.files import check_writable

    if out is not None:
        check_writable(out)
    text = reference_csv(reference_instances(), terminal_progress)
    if out is None:
        print(text, end="")
        return
    temporary = out.with_name(f".{out.name}.part")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, out)
    except OSError as error:
        raise ParameterError(f"cannot write {out}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)
    print(f"written: {out}")
