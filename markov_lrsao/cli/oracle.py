"""`markov-lrsao oracle`: the best selector with full information, and the price of learning."""

from __future__ import annotations

from typing import Annotated

from markov_lrsao.cli.algorithms import AlgorithmOption, chosen_algorithm
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
    shape_of,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress

__all__ = ["oracle"]


def oracle(
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    algorithm: AlgorithmOption = "lrsao",
    as_json: JsonOption = False,
) -> None:
    """Print what the agent pays for learning: E[T] against a selector that knows everything."""
    from markov_lrsao.answers.oracle import oracle as solve
    from markov_lrsao.model.algorithm import Algorithm

    shape = shape_of(landscape, n, ell, helpers)
    chosen = chosen_algorithm(algorithm, shape, alpha, gamma, r)
    if not isinstance(chosen, Algorithm):
        raise ParameterError(
            f"--algorithm {algorithm} does not learn: choose lrsao or earl, whose choice of "
            f"objectives an oracle can make"
        )
    found = solve(shape, chosen, outside_h=outside_h, progress=terminal_progress)
    emit(as_json, found.to_dict, lambda: str(found))
