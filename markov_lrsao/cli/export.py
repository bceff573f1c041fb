"""`markov-lrsao export`: write a chain for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    MAX_STATES,
    PART,
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    MaxSizeOption,
    NOption,
    OutsideHOption,
    ROption,
    UnmergedOption,
    instance,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import answered, terminal_progress
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from markov_lrsao.chains.chain import MarkovChain
    from markov_lrsao.model.law import StepLaw

__all__ = ["export"]


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


def export(
    file: Annotated[Path, typer.Argument(help="Where to write; prism adds .tra, .lab, .srew.")],
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    format: Annotated[Format, typer.Option("--format", help="Format to write.")] = Format.drn,
    part: Annotated[str | None, PART] = None,
    unmerged: UnmergedOption = False,
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
    max_states: Annotated[int | None, MAX_STATES] = None,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the joint chain, a part of it or a chain from a file in another tool's format."""
    from markov_lrsao.answers.expected import check_hypothesis
    from markov_lrsao.exchange import write_chain
    from markov_lrsao.exchange.models import model_chain, step_rewards
    from markov_lrsao.model.law import StepLaw

    _check(file, format, values, chain, n, part)
    if chain is not None:
        _converted(chain, file, format, values, max_size, as_json)
        return
    chosen = instance(n, ell, alpha, gamma, r, landscape, helpers)
    check_hypothesis(chosen.landscape, chosen.algorithm, outside_h=outside_h)
    law = StepLaw.of(chosen.landscape, chosen.algorithm)
    if format is Format.prism_language:
        _described(law, file, not unmerged)
        _report([file], None, format, as_json)
        return
    model = model_chain(
        law, part, merge=not unmerged, max_states=max_states, progress=terminal_progress
    )
    with_rewards = rewards or format in (Format.prism, Format.storm_explicit)
    written = write_chain(
        model,
        file,
        format=format.value,
        values=values and values.value,
        rewards=step_rewards(model) if with_rewards else None,
    )
    _report(written, model, format, as_json)


def _check(
    file: Path,
    format: Format,
    values: Values | None,
    chain: Path | None,
    n: int | None,
    part: str | None,
) -> None:
    """Refuse options that do not go together."""
    if not file.parent.is_dir():
        raise ParameterError(
            f"{printable(str(file))}: the folder {printable(str(file.parent))} does not exist"
        )
    whole = format is Format.prism_language
    if chain is not None and (whole or n is not None or part is not None):
        raise ParameterError(
            "--chain converts a file: it goes without --n, --part and "
            "--format prism-language, which describe a model"
        )
    if whole and (part is not None or values is Values.double):
        raise ParameterError(
            "--format prism-language describes the whole model in fractions: "
            "it goes without --part and --values double"
        )


def _converted(
    chain: Path,
    file: Path,
    format: Format,
    values: Values | None,
    max_size: int | None,
    as_json: bool,
) -> None:
    """Write the chain of a file in another format."""
    from markov_lrsao.exchange import read_chain, write_chain

    read = read_chain(chain, max_size=max_size)
    if read.transition_rewards:
        raise ParameterError(
            f"{printable(str(chain))} has transition rewards, which are not "
            f"written; move them away, or use solve on this file"
        )
    bare = format in (Format.graphml, Format.matrix_market)
    written = write_chain(
        read.chain,
        file,
        format=format.value,
        values=values and values.value,
        rewards=None if bare else read.rewards,
    )
    answered()
    for note in read.notes:
        typer.echo(f"note: {note}", err=True)
    _report(written, read.chain, format, as_json)


def _described(law: StepLaw, file: Path, merge: bool) -> None:
    """Write a law as a program in PRISM's language."""
    from markov_lrsao.exchange.prism_language import write_prism_language

    undecided = write_prism_language(law, file, merge=merge)
    if undecided:
        typer.echo(
            f"note: {undecided} greedy choices are undecided and have no command; a "
            f"model checker that reaches one reports a deadlock",
            err=True,
        )


def _report(files: list[Path], chain: MarkovChain | None, format: Format, as_json: bool) -> None:

    names = ", ".join(printable(str(f)) for f in files)
    size = "" if chain is None else f": {chain.size:,} states, {chain.transitions:,} transitions"
    emit(
        as_json,
        lambda: {
            "format": format.value,
            "files": [str(f) for f in files],
            "states": None if chain is None else chain.size,
            "transitions": None if chain is None else chain.transitions,
        },
        lambda: f"wrote {names}{size}",
    )
