"""Lengths of the excursions of phase 3 and the time between them, exactly, at one instance.

Phase 3 is followed as in `proofs_check.automata.phase3`, on (position, row 0, row of n-l-1), with
one more flag: whether an excursion is under way, that is, whether n-l+1 was hit since the plateau
was entered. For an event A with which an excursion ends, h(s) = P(A) and m(s) = E[steps until
then; A] solve h = P h + P(A at once) and m = P m + h.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from markov_lrsao.exact.linear import solve_columns, solve_rows
from markov_lrsao.model.law import UP
from markov_lrsao.rows.automata import RowAutomata
from proofs_check.automata.phase3 import entry_law

__all__ = ["ExcursionTimes", "excursion_times"]

State = tuple[int, int, int, bool]
"""Position, pattern of row 0, pattern of the row of n-l-1, whether an excursion is under way."""
_FAIL, _SUCCESS = -1, -2


@dataclass(frozen=True)
class ExcursionTimes:
    """Exact expectations of phase 3 until E^3.

    Attributes
    ----------
    failures, successes : mean numbers of excursions that fail and that succeed
    failing, succeeding : mean length of an excursion that fails, of one that succeeds, or None
    between : largest mean time from n-l-1, whatever its rows show, to an excursion or to E^3
    outside, total : mean time outside excursions, and E[T_3^1]
    """

    failures: fmpq
    successes: fmpq
    failing: fmpq | None
    succeeding: fmpq | None
    between: fmpq
    outside: fmpq
    total: fmpq


def _explore(automata: RowAutomata) -> tuple[list[State], list[list[tuple[int, fmpq]]]]:
    """Return states and their steps; -1 ends an excursion with a fall, -2 is E^3."""
    law = automata.law
    cut, right = law.landscape.milestones[1], law.actions.index("R")
    states: list[State] = [(p, a, b, False) for p, a, b in entry_law(automata)]
    index = {s: i for i, s in enumerate(states)}
    steps: list[list[tuple[int, fmpq]]] = []
    for p, a, b, out in states:
        row = []
        on_plateau = p >= cut
        for e in automata.events_at(p, a if on_plateau else b):
            q, chance = p + e.moved, law.probability(e.share, p)
            if q == law.optimum or (on_plateau and e.action == right and e.direction == UP):
                row.append((_SUCCESS, chance))
                continue
            rows = (e.following, b) if on_plateau else (a, e.following)
            under_way = q >= cut and (out or q == cut + 1)
            target = (q, *rows, under_way)
            if target not in index:
                index[target] = len(states)
                states.append(target)
            row.append((index[target], chance))
        steps.append(row)
    return states, steps


def _given(
    steps: list[list[tuple[int, fmpq]]], inside: list[int], event: int
) -> dict[int, tuple[fmpq, fmpq]]:
    """Return state -> (P(A), E[steps; A]) for an event that ends excursions."""
    number = {s: i for i, s in enumerate(inside)}

    def ends(target: int) -> bool:
        return target == event if event == _SUCCESS else target >= 0 and target not in number

    rows = [[(number[t], x) for t, x in steps[s] if t in number] for s in inside]
    at_once = [sum((x for t, x in steps[s] if ends(t)), fmpq(0)) for s in inside]
    chance = solve_columns(rows, at_once)
    mean = solve_columns(rows, chance)
    return {s: (chance[i], mean[i]) for s, i in number.items()}


def excursion_times(automata: RowAutomata) -> ExcursionTimes:
    """Solve phase 3 until E^3 at one instance, excursions apart."""
    states, steps = _explore(automata)
    cut = automata.law.landscape.milestones[1]
    begin = dict(zip(states, entry_law(automata).values(), strict=False))
    rows = [[(t, x) for t, x in row if t >= 0] for row in steps]
    visits = solve_rows(rows, [begin.get(s, fmpq(0)) for s in states])
    inside = [i for i, s in enumerate(states) if s[3]]
    starts: dict[int, fmpq] = {}
    for i, row in enumerate(rows):
        for t, x in row:
            if states[t][3] and not states[i][3]:
                starts[t] = starts.get(t, fmpq(0)) + visits[i] * x
    counts, lengths = [], []
    for event in (_FAIL, _SUCCESS):
        found = _given(steps, inside, event)
        total = sum((w * found[s][0] for s, w in starts.items()), fmpq(0))
        time = sum((w * found[s][1] for s, w in starts.items()), fmpq(0))
        counts.append(total)
        lengths.append(time / total if total else None)
    outside = [i for i, s in enumerate(states) if not s[3]]
    number = {s: i for i, s in enumerate(outside)}
    waits = solve_columns(
        [[(number[t], x) for t, x in rows[s] if t in number] for s in outside],
        [fmpq(1)] * len(outside),
    )
    return ExcursionTimes(
        failures=counts[0],
        successes=counts[1],
        failing=lengths[0],
        succeeding=lengths[1],
        between=max(waits[number[s]] for s in outside if states[s][0] == cut - 1),
        outside=sum((visits[s] for s in outside), fmpq(0)),
        total=sum(visits, fmpq(0)),
    )
