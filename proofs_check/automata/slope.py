r"""Expected times on the slope from the sign automata that the solver derived for all of (H).

This is a second, independent way to E[T_2]: the site automata come from
`proofs_check.automata.abstraction` (z3, all parameters at once), not from the engine's interval
bounds. With D_s the number of moves s -> s-1 in phase 2, a site is left upwards 1 + D_{s+1} times;
running its automaton for so many upward exits gives the law of D_s, from the top down. The
positions l, l+1, l+2 are solved as one small chain for 1, 2, 3 upward exits from l+2; the first
of these is T_2^1 (Lemma 9), also with n and l symbolic.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import fmpq

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.linear import solve_columns
from markov_lrsao.model.law import DOWN, UP
from proofs_check.automata.abstraction import Automaton, Cells, SlopeAutomata
from proofs_check.automata.elimination import System, solved_system
from proofs_check.logic.journal import Shelf

if TYPE_CHECKING:
    import sympy

__all__ = ["BottomForm", "SlopeTimes", "bottom_chain", "bottom_formula", "slope_times"]

_RANK = {"-": 0, "0": 1, "+": 2}


@dataclass(frozen=True)
class SlopeTimes:
    """Exact expectations of phase 2 at one instance.

    Attributes
    ----------
    total : E[T_2]
    bottom : E[T_2^1], from l+1 to the first hitting of l+3
    steps : site -> expected steps begun there, for the sites l+3 .. n-l-1
    """

    total: fmpq
    bottom: fmpq
    steps: Mapping[int, fmpq]


def _moves(automaton: Automaton, cells: Cells) -> list[tuple[int, int, Cells, fmpq]]:
    """Return (direction, moved, target, share): each greedy action with its share.

    Raises
    ------
    VerificationError
        The cells leave something open, so that there are no shares.
    """
    if not automaton.decided:
        raise VerificationError(f"the automaton of {automaton.name} is not decided")
    here = [m for m in automaton.moves if m.source == cells]
    actions = sorted({m.action for m in here})
    return [(m.direction, m.moved, m.target, fmpq(1, len(actions))) for m in here]


def _exits(
    automaton: Automaton, up: fmpq, exits: int, most: int
) -> tuple[list[dict[int, fmpq]], list[fmpq]]:
    """Return the law of downward exits and the expected steps until k upward exits, k = 1..

    States of the automaton change only towards later ones or stay, except for self-loops, so
    one pass of (cells, ups, downs) in order of exploration settles everything.
    """
    laws: list[dict[int, fmpq]] = [{} for _ in range(exits)]
    steps: list[fmpq] = [fmpq(0)] * exits
    weights: dict[tuple[int, int, Cells], fmpq] = {(0, 0, automaton.states[0]): fmpq(1)}
    order = {state: i for i, state in enumerate(_topological(automaton))}
    pending = dict(weights)
    while pending:
        key = min(pending, key=lambda k: (order[k[2]], k[0] + k[1]))
        weight = pending.pop(key)
        ups, downs, cells = key
        stay, leave = fmpq(0), []
        for direction, moved, target, share in _moves(automaton, cells):
            chance = share * (up if direction == UP else 1 - up)
            if moved == 0 and target == cells:
                stay += chance
            else:
                leave.append((moved, target, chance))
        visits = weight / (1 - stay)
        for k in range(ups, exits):
            steps[k] += visits  # steps before the (k+1)-th upward exit
        for moved, target, chance in leave:
            flow = visits * chance
            if moved == 1:
                laws[ups][downs] = laws[ups].get(downs, fmpq(0)) + flow
                if ups + 1 == exits:
                    continue
            following = (ups + (moved == 1), downs + (moved == -1), target)
            pending[following] = pending.get(following, fmpq(0)) + flow
    return laws, steps


def _topological(automaton: Automaton) -> list[Cells]:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(automaton.states)
    graph.add_edges_from((m.source, m.target) for m in automaton.moves if m.source != m.target)
    if not nx.is_directed_acyclic_graph(graph):
        raise VerificationError(f"the automaton of {automaton.name} comes back to earlier states")
    return list(nx.topological_sort(graph))


def slope_times(slope: SlopeAutomata, n: int, ell: int) -> SlopeTimes:
    """Return the exact expectations of phase 2, the same for all hyper-parameters in (H)."""
    law: dict[int, fmpq] = {0: fmpq(1)}
    steps: dict[int, fmpq] = {}
    for s in range(n - ell - 1, ell + 2, -1):
        name = {n - ell - 1: "n-l-1", n - ell - 2: "n-l-2"}.get(s, "interior")
        automaton = slope.automata[name]
        exits = 1 + max(law)
        laws, times = _exits(automaton, fmpq(n - s, n), exits, 2)
        steps[s] = sum((w * times[d] for d, w in law.items()), fmpq(0))
        following: dict[int, fmpq] = {}
        for d, weight in law.items():
            for count, chance in laws[d].items():
                following[count] = following.get(count, fmpq(0)) + weight * chance
        law = following
    bottom = _bottom(slope, fmpq(ell, n), fmpq(1, n), 1 + max(law), _solve_exact)
    total = sum(steps.values(), fmpq(0)) + sum((w * bottom[d] for d, w in law.items()), fmpq(0))
    return SlopeTimes(total, bottom[0], steps)


def bottom_chain(
    slope: SlopeAutomata, exits: int
) -> tuple[list[tuple[int, int, Cells, Cells]], list[list[tuple[int, int, fmpq, int]]]]:
    """Explore positions l, l+1, l+2 (numbered 0, 1, 2) for so many upward exits from l+2.

    Returns states (upward exits so far, position, cells of l+1, cells of l+2) and their moves
    (target number or -1 for the last exit, position, share, direction).

    Raises
    ------
    VerificationError
        It is not proved that L leads back up from l.
    """
    if slope.foot:
        raise VerificationError(slope.foot)
    one, two = slope.automata["l+1"], slope.automata["l+2"]
    start = (0, 1, one.states[0], two.states[0])
    states, index, moves = [start], {start: 0}, []
    for state in states:
        ups, at, a, b = state
        found: list[tuple[tuple[int, int, Cells, Cells] | None, fmpq, int]] = []
        if at == 0:  # row 0 has L > 0 in phase 2 (Lemma 8): up is accepted, down is not
            found = [((ups, 1, a, b), fmpq(1), UP), (state, fmpq(1), DOWN)]
        else:
            for direction, moved, cells, share in _moves(
                one if at == 1 else two, a if at == 1 else b
            ):
                rows = (cells, b) if at == 1 else (a, cells)
                to, up = at + moved, ups + (at == 2 and moved == 1)
                # after an exit the walk comes back to l+2 from above
                target = None if up == exits else (up, min(to, 2), *rows)
                found.append((target, share, direction))
        row = []
        for target, share, direction in found:
            if target is not None and target not in index:
                index[target] = len(states)
                states.append(target)
            row.append((-1 if target is None else index[target], at, share, direction))
        moves.append(row)
    return states, moves


def _bottom(slope: SlopeAutomata, ell: Any, unit: Any, exits: int, solve: Any) -> list[Any]:
    """Return the expected steps on l .. l+2 until k upward exits from l+2, k = 1 .. exits.

    `ell` and `unit` are l/n and 1/n over the algebra that `solve` works in.
    """
    result = []
    for k in range(1, exits + 1):
        _, moves = bottom_chain(slope, k)
        rows: list[dict[int, Any]] = []
        for row in moves:
            entries: dict[int, Any] = {}
            for target, at, share, direction in row:
                down = ell + at * unit
                chance = down if direction == DOWN else 1 - down
                if target >= 0:
                    entries[target] = entries.get(target, 0 * unit) + _scale(share, chance)
            rows.append(entries)
        result.append(solve(rows, unit))
    return result


def _scale(share: fmpq, chance: Any) -> Any:
    """Return share * chance over either algebra."""
    if isinstance(chance, fmpq):
        return share * chance
    return chance * int(share.p) / int(share.q)


def _solve_exact(rows: list[dict[int, fmpq]], unit: fmpq) -> fmpq:
    return solve_columns([row.items() for row in rows], [fmpq(1)] * len(rows))[0]


@dataclass(frozen=True, eq=False)
class BottomForm:
    """The mean time on l .. l+2 until the last of some upward exits, for all n, l and all of (H).

    Attributes
    ----------
    quantity : what it is called; E[T_2^1] for one exit
    expression : a rational function of n and l
    value : the same as an element of Q(n, l, H)
    system : the equations of positions l .. l+2 with their solution; the start is state 0
    """

    quantity: str
    expression: sympy.Expr
    value: Any
    system: System
    slope: SlopeAutomata


_BOTTOM: Shelf[BottomForm] = Shelf("closed form of the time on l .. l+2")


def bottom_formula(slope: SlopeAutomata, exits: int = 1) -> sympy.Expr:
    """Return the mean time on l .. l+2 until so many exits, as a rational function of n and l.

    One exit is E[T_2^1].
    """
    return _BOTTOM.get((id(slope), exits), lambda: _bottom_form(slope, exits)).expression


def _bottom_form(slope: SlopeAutomata, exits: int) -> BottomForm:
    import sympy
    from sympy import QQ
    from sympy.polys.fields import field

    fractions, n, ell, _ = field("n,l,H", QQ)
    one = fractions.one
    rows: dict[Hashable, dict[Hashable, Any]] = {}
    for number, row in enumerate(bottom_chain(slope, exits)[1]):
        rows[number] = {}
        for target, at, share, direction in row:
            down = (ell + at) / n
            if target >= 0:
                chance = _scale(share, down if direction == DOWN else 1 - down)
                rows[number][target] = rows[number].get(target, 0 * one) + chance
    quantity = "E[T_2^1]" if exits == 1 else f"time on l .. l+2 until {exits} exits"
    outputs: dict[Hashable, dict[Hashable, Any]] = {number: {quantity: one} for number in rows}
    system = solved_system("positions l .. l+2", rows, outputs, 0 * one)
    value = system.values[0][quantity]
    names = sympy.symbols("n l", positive=True)
    expression = sympy.factor(value.as_expr().subs({"n": names[0], "l": names[1]}))
    return BottomForm(quantity, expression, value, system, slope)
