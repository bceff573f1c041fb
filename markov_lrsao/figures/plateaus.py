"""More than three regions: the time over n, and region by region, with own and shared bridges.

All plateaus have the same width. Two plateaus are the paper's case, and exact; three to five are
simulated, and the exponents between neighbouring n are noted with their standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from markov_lrsao.exact.quantity import Simulated
from markov_lrsao.figures.base import (
    Axis,
    Figure,
    FigureData,
    Series,
    Settings,
    numbers,
    setting_text,
)
from markov_lrsao.figures.sampling import range_text, spaced
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.progress import Progress

__all__ = ["FIGURES", "local_exponents"]

WIDTH = 5
COUNTS = (3, 4, 5)
BRIDGES = ("own", "shared")
_CURVE = 110  # values of n of exact curves


@lru_cache(maxsize=200)
def _played(
    n: int, count: int, bridges: str, runs: int, seed: int, level: float
) -> tuple[Simulated, tuple[Simulated, ...]]:
    """Play a landscape; return the means of T and of its phases."""
    from simulate.runs.runner import simulate
    from simulate.statistics.estimates import summary

    landscape = Landscape.regions(n, (WIDTH,) * count, bridges)
    path = (n, count, BRIDGES.index(bridges))
    found = summary(simulate(landscape, runs=runs, seed=seed, path=path), level)
    assert found.total is not None  # no limit: every run ends
    return found.total, found.phases


def local_exponents(ns: Sequence[int], means: Sequence[Simulated]) -> list[list[float]]:
    """Return [log(m'/m) / log(n'/n), its standard error] for neighbouring n.

    >>> means = [Simulated(m, m / 100, 0.98 * m, 1.02 * m, 100, 0.95) for m in (5.0, 40.0)]
    >>> local_exponents([10, 20], means)
    [[3.0, 0.0204]]
    """
    found = []
    for i in range(len(ns) - 1):
        one, two, step = means[i], means[i + 1], math.log(ns[i + 1] / ns[i])
        error = math.hypot(one.error / one.point, two.error / two.point) / step
        found.append([round(math.log(two.point / one.point) / step, 4), round(error, 4)])
    return found


def _variants() -> Iterator[tuple[int, str, int]]:
    """Yield number of plateaus, bridges, and a number that tells the series apart."""
    for i, count in enumerate(COUNTS):
        for j, bridges in enumerate(BRIDGES):
            yield count, bridges, 2 * i + j


def _setting(settings: Settings, ns: Sequence[int]) -> str:
    return setting_text(
        range_text(ns),
        WIDTH,
        "plateaus of l positions",
        runs=settings.plateaus_runs,
        seed=settings.seed,
        level=settings.level,
    )


def _notes(settings: Settings) -> dict[str, Any]:
    return {
        "runs": settings.plateaus_runs,
        "seed": settings.seed,
        "confidence": settings.level,
    }


def _growth(settings: Settings, progress: Progress) -> FigureData:
    """E[T] over n, a series per number of plateaus and kind of bridges."""
    from markov_lrsao.answers.expected import runtime

    ns = spaced(settings.plateaus_n)
    every = sorted({*spaced((ns[0], ns[-1], _CURVE)), *ns})
    with progress("two plateaus", total=len(every)) as bar:
        exact = []
        for n in every:
            exact.append(runtime(Landscape.regions(n, (WIDTH, WIDTH))).total)
            bar.advance(1)
    series = [
        Series(
            name=f"2 plateaus, {bridges}, exact",
            kind="line",
            x=numbers(every),
            y=numbers(map(float, exact)),
            exact=[str(e) for e in exact],
            colour=0,
            panel=panel,
        )
        for panel, bridges in enumerate(BRIDGES)
    ]
    notes = _notes(settings)
    with progress("simulated", total=len(ns) * len(COUNTS) * len(BRIDGES)) as bar:
        for count, bridges, k in _variants():
            means = []
            for n in ns:
                total, phases = _of(settings, n, count, bridges)
                means.append((total, phases[-1]))
                bar.advance(1)
            name = f"{count} plateaus, {bridges}"
            totals = [total for total, _ in means]
            series.append(_points(name, ns, totals, k))
            notes[f"exponents of E[T], {name}"] = local_exponents(ns, totals)
            notes[f"exponents of the last plateau, {name}"] = local_exponents(
                ns, [last for _, last in means]
            )
    return FigureData(
        name="plateaus-growth",
        title=TITLES["plateaus-growth"],
        kind="chart",
        x=Axis("n", "log"),
        y=Axis("T (function evaluations)", "log"),
        caption="Above, own: a bridge for each plateau; below, shared: two bridges in turn. With "
        f"two plateaus, which both are, E[T] is exact, at {len(every)} values of n; the others are "
        "means of simulated runs with the true semantics, bars are confidence intervals.",
        setting=_setting(settings, ns),
        series=tuple(series),
        notes=notes,
    )


def _regions(settings: Settings, progress: Progress) -> FigureData:
    """Where the time goes: the mean of every region at the n in the middle."""
    ns = spaced(settings.plateaus_n)
    n = ns[len(ns) // 2]
    series = []
    names: list[str] = []
    with progress("simulated", total=len(COUNTS) * len(BRIDGES)) as bar:
        for count, bridges, k in _variants():
            names = list(Landscape.regions(n, (WIDTH,) * count, bridges).phases)
            _, phases = _of(settings, n, count, bridges)
            from_the_end = range(1 - len(phases), 1)
            series.append(_points(f"{count} plateaus, {bridges}", from_the_end, phases, k))
            bar.advance(1)
    return FigureData(
        name="plateaus-regions",
        title=TITLES["plateaus-regions"],
        kind="chart",
        x=Axis("region, counted from the last plateau (0); even: plateaus, odd: slopes"),
        y=Axis("mean steps in the region", "log"),
        caption="Own bridges above, shared ones below. Means of simulated runs with the true "
        "semantics, bars are confidence intervals. "
        "Time that a walk spends after falling back into an earlier region counts where it "
        "has been furthest.",
        setting=_setting(settings, [n]),
        series=tuple(series),
        notes=_notes(settings) | {"n": n, "regions": names},
    )


def _of(
    settings: Settings, n: int, count: int, bridges: str
) -> tuple[Simulated, tuple[Simulated, ...]]:
    return _played(n, count, bridges, settings.plateaus_runs, settings.seed, settings.level)


def _points(name: str, x: Sequence[int], means: Sequence[Simulated], k: int) -> Series:
    return Series(
        name=name,
        kind="points",
        x=numbers(x),
        y=numbers(mean.point for mean in means),
        low=numbers(mean.low for mean in means),
        high=numbers(mean.high for mean in means),
        colour=1 + k // 2,
        marker="ooss^^"[k],
        panel=k % 2,
    )


TITLES = {
    "plateaus-growth": f"Three to five plateaus of {WIDTH} positions: the time over n",
    "plateaus-regions": f"Three to five plateaus of {WIDTH} positions: where the time goes",
}
FIGURES = (
    Figure("plateaus-growth", TITLES["plateaus-growth"], _growth),
    Figure("plateaus-regions", TITLES["plateaus-regions"], _regions),
)
