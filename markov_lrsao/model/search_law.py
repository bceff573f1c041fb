"""The law of one step of a search that does not learn: a kernel on (mode, position).

`SearchLaw.row` is what one mode does at one position: the accepted offspring y != x with their
probabilities, over rationals or balls. `markov_lrsao.model.offspring` has the law of mutations,
this module adds acceptance. `SearchLaw.transitions` adds what becomes of the mode.

In balls laws may be cut off; a bound of the probability of what is left out is the row's `missing`.

LeadingOnes depends on more than |x|; `markov_lrsao.model.levels` has its law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from flint import fmpq

from markov_lrsao.errors import ParameterError, VerificationError
from markov_lrsao.exact.fields import Rationals, SearchField
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.offspring import Offspring
from markov_lrsao.model.search import Acceptance, Search, Switch

__all__ = ["Row", "SearchLaw", "Transition"]

Number: TypeAlias = Any
"""An `fmpq` or an `arb`, as the field has it."""
_ZERO = fmpq(0)


class Row(NamedTuple):
    """What one mode does at one position.

    Attributes
    ----------
    moves : (y, probability) of the accepted offspring, y != x
    missing : a bound of the probability of moves that are not listed (0 for rationals)
    """

    moves: tuple[tuple[int, Number], ...]
    missing: fmpq

    def leave(self, field: SearchField) -> Number:
        """Return the probability of moving, as far as it is listed."""
        return sum((w for _, w in self.moves), field.number(_ZERO))


class Transition(NamedTuple):
    """One step of the chain: the mode and the position that follow, and the probability."""

    mode: int
    position: int
    probability: Number


@dataclass(frozen=True, eq=False)
class SearchLaw:
    """The one-step law of a search on a landscape of |x|.

    Attributes
    ----------
    n : length of the bit strings; positions are 0..n
    values : the target's values
    objectives : short name -> values
    policy : of a search with one action for every position, given or the best: these actions, once
        they are known
    """

    search: Search
    n: int
    values: tuple[fmpq, ...]
    objectives: Mapping[str, tuple[fmpq, ...]]
    policy: tuple[int, ...] | None = None
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, landscape: Landscape, search: Search) -> SearchLaw:
        """Build the law.

        Raises
        ------
        ParameterError
            An action looks at an objective that is not there, or flips more than n bits.
        """
        search.at(landscape.n)
        objectives = {
            name: tuple(fmpq(v, landscape.scale) for v in values.tolist())
            for name, values in landscape.objectives.items()
        }
        for action in search.actions:
            if action.acceptance.of not in (None, *objectives):
                raise ParameterError(
                    f"objective {action.acceptance.of!r} is not one of {list(objectives)}"
                )
        return cls(
            search, landscape.n, objectives[landscape.target], objectives, search.table or None
        )

    @cached_property
    def _offspring(self) -> Offspring:
        return Offspring(self.n)

    @property
    def label(self) -> str:
        """What a position is called."""
        return "|x|"

    def with_policy(self, policy: tuple[int, ...]) -> SearchLaw:
        """Return the law of the search that takes these actions."""
        return type(self)(self.search, self.n, self.values, self.objectives, policy)

    @property
    def modes(self) -> int:
        """Number of modes."""
        return len(self.search.modes)

    @cached_property
    def reach(self) -> int:
        """The largest number of bits that one step can flip."""
        return self.search.largest(self.n)

    @property
    def steps_of_one(self) -> bool:
        """Whether no step changes the position by more than one."""
        return self.reach <= 1

    @cached_property
    def everywhere(self) -> bool:
        """Whether every position can be left for a better one: nothing is then to be explored.

        Standard bit mutation proposes every position, and an elitist search accepts the best. The
        best actions of a portfolio, and those of a table, are looked at one by one.
        """
        search = self.search
        if not search.elitist or search.switches:
            return search.elitist and all(a.mutation.anything for a in search.actions)
        if all(a.mutation.anything for a in search.actions):
            return True
        if self.policy is None:
            return False
        best = max(self.values)
        return all(self._can_gain(x) for x, v in enumerate(self.values) if v != best)

    def _can_gain(self, x: int) -> bool:
        """Whether the action of a position may find a better one."""
        assert self.policy is not None
        mutation = self.search.actions[self.policy[x]].mutation
        if mutation.anything:
            return True
        flips = ((k, i) for k, _ in mutation.sizes for i in range(max(0, k + x - self.n), k + 1))
        return any(i <= x and self.values[x + k - 2 * i] > self.values[x] for k, i in flips)

    def start(self) -> list[fmpq]:
        """Return the law of |x| for a uniformly random bit string."""
        whole, count = 2**self.n, 1
        found = []
        for x in range(self.n + 1):
            found.append(fmpq(count, whole))
            count = count * (self.n - x) // (x + 1)
        return found

    def drawn(self, mode: int, x: int) -> tuple[tuple[int, fmpq], ...]:
        """Return (action, probability) of a mode at a position."""
        if self.search.best is None and self.policy is None:
            return self.search.modes[mode]
        if self.policy is None:
            raise VerificationError("the best actions of this law are not known yet")
        return ((self.policy[x], fmpq(1)),)

    def switch(self, mode: int) -> Switch:
        """Return what becomes of a mode."""
        if self.search.switches:
            return self.search.switches[mode]
        return Switch(((mode, fmpq(1)),), ((mode, fmpq(1)),))

    def row(self, mode: int, x: int, field: SearchField) -> Row:
        """Return what a mode does at a position."""
        shown = self.drawn(mode, x)
        key = shown, x, field
        if key not in self._kept:
            self._kept[key] = self._mixed(shown, x, field)
        found: Row = self._kept[key]
        return found

    def _mixed(self, shown: tuple[tuple[int, fmpq], ...], x: int, field: SearchField) -> Row:
        if len(shown) == 1:
            return self.action_row(shown[0][0], x, field)
        total: dict[int, Number] = {}
        missing = _ZERO
        for action, weight in shown:
            if not weight:
                continue  # a move of probability 0 would count as one that can be made
            row = self.action_row(action, x, field)
            missing += weight * row.missing
            for y, w in row.moves:
                part = field.number(weight) * w
                total[y] = total[y] + part if y in total else part
        return Row(tuple(sorted(total.items())), missing)

    def action_row(self, action: int, x: int, field: SearchField) -> Row:
        """Return what one action does at a position."""
        mutation, acceptance = (part := self.search.actions[action]).mutation, part.acceptance
        values = self.values if acceptance.of is None else self.objectives[acceptance.of]
        wanted = _wanted(acceptance, values, x)
        proposed, missing = self._offspring.law(
            mutation, x, wanted, field, cut=self.everywhere and not isinstance(field, Rationals)
        )
        if acceptance.rule != "metropolis":
            return Row(tuple(sorted(proposed.items())), missing)
        chance = acceptance.probability if isinstance(field, Rationals) else acceptance.ball
        here = values[x]
        moves = (
            (y, w if values[y] >= here else w * chance(values[y] - here))
            for y, w in sorted(proposed.items())
        )
        return Row(tuple(moves), missing)

    def may_stay(self, mode: int, x: int) -> bool:
        """Whether a step of a mode can end where it began: nothing gained, or refused."""
        return any(self._action_may_stay(action, x) for action, w in self.drawn(mode, x) if w)

    def _action_may_stay(self, action: int, x: int) -> bool:
        chosen = self.search.actions[action]
        of = chosen.acceptance.of
        values = self.values if of is None else self.objectives[of]
        for k in chosen.mutation.counts(self.n):
            for i in range(max(0, k + x - self.n), min(x, k) + 1):  # ones that are lost
                if k == 2 * i or not chosen.acceptance.sure(values[x + k - 2 * i] - values[x]):
                    return True
        return False

    def transitions(self, mode: int, x: int, field: SearchField) -> Iterator[Transition]:
        """Yield what one step of the chain can do, staying included; parts may repeat."""
        switch = self.switch(mode)
        one = field.number(fmpq(1))
        if self.search.switch_first:
            for g, w in switch.otherwise:
                part = field.number(w)
                row = self.row(g, x, field)
                for y, probability in row.moves:
                    yield Transition(g, y, part * probability)
                yield Transition(g, x, part * (one - row.leave(field)))
            return
        row = self.row(mode, x, field)
        for y, probability in row.moves:
            after = switch.better if self.values[y] > self.values[x] else switch.otherwise
            for g, w in after:
                yield Transition(g, y, probability if w == 1 else probability * field.number(w))
        stay = one - row.leave(field)
        for g, w in switch.otherwise:
            yield Transition(g, x, stay * field.number(w))


def _wanted(acceptance: Acceptance, values: Sequence[fmpq], x: int) -> Callable[[int], bool]:
    """Return which y != x may be accepted."""
    here = values[x]
    match acceptance.rule:
        case "not-worse":
            return lambda y: y != x and values[y] >= here
        case "better":
            return lambda y: values[y] > here
        case "worse":
            return lambda y: values[y] < here
    return lambda y: y != x
