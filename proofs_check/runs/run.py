"""Runs in exact rationals, driven by choices: what counterexamples are replayed on.

A `Run` plays a `StepLaw` on positions with the whole Q-table kept as fractions. Each step is
chosen from outside (an action among the greedy ones, a direction), so that the same code serves
random runs, the shrinking of a run and its replay.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.model.parameters import Parameters
from proofs_check.claims.counterexample import Counterexample

__all__ = [
    "Record",
    "Run",
    "SeenStep",
    "direction_text",
    "law_of",
    "random_choice",
    "replay",
    "run_of",
]

Choice = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class SeenStep:
    """What is seen of a step, in a run or in the joint chain.

    `phase` and `next_phase` count the milestones hit so far, plus one.
    """

    position: int
    action: str
    direction: int
    accepted: bool
    next_position: int
    phase: int
    next_phase: int


@dataclass(frozen=True, kw_only=True)
class Record(SeenStep):
    """One step of a run; `old` and `new` are the updated entry's values."""

    time: int
    tied: tuple[str, ...]
    reward: fmpq
    old: fmpq
    new: fmpq

    @property
    def sign(self) -> str:
        """The action with the proposal's direction, e.g. "J+"."""
        return self.action + ("+" if self.direction == UP else "-")


def direction_text(direction: int) -> str:
    """Return "up" or "down"."""
    return "up" if direction == UP else "down"


class Run:
    """A run of an algorithm on a landscape, in exact rationals."""

    def __init__(self, law: StepLaw) -> None:
        self.law = law
        self.position, self.time, self.phase = 0, 0, 1
        self.q: list[list[fmpq]] = [
            [fmpq(0)] * len(law.actions) for _ in range(int(law.row.max()) + 1)
        ]
        self._row = law.row.tolist()
        self._milestones = law.landscape.milestones

    @property
    def finished(self) -> bool:
        """Whether the optimum has been hit."""
        return self.position == self.law.optimum

    def row(self, position: int) -> list[fmpq]:
        """Return the Q-row that is shown at a position."""
        return self.q[self._row[position]]

    def greedy(self) -> tuple[str, ...]:
        """Return the actions with the largest entry at the present position."""
        row = self.row(self.position)
        largest = max(row)
        return tuple(a for a, x in zip(self.law.actions, row, strict=True) if x == largest)

    def step(self, action: str, direction: int) -> Record:
        """Make one step.

        Raises
        ------
        ParameterError
            The action is not greedy, the direction impossible, or the run is over.
        """
        law, p = self.law, self.position
        tied = self.greedy()
        if self.finished or action not in tied or not 0 <= p + 2 * direction - 1 <= law.n:
            raise ParameterError(
                f"step {self.time}: {action} {direction_text(direction)} is impossible at "
                f"position {p}, where {', '.join(tied)} have the largest entry"
            )
        a = law.actions.index(action)
        accepted = bool(law.accepted[p, a, direction])
        reward = law.reward(p, a, direction)
        after = p + 2 * direction - 1 if accepted else p
        algorithm = law.algorithm
        row = self.row(p)
        old = row[a]
        new = (
            algorithm.keep * old
            + algorithm.learn * reward
            + algorithm.bootstrap * max(self.row(after))
        )
        row[a] = new
        phase = self.phase
        if phase <= len(self._milestones) and after == self._milestones[phase - 1]:
            self.phase += 1
        record = Record(
            time=self.time,
            position=p,
            tied=tied,
            action=action,
            direction=direction,
            accepted=accepted,
            reward=reward,
            next_position=after,
            phase=phase,
            next_phase=self.phase,
            old=old,
            new=new,
        )
        self.position, self.time = after, self.time + 1
        return record

    def play(self, choices: Iterable[Choice]) -> list[Record]:
        """Make the given steps."""
        return [self.step(action, direction) for action, direction in choices]


def random_choice(run: Run, generator: random.Random) -> Choice:
    """Draw a step with its true probability."""
    tied = run.greedy()
    action = tied[0] if len(tied) == 1 else generator.choice(tied)
    return action, DOWN if generator.randrange(run.law.n) < run.position else UP


def law_of(landscape: Landscape, algorithm: Algorithm) -> StepLaw:
    """Return the step law."""
    return StepLaw.of(landscape, algorithm)


def run_of(
    law: StepLaw, choices: Sequence[Choice], *, statement: str, expected: str, observed: str
) -> Counterexample:
    """Return the counterexample that consists of a run."""
    landscape, parameters = law.landscape, law.algorithm.parameters
    values = {"n": str(landscape.n), "l": str(landscape.ell)}
    if parameters is not None:
        values |= {
            name: rational_text(value)
            for name, value in (
                ("alpha", parameters.alpha),
                ("gamma", parameters.gamma),
                ("r", parameters.r),
            )
        }
    return Counterexample(
        statement=statement,
        expected=expected,
        observed=observed,
        values=values,
        objectives={k: tuple(int(x) for x in v) for k, v in landscape.objectives.items()},
        target=landscape.target,
        milestones=landscape.milestones,
        steps=tuple((a, direction_text(d)) for a, d in choices),
    )


def replay(counterexample: Counterexample) -> tuple[Run, list[Record]]:
    """Play a counterexample's run again, from its own numbers.

    Raises
    ------
    ParameterError
        It has no run, or a step is not one that the algorithm can make.
    """
    if not counterexample.replayable:
        raise ParameterError(
            f"the counterexample to {counterexample.statement} is a point, not a run: "
            f"{counterexample.describe()}"
        )
    values = counterexample.values
    missing = {"l", "alpha", "gamma", "r"} - set(values)
    if missing:
        raise ParameterError(f"the counterexample lacks the values {sorted(missing)}")
    landscape = Landscape.from_arrays(
        counterexample.objectives,
        counterexample.target,
        counterexample.milestones,
        ell=int(values["l"]),
    )
    parameters = Parameters.of(values["alpha"], values["gamma"], values["r"])
    run = Run(StepLaw.of(landscape, Algorithm.lrsao(parameters)))
    return run, run.play((a, UP if d == "up" else DOWN) for a, d in counterexample.steps)
