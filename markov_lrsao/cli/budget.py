"""`markov-lrsao budget`: E[f(x_t)] and P(f(x_t) >= a) after given numbers of steps."""

from __future__ import annotations

from typing import Annotated

import typer

from markov_lrsao.cli.algorithms import (
    AlgorithmOption,
    AtLeastOption,
    StartOption,
    searched,
)
from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    LIST,
    EllOption,
    JsonOption,
    NOption,
    OutsideHOption,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.progress import terminal_progress

__all__ = ["budget"]


def budget(
    n: NOption = None,
    ell: EllOption = None,
    steps: Annotated[str, typer.Option("--steps", help=f"Numbers of steps: {LIST}.")] = "100",
    algorithm: AlgorithmOption = "rls",
    landscape: Annotated[str, LANDSCAPE] = "onemax",
    helpers: Annotated[str | None, HELPERS] = None,
    start: StartOption = None,
    at_least: AtLeastOption = None,
    floats: Annotated[bool, typer.Option("--float", help="Solve in floats (faster).")] = False,
    outside_h: OutsideHOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print fixed-budget results: how good is f after t steps, and how likely good enough?"""
    from markov_lrsao.answers.budgets import fixed_budget
    from markov_lrsao.exact.ranges import integers
    from markov_lrsao.model.named import NamedAlgorithm

    found = fixed_budget(
        searched(n, ell, landscape, helpers),
        NamedAlgorithm.of(algorithm),
        integers(steps, "steps"),
        start=start,
        at_least=at_least,
        field="float" if floats else "exact",
        outside_h=outside_h,
        progress=terminal_progress,
    )
    emit(as_json, found.to_dict, lambda: str(found))
