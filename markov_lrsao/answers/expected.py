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
from functools import partial
from typing import Any, Literal

from flint import fmpq

from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.chains.hitting import phase_moments
from markov_lrsao.chains.solvers import Field
from markov_lrsao.crossing.decomposition import Decomposition, decompose
from markov_lrsao.crossing.generating import Evaluation, GeneratingFunction
from markov_lrsao.errors import (
    CrossingError,
    LrsaoError,
    NotAbsorbingError,
    ParameterError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    VerificationError,
)
from markov_lrsao.exact.balls import Positive, checked
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import RationalLike, rational
from markov_lrsao.exact.series import Element
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily, algorithm_at
from markov_lrsao.model.landscape import LARGEST_N, Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import hypothesis_h
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.enclosure import resolve
from markov_lrsao.values.fallback import Answer, answer

__all__ = [
    "EXACT_VARIANCE_LIMIT",
    "Method",
    "central_from_factorial",
    "check_hypothesis",
    "moments_in_floats",
    "runtime",
]

Method = Literal["auto", "joint", "crossing"]

_PROBED_STATES, _PROBED_VALUES = 250_000, 20_000
"""States of the joint chain, and with values, tried before a method is recommended: seconds."""
_ANY_WIDTH = fmpq(10**9)
EXACT_VARIANCE_LIMIT = 10_000
"""Largest n for which crossing counts give an exact variance: about 5 s there. Beyond it the
variance is a float with a bound of its error; the expectations stay exact."""
_MOST_JOINT_ROWS, _MOST_JOINT_N = 9, 40
"""`auto` enumerates the joint chain up to this many Q-rows (seven slope sites of Jump)."""


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
    landscape: Landscape,
    algorithm: Algorithm | AlgorithmFamily | None = None,
    *,
    method: Method = "auto",
    field: Field = "exact",
    moments: int = 2,
    merge: bool = True,
    outside_h: bool = False,
    max_states: int | None = None,
    tolerance: RationalLike | None = None,
    progress: Progress = no_progress,
) -> RuntimeResult:
    """Return E[T], its phases and variances.

    Where patterns do not decide a comparison, values are followed; what even they leave open
    makes the result an enclosure. Where a run can get stuck, E[T] is infinite.

    Parameters
    ----------
    algorithm : default LRSAO with the paper's hyper-parameters at the landscape's n
    method : "joint" enumerates all (position, patterns), "crossing" counts crossings,
        "auto" takes the joint chain where it is small, and the other way where one refuses
    field : "exact" rationals or "float"
    moments : 2 for mean and variance, up to 4 for more central moments
    merge : merge equivalent patterns first (joint only)
    outside_h : compute although (H) does not hold
    max_states : refuse larger joint chains
    tolerance : relative width of an enclosure at which refinement stops

    Raises
    ------
    ParameterError, StateSpaceTooLargeError, CrossingError, UndecidedComparisonError
    """
    begun = time.perf_counter()
    for name, given, known in (
        ("method", method, ("auto", "joint", "crossing")),
        ("field", field, ("exact", "float")),
    ):
        if given not in known:
            raise ParameterError(f"{name} = {given!r} is unknown: choose {', '.join(known)}")
    if not 2 <= moments <= 4:
        raise ParameterError(f"moments = {moments} is out of range: choose 2, 3 or 4")
    width = None if tolerance is None else rational(tolerance, "tolerance")
    if width is not None and width <= 0:
        raise ParameterError(f"tolerance = {width} is out of range: give a positive number")
    check_size(landscape)
    algorithm = algorithm_at(algorithm, landscape.n)
    holds = check_hypothesis(landscape, algorithm, outside_h=outside_h)
    law = StepLaw.of(landscape, algorithm)
    try:
        try:
            if method == "joint":
                found = _joint(law, field, moments, merge, max_states, progress)
            elif method == "crossing":
                found = _crossing(decompose(law), field, moments)
            else:
                found = _auto(law, field, moments, merge, max_states, progress)
        except (UndecidedComparisonError, NotAbsorbingError):
            found = _answer(law, method, field, moments, max_states, width, progress)
    except (CrossingError, StateSpaceTooLargeError) as error:
        if error.advised:
            raise
        raise type(error)(f"{error}; {_instead(law, error)}") from None
    total, *phases = found.values
    return RuntimeResult(
        landscape=landscape.name,
        algorithm=algorithm.name,
        n=landscape.n,
        ell=landscape.ell,
        parameters=algorithm.parameters,
        hypothesis_h=holds,
        method=found.method,
        merged=merge or found.method == "crossing",
        states=found.states,
        seconds=time.perf_counter() - begun,
        total=total[0],
        phases=tuple(p[0] for p in phases),
        variance=total[1],
        phase_variances=tuple(p[1] for p in phases),
        higher=tuple(total[2:]),
        phase_higher=tuple(tuple(p[2:]) for p in phases),
        optimum=landscape.optimum,
        trap=found.trap,
        undecided=(
            None if found.undecided is None else Quantity.enclosed(fmpq(0), found.undecided)
        ),
    )


def _answer(
    law: StepLaw,
    method: Method,
    field: Field,
    moments: int,
    max_states: int | None,
    tolerance: fmpq | None,
    progress: Progress,
) -> Answer:
    """Follow values where patterns do not decide, or find where runs get stuck."""
    found = answer(
        law,
        method=method,
        field=field,
        moments=moments,
        tolerance=tolerance,
        max_states=max_states,
        progress=progress,
    )
    if found.decomposition is None:
        return found
    try:
        return _crossing(found.decomposition, field, moments)
    except NotAbsorbingError:  # the joint chain with values shows the trap
        return answer(
            law,
            method="joint",
            field=field,
            moments=moments,
            tolerance=tolerance,
            max_states=max_states,
            progress=progress,
        )


def _instead(law: StepLaw, error: Exception) -> str:
    """Return what to do instead of a method that has failed: another that is seen to work."""
    try:
        if isinstance(error, CrossingError):
            try:
                enumerate_joint(law, max_states=_PROBED_STATES)
            except UndecidedComparisonError:
                answer(law, method="joint", field="float", moments=2, max_states=_PROBED_VALUES)
            return 'use `method="joint"`'
        try:
            _crossing(decompose(law), "float", 2)
        except UndecidedComparisonError:
            resolve(law, tolerance=_ANY_WIDTH)
        return 'or use `method="crossing"`'
    except LrsaoError:
        return "estimate with `simulate()`"


def check_size(landscape: Landscape) -> None:
    """Refuse an n whose tables would not fit into memory."""
    if landscape.n > LARGEST_N:
        raise StateSpaceTooLargeError(
            f"n = {landscape.n:,} is too large: its tables need some "
            f"{landscape.n * 400 / 1e9:,.0f} GB; the limit is n = {LARGEST_N:,}"
        )


def _auto(
    law: StepLaw,
    field: Field,
    moments: int,
    merge: bool,
    max_states: int | None,
    progress: Progress,
) -> Answer:
    rows = int(law.row[: law.optimum].max()) + 1
    small = rows <= _MOST_JOINT_ROWS and law.n <= _MOST_JOINT_N
    joint = partial(_joint, law, field, moments, merge, max_states, progress)
    if not merge:
        return joint()
    if not small:
        try:
            return _crossing(decompose(law), field, moments)
        except CrossingError:
            return joint()
    try:
        return joint()
    except StateSpaceTooLargeError as error:
        if error.advised:  # neither way can begin
            raise
        try:
            return _crossing(decompose(law), field, moments)
        except CrossingError:
            raise error from None


def _joint(
    law: StepLaw,
    field: Field,
    moments: int,
    merge: bool,
    max_states: int | None,
    progress: Progress,
) -> Answer:
    chain = enumerate_joint(
        law, merge=merge, max_states=max_states, field=field, progress=progress
    ).chain
    ends = [chain.positions >= m for m in law.landscape.milestones]
    total = phase_moments(chain, None, ends[-1], moments, field=field, progress=progress)
    phases = (
        [total]
        if len(ends) == 1
        else [
            phase_moments(chain, begin, end, moments, field=field, progress=progress)
            for begin, end in zip([None, *ends[:-1]], ends, strict=True)
        ]
    )
    return Answer([[Quantity.of(x) for x in q] for q in (total, *phases)], "joint", chain.size)


def _crossing(decomposition: Decomposition, field: Field, moments: int) -> Answer:
    law = decomposition.law
    count = len(law.landscape.milestones)
    chosen: list[Sequence[bool]] = [[True] * count]
    chosen += [[k == phase for k in range(count)] for phase in range(count)]
    order = 0 if field == "float" else 2 if law.n <= EXACT_VARIANCE_LIMIT else 1
    values: list[list[Quantity]] = [[] for _ in chosen]
    if order:
        function = GeneratingFunction(decomposition, Evaluation(exact=True, order=order))
        values = [
            [Quantity(v) for v in central_from_factorial(_whole(function(phases)))]
            for phases in chosen
        ]
    if order < moments:
        for known, phases in zip(
            values, moments_in_floats(decomposition, chosen, moments), strict=True
        ):
            known += phases[order:]
    return Answer(values, "crossing", decomposition.states)


def moments_in_floats(
    decomposition: Decomposition, chosen: Sequence[Sequence[bool]], moments: int
) -> list[list[Quantity]]:
    """Return mean and central moments of the marked phases, each with a bound of its error."""
    function = GeneratingFunction(
        decomposition, Evaluation(exact=False, central=True, order=moments)
    )
    with checked():
        return [[Quantity.of(x) for x in _whole(function(phases))[1:]] for phases in chosen]


def _whole(element: Element) -> Element:
    """Check that E[z^T] at z = 1 is 1: exactly, or within the bound of its error.

    Raises
    ------
    VerificationError
        Some runs are lost, or counted twice.
    """
    mass = element[0]
    floating = isinstance(mass, Positive)
    if not abs(float(mass.value) - 1) <= mass.relative if floating else mass != 1:
        raise VerificationError(
            f"the probabilities of all runs add up to {mass.value if floating else mass}, not 1; "
            f"please report this instance"
        )
    return element


def central_from_factorial(element: Element) -> list[Any]:
    """Return mean, variance and further central moments from E[(T choose k)], k = 0, 1, ..

    `element` is E[z^T] about z = 1; in floats its constant term is 1 but for rounding, and
    the others are divided by it.

    >>> central_from_factorial((fmpq(1), fmpq(3), fmpq(6)))  # T has mean 3, E[T(T-1)] = 12
    [3, 6]
    """
    head = element[0]
    binomial = [c / head for c in element]
    mean = binomial[1]
    # E[T^k] = sum_j S(k, j) j! E[(T choose j)], S the Stirling numbers of the second kind.
    raw = [binomial[0], mean]
    if len(binomial) > 2:
        raw.append(mean + 2 * binomial[2])
    if len(binomial) > 3:
        raw.append(mean + 6 * binomial[2] + 6 * binomial[3])
    if len(binomial) > 4:
        raw.append(mean + 14 * binomial[2] + 36 * binomial[3] + 24 * binomial[4])
    result = [mean]
    if len(raw) > 2:
        result.append(raw[2] - mean**2)
    if len(raw) > 3:
        result.append(raw[3] - 3 * mean * raw[2] + 2 * mean**3)
    if len(raw) > 4:
        result.append(raw[4] - 4 * mean * raw[3] + 6 * mean**2 * raw[2] - 3 * mean**4)
    return result
