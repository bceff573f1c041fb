"""Single tests of simulated runs against exact values, each with a p-value.

*Means and variances.* With the exact mean m, the numbers X - m and (X - m)^2 of independent runs
have exactly known means (0 and the variance V), exactly known variances (V and mu4 - V^2, mu4
the fourth central moment) and, the first, an exactly known third moment. Their averages over the
runs are nearly normal, but skew: T has an almost exponential tail, and (X - m)^2 is far more skew
than T. So the null distribution is Pearson's type III with the right mean, variance and skewness
(of the average: that of one run divided by the root of the number of runs); the skewness of
(X - m)^2, which would need the sixth moment, is taken from the runs.

*Laws.* Pearson's chi-square on bins of nearly equal exact probability.

*Ends.* Runs have a step limit so far out that, by Chebyshev's inequality with the fourth moment,
one that reaches it has a p-value below any level in use.

*Traps and kernels.* Where runs can get stuck, numbers of runs are binomial; where nothing is
known, the two kernels are compared with each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.quantity import Trap
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from simulate.runs.samples import Samples

__all__ = [
    "Comparison",
    "all_end",
    "binned",
    "enclosed_means",
    "goodness_of_fit",
    "mean_test",
    "moments",
    "step_limit",
    "stuck_runs",
    "two_kernels",
    "variance_test",
]

_MOST_BINS = 40
_LEAST_EXPECTED = 20.0
_BEYOND = 1e-6  # a run at the step limit is this much less likely than the level of all tests

Values = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Comparison:
    """One test: which quantity, its statistic (z, chi-square, ..) and its p-value.

    `exact` and `simulated` are the two values; a test of the whole law has none.
    """

    quantity: str
    test: str
    exact: float | None
    simulated: float | None
    statistic: float
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; an infinite number is null."""
        return {
            name: None if isinstance(x, float) and not math.isfinite(x) else x
            for name, x in vars(self).items()
        }


def _tail(z: float, skewness: float) -> float:
    """Return the two-sided p-value of a standardised average with a given skewness."""
    from scipy.stats import norm, pearson3

    if not math.isfinite(z):
        return 0.0
    if abs(skewness) < 1e-8:
        return float(2 * norm.sf(abs(z)))
    return float(min(1.0, 2 * min(pearson3.sf(z, skewness), pearson3.cdf(z, skewness))))


def mean_test(name: str, values: Values, mean: float, variance: float, third: float) -> Comparison:
    """Compare a mean with the exact one, given the exact second and third central moments."""
    count = len(values)
    average = float(values.mean())
    z = _standardised(average - mean, variance / count)
    skewness = third / variance**1.5 / math.sqrt(count) if variance > 0 else 0.0
    return Comparison(name, "z", mean, average, z, _tail(z, skewness))


def _standardised(difference: float, variance: float) -> float:
    """Return difference / sqrt(variance); of numbers that do not vary any difference is too large.

    A phase may take one and the same number of steps in all runs: a first plateau of one position.
    """
    if variance > 0:
        return difference / math.sqrt(variance)
    return math.inf if difference else 0.0


def variance_test(
    name: str, values: Values, mean: float, variance: float, fourth: float
) -> Comparison:
    """Compare the variance about the exact mean with the exact one, given the fourth moment."""
    count = len(values)
    squares = (values - mean) ** 2
    average = float(squares.mean())
    z = _standardised(average - variance, (fourth - variance**2) / count)
    centred = squares - average
    deviation = float(centred.std())
    skewness = float((centred**3).mean()) / deviation**3 if deviation > 0 else 0.0
    return Comparison(
        f"Var {name}", "z", variance, average, z, _tail(z, skewness / math.sqrt(count))
    )


def moments(exact: RuntimeResult, samples: Samples) -> list[Comparison]:
    """Compare means and variances of T and its phases; `exact` has four moments."""
    columns = [("T", exact.total, exact.variance, exact.higher, samples.times)]
    if len(exact.phases) > 1:
        columns += [
            (f"T{k + 1}", mean, variance, higher, samples.phase_times[:, k])
            for k, (mean, variance, higher) in enumerate(
                zip(exact.phases, exact.phase_variances, exact.phase_higher, strict=True)
            )
        ]
    tests = []
    for name, mean, variance, (third, fourth), values in columns:
        tests.append(mean_test(name, values, float(mean), float(variance), float(third)))
        tests.append(variance_test(name, values, float(mean), float(variance), float(fourth)))
    return tests


def enclosed_means(found: RuntimeResult, samples: Samples) -> list[Comparison]:
    """Compare means of T and its phases with enclosures, and the number of runs that end.

    The statistic is the distance of the mean from the enclosure, in the runs' own standard errors.
    """
    late = int(samples.censored.sum())
    tests = [
        Comparison("runs that do not end", "none", 0.0, float(late), float(late), float(not late))
    ]
    columns = [("T", found.total, samples.times)]
    if len(found.phases) > 1:
        columns += [
            (f"T{k + 1}", mean, samples.phase_times[:, k]) for k, mean in enumerate(found.phases)
        ]
    for name, mean, values in columns if not late else []:
        if mean.infinite or mean.upper is None:
            continue
        average, deviation = float(values.mean()), float(values.std(ddof=1))
        beyond = max(to_float(mean.lower) - average, average - to_float(mean.upper), 0.0)
        z = _standardised(beyond, deviation**2 / len(values)) if beyond else 0.0
        tests.append(Comparison(name, "z, enclosure", float(mean), average, z, _tail(z, 0.0)))
    return tests


def stuck_runs(trap: Trap, samples: Samples) -> list[Comparison]:
    """Compare how many runs have not ended, and how many surely never will, with P(stuck).

    Of N runs at least those that get stuck do not end, and of those that surely never end each is
    stuck. So neither number may lie on the wrong side of N P(stuck), whatever the step limit is.
    """
    from scipy.stats import binom

    runs = samples.runs
    late = int(samples.censored.sum())
    surely = 0 if samples.stuck is None else int((samples.stuck >= 0).sum())
    low, high = to_float(trap.lower), to_float(trap.upper)
    return [
        Comparison(
            "runs not ended, at least P(stuck)",
            f"binomial, limit {samples.limit:,}",
            low,
            late / runs,
            late - runs * low,
            float(binom.cdf(late, runs, low)),
        ),
        Comparison(
            "runs surely stuck, at most P(stuck)",
            "binomial",
            high,
            surely / runs,
            surely - runs * high,
            float(binom.sf(surely - 1, runs, high)),
        ),
    ]


def two_kernels(fast: Samples, slow: Samples) -> list[Comparison]:
    """Compare runs of the two kernels: how many end, and the mean of T among these (Welch)."""
    from scipy.stats import fisher_exact, ttest_ind

    ended = [int((~samples.censored).sum()) for samples in (fast, slow)]
    late = [int(samples.censored.sum()) for samples in (fast, slow)]
    tests = [
        Comparison(
            "runs ended, event against step",
            f"Fisher, limit {fast.limit:,}",
            ended[1] / slow.runs,
            ended[0] / fast.runs,
            float(ended[0] / fast.runs - ended[1] / slow.runs),
            float(fisher_exact([ended, late]).pvalue),
        )
    ]
    if min(ended) > 1:
        found = ttest_ind(fast.times, slow.times, equal_var=False)
        tests.append(
            Comparison(
                "T, event against step",
                "Welch's t",
                float(slow.times.mean()),
                float(fast.times.mean()),
                float(found.statistic),
                float(found.pvalue),
            )
        )
    return tests


def step_limit(exact: RuntimeResult, runs: int, level: float) -> int:
    """Return a number of steps that one of the runs reaches with probability <= 1e-6 level.

    P(T - m >= k) <= mu4 / k^4.
    """
    fourth = float(exact.higher[1])
    return math.ceil(float(exact.total) + math.pow(runs * fourth / (_BEYOND * level), 0.25))


def all_end(samples: Samples, level: float) -> Comparison:
    """Compare the number of runs that reached the `step_limit` with the exact one, none."""
    late = int(samples.censored.sum())
    return Comparison(
        "runs that do not end",
        f"limit {samples.limit:,}",
        0.0,
        float(late),
        float(late),
        _BEYOND * level if late else 1.0,
    )


def goodness_of_fit(landscape: Landscape, algorithm: Algorithm, samples: Samples) -> Comparison:
    """Compare the law of T by chi-square on bins of nearly equal exact probability."""
    from markov_lrsao.answers.distribution import distribution

    law = distribution(landscape, algorithm)
    bins = _bins(samples)
    edges = np.unique([law.quantile(k / bins) for k in range(1, bins)])
    return _chi_square(edges, np.asarray(law.cdf(edges), dtype=float), samples)


def binned(reached: npt.NDArray[np.float64], samples: Samples) -> Comparison:
    """Compare the law of T with P(T <= t), t = 0, 1, .., by the same test."""
    bins = _bins(samples)
    levels = np.arange(1, bins) / bins
    edges = np.unique(np.minimum(np.searchsorted(reached, levels), len(reached) - 1))
    return _chi_square(edges, reached[edges], samples)


def _bins(samples: Samples) -> int:
    """Return into how many bins runs are put."""
    bins = int(min(_MOST_BINS, samples.runs / _LEAST_EXPECTED))
    if bins < 2:
        raise ParameterError(
            f"runs = {samples.runs} are too few for a distribution test: take at least "
            f"{2 * _LEAST_EXPECTED:.0f}"
        )
    return bins


def _chi_square(
    edges: npt.NDArray[Any], below: npt.NDArray[np.float64], samples: Samples
) -> Comparison:
    """Compare how many runs fall between the edges; `below` is P(T <= edge)."""
    from scipy.stats import chi2

    cumulative = np.concatenate([[0.0], below, [1.0]])
    expected = np.diff(cumulative) * samples.runs
    place = np.searchsorted(edges, samples.times, side="left")
    observed = np.bincount(place, minlength=len(expected)).astype(float)
    expected, observed = _pool(expected, observed)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    freedom = len(expected) - 1
    return Comparison(
        "law of T",
        f"chi-square({freedom})",
        None,
        None,
        statistic,
        float(chi2.sf(statistic, freedom)),
    )


def _pool(expected: Any, observed: Any) -> tuple[Any, Any]:
    """Merge neighbouring bins until each is expected to hold enough runs."""
    merged: list[list[float]] = []
    for e, o in zip(expected, observed, strict=True):
        if merged and merged[-1][0] < _LEAST_EXPECTED / 2:
            merged[-1][0] += e
            merged[-1][1] += o
        else:
            merged.append([e, o])
    if len(merged) > 1 and merged[-1][0] < _LEAST_EXPECTED / 2:
        last = merged.pop()
        merged[-1][0] += last[0]
        merged[-1][1] += last[1]
    table = np.array(merged)
    return table[:, 0], table[:, 1]
