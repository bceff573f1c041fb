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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from markov_lrsao.crossing.blocks import Corridor, Stretch, Weight, corridor_end, replaced
from markov_lrsao.crossing.generating import EdgeWeights
from markov_lrsao.crossing.histories import Histories, histories_of
from markov_lrsao.crossing.segments import Region, private_rows, regions_between
from markov_lrsao.errors import CrossingError, SolverError
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.exact.series import Element, accumulate, multiply, scale, solve
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns

__all__ = ["Chain", "Core", "core_of", "generating_function"]

_MOST_STATES = 60_000
_SHORTEST_MIDDLE = 2
"""A middle of fewer positions is followed."""


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
    edges : state -> (next state, weight); a weight of a middle is the number of the response
    """

    core: Core
    begin: int
    end: int
    states: tuple[State, ...]
    edges: tuple[tuple[tuple[int, Weight | int], ...], ...]

    @property
    def flags(self) -> tuple[bool, ...]:
        """Whether steps count from the start, or from some time on."""
        return (True,) if self.begin == 0 else (False, True)

    @cached_property
    def order(self) -> Any:
        """Strongly connected components of the states, successors first."""
        return components_of([[to for to, _ in row] for row in self.edges])


def core_of(law: StepLaw, automata: RowAutomata | None = None) -> Core:
    """Cut a line into followed positions and middles.

    Raises
    ------
    CrossingError
        No slope has a middle, or a phase ends in one.
    """
    merged, _ = merge_patterns(automata if automata is not None else automata_of(law))
    spans = list(_middles(merged))
    if not spans:
        raise CrossingError(
            "no slope has neighbouring positions that are alike, each with an agent state of its "
            "own: there is nothing that segments could take together"
        )
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
        anywhere = Evaluation(exact=False, order=0, nodes=np.ones(1, np.complex128))
        self.middles = [histories_of(m, anywhere, flags) for m in core.middles]
        for k, regions in enumerate(core.middles):
            self.entered[regions[0].first] = (k, DOWN)
            self.entered[regions[-1].last] = (k, UP)

    def chain(self) -> Chain:
        """Return the chain."""
        start = State(0, 0, (0,) * len(self.core.rows), (0,) * len(self.middles))
        index = {start: 0}
        states = [start]
        edges: list[tuple[tuple[int, Weight | int], ...]] = []
        for state in states:
            row = []
            for target, weight in self.successors(state):
                if target not in index:
                    if len(states) >= _MOST_STATES:
                        raise CrossingError(
                            f"shared rows and their neighbours have more than {_MOST_STATES:,} "
                            f"states together"
                        )
                    index[target] = len(states)
                    states.append(target)
                row.append((index[target], weight))
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
                yield State(position, state.phase, patterns, state.histories), share
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
            after = State(
                state.place, state.phase, state.patterns, replaced(histories, k, following)
            )
            yield self.arrived(position, after, state.patterns), number

    def arrived(self, position: int, before: State, patterns: tuple[int, ...]) -> State:
        """Return the state after a move to a position."""
        phase = before.phase
        if phase < len(self.milestones) and position == self.milestones[phase]:
            phase += 1
        if phase >= self.end:  # only the steps that histories keep still matter
            return State(self.law.optimum, phase, (), before.histories)
        if position not in self.entered:
            return State(position, phase, patterns, before.histories)
        k, side = self.entered[position]
        if self.middles[k].sides[before.histories[k]] != side:
            raise SolverError("a middle is entered where it was not left; please report this")
        return State(-1 - k, phase, patterns, before.histories)


def generating_function(chain: Chain, evaluation: Evaluation) -> Element:
    """Return E[z^S] of the steps S that count."""
    core, law = chain.core, chain.core.law
    middles = [histories_of(m, evaluation, chain.flags) for m in core.middles]
    weigh = EdgeWeights(evaluation, law.n, law.denominator)
    rows: dict[int, dict[int, Element]] = {}
    outputs: dict[int, dict[bool, Element]] = {}
    ends: dict[tuple[int, ...], Element] = {}
    for i, (state, edges) in enumerate(zip(chain.states, chain.edges, strict=True)):
        rows[i], outputs[i] = {}, {}
        if state.phase >= chain.end:
            if state.histories not in ends:
                ends[state.histories] = _kept(middles, state.histories, evaluation)
            outputs[i][True] = ends[state.histories]
            continue
        counted = state.phase >= chain.begin
        if state.place < 0:
            k = -1 - state.place
            for to, number in edges:
                assert isinstance(number, int)
                accumulate(rows[i], to, _answer(middles[k], state.histories[k], counted, number))
        else:
            for to, weight in edges:
                assert not isinstance(weight, int)
                accumulate(rows[i], to, weigh(state.place, weight, counted))
            evaluation.without_loop(i, rows[i], outputs[i], counted)
    found = solve(
        rows,
        outputs,
        chain.order,
        length=evaluation.length,
        at_one=evaluation.at_one,
        lossy=evaluation.lossy,
    )
    return found[0].get(True, scale(evaluation.one, 0))


def _kept(middles: list[Histories], histories: tuple[int, ...], evaluation: Evaluation) -> Element:
    """Return the generating function of the steps that histories keep, 1 at z = 1."""
    whole = evaluation.one
    for middle, history in zip(middles, histories, strict=True):
        total = middle.totals[history]
        if evaluation.at_one and not evaluation.exact:
            total = scale(total, 1 / total[0])
        whole = multiply(whole, total)
    return whole


def _answer(middle: Histories, history: int, counted: bool, number: int) -> Element:
    """Return the weight of a response, such that all of a history add up to 1 at z = 1."""
    _, following, weight = middle.responses[history, counted][number]
    return weight if following == history else scale(weight, middle.ratio(history, following))
