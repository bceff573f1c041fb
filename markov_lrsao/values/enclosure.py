r"""Runtimes where patterns do not decide: refine, and enclose what stays open.

Each level of `markov_lrsao.values.tails` tells more histories apart. The first one that decides all
comparisons gives an exact answer. Otherwise the factorial moments of the walk after the cut
are bounded over all choices, and since every weight of crossing counts is non-negative, so
are those of T: putting the lower (upper) bounds in place of the exact values yields bounds
from below (above).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from markov_lrsao.crossing.blocks import Exit, State, Target
from markov_lrsao.crossing.decomposition import Decomposition, cut_of, decompose
from markov_lrsao.crossing.generating import Evaluation, GeneratingFunction
from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
)
from markov_lrsao.exact.quantity import Quantity, Trap
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.exact.series import Element
from markov_lrsao.model.law import DOWN, Share, StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.values.choices import bound_moments, probability_of_choice
from markov_lrsao.values.merging import added_edges
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.tails import LEVELS, refined_decomposition
from markov_lrsao.values.traps import fate
from markov_lrsao.values.whole_run import describe_state

__all__ = [
    "TOLERANCE",
    "Enclosure",
    "central_enclosures",
    "counted_phases",
    "decomposition_of",
    "enclose_moments",
    "moments_before_cut",
    "resolve",
    "trap_after_cut",
    "undecided_probability",
]

TOLERANCE = fmpq(1, 2_000)
"""Relative width of E[T] and of every phase at which refinement stops by default."""
_LARGEST_TAIL = 30_000
_LARGEST_EXACT_TAIL = 5_000
_ALL_MOMENTS, _VARIANCE = 1_000, 10_000
"""Largest n at which all moments, and variances, before the cut are exact within seconds."""


@dataclass(frozen=True)
class Enclosure:
    """Moments of T and of the phases, enclosed.

    Attributes
    ----------
    values : per quantity (T, then the phases) the mean and the central moments
    undecided : an upper bound of the probability that an open comparison is ever met
    """

    values: list[list[Quantity]]
    undecided: fmpq


def resolve(
    law: StepLaw,
    *,
    tolerance: fmpq = TOLERANCE,
    largest: int | None = None,
    progress: Progress = no_progress,
) -> Decomposition:
    """Refine until all comparisons are decided or the enclosure is narrow enough.

    Returns the decomposition of the level with the narrowest enclosure. Levels that need too
    many states (after the first, more than `largest`) are passed over.

    Raises
    ------
    CrossingError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    automata = automata_of(law, cut_of(law))
    best: tuple[fmpq, Decomposition] | None = None
    refused: StateSpaceTooLargeError | None = None
    with progress("refining values", total=len(LEVELS)) as bar:
        for level in LEVELS:
            bar.advance()
            most = _LARGEST_TAIL if level.exact <= 1 else _LARGEST_EXACT_TAIL
            if largest is not None and best is not None:
                most = min(most, largest)
            try:
                found = refined_decomposition(law, level, automata, largest=most)
            except StateSpaceTooLargeError as error:
                refused = error
                continue  # a finer mesh with fewer exact values may have fewer states
            if found.choices is None:
                return found
            width = _width(found)
            if best is None or width < best[0]:
                best = (width, found)
            if width <= tolerance:
                break
    if best is None:
        raise refused or StateSpaceTooLargeError("no level of refinement applies")
    return best[1]


def decomposition_of(law: StepLaw, progress: Progress = no_progress) -> Decomposition:
    """Split the positions by patterns where they decide, by values where they do not.

    Raises
    ------
    CrossingError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    try:
        return decompose(law)
    except UndecidedComparisonError:
        return resolve(law, progress=progress)


def undecided_probability(d: Decomposition) -> fmpq:
    """Return an upper bound of the probability that an open comparison is ever met."""
    if d.choices is None:
        return fmpq(0)
    met = probability_of_choice(d.choices)
    function = GeneratingFunction(d, Evaluation(exact=True, order=0))
    nothing = [False] * len(d.law.landscape.milestones)
    bound = function.combine(nothing, {key: (met[i],) for key, i in d.tail_start.items()})[0]
    return fmpq(min(bound, fmpq(1)))


def counted_phases(law: StepLaw) -> list[list[bool]]:
    """Return which phases count for T and for each phase."""
    count = len(law.landscape.milestones)
    return [[True] * count, *([k == phase for k in range(count)] for phase in range(count))]


def _ends(d: Decomposition, phases: Sequence[bool], order: int) -> tuple[Any, Any]:
    """Return bounds of what follows the cut, per (bottom exit, mark)."""
    assert d.choices is not None
    bounds = bound_moments(d.choices, lambda phase: phases[phase], order)
    zero = fmpq(0)
    return (
        {key: tuple(max(c, zero) for c in bounds.lower[i]) for key, i in d.tail_start.items()},
        {key: bounds.upper[i] for key, i in d.tail_start.items()},
    )


def _width(d: Decomposition) -> fmpq:
    """Return the largest relative width of the means, roughly."""
    function = GeneratingFunction(d, Evaluation(exact=False, order=1))
    widest = fmpq(0)
    for phases in counted_phases(d.law):
        lower, upper = (
            function.combine(phases, {k: tuple(map(to_float, v)) for k, v in ends.items()})
            for ends in _ends(d, phases, 1)
        )
        if lower[1] > 0:
            relative = (upper[1] - lower[1]) / lower[1]
            widest = max(widest, fmpq(*float(relative).as_integer_ratio()))
    return widest


def enclose_moments(d: Decomposition, moments: int) -> Enclosure:
    """Return enclosures of mean and central moments of T and of every phase."""
    function = GeneratingFunction(d, Evaluation(exact=True, order=moments))
    values = []
    for phases in counted_phases(d.law):
        lower, upper = (function.combine(phases, ends) for ends in _ends(d, phases, moments))
        values.append(central_enclosures(lower, upper))
    return Enclosure(values, undecided_probability(d))


Pair = tuple[fmpq, fmpq]


def central_enclosures(lower: Element, upper: Element) -> list[Quantity]:
    """Return mean, variance, .. from bounds of E[(T choose k)], k = 0, 1, ..

    Equal bounds give exact moments.

    >>> q = central_enclosures((fmpq(1), fmpq(3), fmpq(6)), (fmpq(1), fmpq(3), fmpq(6)))
    >>> [str(v.value) for v in q]
    ['3', '6']
    """
    binomial: list[Pair] = list(zip(lower, upper, strict=True))
    mean = binomial[1]
    raw: list[Pair] = [binomial[0], mean]
    # E[T^k] = sum_j S(k, j) j! E[(T choose j)], S the Stirling numbers of the second kind.
    for weights in ((1, 2), (1, 6, 6), (1, 14, 36, 24))[: len(binomial) - 2]:
        raw.append(
            (
                sum((w * b[0] for w, b in zip(weights, binomial[1:], strict=False)), fmpq(0)),
                sum((w * b[1] for w, b in zip(weights, binomial[1:], strict=False)), fmpq(0)),
            )
        )
    result = [mean]
    if len(raw) > 2:
        low, high = _minus(raw[2], _power(mean, 2))
        result.append((max(low, fmpq(0)), high))
    if len(raw) > 3:
        result.append(_plus(_minus(raw[3], _times(3, mean, raw[2])), _times(2, _power(mean, 3))))
    if len(raw) > 4:
        even = _plus(raw[4], _times(6, _power(mean, 2), raw[2]))
        odd = _plus(_times(4, mean, raw[3]), _times(3, _power(mean, 4)))
        low, high = _minus(even, odd)
        result.append((max(low, fmpq(0)), high))
    return [Quantity.enclosed(*pair) for pair in result]


def _plus(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def _minus(a: Pair, b: Pair) -> Pair:
    return a[0] - b[1], a[1] - b[0]


def _times(factor: int, a: Pair, b: Pair | None = None) -> Pair:
    """Multiply non-negative numbers."""
    low, high = b if b is not None else (fmpq(1), fmpq(1))
    return factor * a[0] * low, factor * a[1] * high


def _power(a: Pair, k: int) -> Pair:
    return a[0] ** k, a[1] ** k


def moments_before_cut(d: Decomposition, moments: int) -> list[list[Quantity]]:
    """Return the exact moments of the phases that end at the cut, whatever follows it.

    At large n only the first few: the others are left unknown.
    """
    order = moments if d.law.n <= _ALL_MOMENTS else min(moments, 2) if d.law.n <= _VARIANCE else 1
    function = GeneratingFunction(d, Evaluation(exact=True, order=order))
    ends = dict.fromkeys(d.tail_start, function.evaluation.one)
    result = []
    for phases in counted_phases(d.law)[1 : d.phase + 2]:
        known = function.combine(phases, ends)
        result.append(
            central_enclosures(known, known) + [Quantity(None, fmpq(0))] * (moments - order)
        )
    return result


def trap_after_cut(law: StepLaw) -> tuple[Trap, Decomposition] | None:
    """Return a trap on the rows that the walk meets after the cut, at any n; None: none found.

    Runs that fall below these rows are given up: they count for the upper bound of the
    probability only. The decomposition is good for what happens before the cut.
    """
    if cut_of(law) == law.optimum:
        return None
    try:
        d = refined_decomposition(law, LEVELS[0], largest=_LARGEST_TAIL, lose=True)
    except (CrossingError, NotAbsorbingError, UndecidedComparisonError, StateSpaceTooLargeError):
        return None
    assert d.choices is not None
    block, lost = _with_lost_runs(d.choices)
    outcome = fate(block, lost=lost)
    if outcome.entry is None:
        return None
    function = GeneratingFunction(d, Evaluation(exact=True, order=0))
    nothing = [False] * len(law.landscape.milestones)
    try:
        low, high = (
            function.combine(nothing, {key: (side[i],) for key, i in d.tail_start.items()})[0]
            for side in (outcome.lower, outcome.upper)
        )
    except NotAbsorbingError:  # runs may be stuck before the cut as well
        return None
    return (Trap(describe_state(block, outcome.entry), low, high), d) if low > 0 else None


def _with_lost_runs(block: Refined) -> tuple[Refined, int]:
    """Replace downward exits by one state that is never left; return its number."""
    lost = len(block.states)
    unit = block.denominator // block.law.n

    def place(target: Target) -> Target:
        fallen = isinstance(target, Exit) and target.direction == DOWN
        return lost if fallen else target

    options = tuple(
        tuple(added_edges(edges, place) for edges in choices) for choices in block.options
    )
    state = State(block.stretch.first, 0, ())
    return replace(
        block, states=(*block.states, state), options=(*options, (((lost, Share(unit, unit)),),))
    ), lost
