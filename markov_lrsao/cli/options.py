"""Options: one name, one help text and one parser each, whichever commands have them.

Numbers that must stay exact arrive as text: "0.8" and "4/5" are the same rational. A command
that tells "not given" from a default uses the option itself: `Annotated[int | None, RUNS]`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.completion import choices, landscapes
from markov_lrsao.errors import ParameterError

if TYPE_CHECKING:
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.landscape import Landscape

__all__ = [
    "ALGORITHM",
    "ALPHAS",
    "ARITHMETIC",
    "ELLS",
    "GAMMAS",
    "HELPERS",
    "KERNEL",
    "LANDSCAPE",
    "LIST",
    "MAX_STATES",
    "NOT_CERTIFIED",
    "NS",
    "PART",
    "RS",
    "RUNS",
    "SEED",
    "AlgorithmName",
    "AlphaOption",
    "ArithmeticName",
    "DigitsOption",
    "EllOption",
    "GammaOption",
    "Instance",
    "JsonOption",
    "KernelName",
    "LimitOption",
    "MaxSizeOption",
    "NOption",
    "NamesOption",
    "OutsideHOption",
    "PlotOption",
    "QuickOption",
    "ROption",
    "RestartOption",
    "SchedulerOption",
    "ThreadsOption",
    "ToleranceOption",
    "UnmergedOption",
    "WorkersOption",
    "helper_names",
    "instance",
    "shape_of",
]

LIST = "a:b:c is first:last:step, a:b@9 are 9 numbers, 5,7 a list"
"""How lists of numbers are written, see `markov_lrsao.exact.ranges`."""

NOT_CERTIFIED = 3
"""Exit code where not all digits that were asked for are certain."""


class AlgorithmName(StrEnum):
    """What is simulated."""

    lrsao = "lrsao"
    earl = "earl"
    rls = "rls"


class ArithmeticName(StrEnum):
    """How Q-entries are computed."""

    exact = "exact"
    float64 = "float64"


class KernelName(StrEnum):
    """How time passes."""

    event = "event"
    step = "step"


def integer(text: str) -> int:
    """Read an integer; "9.0" and "1e3" are not integers here."""
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,30}\s*", text):
        raise typer.BadParameter(f"{text!r} is not an integer")
    return int(text)


def size(text: str) -> int:
    """Read a number of bytes such as 500M."""
    return _bytes(text, "--max-size")


def memory(text: str) -> int:
    """Read a number of bytes such as 4G."""
    return _bytes(text, "--max-memory")


def _bytes(text: str, option: str) -> int:
    from markov_lrsao.inputs import parse_size

    try:
        return parse_size(text, option)
    except ParameterError as error:
        raise typer.BadParameter(str(error)) from None


DigitsOption = Annotated[
    int | None,
    typer.Option(
        "--digits",
        help="Significant digits, each certain, instead of fractions or floats.",
        parser=integer,
        metavar="<int>",
    ),
]

# -- the instance ------------------------------------------------------------------------------

NOption = Annotated[
    int | None,
    typer.Option("--n", help="Length of the bit strings.", parser=integer, metavar="<int>"),
]
EllOption = Annotated[
    int | None,
    typer.Option("--ell", "-l", help="Gap parameter l of Jump.", parser=integer, metavar="<int>"),
]
AlphaOption = Annotated[
    str | None,
    typer.Option("--alpha", help="Learning rate in (0,1), e.g. 0.8 or 4/5.", show_default="4/5"),
]
GammaOption = Annotated[
    str | None, typer.Option("--gamma", help="Discount in (0,1).", show_default="1/(n+1)")
]
ROption = Annotated[
    str | None, typer.Option("--r", help="Plateau penalty.", show_default="n(1/(alpha(1-gamma))-1)")
]
OutsideHOption = Annotated[
    bool, typer.Option("--outside-h", help="Allow r outside hypothesis (H).")
]
LANDSCAPE = typer.Option(
    "--landscape",
    help="NAME:key=value,.. as in jump, jump-m:m=3, regions:widths=3+4+3 (`markov-lrsao "
    "landscapes` lists them), or a JSON or TOML file.",
    autocompletion=landscapes,
)
HELPERS = typer.Option(
    "--helpers",
    help="Objectives to add to a landscape with one: onemax, zeromax, constant.",
    autocompletion=choices("onemax", "zeromax", "constant"),
)

# -- lists of instances ------------------------------------------------------------------------

NS = typer.Option("--n", help=f"Lengths of the bit strings: {LIST}.")
ALPHAS = typer.Option("--alpha", help=f"Learning rates: {LIST}.")
GAMMAS = typer.Option("--gamma", help="Discounts, a list as above.")
RS = typer.Option("--r", help="Plateau penalties, a list as above.")
ELLS = typer.Option(
    "--ell",
    "-l",
    help="Gap parameters: numbers, or the schedules cbrt, sqrt, half = floor((n-5)/2).",
    autocompletion=choices("2", "cbrt", "sqrt", "half"),
)

# -- how the chain is solved -------------------------------------------------------------------

PART = typer.Option(
    "--part",
    help="One part of the chain: left, slope or right.",
    autocompletion=choices("left", "slope", "right", "all"),
)
UnmergedOption = Annotated[
    bool, typer.Option("--unmerged", help="Keep equivalent patterns apart (joint chain).")
]
MAX_STATES = typer.Option("--max-states", help="States that a chain may have.", min=1)
ToleranceOption = Annotated[
    str | None,
    typer.Option(
        "--tolerance",
        help="Relative width at which an enclosure is narrow enough.",
        show_default="1/2000",
    ),
]

# -- simulations -------------------------------------------------------------------------------

RUNS = typer.Option("--runs", help="Number of runs (of every cell).")
SEED = typer.Option("--seed", help="An integer >= 0; fixes every run.")
ALGORITHM = typer.Option("--algorithm", help="What to simulate; earl has gamma = 99/100.")
ARITHMETIC = typer.Option(
    "--arithmetic", help="exact: true semantics; float64: what plain floats do."
)
KERNEL = typer.Option("--kernel", help="event: skip runs of rejected moves; step: make every step.")
LimitOption = Annotated[
    str | None,
    typer.Option(
        "--limit",
        help="Step limit, e.g. 100000 or 10n2 (10 n^2); runs that hit it are censored.",
        show_default="10000n2",
    ),
]
RestartOption = Annotated[
    str | None, typer.Option("--restart", help="Start from scratch every so many steps.")
]

# -- the machine, files and output -------------------------------------------------------------

ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads", help="Does not change the results.", show_default="all cores", min=1, max=1024
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", help="Processes.", show_default="all cores", min=1, max=1024),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option("--scheduler", help="Address of a Dask scheduler, e.g. tcp://host:8786."),
]
MaxSizeOption = Annotated[
    int | None,
    typer.Option(
        "--max-size",
        help="Most bytes to read from a file, e.g. 2G.",
        parser=size,
        metavar="<size>",
        show_default="256M",
    ),
]
MaxMemoryOption = Annotated[
    int | None,
    typer.Option(
        "--max-memory",
        help="Most bytes of memory to take, e.g. 4G (Linux).",
        parser=memory,
        metavar="<size>",
        show_default="all there is",
    ),
]
PlotOption = Annotated[Path | None, typer.Option("--plot", help="Draw the result (png, svg, pdf).")]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="Fewer instances, points and runs: within minutes.")
]
NamesOption = Annotated[bool, typer.Option("--list", help="Print the names and stop.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@dataclass(frozen=True)
class Instance:
    """What the shared options describe."""

    landscape: Landscape
    algorithm: Algorithm


def instance(
    n: int | None,
    ell: int | None,
    alpha: str | None,
    gamma: str | None,
    r: str | None,
    landscape: str = "jump",
    helpers: str | None = None,
) -> Instance:
    """Build landscape and algorithm, or raise ParameterError."""
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.parameters import Parameters

    shape = shape_of(landscape, n, ell, helpers)
    return Instance(shape, Algorithm.lrsao(Parameters.paper(shape.n, alpha, gamma, r)))


def shape_of(landscape: str, n: int | None, ell: int | None, helpers: str | None) -> Landscape:
    """Build the landscape, or raise ParameterError; a note says where the paper is silent."""
    from markov_lrsao.model.landscape import Landscape

    shape = Landscape.named(landscape, n, ell, helper_names(helpers))
    if shape.beyond_theory:
        typer.echo(
            f"note: ell = {shape.ell} is outside the paper's range; its statements do not speak "
            f"about it",
            err=True,
        )
    return shape


def helper_names(helpers: str | None) -> list[str]:
    """Read what --helpers has: names with commas between them."""
    return [] if helpers is None else [name.strip() for name in helpers.split(",")]
