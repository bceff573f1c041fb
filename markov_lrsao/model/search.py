"""Searches that do not learn, as data: mutation, acceptance, and who selects.

One step from a bit string with |x| = p: the *selector* shows a mode; the mode draws one of the
*actions*; the action's *mutation* flips a random number of uniformly chosen bits, and its
*acceptance* takes or refuses the offspring. The mode may then change, by chance or by whether the
target has strictly grown. All of it is rational numbers and flags.

    mutation     k bits, standard bit mutation (with or without "at least one bit"), heavy-tailed
                 mutation, or any law of k
    acceptance   not worse, better, all, worse only, or Metropolis; of an objective or of the target
    selector     fixed or random (one mode), two modes with a Markov chain, (generalised) random
                 gradient, a given action of every position (`table`), or the best one (`best`)

What such a search remembers is its mode: its law is a chain on (mode, position), see
`markov_lrsao.model.search_law`. `Algorithm` is the other kind, which learns Q-values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

from flint import arb, fmpq

from markov_lrsao.errors import ExactnessError, ParameterError
from markov_lrsao.exact.rationals import RationalLike, rational

__all__ = ["MOST_MODES", "Acceptance", "Action", "Mutation", "Search", "Switch"]

Rule = Literal["not-worse", "better", "all", "worse", "metropolis"]
Criterion = Literal["time", "drift"]
_ZERO, _ONE = fmpq(0), fmpq(1)
MOST_MODES = 100_000


@dataclass(frozen=True)
class Mutation:
    """The law of the number of flipped bits; which bits is uniform.

    Attributes
    ----------
    sizes : (k, probability that k bits are flipped), for a given law
    rate : the probability with which standard bit mutation flips each bit, else None
    positive : mutations that flip nothing are drawn again (standard bit mutation only)
    beta : heavy-tailed mutation: standard bit mutation whose rate a/n is drawn anew each time, a
        from 1 .. `widest` with probability proportional to a^-beta; else None
    """

    sizes: tuple[tuple[int, fmpq], ...] = ()
    rate: fmpq | None = None
    positive: bool = False
    beta: fmpq | None = None
    widest: int = 0

    @classmethod
    def flips(cls, k: int) -> Mutation:
        """Exactly k bits.

        >>> Mutation.flips(2).probability(2, 9)
        1
        """
        return cls.distribution({k: 1}.items())

    @classmethod
    def distribution(cls, sizes: Iterable[tuple[int, RationalLike]]) -> Mutation:
        """Any law of k, as pairs (k, probability)."""
        found = tuple((int(k), rational(w, "probability")) for k, w in sizes)
        if any(k < 0 or w < 0 for k, w in found) or sum((w for _, w in found), _ZERO) != 1:
            raise ParameterError(
                f"mutation sizes {[(k, str(w)) for k, w in found]} are no distribution: give "
                f"pairs (k >= 0, probability) whose probabilities add up to 1"
            )
        return cls(tuple((k, w) for k, w in found if w))

    @classmethod
    def standard(cls, rate: RationalLike, *, positive: bool = False) -> Mutation:
        """Standard bit mutation: each bit flips with probability `rate`, independently."""
        p = rational(rate, "rate")
        if not 0 < p < 1:
            raise ParameterError(f"rate = {p} is out of range: 0 < rate < 1 is needed")
        return cls(rate=p, positive=positive)

    @classmethod
    def at_rate(cls, rate: RationalLike, n: int, *, positive: bool = False) -> Mutation:
        """Standard bit mutation of n bits, whose rate may be 1: then all of them are flipped."""
        p = rational(rate, "rate")
        return cls.flips(n) if p == 1 else cls.standard(p, positive=positive)

    @classmethod
    def heavy(cls, beta: RationalLike, widest: int) -> Mutation:
        """Heavy-tailed mutation of Doerr, Le, Makhmara and Nguyen (2017).

        >>> Mutation.heavy(2, 2).probability(0, 3)  # rates 1/3 and 2/3 with weights 4/5 and 1/5
        11/45
        """
        power = rational(beta, "beta")
        if power <= 1:
            raise ParameterError(f"beta = {power} is out of range: beta > 1 is needed")
        if widest < 1:
            raise ParameterError(f"widest = {widest} is too small: at least 1 is needed")
        return cls(beta=power, widest=widest)

    def powers(self) -> list[fmpq]:
        """Return the probabilities of the rates 1/n, 2/n, .. of heavy-tailed mutation.

        Raises
        ------
        ExactnessError
            They are irrational.
        """
        assert self.beta is not None
        if self.beta.q != 1:
            raise ExactnessError(
                f"beta = {self.beta}: the rates a/n are drawn with irrational probabilities, "
                f'proportional to a^-beta; use floats (`field="float"`), or an integer beta'
            )
        weights = [fmpq(1, a ** int(self.beta.p)) for a in range(1, self.widest + 1)]
        total = sum(weights, _ZERO)
        return [w / total for w in weights]

    def probability(self, k: int, n: int) -> fmpq:
        """Return the probability that k of n bits are flipped."""
        if self.beta is not None:
            rates = ((w, fmpq(a, n)) for a, w in enumerate(self.powers(), start=1))
            return comb(n, k) * sum((w * p**k * (1 - p) ** (n - k) for w, p in rates), _ZERO)
        if self.rate is None:
            return sum((w for size, w in self.sizes if size == k), _ZERO)
        if self.positive and k == 0:
            return _ZERO
        p = self.rate
        some = 1 - (1 - p) ** n if self.positive else _ONE
        return comb(n, k) * p**k * (1 - p) ** (n - k) / some

    def counts(self, n: int) -> Iterable[int]:
        """Return the numbers of bits that are flipped with positive probability."""
        if self.rate is None and self.beta is None:
            return [k for k, _ in self.sizes]
        return range(1 if self.positive else 0, n + 1)

    def largest(self, n: int) -> int:
        """Return the largest number of bits that can be flipped."""
        return n if self.anything else max(k for k, _ in self.sizes)

    @property
    def anything(self) -> bool:
        """Whether any set of bits may be flipped, but for the empty one."""
        return self.rate is not None or self.beta is not None

    def check(self, n: int) -> None:
        """Refuse a mutation that flips more bits than there are."""
        if self.widest > n:
            raise ParameterError(
                f"widest = {self.widest} is too large: rates a/n are probabilities, n = {n}"
            )
        if self.largest(n) > n:
            raise ParameterError(
                f"k = {self.largest(n)} is too large: only n = {n} bits can be flipped"
            )


@dataclass(frozen=True)
class Acceptance:
    """Which offspring are accepted, by the gain of an objective.

    Attributes
    ----------
    rule : "not-worse" (gain >= 0), "better" (> 0), "all", "worse" (< 0), or "metropolis": a loss
        of delta is accepted with probability base^-delta
    of : short name of the objective; None: the target
    """

    rule: Rule = "not-worse"
    base: fmpq | None = None
    of: str | None = None

    def __post_init__(self) -> None:
        if (self.rule == "metropolis") != (self.base is not None):
            raise ParameterError(f"acceptance {self.rule} with base = {self.base}: give a base to "
                                 f"metropolis, and to no other rule")  # fmt: skip
        if self.base is not None and self.base < 1:
            raise ParameterError(f"base = {self.base} is out of range: base >= 1 is needed")

    @property
    def elitist(self) -> bool:
        """Whether the target never decreases."""
        return self.of is None and self.rule in ("not-worse", "better")

    def probability(self, gain: fmpq) -> fmpq:
        """Return the probability of accepting a gain.

        Raises
        ------
        ExactnessError
            It is irrational: a root of the base.

        >>> Acceptance("metropolis", fmpq(5)).probability(fmpq(-2))
        1/25
        """
        match self.rule:
            case "not-worse":
                return _ONE if gain >= 0 else _ZERO
            case "better":
                return _ONE if gain > 0 else _ZERO
            case "worse":
                return _ONE if gain < 0 else _ZERO
            case "all":
                return _ONE
        assert self.base is not None
        if gain >= 0:
            return _ONE
        if gain.q == 1:
            return self.base ** int(gain.p)
        root = _root(self.base, int(gain.q))
        if root is None:
            raise ExactnessError(
                f"base = {self.base}: a loss of {-gain} is accepted with an irrational "
                f'probability; use floats (`field="float"`), or a base with a rational '
                f"root of order {gain.q}"
            )
        return root ** int(gain.p)

    def sure(self, gain: fmpq) -> bool:
        """Whether a gain is accepted for sure."""
        if self.rule == "metropolis":
            return gain >= 0 or self.base == 1
        return self.probability(gain) == 1

    def ball(self, gain: fmpq) -> arb:
        """Return the same as a ball, also where it is irrational."""
        if self.rule != "metropolis" or gain >= 0 or gain.q == 1:
            return arb(self.probability(gain))
        return arb(self.base) ** arb(gain)


def _root(base: fmpq, degree: int) -> fmpq | None:
    """Return the rational root of a rational, if it has one."""
    found = []
    for number in (int(base.p), int(base.q)):
        low, high = 0, 1 << (number.bit_length() // degree + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
        if low**degree != number:
            return None
        found.append(low)
    return fmpq(*found)


@dataclass(frozen=True)
class Action:
    """A mutation and what becomes of its offspring."""

    mutation: Mutation
    acceptance: Acceptance = Acceptance()  # frozen


@dataclass(frozen=True)
class Switch:
    """What becomes of a mode after a step: (mode, probability) if the target grew, and if not."""

    better: tuple[tuple[int, fmpq], ...]
    otherwise: tuple[tuple[int, fmpq], ...]


@dataclass(frozen=True, kw_only=True)
class Search:
    """A search that does not learn.

    Attributes
    ----------
    actions : what a mode can draw from
    modes : for every mode, (action, probability)
    switches : for every mode what comes next; empty: it stays for ever
    start : (mode, probability) at the start
    switch_first : the mode changes before the move, not after it
    best : "time" or "drift": there is one mode, and at every position it takes the action that
        minimises the expected time, or maximises the expected gain (ties: the later action)
    table : there is one mode, and this is its action at every position; empty: it draws
    period : of (generalised) random gradient the number of steps tau, see `gradient`; else 0
    least : `best` chooses not among actions, but among all rates above this one; None: actions
    """

    name: str
    actions: tuple[Action, ...]
    modes: tuple[tuple[tuple[int, fmpq], ...], ...]
    switches: tuple[Switch, ...] = ()
    start: tuple[tuple[int, fmpq], ...] = ((0, _ONE),)
    switch_first: bool = False
    best: Criterion | None = None
    table: tuple[int, ...] = ()
    period: int = 0
    least: fmpq | None = None

    @property
    def elitist(self) -> bool:
        """Whether the target never decreases."""
        return all(action.acceptance.elitist for action in self.actions)

    def largest(self, n: int) -> int:
        """Return the largest number of bits that one step can flip."""
        return max(action.mutation.largest(n) for action in self.actions)

    def at(self, n: int) -> Search:
        """Return the search itself, if it can be played on n bits."""
        for action in self.actions:
            action.mutation.check(n)
        if self.table and len(self.table) != n + 1:
            raise ParameterError(
                f"{self.name} has actions of {len(self.table)} positions, but n = {n} has {n + 1}"
            )
        return self

    @classmethod
    def single(cls, name: str, action: Action) -> Search:
        """One action for ever."""
        return cls.mixed(name, [action])

    @classmethod
    def mixed(
        cls, name: str, actions: Sequence[Action], weights: Sequence[RationalLike] | None = None
    ) -> Search:
        """An action is drawn in every step, uniformly or by weights; those of weight 0 go."""
        parts = [fmpq(1, len(actions))] * len(actions)
        if weights is not None:
            parts = [rational(w, "weight") for w in weights]
        if len(parts) != len(actions) or min(parts) < 0 or sum(parts, _ZERO) != 1:
            raise ParameterError(
                f"weights = {[str(w) for w in parts]} are no distribution over "
                f"{len(actions)} actions"
            )
        drawn = [(action, w) for action, w in zip(actions, parts, strict=True) if w]
        return cls(
            name=name,
            actions=tuple(action for action, _ in drawn),
            modes=(tuple((a, w) for a, (_, w) in enumerate(drawn)),),
        )

    @classmethod
    def two_modes(
        cls, name: str, first: Action, second: Action, p: fmpq, q: fmpq, *, switch_first: bool
    ) -> Search:
        """Two modes; p is the probability of leaving the first one, q the second."""
        for key, value in (("p", p), ("q", q)):
            if not 0 <= value <= 1:
                raise ParameterError(f"{key} = {value} is out of range: 0 <= {key} <= 1 is needed")
        chances = ((0, 1 - p), (1, p)), ((0, q), (1, 1 - q))
        kept = [tuple((g, w) for g, w in chance if w) for chance in chances]
        return cls(
            name=name,
            actions=(first, second),
            modes=(((0, _ONE),), ((1, _ONE),)),
            switches=tuple(Switch(chance, chance) for chance in kept),
            switch_first=switch_first,
        )

    @classmethod
    def gradient(cls, name: str, actions: Sequence[Action], tau: int) -> Search:
        """Keep an action for `tau` steps; a success starts a new period, a failed one ends it.

        The mode (action, steps without success) has the number action * tau + steps.
        """
        if tau < 1:
            raise ParameterError(f"tau = {tau} is too small: a period has at least one step")
        if len(actions) * tau > MOST_MODES:
            raise ParameterError(
                f"tau = {tau} is too large: {len(actions)} actions with periods of tau steps are "
                f"{len(actions) * tau:,} modes, but {MOST_MODES:,} are allowed"
            )
        part = fmpq(1, len(actions))
        anew = tuple((a * tau, part) for a in range(len(actions)))
        modes, switches = [], []
        for a in range(len(actions)):
            for steps in range(tau):
                modes.append(((a, _ONE),))
                after = ((a * tau + steps + 1, _ONE),) if steps + 1 < tau else anew
                switches.append(Switch(((a * tau, _ONE),), after))
        return cls(
            name=name,
            actions=tuple(actions),
            modes=tuple(modes),
            switches=tuple(switches),
            start=anew,
            period=tau,
        )

    @classmethod
    def best_of(cls, name: str, actions: Sequence[Action], criterion: Criterion) -> Search:
        """At every position the best action of a portfolio."""
        return cls(name=name, actions=tuple(actions), modes=(((0, _ONE),),), best=criterion)

    @classmethod
    def best_rate(cls, name: str, *, positive: bool, least: fmpq, criterion: Criterion) -> Search:
        """Standard bit mutation whose rate is at every position the best one."""
        if not 0 <= least < 1:
            raise ParameterError(f"least = {least} is out of range: 0 <= least < 1 is needed")
        example = Action(Mutation.standard(fmpq(1, 2), positive=positive))
        return cls(
            name=name, actions=(example,), modes=(((0, _ONE),),), best=criterion, least=least
        )

    @classmethod
    def by_position(cls, name: str, actions: Sequence[Action]) -> Search:
        """One given action for every position 0..n, or level."""
        kinds = list(dict.fromkeys(actions))
        number = {action: a for a, action in enumerate(kinds)}
        return cls(
            name=name,
            actions=tuple(kinds),
            modes=(((0, _ONE),),),
            table=tuple(number[action] for action in actions),
        )
