"""Exact results against simulated ones, with one error level for the whole family of tests.

Per cell (n, l) the simulated means of T and of its phases are compared with the exact
expectations by z = (mean - E[T]) / sqrt(Var[T] / runs), with the exact variance, and where the
exact distribution is asked for, the whole law of T by Pearson's chi-square on bins of nearly
equal exact probability. With m tests in all, each is made at the level `level` / m (Bonferroni),
so if everything is right, the probability that any test of the family fails is at most `level`,
whether the tests depend on each other or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from markov_lrsao.algorithm import Algorithm
from markov_lrsao.errors import ParameterError
from markov_lrsao.landscape import Landscape
from markov_lrsao.law import StepLaw
from markov_lrsao.parameters import Parameters
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.results import RuntimeResult
from markov_lrsao.runtime import runtime
from simulate.runner import simulate
from simulate.samples import Arithmetic, Kernel, Samples

__all__ = ["Agreement", "Cell", "Comparison", "cross_validate", "goodness_of_fit", "grid"]

_MOST_BINS = 40
_LEAST_EXPECTED = 20.0
_LARGEST_RATIONAL = 100  # beyond it the engine's float solution is far closer than any simulation


@dataclass(frozen=True)
class Comparison:
    """One test: which quantity, its statistic (z, or chi-square) and its p-value.

    `exact` and `simulated` are the two means; a test of the whole law has none.
    """

    quantity: str
    test: str
    exact: float | None
    simulated: float | None
    statistic: float
    p_value: float


@dataclass(frozen=True)
class Cell:
    """One (n, l): how it was simulated and what came out."""

    n: int
    ell: int
    runs: int
    seed: int
    method: str
    decisions: int
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """All cells, and what the family of tests says.

    Attributes
    ----------
    level : family-wise error level
    threshold : p-value below which a single test fails, level / number of tests
    largest_z : the same as a bound on |z|
    """

    level: float
    cells: tuple[Cell, ...]

    @property
    def tests(self) -> int:
        """Number of tests."""
        return sum(len(cell.comparisons) for cell in self.cells)

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
    def failures(self) -> tuple[tuple[Cell, Comparison], ...]:
        """The tests that fail, with their cells."""
        return tuple((cell, c) for cell in self.cells for c in cell.comparisons
                     if not c.p_value >= self.threshold)

    @property
    def agrees(self) -> bool:
        """Whether no test fails."""
        return not self.failures

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "agrees": self.agrees, "family_wise_level": self.level, "tests": self.tests,
            "p_threshold": self.threshold, "z_threshold": self.largest_z,
            "failures": [{"n": cell.n, "ell": cell.ell, "quantity": c.quantity,
                          "p_value": c.p_value} for cell, c in self.failures],
            "cells": [
                {"n": cell.n, "ell": cell.ell, "runs": cell.runs, "seed": cell.seed,
                 "exact_method": cell.method, "exact_decisions": cell.decisions,
                 "tests": [vars(c) for c in cell.comparisons]}
                for cell in self.cells
            ],
        }


def grid(n_max: int, n_min: int = 9) -> list[tuple[int, int]]:
    """Return every (n, l) with n_min <= n <= n_max that Jump admits.

    >>> grid(11)
    [(9, 2), (10, 2), (11, 2), (11, 3)]
    """
    from markov_lrsao.landscape import JUMP

    cells = []
    for n in range(max(1, n_min), n_max + 1):
        allowed = JUMP.ell_range(n)
        if allowed is not None:
            cells += [(n, ell) for ell in range(allowed[0], allowed[1] + 1)]
    return cells


def _paper(n: int) -> Algorithm:
    return Algorithm.lrsao(Parameters.paper(n))


def cross_validate(
    cells: Sequence[tuple[int, int]],
    *,
    runs: int | Callable[[int, int], int] = 100_000,
    seed: int = 1,
    level: float = 0.001,
    distributions: bool = True,
    algorithm: Callable[[int], Algorithm] = _paper,
    kernel: Kernel = "event",
    arithmetic: Arithmetic = "exact",
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Agreement:
    """Compare exact with simulated runtimes of LRSAO on Jump, cell by cell.

    Parameters
    ----------
    runs : per cell, or a function of (n, l)
    seed : every cell has its own streams, keyed by the seed and (n, l)
    level : probability that any test of the family fails although all is right
    distributions : also compare the laws of T, not just the means
    algorithm : n -> algorithm
    """
    if not cells:
        raise ParameterError("there is no cell to compare: the smallest instance is n = 9, ell = 2")
    if not 0 < level < 1:
        raise ParameterError(f"level = {level} is out of range: 0 < level < 1 is needed")
    done = []
    with progress("cross-validating", total=len(cells)) as bar:
        for n, ell in cells:
            landscape, rules = Landscape.jump(n, ell), algorithm(n)
            samples = simulate(
                StepLaw.of(landscape, rules), runs=runs if isinstance(runs, int) else runs(n, ell),
                seed=seed, kernel=kernel, arithmetic=arithmetic, threads=threads, path=(n, ell))
            exact = runtime(landscape, rules, field="exact" if n <= _LARGEST_RATIONAL else "float")
            tests = _means(exact, samples)
            if distributions:
                tests.append(goodness_of_fit(landscape, rules, samples))
            method = exact.method if exact.exact else f"{exact.method}, float"
            done.append(Cell(n, ell, samples.runs, seed, method, int(samples.decisions.sum()),
                             tuple(tests)))
            bar.advance()
    return Agreement(level=level, cells=tuple(done))


def _means(exact: RuntimeResult, samples: Samples) -> list[Comparison]:
    """Compare the means of T and its phases."""
    from scipy.stats import norm

    columns = [("T", exact.total, exact.variance, samples.times)]
    if len(exact.phases) > 1:
        columns += [
            (f"T{k + 1}", mean, variance, samples.phase_times[:, k])
            for k, (mean, variance) in enumerate(
                zip(exact.phases, exact.phase_variances, strict=True))
        ]
    tests = []
    for name, mean, variance, values in columns:
        simulated = float(values.mean())
        z = (simulated - float(mean)) / math.sqrt(float(variance) / len(values))
        tests.append(Comparison(name, "z", float(mean), simulated, z, float(2 * norm.sf(abs(z)))))
    return tests


def goodness_of_fit(landscape: Landscape, algorithm: Algorithm, samples: Samples) -> Comparison:
    """Compare the law of T by chi-square on bins of nearly equal exact probability."""
    from scipy.stats import chi2

    from markov_lrsao.distribution import distribution

    law = distribution(landscape, algorithm)
    bins = int(min(_MOST_BINS, samples.runs / _LEAST_EXPECTED))
    if bins < 2:
        raise ParameterError(
            f"runs = {samples.runs} are too few for a distribution test: take at least "
            f"{2 * _LEAST_EXPECTED:.0f}")
    edges = np.unique([law.quantile(k / bins) for k in range(1, bins)])
    cumulative = np.concatenate([[0.0], np.asarray(law.cdf(edges), dtype=float), [1.0]])
    expected = np.diff(cumulative) * samples.runs
    place = np.searchsorted(edges, samples.times, side="left")
    observed = np.bincount(place, minlength=len(expected)).astype(float)
    expected, observed = _pool(expected, observed)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    freedom = len(expected) - 1
    return Comparison("law of T", f"chi-square({freedom})", None, None, statistic,
                      float(chi2.sf(statistic, freedom)))


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
