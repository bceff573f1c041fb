"""Runs that get stuck, found by playing and proved by a closed set of tables.

A few hundred runs are played in floats. One that does not end is played again in rationals, which
confirms every choice; if a closed set holds its table (`markov_lrsao.values.closed`), the run never
ends, and neither does any other that begins with the same steps. These first steps, as few as are
found to be enough, have a positive probability: so E[T] is infinite. No chain is needed for that.

Beginnings none of which continues another exclude each other, so their probabilities add up to a
lower bound of P(T = infinity). It may be far below: what is proved is that it is not 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from flint import fmpq

from markov_lrsao.exact.quantity import Trap
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import Proposal, StepLaw
from markov_lrsao.values.closed import closed_from

__all__ = ["Beginning", "Steps", "beginnings", "described", "replayed", "seen_trap"]

Number: TypeAlias = Any
"""A float, or a rational."""
Steps: TypeAlias = list[tuple[int, int]]
"""Action and direction of every step."""
_RUNS, _LONGEST = 600, 600
_MOST_PROOFS, _ENOUGH = 12, 6
"""Runs for which a proof is tried, and so many that are enough."""
_SEED = 2


@dataclass(frozen=True)
class Beginning:
    """First steps of runs that never end.

    Attributes
    ----------
    table : the Q-table after them, K row + action
    probability : that a run begins so
    """

    steps: tuple[tuple[int, int], ...]
    position: int
    table: tuple[fmpq, ...]
    probability: fmpq


def _proposals(
    law: StepLaw, position: int, table: Sequence[Number]
) -> tuple[int, tuple[Proposal, ...]]:
    """Return the first entry of the row that is seen, and all that can happen next."""
    actions = len(law.actions)
    first = int(law.row[position]) * actions
    row = table[first : first + actions]
    most = max(row)
    greedy = tuple(a for a in range(actions) if row[a] == most)
    return first, law.proposals(int(law.kind[position]), greedy)


def _follow(
    law: StepLaw, table: list[Number], first: int, e: Proposal, to: int, rates: Sequence[Number]
) -> None:
    """Carry out the update of a proposal; rates are keep, bootstrap and the gain."""
    actions = len(law.actions)
    seen = int(law.row[to]) * actions
    most = max(table[seen : seen + actions])
    keep, bootstrap, gain = rates
    table[first + e.action] = keep * table[first + e.action] + gain + bootstrap * most


def _played(law: StepLaw, random: Random) -> Steps | None:
    """Play a run in floats; return its steps if it does not end."""
    size = (int(law.row.max()) + 1) * len(law.actions)
    algorithm = law.algorithm
    keep, bootstrap = to_float(algorithm.keep), to_float(algorithm.bootstrap)
    table: list[Number] = [0.0] * size
    gains: dict[fmpq, float] = {}
    position, steps = 0, []
    for _ in range(_LONGEST):
        first, proposals = _proposals(law, position, table)
        weights = [e.share.numerator(position, law.n) for e in proposals]
        e = random.choices(proposals, weights)[0]
        to = position + e.moved
        steps.append((e.action, e.direction))
        if to == law.optimum:
            return None
        gain = gains.get(e.move.gain)
        if gain is None:
            gain = gains[e.move.gain] = to_float(e.move.gain)
        _follow(law, table, first, e, to, (keep, bootstrap, gain))
        position = to
    return steps


def replayed(law: StepLaw, steps: Sequence[tuple[int, int]]) -> list[Beginning]:
    """Play steps in rationals, as far as they are possible; return every beginning of them."""
    size = (int(law.row.max()) + 1) * len(law.actions)
    keep, bootstrap = law.algorithm.keep, law.algorithm.bootstrap
    table: list[Number] = [fmpq(0)] * size
    position, probability = 0, fmpq(1)
    found = [Beginning((), 0, (fmpq(0),) * size, probability)]
    for k, (action, direction) in enumerate(steps):
        first, proposals = _proposals(law, position, table)
        for e in proposals:
            if (e.action, e.direction) == (action, direction):
                break
        else:  # floats took a tie for none, or the other way round
            return found
        probability *= law.probability(e.share, position)
        to = position + e.moved
        if to == law.optimum or probability == 0:
            return found
        _follow(law, table, first, e, to, (keep, bootstrap, e.move.gain))
        position = to
        exact = tuple(fmpq(x) for x in table)
        found.append(Beginning(tuple(steps[: k + 1]), position, exact, probability))
    return found


def beginnings(law: StepLaw) -> Iterator[Beginning]:
    """Yield first steps after which runs never end; none of them begins with another."""
    random = Random(_SEED)
    known: set[tuple[tuple[int, int], ...]] = set()
    tries = proved = 0
    for _ in range(_RUNS):
        if tries >= _MOST_PROOFS or proved >= _ENOUGH:
            return
        steps = _played(law, random)
        if steps is None or any(tuple(steps[: len(k)]) == k for k in known):
            continue
        tries += 1
        way = replayed(law, steps)
        if not _never_ends(law, way[-1]):
            continue
        # From some step on the run is stuck; where that is found need not be the first such step.
        low, high = 0, len(way) - 1
        while low < high:
            middle = (low + high) // 2
            if _never_ends(law, way[middle]):
                high = middle
            else:
                low = middle + 1
        proved += 1
        known.add(way[high].steps)
        yield way[high]


def _never_ends(law: StepLaw, at: Beginning) -> bool:
    return closed_from(law, at.position, at.table) is not None


def seen_trap(law: StepLaw) -> Trap | None:
    """Return where runs get stuck, and bounds of the probability; None: none was seen to."""
    found = list(beginnings(law))
    if not found:
        return None
    lower = sum((b.probability for b in _apart(found)), fmpq(0))
    likeliest = max(found, key=lambda b: b.probability)
    return Trap(described(law, likeliest), lower, fmpq(1))


def _apart(found: Sequence[Beginning]) -> list[Beginning]:
    """Return those that begin with no other one: their events exclude each other."""
    return [
        b
        for b in found
        if not any(
            o is not b and len(o.steps) <= len(b.steps) and b.steps[: len(o.steps)] == o.steps
            for o in found
        )
    ]


def described(law: StepLaw, at: Beginning) -> str:
    """Return a table in words: "p=6 [0: J>L=R>0]"."""
    text, actions = [f"p={at.position}"], len(law.actions)
    for row in law.rows_met():
        entries = at.table[row * actions : (row + 1) * actions]
        if not any(entries):
            continue
        groups: dict[fmpq, list[str]] = {}
        for value, name in (*zip(entries, law.actions, strict=True), (fmpq(0), "0")):
            groups.setdefault(value, []).append(name)
        order = ">".join("=".join(groups[v]) for v in sorted(groups, reverse=True))
        text.append(f"[{law.state(row)}: {order}]")
    return " ".join(text)
