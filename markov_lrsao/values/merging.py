"""Merging the states of an explored block that behave alike.

Two states at the same position and in the same phase are alike if each option of the one
has a counterpart among the options of the other: equal shares lead to states that are alike
and to exits that are alike. Which exits are alike is given by what follows them; exits after
which the walk comes back must moreover lead back to states that are alike. The coarsest such
partition is found by splitting (partition refinement). For a block without choices this is
an exact lumping; with choices, the merged block allows just the same laws.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from markov_lrsao.crossing.blocks import Corridor, Edge, Exit, Target, Weight
from markov_lrsao.exact.partitions import coarsest_partition
from markov_lrsao.model.law import add_shares
from markov_lrsao.values.refinement import Refined

__all__ = ["added_edges", "merge_alike"]

Place = TypeVar("Place", bound=Hashable)


def merge_alike(
    block: Refined, outcome: Callable[[Exit], Hashable], *, returns: int | None = None
) -> tuple[Refined, dict[int, int], dict[Exit, Exit]]:
    """Return the merged block, and what became of the states and of the exits.

    Parameters
    ----------
    outcome : exits with different outcomes are never merged
    returns : direction of the exits after which the walk comes back at the end it left
    """
    exits = block.exits
    back = {x: block.comes_back(x) if x.direction == returns else None for x in exits}
    came_from = {i: x for x, i in back.items() if i is not None}
    size = len(block.states)
    number: dict[Target, int] = {i: i for i in range(size)}
    number.update({x: size + k for k, x in enumerate(exits)})

    def signature(element: int, classes: Sequence[int]) -> Hashable:
        """Return where the options of a state lead, or where the walk after an exit does."""
        if element >= size:
            again = back[exits[element - size]]
            return None if again is None else classes[again]
        source = came_from.get(element)
        return (
            None if source is None else classes[number[source]],
            frozenset(
                frozenset(added_edges(e, lambda t: classes[number[t]]))
                for e in block.options[element]
            ),
        )

    def successors(element: int) -> set[int]:
        if element >= size:
            again = back[exits[element - size]]
            return set() if again is None else {again}
        source = came_from.get(element)
        found = {number[t] for edges in block.options[element] for t, _ in edges}
        return found if source is None else found | {number[source]}

    classes = coarsest_partition(
        [*((s.position, s.phase) for s in block.states), *(("exit", outcome(x)) for x in exits)],
        signature,
        successors,
    )
    of_exit = dict(zip(exits, classes[size:], strict=True))
    return _representatives(block, of_exit, classes[:size], back)


def added_edges(
    edges: Iterable[Edge], place: Callable[[Target], Place]
) -> tuple[tuple[Place, Weight], ...]:
    """Add up the shares that lead to the same place; corridors come first, as they are."""
    whole = [(place(t), w) for t, w in edges if isinstance(w, Corridor)]
    shares = add_shares((place(t), w) for t, w in edges if not isinstance(w, Corridor))
    return (*whole, *shares.items())


def _representatives(
    block: Refined,
    of_exit: dict[Exit, int],
    state_class: Sequence[int],
    back: dict[Exit, int | None],
) -> tuple[Refined, dict[int, int], dict[Exit, Exit]]:
    first_exit: dict[int, Exit] = {}
    for x, c in of_exit.items():
        first_exit.setdefault(c, x)
    representative: dict[int, int] = {}
    for x in first_exit.values():  # the walk must find the state it comes back to
        if (b := back[x]) is not None:
            representative[state_class[b]] = b
    for i, c in enumerate(state_class):
        representative.setdefault(c, i)
    kept = sorted(representative.values())
    new_number = {i: k for k, i in enumerate(kept)}
    became = {i: new_number[representative[c]] for i, c in enumerate(state_class)}

    def place(target: Target) -> Target:
        return first_exit[of_exit[target]] if isinstance(target, Exit) else became[target]

    merged = replace(
        block,
        states=tuple(block.states[i] for i in kept),
        options=tuple(
            tuple(dict.fromkeys(added_edges(edges, place) for edges in block.options[i]))
            for i in kept
        ),
        start=tuple(became[i] for i in block.start),
    )
    return merged, became, {x: first_exit[c] for x, c in of_exit.items()}
