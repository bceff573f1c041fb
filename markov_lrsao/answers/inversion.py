r"""The law of the runtime at any n, by inverting its generating function.

G(z) = E[z^T; T < infinity] is evaluated on N points of the unit circle, z_j = exp(i theta_j),
theta_j = 2 pi j / N. Then

    sum over k of P(T = t + kN) = 1/N sum_j G(z_j) exp(-i theta_j t),      0 <= t < N,

exactly, and summing the right-hand side over 0..t gives P(T <= t) for any t without ever
forming an array of length N. Three errors remain:

- *aliasing*: at most P(N <= T < infinity) <= E[(T choose k)] / (N choose k) for every k, which
  is made small by the choice of N (k up to 30 moments are computed for it). They come from sums,
  products and quotients of non-negative floats, so m roundings one after the other change them
  by a factor of at most (1 + 2^-53)^m; there are fewer than 10^9 on any path, and the bound is
  raised by 10^-6 of itself, and by 10^-200 for underflow;
- *truncation*: only the points with theta <= theta_c are used. Beyond it |G| is bounded by a
  majorant B: the same system solved with every factor 1/(1 - P_ii z) replaced by its modulus
  and all other weights by their absolute values. Each modulus decreases on [0, pi], hence so
  does B, and one evaluation at theta_c bounds all that is left out. It is done in disks;
- *rounding*: G is evaluated in disks (`markov_lrsao.exact.disks`), floats whose radii contain
  every rounding, at points that FLINT encloses. What elimination divides by, 1 - w_ii, is the
  sum of what else the row has and of what it lacks to 1; the latter is 1 - z at first. So nothing
  cancels. Radii, and the roundings of the sum over j, make up the error; see `Inversion.rounding`.

Where not all comparisons are decided, or runs fall below the rows that are followed, one way
of resolving them is evaluated, and the probability of ever meeting one is added to the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from markov_lrsao.answers.law_digits import PointLaw
from markov_lrsao.answers.laws import Inversion
from markov_lrsao.answers.plan import (
    Bounded,
    Composed,
    Counted,
    block_is_large,
    composed,
    crossing,
    slopes_follow,
)
from markov_lrsao.answers.segment_law import SegmentProblem, at_points, shortest
from markov_lrsao.crossing.blocks import Exit
from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.crossing.generating import EdgeWeights, Evaluation, GeneratingFunction
from markov_lrsao.crossing.shared import Core
from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    Refused,
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    attempt,
)
from markov_lrsao.exact.balls import Positive, checked
from markov_lrsao.exact.disks import Circle, Disk
from markov_lrsao.exact.quantity import UNKNOWN, Exact, Infinite, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.exact.series import Element, scale, solve
from markov_lrsao.model.law import UP, StepLaw
from markov_lrsao.progress import Progress
from markov_lrsao.values.enclosure import enclose_moments, losing_decomposition
from markov_lrsao.values.refinement import Refined

__all__ = ["Problem", "invert"]

IntArray = npt.NDArray[np.int64]
_ALIASING = 1e-13
_TRUNCATION = 1e-18
_TAIL_MOMENTS = 30
_CHUNK = 100_000  # sites times points per evaluation: 2 MB an array
_MOST_WORK = 4_000_000_000  # sites times points in all: an hour or two
_UNIT = 2.0**-53
_SLACK, _UNDERFLOW = 1 + 1e-6, 1e-200


@dataclass(frozen=True, eq=False)
class Problem:
    """Which law is wanted, of which decomposition.

    Attributes
    ----------
    decomposition : without open comparisons
    phase : counted from 1; None for T
    lossy : whether runs can get stuck
    """

    decomposition: Decomposition
    phase: int | None
    lossy: bool

    @classmethod
    def of(cls, decomposition: Decomposition, phase: int | None) -> Problem:
        """Find out whether runs can get stuck before the end.

        Raises
        ------
        CrossingError
            They can after the phase has ended and before the cut: crossing counts need
            to follow them beyond the phase.
        """
        problem = cls(decomposition, phase, False)
        plain = Evaluation(exact=False, order=0)
        match attempt(lambda: problem.evaluate(plain), (NotAbsorbingError,)):
            case Refused():
                if phase is not None and phase <= decomposition.phase:
                    raise CrossingError(
                        f"runs can get stuck after phase {phase} and before position "
                        f"{decomposition.cut}; crossing counts cannot tell the two apart"
                    )
                return cls(decomposition, phase, True)
        return problem

    @property
    def sites(self) -> int:
        """How many numbers one point takes."""
        return max(1, sum(s.high - s.low + 1 for s in self.decomposition.sites))

    @property
    def least(self) -> int:
        """A lower bound of T: positions change by one."""
        return shortest(self.decomposition.law, self.phase)

    @property
    def phases(self) -> list[bool]:
        """Which phases count."""
        count = len(self.decomposition.law.landscape.milestones)
        return [self.phase is None or k + 1 == self.phase for k in range(count)]

    def evaluate(self, evaluation: Evaluation, phases: Sequence[bool] | None = None) -> Element:
        """Return E[z^T; T < infinity]."""
        function = GeneratingFunction(
            self.decomposition, replace(evaluation, lossy=self.lossy), self.phase
        )
        return function(self.phases if phases is None else phases)

    @cached_property
    def reached(self) -> fmpq:
        """P(T < infinity), exactly."""
        return (
            fmpq(1) if not self.lossy else fmpq(self.evaluate(Evaluation(exact=True, order=0))[0])
        )

    @cached_property
    def moments(self) -> list[Quantity]:
        """Mean and variance given T < infinity, in floats with bounds."""
        with checked():
            found = self.evaluate(Evaluation(exact=False, central=True, order=2))
        return [Quantity.of(x) for x in found[1:]]

    def at(self, circle: Circle, numbers: IntArray, *, majorant: bool = False) -> Disk:
        """Return G at points of the unit circle, or the bound B of its modulus."""
        return at_points(self.evaluate, circle, numbers, majorant)


def invert(law: StepLaw, phase: int | None, progress: Progress) -> Inversion | Refused:
    """Return the law of T or of one phase."""
    if slopes_follow(law):
        match composed(law):
            case Composed(Core() as core):
                return attempt(lambda: _of_segments(SegmentProblem(core, phase), progress))
    if block_is_large(law) and not isinstance(composed(law), Refused):
        return Refused(
            CrossingError(
                "the law of T is not known where a walk can fall back any number of times through "
                "agent states of several positions; `runtime()` gives moments, or estimate with "
                "`simulate()`",
                advised=True,
            )
        )
    found = _decomposition(law, progress)
    if isinstance(found, Refused):
        return found
    return attempt(lambda: _inverted(found, phase, progress))


def _of_segments(problem: SegmentProblem, progress: Progress) -> Inversion:
    never = 1 - problem.reached
    known: list[Quantity] = [Infinite()] * 2 if never > 0 else problem.moments
    return _inversion(problem, known, Exact(never), 0.0, progress)


def _decomposition(law: StepLaw, progress: Progress) -> Decomposition | Refused:
    """Count crossings; where that is refused, give up runs that fall below the rows followed."""
    match crossing(law, progress):
        case Counted(d) | Bounded(d):
            return d
        case refused:
            if isinstance(refused.reason, StateSpaceTooLargeError):
                return refused
    match attempt(lambda: losing_decomposition(law)):
        case Refused(CrossingError() | NotAbsorbingError() | UndecidedComparisonError()):
            return refused
        case found:
            return found


def _inverted(found: Decomposition, phase: int | None, progress: Progress) -> Inversion:
    if found.choices is None:
        problem = Problem.of(found, phase)
        never = 1 - problem.reached
        known: list[Quantity] = [Infinite()] * 2 if never > 0 else problem.moments
        return _inversion(problem, known, Exact(never), 0.0, progress)
    block = found.choices
    problem = Problem.of(replace(found, tail=block.block(), choices=None), phase)
    if phase is not None and all(block.states[i].phase >= phase for i in found.tail_start.values()):
        # The phase ends at the cut, before anything is open.
        return _inversion(problem, problem.moments, Exact(fmpq(0)), 0.0, progress)
    met = _given_up(found, block, problem.lossy)
    moments = None if problem.lossy else _enclosed(found, phase)
    if moments is not None:
        return _inversion(problem, moments, Exact(fmpq(0)), met, progress)
    bound, never = fmpq(*met.as_integer_ratio()), 1 - problem.reached
    low, high = max(never - bound, fmpq(0)), min(never + bound, fmpq(1))
    unknown = Infinite() if low > 0 else UNKNOWN
    return _inversion(problem, [unknown] * 2, Quantity.enclosed(low, high), met, progress)


def _enclosed(found: Decomposition, phase: int | None) -> list[Quantity] | None:
    """Enclose mean and variance where comparisons are open; None where that is not possible."""
    block = found.choices
    assert block is not None
    if any(
        isinstance(t, Exit) and t.direction != UP
        for options in block.options
        for edges in options
        for t, _ in edges
    ):
        return None  # runs are given up
    enclosed = attempt(lambda: enclose_moments(found, 2), (NotAbsorbingError,))
    if isinstance(enclosed, Refused):
        return None  # some way of resolving gets stuck
    return enclosed.values[0 if phase is None else phase]


def _given_up(found: Decomposition, block: Refined, lossy: bool) -> float:
    """Return a bound of the probability of meeting an open comparison or being given up."""
    evaluation = Evaluation(exact=False, central=True, order=0, lossy=True)
    weigh = EdgeWeights(evaluation, found.law.n, block.denominator)
    rows: dict[int, dict[int, Element]] = {}
    outputs: dict[int, dict[bool, Element]] = {}
    unknown = set(block.undecided)
    for i, (state, options) in enumerate(zip(block.states, block.options, strict=True)):
        rows[i], outputs[i] = {}, {}
        if i in unknown:
            outputs[i][True] = evaluation.one
            continue
        for target, weight in options[0]:
            element = weigh(state.position, weight, False)
            if isinstance(target, Exit):
                outputs[i][target.direction != UP] = element
            else:
                rows[i][target] = element
    with checked():
        met = solve(rows, outputs, block.block().order, length=1, at_one=True, lossy=True)
        nothing = scale(evaluation.one, 0)
        ends = {key: met[i].get(True, nothing) for key, i in found.tail_start.items()}
        function = GeneratingFunction(found, replace(evaluation, lossy=lossy))
        bound: Positive = function.combine([False] * len(found.law.landscape.milestones), ends)[0]
        return min(float(bound.value) * (1 + bound.relative) * (1 + 4 * _UNIT), 1.0)


AnyProblem = Problem | SegmentProblem


def _inversion(
    problem: AnyProblem,
    moments: Sequence[Quantity],
    never: Quantity,
    undecided: float,
    progress: Progress,
) -> Inversion:
    mean = float(problem.moments[0])
    points, aliasing = _points(problem, mean)
    cut, truncation = _truncation(problem, points)
    sites = problem.sites
    if cut * sites > _MOST_WORK:
        raise StateSpaceTooLargeError(
            f"the distribution needs {cut:,} points at {sites:,} sites, more than "
            f"{_MOST_WORK:,} evaluations; simulate instead, or choose a larger ell"
        )
    circle = Circle(points)
    values, radii = np.empty(cut + 1, dtype=np.complex128), np.empty(cut + 1)
    values[0], radii[0] = to_float(problem.reached), _UNIT
    chunk = max(1, _CHUNK // sites)
    with progress("inverting the generating function", total=cut) as bar, checked():
        for begin in range(1, cut + 1, chunk):
            j = np.arange(begin, min(begin + chunk, cut + 1))
            found = problem.at(circle, j)
            values[j], radii[j] = found.mid, found.rad
            bar.advance(len(j))
    law = Inversion(
        expectation=moments[0],
        variance=moments[1],
        finite_mean=mean,
        never=never,
        error=0.0,
        horizon=points - 1,
        points=points,
        values=values,
        radii=radii,
        source=PointLaw(problem.evaluate, sites, problem.least) if undecided == 0 else None,
    )
    error = (aliasing + truncation + law.rounding + undecided) * (1 + 8 * _UNIT)
    return replace(law, error=float(error))


def _points(problem: AnyProblem, mean: float) -> tuple[int, float]:
    """Choose N so that P(N <= T < infinity) is small, by Markov's inequality on (T choose k)."""
    unit = max(mean, 1.0)
    scaled = problem.evaluate(Evaluation(exact=False, order=_TAIL_MOMENTS, unit=unit))
    points = 64
    while points < 2**60:
        bound = _tail_bound(scaled, unit, points)
        if bound < _ALIASING:
            return points, bound
        points = points * 5 // 4
    raise SolverError("no bound on the tail of the runtime was found; please report this instance")


def _tail_bound(scaled: Sequence[Any], unit: float, points: int) -> float:
    """Bound P(points <= T < infinity), given E[(T choose k)] / unit^k for k = 0, 1, ..

    The moments are floats and err by less than the slack; what is done with them is done in balls.
    """
    bound = 1.0
    choose = arb(1)  # (N choose k) / unit^k
    for k in range(1, min(len(scaled) - 1, points) + 1):
        choose = choose * (points - k + 1) / (k * arb(unit))
        found = (arb(float(scaled[k])) + arb(_UNDERFLOW)) * arb(_SLACK) / choose
        if found.is_finite():
            bound = min(bound, nextafter(float(found.upper()), inf))
    return bound


def _truncation(problem: AnyProblem, points: int) -> tuple[int, float]:
    """Return the last j that is used, and the bound of what all others contribute."""
    half, circle = points // 2, Circle(points)
    low, high = 0, half  # B at high is small enough, or high is the last point
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        bound = problem.at(circle, np.array([middle]), majorant=True).upper
        if float(bound[0]) <= _TRUNCATION:
            high = middle
        else:
            low = middle
    if high == half:
        return half, 0.0
    theta_c = 2 * np.pi * high / points
    # At most N points, each of weight at most 2 / (N * 2 sin(theta/2)) <= pi / (N theta_c).
    return high, _TRUNCATION * np.pi / theta_c * _SLACK
