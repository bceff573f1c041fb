"""Expected steps and crossings per position where slopes lie between shared rows.

The expected number of visits x of the chain's states (`markov_lrsao.crossing.shared`) solves
x = start + x P, component by component. It gives the steps at the positions that are followed, and
the expected entries of each middle by its history; those are passed down from region to region
(`markov_lrsao.crossing.histories.entries_of`). All of it in rationals.
"""

from __future__ import annotations

from flint import fmpq

from markov_lrsao.answers.profile import Counter, flow_of
from markov_lrsao.crossing.blocks import Corridor, State
from markov_lrsao.crossing.histories import entries_of, histories_of
from markov_lrsao.crossing.shared import Chain, Core
from markov_lrsao.errors import NotAbsorbingError
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.linear import solve_rows
from markov_lrsao.model.law import DOWN

__all__ = ["count_segments"]


def count_segments(core: Core, counter: Counter) -> None:
    """Count the steps and crossings of all positions.

    Raises
    ------
    NotAbsorbingError
        Runs get stuck.
    """
    chain = core.chain(0, len(core.law.landscape.milestones))
    if chain.trapped is not None:
        raise NotAbsorbingError(
            "runs can get stuck, and the steps of some positions are infinite; `runtime()` shows "
            "the trap"
        )
    rows = _probabilities(chain)
    visits = _visits(chain, rows)
    entered: list[dict[int, fmpq]] = [{} for _ in core.middles]
    for i, (shown, amount) in enumerate(zip(chain.states, visits, strict=True)):
        if shown.phase >= chain.end:
            continue
        if shown.place < 0:
            k, history = -1 - shown.place, shown.histories[-1 - shown.place]
            entered[k][history] = entered[k].get(history, fmpq(0)) + amount
            continue
        for (to, weight, _), (_, probability) in zip(chain.edges[i], rows[i], strict=True):
            if isinstance(weight, Corridor):
                counter.corridor(weight, amount)
                continue
            position = chain.states[to].place
            if position < 0:
                first = core.middles[-1 - position][0].first
                position = shown.place + (1 if shown.place < first else -1)
            counter.step(shown.place, position, amount * probability)
    for regions, entries in zip(core.middles, entered, strict=True):
        for region, own in entries_of(regions, entries):
            source: dict[int, fmpq] = {}
            for (end, i), amount in own.items():
                position = region.first if end == DOWN else region.last
                state = region.block.number[State(position, 0, (region.memory[i],))]
                source[state] = source.get(state, fmpq(0)) + amount
            counter.block(region.block, flow_of(region.block, source, back=False))


def _probabilities(chain: Chain) -> list[list[tuple[int, fmpq]]]:
    """Return the transition probabilities of the chain's states, edge by edge."""
    core, law = chain.core, chain.core.law
    middles = [histories_of(m, Evaluation(exact=True, order=0)) for m in core.middles]
    result: list[list[tuple[int, fmpq]]] = []
    for state, edges in zip(chain.states, chain.edges, strict=True):
        row = []
        for to, weight, _ in edges:
            if isinstance(weight, int):
                k = -1 - state.place
                found = middles[k].responses[state.histories[k], True][weight][2][0]
            elif isinstance(weight, Corridor):
                found = fmpq(1)
            else:
                found = law.probability(weight, state.place)
            row.append((to, found))
        result.append(row)
    return result


def _visits(chain: Chain, rows: list[list[tuple[int, fmpq]]]) -> list[fmpq]:
    """Return the expected number of visits of each state, predecessors first."""
    visits = [fmpq(0)] * len(rows)
    visits[0] = fmpq(1)
    for members in reversed(list(chain.order)):
        place = {i: k for k, i in enumerate(members)}
        inside = [[(place[j], w) for j, w in rows[i] if j in place] for i in members]
        if any(inside):
            found = solve_rows(inside, [visits[i] for i in members])
            for i, amount in zip(members, found, strict=True):
                visits[i] = amount
        for i in members:
            for j, weight in rows[i]:
                if j not in place:
                    visits[j] += visits[i] * weight
    return visits
