"""Running the oracle and the engine side by side.

`Coupled` keeps a concrete (position, Q-table of Fractions) next to what the engine believes
about it: the pattern of every row. After each step of Algorithm 1 it checks that what the
row automata claim is true of the concrete values: signs, orders and bounds of every entry
of the row that changed. A false claim is an engine bug, whatever the numbers that come out.

`compare_laws` compares whole distributions over positions, step by step, with ==.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from oracles import Choice, Oracle, Table, Weights, position_law

from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.exact.rationals import rational
from markov_lrsao.joint.enumeration import JointChain
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.rows.automata import RowAutomata


def law_of(oracle: Oracle, target: str | None = None, milestones: tuple[int, ...] = ()) -> StepLaw:
    """Return the engine's law of the oracle's instance, built from plain arrays."""
    names = dict(zip(oracle.names, oracle.objectives, strict=True))
    target = target or next(a for a, f in names.items() if f == oracle.target)
    landscape = Landscape.from_arrays(names, target, milestones or None)
    parameters = Parameters.of(oracle.alpha, oracle.gamma, oracle.r)
    return StepLaw.of(landscape, Algorithm.lrsao(parameters))


def sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def holds(value: Fraction, interval: Interval) -> bool:
    """Whether the value lies in the interval, its open ends excluded."""
    q = rational(value)
    above = q > interval.low or (q == interval.low and interval.low_attained)
    below = q < interval.high or (q == interval.high and interval.high_attained)
    return bool(above and below)


class Coupled:
    """A concrete run and the engine's patterns of it."""

    def __init__(self, oracle: Oracle, automata: RowAutomata) -> None:
        self.oracle, self.automata, self.law = oracle, automata, automata.law
        self.position = 0
        self.table: Table = oracle.zero_table()
        self.shown = [0] * (int(self.law.row.max()) + 1)

    def greedy(self) -> tuple[int, ...] | None:
        """Return the greedy actions, checked against the table; None where undecided."""
        row = int(self.law.row[self.position])
        row_class = int(self.automata.regions.row_class[row])
        pattern = self.automata.patterns[row_class][self.shown[row]]
        actual = self.oracle.greedy(self.table[self.oracle.state_of[self.position]])[0]
        if pattern.undecided is not None:
            assert set(actual) <= set(pattern.maximal)
            return None
        assert pattern.maximal == actual, (self.position, pattern, self.values())
        return actual

    def values(self) -> list[Fraction]:
        return self.oracle.row(self.table, self.position)

    def advance(self, choice: Choice) -> None:
        """Take one step and check the engine's claims about the row that changed."""
        row = int(self.law.row[self.position])
        row_class = int(self.automata.regions.row_class[row])
        key = (
            int(self.law.kind[self.position]),
            row_class,
            self.shown[row],
            choice.action,
            choice.direction,
        )
        state = self.oracle.state_of[self.position]
        following = self.automata.following[key]
        self.position, self.table, self.shown[row] = choice.position, choice.table, following
        values = [self.oracle.values[x] for x in choice.table[state]]
        pattern = self.automata.patterns[row_class][following]
        box = self.automata.boxes[row_class][following]
        for a, value in enumerate(values):
            assert holds(value, box[a]), (key, a, value, str(box[a]))
            assert pattern.signs[a] in (UNKNOWN, sign(value)), (key, a, value, pattern)
            for b, other in enumerate(values):
                assert pattern.relation(a, b) in (UNKNOWN, sign(value - other)), (key, pattern)


def random_run(
    oracle: Oracle,
    automata: RowAutomata,
    rng: np.random.Generator,
    steps: int,
    prefer: Callable[[Choice], float] | None = None,
) -> tuple[int, bool]:
    """Couple one run; return its length and whether the engine could follow it throughout.

    Outcomes are picked uniformly, or in proportion to `prefer`, so that unlikely ones occur.
    """
    run = Coupled(oracle, automata)
    for t in range(steps):
        if run.position == oracle.optimum:
            return t, True
        if run.greedy() is None:
            return t, False
        options = list(oracle.choices(run.position, run.table))
        weights = np.array([1.0 if prefer is None else prefer(c) for c in options])
        run.advance(options[int(rng.choice(len(options), p=weights / weights.sum()))])
    return steps, True


def chain_laws(joint: JointChain, start: dict[int, int], stop: int) -> Iterator[dict[int, int]]:
    """Yield position -> weight over denominator**t for t = 0, 1, .., runs ending at `stop`."""
    chain = joint.chain
    denominator = joint.law.denominator
    assert np.all(chain.denominators == denominator)
    pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
    numerators, positions = chain.numerators.tolist(), chain.positions.tolist()
    now = dict(start)
    while True:
        law: dict[int, int] = {}
        for i, w in now.items():
            law[positions[i]] = law.get(positions[i], 0) + w
        yield law
        following: dict[int, int] = {}
        for i, w in now.items():
            if positions[i] == stop:
                following[i] = following.get(i, 0) + w * denominator
                continue
            for k in range(pointers[i], pointers[i + 1]):
                following[columns[k]] = following.get(columns[k], 0) + w * numerators[k]
        now = following


def state_of(joint: JointChain, run: Coupled) -> int:
    """Return the number of the state of an unmerged chain that shows a coupled run."""
    assert not joint.merged
    code = run.position + sum(k * int(joint.coding.stride[r]) for r, k in enumerate(run.shown))
    index = int(np.searchsorted(joint.codes, code))
    assert joint.codes[index] == code
    return index


def compare_laws(
    oracle: Oracle,
    joint: JointChain,
    steps: int,
    *,
    largest: int = 50_000,
    run: Coupled | None = None,
    stop: int | None = None,
) -> int:
    """Compare the laws of the position at times 0..steps; return how many were compared."""
    stop = oracle.optimum if stop is None else stop
    start: Weights = {(0, oracle.zero_table()): 1}
    first = int(joint.chain.start[0])
    if run is not None:
        start, first = {(run.position, run.table): 1}, state_of(joint, run)
    laws = chain_laws(joint, {first: 1}, stop)
    compared = 0
    for t, weights in enumerate(oracle.propagate(start, steps, stop=stop, largest=largest)):
        expected = position_law(weights)
        assert sum(expected.values()) == oracle.denominator**t
        assert next(laws) == expected, f"the laws of the position differ at time {t}"
        compared = t
    return compared
