"""Moments of runtimes at any n: by crossing counts, by segments, and where values are followed.

What `markov_lrsao.answers.expected` asks of every plan but the joint chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flint import arb, fmpq

from markov_lrsao.answers.plan import (
    Bounded,
    Composed,
    Counted,
    Followed,
    Options,
    Relearnt,
    Trapped,
)
from markov_lrsao.chains.solvers import Field
from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.crossing.generating import Evaluation, GeneratingFunction
from markov_lrsao.crossing.line import Line
from markov_lrsao.crossing.shared import Core
from markov_lrsao.errors import Refused, SolverError, VerificationError, attempt
from markov_lrsao.exact.balls import Ball, Positive, checked
from markov_lrsao.exact.digits import ends, refined
from markov_lrsao.exact.moments import central_from_factorial
from markov_lrsao.exact.quantity import Exact, Infinite, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.exact.series import Element
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values.answer import Answer
from markov_lrsao.values.enclosure import (
    counted_phases,
    enclose_moments,
    moments_before_cut,
    trap_after_cut,
)
from markov_lrsao.values.relearning import enclose_shared_row
from markov_lrsao.values.solving import solve_levels

__all__ = [
    "EXACT_VARIANCE_LIMIT",
    "exact_moments",
    "moments_in_balls",
    "moments_in_floats",
    "solved",
]

EXACT_VARIANCE_LIMIT = 100_000
"""Largest n for which crossing counts give an exact variance: about 6 s there. Beyond it the
variance is a float with a bound of its error; the expectations stay exact."""
EXACT_SEGMENTS_LIMIT = 300
"""The same for segments between shared rows."""

Chosen = Counted | Composed | Bounded | Followed | Trapped | Relearnt


def solved(
    law: StepLaw, chosen: Chosen, options: Options, moments: int, digits: int | None
) -> Answer | Refused:
    """Return the moments of T and of the phases, as planned."""
    match chosen:
        case Counted(d):
            if digits is not None:
                return attempt(lambda: _crossing_digits(d, moments, digits))
            return attempt(lambda: _crossing(d, options.field, moments))
        case Composed(line):
            limit = EXACT_SEGMENTS_LIMIT if digits is None else law.n
            return attempt(lambda: _segments(line, options.field, moments, limit))
        case Bounded(d):
            enclosed = enclose_moments(d, moments)
            return Answer(enclosed.values, "crossing", d.states, undecided=enclosed.undecided)
        case Followed(levels):
            found = solve_levels(levels, options.field, moments, options.tolerance)
            return _with_better_trap(law, found)
        case Relearnt(place):
            return enclose_shared_row(
                place,
                moments,
                tolerance=options.tolerance,
                largest=options.max_states,
                progress=options.progress,
            )
        case Trapped(trap, d):
            infinite: list[Quantity] = [Infinite()] * moments
            before = moments_before_cut(d, moments)
            after = len(law.landscape.milestones) - len(before)
            values = [infinite, *before, *[infinite] * after]
            return Answer(values, "crossing", d.states, trap=trap)


def _with_better_trap(law: StepLaw, found: Answer) -> Answer:
    """Cut the bounds of a trap's probability down to those that the tail alone gives."""
    trap = found.trap
    if trap is None or trap.lower == trap.upper:
        return found
    other = trap_after_cut(law, narrow=True)
    if other is None:
        return found
    lower, upper = max(trap.lower, other[0].lower), min(trap.upper, other[0].upper)
    return replace(found, trap=replace(trap, lower=lower, upper=upper))


def _crossing(decomposition: Decomposition, field: Field, moments: int) -> Answer:
    law = decomposition.law
    chosen = counted_phases(law)
    order = 0 if field == "float" else 2 if law.n <= EXACT_VARIANCE_LIMIT else 1
    values = exact_moments(decomposition, order) if order else [[] for _ in chosen]
    if order < moments:
        for known, phases in zip(
            values, moments_in_floats(decomposition, chosen, moments), strict=True
        ):
            known += phases[order:]
    return Answer(values, "crossing", decomposition.states)


def _segments(line: Line | Core, field: Field, moments: int, limit: int) -> Answer:
    """Return the moments that segments give; those of runs that may get stuck are infinite."""
    count = len(line.law.landscape.milestones)
    spans = [(0, count), *((k, k + 1) for k in range(count))]
    known = {span: _span(line, *span, field, moments, limit) for span in dict.fromkeys(spans)}
    trap = line.trap() if known[0, count][0].infinite else None
    return Answer([known[span] for span in spans], "segments", line.states, trap=trap)


def _span(
    line: Line | Core, begin: int, end: int, field: Field, moments: int, limit: int
) -> list[Quantity]:
    """Return mean and central moments of the steps between two milestones, exact up to a limit."""
    order = moments
    if isinstance(line, Core) and (field == "float" or line.law.n > limit):
        order = 0 if field == "float" else 1
        floats = attempt(lambda: line.central(begin, end, moments), (SolverError,))
        if isinstance(floats, Refused):  # floats do not hold the numbers
            order = moments
    found = line.passage(begin, end, order) if order else (fmpq(1),)
    if found[0] != 1 or (order < moments and floats is None):
        return [Infinite()] * moments
    exact = [_in_field(x, field) for x in central_from_factorial(found)] if order else []
    if order == moments:
        return exact
    assert isinstance(floats, list)
    return exact + [Quantity.of(x) for x in floats[order:]]


def _in_field(number: fmpq, field: Field) -> Quantity:
    """Return an exact number, or the float next to it with a bound of the rounding."""
    if field == "exact":
        return Exact(number)
    value = to_float(number)
    return Quantity.of(Ball(value, abs(value) * 2.0**-52))


def _crossing_digits(decomposition: Decomposition, moments: int, digits: int) -> Answer:
    values = moments_in_balls(decomposition, counted_phases(decomposition.law), moments, digits)
    return Answer(values, "crossing", decomposition.states)


def exact_moments(decomposition: Decomposition, order: int) -> list[list[Quantity]]:
    """Return mean and central moments of T and of every phase, exactly."""
    function = GeneratingFunction(decomposition, Evaluation(exact=True, order=order))
    return [
        [Exact(v) for v in central_from_factorial(_whole(function(phases)))]
        for phases in counted_phases(decomposition.law)
    ]


def moments_in_floats(
    decomposition: Decomposition, chosen: Sequence[Sequence[bool]], moments: int
) -> list[list[Quantity]]:
    """Return mean and central moments of the marked phases, each with a bound of its error."""
    function = GeneratingFunction(
        decomposition, Evaluation(exact=False, central=True, order=moments)
    )
    with checked():
        return [[Quantity.of(x) for x in _whole(function(phases))[1:]] for phases in chosen]


def moments_in_balls(
    decomposition: Decomposition, chosen: Sequence[Sequence[bool]], moments: int, digits: int
) -> list[list[Quantity]]:
    """Return mean and central moments of the marked phases to so many digits, each certain."""

    def evaluate() -> list[list[arb]]:
        evaluation = Evaluation(exact=False, balls=True, order=moments)
        function = GeneratingFunction(decomposition, evaluation)
        return [central_from_factorial(_whole(function(phases))) for phases in chosen]

    return refined(evaluate, digits, 2 * moments * decomposition.law.n.bit_length())


def _whole(element: Element) -> Element:
    """Check that E[z^T] at z = 1 is 1: exactly, within its ball, or within the bound of its error.

    Raises
    ------
    VerificationError
        Some runs are lost, or counted twice.
    """
    mass = element[0]
    found = mass.value if isinstance(mass, Positive) else mass
    if isinstance(mass, Positive):
        whole = abs(float(found) - 1) <= mass.relative
    elif isinstance(mass, arb):
        low, high = ends(mass)
        whole = low <= 1 <= high
    else:
        whole = mass == 1
    if not whole:
        raise VerificationError(
            f"the probabilities of all runs add up to {found}, not 1; please report this instance"
        )
    return element
