r"""Exact expectations with the chain they come from: every number as a vector x = c + P x.

A chain is a list of rows; what a row lacks to 1 leaves the chain through named exits. A *column*
is the solution of x = c + P x for one count c: all steps, the steps of one phase, or leaving
through one exit. Whoever has the vector need not solve anything to check it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from markov_lrsao.exact.graphs import components_of
from markov_lrsao.exact.linear import solve_columns
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.law import UP
from markov_lrsao.rows.automata import RowAutomata
from proofs_check.runs.graph import Graph

__all__ = ["Chain", "joint_chain", "plateaus"]


@dataclass(eq=False)
class Chain:
    """A finite chain with exits.

    Attributes
    ----------
    labels : what each state is
    rows : target -> probability, per state
    exits : name -> probability of leaving the chain there, per state
    phases : the phase that a step from the state belongs to; empty if there is one phase only
    """

    name: str
    n: int
    ell: int
    labels: list[str] = field(default_factory=list)
    rows: list[dict[int, fmpq]] = field(default_factory=list)
    exits: list[dict[str, fmpq]] = field(default_factory=list)
    phases: list[int] = field(default_factory=list)
    start: dict[int, fmpq] = field(default_factory=dict)

    def counted(self, counts: str) -> list[fmpq]:
        """Return c for "steps", "phase K" or "exit NAME"."""
        what, _, which = counts.partition(" ")
        if what == "steps":
            return [fmpq(1)] * len(self.rows)
        if what == "phase":
            return [fmpq(phase == int(which)) for phase in self.phases]
        return [exits.get(which, fmpq(0)) for exits in self.exits]

    def column(self, counts: str) -> list[fmpq]:
        """Return x = c + P x, component by component."""
        constant = self.counted(counts)
        values: list[fmpq] = [fmpq(0)] * len(self.rows)
        for members in components_of([list(row) for row in self.rows]):
            slot = {state: i for i, state in enumerate(members)}
            inside, right = [], []
            for state in members:
                row = self.rows[state]
                inside.append([(slot[j], w) for j, w in row.items() if j in slot])
                known = sum((w * values[j] for j, w in row.items() if j not in slot), fmpq(0))
                right.append(constant[state] + known)
            for state, value in zip(members, solve_columns(inside, right), strict=True):
                values[state] = value
        return values

    def document(self, columns: dict[str, str]) -> dict[str, Any]:
        """Return the chain with its columns (name -> what is counted), for machines."""
        solved = {name: self.column(counts) for name, counts in columns.items()}
        return {
            "kind": "chain",
            "name": self.name,
            "n": self.n,
            "l": self.ell,
            "states": self.labels,
            "phases": self.phases,
            "rows": [[[j, rational_text(w)] for j, w in row.items()] for row in self.rows],
            "exits": [{k: rational_text(w) for k, w in row.items()} for row in self.exits],
            "start": [[i, rational_text(w)] for i, w in self.start.items()],
            "columns": [
                {
                    "name": name,
                    "counts": counts,
                    "values": [rational_text(x) for x in solved[name]],
                    "result": rational_text(self.result(solved[name])),
                }
                for name, counts in columns.items()
            ],
        }

    def result(self, column: list[fmpq]) -> fmpq:
        """Return a column's value at the start."""
        return sum((w * column[i] for i, w in self.start.items()), fmpq(0))


class _Builder:
    """Explores a chain from its start states."""

    def __init__(self, chain: Chain, start: dict[Any, fmpq]) -> None:
        self.chain = chain
        self.states = list(start)
        self.index = {state: i for i, state in enumerate(self.states)}
        chain.start = {self.index[state]: w for state, w in start.items()}

    def __iter__(self) -> Iterator[Any]:
        return iter(self.states)  # grows while it is read

    def add(self, label: str, steps: Iterable[tuple[Any, str, fmpq]]) -> None:
        """Add the next state's steps: (target, "", w), or (None, exit, w)."""
        row: dict[int, fmpq] = {}
        exits: dict[str, fmpq] = {}
        for target, exit_, weight in steps:
            if exit_:
                exits[exit_] = exits.get(exit_, fmpq(0)) + weight
                continue
            if target not in self.index:
                self.index[target] = len(self.states)
                self.states.append(target)
            number = self.index[target]
            row[number] = row.get(number, fmpq(0)) + weight
        self.chain.labels.append(label)
        self.chain.rows.append(row)
        self.chain.exits.append(exits)


def plateaus(automata: RowAutomata, *, until_right: bool) -> Chain:
    """Return the run on both plateaus, the slope left out but for what its last row does.

    A state is the phase, the position and the patterns of row 0 and of the row of n-l-1. Phase 1
    plays on 0 .. l. What follows is the row of n-l-1 alone, up to its first step to n-l: a step
    down from there comes back with the row unchanged, and no other row matters later on. Phase 3
    plays on n-l-1 .. n. Steps of phases 1 and 3 are those of the run; those between are not all.

    With `until_right` the chain ends with E^3 (R+ on the plateau, or n is hit), which ends T_3^1.
    """
    law = automata.law
    first, cut = law.landscape.milestones[:2]
    right = law.actions.index("R")
    name = "plateaus until E^3" if until_right else "plateaus"
    chain = Chain(name, law.n, law.landscape.ell)
    builder = _Builder(chain, {(1, 0, 0, 0): fmpq(1)})
    for phase, p, a, b in builder:
        steps = []
        on_plateau = phase == 1 or p >= cut
        for e in automata.events_at(p, a if on_plateau else b):
            q, following = p + e.moved, phase
            if phase == 1 and q == first:
                following, q = 2, cut - 1
            elif phase == 2:
                following, q = (3, cut) if q == cut else (2, cut - 1)
            learnt = phase == 3 and on_plateau and e.action == right and e.direction == UP
            over = q == law.optimum or (until_right and learnt)
            rows = (e.following, b) if on_plateau else (a, e.following)
            target = (following, q, *rows)
            steps.append((target, "over" if over else "", law.probability(e.share, p)))
        builder.add(f"phase {phase}, position {p}, rows in patterns {a} and {b}", steps)
        chain.phases.append(phase)
    return chain


def joint_chain(graph: Graph) -> Chain:
    """Return the whole run: position, phase and the patterns of all rows."""
    law = graph.law
    n, optimum = law.n, law.optimum
    chain = Chain("whole run", n, law.landscape.ell)
    number: dict[int, int] = {}
    for node, (p, _, _) in enumerate(graph.nodes):
        if p != optimum:
            number[node] = len(number)
    for node in number:
        p, phase, shown = graph.nodes[node]
        row: dict[int, fmpq] = {}
        exits: dict[str, fmpq] = {}
        steps = graph.outgoing[node]
        share = fmpq(1, len({e.action for e in steps}))
        for e in steps:
            weight = share * (fmpq(n - p, n) if e.direction == UP else fmpq(p, n))
            if not weight:
                continue
            if e.target in number:
                row[number[e.target]] = row.get(number[e.target], fmpq(0)) + weight
            else:
                exits["optimum"] = exits.get("optimum", fmpq(0)) + weight
        chain.labels.append(f"{p} {phase} " + ".".join(map(str, shown)))
        chain.rows.append(row)
        chain.exits.append(exits)
        chain.phases.append(phase)
    chain.start = {0: fmpq(1)}
    return chain
