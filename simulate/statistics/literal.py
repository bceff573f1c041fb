"""The law table and the step kernel against the algorithm on bit strings, choice by choice.

The paper's Algorithm 1 on bit strings, with the paper's objectives and without the law table, is
played on the random streams of the step kernel; every choice must be the same. So must every line
of the law table: a wrong reward need not change a choice. This is no statistics: a single
difference is a disproof, p-value 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from markov_lrsao.exact.rationals import fraction
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from simulate.runs.reference import (
    Moment,
    Objective,
    StreamChooser,
    bit_string_objectives,
    run_on_bit_strings,
)
from simulate.runs.runner import trace_run
from simulate.runs.streams import Stream, stream_key
from simulate.statistics.comparisons import Comparison, Values

__all__ = ["bit_strings"]

_REFERENCE_STEPS, _LONGEST_REFERENCE = 6000, 1500
_WHOLE_TABLE = 2000  # beyond this n a part of the law table is compared


def bit_strings(
    law: StepLaw,
    parameters: Parameters,
    seed: int,
    path: tuple[int, ...],
    objectives: Mapping[str, Objective] | None = None,
) -> Comparison:
    """Compare table and step kernel with the paper's algorithm on bit strings.

    The objectives are Jump's as the paper defines them, unless others are given.

    Runs 0, 1, .. are compared from their start, up to so many steps each and in all; the
    reference computes in fractions that grow with every step.
    """
    landscape = law.landscape
    same = _same_table(law, parameters, objectives)
    left, run, differences = _REFERENCE_STEPS, 0, int(not same)
    while left > 0 and not differences:
        limit = min(left, _LONGEST_REFERENCE)
        chooser = StreamChooser(Stream(stream_key(seed, *path), run))
        literal = list(
            run_on_bit_strings(
                landscape.n,
                landscape.ell,
                parameters,
                chooser,
                limit=limit,
                objectives=objectives,
                target=landscape.target,
            )
        )
        # One step more than a run that ended: a kernel that goes on is seen, and not followed.
        most = min(limit, len(literal) + 1)
        trace = trace_run(law, seed=seed, run=run, kernel="step", limit=most, path=path)
        differences += not _same_choices(law.actions, literal, trace)
        left -= len(literal)
        run += 1
    return Comparison(
        "bit strings",
        f"{run} runs",
        0.0,
        float(differences),
        float(differences),
        0.0 if differences else 1.0,
    )


def _looked_at(landscape: Landscape) -> list[int]:
    """Return all positions; at large n some, and all where the phases meet."""
    n = landscape.n
    if n <= _WHOLE_TABLE:
        return list(range(n + 1))
    near = {place + d for place in (0, *landscape.milestones) for d in range(-3, 4)}
    return sorted(p for p in near | set(range(0, n + 1, n // 100)) if 0 <= p <= n)


def _same_table(
    law: StepLaw, parameters: Parameters, objectives: Mapping[str, Objective] | None = None
) -> bool:
    """Whether moves are accepted and rewarded, and rows told apart, as on bit strings."""
    n = law.n
    if objectives is None:
        objectives = bit_string_objectives(n, law.landscape.ell)
    literal = objectives
    positions = _looked_at(law.landscape)

    @cache
    def value(name: str, p: int) -> int | Fraction:
        return literal[name]([1] * p + [0] * (n - p))

    if law.actions != tuple(objectives):
        return False
    penalty = fraction(parameters.r)
    for name in objectives:
        for p in positions:
            for direction, other in enumerate((p - 1, p + 1)):
                if not 0 <= other <= n:
                    continue
                gain = value(name, other) - value(name, p)
                reward = gain if gain > 0 else -penalty if gain == 0 else 0
                step = law.step(p, name, direction)
                if (step.accepted, fraction(step.reward)) != (gain >= 0, reward):
                    return False
    seen = {(value(law.landscape.target, p), int(law.row[p])) for p in positions}
    return len(seen) == len({value for value, _ in seen}) == len({row for _, row in seen})


def _same_choices(actions: tuple[str, ...], literal: list[Moment], trace: Values) -> bool:
    """Whether a kernel's trace has the positions, ties, actions and rejections of a run."""
    made = 0
    for t, p, mask, rejections, action, direction in trace.tolist():
        tied = tuple(name for k, name in enumerate(actions) if mask >> k & 1)
        steps = literal[t : t + rejections + (action >= 0)]
        if t != made or len(steps) != rejections + (action >= 0):
            return False
        if any((m.position, m.tied) != (p, tied) for m in steps):
            return False
        if any(m.accepted for m in steps[:rejections]):
            return False
        if action >= 0 and (steps[-1].action, steps[-1].direction) != (actions[action], direction):
            return False
        made += len(steps)
    return made == len(literal)
