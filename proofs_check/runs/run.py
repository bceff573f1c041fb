"""Runs in exact rationals, driven by choices: what counterexamples are replayed on.

A `Run` plays a `StepLaw` on positions with the whole Q-table kept as fractions. Each step is
chosen from outside (an action among the greedy ones, a direction), so that the same code serves
random runs, the shrinking of a run and its replay.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational, rational_text
from markov_lrsao.model.algorithm import Algorithm, Reward
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.model.parameters import Parameters
from proofs_check.claims.counterexample import Counterexample

__all__ = [
    "Choice",
    "Record",
    "Run",
    "SeenStep",
    "algorithm_data",
    "algorithm_of",
    "choices_of",
    "direction_text",
    "law_at",
    "law_of",
    "random_choice",
    "replay",
    "run_of",
]

Choice = tuple[str, int]
"""An action and a direction."""


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
    law: StepLaw,
    choices: Sequence[Choice],
    *,
    statement: str,
    expected: str,
    observed: str,
    part: str = "",
    claim: str = "",
    terms: Mapping[str, str] | None = None,
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
    algorithm, given = algorithm_data(law.algorithm)
    return Counterexample(
        statement=statement,
        expected=expected,
        observed=observed,
        part=part,
        claim=claim,
        terms=terms or {},
        values=values | given,
        algorithm=algorithm,
        objectives={name: tuple(values) for name, values in landscape.listed().items()},
        target=landscape.target,
        milestones=landscape.milestones,
        steps=tuple((a, direction_text(d)) for a, d in choices),
    )


_REWARDS = ("rejected", "equal", "better")
_COEFFICIENTS = ("keep", "learn", "bootstrap")


def algorithm_data(algorithm: Algorithm) -> tuple[str | dict[str, str], dict[str, str]]:
    """Return an algorithm as texts: its name, or its coefficients; and its hyper-parameters.

    >>> algorithm_data(Algorithm.earl())
    ('earl', {'alpha': '4/5', 'gamma': '99/100'})
    """
    if algorithm.parameters is not None and algorithm == Algorithm.lrsao(algorithm.parameters):
        return "lrsao", {}
    if algorithm == Algorithm.rls():
        return "rls", {}
    learn, bootstrap = algorithm.learn, algorithm.bootstrap
    if 0 < learn < 1 and 0 < bootstrap < learn:
        given = {"alpha": rational_text(learn), "gamma": rational_text(bootstrap / learn)}
        if algorithm == Algorithm.earl(given["alpha"], given["gamma"]):
            return "earl", given
    data = {name: rational_text(getattr(algorithm, name)) for name in _COEFFICIENTS}
    for name in _REWARDS:
        form: Reward = getattr(algorithm, name)
        data[name] = " ".join(rational_text(x) for x in (form.constant, form.chosen, form.target))
    return data | {
        "name": algorithm.name,
        "accept_equal": str(algorithm.accept_equal),
        "state": algorithm.state,
        "actions": algorithm.actions,
    }, {}


def algorithm_of(data: str | Mapping[str, str], values: Mapping[str, str]) -> Algorithm:
    """Return the algorithm that `algorithm_data` describes.

    Raises
    ------
    ParameterError
        Something is missing, unknown or no number.
    """
    needed = {"lrsao": ("alpha", "gamma", "r"), "earl": ("alpha", "gamma")}
    if isinstance(data, str):
        missing = set(needed.get(data, ())) - set(values)
        if missing:
            raise ParameterError(f"the counterexample lacks the values {sorted(missing)}")
        if data == "lrsao":
            return Algorithm.lrsao(Parameters.of(*(values[x] for x in needed[data])))
        if data == "earl":
            return Algorithm.earl(values["alpha"], values["gamma"])
        if data == "rls":
            return Algorithm.rls()
        raise ParameterError(f"algorithm {data!r} is unknown: choose from lrsao, earl, rls")
    own = {*_COEFFICIENTS, *_REWARDS, "name", "accept_equal", "state", "actions"}
    if set(data) != own:
        raise ParameterError(f"algorithm: missing or unknown keys {sorted(set(data) ^ own)}")
    forms = {name: data[name].split() for name in _REWARDS}
    if (
        any(len(form) != 3 for form in forms.values())
        or data["accept_equal"] not in ("True", "False")
        or data["state"] not in ("target", "blind")
        or data["actions"] not in ("all", "target")
    ):
        raise ParameterError("algorithm: a reward, accept_equal, state or actions is malformed")
    rewards = {name: Reward(*(rational(x, name) for x in form)) for name, form in forms.items()}
    given = {"alpha", "gamma", "r"} <= set(values)
    return Algorithm(
        name=data["name"],
        rejected=rewards["rejected"],
        equal=rewards["equal"],
        better=rewards["better"],
        keep=rational(data["keep"], "keep"),
        learn=rational(data["learn"], "learn"),
        bootstrap=rational(data["bootstrap"], "bootstrap"),
        accept_equal=data["accept_equal"] == "True",
        state="target" if data["state"] == "target" else "blind",
        actions="all" if data["actions"] == "all" else "target",
        parameters=Parameters.of(values["alpha"], values["gamma"], values["r"]) if given else None,
    )


def law_at(counterexample: Counterexample) -> StepLaw:
    """Return the step law of a counterexample that is a run, from its own numbers.

    Raises
    ------
    ParameterError
        It is a point, or its numbers make no landscape or algorithm.
    """
    if not counterexample.replayable:
        raise ParameterError(
            f"the counterexample to {counterexample.statement} is a point, not a run: "
            f"{counterexample.describe()}"
        )
    values = counterexample.values
    ell = values.get("l", "0")
    if not re.fullmatch("[0-9]{1,18}", ell):
        raise ParameterError(f"the counterexample has l = {ell!r}: an integer is needed")
    landscape = Landscape.from_arrays(
        counterexample.objectives,
        counterexample.target,
        counterexample.milestones,
        ell=int(ell),
    )
    if values.get("n", str(landscape.n)) != str(landscape.n):
        raise ParameterError(
            f"the counterexample says n = {values['n']}, but its objectives have n = {landscape.n}"
        )
    return StepLaw.of(landscape, algorithm_of(counterexample.algorithm, values))


def choices_of(counterexample: Counterexample) -> list[Choice]:
    """Return the steps of a counterexample as choices."""
    return [(a, UP if d == "up" else DOWN) for a, d in counterexample.steps]


def replay(counterexample: Counterexample) -> tuple[Run, list[Record]]:
    """Play a counterexample's run again, from its own numbers.

    Raises
    ------
    ParameterError
        It has no run, or a step is not one that the algorithm can make.
    """
    run = Run(law_at(counterexample))
    return run, run.play(choices_of(counterexample))
