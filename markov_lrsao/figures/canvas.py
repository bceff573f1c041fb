"""Drawing: a `FigureData` becomes a picture, and nothing else enters.

Colours are Okabe and Ito's; series also differ in line style and marker, so that the pictures
can be read in greyscale. Every artist that carries a series has the id ``series-k``, k being
its place in the data: the tests hold the artists against the data by it.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from markov_lrsao.figures.base import FigureData, Series
from markov_lrsao.figures.diagrams import draw_graph, graph_size
from markov_lrsao.figures.plots import COLOURS

__all__ = ["draw", "draw_map", "pictures"]

_WIDTH, _PANEL = 7.0, 4.2
_STYLES = {"solid": "-", "dashed": "--", "dotted": ":", "dashdot": "-."}
_HANDLE = 4.0
"""Length of the lines in legends: long enough to show their dashes."""
_MOST_MARKED = 60
"""Lines with more points than this show no markers."""


def pictures(data: FigureData) -> dict[str, bytes]:
    """Return the figure as PNG and SVG; equal data give equal bytes."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": data.name}):
        # Measuring a graph's many arrows for a layout takes longer than drawing them.
        canvas = Figure(figsize=_size(data), layout=None if data.kind == "graph" else "constrained")
        FigureCanvasAgg(canvas)
        draw(data, canvas)
        made = {}
        for ending, metadata in (
            ("png", {"Title": data.title, "Description": data.command}),
            ("svg", {"Title": data.title, "Description": data.command, "Date": None}),
        ):
            stream = io.BytesIO()
            canvas.savefig(stream, format=ending, dpi=160, metadata=metadata)
            made[ending] = stream.getvalue()
    return made


def _size(data: FigureData) -> tuple[float, float]:
    if data.kind == "graph":
        return graph_size(data)
    panels = _panels(data)
    if panels > 1:
        return _WIDTH, 0.6 + 1.9 * panels
    listed = sum(s.listed for s in data.series) + len((data.grid or {}).get("borders", ()))
    return _WIDTH, _PANEL + 0.17 * -(-listed // 2)


def _panels(data: FigureData) -> int:
    return 1 + max((s.panel for s in data.series), default=0)


def draw(data: FigureData, canvas: Any) -> None:
    """Draw data onto an empty matplotlib figure."""
    axes = canvas.subplots(_panels(data), 1, sharex=True, squeeze=False)[:, 0]
    if data.kind == "graph":
        draw_graph(data, axes[0])
    elif data.kind == "map":
        draw_map(data, axes[0])
    else:
        _draw_chart(data, axes)
    canvas.suptitle(data.title, fontsize=10)
    engine = canvas.get_layout_engine()
    if engine is not None:
        engine.set(rect=(0, 0.06, 1, 0.94))
    else:
        canvas.subplots_adjust(left=0.01, right=0.99, bottom=0.09, top=0.94)
    footer = {"fontsize": 6, "color": "#444444"}
    canvas.text(0.01, 0.036, data.parameters, gid="parameters", **footer)
    command = f"{data.command}    (markov-lrsao {data.version})"
    canvas.text(0.01, 0.008, command, gid="command", family="monospace", **footer)


def floats(values: Sequence[float | None] | None) -> Any:
    """Return an array in which missing numbers are NaN, which matplotlib leaves out."""
    return np.array([math.nan if v is None else v for v in values or ()], dtype=np.float64)


def _draw_chart(data: FigureData, axes: Sequence[Any]) -> None:
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
            handlelength=_HANDLE,
        )
    for axis in axes:
        if len(axes) > 1:
            axis.legend(fontsize=7, framealpha=0.85, handlelength=_HANDLE)
        if data.y.scale == "linear":
            _plain_thousands(axis.yaxis)
        if data.x.scale == "linear":
            _plain_thousands(axis.xaxis)


def _plain_thousands(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _draw_series(axis: Any, series: Series, gid: str) -> None:
    colour = COLOURS[series.colour]
    x, y = floats(series.x), floats(series.y)
    style = _STYLES[series.style]
    label = series.name if series.listed else f"_{series.name}"  # matplotlib's way to leave it out
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
            mfc="white",
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
        marker = series.marker if len(x) <= _MOST_MARKED else None
        (artist,) = axis.plot(
            x, y, color=colour, ls=style, lw=1.5, marker=marker, ms=4, label=label
        )
    artist.set_gid(gid)


def draw_map(data: FigureData, axis: Any) -> None:
    """Draw a grid of values with borders; points that are not exact, or infinite, are hatched."""
    grid: Mapping[str, Any] = data.grid or {}
    values = np.ma.masked_invalid([floats(row) for row in grid["values"]])
    x, y = _edges(floats(grid["x"]), data.x.scale), _edges(floats(grid["y"]), data.y.scale)
    mesh = axis.pcolormesh(x, y, values, cmap="cividis", gid="grid")
    _hatch(axis, x, y, ~np.asarray(grid["exact"], dtype=bool), "////", "#ffffff", "unsure")
    if "infinite" in grid:
        _hatch(axis, x, y, np.asarray(grid["infinite"], dtype=bool), "xxx", "#000000", "infinite")
    for k, border in enumerate(grid.get("borders", ())):
        style = _STYLES.get(border.get("style", ""), tuple(_STYLES.values())[k % len(_STYLES)])
        axis.plot(
            floats(border["x"]),
            floats(border["y"]),
            lw=border.get("width", 1.6),
            ls=style,
            color=COLOURS[(k + 1) % len(COLOURS)],
            label=f"{border['name']}: {border['condition']}",
            gid=f"border-{k}",
        )
    axis.set_xscale(data.x.scale)
    axis.set_yscale(data.y.scale)
    axis.set_xlim(x[0], x[-1])
    axis.set_ylim(y[0], y[-1])
    axis.set_xlabel(data.x.label, fontsize=9)
    axis.set_ylabel(data.y.label, fontsize=9)
    _write_values(axis, grid)
    handles = axis.get_legend_handles_labels()[0] + _hatches(grid)
    if handles:  # below the axes, where it cannot hide anything
        axis.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.12),
            ncols=2,
            fontsize=6,
            frameon=False,
            handlelength=0.7 * _HANDLE,
        )
    axis.figure.colorbar(mesh, ax=axis, label=str(grid.get("label", "")))


def _hatches(grid: Mapping[str, Any]) -> list[Any]:
    """Return what the legend shows for the hatches that occur."""
    from matplotlib.patches import Patch

    found = []
    infinite = np.asarray(grid.get("infinite", [[False]]), dtype=bool)
    if not np.asarray(grid["exact"], dtype=bool).all():
        label = "enclosed: the colour is that of the middle"
        found.append(Patch(facecolor="#7f7f7f", edgecolor="#ffffff", hatch="////", label=label))
    if infinite.any():
        found.append(Patch(facecolor="#ffffff", edgecolor="#000000", hatch="xxx", label="infinite"))
    return found


def _write_values(axis: Any, grid: Mapping[str, Any]) -> None:
    """Write its value into every regime, at the point nearest to the regime's middle."""
    regimes = np.asarray(grid.get("regimes", ()))
    for k, label in enumerate(dict.fromkeys(regimes.ravel().tolist())):
        points = np.argwhere(regimes == label)
        j, i = points[np.square(points - points.mean(axis=0)).sum(axis=1).argmin()]
        value = grid["values"][j][i]
        if grid["exact"][j][i] and value is not None:
            axis.text(
                grid["x"][i],
                grid["y"][j],
                f"{value:.6g}",
                ha="center",
                va="center",
                fontsize=6,
                gid=f"value-{k}",
                bbox={"boxstyle": "round,pad=0.2", "fc": "#ffffff", "ec": "none", "alpha": 0.8},
            )


def _hatch(axis: Any, x: Any, y: Any, chosen: Any, hatch: str, colour: str, gid: str) -> None:
    """Hatch some points of a grid, leaving their colour as it is."""
    from matplotlib.collections import PolyCollection

    corners = [
        [(x[i], y[j]), (x[i + 1], y[j]), (x[i + 1], y[j + 1]), (x[i], y[j + 1])]
        for j, i in np.argwhere(chosen).tolist()
    ]
    if corners:
        axis.add_collection(
            PolyCollection(
                corners, facecolor="none", edgecolor=colour, linewidth=0.0, hatch=hatch, gid=gid
            )
        )


def _edges(centres: Any, scale: str) -> Any:
    """Return the borders of rectangles around their centres, halfway between neighbours."""
    at = np.log(centres) if scale == "log" else centres
    if len(at) == 1:
        borders = np.array([at[0] - 0.5, at[0] + 0.5])
    else:
        middle = (at[1:] + at[:-1]) / 2
        borders = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
    return np.exp(borders) if scale == "log" else borders
