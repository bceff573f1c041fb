"""Options that several commands share, and how they become an instance.

Numbers that must stay exact arrive as text: "0.8" and "4/5" are the same rational.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from markov_lrsao.cli.completion import landscapes

if TYPE_CHECKING:
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.landscape import Landscape

__all__ = [
    "AlphaOption",
    "EllOption",
    "GammaOption",
    "Instance",
    "JsonOption",
    "LandscapeOption",
    "MaxSizeOption",
    "NOption",
    "OutsideHOption",
    "ROption",
    "WorkersOption",
    "instance",
    "integer",
    "numbers",
]


def integer(text: str) -> int:
    """Read an integer; "9.0" and "1e3" are not integers here."""
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,30}\s*", text):
        raise typer.BadParameter(f"{text!r} is not an integer")
    return int(text)


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


def size(text: str) -> int:
    """Read a number of bytes such as 500M."""
    from markov_lrsao.errors import ParameterError
    from markov_lrsao.inputs import parse_size

    try:
        return parse_size(text, "--max-size")
    except ParameterError as error:
        raise typer.BadParameter(str(error)) from None


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
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
WorkersOption = Annotated[
    int, typer.Option("--workers", help="Processes.", show_default="all cores", min=0, max=1024)
]
LandscapeOption = Annotated[
    str,
    typer.Option(
        "--landscape", help="jump, jump-open, onemax, or a JSON file.", autocompletion=landscapes
    ),
]


_LARGEST = 2**62
"""Beyond this, integers leave the range of the machine's."""
Number = TypeVar("Number", int, float)


def numbers(text: str, name: str, kind: type[Number]) -> list[Number]:
    """Parse comma-separated numbers, at least one, or raise ParameterError."""
    from markov_lrsao.errors import ParameterError

    try:
        found = [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        found = []
    if not found or not all(abs(x) <= _LARGEST for x in found):  # NaN is not, either
        raise ParameterError(
            f"--{name} {text!r}: write comma-separated numbers, none beyond 2^62, e.g. "
            f"{'0.5,0.9' if kind is float else '100,200'}"
        )
    return found


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
) -> Instance:
    """Build landscape and algorithm, or raise ParameterError."""
    from markov_lrsao.errors import ParameterError
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.landscape import FAMILIES, Landscape
    from markov_lrsao.model.parameters import Parameters

    if landscape in FAMILIES:
        family = FAMILIES[landscape]
        if n is None:
            raise ParameterError("--n is missing: give the length of the bit strings, e.g. --n 9")
        allowed = family.ell_range(n)
        if ell is None and (allowed is None or allowed[1] > 0):
            hint = f"an integer in {allowed[0]}..{allowed[1]}" if allowed else "e.g. --ell 2"
            raise ParameterError(f"--ell is missing: give the gap parameter, {hint}")
        shape = family.at(n, ell or 0)
    else:
        shape = Landscape.load(landscape)
        if n is not None and n != shape.n:
            raise ParameterError(f"--n {n} differs from the n = {shape.n} of {landscape}; omit it")
    return Instance(shape, Algorithm.lrsao(Parameters.paper(shape.n, alpha, gamma, r)))
