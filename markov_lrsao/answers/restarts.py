"""Restarts: the cut-off after which a run is best begun anew, from the law of T.

A run that is cut off after c steps and begun anew, until one ends, takes
R(c) = (P(T > 0) + .. + P(T > c - 1)) / P(T <= c) steps on average. The numerator N(c) grows with
c and is a lower bound of R, so that a horizon with N(horizon) above the best value settles all
cut-offs beyond it. Without restarts the time is E[T], the limit of R where T is finite; restarts
pay if some R(c) is certainly below it. As elsewhere the evaluation of a start is not counted, so
that from a random start R(1) is nearly that of random search.

Where the law of T is not known, `from_runs` estimates R from runs: with N(c) the mean of min(T, c)
and F(c) the share of T <= c, the standard error of R = N / F is that of the mean of
(min(T, c) - R [T <= c]) / F. The best of many estimated cut-offs looks better than it is; what
other runs say about it does not, so it is chosen on one half of them and estimated on the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.answers.distribution import distribution
from markov_lrsao.answers.searches import (
    Start,
    positions_at_least,
    search_law,
    search_runtime,
    start_law,
)
from markov_lrsao.errors import NotAbsorbingError, ParameterError
from markov_lrsao.exact.balls import Ball
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import RationalLike
from markov_lrsao.memoryless.reaching import hopeless
from markov_lrsao.memoryless.tails import cumulated
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily, algorithm_at
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.tables import table

__all__ = ["RestartResult", "from_runs", "restarts"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_MOST = 4_000_000
_KNOWN = 0.01
"""A point of the curve is shown if its error is at most this part of it."""
_ROUNDED = 5e-9


@dataclass(frozen=True, eq=False)
class RestartResult:
    """The best cut-off, as far as the law of T is known.

    Attributes
    ----------
    cutoff : the best cut-off up to the horizon
    value, error : R(cutoff) and a bound of its error
    settled : whether no cut-off beyond the horizon can be better
    curve : R(c) for c = 0 .. horizon; infinite at 0 and where no run is known to have ended
    mean : E[T] without restarts
    runs : the law was estimated from so many runs, and `error` is a standard error; 0: it is known
    doubts : bounds of the errors of the curve; None where it is estimated
    """

    landscape: str
    algorithm: str
    n: int
    cutoff: int
    value: float
    error: float
    settled: bool
    mean: Quantity
    curve: FloatArray
    runs: int = 0
    doubts: FloatArray | None = None

    @property
    def pays(self) -> bool:
        """Whether restarts at the cut-off are certainly better than none.

        Where they are estimated: by more than four standard errors.
        """
        margin = (4 if self.runs else 1) * self.error
        return self.mean.infinite or self.value + margin < float(self.mean.lower)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, with the curve at some fifty cut-offs."""
        return {
            "landscape": self.landscape,
            "algorithm": self.algorithm,
            "n": self.n,
            "cutoff": self.cutoff,
            "value": self.value,
            "error": self.error,
            "settled": self.settled,
            "runs": self.runs,
            "horizon": len(self.curve) - 1,
            "without": self.mean.to_dict(),
            "pays": self.pays,
            "curve": [[c, float(self.curve[c])] for c in self._shown()],
        }

    def _shown(self, count: int = 50) -> list[int]:
        """Return cut-offs in geometric steps at which the curve is known."""
        finite = np.isfinite(self.curve)
        if self.doubts is not None:  # where hardly any run has ended, errors may be larger
            finite &= self.doubts <= _KNOWN * self.curve
        known = np.flatnonzero(finite)
        if not known.size:
            return [self.cutoff]
        grid = np.geomspace(max(known[0], 1), known[-1], count).astype(int)
        near = known[np.searchsorted(known, grid)]  # estimated curves have gaps
        return sorted({*near.tolist(), self.cutoff})

    def _digits(self, cutoff: int) -> str:
        """Return R(cutoff), of a known law to eight digits or those that are certain."""
        value = float(self.curve[cutoff])
        if self.doubts is None:
            return f"{value:.8g}"
        doubt = max(float(self.doubts[cutoff]), value * _ROUNDED)
        return Quantity.of(Ball(value, doubt)).decimal

    def __str__(self) -> str:
        """Return a table for people."""
        rows = [[f"{c:,}", self._digits(c)] for c in self._shown(12)]
        within = "" if self.settled else f" up to {len(self.curve) - 1:,} (later ones are open)"
        sure = f"within {self.error:.1e}"
        digits = 10
        if self.runs:
            sure, digits = f"+- {self.error:.3g}, estimated from {self.runs:,} runs", 6
        told = (
            f"best cut-off{within}: {self.cutoff:,}, expected time {self.value:.{digits}g} ({sure})"
        )
        unknown = not self.mean.infinite and self.mean.upper is None
        if not self.pays and not unknown:
            told = f"restarts do not pay: no cut-off{within} beats running on"
        without = "unknown" if unknown else "infinite"
        if not self.mean.infinite and not unknown:
            without = f"{float(self.mean):.10g}"
        return (
            f"{self.algorithm} on {self.landscape}, n = {self.n}\n\n"
            f"{table(['cut-off', 'expected time'], rows, right=[0, 1])}\n\n"
            f"{told}; without restarts {without}"
        )


def restarts(
    landscape: Landscape | LeadingOnes,
    algorithm: Algorithm | AlgorithmFamily | Search | NamedAlgorithm | None = None,
    *,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    horizon: int | None = None,
    outside_h: bool = False,
    progress: Progress = no_progress,
) -> RestartResult:
    """Return the cut-off that minimises the expected time with restarts.

    Parameters
    ----------
    start, at_least : where runs begin and end; see `runtime`
    horizon : the largest cut-off to look at; default: doubled until nothing beyond can be better,
        or about four times the mean

    Raises
    ------
    ParameterError, UndecidedComparisonError
        The law of T is not known.
    NotAbsorbingError
        No run is known to end.
    """
    if horizon is not None and not 1 <= horizon <= _MOST:
        raise ParameterError(f"horizon = {horizon} is out of range: 1 .. {_MOST:,} is allowed")
    chosen = algorithm.on(landscape) if isinstance(algorithm, NamedAlgorithm) else algorithm
    if isinstance(chosen, Search):
        law = search_law(landscape, chosen)
        begin, target = start_law(law, start), positions_at_least(law, at_least)
        mean = search_runtime(
            landscape, chosen, start=start, at_least=at_least, field="float"
        ).total
        if mean.infinite and hopeless(law, begin, target):
            raise NotAbsorbingError(
                f"{chosen.name}: no run from this start ever reaches the optimum, so restarts do "
                f"not help; begin elsewhere, e.g. at random"
            )
        until = horizon or 16 * law.n
        while True:
            ended, wrong = cumulated(law, begin, target, until)
            found = _best(landscape, chosen.name, ended, wrong, mean)
            done = horizon is not None or found.settled or ended[-1] > 1 - 1e-9
            if done or 2 * until * law.n * law.modes > 50 * _MOST:
                return found
            until *= 2
    if isinstance(landscape, LeadingOnes):
        raise ParameterError("LeadingOnes takes searches that do not learn; choose e.g. ea")
    known = distribution(
        landscape, chosen, outside_h=outside_h, start=start, at_least=at_least, progress=progress
    )
    until = horizon or min(_MOST, known.horizon)
    name = algorithm_at(chosen, landscape.n).name
    reached, error = known.until(until)
    if not np.any(reached > error):
        raise NotAbsorbingError(
            f"{name}: no run is known to end within {until:,} steps, so no cut-off has a known "
            f"time; begin elsewhere, or look further with `horizon`"
        )
    found = _best(landscape, name, reached, error, known.expectation)
    if horizon is None and not found.settled and known.never.lower > 0:
        # Runs that never end are paid for at every cut-off: some way on, nothing is better.
        more = 1 + int(2 * found.value / float(known.never.lower))
        found = _best(landscape, name, *known.until(min(_MOST, until + more)), known.expectation)
    return found


def from_runs(
    landscape: Landscape | LeadingOnes,
    name: str,
    times: IntArray,
    limit: int,
    mean: Quantity,
) -> RestartResult:
    """Return the best cut-off as far as runs tell, which were cut off at a limit.

    Parameters
    ----------
    times : runtimes; those of runs that reached the limit are -1
    mean : E[T] without restarts

    Raises
    ------
    NotAbsorbingError
        No run of the first half ended.
    """
    first, second = times[::2], times[1::2]
    cuts = np.unique(first[first >= 0])
    cuts = cuts[cuts > 0]
    if not cuts.size or not len(second):
        raise NotAbsorbingError(
            f"{name}: none of {len(first)} runs ended within {limit:,} steps; take more runs, or a "
            f"larger limit"
        )
    curve = np.full(int(cuts[-1]) + 1, np.inf)
    curve[cuts] = [_estimated(first, int(c))[0] for c in cuts]
    # Between two observed times R only grows: what is spent does, what has ended does not.
    best = int(cuts[np.argmin(curve[cuts])])
    value, error = _estimated(second, best)
    return RestartResult(
        landscape=landscape.name,
        algorithm=name,
        n=landscape.n,
        cutoff=best,
        value=value,
        error=error,
        settled=bool(np.minimum(np.where(first < 0, limit, first), limit).mean() > curve[best]),
        mean=mean,
        curve=curve,
        runs=len(times),
    )


def _estimated(times: IntArray, cutoff: int) -> tuple[float, float]:
    """Return R(cutoff) as runs tell, and its standard error."""
    ended = (times >= 0) & (times <= cutoff)
    share = float(ended.mean())
    if share == 0.0:
        return float("inf"), float("inf")
    spent = np.where(ended, times, cutoff)
    value = float(spent.mean()) / share
    return value, float((spent - value * ended).std(ddof=1)) / share / len(times) ** 0.5


def _best(
    landscape: Landscape | LeadingOnes,
    name: str,
    reached: FloatArray,
    error: float | FloatArray,
    mean: Quantity,
) -> RestartResult:
    """Return the best cut-off of a law given by P(T <= t), t = 0, 1, .., each with an error."""
    error = np.broadcast_to(np.asarray(error), reached.shape)
    spent = np.concatenate([[0.0], np.cumsum(1.0 - reached)[:-1]])
    # A sum of c terms, each rounded, is wrong by less than c + 2 roundings of 2^-53 each.
    terms = np.arange(len(reached))
    wrong = np.concatenate([[0.0], np.cumsum(error)[:-1]])
    slack = wrong * (1.0 + terms * 2.0**-52) + (terms + 4.0) * 2.0**-52 * spent
    with np.errstate(divide="ignore", invalid="ignore"):
        curve = np.where(reached > error, spent / reached, np.inf)
        upper = np.where(reached > error, (spent + slack) / (reached - error), np.inf)
        lower = np.where(reached + error > 0, (spent - slack) / (reached + error), 0.0)
        doubts = np.where(reached > error, np.fmax(upper - curve, curve - lower), np.inf)
    curve[0] = upper[0] = np.inf  # a cut-off is at least one step
    cutoff = int(np.argmin(upper))
    value = float(curve[cutoff])
    return RestartResult(
        landscape=landscape.name,
        algorithm=name,
        n=landscape.n,
        cutoff=cutoff,
        value=value,
        error=float(max(upper[cutoff] - value, value - lower[cutoff])),
        settled=bool(spent[-1] - slack[-1] > upper[cutoff]),
        mean=mean,
        curve=curve,
        doubts=doubts,
    )
