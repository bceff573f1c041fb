"""`markov-lrsao tune`: the parameters of an algorithm that minimise E[T], over n."""

from __future__ import annotations

from typing import Annotated

import typer

from markov_lrsao.cli.algorithms import AlgorithmOption, AtLeastOption, StartOption, searched
from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    NS,
    EllOption,
    JsonOption,
    OutsideHOption,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress

__all__ = ["tune"]

_KEYS = typer.Option(
    "--tune",
    help="Keys to tune, e.g. p or p,q; by default the main numeric keys that have no value.",
    metavar="<keys>",
)
_WITHIN = typer.Option(
    "--within",
    help="Ranges of keys, KEY=LOW:HIGH with commas between them; expressions in n.",
    metavar="<ranges>",
)
_PROVE = typer.Option("--prove/--no-proof", help="Look for a proof that covers the whole range.")


def tune(
    n: Annotated[str, NS],
    ell: EllOption = None,
    landscape: Annotated[str, LANDSCAPE] = "onemax",
    helpers: Annotated[str | None, HELPERS] = None,
    algorithm: AlgorithmOption = "ea",
    keys: Annotated[str | None, _KEYS] = None,
    within: Annotated[str | None, _WITHIN] = None,
    start: StartOption = None,
    at_least: AtLeastOption = None,
    outside_h: OutsideHOption = False,
    prove: Annotated[bool, _PROVE] = True,
    as_json: JsonOption = False,
) -> None:
    """Find the parameters that minimise E[T], and what is certain about them, over n.

    The search is made in floats; E[T] at what it finds is enclosed with at least nineteen digits.
    Around it neighbours at which E[T] is certainly larger enclose a local minimum; for one key of
    MAHH, Metropolis, random selection and the (1+1) EA a proof covers the whole range.
    """
    from markov_lrsao.answers.tuning import tune as find
    from markov_lrsao.exact.ranges import integers

    found = find(
        lambda size: searched(size, ell, landscape, helpers),
        algorithm,
        None if keys is None else [key.strip() for key in keys.split(",")],
        n=integers(n, "n"),
        limits=_limits(within),
        start=start,
        at_least=at_least,
        outside_h=outside_h,
        prove=prove,
        progress=terminal_progress,
    )
    emit(as_json, found.to_dict, lambda: str(found))


def _limits(text: str | None) -> dict[str, tuple[str, str]]:
    """Read KEY=LOW:HIGH,.."""
    found: dict[str, tuple[str, str]] = {}
    for item in text.split(",") if text else []:
        key, equals, ends = (part.strip() for part in item.partition("="))
        low, colon, high = (part.strip() for part in ends.partition(":"))
        if not (key and equals and colon and low and high):
            raise ParameterError(
                f"--within {text!r}: {item!r} is not KEY=LOW:HIGH, e.g. p=1/n**2:1/2"
            )
        found[key] = low, high
    return found
