"""`--algorithm NAME:key=value`: the algorithms that commands know by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.completion import algorithms
from markov_lrsao.errors import ParameterError

if TYPE_CHECKING:
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.levels import LeadingOnes
    from markov_lrsao.model.search import Search

__all__ = [
    "ALGORITHM_NAME",
    "AlgorithmOption",
    "AtLeastOption",
    "StartOption",
    "chosen_algorithm",
    "searched",
]

ALGORITHM_NAME = typer.Option(
    "--algorithm",
    help="NAME[:key=value,..]: lrsao, earl, rls, rls-k, ea, ea-positive, metropolis, mahh, mmahh, "
    "random, gradient, portfolio, or a JSON or TOML file; see docs/algorithms.md.",
    metavar="<name>",
    autocompletion=algorithms,
)
AlgorithmOption = Annotated[str, ALGORITHM_NAME]
StartOption = Annotated[
    str | None,
    typer.Option(
        "--start",
        help="Where runs begin: zero, random, a position |x|, or a law such as 0:1/2,3:1/2.",
        show_default="zero",
        metavar="<start>",
    ),
]
AtLeastOption = Annotated[
    str | None,
    typer.Option(
        "--at-least",
        help="The value of the target at which a run ends.",
        show_default="the optimum's",
        metavar="<value>",
    ),
]


def chosen_algorithm(
    text: str,
    landscape: Landscape | LeadingOnes,
    alpha: str | None,
    gamma: str | None,
    r: str | None,
) -> Algorithm | Search:
    """Return the algorithm that was named, with the hyper-parameters that were given.

    Raises
    ------
    ParameterError
        It is not known, or a hyper-parameter has no meaning for it.
    """
    from markov_lrsao.exact.rationals import rational
    from markov_lrsao.model.named import ALGORITHMS, NamedAlgorithm

    named = NamedAlgorithm.of(text)
    given = {"alpha": alpha, "gamma": gamma, "r": r}
    for key, value in given.items():
        if value is None:
            continue
        if key not in ALGORITHMS.get(named.name, {}):
            raise ParameterError(
                f"--{key} {value} has no meaning for algorithm {named.name}; leave it out"
            )
        if key in dict(named.values):
            raise ParameterError(f"{key} is given twice: by --{key} and in --algorithm {text}")
        named = named.given(key, rational(value, key))
    return named.on(landscape)


def searched(
    n: int | None, ell: int | None, landscape: str, helpers: str | None = None
) -> Landscape | LeadingOnes:
    """Return the landscape that was named; LeadingOnes has levels instead of positions."""
    from markov_lrsao.cli.options import helper_names, shape_of
    from markov_lrsao.model.levels import LEADING_ONES, shape_named

    if landscape.strip() != LEADING_ONES:
        return shape_of(landscape, n, ell, helpers)
    return shape_named(landscape, n, ell, helper_names(helpers))
