r"""A walk on a plateau with n and l unknown: every comparison is decided by the solver.

Positions are an anchor (0 on the left plateau, n-l on the right one) plus an offset. A *node* is an
offset, the cells of the entries of row 0, and the signs of the row of n-l-1, which phase 3 meets
again. Which actions are greedy in a node, whether they tie, what a proposal does and in which cell
the updated entry lies are questions to the solver, each answered for all n and l for which the
position is on the plateau, and for all hyper-parameters of the hypothesis at once. A question that
stays open is an error: nothing is guessed. So the walk is one finite chain for all instances (at
small l it is cut off where the plateau ends), and its probabilities are p/n and (n-p)/n over the
number of ties.

Once the *guide* (L on the left, R on the right) is the only greedy action it stays so, which is a
fact about steps that the induction proves. It accepts upward moves only, so the rest of the plateau
is a *corridor*: n/(n-p) steps at p, and one position up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from markov_lrsao.errors import SolverError
from markov_lrsao.model.landscape import Affine, P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.automata.abstraction import SIGNS, Cells
from proofs_check.claims.verdict import Verdict
from proofs_check.logic.cases import affine_term, cases, region_solver
from proofs_check.logic.induction import Context, Induction, StepFact

__all__ = ["Node", "Plateau", "Step", "Walk", "derive", "guide_fact", "right_plateau"]


ActionCells = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""Action -> cell -> formula in x."""


@dataclass(frozen=True)
class Plateau:
    """A plateau, and how the entries of row 0 are told apart on it.

    Attributes
    ----------
    anchor : the position of offset 0
    last : the last position of the plateau
    guide : the action that leads up for good
    cells : action -> ((cell, formula in x), ..), the first that holds for sure is taken
    """

    phase: int
    anchor: Affine
    last: Affine
    guide: str
    cells: ActionCells

    def at(self, offset: int) -> Affine:
        """Return the position of an offset."""
        return self.anchor + offset


def right_plateau(induction: Induction, cells: ActionCells) -> Plateau:
    """Return the right plateau with cells of row 0; R leads up for good."""
    return Plateau(3, induction.cut, induction.setting.family.milestones[-1] - 1, "R", cells)


class Node(NamedTuple):
    """An offset, the cells of row 0, and the signs of the row of n-l-1 (empty if it is not met)."""

    offset: int
    zero: Cells
    top: Cells


@dataclass(frozen=True)
class Step:
    """One greedy action and one proposal, and where they lead.

    `target` is a node, or the offset at which the corridor begins. An upward step from the last
    position of the plateau leads beyond it, whatever the target says.
    """

    action: str
    direction: int
    ties: int
    moved: int
    target: Node | int


@dataclass(frozen=True)
class Walk:
    """The decided chain.

    Attributes
    ----------
    steps : node -> its steps; none where the corridor begins
    greedy : node -> its greedy actions
    """

    plateau: Plateau
    steps: Mapping[Node, tuple[Step, ...]]
    greedy: Mapping[Node, tuple[str, ...]]
    queries: int

    @property
    def largest_offset(self) -> int:
        """How far from the anchor the corridor begins at the latest."""
        ends = [s.target for steps in self.steps.values() for s in steps]
        return max(
            *(node.offset for node in self.steps), *(t for t in ends if not isinstance(t, Node)), 0
        )


def guide_fact(plateau: Plateau, actions: Sequence[str]) -> StepFact:
    """Return the fact that the guide, once strictly greatest in row 0, stays so on the plateau."""
    guide = plateau.guide
    others = [a for a in actions if a != guide]
    return StepFact(
        f"{guide} stays on top of row 0",
        " and ".join(f"z{guide}1 > z{a}1" for a in others),
        when=" and ".join([f"z{guide} > z{a}" for a in others] + [f"p1 <= {plateau.last}"]),
        phases=(plateau.phase,),
        actions=(guide,),
    )


@dataclass
class _Derivation:
    """The questions of one walk, and their answers."""

    induction: Induction
    plateau: Plateau
    _best: dict[tuple[str, Cells], tuple[str, ...]] = field(default_factory=dict)
    _reached: dict[Any, str | None] = field(default_factory=dict)
    _fitting: dict[Any, list[Context]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        induction = self.induction
        self.prover, self.actions = induction.prover, induction.actions
        self.cells = {a: dict(spec) for a, spec in self.plateau.cells}
        family = induction.setting.family
        self.regions = region_solver(family)
        splits = (induction.first - 1, induction.top, induction.cut, induction.cut + 1)
        self.contexts = [
            context
            for case in cases(family, splits, induction.algorithm.accept_equal)
            if (context := induction.context(case, self.plateau.phase)) is not None
        ]
        self.entries = {q + a: self.prover.name(q + a) for q in "zt" for a in self.actions}

    def atoms(self, node: Node, rows: str) -> list[Any]:
        """Return what the cells say about the rows z (of the state 0) and t (of n-l-1)."""
        found = []
        for row, cells in (("z", node.zero), ("t", node.top)):
            if row in rows and cells:
                found += [
                    self.atom(row, a, cell, self.entries[row + a])
                    for a, cell in zip(self.actions, cells, strict=True)
                ]
        return found

    def atom(self, row: str, action: str, cell: str, value: Any) -> Any:
        """Return a cell's formula about a value."""
        text = self.cells[action][cell] if row == "z" else SIGNS[cell].format("x")
        return self.prover.formula(text, {"x": value})

    def proved(self, assumptions: Sequence[Any], goal: Any) -> bool:
        """Whether the solver derives the goal; the second solver is asked as in all searches."""
        import z3

        return self.prover.satisfiable([*assumptions, z3.Not(goal)]) is False

    def best(self, node: Node) -> tuple[str, ...]:
        """Return the greedy actions of the node's row, which tie.

        Raises
        ------
        SolverError
            The cells leave the order open.
        """
        row = "t" if node.offset < 0 else "z"
        cells = node.top if row == "t" else node.zero
        if (row, cells) not in self._best:
            known = [*self.induction.base, *self.atoms(node, row)]
            if self.prover.satisfiable(known) is False:
                raise SolverError(f"no entries lie in the cells {''.join(cells)}")
            value = {a: self.entries[row + a] for a in self.actions}
            found = tuple(
                a
                for a in self.actions
                if all(self.proved(known, value[a] >= value[b]) for b in self.actions if b != a)
            )
            rest = [a for a in self.actions if a not in found]
            if not found or not all(self.proved(known, value[a] < value[found[0]]) for a in rest):
                raise SolverError(f"cells {''.join(cells)} leave the greedy action open")
            self._best[row, cells] = found
        return self._best[row, cells]

    def fitting(
        self, offset: int, action: str, direction: int, place: Sequence[Affine]
    ) -> list[Context]:
        """Return the cases of a proposal at an offset, for the n and l of a place.

        Raises
        ------
        SolverError
            They do not move alike: the walk is not the same for all n and l.
        """
        key = (offset, action, direction, *place)
        if key in self._fitting:
            return self._fitting[key]
        form = self.plateau.at(offset)
        at = (P - form, form - P, *place)
        fits = self._fitting[key] = [
            context
            for context in self.contexts
            if (context.case.action, context.case.direction) == (action, direction)
            and self.regions.feasible((*context.case.region, *at))
        ]
        if len({(context.case.moved, context.case.same_row) for context in fits}) > 1:
            raise SolverError(f"{action} at {form} does different things for different n and l")
        return fits

    def follow(self, node: Node, action: str, direction: int) -> tuple[int, Node | int] | None:
        """Return the move and where it leads; None if there is no such proposal.

        The last position is looked at apart: an upward step from there must leave the plateau.

        Raises
        ------
        SolverError
            The updated entry lies in no cell for sure, nor is the guide strictly greatest.
        """
        form, last = self.plateau.at(node.offset), self.plateau.last
        place = (last - form,)
        if direction == UP:
            ends = self.fitting(node.offset, action, UP, (last - form, form - last))
            if any(context.case.moved != 1 for context in ends):
                raise SolverError(f"{action} is rejected at the end of the plateau")
            if ends and not self._leaves_for_good():
                raise SolverError("the plateau can be left before the guide leads")
            place = (last - form - 1,)
        fits = self.fitting(node.offset, action, direction, place)
        if not fits:
            return None
        row = "t" if node.offset < 0 else "z"
        moved = fits[0].case.moved
        # The next row matters, and what is known about it, only where the state changes.
        rows = row if fits[0].case.same_row else "zt"
        cells = (node.zero if "z" in rows else (), node.top if "t" in rows else ())
        key = (action, direction, node.offset, rows, *cells)
        if key not in self._reached:
            self._reached[key] = self._cell(node, fits, rows, place)
        cell = self._reached[key]
        to = node.offset + moved
        if cell is None:
            return moved, to
        at = self.actions.index(action)
        old = node.zero if row == "z" else node.top
        changed = (*old[:at], cell, *old[at + 1 :])
        return moved, (Node(to, changed, node.top) if row == "z" else Node(to, node.zero, changed))

    def _leaves_for_good(self) -> bool:
        """Whether the optimum lies next to the plateau."""
        return self.plateau.last + 1 == self.induction.setting.family.milestones[-1]

    def _cell(
        self, node: Node, fits: Sequence[Context], rows: str, place: Sequence[Affine]
    ) -> str | None:
        """Return the cell of the updated entry; None if the guide is strictly greatest instead."""
        import z3

        names = self.induction.names
        where = [names["p"] == affine_term(self.plateau.at(node.offset), names)]
        where += [affine_term(form, names) >= 0 for form in place]
        where += self.atoms(node, rows)
        known = [(context, [*context.assumptions, *where]) for context in fits]
        row = "t" if node.offset < 0 else "z"
        action = fits[0].case.action
        for cell in self.cells[action] if row == "z" else SIGNS:
            if all(
                self.proved(assumed, self.atom(row, action, cell, context.new))
                for context, assumed in known
            ):
                return cell
        others = [a for a in self.actions if a != action]
        leads = row == "z" and action == self.plateau.guide
        if leads and all(
            self.proved(assumed, z3.And([context.new > context.entries[b] for b in others]))
            for context, assumed in known
        ):
            return None
        raise SolverError(
            f"{action} at {self.plateau.at(node.offset)} with cells {''.join(node.zero)} "
            f"{''.join(node.top)} leads to no cell for sure"
        )

    def check_guide(self) -> None:
        """Check that the guide walks up only, and that it stays on top.

        Raises
        ------
        SolverError
            One of the two is not so, or is not proved.
        """
        plateau = self.plateau
        for context in self.contexts:
            case = context.case
            inside = (*case.region, P - plateau.anchor, plateau.last - P)
            if case.action != plateau.guide or not self.regions.feasible(inside):
                continue
            if case.moved != (1 if case.direction == UP else 0):
                raise SolverError(f"the guide {plateau.guide} does not walk up only: {case}")
        found = self.induction.prove([guide_fact(plateau, self.actions)])
        if found.verdict is not Verdict.PROVED:
            raise SolverError(f"the guide {plateau.guide} may lose the lead: {found.details[-1]}")


def derive(
    induction: Induction,
    plateau: Plateau,
    starts: Sequence[Node],
    stops: Callable[[Node], bool] = lambda node: False,
) -> Walk:
    """Explore the walk from the given nodes, for all n and l.

    Nodes that satisfy `stops` are not followed: they have no steps and no greedy actions.

    Raises
    ------
    SolverError
        Something is not decided for all instances.
    """
    derivation = _Derivation(induction, plateau)
    begun = induction.prover.queries
    derivation.check_guide()
    steps: dict[Node, tuple[Step, ...]] = {}
    greedy: dict[Node, tuple[str, ...]] = {}
    queue = list(starts)
    for node in queue:
        if node in steps:
            continue
        if stops(node):
            steps[node], greedy[node] = (), ()
            continue
        greedy[node] = derivation.best(node)
        if node.offset >= 0 and greedy[node] == (plateau.guide,):
            steps[node] = ()
            continue
        found = []
        for action in greedy[node]:
            for direction in (DOWN, UP):
                outcome = derivation.follow(node, action, direction)
                if outcome is None:
                    continue
                moved, target = outcome
                found.append(Step(action, direction, len(greedy[node]), moved, target))
                if isinstance(target, Node):
                    if target.offset < (-1 if target.top else 0):
                        raise SolverError("the walk falls below the position next to the plateau")
                    queue.append(target)
        steps[node] = tuple(found)
    return Walk(plateau, steps, greedy, induction.prover.queries - begun)
