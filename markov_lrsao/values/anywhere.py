r"""Bounds of the steps that are left which know the position only.

On plateaus that share a row, and slopes between them, a state has a table of Q-values and a history
of every slope. Forget both. At a position of a plateau some objective is greedy, or several are:
the walk moves as one of them does, or as a mixture. At an end of a slope the slope has some word
that is entered at this end (`markov_lrsao.values.slopes`), and is left as this word says. Let an
adversary choose, at every visit, any objective and any such word. Whatever the table and the
histories are, the truth is one of the adversary's ways, so that the largest and the least expected
steps to the optimum bound E[steps left] in every state at that position.

That is a decision process of tens of states. It is solved by policy iteration in fractions, and
what was found is confirmed from nothing but the options (`holds`): with U >= 0 and, per option of
costs c,

    U >= c + P U,        L <= c + P L,

U is a bound from above: iterate. L is one from below, since U is finite, so that no way of the
adversary lasts for ever. Fractions of slopes have thousands of digits at n = 1000. A value is
linear in the probability of leaving a slope downwards, so that two options, with short fractions
below and above it, stand for the one with the probability itself.

The largest expected steps are infinite iff there is a set of states in each of which some option
stays within the set. The highest state of the largest such set then has an option that never leads
upwards: that is what an error names. A process with many states is not solved; then all positions
have the crude bound of `markov_lrsao.values.straight_up`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flint import arb, ctx, fmpq, fmpq_mat, fmpz

from markov_lrsao.errors import CrossingError, SolverError
from markov_lrsao.exact.rationals import next_floats
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.straight_up import steps_straight_up

if TYPE_CHECKING:
    from markov_lrsao.values.plateaus import Plateaus
    from markov_lrsao.values.slopes import Slope, Word

__all__ = ["Anywhere", "Choice", "bounds_anywhere", "choices", "extreme", "holds"]

_MOST_SPOTS = 150
_SHORT, _BITS = 256, 64
"""Denominators with more bits are rounded, to so many bits that count."""
_EXACT_BITS = 4000
"""More than balls of slopes have: a small probability of not falling must not become 0."""
_ON_PLATEAU = -1


class Spot(NamedTuple):
    """A state of the process: a position of a plateau, or the end at which a slope is entered."""

    position: int
    entry: int


class Choice(NamedTuple):
    """What an adversary may choose: bounds of E[steps], and where to; the optimum is left out."""

    owner: Spot
    steps: tuple[fmpq, fmpq]
    edges: Mapping[Spot, fmpq]


@dataclass(frozen=True)
class Anywhere:
    """Bounds of E[steps left] per position of a plateau or end of a slope, whatever the table."""

    lower: Mapping[int, float]
    upper: Mapping[int, float]

    @property
    def largest(self) -> float:
        """A bound from above for every position."""
        return max(self.upper.values())


def bounds_anywhere(place: Plateaus, slopes: Sequence[Slope] | None = None) -> Anywhere:
    """Return bounds of E[steps left] in all states at a position.

    Parameters
    ----------
    slopes : those of `place`, or the same with words that know the time

    Raises
    ------
    CrossingError
        Some way of the adversary may last for ever.
    SolverError
    """
    spots = _spots(place)
    positions = sorted({spot.position for spot in spots})
    if len(spots) > _MOST_SPOTS:
        longest = steps_straight_up(place)  # and at least one step per position
        return Anywhere(
            {q: float(place.law.n - q) for q in positions}, dict.fromkeys(positions, longest)
        )
    options = choices(place, place.slopes if slopes is None else slopes)
    _ends(options)
    low, high = (extreme(options, sign) for sign in (-1, 1))
    if not (holds(options, low, -1) and holds(options, high, 1)):
        raise SolverError("bounds per position do not hold; please report this instance")
    return Anywhere(
        {q: min(next_floats(v)[0] for s, v in low.items() if s.position == q) for q in positions},
        {q: max(next_floats(v)[1] for s, v in high.items() if s.position == q) for q in positions},
    )


def _spots(place: Plateaus) -> list[Spot]:
    """Return all states, from the lowest to the highest."""
    found = [Spot(q, _ON_PLATEAU) for a, b in place.plateaus for q in range(a, b + 1)]
    for (_, below), (above, _) in zip(place.plateaus, place.plateaus[1:], strict=False):
        found += [Spot(below + 1, DOWN), Spot(above - 1, UP)]
    return sorted(found, key=lambda spot: (spot.position, spot.entry))


def choices(place: Plateaus, slopes: Sequence[Slope]) -> list[Choice]:
    """Return all options of all states."""
    law, n = place.law, place.law.n
    inner = set(_spots(place))
    found: list[Choice] = []

    def add(owner: Spot, steps: tuple[fmpq, fmpq], ways: Sequence[tuple[Spot, fmpq]]) -> None:
        edges: dict[Spot, fmpq] = {}
        for spot, share in ways:
            if spot in inner and share:
                edges[spot] = edges.get(spot, fmpq(0)) + share
        found.append(Choice(owner, steps, edges))

    for first, last in place.plateaus:
        for q in range(first, last + 1):
            here = Spot(q, _ON_PLATEAU)
            below = Spot(q - 1, UP if q == first else _ON_PLATEAU)
            above = Spot(q + 1, DOWN if q == last else _ON_PLATEAU)
            for down, up in sorted(
                {
                    (bool(law.accepted[q, a, DOWN]), bool(law.accepted[q, a, UP]))
                    for a in range(len(law.actions))
                }
            ):
                ways = [
                    (below if down else here, fmpq(q, n)),
                    (above if up else here, 1 - fmpq(q, n)),
                ]
                add(here, (fmpq(1), fmpq(1)), ways)
    for slope in slopes:
        below, above = Spot(slope.first - 1, _ON_PLATEAU), Spot(slope.last + 1, _ON_PLATEAU)
        for word in slope.words:
            here = Spot(slope.first if word.entry == DOWN else slope.last, word.entry)
            steps = _steps(word)
            for share in set().union(*map(_short, _chances_down(word))):
                add(here, steps, [(below, share), (above, 1 - share)])
    return found


def _chances_down(word: Word) -> set[fmpq]:
    """Return fractions around the probability of leaving a slope downwards."""
    chances = [x.weight[0] for x in word.passages if x.side == DOWN]
    if any(isinstance(x, arb) for x in chances):
        with ctx.workprec(_EXACT_BITS):
            down = sum(map(arb, chances), arb(0))
            return {max(fmpq(0), _exactly(down.lower())), min(fmpq(1), _exactly(down.upper()))}
    return {sum(chances, fmpq(0))}


def _steps(word: Word) -> tuple[fmpq, fmpq]:
    """Return fractions around E[steps] of a passage."""
    steps = sum((x.steps for x in word.passages), arb(0))
    if not steps.is_finite():
        raise SolverError("the time of a passage is not bounded; please report this instance")
    return max(fmpq(0), _exactly(steps.lower())), _exactly(steps.upper())


def _exactly(x: arb) -> fmpq:
    """Return a ball without a radius as a fraction."""
    mantissa, exponent = x.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def _short(share: fmpq) -> set[fmpq]:
    """Return short fractions around a probability, which are close to it and to 1 - it."""
    denominator = fmpz(share.q)
    if denominator.bit_length() <= _SHORT or share in (0, 1):
        return {share}
    small = min(fmpz(share.p), denominator - share.p)
    unit = fmpz(2) ** (_BITS + denominator.bit_length() - small.bit_length())
    scaled = share * unit
    return {fmpq(scaled.floor(), unit), fmpq(scaled.ceil(), unit)}


def _ends(options: Sequence[Choice]) -> None:
    """Refuse a process in which the adversary can avoid the optimum for ever."""
    full = {o.owner for o in options}
    kept = [o for o in options if sum(o.edges.values(), fmpq(0)) == 1]
    while True:
        stays = {o.owner for o in kept if all(spot in full for spot in o.edges)}
        if stays == full:
            break
        full = stays
    if full:
        highest = max(full, key=lambda spot: (spot.position, spot.entry))
        if highest.entry == _ON_PLATEAU:
            raise CrossingError(f"an objective rejects a move up at position {highest.position}")
        raise CrossingError(f"a slope at position {highest.position} may be left downwards only")


def extreme(options: Sequence[Choice], sign: int) -> dict[Spot, fmpq]:
    """Return the largest (sign 1) or least (-1) expected steps to the optimum, per state.

    Policy iteration in fractions: every policy is better than the one before, and there are
    finitely many.
    """
    side = 1 if sign > 0 else 0
    policy: dict[Spot, Choice] = {}
    for o in options:  # leave slopes downwards, or upwards, as far as possible
        if o.owner not in policy or sign * (_falls(o) - _falls(policy[o.owner])) > 0:
            policy[o.owner] = o
    spots = list(policy)
    number = {spot: i for i, spot in enumerate(spots)}
    while True:
        matrix = fmpq_mat(len(spots), len(spots))
        for i, spot in enumerate(spots):
            matrix[i, i] = fmpq(1)
            for target, share in policy[spot].edges.items():
                matrix[i, number[target]] -= share
        costs = fmpq_mat(len(spots), 1, [policy[spot].steps[side] for spot in spots])
        values = dict(zip(spots, matrix.solve(costs).entries(), strict=True))
        better = dict(policy)
        best = dict(values)
        for o in options:
            value = _after(o, values, side)
            if sign * (value - best[o.owner]) > 0:
                best[o.owner], better[o.owner] = value, o
        if better == policy:
            return values
        policy = better


def _falls(option: Choice) -> fmpq:
    """Return the probability of moving down."""
    return sum(
        (p for spot, p in option.edges.items() if spot.position < option.owner.position), fmpq(0)
    )


def _after(option: Choice, values: Mapping[Spot, fmpq], side: int) -> fmpq:
    return sum((p * values[spot] for spot, p in option.edges.items()), option.steps[side])


def holds(options: Sequence[Choice], values: Mapping[Spot, fmpq], sign: int) -> bool:
    """Whether values bound every option from above (sign 1) or from below (-1)."""
    side = 1 if sign > 0 else 0
    return all(v >= 0 for v in values.values()) and all(
        sign * (values[o.owner] - _after(o, values, side)) >= 0 for o in options
    )
