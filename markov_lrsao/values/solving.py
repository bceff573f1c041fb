"""Moments of runs whose values are followed from the start to the optimum.

The chain with values (`markov_lrsao.values.whole_run`) is solved as it is where it leaves nothing
open. Otherwise all ways of resolving what is open are bounded; and where a run can get stuck,
E[T] is infinite, while phases that every run completes keep their moments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.chains.hitting import expected_at_hitting, phase_moments
from markov_lrsao.chains.solvers import Field
from markov_lrsao.exact.moments import central_enclosures
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Infinite, Quantity, Trap
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values.answer import Answer
from markov_lrsao.values.choices import bound_moments, probability_of_choice, steps_before_choice
from markov_lrsao.values.enclosure import counted_phases
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.traps import Fate, fate
from markov_lrsao.values.whole_run import chain_with_values, describe_state

__all__ = ["Answer", "most_steps", "solve_levels", "solve_values"]


def solve_levels(levels: Iterable[Refined], field: Field, moments: int, tolerance: fmpq) -> Answer:
    """Solve finer and finer chains until one is decided or narrow; return the best of them."""
    best: Answer | None = None
    for block in levels:
        found = solve_values(block, field, moments)
        if best is None or found.relative_width < best.relative_width:
            best = found
        if found.undecided is None or found.relative_width <= tolerance:
            return found
    assert best is not None
    return best


def solve_values(block: Refined, field: Field, moments: int) -> Answer:
    """Return the moments of a block that is followed from the start to the optimum."""
    law = block.law
    outcome = fate(block)
    size = len(block.states)
    start = block.start[0]
    decided = not block.undecided
    met = None if decided else probability_of_choice(block, outcome.traps)[start]
    if outcome.stuck_from(block.start[0]) or (decided and outcome.traps):
        return _infinite(block, outcome, moments, met)
    if decided:
        chain, phase = chain_with_values(block)
        total = phase_moments(chain, None, phase == _count(law), moments, field=field)
        phases = (
            [total]
            if _count(law) == 1
            else [
                phase_moments(chain, phase >= k if k else None, phase > k, moments, field=field)
                for k in range(_count(law))
            ]
        )
        return Answer([_numbers(q) for q in (total, *phases)], block.method, chain.size)
    if outcome.traps or outcome.wanders:
        traps = set(outcome.traps)
        lower = [
            steps_before_choice(block, counted.__getitem__, traps)[start]
            for counted in counted_phases(law)
        ]
        values: list[list[Quantity]] = [
            [Enclosed(low, None), *[UNKNOWN] * (moments - 1)] for low in lower
        ]
        trap = _trap(block, outcome) if outcome.traps else None
        return Answer(values, block.method, size, undecided=met, trap=trap)
    values = [_enclosed(block, counted, moments) for counted in counted_phases(law)]
    return Answer(values, block.method, size, undecided=met)


def most_steps(block: Refined) -> fmpq | None:
    """Return a bound of E[steps left] from every table that is met; None: runs may get stuck.

    Every such table lies in a state of the block, or on a corridor that one leads into: from there
    fewer steps are left than from the state.
    """
    outcome = fate(block)
    if outcome.traps or outcome.wanders:
        return None
    found: fmpq = max(upper[1] for upper in bound_moments(block, lambda _: True, 1).upper)
    return found


def _count(law: StepLaw) -> int:
    return len(law.landscape.milestones)


def _numbers(values: Sequence[Any]) -> list[Quantity]:
    return [Quantity.of(v) for v in values]


def _enclosed(
    block: Refined, counted: Sequence[bool], moments: int, until: Collection[int] = ()
) -> list[Quantity]:
    """Enclose the moments of the counted phases, of runs that end at the given states."""
    bounds = bound_moments(block, counted.__getitem__, moments, until=until)
    start = block.start[0]
    lower = tuple(max(c, fmpq(0)) for c in bounds.lower[start])
    return central_enclosures(lower, bounds.upper[start])


def _enclosed_phase(block: Refined, outcome: Fate, k: int, moments: int) -> list[Quantity]:
    """Enclose the moments of phase k, which ends before any trap is closed."""
    counted = [j == k for j in range(_count(block.law))]
    if not outcome.wanders:
        over = {i for i, s in enumerate(block.states) if s.phase > k}
        return _enclosed(block, counted, moments, over)
    low = steps_before_choice(block, counted.__getitem__, set(outcome.traps))[block.start[0]]
    return [Enclosed(low, None), *[UNKNOWN] * (moments - 1)]


def _trap(block: Refined, outcome: Fate) -> Trap:
    assert outcome.entry is not None
    start = block.start[0]
    return Trap(describe_state(block, outcome.entry), outcome.lower[start], outcome.upper[start])


def _infinite(block: Refined, outcome: Fate, moments: int, met: fmpq | None) -> Answer:
    """E[T] is infinite; phases that every run completes keep their own moments."""
    law = block.law
    trap = _trap(block, outcome)
    # A phase that ends on the way into a trap is completed all the same.
    first_stuck = min(block.states[i].phase for i in outcome.ends)
    values: list[list[Quantity]] = [[Infinite()] * moments]
    decided = not block.undecided
    if decided:
        chain, phase = chain_with_values(block)
        inside = np.zeros(chain.size, dtype=np.bool_)
        inside[list(outcome.traps)] = True
        worth = [fmpq(1 if t else 0) for t in inside.tolist()]
        ends = inside | (chain.positions == law.optimum)
        probability = expected_at_hitting(chain, ends, worth)[int(chain.start[0])]
        trap = replace(trap, lower=probability, upper=probability)
    for k in range(_count(law)):
        if k >= first_stuck:
            values.append([Infinite()] * moments)
        elif decided:
            values.append(
                _numbers(phase_moments(chain, phase >= k if k else None, phase > k, moments))
            )
        else:
            values.append(_enclosed_phase(block, outcome, k, moments))
    return Answer(values, block.method, len(block.states), undecided=met, trap=trap)
