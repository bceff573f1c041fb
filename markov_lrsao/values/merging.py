"""Merging the states of an explored block that behave alike.

Two states at the same position and in the same phase are alike if each option of the one
has a counterpart among the options of the other: equal shares lead to states that are alike
and to exits that are alike. Which exits are alike is given by what follows them; exits after
which the walk comes back must moreover lead back to states that are alike. The coarsest such
partition is found by splitting (partition refinement). For a block without choices this is
an exact lumping; with choices, the merged block allows just the same laws.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from markov_lrsao.crossing.blocks import Exit, State
from markov_lrsao.values.refinement import Edge, Refined

__all__ = ["merge_alike"]


def merge_alike(
    block: Refined, outcome: Callable[[Exit], Hashable], *, returns: int | None = None
) -> tuple[Refined, dict[int, int], dict[Exit, Exit]]:
    """Return the merged block, and what became of the states and of the exits.

    Parameters
    ----------
    outcome : exits with different outcomes are never merged
    returns : direction of the exits after which the walk comes back at the end it left
    """
    exits = list(
        dict.fromkeys(
            t
            for options in block.options
            for edges in options
            for t, _ in edges
            if isinstance(t, Exit)
        )
    )
    number = {state: i for i, state in enumerate(block.states)}
    back = {
        x: number.get(State(block.last, x.phase, x.patterns)) if x.direction == returns else None
        for x in exits
    }
    came_from = {i: x for x, i in back.items() if i is not None}
    exit_class = _numbered([outcome(x) for x in exits])
    of_exit = dict(zip(exits, exit_class, strict=True))
    state_class = _numbered([(s.position, s.phase) for s in block.states])
    while True:

        def place(target: int | Exit) -> tuple[bool, int]:
            if isinstance(target, Exit):
                return True, of_exit[target]  # noqa: B023 - used within the round only
            return False, state_class[target]  # noqa: B023

        refined = _numbered(
            [
                (
                    state_class[i],
                    of_exit.get(came_from[i]) if i in came_from else None,
                    frozenset(_collected(edges, place) for edges in options),
                )
                for i, options in enumerate(block.options)
            ]
        )
        exits_refined = _numbered(
            [(of_exit[x], None if (b := back[x]) is None else refined[b]) for x in exits]
        )
        settled = len(set(refined)) == len(set(state_class)) and len(set(exits_refined)) == len(
            set(of_exit.values())
        )
        state_class, of_exit = refined, dict(zip(exits, exits_refined, strict=True))
        if settled:
            break
    return _representatives(block, exits, of_exit, state_class, back)


def _numbered(keys: list[Hashable]) -> list[int]:
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def _collected(
    edges: tuple[Edge, ...], place: Callable[[int | Exit], tuple[bool, int]]
) -> frozenset[Hashable]:
    """Add up the shares of an option per class of target."""
    total: dict[tuple[bool, int], list[int]] = {}
    result: set[Hashable] = set()
    for target, weight in edges:
        if isinstance(weight, tuple):
            shares = total.setdefault(place(target), [0, 0])
            shares[0] += weight[0]
            shares[1] += weight[1]
        else:
            result.add((place(target), weight))
    result.update((where, tuple(shares)) for where, shares in total.items())
    return frozenset(result)


def _representatives(
    block: Refined,
    exits: list[Exit],
    of_exit: dict[Exit, int],
    state_class: list[int],
    back: dict[Exit, int | None],
) -> tuple[Refined, dict[int, int], dict[Exit, Exit]]:
    first_exit: dict[int, Exit] = {}
    for x in exits:
        first_exit.setdefault(of_exit[x], x)
    representative: dict[int, int] = {}
    for x in first_exit.values():  # the walk must find the state it comes back to
        if (b := back[x]) is not None:
            representative[state_class[b]] = b
    for i, c in enumerate(state_class):
        representative.setdefault(c, i)
    kept = sorted(representative.values())
    new_number = {i: k for k, i in enumerate(kept)}
    became = {i: new_number[representative[c]] for i, c in enumerate(state_class)}

    def moved(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
        shares: dict[int | Exit, list[int]] = {}
        other: list[Edge] = []
        for target, weight in edges:
            to = first_exit[of_exit[target]] if isinstance(target, Exit) else became[target]
            if isinstance(weight, tuple):
                total = shares.setdefault(to, [0, 0])
                total[0] += weight[0]
                total[1] += weight[1]
            else:
                other.append((to, weight))
        return (*other, *((to, (a, b)) for to, (a, b) in shares.items()))

    merged = replace(
        block,
        states=tuple(block.states[i] for i in kept),
        options=tuple(
            tuple(dict.fromkeys(moved(edges) for edges in block.options[i])) for i in kept
        ),
        start=tuple(became[i] for i in block.start),
    )
    return merged, became, {x: first_exit[of_exit[x]] for x in exits}
