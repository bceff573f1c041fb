"""Named algorithms: exact moments and laws against simulated runs, and against bit strings.

Per case, that is an algorithm on a landscape with a start and an end:

- simulated means and variances against the exact ones, and all runs end within a step limit that
  the exact moments make all but impossible to reach;
- where it is affordable, the whole law of T against the exact one;
- runs on bit strings, played as the definitions read (`simulate.runs.strings`), against the
  exact mean: fewer of them, but they share no law with the engine.

Agents that learn are compared as `crossval` does it, or, where E[T] is enclosed only, with the
enclosure. The family of all tests has one error level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from markov_lrsao.answers.expected import runtime
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.answers.searches import Start, positions_at_least, search_law, start_law
from markov_lrsao.errors import LrsaoError, ParameterError
from markov_lrsao.exact.rationals import RationalLike
from markov_lrsao.memoryless.tails import cumulated
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes, shape_named
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Progress, no_progress
from simulate.runs.runner import check_runs, default_limit, kernel_of, simulate
from simulate.runs.samples import Samples
from simulate.runs.streams import stream_key
from simulate.runs.strings import play_on_bit_strings
from simulate.statistics.comparisons import (
    Comparison,
    all_end,
    binned,
    enclosed_means,
    mean_test,
    moments,
    step_limit,
)
from simulate.statistics.crossval import Agreement, Experiment, check_family

__all__ = ["STANDARD", "Case", "cross_validate_named"]

_STRING_STEPS, _MOST_STRINGS, _FEWEST_STRINGS = 60_000, 1000, 40
_LAW_WORK = 100_000_000
"""Products of a transition and a step for a law of T: a second or two."""


@dataclass(frozen=True)
class Case:
    """An algorithm on a landscape, both by name."""

    landscape: str
    n: int
    algorithm: str
    start: Start | None = None
    at_least: RationalLike | None = None
    ell: int | None = None
    helpers: tuple[str, ...] = ()
    outside_h: bool = False

    @property
    def name(self) -> str:
        """The case in words."""
        return f"{self.algorithm} on {self.landscape}" + (
            f" from {self.start}" if self.start not in (None, "zero") else ""
        )


STANDARD: tuple[Case, ...] = (
    Case("onemax", 20, "rls", "random"),
    Case("cliff:d=3", 12, "rls-k:k=2", 4, at_least=8),
    Case("onemax", 30, "rls-k:k=optimal", "random"),
    Case("onemax", 30, "rls-k:k=drift", "random"),
    Case("jump-m:m=2", 12, "ea:rate=1/n", "random"),
    Case("onemax", 20, "ea:rate=baeck", "random"),
    Case("onemax", 15, "ea:beta=3/2", "random"),
    Case("onemax", 20, "ea-positive:rate=1/4"),
    Case("cliff:d=3", 12, "metropolis:base=5"),
    Case("cliff:m=5,d=2", 14, "metropolis:base=3,rate=1/n", "random"),
    Case("cliff:d=2", 10, "mahh:p=1/10", "random"),
    Case("jump-m:m=2", 10, "mmahh:p=1/10,q=1/2", "random"),
    Case("jump-m:m=2", 8, "mmahh:p=1/10,q=1/2,accept=worsening,order=switch-first"),
    Case("xdivk:k=3", 12, "random", helpers=("onemax",)),
    Case("leadingones", 20, "gradient:portfolio=1+2,tau=5"),
    Case("leadingones", 20, "portfolio:k=1+2+3"),
    Case("leadingones", 20, "portfolio:k=1+2+3,choice=random"),
    Case("onemax", 9, "earl:variant=greedy", helpers=("zeromax",)),
    Case("xdivk:k=3", 9, "earl:variant=mistakes", helpers=("onemax",)),
    Case("jump", 9, "lrsao", ell=2),
    Case("onemax", 4, "earl:variant=greedy,epsilon=1/10", helpers=("zeromax",)),
)
"""One case or more for every named algorithm."""


def cross_validate_named(
    cases: Sequence[Case] = STANDARD,
    *,
    runs: int = 20_000,
    seed: int = 1,
    level: float = 0.001,
    distributions: bool = True,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Agreement:
    """Compare exact with simulated runtimes, case by case.

    Parameters
    ----------
    runs : per case
    seed : every case has its own streams, keyed by the seed and its place in the list
    level : probability that any test of the family fails although all is right
    distributions : also compare the laws of T

    Raises
    ------
    ParameterError
        There is nothing to compare: E[T] of a case is infinite or not known.
    """
    check_family(cases, level, seed)
    check_runs(runs)
    done = []
    with progress("cross-validating", total=len(cases)) as bar:
        for number, case in enumerate(cases):
            play = _Play(runs, seed, number, level, distributions, threads)
            done.append(_compared(case, play))
            bar.advance()
    return Agreement(level=level, experiments=tuple(done))


@dataclass(frozen=True)
class _Play:
    """How a case is simulated."""

    runs: int
    seed: int
    number: int
    level: float
    distributions: bool
    threads: int | None

    def simulated(self, case: Case, shape: Landscape | LeadingOnes, limit: int) -> Samples:
        algorithm = NamedAlgorithm.of(case.algorithm).on(shape)
        return simulate(
            shape,
            algorithm,
            kernel=kernel_of(shape, algorithm),
            runs=self.runs,
            seed=self.seed,
            path=(self.number,),
            limit=limit,
            start=case.start,
            at_least=case.at_least,
            threads=self.threads,
        )


def _compared(case: Case, play: _Play) -> Experiment:
    """Make all tests of one case."""
    shape = shape_named(case.landscape, case.n, case.ell, case.helpers)
    algorithm = NamedAlgorithm.of(case.algorithm).on(shape)
    exact = _known(case, shape, algorithm)
    finite = all(q.upper is not None for q in (exact.total, exact.variance))
    if exact.kind in ("exact", "float") and finite:
        limit = step_limit(exact, play.runs, play.level)
        samples = play.simulated(case, shape, limit)
        tests = [all_end(samples, play.level)]
        if not samples.censored.any():
            tests += moments(exact, samples)
            if isinstance(algorithm, Search):
                tests += _of_searches(case, play, shape, algorithm, exact, samples)
    else:
        limit = default_limit(shape.n)
        samples = play.simulated(case, shape, limit)
        tests = enclosed_means(exact, samples)
    return Experiment(
        shape.n, shape.ell, case.name, play.runs, play.seed, tuple(tests), limit, exact.method,
        int(samples.decisions.sum()),
    )  # fmt: skip


def _known(
    case: Case, shape: Landscape | LeadingOnes, algorithm: Algorithm | Search
) -> RuntimeResult:
    """Return four moments; two, enclosed, where there are no others."""
    moments_wanted, field = (4, "float") if isinstance(algorithm, Search) else (4, "exact")
    found: RuntimeResult | None = None
    problem: LrsaoError | None = None
    for wanted in (moments_wanted, 2):
        try:
            found = runtime(
                shape,
                algorithm,
                moments=wanted,
                field=field,  # type: ignore[arg-type]
                start=case.start,
                at_least=case.at_least,
                outside_h=case.outside_h,
            )
            break
        except LrsaoError as error:
            problem = error
    if found is None or found.total.infinite:
        reason = "infinite" if found is not None else f"not known ({problem})"
        raise ParameterError(
            f"{case.name}, n = {case.n}: E[T] is {reason}, and there is nothing to compare; choose "
            f"another landscape, start or algorithm"
        ) from problem
    return found


def _of_searches(
    case: Case,
    play: _Play,
    shape: Landscape | LeadingOnes,
    search: Search,
    exact: RuntimeResult,
    samples: Samples,
) -> list[Comparison]:
    """Compare the law of T, and runs on bit strings."""
    tests = []
    mean, variance = float(exact.total), float(exact.variance)
    law = search_law(shape, search)
    horizon = int(mean + 12 * variance**0.5) + 2
    if play.distributions and horizon * (law.n + 1) * law.modes <= _LAW_WORK and variance > 0:
        begin, target = start_law(law, case.start), positions_at_least(law, case.at_least)
        reached, _ = cumulated(law, begin, target, horizon)
        tests.append(binned(reached, samples))
    count = min(_MOST_STRINGS, int(_STRING_STEPS / (mean + 1)))
    if count >= _FEWEST_STRINGS:
        key = stream_key(play.seed, play.number)
        times = play_on_bit_strings(
            shape, search, seed=int(key[0]), runs=count, start=case.start, at_least=case.at_least
        )
        third = float(exact.higher[0])
        found = mean_test("T on bit strings", np.array(times), mean, variance, third)
        tests.append(found)
    return tests
