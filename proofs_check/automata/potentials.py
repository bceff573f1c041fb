r"""Bounds on E[T_3] and E[T_3^1] for all n, l and all of (H): potentials, checked leg by leg.

The graph of `proofs_check.automata.plateau` contains every run of phase 3 of every instance in
(H). What the cells leave open (which entry of one cell is larger, which cell an updated entry
reaches) may be decided step by step by an adversary who knows everything; ties are mixtures of
his decisions. A potential is V = h(p) + E with E = A X + B Y, X = n(n-l)/(l(l+1)), numbers A and B
for every place (a class of positions and the cells of row 0), and a function h of the position. If

    V >= 1 + (p/n) V(after down) + ((n-p)/n) V(after up)     in every place, for every decision,

then the expected time from a place is at most V there: V(X_t) + t, stopped at the end, is a
supermartingale, so E[min(T, t)] <= V(start) - E[V(X_t)] <= V(start) as V >= 0; let t tend to
infinity. That the end is reached almost surely follows. With the opposite inequalities
V(start) <= E[min(T, t)] + max V P(T > t), where V is bounded at fixed n and l and P(T > t) tends
to 0 if E[T] is finite; so E[T] >= V(start). The inequalities are linear in what follows, so a
mixture of decisions satisfies them if each decision does.

- **T_3** has h(p) = n H_(n-p) and Y = n; harmonic numbers cancel, H_(m+1) = H_m + 1/(m+1).
- **T_3^1** ends with the first R+ on the plateau; h(p) = n/(n-p), the wait for it, and Y = n/l.

What is left is a rational function of n, l, p per decision. The positions of a place are cut into
`REGIONS`, each the image of the orthant u, v, k >= 0, where coefficients settle the sign.

**Above.** A counts the *sessions* that can still follow: stays at n-l in which falls to n-l-1
lead back to the same cells, until L or J steps up, with chance l/n. X is what the falls of a
session cost. Steps up from inside the plateau are not followed here: they are unlikely, and B
pays for them. B adds up the charges of the other moves of L and J (`Charges`).

**Below.** One session that an adversary cannot avoid.

**The row of n-l-1.** Its automaton says which share of greedy actions leads up; (l+1)/n times
that is the chance to leave. Where the share is below 1 the wait is longer by (1/share - 1) n/(l+1).
The automaton passes such a state once, so that V has a constant number of n/(l+1) for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from flint import fmpq

from markov_lrsao.model.landscape import Affine
from markov_lrsao.model.law import DOWN, UP
from proofs_check.algebra.ratios import Ratio, substitution
from proofs_check.automata.abstraction import Automaton, Cells, longest
from proofs_check.automata.plateau import BEYOND, END, ENTRY, SECOND, TOP, Leg, Place, PlateauGraph
from proofs_check.claims.expressions import evaluate
from proofs_check.logic.cases import region_solver
from proofs_check.logic.induction import Induction

__all__ = [
    "FIRST_SUBPHASE",
    "FIRST_SUBPHASE_BELOW",
    "PHASE3",
    "REGIONS",
    "SESSION",
    "Bound",
    "Charges",
    "Inequality",
    "Region",
    "Time",
    "applies",
    "bound_above",
    "bound_below",
    "settle",
    "upward_moves",
]

SESSION = "n*(n - l)/(l*(l + 1))"
"""X, what the falls of one session cost."""
WAIT = "n/(l + 1)"
"""The mean wait at n-l-1 if every greedy action leads up."""
_SIXTHS = 6

Coefficients = tuple[fmpq, fmpq]
"""A and B of E = A X + B Y."""


@dataclass(frozen=True)
class Time:
    """What is counted, and the part h of the potential that depends on the position.

    Attributes
    ----------
    unit : Y
    base : h(n-l)
    fall, rise : h(p-1) - h(p) and h(p) - h(p+1) on the plateau
    last : h(p) - 0, for a step that ends the time
    until_right : whether the first R+ on the plateau ends it
    """

    name: str
    unit: str
    base: str
    fall: str
    rise: str
    last: str
    until_right: bool

    def ends(self, leg: Leg) -> bool:
        """Whether the time is over with a leg."""
        right = leg.action == "R" and leg.direction == UP and leg.source[0] != TOP
        return leg.target[0] == END or (self.until_right and right)


PHASE3 = Time("T_3", "n", "n*H(l)", "n/(n - p + 1)", "n/(n - p)", "n/(n - p)", False)
FIRST_SUBPHASE = Time(
    "T_3^1",
    "n/l",
    "n/l",
    "n/(n - p + 1) - n/(n - p)",
    "n/(n - p) - n/(n - p - 1)",
    "n/(n - p)",
    True,
)
FIRST_SUBPHASE_BELOW = Time("T_3^1", "n/l", "0", "0", "0", "0", True)
"""The same time with h = 0: for a bound from below nothing is gained by a wait for R+."""


@dataclass(frozen=True)
class Region:
    """Positions of one class for which both neighbours are of one class each.

    Attributes
    ----------
    place, down, up : the classes of p, p-1 and p+1
    texts : l, n and p in terms of u, v, k >= 0
    """

    place: str
    down: str
    up: str
    ell: str
    position: str

    @property
    def texts(self) -> dict[str, str]:
        """The substitution, name by name."""
        return {"l": self.ell, "n": "2*l + 5 + v", "p": self.position}


REGIONS = (
    Region(ENTRY, TOP, SECOND, "u + 2", "n - l"),
    Region(SECOND, ENTRY, END, "2", "n - 1"),
    Region(SECOND, ENTRY, BEYOND, "u + 3", "n - l + 1"),
    Region(BEYOND, SECOND, END, "3", "n - 1"),
    Region(BEYOND, SECOND, BEYOND, "u + 4", "n - l + 2"),
    Region(BEYOND, BEYOND, END, "u + 4", "n - 1"),
    Region(BEYOND, BEYOND, BEYOND, "u + k + 5", "n - 2 - u"),
)
"""All l >= 2, n >= 2l + 5, n-l <= p <= n-1, each once."""


@dataclass(frozen=True, eq=False)
class Inequality:
    """One decision in one place and region, or one step at n-l-1.

    Attributes
    ----------
    where : place, action and where the two proposals lead, in words
    legs : numbers of the legs down and up in the graph; empty at n-l-1
    region : the substitution for n, l, p
    gap : what must not be negative; None if a proposal leads nowhere
    """

    where: str
    legs: tuple[int, ...]
    region: Mapping[str, str]
    gap: Ratio | None

    @property
    def holds(self) -> bool:
        """Whether the coefficients settle it."""
        return self.gap is not None and self.gap.non_negative

    def to_dict(self) -> dict[str, Any]:
        """Return the inequality for an independent checker."""
        return {
            "where": self.where,
            "legs": list(self.legs),
            "region": dict(self.region),
            **({} if self.gap is None else self.gap.terms()),
        }


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound on a time from every place, with all inequalities that it needs.

    Attributes
    ----------
    sense : whether V is above or below the expected time
    potential : place -> (A, B)
    waits : cells of the row of n-l-1 -> what is added for slow exits, in units of n/(l+1)
    """

    time: Time
    sense: Literal["above", "below"]
    graph: PlateauGraph
    potential: Mapping[Place, Coefficients]
    waits: Mapping[Cells, fmpq]
    inequalities: tuple[Inequality, ...]

    @property
    def holds(self) -> bool:
        """Whether every inequality does, V >= 0 above, and n-l-1 has the numbers of n-l."""
        numbers = [*(x for pair in self.potential.values() for x in pair), *self.waits.values()]
        return (
            bool(self.inequalities)
            and all(i.holds for i in self.inequalities)
            and (self.sense == "below" or all(x >= 0 for x in numbers))
            and all(
                self.potential[place] == self.potential[ENTRY, place[1]]
                for place in self.graph.places
                if place[0] == TOP
            )
        )

    @property
    def failing(self) -> tuple[Inequality, ...]:
        """The inequalities that are not settled."""
        return tuple(i for i in self.inequalities if not i.holds)

    def rest(self, law: Mapping[Cells, str]) -> str:
        """Return V - h(n-l) at the start of phase 3, for a law of the cells of row 0, as text.

        Cells of row 0 in the order of the graph; a start that the law does not name is taken
        to have probability 0 in a bound from below, and is an error in one from above.
        """
        parts = [f"({max(self.waits.values(), default=fmpq(0))})*{WAIT}"]
        for place in self.graph.starts:
            if place[1] in law or self.sense == "above":
                a, b = self.potential[place]
                parts.append(f"({law[place[1]]})*(({a})*{SESSION} + ({b})*{self.time.unit})")
        return " + ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return graph, potential and inequalities for an independent checker."""
        number = {place: i for i, place in enumerate(self.graph.places)}
        return {
            "time": vars(self.time),
            "sense": self.sense,
            "session": SESSION,
            "places": [{"position": p, "cells": "".join(c)} for p, c in self.graph.places],
            "starts": [number[place] for place in self.graph.starts],
            "legs": [
                {
                    "source": number[leg.source],
                    "target": number[leg.target],
                    "action": leg.action,
                    "direction": leg.direction,
                    "accepted": leg.accepted,
                }
                for leg in self.graph.legs
            ],
            "potential": [[str(x) for x in self.potential[p]] for p in self.graph.places],
            "waits": {"".join(cells): str(wait) for cells, wait in self.waits.items()},
            "regions": [vars(region) for region in REGIONS],
            "inequalities": [i.to_dict() for i in self.inequalities],
        }


# -- what the potentials count ---------------------------------------------------------


@dataclass(frozen=True)
class Charges:
    """What one move of L or J costs in units of Y (multiples of 1/6).

    Attributes
    ----------
    session : the step up that ends a session, beyond X
    once : a step at n-l with cells to which no fall leads back
    inside : a step from n-l+1 or beyond
    """

    session: fmpq
    once: fmpq
    inside: fmpq


CHARGES = {
    PHASE3: Charges(fmpq(0), fmpq(1, 3), fmpq(1, 2)),
    FIRST_SUBPHASE: Charges(fmpq(2), fmpq(1), fmpq(1, 2)),
}


def _recurrent(graph: PlateauGraph) -> set[Cells]:
    """Return the cells at n-l to which falls lead back."""
    import networkx as nx

    falls = nx.DiGraph()
    falls.add_edges_from((leg.source[1], leg.target[1]) for leg in graph.legs if leg.falls)
    return {
        cells
        for part in nx.strongly_connected_components(falls)
        for cells in part
        if len(part) > 1 or falls.has_edge(cells, cells)
    }


def _longest(
    graph: PlateauGraph, count: Callable[[Leg], int], kept: Callable[[Leg], bool]
) -> dict[Place, int] | None:
    """Return the largest count of a run from each place, over the kept legs; None if unbounded.

    n-l and n-l-1 are taken together.
    """

    def side(place: Place) -> Place:
        return (ENTRY if place[0] == TOP else place[0], place[1])

    edges = [
        (side(leg.source), side(leg.target), count(leg))
        for leg in graph.legs
        if leg.target[0] != END and kept(leg)
    ]
    found: dict[Place, int] = {}
    for place in graph.places:
        value = 0 if place[0] == END else longest(edges, side(place))
        if value is None:
            return None
        found[place] = value
    return found


def _counted(graph: PlateauGraph, charges: Charges) -> dict[Place, Coefficients] | None:
    """Return A and B of the bound from above; None if no number of moves bounds a run."""
    again = _recurrent(graph)

    def moves(leg: Leg) -> bool:
        return leg.accepted and leg.action != "R" and leg.source[0] != TOP

    def ends_session(leg: Leg) -> bool:
        return leg.source[0] == ENTRY and leg.source[1] in again and not leg.falls

    def charge(leg: Leg) -> int:
        if not moves(leg) or (leg.falls and leg.source[1] in again):
            return 0
        if leg.source[0] != ENTRY:
            return int(_SIXTHS * charges.inside)
        return int(_SIXTHS * (charges.session if leg.source[1] in again else charges.once))

    sessions = _longest(
        graph,
        lambda leg: int(moves(leg) and ends_session(leg)),
        lambda leg: not (moves(leg) and leg.direction == UP and leg.source[0] != ENTRY),
    )
    charged = _longest(graph, charge, lambda leg: True)
    if sessions is None or charged is None:
        return None
    return {p: (fmpq(sessions[p]), fmpq(charged[p], _SIXTHS)) for p in graph.places}


def _unavoidable(graph: PlateauGraph) -> set[Cells]:
    """Return the cells at n-l from which every fall leads to such cells, every step up inside.

    The largest such set: cells are dropped until nothing changes.
    """
    at: dict[Cells, list[Leg]] = {}
    for leg in graph.legs:
        if leg.source[0] == ENTRY:
            at.setdefault(leg.source[1], []).append(leg)
    kept = {cells for cells, legs in at.items() if any(leg.falls for leg in legs)}
    while bad := {
        cells
        for cells in kept
        if any(not leg.accepted or (leg.falls and leg.target[1] not in kept) for leg in at[cells])
    }:
        kept -= bad
    return kept


# -- the row of n-l-1 ----------------------------------------------------------------------


def upward_moves(top: Automaton) -> dict[Cells, tuple[fmpq, tuple[Cells, ...]]] | None:
    """Return share and next cells of the ways up from n-l-1, for the cells that phase 3 can meet.

    Phase 3 begins with a step up from n-l-1. None if the automaton is not decided, if a step
    down is possible, if a rejected proposal changes the cells, or if no greedy action leads up.
    """
    found: dict[Cells, tuple[fmpq, tuple[Cells, ...]]] = {}
    queue = list(dict.fromkeys(m.target for m in top.moves if m.moved == 1))
    for cells in queue:
        moves = [m for m in top.moves if m.source == cells]
        up = {m.action for m in moves if m.moved == 1}
        strange = any(m.moved == -1 or (m.moved == 0 and m.target != cells) for m in moves)
        if not top.decided or not up or strange:
            return None
        targets = tuple(dict.fromkeys(m.target for m in moves if m.moved == 1))
        found[cells] = (fmpq(len(up), len({m.action for m in moves})), targets)
        queue.extend(t for t in targets if t not in queue)
    return found


def _slow_exits(ways: Mapping[Cells, tuple[fmpq, tuple[Cells, ...]]]) -> dict[Cells, fmpq] | None:
    """Return how many units n/(l+1) pay for all exits with a share below 1; None if unbounded."""
    known: dict[Cells, fmpq] = {}
    while len(known) < len(ways):
        ready = [
            cells
            for cells, (share, targets) in ways.items()
            if cells not in known
            and all(t in known or (t == cells and share == 1) for t in targets)
        ]
        if not ready:
            return None
        for cells in ready:
            share, targets = ways[cells]
            later = [known[t] for t in targets if t != cells]
            known[cells] = max(later, default=fmpq(0)) + 1 / share - 1
    return known


def _waiting(
    ways: Mapping[Cells, tuple[fmpq, tuple[Cells, ...]]],
    waits: Mapping[Cells, fmpq],
    sign: int,
) -> Iterator[Inequality]:
    """Yield the inequalities at n-l-1: share (1 + wait - wait after) against 1."""
    for cells, (share, targets) in ways.items():
        for target in targets:
            gap = sign * (share * (1 + waits[cells] - waits[target]) - 1)
            where = f"n-l-1 with row {''.join(cells)}: up to row {''.join(target)}, share {share}"
            yield Inequality(where, (), {}, Ratio.of(gap))


# -- the inequalities ----------------------------------------------------------------------


def applies(induction: Induction) -> bool:
    """Whether the plateau is n-l..n-1 and l >= 2, n >= 2l + 5, as the regions have it."""
    family = induction.setting.family
    n, ell = Affine(n=1), Affine(ell=1)
    solver = region_solver(family)
    wrong = (Affine(constant=1) - ell, 2 * ell + 4 - n)
    return (
        induction.cut == n - ell
        and family.milestones[-1] == n
        and not any(solver.feasible((form,)) for form in wrong)
    )


def settle(
    graph: PlateauGraph,
    time: Time,
    potential: Mapping[Place, Coefficients],
    sense: Literal["above", "below"],
) -> Iterator[Inequality]:
    """Yield every inequality on the plateau that a bound needs."""
    sign = 1 if sense == "above" else -1
    outgoing: dict[Place, list[int]] = {}
    for i, leg in enumerate(graph.legs):
        outgoing.setdefault(leg.source, []).append(i)

    for region in REGIONS:
        gaps = _Gaps(time, region, sign)
        for place in graph.places:
            if place[0] != region.place:
                continue
            actions = sorted({graph.legs[i].action for i in outgoing.get(place, [])})
            if not actions:
                yield Inequality(f"{_word(place)}: no action", (), region.texts, None)
            for action in actions:
                ways = {
                    direction: [
                        i
                        for i in outgoing[place]
                        if (leg := graph.legs[i]).action == action
                        and leg.direction == direction
                        and leg.target[0] == (near if leg.accepted else region.place)
                    ]
                    for direction, near in ((DOWN, region.down), (UP, region.up))
                }
                if not (ways[DOWN] and ways[UP]):
                    where = f"{_word(place)}: {action} leads nowhere"
                    yield Inequality(where, (), region.texts, None)
                for i in ways[DOWN]:
                    for j in ways[UP]:
                        down, up = graph.legs[i], graph.legs[j]
                        where = (
                            f"{_word(place)}: {action}- to {_word(down.target)}, "
                            f"{action}+ to {_word(up.target)}"
                        )
                        gap = gaps(potential, down, up)
                        yield Inequality(where, (i, j), region.texts, gap)


def _word(place: Place) -> str:
    return f"{place[0]} {''.join(place[1])}"


class _Gaps:
    """The gaps of one region; equal ones are computed once."""

    def __init__(self, time: Time, region: Region, sign: int) -> None:
        self.time, self.sign = time, sign
        names = substitution(region.texts)
        self.n, self.p = names["n"], names["p"]

        def value(text: str) -> Ratio:
            return Ratio.of(evaluate(text, names, {"number": Ratio.of}))

        self.session, self.unit = value(SESSION), value(time.unit)
        self.fall = value(WAIT if region.down == TOP else time.fall)
        self.last = value(time.last)
        self.rise = self.last if region.up == END else value(time.rise)
        self._known: dict[Any, Ratio] = {}

    def __call__(self, potential: Mapping[Place, Coefficients], down: Leg, up: Leg) -> Ratio:
        """Return the signed difference of V and 1 + E[V after]."""
        ended = [self.time.ends(leg) for leg in (down, up)]
        nothing = (fmpq(0), fmpq(0))
        values = [potential[down.source]]
        values += [
            nothing if end else potential[leg.target]
            for end, leg in zip(ended, (down, up), strict=True)
        ]
        key = (*values, down.accepted, up.accepted, ended[1])
        if key not in self._known:
            here, below, above = (a * self.session + b * self.unit for a, b in values)
            if down.accepted:
                below += self.fall
            if up.accepted:
                above -= self.last if ended[1] else self.rise
            p, n = self.p, self.n
            self._known[key] = self.sign * (here - 1 - p / n * below - (n - p) / n * above)
        return self._known[key]


def bound_above(
    graph: PlateauGraph, top: Automaton, time: Time, charges: Charges | None = None
) -> Bound | None:
    """Return the bound from above with everything that must be checked; None if none is found."""
    potential = _counted(graph, charges if charges is not None else CHARGES[time])
    ways = upward_moves(top)
    waits = None if ways is None else _slow_exits(ways)
    if potential is None or ways is None or waits is None:
        return None
    found = (*settle(graph, time, potential, "above"), *_waiting(ways, waits, 1))
    return Bound(time, "above", graph, potential, waits, found)


def bound_below(graph: PlateauGraph, top: Automaton, time: Time) -> Bound | None:
    """Return the bound from below with everything that must be checked; None if none is found."""
    ways = upward_moves(top)
    if ways is None:
        return None
    kept = _unavoidable(graph)
    one, zero = fmpq(1), fmpq(0)
    held = (one, one if time.until_right else zero)
    potential = {
        place: held if place[0] in (TOP, ENTRY) and place[1] in kept else (zero, zero)
        for place in graph.places
    }
    waits = dict.fromkeys(ways, zero)
    found = (*settle(graph, time, potential, "below"), *_waiting(ways, waits, -1))
    return Bound(time, "below", graph, potential, waits, found)
