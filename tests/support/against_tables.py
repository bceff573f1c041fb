"""Answers of the engine held against full Q-tables: `full_tables` and `behaviours`.

What is compared, and what must be equal:

- a chain behind an exact answer: the law of the position after every step, as fractions;
- an exact E[T], and an exact P(T = infinity): the same number modulo a prime, where the behaviour
  of tables settles it;
- anything else: bounds that cannot both be right. Those of the tables are certain where they come
  from `FullTables.follow`; what behaviours say in floats is given a margin of 1e-6.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from behaviours import Behaviour, settled
from flint import fmpq
from full_tables import FullTables

from markov_lrsao import RuntimeResult
from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.exact.rationals import to_float

__all__ = ["Disagreement", "compare_behaviour", "compare_bounds", "compare_positions", "tables_of"]

_MARGIN = 1e-6


class Disagreement(AssertionError):
    """Engine and oracle cannot both be right."""


class Played(Protocol):
    """What the oracle reads."""

    @property
    def objectives(self) -> dict[str, list[int]]: ...
    @property
    def target(self) -> str: ...
    @property
    def alpha(self) -> Fraction: ...
    @property
    def gamma(self) -> Fraction: ...
    @property
    def r(self) -> Fraction: ...


def tables_of(instance: Played) -> FullTables:
    """Return the oracle of an instance."""
    return FullTables(
        instance.objectives, instance.target, instance.alpha, instance.gamma, instance.r
    )


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def compare_positions(instance: Played, chain: MarkovChain, work: int) -> int:
    """Compare the exact laws of the position; return for how many steps they were compared."""
    after = [
        [
            (int(chain.indices[e]), Fraction(int(chain.numerators[e]), int(chain.denominators[i])))
            for e in range(int(chain.indptr[i]), int(chain.indptr[i + 1]))
        ]
        for i in range(chain.size)
    ]
    now = {int(chain.start[0]): Fraction(1)}
    steps = -1
    for steps, expected in enumerate(tables_of(instance).laws(work)):
        found: dict[int, Fraction] = {}
        following: dict[int, Fraction] = {}
        for i, mass in now.items():
            x = int(chain.positions[i])
            found[x] = found.get(x, Fraction(0)) + mass
            for j, share in after[i]:
                following[j] = following.get(j, Fraction(0)) + mass * share
        if found != expected:
            raise Disagreement(f"the laws of the position differ after {steps} steps")
        now = following
    return steps


def compare_behaviour(instance: Played, result: RuntimeResult, work: int) -> str:
    """Compare with what tables say that are told apart by what they do; return what was found."""
    known = settled(tables_of(instance), work)
    if known is None:
        return "behaviour not settled"
    if result.kind == "infinite":
        return _compare_stuck(known, result)
    if known.stuck != 0:
        raise Disagreement(f"runs get stuck, P = {known.stuck_nearly}; E[T] is infinite")
    if result.kind == "exact":
        if not known.confirms_mean(_fraction(result.total.value)):
            raise Disagreement(f"E[T] = {known.mean_nearly}, not {result.total.value}")
        return f"E[T] identical, {known.classes} classes"
    low, high = to_float(result.total.lower), result.total.upper
    mean, margin = known.mean_nearly, _MARGIN * known.mean_nearly
    if mean < low - margin or (high is not None and mean > to_float(high) + margin):
        raise Disagreement(f"E[T] = {mean}, not in [{low}, {high}]")
    return f"E[T] = {mean:.10g} contained, {known.classes} classes"


def _compare_stuck(known: Behaviour, result: RuntimeResult) -> str:
    """Compare the probability that a run never ends."""
    trap = result.trap
    if trap is None or known.stuck == 0:
        raise Disagreement("no run gets stuck")
    if trap.lower == trap.upper:
        if not known.confirms_stuck(_fraction(trap.lower)):
            raise Disagreement(f"P(T = inf) = {known.stuck_nearly}, not {trap.lower}")
        return f"P(T = inf) identical, {known.classes} classes"
    low, high = to_float(trap.lower) - _MARGIN, to_float(trap.upper) + _MARGIN
    if not low <= known.stuck_nearly <= high:
        raise Disagreement(f"P(T = inf) = {known.stuck_nearly}, not in [{low}, {high}]")
    return f"P(T = inf) = {known.stuck_nearly:.10g} contained, {known.classes} classes"


def compare_bounds(instance: Played, result: RuntimeResult, steps: int, heaviest: int) -> str:
    """Compare with certain bounds of P(T <= t), of E[T] from below and of P(T = infinity)."""
    seen = tables_of(instance).follow(steps, heaviest)
    if result.kind == "infinite":
        trap = result.trap
        assert trap is not None
        if not to_float(trap.lower) <= 1 - seen.done[-1] + 1e-9:
            raise Disagreement(f"P(T > {steps}) <= {1 - seen.done[-1]}, not >= {trap.lower}")
        if not seen.caught <= to_float(trap.upper) + 1e-9:
            raise Disagreement(f"P(T = inf) >= {seen.caught}, not <= {trap.upper}")
        return f"P(T = inf) in [{seen.caught:.4g}, {1 - seen.done[-1]:.4g}] by tables"
    if seen.caught > 0:
        raise Disagreement(f"P(T = inf) >= {seen.caught}; E[T] is infinite")
    upper = result.total.upper
    if upper is not None and seen.least_mean > to_float(upper) * (1 + 1e-12):
        raise Disagreement(f"E[T] >= {seen.least_mean}, not <= {to_float(upper)}")
    share = seen.least_mean / to_float(upper) if upper else 0.0
    return f"sums reach {share:.4f}"
