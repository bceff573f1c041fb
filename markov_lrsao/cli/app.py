"""The table of commands."""

from __future__ import annotations

from inspect import getdoc

import typer
from typer.exceptions import TyperException

from markov_lrsao.cli import (
    cross_validate,
    curve,
    distribution,
    exact,
    export,
    figures,
    formula,
    relax,
    replay,
    report,
    simulate,
    sites,
    solve,
    states,
    sweep,
    verify,
)
from markov_lrsao.cli import map as map_command

__all__ = ["app", "usage_message"]

app = typer.Typer(
    help="Exact Markov-chain analysis of LRSAO (GECCO'25): runtimes as fractions, phase by phase.",
    epilog="Example: markov-lrsao exact --n 9 --ell 2",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "color": False},
)
for module in (
    exact,
    states,
    distribution,
    sites,
    formula,
    curve,
    map_command,
    export,
    solve,
    simulate,
    sweep,
    cross_validate,
    relax,
    verify,
    replay,
    figures,
    report,
):
    module.register(app)
for command in app.registered_commands:
    # Summaries are wrapped, not cut; examples are neither, so that they can be pasted.
    command.short_help = " ".join((getdoc(command.callback) or "").partition("\n\n")[0].split())
    if command.epilog and not command.epilog.startswith("\b"):
        command.epilog = f"\b\n{command.epilog}"


@app.callback()
def _root() -> None:
    """Keep `markov-lrsao COMMAND` the form even while there is one command."""


def usage_message(error: TyperException) -> tuple[str, int]:
    """Return what to print for a usage error (or a request for help), and the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return str(error), 0
    formatter = getattr(error, "format_message", None)
    message = formatter() if formatter is not None else str(error)
    return f"markov-lrsao: {' '.join(message.split())} (see --help)", 2
