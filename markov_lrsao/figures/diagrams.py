"""Transition diagrams: nodes with labels, arrows with probabilities, as they were laid out.

Arrows differ by what the step does to the position: up is solid, down is dashed, staying is
dotted, and each has a colour of its own. Lengths are in units of the font size, which is the same
in all diagrams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markov_lrsao.figures.base import FigureData
from markov_lrsao.figures.layout import text_size
from markov_lrsao.figures.plots import COLOURS

__all__ = ["draw_graph", "graph_size"]

_LOOKS: dict[int | None, tuple[str, str, str]] = {
    1: (COLOURS[0], "-", "up"),
    -1: (COLOURS[1], "--", "down"),
    0: (COLOURS[6], ":", "the position stays"),
    None: (COLOURS[6], "-", ""),
}
_FONT = 8.0
_MARGIN = 1.0
_HEAD = 0.9
_LEGEND = 2.2
"""Room for the legend below the graph."""
_ENTRY = 1.15
"""Inches that an entry of the legend takes: a handle and a few words."""


def _bounds(data: FigureData) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top of all boxes, curves and labels, with a wide legend."""
    xs = [n["x"] + s * n["width"] / 2 for n in data.nodes for s in (-1, 1)]
    ys = [n["y"] + s * n["height"] / 2 for n in data.nodes for s in (-1, 1)]
    for edge in data.edges:
        wide, high = text_size(edge["label"])
        xs += [edge["at"][0] + s * wide / 2 for s in (-1, 1)] + [x for x, _ in edge["path"]]
        ys += [edge["at"][1] + s * high / 2 for s in (-1, 1)] + [y for _, y in edge["path"]]
    left, right = min(xs) - _MARGIN, max(xs) + _MARGIN
    missing = max(0.0, len(_handles(data)) * _ENTRY * 72 / _FONT - (right - left))
    return left - missing / 2, right + missing / 2, min(ys) - _MARGIN, max(ys) + _MARGIN


def graph_size(data: FigureData) -> tuple[float, float]:
    """Return the size of the graph in inches, with its legend."""
    left, right, bottom, top = _bounds(data)
    inch = _FONT / 72
    return inch * (right - left), inch * (top - bottom + _LEGEND)


def draw_graph(data: FigureData, axis: Any) -> None:
    """Draw the graph of `data` onto axes."""
    left, right, bottom, top = _bounds(data)
    axis.set_xlim(left, right)
    axis.set_ylim(bottom - _LEGEND, top)
    axis.set_aspect("equal")
    axis.set_axis_off()
    for k, edge in enumerate(data.edges):
        _arrow(axis, edge, f"edge-{k}")
    for node in data.nodes:
        _box(axis, node)
    _legend(data, axis)


def _box(axis: Any, node: Mapping[str, Any]) -> None:
    from matplotlib.patches import FancyBboxPatch

    end = bool(node.get("end"))
    axis.add_patch(
        FancyBboxPatch(
            (node["x"] - node["width"] / 2, node["y"] - node["height"] / 2),
            node["width"],
            node["height"],
            boxstyle="round,pad=0,rounding_size=0.4",
            facecolor="#EEEEEE" if end else "white",
            edgecolor="black",
            linewidth=1.8 if node.get("start") else 0.8,
            linestyle="--" if end else "-",
            zorder=3.5,
        )
    )
    axis.text(
        node["x"],
        node["y"],
        node["label"],
        ha="center",
        va="center",
        fontsize=_FONT,
        gid=f"node-{node['id']}",
        zorder=4,
    )


def _arrow(axis: Any, edge: Mapping[str, Any], gid: str) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    colour, style, _ = _LOOKS[edge.get("moved")]
    points = [tuple(p) for p in edge["path"]]
    tip, corners = _head(points)
    codes = [Path.MOVETO] + [Path.CURVE4] * (len(points) - 1)
    look = {"linewidth": 1.1, "zorder": 2, "edgecolor": colour}
    path = Path([*points[:-1], tip], codes)
    axis.add_patch(PathPatch(path, fill=False, linestyle=style, gid=gid, **look))
    axis.add_patch(Polygon(corners, facecolor=colour, linewidth=0, zorder=2.5))
    axis.text(
        *edge["at"],
        edge["label"],
        ha="center",
        va="center",
        fontsize=_FONT * 0.92,
        color=colour,
        zorder=3,
        bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"},
    )


def _head(points: list[Any]) -> tuple[tuple[float, float], list[tuple[float, float]]]:
    """Return where the line of an arrow ends, and the corners of its head."""
    (x, y), (px, py) = points[-1], next(p for p in reversed(points[:-1]) if p != points[-1])
    length = ((x - px) ** 2 + (y - py) ** 2) ** 0.5
    ux, uy = (x - px) / length, (y - py) / length
    bx, by = x - _HEAD * ux, y - _HEAD * uy
    return (bx, by), [(x, y), (bx - 0.35 * uy, by + 0.35 * ux), (bx + 0.35 * uy, by - 0.35 * ux)]


def _handles(data: FigureData) -> list[Any]:
    """Return what the legend explains: kinds of arrows and of boxes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    used = {edge.get("moved") for edge in data.edges}
    handles: list[Any] = [
        Line2D([], [], color=colour, ls=style, lw=1.2, label=text)
        for moved, (colour, style, text) in _LOOKS.items()
        if moved in used and text
    ]
    if any(n.get("start") for n in data.nodes):
        handles.append(Patch(facecolor="white", edgecolor="black", lw=1.8, label="begins here"))
    if any(n.get("end") for n in data.nodes):
        handles.append(Patch(facecolor="#EEEEEE", edgecolor="black", ls="--", label="ends here"))
    return handles


def _legend(data: FigureData, axis: Any) -> None:
    axis.legend(
        handles=_handles(data),
        fontsize=7,
        loc="lower left",
        ncols=5,
        frameon=False,
        handlelength=4.0,
        borderaxespad=0,
    )
