r"""The law of the runtime: P(T <= t), P(T = t) and quantiles, with an error bound.

**Small chains: powers.** The distribution after t steps is the start vector times P^t; all
numbers are non-negative, so rounding is a few t units in the last place, and what has not
been absorbed when the iteration stops is known.

**Any n: inversion.** G(z) = E[z^T] is evaluated on N points of the unit circle,
z_j = exp(i theta_j), theta_j = 2 pi j / N. Then

    sum over k of P(T = t + kN) = 1/N sum_j G(z_j) exp(-i theta_j t),      0 <= t < N,

exactly, and summing the right-hand side over 0..t gives P(T <= t) for any t without ever
forming an array of length N. Three errors remain, all bounded:

- *aliasing*: at most P(T >= N) <= E[(T choose k)] / (N choose k) for every k, which is made
  small by the choice of N (k up to 30 moments are computed for it);
- *truncation*: only the points with theta <= theta_c are used. Beyond it |G| is bounded by a
  majorant B: the same system solved with every factor 1/(1 - P_ii z) replaced by its modulus
  and all other weights by their absolute values. Each modulus decreases on [0, pi], hence so
  does B, and one evaluation at theta_c bounds all that is left out;
- *rounding*: at most m u sum_j B_j |weight_j|, u = 2^-53, with m the number of roundings on
  the longest path through the computation (a hundred per position); plus the effect of the
  points themselves being rounded, at most 4 u E[T] sum_j |weight_j| because |G'| <= E[T] on
  the unit disc. The weights are |weight_j| <= 1/j.

Where not all comparisons are decided, one way of resolving them is evaluated, and the
probability of ever meeting an open one is added to the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from markov_lrsao.algorithm import Algorithm
from markov_lrsao.crossing import Decomposition
from markov_lrsao.enclosure import decomposition_of, undecided_probability
from markov_lrsao.errors import (
    CrossingError,
    ParameterError,
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
)
from markov_lrsao.generating import Evaluation, GeneratingFunction
from markov_lrsao.joint import enumerate_joint
from markov_lrsao.landscape import Landscape
from markov_lrsao.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.rationals import to_float
from markov_lrsao.runtime import check_hypothesis, check_size

__all__ = ["Distribution", "Inversion", "Powers", "distribution"]

FloatArray = npt.NDArray[np.float64]
_ALIASING = 1e-13
_TRUNCATION = 1e-18
_TAIL_MOMENTS = 30
_CHUNK = 2_000_000  # sites times points per evaluation: 32 MB an array
_MOST_WORK = 4_000_000_000  # sites times points in all: some ten minutes
_UNIT = 2.0**-53
_MOST_POWERS_ROWS, _MOST_POWERS_N = 9, 40
_POWERS_TAIL = 1e-15


@dataclass(frozen=True, eq=False)
class Distribution:
    """The law of a runtime.

    Attributes
    ----------
    mean, deviation : of the runtime, for orientation
    error : every P(T <= t) is within this of the truth
    method : "powers" or "inversion"
    horizon : times beyond it have a probability below `error`
    """

    mean: float
    deviation: float
    error: float
    horizon: int
    method: str = "none"

    def cdf(self, t: int | npt.NDArray[np.int64]) -> Any:
        """Return P(T <= t)."""
        raise NotImplementedError

    def pmf(self, t: int | npt.NDArray[np.int64]) -> Any:
        """Return P(T = t)."""
        times = np.asarray(t, dtype=np.int64)
        values = np.maximum(np.asarray(self.cdf(times)) - np.asarray(self.cdf(times - 1)), 0.0)
        return float(values) if np.ndim(t) == 0 else values

    def quantile(self, q: float) -> int:
        """Return the smallest t with P(T <= t) >= q.

        Raises
        ------
        ParameterError
            q is not in (0, 1).
        """
        return self.quantile_bracket(q)[0]

    def quantile_bracket(self, q: float) -> tuple[int, bool]:
        """Return the quantile and whether the error bound leaves no other integer."""
        if not 0 < q < 1:
            raise ParameterError(f"quantile = {q} is out of range: 0 < q < 1 is needed")
        low, high = -1, self.horizon  # cdf(low) < q <= cdf(high)
        while high - low > 1:
            middle = (low + high) // 2
            if float(self.cdf(middle)) >= q:
                high = middle
            else:
                low = middle
        below = float(self.cdf(high - 1)) if high > 0 else 0.0
        certain = below + self.error < q <= float(self.cdf(high)) - self.error
        return high, certain


@dataclass(frozen=True, eq=False)
class Powers(Distribution):
    """From powers of the transition matrix: the probabilities themselves are stored."""

    probabilities: FloatArray = None  # type: ignore[assignment]
    method: str = "powers"

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cumulative", np.cumsum(self.probabilities))

    def cdf(self, t: int | npt.NDArray[np.int64]) -> Any:
        """Return P(T <= t)."""
        cumulative: FloatArray = self._cumulative  # type: ignore[attr-defined]
        times = np.asarray(t, dtype=np.int64)
        values = np.where(times < 0, 0.0,
                          cumulative[np.clip(times, 0, len(cumulative) - 1)])
        return float(values) if np.ndim(t) == 0 else values


@dataclass(frozen=True, eq=False)
class Inversion(Distribution):
    """From values of the generating function on part of the unit circle.

    Attributes
    ----------
    points : N
    values : G(z_j) for j = 0, 1, .. up to the truncation
    """

    points: int = 0
    values: npt.NDArray[np.complex128] = None  # type: ignore[assignment]
    method: str = "inversion"

    def cdf(self, t: int | npt.NDArray[np.int64]) -> Any:
        """Return P(T <= t), clipped to [0, 1]."""
        times = np.atleast_1d(np.asarray(t, dtype=np.int64))
        j = np.arange(1, len(self.values))
        theta = 2 * np.pi * j / self.points
        weight = np.where(2 * j == self.points, 1.0, 2.0)
        # sum over 0..t of exp(-i theta s) = (1 - exp(-i theta (t+1))) / (1 - exp(-i theta))
        scaled = weight * self.values[1:] / (1 - np.exp(-1j * theta))
        result = np.empty(len(times))
        for index, time in enumerate(times.tolist()):
            turned = 1 - np.exp(-2j * np.pi * ((j * (time + 1)) % self.points) / self.points)
            total = (time + 1) * self.values[0].real + float(np.sum((scaled * turned).real))
            result[index] = min(max(total / self.points, 0.0), 1.0) if time >= 0 else 0.0
            if time >= self.points:
                result[index] = 1.0
        return float(result[0]) if np.ndim(t) == 0 else result


def distribution(
    landscape: Landscape,
    algorithm: Algorithm,
    *,
    phase: int | None = None,
    method: Literal["auto", "powers", "inversion"] = "auto",
    outside_h: bool = False,
    progress: Progress = no_progress,
) -> Distribution:
    """Return the law of T, or of the time of one phase (counted from 1).

    Parameters
    ----------
    method : "powers" of the joint chain (small n), "inversion" of the generating function
        (any n), or "auto"
    """
    check_size(landscape)
    check_hypothesis(landscape, algorithm, outside_h=outside_h)
    count = len(landscape.milestones)
    if phase is not None and not 1 <= phase <= count:
        raise ParameterError(f"phase = {phase} is out of range: choose 1..{count}")
    law = StepLaw.of(landscape, algorithm)
    rows = int(law.row[: law.optimum].max()) + 1
    small = rows <= _MOST_POWERS_ROWS and law.n <= _MOST_POWERS_N
    if method == "powers" or (method == "auto" and small):
        try:
            return _powers(law, phase, progress)
        except UndecidedComparisonError:
            if method == "powers":
                raise
    try:
        decomposition = decomposition_of(law, progress)
    except CrossingError:
        if method == "inversion":
            raise
        return _powers(law, phase, progress)
    phases = [phase is None or k + 1 == phase for k in range(count)]
    if decomposition.choices is None:
        return _inversion(decomposition, phases, progress)
    # Any way of resolving open comparisons has the true law up to the first one that is met.
    met = np.nextafter(to_float(undecided_probability(decomposition)), 2.0)
    resolved = replace(decomposition, tail=decomposition.choices.block(), choices=None)
    found = _inversion(resolved, phases, progress)
    return replace(found, error=float(found.error + met))


def _powers(law: StepLaw, phase: int | None, progress: Progress) -> Powers:
    chain = enumerate_joint(law, field="float", progress=progress).chain
    milestones = law.landscape.milestones
    matrix = chain.to_scipy().T.tocsr()
    vector = np.zeros(chain.size)
    vector[chain.start] = 1.0
    stages = [(0, milestones[-1], True)] if phase is None else [
        *([(0, milestones[phase - 2], False)] if phase > 1 else []),
        (0, milestones[phase - 1], True),
    ]
    steps = 0
    for _, end, wanted in stages:
        target = chain.positions >= end
        arrived = np.where(target, vector, 0.0)
        probabilities = [float(arrived.sum())]
        vector = np.where(target, 0.0, vector)
        with progress("powers of the transition matrix") as bar:
            while (left := float(vector.sum())) > _POWERS_TAIL:
                vector = matrix @ vector
                steps += 1
                hit = np.where(target, vector, 0.0)
                arrived += hit
                vector = vector - hit
                if wanted:
                    probabilities.append(float(hit.sum()))
                bar.advance()
        vector = arrived
    pmf = np.array(probabilities)
    times = np.arange(len(pmf))
    mean = float(pmf @ times)
    deviation = float(np.sqrt(pmf @ (times - mean) ** 2))
    widest = int(np.diff(matrix.indptr).max()) + 3
    error = left + len(stages) * _POWERS_TAIL + steps * widest * _UNIT
    return Powers(mean, deviation, error, len(pmf) - 1, probabilities=pmf)


def _inversion(
    decomposition: Decomposition, phases: Sequence[bool], progress: Progress
) -> Inversion:
    mean, deviation, points, aliasing = _points(decomposition, phases)
    cut, truncation = _truncation(decomposition, phases, points)
    sites = max(1, sum(s.high - s.low + 1 for s in decomposition.sites))
    if cut * sites > _MOST_WORK:
        raise StateSpaceTooLargeError(
            f"the distribution needs {cut:,} points at {sites:,} sites, more than "
            f"{_MOST_WORK:,} evaluations; simulate instead, or choose a larger ell"
        )
    values = np.empty(cut + 1, dtype=np.complex128)
    chunk = max(1, _CHUNK // sites)
    with progress("inverting the generating function", total=cut + 1) as bar:
        for begin in range(0, cut + 1, chunk):
            j = np.arange(begin, min(begin + chunk, cut + 1))
            nodes = np.exp(2j * np.pi * j / points)
            function = GeneratingFunction(decomposition, Evaluation(exact=False, nodes=nodes))
            values[j] = function(phases)[0]
            bar.advance(len(j))
    operations = 100 * decomposition.law.n
    rounding = operations * _UNIT * _weighted_majorant(decomposition, phases, points, cut)
    rounding += 4 * _UNIT * mean * (2 + np.log(cut + 1))
    return Inversion(mean, deviation, aliasing + truncation + rounding, points - 1,
                     points=points, values=values)


def _points(
    decomposition: Decomposition, phases: Sequence[bool]
) -> tuple[float, float, int, float]:
    """Choose N so that P(T >= N) is below the tolerance, by Markov's inequality on (T choose k)."""
    first = GeneratingFunction(decomposition, Evaluation(exact=False, order=2))(phases)
    mean = first[1] / first[0]
    deviation = max(2 * first[2] / first[0] + mean - mean**2, 0.0) ** 0.5
    unit = max(mean, 1.0)
    scaled = GeneratingFunction(
        decomposition, Evaluation(exact=False, order=_TAIL_MOMENTS, unit=unit)
    )(phases)
    points = 64
    while points < 2**60:
        bound = 1.0
        log_choose = 0.0  # log of (N choose k) / unit^k
        for k in range(1, _TAIL_MOMENTS + 1):
            if points - k + 1 <= 0:
                break
            log_choose += np.log((points - k + 1) / (k * unit))
            if scaled[k] <= 0.0:
                bound = 0.0  # T < k, and N >= k
                break
            bound = min(bound, float(np.exp(np.log(scaled[k]) - log_choose)))
        if bound < _ALIASING:
            return float(mean), float(deviation), points, bound
        points = points * 5 // 4
    raise SolverError("no bound on the tail of the runtime was found; please report this instance")


def _majorant(
    decomposition: Decomposition, phases: Sequence[bool], theta: FloatArray
) -> FloatArray:
    """Return B(theta), a decreasing bound of |G(exp(i theta))|."""
    function = GeneratingFunction(
        decomposition, Evaluation(exact=False, nodes=np.exp(1j * theta), majorant=True)
    )
    return np.asarray(function(phases)[0], dtype=np.float64)


def _truncation(
    decomposition: Decomposition, phases: Sequence[bool], points: int
) -> tuple[int, float]:
    """Return the last j that is used, and the bound of what all others contribute."""
    half = points // 2
    low, high = 0, half  # B at high is small enough, or high is the last point
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        theta = np.array([2 * np.pi * middle / points])
        if float(_majorant(decomposition, phases, theta)[0]) <= _TRUNCATION:
            high = middle
        else:
            low = middle
    if high == half:
        return half, 0.0
    theta_c = 2 * np.pi * high / points
    # At most N points, each of weight at most 2 / (N * 2 sin(theta/2)) <= pi / (N theta_c).
    return high, _TRUNCATION * np.pi / theta_c


def _weighted_majorant(
    decomposition: Decomposition, phases: Sequence[bool], points: int, cut: int
) -> float:
    """Bound sum_j B_j |weight_j| by intervals on which B is at most its value at the left end."""
    edges = np.unique(np.round(np.geomspace(1, cut + 1, 60)).astype(np.int64))
    majorant = _majorant(decomposition, phases, 2 * np.pi * edges / points)
    total = 1.0
    for left, right, bound in zip(edges[:-1], edges[1:], majorant, strict=False):
        # |weight_j| <= 2/N * 2 / (2 sin(theta_j/2)) <= 1/j * 1 for theta <= pi
        total += float(bound) * float(np.log(right / left) + 1 / left)
    return total
