"""The one table (position, action, direction) -> accepted?, reward, next agent state.

`StepLaw` is derived from a landscape and an algorithm, and everything else reads it:
the patterns, the chain, the simulation kernels and the proofs. Directions are 0 (down,
probability p/n) and 1 (up, probability (n-p)/n).

Positions at which all of this agrees have the same *kind*. Kinds keep the derivation of
patterns independent of n: Jump has at most fourteen of them at every n.

One step is made of *proposals*: the agent chooses uniformly among its greedy actions, a flipped
bit proposes a direction, and the action accepts or rejects. `StepLaw.proposals` is the one place
where their probabilities are written; each is a `Share`, a form in p and n.

>>> from markov_lrsao.model.landscape import Landscape
>>> from markov_lrsao.model.parameters import Parameters
>>> law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
>>> law.step(7, "J", DOWN)
Step(accepted=True, reward=6, next_position=6, next_state=6)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import lcm
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily, algorithm_at
from markov_lrsao.model.landscape import Landscape

__all__ = [
    "DOWN",
    "UP",
    "IntArray",
    "Kind",
    "Move",
    "Proposal",
    "Share",
    "Step",
    "StepLaw",
    "add_shares",
    "agent_states",
]

DOWN, UP = 0, 1
Of = TypeVar("Of", bound=Hashable)
IntArray = npt.NDArray[np.int64]


class Share(NamedTuple):
    """The probability (down p + up (n - p)) / (n `StepLaw.unit`) as a form in p and n.

    >>> (Share(3, 0) + Share(0, 2)).numerator(4, 9)
    22
    """

    down: int
    up: int

    def __add__(self, other: Share) -> Share:  # type: ignore[override] # forms add up
        return Share(self.down + other.down, self.up + other.up)

    def numerator(self, p: Any, n: Any) -> Any:
        """Return down p + up (n - p); p and n are numbers, arrays or symbols."""
        return self.down * p + self.up * (n - p)


def add_shares(pairs: Iterable[tuple[Of, Share]]) -> dict[Of, Share]:
    """Add up the shares that belong to the same."""
    total: dict[Of, Share] = {}
    for of, share in pairs:
        present = total.get(of)
        total[of] = share if present is None else present + share
    return total


@dataclass(frozen=True)
class Step:
    """What one proposal does, in the words of the landscape."""

    accepted: bool
    reward: fmpq
    next_position: int
    next_state: fmpq


@dataclass(frozen=True)
class Move:
    """What one proposal does to the Q-entry q of the chosen action.

    The new value is ``keep * q + gain + bootstrap * M``, gain = learn * reward, where M is
    the largest entry of the row itself when `stays_in_row`, else of the neighbour's row.
    """

    possible: bool
    accepted: bool
    gain: fmpq
    stays_in_row: bool


Kind = tuple[tuple[Move, Move], ...]
"""What all positions of one kind share: for each action the moves (down, up)."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A greedy action and a proposed direction: what they do, and how likely they are.

    Attributes
    ----------
    move : what becomes of the Q-entry, and whether the offspring is accepted
    moved : change of position: -1, 0 or 1
    """

    action: int
    direction: int
    move: Move
    moved: int
    share: Share


@dataclass(frozen=True, eq=False)
class StepLaw:
    """The one-step law of an algorithm on a landscape.

    A law keeps what is derived from it, so it equals itself only; compare the landscapes and
    algorithms of two laws to see whether they mean the same.

    Attributes
    ----------
    actions : short names, in the order of the Q-table's columns
    row : position -> index of the agent state's Q-row; rows are numbered by first position
    row_value : row -> the agent state itself (the target's value times the landscape's scale)
    accepted : bool array [position, action, direction]
    reward_index : index into `rewards`, [position, action, direction]
    rewards : the distinct rewards
    derived : what has been derived from the law, kept for the next who asks
    """

    landscape: Landscape
    algorithm: Algorithm
    actions: tuple[str, ...]
    row: IntArray
    row_value: IntArray
    accepted: npt.NDArray[np.bool_]
    reward_index: IntArray
    rewards: tuple[fmpq, ...]
    derived: dict[object, Any] = field(default_factory=dict, repr=False)
    _proposals: dict[tuple[int, tuple[int, ...]], tuple[Proposal, ...]] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of(
        cls, landscape: Landscape, algorithm: Algorithm | AlgorithmFamily | None = None
    ) -> StepLaw:
        """Derive the table; an algorithm that follows n (default: LRSAO) is completed.

        Raises
        ------
        ParameterError
            The algorithm has standard bit mutation; `JumpingLaw` is its law.
        """
        algorithm = algorithm_at(algorithm, landscape.n)
        if algorithm.rate is not None:
            raise ParameterError(
                f"{algorithm.name} with standard bit mutation (class E: rows of values, any number "
                f"of bits) is followed at small n by `runtime()`, and simulated; nothing else is "
                f"known of it"
            )
        target = landscape.objectives[landscape.target]
        actions = landscape.actions if algorithm.actions == "all" else (landscape.target,)
        neighbour = _neighbours(landscape.n)
        chosen_gain = np.stack(
            [
                landscape.objectives[a][neighbour] - landscape.objectives[a][:, None]
                for a in actions
            ],
            axis=1,
        )
        accepted = chosen_gain >= (0 if algorithm.accept_equal else 1)
        gained = np.broadcast_to((target[neighbour] - target[:, None])[:, None, :], accepted.shape)
        learnt = accepted
        if algorithm.preserve:
            accepted = accepted & (gained >= 0)
            learnt = learnt if algorithm.mistakes else accepted
            chosen_gain = np.where(learnt, chosen_gain, np.minimum(chosen_gain, -1))
        # A rejected offspring leaves the target's value as it is: its target gain is 0.
        target_gain = np.where(learnt, gained, 0)
        reward_index, rewards = _rewards(algorithm, chosen_gain, target_gain, landscape.scale)
        row, row_value = agent_states(landscape, algorithm)
        return cls(
            landscape=landscape,
            algorithm=algorithm,
            actions=actions,
            row=row,
            row_value=row_value,
            accepted=accepted,
            reward_index=reward_index,
            rewards=rewards,
        )

    @property
    def n(self) -> int:
        """Length of the bit strings."""
        return self.landscape.n

    @property
    def optimum(self) -> int:
        """The position where a run ends."""
        return self.landscape.optimum

    def state(self, row: int) -> fmpq:
        """Return the agent state of a row, the target's value there, for people."""
        return fmpq(int(self.row_value[row]), self.landscape.scale)

    def rows_met(self, first: int = 0, end: int | None = None) -> tuple[int, ...]:
        """Return the rows of the positions from `first` to below `end`, by default the optimum."""
        end = self.optimum if end is None else end
        return tuple(dict.fromkeys(self.row[first:end].tolist()))

    @cached_property
    def unit(self) -> int:
        """What the coefficients of a `Share` are counted in: lcm(1..actions) is worth one."""
        return lcm(*range(1, len(self.actions) + 1))

    @cached_property
    def denominator(self) -> int:
        """A common denominator of all transition probabilities: n times `unit`."""
        return self.n * self.unit

    def proposals(self, kind: int, greedy: tuple[int, ...]) -> tuple[Proposal, ...]:
        """Return all that one step can propose at positions of a kind.

        The agent takes each of its greedy actions with the same probability; a uniform bit is
        flipped, so that the proposal is downwards with probability p/n.
        """
        found = self._proposals.get((kind, greedy))
        if found is None:
            self.check_greedy()
            part = self.unit // len(greedy)
            found = self._proposals[kind, greedy] = tuple(
                Proposal(
                    action,
                    direction,
                    move,
                    (2 * direction - 1) * move.accepted,
                    Share(part, 0) if direction == DOWN else Share(0, part),
                )
                for action in greedy
                for direction, move in enumerate(self.kinds[kind][action])
                if move.possible
            )
        return found

    def probability(self, share: Share, p: int) -> fmpq:
        """Return what a share is worth at a position."""
        return fmpq(share.numerator(p, self.n), self.denominator)

    def reward(self, p: int, action: int, direction: int) -> fmpq:
        """Return the reward of proposing `direction` at p under the chosen action."""
        return self.rewards[int(self.reward_index[p, action, direction])]

    def step(self, p: int, action: str, direction: int) -> Step:
        """Return one line of the table, in words."""
        a = self.actions.index(action)
        accepted = bool(self.accepted[p, a, direction])
        target = p + 2 * direction - 1 if accepted else p
        return Step(
            accepted, self.reward(p, a, direction), target, self.state(int(self.row[target]))
        )

    @cached_property
    def _kinds(self) -> tuple[IntArray, tuple[Kind, ...]]:
        positions = np.arange(self.n + 1)
        possible = np.stack([positions > 0, positions < self.n], axis=1)
        same_row = self.row[_neighbours(self.n)] == self.row[:, None]
        # Rewards that differ but are not learnt from must not split kinds.
        learnt = self.reward_index if self.algorithm.learn != 0 else 0 * self.reward_index
        signature = np.zeros(self.n + 1, dtype=np.int64)
        for a in range(len(self.actions)):
            for d in (DOWN, UP):
                stays = same_row[:, d] | ~self.accepted[:, a, d]
                column = 4 * learnt[:, a, d] + 2 * self.accepted[:, a, d] + stays
                column = np.where(possible[:, d], column + 1, 0)
                signature, _ = _number_by_first(signature * (int(column.max()) + 1) + column)
        kind, first = _number_by_first(signature)
        kinds = tuple(
            tuple(
                (self._move(int(p), a, DOWN), self._move(int(p), a, UP))
                for a in range(len(self.actions))
            )
            for p in first
        )
        return kind, kinds

    def _move(self, p: int, action: int, direction: int) -> Move:
        if not (p > 0 if direction == DOWN else p < self.n):
            return Move(possible=False, accepted=False, gain=fmpq(0), stays_in_row=True)
        accepted = bool(self.accepted[p, action, direction])
        neighbour = p + 2 * direction - 1
        return Move(
            possible=True,
            accepted=accepted,
            gain=self.algorithm.learn * self.reward(p, action, direction),
            stays_in_row=not accepted or bool(self.row[neighbour] == self.row[p]),
        )

    def moves(self, p: int, action: int) -> list[tuple[int, int, fmpq]]:
        """Return (numerator over n, next position, gain of the Q-entry) of an action's outcomes."""
        found = []
        for direction, chance in ((DOWN, p), (UP, self.n - p)):
            if chance:
                to = p + 2 * direction - 1 if self.accepted[p, action, direction] else p
                found.append((chance, to, self.algorithm.learn * self.reward(p, action, direction)))
        return found

    def denominator_at(self, p: int) -> int:
        """Return what the numerators of `moves` stand over."""
        return self.n

    @property
    def gains(self) -> frozenset[fmpq]:
        """What Q-entries can gain in one step."""
        return frozenset(self.algorithm.learn * reward for reward in self.rewards)

    def check_greedy(self) -> None:
        """Refuse an agent that explores: its chosen entry need not be the row's largest.

        An update within a row is then keep q + gain + bootstrap M with M > q possible, and what
        patterns, clusters and compiled loops rest on, (keep + bootstrap) q + gain, would be wrong.

        Raises
        ------
        ParameterError
        """
        if self.algorithm.epsilon != 0:
            raise ParameterError(
                f"epsilon = {self.algorithm.epsilon} of algorithm {self.algorithm.name}: exact "
                f"methods follow greedy agents only; an agent that explores has real values as its "
                f"memory (class D); estimate with `simulate()`"
            )

    def check_bounded(self) -> None:
        """Refuse updates under which Q-values need not stay bounded; see `Algorithm`.

        If nothing is ever gained, all values stay 0 whatever the coefficients.

        Raises
        ------
        ParameterError
        """
        if any(move.gain != 0 for kind in self.kinds for moves in kind for move in moves):
            self.algorithm.check_bounded()

    @property
    def kind(self) -> IntArray:
        """Position -> index of its kind."""
        return self._kinds[0]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The distinct kinds, in order of their first position."""
        return self._kinds[1]


def agent_states(landscape: Landscape, algorithm: Algorithm) -> tuple[IntArray, IntArray]:
    """Return the row of every position, and what the agent sees of a row, in units of 1/scale."""
    target = landscape.objectives[landscape.target]
    match algorithm.state:
        case "target":
            seen = target
        case "position":
            seen = np.arange(landscape.n + 1, dtype=np.int64) * landscape.scale
        case _:
            seen = np.zeros_like(target)
    row, first = _number_by_first(seen)
    return row, seen[first]


def _neighbours(n: int) -> IntArray:
    """Positions below and above; at the ends, where no such move exists, the end itself."""
    positions = np.arange(n + 1, dtype=np.int64)
    return np.stack([np.maximum(positions - 1, 0), np.minimum(positions + 1, n)], axis=1)


def _inverse(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values and for each entry its index among them.

    Where the values span a range no larger than their number, a table of the range replaces
    sorting them: n = 10^6 takes a fraction of a second.
    """
    low, high = int(values.min()), int(values.max())
    if high - low <= 4 * values.size + 100:
        present = np.zeros(high - low + 1, dtype=np.bool_)
        present[values - low] = True
        number = np.cumsum(present, dtype=np.int64) - 1
        return np.flatnonzero(present) + low, number[values - low]
    distinct, inverse = np.unique(values, return_inverse=True)
    return distinct, inverse.reshape(values.shape).astype(np.int64)


def _number_by_first(values: IntArray) -> tuple[IntArray, IntArray]:
    """Number the distinct values by first occurrence; return the numbers and first indices."""
    distinct, inverse = _inverse(values)
    first = np.full(len(distinct), len(values), dtype=np.int64)
    np.minimum.at(first, inverse, np.arange(len(values)))
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse].astype(np.int64), first[order]


def _rewards(
    algorithm: Algorithm, chosen_gain: IntArray, target_gain: IntArray, scale: int
) -> tuple[IntArray, tuple[fmpq, ...]]:
    """Evaluate the reward forms once per distinct (chosen gain, target gain), in units 1/scale."""
    gains, index = _inverse(chosen_gain)
    targets, other = _inverse(target_gain)
    pairs, inverse = _inverse(index * len(targets) + other)
    rewards: dict[fmpq, int] = {}
    numbers = []
    for pair in pairs:
        gain, target = int(gains[pair // len(targets)]), int(targets[pair % len(targets)])
        form = (algorithm.rejected, algorithm.equal, algorithm.better)[(gain > 0) - (gain < 0) + 1]
        reward = form(fmpq(gain, scale), fmpq(target, scale))
        numbers.append(rewards.setdefault(reward, len(rewards)))
    table = np.array(numbers, dtype=np.int64)[inverse]
    return table, tuple(rewards)
