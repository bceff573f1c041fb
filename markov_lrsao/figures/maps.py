"""The regime map: E[T] over (alpha, r), drawn from the borders between regimes.

Inside (H) a map consists of the areas that the borders cut out (`markov_lrsao.regimes.areas`), each
with the value that all its solved points share. Points that lie in no such area, as those outside
(H), are shown one by one. The numbers do not depend on how fine the grid of points is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.quantity import Enclosed, Quantity
from markov_lrsao.exact.rationals import rational_text, to_float
from markov_lrsao.figures.base import Axis, Figure, FigureData, Settings, numbers
from markov_lrsao.figures.labels import placed_labels
from markov_lrsao.progress import Progress
from markov_lrsao.regimes.borders import Border, borders
from markov_lrsao.regimes.grid import MapPlan, RegimeMap, regime_map, widest

__all__ = ["FIGURES", "map_areas", "map_borders", "map_figure"]

NAME = "regime-map"
_TITLES = {
    "total": "E[T]",
    "phase1": "E[T1]",
    "phase2": "E[T2]",
    "phase3": "E[T3]",
    "stddev": "standard deviation of T",
}
_WIDE = 20
"""Alphas are drawn evenly in ln(alpha/(1-alpha)) if the odds grow by this factor, or more."""
_MOST_LINES = 20
"""Borders of more exits lie so close that they would be one black area; the colours go on."""
Place = float | None


def map_figure(found: RegimeMap, quantity: str, command: str = "") -> FigureData:
    """Return the data of a map's picture."""
    plan = found.plan
    width = len(plan.alphas)
    rows = range(0, len(found.values), width)
    values = numbers([float(q) for q in found.quantities(quantity)])
    exact = [v.kind in ("exact", "infinite") for v in found.values]
    infinite = [v.kind == "infinite" for v in found.values]
    covered = {i for members in plan.members for i in members}
    text = _TITLES[quantity]
    x, ends = _x_axis(plan), _ends(plan)
    areas = map_areas(found, quantity)
    named = [area for area in areas if area["value"] is not None]
    return FigureData(
        name=NAME,
        kind="map",
        command=command,
        title=f"{text} over (alpha, r): n = {plan.n}, l = {plan.ell}, gamma = {plan.gamma}",
        caption=_caption(found, text, named),
        setting=_setting(plan),
        x=x,
        y=Axis("place of r in (H): (r - lower)/(upper - lower)" if plan.relative else "r"),
        grid={
            "x": numbers(map(to_float, plan.alphas)),
            "y": numbers(map(to_float, plan.rs)),
            "values": [values[i : i + width] for i in rows],
            "exact": [exact[i : i + width] for i in rows],
            "infinite": [infinite[i : i + width] for i in rows],
            "inside": [[i + j in covered for j in range(width)] for i in rows],
            "regimes": [list(found.labels[i : i + width]) for i in rows],
            "label": text,
            "ends": ends,
            "areas": placed_labels(areas, ends, x.scale),
            "borders": map_borders(plan),
        },
        notes={
            "regimes": len(found.regimes),
            "exact_points": found.count("exact"),
            "enclosed_points": found.count("enclosure"),
            "infinite_points": found.count("infinite"),
            "open_points": found.count("open"),
            "widest_relative_enclosure": widest(found.quantities(quantity)),
            "values": {area["name"]: area["exact"] for area in named if area["exact"]},
        },
    )


def _caption(found: RegimeMap, text: str, named: Sequence[object]) -> str:
    words = (
        f"{text} is exact and the same throughout each of the {len(named)} areas that the borders "
        f"cut out of (H); k is the number of exits after which J is positive again. "
        if named
        else f"{text} at each point. "
    )
    return (
        f"{words}{found.count('exact'):,} of {len(found.values):,} points of the grid are exact, "
        f"and {found.count('enclosure'):,} are rigorously enclosed; those in an area agree with "
        f"its value. In the conditions a = alpha, g = gamma, G = n-l-1, rho = 1 - a + a^2 g^2. "
        f"Colours follow the order of the values."
    )


def _setting(plan: MapPlan) -> str:
    rs = "places of r in (H)" if plan.relative else "r"
    low, high = (f"{to_float(v):g}" for v in (plan.rs[0], plan.rs[-1]))
    alphas = f"alpha = {to_float(plan.alphas[0]):g}..{to_float(plan.alphas[-1]):g}"
    return (
        f"LRSAO on Jump: n = {plan.n}, l = {plan.ell}, gamma = {rational_text(plan.gamma)}, "
        f"{alphas} ({len(plan.alphas)} of them), {rs} {low}..{high} ({len(plan.rs)} of them); "
        f"exact, no runs"
    )


# -- axes ---------------------------------------------------------------------------------------


def _x_axis(plan: MapPlan) -> Axis:
    """Return an axis on which regimes can be told apart: they crowd towards alpha = 0 and 1."""
    first, last = plan.alphas[0], plan.alphas[-1]
    wide = last * (1 - first) >= _WIDE * first * (1 - last)
    return Axis("alpha (logit scale)", "logit") if wide else Axis("alpha")


def _ends(plan: MapPlan) -> dict[str, list[float]]:
    """Return how far a map reaches: all of (H) if its points lie there, else around its points."""
    between = _between([to_float(r) for r in plan.rs])
    low, high = between[0], between[-1]
    if plan.relative and all(0 < x < 1 for x in plan.rs):
        low, high = 0.0, 1.0
    first, last = to_float(plan.alphas[0]), to_float(plan.alphas[-1])
    if first == last:
        first, last = _between([first])
    return {"x": [first, last], "y": [low, high]}


def _between(centres: list[float]) -> list[float]:
    """Return the ends of the rectangles around centres in order: halfway to the next ones.

    >>> _between([1.0, 2.0, 4.0]), _between([0.5])
    ([0.5, 1.5, 3.0, 5.0], [0.45, 0.55])
    """
    if len(centres) == 1:
        return [0.9 * centres[0], 1.1 * centres[0]] if centres[0] else [-0.5, 0.5]
    inner = [(a + b) / 2 for a, b in pairwise(centres)]
    return [2 * centres[0] - inner[0], *inner, 2 * centres[-1] - inner[-1]]


class _Frame:
    """Where things are drawn: the alphas of curves, and r in the map's coordinate at each."""

    def __init__(self, plan: MapPlan) -> None:
        self.alphas = [to_float(a) for a in plan.fine]
        self.low, self.high = _ends(plan)["y"]
        bottom, top = borders(plan.n, plan.ell, plan.gamma, exits=0)[:2]
        self._h = [(bottom.float(a), top.float(a)) for a in self.alphas] if plan.relative else None

    def place(self, k: int, r: float) -> Place:
        """Return where r is drawn at the k-th alpha; None where (H) allows no r."""
        if self._h is None:
            return r
        bottom, top = self._h[k]
        return (r - bottom) / (top - bottom) if bottom < top else None

    def clipped(self, k: int, interval: tuple[float, float] | None) -> tuple[Place, Place]:
        """Return an interval of r as far as the map shows it."""
        if interval is None:
            return None, None
        ends = [self.place(k, r) for r in interval]
        low, high = (None if e is None else min(max(e, self.low), self.high) for e in ends)
        return (None, None) if low is None or high is None else (low, high)


# -- areas and borders ----------------------------------------------------------------------------


def map_areas(found: RegimeMap, quantity: str) -> list[dict[str, Any]]:
    """Return the areas as outlines in the map's coordinates, with the value of each.

    Raises
    ------
    VerificationError
        Points of a decided area disagree: then the borders are wrong.
    """
    plan, frame = found.plan, _Frame(found.plan)
    result = []
    for k, area in enumerate(plan.areas):
        outline = [
            (alpha, *frame.clipped(i, area.outline(alpha))) for i, alpha in enumerate(frame.alphas)
        ]
        if all(bottom is None or bottom == top for _, bottom, top in outline):
            continue
        value = _shared(found, k, quantity) if area.decided else None
        result.append(
            {
                "name": area.name,
                "decided": area.decided,
                "value": None if value is None else numbers([float(value)])[0],
                "exact": None if value is None else value.rational,
                "points": len(plan.members[k]),
                "x": [x for x, _, _ in outline],
                "low": [bottom for _, bottom, _ in outline],
                "high": [top for _, _, top in outline],
            }
        )
    return result


def _shared(found: RegimeMap, area: int, quantity: str) -> Quantity | None:
    """Return the value that the points of a decided area share; None if none is exact."""
    inside = found.found_in(area)
    exact = {v.regime: v for v in inside if v.kind == "exact"}
    if not exact:
        return None
    one, *others = exact.values()
    mean = one.means[0].value
    around = [v.means[0] for v in inside if v.kind == "enclosure"]
    apart = [
        q
        for q in around
        if isinstance(q, Enclosed)
        and not (q.lower <= mean and (q.upper is None or mean <= q.upper))
    ]
    if others or apart:
        name = found.plan.areas[area].name
        raise VerificationError(f"points of the area {name} have different laws of T")
    return one.quantity(quantity)


def map_borders(plan: MapPlan) -> list[dict[str, Any]]:
    """Return the borders that cross the map, as curves in its coordinates.

    The borders of all numbers of exits are one curve with gaps: the areas tell their k.
    """
    frame = _Frame(plan)
    families: dict[str, dict[str, Any]] = {}
    exits = sum(not area.name.startswith("L") for area in plan.areas)
    for border in borders(plan.n, plan.ell, plan.gamma, exits=min(exits, _MOST_LINES)):
        if border.name.startswith("J never"):
            continue  # just above "J always": the two could not be told apart
        if plan.relative and border.name.startswith("(H)"):
            continue  # the lines 0 and 1
        name, condition, look = _family(border, exits)
        places = [frame.place(i, border.float(alpha)) for i, alpha in enumerate(frame.alphas)]
        seen = visible(list(zip(frame.alphas, places, strict=True)), frame.low, frame.high)
        if seen:
            curve = families.setdefault(name, {"name": name, "condition": condition, **look})
            gap = [(None, None)] if "x" in curve else []
            for axis, key in enumerate("xy"):
                curve[key] = [*curve.get(key, []), *(p[axis] for p in (*gap, *seen))]
    return list(families.values())


def visible(
    points: Sequence[tuple[float, Place]], low: float, high: float
) -> list[tuple[Place, Place]]:
    """Return a curve as far as it lies between two heights, up to where it leaves; None: gaps.

    >>> visible([(0, -1), (1, 1), (2, 3), (3, 1), (4, None), (5, 1)], 0, 2)
    [(0.5, 0.0), (1, 1), (1.5, 2.0), (None, None), (2.5, 2.0), (3, 1)]
    """
    found: list[tuple[Place, Place]] = []
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 is None or y1 is None or max(y0, y1) <= low or min(y0, y1) >= high:
            continue
        shares = sorted((y - y0) / (y1 - y0) for y in (low, high)) if y0 != y1 else [0.0, 1.0]
        across = [(x0 + t * (x1 - x0), y0 + t * (y1 - y0)) for t in shares]
        begin = across[0] if shares[0] > 0 else (x0, y0)
        end = across[1] if shares[1] < 1 else (x1, y1)
        if not found or found[-1] != begin:
            found += [(None, None), begin] if found else [begin]
        found.append(end)
    return found


def _family(border: Border, exits: int) -> tuple[str, str, dict[str, Any]]:
    """Return the name under which a border is drawn, its condition, and how it looks."""
    if border.exits:
        condition = "(1-a) r = G + (G + a g)(rho^-1 + .. + rho^-(k-1)), between k and k+1"
        if exits > _MOST_LINES:
            condition += f"; k <= {_MOST_LINES} drawn"
        return "J always, k", condition, {"style": "solid", "colour": 6, "width": 0.9}
    look = {
        "(H), lower": ("dashdot", 1),
        "(H), upper": ("dotted", 1),
        "L always": ("dashed", 1),
        "L never": ("dotted", 2),
    }[border.name]
    return border.name, border.condition, {"style": look[0], "colour": look[1], "width": 1.6}


def _regime_map(settings: Settings, progress: Progress, scheduler: str | None = None) -> FigureData:
    (n, ell), (columns, rows) = settings.map_at, settings.map_grid
    first, last = settings.map_alpha
    plan = MapPlan.of(n, ell, f"{first}:{last}@{columns}", r_relative=f"0.01:0.99@{rows}")
    found = regime_map(plan, scheduler=scheduler, progress=progress)
    return map_figure(found, "total")


FIGURES = (
    Figure(
        NAME, "E[T] over the hyper-parameters: regimes and their borders", _regime_map, _regime_map
    ),
)
