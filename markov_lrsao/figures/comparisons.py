"""LRSAO against EA+RL, and the true semantics against plain float64.

Most runs of EA+RL learn an objective that is wrong later and practically never end, so its mean
runtime does not exist as a number one could simulate. What is drawn is ERT = (steps of all
runs) / (successes) at a stated budget, once without and once with restarts of a stated length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from markov_lrsao.answers.curves import CurvePoint, ell_of
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.figures.base import (
    LRSAO_PARAMETERS,
    Axis,
    Figure,
    FigureData,
    Series,
    Settings,
    numbers,
    setting_text,
)
from markov_lrsao.figures.sampling import (
    Experiment,
    coupon_collector,
    curve_sizes,
    exact_point,
    exact_points,
    grid,
    play,
    range_text,
    schedule_text,
)
from markov_lrsao.progress import Progress

if TYPE_CHECKING:
    from markov_lrsao.exact.quantity import Simulated
    from simulate.statistics.estimates import Summary

__all__ = ["FIGURES"]

_SCHEDULES = ("2", "half")


def _restart(settings: Settings, schedule: str, n: int) -> int:
    return ceil(settings.earl_restart * exact_point(schedule, n).coupon_collector)


def _earl_cells(
    schedule: str, settings: Settings, progress: Progress
) -> tuple[list[int], list[Summary], list[Summary], list[Summary]]:
    """Return the grid and the summaries of LRSAO, EA+RL, and EA+RL with restarts."""
    ns = grid(settings.earl_n)
    plain, restarted, ours = [], [], []
    with progress(f"LRSAO and EA+RL, {schedule_text(schedule)}", total=sum(ns)) as bar:
        for n in ns:
            experiment = Experiment(
                n=n, ell=ell_of(schedule, n), runs=settings.earl_runs, seed=settings.seed
            )
            earl = replace(experiment, algorithm="earl", limit=settings.earl_budget * n * n)
            ours.append(play(experiment, settings.level))
            plain.append(play(earl, settings.level))
            restarted.append(
                play(replace(earl, restart=_restart(settings, schedule, n)), settings.level)
            )
            bar.advance(n)
    return ns, ours, plain, restarted


def _budget_text(settings: Settings) -> str:
    return f"budget {settings.earl_budget} n^2"


def _restart_text(settings: Settings) -> str:
    return f"restart every {settings.earl_restart} n H_n steps"


def _earl_notes(settings: Settings, schedule: str) -> dict[str, Any]:
    experiment = Experiment(n=50, ell=2, runs=1, seed=0, algorithm="earl")
    algorithm = experiment.law().algorithm
    ns = grid(settings.earl_n)
    return {
        "runs": settings.earl_runs,
        "seed": settings.seed,
        "confidence": settings.level,
        "ell": [ell_of(schedule, n) for n in ns],
        "earl_alpha": rational_text(algorithm.learn),
        "earl_gamma": rational_text(algorithm.bootstrap / algorithm.learn),
        "lrsao_parameters": LRSAO_PARAMETERS,
        "budget": [settings.earl_budget * n * n for n in ns],
        "restart_length": [_restart(settings, schedule, n) for n in ns],
    }


def _earl_setting(settings: Settings, ell: str, lrsao: bool = True) -> str:
    notes = _earl_notes(settings, "2")
    return setting_text(
        range_text(grid(settings.earl_n)),
        ell,
        f"EA+RL: alpha = {notes['earl_alpha']}, gamma = {notes['earl_gamma']}, no penalty r",
        runs=settings.earl_runs,
        seed=settings.seed,
        level=settings.level,
        lrsao=lrsao,
    )


def _earl(schedule: str, log: bool, settings: Settings, progress: Progress) -> FigureData:
    """Draw LRSAO and EA+RL; without restarts EA+RL is so slow that a linear axis leaves it out."""
    ns, ours, plain, restarted = _earl_cells(schedule, settings, progress)
    points = exact_points(schedule, curve_sizes(settings, ns[-1], ns, schedule), progress)
    at = [exact_point(schedule, n) for n in ns]
    x = numbers(ns)
    name = f"earl-{schedule}{'-log' if log else ''}"

    def ert(title: str, found: list[Summary], colour: int, marker: str) -> Series:
        return Series(
            name=title,
            kind="points",
            x=x,
            y=numbers(s.ert.point for s in found),
            colour=colour,
            low=numbers(s.ert.low for s in found),
            high=numbers(s.ert.high for s in found),
            marker=marker,
        )

    return FigureData(
        name=name,
        title=TITLES[name],
        kind="chart",
        x=Axis("n"),
        y=Axis("function evaluations", "log" if log else "linear"),
        caption=f"E[T] of LRSAO and n H_n are exact, at {len(points)} values of n. EA+RL is "
        f"sampled, {settings.earl_runs:,} runs a point: ERT = steps of all runs / successes at a "
        f"budget of {settings.earl_budget} n^2 steps, "
        + (
            "without restarts and "
            if log
            else f"without restarts beyond this axis ({plain[-1].ert.point:,.3g} at "
            f"n = {ns[-1]:,}), "
        )
        + f"with a {_restart_text(settings)}; bars are {100 * settings.level:g}% intervals.",
        setting=_earl_setting(settings, schedule_text(schedule).removeprefix("l = ")),
        series=(
            Series(
                name="LRSAO, E[T] exact",
                kind="line",
                x=numbers(p.n for p in points),
                colour=0,
                y=numbers(float(p.result.total) for p in points),
            ),
            ert(f"LRSAO, simulated mean, {settings.earl_runs:,} runs", ours, 0, "o"),
            *([ert(f"EA+RL, ERT, {_budget_text(settings)}", plain, 1, "s")] if log else []),
            ert(f"EA+RL, ERT, {_restart_text(settings)}", restarted, 2, "^"),
            coupon_collector(points),
        ),
        notes=_earl_notes(settings, schedule) | _earl_found(at, plain, restarted),
    )


def _earl_found(
    points: Sequence[CurvePoint], plain: Sequence[Summary], restarted: Sequence[Summary]
) -> dict[str, Any]:
    """Say where EA+RL succeeds, and where its interval lies on one side of LRSAO's E[T]."""
    exact = [float(p.result.total) for p in points]
    both = list(zip(points, restarted, exact, strict=True))
    return {
        "success_rate": [s.success.point for s in plain],
        "success_rate_with_restarts": [s.success.point for s in restarted],
        "restarted_earl_interval_below_lrsao_at_n": [p.n for p, s, t in both if s.ert.high < t],
        "restarted_earl_interval_above_lrsao_at_n": [p.n for p, s, t in both if s.ert.low > t],
        "lrsao_over_coupon_collector": [
            t / p.coupon_collector for p, t in zip(points, exact, strict=True)
        ],
    }


def _success(settings: Settings, progress: Progress) -> FigureData:
    """Draw success rates, a panel for each schedule: with restarts both are 1."""
    series = []
    notes: dict[str, Any] = {}
    for k, schedule in enumerate(_SCHEDULES):
        ns, _, plain, restarted = _earl_cells(schedule, settings, progress)
        for j, (found, text) in enumerate(
            ((plain, "no restarts"), (restarted, _restart_text(settings)))
        ):
            series.append(
                Series(
                    name=f"{schedule_text(schedule)}, {text}",
                    kind="points",
                    x=numbers(ns),
                    y=numbers(s.success.point for s in found),
                    colour=1 + j,
                    marker="s^"[j],
                    low=numbers(s.success.low for s in found),
                    high=numbers(s.success.high for s in found),
                    panel=k,
                )
            )
        notes[schedule] = _earl_notes(settings, schedule)
    name = "earl-success"
    return FigureData(
        name=name,
        title=TITLES[name],
        kind="chart",
        x=Axis("n"),
        y=Axis("share of runs", ends=(0.0, 1.05)),
        series=tuple(series),
        notes=notes,
        caption=f"Share of runs that end within {settings.earl_budget} n^2 steps. Sampled, "
        f"{settings.earl_runs:,} runs a point, with Clopper and Pearson's "
        f"{100 * settings.level:g}% intervals. Every run of LRSAO ends with probability one.",
        setting=_earl_setting(
            settings,
            " above, ".join(schedule_text(s).removeprefix("l = ") for s in _SCHEDULES) + " below",
            lrsao=False,
        ),
    )


def _both_arithmetics(
    ns: Sequence[int], settings: Settings, progress: Progress
) -> list[list[Simulated]]:
    """Return per n the mean T of l = 2 in true and in float64 arithmetic, same random numbers."""
    means = []
    with progress("true semantics and float64", total=sum(ns)) as bar:
        for n in ns:
            experiment = Experiment(n=n, ell=2, runs=settings.float_runs, seed=settings.seed)
            row = [
                play(c, settings.level).total
                for c in (experiment, replace(experiment, arithmetic="float64"))
            ]
            means.append([m for m in row if m is not None])
            bar.advance(n)
    return means


def _float64(ratio: bool, settings: Settings, progress: Progress) -> FigureData:
    """Draw mean T of l = 2, or its quotient by the exact E[T]."""
    ns = grid(settings.float_n)
    sizes = [n for n in curve_sizes(settings, ns[-1], ns, "2") if n >= ns[0] / 2]
    points = exact_points("2", sizes, progress)
    means = _both_arithmetics(ns, settings, progress)
    exact = [float(exact_point("2", n).result.total) for n in ns]
    unit = exact if ratio else [1.0] * len(ns)
    x = numbers(ns)
    line = [1.0 if ratio else float(p.result.total) for p in points]

    def points_of(k: int, text: str, marker: str) -> Series:
        return Series(
            name=f"simulated, {text}, {settings.float_runs:,} runs each",
            kind="points",
            x=x,
            y=numbers(m[k].point / u for m, u in zip(means, unit, strict=True)),
            low=numbers(m[k].low / u for m, u in zip(means, unit, strict=True)),
            high=numbers(m[k].high / u for m, u in zip(means, unit, strict=True)),
            colour=k + 1,
            marker=marker,
        )

    name = "float64-ratio" if ratio else "float64"
    return FigureData(
        name=name,
        title=TITLES[name],
        kind="chart",
        x=Axis("n", "linear" if ratio else "log"),
        y=Axis("mean T / exact E[T]") if ratio else Axis("T (function evaluations)", "log"),
        caption=f"The line is the exact E[T], at {len(sizes)} values of n; both sets of points are "
        f"sampled with the same random numbers, {settings.float_runs:,} runs each, bars are "
        f"{100 * settings.level:g}% intervals. In float64 a rejected entry decays to exactly 0, "
        f"ties with others, and another algorithm is simulated.",
        setting=setting_text(
            range_text(sizes),
            2,
            runs=settings.float_runs,
            seed=settings.seed,
            level=settings.level,
        ),
        series=(
            Series(
                name="E[T], exact",
                kind="line",
                x=numbers(sizes),
                colour=0,
                y=numbers(line),
            ),
            points_of(0, "true semantics", "o"),
            points_of(1, "plain float64", "s"),
        ),
        notes={
            "runs": settings.float_runs,
            "seed": settings.seed,
            "confidence": settings.level,
            "float64_over_exact": [m[1].point / t for m, t in zip(means, exact, strict=True)],
        },
    )


TITLES = {
    f"earl-{s}{ending}": f"LRSAO against EA+RL, {schedule_text(s)}{remark}"
    for s in _SCHEDULES
    for ending, remark in (("", ""), ("-log", " (log scale)"))
} | {
    "earl-success": "EA+RL: share of runs that end",
    "float64": "What plain float64 does, l = 2: mean runtime",
    "float64-ratio": "What plain float64 does, l = 2: mean runtime over the exact E[T]",
}

FIGURES = (
    *(
        Figure(
            f"earl-{s}{'-log' if log else ''}",
            TITLES[f"earl-{s}{'-log' if log else ''}"],
            partial(_earl, s, log),
        )
        for s in _SCHEDULES
        for log in (False, True)
    ),
    Figure("earl-success", TITLES["earl-success"], _success),
    Figure("float64", TITLES["float64"], partial(_float64, False)),
    Figure("float64-ratio", TITLES["float64-ratio"], partial(_float64, True)),
)
