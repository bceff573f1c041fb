"""Agents that learn with standard bit mutation: (position, action, offspring) -> accepted?, reward.

As `StepLaw`, but one step may change the position by any number: the (1+1) EA controlled by
Q-learning (Antipov, Buzdalov, Doerr 2015). Neither crossing counts nor patterns apply; small
instances are followed with their values, others simulated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import lcm

from flint import fmpq

from markov_lrsao.exact.fields import Rationals
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import IntArray, agent_states
from markov_lrsao.model.offspring import Offspring
from markov_lrsao.model.search import Mutation

__all__ = ["JumpingLaw", "Proposed"]

_RATIONALS = Rationals()
Proposed = tuple[int, int, fmpq]
"""A numerator of a probability, the position that follows, and what is gained by Q."""


@dataclass(frozen=True, eq=False)
class JumpingLaw:
    """The one-step law of an agent whose offspring may be anywhere.

    Attributes
    ----------
    actions : short names, in the order of the Q-table's columns
    row : position -> index of the agent state's Q-row
    """

    landscape: Landscape
    algorithm: Algorithm
    actions: tuple[str, ...]
    row: IntArray
    row_value: IntArray
    _kept: dict[tuple[int, int], list[Proposed]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, landscape: Landscape, algorithm: Algorithm) -> JumpingLaw:
        """Build the law."""
        actions = landscape.actions if algorithm.actions == "all" else (landscape.target,)
        row, values = agent_states(landscape, algorithm)
        return cls(landscape, algorithm, actions, row, values)

    @property
    def n(self) -> int:
        """Length of the bit strings."""
        return self.landscape.n

    @property
    def optimum(self) -> int:
        """The position where a run ends."""
        return self.landscape.optimum

    @cached_property
    def _offspring(self) -> list[dict[int, fmpq]]:
        """Position -> offspring -> probability, the position itself among them."""
        rate = self.algorithm.rate
        assert rate is not None
        law, mutation = Offspring(self.n), Mutation.at_rate(rate, self.n)
        found = []
        for p in range(self.n + 1):
            chances, _ = law.law(mutation, p, lambda q, p=p: q != p, _RATIONALS, cut=False)  # type: ignore[misc]
            found.append(chances | {p: 1 - sum(chances.values(), fmpq(0))})
        return found

    def denominator_at(self, p: int) -> int:
        """Return what the numerators of `moves` stand over: a common denominator."""
        return lcm(*(int(w.q) for w in self._offspring[p].values()))

    def moves(self, p: int, action: int) -> list[Proposed]:
        """Return what an action can do at a position; equal outcomes are one."""
        found = self._kept.get((p, action))
        if found is None:
            whole = self.denominator_at(p)
            outcomes: dict[tuple[int, fmpq], int] = {}
            for q, chance in self._offspring[p].items():
                accepted, gain = self._judged(p, action, q)
                key = (q if accepted else p), gain
                outcomes[key] = outcomes.get(key, 0) + int(chance * whole)
            found = [(w, to, gain) for (to, gain), w in outcomes.items() if w]
            self._kept[p, action] = found
        return found

    def _judged(self, p: int, action: int, q: int) -> tuple[bool, fmpq]:
        """Return whether an offspring is accepted, and learn times the reward."""
        shape, algorithm = self.landscape, self.algorithm
        name = self.actions[action]
        chosen = shape.value(name, q) - shape.value(name, p)
        target = shape.value(shape.target, q) - shape.value(shape.target, p)
        accepted, reward = algorithm.judged(chosen, target)
        return accepted, algorithm.learn * reward

    @cached_property
    def gains(self) -> frozenset[fmpq]:
        """What Q-entries can gain in one step."""
        every = range(len(self.actions))
        return frozenset(
            gain for p in range(self.n + 1) for a in every for _, _, gain in self.moves(p, a)
        )

    def check_bounded(self) -> None:
        """Refuse updates under which Q-values need not stay bounded; see `StepLaw`."""
        if any(gain != 0 for gain in self.gains):
            self.algorithm.check_bounded()
