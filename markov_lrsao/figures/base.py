"""What a figure is: settings in, data out; pictures are drawn from the data alone.

A figure is computed into a `FigureData`, which is written as JSON and, flattened, as CSV; the
PNG and SVG are drawn from it and from nothing else. So whoever has the JSON has the figure, and
comparing a figure with the engine means comparing its data.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from markov_lrsao.progress import Progress
from markov_lrsao.release import release

__all__ = [
    "LRSAO_PARAMETERS",
    "Axis",
    "Figure",
    "FigureData",
    "Series",
    "Settings",
    "numbers",
    "setting_text",
]

FigureKind = Literal["chart", "graph", "map"]
SeriesKind = Literal["line", "points", "band", "step", "bars"]
Style = Literal["solid", "dashed", "dotted", "dashdot", "dashes"]
Range = tuple[int, int, int]
"""First, last, step; the last is included."""


LRSAO_PARAMETERS = "alpha = 4/5, gamma = 1/(n+1), r = n(1/(alpha(1-gamma)) - 1)"
"""The paper's, with which all figures but the regime map are made; see `Parameters.paper`."""


def setting_text(
    n: int | str,
    ell: int | str,
    *more: str,
    runs: int | None = None,
    seed: int | None = None,
    level: float | None = None,
    lrsao: bool = True,
) -> str:
    """Return what a picture is of, in one line: hyper-parameters, size, runs and level of bands.

    >>> setting_text(9, 2, lrsao=False)
    'n = 9, l = 2; exact, no runs'
    >>> setting_text("50..1,000", 2, runs=2000, seed=1, level=0.95, lrsao=False)
    'n = 50..1,000, l = 2; 2,000 runs a point, seed 1; bands and bars 95%'
    """
    told = [f"LRSAO: {LRSAO_PARAMETERS}"] if lrsao else []
    told += [*more, f"n = {n:,}" if isinstance(n, int) else f"n = {n}"]
    told[-1] += f", l = {ell}"
    told.append("exact, no runs" if runs is None else f"{runs:,} runs a point, seed {seed}")
    if level is not None:
        told.append(f"bands and bars {100 * level:g}%")
    return "; ".join(told)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that determines the data of the figures.

    Attributes
    ----------
    seed : of all simulations; streams of different experiments are independent
    level : confidence level of all bands
    runs : simulated runs per point
    small, large : simulated n up to 1000 and up to 10,000
    curve_n : first, last and number of the n of exact curves, evenly spaced on a log scale
    earl_n, earl_runs : grid and runs of the comparison with EA+RL
    earl_budget : step limit of EA+RL, in multiples of n^2
    earl_restart : restart length of EA+RL, in multiples of n H_n
    float_n, float_runs : grid and runs of float64 against true semantics
    law_n, law_runs : size and runs of the distributions of T
    quantile_n : first, last and number of the n of the quantiles, as in `curve_n`
    profile_n : size of the profiles (exact rationals)
    plateaus_n, plateaus_runs : the n of landscapes with many plateaus, as in `curve_n`, and runs
    objectives : (n, l) of the objectives and of the plateaus
    graph : (n, l) of the other graphs
    map_at, map_alpha : (n, l) of the regime map, its first and last alpha
    map_grid : its numbers of alphas and of penalties; areas and their values do not depend on them
    """

    seed: int = 1
    level: float = 0.95
    runs: int = 2000
    small: Range = (50, 1000, 50)
    large: Range = (200, 10_000, 200)
    curve_n: Range = (14, 10_000, 160)
    earl_n: Range = (50, 1000, 50)
    earl_runs: int = 4000
    earl_budget: int = 10
    earl_restart: int = 4
    float_n: Range = (500, 10_000, 500)
    float_runs: int = 2000
    law_n: int = 1000
    law_runs: int = 2000
    quantile_n: Range = (9, 1000, 112)
    profile_n: int = 100
    plateaus_n: Range = (50, 200, 5)
    plateaus_runs: int = 4000
    objectives: tuple[int, int] = (30, 5)
    graph: tuple[int, int] = (14, 2)
    map_at: tuple[int, int] = (30, 5)
    map_alpha: tuple[str, str] = ("0.1", "0.99")
    map_grid: tuple[int, int] = (17, 13)

    @classmethod
    def full(cls) -> Settings:
        """Return the settings of the paper's experiments; docs/figures.md has the time it takes."""
        return cls()

    @classmethod
    def quick(cls) -> Settings:
        """Return the same figures with fewer simulated points and runs; curves are as exact."""
        return cls(
            runs=200,
            small=(100, 1000, 150),
            large=(1000, 10_000, 3000),
            earl_n=(100, 1000, 225),
            earl_runs=200,
            float_n=(1000, 10_000, 3000),
            float_runs=100,
            law_n=400,
            law_runs=300,
            quantile_n=(9, 130, 190),
            profile_n=60,
            plateaus_n=(50, 100, 3),
            plateaus_runs=200,
            map_grid=(8, 5),
        )

    def command(self, name: str) -> str:
        """Return what makes a figure with these settings."""
        if self == Settings.full():
            return f"markov-lrsao figures --only {name}"
        if self == Settings.quick():
            return f"markov-lrsao figures --quick --only {name}"
        changed = ", ".join(
            f"{k}={v!r}" for k, v in asdict(self).items() if v != getattr(Settings.full(), k)
        )
        return f"build(['{name}'], out, Settings({changed}))"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


@dataclass(frozen=True)
class Axis:
    """Label and scale of an axis; its ends where they are not those of the data."""

    label: str
    scale: Literal["linear", "log", "logit"] = "linear"
    ends: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        named = {"label": self.label, "scale": self.scale}
        return named if self.ends is None else {**named, "ends": list(self.ends)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Axis:
        """Read the JSON form back."""
        ends = data.get("ends")
        return cls(data["label"], data["scale"], None if ends is None else (ends[0], ends[1]))


def numbers(values: Any) -> list[float | None]:
    """Return floats that JSON can carry; what is not finite becomes None."""
    return [float(v) if v is not None and math.isfinite(v) else None for v in values]


@dataclass(frozen=True, kw_only=True)
class Series:
    """One curve, set of points or band.

    Attributes
    ----------
    low, high : ends of a band, or of the error bars of points
    exact : fractions as text, where y is exact
    colour : index into `markov_lrsao.figures.plots.COLOURS`
    marker : for points and lines with marks; differs among the series of a figure, so that they
        can be told apart without colour
    panel : which of the figure's panels, from the top
    listed : whether the legend names it
    legend : what the legend says, where one entry stands for several series
    """

    name: str
    kind: SeriesKind
    x: list[float | None]
    y: list[float | None] = field(default_factory=list)
    low: list[float | None] | None = None
    high: list[float | None] | None = None
    exact: list[str] | None = None
    colour: int = 0
    style: Style = "solid"
    marker: str | None = None
    panel: int = 0
    listed: bool = True
    legend: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, without the fields that do not apply."""
        return {k: v for k, v in asdict(self).items() if v is not None}


@dataclass(frozen=True, kw_only=True)
class FigureData:
    """The data of one figure; see `docs/figures.md` for the JSON form.

    Attributes
    ----------
    caption : one or two sentences that say what is exact and what is sampled
    setting : hyper-parameters, size, numbers of runs and level of bands, in one line
    nodes, edges : of a graph; the probabilities of the edges out of a node add up to one,
        unless the node is marked as an end
    grid : of a map
    notes : numbers and texts that belong to the figure: seeds, budgets, quantiles, quotations
    """

    name: str
    title: str
    caption: str
    kind: FigureKind
    setting: str = ""
    command: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    x: Axis = Axis("")
    y: Axis = Axis("")
    series: Sequence[Series] = ()
    nodes: Sequence[Mapping[str, Any]] = ()
    edges: Sequence[Mapping[str, Any]] = ()
    grid: Mapping[str, Any] | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    version: str = field(default_factory=release)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        result: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "caption": self.caption,
            "setting": self.setting,
            "command": self.command,
            "kind": self.kind,
            "settings": dict(self.settings),
            "version": self.version,
            "x": self.x.to_dict(),
            "y": self.y.to_dict(),
            "series": [s.to_dict() for s in self.series],
            "notes": dict(self.notes),
        }
        if self.kind == "graph":
            result |= {
                "nodes": [dict(n) for n in self.nodes],
                "edges": [dict(e) for e in self.edges],
            }
        if self.kind == "map":
            result["grid"] = self.grid
        return result

    def to_json(self) -> str:
        """Return the text of the JSON file."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FigureData:
        """Read the JSON form back."""
        fields = dict(data)
        fields["x"], fields["y"] = Axis.from_dict(data["x"]), Axis.from_dict(data["y"])
        fields["series"] = tuple(Series(**s) for s in data["series"])
        return cls(**fields)

    def to_csv(self) -> str:
        """Return the data as one flat table: a line per point, edge or point of a map."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if self.kind == "graph":
            writer.writerow(["source", "target", "label", "probability"])
            for e in self.edges:
                writer.writerow([e["source"], e["target"], e["label"], e["probability"]])
        elif self.kind == "map":
            grid = self.grid or {}
            writer.writerow(["x", "y", "value", "exact"])
            for j, y in enumerate(grid["y"]):
                for i, x in enumerate(grid["x"]):
                    writer.writerow([x, y, grid["values"][j][i], grid["exact"][j][i]])
        else:
            writer.writerow(["series", "kind", "x", "y", "low", "high", "exact"])
            for s in self.series:
                columns = [c or [None] * len(s.x) for c in (s.y, s.low, s.high, s.exact)]
                writer.writerows(
                    [s.name, s.kind, x, *rest] for x, *rest in zip(s.x, *columns, strict=True)
                )
        return out.getvalue()


Compute = Callable[[Settings, Progress], FigureData]
Spread = Callable[[Settings, Progress, str], FigureData]


@dataclass(frozen=True)
class Figure:
    """A figure that can be made: its name, its title, the function that computes its data.

    A figure of many points may have a second function, which spreads them over the workers of a
    Dask scheduler.
    """

    name: str
    title: str
    function: Compute
    spread: Spread | None = None

    def compute(
        self, settings: Settings, progress: Progress, scheduler: str | None = None
    ) -> FigureData:
        """Return the figure's data, with the settings and the command that makes it again."""
        if scheduler is not None and self.spread is not None:
            data = self.spread(settings, progress, scheduler)
        else:
            data = self.function(settings, progress)
        return replace(data, command=settings.command(self.name), settings=settings.to_dict())

    def draw(self, data: FigureData, canvas: Any) -> None:
        """Draw data onto an empty matplotlib figure."""
        from markov_lrsao.figures.canvas import draw

        draw(data, canvas)
