"""What can happen in one step at (position, pattern of the row shown there).

An *event* is a proposal of the step law together with the pattern that follows. Events that
change position and pattern alike make one *outcome*; its probability is the sum of theirs. Row
automata yield both (`RowAutomata.events`, `RowAutomata.outcomes`), and the joint chain, blocks,
sites, lumping, figures, exports and proofs read them there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markov_lrsao.model.law import Proposal, Share, add_shares

__all__ = ["Event", "Outcome", "gathered", "outcomes_of"]

Outcome = tuple[int, int]
"""A change of position and the pattern that follows."""


@dataclass(frozen=True, slots=True)
class Event(Proposal):
    """A proposal, and the pattern that the row then shows."""

    following: int


def gathered(events: Iterable[Event]) -> dict[Outcome, list[Event]]:
    """Group events by their outcome."""
    result: dict[Outcome, list[Event]] = {}
    for event in events:
        result.setdefault((event.moved, event.following), []).append(event)
    return result


def outcomes_of(events: Iterable[Event]) -> dict[Outcome, Share]:
    """Return the probability of every outcome."""
    return add_shares(((e.moved, e.following), e.share) for e in events)
