"""`markov-lrsao reproduces`: published numbers, each computed anew and compared."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import emit
from markov_lrsao.progress import terminal_progress
from markov_lrsao.storage import check_writable, write_whole

__all__ = ["reproduces"]


class KindName(StrEnum):
    """Kinds of published numbers."""

    fraction = "fraction"
    float = "float"
    runs = "runs"
    order = "order"
    constant = "constant"


def reproduces(
    write: Annotated[
        Path | None, typer.Option("--write", help="Write the page docs/reproduces.md.")
    ] = None,
    only: Annotated[KindName | None, typer.Option("--only", help="Numbers of one kind.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute every published number anew: theirs, ours, and the difference.

    The exit code is 1 if one of them does not agree.
    """
    from markov_lrsao.answers.published import CLAIMS, page, reproduce, text

    if write is not None:
        check_writable(write, "write")
    claims = [claim for claim in CLAIMS if only is None or claim.kind == only.value]
    found = reproduce(claims, progress=terminal_progress)
    if write is not None:
        write_whole(write, page(found))
    emit(as_json, lambda: {"claims": [one.to_dict() for one in found]}, lambda: text(found))
    if not all(one.agrees for one in found):
        raise typer.Exit(1)
