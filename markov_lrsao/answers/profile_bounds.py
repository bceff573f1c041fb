r"""Where the time goes where values have to be followed: exact, or bounds per position.

Steps at a position, and arrivals at it, are sums of costs over the steps of a run. In a block with
choices they are bounded over all ways in which open comparisons may turn out
(`markov_lrsao.values.choices.bound_sums`). After the cut that is enough: the weights with which its
states are entered are exact and not negative, so they carry bounds to bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from flint import fmpq

from markov_lrsao.chains.solvers import forward
from markov_lrsao.chains.visits import expected_visits
from markov_lrsao.crossing.blocks import Corridor, Edge, Exit
from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.crossing.generating import Evaluation, GeneratingFunction
from markov_lrsao.errors import NotAbsorbingError, UndecidedComparisonError
from markov_lrsao.exact.quantity import Exact, Quantity
from markov_lrsao.values.answer import TOLERANCE
from markov_lrsao.values.choices import bound_sums
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.solving import solve_values
from markov_lrsao.values.traps import fate
from markov_lrsao.values.whole_run import chain_with_values

if TYPE_CHECKING:
    from markov_lrsao.answers.profile import Counter

__all__ = ["after_cut_enclosed", "whole_runs"]

Numbers: TypeAlias = list[Quantity]
Sides: TypeAlias = tuple[Sequence[fmpq], Sequence[fmpq]]
_ZERO, _ONE = fmpq(0), fmpq(1)


def after_cut_enclosed(d: Decomposition, counter: Counter) -> tuple[Numbers, Numbers]:
    """Return steps and visits per position: counted before the cut, bounded after it.

    Parameters
    ----------
    counter : has counted everything before the cut, exactly
    """
    block = d.choices
    assert block is not None
    function = GeneratingFunction(d, Evaluation(exact=True, order=0))
    starts: dict[int, list[tuple[Exit, int]]] = {}
    for key, i in d.tail_start.items():
        starts.setdefault(i, []).append(key)
    weights = {i: function.probability_of_ends(set(keys)) for i, keys in starts.items()}
    spent, arrived = _bounded(block)
    return (
        _added(counter.steps, spent, weights, d.law.optimum, _ZERO),
        _added(counter.visits(), arrived, weights, d.law.optimum, _ONE),
    )


def whole_runs(levels: Iterable[Refined]) -> tuple[Numbers, Numbers]:
    """Return steps and visits per position from chains with values, the first that is narrow.

    Raises
    ------
    NotAbsorbingError
        Runs get stuck with positive probability.
    UndecidedComparisonError
        Open comparisons might keep runs from ending: there are no upper ends.
    """
    best: tuple[fmpq, Refined] | None = None
    for block in levels:
        outcome = fate(block)
        if outcome.stuck_from(block.start[0]) or (outcome.traps and not block.undecided):
            raise NotAbsorbingError(
                "runs get stuck with positive probability: E[T] is infinite, and so are the "
                "steps of some positions; `runtime()` shows the trap"
            )
        if not block.undecided:
            return _solved(block)
        if outcome.traps or outcome.wanders:
            continue
        width = solve_values(block, "exact", 1).relative_width
        if best is None or width < best[0]:
            best = width, block
        if width <= TOLERANCE:
            break
    if best is None:
        raise UndecidedComparisonError(
            "open comparisons might keep runs from ending, so the steps of positions have no upper "
            "ends; `runtime()` has what is known of E[T]"
        )
    block = best[1]
    nothing = [_ZERO] * (block.law.n + 1)
    weights = {block.start[0]: _ONE}
    spent, arrived = _bounded(block)
    return (
        _added(nothing, spent, weights, block.law.optimum, _ZERO),
        _added(nothing, arrived, weights, block.law.optimum, _ONE),
    )


def _solved(block: Refined) -> tuple[Numbers, Numbers]:
    """Solve a chain with values in which nothing is open."""
    chain, _ = chain_with_values(block)
    target = chain.positions == block.law.optimum
    source = [_ZERO] * chain.size
    source[int(chain.start[0])] = _ONE
    steps = [_ZERO] * (block.law.n + 1)
    for p, amount in zip(chain.positions.tolist(), forward(chain, ~target, source), strict=True):
        steps[p] += amount
    steps[block.law.optimum] = _ZERO
    visits = [*expected_visits(chain, target)]
    visits += [_ZERO] * (block.law.n + 1 - len(visits))
    return [Exact(x) for x in steps], [Exact(x) for x in visits]


def _bounded(block: Refined) -> tuple[dict[int, Sides], dict[int, Sides]]:
    """Return bounds of steps, and of arrivals, per state: position -> (lower, upper)."""
    spent: list[dict[int, fmpq]] = []
    arrived: list[dict[int, fmpq]] = []
    for i, options in enumerate(block.options):
        for edges in options:
            costs = _costs(block, i, edges)
            spent.append(costs[0])
            arrived.append(costs[1])
    return _sides(block, spent), _sides(block, arrived)


def _sides(block: Refined, costs: Sequence[Mapping[int, fmpq]]) -> dict[int, Sides]:
    # Every run ends in one arrival at the optimum: nothing is to be bounded there.
    met = sorted({p for cost in costs for p in cost} - {block.law.optimum})
    found = bound_sums(block, [[cost.get(p, _ZERO) for cost in costs] for p in met])
    return dict(zip(met, found, strict=True))


def _costs(
    block: Refined, i: int, edges: Sequence[Edge]
) -> tuple[dict[int, fmpq], dict[int, fmpq]]:
    """Return expected steps and arrivals per position until an option of state i is done."""
    n, p = block.law.n, block.states[i].position
    steps: dict[int, fmpq] = {}
    arrivals: dict[int, fmpq] = {}
    for target, weight in edges:
        if isinstance(weight, Corridor):  # walked up, every position left once
            for q in range(weight.first, weight.last + 1):
                steps[q] = steps.get(q, _ZERO) + fmpq(n, n - q)
                arrivals[q + 1] = arrivals.get(q + 1, _ZERO) + 1
            continue
        share = fmpq(weight.numerator(p, n), block.denominator)
        steps[p] = steps.get(p, _ZERO) + share
        to = block.law.optimum if isinstance(target, Exit) else block.states[target].position
        if to != p:
            arrivals[to] = arrivals.get(to, _ZERO) + share
    return steps, arrivals


def _added(
    known: Sequence[fmpq],
    sides: Mapping[int, Sides],
    weights: Mapping[int, fmpq],
    optimum: int,
    at_optimum: fmpq,
) -> Numbers:
    """Return what is known and the weighted bounds together."""
    numbers: Numbers = []
    for p, value in enumerate(known):
        if p == optimum:
            numbers.append(Exact(at_optimum))
        elif p not in sides:
            numbers.append(Exact(value))
        else:
            lower, upper = (
                value + sum((w * side[i] for i, w in weights.items()), _ZERO) for side in sides[p]
            )
            numbers.append(Quantity.enclosed(lower, upper))
    return numbers
