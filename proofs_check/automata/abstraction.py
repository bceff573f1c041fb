"""Finite automata of Q-rows for all n, l and hyper-parameters at once, derived with z3.

An entry of a row is only told by its *cell*. On the slope the cells are the signs -, 0, +; in the
row of the state 0 during phase 3 a fourth cell "=" tells negative entries that are at least
-alpha r from those below ("-"). Starting from the cells a run starts with, every step of every
case is tried: which actions can be greedy, and which cells the updated entry can reach, given
the invariants of `proofs_check.logic.induction`. What the solver cannot exclude is kept (a time
limit too), so the automaton has every behaviour that any parameters in the hypothesis allow, and a
count that is bounded on it is bounded for all of them.

Where each step leads to one cell and the greedy actions are decided by the cells, the automaton
is exact, and the same for all parameters: that is the soundness of sign patterns on the slope.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markov_lrsao.model.landscape import Affine, P
from markov_lrsao.model.law import UP
from proofs_check.claims.verdict import Verdict
from proofs_check.logic.cases import Case, Regions, cases, region_solver
from proofs_check.logic.induction import Context, Induction, StepFact
from proofs_check.logic.journal import Shelf

__all__ = ["Automaton", "Cells", "SlopeAutomata", "Transition", "longest", "slope_automata"]

Cells = tuple[str, ...]
_RANK = {"-": 0, "0": 1, "+": 2}
SIGNS = {"-": "{} < 0", "0": "{} = 0", "+": "{} > 0"}


@dataclass(frozen=True)
class Transition:
    """A step of the automaton."""

    source: Cells
    action: str
    direction: int
    moved: int
    target: Cells


@dataclass(frozen=True)
class Automaton:
    """The abstract behaviour of one class of rows.

    Attributes
    ----------
    decided : the cells decide which actions are greedy, and where each step leads
    steps : the cases that were tried: (action, direction, moved, in words)
    """

    name: str
    states: tuple[Cells, ...]
    moves: tuple[Transition, ...]
    decided: bool
    undecided: tuple[str, ...] = ()
    steps: tuple[tuple[str, int, int, str], ...] = ()

    def most(self, counted: Callable[[Transition], bool]) -> int | None:
        """Return the largest number of counted moves in any walk; None if unbounded."""
        return longest(((m.source, m.target, int(counted(m))) for m in self.moves), self.states[0])


def longest(edges: Iterable[tuple[Hashable, Hashable, int]], start: Hashable) -> int | None:
    """Return the largest sum of counts along a walk from `start`; None if unbounded."""
    import networkx as nx

    graph = nx.MultiDiGraph()
    graph.add_node(start)
    graph.add_edges_from((u, v, {"count": c}) for u, v, c in edges)
    parts = list(nx.strongly_connected_components(graph))
    number = {node: i for i, part in enumerate(parts) for node in part}
    reachable = nx.descendants(graph, start) | {start}
    for u, v, data in graph.edges(data=True):
        if data["count"] and number[u] == number[v] and u in reachable:
            return None
    best: dict[int, int] = {}
    for i in reversed(list(nx.topological_sort(nx.condensation(graph, parts)))):
        best[i] = max(
            (
                best[number[v]] + data["count"]
                for _, v, data in graph.out_edges(parts[i], data=True)
                if number[v] != i
            ),
            default=0,
        )
    return best[number[start]]


@dataclass(frozen=True)
class SlopeAutomata:
    """The automata of the slope's rows by class, and which class can follow which.

    Attributes
    ----------
    foot : why a fall to l may not lead back up by L alone; empty if it is proved that it does
    """

    automata: Mapping[str, Automaton]
    above: tuple[tuple[str, str], ...]
    queries: int
    foot: str


def _class_of(p: Affine, case: Case, splits: Mapping[str, Affine], solver: Regions) -> str | None:
    """Return the class of a position form on a case's region, or None off the slope."""
    for name, value in splits.items():
        low, high = p - value - 1, value - p - 1
        if not solver.feasible((*case.region, low)) and not solver.feasible((*case.region, high)):
            return name
    ends = list(splits.values())
    inside = (p - ends[0], ends[-1] - p)
    return "interior" if solver.feasible((*case.region, *inside)) else None


_KNOWN: Shelf[SlopeAutomata] = Shelf("automata of the slope")


def slope_automata(induction: Induction) -> SlopeAutomata:
    """Derive the sign automata of the rows l+1 .. n-l-1 (once per model and set of facts)."""
    setting = induction.setting
    key = (setting.family, setting.algorithm, setting.hypothesis, induction.facts)
    return _KNOWN.get(key, lambda: _slope_automata(induction))


def _slope_automata(induction: Induction) -> SlopeAutomata:
    family = induction.setting.family
    first, top = induction.first, induction.top
    splits = {"l+1": first, "l+2": first + 1, "n-l-2": top - 1, "n-l-1": top}
    solver = region_solver(family)
    by_class: dict[str, list[Context]] = {}
    above: set[tuple[str, str]] = set()
    found = cases(family, tuple(splits.values()), induction.algorithm.accept_equal)
    for case in found:
        if case.state != P:
            continue
        name = _class_of(P, case, splits, solver)
        if name is None:
            continue
        contexts = [c for phase in (2, 3) if (c := induction.context(case, phase)) is not None]
        by_class.setdefault(name, []).extend(contexts)
        if case.moved == 1:
            upper = _class_of(P + 1, case, splits, solver)
            if upper is not None and case.next_state.p:
                above.add((name, upper))
    before = induction.prover.queries
    automata = {name: _derive(name, contexts, induction) for name, contexts in by_class.items()}
    foot = _foot(induction)
    return SlopeAutomata(automata, tuple(sorted(above)), induction.prover.queries - before, foot)


def _foot(induction: Induction) -> str:
    """Return why at or below l in phase 2 something but L upwards may be used, or ""."""
    if not {"L", "J", "R"} <= set(induction.actions):
        return "the objectives are others"
    fact = StepFact("L at the foot of the slope", "zL > zJ and zL > zR", "p <= l", (2,))
    found = induction.prove([fact])
    if found.verdict is not Verdict.PROVED:
        return f"L may not lead below the slope: {found.details[-1]}"
    solver = region_solver(induction.setting.family)
    for case in induction.cases:
        if case.action != "L" or not solver.feasible((*case.region, induction.first - 1 - P)):
            continue
        if case.moved != (1 if case.direction == UP else 0):
            return f"L does not walk up only below the slope: {case}"
    return ""


def _atoms(induction: Induction, entries: Mapping[str, Any], cells: Cells) -> list[Any]:
    return [
        induction.prover.formula(SIGNS[cell].format("entry_"), {"entry_": entries[a]})
        for a, cell in zip(induction.actions, cells, strict=True)
    ]


def _derive(name: str, contexts: Sequence[Context], induction: Induction) -> Automaton:
    """Explore the automaton of one class."""
    prover, actions = induction.prover, induction.actions
    start: Cells = ("0",) * len(actions)
    states, undecided = [start], []
    moves: dict[Transition, None] = {}
    for cells in states:
        greedy: set[str] = set()
        for number, context in enumerate(contexts):
            rank = {a: _RANK[c] for a, c in zip(actions, cells, strict=True)}
            if rank[context.case.action] < max(rank.values()):
                continue  # an entry in a lower cell is not the largest
            atoms = [*context.assumptions, *_atoms(induction, context.entries, cells)]
            action = context.case.action
            reached = [
                cell
                for cell, text in SIGNS.items()
                if prover.satisfiable(
                    [*atoms, prover.formula(text.format("new_"), {"new_": context.new})],
                    f"{name}: {''.join(cells)}, step {number} -> {cell}",
                )
                is not False
            ]
            if not reached:
                continue  # the case cannot occur with these cells
            greedy.add(action)
            if len(reached) != 1:
                undecided.append(f"{name}: {''.join(cells)} under {context.case} -> {reached}")
            at = actions.index(action)
            for cell in reached:
                target = (*cells[:at], cell, *cells[at + 1 :])
                move = Transition(cells, action, context.case.direction, context.case.moved, target)
                moves[move] = None
                if target not in states:
                    states.append(target)
        undecided.extend(_split_choices(name, cells, greedy, contexts, induction))
    steps = tuple(
        (c.case.action, c.case.direction, c.case.moved, f"phase {c.phase}, {c.case}")
        for c in contexts
    )
    return Automaton(name, tuple(states), tuple(moves), not undecided, tuple(undecided), steps)


def _split_choices(
    name: str, cells: Cells, greedy: set[str], contexts: Sequence[Context], induction: Induction
) -> list[str]:
    """Return the pairs of greedy actions whose order the cells leave open.

    Two actions that can be greedy must always tie, that is, be equal on these cells.
    """
    prover = induction.prover
    result = []
    for i, a in enumerate(sorted(greedy)):
        for b in sorted(greedy)[i + 1 :]:
            context = next(c for c in contexts if c.case.action == a)
            known = [*context.assumptions, *_atoms(induction, context.entries, cells)]
            different = context.entries[a] != context.entries[b]
            purpose = f"{name}: {''.join(cells)}, {a} against {b}"
            if prover.satisfiable([*known, different], purpose) is not False:
                result.append(f"{name}: {''.join(cells)} leaves {a} against {b} open")
    return result
