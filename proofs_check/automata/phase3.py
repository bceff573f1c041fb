r"""E[T_3^1] and P(E) exactly, at any n, for the paper's hyper-parameters.

Phase 3 begins at n-l with a row 0 that phase 1 left behind (phase 2 changes only L, which stays
positive) and with the row of n-l-1 as its automaton leaves it upwards for the first time. From
there the joint chain of the two rows on n-l-1 .. n is explored until E^3 = (R+ on the plateau, or
n is hit). Probabilities at the start of phase 3 are read from exact chains as well.
"""

from __future__ import annotations

from flint import fmpq

from markov_lrsao.exact.linear import solve_columns, solve_rows
from markov_lrsao.model.law import UP
from markov_lrsao.rows.automata import RowAutomata
from proofs_check.logic.journal import note_value

__all__ = ["entry_law", "first_subphase", "probability_of_e"]

Phase3State = tuple[int, int, int]
"""Position, pattern of row 0, pattern of the row of n-l-1."""


def _absorbed(
    automata: RowAutomata, start: tuple[int, int], inside: range
) -> dict[tuple[int, int], fmpq]:
    """Return the law of (position, pattern) when a row's positions are left for good upwards.

    The row is left at the upper end only; a fall below `inside` comes back where it left.
    """
    states, index = [start], {start: 0}
    rows: list[dict[int, fmpq]] = []
    exits: dict[tuple[int, int], dict[int, fmpq]] = {}
    for number, (p, k) in enumerate(states):
        row: dict[int, fmpq] = {}
        for (moved, after), share in automata.outcomes_at(p, k).items():
            q, chance = p + moved, automata.law.probability(share, p)
            if q > inside[-1]:
                exits.setdefault((q, after), {})[number] = chance
                continue
            target = (max(q, inside[0]), after)
            if target not in index:
                index[target] = len(states)
                states.append(target)
            row[index[target]] = row.get(index[target], fmpq(0)) + chance
        rows.append(row)
    begin = [fmpq(number == 0) for number in range(len(states))]
    flow = solve_rows([row.items() for row in rows], begin)
    return {
        key: sum((flow[i] * chance for i, chance in sources.items()), fmpq(0))
        for key, sources in exits.items()
    }


def entry_law(automata: RowAutomata) -> dict[Phase3State, fmpq]:
    """Return the law of the state in which phase 3 begins."""
    law = automata.law
    first, cut = law.landscape.milestones[:2]
    left: dict[int, fmpq] = {}
    for (_, k), chance in _absorbed(automata, (0, 0), range(0, first)).items():
        left[k] = left.get(k, fmpq(0)) + chance
    top: dict[int, fmpq] = {}
    for (_, k), chance in _absorbed(automata, (cut - 1, 0), range(cut - 1, cut)).items():
        top[k] = top.get(k, fmpq(0)) + chance
    return {(cut, a, b): x * y for a, x in left.items() for b, y in top.items()}


def first_subphase(automata: RowAutomata) -> fmpq:
    """Return E[T_3^1], counting the step in which E^3 occurs."""
    law = automata.law
    cut, optimum = law.landscape.milestones[1], law.optimum
    right = law.actions.index("R")
    begin = entry_law(automata)
    states, index = list(begin), {s: i for i, s in enumerate(begin)}
    rows: list[dict[int, fmpq]] = []
    for p, a, b in states:
        row: dict[int, fmpq] = {}
        on_plateau = p >= cut
        for e in automata.events_at(p, a if on_plateau else b):
            q, chance = p + e.moved, law.probability(e.share, p)
            if q == optimum or (on_plateau and e.action == right and e.direction == UP):
                continue
            target = (q, e.following, b) if on_plateau else (q, a, e.following)
            if target not in index:
                index[target] = len(states)
                states.append(target)
            row[index[target]] = row.get(index[target], fmpq(0)) + chance
        rows.append(row)
    means = solve_columns([row.items() for row in rows], [fmpq(1)] * len(rows))
    value: fmpq = sum((chance * means[index[s]] for s, chance in begin.items()), fmpq(0))
    note_value("E[T_3^1]", law.n, law.landscape.ell, value)
    return value


def probability_of_e(automata: RowAutomata) -> fmpq:
    """Return P(E): one step into phase 3 the walk is at n-l-1, Q[0,R] < 0 <= Q[0,J]."""
    law = automata.law
    cut = law.landscape.milestones[1]
    j, r = law.actions.index("J"), law.actions.index("R")
    _, c = automata.place(0)
    total = fmpq(0)
    for (p, a, _), weight in entry_law(automata).items():
        for (moved, after), share in automata.outcomes_at(p, a).items():
            signs = automata.patterns[c][after].signs
            if p + moved == cut - 1 and signs[r] < 0 <= signs[j]:
                total += weight * law.probability(share, p)
    return total
