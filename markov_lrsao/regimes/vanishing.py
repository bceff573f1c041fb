r"""The penalty r -> 0: LRSAO at r = 0 and the limit r -> 0+, as finite chains of their own.

Write every entry as Q = Q0 + r Q1. For r -> 0 the order of a row's entries is lexicographic in
(Q0, Q1), and

* Q0 follows the rule for r = 0; no reward of it is negative, so Q0 >= 0, an entry that has
  become positive stays positive, and (Lemma 4) it is the only one of its row: the row is
  *settled*, its action is chosen for ever and nothing else about the row matters;
* in a row that is not settled Q0 = 0, and Q1 decides. At r = 0 itself Q1 plays no part: all
  entries tie. For r -> 0+ an entry that was used on a plateau is below 0, and ties are broken.

So the two differ, and neither depends on how often a settled entry was used: both are finite
chains over (position, per row its action or its Q1). Rows that the walk cannot visit any more
(below a row settled on an action that is never accepted downwards) are forgotten, and
actions that act alike in a row are not told apart; that keeps r = 0 polynomial in n.

Why the limit is that of E[T]: entries are at least -r/(1-gamma), so for r < (1-gamma)/gamma
reward 1 outweighs gamma times any entry; then on Jump at every position some objective of
the largest entry accepts upwards, and n steps reach the optimum with probability at least
3^-n n!/n^n from any state. T has a geometric tail that does not depend on r, a run of a
given length sees r = 0+ once r is small enough, and E[T] converges.

>>> from markov_lrsao.model.landscape import Landscape
>>> from markov_lrsao.model.parameters import Parameters
>>> law = vanishing_law(Landscape.jump(9, 2), Parameters.of("4/5", "1/10", 0))
>>> expected_time(law, limit=False).decimal  # E[T] at r = 0
'367.39869209467916009'
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.hitting import phase_moments
from markov_lrsao.chains.solvers import Field
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.errors import ParameterError, StateSpaceTooLargeError
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import DOWN, StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import Progress, no_progress

__all__ = ["VanishingChain", "expected_time", "vanishing_chain", "vanishing_law"]

Row = int | tuple[fmpq, ...] | None
"""A row: the settled action, Q1 of every entry, or None where it is never visited again."""
Place = tuple[int, tuple[int, ...]]
"""A position and the numbers of its rows, see `VanishingChain.rows`."""

_MOST_STATES = 2_000_000


def vanishing_law(landscape: Landscape, parameters: Parameters) -> StepLaw:
    """Return the law with unit penalty, from which Q0 and Q1 are read; r itself is ignored."""
    return StepLaw.of(
        landscape, Algorithm.lrsao(Parameters.of(parameters.alpha, parameters.gamma, 1))
    )


@dataclass(frozen=True, eq=False)
class VanishingChain:
    """The chain of a vanishing penalty; its first state is the start.

    Attributes
    ----------
    law : the law with unit penalty
    limit : whether it is the limit r -> 0+ rather than r = 0
    places : per state the position and the number of each row
    rows : what the numbers stand for
    """

    law: StepLaw
    limit: bool
    chain: MarkovChain
    places: tuple[Place, ...]
    rows: tuple[Row, ...]

    @cached_property
    def ends(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether a state is the optimum."""
        return np.asarray(self.chain.positions == self.law.optimum)


def vanishing_chain(
    law: StepLaw, *, limit: bool, max_states: int = _MOST_STATES, progress: Progress = no_progress
) -> VanishingChain:
    """Enumerate the chain of r = 0 (or, with `limit`, of r -> 0+).

    Raises
    ------
    ParameterError
        The law was not made by `vanishing_law`.
    StateSpaceTooLargeError
        There are more than `max_states` states.
    """
    parameters = law.algorithm.parameters
    if parameters is None or parameters.r != 1:
        raise ParameterError("vanishing_chain needs the law that vanishing_law returns")
    walk = _Walk(law, limit)
    start = walk.forget(0, (walk.number(walk.fresh),) * len(law.row_value))
    number: dict[Place, int] = {start: 0}
    places, edges = [start], list[dict[int, fmpq]]()
    with progress("states of a vanishing penalty", total=None) as bar:
        for place in places:
            weights: dict[int, int] = {}
            for target, weight in walk.successors(place):
                j = number.setdefault(target, len(places))
                if j == len(places):
                    places.append(target)
                weights[j] = weights.get(j, 0) + weight
            if len(places) > max_states:
                raise StateSpaceTooLargeError(
                    f"the chain of a vanishing penalty has more than {max_states:,} states at "
                    f"n = {law.n}; take a smaller n"
                )
            edges.append({j: fmpq(w, law.denominator) for j, w in weights.items()})
            bar.advance()
    chain = chain_from_rows(edges, positions=[p for p, _ in places])
    return VanishingChain(law, limit, chain, tuple(places), tuple(walk.rows))


def expected_time(
    law: StepLaw,
    *,
    limit: bool,
    field: Field = "exact",
    max_states: int = _MOST_STATES,
    progress: Progress = no_progress,
) -> Quantity:
    """Return E[T] at r = 0, or its limit for r -> 0+.

    >>> law = vanishing_law(Landscape.jump(9, 2), Parameters.of("4/5", "1/10", 0))
    >>> round(float(expected_time(law, limit=True, field="float")), 4)
    337.5946
    """
    found = vanishing_chain(law, limit=limit, max_states=max_states, progress=progress)
    (mean,) = phase_moments(found.chain, None, found.ends, 1, field=field, progress=progress)
    return Quantity.of(mean)


class _Walk:
    """One step from (position, rows); rows are numbered as they appear, 0 is a forgotten one."""

    def __init__(self, law: StepLaw, limit: bool) -> None:
        self.law, self.limit = law, limit
        count = len(law.actions)
        self.fresh: Row = (fmpq(0),) * count
        self.rows: list[Row] = []
        self._numbers: dict[Row, int] = {}
        self.number(None)
        self._after: dict[tuple[int, int, int, int, int, int], int] = {}
        self._row: list[int] = law.row.tolist()
        self._kind: list[int] = law.kind.tolist()
        met: list[set[int]] = [set() for _ in law.row_value]
        for p, i in enumerate(self._row):
            if p != law.optimum:
                met[i].add(self._kind[p])
        every = range(count)

        def accepts(kind: int, action: int) -> tuple[bool, ...]:
            return tuple(move.accepted for move in law.kinds[kind][action])

        # Once settled only acceptance matters; before that what is learnt matters too.
        self._settled = [
            [
                min(b for b in every if all(accepts(k, a) == accepts(k, b) for k in kinds))
                for a in every
            ]
            for kinds in met
        ]
        self._twins = [
            {
                tuple(b for b in every if all(law.kinds[k][a] == law.kinds[k][b] for k in kinds))
                for a in every
            }
            for kinds in met
        ]
        self._down = [[accepts(k, a)[DOWN] for a in every] for k in self._kind]

    def number(self, row: Row) -> int:
        """Return the number of a row."""
        found = self._numbers.setdefault(row, len(self.rows))
        if found == len(self.rows):
            self.rows.append(row)
        return found

    def successors(self, place: Place) -> list[tuple[Place, int]]:
        """Return the next states with weights over the law's denominator."""
        p, rows = place
        law, n = self.law, self.law.n
        if p == law.optimum:
            return [(place, law.denominator)]
        i = self._row[p]
        row = self.rows[rows[i]]
        assert row is not None, "a forgotten row is visited"
        if isinstance(row, int):
            greedy: tuple[int, ...] = (row,)
        else:
            best = max(row)
            greedy = tuple(a for a, q in enumerate(row) if q == best)
        found = []
        for e in law.proposals(self._kind[p], greedy):
            target, new = p + e.moved, rows
            if not isinstance(row, int) and target != law.optimum:
                neighbour = rows[self._row[target]]
                case = (i, rows[i], self._kind[p], e.action, e.direction, neighbour)
                if case not in self._after:
                    after = self._learn(i, row, e.action, e.move.gain, self.rows[neighbour])
                    self._after[case] = self.number(after)
                new = (*rows[:i], self._after[case], *rows[i + 1 :])
            found.append((self.forget(target, new), e.share.numerator(p, n)))
        return found

    def _learn(
        self, i: int, entries: tuple[fmpq, ...], action: int, gain: fmpq, neighbour: Row
    ) -> Row:
        """Return row i after an update of an action's entry that learnt from a neighbour."""
        assert neighbour is not None
        if gain > 0 or isinstance(neighbour, int):
            return self._settled[i][action]
        if not self.limit:
            return entries
        algorithm, new = self.law.algorithm, list(entries)
        new[action] = algorithm.keep * entries[action] + gain + algorithm.bootstrap * max(neighbour)
        for twins in self._twins[i]:  # exchange twins, so that equal futures look equal
            for a, q in zip(twins, sorted(new[a] for a in twins), strict=True):
                new[a] = q
        return tuple(new)

    def forget(self, p: int, rows: tuple[int, ...]) -> Place:
        """Drop the rows that cannot be visited from p any more."""
        if p == self.law.optimum:
            return p, ()
        low = p
        while low > 0 and self._may_go_down(low, rows[self._row[low]]):
            low -= 1
        used = set(self._row[low:])
        return p, tuple([row if i in used else 0 for i, row in enumerate(rows)])

    def _may_go_down(self, p: int, row: int) -> bool:
        settled = self.rows[row]
        return self._down[p][settled] if isinstance(settled, int) else any(self._down[p])
