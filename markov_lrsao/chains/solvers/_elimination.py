"""Exact elimination of the states of one strongly connected component.

Eliminating a state k redirects every transition into k along the transitions out of k. With
l_k the probability of leaving k (for a state not yet eliminated, or for the outside), the
factorisation records l_k, the row of k and the column of k at that moment; any number of
right-hand sides can then be solved, for columns (v = r + P v) and for rows (x = f + x P).

The state with the fewest (transitions in) x (transitions out) goes first, which keeps a
birth-death chain tridiagonal and a tree a tree. Random graphs fill up in spite of it: when
the cheapest state left is expensive, the rest is solved as one dense system by FLINT
(p-adic lifting), which then is much faster than elimination in rationals. If many
are left, the component is solved so as it was: its probabilities are short numbers, and those
of the rest are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import NotAbsorbingError
from markov_lrsao.exact.linear import solve_columns, solve_rows

__all__ = ["Factors", "Rows", "factor"]

_EXPENSIVE = 64  # updates for one elimination, from which the dense rest is considered
_LARGEST_DENSE = 3000
_LARGEST_WHOLE = 600  # states of a component that is solved as it was, ...
_LONG_NUMBERS = 20  # ... if so many are left when elimination becomes expensive


class Rows(NamedTuple):
    """A chain's arrays as lists: Python loops read those several times as fast."""

    pointers: list[int]
    columns: list[int]
    numerators: list[int]
    denominators: list[int]

    @classmethod
    def of(cls, chain: MarkovChain) -> Rows:
        """Convert a chain."""
        return cls(
            chain.indptr.tolist(),
            chain.indices.tolist(),
            chain.numerators.tolist(),
            chain.denominators.tolist(),
        )


class _Step(NamedTuple):
    state: int
    leaving: fmpq
    row: dict[int, fmpq]
    column: dict[int, fmpq]


@dataclass(frozen=True)
class Factors:
    """What elimination left behind: steps in order, and a dense rest (perhaps empty)."""

    steps: tuple[_Step, ...]
    rest: tuple[int, ...]
    rest_rows: Mapping[int, Mapping[int, fmpq]]

    def columns(self, right: dict[int, fmpq]) -> dict[int, fmpq]:
        """Return v with v = right + P v inside the component; `right` is used up."""
        for step in self.steps:
            share = right[step.state] / step.leaving
            if share != 0:
                for m, weight in step.column.items():
                    right[m] += weight * share
        values = self._dense(right, transposed=False)
        for step in reversed(self.steps):
            total = right[step.state]
            for j, weight in step.row.items():
                total += weight * values[j]
            values[step.state] = total / step.leaving
        return values

    def rows(self, flow: dict[int, fmpq]) -> dict[int, fmpq]:
        """Return x with x = flow + x P inside the component; `flow` is used up."""
        for step in self.steps:
            share = flow[step.state] / step.leaving
            if share != 0:
                for j, weight in step.row.items():
                    flow[j] += weight * share
        values = self._dense(flow, transposed=True)
        for step in reversed(self.steps):
            total = flow[step.state]
            for m, weight in step.column.items():
                total += weight * values[m]
            values[step.state] = total / step.leaving
        return values

    def _dense(self, right: Mapping[int, fmpq], *, transposed: bool) -> dict[int, fmpq]:
        if not self.rest:
            return {}
        place = {i: k for k, i in enumerate(self.rest)}
        rows = [[(place[j], x) for j, x in self.rest_rows[i].items()] for i in self.rest]
        solve = solve_rows if transposed else solve_columns
        return dict(zip(self.rest, solve(rows, [right[i] for i in self.rest]), strict=True))


def factor(data: Rows, states: Sequence[int]) -> Factors:
    """Eliminate the states of a component.

    Raises
    ------
    NotAbsorbingError
        The states are never left; the caller knows their names.
    """
    rows, into, leak = _among(data, states)
    if not any(leak.values()):
        raise NotAbsorbingError("never left")
    queue = [(len(rows[i]) * len(into[i]), i) for i in states]
    heapify(queue)
    steps: list[_Step] = []
    while queue:
        cost, i = heappop(queue)
        if i not in rows:
            continue
        now = len(rows[i]) * len(into[i])
        if now > cost:
            heappush(queue, (now, i))
            continue
        remaining = len(rows)
        if now > _EXPENSIVE and 2 * now > remaining and remaining <= _LARGEST_DENSE:
            if remaining >= _LONG_NUMBERS and len(states) <= _LARGEST_WHOLE:
                return Factors((), tuple(sorted(states)), _original(data, set(states)))
            break
        row, entering = rows.pop(i), into.pop(i)
        leaving = _sum(leak[i], row.values())
        column = {m: rows[m].pop(i) for m in entering}
        steps.append(_Step(i, leaving, row, column))
        scaled: dict[int, fmpq] = {}
        if len(row) > 1 or row.keys() != column.keys():  # else all that comes of it is a loop
            scaled = {j: weight / leaving for j, weight in row.items()}
        lost = leak[i] / leaving if leak[i] else None
        for j in row:
            into[j].discard(i)
        for m, weight in column.items():
            target = rows[m]
            for j, share in scaled.items():
                if j == m:
                    continue  # a new loop at m: it is left out of m's row for good
                if j in target:
                    target[j] += weight * share
                else:
                    target[j] = weight * share
                    into[j].add(m)
            if lost:
                leak[m] += weight * lost
        for j in {*row, *column}:
            heappush(queue, (len(rows[j]) * len(into[j]), j))
    return Factors(tuple(steps), tuple(sorted(rows)), _with_loops(rows, leak))


def _among(
    data: Rows, states: Sequence[int]
) -> tuple[dict[int, dict[int, fmpq]], dict[int, set[int]], dict[int, fmpq]]:
    """Return rows without loops, predecessors, and the probability of leaving the component."""
    local = set(states)
    rows: dict[int, dict[int, fmpq]] = {}
    into: dict[int, set[int]] = {i: set() for i in states}
    leak: dict[int, fmpq] = {}
    pointers, columns, numerators, denominators = data
    known: dict[tuple[int, int], fmpq] = {}  # most chains have few different probabilities

    def quotient(above: int, below: int) -> fmpq:
        found = known.get((above, below))
        if found is None:
            found = known[above, below] = fmpq(above, below)
        return found

    for i in states:
        row, escaping = {}, 0
        for k in range(pointers[i], pointers[i + 1]):
            j = columns[k]
            if j not in local:
                escaping += numerators[k]
            elif j != i:
                row[j] = quotient(numerators[k], denominators[i])
                into[j].add(i)
        rows[i], leak[i] = row, quotient(escaping, denominators[i])
    return rows, into, leak


def _sum(first: fmpq, others: Iterable[fmpq]) -> fmpq:
    """Return a sum of which few terms are not 0."""
    total = first
    for term in others:
        total = total + term if total else term
    return total


def _original(data: Rows, local: set[int]) -> dict[int, dict[int, fmpq]]:
    """Return the rows of a component's states among themselves."""
    pointers, columns, numerators, denominators = data
    return {
        i: {
            columns[k]: fmpq(numerators[k], denominators[i])
            for k in range(pointers[i], pointers[i + 1])
            if columns[k] in local
        }
        for i in local
    }


def _with_loops(
    rows: Mapping[int, dict[int, fmpq]], leak: Mapping[int, fmpq]
) -> dict[int, dict[int, fmpq]]:
    """Put back the loops that make each row of the rest, with its leak, sum to 1."""
    return {i: {**row, i: 1 - _sum(leak[i], row.values())} for i, row in rows.items()}
