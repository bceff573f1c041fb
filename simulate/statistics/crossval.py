"""Exact results against simulated ones, with one error level for the whole family of tests.

Three legs that share as little as possible: the exact engine, the compiled kernels (both read the
law table), and the paper's algorithm on bit strings (which does not). Per experiment, that is
an instance (n, l) at one point of (H):

- the simulated means and variances of T and of its phases against the exact ones;
- where asked for, the whole law of T against the exact distribution;
- all runs end within a step limit that the exact moments make all but impossible to reach;
- the step kernel's choices against those on bit strings, on the same random numbers.

Where E[T] is infinite or not known exactly, on landscapes other than Jump, what is known is
compared.

`comparisons` has the tests. With m of them in all, each is made at the level `level` / m
(Bonferroni), so if everything is right, the probability that any test of the family fails is at
most `level`, whether the tests depend on each other or not (up to the errors of the approximations
that `comparisons` states). A run that does not end, or an engine that finds no finite mean, is a
failure like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isqrt

from flint import fmpq

from markov_lrsao.answers.expected import check_hypothesis, runtime
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.chains.solvers import Field
from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    ParameterError,
    Refused,
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    VerificationError,
    attempt,
)
from markov_lrsao.exact.quantity import Approximate, Exact, Trap
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
from simulate.statistics.agreement import Agreement, Experiment
from simulate.statistics.comparisons import (
    Comparison,
    all_end,
    enclosed_means,
    goodness_of_fit,
    moments,
    step_limit,
    stuck_runs,
    two_kernels,
)
from simulate.statistics.literal import bit_strings

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
_STUCK_LIMIT = 20  # times n^2 steps: most runs that can end do
_TWO_KERNELS_LIMIT, _STEP_RUNS = 100, 2000  # of comparisons without exact values
_NO_ANSWER = (
    CrossingError,
    NotAbsorbingError,
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    VerificationError,
)

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

    Where the engine encloses E[T], the simulated mean is compared with the enclosure; where runs
    get stuck, the share of those that do with its probability. Where it has no answer on another
    landscape than Jump, the two kernels are compared with each other, and the experiment says so.

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
    tests: list[Comparison] = []
    if algorithm.parameters is not None:
        literal = objectives_on(landscape) if own else None
        tests.append(bit_strings(law, algorithm.parameters, play.seed, play.path, literal))
    about = Experiment(landscape.n, landscape.ell, name, play.runs, play.seed, tuple(tests))
    if tests and not tests[0].p_value:
        return about
    found = _answer(landscape, algorithm)
    match found:
        case RuntimeResult() if _has_moments(found):
            return _with_moments(about, law, found, play, level, distributions)
        case _ if not own and name != _GIVEN:
            return about.and_then([Comparison("E[T] is a number", "engine", None, None, 0.0, 0.0)])
        case RuntimeResult(trap=Trap() as trap):
            samples = _simulated(law, play, _STUCK_LIMIT * landscape.n**2)
            return about.and_then(stuck_runs(trap, samples), samples, found.method)
        case RuntimeResult() if found.total.upper is not None and not found.total.infinite:
            samples = _simulated(law, play, default_limit(landscape.n))
            return about.and_then(enclosed_means(found, samples), samples, found.method)
    return _without_answer(about, law, found, play)


def _with_moments(
    about: Experiment,
    law: StepLaw,
    exact: RuntimeResult,
    play: _Play,
    level: float,
    distributions: bool,
) -> Experiment:
    """Compare with exact moments, and with the exact law where that is known, too."""
    samples = _simulated(law, play, step_limit(exact, play.runs, level))
    tests, omitted = [all_end(samples, level)], ""
    if not samples.censored.any():
        tests += moments(exact, samples)
        if distributions:
            way = partial(goodness_of_fit, law.landscape, law.algorithm, samples)
            match attempt(way, _NO_ANSWER):
                case Refused(reason):
                    omitted = f"law of T: {_in_short(reason)}"
                case Comparison() as fit:
                    tests.append(fit)
    method = exact.method if exact.exact else f"{exact.method}, float"
    return about.and_then(tests, samples, method, omitted)


def _without_answer(
    about: Experiment, law: StepLaw, found: RuntimeResult | Refused, play: _Play
) -> Experiment:
    """Compare the two kernels with each other: nothing is known that runs could be held against.

    The step kernel's choices are those on bit strings.
    """
    limit = _TWO_KERNELS_LIMIT * law.n**2
    fast = _simulated(law, replace(play, kernel="event"), limit)
    few = replace(play, kernel="step", runs=min(play.runs, _STEP_RUNS), path=(*play.path, 1))
    reason = _in_short(found.reason) if isinstance(found, Refused) else "no finite bounds"
    return about.and_then(
        two_kernels(fast, _simulated(law, few, limit)), fast, "", f"E[T]: {reason}"
    )


def _in_short(reason: Exception) -> str:
    """Return a reason without its advice, which is for other commands."""
    return str(reason).partition("; ")[0]


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


def _answer(landscape: Landscape, algorithm: Algorithm) -> RuntimeResult | Refused:
    """Return the engine's answer: with four moments, or with two where it has no more."""
    field: Field = "exact" if landscape.n <= _LARGEST_RATIONAL else "float"
    found = attempt(partial(runtime, landscape, algorithm, moments=4, field=field), _NO_ANSWER)
    if isinstance(found, Refused) and isinstance(found.reason, CrossingError | SolverError):
        return attempt(partial(runtime, landscape, algorithm), _NO_ANSWER)
    return found


def _has_moments(found: RuntimeResult) -> bool:
    """Whether four moments are known, exactly or in floats."""
    quantities = (found.total, found.variance, *found.phases, *found.phase_variances)
    higher = (found.higher, *found.phase_higher)
    return all(isinstance(q, Exact | Approximate) for q in quantities) and all(
        len(each) == 2 for each in higher
    )
