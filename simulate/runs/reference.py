"""The algorithms line by line, in exact rationals: slow and meant to be obviously right.

`run_on_bit_strings` follows the paper's Algorithm 1: a bit string x, one random bit flipped, the
objective with the largest Q-entry (ties broken uniformly), reward (R), the Q-update. It computes
the objectives from the bit string with the paper's formulas and knows nothing of `StepLaw`.
`run_on_positions` plays the same law on p = |x|_1 alone, from a `StepLaw`.

Randomness comes from a `Chooser`. `StreamChooser` draws from a stream in the order in which the
step kernel draws (the flipped bit, then the tie), so that the two can be compared choice by
choice; `ForcedChooser` replays choices that were made elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import fmpq

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.model.parameters import Parameters
from simulate.runs.streams import Stream

__all__ = [
    "Chooser",
    "ForcedChooser",
    "Moment",
    "Objective",
    "StreamChooser",
    "bit_string_objectives",
    "objectives_on",
    "run_on_bit_strings",
    "run_on_positions",
]


@dataclass(frozen=True)
class Moment:
    """One step: where it began, the largest entries of the row, and what was done."""

    time: int
    position: int
    tied: tuple[str, ...]
    action: str
    direction: int
    accepted: bool


class Chooser(Protocol):
    """Makes the two random choices of a step."""

    def flip(self, ones: int, n: int) -> tuple[int, int]:
        """Choose a bit: (DOWN, k) is the k-th of the ones, (UP, k) the k-th of the zeros."""

    def break_tie(self, tied: Sequence[str]) -> str:
        """Choose among at least two actions."""


class StreamChooser:
    """Draws uniformly, in the order of the step kernel."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def flip(self, ones: int, n: int) -> tuple[int, int]:
        """Draw one of the n bits; the ones are numbered first."""
        bit = self._stream.below(n)
        return (DOWN, bit) if bit < ones else (UP, bit - ones)

    def break_tie(self, tied: Sequence[str]) -> str:
        """Draw one of the tied actions."""
        return tied[self._stream.below(len(tied))]


class ForcedChooser:
    """Replays (action, direction) pairs; asking it for an action that is not tied is an error."""

    def __init__(self, choices: Iterable[tuple[str, int]]) -> None:
        self._choices: Iterator[tuple[str, int]] = iter(choices)
        self._action = ""

    def flip(self, ones: int, n: int) -> tuple[int, int]:
        """Take the next pair."""
        self._action, direction = next(self._choices)
        return direction, 0

    def break_tie(self, tied: Sequence[str]) -> str:
        """Return the pair's action."""
        if self._action not in tied:
            raise SolverError(f"{self._action} was chosen, but only {tied} are largest")
        return self._action


Objective = Callable[[Sequence[int]], int | Fraction]


def bit_string_objectives(n: int, ell: int) -> dict[str, Objective]:
    """Return LeftBridge, Jump and RightBridge as the paper's section 3.1 defines them.

    >>> objectives = bit_string_objectives(9, 2)
    >>> [objectives[name]([1, 1, 0, 1, 0, 0, 0, 0, 0]) for name in "LJR"]
    [3, 3, 0]
    """

    def left_bridge(x: Sequence[int]) -> int:
        return sum(x) if sum(x) <= ell + 1 else 0

    def jump(x: Sequence[int]) -> int:
        return sum(x) if ell + 1 <= sum(x) <= n - ell - 1 or sum(x) == n else 0

    def right_bridge(x: Sequence[int]) -> int:
        return sum(x) if sum(x) >= n - ell - 1 else 0

    return {"L": left_bridge, "J": jump, "R": right_bridge}


def objectives_on(landscape: Landscape) -> dict[str, Objective]:
    """Return a landscape's objectives as functions of bit strings."""

    def objective(name: str) -> Objective:
        return lambda x: fraction(landscape.value(name, sum(x)))

    return {name: objective(name) for name in landscape.actions}


def run_on_bit_strings(
    n: int,
    ell: int,
    parameters: Parameters,
    chooser: Chooser,
    limit: int | None = None,
    *,
    objectives: Mapping[str, Objective] | None = None,
    target: str = "J",
) -> Iterator[Moment]:
    """Run LRSAO, Algorithm 1 of the paper, with Fractions; yield every step.

    Without other objectives they are Jump's. The run ends where the target is as at 1^n.

    >>> from simulate.runs.streams import stream_key
    >>> chooser = StreamChooser(Stream(stream_key(1), run=0))
    >>> len(list(run_on_bit_strings(9, 2, Parameters.paper(9), chooser)))
    52
    """
    alpha, gamma, r = (fraction(v) for v in (parameters.alpha, parameters.gamma, parameters.r))
    if objectives is None:
        objectives = bit_string_objectives(n, ell)
    actions = tuple(objectives)
    jump = objectives[target]
    t = 0
    x = [0] * n
    s = jump(x)
    best = jump([1] * n)
    q: dict[tuple[int | Fraction, str], Fraction] = defaultdict(Fraction)
    while s < best and (limit is None or t < limit):
        direction, index = chooser.flip(sum(x), n)
        bit = [i for i in range(n) if x[i] == (1 if direction == DOWN else 0)][index]
        x_new = x.copy()
        x_new[bit] = 1 - x_new[bit]
        largest = max(q[s, a] for a in actions)
        tied = tuple(a for a in actions if q[s, a] == largest)
        f_t = tied[0] if len(tied) == 1 else chooser.break_tie(tied)
        f = objectives[f_t]
        position = sum(x)
        accepted = f(x_new) >= f(x)
        if accepted:
            reward = Fraction(f(x_new) - f(x))
            x = x_new
            if reward == 0:
                reward = -r
        else:
            reward = Fraction(0)
        s_new = jump(x)
        q[s, f_t] = (1 - alpha) * q[s, f_t] + alpha * (
            reward + gamma * max(q[s_new, a] for a in actions)
        )
        yield Moment(t, position, tied, f_t, direction, accepted)
        s = s_new
        t += 1


def run_on_positions(law: StepLaw, chooser: Chooser, limit: int | None = None) -> Iterator[Moment]:
    """Run any algorithm on any landscape, on positions only, in exact rationals."""
    actions = law.actions
    algorithm = law.algorithm
    q = [[fmpq(0)] * len(actions) for _ in range(int(law.row.max()) + 1)]
    p = t = 0
    while p != law.optimum and (limit is None or t < limit):
        row = q[int(law.row[p])]
        direction, _ = chooser.flip(p, law.n)
        largest = max(row)
        tied = tuple(a for a, entry in zip(actions, row, strict=True) if entry == largest)
        chosen = tied[0] if len(tied) == 1 else chooser.break_tie(tied)
        step = law.step(p, chosen, direction)
        a = actions.index(chosen)
        after = q[int(law.row[step.next_position])]
        row[a] = (
            algorithm.keep * row[a]
            + algorithm.learn * step.reward
            + algorithm.bootstrap * max(after)
        )
        yield Moment(t, p, tied, chosen, direction, step.accepted)
        p = step.next_position
        t += 1
