"""`markov-lrsao sweep`: a grid of simulations into one resumable results file."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.algorithms import ALGORITHM_NAME
from markov_lrsao.cli.options import (
    ALPHAS,
    ARITHMETIC,
    ELLS,
    GAMMAS,
    HELPERS,
    KERNEL,
    LANDSCAPE,
    NS,
    RS,
    RUNS,
    SEED,
    ArithmeticName,
    JsonOption,
    KernelName,
    LimitOption,
    OutsideHOption,
    RestartOption,
    SchedulerOption,
    ThreadsOption,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress
from markov_lrsao.tables import table
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from simulate.sweeps.plan import Plan
    from simulate.sweeps.sweep import ExperimentResult

__all__ = ["sweep"]


def sweep(
    plan: Annotated[
        Path | None,
        typer.Argument(help="Plan file (.toml or .json) with the fields n, ell, runs, seed, ..."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Results file; an existing one is continued.",
            show_default="PLAN with the ending .sqlite",
        ),
    ] = None,
    n: Annotated[str | None, NS] = None,
    ell: Annotated[str | None, ELLS] = None,
    alpha: Annotated[str | None, ALPHAS] = None,
    gamma: Annotated[str | None, GAMMAS] = None,
    r: Annotated[str | None, RS] = None,
    runs: Annotated[int | None, RUNS] = None,
    seed: Annotated[int | None, SEED] = None,
    algorithm: Annotated[str | None, ALGORITHM_NAME] = None,
    arithmetic: Annotated[ArithmeticName | None, ARITHMETIC] = None,
    kernel: Annotated[KernelName | None, KERNEL] = None,
    limit: LimitOption = None,
    restart: RestartOption = None,
    landscape: Annotated[str | None, LANDSCAPE] = None,
    helpers: Annotated[str | None, HELPERS] = None,
    batch: Annotated[int | None, typer.Option("--batch", help="Runs per unit of work.")] = None,
    scheduler: SchedulerOption = None,
    threads: ThreadsOption = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Drop the damaged batches of the results file and replay them."
        ),
    ] = False,
    outside_h: OutsideHOption = False,
    as_json: JsonOption = False,
) -> None:
    """Play what is missing of a grid and print the statistics of its experiments.

    A killed sweep is resumed by starting it again; the table ends up the same. Without a plan
    file, the options from --n to --batch describe the grid.
    """
    from simulate.sweeps.sweep import run_sweep, sweep_results

    fields = {"n": n, "ell": ell, "alpha": alpha, "gamma": gamma, "r": r, "runs": runs}
    fields |= {"seed": seed, "algorithm": algorithm, "arithmetic": arithmetic, "kernel": kernel}
    fields |= {"limit": limit, "restart": restart, "landscape": landscape, "batch": batch}
    fields |= {"helpers": helpers}
    grid, file = _plan(plan, out, fields, outside_h)
    played = run_sweep(
        grid, file, scheduler=scheduler, threads=threads, repair=repair, progress=terminal_progress
    )
    results = sweep_results(file, grid)
    head = {"file": str(file), "experiments": len(grid.experiments), "runs": grid.runs}
    emit(
        as_json,
        lambda: {**head, "played_now": played, "results": [_described(each) for each in results]},
        lambda: _text(grid, results, file, played),
    )


def _plan(
    plan: Path | None, out: Path | None, fields: dict[str, Any], outside_h: bool
) -> tuple[Plan, Path]:
    """Return the experiments, from a file or from the options, and the name of the results file."""
    from simulate.sweeps.plan import Plan

    given = {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in fields.items()
        if value is not None
    }
    if plan is not None:
        if given:
            raise ParameterError(
                f"--{next(iter(given))} was given besides the plan file {plan}: write it into "
                f"the plan"
            )
        return Plan.load(plan, outside_h=outside_h), out or plan.with_suffix(".sqlite")
    if "n" not in given:
        raise ParameterError(
            "there is no plan: give a plan file, or a grid such as "
            "--n 50:500:50 --ell 2 --out sweep.sqlite"
        )
    if out is None:
        raise ParameterError("--out is missing: name the results file")
    return Plan.of(given, outside_h=outside_h), out


def _described(result: ExperimentResult) -> dict[str, Any]:
    from dataclasses import asdict

    experiment = asdict(result.experiment)
    del experiment["definition"]  # the file's landscape once more
    return experiment | result.summary.to_dict()


def _text(plan: Plan, results: list[ExperimentResult], out: Path, played: int) -> str:

    rows = []
    for result in results:
        experiment, found = result.experiment, result.summary
        ert = found.ert
        half = (ert.high - ert.low) / 2
        rows.append(
            [
                str(experiment.n),
                str(experiment.ell),
                *(getattr(experiment, k) or "-" for k in ("alpha", "gamma", "r")),
                f"{result.runs:,}",
                f"{found.success.point:.3f}",
                f"{ert.point:,.1f}" if math.isfinite(ert.point) else "inf",
                f"{half:,.1f}" if math.isfinite(half) else "-",
                f"{found.decisions:,}",
            ]
        )
    header = ["n", "l", "alpha", "gamma", "r", "runs", "success", "ERT", "+- (95%)", "decisions"]
    return (
        f"{table(header, rows, right=range(len(header)))}\n\n"
        f"{plan.runs:,} runs in {printable(str(out))}, {played:,} of them played now"
    )
