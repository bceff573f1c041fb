"""Drawing charts: lines, points with bars, bands, steps, in one or more panels.

Every artist that carries a series has the id ``series-k``, k being its place in the data: the tests
hold the artists against the data by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from markov_lrsao.figures.base import FigureData, Series
from markov_lrsao.figures.plots import COLOURS

__all__ = ["HANDLE", "STYLES", "chart_size", "draw_chart", "floats", "panels"]

STYLES: dict[str, Any] = {
    "solid": "-",
    "dashed": (0, (5, 2.5)),
    "dotted": (0, (1, 1.6)),
    "dashdot": (0, (6, 2, 1, 2)),
    "dashes": (0, (2.5, 1.2)),
}
HANDLE = 5.0
"""Length of the lines in legends: long enough to show two dashes and a marker."""
_WIDTH, _PANEL = 7.0, 4.2
_MOST_MARKED = 60
"""Lines with more points than this show markers at a few of them only."""
_FEW_MARKS = 9
_SHORT = 100
"""Logarithmic axes that reach less far than this factor have plain numbers at 1, 2 and 5."""


def panels(data: FigureData) -> int:
    """Return how many panels a chart has, one above the other."""
    return 1 + max((s.panel for s in data.series), default=0)


def chart_size(data: FigureData) -> tuple[float, float]:
    """Return the size of the chart in inches, with its legend."""
    count = panels(data)
    listed = sum(s.listed for s in data.series)
    return _WIDTH, max(1.9 * count, _PANEL) if count > 1 else _PANEL + 0.17 * -(-listed // 2)


def floats(values: Sequence[float | None] | None) -> Any:
    """Return an array in which missing numbers are NaN, which matplotlib leaves out."""
    return np.array([math.nan if v is None else v for v in values or ()], dtype=np.float64)


def draw_chart(data: FigureData, axes: Sequence[Any]) -> None:
    """Draw a chart onto its panels."""
    for axis in axes:
        axis.set_xscale(data.x.scale)
        axis.set_yscale(data.y.scale)
        axis.set_ylabel(data.y.label, fontsize=9)
        axis.grid(alpha=0.3, which="both", lw=0.4)
        axis.tick_params(labelsize=8)
    axes[-1].set_xlabel(data.x.label, fontsize=9)
    for k, series in enumerate(data.series):
        _draw_series(axes[series.panel], series, f"series-{k}")
    if len(axes) == 1:  # below the axes, where it cannot hide anything
        axes[0].legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.12),
            ncols=2,
            fontsize=7,
            frameon=False,
            handlelength=HANDLE,
        )
    for axis in axes:
        if len(axes) > 1:
            axis.legend(fontsize=7, framealpha=0.85, handlelength=HANDLE)
        if data.y.scale == "linear":
            _plain_thousands(axis.yaxis)
        if data.x.scale == "linear":
            _plain_thousands(axis.xaxis)
        elif data.x.scale == "log":
            _plain_decade(axis)
        if data.y.ends is not None:
            axis.set_ylim(*data.y.ends)


def _plain_thousands(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _plain_decade(axis: Any) -> None:
    """Write 50, 100, 200 below an axis that powers of ten alone would leave nearly empty."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_xlim()
    if high < _SHORT * low:
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_minor_formatter(NullFormatter())
        _plain_thousands(axis.xaxis)


def _draw_series(axis: Any, series: Series, gid: str) -> None:
    colour = COLOURS[series.colour]
    x, y = floats(series.x), floats(series.y)
    style = STYLES[series.style]
    name = series.legend or series.name
    label = name if series.listed else f"_{name}"  # matplotlib's way to leave it out
    if series.kind == "band":
        artist = axis.fill_between(
            x,
            floats(series.low),
            floats(series.high),
            color=colour,
            alpha=0.22,
            lw=0.6,
            label=label,
        )
    elif series.kind == "points":
        (artist,) = axis.plot(
            x,
            y,
            ls="none",
            marker=series.marker or "o",
            ms=4,
            color=colour,
            mfc="none",
            mew=1.1,
            label=label,
            zorder=3,
        )
        if series.low is not None:
            low, high = floats(series.low), floats(series.high)
            axis.vlines(x, low, high, color=colour, lw=0.9)
    elif series.kind == "bars":
        artist = axis.vlines(x, 0, y, color=colour, lw=3, ls=style, label=label)
    elif series.kind == "step":
        (artist,) = axis.step(x, y, where="post", color=colour, ls=style, lw=1.4, label=label)
    else:
        every = 1 if len(x) <= _MOST_MARKED else max(1, len(x) // _FEW_MARKS)
        (artist,) = axis.plot(
            x,
            y,
            color=colour,
            ls=style,
            lw=1.5,
            marker=series.marker,
            markevery=every,
            ms=4,
            label=label,
        )
    artist.set_gid(gid)
