"""What happened in a run, entry by entry: a trace as changes of the Q-table.

Every line of a trace is two events: its rejections, and then what was proposed at last. An event
changes one entry x of the row that the agent saw:

    count > 0   x becomes lam^count x: rejected so often, or led without reward to its own row
    count = 0   x becomes keep x + gain + boot max(row `target`); target -1: its own row, so
                keep x + gain + boot x (the chosen entry is a largest one)

The value of an entry at any time is what its last event before that time made of it (0 if there
is none), so values are named by events.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulate.runs.encoding import EncodedLaw

__all__ = ["Events", "since_restart"]

IntArray = npt.NDArray[np.int64]


def since_restart(trace: IntArray) -> IntArray:
    """Return the lines after the last restart, which forgets everything."""
    restarts = np.flatnonzero(trace[:, 1] < 0)
    return trace[restarts[-1] + 1 :] if restarts.size else trace


@dataclass(frozen=True)
class Events:
    """The events of a trace, in order.

    Attributes
    ----------
    entry : row * actions + action, or -1 if the event is none
    count, gain, target : what became of the entry
    changes : entry * events + event for every change, sorted: those of an entry stand together
    """

    actions: int
    entry: IntArray
    count: IntArray
    gain: IntArray
    target: IntArray
    changes: list[int]

    @classmethod
    def of(cls, encoded: EncodedLaw, trace: IntArray) -> Events:
        """Read a trace without restarts; see `simulate.kernels.records.Written` for its columns."""
        law = encoded.law
        _, place, mask, rejections, chosen, direction = trace.T
        made = chosen >= 0
        at = law.kind[place], np.where(made, chosen, 0), np.where(made, direction, 0)
        row, gain = law.row[place].astype(np.int64), law.gain[at].astype(np.int64)
        accepted = law.accepted[at] != 0
        after = law.row[np.clip(place + 2 * at[2] - 1, 0, law.n)]
        elsewhere = accepted & (after != row)
        free = np.array([value == 0 for value in encoded.gains])[gain]
        decays = (rejections > 0) & (mask & (mask - 1) == 0)
        only = np.log2(np.maximum(mask, 1)).astype(np.int64)  # powers of two are exact
        none, zero = np.full(len(trace), -1), np.zeros(len(trace), dtype=np.int64)
        first = row * law.actions
        pairs = (
            (np.where(decays, first + only, none), np.where(made, first + at[1], none)),
            (rejections, (made & free & ~elsewhere).astype(np.int64)),
            (zero, gain),
            (none, np.where(elsewhere, after, none)),
        )
        entry, count, gains, target = (np.stack(pair, axis=1).ravel() for pair in pairs)
        changed = np.flatnonzero(entry >= 0)
        changes = np.sort(entry[changed] * len(entry) + changed).tolist()
        return cls(law.actions, entry, count, gains, target, changes)

    def __len__(self) -> int:
        """Return how many events there are, those that change nothing among them."""
        return len(self.entry)

    def of_row(self, row: int) -> range:
        """Return the entries of a row."""
        return range(row * self.actions, (row + 1) * self.actions)

    def last(self, entry: int, event: int) -> int:
        """Return the last event before `event` that changed an entry, or -1."""
        first = entry * len(self.entry)
        place = bisect_left(self.changes, first + event) - 1
        return self.changes[place] - first if place >= 0 and self.changes[place] >= first else -1

    def made_of(self, event: int) -> tuple[int, list[int]]:
        """Return the events that made the entry's value before, and the row's that it looks at."""
        own, target = int(self.entry[event]), int(self.target[event])
        others = [] if self.count[event] or target < 0 else list(self.of_row(target))
        return self.last(own, event), [self.last(part, event) for part in others]
