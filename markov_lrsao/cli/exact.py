"""`markov-lrsao exact`: E[T], its phases and its variance."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from markov_lrsao.cli.options import (
    LANDSCAPE,
    MAX_STATES,
    NOT_CERTIFIED,
    AlphaOption,
    DigitsOption,
    EllOption,
    GammaOption,
    JsonOption,
    NOption,
    OutsideHOption,
    ROption,
    ToleranceOption,
    UnmergedOption,
    instance,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError, UndecidedComparisonError
from markov_lrsao.progress import terminal_progress

__all__ = ["exact"]


class Method(StrEnum):
    """How the expectation is computed."""

    auto = "auto"
    joint = "joint"
    crossing = "crossing"


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
    digits: DigitsOption = None,
    moments: Annotated[
        int, typer.Option("--moments", help="2, 3 or 4: central moments to compute.")
    ] = 2,
    unmerged: UnmergedOption = False,
    max_states: Annotated[int | None, MAX_STATES] = None,
    tolerance: ToleranceOption = None,
    runs: Annotated[
        int, typer.Option("--runs", help="Runs to simulate where nothing else answers; 0: none.")
    ] = 10_000,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    as_json: JsonOption = False,
) -> None:
    """Print the expected runtime, in total and phase by phase.

    It is exact where every comparison of Q-entries is decided, else a rigorous enclosure. Where
    runs can get stuck it is infinite, and the trap is shown. Where not even an enclosure is
    found within the limits, the answer is a simulation's, and says so. With --digits every digit
    is certain; where some are not, what is known is printed and the exit code is 3.
    """
    from markov_lrsao.answers.expected import runtime
    from markov_lrsao.cli.estimate import estimate
    from markov_lrsao.cli.wording import in_options

    if runs < 0:
        raise ParameterError(f"--runs {runs} is negative; give 0 for no simulation")
    if digits is not None and floats:
        raise ParameterError(f"--digits {digits} excludes --float: certain digits need no floats")
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
            digits=digits,
            progress=terminal_progress,
        )
    except UndecidedComparisonError as error:
        if runs == 0 or digits is not None:
            raise
        reason = in_options(str(error), "exact")
        found = estimate(chosen, runs, reason, terminal_progress)
        emit(as_json, found.to_dict, found.text)
    else:
        emit(as_json, result.to_dict, lambda: str(result))
        if digits is not None and not result.certified:
            raise typer.Exit(NOT_CERTIFIED)
