"""Single sites of the slope, for all n, l and all of (H): chances and mean times, as formulas.

The rows of l+1 .. n-l-1 are told by signs (`proofs_check.automata.abstraction`), so that what a
single site does is a small chain whose probabilities are forms in the position and n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq

from markov_lrsao.model.law import DOWN, UP
from proofs_check.automata.abstraction import Automaton, Cells, SlopeAutomata, Transition

if TYPE_CHECKING:
    import sympy

__all__ = ["after_move", "first_steps", "greedy_share", "return_times"]


def greedy_share(automaton: Automaton, cells: Cells, direction: int, moved: int) -> fmpq:
    """Return the share of greedy actions whose proposal in that direction moves so."""
    here = [m for m in automaton.moves if m.source == cells]
    actions = {m.action for m in here}
    moving = {m.action for m in here if m.direction == direction and m.moved == moved}
    return fmpq(len(moving), len(actions))


def after_move(automaton: Automaton, move: Transition) -> set[Cells]:
    """Return all cells that can be shown after a move, its target included."""
    found, queue = {move.target}, [move.target]
    for cells in queue:
        for m in automaton.moves:
            if m.source == cells and m.target not in found:
                found.add(m.target)
                queue.append(m.target)
    return found


def _chances() -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
    """Return the chances of a step up and of one down at l+1, and the mean stay at l."""
    import sympy

    n, ell = sympy.symbols("n l", positive=True)
    return (n - ell - 1) / n, (ell + 1) / n, n / (n - ell)


def return_times(slope: SlopeAutomata) -> dict[Cells, sympy.Expr]:
    """Return cells of l+1 -> mean time from there to l+2.

    At l the walk waits for L+, which takes n/(n-l) steps: L is the only positive entry of row 0
    throughout phase 2 (Lemmas 4 and 8). Cells change only towards new ones, so each mean follows
    from the means of cells that come later.
    """
    import sympy

    automaton = slope.automata["l+1"]
    up, down, wait = _chances()
    means: dict[Cells, sympy.Expr] = {}

    def mean(cells: Cells) -> sympy.Expr:
        if cells not in means:
            here = [m for m in automaton.moves if m.source == cells]
            part = sympy.Rational(1, len({m.action for m in here}))
            stay, time = sympy.Integer(0), sympy.Integer(1)
            for m in here:
                chance = part * (up if m.direction == UP else down)
                if m.moved == 0 and m.target == cells:
                    stay += chance
                elif m.moved < 1:
                    time += chance * (mean(m.target) + (wait if m.moved == -1 else 0))
            means[cells] = sympy.cancel(time / (1 - stay))
        return means[cells]

    for cells in automaton.states:
        mean(cells)
    return means


def first_steps(slope: SlopeAutomata) -> dict[str, sympy.Expr]:
    """Return "R-", .. -> mean time from l+1, fresh, to l+2 if that is the first step."""
    import sympy

    automaton, means = slope.automata["l+1"], return_times(slope)
    wait = _chances()[2]
    return {
        f"{m.action}{'-' if m.direction == DOWN else '+'}": sympy.cancel(
            1 + (0 if m.moved == 1 else means[m.target] + (wait if m.moved == -1 else 0))
        )
        for m in automaton.moves
        if m.source == automaton.states[0]
    }
