"""`markov-lrsao restarts`: the cut-off after which a run is best begun anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.algorithms import AtLeastOption, StartOption
from markov_lrsao.cli.options import SEED, JsonOption, LimitOption
from markov_lrsao.cli.output import emit
from markov_lrsao.cli.questions import Question, asking
from markov_lrsao.progress import terminal_progress

if TYPE_CHECKING:
    from markov_lrsao.answers.restarts import RestartResult

__all__ = ["restarts"]

_RUNS = typer.Option(
    "--runs", help="Estimate the law of T from so many runs instead of computing it.", min=4
)


@asking
def restarts(
    question: Question,
    start: StartOption = None,
    at_least: AtLeastOption = None,
    horizon: Annotated[
        int | None, typer.Option("--horizon", help="The largest cut-off to look at.", min=1)
    ] = None,
    runs: Annotated[int | None, _RUNS] = None,
    seed: Annotated[int, SEED] = 1,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the expected time with restarts over the cut-off, and where it is smallest.

    It is computed from the law of T. Where that is not known (EA+RL on Jump), --runs estimates it:
    the cut-off is chosen on one half of the runs, and its value estimated on the other.
    """
    from markov_lrsao.answers.restarts import restarts as solve

    if runs is not None:
        found = _estimated(question, runs, seed, limit, start, at_least)
    else:
        found = solve(
            question.landscape,
            question.algorithm,
            start=start,
            at_least=at_least,
            horizon=horizon,
            outside_h=question.outside_h,
            progress=terminal_progress,
        )
    emit(as_json, found.to_dict, lambda: str(found))


def _estimated(
    question: Question,
    runs: int,
    seed: int,
    limit: str | None,
    start: str | None,
    at_least: str | None,
) -> RestartResult:
    """Estimate the best cut-off from runs."""
    import numpy as np
    from flint import fmpq

    from markov_lrsao.answers.expected import runtime
    from markov_lrsao.answers.restarts import from_runs
    from markov_lrsao.errors import LrsaoError
    from markov_lrsao.exact.quantity import Infinite, Quantity
    from simulate.runs.runner import default_limit, kernel_of, simulate
    from simulate.sweeps.plan import parse_count

    shape, algorithm = question.landscape, question.algorithm
    most = parse_count(limit, shape.n, "limit") or default_limit(shape.n)
    samples = simulate(
        shape, algorithm, runs=runs, seed=seed, limit=most, kernel=kernel_of(shape, algorithm),
        start=start, at_least=at_least, progress=terminal_progress,
    )  # fmt: skip
    mean: Quantity = Infinite()
    if not (samples.stuck is not None and (samples.stuck >= 0).any()):
        try:
            mean = runtime(
                shape, algorithm, start=start, at_least=at_least, outside_h=question.outside_h,
                field="float",
            ).total  # fmt: skip
        except LrsaoError:
            mean = Quantity.enclosed(fmpq(0), None)  # nobody knows
    times = np.where(samples.censored, -1, samples.steps)
    return from_runs(shape, algorithm.name, times, most, mean)
