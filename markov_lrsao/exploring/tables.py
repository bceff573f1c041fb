"""Tables of intervals: what an epsilon-greedy agent may know, on a grid.

The agent takes any action with probability epsilon, uniformly, else a greedy one. Its update

    q' = keep q + gain + bootstrap M,      M the largest entry of the row that it sees next,

needs M itself, since the chosen entry need not be the largest. Real tables have infinitely many
values. Here an entry is an interval whose ends are multiples of a width h, or lie strictly between
two of them; an update is rounded outwards. As keep + bootstrap < 1, entries stay bounded, and
finitely many tables are reachable. Every table that the agent can have is inside of the one that
rounding leads to.

Ends are integers: 2k is the point k h itself, 2k + 1 is what lies strictly between k h and
(k + 1) h. So "positive, but less than h" is (1, 1), and is known to be larger than 0, which is
(0, 0).

Where intervals overlap, the greedy action is open: `Explored.greedy` lists what it can be. If all
candidates are points and equal, the agent draws uniformly among them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import gcd, lcm
from typing import TypeAlias

from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.model.jumping_law import JumpingLaw
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress

__all__ = ["Explored", "Law", "State", "explore", "grid_width"]

Law: TypeAlias = StepLaw | JumpingLaw

State = tuple[int, tuple[int, ...]]
"""Position, and for every row and action the two ends of its entry."""


@dataclass
class Explored:
    """The reachable states of an abstraction.

    Attributes
    ----------
    states : in the order in which they were met; the first ones are the starts, by position
    greedy : of every state the actions that may be greedy
    tied : whether these are known to be equal, so that the agent draws among them
    moves : of every state and action (numerator, next state); -1 is the end of the run. What the
        numerators stand over is `Law.denominator_at` the position
    """

    law: Law
    width: fmpq
    states: list[State] = field(default_factory=list)
    greedy: list[list[int]] = field(default_factory=list)
    tied: list[bool] = field(default_factory=list)
    moves: list[list[list[tuple[int, int]]]] = field(default_factory=list)

    @property
    def decided(self) -> bool:
        """Whether no greedy action is open: then the abstraction is the chain itself."""
        return all(self.tied)


def grid_width(law: Law) -> fmpq:
    """Return the largest width of which all gains are multiples."""
    gains = {abs(gain) for gain in law.gains if gain}
    if not gains:
        return fmpq(1)
    below = lcm(*(int(g.q) for g in gains))
    return fmpq(gcd(*(int(g * below) for g in gains)), below)


def explore(
    law: Law,
    width: fmpq,
    begin: list[int],
    stop: frozenset[int],
    *,
    largest: int,
    progress: Progress = no_progress,
) -> Explored:
    """Return all states that can be reached from fresh tables at the positions `begin`.

    Parameters
    ----------
    stop : positions at which a run ends
    largest : refuse more states

    Raises
    ------
    StateSpaceTooLargeError
    """
    step = _Step(law, width, stop)
    found = Explored(law, width)
    fresh = (0,) * (2 * len(law.actions) * step.rows)
    index: dict[State, int] = {}

    def number(state: State) -> int:
        known = index.get(state)
        if known is None:
            known = index[state] = len(found.states)
            found.states.append(state)
        return known

    for p in begin:
        number((p, fresh))
    with progress("exploring tables") as bar:
        done = 0
        while done < len(found.states):
            if len(found.states) > largest:
                raise StateSpaceTooLargeError(
                    f"{law.algorithm.name}: with Q-entries rounded to multiples of "
                    f"{width} there are more than {largest:,} states; raise `max_states`"
                )
            greedy, tied, moves = step.of(found.states[done], number)
            found.greedy.append(greedy)
            found.tied.append(tied)
            found.moves.append(moves)
            done += 1
            if done % 1000 == 0:
                bar.advance(1000)
    return found


class _Step:
    """One step on tables of intervals, in integers."""

    def __init__(self, law: Law, width: fmpq, stop: frozenset[int]) -> None:
        algorithm = law.algorithm
        self.actions, self.stop = len(law.actions), stop
        self.explores = algorithm.epsilon != 0
        rows = dict.fromkeys(law.row.tolist())
        place = {row: i for i, row in enumerate(rows)}
        self.row = [place[row] for row in law.row.tolist()]
        self.rows = len(rows)
        every = range(self.actions)
        moves = [[law.moves(p, a) for a in every] for p in range(law.n + 1)]
        gains = {gain for line in moves for some in line for _, _, gain in some}
        numbers = (algorithm.keep, algorithm.bootstrap, *(gain / width for gain in gains))
        self.scale = lcm(*(int(x.q) for x in numbers))
        self.keep = int(algorithm.keep * self.scale)
        self.bootstrap = int(algorithm.bootstrap * self.scale)
        self.moves = [
            [[(w, to, int(gain / width * self.scale)) for w, to, gain in some] for some in line]
            for line in moves
        ]

    def of(
        self, state: State, number: Callable[[State], int]
    ) -> tuple[list[int], bool, list[list[tuple[int, int]]]]:
        """Return what may be greedy, whether that is a tie, and where every action leads."""
        p, table = state
        width = 2 * self.actions
        begin = self.row[p] * width
        lows, highs = table[begin : begin + width : 2], table[begin + 1 : begin + width : 2]
        largest = max(lows)
        greedy = [a for a in range(self.actions) if highs[a] >= largest]
        points = all(lows[a] == highs[a] and not lows[a] & 1 for a in greedy)
        moves = []
        for a in range(self.actions):
            out: list[tuple[int, int]] = []
            moves.append(out)
            for chance, q, gain in self.moves[p][a] if self.explores or a in greedy else ():
                if q in self.stop:
                    out.append((chance, -1))
                    continue
                seen = self.row[q] * width
                low, high = self._updated(
                    lows[a], highs[a], gain,
                    max(table[seen : seen + width : 2]), max(table[seen + 1 : seen + width : 2]),
                )  # fmt: skip
                at = begin + 2 * a
                after = (q, (*table[:at], low, high, *table[at + 2 :]))
                out.append((chance, number(after)))
        return greedy, len(greedy) == 1 or points, moves

    def _updated(self, low: int, high: int, gain: int, least: int, most: int) -> tuple[int, int]:
        """Return keep q + gain + bootstrap M for q and M in intervals, rounded outwards.

        An odd lower end 2k + 1 stands for k, an odd upper end 2k - 1 for k; neither is reached.
        """
        keep, bootstrap, scale = self.keep, self.bootstrap, self.scale
        below = keep * (low >> 1) + gain + bootstrap * (least >> 1)
        open_below = (low & 1 and keep) or (least & 1 and bootstrap)
        above = keep * ((high + 1) >> 1) + gain + bootstrap * ((most + 1) >> 1)
        open_above = (high & 1 and keep) or (most & 1 and bootstrap)
        floor, rest = divmod(below, scale)
        ceiling, lack = -(-above // scale), above % scale
        return 2 * floor + bool(rest or open_below), 2 * ceiling - bool(lack or open_above)
