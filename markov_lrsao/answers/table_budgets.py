"""Fixed budgets of agents whose choices no pattern decides: all tables of Q-values, in fractions.

After t steps there are finitely many (position, table): the law of these is carried forwards as
the update rule says, greedy or exploring, and only numbers have to be compared. Their count
grows with every step, so this is for few steps (`forward_law` encloses what follows): tables
whose runs have ended are merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from flint import fmpq

from markov_lrsao.memoryless.budgets import Bounds
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress

__all__ = ["by_tables"]

Table: TypeAlias = tuple[tuple[fmpq, ...] | None, ...]
"""The rows of Q; None: a row that was never changed."""
State: TypeAlias = tuple[int, Table]
_ZERO = fmpq(0)
_MOST = 100_000
"""Steps of single states: some ten seconds."""


def by_tables(
    law: StepLaw | JumpingLaw,
    begin: Mapping[int, fmpq],
    values: Sequence[fmpq],
    good: frozenset[int],
    times: Sequence[int],
    progress: Progress,
) -> list[tuple[Bounds, Bounds]]:
    """Return E[f(x_t)] and P(x_t good) exactly, for the first of increasing times.

    There are as many as can be had before there are too many tables.
    """
    unknown: Table = (None,) * (max(law.row.tolist()) + 1)
    now: dict[State, fmpq] = {(p, unknown): w for p, w in begin.items() if w}
    found: list[tuple[Bounds, Bounds]] = []
    work = 0
    with progress("tables of Q-values", total=times[-1]) as bar:
        for before, until in pairwise([0, *times]):
            for _ in range(until - before):
                work += len(now)
                if work > _MOST:
                    return found
                now = _after(law, now)
                bar.advance()
            mean = sum((w * values[p] for (p, _), w in now.items()), _ZERO)
            reached = sum((w for (p, _), w in now.items() if p in good), _ZERO)
            found.append(((mean, mean), (reached, reached)))
    return found


def _after(law: StepLaw | JumpingLaw, now: Mapping[State, fmpq]) -> dict[State, fmpq]:
    """Return the law one step later."""
    a, actions = law.algorithm, len(law.actions)
    fresh = (_ZERO,) * actions
    after: dict[State, fmpq] = {}
    for (p, q), weight in now.items():
        if p == law.optimum:
            ended = p, (None,) * len(q)
            after[ended] = after.get(ended, _ZERO) + weight
            continue
        here = int(law.row[p])
        row = q[here] or fresh
        largest = max(row)
        greedy = (1 - a.epsilon) / sum(value == largest for value in row)
        for b, value in enumerate(row):
            share = (
                weight
                / law.denominator_at(p)
                * (a.epsilon / actions + (greedy if value == largest else _ZERO))
            )
            if not share:
                continue
            for chance, to, gain in law.moves(p, b):
                learnt = a.keep * value + gain + a.bootstrap * max(q[int(law.row[to])] or fresh)
                entries = (*row[:b], learnt, *row[b + 1 :])
                state = to, (*q[:here], entries, *q[here + 1 :])
                after[state] = after.get(state, _ZERO) + share * chance
    return after
