"""Drawing: a `FigureData` becomes a picture, and nothing else enters.

A picture stands alone: below the drawing it says what is shown and what of it is exact, of which
hyper-parameters, sizes and runs, and which command made it. Colours are Okabe and Ito's; series
also differ in line style and marker, so that the pictures can be read in greyscale.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from markov_lrsao.figures.base import FigureData
from markov_lrsao.figures.charts import chart_size, draw_chart, panels
from markov_lrsao.figures.diagrams import draw_graph, graph_size
from markov_lrsao.figures.regions import draw_map, map_size

__all__ = ["draw", "picture_size", "pictures"]

_NARROWEST = 5.5
_TITLE, _LINE = 0.32, 0.115
"""Heights of the title and of a line below the drawing, in inches."""
_LETTERS, _WIDE_LETTERS = 20.0, 18.5
"""Letters of such a line in an inch; the latter are all of one width."""


def pictures(data: FigureData) -> dict[str, bytes]:
    """Return the figure as PNG and SVG; equal data give equal bytes."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": data.name}):
        # Measuring a graph's many arrows for a layout takes longer than drawing them.
        canvas = Figure(
            figsize=picture_size(data), layout=None if data.kind == "graph" else "constrained"
        )
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


def picture_size(data: FigureData) -> tuple[float, float]:
    """Return the size of the whole picture in inches: title, drawing, and the words below."""
    if data.kind == "graph":
        width, height = graph_size(data)
    elif data.kind == "map":
        width, height = map_size(data)
    else:
        width, height = chart_size(data)
    width = max(width, _NARROWEST)
    return width, _TITLE + height + _footer_height(_footer(data, width))


def _footer(data: FigureData, width: float) -> list[tuple[str, str]]:
    """Return the lines below the drawing, each with its kind: what is shown, of what, how made."""
    command = f"{data.command}    (markov-lrsao {data.version})"
    return [
        (kind, line)
        for kind, text, letters in (
            ("caption", data.caption, _LETTERS),
            ("setting", data.setting, _LETTERS),
            ("command", command, _WIDE_LETTERS),
        )
        for line in wrap(text, int(letters * width))
    ]


def _footer_height(lines: Sequence[object]) -> float:
    return _LINE * len(lines) + 0.12


def draw(data: FigureData, canvas: Any) -> None:
    """Draw data onto an empty matplotlib figure."""
    axes = canvas.subplots(panels(data), 1, sharex=True, squeeze=False)[:, 0]
    if data.kind == "graph":
        draw_graph(data, axes[0])
    elif data.kind == "map":
        draw_map(data, axes[0])
    else:
        draw_chart(data, axes)
    width, height = canvas.get_size_inches()
    lines = _footer(data, width)
    bottom, top = _footer_height(lines) / height, 1 - _TITLE / height
    canvas.text(0.5, 1 - 0.5 * _TITLE / height, data.title, fontsize=10, ha="center", va="center")
    engine = canvas.get_layout_engine()
    if engine is not None:
        engine.set(rect=(0, bottom, 1, top - bottom))
    else:
        canvas.subplots_adjust(left=0.005, right=0.995, bottom=bottom, top=top)
    for k, (kind, line) in enumerate(lines):
        canvas.text(
            0.08 / width,
            ((len(lines) - 1 - k) * _LINE + 0.05) / height,
            line,
            gid=f"{kind}-{k}",
            fontsize=6.2,
            color="#333333",
            family="monospace" if kind == "command" else None,
        )
