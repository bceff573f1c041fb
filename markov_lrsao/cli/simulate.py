"""`markov-lrsao simulate`: runs, their mean with a confidence interval, success rate, ERT."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.completion import landscapes
from markov_lrsao.cli.options import (
    AlphaOption,
    EllOption,
    JsonOption,
    NOption,
    OutsideHOption,
    ROption,
)
from markov_lrsao.cli.output import json_text

if TYPE_CHECKING:
    from markov_lrsao.exact.quantity import Simulated
    from simulate.runs.endless import Endless
    from simulate.runs.samples import Samples
    from simulate.statistics.estimates import Summary

__all__ = ["AlgorithmName", "ArithmeticName", "KernelName", "register"]

_PILOT_RUNS = 16


class AlgorithmName(StrEnum):
    """What is simulated."""

    lrsao = "lrsao"
    earl = "earl"
    rls = "rls"


class ArithmeticName(StrEnum):
    """How Q-entries are computed."""

    exact = "exact"
    float64 = "float64"


class KernelName(StrEnum):
    """How time passes."""

    event = "event"
    step = "step"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "simulate", epilog="Example: markov-lrsao simulate --n 1000 --ell 2 --runs 2000 --seed 1"
    )(simulate)


def simulate(
    n: NOption = None,
    ell: EllOption = None,
    runs: Annotated[int, typer.Option("--runs", help="Number of runs.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="An integer >= 0; fixes every run.")] = 1,
    algorithm: Annotated[
        AlgorithmName, typer.Option(help="What to simulate.")
    ] = AlgorithmName.lrsao,
    arithmetic: Annotated[
        ArithmeticName, typer.Option(help="exact: true semantics; float64: what plain floats do.")
    ] = ArithmeticName.exact,
    kernel: Annotated[
        KernelName, typer.Option(help="event: skip runs of rejected moves; step: make every step.")
    ] = KernelName.event,
    alpha: AlphaOption = None,
    gamma: Annotated[
        str | None,
        typer.Option("--gamma", help="Discount in (0,1).", show_default="1/(n+1); earl: 99/100"),
    ] = None,
    r: ROption = None,
    limit: Annotated[
        str | None,
        typer.Option(
            "--limit",
            help="Step limit, e.g. 100000 or 10n2 (10 n^2); runs that hit it are censored.",
            show_default="10000n2",
        ),
    ] = None,
    restart: Annotated[
        str | None, typer.Option("--restart", help="Start from scratch every so many steps.")
    ] = None,
    level: Annotated[float, typer.Option("--confidence", help="Confidence level.")] = 0.95,
    monitors: Annotated[
        bool,
        typer.Option(
            "--monitors", help="Count visits, uses, positive entries; look for violations."
        ),
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            help="Does not change the results.",
            show_default="all cores",
            min=1,
            max=1024,
        ),
    ] = None,
    ioh: Annotated[
        Path | None,
        typer.Option("--ioh", help="Write the runs to this new folder in IOHprofiler's format."),
    ] = None,
    landscape: Annotated[
        str,
        typer.Option(
            "--landscape",
            help="jump, jump-open (bridges without end points), onemax, or a JSON file.",
            autocompletion=landscapes,
        ),
    ] = "jump",
    outside_h: OutsideHOption = False,
    as_json: JsonOption = False,
) -> None:
    """Simulate runs and print mean, confidence interval, phases, success rate and ERT.

    Without --limit a run may make 10^4 n^2 steps. If runs then turn out to be unable to end, the
    trap is shown and the exit code is 1; with --limit they are counted as censored.
    """
    from markov_lrsao.answers.expected import check_hypothesis
    from markov_lrsao.cli.options import instance
    from markov_lrsao.model.law import StepLaw
    from markov_lrsao.progress import terminal_progress
    from simulate.runs.ioh import check_folder, write_ioh
    from simulate.runs.runner import check_runs, default_limit
    from simulate.runs.runner import simulate as play
    from simulate.statistics.estimates import check_level, summary
    from simulate.sweeps.plan import build_algorithm, parse_count

    shape = instance(n, ell, None, None, None, landscape).landscape
    law = StepLaw.of(shape, build_algorithm(algorithm.value, shape.n, alpha, gamma, r))
    check_hypothesis(shape, law.algorithm, outside_h=outside_h)
    check_runs(runs)
    check_level(level)
    if ioh is not None:
        check_folder(ioh)

    def simulated(count: int, *, watched: bool) -> tuple[Samples, Endless | None]:
        from simulate.runs.endless import explain

        samples = play(
            law,
            runs=count,
            seed=seed,
            kernel=kernel.value,
            arithmetic=arithmetic.value,
            limit=parse_count(limit, shape.n, "limit") or default_limit(shape.n),
            restart=parse_count(restart, shape.n, "restart"),
            monitors=watched,
            threads=threads,
            progress=terminal_progress,
        )
        return samples, explain(samples, terminal_progress)

    endless = None
    if limit is None and runs >= 4 * _PILOT_RUNS:  # look for traps before playing them all
        samples, endless = simulated(_PILOT_RUNS, watched=False)
    if endless is None:
        samples, endless = simulated(runs, watched=monitors)
    found = summary(samples, level)
    if ioh is not None:
        write_ioh(samples, ioh)
    if as_json:
        print(json_text(_json(samples, found, endless)))
    else:
        from markov_lrsao.tables import show

        show(_text(samples, found) + _endless_text(samples, endless, runs))
    if endless is not None and limit is None:
        raise typer.Exit(1)


def _json(samples: Samples, found: Summary, endless: Endless | None) -> dict[str, Any]:
    result = samples.describe() | found.to_dict() | {"seconds": round(samples.seconds, 6)}
    result["endless"] = None if endless is None else endless.to_dict()
    if samples.monitors is not None:
        result["monitors"] = samples.monitors.to_dict(samples.law.actions)
    return result


def _endless_text(samples: Samples, endless: Endless | None, runs: int) -> str:
    """Say why runs cannot end."""
    if endless is None:
        return ""
    told = f"\n\n{endless.text(samples.seed)}"
    if samples.runs < runs:
        told += (
            f"\nso no more than {samples.runs} of the {runs:,} runs were played; to count "
            f"such runs as censored, give a limit, e.g. --limit 100n2"
        )
    return told


def _text(samples: Samples, found: Summary) -> str:
    from markov_lrsao.exact.rationals import shorten
    from markov_lrsao.tables import table

    about = samples.describe()
    size = f"n = {about['n']}" + (f", l = {about['ell']}" if about["ell"] else "")
    head = f"{about['algorithm']} on {about['landscape']}, {size}"
    values = ", ".join(
        f"{name} = {shorten(about[name], 30)}"
        for name in ("alpha", "gamma", "r")
        if about[name] is not None
    )
    if values:
        head += f"\n{values}"
    head += (
        f"\n{samples.runs:,} runs, seed {samples.seed}, {about['kernel']} kernel, "
        f"{about['arithmetic']} arithmetic"
    )
    if samples.limit is not None:
        head += f", limit {samples.limit:,} steps"
    if samples.restart is not None:
        head += f", restart every {samples.restart:,} steps"
    percent = f"{100 * found.level:g}% interval"
    of = " (successful runs)" if found.censored else ""
    rows = []
    if found.total is not None:
        rows.append([f"mean T{of}", *_cells(found.total)])
        if len(found.phases) > 1:
            rows += [
                [f"mean T{k}{of}", *_cells(phase)] for k, phase in enumerate(found.phases, start=1)
            ]
    rows.append(["success rate", *_cells(found.success)])
    rows.append(["ERT", *_cells(found.ert)])
    for q, time in found.quantiles:
        shown = f"{time:,.0f}" if math.isfinite(time) else "-"
        rows.append([f"{100 * q:g}% quantile", shown, "", ""])
    body = table(["quantity", "estimate", "standard error", percent], rows, right=[1, 2])
    foot = (
        f"{found.censored:,} runs censored; {found.decisions:,} choices decided exactly; "
        f"{samples.seconds:.2f} s"
    )
    if samples.restart is not None:
        foot += f"; {found.restarts:,} restarts"
    return f"{head}\n\n{body}\n\n{foot}{_monitor_text(samples)}"


def _cells(estimate: Simulated) -> list[str]:
    def number(x: float) -> str:
        if not math.isfinite(x):
            return "inf"
        return f"{x:,.2f}" if abs(x) >= 10 else f"{x:.4f}"

    return [
        number(estimate.point),
        number(estimate.error),
        f"[{number(estimate.low)}, {number(estimate.high)}]",
    ]


def _monitor_text(samples: Samples) -> str:
    monitors = samples.monitors
    if monitors is None:
        return ""
    names = samples.law.actions
    lines = [
        "",
        "",
        "uses per run: "
        + "; ".join(
            f"phase {k + 1}: "
            + ", ".join(
                f"{name} {monitors.uses[k, :, a].sum() / samples.runs:,.2f}"
                for a, name in enumerate(names)
            )
            for k in range(len(monitors.uses))
        ),
    ]
    most = max(c for c, count in enumerate(monitors.positives.sum(axis=0).tolist()) if count)
    lines.append(f"most positive entries in a row: {most}")
    found = monitors.violation
    if found is not None:
        entries = ", ".join(f"{name} = {value}" for name, value, _ in found.q_row)
        lines.append(
            f"first violation ({found.rule}): run {found.run}, step {found.step:,}, "
            f"state {found.state} ({entries}); --json has the trace"
        )
    return "\n".join(lines)
