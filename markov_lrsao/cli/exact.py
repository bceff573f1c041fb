"""`markov-lrsao exact`: E[T], its phases and its variance."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.algorithms import (
    AlgorithmOption,
    AtLeastOption,
    StartOption,
    chosen_algorithm,
    searched,
)
from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    MAX_STATES,
    NOT_CERTIFIED,
    AlphaOption,
    DigitsOption,
    EllOption,
    GammaOption,
    JsonOption,
    MaxMemoryOption,
    NOption,
    OutsideHOption,
    ROption,
    ToleranceOption,
    UnmergedOption,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError, StateSpaceTooLargeError, UndecidedComparisonError
from markov_lrsao.progress import elapsed, terminal_progress

if TYPE_CHECKING:
    from markov_lrsao.answers.results import RuntimeResult

__all__ = ["exact"]


class Method(StrEnum):
    """How the expectation is computed."""

    auto = "auto"
    joint = "joint"
    crossing = "crossing"
    segments = "segments"
    birth_death = "birth-death"
    block_tridiagonal = "block-tridiagonal"
    back_substitution = "back-substitution"
    dense = "dense"


_MethodOption = Annotated[
    Method,
    typer.Option(
        help="auto; joint, crossing or segments for agents that learn; birth-death, "
        "block-tridiagonal, back-substitution or dense for searches that do not.",
        metavar="<method>",
    ),
]
_MomentsOption = Annotated[
    int, typer.Option("--moments", help="2, 3 or 4: central moments to compute.")
]
_RunsOption = Annotated[
    int, typer.Option("--runs", help="Runs to simulate where nothing else answers; 0: none.")
]


def exact(
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    method: _MethodOption = Method.auto,
    floats: Annotated[bool, typer.Option("--float", help="Solve in floats (faster).")] = False,
    digits: DigitsOption = None,
    moments: _MomentsOption = 2,
    unmerged: UnmergedOption = False,
    max_states: Annotated[int | None, MAX_STATES] = None,
    max_memory: MaxMemoryOption = None,
    tolerance: ToleranceOption = None,
    runs: _RunsOption = 10_000,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    algorithm: AlgorithmOption = "lrsao",
    start: StartOption = None,
    at_least: AtLeastOption = None,
    helpers: Annotated[str | None, HELPERS] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the expected runtime, in total and phase by phase.

    It is exact where every comparison of Q-entries is decided, else a rigorous enclosure. Where
    runs can get stuck it is infinite, and the trap is shown. Where not even an enclosure is
    found within the limits, the answer is a simulation's, and says so. Algorithms that do not
    learn are solved by the method of their class, from any start. With --digits every digit is
    certain; where some are not, what is known is printed and the exit code is 3.
    """
    from markov_lrsao.answers.expected import runtime
    from markov_lrsao.memory import at_most

    _check(runs, digits, floats=floats)
    shape = searched(n, ell, landscape, helpers)
    chosen = chosen_algorithm(algorithm, shape, alpha, gamma, r)
    try:
        with at_most(max_memory):
            result = runtime(
                shape,
                chosen,
                method=method.value,
                field="float" if floats else "exact",
                moments=moments,
                merge=not unmerged,
                outside_h=outside_h,
                max_states=max_states,
                tolerance=tolerance,
                start=start,
                at_least=at_least,
                digits=digits,
                progress=terminal_progress,
            )
    except (UndecidedComparisonError, StateSpaceTooLargeError) as error:
        own = method is not Method.auto or max_states is not None  # a limit of one's own is kept
        kept = own and isinstance(error, StateSpaceTooLargeError)
        if runs == 0 or digits is not None or kept:
            raise
        from markov_lrsao.cli.estimate import estimate
        from markov_lrsao.cli.wording import in_options

        reason = in_options(str(error), "exact")
        found = estimate(
            shape, chosen, runs, reason, terminal_progress, start=start, at_least=at_least
        )
        emit(as_json, found.to_dict, found.text)
    else:
        _print(replace(result, seconds=elapsed()), as_json)  # imports and all, not only solving


def _print(result: RuntimeResult, as_json: bool) -> None:
    """Print an answer; if digits were asked for and some are not certain, the exit code says so."""
    emit(as_json, result.to_dict, lambda: str(result))
    if result.digits is not None and not result.certified:
        raise typer.Exit(NOT_CERTIFIED)


def _check(runs: int, digits: int | None, *, floats: bool) -> None:
    if runs < 0:
        raise ParameterError(f"--runs {runs} is negative; give 0 for no simulation")
    if digits is not None and floats:
        raise ParameterError(f"--digits {digits} excludes --float: certain digits need no floats")
