"""Algorithms as data: what is accepted, what is rewarded, how Q is updated.

One step from position p with objective f chosen by the agent proposes p' = p - 1 (with
probability p/n) or p + 1. Write D = f(p') - f(p) for the gain of the chosen objective and
E = F(p') - F(p) for that of the target F. The offspring is accepted iff D >= 0 (or D > 0);
the reward is a linear form c0 + c1 D + c2 E that depends on the case D < 0 (rejected),
D = 0 or D > 0; and

    Q'[s, f] = keep Q[s, f] + learn * reward + bootstrap * max_a Q[s', a],

where s and s' are the agent's states before and after the step. Everything is a rational
number or a flag, so that enumeration, kernels and proofs can read it.

Hyper-parameters may be left to follow n (`AlgorithmFamily`), as a `LandscapeFamily` leaves n and
l open; `StepLaw.of` completes them with the landscape's n.

Any coefficients can be simulated. The exact methods rest on bounds of the Q-values: they need
keep >= 0, bootstrap >= 0 and keep + bootstrap < 1, or an agent that never gains anything
(keep = 1, learn = bootstrap = 0 chooses at random for ever).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, SupportsIndex, overload

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import RationalLike, rational
from markov_lrsao.model.parameters import Parameters

if TYPE_CHECKING:
    from markov_lrsao.model.named import NamedAlgorithm

__all__ = ["Algorithm", "AlgorithmFamily", "Reward", "algorithm_at"]


State = Literal["target", "blind", "position"]
_ZERO = fmpq(0)


@dataclass(frozen=True)
class Reward:
    """The linear form ``constant + chosen * D + target * E``."""

    constant: fmpq = _ZERO
    chosen: fmpq = _ZERO
    target: fmpq = _ZERO

    def __call__(self, chosen_gain: int | fmpq, target_gain: int | fmpq) -> fmpq:
        """Evaluate the form at the gains D and E."""
        return self.constant + self.chosen * chosen_gain + self.target * target_gain


@dataclass(frozen=True)
class Algorithm:
    """A random local search whose acceptance objective is picked by a Q-agent, greedy by default.

    Attributes
    ----------
    accept_equal : accept an offspring of equal value of the chosen objective
    rejected, equal, better : the rewards in the cases D < 0, D = 0, D > 0
    keep, learn, bootstrap : coefficients of the Q-update
    state : what the agent sees: "target" (the target's value), "blind" (nothing: one state only) or
        "position" (the number of ones)
    actions : which objectives the agent may choose; "all" or "target" only
    epsilon : with this probability the agent takes any action, uniformly, else a greedy one
    preserve : refuse what lowers the target, whichever objective was chosen
    mistakes : of what is refused so the agent learns all the same, as if it had been accepted
    rate : standard bit mutation with this rate instead of one flipped bit; None: one bit
    """

    name: str
    rejected: Reward
    equal: Reward
    better: Reward
    keep: fmpq
    learn: fmpq
    bootstrap: fmpq
    accept_equal: bool = True
    state: State = "target"
    actions: Literal["all", "target"] = "all"
    parameters: Parameters | None = None
    epsilon: fmpq = _ZERO
    preserve: bool = False
    mistakes: bool = False
    rate: fmpq | None = None

    @staticmethod
    def named(text: str) -> NamedAlgorithm:
        """Return an algorithm by its name, as ``--algorithm`` has it; see `model.named`.

        >>> Algorithm.named("mahh:p=1/10").name
        'mahh'
        """
        from markov_lrsao.model.named import NamedAlgorithm

        return NamedAlgorithm.of(text)

    def exploring(self, epsilon: RationalLike) -> Algorithm:
        """Return the same algorithm with an epsilon-greedy agent.

        Raises
        ------
        ParameterError
            It is no probability.
        """
        chance = rational(epsilon, "epsilon")
        if not 0 <= chance <= 1:
            raise ParameterError(f"epsilon = {chance} is out of range: 0 <= epsilon <= 1 is needed")
        return replace(self, epsilon=chance)

    @overload
    @classmethod
    def lrsao(cls, parameters: Parameters) -> Algorithm: ...

    @overload
    @classmethod
    def lrsao(cls, parameters: None = None) -> AlgorithmFamily: ...

    @classmethod
    def lrsao(cls, parameters: Parameters | None = None) -> Algorithm | AlgorithmFamily:
        """LRSAO: reward (R) is the chosen objective's gain, -r for a move on its plateau.

        Without parameters it is the family that takes the paper's at every n.

        >>> Algorithm.lrsao().at(9) == Algorithm.lrsao(Parameters("4/5", "1/10", "7/2"))
        True
        """
        if parameters is None:
            return AlgorithmFamily()
        alpha, gamma = parameters.alpha, parameters.gamma
        return cls(
            name="LRSAO",
            rejected=Reward(),
            equal=Reward(constant=-parameters.r),
            better=Reward(chosen=fmpq(1)),
            keep=1 - alpha,
            learn=alpha,
            bootstrap=alpha * gamma,
            parameters=parameters,
        )

    @classmethod
    def earl(cls, alpha: RationalLike = "4/5", gamma: RationalLike = "99/100") -> Algorithm:
        """EA+RL: the reward is the change of the target, whichever objective was chosen.

        The defaults are those of the paper's appendix. Nothing is penalised, so a wrongly
        learnt objective may be kept for ever.
        """
        checked = Parameters.of(alpha, gamma, 0)
        change = Reward(target=fmpq(1))
        return cls(
            name="EA+RL",
            rejected=Reward(),
            equal=change,
            better=change,
            keep=1 - checked.alpha,
            learn=checked.alpha,
            bootstrap=checked.alpha * checked.gamma,
        )

    def judged(self, chosen: fmpq, target: fmpq) -> tuple[bool, fmpq]:
        """Return whether an offspring is accepted, given the gains of two objectives; and rewarded.

        What is rejected leaves the target as it is.

        >>> Algorithm.earl().judged(fmpq(2), fmpq(-1)), Algorithm.earl().judged(fmpq(-1), fmpq(3))
        ((True, -1), (False, 0))
        """
        liked = chosen > 0 or (chosen == 0 and self.accept_equal)
        accepted = liked and not (self.preserve and target < 0)
        if liked and not accepted and not self.mistakes:
            return False, self.rejected(min(chosen, fmpq(-1)), fmpq(0))
        form = self.better if chosen > 0 else self.equal if chosen == 0 else self.rejected
        return accepted, form(chosen, target if liked else fmpq(0))

    def check_bounded(self) -> None:
        """Refuse updates under which Q-values need not stay bounded.

        With non-negative coefficients of sum s = keep + bootstrap < 1, all values stay within
        G / (1 - s), G the largest gain; otherwise they can grow without bound, or their bounds
        would not be monotone.

        Raises
        ------
        ParameterError
        """
        if not (self.keep >= 0 and self.bootstrap >= 0 and self.keep + self.bootstrap < 1):
            raise ParameterError(
                f"keep = {self.keep}, bootstrap = {self.bootstrap} of algorithm {self.name}: "
                f"exact methods need keep >= 0, bootstrap >= 0 and keep + bootstrap < 1, so that "
                f"Q-values stay bounded; estimate with `simulate()`, or choose such values"
            )

    def mutating(self, rate: RationalLike) -> Algorithm:
        """Return the same algorithm with standard bit mutation.

        Raises
        ------
        ParameterError
            It is no rate.
        """
        chance = rational(rate, "rate")
        if not 0 < chance <= 1:
            raise ParameterError(f"rate = {chance} is out of range: 0 < rate <= 1 is needed")
        return replace(self, rate=chance)

    def preserving(self, *, mistakes: bool) -> Algorithm:
        """Return the same algorithm, never losing the best target value that it has found.

        An offspring must also be no worse by the target. With `mistakes` the agent is rewarded for
        what is refused by that as if it had been accepted, so that it learns from it.
        """
        return replace(self, preserve=True, mistakes=mistakes)

    @classmethod
    def rls(cls) -> Algorithm:
        """Random local search on the target alone; the agent has nothing to learn."""
        zero = Reward()
        return cls(
            name="RLS",
            rejected=zero,
            equal=zero,
            better=zero,
            keep=fmpq(1),
            learn=fmpq(0),
            bootstrap=fmpq(0),
            actions="target",
        )


@dataclass(frozen=True, init=False)
class AlgorithmFamily:
    """LRSAO whose hyper-parameters are the paper's at every n, but for those that are given.

    >>> AlgorithmFamily(r=5).at(9).parameters
    Parameters(alpha=4/5, gamma=1/10, r=5)
    """

    alpha: fmpq | None
    gamma: fmpq | None
    r: fmpq | None

    def __init__(
        self,
        alpha: RationalLike | None = None,
        gamma: RationalLike | None = None,
        r: RationalLike | None = None,
    ) -> None:
        for name, value in (("alpha", alpha), ("gamma", gamma), ("r", r)):
            object.__setattr__(self, name, None if value is None else rational(value, name))

    def at(self, n: SupportsIndex) -> Algorithm:
        """Return the algorithm at n, see `Parameters.paper`."""
        return Algorithm.lrsao(Parameters.paper(n, self.alpha, self.gamma, self.r))


def algorithm_at(algorithm: Algorithm | AlgorithmFamily | None, n: int) -> Algorithm:
    """Return the algorithm itself, or what a family is at n; None stands for the paper's."""
    if isinstance(algorithm, Algorithm):
        return algorithm
    return (algorithm or AlgorithmFamily()).at(n)
