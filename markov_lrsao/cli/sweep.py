"""`markov-lrsao sweep`: a grid of simulations into one resumable results file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.completion import choices, landscapes
from markov_lrsao.cli.options import JsonOption, OutsideHOption
from markov_lrsao.cli.output import json_text

if TYPE_CHECKING:
    from simulate.sweeps.plan import Plan
    from simulate.sweeps.sweep import ExperimentResult

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "sweep",
        epilog="Example: markov-lrsao sweep --n 50:500:50 --ell 2,sqrt --runs 200 --out s.sqlite",
    )(sweep)


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
    n: Annotated[
        str | None, typer.Option("--n", help="Without a plan file: e.g. 9,12 or 50:1000:50.")
    ] = None,
    ell: Annotated[
        str | None,
        typer.Option(
            "--ell", "-l", help="E.g. 2,3 or the schedules sqrt, cbrt, half = floor((n-5)/2)."
        ),
    ] = None,
    alpha: Annotated[str | None, typer.Option("--alpha", help="E.g. 0.8,0.9.")] = None,
    gamma: Annotated[str | None, typer.Option("--gamma", help="E.g. 1/10,1/20.")] = None,
    r: Annotated[str | None, typer.Option("--r", help="E.g. 5,7/2.")] = None,
    runs: Annotated[int | None, typer.Option("--runs", help="Runs per experiment.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="An integer >= 0.")] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(help="lrsao, earl or rls.", autocompletion=choices("lrsao", "earl", "rls")),
    ] = None,
    arithmetic: Annotated[
        str | None,
        typer.Option(help="exact or float64.", autocompletion=choices("exact", "float64")),
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(help="event or step.", autocompletion=choices("event", "step"))
    ] = None,
    limit: Annotated[
        str | None, typer.Option("--limit", help="Step limit, e.g. 10n2.", show_default="10000n2")
    ] = None,
    restart: Annotated[str | None, typer.Option("--restart", help="Restart period.")] = None,
    landscape: Annotated[
        str | None, typer.Option(help="jump, jump-open, onemax, file.", autocompletion=landscapes)
    ] = None,
    batch: Annotated[int | None, typer.Option("--batch", help="Runs per unit of work.")] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", help="Address of a Dask scheduler, e.g. tcp://host:8786."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", help="Default: all cores.", min=1, max=1024)
    ] = None,
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

    A killed sweep is resumed by starting it again; the table ends up the same.
    """
    from markov_lrsao.errors import ParameterError
    from markov_lrsao.progress import terminal_progress
    from simulate.sweeps.plan import Plan
    from simulate.sweeps.sweep import run_sweep, sweep_results

    lists: dict[str, Any] = {
        "n": n,
        "ell": ell,
        "alpha": _split(alpha),
        "gamma": _split(gamma),
        "r": _split(r),
    }
    scalars: dict[str, Any] = {
        "runs": runs,
        "seed": seed,
        "algorithm": algorithm,
        "arithmetic": arithmetic,
        "kernel": kernel,
        "limit": limit,
        "restart": restart,
        "landscape": landscape,
        "batch": batch,
    }
    given = {name: value for name, value in (lists | scalars).items() if value is not None}
    if plan is not None and given:
        raise ParameterError(
            f"--{next(iter(given))} was given besides the plan file {plan}: write it into the plan"
        )
    if plan is None and n is None:
        raise ParameterError(
            "there is no plan: give a plan file, or a grid such as "
            "--n 50:500:50 --ell 2 --out sweep.sqlite"
        )
    if out is None:
        if plan is None:
            raise ParameterError("--out is missing: name the results file")
        out = plan.with_suffix(".sqlite")
    experiments = (
        Plan.load(plan, outside_h=outside_h)
        if plan is not None
        else Plan.of(given, outside_h=outside_h)
    )
    played = run_sweep(
        experiments,
        out,
        scheduler=scheduler,
        threads=threads,
        repair=repair,
        progress=terminal_progress,
    )
    _print(experiments, sweep_results(out, experiments), out, played, as_json)


def _split(text: str | None) -> list[str] | None:
    return None if text is None else text.split(",")


def _described(result: ExperimentResult) -> dict[str, Any]:
    from dataclasses import asdict

    experiment = asdict(result.experiment)
    del experiment["definition"]  # the file's landscape once more
    return experiment | result.summary.to_dict()


def _print(
    plan: Plan, results: list[ExperimentResult], out: Path, played: int, as_json: bool
) -> None:
    from markov_lrsao.tables import show, table
    from markov_lrsao.texts import printable

    if as_json:
        print(
            json_text(
                {
                    "file": str(out),
                    "experiments": len(plan.experiments),
                    "runs": plan.runs,
                    "played_now": played,
                    "results": [_described(result) for result in results],
                }
            )
        )
        return
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
                f"{found.success.value:.3f}",
                f"{ert.value:,.1f}" if math.isfinite(ert.value) else "inf",
                f"{half:,.1f}" if math.isfinite(half) else "-",
                f"{found.decisions:,}",
            ]
        )
    header = ["n", "l", "alpha", "gamma", "r", "runs", "success", "ERT", "+- (95%)", "decisions"]
    show(table(header, rows, right=range(len(header))))
    print(f"\n{plan.runs:,} runs in {printable(str(out))}, {played:,} of them played now")
