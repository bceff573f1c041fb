"""Simulated experiments that several figures share, each played once per process.

An experiment's random streams depend on the seed and on (n, l) only: the same experiment in two
figures shows the same runs, and both arithmetics see the same random numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from markov_lrsao.answers.curves import CurvePoint, curve, ell_of
from markov_lrsao.figures.base import Range, Series, Settings, numbers
from markov_lrsao.interrupts import available_cores
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import Progress, no_progress

if TYPE_CHECKING:
    from simulate.runs.samples import Samples
    from simulate.statistics.estimates import Summary

__all__ = [
    "Experiment",
    "coupon_collector",
    "curve_sizes",
    "exact_point",
    "exact_points",
    "grid",
    "play",
    "range_text",
    "samples_of",
    "schedule_text",
    "spaced",
]

_LARGEST_STEP = 25


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is simulated at one (n, l)."""

    n: int
    ell: int
    runs: int
    seed: int
    algorithm: Literal["lrsao", "earl"] = "lrsao"
    arithmetic: Literal["exact", "float64"] = "exact"
    limit: int | None = None
    restart: int | None = None

    def law(self) -> StepLaw:
        """Return the law: LRSAO with the paper's parameters, EA+RL with its appendix's."""
        return _law(self.n, self.ell, self.algorithm)


@lru_cache(maxsize=8)
def _law(n: int, ell: int, algorithm: str) -> StepLaw:
    chosen = Algorithm.lrsao(Parameters.paper(n)) if algorithm == "lrsao" else Algorithm.earl()
    return StepLaw.of(Landscape.jump(n, ell), chosen)


def samples_of(experiment: Experiment) -> Samples:
    """Play an experiment."""
    from simulate.runs.runner import simulate

    return simulate(
        experiment.law(),
        runs=experiment.runs,
        seed=experiment.seed,
        arithmetic=experiment.arithmetic,
        limit=experiment.limit,
        restart=experiment.restart,
        path=(experiment.n, experiment.ell),
    )


@lru_cache(maxsize=2000)
def play(experiment: Experiment, level: float) -> Summary:
    """Play an experiment and summarise it."""
    from simulate.statistics.estimates import summary

    return summary(samples_of(experiment), level)


_exact: dict[tuple[str, int], CurvePoint] = {}


def exact_points(
    schedule: str, ns: Iterable[int], progress: Progress = no_progress
) -> list[CurvePoint]:
    """Return E[T] and its phases at some n of a schedule, from the crossing counts, in order."""
    wanted = list(ns)
    missing = [n for n in dict.fromkeys(wanted) if (schedule, n) not in _exact]
    if missing:
        for point in curve(missing, schedule, workers=available_cores(), progress=progress):
            _exact[schedule, point.n] = point
    return [_exact[schedule, n] for n in wanted]


def exact_point(schedule: str, n: int) -> CurvePoint:
    """Return E[T] and its phases at one n of a schedule."""
    (point,) = exact_points(schedule, [n])
    return point


def grid(first_last_step: Range) -> list[int]:
    """Return the integers of a range whose last is included."""
    first, last, step = first_last_step
    return list(range(first, last + 1, step))


def spaced(first_last_count: Range) -> list[int]:
    """Return integers that are evenly spaced on a logarithmic scale, as far as integers can be.

    A curve through values at these n is off by the same small share everywhere.

    >>> spaced((10, 1000, 5)), spaced((9, 12, 20))
    ([10, 32, 100, 316, 1000], [9, 10, 11, 12])
    """
    first, last, count = first_last_count
    if count < 2:
        return [first]
    ratio = (last / first) ** (1 / (count - 1))
    return sorted({round(first * ratio**k) for k in range(count)})


def curve_sizes(
    settings: Settings, last: int, simulated: Sequence[int], schedule: str
) -> list[int]:
    """Return the n of an exact curve: those of all curves up to `last`, and the simulated ones.

    Where l grows by one, E[T] falls by a share of about 2/l: such steps are drawn from both sides
    as long as l is small enough to see them.
    """
    ns = {n for n in spaced(settings.curve_n) if n <= last}
    if ell_of(schedule, last) < last // 4:  # not for l = (n-5)/2, which grows all the time
        for n in range(settings.curve_n[0] + 1, last + 1):
            if ell_of(schedule, n - 1) < ell_of(schedule, n) <= _LARGEST_STEP:
                ns |= {n - 1, n}
    return sorted({*ns, *simulated})


def range_text(ns: Sequence[int]) -> str:
    """Return the ends of a range of n for people."""
    return f"{min(ns):,}..{max(ns):,}" if len(ns) > 1 else f"{ns[0]:,}"


def schedule_text(schedule: str) -> str:
    """Return a schedule of l for people.

    >>> [schedule_text(s) for s in ("2", "half")]
    ['l = 2', 'l = floor((n-5)/2)']
    """
    names = {"cbrt": "floor(n^(1/3))", "sqrt": "floor(n^(1/2))", "half": "floor((n-5)/2)"}
    return f"l = {names.get(schedule, schedule)}"


def coupon_collector(points: Sequence[CurvePoint]) -> Series:
    """Return the line that no local search gets below."""
    return Series(
        name="n H_n, no local search from 0 is faster",
        kind="line",
        x=numbers(p.n for p in points),
        y=numbers(p.coupon_collector for p in points),
        colour=6,
        style="dotted",
    )
