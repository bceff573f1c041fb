r"""Maps of hyper-parameters: E[T] over a grid of (alpha, r), and the regimes it falls into.

E[T] depends on alpha, gamma and r only through the order of Q-entries, so it is piecewise
constant: a *regime* is a set of hyper-parameters with the same law of T, here recognised by the
exact values of E[T] and Var[T]. Between regimes lie zones in which comparisons depend on how
often an entry has decayed; there the engine encloses what it cannot decide.

A grid is given by exact rationals: ``0.01:0.99@99`` are 99 evenly spaced ones, ends included (see
`markov_lrsao.exact.ranges`). The penalty is either r itself, or its place in the interval of
hypothesis (H): r = lower + x (upper - lower).
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.frames import data_frame
from markov_lrsao.exact.quantity import Enclosed, Quantity
from markov_lrsao.exact.ranges import rationals
from markov_lrsao.exact.rationals import (
    RationalLike,
    decimal_text,
    rational,
    rational_text,
    to_float,
)
from markov_lrsao.model.landscape import JUMP, Landscape
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.regimes.areas import Area, areas, inner_point
from markov_lrsao.regimes.columns import solved_points
from markov_lrsao.regimes.points import Point, Values, quantity_text
from markov_lrsao.regimes.store import PointStore
from markov_lrsao.release import release
from markov_lrsao.values.enclosure import TOLERANCE

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["COLUMNS", "MapPlan", "Regime", "RegimeMap", "regime_map"]

_FINENESS = 600
_PROBED, _MOST_PROBES = fmpq(1, 10**9), 12
"""Tolerance at points that stand for an area, and how many there are at most."""
_LARGEST_GRID = 1_000_000
MOST_STATES = 3_000
"""Default limit of states per point: a second or two where comparisons are hard to decide."""
COLUMNS = (
    "alpha",
    "gamma",
    "r",
    "r_relative",
    "hypothesis_h",
    "kind",
    "regime",
    "value",
    "lower",
    "upper",
    "width",
    "decimal",
    "undecided_probability",
)


def _axis(text: object, name: str) -> tuple[fmpq, ...]:
    """Return the numbers along one side of a grid, each once and in order."""
    return tuple(sorted(set(rationals(text, name))))


@dataclass(frozen=True, kw_only=True)
class MapPlan:
    """What a map is computed from.

    Attributes
    ----------
    alphas : the columns of the grid
    rs : its rows: values of r, or of the place of r in (H)
    relative : whether `rs` are places in the interval of (H)
    tolerance : relative width of an enclosure at which refinement stops
    max_states : how many states may be followed per point; more make enclosures narrower
    """

    n: int
    ell: int
    gamma: fmpq
    alphas: tuple[fmpq, ...]
    rs: tuple[fmpq, ...]
    relative: bool = True
    tolerance: fmpq = TOLERANCE
    max_states: int = MOST_STATES

    @classmethod
    def of(
        cls,
        n: int,
        ell: int,
        alpha: str,
        *,
        r_relative: str | None = None,
        r: str | None = None,
        gamma: RationalLike | None = None,
        outside_h: bool = False,
        tolerance: RationalLike | None = None,
        max_states: int = MOST_STATES,
    ) -> MapPlan:
        """Read a plan from texts and check all of its points.

        Raises
        ------
        ParameterError
            A range or a point is not allowed; the message says what to change.
        """
        if (r_relative is None) == (r is None):
            raise ParameterError('give either `r_relative` or `r`, e.g. `r_relative="0.1:0.9@9"`')
        width = TOLERANCE if tolerance is None else rational(tolerance, "tolerance")
        if width <= 0:
            raise ParameterError(f"tolerance = {width} is out of range: give a positive number")
        JUMP.check(n, ell)
        rows = _axis(r, "r") if r_relative is None else _axis(r_relative, "r_relative")
        plan = cls(
            n=n,
            ell=ell,
            gamma=fmpq(1, n + 1) if gamma is None else rational(gamma, "gamma"),
            alphas=_axis(alpha, "alpha"),
            rs=rows,
            relative=r_relative is not None,
            tolerance=width,
            max_states=max_states,
        )
        if len(plan.alphas) * len(rows) > _LARGEST_GRID:
            raise ParameterError(
                f"a grid of {len(plan.alphas) * len(rows):,} points is too large: at most "
                f"{_LARGEST_GRID:,} are possible"
            )
        for p in plan.points:
            if not p.inside and not outside_h:
                raise ParameterError(
                    f"the point alpha = {p.alpha}, r = {p.r} is outside hypothesis (H): keep "
                    f"`r_relative` within 0 and 1, or compute anyway with `outside_h=True`"
                )
        return plan

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """All points, row by row: r in the outer order, alpha in the inner one."""
        landscape = Landscape.jump(self.n, self.ell)
        bounds = [hypothesis_h(landscape, Parameters(a, self.gamma, fmpq(0))) for a in self.alphas]
        found = []
        for x in self.rs:
            for alpha, h in zip(self.alphas, bounds, strict=True):
                if self.relative and not h.satisfiable:
                    raise ParameterError(
                        f"alpha = {alpha}: {h.describe()}, or give penalties with `r`"
                    )
                r = h.lower + x * (h.upper - h.lower) if self.relative else x
                if r < 0:
                    raise ParameterError(
                        f"`r_relative` {x} at alpha = {alpha} means r = {r}: the penalty must "
                        f"be r >= 0; begin higher, or give penalties with `r`"
                    )
                place = (r - h.lower) / (h.upper - h.lower) if h.satisfiable else None
                found.append(Point(alpha, self.gamma, r, place))
        return tuple(found)

    @cached_property
    def fine(self) -> tuple[fmpq, ...]:
        """Many alphas from the first to the last, at which borders and areas are drawn.

        They are evenly spaced in ln(alpha/(1 - alpha)), to millionths: regimes crowd at both ends.
        """
        first, last = self.alphas[0], self.alphas[-1]
        low, high = (math.log(to_float(a / (1 - a))) for a in (first, last))
        inner = (low + (high - low) * k / _FINENESS for k in range(1, _FINENESS))
        between = {fmpq(round(1e6 / (1 + math.exp(-x))), 10**6) for x in inner}
        return (*sorted({first, last, *(a for a in between if first < a < last)}),)

    @cached_property
    def areas(self) -> tuple[Area, ...]:
        """The areas between borders that the map shows, within (H); borders are for l >= 2."""
        if self.ell < 2:
            return ()
        return areas(self.n, self.ell, self.fine, self.gamma)

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """For each area the numbers of the points that lie in it, strictly within its borders."""
        columns: dict[str, list[int]] = {}  # an area's interval is found once for each alpha
        for i, p in enumerate(self.points):
            if p.inside:
                columns.setdefault(str(p.alpha), []).append(i)
        found = []
        for area in self.areas:
            within: list[int] = []
            for column in columns.values():
                ends = area.interval(self.points[column[0]].alpha)
                if ends is not None:
                    within += [i for i in column if ends[0] < self.points[i].r < ends[1]]
            found.append(tuple(sorted(within)))
        return tuple(found)

    def probe(self, area: int) -> Point:
        """Return a point well within an area."""
        alpha, r = inner_point(self.areas[area], self.fine)
        h = hypothesis_h(Landscape.jump(self.n, self.ell), Parameters(alpha, self.gamma, fmpq(0)))
        return Point(alpha, self.gamma, r, (r - h.lower) / (h.upper - h.lower))

    def key(self, point: Point) -> str:
        """Return the text by which a solved point is found again, by this version only."""
        return (
            f"{release()} jump n={self.n} l={self.ell} alpha={point.alpha} "
            f"gamma={point.gamma} r={point.r} tolerance={self.tolerance} "
            f"states={self.max_states}"
        )


@dataclass(frozen=True)
class Regime:
    """The decided points with one law of T.

    Attributes
    ----------
    number : 1 for the largest regime of the map
    values : what its points share
    points : numbers of the points
    """

    number: int
    values: Values
    points: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RegimeMap:
    """A solved map: one `Values` per point of the plan, in the plan's order.

    Attributes
    ----------
    probed : area's number -> what was found at its probe
    """

    plan: MapPlan
    values: tuple[Values, ...]
    probed: Mapping[int, Values] = field(default_factory=dict)

    def found_in(self, area: int) -> list[Values]:
        """Return what was found in one of the plan's areas."""
        own = [self.values[i] for i in self.plan.members[area]]
        return [*own, self.probed[area]] if area in self.probed else own

    @cached_property
    def regimes(self) -> tuple[Regime, ...]:
        """The regimes, largest first."""
        members: dict[tuple[str, str], list[int]] = {}
        for i, v in enumerate(self.values):
            if v.regime is not None:
                members.setdefault(v.regime, []).append(i)
        ordered = sorted(members.values(), key=lambda group: (-len(group), group[0]))
        return tuple(
            Regime(k, self.values[group[0]], tuple(group))
            for k, group in enumerate(ordered, start=1)
        )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Per point the number of its regime, "inf" in a trap, "-" where nothing is decided."""
        result = ["inf" if v.kind == "infinite" else "-" for v in self.values]
        for regime in self.regimes:
            for i in regime.points:
                result[i] = str(regime.number)
        return tuple(result)

    def count(self, kind: str) -> int:
        """Return how many points have an answer of this kind."""
        return sum(v.kind == kind for v in self.values)

    def quantities(self, name: str) -> list[Quantity]:
        """Return one quantity at all points."""
        return [v.quantity(name) for v in self.values]

    def rows(self, name: str = "total") -> Iterator[dict[str, str]]:
        """Yield the lines of the table; see `COLUMNS`. A number that is not known is empty."""
        for p, v, label in zip(self.plan.points, self.values, self.labels, strict=True):
            q = v.quantity(name)
            (low, high), width = (q.ends, q.width) if isinstance(q, Enclosed) else (("", ""), None)
            yield dict(
                zip(
                    COLUMNS,
                    (
                        rational_text(p.alpha),
                        rational_text(p.gamma),
                        rational_text(p.r),
                        "" if p.relative is None else rational_text(p.relative),
                        "yes" if p.inside else "no",
                        v.kind,
                        label,
                        "inf" if q.infinite else q.rational or "",
                        low,
                        high,
                        "" if width is None else decimal_text(width, 6, towards=1),
                        q.decimal if v.means else "",
                        v.undecided or "",
                    ),
                    strict=True,
                )
            )

    def to_csv(self, name: str = "total") -> str:
        """Return the table as text."""
        out = io.StringIO()
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows(name))
        return out.getvalue()

    def to_frame(self, name: str = "total") -> DataFrame:
        """Return the table of one quantity, with floats of alpha, r and the quantity."""
        return data_frame(
            {
                **row,
                "alpha_float": to_float(point.alpha),
                "r_float": to_float(point.r),
                "float": float(quantity),
            }
            for row, point, quantity in zip(
                self.rows(name), self.plan.points, self.quantities(name), strict=True
            )
        )

    def to_dict(self, name: str = "total") -> dict[str, Any]:
        """Return the JSON form of `markov-lrsao map --json`."""
        return {
            "n": self.plan.n,
            "ell": self.plan.ell,
            "gamma": rational_text(self.plan.gamma),
            "quantity": name,
            "points": len(self.values),
            "tolerance": rational_text(self.plan.tolerance),
            "kinds": {k: self.count(k) for k in ("exact", "enclosure", "infinite", "open")},
            "widest_relative": widest(self.quantities(name)),
            "regimes": [
                {
                    "regime": g.number,
                    "points": len(g.points),
                    "total": quantity_text(g.values.means[0]),
                    "variance": quantity_text(g.values.variance),
                    "value": g.values.quantity(name).to_dict(),
                }
                for g in self.regimes
            ],
            "table": list(self.rows(name)),
        }


def widest(quantities: Sequence[Quantity]) -> float:
    """Return the largest relative width among numbers with finite enclosures."""
    widths = [q.relative_width for q in quantities if isinstance(q, Enclosed)]
    return max((to_float(w) for w in widths if w is not None), default=0.0)


def regime_map(
    plan: MapPlan,
    *,
    state: Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress = no_progress,
) -> RegimeMap:
    """Solve the points of a plan that are missing in the state file, and return the map.

    Decided areas between the borders in which no point has an exact value get a point of their
    own, solved to a finer tolerance; at most a dozen do, those of few exits first.

    Parameters
    ----------
    state : file of solved points, made if missing; None keeps them in memory only
    workers : processes; default one per core
    scheduler : address of a Dask scheduler whose workers solve the points instead

    Raises
    ------
    ParameterError
        The state file cannot be used.
    SchedulerError
        The scheduler cannot be reached, or has no workers; what is solved is in the state file.
    """
    with PointStore(state) as store:
        values = solved_points(plan, plan.points, store, workers, scheduler, "map", progress)
        found = RegimeMap(plan, tuple(values))
        missing = [
            k
            for k, area in enumerate(plan.areas)
            if area.decided and not any(v.kind == "exact" for v in found.found_in(k))
        ]
        missing = sorted(missing, key=lambda k: not plan.areas[k].name.startswith("L"))
        missing = missing[:_MOST_PROBES]
        finer = replace(plan, tolerance=min(plan.tolerance, _PROBED))
        probes = [plan.probe(k) for k in missing]
        probed = solved_points(
            finer, probes, store, workers, scheduler, "areas between borders", progress
        )
    return replace(found, probed=dict(zip(missing, probed, strict=True)))
