"""`markov-lrsao restarts`: the cut-off after which a run is best begun anew."""

from __future__ import annotations

from typing import Annotated

import typer

from markov_lrsao.cli.algorithms import (
    AlgorithmOption,
    StartOption,
    chosen_algorithm,
    searched,
)
from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    NOption,
    OutsideHOption,
    ROption,
)
from markov_lrsao.cli.output import emit

__all__ = ["restarts"]


def restarts(
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    algorithm: AlgorithmOption = "lrsao",
    start: StartOption = None,
    horizon: Annotated[
        int | None, typer.Option("--horizon", help="The largest cut-off to look at.", min=1)
    ] = None,
    outside_h: OutsideHOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print the expected time with restarts over the cut-off, and where it is smallest."""
    from markov_lrsao.answers.restarts import restarts as solve

    shape = searched(n, ell, landscape, helpers)
    chosen = chosen_algorithm(algorithm, shape, alpha, gamma, r)
    found = solve(shape, chosen, start=start, horizon=horizon, outside_h=outside_h)
    emit(as_json, found.to_dict, lambda: str(found))
