"""Transition diagrams: nodes with labels, arrows with probabilities.

Arrows differ by what the step does to the position: up is solid, down is dashed, staying is
dotted, and each has a colour of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from markov_lrsao.figures.base import FigureData
from markov_lrsao.figures.plots import COLOURS

__all__ = ["draw_graph", "graph_size"]

_LOOKS = {
    1: (COLOURS[0], "-", "up"),
    -1: (COLOURS[1], "--", "down"),
    0: (COLOURS[6], ":", "position stays"),
}
_MOST_LABELS = 45
"""Graphs with more edges than this are drawn without their labels, which are in the data."""
_UNIT = 1.45
"""Inches per unit of the nodes' coordinates, unless the graph is large."""
_MARGIN = 0.75
_LARGEST = (11.0, 13.5)


def _bounds(data: FigureData) -> tuple[float, float, float, float]:
    xs, ys = [n["x"] for n in data.nodes], [n["y"] for n in data.nodes]
    return (min(xs) - _MARGIN, max(xs) + _MARGIN, min(ys) - _MARGIN, max(ys) + _MARGIN)


def _unit(data: FigureData) -> float:
    left, right, bottom, top = _bounds(data)
    return min(_UNIT, _LARGEST[0] / (right - left), _LARGEST[1] / (top - bottom))


def graph_size(data: FigureData) -> tuple[float, float]:
    """Return the size of the picture in inches."""
    left, right, bottom, top = _bounds(data)
    unit = _unit(data)
    return max(5.5, unit * (right - left)), unit * (top - bottom) + 0.9


def draw_graph(data: FigureData, axis: Any) -> None:
    """Draw the graph of `data` onto axes."""
    left, right, bottom, top = _bounds(data)
    axis.set_xlim(left, right)
    axis.set_ylim(bottom, top)
    axis.set_aspect("equal")
    axis.set_axis_off()
    unit = _unit(data)
    font = max(4.5, min(8.0, 6.0 * unit))
    boxes = {n["id"]: _box(axis, n, font, unit) for n in data.nodes}
    place = {n["id"]: (float(n["x"]), float(n["y"])) for n in data.nodes}
    pairs = {(e["source"], e["target"]) for e in data.edges}
    labelled = len(data.edges) <= _MOST_LABELS
    met: Counter[tuple[Any, Any]] = Counter()
    for k, edge in enumerate(data.edges):
        pair = (edge["source"], edge["target"])
        if pair[0] == pair[1]:
            patch, at = _loop(place[pair[0]], boxes[pair[0]], met[pair], edge)
        else:
            bend = _bend(place, *pair, pair[::-1] in pairs, met[pair])
            patch, at = _arrow(place, boxes, pair, bend, edge)
        met[pair] += 1
        patch.set_gid(f"edge-{k}")
        axis.add_patch(patch)
        if labelled:
            axis.text(
                *at,
                edge["label"],
                ha="center",
                va="center",
                fontsize=font * 0.9,
                color=_LOOKS[edge.get("moved", 0)][0],
                zorder=3,
                bbox={
                    "boxstyle": "square,pad=0.1",
                    "facecolor": "white",
                    "edgecolor": "none",
                    "alpha": 0.8,
                },
            )
    _legend(data, axis)


def _box(axis: Any, node: Mapping[str, Any], font: float, unit: float) -> Any:
    """Draw a node. Its size is estimated from the text, so that arrows can end at its border."""
    from matplotlib.patches import FancyBboxPatch

    lines = str(node["label"]).split("\n")
    width = (max(len(line) for line in lines) * 0.66 * font + 4) / 72 / unit
    height = (len(lines) * 1.25 * font + 5) / 72 / unit
    end = bool(node.get("end"))
    box = FancyBboxPatch(
        (node["x"] - width / 2, node["y"] - height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.05",
        facecolor="#EEEEEE" if end else "white",
        edgecolor="black",
        linewidth=0.8,
        linestyle="--" if end else "-",
        zorder=3.5,
    )
    axis.add_patch(box)
    axis.text(
        node["x"],
        node["y"],
        node["label"],
        ha="center",
        va="center",
        fontsize=font,
        gid=f"node-{node['id']}",
        zorder=4,
    )
    return box


def _look(edge: Mapping[str, Any]) -> dict[str, Any]:
    colour, style, _ = _LOOKS[edge.get("moved", 0)]
    return {
        "arrowstyle": "-|>",
        "mutation_scale": 9,
        "color": colour,
        "linestyle": style,
        "linewidth": 1.1,
        "zorder": 2,
    }


def _loop(
    centre: tuple[float, float], box: Any, number: int, edge: Mapping[str, Any]
) -> tuple[Any, tuple[float, float]]:
    """Return an arrow from a node to itself: above it, the next one below it, and so on."""
    from matplotlib.patches import FancyArrowPatch

    side = 1 if number % 2 == 0 else -1
    height = box.get_height() / 2
    wide = min(0.16, box.get_width() / 3) * (1 + 0.5 * (number // 2))
    rise = 1.9
    begin, end = ((centre[0] - s * wide, centre[1] + side * height) for s in (side, -side))
    patch = FancyArrowPatch(
        begin, end, connectionstyle=f"arc3,rad={-rise}", shrinkA=0, shrinkB=0, **_look(edge)
    )
    return patch, (centre[0], centre[1] + side * (height + 0.5 * rise * 2 * wide))


def _bend(
    place: Mapping[Any, tuple[float, float]], source: Any, target: Any, returns: bool, number: int
) -> float:
    """Bend arrows that have a way back or a twin, or that would run through other nodes."""
    blocked = any(_between(place[source], place[target], p) for p in place.values())
    first = 0.2 if returns or blocked else 0.0
    return first + 0.25 * number


def _arrow(
    place: Mapping[Any, tuple[float, float]],
    boxes: Mapping[Any, Any],
    pair: tuple[Any, Any],
    bend: float,
    edge: Mapping[str, Any],
) -> tuple[Any, tuple[float, float]]:
    """Return the arrow and the place of its label, nearer to the source than to the target."""
    from matplotlib.patches import FancyArrowPatch

    (x0, y0), (x1, y1) = place[pair[0]], place[pair[1]]
    patch = FancyArrowPatch(
        (x0, y0),
        (x1, y1),
        connectionstyle=f"arc3,rad={-bend}",
        patchA=boxes[pair[0]],
        patchB=boxes[pair[1]],
        shrinkA=0,
        shrinkB=1,
        **_look(edge),
    )
    # Matplotlib's arc3 is the quadratic curve with this control point.
    control = ((x0 + x1) / 2 - bend * (y1 - y0), (y0 + y1) / 2 + bend * (x1 - x0))
    t = 0.4
    at = tuple(
        (1 - t) ** 2 * a + 2 * t * (1 - t) * c + t**2 * b
        for a, c, b in zip((x0, y0), control, (x1, y1), strict=True)
    )
    return patch, (at[0], at[1])


def _between(a: tuple[float, float], b: tuple[float, float], p: tuple[float, float]) -> bool:
    """Whether p lies near the open segment from a to b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = dx * dx + dy * dy
    share = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length
    away = abs((p[0] - a[0]) * dy - (p[1] - a[1]) * dx) / length**0.5
    return 0.05 < share < 0.95 and away < 0.2


def _legend(data: FigureData, axis: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    used = {edge.get("moved", 0) for edge in data.edges}
    handles: list[Any] = [
        Line2D([], [], color=colour, ls=style, lw=1.2, label=text)
        for moved, (colour, style, text) in _LOOKS.items()
        if moved in used
    ]
    if any(n.get("end") for n in data.nodes):
        handles.append(
            Patch(facecolor="#EEEEEE", edgecolor="black", ls="--", label="not continued")
        )
    axis.legend(
        handles=handles,
        fontsize=7,
        loc="lower left",
        bbox_to_anchor=(0, -0.02),
        ncols=4,
        frameon=False,
    )
