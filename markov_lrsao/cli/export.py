"""`markov-lrsao export`: write a chain for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from markov_lrsao.cli.completion import choices
from markov_lrsao.cli.options import (
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    LandscapeOption,
    MaxSizeOption,
    NOption,
    OutsideHOption,
    ROption,
    instance,
)
from markov_lrsao.cli.output import json_text

__all__ = ["register"]


class Format(StrEnum):
    """The formats that can be written."""

    drn = "drn"
    prism = "prism"
    storm_explicit = "storm-explicit"
    prism_language = "prism-language"
    matrix_market = "matrix-market"
    graphml = "graphml"
    json = "json"


class Values(StrEnum):
    """How probabilities are written."""

    rational = "rational"
    double = "double"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "export", epilog="Example: markov-lrsao export --n 9 --ell 2 --format drn jump.drn"
    )(export)


def export(
    file: Annotated[Path, typer.Argument(help="Where to write; prism adds .tra, .lab, .srew.")],
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    format: Annotated[Format, typer.Option("--format", help="Format to write.")] = Format.drn,
    part: Annotated[
        str | None,
        typer.Option(
            "--part",
            help="One part only: left, slope or right.",
            autocompletion=choices("left", "slope", "right"),
        ),
    ] = None,
    unmerged: Annotated[
        bool, typer.Option("--unmerged", help="Keep equivalent patterns apart.")
    ] = False,
    values: Annotated[
        Values | None,
        typer.Option(
            "--values",
            help="Exact fractions or doubles.",
            show_default="what the format's readers expect",
        ),
    ] = None,
    rewards: Annotated[
        bool, typer.Option("--rewards", help="Write the reward 'steps' too (drn, json).")
    ] = False,
    chain: Annotated[
        Path | None, typer.Option("--chain", help="Convert this file instead of building a chain.")
    ] = None,
    max_size: MaxSizeOption = None,
    max_states: Annotated[
        int | None, typer.Option("--max-states", help="Refuse joint chains larger than this.")
    ] = None,
    outside_h: OutsideHOption = False,
    landscape: LandscapeOption = "jump",
    as_json: JsonOption = False,
) -> None:
    """Write the joint chain, a part of it or a chain from a file in another tool's format."""
    from markov_lrsao.answers.expected import check_hypothesis
    from markov_lrsao.errors import ParameterError
    from markov_lrsao.exchange import read_chain, write_chain
    from markov_lrsao.exchange.models import model_chain, step_rewards
    from markov_lrsao.model.law import StepLaw
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.texts import printable

    if not file.parent.is_dir():
        raise ParameterError(
            f"{printable(str(file))}: the folder {printable(str(file.parent))} does not exist"
        )
    given = None if values is None else values.value
    if chain is not None:
        if format is Format.prism_language or n is not None or part is not None:
            raise ParameterError(
                "--chain converts a file: it goes without --n, --part and "
                "--format prism-language, which describe a model"
            )
        read = read_chain(chain, max_size=max_size)
        if read.transition_rewards:
            raise ParameterError(
                f"{printable(str(chain))} has transition rewards, which are not "
                f"written; move them away, or use solve on this file"
            )
        written = write_chain(
            read.chain,
            file,
            format=format.value,
            values=given,
            rewards=read.rewards if format.value not in ("graphml", "matrix-market") else None,
        )
        for note in read.notes:
            typer.echo(f"note: {note}", err=True)
        _report(written, read.chain.size, read.chain.transitions, format, as_json)
        return
    chosen = instance(n, ell, alpha, gamma, r, landscape)
    check_hypothesis(chosen.landscape, chosen.algorithm, outside_h=outside_h)
    law = StepLaw.of(chosen.landscape, chosen.algorithm)
    if format is Format.prism_language:
        if part is not None or given == "double":
            raise ParameterError(
                "--format prism-language describes the whole model in fractions: "
                "it goes without --part and --values double"
            )
        from markov_lrsao.exchange.prism_language import write_prism_language

        undecided = write_prism_language(law, file, merge=not unmerged)
        if undecided:
            typer.echo(
                f"note: {undecided} greedy choices are undecided and have no command; a "
                f"model checker that reaches one reports a deadlock",
                err=True,
            )
        _report([file], None, None, format, as_json)
        return
    model = model_chain(
        law, part, merge=not unmerged, max_states=max_states, progress=terminal_progress
    )
    with_rewards = rewards or format in (Format.prism, Format.storm_explicit)
    written = write_chain(
        model,
        file,
        format=format.value,
        values=given,
        rewards=step_rewards(model) if with_rewards else None,
    )
    _report(written, model.size, model.transitions, format, as_json)


def _report(
    files: list[Path], states: int | None, transitions: int | None, format: Format, as_json: bool
) -> None:
    if as_json:
        print(
            json_text(
                {
                    "format": format.value,
                    "files": [str(f) for f in files],
                    "states": states,
                    "transitions": transitions,
                }
            )
        )
        return
    size = "" if states is None else f": {states:,} states, {transitions:,} transitions"
    from markov_lrsao.texts import printable

    print(f"wrote {', '.join(printable(str(f)) for f in files)}{size}")
