r"""Walks on several plateaus that share one row of Q, at any n.

On a plateau all objectives but its bridge are penalised both ways, and the bridge moves up only.
What the walk does there depends on the order of the shared row's entries, and that on their
values (`markov_lrsao.values.entries`). Slopes between the plateaus have rows of their own and are
machines (`markov_lrsao.values.slopes`); the shared row sees of them the largest entry of the row
at a plateau's lower end, which is 0 until that row has learnt its bridge, and an interval from then
on. A state is

    (position, milestones passed, words of slopes, entries, maxima below plateaus, orders).

A bridge that is the only greedy action on its plateau climbs in one step; on the last plateau
that is the end of the run. Slopes that are left downwards again with a negligible probability, or
never, hide what is below them; a run that falls through one all the same is lost.

A comparison that depends on climbs is answered by telling bits of them until the order is known:
one step with several outcomes. One that stays open after that is a choice. Either way the order of
the two residuals is known from then on, and stays known when the entries become intervals.

An interval may have swallowed a multiple of a climb that another entry still shows. A choice
within it would then say something about that climb, whose later bits would no longer be
independent of it: before anything is left open all other climbs become intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from flint import fmpq

from markov_lrsao.errors import CrossingError, Refused, attempt
from markov_lrsao.exact.series import Element, multiply
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.anywhere import Anywhere, bounds_anywhere
from markov_lrsao.values.entries import NO_ENTRY, UNORDERED, Climb, Entries, Grid
from markov_lrsao.values.options import CERTAIN, LOST, NOTHING, OPTIMUM, Ends, ends_of
from markov_lrsao.values.plateaus import Plateaus
from markov_lrsao.values.row_orders import RowOrders
from markov_lrsao.values.slope_ends import SlopeEnds, largest_gain
from markov_lrsao.values.slopes import TIMED, coupling_error, waiting
from markov_lrsao.values.ways import Told, Walk, Way, Ways, way_of
from markov_lrsao.values.word_lumps import Lumps, Words

__all__ = ["SharedRow"]

_DEPTHS = 12
_NEGLIGIBLE = 1e-9
"""Steps that falls through a slope may add to E[T] without being followed."""
_ROUNDED = 1e-12
"""More than sums of a few numbers are rounded by, relative to their parts."""
_MANY_ACTIONS, _SPARE = 5, 5e-3
"""With so many objectives, where enclosures are percents wide: this times n."""
_PRIMES = (3, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


class SharedRow:
    """The law of the walk; states are relaxed by one of several grids.

    Parameters
    ----------
    chance : whether bits of climbs come out by chance. Otherwise all outcomes are options: then
        what is bounded over all options is bounded for every value that a climb may have led to,
        and for all numbers of rejections at the top of a slope
    timed : whether slopes know how long passages took

    Attributes
    ----------
    alike : per slope groups of actions that need not be told apart above it, once it is hidden
    """

    def __init__(
        self,
        place: Plateaus,
        grids: Sequence[Grid],
        *,
        chance: bool = True,
        timed: bool = False,
    ) -> None:
        self.place, self.law, self.timed = place, place.law, timed
        self.slopes = place.timed_slopes if timed else place.slopes
        self._chance = chance
        p, self.n = place.parameters, place.law.n
        self.alpha, self.keep, self.lam = p.alpha, 1 - p.alpha, p.decay
        self.seen = p.alpha * p.gamma
        self.penalty = -p.alpha * p.r
        self.plateau = {q: i for i, (a, b) in enumerate(place.plateaus) for q in range(a, b + 1)}
        largest = fmpq(self.law.landscape.largest_gain) / (1 - p.gamma)
        marks = (-p.r / (1 - p.gamma), 1 / (1 - p.gamma), largest)
        denominator = int(p.alpha.q) * int(p.gamma.q) * int(p.r.q)
        if any(grid.residual for grid in grids):
            denominator *= int(self.lam.p)  # residuals are divided by powers of lam
        prime = next((q for q in _PRIMES if denominator % q), None)
        if prime is None:
            raise CrossingError("no prime below 100 is free for the grid of values")
        laws = (self.alpha, self.lam, p.alpha * p.r)
        self.values = Entries(self.n, laws, grids, fmpq(1, prime), marks, _DEPTHS)
        # A maximum that is seen is 0, or alpha gain + (1 - alpha) (less) + alpha gamma maximum.
        gains = [largest_gain(self.law, slope.last) for slope in self.slopes]
        self.anything = tuple(
            self.values.number(fmpq(-1, prime), gain + p.gamma * largest, closed=True)
            for gain in gains
        )
        self.orders = RowOrders(self.values, len(place.law.actions))
        anywhere = attempt(lambda: bounds_anywhere(place, self.slopes))
        self.anywhere: Anywhere | None = None if isinstance(anywhere, Refused) else anywhere
        self.ends = SlopeEnds(place, self.slopes, self.values, chance=chance)
        self.lumps = {kind: Lumps(self.slopes, self.ends.falls, kind) for kind in Words}
        self.alike = [self._exchangeable(h) for h in range(len(self.slopes))]
        self._hidden: dict[tuple[int, tuple[int, ...]], int] = {}
        self._greedy: dict[tuple[object, ...], tuple[list[tuple[int, ...]], bool]] = {}
        self._normal: dict[tuple[object, ...], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._moves: dict[tuple[int, tuple[int, ...]], list[tuple[int, int, bool, Ends]]] = {}
        self._times: dict[tuple[int, int], Element] = {}

    @property
    def longest(self) -> float | None:
        """A bound of E[steps left] in every state, if there is one."""
        return None if self.anywhere is None else self.anywhere.largest

    @property
    def apart(self) -> float:
        """How far E[T] of the walk may be from the truth, since slopes are nearly exact.

        Raises
        ------
        SolverError
        """
        merged = max(slope.merged for slope in self.slopes)
        return coupling_error(self.n, merged, self.longest or math.inf) if merged else 0.0

    def start(self) -> Walk:
        """Return the state in which runs begin."""
        slopes = len(self.slopes)
        zeros = (self.values.zero,) * len(self.law.actions)
        return Walk(0, 0, (0,) * slopes, zeros, (NO_ENTRY,) * slopes, self.orders.nothing)

    def normal(self, state: Walk, level: int) -> Walk:
        """Relax a state by a grid, and hide what cannot be met again.

        An order that intervals no longer show is written down; one that they show is not.
        """
        hidden = self.hidden(state)
        words = (0,) * hidden + self._lumped(state.words, level)[hidden:]
        above = (NO_ENTRY,) * hidden + state.above[hidden:]
        found = self.normal_row(state.entries, state.order, level, hidden)
        if self.values.grids[level].blunt:
            seen = (NO_ENTRY,) * hidden + self.anything[hidden:]
        else:
            seen = tuple(self.values.seen_again(v, level) for v in above)
        return Walk(state.position, state.phase, words, found[0], seen, found[1])

    def normal_row(
        self, entries: tuple[int, ...], order: tuple[int, ...], level: int, hidden: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Relax entries by a grid, where so many slopes are hidden."""
        key = (level, hidden, entries, order)
        found = self._normal.get(key)
        if found is None:
            relaxed = tuple(self.values.relaxed(v, level) for v in entries)
            known, final = self.orders.nothing, self._is_last(hidden)
            if final or self.values.grids[level].ordered:
                known = self.orders.carried(entries, order, relaxed)
            if self.values.grids[level].blunt:
                # Ties of intervals that were joined would not be transitive.
                known = tuple(sign or UNORDERED for sign in known)
            if final and self._chance:  # (tables are looked up among the nodes of the other walk)
                bridge = self.place.bridges[-1]
                relaxed, known = self.orders.without_dead(relaxed, known, bridge)
            groups = self.alike[hidden] if hidden else []
            found = self._normal[key] = self.orders.exchanged(groups, relaxed, known)
        return found

    def _lumped(self, words: tuple[int, ...], level: int) -> tuple[int, ...]:
        """Return words that stand for lumps of words."""
        kind = self.values.grids[level].words
        return words if kind == Words.EACH else self.lumps[kind].of(words)

    def _exchangeable(self, hidden: int) -> list[list[int]]:
        """Return groups of actions that are accepted and rewarded alike above a slope."""
        law, groups = self.law, dict[tuple[object, ...], list[int]]()
        left = [q for a, b in self.place.plateaus[hidden + 1 :] for q in range(a, b + 1)]
        for action in range(len(law.actions)):
            same = tuple(
                law.reward(q, action, d) if law.accepted[q, action, d] else None
                for q in left
                for d in (DOWN, UP)
            )
            groups.setdefault(same, []).append(action)
        return [group for group in groups.values() if len(group) > 1]

    def is_final(self, state: Walk) -> bool:
        """Whether the walk stays on the last plateau and the slope below it, or is lost."""
        return self._is_last(self.hidden(state))

    def _is_last(self, hidden: int) -> bool:
        return 0 < hidden == len(self.slopes) - 1

    def hidden(self, state: Walk) -> int:
        """Return how many slopes are as good as never met again."""
        key = (state.position, state.words)
        found = self._hidden.get(key)
        if found is None:
            found = 0
            for s in range(len(self.slopes) - 1, 0, -1):
                slope, word = self.slopes[s], state.words[s]
                inside = slope.words[word].entry == UP and state.position >= slope.last
                if inside and self.negligible(self.ends.falls[s][word], slope.first - 1):
                    found = s
                    break
            self._hidden[key] = found
        return found

    def negligible(self, probability: float, position: int) -> bool:
        """Whether runs need not be followed that come to a position with this probability."""
        if self.anywhere is None:
            return probability == 0
        many = len(self.law.actions) >= _MANY_ACTIONS
        left = probability * self.anywhere.upper[position]
        return left <= (_SPARE * self.n if many else _NEGLIGIBLE)

    def most_left(self, state: Walk) -> float:
        """Return a bound of E[steps left] in a state, from its position; 1 if there is none."""
        return 1.0 if self.anywhere is None else self.anywhere.upper[state.position]

    def most_left_to_lost(self, state: Walk) -> float:
        """Return the same for runs that are lost from a state: they fall through its slope."""
        assert self.anywhere is not None, "runs are lost only where what is left is bounded"
        return self.anywhere.upper[self.below(state)]

    def below(self, state: Walk) -> int:
        """Return the position to which a run falls that is lost from a state."""
        return self.slopes[self._slope_at(state)].first - 1

    def ways(self, state: Walk, level: int) -> list[Ways]:
        """Return the options of a state, each with what may happen.

        Targets are states that have not been relaxed, or `OPTIMUM`, or `LOST`.
        """
        if self.values.grids[level].words != Words.EACH:
            parted = self.parted(state, level)
            if parted is not None:
                return parted
        if state.position not in self.plateau:
            s = self._slope_at(state)
            lumps = self.lumps[self.values.grids[level].words]
            return [self._cross(state, level, s, word) for word in lumps.members(s, state.words[s])]
        found = self.choices(state, level)
        if isinstance(found, Told):
            return found.options
        return [self._step(chosen, group) for chosen, group in found]

    def choices(self, state: Walk, level: int) -> Told | list[tuple[Walk, tuple[int, ...]]]:
        """Return what is told before anything is chosen, or who may be greedy, each an option."""
        groups, tells = self.greedy(state)
        if tells:
            told = self._tell(state, groups, level)
            if self._chance or len(told.targets) == 1:
                return Told([told])
            return Told([Ways(told.steps, [Way(way.target, CERTAIN)]) for way in told.targets])
        if len(groups) == 1:
            return [(state, groups[0])]
        return [(self._chosen(state, groups, group), group) for group in groups]

    def parted(self, state: Walk, level: int) -> list[Ways] | None:
        """Return the options of a state with an entry of several depths; None: there is none."""
        for a, v in enumerate(state.entries):
            if len(self.values.parts(v)) > 1:
                return self._parted(state, a, level)
        return None

    def _parted(self, state: Walk, action: int, level: int) -> list[Ways]:
        """Choose the depth of an entry that may have several: then orders can be known of it.

        Its true depth is one of them, so that the truth is among the options; and whoever chooses
        must stay with it, so that less is open than if each comparison were left open. As before
        any choice, climbs that another entry shows become intervals first.
        """
        plain = self._without_climbs(state, level)
        if plain.entries != state.entries:
            return [Ways(NOTHING, [Way(plain, CERTAIN, untold=self.forgotten(state, plain))])]
        order = self.orders.without(state.order, action)
        return [
            Ways(
                NOTHING,
                [Way(state._replace(entries=_put(state.entries, action, x), order=order), CERTAIN)],
            )
            for x in self.values.parts(state.entries[action])
        ]

    def greedy(self, state: Walk) -> tuple[list[tuple[int, ...]], bool]:
        """Return the possible sets of greedy actions, and whether climbs are to be told first."""
        key = (state.entries, state.order)
        found = self._greedy.get(key)
        if found is None:
            found = self._greedy[key] = self._find_greedy(state)
        return found

    def _find_greedy(self, state: Walk) -> tuple[list[tuple[int, ...]], bool]:
        beaten: set[int] = set()
        ties: dict[int, list[int]] = {a: [a] for a in range(len(state.entries))}
        for a, b in self.orders.pairs:
            match self.compare(state, a, b):
                case 0:
                    ties[a].append(b)
                case 1:
                    beaten.add(b)
                case -1:
                    beaten.add(a)
        left = [a for a in ties if a not in beaten]
        groups: list[tuple[int, ...]] = []
        for a in left:
            if not any(a in group for group in groups):
                groups.append(tuple(b for b in ties[a] if b not in beaten))
        shows = any(self.values.climb[v] is not None for v in state.entries)
        return groups, len(groups) > 1 and shows

    def compare(self, state: Walk, a: int, b: int) -> int | None:
        """Return the sign of the difference of two entries; None: it is open."""
        return self.orders.compare(state.entries, state.order, a, b)

    def _tell(self, state: Walk, groups: list[tuple[int, ...]], level: int) -> Ways:
        """Tell the order of entries that may be the largest, as far as their climbs know it."""
        values = self.values
        left = [a for group in groups for a in group]
        asked = sorted(
            a
            for a in left
            if any(b != a and self.compare(state, min(a, b), max(a, b)) is None for b in left)
        )
        if not any(values.climb[state.entries[a]] is not None for a in asked):
            plain = self._without_climbs(state, level)
            return Ways(NOTHING, [Way(plain, CERTAIN, untold=self.forgotten(state, plain))])
        targets: list[Way] = []
        for way, after in self.told(state, asked):
            if any(self.compare(after, a, b) is None for a, b in combinations(asked, 2)):
                plain = self._without_climbs(after, level, asked)
                way = way._replace(target=plain, untold=self.forgotten(after, plain))
            targets.append(way)
        return Ways(NOTHING, targets)

    def forgotten(self, before: Walk, after: Walk) -> float:
        """Return a bound of the variance of untold steps that a relaxed state does not know of.

        Each climb belongs to one entry, and counts are independent.
        """
        had, has = (sorted(map(self.values.untold, state.entries)) for state in (before, after))
        return 0.0 if had == has else max(0.0, sum(had) - sum(has)) + _ROUNDED * sum(had)

    def untold(self, state: Walk) -> float:
        """Return a bound of the variance of all steps that a state's climbs have not told."""
        known = (v for v in (*state.entries, *state.above) if v != NO_ENTRY)
        return sum(map(self.values.untold, known)) * (1 + _ROUNDED)

    def told(self, state: Walk, asked: Sequence[int]) -> list[tuple[Way, Walk]]:
        """Return the ways in which the order of some entries may be told, and where they lead."""
        pairs = [self.orders.number[pair] for pair in combinations(asked, 2)]
        known = tuple(state.order[k] for k in pairs)
        found = []
        for outcome in self.values.orders(tuple(state.entries[a] for a in asked), known):
            entries, order = list(state.entries), list(state.order)
            for a, v in zip(asked, outcome.values, strict=True):
                entries[a] = v
            for k, sign in zip(pairs, outcome.order, strict=True):
                order[k] = sign
            after = state._replace(entries=tuple(entries), order=tuple(order))
            found.append((Way(after, outcome.probability, *outcome.late), after))
        return found

    def _without_climbs(self, state: Walk, level: int, some: Sequence[int] | None = None) -> Walk:
        """Return a state in which climbs, of some entries or of all, have become intervals."""
        grid = self.values.grids[level]
        entries = tuple(
            v
            if self.values.climb[v] is None or (some is not None and a not in some)
            else self.values.plain(v, grid, grid.climbs)
            for a, v in enumerate(state.entries)
        )
        order = self.orders.carried(state.entries, state.order, entries)
        return state._replace(entries=entries, order=order)

    def without_laws(self, state: Walk) -> list[Way]:
        """Tell all orders that climbs know, for a grid on which they will be intervals."""
        values = self.values
        shown = [a for a, v in enumerate(state.entries) if values.climb[v] is not None]
        asked = [
            a
            for a, v in enumerate(state.entries)
            if values.residual[v] is not None
            and any(
                values.residual[state.entries[b]] is not None
                and (a == b or values.residual_sign(v, state.entries[b]) is None)
                for b in shown
            )
        ]
        if len(asked) > 1:
            return [way for way, _ in self.told(state, asked)]
        return [Way(state, CERTAIN)]

    def _chosen(self, state: Walk, groups: list[tuple[int, ...]], chosen: tuple[int, ...]) -> Walk:
        """Return the state with the orders that follow from a choice."""
        order = list(state.order)
        others = [b for group in groups if group is not chosen for b in group]
        for a in chosen:
            for b in others:
                if self.orders.same_depth(state.entries[a], state.entries[b]):
                    order[self.orders.number[min(a, b), max(a, b)]] = 1 if a < b else -1
        return state._replace(order=tuple(order))

    def _step(self, state: Walk, actions: tuple[int, ...]) -> Ways:
        i = self.plateau[state.position]
        if actions == (self.place.bridges[i],):
            return self._climb(state, i)
        key = (state.position, actions)
        if key not in self._moves:
            self._moves[key] = self._proposals(state.position, actions)
        return Ways(
            CERTAIN,
            [
                Way(self._move(state, action, direction, accepted), share, share)
                for action, direction, accepted, share in self._moves[key]
            ],
        )

    def _proposals(self, p: int, actions: tuple[int, ...]) -> list[tuple[int, int, bool, Ends]]:
        return [
            (
                action,
                direction,
                bool(self.law.accepted[p, action, direction]),
                ends_of(fmpq(share, self.n * len(actions))),
            )
            for action in actions
            for direction, share in ((DOWN, p), (UP, self.n - p))
            if share
        ]

    def _move(self, state: Walk, action: int, direction: int, accepted: bool) -> Walk | int:
        """Propose one move on a plateau."""
        p, value, zero = state.position, state.entries[action], fmpq(0)
        q = p + 2 * direction - 1
        if not accepted:
            after = self.values.moved(value, self.lam, zero, None)
            return self.learnt(state, action, after, keeps=False)
        if q == self.n:
            return OPTIMUM
        gain = self.alpha * self.law.reward(p, action, direction)
        if q in self.plateau:
            after = self.values.moved(value, self.lam, gain, None)
            learnt = self.learnt(state, action, after, keeps=gain == self.penalty)
        else:
            above = state.above[self.plateau[p] - 1] if direction == DOWN else NO_ENTRY
            seen = None if above == NO_ENTRY else (above, self.seen)
            after = self.values.moved(value, self.keep, gain, seen)
            learnt = self.learnt(state, action, after, keeps=False)
        return self._arrive(learnt, q)

    def learnt(self, state: Walk, action: int, value: int, *, keeps: bool) -> Walk:
        """Return the state with a new entry; a penalty keeps its residual, one level deeper."""
        before, after = self.values.residual[state.entries[action]], self.values.residual[value]
        order = state.order
        if not (keeps and before and after and after.depth == before.depth + 1):
            order = self.orders.without(order, action)
        return state._replace(entries=_put(state.entries, action, value), order=order)

    def _climb(self, state: Walk, i: int) -> Ways:
        """Use a bridge until its plateau is left."""
        n, last = self.n, self.place.plateaus[i][1]
        time = self.time(state.position, last)
        steps = ends_of(time[1])
        if last + 1 == n:
            return Ways(steps, [Way(OPTIMUM, CERTAIN, steps, ends_of(time[2]))])
        after = self.climbed(state, i)
        return Ways(steps, [Way(self._arrive(after, last + 1), CERTAIN, steps, ends_of(time[2]))])

    def climbed(self, state: Walk, i: int) -> Walk:
        """Return the state, its position left as it is, after a bridge has left its plateau."""
        values, bridge, last = self.values, self.place.bridges[i], self.place.plateaus[i][1]
        start, first = state.entries[bridge], state.position
        if start == values.zero:  # rejections do not matter
            start, first = values.exactly(self.alpha), first + 1
        if first <= last:
            value = values.number(self.alpha, self.alpha, self.keep, Climb(last, first, start))
        else:
            value = values.exactly(self.alpha)
        return self.learnt(state, bridge, value, keeps=False)

    def time(self, first: int, last: int) -> Element:
        """Return the generating function of the steps of a climb, all of them counted at once."""
        if (first, last) not in self._times:
            time: Element = (fmpq(1), fmpq(0), fmpq(0))
            for q in range(first, last + 1):
                time = multiply(time, waiting(fmpq(q, self.n), TIMED))
            self._times[first, last] = time
        return self._times[first, last]

    def _cross(self, state: Walk, level: int, s: int, word: int) -> Ways:
        """Pass a slope, which sees no more of the shared row than its maximum."""
        slope = self.slopes[s]
        steps, weights = self.ends.passages(s, word)
        hides = s > 0 and self.hidden(state) == s
        targets: list[Way] = []
        for x, weight in zip(slope.words[word].passages, weights, strict=True):
            if x.side == DOWN and hides:
                targets.append(way_of(LOST, weight))
                continue
            after = state._replace(words=_put(state.words, s, x.word))
            if x.side == DOWN:
                targets.append(way_of(self._arrive(after, slope.first - 1), weight))
                continue
            above = state.above[s]
            for seen in self.ends.seen_above(state.entries, above, s, word, x.word, level):
                up = after._replace(above=_put(state.above, s, seen.entry))
                both = (
                    weight if seen.weight is None else multiply(weight, seen.weight[: len(weight)])
                )
                targets.append(way_of(self._arrive(up, slope.last + 1), both, seen.untold))
        return Ways(steps, targets)

    def _slope_at(self, state: Walk) -> int:
        for s, slope in enumerate(self.slopes):
            entry = slope.words[state.words[s]].entry
            if state.position == (slope.first if entry == DOWN else slope.last):
                return s
        raise CrossingError(f"no slope is entered at position {state.position}")

    def _arrive(self, state: Walk, position: int) -> Walk:
        passed = sum(m <= position for m in self.law.landscape.milestones)
        return state._replace(position=position, phase=max(state.phase, passed))


def _put(items: tuple[int, ...], i: int, item: int) -> tuple[int, ...]:
    return (*items[:i], item, *items[i + 1 :])
