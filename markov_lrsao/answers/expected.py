"""Expected runtimes: the one function behind `markov-lrsao exact`.

>>> result = runtime(Landscape.jump(9, 2))
>>> result.total.rational
'51740216905/1185192162'
>>> [phase.rational for phase in result.phases]
['9853/2856', '3343673/212520', '1801504607/73614420']
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from flint import fmpq

from markov_lrsao.answers.plan import (
    Doomed,
    Joint,
    Layered,
    Lumped,
    Method,
    Options,
    Plan,
    Relearnt,
    after_cut,
    asked_elsewhere,
    composed,
    counted,
    is_small,
    joint,
    layered,
    lumped,
    plan,
    wants_exact,
    when_stuck,
)
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.hitting import moments_of_phases
from markov_lrsao.chains.solvers import Field
from markov_lrsao.errors import (
    CrossingError,
    LrsaoError,
    NotAbsorbingError,
    ParameterError,
    Refused,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    attempt,
    granted,
)
from markov_lrsao.exact.digits import check_digits
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Infinite, Quantity, Trap
from markov_lrsao.exact.rationals import RationalLike, rational
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily, algorithm_at
from markov_lrsao.model.landscape import LARGEST_N, Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.parameters import hypothesis_h
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.answer import TOLERANCE, Answer

# What only one of the ways needs is imported there: it takes a good part of a small answer's time.
if TYPE_CHECKING:
    from markov_lrsao.answers.searches import Start
    from markov_lrsao.model.jumping_law import JumpingLaw

__all__ = [
    "Method",
    "check_hypothesis",
    "check_learner",
    "runtime",
    "seek_runtime",
]

T = TypeVar("T")
_METHODS: tuple[Method, ...] = ("auto", "joint", "crossing", "segments")
_PROBED_STATES, _PROBED_VALUES = 250_000, 20_000
"""States of the joint chain, and with values, tried before a method is recommended: seconds."""
_ANY_WIDTH = fmpq(10**9)
_NARROW = fmpq(1, 1000)
"""Relative width of an enclosure beyond which layers and lumps of tables are tried."""


def check_hypothesis(
    landscape: Landscape, algorithm: Algorithm, *, outside_h: bool = False
) -> bool | None:
    """Return whether (H) holds; None where it does not apply.

    Raises
    ------
    ParameterError
        (H) fails and `outside_h` does not allow that.
    """
    if algorithm.parameters is None:
        return None
    h = hypothesis_h(landscape, algorithm.parameters)
    if not h.holds and not outside_h:
        raise ParameterError(
            f"r = {algorithm.parameters.r} is outside hypothesis (H): {h.describe()}; "
            f"`outside_h=True` computes anyway"
        )
    return h.holds


def runtime(
    landscape: Landscape | LeadingOnes,
    algorithm: Algorithm | AlgorithmFamily | Search | NamedAlgorithm | None = None,
    *,
    method: str = "auto",
    field: Field = "exact",
    moments: int = 2,
    merge: bool = True,
    outside_h: bool = False,
    max_states: int | None = None,
    tolerance: RationalLike | None = None,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    digits: int | None = None,
    progress: Progress = no_progress,
) -> RuntimeResult:
    """Return E[T], its phases and variances.

    Where patterns do not decide a comparison, values are followed; what even they leave open
    makes the result an enclosure. Where a run can get stuck, E[T] is infinite.

    Parameters
    ----------
    algorithm : default LRSAO with the paper's hyper-parameters at the landscape's n
    method : "joint" enumerates all (position, patterns), "crossing" counts crossings,
        "segments" takes whole slopes together, "auto" takes the joint chain where
        it is small, and another way where one refuses
    field : "exact" rationals or "float"
    moments : 2 for mean and variance, up to 4 for more central moments
    merge : merge equivalent patterns first (joint only)
    outside_h : compute although (H) does not hold
    max_states : refuse larger joint chains
    tolerance : relative width of an enclosure at which refinement stops
    start, at_least : where runs begin and end; see `markov_lrsao.answers.searches`, which also has
        the methods of searches that do not learn. Of those that do, the joint chain is solved
    digits : significant digits instead of fractions, each certain: any n is fast, in balls whose
        precision is raised until they are; `result.certified` says whether they all are

    Raises
    ------
    ParameterError, StateSpaceTooLargeError, CrossingError, UndecidedComparisonError
    """
    _check_choice("field", field, ("exact", "float"))
    if not 2 <= moments <= 4:
        raise ParameterError(f"moments = {moments} is out of range: choose 2, 3 or 4")
    _check_wish(digits, field)
    if isinstance(algorithm, NamedAlgorithm):
        algorithm = algorithm.on(landscape)
    if isinstance(algorithm, Search):
        from markov_lrsao.answers.searches import search_runtime

        return search_runtime(
            landscape,
            algorithm,
            start=start,
            at_least=at_least,
            field=field,
            moments=moments,
            method=method,
            digits=digits,
        )
    known = _check_choice("method", method, _METHODS)
    check_learner(landscape, algorithm)
    options = Options(
        method=known,
        field=field,
        merge=merge,
        max_states=max_states,
        tolerance=_width(tolerance),
        wide=known == "auto",
        progress=progress,
    )
    assert isinstance(landscape, Landscape)
    algorithm = algorithm_at(algorithm, landscape.n)
    if algorithm.epsilon != 0 or algorithm.rate is not None or asked_elsewhere(start, at_least):
        from markov_lrsao.answers.learners import learner_runtime

        holds = check_hypothesis(landscape, algorithm, outside_h=outside_h)
        found = learner_runtime(
            _law(landscape, algorithm), start, at_least, options, moments=moments, holds=holds
        )
        return found if digits is None else found.to_digits(digits)
    return granted(
        seek_runtime(
            landscape, algorithm, options, moments=moments, digits=digits, outside_h=outside_h
        )
    )


def _check_wish(digits: int | None, field: Field) -> None:
    """Refuse a number of digits that is out of range, or wanted of floats."""
    if digits is None:
        return
    if field == "float":
        raise ParameterError(
            f"digits = {digits} are certain, and floats are not: give `digits` or floats"
        )
    check_digits(digits)


def _width(tolerance: RationalLike | None) -> fmpq:
    """Return the relative width of an enclosure that is narrow enough."""
    width = TOLERANCE if tolerance is None else rational(tolerance, "tolerance")
    if width <= 0:
        raise ParameterError(f"tolerance = {width} is out of range: give a positive number")
    return width


def _law(landscape: Landscape, algorithm: Algorithm) -> StepLaw | JumpingLaw:
    """Return the law of an agent's steps, of one bit or of several."""
    if algorithm.rate is None:
        return StepLaw.of(landscape, algorithm)
    from markov_lrsao.model.jumping_law import JumpingLaw

    return JumpingLaw.of(landscape, algorithm)


def _check_choice(name: str, given: str, known: Sequence[T]) -> T:
    """Return what was chosen, if it is known."""
    for one in known:
        if given == one:
            return one
    raise ParameterError(f"{name} = {given!r} is unknown: choose {', '.join(map(str, known))}")


def check_learner(landscape: object, algorithm: Algorithm | AlgorithmFamily | None) -> None:
    """Refuse what is solved for searches that do not learn only."""
    name = algorithm.name if isinstance(algorithm, Algorithm) else "LRSAO"
    if isinstance(landscape, LeadingOnes):
        raise ParameterError(
            f"{name} learns one row of Q per value, which levels do not show: LeadingOnes takes "
            f"searches that do not learn; choose e.g. ea:rate=1/n"
        )


def seek_runtime(
    landscape: Landscape,
    algorithm: Algorithm | AlgorithmFamily | None,
    options: Options,
    *,
    moments: int = 2,
    digits: int | None = None,
    outside_h: bool = False,
) -> RuntimeResult | Refused:
    """Return what `runtime` does, or why there is no answer; only wrong parameters are errors."""
    begun = time.perf_counter()
    check_size(landscape)
    algorithm = algorithm_at(algorithm, landscape.n)
    holds = check_hypothesis(landscape, algorithm, outside_h=outside_h)
    law = StepLaw.of(landscape, algorithm)
    chosen = plan(law, options)
    found = _solve(law, chosen, options, moments, digits)
    match found:
        case Refused(NotAbsorbingError()):
            found = _solve(law, when_stuck(law, options), options, moments, digits)
    match found:
        case Refused(UndecidedComparisonError()) if options.method == "auto" and is_small(law):
            found = (_seen_stuck(law, options, moments) if wants_exact(options) else None) or found
    # Whole tables would take minutes, and tell less, where plateaus have had their own way.
    own_way = isinstance(chosen, Relearnt) and isinstance(found, Answer)
    if options.wide and is_small(law) and wants_exact(options) and not own_way:
        found = _dug(law, options, moments, _narrower(law, options, moments, found))
    match found:
        case Refused((CrossingError(advised=False) | StateSpaceTooLargeError(advised=False)) as e):
            return Refused(type(e)(f"{e}; {_instead(law, e, options.method)}"))
        case Refused():
            return found
    result = RuntimeResult.of(
        landscape,
        algorithm,
        found.values,
        hypothesis_h=holds,
        method=found.method,
        merged=options.merge or found.method != "joint",
        states=found.states,
        seconds=time.perf_counter() - begun,
        optimum=landscape.optimum,
        phase_names=landscape.phases,
        trap=found.trap,
        undecided=(
            None if found.undecided is None else Quantity.enclosed(fmpq(0), found.undecided)
        ),
    )
    return result if digits is None else result.to_digits(digits)


def _solve(
    law: StepLaw, chosen: Plan, options: Options, moments: int, digits: int | None = None
) -> Answer | Refused:
    """Return the moments of T and of the phases, as planned."""
    match chosen:
        case Refused():
            return chosen
        case Doomed(trap, states, method):
            return _infinite(law, trap, method, states, moments)
        case Lumped():
            return _lumped(chosen, moments)
        case Layered(answer):
            return _with_moments(answer, moments)
        case Joint(chain):
            return attempt(lambda: _joint(law, chain, options, moments))
    from markov_lrsao.answers.counting import solved

    return solved(law, chosen, options, moments, digits)


def _seen_stuck(law: StepLaw, options: Options, moments: int) -> Answer | None:
    """Return that E[T] is infinite, where runs are seen to get stuck; None: they are not."""
    from markov_lrsao.answers.forward_law import trap_forward

    found = trap_forward(law, options.progress, options.max_states)
    return None if found is None else _infinite(law, found[0], "forward", found[1], moments)


def _infinite(law: StepLaw, trap: Trap, method: str, states: int, moments: int) -> Answer:
    """Return that E[T] is infinite; of the phases nothing is known."""
    infinite: list[Quantity] = [Infinite()] * moments
    unknown: list[Quantity] = [UNKNOWN] * moments
    phases = [unknown] * len(law.landscape.milestones)
    return Answer([infinite, *phases], method, states, trap=trap)


def _lumped(found: Lumped, moments: int) -> Answer:
    """Return an enclosure by lumps of tables."""
    unknown: list[Quantity] = [UNKNOWN] * (moments - 1)
    values = [[Quantity.enclosed(a, b), *unknown] for a, b in found.bounds]
    return Answer(values, "lumps", found.lumps, undecided=fmpq(1))


def _with_moments(answer: Answer, moments: int) -> Answer:
    """Return means as an answer, of whose variances and further moments nothing is known."""
    unknown: list[Quantity] = [UNKNOWN] * (moments - 1)
    return replace(answer, values=[[*means, *unknown] for means in answer.values])


def _narrower(
    law: StepLaw, options: Options, moments: int, found: Answer | Refused
) -> Answer | Refused:
    """Return an answer, or what layers or lumps of tables tell where that is wide or refused."""
    match found:
        case Refused(UndecidedComparisonError()):
            pass
        case Answer(trap=None, values=[[Enclosed() as total, *_], *_], method=method):
            width = total.relative_width
            if method in ("layers", "lumps") or (width is not None and width <= _NARROW):
                return found
        case _:
            return found
    answers = [] if isinstance(found, Refused) else [found]
    other = lumped(law, options)
    if not isinstance(other, Refused):
        answers.append(_lumped(other, moments))
    if not answers or min(a.relative_width for a in answers) > _NARROW:
        tables = layered(law, options)
        if not isinstance(tables, Refused):
            answers.append(_with_moments(tables.answer, moments))
    return min(answers, key=lambda a: a.relative_width) if answers else found


def _dug(law: StepLaw, options: Options, moments: int, found: Answer | Refused) -> Answer | Refused:
    """Return that E[T] is infinite, where it has no upper end and stuck runs can be dug out."""
    match found:
        case Answer(trap=None, values=[[Enclosed(_, None), *_], *_]) if wants_exact(options):
            from markov_lrsao.values.digging import dug_trap

            trap = dug_trap(law)
            if trap is not None:
                infinite: list[Quantity] = [Infinite()] * moments
                values = [infinite, *found.values[1:]]
                return replace(found, values=values, trap=trap, undecided=None)
    return found


def _instead(law: StepLaw, error: LrsaoError, tried: Method) -> str:
    """Return what to do instead of a method that has failed: another that is seen to work."""
    counts: list[Method] = ["crossing", "segments"]
    others: list[Method] = ["segments", "joint"] if isinstance(error, CrossingError) else counts
    for other in others:
        if other == tried:
            continue
        found = attempt(lambda way=other: granted(_probe(law, way)), (LrsaoError,))  # type: ignore[misc]
        if not isinstance(found, Refused):
            return f'{"or " if others is counts else ""}use `method="{other}"`'
    return "estimate with `simulate()`"


def _probe(law: StepLaw, other: Method) -> Plan | Answer:
    """Try another method within seconds."""
    found: Plan
    if other == "segments":
        return composed(law)
    if other == "joint":
        found = joint(law, Options(max_states=_PROBED_STATES))
        match found:
            case Refused(UndecidedComparisonError()):
                valued = Options(field="float", max_states=_PROBED_VALUES)
                return _solve(law, when_stuck(law, valued), valued, 2)
        return found
    found = counted(law)
    match found:
        case Refused(UndecidedComparisonError()):
            return after_cut(law, tolerance=_ANY_WIDTH)
    return _solve(law, found, Options(field="float"), 2)


def check_size(landscape: Landscape) -> None:
    """Refuse an n whose tables would not fit into memory."""
    if landscape.n > LARGEST_N:
        raise StateSpaceTooLargeError(
            f"n = {landscape.n:,} is too large: its tables need some "
            f"{landscape.n * 400 / 1e9:,.0f} GB; the limit is n = {LARGEST_N:,}"
        )


def _joint(law: StepLaw, chain: MarkovChain, options: Options, moments: int) -> Answer:
    ends = [chain.positions >= m for m in law.landscape.milestones]
    found = moments_of_phases(chain, ends, moments, field=options.field, progress=options.progress)
    return Answer([[Quantity.of(x) for x in q] for q in found], "joint", chain.size)
