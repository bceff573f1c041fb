"""The picture at the top of the page: E[T] over n for the paper's four schedules of l, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markov_lrsao.answers.curves import SCHEDULES

__all__ = ["NAME", "hero"]

NAME = "hero"
_STYLES = ("solid", "dashed", "dashdot", "solid")
_MARKERS = ("o", "s", "^", "D")


def hero(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the picture's data, put together from figures; None where they are not there."""
    by_name = {f["name"]: f for f in figures}
    found = [by_name.get(f"runtime-{schedule}-10000") for schedule in SCHEDULES]
    if any(f is None for f in found):
        return None
    series, lower = [], None
    for k, data in enumerate(f for f in found if f is not None):
        lines = {s["name"]: s for s in data["series"]}
        exact = lines["E[T], exact"]
        title = data["title"].split(", ")[1]
        series.append(
            {**exact, "name": title, "colour": k, "style": _STYLES[k], "marker": _MARKERS[k]}
        )
        lower = next(s for name, s in lines.items() if name.startswith("n H_n"))
    return {
        "name": NAME,
        "kind": "chart",
        "title": "Expected runtime of LRSAO on Jump, for four gaps l",
        "x": {"label": "n, length of the bit string", "scale": "log"},
        "y": {"label": "E[T], steps", "scale": "log"},
        "series": [*series, {**(lower or {}), "name": "n H_n, the lower bound", "colour": 6}],
    }
