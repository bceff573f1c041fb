"""Where texts go in a map: into their areas if they fit, upright or turned, else beside an arrow.

An area is looked at on a raster of the map. A text of a given size fits at a place if the raster is
within the area on a rectangle of that size; of all such places the one farthest from the area's
border is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["placed_labels"]

_RASTER = (264, 180)
"""Columns and rows of the raster; about a fiftieth of an inch each."""
_LETTER, _LINE, _TURNED = 2.4, 5.2, 4.0
"""Width of a letter and height of a line on the raster, the latter less where it is turned."""
_ARROW = 16
"""Least length of an arrow on the raster."""
_MOST_ARROWS = 6
Mask = npt.NDArray[np.bool_]


def placed_labels(
    areas: Sequence[Mapping[str, Any]], ends: Mapping[str, Sequence[float]], scale: str
) -> list[dict[str, Any]]:
    """Return the areas, those with a value with a label: text, place, angle or end of an arrow."""
    columns, rows = _RASTER
    first, last = ends["x"]
    share = (np.arange(columns) + 0.5) / columns
    xs = along(scale, first, last, share)
    low, high = ends["y"]
    ys = low + (high - low) * (np.arange(rows) + 0.5) / rows
    masks = [_mask(area, xs, ys) for area in areas]
    free = max(masks, key=np.count_nonzero, default=np.zeros((rows, columns), bool)).copy()
    shown = [i for i, area in enumerate(areas) if area["value"] is not None and masks[i].any()]
    labels = {i: _inside(areas[i], masks[i], free, xs, ys) for i in shown}
    # Arrows cross the map: they are for few, areas with names of their own first, then large ones.
    left = sorted(
        (i for i in shown if labels[i] is None),
        key=lambda i: (areas[i]["name"].startswith("k ="), -np.count_nonzero(masks[i])),
    )
    labels |= {i: _beside(areas[i], masks[i], free, xs, ys) for i in left[:_MOST_ARROWS]}
    return [
        {**area, "label": label} if (label := labels.get(i)) else dict(area)
        for i, area in enumerate(areas)
    ]


def along(scale: str, first: float, last: float, share: Any) -> Any:
    """Return what lies at shares of an axis between its ends.

    >>> [round(float(x), 6) for x in along("logit", 0.1, 0.9, np.array([0, 0.5, 1]))]
    [0.1, 0.5, 0.9]
    """
    if scale == "logit":
        low, high = (np.log(a / (1 - a)) for a in (first, last))
        return 1 / (1 + np.exp(-(low + (high - low) * share)))
    if scale == "log":
        return first * (last / first) ** share
    return first + (last - first) * share


def _mask(area: Mapping[str, Any], xs: Any, ys: Any) -> Mask:
    """Return where the raster lies in an area, rows by columns."""
    at = np.array(area["x"], float)
    low, high = (
        np.interp(xs, at, np.array([np.nan if v is None else v for v in area[key]], float))
        for key in ("low", "high")
    )
    found: Mask = (ys[:, None] > low) & (ys[:, None] < high)
    return found


def _texts(area: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return texts to try, from the best one on, each with an angle."""
    value = f"{area['value']:.6g}"
    whole = f"{area['name']}\n{value}"
    line = f"{area['name']}: {value}"
    return [(whole, 0), (line, 0), (line, 90), (value, 90)]


def _inside(
    area: Mapping[str, Any], mask: Mask, free: Mask, xs: Any, ys: Any
) -> dict[str, Any] | None:
    """Put the text where it fits best within the area; the room is taken."""
    from scipy.ndimage import distance_transform_edt, minimum_filter

    padded = np.pad(mask, 1)
    depth = distance_transform_edt(padded)[1:-1, 1:-1]
    for text, angle in _texts(area):
        lines = text.split("\n")
        box = (_LINE * len(lines), _LETTER * max(map(len, lines)))
        if angle:
            box = (box[1], _TURNED)
        size = tuple(int(np.ceil(side)) for side in box)
        fits = minimum_filter(mask, size=size, mode="constant", cval=0)
        if fits.any():
            j, i = np.unravel_index(np.argmax(np.where(fits, depth, -1)), depth.shape)
            free[max(0, j - size[0]) : j + size[0], max(0, i - size[1]) : i + size[1]] = False
            return {"text": text, "at": [float(xs[i]), float(ys[j])], "rotation": angle}
    return None


def _beside(
    area: Mapping[str, Any], mask: Mask, free: Mask, xs: Any, ys: Any
) -> dict[str, Any] | None:
    """Put the text where there is room, with an arrow to where it belongs; the room is taken."""
    from scipy.ndimage import distance_transform_edt, minimum_filter

    text = f"{area['name']}: {area['value']:.6g}"
    depth = distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    target = np.array(np.unravel_index(np.argmax(depth), depth.shape))
    size = (int(_LINE) + 4, int(_LETTER * len(text)) + 4)
    places = np.argwhere(minimum_filter(free, size=size, mode="constant", cval=0))
    away = np.abs(places - target).max(axis=1) if len(places) else np.empty(0)
    if not (far := away > _ARROW).any():
        return None
    j, i = places[far][np.square(places[far] - target).sum(axis=1).argmin()]
    free[max(0, j - size[0]) : j + size[0], max(0, i - size[1]) : i + size[1]] = False
    return {
        "text": text,
        "at": [float(xs[i]), float(ys[j])],
        "to": [float(xs[target[1]]), float(ys[target[0]])],
    }
