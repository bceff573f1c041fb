"""Drawing maps: areas between borders, filled, with their values in them; or a grid of points.

Areas come with their outlines, so they are as sharp as their borders however few points were
solved. What the borders leave open is hatched. Points outside of all areas are drawn as rectangles.
Colours follow the order of the values, since some of them differ by a thousandth only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from markov_lrsao.figures.base import FigureData
from markov_lrsao.figures.charts import HANDLE, STYLES, floats
from markov_lrsao.figures.plots import COLOURS

__all__ = ["draw_map", "map_size"]

_SIZE = (7.0, 4.4)
_OPEN, _UNSURE, _INFINITE, _UNSOLVED = "////", "....", "xxx", ""
_DARK = 0.5
"""Colours of less luminance than this have white texts on them."""


def map_size(data: FigureData) -> tuple[float, float]:
    """Return the size of the map in inches, with its legend."""
    return _SIZE[0], _SIZE[1] + 0.14 * (len((data.grid or {}).get("borders", ())) + 1)


class _Colours:
    """Colours in the order of the values that a map shows."""

    def __init__(self, grid: Mapping[str, Any]) -> None:
        from matplotlib import colormaps

        rows = [v for row in grid["values"] for v in row]
        found = {v for v in [*rows, *(a["value"] for a in grid.get("areas", ()))] if v is not None}
        self.values = sorted(found)
        self.map = colormaps["cividis"]

    def __call__(self, value: float | None) -> Any:
        if value is None:
            return "#e6e6e6"
        last = max(1, len(self.values) - 1)
        return self.map(float(np.searchsorted(self.values, value)) / last)

    def text(self, value: float | None) -> str:
        """Return a colour of texts that can be read on a value's colour."""
        if value is None:
            return "black"
        red, green, blue, _ = self(value)
        return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < _DARK else "black"


def draw_map(data: FigureData, axis: Any) -> None:
    """Draw a map: areas, the points that lie in none of them, borders, and what they mean."""
    grid: Mapping[str, Any] = data.grid or {}
    colours = _Colours(grid)
    axis.set_xscale(data.x.scale)
    axis.set_yscale(data.y.scale)
    hatches = _areas(axis, grid, colours)
    x, y = _edges(floats(grid["x"]), data.x.scale), _edges(floats(grid["y"]), data.y.scale)
    hatches |= _rectangles(axis, grid, x, y, colours)
    for k, border in enumerate(grid.get("borders", ())):
        axis.plot(
            floats(border["x"]),
            floats(border["y"]),
            lw=border.get("width", 1.4),
            ls=STYLES[border.get("style", "solid")],
            color=COLOURS[border.get("colour", 1)],
            label=f"{border['name']}: {border['condition']}",
            gid=f"border-{k}",
        )
    ends = grid.get("ends") or {"x": (x[0], x[-1]), "y": (y[0], y[-1])}
    axis.set_xlim(*ends["x"])
    axis.set_ylim(*ends["y"])
    axis.set_xlabel(data.x.label, fontsize=9)
    axis.set_ylabel(data.y.label, fontsize=9)
    axis.tick_params(labelsize=8)
    if data.x.scale == "logit":
        _plain_ticks(axis.xaxis, ends["x"])
    _legend(axis, grid, hatches)
    if not grid.get("areas"):
        _scale(axis, colours, str(grid.get("label", "")))


def _plain_ticks(axis: Any, ends: Sequence[float]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    nice = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99]
    axis.set_major_locator(FixedLocator([v for v in nice if ends[0] <= v <= ends[1]]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _areas(axis: Any, grid: Mapping[str, Any], colours: _Colours) -> set[str]:
    """Fill the areas and write into them; return the hatches that were used."""
    used = set()
    for k, area in enumerate(grid.get("areas", ())):
        x, low, high = (floats(area[key]) for key in ("x", "low", "high"))
        style: dict[str, Any] = {"facecolor": colours(area["value"]), "linewidth": 0.0}
        if not area["decided"]:
            style |= {"hatch": _OPEN, "edgecolor": "#666666"}
            used.add(_OPEN)
        elif area["value"] is None:
            used.add(_UNSOLVED)
        axis.fill_between(x, low, high, gid=f"area-{k}", **style)
        label = area.get("label")
        if not label:
            continue
        inside = "to" not in label
        words = {"fontsize": 6, "ha": "center", "va": "center", "gid": f"value-{k}", "zorder": 5}
        if inside:
            turned = {"rotation": label["rotation"], "color": colours.text(area["value"])}
            axis.text(*label["at"], label["text"], **words, **turned)
        else:
            axis.annotate(
                label["text"],
                xy=label["to"],
                xytext=label["at"],
                bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none"},
                arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 0.8},
                **words,
            )
    return used


def _rectangles(axis: Any, grid: Mapping[str, Any], x: Any, y: Any, colours: _Colours) -> set[str]:
    """Draw the points outside of all areas as rectangles; return the hatches that were used."""
    inside = np.asarray(grid.get("inside", np.zeros((len(y) - 1, len(x) - 1))), dtype=bool)
    exact = np.asarray(grid["exact"], dtype=bool)
    infinite = np.asarray(grid.get("infinite", ~exact & False), dtype=bool)
    used = set()
    if not inside.all():
        values = np.array([floats(row) for row in grid["values"]])
        ranks = np.searchsorted(colours.values, values) / max(1, len(colours.values) - 1)
        shown = np.ma.masked_where(inside | np.isnan(values), ranks)
        axis.pcolormesh(x, y, shown, cmap=colours.map, vmin=0, vmax=1, gid="grid")
        _write_values(axis, grid, inside, colours)
    for chosen, hatch, colour, gid in (
        (~exact & ~inside, _UNSURE, "#ffffff", "unsure"),
        (infinite & ~inside, _INFINITE, "#000000", "infinite"),
    ):
        if chosen.any():
            used.add(hatch)
            _hatch(axis, x, y, chosen, hatch, colour, gid)
    return used


def _legend(axis: Any, grid: Mapping[str, Any], hatches: set[str]) -> None:
    """Name borders and hatches below the axes, where that cannot hide anything."""
    from matplotlib.patches import Patch

    handles = axis.get_legend_handles_labels()[0]
    for hatch, face, ink, label in (
        (_OPEN, "#e6e6e6", "#666666", "the borders leave it open; enclosed, not one value"),
        (_UNSOLVED, "#e6e6e6", "#e6e6e6", "one value, but no point was solved here"),
        (_UNSURE, "#7f7f7f", "#ffffff", "enclosed: the colour is that of the middle"),
        (_INFINITE, "#ffffff", "#000000", "infinite"),
    ):
        if hatch in hatches:
            handles.append(Patch(facecolor=face, edgecolor=ink, hatch=2 * hatch, label=label))
    if handles:
        axis.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0, -0.11),
            ncols=1,
            fontsize=6.5,
            frameon=False,
            handlelength=HANDLE,
        )


def _scale(axis: Any, colours: _Colours, label: str) -> None:
    """Draw a scale of colours with some values of the map on it."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    if not colours.values:
        return
    last = max(1, len(colours.values) - 1)
    places = sorted({round(k * last / 6) for k in range(7)}) if len(colours.values) > 1 else [0]
    bar = axis.figure.colorbar(ScalarMappable(Normalize(0, last), colours.map), ax=axis)
    bar.set_ticks(places, labels=[f"{colours.values[k]:.6g}" for k in places])
    bar.ax.tick_params(labelsize=7)
    bar.set_label(f"{label}, in the order of the values", fontsize=8)


def _write_values(axis: Any, grid: Mapping[str, Any], inside: Any, colours: _Colours) -> None:
    """Write its value into every regime, at the point nearest to the regime's middle."""
    regimes = np.asarray(grid.get("regimes", ()))
    if not regimes.size:
        return
    for k, label in enumerate(dict.fromkeys(regimes[~inside].ravel().tolist())):
        points = np.argwhere((regimes == label) & ~inside)
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
                clip_on=True,
                color=colours.text(value),
                gid=f"cell-value-{k}",
            )


def _hatch(axis: Any, x: Any, y: Any, chosen: Any, hatch: str, colour: str, gid: str) -> None:
    """Hatch some points of a grid, leaving their colour as it is."""
    from matplotlib.collections import PolyCollection

    corners = [
        [(x[i], y[j]), (x[i + 1], y[j]), (x[i + 1], y[j + 1]), (x[i], y[j + 1])]
        for j, i in np.argwhere(chosen).tolist()
    ]
    axis.add_collection(
        PolyCollection(
            corners, facecolor="none", edgecolor=colour, linewidth=0.0, hatch=hatch, gid=gid
        )
    )


def _edges(centres: Any, scale: str) -> Any:
    """Return the borders of rectangles around their centres, halfway between neighbours."""
    if scale == "logit":
        at = np.log(centres / (1 - centres))
    else:
        at = np.log(centres) if scale == "log" else centres
    if len(at) == 1:
        borders = np.array([at[0] - 0.5, at[0] + 0.5])
    else:
        middle = (at[1:] + at[:-1]) / 2
        borders = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
    if scale == "logit":
        return 1 / (1 + np.exp(-borders))
    return np.exp(borders) if scale == "log" else borders
