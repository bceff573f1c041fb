r"""Runtimes where patterns do not decide: refine, and enclose what stays open.

Each level of `markov_lrsao.values.tails` tells more histories apart. The first one that decides all
comparisons gives an exact answer. Otherwise the factorial moments of the walk after the cut
are bounded over all choices, and since every weight of crossing counts is non-negative, so
are those of T: putting the lower (upper) bounds in place of the exact values yields bounds
from below (above). Before the finest levels the grid is made finer where what is open comes from
(`markov_lrsao.values.focus`), which decides more with fewer states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from flint import fmpq

from markov_lrsao.crossing.blocks import Exit, State, Target
from markov_lrsao.crossing.decomposition import Decomposition, cut_of
from markov_lrsao.crossing.generating import Evaluation, GeneratingFunction
from markov_lrsao.errors import Refused, StateSpaceTooLargeError, attempt
from markov_lrsao.exact.moments import central_enclosures
from markov_lrsao.exact.quantity import UNKNOWN, Quantity, Trap
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import DOWN, Share, StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.values.answer import TOLERANCE
from markov_lrsao.values.choices import bound_moments, probability_of_choice
from markov_lrsao.values.focus import focused
from markov_lrsao.values.merging import added_edges
from markov_lrsao.values.refinement import DOOMED, Refined
from markov_lrsao.values.stable_cut import stable_decomposition
from markov_lrsao.values.tails import LEVELS, Level, around_cut, refined_decomposition
from markov_lrsao.values.traps import fate
from markov_lrsao.values.whole_run import describe_state

__all__ = [
    "TOLERANCE",
    "Enclosure",
    "counted_phases",
    "enclose_moments",
    "losing_decomposition",
    "moments_before_cut",
    "resolve",
    "trap_after_cut",
    "undecided_probability",
]

_LARGEST_TAIL = 30_000
_HASTY_LEVELS, _HASTY_TAIL = 5, 1_000
_QUOTIENT_BEFORE = 2
"""The level before which the quotient of the values around the cut is tried."""
_FOCUS_BEFORE = 4
"""The level before which the grid is made finer where open comparisons come from."""
_PATIENT_TAIL = 10_000
"""States that a finer level may have where the enclosure is narrow enough already: seconds."""
_LARGEST_EXACT_TAIL = 5_000
_NARROWING = tuple(Level(fmpq(1, 64), 32, exact) for exact in (1, 2, 3))
"""Levels for probabilities of traps: fine meshes, and ever more exact values, for ties."""
_NARROW = fmpq(1, 10**6)
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
    hasty: bool = False,
    patient: bool = False,
    progress: Progress = no_progress,
) -> Decomposition | Refused:
    """Refine until all comparisons are decided or the enclosure is narrow enough.

    Returns the decomposition of the level with the narrowest enclosure. Levels that need too
    many states (after the first, more than `largest`) are passed over.

    Parameters
    ----------
    hasty : only the first levels, with few states
    patient : a narrow enclosure is not enough, as long as finer levels are small: they may decide
    """
    automata = attempt(lambda: automata_of(law, cut_of(law)))
    if isinstance(automata, Refused):
        return automata

    def lumped() -> Decomposition | None:
        """Return the quotient around the cut: exact, in a tenth of a second, if it is found."""
        if tolerance > TOLERANCE:  # an enclosure is what was asked for
            return None
        stable = attempt(partial(stable_decomposition, law, automata))
        return None if isinstance(stable, Refused) else stable

    def focused_first() -> Iterator[Decomposition]:
        """Yield what grids tell that are fine only where open comparisons come from."""
        around = attempt(partial(around_cut, law, automata))
        return iter(()) if isinstance(around, Refused) else focused(around)

    # The second level is small, and often decides what the first leaves open.
    least = 1 if tolerance <= TOLERANCE else 0
    best: tuple[fmpq, Decomposition] | None = None
    refused = Refused(StateSpaceTooLargeError("no level of refinement applies"))
    with progress("refining values", total=len(LEVELS)) as bar:
        for number, level in enumerate(LEVELS[:_HASTY_LEVELS] if hasty else LEVELS):
            bar.advance()
            if number == _QUOTIENT_BEFORE and (stable := lumped()) is not None:
                return stable
            if number == _FOCUS_BEFORE and patient and not hasty and largest is None:
                for divided in focused_first():
                    if divided.choices is None:
                        return divided
                    best = _narrowest(best, divided)
            most = _LARGEST_TAIL if level.exact <= 1 else _LARGEST_EXACT_TAIL
            most = min(most, _HASTY_TAIL) if hasty else most
            if largest is not None and best is not None:
                most = min(most, largest)
            if best is not None and best[0] <= tolerance:
                most = min(most, _PATIENT_TAIL)
            found = attempt(partial(refined_decomposition, law, level, automata, largest=most))
            match found:
                case Refused(StateSpaceTooLargeError()):
                    refused = found
                    if best is not None and best[0] <= tolerance and not patient:
                        break
                    continue  # a finer mesh with fewer exact values may have fewer states
                case Refused():
                    return found if best is None else best[1]
                case Decomposition(choices=None):
                    return found
            width = attempt(partial(_width, found))
            if isinstance(width, Refused):
                return width if best is None else best[1]
            if best is None or width < best[0]:
                best = (width, found)
            if width <= tolerance and not patient and number >= least:
                break
    stable = lumped() if number < _QUOTIENT_BEFORE else None
    return stable or (refused if best is None else best[1])


def _narrowest(
    best: tuple[fmpq, Decomposition] | None, found: Decomposition
) -> tuple[fmpq, Decomposition] | None:
    """Return the narrower one, with its width; what has no width is passed over."""
    width = attempt(partial(_width, found))
    if isinstance(width, Refused) or (best is not None and best[0] <= width):
        return best
    return width, found


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
        result.append(central_enclosures(known, known) + [UNKNOWN] * (moments - order))
    return result


def losing_decomposition(law: StepLaw, level: Level = LEVELS[0]) -> Decomposition:
    """Give up runs that fall below the rows after the cut.

    The decomposition is good for what happens before the cut, and for finding traps.

    Raises
    ------
    CrossingError, NotAbsorbingError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    return refined_decomposition(law, level, largest=_LARGEST_TAIL, lose=True)


def trap_after_cut(law: StepLaw, *, narrow: bool = False) -> tuple[Trap, Decomposition] | None:
    """Return a trap on the rows that the walk meets after the cut, at any n; None: none found.

    Runs that fall below these rows are given up: they count for the upper bound of the
    probability only, unless they are doomed, since the row of the first position holds them when
    they come back. The decomposition is good for what happens before the cut.

    Parameters
    ----------
    narrow : tell more values apart, as long as the bounds of the probability are wide
    """
    if cut_of(law) == law.optimum:
        return None
    best = _trap_in(law, attempt(partial(stable_decomposition, law, lose=True)))
    if best is None or best[0].upper - best[0].lower > _NARROW:
        best = _narrower(best, _trap_at(law, LEVELS[0]))
    if best is None or not narrow:
        return best
    for level in _NARROWING:
        if best is None or best[0].upper - best[0].lower <= _NARROW:
            break
        best = _narrower(best, _trap_at(law, level))
    return best


def _narrower(
    one: tuple[Trap, Decomposition] | None, other: tuple[Trap, Decomposition] | None
) -> tuple[Trap, Decomposition] | None:
    """Return what two ways together tell of the probability."""
    if one is None or other is None:
        return other if one is None else one
    (trap, d), (found, _) = one, other
    lower, upper = max(trap.lower, found.lower), min(trap.upper, found.upper)
    return replace(found, lower=lower, upper=upper), d


def _trap_at(law: StepLaw, level: Level) -> tuple[Trap, Decomposition] | None:
    return _trap_in(law, attempt(lambda: losing_decomposition(law, level)))


def _trap_in(law: StepLaw, d: Decomposition | Refused) -> tuple[Trap, Decomposition] | None:
    if isinstance(d, Refused):
        return None
    assert d.choices is not None
    block, lost = _with_lost_runs(d.choices)
    outcome = fate(block, lost=lost)
    if outcome.entry is None:
        return None
    function = GeneratingFunction(d, Evaluation(exact=True, order=0))
    nothing = [False] * len(law.landscape.milestones)

    def entering(side: Sequence[fmpq]) -> fmpq:
        ends = {key: (side[i],) for key, i in d.tail_start.items()}
        return fmpq(function.combine(nothing, ends)[0])

    found = attempt(lambda: (entering(outcome.lower), entering(outcome.upper)))
    if isinstance(found, Refused) or found[0] == 0:  # runs may be stuck before the cut as well
        return None
    state = next((i for i in (outcome.entry, *outcome.ends) if i < lost), None)
    where = f"p={block.stretch.first}" if state is None else describe_state(block, state)
    return Trap(where, *found), d


def _with_lost_runs(block: Refined) -> tuple[Refined, int]:
    """Replace downward exits by a state that is never left; return its number.

    Runs that are doomed have such a state of their own, behind it.
    """
    lost = len(block.states)
    unit = block.denominator // block.law.n

    def place(target: Target) -> Target:
        if not isinstance(target, Exit) or target.direction != DOWN:
            return target
        return lost + (DOOMED in target.patterns)

    options = tuple(
        tuple(added_edges(edges, place) for edges in choices) for choices in block.options
    )
    some = any(DOOMED in x.patterns for x in block.exits)
    more = range(lost, lost + 1 + some)
    state = State(block.stretch.first, 0, ())
    return replace(
        block,
        states=(*block.states, *(state for _ in more)),
        options=(*options, *((((k, Share(unit, unit)),),) for k in more)),
    ), lost
