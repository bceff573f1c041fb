r"""Where a run can get stuck for ever.

Outside (H) a run may enter a set of states from which the optimum cannot be reached: above
the upper bound of r, for instance, state n - l - 1 may be left with Q[J] = 0 as its strict
maximum, and J rejects both neighbours for ever. If such a trap is entered with positive
probability, E[T] is infinite. In a block with choices,

* a state is a *trap* if no sequence of options and steps leads from it to the optimum;
* the run *may wander* if some way of resolving open comparisons keeps it away from the
  optimum for ever although no trap is entered; then no finite upper bound is known.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from flint import fmpq

from markov_lrsao.crossing.blocks import Exit
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.values.choices import probability_of_reaching
from markov_lrsao.values.refinement import Refined

__all__ = ["Fate", "fate"]


@dataclass(frozen=True)
class Fate:
    """Whether a block's run ends.

    Attributes
    ----------
    traps : the trap states
    ends : those of them that are met again and again, once they are entered
    entry : the closest state to the start that is met again and again for ever, for people;
        None without traps
    lower, upper : per state, bounds of the probability of entering a trap from there
    wanders : whether open comparisons might keep a run from ending
    """

    traps: tuple[int, ...]
    ends: tuple[int, ...]
    entry: int | None
    lower: tuple[fmpq, ...]
    upper: tuple[fmpq, ...]
    wanders: bool

    def stuck_from(self, state: int) -> bool:
        """Whether E[T] from a state is infinite however open comparisons turn out."""
        return bool(self.traps) and bool(self.lower[state] > 0)


def fate(block: Refined, *, lost: int | None = None) -> Fate:
    """Find the traps of a block that is followed to the optimum.

    Parameters
    ----------
    lost : a state at which runs are given up; their fate is unknown
    """
    successors = [[[t for t, _ in edges] for edges in options] for options in block.options]
    given_up = {lost} if lost is not None else set()
    traps = _cannot_finish(successors, given_up)
    wanders = bool(_may_stay(successors, traps | given_up))
    if not traps:
        return Fate((), (), None, (), (), wanders)
    lower, upper = probability_of_reaching(block, traps, cautious=wanders, lost=given_up)
    ends = _never_left(successors, traps)
    entry = next(i for i in _breadth_first(successors, block.start) if i in ends)
    return Fate(
        tuple(sorted(traps)),
        tuple(sorted(ends)),
        entry,
        tuple(max(v, fmpq(0)) for v in lower),
        tuple(min(v, fmpq(1)) for v in upper),
        wanders,
    )


def _cannot_finish(
    successors: list[list[list[int | Exit]]], given_up: Collection[int] = ()
) -> set[int]:
    """Return the states from which under any options neither an exit nor a given state is met.

    What may come to a state at which runs are given up is no trap: it might finish elsewhere.
    """
    before: list[list[int]] = [[] for _ in successors]
    stack = sorted(given_up)
    finishing = [i in given_up for i in range(len(successors))]
    for i, options in enumerate(successors):
        for targets in options:
            for t in targets:
                if isinstance(t, Exit):
                    if not finishing[i]:
                        finishing[i] = True
                        stack.append(i)
                else:
                    before[t].append(i)
    while stack:
        for i in before[stack.pop()]:
            if not finishing[i]:
                finishing[i] = True
                stack.append(i)
    return {i for i, ends in enumerate(finishing) if not ends}


def _never_left(successors: list[list[list[int | Exit]]], traps: set[int]) -> set[int]:
    """Return the traps whose strongly connected component is never left."""
    number = {i: k for k, i in enumerate(sorted(traps))}
    targets = [
        sorted({number[t] for options in successors[i] for t in options if not isinstance(t, Exit)})
        for i in number
    ]
    label = components_of(targets).label
    left = {
        int(label[k]) for k, row in enumerate(targets) if any(label[t] != label[k] for t in row)
    }
    return {i for i, k in number.items() if int(label[k]) not in left}


def _may_stay(successors: list[list[list[int | Exit]]], traps: set[int]) -> set[int]:
    """Return the states outside traps from which some options avoid exits and traps for ever.

    The largest set such that each of its states has an option that stays within the set.
    """
    staying = {i for i in range(len(successors)) if i not in traps}
    while True:
        kept = {
            i
            for i in staying
            if any(all(t in staying for t in targets) for targets in successors[i])
        }
        if kept == staying:
            return staying
        staying = kept


def _breadth_first(successors: list[list[list[int | Exit]]], starts: Sequence[int]) -> list[int]:
    order = list(dict.fromkeys(starts))
    seen = set(order)
    for i in order:
        for targets in successors[i]:
            for t in targets:
                if not isinstance(t, Exit) and t not in seen:
                    seen.add(t)
                    order.append(t)
    return order
