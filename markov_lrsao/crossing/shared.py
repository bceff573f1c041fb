r"""Rows that come back: a chain on what shared rows remember, with whole slopes as single steps.

Several regions may show one row (the plateaus of Jump share the state 0). Where patterns decide all
comparisons, its pattern is a finite memory that travels with the walk. The line is cut into

- *followed* positions: those of shared rows, and the few next to them whose private rows behave in
  their own way; their patterns are part of the state;
- the *middles* of the slopes between: runs of positions of one kind, each with a private row, which
  are seen by their histories only (`markov_lrsao.crossing.histories`).

The walk is then a chain on (position, patterns of the rows followed, history of each middle), with
a number of states that does not depend on n: entering a middle leads to where it is left. Rows may
come back any number of times, and the walk may fall back to any of them. The steps that histories
keep are counted when the run ends.

**Forgetting.** A *wall* is a position, or a middle, that the walk can never again leave downwards.
Once the walk is above one, rows that are met only below it are forgotten, and the steps that
histories below it keep are counted at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from markov_lrsao.crossing.blocks import Corridor, Stretch, Weight, corridor_end, replaced
from markov_lrsao.crossing.generating import EdgeWeights
from markov_lrsao.crossing.histories import Histories, histories_of, losing, structure_of
from markov_lrsao.crossing.segments import Region, private_rows, regions_between
from markov_lrsao.errors import CrossingError, SolverError
from markov_lrsao.exact.balls import Ball, checked
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.exact.measures import Measure
from markov_lrsao.exact.quantity import Trap
from markov_lrsao.exact.series import Element, accumulate, multiply, scale, solve
from markov_lrsao.model.law import DOWN, UP, Share, StepLaw
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns

__all__ = ["Chain", "Core", "core_of", "explored_core", "generating_function"]

_MOST_STATES = 60_000
_SHORTEST_MIDDLE = 2
"""A middle of fewer positions is followed."""
_LARGEST_MOMENT, _LAST_PLACE = 1e25, 2.0**-50
"""Moments below the first change by less than 1e-35 through weights that are taken as 1e-90."""
_FORGOTTEN = -1
"""Stands for a pattern or a history that does not matter any more."""


@dataclass(frozen=True)
class State:
    """Where the walk is, and what is remembered.

    Attributes
    ----------
    place : a position, or -1 - k: about to enter the k-th middle
    phase : number of milestones passed
    patterns : of the rows followed
    histories : of the middles
    """

    place: int
    phase: int
    patterns: tuple[int, ...]
    histories: tuple[int, ...]


Settled = tuple[tuple[int, int], ...]
"""(middle, its history) of middles that are forgotten."""
Edge = tuple[int, Weight | int, Settled]


@dataclass(frozen=True, eq=False)
class Core:
    """A line with shared rows, cut into followed positions and middles.

    Attributes
    ----------
    automata : with merged patterns
    middles : the regions of each middle, from the lowest to the highest
    rows : the rows followed
    """

    automata: RowAutomata
    middles: tuple[tuple[Region, ...], ...]
    rows: tuple[int, ...]

    @property
    def law(self) -> StepLaw:
        """The step law."""
        return self.automata.law

    @property
    def states(self) -> int:
        """Number of states of a run, and of the middles' regions."""
        run = self.chain(0, len(self.law.landscape.milestones))
        return len(run.states) + sum(len(r.block.states) for m in self.middles for r in m)

    def passage(self, begin: int, end: int, order: int) -> Element:
        """Return E[z^S; `end` milestones are passed] about z = 1, exactly.

        S is the number of steps after `begin` milestones are passed.
        """
        evaluation = Evaluation(exact=True, order=order, lossy=True)
        return generating_function(self.chain(begin, end), evaluation)

    def central(self, begin: int, end: int, order: int) -> list[Ball] | None:
        """Return mean and central moments in floats with bounds; None where runs get stuck."""
        chain = self.chain(begin, end)
        if chain.trapped is not None:
            return None
        with checked():
            evaluation = Evaluation(exact=False, central=True, order=order)
            return list(generating_function(chain, evaluation)[1:])

    def trap(self) -> Trap | None:
        """Return where runs get stuck, if they do, and with which probability."""
        count = len(self.law.landscape.milestones)
        run = self.chain(0, count)
        state = run.trapped
        if state is None:
            return None
        lost = 1 - self.passage(0, count, 0)[0]
        return Trap(run.describe(state), lost, lost)

    def chain(self, begin: int, end: int) -> Chain:
        """Return the chain of a run until `end` milestones are passed; steps count after `begin`.

        Raises
        ------
        CrossingError
            It has too many states, or a middle too many histories.
        """
        key = ("core chain", begin, end)
        if key not in self.law.derived:
            self.law.derived[key] = _Exploration(self, begin, end).chain()
        found: Chain = self.law.derived[key]
        return found


@dataclass(frozen=True, eq=False)
class Chain:
    """The states of a run, and what follows each.

    Attributes
    ----------
    edges : state -> (next state, weight, histories of middles that are forgotten by that move); a
        weight of a middle is the number of the response
    """

    core: Core
    begin: int
    end: int
    states: tuple[State, ...]
    edges: tuple[tuple[Edge, ...], ...]

    @property
    def flags(self) -> tuple[bool, ...]:
        """Whether steps count from the start, or from some time on."""
        return (True,) if self.begin == 0 else (False, True)

    @cached_property
    def order(self) -> Any:
        """Strongly connected components of the states, successors first."""
        return components_of([[to for to, _, _ in row] for row in self.edges])

    @cached_property
    def trapped(self) -> int | None:
        """The first state that is met again and again for ever; None: all runs end.

        Or the first from which a middle is entered that some runs never leave.
        """
        left = np.zeros(len(self.order), dtype=np.bool_)
        for i, label in enumerate(self.order.label.tolist()):
            over = self.states[i].phase >= self.end
            if over or any(self.order.label[to] != label for to, _, _ in self.edges[i]):
                left[label] = True
        closed = np.flatnonzero(~left[self.order.label])
        return int(closed[0]) if closed.size else self._swallowed()

    def _swallowed(self) -> int | None:
        """Return the first state from which some runs stay within a middle for ever."""
        lost = [losing(regions, self.flags) for regions in self.core.middles]
        for i, state in enumerate(self.states):
            if state.place < 0 and state.phase < self.end:
                k = -1 - state.place
                if (state.histories[k], state.phase >= self.begin) in lost[k]:
                    return i
        return None

    def describe(self, state: int) -> str:
        """Return a state in words; rows that are fresh or forgotten are left out."""
        law, automata, found = self.core.law, self.core.automata, self.states[state]
        text = [f"p={found.place}" if found.place >= 0 else "on a slope"]
        for r, k in sorted(zip(self.core.rows, found.patterns, strict=True)):
            if k > 0:
                text.append(f"[{law.row_value[r]}: {automata.label(automata.class_of(r), k)}]")
        return " ".join(text)


def core_of(law: StepLaw, automata: RowAutomata | None = None) -> Core:
    """Cut a line into followed positions and middles.

    Raises
    ------
    CrossingError
        A phase ends within a middle.
    """
    merged, _ = merge_patterns(automata if automata is not None else automata_of(law))
    spans = list(_middles(merged))
    inside = np.zeros(law.optimum + 1, dtype=np.bool_)
    for first, last in spans:
        inside[first : last + 1] = True
    for milestone in law.landscape.milestones:
        if inside[milestone]:
            raise CrossingError(
                f"milestone {milestone} lies among like positions of a slope; segments tell phases "
                f"apart that end elsewhere"
            )
    middles = tuple(tuple(regions_between(merged, a, b + 1)) for a, b in spans)
    followed = law.row[: law.optimum][~inside[: law.optimum]]
    return Core(merged, middles, tuple(dict.fromkeys(followed.tolist())))


def explored_core(law: StepLaw) -> Core:
    """Return the core of a line, its states explored.

    Raises
    ------
    CrossingError, UndecidedComparisonError
    """
    core = core_of(law)
    core.chain(0, len(law.landscape.milestones))
    return core


def _middles(automata: RowAutomata) -> Iterator[tuple[int, int]]:
    """Yield the (first, last) of runs of positions of one kind and class, each a private row."""
    law = automata.law
    row, kind = law.row[: law.optimum], law.kind[: law.optimum]
    single = np.bincount(row)[row] == 1
    single &= np.isin(row, list(private_rows(law)))
    classes = automata.regions.row_class[row]
    like = np.where(single, classes * (int(kind.max()) + 1) + kind, -1)
    begins = np.flatnonzero(np.diff(like, prepend=-2)).tolist()
    for a, b in zip(begins, [*begins[1:], len(like)], strict=True):
        if like[a] >= 0 and b - a >= _SHORTEST_MIDDLE and a > 0:
            yield a, b - 1


class _Exploration:
    """Collects the states of a run."""

    def __init__(self, core: Core, begin: int, end: int) -> None:
        self.core, self.begin, self.end = core, begin, end
        self.law, self.automata = core.law, core.automata
        self.milestones = core.law.landscape.milestones
        self.stretch = Stretch(core.automata, 0, core.law.optimum - 1, self.milestones)
        self.slot = {r: i for i, r in enumerate(core.rows)}
        self.entered = {}  # position -> (middle, end at which it is entered)
        flags = (True,) if begin == 0 else (False, True)
        self.middles = [structure_of(m, flags) for m in core.middles]
        for k, regions in enumerate(core.middles):
            self.entered[regions[0].first] = (k, DOWN)
            self.entered[regions[-1].last] = (k, UP)
        row = core.law.row[: core.law.optimum]
        self.highest = [int(np.flatnonzero(row == r)[-1]) for r in core.rows]
        self.sites = [
            (int(p), self.slot[int(row[p])], _walls(core.automata, int(p)))
            for p in np.flatnonzero(np.bincount(row)[row] == 1).tolist()
            if int(row[p]) in self.slot
        ]
        self.closed = [
            {h for h in range(len(m.sides)) if m.sides[h] == UP and _is_wall(m, h)}
            for m in self.middles
        ]

    def chain(self) -> Chain:
        """Return the chain."""
        start = State(0, 0, (0,) * len(self.core.rows), (0,) * len(self.middles))
        index = {start: 0}
        states = [start]
        edges: list[tuple[Edge, ...]] = []
        for state in states:
            row = []
            for after, weight in self.successors(state):
                target, settled = self.remembered(after)
                if target not in index:
                    if len(states) >= _MOST_STATES:
                        raise CrossingError(
                            f"shared rows and their neighbours have more than {_MOST_STATES:,} "
                            f"states together"
                        )
                    index[target] = len(states)
                    states.append(target)
                row.append((index[target], weight, settled))
            edges.append(tuple(row))
        return Chain(self.core, self.begin, self.end, tuple(states), tuple(edges))

    def successors(self, state: State) -> Iterator[tuple[State, Weight | int]]:
        """Yield all that can follow; nothing when the run is over."""
        if state.phase >= self.end:
            return
        if state.place < 0:
            yield from self.answers(state)
            return
        position, shown = state.place, state.patterns
        at = self.slot[int(self.law.row[position])]
        last = corridor_end(self.stretch, position, shown[at])
        if last is not None:
            yield self.arrived(last + 1, state, shown), Corridor(position, last)
            return
        for (moved, after), share in self.automata.outcomes_at(position, shown[at]).items():
            patterns = replaced(shown, at, after)
            if moved == 0:
                yield replace(state, patterns=patterns), share
            else:
                yield self.arrived(position + moved, state, patterns), share

    def answers(self, state: State) -> Iterator[tuple[State, int]]:
        """Yield how a middle may be left."""
        k = -1 - state.place
        regions, histories = self.core.middles[k], state.histories
        counted = state.phase >= self.begin
        ways = self.middles[k].responses[histories[k], counted]
        for number, (left, following, _) in enumerate(ways):
            position = regions[0].first - 1 if left == DOWN else regions[-1].last + 1
            after = replace(state, histories=replaced(histories, k, following))
            yield self.arrived(position, after, state.patterns), number

    def arrived(self, position: int, before: State, patterns: tuple[int, ...]) -> State:
        """Return the state after a move to a position."""
        phase = before.phase
        if phase < len(self.milestones) and position == self.milestones[phase]:
            phase += 1
        place = position
        if position in self.entered and phase < self.end:
            k, side = self.entered[position]
            if self.middles[k].sides[before.histories[k]] != side:
                raise SolverError("a middle is entered where it was not left; please report this")
            place = -1 - k
        return State(place, phase, patterns, before.histories)

    def remembered(self, state: State) -> tuple[State, Settled]:
        """Return what still matters of a state, and the histories that are forgotten."""
        middles = range(len(self.middles))
        if state.phase >= self.end:
            wall = self.law.optimum
        else:
            here = state.place
            if here < 0:
                regions = self.core.middles[-1 - here]
                side = self.middles[-1 - here].sides[state.histories[-1 - here]]
                here = regions[0].first if side == DOWN else regions[-1].last + 1
            walls = [p for p, at, closed in self.sites if p < here and state.patterns[at] in closed]
            lasts = [self.core.middles[k][-1].last for k in middles]
            walls += [
                self.core.middles[k][0].first
                for k in middles
                if lasts[k] < here and state.histories[k] in self.closed[k]
            ]
            wall = max(walls, default=-1)
        patterns = tuple(
            _FORGOTTEN if highest < wall else shown
            for highest, shown in zip(self.highest, state.patterns, strict=True)
        )
        gone = [
            k
            for k in middles
            if self.core.middles[k][-1].last < wall and state.histories[k] != _FORGOTTEN
        ]
        histories = tuple(_FORGOTTEN if k in gone else h for k, h in enumerate(state.histories))
        settled = tuple((k, state.histories[k]) for k in gone)
        place = self.law.optimum if state.phase >= self.end else state.place
        return State(place, state.phase, patterns, histories), settled


def _walls(automata: RowAutomata, position: int) -> set[int]:
    """Return the patterns with which a position is never again left downwards."""
    kind, c = automata.place(position)
    found = {
        k
        for k, pattern in enumerate(automata.patterns[c])
        if pattern.undecided is None and automata.is_met(position, k)
    }
    while True:
        kept = {
            k
            for k in found
            if all(moved >= 0 and to in found for moved, to in automata.outcomes(kind, c, k))
        }
        if kept == found:
            return found
        found = kept


def _is_wall(middle: Histories, history: int) -> bool:
    """Whether a middle entered from above is left upwards for ever."""
    return all(
        left == UP and following == history
        for (of, _), ways in middle.responses.items()
        if of == history
        for left, following, _ in ways
    )


def generating_function(chain: Chain, evaluation: Evaluation) -> Element:
    """Return E[z^S] of the steps S that count.

    Means and central moments in floats carry a bound of their errors, those of very small weights
    included (`markov_lrsao.crossing.histories`), which are far below the last place.
    """
    core, law = chain.core, chain.core.law
    middles = [histories_of(m, evaluation, chain.flags) for m in core.middles]
    weigh = EdgeWeights(evaluation, law.n, law.denominator)
    rows: dict[int, dict[int, Element]] = {}
    outputs: dict[int, dict[bool, Element]] = {}
    missing: dict[int, Any] = {}
    kept: dict[Settled, Element] = {}
    swallows = evaluation.exact and evaluation.at_one
    for i, (state, edges) in enumerate(zip(chain.states, chain.edges, strict=True)):
        rows[i], outputs[i] = {}, {}
        if state.phase >= chain.end:
            outputs[i][True] = evaluation.one
            missing[i] = 0 if swallows else evaluation.missing(False)
            continue
        counted = state.phase >= chain.begin
        for to, weight, settled in edges:
            if isinstance(weight, int):
                k = -1 - state.place
                element = _answer(middles[k], state.histories[k], counted, weight)
            else:
                element = weigh(state.place, weight, counted)
            if settled:
                if settled not in kept:
                    kept[settled] = _kept(middles, settled, evaluation)
                element = multiply(element, kept[settled])
            accumulate(rows[i], to, element)
        missing[i] = evaluation.missing(counted)
        if missing[i] is not None and any(s or not isinstance(w, Share) for _, w, s in edges):
            missing[i] = 1 - sum(w[0] for w in rows[i].values())
        if swallows:  # what stays in a middle for ever is in no weight
            missing[i] = 1 - sum(w[0] for w in rows[i].values()) if state.place < 0 else 0
        evaluation.without_loop(i, rows[i], outputs[i], counted)
    found = solve(
        rows,
        outputs,
        chain.order,
        length=evaluation.length,
        at_one=evaluation.at_one,
        lossy=evaluation.lossy,
        missing=missing if swallows or evaluation.missing(True) is not None else None,
    )
    whole = found[0].get(True, scale(evaluation.one, 0))
    if not evaluation.central or not core.middles:
        return whole
    mass, *moments = whole
    largest = max(float(abs(x.mid) + x.rad) for v in found.values() if v for x in v[True][1:])
    if not largest < _LARGEST_MOMENT:
        raise SolverError("the moments are too large for floats; use exact fractions")
    return Measure((mass, *(Ball(x.mid, x.rad + abs(x.mid) * _LAST_PLACE) for x in moments)))


def _kept(middles: list[Histories], settled: Settled, evaluation: Evaluation) -> Element:
    """Return the generating function of the steps that histories keep, 1 at z = 1."""
    whole = evaluation.one
    for k, history in settled:
        total = middles[k].totals[history]
        if evaluation.at_one and not evaluation.exact:
            total = scale(total, 1 / total[0])
        whole = multiply(whole, total)
    return whole


def _answer(middle: Histories, history: int, counted: bool, number: int) -> Element:
    """Return the weight of a response, such that all of a history add up to 1 at z = 1."""
    _, following, weight = middle.responses[history, counted][number]
    return weight if following == history else scale(weight, middle.ratio(history, following))
