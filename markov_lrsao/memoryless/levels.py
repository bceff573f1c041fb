"""LeadingOnes level by level: E[z^T] of a level from those above it, in closed form.

An improvement leads from level x to x + 1, x + 2, .. with probabilities 1/2, 1/4, .., whatever was
flipped. So with F(x) = E[z^T] from level x, what follows an improvement is
U(x) = (F(x+1) + U(x+1)) / 2, and U(-1) is the mean over uniformly random bit strings.

    one mode           F = u z U / (1 - (1-u) z), u the probability of improving
    random gradient    F_a = u z U_a (1 - w_a) / (1 - (1-u) z) + w_a G with w_a = ((1-u) z)^tau: an
                       improvement within tau steps, or a fresh draw; G, the mean of F_a over the
                       portfolio, follows from itself. Only fresh periods are met: tau costs nothing

All of them are power series about z = 1, whose coefficients are E[C(T, k)].
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import Any, TypeAlias

from flint import fmpq

from markov_lrsao.exact.fields import SearchField
from markov_lrsao.exact.series import Element, add, inverse, multiply, scale
from markov_lrsao.model.levels import LevelLaw

__all__ = ["by_levels", "solved_by_levels"]

Number: TypeAlias = Any
"""An `fmpq` or an `arb`, as the field has it."""


def solved_by_levels(law: LevelLaw, target: frozenset[int]) -> bool:
    """Whether the closed forms apply: one mode or a gradient, and every level can be left."""
    if law.modes > 1 and not law.search.period:
        return False
    left = (x for x in range(law.n) if x not in target)
    return all(any(law.can_improve(a, x) for a in _shown(law, x)) for x in left)


def by_levels(law: LevelLaw, target: frozenset[int], moments: int, field: SearchField) -> Element:
    """Return E[C(T, k)] for k = 0 .. `moments` from a uniformly random bit string."""
    zero = field.number(fmpq(0))
    one: Element = (field.number(fmpq(1)), *[zero] * moments)
    half = field.number(fmpq(1, 2))
    tau = law.search.period
    parts = len(law.search.actions) if tau else 1
    after = [one] * parts  # U; from the last level but one the optimum follows for sure
    for x in range(law.n - 1, -1, -1):
        found = [one] * parts
        if x not in target:
            ups = _improving(law, x, field)
            if tau:
                found = _gradient(ups, after, tau, field)
            else:
                found = [multiply(_waiting(ups[0], field, moments + 1), after[0])]
        after = [scale(add(f, u), half) for f, u in zip(found, after, strict=True)]
    return scale(_sum(after), field.number(fmpq(1, parts)))


def _shown(law: LevelLaw, x: int) -> Iterable[int]:
    """Return the actions that may be taken at a level."""
    return range(len(law.search.actions)) if law.search.period else (a for a, _ in law.drawn(0, x))


def _improving(law: LevelLaw, x: int, field: SearchField) -> list[Number]:
    """Return the probability of improving: of every action of a gradient, or of the one mode."""
    actions = law.search.actions
    if law.search.period:
        return [law.improving(action.mutation, x, field) for action in actions]
    parts = [(w, law.improving(actions[a].mutation, x, field)) for a, w in law.drawn(0, x)]
    if len(parts) == 1:
        return [parts[0][1]]
    return [sum((field.number(w) * up for w, up in parts), field.number(fmpq(0)))]


def _waiting(up: Number, field: SearchField, length: int) -> Element:
    """Return z u / (1 - (1-u) z) about z = 1: the generating function of a geometric time."""
    one, zero = field.number(fmpq(1)), field.number(fmpq(0))
    rest = [zero] * (length - 2)
    return multiply((up, up, *rest), inverse((up, up - one, *rest)))


def _gradient(
    ups: list[Number], after: list[Element], tau: int, field: SearchField
) -> list[Element]:
    """Return F_a = won_a + late_a G of every action, with G = mean of F_a."""
    one, zero = field.number(fmpq(1)), field.number(fmpq(0))
    length = len(after[0])
    unit: Element = (one, *[zero] * (length - 1))
    won, late = [], []
    for up, follows in zip(ups, after, strict=True):
        power = (one - up) ** tau
        late.append(tuple(power * field.number(fmpq(comb(tau, k))) for k in range(length)))
        in_time = multiply(add(unit, scale(late[-1], -one)), follows)
        never: Element = (zero,) * length
        won.append(never if up == 0 else multiply(_waiting(up, field, length), in_time))
    share = field.number(fmpq(1, len(ups)))
    left = add(unit, scale(_sum(late), -share))
    fresh = multiply(scale(_sum(won), share), inverse(left))
    return [add(w, multiply(u, fresh)) for w, u in zip(won, late, strict=True)]


def _sum(elements: list[Element]) -> Element:
    total = elements[0]
    for element in elements[1:]:
        total = add(total, element)
    return total
