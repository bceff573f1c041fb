"""`markov-lrsao simulate`: runs, their mean with a confidence interval, success rate, ERT."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.algorithms import (
    AlgorithmOption,
    AtLeastOption,
    StartOption,
    chosen_algorithm,
    searched,
)
from markov_lrsao.cli.options import (
    ARITHMETIC,
    HELPERS,
    KERNEL,
    LANDSCAPE,
    RUNS,
    SEED,
    AlphaOption,
    ArithmeticName,
    EllOption,
    GammaOption,
    JsonOption,
    KernelName,
    LimitOption,
    NOption,
    OutsideHOption,
    RestartOption,
    ROption,
    ThreadsOption,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.progress import elapsed, terminal_progress
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from markov_lrsao.exact.quantity import Simulated
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.jumping_law import JumpingLaw
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.law import StepLaw
    from markov_lrsao.model.levels import LeadingOnes
    from markov_lrsao.model.search import Search
    from simulate.runs.endless import Endless
    from simulate.runs.samples import Samples
    from simulate.runs.searching import SearchTable
    from simulate.statistics.estimates import Summary

__all__ = ["simulate"]

_PILOT_RUNS = 16
_CONFIDENCE = typer.Option("--confidence", help="Confidence level.")
_MONITORS = typer.Option("--monitors", help="Count visits and uses; look for violations.")
_IOH = typer.Option("--ioh", help="New folder for the runs in IOHprofiler's format.")
_OUT = typer.Option(
    "--out", help="Table with a line per run: .csv, .parquet, .arrow or .feather; may be repeated."
)


def simulate(
    n: NOption = None,
    ell: EllOption = None,
    runs: Annotated[int, RUNS] = 1000,
    seed: Annotated[int, SEED] = 1,
    algorithm: AlgorithmOption = "lrsao",
    arithmetic: Annotated[ArithmeticName, ARITHMETIC] = ArithmeticName.exact,
    kernel: Annotated[KernelName, KERNEL] = KernelName.event,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    limit: LimitOption = None,
    restart: RestartOption = None,
    level: Annotated[float, _CONFIDENCE] = 0.95,
    monitors: Annotated[bool, _MONITORS] = False,
    threads: ThreadsOption = None,
    out: Annotated[list[Path] | None, _OUT] = None,
    ioh: Annotated[Path | None, _IOH] = None,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    start: StartOption = None,
    at_least: AtLeastOption = None,
    helpers: Annotated[str | None, HELPERS] = None,
    outside_h: OutsideHOption = False,
    as_json: JsonOption = False,
) -> None:
    """Simulate runs and print mean, confidence interval, phases, success rate and ERT.

    Without --limit a run may make 10^4 n^2 steps. If runs then turn out to be unable to end, the
    trap is shown and the exit code is 1; with --limit they are counted as censored.
    """
    from simulate.runs.runner import check_runs, default_limit
    from simulate.runs.runner import simulate as play
    from simulate.statistics.estimates import check_level, summary
    from simulate.sweeps.plan import parse_count

    shape = searched(n, ell, landscape, helpers)
    chosen = chosen_algorithm(algorithm, shape, alpha, gamma, r)
    law = _law(shape, chosen, outside_h, start, at_least)
    check_runs(runs)
    check_level(level)
    _check_files(out or [], ioh)
    playing = partial(
        play,
        law,
        seed=seed,
        kernel=kernel.value,
        arithmetic=arithmetic.value,
        limit=parse_count(limit, shape.n, "limit") or default_limit(shape.n),
        restart=parse_count(restart, shape.n, "restart"),
        start=start,
        at_least=at_least,
        threads=threads,
        progress=terminal_progress,
    )
    samples, endless = _played(playing, runs, monitors, pilot=limit is None)
    found = summary(samples, level)
    _save(samples, out or [], ioh)
    emit(
        as_json,
        lambda: _json(samples, found, endless),
        lambda: _text(samples, found) + _endless_text(samples, endless, runs),
    )
    if endless is not None and limit is None:
        raise typer.Exit(1)


def _check_files(tables: list[Path], ioh: Path | None) -> None:
    """Refuse files that could not be written, before anything is played."""
    from simulate.runs.ioh import check_folder
    from simulate.runs.tables import check_tables

    check_tables(tables)
    if ioh is not None:
        check_folder(ioh)


def _save(samples: Samples, tables: list[Path], ioh: Path | None) -> None:
    from simulate.runs.ioh import write_ioh

    for path in tables:
        samples.save(path)
    if ioh is not None:
        write_ioh(samples, ioh)


def _law(
    shape: Landscape | LeadingOnes,
    algorithm: Algorithm | Search,
    outside_h: bool,
    start: str | None,
    at_least: str | None,
) -> StepLaw | JumpingLaw | SearchTable:
    from markov_lrsao.answers.expected import check_hypothesis, check_learner
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.jumping_law import JumpingLaw
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.law import StepLaw
    from markov_lrsao.model.search import Search
    from simulate.runs.searching import SearchTable

    plain = algorithm.name == "rls" and start is None and at_least is None
    if plain and isinstance(shape, Landscape):
        algorithm = Algorithm.rls()  # the same runs as ever, with phases and monitors
    if isinstance(algorithm, Search):
        return SearchTable(shape, algorithm, start, at_least)
    check_learner(shape, algorithm)
    assert isinstance(shape, Landscape)
    check_hypothesis(shape, algorithm, outside_h=outside_h)
    if algorithm.rate is not None:
        return JumpingLaw.of(shape, algorithm)
    return StepLaw.of(shape, algorithm)


def _played(
    playing: Callable[..., Samples], runs: int, monitors: bool, *, pilot: bool
) -> tuple[Samples, Endless | None]:
    """Play the runs; with `pilot`, only a few if these cannot end already."""
    from simulate.runs.endless import explain

    if pilot and runs >= 4 * _PILOT_RUNS:
        samples = playing(runs=_PILOT_RUNS)
        if endless := explain(samples, terminal_progress):
            return samples, endless
    samples = playing(runs=runs, monitors=monitors)
    return samples, explain(samples, terminal_progress)


def _json(samples: Samples, found: Summary, endless: Endless | None) -> dict[str, Any]:
    result = samples.describe() | found.to_dict()
    result |= {"seconds": round(elapsed(), 6), "playing_seconds": round(samples.seconds, 6)}
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
        f"{elapsed():.2f} s, {samples.seconds:.2f} s of them played"
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
