"""Exact results against simulated ones, with one error level for the whole family of tests.

Three legs that share as little as possible: the exact engine, the compiled kernels (both read the
law table), and the paper's algorithm on bit strings (which does not). Per experiment, that is
an instance (n, l) at one point of (H):

- the simulated means and variances of T and of its phases against the exact ones;
- where asked for, the whole law of T against the exact distribution;
- all runs end within a step limit that the exact moments make all but impossible to reach;
- the step kernel's choices against those on bit strings, on the same random numbers.

`comparisons` has the tests. With m of them in all, each is made at the level `level` / m
(Bonferroni), so if everything is right, the probability that any test of the family fails is at
most `level`, whether the tests depend on each other or not (up to the errors of the approximations
that `comparisons` states). A run that does not end, or an engine that finds no finite mean, is a
failure like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

from flint import fmpq

from markov_lrsao.answers.expected import check_hypothesis, runtime
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.errors import (
    NotAbsorbingError,
    ParameterError,
    SolverError,
    UndecidedComparisonError,
    VerificationError,
)
from markov_lrsao.exact.quantity import Approximate, Exact
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.catalogue import Entry
from markov_lrsao.model.landscape import JUMP, Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from markov_lrsao.progress import Progress, no_progress
from simulate.runs.reference import objectives_on
from simulate.runs.runner import check_runs, default_limit, simulate
from simulate.runs.samples import Arithmetic, Kernel, Samples
from simulate.runs.streams import stream_key
from simulate.statistics.comparisons import (
    Comparison,
    all_end,
    bit_strings,
    enclosed_means,
    goodness_of_fit,
    moments,
    step_limit,
)

__all__ = [
    "POINTS",
    "Agreement",
    "Comparison",
    "Experiment",
    "check_family",
    "cross_validate",
    "goodness_of_fit",
    "grid",
    "point",
]

_LARGEST_RATIONAL = 100  # beyond it the engine's float solution is far closer than any simulation

_GIVEN = "given"
POINTS = ("paper", "flat", "eager")
"""Points of (H): the paper's; a small alpha with a tiny gamma and a high r, where rows meet other
patterns; and alpha near 1 with a large gamma, where the bootstrap decides choices that it leaves
alone elsewhere."""


def point(name: str, n: int, ell: int, landscape: Landscape | None = None) -> Parameters:
    """Return hyper-parameters inside (H), by default of Jump.

    >>> point("eager", 9, 2)
    Parameters(alpha=59/60, gamma=1/5, r=1449/295)
    """
    if name == "paper":
        return Parameters.paper(n)
    landscape = Landscape.jump(n, ell) if landscape is None else landscape
    root = isqrt(int(landscape.largest_gain)) + 1  # (H) is satisfiable if gamma < 1 / root, nearly
    alpha, gamma, share = {
        "flat": (fmpq(1, 3), fmpq(1, 5 * n * n), fmpq(9, 10)),
        "eager": (1 - fmpq(1, 20 * root), fmpq(3, 5 * root), fmpq(19, 20)),
    }[name]
    interval = hypothesis_h(landscape, Parameters(alpha, gamma, fmpq(0)))
    return Parameters(alpha, gamma, interval.lower + share * (interval.upper - interval.lower))


@dataclass(frozen=True)
class Experiment:
    """One (n, l) at one point of (H): how it was simulated and what came out."""

    n: int
    ell: int
    point: str
    runs: int
    seed: int
    limit: int | None
    method: str
    decisions: int
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """All experiments, and what the family of tests says.

    Attributes
    ----------
    level : family-wise error level
    threshold : p-value below which a single test fails, level / number of tests
    largest_z : the same as a bound on |z|
    """

    level: float
    experiments: tuple[Experiment, ...]

    @property
    def tests(self) -> int:
        """Number of tests."""
        return sum(len(experiment.comparisons) for experiment in self.experiments)

    @property
    def threshold(self) -> float:
        """Level of one test."""
        return self.level / self.tests

    @property
    def largest_z(self) -> float:
        """Largest |z| that passes."""
        from scipy.stats import norm

        return float(norm.isf(self.threshold / 2))

    @property
    def failures(self) -> tuple[tuple[Experiment, Comparison], ...]:
        """The tests that fail, with their experiments."""
        return tuple(
            (experiment, c)
            for experiment in self.experiments
            for c in experiment.comparisons
            if not c.p_value >= self.threshold
        )

    @property
    def agrees(self) -> bool:
        """Whether no test fails."""
        return not self.failures

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "agrees": self.agrees,
            "family_wise_level": self.level,
            "tests": self.tests,
            "p_threshold": self.threshold,
            "z_threshold": self.largest_z,
            "failures": [
                {
                    "n": experiment.n,
                    "ell": experiment.ell,
                    "point": experiment.point,
                    "quantity": c.quantity,
                    "p_value": c.p_value,
                }
                for experiment, c in self.failures
            ],
            "experiments": [
                {
                    "n": experiment.n,
                    "ell": experiment.ell,
                    "point": experiment.point,
                    "runs": experiment.runs,
                    "seed": experiment.seed,
                    "limit": experiment.limit,
                    "exact_method": experiment.method,
                    "exact_decisions": experiment.decisions,
                    "tests": [c.to_dict() for c in experiment.comparisons],
                }
                for experiment in self.experiments
            ],
        }


def grid(n_max: int, n_min: int = 9, named: Entry | None = None) -> list[tuple[int, int]]:
    """Return every (n, l) with n_min <= n <= n_max that a landscape, by default Jump, admits.

    >>> grid(11)
    [(9, 2), (10, 2), (11, 2), (11, 3)]
    """
    if named is not None and named.fixed is not None:
        return [(named.fixed.n, named.fixed.ell)]
    experiments = []
    for n in range(max(1, n_min), n_max + 1):
        family = JUMP if named is None else named.family(n)
        gap = None if named is None else named.gap(n)
        allowed = family.ell_range(n) if gap is None else (gap, gap)
        if allowed is not None and not family.lacking(family.constraints, n, allowed[0]):
            experiments += [(n, ell) for ell in range(allowed[0], allowed[1] + 1)]
    return experiments


Algorithms = Callable[[Landscape], Algorithm]
"""Landscape -> algorithm."""


def _standard(names: Sequence[str]) -> dict[str, Algorithms]:
    def at(name: str) -> Algorithms:
        return lambda shape: Algorithm.lrsao(point(name, shape.n, shape.ell, shape))

    return {name: at(name) for name in names}


def cross_validate(
    experiments: Sequence[tuple[int, int]],
    *,
    runs: int | Callable[[int, int], int] = 100_000,
    seed: int = 1,
    level: float = 0.001,
    distributions: bool = True,
    points: Sequence[str] = POINTS,
    algorithm: Callable[[int], Algorithm] | None = None,
    landscape: Callable[[int, int], Landscape] | None = None,
    kernel: Kernel = "event",
    arithmetic: Arithmetic = "exact",
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Agreement:
    """Compare exact with simulated runtimes, experiment by experiment: of LRSAO on Jump, or others.

    Where the engine encloses E[T], the simulated mean is compared with the enclosure.

    Parameters
    ----------
    runs : per experiment, or a function of (n, l)
    seed : every experiment has its own streams, keyed by the seed, (n, l) and the point
    level : probability that any test of the family fails although all is right
    distributions : also compare the laws of T, not just moments
    points : names of points of (H), see `POINTS`
    algorithm : n -> algorithm; one point of the caller's instead
    landscape : (n, l) -> landscape; default Jump, held against the paper's formulas, too
    """
    check_family(experiments, level, seed)
    algorithms = _standard(points) if algorithm is None else {_GIVEN: lambda x: algorithm(x.n)}
    done = []
    with progress("cross-validating", total=len(experiments) * len(algorithms)) as bar:
        for n, ell in experiments:
            count = runs if isinstance(runs, int) else runs(n, ell)
            check_runs(count)
            for number, (name, build) in enumerate(algorithms.items()):
                play = _Play(count, seed, (n, ell, number), kernel, arithmetic, threads)
                shape = Landscape.jump(n, ell) if landscape is None else landscape(n, ell)
                own = landscape is not None and shape.family is not JUMP
                done.append(_compare(shape, build(shape), name, play, level, distributions, own))
                bar.advance()
    return Agreement(level=level, experiments=tuple(done))


def check_family(experiments: Sequence[object], level: float, seed: int) -> None:
    """Refuse a family of tests that is empty, or has no error level."""
    if not experiments:
        raise ParameterError(
            "there is nothing to compare: no n of the range admits the landscape (the smallest "
            "instance of Jump is n = 9, ell = 2)"
        )
    if not 0 < level < 1:
        raise ParameterError(f"level = {level} is out of range: 0 < level < 1 is needed")
    stream_key(seed)


@dataclass(frozen=True)
class _Play:
    """How an experiment is simulated."""

    runs: int
    seed: int
    path: tuple[int, ...]
    kernel: Kernel
    arithmetic: Arithmetic
    threads: int | None


def _compare(
    landscape: Landscape,
    algorithm: Algorithm,
    name: str,
    play: _Play,
    level: float,
    distributions: bool,
    own: bool = False,
) -> Experiment:
    """Make all tests of one experiment, until one of them makes the others pointless.

    The exact values come before the simulation, since they give its limit. On a landscape of the
    caller's `own` they may be enclosures, and objectives on bit strings are its values.
    """
    check_hypothesis(landscape, algorithm)
    law = StepLaw.of(landscape, algorithm)

    def experiment(
        tests: list[Comparison], limit: int | None = None, decisions: int = 0, method: str = ""
    ) -> Experiment:
        return Experiment(
            landscape.n,
            landscape.ell,
            name,
            play.runs,
            play.seed,
            limit,
            method,
            decisions,
            tuple(tests),
        )

    tests: list[Comparison] = []
    if algorithm.parameters is not None:
        literal = objectives_on(landscape) if own else None
        tests.append(bit_strings(law, algorithm.parameters, play.seed, play.path, literal))
        if not tests[0].p_value:
            return experiment(tests)
    exact = _exact(landscape, algorithm)
    if exact is None and own:
        found = _enclosed(landscape, algorithm)
        if found is not None:
            samples = _simulated(law, play, default_limit(landscape.n))
            tests += enclosed_means(found, samples)
            return experiment(tests, samples.limit, int(samples.decisions.sum()), found.method)
    if exact is None and (own or name == _GIVEN):
        raise ParameterError(
            f"on {landscape.name} at n = {landscape.n}, ell = {landscape.ell} and these "
            f"hyper-parameters E[T] is neither known exactly nor enclosed, which a comparison "
            f"needs: choose others"
        )
    if exact is None:
        return experiment([*tests, Comparison("E[T] is a number", "engine", None, None, 0.0, 0.0)])
    limit = step_limit(exact, play.runs, level)
    samples = _simulated(law, play, limit)
    tests.append(all_end(samples, level))
    if not samples.censored.any():
        tests += moments(exact, samples)
        if distributions:
            tests.append(goodness_of_fit(landscape, algorithm, samples))
    return experiment(
        tests,
        limit,
        int(samples.decisions.sum()),
        exact.method if exact.exact else f"{exact.method}, float",
    )


def _simulated(law: StepLaw, play: _Play, limit: int) -> Samples:
    return simulate(
        law,
        runs=play.runs,
        seed=play.seed,
        path=play.path,
        limit=limit,
        kernel=play.kernel,
        arithmetic=play.arithmetic,
        threads=play.threads,
    )


def _enclosed(landscape: Landscape, algorithm: Algorithm) -> RuntimeResult | None:
    """Return the engine's moments if those of T have two finite ends."""
    try:
        found = runtime(landscape, algorithm)
    except (NotAbsorbingError, UndecidedComparisonError, SolverError, VerificationError):
        return None
    ends = [q.upper for q in (found.total, found.variance) if not q.infinite]
    return found if len(ends) == 2 and None not in ends else None


def _exact(landscape: Landscape, algorithm: Algorithm) -> RuntimeResult | None:
    """Return the engine's four moments; None where it has no finite and exact ones.

    It must have them at the standard points; at a caller's it may be that nobody knows them.
    """
    try:
        exact = runtime(
            landscape,
            algorithm,
            moments=4,
            field="exact" if landscape.n <= _LARGEST_RATIONAL else "float",
        )
    except (NotAbsorbingError, UndecidedComparisonError, SolverError, VerificationError):
        return None
    quantities = (exact.total, exact.variance, *exact.phases, *exact.phase_variances)
    return exact if all(isinstance(q, Exact | Approximate) for q in quantities) else None
