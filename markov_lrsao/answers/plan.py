"""How a law is answered: by patterns, by values, by an enclosure or by a trap. Decided here.

Patterns decide all comparisons under the paper's choice of hyper-parameters; then the joint chain
(`Joint`, small n), crossing counts (`Counted`, any n) or segments (`Composed`, any n) give T; the
last where counts are unbounded, agent states have several positions, or slopes follow the cut.
Where patterns leave a comparison open, values are followed, in this order: after the cut, at any n
(`Counted` again if they decide everything, else `Bounded`); through the whole run (`Followed`,
small n); and where that does not fit, a trap after the cut shows that E[T] is infinite (`Trapped`,
any n). Before that, signs may tell that runs get stuck (`Doomed`: EA+RL), and where the quotient of
all tables is not found, so may runs that are played and proved not to end (`Doomed`, small n), or
layers and lumps of tables tell E[T] well enough (`Layered`, `Lumped`, small n). Three and more
plateaus that share a row have a way of their own (`Relearnt`, any n) where segments leave them
open. What fails gives its reason (`Refused`); simulation is then the way.

Runtimes, laws of T, profiles, maps and curves all ask here, by `plan` or, where only one of the
ways serves them, by the function of that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.solvers import Field
from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    Refused,
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    attempt,
    granted,
)
from markov_lrsao.exact.quantity import Enclosed, Quantity, Trap
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.values.answer import TOLERANCE, Answer

# What only one of the ways needs is imported there: it takes a good part of a small answer's time.
if TYPE_CHECKING:
    from markov_lrsao.crossing.decomposition import Decomposition
    from markov_lrsao.crossing.line import Line
    from markov_lrsao.crossing.shared import Core
    from markov_lrsao.values.plateaus import Plateaus
    from markov_lrsao.values.refinement import Refined

__all__ = [
    "Bounded",
    "Composed",
    "Counted",
    "Doomed",
    "Followed",
    "Joint",
    "Layered",
    "Lumped",
    "Method",
    "Options",
    "Plan",
    "Relearnt",
    "Trapped",
    "after_cut",
    "asked_elsewhere",
    "block_is_large",
    "composed",
    "counted",
    "crossing",
    "is_small",
    "joint",
    "layered",
    "lumped",
    "plan",
    "quotient",
    "slopes_follow",
    "wants_exact",
    "when_stuck",
]

Method = Literal["auto", "joint", "crossing", "segments"]
MOST_VALUED_STATES = 250_000
"""Default limit of chains with values: some 20 seconds to explore."""
MOST_WIDE_STATES = 40_000
"""The same where other ways lead to an enclosure: larger chains take minutes to solve."""
_MOST_JOINT_ROWS, _MOST_JOINT_N = 9, 40
"""`auto` enumerates the joint chain up to this many Q-rows (seven slope sites of Jump)."""
_LARGE_BLOCK = 300
"""A block with more patterns than this, all rows together, is left to segments."""
_USEFUL_WIDTH = fmpq(1, 2)
"""Relative width of an enclosure by tables beyond which values are followed all the same."""
_LEAST_RELEARNT_N = 8
"""From here on the patterns of three plateaus and more take minutes, and leave choices open."""
_LARGEST_TINY_N = 13
"""Where the first plateau has one position they may decide up to here."""


def asked_elsewhere(start: object, at_least: object) -> bool:
    """Whether runs begin elsewhere than in 0^n, or end before the optimum."""
    return start not in (None, "zero", 0, "0") or at_least is not None


@dataclass(frozen=True, eq=False)
class Joint:
    """Patterns decide everything: the chain of all (position, patterns)."""

    chain: MarkovChain


@dataclass(frozen=True, eq=False)
class Counted:
    """Crossing counts, every comparison being decided by patterns or by values."""

    decomposition: Decomposition


@dataclass(frozen=True, eq=False)
class Composed:
    """Segments: private rows from the lowest to the highest, or slopes between shared rows.

    Patterns decide everything.
    """

    line: Line | Core


@dataclass(frozen=True, eq=False)
class Bounded:
    """Crossing counts; after the cut comparisons stay open, and all choices are bounded."""

    decomposition: Decomposition


@dataclass(frozen=True, eq=False)
class Followed:
    """The whole run with values, at finer and finer levels, each explored when it is asked for.

    A level may leave comparisons open, and may show where runs get stuck.
    """

    levels: Iterator[Refined]


@dataclass(frozen=True, eq=False)
class Trapped:
    """Runs get stuck after the cut; the decomposition is good for what happens before it."""

    trap: Trap
    decomposition: Decomposition


@dataclass(frozen=True, eq=False)
class Doomed:
    """Runs never end with some probability, whatever is decided.

    The signs of few rows tell so, or runs that are played and proved to be stuck.
    """

    trap: Trap
    states: int
    method: str = "signs"


@dataclass(frozen=True, eq=False)
class Lumped:
    """No quotient of all tables is found, but lumps of them enclose E[T] and the phases."""

    bounds: list[tuple[fmpq, fmpq]]
    lumps: int

    @property
    def width(self) -> fmpq:
        """Relative width of E[T]."""
        low, high = self.bounds[0]
        return (high - low) / low


@dataclass(frozen=True, eq=False)
class Layered:
    """No quotient of all tables is found, but layers of them enclose E[T] and the phases.

    Where lumps of tables tell more, what both have in common.
    """

    answer: Answer


@dataclass(frozen=True, eq=False)
class Relearnt:
    """Three plateaus or more share a row, which is followed by values; all choices are bounded."""

    plateaus: Plateaus


Plan: TypeAlias = (
    Joint
    | Counted
    | Composed
    | Bounded
    | Followed
    | Trapped
    | Doomed
    | Layered
    | Lumped
    | Relearnt
    | Refused
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is wanted, and what it may take.

    Attributes
    ----------
    method : "joint" enumerates all (position, patterns), "crossing" counts crossings,
        "segments" takes whole slopes together, "auto" takes the joint chain where
        it is small, and another way where one refuses
    field : "exact" rationals or "float"
    merge : merge equivalent patterns first (joint only)
    max_states : refuse larger joint chains, and larger chains with values
    tolerance : relative width of an enclosure at which refinement stops
    wide : an enclosure of any width is better than a refusal; it may take a minute
    """

    method: Method = "auto"
    field: Field = "exact"
    merge: bool = True
    max_states: int | None = None
    tolerance: fmpq = TOLERANCE
    wide: bool = False
    progress: Progress = no_progress


def plan(law: StepLaw, options: Options) -> Plan:
    """Decide how a law is answered.

    That runs get stuck may show only when a `Joint` or `Counted` chain is solved; `when_stuck`
    then has the answer.
    """
    if options.method == "auto" and options.merge and law.n >= _LEAST_RELEARNT_N:
        from markov_lrsao.values.plateaus import several_plateaus

        place = several_plateaus(law)
        if not isinstance(place, Refused):
            match composed(law):
                case Composed() as found_at_any_n:
                    return found_at_any_n
                case Refused():  # undecided, too large, or slopes with too many ways
                    if tiny := _exactly_if_tiny(law, options):
                        return tiny
                    if _slopes_are_machines(place):
                        return Relearnt(place)
    found = _by_patterns(law, options)
    match found:
        case Refused(NotAbsorbingError()):
            return when_stuck(law, options)
        case Refused(UndecidedComparisonError()):
            from markov_lrsao.answers.accounts import told_by_signs

            if options.method == "auto" and (stuck := told_by_signs(law)):
                return Doomed(*stuck)
            by_values: Plan = found
            quick = options.method == "auto" and options.wide and wants_exact(options)
            quick = quick and is_small(law)
            if quick and (soon := _quickly(law, options)):
                return soon
            if options.method != "joint":
                patient = options.tolerance <= TOLERANCE
                by_values = after_cut(
                    law, tolerance=options.tolerance, patient=patient, progress=options.progress
                )
            match by_values:
                case Refused():
                    if quick and (told := _told_by_tables(law, options)):
                        return told
                    return when_stuck(law, options, hurried=quick)
                case Bounded() if is_small(law) and wants_exact(options):
                    exact = quotient(law, options)
                    return by_values if isinstance(exact, Refused) else exact
            return by_values
    return found


def _exactly_if_tiny(law: StepLaw, options: Options) -> Plan | None:
    """Return the joint chain of plateaus of which the first has one position, if that decides.

    Then few runs come to compare bridges with each other; elsewhere it would be tried in vain.
    """
    if law.n > _LARGEST_TINY_N or (law.row[:2] == law.row[0]).all():
        return None
    found = _by_patterns(law, options)
    return None if isinstance(found, Refused) else found


def _slopes_are_machines(place: Plateaus) -> bool:
    """Whether the slopes have few histories; where not, there are other ways to an answer.

    Three positions between two plateaus of one bridge have not: it is rewarded at the middle one
    for moves down and up alike, and how often it went down goes on to tell something.
    """
    return not isinstance(attempt(lambda: place.slopes), Refused)


def _quickly(law: StepLaw, options: Options) -> Plan | None:
    """Return what a small law is answered by within seconds, if it is.

    Few values after the cut; a small quotient; a larger one; runs that are played, and proved to be
    stuck, of which only bounds of the probability are known. All other ways that follow values may
    take a minute before they tell that they do not fit.
    """
    from markov_lrsao.values.enclosure import trap_after_cut
    from markov_lrsao.values.quotient.level import quick_quotient
    from markov_lrsao.values.stuck import seen_trap
    from markov_lrsao.values.whole_run import MOST_LUMPS

    few = after_cut(law, tolerance=options.tolerance, hasty=True, patient=True)
    if isinstance(few, Counted):
        return few
    stable = quick_quotient(law, min(MOST_LUMPS, options.max_states or MOST_LUMPS))
    if not isinstance(stable, Refused):
        return Followed(iter((stable,)))
    exact = quotient(law, options)
    if not isinstance(exact, Refused):
        return exact
    trap = seen_trap(law)
    if trap is not None:
        narrower = trap_after_cut(law, narrow=wants_exact(options))
        return Trapped(*narrower) if narrower else Doomed(trap, 1, "runs")
    return None


def _told_by_tables(law: StepLaw, options: Options) -> Layered | Lumped | None:
    """Return what layers and lumps of tables tell of E[T]; None: too little.

    Where layers have an upper end they were mostly narrower than any other way, and sooner: then
    what they tell is the answer, even if it is wider than was asked for. But few lumps may tell
    more, and are tried before the last pass of layers, which takes longest; both are right.
    """
    layers = layered(law, options, hasty=True)
    if isinstance(layers, Refused):
        alone = lumped(law, options, hasty=True)
        return alone if isinstance(alone, Lumped) and alone.width <= options.tolerance else None
    found = layers.answer
    if found.relative_width > options.tolerance:
        for hasty in (True, False):
            lumps = lumped(law, options, hasty=hasty)
            if isinstance(lumps, Refused):
                break
            before = found.relative_width
            found = _in_common(found, lumps)
            if not options.tolerance < found.relative_width < before:
                break
        if found.relative_width > options.tolerance:
            layers = layered(law, options)
            if not isinstance(layers, Refused):
                found = _in_common(layers.answer, found)
    return Layered(found) if found.relative_width <= _USEFUL_WIDTH else None


def _in_common(one: Answer, other: Answer | Lumped) -> Answer:
    """Return what two enclosures of means have in common, in the name of the narrower one.

    Raises
    ------
    SolverError
        They exclude each other.
    """
    if isinstance(other, Lumped):
        means: list[list[Quantity]] = [[Enclosed(low, high)] for low, high in other.bounds]
        other = Answer(means, "lumps", other.lumps, undecided=fmpq(1))
    values: list[list[Quantity]] = []
    for (a, *_), (b, *_) in zip(one.values, other.values, strict=True):
        assert isinstance(a, Enclosed)
        assert isinstance(b, Enclosed)
        low = max(a.lower, b.lower)
        high = min((x for x in (a.upper, b.upper) if x is not None), default=None)
        if high is not None and low > high:
            raise SolverError("two enclosures exclude each other; please report this instance")
        values.append([Enclosed(low, high)])
    better = one if one.relative_width <= other.relative_width else other
    return replace(better, values=values)


def layered(law: StepLaw, options: Options, *, hasty: bool = False) -> Layered | Refused:
    """Enclose E[T] by layers of tables."""
    from markov_lrsao.answers.layered import enclose_by_layers

    found = enclose_by_layers(law, options, hasty=hasty)
    return found if isinstance(found, Refused) else Layered(found)


def lumped(law: StepLaw, options: Options, *, hasty: bool = False) -> Lumped | Refused:
    """Enclose E[T] by lumps of tables that need not be stable."""
    from markov_lrsao.answers.lumped_tables import MOST_LUMPS, enclose_by_lumped_tables

    if options.max_states is not None and options.max_states < MOST_LUMPS:
        return Refused(StateSpaceTooLargeError(f"some {MOST_LUMPS:,} lumps of tables are needed"))
    found = attempt(
        lambda: granted(
            enclose_by_lumped_tables(
                law, tolerance=options.tolerance, hasty=hasty, progress=options.progress
            )
        ),
        (StateSpaceTooLargeError, CrossingError, SolverError),
    )
    return found if isinstance(found, Refused) else Lumped(*found)


def wants_exact(options: Options) -> bool:
    """Whether seconds are well spent on an exact answer; maps have thousands of points to solve."""
    return options.method != "crossing" and options.tolerance <= TOLERANCE


def is_small(law: StepLaw) -> bool:
    """Whether the joint chain of all patterns is worth a try."""
    return _rows(law) <= _MOST_JOINT_ROWS and law.n <= _MOST_JOINT_N


def _rows(law: StepLaw) -> int:
    return int(law.row[: law.optimum].max()) + 1


def _by_patterns(law: StepLaw, options: Options) -> Joint | Counted | Composed | Refused:
    """Choose between joint chain, crossing counts and segments; where one refuses, take another."""
    if options.method == "crossing":
        return counted(law)
    if options.method == "segments":
        return composed(law)
    if options.method == "joint" or not options.merge:
        return joint(law, options)
    if not is_small(law):
        match _at_any_n(law):
            case Refused(CrossingError()):
                return joint(law, options)
            case found:
                return found
    enumerated = joint(law, options)
    match enumerated:
        case Refused(StateSpaceTooLargeError(advised=False)):
            match _at_any_n(law):
                case Refused(CrossingError()):
                    return enumerated
                case other:
                    return other
    return enumerated


def _at_any_n(law: StepLaw) -> Counted | Composed | Refused:
    """Count crossings, or use segments where that does not apply or leaves much to one block."""
    ways: list[Callable[[StepLaw], Counted | Composed | Refused]] = [counted, composed]
    if slopes_follow(law) or block_is_large(law):
        ways.reverse()
    match ways[0](law):
        case Refused(CrossingError()):
            return ways[1](law)
        case found:
            return found


def slopes_follow(law: StepLaw) -> bool:
    """Whether agent states are first met after the cut: then crossing counts leave much to it."""
    from markov_lrsao.crossing.decomposition import cut_of

    cut = cut_of(law)
    return cut < law.optimum and max(law.rows_met(cut)) > int(law.row[:cut].max())


def block_is_large(law: StepLaw) -> bool:
    """Whether no row comes back, agent states have several positions, and patterns are many."""
    from markov_lrsao.crossing.decomposition import cut_of

    if cut_of(law) < law.optimum:
        return False
    regions = np.diff(np.flatnonzero(np.diff(law.row[: law.optimum], prepend=-1, append=-1)))
    automata = attempt(lambda: automata_of(law))
    if isinstance(automata, Refused) or int(regions.max()) == 1:
        return False
    together = 1
    for row in law.rows_met():
        together *= len(automata.patterns[automata.class_of(row)])
        if together > _LARGE_BLOCK:
            return True
    return False


def joint(law: StepLaw, options: Options) -> Joint | Refused:
    """Enumerate all (position, patterns)."""
    found = attempt(
        lambda: enumerate_joint(
            law,
            merge=options.merge,
            max_states=options.max_states,
            field=options.field,
            progress=options.progress,
        )
    )
    return found if isinstance(found, Refused) else Joint(found.chain)


def counted(law: StepLaw) -> Counted | Refused:
    """Count crossings, patterns deciding all comparisons."""
    from markov_lrsao.crossing.decomposition import decompose

    found = attempt(lambda: decompose(law))
    return found if isinstance(found, Refused) else Counted(found)


def composed(law: StepLaw) -> Composed | Refused:
    """Compose segments, patterns deciding all comparisons."""
    from markov_lrsao.crossing.decomposition import cut_of
    from markov_lrsao.crossing.line import line_of
    from markov_lrsao.crossing.shared import explored_core

    if cut_of(law) < law.optimum:
        core = attempt(lambda: explored_core(law))
        return core if isinstance(core, Refused) else Composed(core)
    line = attempt(lambda: line_of(law))
    match line:
        case Refused(CrossingError()):  # a phase ends within a region: follow all rows
            core = attempt(lambda: explored_core(law))
            return line if isinstance(core, Refused) else Composed(core)
        case Refused():
            return line
    return Composed(line)


def after_cut(
    law: StepLaw,
    *,
    tolerance: fmpq = TOLERANCE,
    largest: int | None = None,
    hasty: bool = False,
    patient: bool = False,
    progress: Progress = no_progress,
) -> Counted | Bounded | Refused:
    """Count crossings, with values after the cut; see `resolve`."""
    from markov_lrsao.crossing.decomposition import Decomposition
    from markov_lrsao.values.enclosure import resolve

    found = resolve(
        law,
        tolerance=tolerance,
        largest=largest,
        hasty=hasty,
        patient=patient,
        progress=progress,
    )
    match found:
        case Refused():
            return found
        case Decomposition(choices=None):
            return Counted(found)
    return Bounded(found)


def quotient(law: StepLaw, options: Options) -> Followed | Refused:
    """Find the quotient of all (position, table), in which nothing is open."""
    from markov_lrsao.values.whole_run import MOST_LUMPS, stable_quotient

    largest = min(MOST_LUMPS, options.max_states or MOST_LUMPS)
    found = stable_quotient(law, largest)
    return found if isinstance(found, Refused) else Followed(iter((found,)))


def crossing(law: StepLaw, progress: Progress = no_progress) -> Counted | Bounded | Refused:
    """Count crossings by patterns where they decide, with values after the cut where not."""
    found = counted(law)
    match found:
        case Refused(UndecidedComparisonError()):
            return after_cut(law, patient=True, progress=progress)
    return found


def when_stuck(
    law: StepLaw, options: Options, *, hurried: bool = False
) -> Followed | Trapped | Refused:
    """Follow values through the whole run, or find a trap after the cut.

    Parameters
    ----------
    hurried : there are other ways to an answer where the chain is large
    """
    from markov_lrsao.values.enclosure import trap_after_cut
    from markov_lrsao.values.whole_run import chains_with_values

    largest = MOST_VALUED_STATES if options.max_states is None else options.max_states
    if options.max_states is None and hurried:
        largest = MOST_WIDE_STATES
    unlikely = _rows(law) > _MOST_JOINT_ROWS  # that the chain with values fits
    narrow = wants_exact(options)
    if unlikely and (found := trap_after_cut(law, narrow=narrow)):
        return Trapped(*found)
    exact = wants_exact(options) and is_small(law)
    levels = chains_with_values(law, largest, options.progress, exact=exact)
    if not isinstance(levels, Refused):
        return Followed(levels)
    if not unlikely and (found := trap_after_cut(law, narrow=narrow)):
        return Trapped(*found)
    return Refused(
        UndecidedComparisonError(
            f"patterns do not decide here, and values do not within the limits: {levels.reason}; "
            f"raise `max_states`, or estimate with `simulate()`"
        )
    )
