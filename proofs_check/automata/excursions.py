"""Excursions of phase 3: the objects that the proof of Lemma 15 counts.

A walk on the right plateau begins when n-l is entered from n-l-1 (or at the start of phase 3).
An *excursion* begins when n-l+1 is hit; it fails when the walk falls back to n-l-1 and succeeds
when R+ occurs on the plateau or n is hit, after which nothing more is counted. The memory of
these monitors is a small tuple, so they run on random runs, on joint chains and on the cells of
`proofs_check.automata.plateau` alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from markov_lrsao.model.law import UP
from proofs_check.runs.run import SeenStep

__all__ = ["Progress3", "advance"]


@dataclass(frozen=True)
class Progress3:
    """What has happened in phase 3 so far.

    Attributes
    ----------
    out : an excursion is under way
    over : R+ has occurred on the plateau
    failed : failing excursions so far
    left, jump : moves with L and J between plateau positions in the present walk
    fell : the step just made ended a failing excursion; `moves` are its walk's (left, jump)
    """

    out: bool = False
    over: bool = False
    failed: int = 0
    left: int = 0
    jump: int = 0
    fell: bool = False
    moves: tuple[int, int] = (0, 0)


def advance(memory: Progress3, step: SeenStep, cut: int, optimum: int) -> Progress3:
    """Return what is remembered after a step."""
    memory = replace(memory, fell=False) if memory.fell else memory
    if step.phase < 3 or memory.over:
        return memory
    if step.position >= cut and step.action == "R" and step.direction == UP:
        return Progress3(over=True, failed=memory.failed)
    if not step.accepted:
        return memory
    if step.position < cut <= step.next_position:
        return replace(memory, left=0, jump=0, out=False)
    if step.next_position < cut:
        return replace(
            memory,
            out=False,
            left=0,
            jump=0,
            failed=memory.failed + memory.out,
            fell=memory.out,
            moves=(memory.left, memory.jump),
        )
    inside = step.next_position < optimum
    return replace(
        memory,
        out=memory.out or step.next_position == cut + 1,
        left=memory.left + (inside and step.action == "L"),
        jump=memory.jump + (inside and step.action == "J"),
    )
