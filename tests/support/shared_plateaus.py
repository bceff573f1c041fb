"""Landscapes with several plateaus that share one agent state."""

from __future__ import annotations

from markov_lrsao import Landscape


def one_bridge_for_all_but_the_last(n: int, widths: tuple[int, ...]) -> Landscape:
    """Plateaus of value 0 with slopes between; a bridge is |x| on its plateaus and next to them."""
    length, longer = divmod(n - sum(widths), len(widths) - 1)
    target, bridges = list(range(n + 1)), [[0] * (n + 1), [0] * (n + 1)]
    milestones, first = [], 0
    for i, width in enumerate(widths):
        bridge = bridges[i == len(widths) - 1]
        for p in range(first, first + width):
            target[p] = 0
        for p in range(max(first - 1, 0), first + width + 1):
            bridge[p] = p
        if first:
            milestones.append(first)
        first += width + length + (i < longer)
    objectives = {"J": target, "A": bridges[0], "B": bridges[1]}
    return Landscape.from_arrays(objectives, "J", [*milestones, n])
