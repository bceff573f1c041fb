"""Agents that learn, asked in other ways: from other starts, to other ends, or while they explore.

From another start, or to another end, the joint chain of all (position, patterns) is solved, which
small instances have; it knows every state, so any start will do. An agent that explores has real
values as its memory: its E[T] is enclosed by finite abstractions of its table
(`markov_lrsao.exploring`), exactly where they leave nothing open.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.answers.plan import Options
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.answers.searches import Start, positions_at_least, start_positions
from markov_lrsao.chains.hitting import central_moments
from markov_lrsao.errors import (
    ParameterError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    attempt,
)
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import RationalLike
from markov_lrsao.exploring.enclosure import (
    MAX_STATES,
    Enclosure,
    enclose_exploring,
    follow_on_grid,
)
from markov_lrsao.joint.enumeration import JointChain, enumerate_joint
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.law import StepLaw

__all__ = ["begin_and_end", "joint_between", "learner_runtime"]

_ZERO = fmpq(0)


def begin_and_end(
    law: StepLaw | JumpingLaw, start: Start | None, at_least: RationalLike | None
) -> tuple[dict[int, fmpq], frozenset[int]]:
    """Return position -> probability at the start, and the positions at which a run ends.

    Raises
    ------
    ParameterError
        There is no such start or end, or a start lies beyond the optimum.
    """
    values = [law.landscape.value(law.landscape.target, p) for p in range(law.n + 1)]
    begin = {p: w for p, w in start_positions(law.n, start).items() if w}
    if isinstance(law, StepLaw) and max(begin) > law.optimum:
        raise ParameterError(
            f"start = {start!r}: {law.algorithm.name} begins at positions up to the optimum at "
            f"{law.optimum} only"
        )
    return begin, positions_at_least(values, at_least)


def learner_runtime(
    law: StepLaw | JumpingLaw,
    start: Start | None,
    at_least: RationalLike | None,
    options: Options,
    *,
    moments: int,
    holds: bool | None,
) -> RuntimeResult:
    """Return E[T] and central moments of an agent that explores, or is asked elsewhere.

    Raises
    ------
    ParameterError, StateSpaceTooLargeError, UndecidedComparisonError, NotAbsorbingError
    """
    begun = time.perf_counter()
    begin, ends = begin_and_end(law, start, at_least)
    if law.algorithm.epsilon != 0:
        values, method, states = _exploring(law, begin, ends, options, moments)
    else:
        values, method, states = _greedy(law, begin, ends, options, moments)
    return RuntimeResult.of(
        law.landscape,
        law.algorithm,
        [values],
        hypothesis_h=holds,
        method=method,
        merged=options.merge,
        states=states,
        seconds=time.perf_counter() - begun,
        optimum=law.optimum,
    )


def joint_between(
    law: StepLaw, begin: Mapping[int, fmpq], ends: frozenset[int], options: Options
) -> JointChain:
    """Return the joint chain from given positions to given ends."""
    if options.method not in ("auto", "joint"):
        raise ParameterError(
            f"method = {options.method!r} begins in 0^n and ends at the optimum: use "
            f'`method="joint"`'
        )
    return enumerate_joint(
        law,
        merge=options.merge,
        field=options.field,
        max_states=options.max_states,
        progress=options.progress,
        begin=sorted(begin),
        ends=ends,
    )


def mixed_moments(
    joint: JointChain, begin: Mapping[int, fmpq], ends: frozenset[int], moments: int
) -> list[fmpq]:
    """Return mean and central moments over the starts, exactly."""
    chain = joint.chain
    target = np.isin(chain.positions, sorted(ends | {joint.law.optimum}))
    found = central_moments(chain, target, moments)
    place = {int(chain.positions[s]): int(s) for s in chain.start}
    weights = [(place[p], w) for p, w in begin.items()]
    mean = sum((w * found[0][i] for i, w in weights), _ZERO)
    result = [mean]
    for k in range(2, moments + 1):
        total = _ZERO
        for i, w in weights:
            shift = found[0][i] - mean
            parts: Any = (comb(k, m) * found[m - 1][i] * shift ** (k - m) for m in range(2, k + 1))
            total += w * sum(parts, shift**k)
        result.append(total)
    return result


def _greedy(
    law: StepLaw | JumpingLaw,
    begin: Mapping[int, fmpq],
    ends: frozenset[int],
    options: Options,
    moments: int,
) -> tuple[list[Quantity], str, int]:
    """Solve the joint chain of patterns, or, where they leave choices open, of values on a grid."""
    if isinstance(law, StepLaw):
        joint = attempt(
            lambda: joint_between(law, begin, ends, options), (UndecidedComparisonError,)
        )
        if isinstance(joint, JointChain):
            found = mixed_moments(joint, begin, ends, moments)
            return [Quantity.enclosed(m, m) for m in found], "joint", joint.chain.size
        if moments > 2:
            raise joint.reason
    if moments > 2:
        raise ParameterError(f"moments = {moments}: of values only mean and variance are known")
    known = follow_on_grid(
        law,
        begin,
        ends | {law.optimum},
        **({} if options.max_states is None else {"largest": options.max_states}),
        progress=options.progress,
    )
    values = [Quantity.enclosed(*known.mean), Quantity.enclosed(*known.variance)]
    return values, f"values on a grid of {known.width}", known.states


def _exploring(
    law: StepLaw | JumpingLaw,
    begin: Mapping[int, fmpq],
    ends: frozenset[int],
    options: Options,
    moments: int,
) -> tuple[list[Quantity], str, int]:
    if moments > 2:
        raise ParameterError(
            f"moments = {moments}: of an agent that explores mean and variance are enclosed only"
        )
    found: Enclosure = enclose_exploring(
        law,
        begin,
        ends | {law.optimum},
        options.tolerance,
        largest=options.max_states or MAX_STATES,
        progress=options.progress,
    )
    values = [Quantity.enclosed(*found.mean), Quantity.enclosed(*found.variance)]
    if found.width is None:
        raise StateSpaceTooLargeError(
            f"{law.algorithm.name} with epsilon = {law.algorithm.epsilon} has real values as its "
            f"memory (class D), and no grid of values fits into "
            f"{options.max_states or MAX_STATES:,} states; for every agent that explores so, E[T] "
            f"is in {values[0]}; raise `max_states`, or estimate with `simulate()`",
            advised=True,
        )
    return values, f"exploring, grid {found.width}", found.states
