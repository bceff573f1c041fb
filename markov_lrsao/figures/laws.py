"""Where the time goes, and how T is distributed.

Distribution functions are drawn as the evolutionary-computation community draws them: the share
of runs that have ended against function evaluations on a logarithmic axis, the empirical
function over the exact one, with the Dvoretzky-Kiefer-Wolfowitz band around the empirical one.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.answers.curves import SCHEDULES, ell_of
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.answers.laws import Distribution
from markov_lrsao.answers.profile import Profile, profile
from markov_lrsao.exact.rationals import rational_text, to_float
from markov_lrsao.figures.base import (
    Axis,
    Figure,
    FigureData,
    Series,
    Settings,
    Style,
    numbers,
    setting_text,
)
from markov_lrsao.figures.sampling import (
    Experiment,
    range_text,
    samples_of,
    spaced,
)
from markov_lrsao.interrupts import spread
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import Progress

__all__ = ["FIGURES"]

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_TIMES = 160
_LAST_RUNS = 40
_STYLES: tuple[Style, ...] = ("solid", "dashed", "dashdot", "dashes")
_MARKERS = "os^D"
_LAST = len(SCHEDULES) - 1
"""The schedule whose marks and bands the legend names, after all the lines."""


@lru_cache(maxsize=64)
def _law(n: int, ell: int) -> Distribution:
    return distribution(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


@lru_cache(maxsize=8)
def _exact_profile(n: int, ell: int) -> Profile:
    return profile(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)), exact=True)


def _profile(visits: bool, settings: Settings, progress: Progress) -> FigureData:
    n = settings.profile_n
    series, notes = [], {}
    with progress("profiles", total=3) as bar:
        for k, schedule in enumerate(("2", "sqrt", "half")):
            ell = ell_of(schedule, n)
            found = _exact_profile(n, ell)
            values = list(found.visits if visits else found.steps)[:n]
            series.append(
                Series(
                    name=f"l = {ell}",
                    kind="line",
                    x=numbers(range(n)),
                    colour=k,
                    style=_STYLES[k],
                    y=numbers(to_float(v) for v in values),
                    exact=[rational_text(v) for v in values],
                )
            )
            notes[f"l = {ell}"] = {
                "phases end at": list(found.landscape.milestones),
                "E[T]": to_float(sum(found.steps, fmpq(0))),
            }
            bar.advance()
    name = f"profile-{'visits' if visits else 'steps'}"
    return FigureData(
        name=name,
        title=f"{TITLES[name]}, n = {n}",
        kind="chart",
        x=Axis("position (number of ones)"),
        y=Axis("expected visits", "linear") if visits else Axis("expected steps", "log"),
        series=tuple(series),
        notes=notes,
        setting=setting_text(n, ", ".join(str(ell_of(s, n)) for s in ("2", "sqrt", "half"))),
        caption=(
            "Exact expected number of arrivals at each position before the optimum is found."
            if visits
            else "Exact expected number of steps begun at each position; they add up to E[T]."
        ),
    )


def _times(law: Distribution, ended: Any) -> Any:
    """Return the times at which functions are drawn, given those at which runs ended.

    Evenly spaced ones alone would draw the empirical function's steps late, by 3% of the time
    each, and the runs would look slower than the law. So its own steps are among them: every
    half per cent of the runs, and each of the last.
    """
    low, high = max(law.quantile(1e-3), 1), law.quantile(1 - 1e-5)
    even = np.geomspace(low, high, _TIMES).astype(np.int64)
    steps = np.concatenate([ended[:: max(1, len(ended) // 200)], ended[-_LAST_RUNS:]])
    return np.unique(np.concatenate([even, steps[(low <= steps) & (steps <= high)]]))


def _distribution(tail: bool, settings: Settings, progress: Progress) -> FigureData:
    """Draw P(T <= t) or P(T > t), exact and empirical, for the four schedules."""
    from simulate.statistics.estimates import band_halfwidth

    n = settings.law_n
    half = band_halfwidth(settings.law_runs, settings.level)
    series: list[Series] = []
    notes: dict[str, Any] = {"runs": settings.law_runs, "seed": settings.seed, "n": n}
    if not tail:
        notes["confidence"] = settings.level
    with progress("distributions", total=len(SCHEDULES)) as bar:
        for k, schedule in enumerate(SCHEDULES):
            ell = ell_of(schedule, n)
            law = _law(n, ell)
            experiment = Experiment(n=n, ell=ell, runs=settings.law_runs, seed=settings.seed)
            ended = np.sort(samples_of(experiment).times)
            times = _times(law, ended)
            exact = np.asarray(law.cdf(times))
            share = np.searchsorted(ended, times, side="right") / experiment.runs
            series += _curves(ell, k, times, exact, share, half, tail, settings)
            quantiles = [(q, law.quantile(q)) for q in _LEVELS]
            if not tail:
                series.append(_marked(ell, k, [t for _, t in quantiles]))
            notes[f"l = {ell}"] = {
                "quantiles": {f"{q:g}": t for q, t in quantiles},
                "mean": law.mean,
                "deviation": law.deviation,
                "P(T <= E[T])": float(law.cdf(int(law.mean))),
                "error": law.error,
                "largest_distance": float(np.max(np.abs(share - exact))),
                "band": half,
            }
            bar.advance()
    worst = max(notes[f"l = {ell_of(s, n)}"]["error"] for s in SCHEDULES)
    within = f"1e{math.ceil(math.log10(worst))}" if worst > 0 else "0"  # rounded up
    name = "distribution-tail" if tail else "distribution"
    return FigureData(
        name=name,
        title=f"{TITLES[name]}, n = {n:,}",
        kind="chart",
        x=Axis("t (function evaluations)", "log"),
        y=Axis("P(T > t)", "log") if tail else Axis("P(T <= t), share of runs that have ended"),
        series=tuple(series),
        notes=notes,
        caption=f"Coloured lines are exact up to {within}; dotted steps are the "
        f"empirical function of {settings.law_runs:,} simulated runs each"
        + (
            ", which ends with the longest of them."
            if tail
            else f", shaded its simultaneous {100 * settings.level:g}% band (Dvoretzky, Kiefer and "
            f"Wolfowitz); marks are the exact 5, 25, 50, 75 and 95% quantiles."
        ),
        setting=setting_text(
            n,
            ", ".join(str(ell_of(s, n)) for s in SCHEDULES),
            runs=settings.law_runs,
            seed=settings.seed,
            level=None if tail else settings.level,
        ).replace("runs a point", "runs for each l"),
    )


def _marked(ell: int, k: int, quantiles: list[float]) -> Series:
    """Return the quantiles of the exact law as points of its curve."""
    return Series(
        name=f"l = {ell}, quantiles",
        kind="points",
        colour=k,
        marker=_MARKERS[k],
        x=numbers(quantiles),
        y=numbers(_LEVELS),
        listed=k == _LAST,
        legend="exact quantiles, 5 to 95%",
    )


def _curves(
    ell: int,
    k: int,
    times: Any,
    exact: Any,
    share: Any,
    half: float,
    tail: bool,
    settings: Settings,
) -> list[Series]:
    low, high = np.clip(share - half, 0, 1), np.clip(share + half, 0, 1)
    x = numbers(times)
    if tail:
        exact, share, low, high = 1 - exact, 1 - share, 1 - high, 1 - low

    def shown(values: Any) -> list[float | None]:
        # A logarithmic axis has no place for 0: the empirical tail ends with its last run.
        return numbers(v if v > 0 or not tail else np.nan for v in values)

    empirical = Series(
        name=f"l = {ell}, {'runs' if tail else 'ECDF'}",
        kind="step",
        x=x,
        y=shown(share),
        colour=6,
        style="dotted",
        listed=k == _LAST,
        legend=f"share of {settings.law_runs:,} runs each",
    )
    line = Series(
        name=f"l = {ell}, exact", kind="line", x=x, y=shown(exact), colour=k, style=_STYLES[k]
    )
    if tail:
        return [line, empirical]
    band = Series(
        name=f"l = {ell}, band of the ECDF",
        kind="band",
        x=x,
        low=shown(low),
        high=shown(high),
        colour=k,
        listed=k == _LAST,
        legend=f"{100 * settings.level:g}% band of that share",
    )
    return [line, empirical, band]


def _quantiles_at(n: int) -> tuple[list[float], float, float]:
    """Return quantiles of T at l = 2, its mean, and P(T <= E[T]); a job of its own."""
    law = _law(n, 2)
    return [law.quantile(q) for q in _LEVELS], law.mean, float(law.cdf(int(law.mean)))


def _quantiles(settings: Settings, progress: Progress) -> FigureData:
    """Draw quantiles of T over n for l = 2, beside E[T]."""
    ns = spaced(settings.quantile_n)
    found = []
    with progress("quantiles", total=sum(ns)) as bar:
        # The longest first, so that no process is left with one at the end.
        for n, row in zip(reversed(ns), spread(_quantiles_at, ns[::-1]), strict=True):
            found.append(row)
            bar.advance(n)
    found.reverse()
    rows = [row for row, _, _ in found]
    x = numbers(ns)
    name = "quantiles"
    exact = [mean for _, mean, _ in found]
    ranges = [
        Series(
            name=f"{100 * low:g}% to {100 * high:g}% of the runs",
            kind="band",
            x=x,
            low=numbers(r[i] for r in rows),
            high=numbers(r[j] for r in rows),
            colour=c,
        )
        for (i, low), (j, high), c in (((0, 0.05), (4, 0.95), 5), ((1, 0.25), (3, 0.75), 0))
    ]
    return FigureData(
        name=name,
        title=TITLES[name],
        kind="chart",
        x=Axis("n", "log"),
        y=Axis("function evaluations", "log"),
        series=(
            *ranges,
            Series(
                name="median of T",
                kind="line",
                x=x,
                y=numbers(r[2] for r in rows),
                colour=1,
                style="dashed",
                marker="s",
            ),
            Series(name="E[T]", kind="line", x=x, y=numbers(exact), colour=6, marker="o"),
        ),
        notes={
            "levels": list(_LEVELS),
            "quantiles": rows,
            "P(T <= E[T])": [share for _, _, share in found],
        },
        caption=f"All exact, at {len(ns)} values of n: quantiles of the law of T and its mean. The "
        f"mean lies far above the median: T is not concentrated when l is small.",
        setting=setting_text(range_text(ns), 2),
    )


TITLES = {
    "profile-steps": "Where the time goes: expected steps per position",
    "profile-visits": "Where the walk goes: expected visits per position",
    "distribution": "Distribution of T",
    "distribution-tail": "Tails of T",
    "quantiles": "Quantiles of T, l = 2",
}

FIGURES = (
    Figure("profile-steps", TITLES["profile-steps"], partial(_profile, False)),
    Figure("profile-visits", TITLES["profile-visits"], partial(_profile, True)),
    Figure("distribution", TITLES["distribution"], partial(_distribution, False)),
    Figure("distribution-tail", TITLES["distribution-tail"], partial(_distribution, True)),
    Figure("quantiles", TITLES["quantiles"], _quantiles),
)
