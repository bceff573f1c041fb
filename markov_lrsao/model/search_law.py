"""The law of one step of a search that does not learn: a kernel on (mode, position).

`SearchLaw.row` is what one mode does at one position: the accepted offspring y != x with their
probabilities. With k flipped bits, i of them ones, |x| goes from x to y = x + k - 2i, with
probability C(x, i) C(n - x, k - i) / C(n, k); the law of k and the acceptance do the rest. It is
written here once, over rationals or balls. `SearchLaw.transitions` adds what becomes of the mode.

In balls standard bit mutation is cut off at a number of bits that is exceeded with a probability
of at most C(n, K+1) rate^(K+1); this bound is the row's `missing`.

LeadingOnes depends on more than |x|; `markov_lrsao.model.levels` has its law.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import comb
from typing import Any, NamedTuple, TypeAlias

from flint import arb, arb_poly, fmpq, fmpz, fmpz_poly

from markov_lrsao.errors import ParameterError, VerificationError
from markov_lrsao.exact.fields import Rationals, SearchField
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.search import Acceptance, Mutation, Search, Switch

__all__ = ["Row", "SearchLaw", "Transition"]

Number: TypeAlias = Any
"""An `fmpq` or an `arb`, as the field has it."""
_ZERO = fmpq(0)
_MOST_FLIPS = 400
"""Laws in balls are cut off where this many flipped bits, or fewer, are negligible."""


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
    policy : of a search that takes the best action: the action of every position, once known
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
        return cls(search, landscape.n, objectives[landscape.target], objectives)

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
        """Whether every step may reach the best position: nothing is then to be explored.

        Standard bit mutation proposes every position, and an elitist search accepts the best.
        """
        search = self.search
        return search.elitist and all(a.mutation.rate is not None for a in search.actions)

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
        if self.search.best is None:
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
        chosen = self.search.actions[action]
        values = self.values
        if chosen.acceptance.of is not None:
            values = self.objectives[chosen.acceptance.of]
        mutation = chosen.mutation
        most, missing = self._cut(mutation, field)
        if mutation.rate is None:
            accepted = self._all_accepted(chosen.acceptance, values, x, field)
            proposed = self._by_sizes(mutation, x, accepted, field)
        else:
            near = range(max(0, x - most), min(self.n, x + most) + 1)
            accepted = _accepted(chosen.acceptance, values, x, near, field)
            proposed = self._by_polynomials(mutation, x, most, accepted, field)
        moves = ((y, w if accepted[y] is True else w * accepted[y]) for y, w in proposed)
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

    def _all_accepted(
        self, acceptance: Acceptance, values: Sequence[fmpq], x: int, field: SearchField
    ) -> dict[int, Any]:
        """Return what is accepted at x, within reach; the actions of a portfolio share it."""
        if len(self.search.actions) == 1 or self.reach <= 1:
            near = range(max(0, x - self.reach), min(self.n, x + self.reach) + 1)
            return _accepted(acceptance, values, x, near, field)
        key = "accepted", acceptance, x, field
        if key not in self._kept:
            self._kept[key] = _accepted(acceptance, values, x, range(self.n + 1), field)
        found: dict[int, Any] = self._kept[key]
        return found

    def _cut(self, mutation: Mutation, field: SearchField) -> tuple[int, fmpq]:
        """Return the most bits that are followed, and a bound of the probability of more."""
        if mutation.rate is None or not self.everywhere or isinstance(field, Rationals):
            return mutation.largest(self.n), _ZERO
        key = "cut", mutation, field
        if key not in self._kept:
            self._kept[key] = self._derive_cut(mutation, field.bits)
        found: tuple[int, fmpq] = self._kept[key]
        return found

    def _derive_cut(self, mutation: Mutation, bits: int) -> tuple[int, fmpq]:
        n, p = self.n, mutation.rate
        assert p is not None
        some = 1 - (1 - p) ** n if mutation.positive else fmpq(1)
        for k in range(min(n, _MOST_FLIPS)):
            bound = comb(n, k + 1) * p ** (k + 1) / some
            if bound < fmpq(1, 2**bits):
                return k, _power_above(bound)
        return n, _ZERO

    def _by_sizes(
        self, mutation: Mutation, x: int, wanted: Container[int], field: SearchField
    ) -> Iterator[tuple[int, Number]]:
        """Yield the wanted y != x that k flipped bits can give, with their probabilities."""
        per_set = self._per_set(mutation, field)
        ones, zeros = _binomials(x, self.reach), _binomials(self.n - x, self.reach)
        total: dict[int, Number] = {}
        for k, weight in per_set:
            for i in range(max(0, k + x - self.n), min(x, k) + 1):  # ones that are lost
                y = x + k - 2 * i
                if y in wanted:
                    part = weight * (ones[i] * zeros[k - i])
                    total[y] = total[y] + part if y in total else part
        yield from sorted(total.items())

    def _per_set(self, mutation: Mutation, field: SearchField) -> list[tuple[int, Number]]:
        """Return (k, P(k) / C(n, k)): the probability of every set of k bits."""
        key = "per set", mutation, field
        if key not in self._kept:
            whole = _binomials(self.n, self.reach)
            self._kept[key] = [(k, field.number(w / whole[k])) for k, w in mutation.sizes]
        found: list[tuple[int, Number]] = self._kept[key]
        return found

    def _by_polynomials(
        self, mutation: Mutation, x: int, most: int, wanted: Iterable[int], field: SearchField
    ) -> Iterator[tuple[int, Number]]:
        """Read the law of |y| off (1-p)^n (1 + r/z)^x (1 + r z)^(n-x) with r = p / (1-p).

        The first factor stands for ones, the second for zeros; both are cut off after `most`.
        """
        p, n = mutation.rate, self.n
        assert p is not None
        some = 1 - (1 - p) ** n if mutation.positive else fmpq(1)
        product: Any
        whole: Number
        if isinstance(field, Rationals):
            a, b = int(p.p), int(p.q)
            product = fmpz_poly([a, b - a]) ** x * fmpz_poly([b - a, a]) ** (n - x)
            whole, shift = fmpq(1) / (fmpq(b) ** n * some), 0
        else:
            ratio = arb(p / (1 - p))
            ones, zeros = _powers(x, ratio, most), _powers(n - x, ratio, most)
            product = arb_poly(ones[::-1]) * arb_poly(zeros)
            whole, shift = arb(1 - p) ** n / arb(some), len(ones) - 1 - x
        for y in wanted:
            yield y, whole * product[y + shift]

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


def _accepted(
    acceptance: Acceptance, values: Sequence[fmpq], x: int, near: Iterable[int], field: SearchField
) -> dict[int, Any]:
    """Return the y != x that may be accepted -> with which probability; True is for sure."""
    here = values[x]
    others = (y for y in near if y != x)
    match acceptance.rule:
        case "not-worse":
            return {y: True for y in others if values[y] >= here}
        case "better":
            return {y: True for y in others if values[y] > here}
        case "worse":
            return {y: True for y in others if values[y] < here}
        case "all":
            return dict.fromkeys(others, True)
    chance = acceptance.probability if isinstance(field, Rationals) else acceptance.ball
    return {y: values[y] >= here or chance(values[y] - here) for y in others}


@lru_cache(maxsize=4096)
def _binomials(n: int, most: int) -> list[fmpz]:
    """Return C(n, 0), C(n, 1), .. as far as they are needed, up to C(n, most)."""
    found = [fmpz(1)]
    for k in range(min(n, most)):
        found.append(found[-1] * (n - k) // (k + 1))
    return found


def _powers(count: int, ratio: arb, most: int) -> list[arb]:
    """Return C(count, i) ratio^i for i up to `most`."""
    found = [arb(1)]
    for i in range(min(count, most)):
        found.append(found[-1] * (count - i) * ratio / (i + 1))
    return found


def _power_above(bound: fmpq) -> fmpq:
    """Return a power of two that is at least a positive rational."""
    exponent = int(bound.p).bit_length() - int(bound.q).bit_length() + 1
    return fmpq(2) ** exponent
