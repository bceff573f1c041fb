"""A concrete run of Algorithm 1 next to the states that the refined blocks foresee for it.

The oracle keeps the whole Q-table in Fractions. `Followed` keeps what the engine believes:
before the cut the cluster of the row that comes back and the patterns of all others, after
the cut the state of the tail. Every step checks

* the true entries lie in the boxes and have the signs and orders that are claimed of them;
* the true greedy set is one of the options of the state;
* the law of the next step, over the states that the engine goes on to, is exactly that of
  one of the options;
* once the engine says that a run only goes up from here, it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from coupling import holds, sign
from oracles import UP, Choice, Oracle, Table
from refined import Unmerged, unmerged

from markov_lrsao.crossing.blocks import Exit, State
from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.model.law import StepLaw
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from markov_lrsao.rows.lumping import merge_patterns
from markov_lrsao.rows.orders import largest_of
from markov_lrsao.values.clusters import Clusters, Update
from markov_lrsao.values.refinement import Refined, safe_actions
from markov_lrsao.values.tails import Level

GONE = (-1, -1)
Prefer = Callable[[int, Choice], float]


def oracle_of(law: StepLaw) -> Oracle:
    parameters = law.algorithm.parameters
    assert parameters is not None
    return Oracle.jump(
        law.n,
        law.landscape.ell,
        *(Fraction(int(v.p), int(v.q)) for v in (parameters.alpha, parameters.gamma, parameters.r)),
    )


@dataclass
class Foreseen:
    """What the engine foresees for a law at a level, built once for many runs."""

    law: StepLaw
    level: Level
    oracle: Oracle = field(init=False)
    whole: Unmerged = field(init=False)
    automata: RowAutomata = field(init=False)
    classes: list[list[int]] = field(init=False)
    numbers: dict[str, dict[State, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.oracle = oracle_of(self.law)
        self.whole = unmerged(self.law, self.level)
        self.cut = cut = self.whole.decomposition.cut
        self.row, self.below = int(self.law.row[cut]), int(self.law.row[cut - 1])
        self.automata = derive_automata(self.law, cut)
        of = self.automata.regions.row_class
        _, self.classes = merge_patterns(self.automata, {int(of[self.row]), int(of[self.below])})
        self.numbers = {
            name: {state: i for i, state in enumerate(block.states)}
            for name, block in (("tail", self.whole.tail), ("bottom", self.whole.bottom))
        }
        self.safe = {
            r: safe_actions(self.law, cut - 1, self.law.optimum, r) for r in (self.row, self.below)
        }


class Followed:
    """One run, followed by the engine."""

    def __init__(self, foreseen: Foreseen) -> None:
        self.known, self.oracle, self.law = foreseen, foreseen.oracle, foreseen.law
        self.bottom, self.tail = foreseen.whole.bottom, foreseen.whole.tail
        self.position, self.table = 0, self.oracle.zero_table()
        self.phase = 0
        self.shown = [0] * (int(self.law.row.max()) + 1)  # unmerged patterns, before the cut
        self.brought = self.bottom.states[0].patterns[self.bottom.stretch.rows.index(foreseen.row)]
        self.state: State | None = None  # in the tail; None before the cut
        self.gone = False
        self.undecided = 0
        self.seen: list[tuple[Clusters, int, list[Fraction]]] = []  # rows and their clusters

    # -- what is true -------------------------------------------------------------------

    def values(self, row: int, table: Table | None = None) -> list[Fraction]:
        state = self.oracle.state_of[int(np.flatnonzero(self.law.row == row)[0])]
        return [self.oracle.values[x] for x in (table or self.table)[state]]

    def greedy(self) -> tuple[int, ...]:
        return self.oracle.greedy(self.table[self.oracle.state_of[self.position]])[0]

    def choices(self) -> list[Choice]:
        return list(self.oracle.choices(self.position, self.table))

    # -- what the engine believes ---------------------------------------------------------

    def claims(self, clusters: Clusters, number: int, values: list[Fraction]) -> None:
        key, box = clusters.traits[number], clusters.boxes[number]
        self.seen.append((clusters, number, values))
        for a, value in enumerate(values):
            assert holds(value, box[a]), (self.position, a, float(value), str(box[a]))
            assert key.pattern.signs[a] in (UNKNOWN, sign(value)), (self.position, a, value)
            for b, other in enumerate(values):
                assert key.pattern.relation(a, b) in (UNKNOWN, sign(value - other))

    def follow(
        self,
        clusters: Clusters,
        number: int,
        choice: Choice,
        neighbour: int | Interval | None,
        safe: tuple[int, ...],
    ) -> int:
        """Return the cluster after a step; the exploration must have met this very update."""
        option = next(o for o in clusters.options(number) if o.greedy == self.greedy())
        move = self.law.kinds[int(self.law.kind[self.position])][choice.action][choice.direction]
        update = Update(
            number, option, choice.action, move.gain, None if move.stays_in_row else neighbour, safe
        )
        return clusters.following[update]

    def advance(self, choice: Choice) -> None:
        """Take a step, checking all claims."""
        if self.gone:
            assert choice.position >= self.position, "a run that only goes up went down"
        elif self.state is None:
            self._before(choice)
        else:
            self._after(choice)
        self.position, self.table = choice.position, choice.table
        self.phase = max(self.phase, self._phase(choice.position))
        if self.state is None and self.position == self.known.cut:
            self._enter()
        elif self.state is None and self.position <= self.bottom.stretch.last:
            assert self._bottom_state() in self.known.numbers["bottom"]

    def _phase(self, position: int) -> int:
        """Return the number of milestones passed by a run that now reaches `position`."""
        milestones = self.law.landscape.milestones
        passed = self.phase
        while passed < len(milestones) and milestones[passed] == position:
            passed += 1
        return passed

    def _bottom_state(self) -> State:
        return State(self.position, self.phase, self._bottom_patterns())

    def _bottom_patterns(self) -> tuple[int, ...]:
        of = self.known.automata.regions.row_class
        return tuple(
            self.brought if r == self.known.row else self.known.classes[int(of[r])][self.shown[r]]
            for r in self.bottom.stretch.rows
        )

    def _before(self, choice: Choice) -> None:
        law, automata, row = self.law, self.known.automata, int(self.law.row[self.position])
        of = automata.regions.row_class
        if row == self.known.row:
            clusters, to = self.bottom.clusters, int(law.row[choice.position])
            options = clusters.options(self.brought)
            assert [o.greedy for o in options] == [self.greedy()]  # decided before the cut
            m = None
            if to != row:
                box = self.known.whole.decomposition.automata.boxes[int(of[to])][
                    self.known.classes[int(of[to])][self.shown[to]]
                ]
                m = largest_of(box)
                assert holds(max(self.values(to)), m)
            self.brought = self.follow(clusters, self.brought, choice, m, ())
            self.claims(clusters, self.brought, self.values(row, choice.table))
        kind = int(law.kind[self.position])
        self.shown[row] = automata.following[
            kind, int(of[row]), self.shown[row], choice.action, choice.direction
        ]

    def _enter(self) -> None:
        """Find the state of the tail with which the cut is hit."""
        d = self.known.whole.decomposition
        patterns, mark = self._bottom_patterns(), self.shown[self.known.below]
        found = {i for (x, m), i in d.tail_start.items() if (x.patterns, m) == (patterns, mark)}
        assert len(found) == 1, "the cut is hit in a way that was not foreseen"
        self.state = self.tail.states[found.pop()]
        assert (self.state.position, self.state.phase) == (self.position, self.phase)
        self._claims_of_state(self.table)

    def _claims_of_state(self, table: Table) -> None:
        assert self.state is not None
        for r, number in zip(self.tail.stretch.rows, self.state.patterns, strict=True):
            self.claims(self.tail.clusters, number, self.values(r, table))

    def _after(self, chosen: Choice) -> None:
        """Compare the law of the next step with the options of the state."""
        assert self.state is not None
        number = self.known.numbers["tail"][self.state]
        at = self.tail.stretch.rows.index(int(self.law.row[self.position]))
        options = self.tail.clusters.options(self.state.patterns[at])
        assert self.greedy() in [o.greedy for o in options], "the greedy set is no option"
        self.undecided += len(options) > 1
        law: dict[int | Exit, int] = {}
        target: State | None = None
        for choice in self.choices():
            to, state = self._target(choice, at)
            law[to] = law.get(to, 0) + choice.weight
            if choice == chosen:
                target = state
        assert law in option_laws(self.tail, number, self.position), "no option has this law"
        self.state = target
        if target is not None and target.patterns == GONE:
            self.gone = True
        elif target is not None:
            self._claims_of_state(chosen.table)

    def _target(self, choice: Choice, at: int) -> tuple[int | Exit, State | None]:
        """Return where the engine goes on to after a choice."""
        assert self.state is not None
        phase = self._phase(choice.position)
        if choice.position == self.law.optimum:
            return Exit(UP, phase, GONE), None
        other = 1 - at
        after = self.follow(
            self.tail.clusters,
            self.state.patterns[at],
            choice,
            self.state.patterns[other],
            self.known.safe[self.tail.stretch.rows[at]],
        )
        shown = list(self.state.patterns)
        shown[at] = after
        index = self.known.numbers["tail"]
        for patterns in (tuple(shown), GONE):
            state = State(choice.position, phase, patterns)
            if state in index:
                return index[state], state
        raise AssertionError(f"{state} was not foreseen")


def option_laws(block: Refined, number: int, position: int) -> list[dict[int | Exit, int]]:
    """Return per option the weights of the targets over the law's denominator."""
    result = []
    for edges in block.options[number]:
        law: dict[int | Exit, int] = {}
        for target, weight in edges:
            assert isinstance(weight, tuple)
            share = weight[0] * position + weight[1] * (block.law.n - position)
            if share:
                law[target] = law.get(target, 0) + share
        result.append(law)
    return result


def biased_run(foreseen: Foreseen, rng: np.random.Generator, steps: int) -> Followed:
    """Follow a run whose outcomes are picked with weights drawn for it: rare histories occur.

    Every run has its own appetite for going up, going down and being rejected, before the cut
    and after it, and its own favourite objective.
    """
    run = Followed(foreseen)
    appetite = 10.0 ** rng.uniform(-1.0, 1.0, size=(2, 3))
    appetite[0, 2] = max(appetite[0, 2], 1.0)  # up: or else the cut is never hit
    favourite = 10.0 ** rng.uniform(-0.7, 0.7, size=3)
    for _ in range(steps):
        if run.position == foreseen.law.optimum:
            break
        options = run.choices()
        side = int(run.state is not None)
        weights = np.array(
            [appetite[side, 1 + c.position - run.position] * favourite[c.action] for c in options]
        )
        run.advance(options[int(rng.choice(len(options), p=weights / weights.sum()))])
    return run
