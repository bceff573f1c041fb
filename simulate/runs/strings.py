"""Searches played on bit strings, as their definitions read: no law of |x|, no levels, no events.

A slow reference for `simulate.runs.searching`, which plays the chain that the engine derives. Only
the description of a search (`Search`) and the values of the objectives are shared with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flint import fmpq

from markov_lrsao.answers.searches import Start, positions_at_least, search_law, start_law
from markov_lrsao.exact.rationals import RationalLike, to_float
from markov_lrsao.memoryless.best import with_best
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.search import Acceptance, Mutation, Search

__all__ = ["play_on_bit_strings"]

Bits = list[int]
Value = Callable[[Bits], fmpq]


def play_on_bit_strings(
    landscape: Landscape | LeadingOnes,
    search: Search,
    *,
    seed: int,
    runs: int,
    start: Start | None = None,
    at_least: RationalLike | None = None,
) -> list[int]:
    """Return the runtimes of so many runs.

    >>> from markov_lrsao.model.named import NamedAlgorithm
    >>> shape = Landscape.onemax(1)
    >>> rls = NamedAlgorithm.of("rls").on(shape)
    >>> play_on_bit_strings(shape, rls, seed=1, runs=2)
    [1, 1]
    """
    law = search_law(landscape, search)
    table = with_best(law)
    least = min(table.values[x] for x in positions_at_least(law, at_least))
    player = _Player(
        landscape.n,
        table.search,
        _values(landscape),
        table.policy,
        _leading_ones if isinstance(landscape, LeadingOnes) else sum,
        least,
        random.Random(seed),
    )
    begin = [(x, to_float(w)) for x, w in start_law(law, start).items() if w]
    return [player.run(_first(landscape, begin, player.dice)) for _ in range(runs)]


def _leading_ones(bits: Bits) -> int:
    return bits.index(0) if 0 in bits else len(bits)


def _values(landscape: Landscape | LeadingOnes) -> dict[str | None, Value]:
    """Return the objectives on bit strings; None is the target."""
    if isinstance(landscape, LeadingOnes):
        return dict.fromkeys((None, "L"), lambda bits: fmpq(_leading_ones(bits)))

    def of_ones(name: str) -> Value:
        return lambda bits: landscape.value(name, sum(bits))

    named: dict[str | None, Value] = {name: of_ones(name) for name in landscape.objectives}
    return named | {None: of_ones(landscape.target)}


def _first(
    landscape: Landscape | LeadingOnes, begin: list[tuple[int, float]], dice: random.Random
) -> Bits:
    """Return a bit string to begin with."""
    n = landscape.n
    if isinstance(landscape, LeadingOnes):
        return [dice.randrange(2) for _ in range(n)]
    (ones,) = dice.choices([x for x, _ in begin], [w for _, w in begin])
    bits = [1] * ones + [0] * (n - ones)
    dice.shuffle(bits)
    return bits


@dataclass
class _Player:
    """One search on bit strings of length n.

    Attributes
    ----------
    policy, place : the action of every place, if it has one, and what place a bit string is at
    least : the target's value at which a run ends
    """

    n: int
    search: Search
    values: Mapping[str | None, Value]
    policy: tuple[int, ...] | None
    place: Callable[[Bits], int]
    least: fmpq
    dice: random.Random

    def run(self, bits: Bits) -> int:
        """Play one run and return its number of steps."""
        mode = self._drawn(self.search.start)
        target = self.values[None]
        steps = 0
        now = target(bits)
        while now < self.least:
            steps += 1
            if self.search.switch_first:
                mode = self._switched(mode, better=False)
            action = self.search.actions[self._action(mode, bits)]
            other = self._mutated(bits, action.mutation)
            before = now
            if self._accepts(action.acceptance, bits, other):
                bits, now = other, target(other)
            if not self.search.switch_first:
                mode = self._switched(mode, better=now > before)
        return steps

    def _drawn(self, law: tuple[tuple[int, fmpq], ...]) -> int:
        if len(law) == 1:
            return law[0][0]
        return self.dice.choices([x for x, _ in law], [to_float(w) for _, w in law])[0]

    def _switched(self, mode: int, *, better: bool) -> int:
        if not self.search.switches:
            return mode
        switch = self.search.switches[mode]
        return self._drawn(switch.better if better else switch.otherwise)

    def _action(self, mode: int, bits: Bits) -> int:
        if self.policy is None:
            return self._drawn(self.search.modes[mode])
        return self.policy[self.place(bits)]

    def _mutated(self, bits: Bits, mutation: Mutation) -> Bits:
        dice, n = self.dice, self.n
        rate = mutation.rate
        if mutation.beta is not None:
            sizes = range(1, mutation.widest + 1)
            power = -to_float(mutation.beta)
            rate = fmpq(dice.choices(sizes, [a**power for a in sizes])[0], n)
        if rate is None:
            flipped = set(dice.sample(range(n), self._drawn(mutation.sizes)))
        else:
            chance = to_float(rate)
            while True:
                flipped = {i for i in range(n) if dice.random() < chance}
                if flipped or not mutation.positive:
                    break
        return [bit ^ (i in flipped) for i, bit in enumerate(bits)]

    def _accepts(self, acceptance: Acceptance, bits: Bits, other: Bits) -> bool:
        value = self.values[acceptance.of]
        gain = value(other) - value(bits)
        match acceptance.rule:
            case "not-worse":
                return gain >= 0
            case "better":
                return gain > 0
            case "worse":
                return gain < 0
            case "all":
                return True
        assert acceptance.base is not None
        return gain >= 0 or self.dice.random() < to_float(acceptance.base) ** to_float(gain)
