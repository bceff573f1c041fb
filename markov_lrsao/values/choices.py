r"""Bounds over all ways in which undecided comparisons may turn out.

In a block with choices the truth picks, at every visit of an undecided state, one of its
options, in a manner that may depend on the whole past. Let w be the weights of a transition
as series about z = 1 (see `markov_lrsao.exact.series`); all coefficients are non-negative. If, for
every state i and every option o of it,

    U_k(i) >= sum over targets t of  w_0 U_k(t) + w_1 U_(k-1)(t) + .. + w_k U_0(t),

then U_k(i) bounds E[(T choose k)] from above whatever is picked: iterate the inequality m
times, and what is left over is at least -sup |U| P(T > m). If the opposite inequality holds
for V, V is a bound from below in the same way. That P(T > m) tends to 0 whatever is picked
follows from a bounded S with S >= 1 + P S for every option, which is found and checked
first (`_System.steps`). So a candidate is enough: it is found in floats by
policy iteration, moved outwards a little, and the inequalities are checked in exact
rationals. Nothing that floats do can make a bound wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.crossing.blocks import Exit
from markov_lrsao.crossing.generating import EdgeWeights, Evaluation
from markov_lrsao.errors import SolverError
from markov_lrsao.exact.series import Element
from markov_lrsao.values.policies import optimal_values
from markov_lrsao.values.refinement import Refined

__all__ = [
    "Bounds",
    "bound_moments",
    "bound_sums",
    "probability_of_choice",
    "probability_of_reaching",
    "steps_before_choice",
]

FloatArray = npt.NDArray[np.float64]
_MARGINS = (1e-12, 1e-10, 1e-8, 1e-6)
"""Relative distances by which a candidate is moved outwards until its check succeeds."""


@dataclass(frozen=True)
class Bounds:
    """Per state of a block, series of bounds from below and from above."""

    lower: list[Element]
    upper: list[Element]


@dataclass(frozen=True, eq=False)
class _System:
    """All options of all states as one list of rows.

    Attributes
    ----------
    owner : option -> its state
    first : state -> its first option
    terms : option -> [(target state or -1, weight as a series)]; -1 is an exit, worth 1
    """

    owner: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    terms: list[list[tuple[int, Element]]]
    matrix: Any
    order: int

    @cached_property
    def steps(self) -> list[fmpq]:
        """A bound S >= 1 + P S for every option: of the number of states passed."""
        ones = [fmpq(1)] * len(self.owner)
        candidate = [_dyadic(x) for x in _optimal(self, ones, 1).tolist()]
        for margin in _MARGINS:
            values = [v * (1 + _dyadic(margin)) for v in candidate]
            if _holds(self, ones, values, 1):
                return values
        raise SolverError("the number of steps could not be bounded; please report this instance")


def _system(refined: Refined, counts: Callable[[int], bool], order: int) -> _System:
    from scipy.sparse import csr_array

    weigh = EdgeWeights(Evaluation(exact=True, order=order), refined.law.n, refined.denominator)
    owner: list[int] = []
    first: list[int] = []
    terms: list[list[tuple[int, Element]]] = []
    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    for i, (state, options) in enumerate(zip(refined.states, refined.options, strict=True)):
        first.append(len(owner))
        marked = counts(state.phase)
        for edges in options:
            row: list[tuple[int, Element]] = []
            for target, weight in edges:
                element = weigh(state.position, weight, marked)
                to = -1 if isinstance(target, Exit) else target
                row.append((to, element))
                if to >= 0:
                    rows.append(len(owner))
                    columns.append(to)
                    entries.append(int(element[0].p) / int(element[0].q))
            owner.append(i)
            terms.append(row)
    matrix = csr_array(
        (np.array(entries), (np.array(rows, np.int64), np.array(columns, np.int64))),
        shape=(len(owner), len(refined.states)),
    )
    return _System(np.array(owner), np.array(first), terms, matrix, order)


def bound_moments(
    refined: Refined, counts: Callable[[int], bool], order: int, *, until: Collection[int] = ()
) -> Bounds:
    """Return bounds of E[(T choose k)], k = 0..order, per state, over all choices.

    Parameters
    ----------
    counts : phase -> whether its steps count
    until : states at whose first visit T ends, beside the exits
    """
    system = _system(refined, counts, order)
    if until:
        system = _ending(system, set(until))
    size = len(refined.states)
    sides = []
    for sign in (-1, 1):
        values: list[list[fmpq]] = [[fmpq(1)] * size]
        for k in range(1, order + 1):
            constant = [
                sum(
                    (
                        element[i] * (values[k - i][to] if to >= 0 else (1 if k == i else 0))
                        for to, element in row
                        for i in range(1, k + 1)
                    ),
                    fmpq(0),
                )
                for row in system.terms
            ]
            nothing = all(c == 0 for c in constant)  # no step counts: exactly 0
            values.append([fmpq(0)] * size if nothing else _bound(system, constant, sign))
        sides.append([tuple(values[k][i] for k in range(order + 1)) for i in range(size)])
    return Bounds(*sides)


def bound_sums(
    refined: Refined, costs: Sequence[Sequence[fmpq]]
) -> list[tuple[list[fmpq], list[fmpq]]]:
    """Return bounds, per state, of the expected sum of every cost until the exit, over all choices.

    U >= c + P U for every option bounds it from above, by the argument for k = 1 of moments.

    Parameters
    ----------
    costs : each per option, states by number and their options in order; none is negative
    """
    system = _system(refined, lambda _: False, 0)
    return [
        ([max(v, fmpq(0)) for v in _bound(system, cost, -1)], _bound(system, cost, 1))
        for cost in costs
    ]


def probability_of_choice(refined: Refined, traps: Collection[int] = ()) -> list[fmpq]:
    """Return per state an upper bound of the probability of ever meeting an open comparison.

    Runs that enter one of the `traps` before have met none.
    """
    undecided = set(refined.undecided) - set(traps)
    if not undecided:
        return [fmpq(0)] * len(refined.states)
    system = _ending(_system(refined, lambda _: False, 0), undecided | set(traps))
    return [min(v, fmpq(1)) for v in _bound(system, _indicator(system, undecided), 1)]


def probability_of_reaching(
    refined: Refined, targets: set[int], *, cautious: bool, lost: Collection[int] = ()
) -> tuple[list[fmpq], list[fmpq]]:
    """Return bounds of the probability of reaching a set of states, over all choices.

    Parameters
    ----------
    cautious : some choices may keep the run away from exits and targets for ever. Then runs
        are given up at the first open comparison.
    lost : states at which runs are given up; such runs count for the upper bound only
    """
    given_up = {*lost, *(refined.undecided if cautious else ())} - targets
    system = _ending(_system(refined, lambda _: False, 0), targets | given_up)
    return (
        _bound(system, _indicator(system, targets), -1),
        _bound(system, _indicator(system, targets | given_up), 1),
    )


def steps_before_choice(
    refined: Refined, counts: Callable[[int], bool], traps: set[int]
) -> list[fmpq]:
    """Return bounds from below of the steps until an exit, a trap or an open comparison."""
    plain = _system(refined, counts, 1)
    system = _ending(plain, traps | set(refined.undecided))
    constant = [sum((element[1] for _, element in row), fmpq(0)) for row in system.terms]
    return [max(v, fmpq(0)) for v in _bound(system, constant, -1)]


def _indicator(system: _System, states: set[int]) -> list[fmpq]:
    return [fmpq(1 if int(i) in states else 0) for i in system.owner]


def _ending(system: _System, states: set[int]) -> _System:
    """Let the given states lead nowhere."""
    from scipy.sparse import diags_array

    keep = np.array([0.0 if int(i) in states else 1.0 for i in system.owner])
    terms = [
        [] if int(i) in states else row for i, row in zip(system.owner, system.terms, strict=True)
    ]
    return _System(
        system.owner, system.first, terms, (diags_array(keep) @ system.matrix).tocsr(), system.order
    )


def _bound(system: _System, constant: Sequence[fmpq], sign: int) -> list[fmpq]:
    """Solve v = max (or min) over options of (P v + constant), moved outwards and checked.

    Candidates are moved along a bound S >= 1 + P S of the number of steps: that
    gains at least the same amount in every inequality.
    """
    candidate = [_dyadic(x) for x in _optimal(system, constant, sign).tolist()]
    slack = system.steps
    scale_ = max([fmpq(1), *(abs(v) for v in candidate)]) / max(slack)
    for margin in _MARGINS:
        move = sign * scale_ * _dyadic(margin)
        values = [v + move * s for v, s in zip(candidate, slack, strict=True)]
        if _holds(system, constant, values, sign):
            return values
    raise SolverError(
        "bounds over the undecided comparisons could not be confirmed; please report this instance"
    )


def _holds(system: _System, constant: Sequence[fmpq], values: Sequence[fmpq], sign: int) -> bool:
    """Whether values bound every option, from above (sign 1) or from below (-1), exactly."""
    for option, row in enumerate(system.terms):
        total = constant[option]
        for to, element in row:
            if to >= 0:
                total += element[0] * values[to]
        if sign * (values[int(system.owner[option])] - total) < 0:
            return False
    return True


def _dyadic(x: float) -> fmpq:
    return fmpq(*x.as_integer_ratio())


def _optimal(system: _System, constant: Sequence[fmpq], sign: int) -> FloatArray:
    """Return the optimal values in floats."""
    costs = np.array([int(c.p) / int(c.q) for c in constant])
    return optimal_values(system.matrix, system.owner, system.first, costs, sign)
