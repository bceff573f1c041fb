"""The table of commands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from inspect import getdoc
from typing import Annotated

import typer
from typer.exceptions import TyperException

from markov_lrsao.cli.output import emit
from markov_lrsao.cli.quick import QuickCommand, QuickGroup
from markov_lrsao.release import release

__all__ = ["app", "built", "usage_message"]

_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("exact", "exact.exact", "exact --n 9 --ell 2 --alpha 0.95 --gamma 1/10 --r 1.03"),
    ("states", "states.states", "states --n 9 --ell 2 --part right"),
    (
        "distribution",
        "distribution.distribution",
        "distribution --n 1000 --ell 10 --quantiles 0.5,0.9,0.99",
    ),
    (
        "budget",
        "budget.budget",
        "budget --n 100 --algorithm ea --landscape onemax --steps 100,1000 --start random",
    ),
    ("sites", "sites.sites", "sites --n 30 --ell 5"),
    ("formula", "formula.formula", "formula phase3 --latex"),
    ("landscapes", "landscapes.landscapes", "landscapes"),
    ("curve", "curve.curve", "curve --ell sqrt --n 50:10000:50"),
    ("reference", "curve.reference", "reference --out reference_values.csv"),
    (
        "map",
        "map.map_",
        "map --n 9 --ell 2 --alpha 0.5:0.99@5 --r-relative 0.1:0.9@3 --out map.png",
    ),
    ("export", "export.export", "export --n 9 --ell 2 --format drn jump.drn"),
    (
        "solve",
        "solve.solve",
        "export --n 9 --ell 2 jump.drn",
        "solve jump.drn --target target --exact",
    ),
    ("simulate", "simulate.simulate", "simulate --n 1000 --ell 2 --runs 2000 --seed 1"),
    ("trace", "trace.trace", "trace --n 9 --ell 2 --seed 1"),
    ("sweep", "sweep.sweep", "sweep --n 50:500:50 --ell 2,sqrt --runs 200 --out s.sqlite"),
    ("cross-validate", "cross_validate.cross_validate", "cross-validate --n-max 12"),
    ("relax", "relax.relax", "relax --n 9:11 --ell 2 --factors 0,0+,0.9,1.05"),
    (
        "verify",
        "verify.verify",
        'verify "Lemma 10"',
        'verify --n 9:14 --claim "visits at l+3 <= 5" --claim "positive entries per row <= 1"',
    ),
    ("replay", "replay.replay", "verify 'Lemma 5' --save bad", "replay bad/lemma-5.json"),
    ("tune", "tune.tune", "tune --n 20,40,80 --landscape cliff:d=3 --algorithm mahh"),
    ("oracle", "oracle.oracle", "oracle --n 9 --ell 2"),
    (
        "restarts",
        "restarts.restarts",
        "restarts --n 20 --landscape onemax --algorithm rls --start random",
    ),
    ("reproduces", "reproduces.reproduces", "reproduces --json"),
    ("figures", "figures.figures", "figures --quick --only objectives --out figures"),
    ("report", "report.report", "report --quick --out report.html"),
    ("explore", "explore.explore", "explore --port 8000"),
)
"""Name, module and function, examples."""
app: typer.Typer  # with all commands, made when it is first asked for


def built(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line for these arguments: one command, or all of them.

    Modules of the other commands are not imported, nor are their options read.
    """
    named = [line for line in _COMMANDS if line[0] == next(iter(arguments), None)]
    return _built(named) if named else _all()


def __getattr__(name: str) -> typer.Typer:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _all()


@cache
def _all() -> typer.Typer:
    return _built(_COMMANDS)


def _built(lines: Sequence[tuple[str, ...]]) -> typer.Typer:
    found = typer.Typer(
        cls=QuickGroup,
        help="Exact Markov-chain analysis of LRSAO (GECCO'25): runtimes as fractions, phase by "
        "phase.",
        epilog="Example: markov-lrsao exact --n 9 --ell 2",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "color": False},
    )
    found.callback(cls=QuickGroup, invoke_without_command=True)(_root)
    for name, place, *examples in lines:
        module, _, function_name = place.partition(".")
        function = getattr(import_module(f"markov_lrsao.cli.{module}"), function_name)
        found.command(
            name,
            cls=QuickCommand,
            # Summaries are wrapped, not cut; examples (after \b) are neither: they can be pasted.
            short_help=" ".join((getdoc(function) or "").partition("\n\n")[0].split()),
            epilog="\b\nExample: "
            + "\n         ".join(f"markov-lrsao {line}" for line in examples),
        )(function)
    return found


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --version: also Python's and the libraries'.")
    ] = False,
) -> None:
    if version:
        emit(as_json, _versions, lambda: f"markov-lrsao {release()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise typer.BadParameter("a command is missing")
    if as_json:
        raise typer.BadParameter("--json belongs behind the command, or to --version")


def _versions() -> dict[str, str]:
    """Return the versions that results depend on."""
    from importlib.metadata import version
    from platform import python_version

    libraries = {name: version(name) for name in ("python-flint", "numpy", "numba", "z3-solver")}
    return {"version": release(), "python": python_version(), **libraries}


def usage_message(error: TyperException) -> tuple[str, int]:
    """Return what to print for a usage error (or a request for help), and the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return str(error), 0
    formatter = getattr(error, "format_message", None)
    message = formatter() if formatter is not None else str(error)
    return f"markov-lrsao: {' '.join(message.split())} (see --help)", 2
