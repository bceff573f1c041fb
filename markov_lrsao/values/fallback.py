r"""What to do where the patterns of the row automata do not decide.

In this order: values after the cut (`enclosure.resolve`, any n; with `method="joint"` the
joint chain with values), values everywhere (`valued.everything`, small n), a trap after the
cut (any n). The answer is exact, an enclosure, or infinite, and says which. When all of this
fails, `UndecidedComparisonError` says so; simulation is then the way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.chains.hitting import expected_at_hitting, phase_moments
from markov_lrsao.chains.solvers import Field
from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
)
from markov_lrsao.exact.quantity import Quantity, Trap
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.choices import bound_moments, probability_of_choice, steps_before_choice
from markov_lrsao.values.enclosure import (
    TOLERANCE,
    central_enclosures,
    counted_phases,
    enclose_moments,
    moments_before_cut,
    resolve,
    trap_after_cut,
)
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.tails import LEVELS
from markov_lrsao.values.traps import Fate, fate
from markov_lrsao.values.whole_run import (
    chain_with_values,
    describe_state,
    everything,
    joint_with_values,
)

__all__ = ["Answer", "answer", "chains_with_values", "solve_values"]

MOST_VALUED_STATES = 250_000
"""Default limit of chains with values: some 20 seconds to explore."""
_MESHES = (fmpq(64), fmpq(4), fmpq(1), fmpq(1, 4))
_EXACT_BITS = 24
_MOST_ROWS = 9
_JOINT_LEVELS = 3


@dataclass(frozen=True)
class Answer:
    """Moments of T and of the phases, and how they are known.

    Attributes
    ----------
    values : per quantity (T, then the phases) the mean and the central moments
    decomposition : for crossing counts without open comparisons, what remains to be solved
    undecided : bound of the probability that an open comparison is ever met; None: decided
    trap : where a run can get stuck, if it can
    """

    values: list[list[Quantity]]
    method: str
    states: int
    decomposition: Decomposition | None = None
    undecided: fmpq | None = None
    trap: Trap | None = None


def answer(
    law: StepLaw,
    *,
    method: str,
    field: Field,
    moments: int,
    tolerance: fmpq | None = None,
    max_states: int | None = None,
    progress: Progress = no_progress,
) -> Answer:
    """Return what can be said about T where patterns do not decide.

    Raises
    ------
    UndecidedComparisonError
        Neither values nor enclosures settle it within the limits.
    """
    tolerance = TOLERANCE if tolerance is None else tolerance
    largest = MOST_VALUED_STATES if max_states is None else max_states
    reasons: list[str] = []
    if method != "joint":
        try:
            d = resolve(law, tolerance=tolerance, progress=progress)
        except (
            CrossingError,
            NotAbsorbingError,
            UndecidedComparisonError,
            StateSpaceTooLargeError,
        ) as error:
            reasons.append(str(error))
        else:
            return _of_decomposition(d, moments)
    rows = int(law.row[: law.optimum].max()) + 1
    ways: list[Callable[[], Answer | None]] = [
        partial(_best, law, field, moments, tolerance, largest, progress),
        partial(_trapped, law, moments),
    ]
    if rows > _MOST_ROWS:  # the chain with values is unlikely to fit
        ways.reverse()
    for way in ways:
        try:
            found = way()
        except StateSpaceTooLargeError as error:
            reasons.append(str(error))
        else:
            if found is not None:
                return _with_better_trap(law, found)
    raise UndecidedComparisonError(
        f"patterns do not decide here, and values do not within the limits: {reasons[-1]}; raise "
        f"`max_states`, or estimate with `simulate()`"
    )


def _with_better_trap(law: StepLaw, found: Answer) -> Answer:
    """Cut the bounds of a trap's probability down to those that the tail alone gives."""
    if found.trap is None or found.trap.lower == found.trap.upper or found.method == "crossing":
        return found
    other = trap_after_cut(law)
    if other is None:
        return found
    return replace(
        found,
        trap=replace(
            found.trap,
            lower=max(found.trap.lower, other[0].lower),
            upper=min(found.trap.upper, other[0].upper),
        ),
    )


def _trapped(law: StepLaw, moments: int) -> Answer | None:
    """Return that E[T] is infinite, if a trap after the cut shows it."""
    found = trap_after_cut(law)
    if found is None:
        return None
    trap, d = found
    infinite = [Quantity(inf)] * moments
    before = moments_before_cut(d, moments)
    values = [infinite, *before, *[infinite] * (_count(law) - len(before))]
    return Answer(values, "crossing", d.states, trap=trap)


def _of_decomposition(d: Decomposition, moments: int) -> Answer:
    if d.choices is None:
        return Answer([], "crossing", d.states, decomposition=d)
    found = enclose_moments(d, moments)
    return Answer(found.values, "crossing", d.states, undecided=found.undecided)


def chains_with_values(
    law: StepLaw, largest: int, progress: Progress = no_progress
) -> Iterator[Refined]:
    """Yield the chain with values at finer and finer levels, as long as they fit.

    Raises
    ------
    StateSpaceTooLargeError
        None fits.
    """
    unit = abs(law.algorithm.learn) if law.algorithm.learn != 0 else fmpq(1)
    families: list[list[Callable[[], Refined]]] = [
        [
            partial(joint_with_values, law, level, largest=largest)
            for level in LEVELS[:_JOINT_LEVELS]
        ],
        [
            partial(everything, law, unit * mesh, exact_bits=_EXACT_BITS, largest=largest)
            for mesh in _MESHES
        ],
    ]
    found = False
    refused: StateSpaceTooLargeError | None = None
    with progress("following values", total=sum(map(len, families))) as bar:
        for family in families:
            if found:
                return  # the second family follows more rows, and is no finer for those
            for way in family:
                bar.advance()
                try:
                    block = way()
                except (CrossingError, UndecidedComparisonError):
                    break  # finer levels do not help
                except StateSpaceTooLargeError as error:
                    refused = error
                    break
                found = True
                yield block
    if not found:
        raise refused or StateSpaceTooLargeError("no way of following values applies")


def _best(
    law: StepLaw, field: Field, moments: int, tolerance: fmpq, largest: int, progress: Progress
) -> Answer:
    """Refine the chain with values until it is decided, narrow or too large."""
    best: Answer | None = None
    for block in chains_with_values(law, largest, progress):
        found = solve_values(block, field, moments)
        if best is None or _narrower(found, best):
            best = found
        if found.undecided is None or _relative_width(found) <= tolerance:
            return found
    assert best is not None
    return best


def _relative_width(found: Answer) -> fmpq:
    widest = fmpq(0)
    for quantity in (q[0] for q in found.values):
        width = quantity.width
        if width is None:
            return fmpq(10**9)
        if quantity.lower is not None and quantity.lower > 0:
            widest = max(widest, width / quantity.lower)
    if found.trap is not None:
        return max(widest, found.trap.upper - found.trap.lower)
    return widest


def _narrower(a: Answer, b: Answer) -> bool:
    return bool(_relative_width(a) < _relative_width(b))


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
        return Answer([_numbers(q) for q in (total, *phases)], "joint", chain.size)
    if outcome.traps or outcome.wanders:
        traps = set(outcome.traps)
        lower = [
            steps_before_choice(block, counted.__getitem__, traps)[start]
            for counted in counted_phases(law)
        ]
        values = [
            [Quantity(None, low), *[Quantity(None, fmpq(0))] * (moments - 1)] for low in lower
        ]
        trap = _trap(block, outcome) if outcome.traps else None
        return Answer(values, "joint", size, undecided=met, trap=trap)
    values = [_enclosed(block, counted, moments) for counted in counted_phases(law)]
    return Answer(values, "joint", size, undecided=met)


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
    return [Quantity(None, low), *[Quantity(None, fmpq(0))] * (moments - 1)]


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
    values = [[Quantity(inf)] * moments]
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
            values.append([Quantity(inf)] * moments)
        elif decided:
            values.append(
                _numbers(phase_moments(chain, phase >= k if k else None, phase > k, moments))
            )
        else:
            values.append(_enclosed_phase(block, outcome, k, moments))
    return Answer(values, "joint", len(block.states), undecided=met, trap=trap)
