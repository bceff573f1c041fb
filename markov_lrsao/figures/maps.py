"""The regime map: E[T] over (alpha, r), the borders drawn in.

Colours show the quantity; points that are only enclosed are hatched, points where E[T] is infinite
are cross-hatched and left without colour. Curves are the borders of `markov_lrsao.regimes.borders`;
the thin line runs between neighbouring points whose answers belong to different regimes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.figures.base import Axis, Figure, FigureData, Settings, numbers
from markov_lrsao.progress import Progress
from markov_lrsao.regimes.borders import Border, borders, place_in_h
from markov_lrsao.regimes.grid import MapPlan, RegimeMap, regime_map, widest

__all__ = ["FIGURES", "border_curves", "map_figure"]

NAME = "regime-map"
_TITLES = {
    "total": "E[T]",
    "phase1": "E[T1]",
    "phase2": "E[T2]",
    "phase3": "E[T3]",
    "stddev": "standard deviation of T",
}
_MOST_CURVES = 7
_FINENESS = 200
"""Points of a curve."""


def map_figure(
    found: RegimeMap,
    quantity: str,
    command: str = "",
) -> FigureData:
    """Return the data of a map's picture."""
    plan = found.plan
    width = len(plan.alphas)
    rows = range(0, len(found.values), width)
    values = [to_none(float(q)) for q in found.quantities(quantity)]
    exact = [v.kind in ("exact", "infinite") for v in found.values]
    infinite = [v.kind == "infinite" for v in found.values]
    text = _TITLES[quantity]
    share = 100 * sum(exact) / len(exact)
    return FigureData(
        name=NAME,
        kind="map",
        command=command,
        title=f"{text} over (alpha, r): n = {plan.n}, l = {plan.ell}, gamma = {plan.gamma}",
        caption=f"{text}, exact at {share:.1f}% of the {len(exact):,} points, in "
        f"{len(found.regimes)} regimes; hatched points are rigorous enclosures, shown by "
        f"their middle. Curves are the borders between regimes as algebraic conditions, "
        f"with a = alpha, g = gamma, G = n-l-1, rho = 1 - a + a^2 g^2.",
        x=Axis("alpha"),
        y=Axis("place of r in (H): (r - lower)/(upper - lower)" if plan.relative else "r"),
        grid={
            "x": numbers(map(to_float, plan.alphas)),
            "y": numbers(map(to_float, plan.rs)),
            "values": [values[i : i + width] for i in rows],
            "exact": [exact[i : i + width] for i in rows],
            "infinite": [infinite[i : i + width] for i in rows],
            "regimes": [list(found.labels[i : i + width]) for i in rows],
            "label": text,
            "borders": [*border_curves(plan), _edges(found)],
        },
        notes={
            "regimes": len(found.regimes),
            "exact_points": found.count("exact"),
            "enclosed_points": found.count("enclosure"),
            "infinite_points": found.count("infinite"),
            "open_points": found.count("open"),
            "widest_relative_enclosure": widest(found.quantities(quantity)),
            "values": {
                str(g.number): g.values.means[0].rational
                for g in found.regimes[:12]
                if g.values.means[0].exact
            },
        },
    )


def to_none(value: float) -> float | None:
    """Return what JSON can carry: None for what is infinite or not known."""
    return numbers([value])[0]


def border_curves(plan: MapPlan) -> list[dict[str, Any]]:
    """Return the borders that cross the map, as curves in its coordinates."""
    ends = _between([to_float(r) for r in plan.rs])
    low, high = ends[0], ends[-1]
    first, last = plan.alphas[0], plan.alphas[-1]
    alphas = (
        [first + (last - first) * fmpq(k, _FINENESS) for k in range(_FINENESS + 1)]
        if first < last
        else [first]
    )
    found = []
    for border in borders(plan.n, plan.ell, plan.gamma):
        if border.name.startswith("J never"):
            continue  # just above "J always": the two would not be told apart
        places = [_place(plan, border, a) for a in alphas]
        inside = [y if y is not None and low <= y <= high else None for y in places]
        if sum(y is not None for y in inside) > 1:
            found.append(
                {
                    "name": border.name,
                    "condition": border.condition,
                    "x": numbers(map(to_float, alphas)),
                    "y": inside,
                }
            )
    return found[:_MOST_CURVES]


def _place(plan: MapPlan, border: Border, alpha: fmpq) -> float | None:
    return (
        place_in_h(border, plan.n, plan.ell, alpha) if plan.relative else to_float(border.r(alpha))
    )


def _edges(found: RegimeMap) -> dict[str, Any]:
    """Return the lines between points with different labels, interrupted by None."""
    plan, width = found.plan, len(found.plan.alphas)
    columns, rows = (
        _between([to_float(a) for a in plan.alphas]),
        _between([to_float(r) for r in plan.rs]),
    )
    xs: list[float | None] = []
    ys: list[float | None] = []
    for i, label in enumerate(found.labels):
        row, column = divmod(i, width)
        if column + 1 < width and found.labels[i + 1] != label:
            xs += [columns[column + 1]] * 2 + [None]
            ys += [rows[row], rows[row + 1], None]
        if row + 1 < len(plan.rs) and found.labels[i + width] != label:
            xs += [columns[column], columns[column + 1], None]
            ys += [rows[row + 1]] * 2 + [None]
    return {
        "name": "points",
        "condition": "the regime changes between neighbouring points",
        "x": xs,
        "y": ys,
        "style": "solid",
        "width": 0.7,
    }


def _between(centres: list[float]) -> list[float]:
    """Return the ends of the rectangles around centres in order: halfway to the next ones.

    >>> _between([1.0, 2.0, 4.0]), _between([3.0])
    ([0.5, 1.5, 3.0, 5.0], [2.5, 3.5])
    """
    if len(centres) == 1:
        return [centres[0] - 0.5, centres[0] + 0.5]
    inner = [(a + b) / 2 for a, b in pairwise(centres)]
    return [2 * centres[0] - inner[0], *inner, 2 * centres[-1] - inner[-1]]


def _regime_map(settings: Settings, progress: Progress, scheduler: str | None = None) -> FigureData:
    (n, ell), (columns, rows) = settings.map_at, settings.map_grid
    plan = MapPlan.of(n, ell, f"0.05:0.99@{columns}", r_relative=f"0.01:0.99@{rows}")
    found = regime_map(plan, scheduler=scheduler, progress=progress)
    return map_figure(found, "total")


FIGURES = (
    Figure(
        NAME, "E[T] over the hyper-parameters: regimes and their borders", _regime_map, _regime_map
    ),
)
