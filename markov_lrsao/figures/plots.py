"""Pictures of single results: `from markov_lrsao import plots`, then `plots.distribution(law)`.

Every function draws onto the matplotlib Axes it is given and returns them; without `ax` it
makes a figure with pyplot. Given Axes are all that is touched: no global state, no style, no
`show`. matplotlib is imported when needed.

Colours are from the Okabe-Ito palette, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import isinf, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from markov_lrsao.errors import ParameterError
from markov_lrsao.storage import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from markov_lrsao.answers.curves import Curve
    from markov_lrsao.answers.laws import Distribution
    from markov_lrsao.answers.profile import Profile
    from markov_lrsao.answers.results import RuntimeResult
    from markov_lrsao.regimes.grid import RegimeMap
    from simulate.runs.samples import Samples

__all__ = [
    "COLOURS",
    "curve",
    "distribution",
    "ecdf",
    "histogram",
    "phases",
    "profile",
    "regime_map",
    "saved",
]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_TIME = "t (function evaluations)"
_MOST_MARKED = 60
"""Lines with more points than this show no markers."""


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    axes: Axes = pyplot.subplots(layout="constrained")[1]
    return axes


def _finished(axes: Axes, legend: str | None = "best", **settings: Any) -> Axes:
    """Set labels and scales, and return the Axes."""
    axes.set(**settings)
    axes.grid(alpha=0.3, which="both", lw=0.4)
    if legend is not None:
        axes.legend(loc=legend, fontsize=8)
    return axes


@contextmanager
def saved(path: Path, rows: int = 1, width: float = 7.0, height: float = 4.2) -> Iterator[Any]:
    """Yield Axes of a new figure, and save it to `path` when the block ends, whole or not at all.

    With `rows` > 1 they are an array of Axes, one above the other.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(width, height * rows), layout="constrained")
    FigureCanvasAgg(canvas)
    yield canvas.subplots(rows, 1)
    drawn = io.BytesIO()
    canvas.savefig(drawn, format=path.suffix.lstrip(".").lower(), dpi=160)
    write_whole(path, drawn.getvalue())


def curve(found: Curve, *, ax: Axes | None = None) -> Axes:
    """Draw E[T] and its phases over n, with the coupon collector's n H_n below."""
    axes = _axes(ax)
    ns = [point.n for point in found]
    lines = {"E[T]": [float(point.result.total) for point in found]}
    for k in range(len(found[0].result.phases)):
        lines[f"E[T{k + 1}]"] = [float(point.result.phases[k]) for point in found]
    for k, (label, values) in enumerate(lines.items()):
        axes.plot(
            ns,
            values,
            color=COLOURS[k % len(COLOURS)],
            ls="-" if k == 0 else "--",
            marker="osD^"[k % 4] if len(ns) <= _MOST_MARKED else None,
            ms=4,
            label=label,
        )
    bound = [point.coupon_collector for point in found]
    axes.plot(ns, bound, color=COLOURS[-1], ls=":", label="coupon collector")
    return _finished(axes, xscale="log", yscale="log", xlabel="n", ylabel="expected steps")


def distribution(
    law: Distribution,
    *,
    quantiles: Sequence[float] = (),
    name: str = "T",
    ax: Axes | None = None,
) -> Axes:
    """Draw P(T <= t) over t on a logarithmic axis, with the mean and some quantiles marked.

    Parameters
    ----------
    quantiles : levels in (0, 1); infinite ones are left out
    name : of the time, e.g. "T3" for the law of phase 3

    Raises
    ------
    ParameterError
        No run is known to end, so that there is nothing to draw.
    """
    times = law.times()
    axes = _axes(ax)
    axes.step(times, law.cdf(times), where="post", color=COLOURS[0], lw=1.8, label="exact law")
    given = "" if law.always_ends else f" | {name} < inf"
    mean = f"E[{name}{given}] = {law.finite_mean:,.6g}"
    axes.axvline(law.finite_mean, color=COLOURS[1], lw=1.2, ls="--", label=mean)
    for q in map(law.quantile_range, quantiles):
        if isinf(q.value):
            continue
        axes.plot([q.value], [q.level], "o", color=COLOURS[2], ms=5)
        axes.annotate(
            f"{q.level:g}: {q}",
            (q.value, q.level),
            textcoords="offset points",
            xytext=(6, -9),
            fontsize=8,
        )
    return _law_axes(axes, f"P({name} <= t)")


def _law_axes(axes: Axes, label: str) -> Axes:
    return _finished(
        axes, "lower right", xscale="log", ylim=(-0.02, 1.04), xlabel=_TIME, ylabel=label
    )


def profile(found: Profile, *, visits: bool = False, ax: Axes | None = None) -> Axes:
    """Draw expected steps (or visits) per position; dashed lines are the ends of phases."""
    from matplotlib.ticker import MaxNLocator

    axes = _axes(ax)
    values = found.floats(found.visits if visits else found.steps)[:-1]
    marker = "o" if len(values) <= _MOST_MARKED else None
    axes.plot(np.arange(len(values)), values, color=COLOURS[0], lw=1.4, marker=marker, ms=3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for milestone in found.landscape.milestones[:-1]:
        axes.axvline(milestone, color=COLOURS[1], lw=0.8, ls="--")
    return _finished(
        axes,
        None,
        yscale="linear" if visits else "log",
        xlabel="position (number of ones)",
        ylabel="expected visits" if visits else "expected steps",
    )


def phases(
    results: RuntimeResult | Iterable[RuntimeResult],
    *,
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the phases of E[T] as stacked bars, one bar per result.

    Parameters
    ----------
    labels : names of the bars; default n and l

    Raises
    ------
    ParameterError
        There is no result, or E[T] of one is not finite.
    """
    from markov_lrsao.answers.results import RuntimeResult

    shown = [results] if isinstance(results, RuntimeResult) else list(results)
    if not shown or any(isinf(float(result.total)) for result in shown):
        raise ParameterError("bars need results, each with a finite E[T]")
    axes = _axes(ax)
    names = labels or [f"n = {result.n}\nl = {result.ell}" for result in shown]
    bottom = np.zeros(len(shown))
    for k in range(max(len(result.phases) for result in shown)):
        heights = [float(result.phases[k]) if k < len(result.phases) else 0.0 for result in shown]
        axes.bar(
            range(len(shown)), heights, bottom=bottom, color=COLOURS[k], label=f"phase {k + 1}"
        )
        bottom += heights
    axes.set_xticks(range(len(shown)), names)
    axes.set_axisbelow(True)
    return _finished(axes, ylabel="expected steps")


def ecdf(
    samples: Samples,
    law: Distribution | None = None,
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of runs that have ended by t, with a confidence band, and the exact law.

    The band is Dvoretzky, Kiefer and Wolfowitz's: with probability `level` it holds the whole
    distribution function.
    """
    from simulate.statistics.estimates import band_halfwidth
    from simulate.statistics.estimates import ecdf as empirical

    _check_ended(samples)
    times, share = empirical(samples)
    half = band_halfwidth(samples.runs, level)
    axes = _axes(ax)
    axes.fill_between(
        times,
        np.clip(share - half, 0, 1),
        np.clip(share + half, 0, 1),
        step="post",
        color=COLOURS[5],
        alpha=0.3,
        lw=0,
        label=f"{100 * level:g}% band",
    )
    runs = f"{samples.runs:,} runs"
    axes.step(times, share, where="post", color=COLOURS[1], lw=1.2, label=runs)
    if law is not None:
        at = law.times()
        axes.plot(at, law.cdf(at), color=COLOURS[0], lw=1.4, ls="--", label="exact law")
    return _law_axes(axes, "P(T <= t), share of runs")


def _check_ended(samples: Samples) -> None:
    if not len(samples.times):
        raise ParameterError("nothing to draw: no run ended within the limit")


def histogram(
    samples: Samples,
    law: Distribution | None = None,
    *,
    bins: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often runtimes fell into bins, per step, and what the exact law says there.

    Parameters
    ----------
    bins : how many at most; default about the square root of the number of runs
    """
    _check_ended(samples)
    times = samples.times
    count = bins or max(10, round(sqrt(len(times))))
    first, last = int(times.min()), int(times.max()) + 1
    edges = np.unique(np.linspace(first, last, count + 1).round().astype(np.int64))
    widths = np.diff(edges)
    counts, _ = np.histogram(times, edges - 0.5)
    axes = _axes(ax)
    runs = f"{samples.runs:,} runs"
    axes.stairs(
        counts / samples.runs / widths, edges, fill=True, color=COLOURS[5], alpha=0.6, label=runs
    )
    if law is not None:
        share = np.diff(law.cdf(edges - 1)) / widths
        axes.stairs(share, edges, color=COLOURS[0], lw=1.4, baseline=None, label="exact law")
    return _finished(axes, xlabel=_TIME, ylabel="P(T = t), averaged over a bin")


def regime_map(found: RegimeMap, quantity: str = "total", *, ax: Axes | None = None) -> Axes:
    """Draw a quantity over alpha and r, with the borders between regimes.

    Hatched points are enclosures, shown by their middle; crossed ones are infinite.
    """
    from markov_lrsao.figures.maps import map_figure
    from markov_lrsao.figures.regions import draw_map

    axes = _axes(ax)
    draw_map(map_figure(found, quantity), axes)
    return axes
