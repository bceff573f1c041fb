"""Instances, moments and unmerged blocks that the tests of the refined walk share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from flint import fmpq

from markov_lrsao.crossing.blocks import Block, Exit
from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.crossing.generating import Evaluation, GeneratingFunction
from markov_lrsao.exact.rationals import rational, to_float
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from markov_lrsao.values import focus, tails
from markov_lrsao.values.choices import bound_moments
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.tails import Level, refined_decomposition

Number = str | int | fmpq

COARSE = Level(fmpq(64), 1, 0)
"""Tells next to nothing apart: many comparisons stay open."""
PLAIN = Level(fmpq(1), 1, 1)


@dataclass(frozen=True)
class Point:
    """Hyper-parameters in (H); r = lower + relative (upper - lower) of (H)'s interval."""

    n: int
    ell: int
    alpha: str
    gamma: str
    relative: str

    @property
    def law(self) -> StepLaw:
        alpha, gamma = rational(self.alpha), rational(self.gamma)
        landscape = Landscape.jump(self.n, self.ell)
        h = hypothesis_h(landscape, Parameters.of(alpha, gamma, 1))
        assert h.satisfiable
        return law_at(
            self.n, self.ell, alpha, gamma, h.lower + rational(self.relative) * (h.upper - h.lower)
        )

    def __str__(self) -> str:
        return f"n{self.n}-l{self.ell}-a{self.alpha}-g{self.gamma}-r{self.relative}".replace(
            "/", ":"
        )


def law_at(n: int, ell: int, alpha: Number, gamma: Number, r: Number) -> StepLaw:
    """Return the law of LRSAO on Jump; (H) must hold."""
    landscape, parameters = Landscape.jump(n, ell), Parameters.of(alpha, gamma, r)
    assert hypothesis_h(landscape, parameters).holds
    return StepLaw.of(landscape, Algorithm.lrsao(parameters))


def quantities(law: StepLaw) -> list[list[bool]]:
    """Return which phases count for T and for T_1, T_2, .."""
    count = len(law.landscape.milestones)
    return [[True] * count, *([k == i for k in range(count)] for i in range(count))]


def exact_moments(d: Decomposition, order: int = 2) -> list[tuple[fmpq, ...]]:
    """Return E[(T choose k)], k = 0..order, of T and of the phases of a decided decomposition."""
    assert d.tail is not None
    function = GeneratingFunction(d, Evaluation(exact=True, order=order))
    return [function(phases) for phases in quantities(d.law)]


def bounds(d: Decomposition, order: int = 2) -> list[tuple[tuple[fmpq, ...], tuple[fmpq, ...]]]:
    """Return bounds from below and above of what `exact_moments` returns; equal if decided."""
    if d.choices is None:
        return [(v, v) for v in exact_moments(d, order)]
    function = GeneratingFunction(d, Evaluation(exact=True, order=order))
    result = []
    for phases in quantities(d.law):
        tail = bound_moments(d.choices, phases.__getitem__, order)
        lower, upper = (
            function.combine(phases, {key: side[i] for key, i in d.tail_start.items()})
            for side in (tail.lower, tail.upper)
        )
        result.append((lower, upper))
    return result


def decided(d: Decomposition, tail: Block) -> Decomposition:
    """Return the decomposition in which the walk after the cut is the given one."""
    return replace(d, tail=tail, choices=None)


@dataclass(frozen=True)
class Unmerged:
    """A decomposition whose blocks are as they were explored."""

    decomposition: Decomposition
    tail: Refined
    bottom: Refined


def unmerged(law: StepLaw, level: Level) -> Unmerged:
    """Return the decomposition of a level, without merging states that behave alike."""
    seen: list[Refined] = []

    def keep(
        block: Refined, outcome: Callable[[Exit], Hashable], *, returns: int | None = None
    ) -> tuple[Refined, dict[int, int], dict[Exit, Exit]]:
        seen.append(block)
        exits = {
            t
            for options in block.options
            for edges in options
            for t, _ in edges
            if isinstance(t, Exit)
        }
        return block, {i: i for i in range(len(block.states))}, {x: x for x in exits}

    with patch.object(tails, "merge_alike", keep):
        d = refined_decomposition(law, level)
    tail, bottom = seen
    return Unmerged(d, tail, bottom)


def distance(law: StepLaw, lower: fmpq, upper: fmpq, *, runs: int, seed: int) -> float:
    """Return how many standard errors the mean of true-semantics runs is off an enclosure."""
    from simulate import simulate

    times = np.asarray(simulate(law, runs=runs, seed=seed, threads=1).times, dtype=np.float64)
    mean, error = float(times.mean()), float(times.std()) / len(times) ** 0.5
    return max(0.0, to_float(lower) - mean, mean - to_float(upper)) / float(error)


def focused_walks(law: StepLaw, count: int) -> list[Refined]:
    """Return the walks of the first rounds of `focused`, before they are merged."""
    seen: list[Refined] = []
    follow = tails.followed

    def kept(*arguments: Any, **keywords: Any) -> tails.Followed:
        found = follow(*arguments, **keywords)
        seen.append(found.tail)
        return found

    with patch.object(focus, "followed", kept):
        for _ in zip(range(count), focus.focused(tails.around_cut(law)), strict=False):
            pass
    return seen
