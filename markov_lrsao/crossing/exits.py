"""Counting the exits of a site or region, over any numbers: rationals, floats, Q(x), Q(n, l).

With U and V the matrices of the next exit being upwards or downwards, x[u, d] the weight of
having made u upward and d downward exits (as a vector over the classes of the site),

    x[u, d] = x[u-1, d] U + x[u, d-1] V,    K[d', d] = total weight of x[d', d] U,

and K[d', d] is the weight of making d downward exits before the (1 + d')-th upward one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from markov_lrsao.crossing.blocks import Block, Exit
from markov_lrsao.crossing.decomposition import Site
from markov_lrsao.errors import NotAbsorbingError
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.exact.series import Element, add, multiply, solve
from markov_lrsao.model.law import UP, Share

__all__ = ["NEVER_BACK", "Events", "count_exits", "first_exit", "site_events"]

NEVER_BACK = (
    "the walk can leave a region with patterns that are never met there again: it never comes "
    "back, and E[T] is infinite"
)
"""Regions are independent: if the others let the walk come back, it would be met again."""
Of = TypeVar("Of", bound=Hashable)
Events = Mapping[int, Mapping[tuple[int, int], Element]]
"""Class -> (move -1 or 1, next class) -> weight of this being the next exit."""


def site_events(
    site: Site,
    weight: Callable[[Share], Element],
    *,
    length: int,
    at_one: bool,
    lossy: bool = False,
    prepare: Callable[[int, dict[int, Element], dict[tuple[int, int], Element]], None]
    | None = None,
    missing: Any = None,
) -> Events:
    """Return the law of a site's next exit from each of its classes.

    Parameters
    ----------
    weight : share -> weight of a step
    lossy : allow classes that are never left; what enters them is lost
    prepare : called with each class, its staying and its leaving weights before solving
    missing : 1 less the sum of the weights of a step, where `solve` needs it
    """
    rows: dict[int, dict[int, Element]] = {}
    outputs: dict[int, dict[tuple[int, int], Element]] = {}
    for k, steps in enumerate(site.steps):
        if not steps:
            continue
        rows[k], outputs[k] = {}, {}
        for moved, to, share in steps:
            element = weight(share)
            if moved == 0:
                _accumulate(rows[k], to, element)
            else:
                _accumulate(outputs[k], (moved, to), element)
        if prepare is not None:
            prepare(k, rows[k], outputs[k])
    return solve(
        rows,
        outputs,
        _order(rows),
        length=length,
        at_one=at_one,
        lossy=lossy,
        missing=None if missing is None else dict.fromkeys(rows, missing),
    )


def count_exits(
    events: Events, incoming: int, outgoing: int, unit: Element
) -> dict[tuple[int, int], Element]:
    """Return K[d', d] for d' = 0 .. incoming, d = 0 .. outgoing."""
    x: dict[tuple[int, int], dict[int, Element]] = {(0, 0): {0: unit}}
    kernel: dict[tuple[int, int], Element] = {}
    for u in range(incoming + 1):
        for d in range(outgoing + 1):
            for k, weight in x.get((u, d), {}).items():
                if k not in events:
                    raise NotAbsorbingError(NEVER_BACK)
                for (moved, to), event in events[k].items():
                    term = multiply(weight, event)
                    if moved == 1:
                        _accumulate(kernel, (u, d), term)
                    _accumulate(
                        x.setdefault((u + 1, d) if moved == 1 else (u, d + 1), {}), to, term
                    )
    return kernel


def first_exit(
    region: Block, events: Mapping[int, Mapping[Exit, Element]], most: int, unit: Element
) -> dict[tuple[int, int], Element]:
    """Return (pattern shown, d) -> weight of leaving a region upwards after d downward exits."""
    result: dict[tuple[int, int], Element] = {}
    x: dict[int, Element] = {region.start[0]: unit}
    for count in range(most + 1):
        following: dict[int, Element] = {}
        for i, weight in x.items():
            for exit_, event in events[i].items():
                term = multiply(weight, event)
                if exit_.direction == UP:
                    _accumulate(result, (exit_.patterns[0], count), term)
                else:
                    to = region.comes_back(exit_)
                    if to is None:
                        raise NotAbsorbingError(NEVER_BACK)
                    _accumulate(following, to, term)
        x = following
    return result


def _accumulate(into: dict[Of, Element], of: Of, term: Element) -> None:
    into[of] = add(into[of], term) if of in into else term


def _order(rows: Mapping[int, Mapping[int, Element]]) -> list[tuple[int, ...]]:
    """Order the classes so that steps which stay lead to the same or earlier components."""
    keys = list(rows)
    number = {k: i for i, k in enumerate(keys)}
    order = components_of([[number[j] for j in rows[k]] for k in keys])
    return [tuple(keys[i] for i in component) for component in order]
