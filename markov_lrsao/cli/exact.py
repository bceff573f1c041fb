"""`markov-lrsao exact`: E[T], its phases and its variance."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from markov_lrsao.cli.options import (
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    LandscapeOption,
    NOption,
    OutsideHOption,
    ROption,
    instance,
)
from markov_lrsao.cli.output import json_text

__all__ = ["register"]


class Method(StrEnum):
    """How the expectation is computed."""

    auto = "auto"
    joint = "joint"
    crossing = "crossing"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "exact",
        epilog="Example: markov-lrsao exact --n 9 --ell 2 --alpha 0.95 --gamma 1/10 --r 1.03",
    )(exact)


def exact(
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    method: Annotated[
        Method, typer.Option(help="How to compute; see docs/architecture.md.")
    ] = Method.auto,
    floats: Annotated[bool, typer.Option("--float", help="Solve in floats (faster).")] = False,
    moments: Annotated[
        int, typer.Option("--moments", help="2, 3 or 4: central moments to compute.")
    ] = 2,
    unmerged: Annotated[
        bool, typer.Option("--unmerged", help="Keep equivalent patterns apart (joint).")
    ] = False,
    max_states: Annotated[
        int | None, typer.Option("--max-states", help="Refuse joint chains larger than this.")
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            help="Relative width at which an enclosure is narrow enough.",
            show_default="1/2000",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", help="Runs to simulate where nothing else answers; 0: none.")
    ] = 10_000,
    outside_h: OutsideHOption = False,
    landscape: LandscapeOption = "jump",
    as_json: JsonOption = False,
) -> None:
    """Print the expected runtime, in total and phase by phase.

    It is exact where every comparison of Q-entries is decided, else a rigorous enclosure. Where
    runs can get stuck it is infinite, and the trap is shown. Where not even an enclosure is
    found within the limits, the answer is a simulation's, and says so.
    """
    from markov_lrsao.answers.expected import runtime
    from markov_lrsao.errors import ParameterError, UndecidedComparisonError
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.tables import show

    if runs < 0:
        raise ParameterError(f"--runs {runs} is negative; give 0 for no simulation")
    chosen = instance(n, ell, alpha, gamma, r, landscape)
    try:
        result = runtime(
            chosen.landscape,
            chosen.algorithm,
            method=method.value,
            field="float" if floats else "exact",
            moments=moments,
            merge=not unmerged,
            outside_h=outside_h,
            max_states=max_states,
            tolerance=tolerance,
            progress=terminal_progress,
        )
    except UndecidedComparisonError as error:
        if runs == 0:
            raise
        from markov_lrsao.cli.estimate import estimate

        found = estimate(chosen, runs, str(error), terminal_progress)
        data, text = found.to_dict(), found.text()
    else:
        data, text = result.to_dict(), str(result)
    if as_json:
        print(json_text(data))
    else:
        show(text)
