r"""What a shared row has to do with the slopes between its plateaus.

A slope is passed at once (`markov_lrsao.values.slopes`). It sees the maximum of the shared row when
the walk leaves its topmost position upwards, and the plateau above sees the largest entry of that
position's row: 0 until it has learnt, and from then on, when it is left once more,

    alpha reward + (1 - alpha) lam^N (what it was) + alpha gamma (maximum of the shared row),

N rejections later. All of this weighs alpha gamma, and intervals will do.

The N rejections are steps of the passage. As with climbs (`markov_lrsao.values.entries`), a timed
passage counts them beforehand, and one more has the share b z of its weight, none 1 - b z.
"""

from __future__ import annotations

from typing import NamedTuple

from flint import arb, arb_mat, fmpq

from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.series import Element, multiply
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.values.entries import NO_ENTRY, Climb, Entries, Range
from markov_lrsao.values.options import Ends, ends_of, times
from markov_lrsao.values.plateaus import Plateaus
from markov_lrsao.values.slopes import Slope

__all__ = ["Seen", "SlopeEnds", "largest_gain"]

_MOST_REJECTIONS = 6


class Seen(NamedTuple):
    """A maximum that is seen, its share of the passage's weight (None: all), and untold steps.

    `untold` is a bound of the variance of rejections about which nothing is known.
    """

    entry: int
    weight: Element | None
    untold: float = 0.0


class SlopeEnds:
    """Passages through slopes, and what is seen of them.

    Parameters
    ----------
    chance : whether numbers of rejections come out by chance; otherwise what is seen holds for all

    Attributes
    ----------
    falls : per slope and word a bound of the probability of ever leaving it downwards again
    """

    def __init__(
        self, place: Plateaus, slopes: tuple[Slope, ...], values: Entries, *, chance: bool
    ) -> None:
        self._slopes, self._law = slopes, place.law
        self._values, self._chance = values, chance
        p, self._n = place.parameters, place.law.n
        self._alpha, self._keep, self._lam = p.alpha, 1 - p.alpha, p.decay
        self._seen = p.alpha * p.gamma
        self.falls = [_falls(slope) for slope in slopes]
        self._passed: dict[tuple[int, int], tuple[Ends, list[Element]]] = {}
        self._tops: dict[tuple[object, ...], list[Seen]] = {}
        self._largest: dict[tuple[int, ...], Range] = {}

    def passages(self, s: int, word: int) -> tuple[Ends, list[Element]]:
        """Return E[steps] of a passage, and the weights of its ways as balls."""
        if (s, word) not in self._passed:
            passages = self._slopes[s].words[word].passages
            steps = ends_of(sum((x.steps for x in passages), arb(0)))
            self._passed[s, word] = (steps, [tuple(map(arb, x.weight)) for x in passages])
        return self._passed[s, word]

    def seen_above(
        self, entries: tuple[int, ...], above: int, s: int, before: int, after: int, level: int
    ) -> list[Seen]:
        """Return what the plateau above a slope sees of it after an exit upwards.

        Parameters
        ----------
        entries, above : the shared row, and what was seen before
        before, after : words of the slope
        """
        slope = self._slopes[s]
        action = slope.learnt[after]
        if action is None:
            return [Seen(NO_ENTRY, None)]
        waits = slope.learnt[before] is not None and slope.words[before].entry == UP
        return self.seen_after(entries, above if waits else NO_ENTRY, s, action, level)

    def seen_after(
        self, entries: tuple[int, ...], old: int, s: int, action: int, level: int
    ) -> list[Seen]:
        """Return the same where the topmost row keeps an action, which was worth `old` before."""
        law, top = self._law, self._slopes[s].last
        if law.accepted[top, action, DOWN] or not law.accepted[top, action, UP]:
            # Its entry would depend on how often the walk fell back below the top, and so would
            # what the slope's rows are: choices would tell more than words do.
            raise CrossingError(f"position {top} keeps an action that may also move down")
        key = (level, s, action, old, entries)
        if key not in self._tops:
            gain = self._alpha * law.reward(top, action, UP)
            seen = Range(gain, gain, True, True).plus(self._maximum(entries), self._seen)
            self._tops[key] = self._waited(seen, old, top, level)
        return self._tops[key]

    def _waited(self, seen: Range, old: int, top: int, level: int) -> list[Seen]:
        """Return the maximum after rejections at the top, told as long as they matter."""
        values = self._values
        if old == NO_ENTRY:
            return [Seen(values.seen(seen, level), None)]
        found, factor = list[Seen](), self._keep
        left: Element = (arb(1), arb(0), arb(0))
        rejected, accepted = values.bits(top)
        within = values.range[old]
        largest = max(abs(within.lower), abs(within.upper))
        most = _MOST_REJECTIONS if self._chance else 0
        while 2 * factor * largest >= values.grids[level].seen and len(found) < most:
            once = values.seen(seen.plus(within, factor), level)
            found.append(Seen(once, multiply(left, accepted)))
            left, factor = multiply(left, rejected), factor * self._lam
        rest = values.seen(seen.plus(values.spread(Climb(top, top, old)), factor), level)
        untold = values.untold(values.number(fmpq(0), fmpq(0), fmpq(1), Climb(top, top, old)))
        found.append(Seen(rest, left, untold))
        return found

    def _maximum(self, entries: tuple[int, ...]) -> Range:
        """Return where the largest of some entries lies."""
        if entries not in self._largest:
            ranges = [self._values.range[v] for v in entries]
            low, high = max(r.lower for r in ranges), max(r.upper for r in ranges)
            with_low = all(r.with_lower for r in ranges if r.lower == low)
            with_high = any(r.with_upper for r in ranges if r.upper == high)
            self._largest[entries] = Range(low, high, with_low, with_high)
        return self._largest[entries]


def largest_gain(law: StepLaw, position: int) -> fmpq:
    """Return the largest reward of an action that a slope's topmost row may keep; 0: of none."""
    return max(
        (
            law.reward(position, a, UP)
            for a in range(len(law.actions))
            if law.accepted[position, a, UP] and not law.accepted[position, a, DOWN]
        ),
        default=fmpq(0),
    )


def _falls(slope: Slope) -> list[float]:
    """Return, per word, a bound of the probability that the slope is ever left downwards again.

    The walk comes back from above as often as it likes.
    """
    live = [w for w, word in enumerate(slope.words) if word.entry == UP and slope.falls[w]]
    found = [0.0 if word.entry == UP else 1.0 for word in slope.words]
    if not live:
        return found
    number = {w: i for i, w in enumerate(live)}
    size = len(live)
    stays = arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    down = arb_mat(size, 1, [0] * size)
    for w, i in number.items():
        for x in slope.words[w].passages:
            if x.side == DOWN:
                down[i, 0] += x.chance
            elif x.word in number:
                stays[i, number[x.word]] -= x.chance
    bounds = stays.solve(down)
    for w, i in number.items():
        found[w] = times(float(bounds[i, 0].upper()))
    return found
