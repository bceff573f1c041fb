"""Phase 3 for all n, l and hyper-parameters at once: the row of the state 0 in four cells.

Every entry of row 0 is told by its cell: "+" positive, "0" zero, "=" negative but at least
-alpha r, "-" below -alpha r. Where a cell can lead under each kind of step (a move inside the
right plateau, leaving it through n-l, a rejected proposal) is asked of z3 with the invariants of
the induction; what it cannot exclude is kept. Positions are n-l-1, n-l, n-l+1 and "beyond".
The greedy action is one in the highest cell that occurs; between entries of one cell the choice
is left open. The resulting graph contains every run of phase 3 of every instance in (H).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markov_lrsao.model.landscape import Affine, P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.automata.abstraction import Cells, longest
from proofs_check.logic.cases import Case, Regions, cases, region_solver
from proofs_check.logic.induction import Context, Induction

__all__ = ["TOP", "Leg", "PlateauGraph", "plateau_graph"]

CELLS = {"-": "{} < -alpha*r", "=": "{} < 0 and {} >= -alpha*r", "0": "{} = 0", "+": "{} > 0"}
RANK = {"-": 0, "=": 1, "0": 2, "+": 3}
TOP, ENTRY, SECOND, BEYOND, END = "n-l-1", "n-l", "n-l+1", "beyond", "n"

Place = tuple[str, Cells]


@dataclass(frozen=True)
class Leg:
    """A step of phase 3: where it begins and ends, and what was chosen."""

    source: Place
    target: Place
    action: str
    direction: int
    accepted: bool

    @property
    def inside(self) -> bool:
        """Whether it moves between two positions of the plateau."""
        plateau = (ENTRY, SECOND, BEYOND)
        return self.accepted and self.source[0] in plateau and self.target[0] in plateau

    @property
    def falls(self) -> bool:
        """Whether it leaves the plateau through n-l."""
        return self.source[0] == ENTRY and self.target[0] == TOP


@dataclass(frozen=True, eq=False)
class PlateauGraph:
    """All legs that (H) does not exclude."""

    starts: tuple[Place, ...]
    legs: tuple[Leg, ...]
    queries: int

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """All places, starts first."""
        found = dict.fromkeys(self.starts)
        for leg in self.legs:
            found[leg.source] = found[leg.target] = None
        return tuple(found)

    def memories(self, start: Any, remember: Callable[[Any, Leg], Any]) -> set[Any]:
        """Return all memories that runs reach; there must be finitely many."""
        outgoing: dict[Place, list[Leg]] = {}
        for leg in self.legs:
            outgoing.setdefault(leg.source, []).append(leg)
        nodes = [(place, start) for place in self.starts]
        seen = set(nodes)
        for place, memory in nodes:
            for leg in outgoing.get(place, []):
                target = (leg.target, remember(memory, leg))
                if target not in seen:
                    seen.add(target)
                    nodes.append(target)
        return {memory for _, memory in seen}

    def most(
        self,
        counted: Callable[[Leg], bool],
        remember: Callable[[Any, Leg], Any] | None = None,
        counted_with: Callable[[Any, Leg], bool] | None = None,
    ) -> int | None:
        """Return the largest number of counted legs in a run; None if there is no bound.

        With `remember` (memory, leg) -> memory, `counted_with` decides by memory and leg.
        """
        outgoing: dict[Place, list[Leg]] = {}
        for leg in self.legs:
            outgoing.setdefault(leg.source, []).append(leg)
        nodes = [(place, None) for place in self.starts]
        seen = dict.fromkeys(nodes)
        edges = []
        for node in nodes:
            for leg in outgoing.get(node[0], []):
                memory = remember(node[1], leg) if remember else None
                count = counted_with(node[1], leg) if counted_with else counted(leg)
                target = (leg.target, memory)
                edges.append((node, target, int(count)))
                if target not in seen:
                    seen[target] = None
                    nodes.append(target)
        values = [longest(edges, (start, None)) for start in self.starts]
        if any(v is None for v in values):
            return None
        return max(v for v in values if v is not None)


_KNOWN: dict[Any, PlateauGraph] = {}


def plateau_graph(induction: Induction) -> PlateauGraph:
    """Derive the graph (once per model and set of facts)."""
    setting = induction.setting
    key = (setting.family, setting.algorithm, setting.hypothesis, induction.facts)
    if key not in _KNOWN:
        _KNOWN[key] = _derive(induction)
    return _KNOWN[key]


def _derive(induction: Induction) -> PlateauGraph:
    cut, solver = induction.cut, region_solver(induction.setting.family)
    before = induction.prover.queries
    places = {ENTRY: (P - cut, cut - P), SECOND: (P - cut - 1, cut + 1 - P), BEYOND: (P - cut - 2,)}
    found = cases(
        induction.setting.family,
        (induction.first - 1, induction.top, cut, cut + 1),
        induction.algorithm.accept_equal,
    )
    contexts: dict[str, list[Context]] = {name: [] for name in places}
    for case in found:
        if case.state.p or case.state.n or case.state.constant:
            continue
        for name, forms in places.items():
            if solver.feasible((*case.region, *forms)):
                context = induction.context(case, 3)
                if context is not None:
                    contexts[name].append(context)
    cells_after = _Cells(induction)
    actions = induction.actions
    optimum = induction.setting.family.milestones[-1]
    left = actions.index("L") if "L" in actions else 0
    starts = [(ENTRY, cells) for cells in _start_cells(len(actions), left)]
    queue, seen = list(starts), set(starts)
    legs: dict[Leg, None] = {}
    for place, cells in queue:
        steps: list[tuple[str, str, int, bool, Cells]] = []
        if place == TOP:
            steps = [(ENTRY, "-", UP, True, cells), (TOP, "-", DOWN, False, cells)]
        elif place != END:
            highest = max(RANK[c] for c in cells)
            for context in contexts[place]:
                action = context.case.action
                at = actions.index(action)
                if RANK[cells[at]] < highest:
                    continue
                for to in _destinations(place, context, solver, optimum):
                    for cell in cells_after(context, cells[at]):
                        changed = (*cells[:at], cell, *cells[at + 1 :])
                        steps.append(
                            (to, action, context.case.direction, context.case.outcome >= 0, changed)
                        )
        for to, action, direction, accepted, changed in steps:
            target = (to, changed)
            legs[Leg((place, cells), target, action, direction, accepted)] = None
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return PlateauGraph(tuple(starts), tuple(legs), induction.prover.queries - before)


def _start_cells(size: int, left: int) -> list[Cells]:
    """Return the cells with which phase 3 begins: L positive, the others 0 or -alpha r."""
    found: list[Cells] = [()]
    for i in range(size):
        found = [(*c, x) for c in found for x in (("+",) if i == left else ("0", "="))]
    return found


def _destinations(place: str, context: Context, solver: Regions, optimum: Affine) -> list[str]:
    """Return where a step can lead, in the four positions (or the optimum)."""
    case = context.case
    if case.moved == 0:
        return [place]
    order = [TOP, ENTRY, SECOND, BEYOND]
    index = order.index(place) + case.moved
    result = [order[min(index, 3)]]
    if place == BEYOND and case.moved == -1:
        result = [SECOND, BEYOND]
    if case.moved == 1 and place != ENTRY:
        if solver.feasible((*case.region, P + 1 - optimum)):
            result.append(END)
        if not solver.feasible((*case.region, optimum - P - 2)):
            result = [END]
    return result


class _Cells:
    """Which cells an updated entry can reach, by case and old cell."""

    def __init__(self, induction: Induction) -> None:
        self.prover = induction.prover
        self.known: dict[tuple[Case, str], tuple[str, ...]] = {}

    def __call__(self, context: Context, old: str) -> tuple[str, ...]:
        key = (context.case, old)
        if key not in self.known:
            entry = context.entries[context.case.action]
            atoms = [*context.assumptions, self._atom(entry, old)]
            self.known[key] = tuple(
                cell
                for cell in CELLS
                if self.prover.satisfiable([*atoms, self._atom(context.new, cell)]) is not False
            )
        return self.known[key]

    def _atom(self, value: Any, cell: str) -> Any:
        return self.prover.formula(CELLS[cell].replace("{}", "cell_"), {"cell_": value})
