"""Phase 3 for all n, l and hyper-parameters at once: the row of the state 0 in four cells.

Every entry of row 0 is told by its cell: "+" positive, "0" zero, "=" negative but at least
-alpha r, "-" below -alpha r. Where a cell can lead under each kind of step (a move inside the
right plateau, leaving it through n-l, a rejected proposal) is asked of z3 with the invariants of
the induction; what it cannot exclude is kept, and so are the cells with which phase 3 begins.
Positions are n-l-1, n-l, n-l+1 and "beyond"; that n-l-1 has a row of its own and that no step leads
below it is asked, too.
The greedy action is one in the highest cell that occurs; between entries of one cell the choice
is left open. The resulting graph contains every run of phase 3 of every instance in (H).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markov_lrsao.errors import SolverError
from markov_lrsao.model.landscape import Affine, P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.automata.abstraction import Cells, longest
from proofs_check.logic.cases import Case, Regions, cases, region_solver
from proofs_check.logic.induction import Context, Induction
from proofs_check.logic.journal import Shelf

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

    def failing_excursions(self) -> int | None:
        """Return the largest number of failing excursions in a run, as Lemma 15's proof counts."""
        return self.most(
            lambda leg: False, _excursion, lambda memory, leg: memory == "out" and leg.falls
        )


def _excursion(memory: str | None, leg: Leg) -> str | None:
    """Return "out" during an excursion, "over" after R+ on the plateau, else None."""
    if memory == "over" or (leg.action == "R" and leg.direction == UP and leg.source[0] != TOP):
        return "over"
    if leg.target[0] == TOP:
        return None
    return "out" if (leg.source[0], leg.target[0]) == (ENTRY, SECOND) else memory


_KNOWN: Shelf[PlateauGraph] = Shelf("graph of phase 3 in cells")


def plateau_graph(induction: Induction) -> PlateauGraph:
    """Derive the graph (once per model and set of facts)."""
    setting = induction.setting
    key = (setting.family, setting.algorithm, setting.hypothesis, induction.facts)
    return _KNOWN.get(key, lambda: _derive(induction))


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
    optimum = induction.setting.family.milestones[-1]
    _check_rows(induction, found, solver)
    for case in found:
        for name, forms in places.items():
            if solver.feasible((*case.region, *forms)):
                context = induction.context(case, 3)
                if context is not None:
                    contexts[name].append(context)
    cells_after = _Cells(induction)
    actions = induction.actions
    starts = [(ENTRY, cells) for cells in _start_cells(induction, found, cells_after)]
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
                            (to, action, context.case.direction, context.case.moved != 0, changed)
                        )
        for to, action, direction, accepted, changed in steps:
            target = (to, changed)
            legs[Leg((place, cells), target, action, direction, accepted)] = None
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return PlateauGraph(tuple(starts), tuple(legs), induction.prover.queries - before)


def _start_cells(induction: Induction, found: Sequence[Case], cells: _Cells) -> list[Cells]:
    """Return the cells with which phase 3 can begin, entry by entry."""
    entering = [
        context
        for case in found
        if (context := induction.context(case, 2)) is not None and context.following == 3
    ]
    combined: list[Cells] = [()]
    for action in induction.actions:
        possible = [
            cell
            for cell in CELLS
            if any(cells.possible(c.assumptions, c.after["z" + action], cell) for c in entering)
        ]
        combined = [(*known, cell) for known in combined for cell in possible]
    return combined


def _check_rows(induction: Induction, found: Sequence[Case], solver: Regions) -> None:
    """Check that phase 3 uses row 0 on the plateau, another row at n-l-1, and never falls deeper.

    Raises
    ------
    SolverError
        It may be otherwise.
    """
    top, zero = induction.top, Affine()
    for case in found:
        if solver.feasible((*case.region, P - top - 1)):
            strange = case.state != zero
        elif solver.feasible((*case.region, P - top)):
            strange = case.state == zero or case.moved == -1
        else:
            continue
        context = induction.context(case, 3) if strange else None
        if context is not None and induction.prover.satisfiable(context.assumptions) is not False:
            raise SolverError(f"phase 3 does not stay at or above {top} in these rows: {case}")


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
                if self.possible(atoms, context.new, cell, f"{old}, {context.case} -> {cell}")
            )
        return self.known[key]

    def possible(self, atoms: Sequence[Any], value: Any, cell: str, purpose: str = "") -> bool:
        """Whether the solver cannot exclude that a value lies in a cell."""
        formulas = [*atoms, self._atom(value, cell)]
        return self.prover.satisfiable(formulas, purpose) is not False

    def _atom(self, value: Any, cell: str) -> Any:
        return self.prover.formula(CELLS[cell].replace("{}", "cell_"), {"cell_": value})
