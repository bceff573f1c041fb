"""Statistics of runs, with the conventions of the evolutionary-computation community.

One step evaluates one offspring, so T is counted in function evaluations (the evaluation of the
start is not counted). With censored runs the mean of T is not defined by the data; what is used
instead is the *expected running time*

    ERT = (steps of all runs, censored ones counted up to the limit) / (number of successes),

the expected total effort when a run that hits the limit is repeated independently until one
succeeds. Without a limit ERT is the mean, an estimate of E[T].

>>> import numpy as np
>>> expected_running_time(np.array([3, 5, 10, 10]), np.array([False, False, True, True]))
14.0
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.frames import data_frame
from markov_lrsao.exact.quantity import Simulated
from simulate.runs.samples import Samples

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "Summary",
    "band_halfwidth",
    "check_level",
    "ecdf",
    "expected_running_time",
    "mean_estimate",
    "penalised_average",
    "success_interval",
    "summary",
]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_RESAMPLES = 2000


def mean_estimate(values: IntArray | FloatArray, level: float = 0.95) -> Simulated:
    """Return the mean with Student's interval.

    Raises
    ------
    ParameterError
        There are no values, or the level is not in (0, 1).
    """
    from scipy.stats import t

    check_level(level)
    count = len(values)
    if count == 0:
        raise ParameterError("no run ended, so there is no mean")
    mean = float(np.mean(values))
    if count == 1:
        return Simulated(mean, math.inf, -math.inf, math.inf, count, level)
    error = float(np.std(values, ddof=1)) / math.sqrt(count)
    half = float(t.ppf(0.5 + level / 2, count - 1)) * error
    return Simulated(mean, error, mean - half, mean + half, count, level)


def expected_running_time(steps: IntArray, censored: BoolArray) -> float:
    """Return ERT, infinite if no run succeeded."""
    successes = int((~censored).sum())
    return float(steps.sum()) / successes if successes else math.inf


def penalised_average(steps: IntArray, censored: BoolArray, factor: int = 10) -> float:
    """Return PAR-`factor`: the mean with censored runs counted `factor` times."""
    return float(np.where(censored, factor * steps, steps).mean())


def success_interval(successes: int, runs: int, level: float = 0.95) -> Simulated:
    """Return the success rate with Clopper and Pearson's exact interval."""
    from scipy.stats import beta

    check_level(level)
    rate, tail = successes / runs, (1 - level) / 2
    low = float(beta.ppf(tail, successes, runs - successes + 1)) if successes else 0.0
    high = float(beta.ppf(1 - tail, successes + 1, runs - successes)) if successes < runs else 1.0
    return Simulated(rate, math.sqrt(rate * (1 - rate) / runs), low, high, runs, level)


def ecdf(samples: Samples) -> tuple[IntArray, FloatArray]:
    """Return the distinct runtimes and the share of *all* runs that had ended by then.

    Censored runs count in the denominator, so the curve ends at the success rate.
    """
    times, counts = np.unique(samples.times, return_counts=True)
    return times, np.cumsum(counts) / samples.runs


def band_halfwidth(runs: int, level: float = 0.95) -> float:
    """Return the half width of the Dvoretzky-Kiefer-Wolfowitz band around an ECDF.

    >>> round(band_halfwidth(1000), 4)
    0.0429
    """
    check_level(level)
    return math.sqrt(math.log(2 / (1 - level)) / (2 * runs))


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Statistics of one simulation.

    Attributes
    ----------
    success : success rate
    total, phases : means of T and of the phases over *successful* runs; None if there is none.
        They estimate E[T] only if no run is censored
    ert : expected running time at the limit, with a bootstrap interval if runs are censored
    quantiles : (q, time) over all runs; infinite where fewer than a share q of them ended
    decisions : choices that were left to exact arithmetic
    """

    runs: int
    censored: int
    restarts: int
    decisions: int
    level: float
    success: Simulated
    total: Simulated | None
    phases: tuple[Simulated, ...]
    ert: Simulated
    penalised: float
    quantiles: tuple[tuple[float, float], ...]

    def to_frame(self) -> DataFrame:
        """Return a table with one line per estimate; phase means are those of successful runs."""
        named = {"success": self.success, "mean": self.total, "ert": self.ert}
        named |= {f"phase{k}": phase for k, phase in enumerate(self.phases, start=1)}
        return data_frame(
            {
                "quantity": name,
                "value": found.point,
                "standard_error": found.error,
                "low": found.low,
                "high": found.high,
            }
            for name, found in named.items()
            if found is not None
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "censored": self.censored,
            "restarts": self.restarts,
            "exact_decisions": self.decisions,
            "confidence": self.level,
            "success_rate": self.success.to_dict(),
            "mean": self.total.to_dict() if self.total and not self.censored else None,
            "mean_of_successes": self.total.to_dict() if self.total else None,
            "phase_means_of_successes": [phase.to_dict() for phase in self.phases],
            "ert": self.ert.to_dict(),
            "par10": self.penalised,
            "quantiles": {
                f"{q:g}": time if math.isfinite(time) else None for q, time in self.quantiles
            },
        }


def summary(samples: Samples, level: float = 0.95) -> Summary:
    """Summarise a simulation at a confidence level."""
    check_level(level)
    successes = samples.runs - int(samples.censored.sum())
    spent = np.where(samples.censored, np.inf, samples.steps)
    return Summary(
        runs=samples.runs,
        censored=samples.runs - successes,
        restarts=int(samples.restarts.sum()),
        decisions=int(samples.decisions.sum()),
        level=level,
        success=success_interval(successes, samples.runs, level),
        total=mean_estimate(samples.times, level) if successes else None,
        phases=tuple(mean_estimate(column, level) for column in samples.phase_times.T)
        if successes
        else (),
        ert=_ert(samples, level),
        penalised=penalised_average(samples.steps, samples.censored),
        quantiles=tuple(
            (q, float(np.quantile(spent, q, method="inverted_cdf")))
            for q in (0.05, 0.25, 0.5, 0.75, 0.95)
        ),
    )


def _ert(samples: Samples, level: float) -> Simulated:
    """Return ERT; its interval is the mean's if all runs ended, else a percentile bootstrap."""
    value = expected_running_time(samples.steps, samples.censored)
    if not samples.censored.any():
        return mean_estimate(samples.times, level)
    if math.isinf(value):
        return Simulated(value, math.inf, math.inf, math.inf, samples.runs, level)
    generator = np.random.Generator(np.random.Philox(key=[samples.seed % 2**64, 2]))
    resampled = np.empty(_RESAMPLES)
    for i in range(_RESAMPLES):
        chosen = generator.integers(0, samples.runs, samples.runs)
        resampled[i] = expected_running_time(samples.steps[chosen], samples.censored[chosen])
    tail = (1 - level) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], method="inverted_cdf")
    finite = resampled[np.isfinite(resampled)]
    error = float(finite.std(ddof=1)) if len(finite) > 1 else math.inf
    return Simulated(value, error, float(low), float(high), samples.runs, level)


def check_level(level: float) -> None:
    """Refuse a confidence level that is not inside (0, 1)."""
    if not 0 < level < 1:
        raise ParameterError(f"confidence level = {level} is out of range: 0 < level < 1 is needed")
