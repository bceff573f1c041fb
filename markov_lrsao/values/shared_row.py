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

from collections.abc import Sequence
from functools import cmp_to_key
from itertools import combinations
from typing import NamedTuple

from flint import fmpq

from markov_lrsao.errors import CrossingError, Refused, attempt
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.entries import NO_ENTRY, UNORDERED, Climb, Entries, Grid
from markov_lrsao.values.options import CERTAIN, LOST, OPTIMUM, Ends, ends_of, product
from markov_lrsao.values.plateaus import Plateaus
from markov_lrsao.values.slope_ends import SlopeEnds
from markov_lrsao.values.straight_up import steps_straight_up
from markov_lrsao.values.word_lumps import Lumps, Words

__all__ = ["SharedRow", "Walk", "Ways", "coarse_grid", "grids", "lumped_grids"]

_DEPTHS = 12
_NEGLIGIBLE = 1e-9
"""Steps that falls through a slope may add to E[T] without being followed."""
_MANY_ACTIONS, _SPARE = 5, 5e-3
"""With so many objectives, where enclosures are percents wide: this times n."""
_QUARTER = fmpq(1, 4)
_PRIMES = (3, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


class Walk(NamedTuple):
    """A state; `order` has, per pair of entries, what is known of their residuals beside values."""

    position: int
    phase: int
    words: tuple[int, ...]
    entries: tuple[int, ...]
    above: tuple[int, ...]
    order: tuple[int, ...]


class Ways(NamedTuple):
    """What may happen if an open comparison turns out in one way: E[steps], and where to."""

    steps: Ends
    targets: list[tuple[Walk | int, Ends]]


def coarse_grid(n: int, mesh: fmpq = _QUARTER) -> Grid:
    """Return a grid with one mesh for everything."""
    return Grid(mesh, mesh, min(mesh * n, _QUARTER), True, 14 * _digits(n))


def grids(n: int) -> list[Grid]:
    """Return grids from the loosest to the finest.

    All but the last forget what was told of a climb, beside the order. The first two follow no
    climbs, or hardly any.
    """
    short, long = 4 * _digits(n), 14 * _digits(n)
    one, fine = fmpq(1), fmpq(1, 1 << 16)
    return [
        Grid(one, one, one, False, short // 2),
        Grid(_QUARTER, _QUARTER, _QUARTER, False, short),
        Grid(fmpq(1, 64), _QUARTER, _QUARTER, False, short),
        Grid(fine, fmpq(1, 1 << 12), min(fine * n, _QUARTER), True, long),
    ]


def lumped_grids(n: int) -> list[Grid]:
    """Return grids on which words of slopes are lumped, from the loosest to the finest.

    The first two know of entries little more than their depths: they have few states.
    """
    short, no_mesh = 4 * _digits(n), fmpq(1 << 20)
    rough = (no_mesh, no_mesh, no_mesh, False, short // 4)
    return [
        Grid(*rough, Words.SIDES, blunt=True, ordered=False),
        Grid(*rough, Words.KINDS, ordered=False),
        Grid(*rough, Words.KINDS),
        Grid(_QUARTER, _QUARTER, _QUARTER, False, short, Words.SIGNS),
        Grid(fmpq(1, 64), _QUARTER, _QUARTER, False, short),
    ]


def _digits(n: int) -> int:
    return max(8, (5 * (n + 1)).bit_length())


class SharedRow:
    """The law of the walk; states are relaxed by one of several grids.

    Parameters
    ----------
    chance : whether bits of climbs come out by chance. Otherwise all outcomes are options: then
        what is bounded over all options is bounded for every value that a climb may have led to,
        and for all numbers of rejections at the top of a slope
    """

    def __init__(self, place: Plateaus, grids: Sequence[Grid], *, chance: bool = True) -> None:
        self.place, self.law, self.slopes = place, place.law, place.slopes
        self._chance = chance
        p, self.n = place.parameters, place.law.n
        self.alpha, self.keep, self.lam = p.alpha, 1 - p.alpha, p.decay
        self._seen = p.alpha * p.gamma
        self._penalty = -p.alpha * p.r
        self.plateau = {q: i for i, (a, b) in enumerate(place.plateaus) for q in range(a, b + 1)}
        largest = fmpq(self.law.landscape.largest_gain) / (1 - p.gamma)
        marks = (-p.r / (1 - p.gamma), 1 / (1 - p.gamma), largest)
        denominator = int(p.alpha.q) * int(p.gamma.q) * int(p.r.q)
        prime = next((q for q in _PRIMES if denominator % q), None)
        if prime is None:
            raise CrossingError("no prime below 100 is free for the grid of values")
        laws = (self.alpha, self.lam, p.alpha * p.r)
        self.values = Entries(self.n, laws, grids, fmpq(1, prime), marks, _DEPTHS)
        # A maximum that is seen is 0, or alpha gain + (1 - alpha) (less) + alpha gamma maximum.
        gains = [self._largest_gain(slope.last) for slope in self.slopes]
        self._anything = tuple(
            self.values.number(fmpq(-1, prime), gain + p.gamma * largest, closed=True)
            for gain in gains
        )
        self._dead = self.values.dead
        self.pairs = list(combinations(range(len(place.law.actions)), 2))
        self._pair = {pair: k for k, pair in enumerate(self.pairs)}
        self._unordered = (UNORDERED,) * len(self.pairs)
        longest = attempt(lambda: steps_straight_up(place))
        self.longest = None if isinstance(longest, Refused) else longest
        self._ends = SlopeEnds(place, self.values, chance=chance)
        self._lumps = {kind: Lumps(self.slopes, self._ends.falls, kind) for kind in Words}
        self._alike = [self._exchangeable(h) for h in range(len(self.slopes))]
        self._hidden: dict[tuple[int, tuple[int, ...]], int] = {}
        self._greedy: dict[tuple[object, ...], tuple[list[tuple[int, ...]], bool]] = {}
        self._normal: dict[tuple[object, ...], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._moves: dict[tuple[int, tuple[int, ...]], list[tuple[int, int, bool, Ends]]] = {}

    def _largest_gain(self, position: int) -> fmpq:
        law = self.law
        return max(
            (
                law.reward(position, a, UP)
                for a in range(len(law.actions))
                if law.accepted[position, a, UP] and not law.accepted[position, a, DOWN]
            ),
            default=fmpq(0),
        )

    def start(self) -> Walk:
        """Return the state in which runs begin."""
        slopes = len(self.slopes)
        zeros = (self.values.zero,) * len(self.law.actions)
        return Walk(0, 0, (0,) * slopes, zeros, (NO_ENTRY,) * slopes, self._unordered)

    def normal(self, state: Walk, level: int) -> Walk:
        """Relax a state by a grid, and hide what cannot be met again.

        An order that intervals no longer show is written down; one that they show is not.
        """
        hidden = self.hidden(state)
        words = (0,) * hidden + self._lumped(state.words, level)[hidden:]
        above = (NO_ENTRY,) * hidden + state.above[hidden:]
        key = (level, hidden, state.entries, state.order)
        found = self._normal.get(key)
        if found is None:
            relaxed = tuple(self.values.relaxed(v, level) for v in state.entries)
            order, final = self._unordered, self.is_final(state)
            if final or self.values.grids[level].ordered:
                order = self._carried(state.entries, state.order, relaxed)
            if self.values.grids[level].blunt:
                # Ties of intervals that were joined would not be transitive.
                order = tuple(sign or UNORDERED for sign in order)
            if final and self._chance:  # (tables are looked up among the nodes of the other walk)
                relaxed, order = self._without_dead(relaxed, order)
            found = self._sorted(hidden, relaxed, order)
            self._normal[key] = found
        if self.values.grids[level].blunt:
            seen = (NO_ENTRY,) * hidden + self._anything[hidden:]
        else:
            seen = tuple(self.values.seen_again(v, level) for v in above)
        return Walk(state.position, state.phase, words, found[0], seen, found[1])

    def _without_dead(
        self, entries: tuple[int, ...], order: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Forget entries below that of the last bridge, on whose plateau the walk is for good.

        They are never the largest again: the first use of the bridge ends the run, and until
        then neither its entry changes nor theirs.
        """
        bridge, found = self.place.bridges[-1], list(entries)
        for a in range(len(entries)):
            if a != bridge:
                pair = (min(a, bridge), max(a, bridge))
                sign = self._compared(entries, order, *pair)
                if sign is not None and sign * (1 if a < bridge else -1) < 0:
                    found[a] = self._dead
        if self._dead not in found:
            return entries, order
        kept = (
            UNORDERED if self._dead in (found[a], found[b]) else sign
            for (a, b), sign in zip(self.pairs, order, strict=True)
        )
        return tuple(found), tuple(kept)

    def _lumped(self, words: tuple[int, ...], level: int) -> tuple[int, ...]:
        """Return words that stand for lumps of words."""
        kind = self.values.grids[level].words
        return words if kind == Words.EACH else self._lumps[kind].of(words)

    def _carried(
        self, before: tuple[int, ...], order: tuple[int, ...], after: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Return the orders of entries that were relaxed."""
        values, found = self.values, []
        for k, (a, b) in enumerate(self.pairs):
            one, other = after[a], after[b]
            if not self._has_open_order(one, other):
                found.append(UNORDERED)
            elif order[k] != UNORDERED:
                found.append(order[k])
            elif values.residual[before[a]] is None or values.residual[before[b]] is None:
                found.append(UNORDERED)
            else:
                sign = values.residual_sign(before[a], before[b])
                found.append(UNORDERED if sign is None else sign)
        return tuple(found)

    def _has_open_order(self, one: int, other: int) -> bool:
        """Whether two entries have residuals whose order values do not tell."""
        values = self.values
        if values.residual[one] is None or values.residual[other] is None:
            return False
        return values.residual_sign(one, other) is None

    def _sorted(
        self, hidden: int, entries: tuple[int, ...], order: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Exchange actions that are alike wherever the walk can still come."""
        groups = self._alike[hidden] if hidden else []
        if not groups:
            return entries, order

        def compare(a: int, b: int) -> int:
            sign = self._ordered(order, a, b)
            return entries[a] - entries[b] or (0 if sign == UNORDERED else sign)

        put = list(range(len(entries)))
        for group in groups:
            for a, b in zip(group, sorted(group, key=cmp_to_key(compare)), strict=True):
                put[a] = b
        exchanged = tuple(self._ordered(order, put[a], put[b]) for a, b in self.pairs)
        return tuple(entries[b] for b in put), exchanged

    def _ordered(self, order: tuple[int, ...], a: int, b: int) -> int:
        """Return what is known of the order of two entries."""
        if a < b:
            return order[self._pair[a, b]]
        sign = order[self._pair[b, a]]
        return sign if sign == UNORDERED else -sign

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
        return 0 < self.hidden(state) == len(self.slopes) - 1

    def hidden(self, state: Walk) -> int:
        """Return how many slopes are as good as never met again."""
        key = (state.position, state.words)
        found = self._hidden.get(key)
        if found is None:
            found = 0
            for s in range(len(self.slopes) - 1, 0, -1):
                slope, word = self.slopes[s], state.words[s]
                inside = slope.words[word].entry == UP and state.position >= slope.last
                if inside and self._negligible(self._ends.falls[s][word]):
                    found = s
                    break
            self._hidden[key] = found
        return found

    def _negligible(self, probability: float) -> bool:
        if self.longest is None:
            return probability == 0
        many = len(self.law.actions) >= _MANY_ACTIONS
        return probability * self.longest <= (_SPARE * self.n if many else _NEGLIGIBLE)

    def ways(self, state: Walk, level: int) -> list[Ways]:
        """Return the options of a state, each with what may happen.

        Targets are states that have not been relaxed, or `OPTIMUM`, or `LOST`.
        """
        if self.values.grids[level].words != Words.EACH:
            for a, v in enumerate(state.entries):
                if len(self.values.parts(v)) > 1:
                    return self._parted(state, a)
        if state.position not in self.plateau:
            s = self._slope_at(state)
            lumps = self._lumps[self.values.grids[level].words]
            return [self._cross(state, level, s, word) for word in lumps.members(s, state.words[s])]
        groups, tells = self.greedy(state)
        if tells:
            told = self._tell(state, groups, level)
            if self._chance or len(told.targets) == 1:
                return [told]
            return [Ways(told.steps, [(target, CERTAIN)]) for target, _ in told.targets]
        if len(groups) == 1:
            return [self._step(state, groups[0])]
        return [self._step(self._chosen(state, groups, group), group) for group in groups]

    def _parted(self, state: Walk, action: int) -> list[Ways]:
        """Choose the depth of an entry that may have several: then orders can be known of it.

        Its true depth is one of them, so that the truth is among the options; and whoever chooses
        must stay with it, so that less is open than if each comparison were left open.
        """
        order = self._forgotten(state.order, action)
        return [
            Ways(
                (0.0, 0.0),
                [(state._replace(entries=_put(state.entries, action, x), order=order), CERTAIN)],
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
        for a, b in self.pairs:
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
        return self._compared(state.entries, state.order, a, b)

    def _compared(
        self, entries: tuple[int, ...], order: tuple[int, ...], a: int, b: int
    ) -> int | None:
        one, other = entries[a], entries[b]
        sign = self.values.sign(one, other)
        if sign is None:
            known = order[self._pair[a, b]]
            if known != UNORDERED and self._same_depth(one, other):
                return known
        return sign

    def _same_depth(self, one: int, other: int) -> bool:
        x, y = self.values.residual[one], self.values.residual[other]
        return x is not None and y is not None and x.depth == y.depth

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
            return Ways((0.0, 0.0), [(self._without_climbs(state, level), CERTAIN)])
        targets: list[tuple[Walk | int, Ends]] = []
        for after, probability in self.told(state, asked):
            found = after
            if any(self.compare(after, a, b) is None for a, b in combinations(asked, 2)):
                found = self._without_climbs(after, level, asked)
            targets.append((found, probability))
        return Ways((0.0, 0.0), targets)

    def told(self, state: Walk, asked: Sequence[int]) -> list[tuple[Walk, Ends]]:
        """Return the state after the order of some entries was told, with probabilities."""
        pairs = [self._pair[pair] for pair in combinations(asked, 2)]
        known = tuple(state.order[k] for k in pairs)
        found = []
        for outcome in self.values.orders(tuple(state.entries[a] for a in asked), known):
            entries, order = list(state.entries), list(state.order)
            for a, v in zip(asked, outcome.values, strict=True):
                entries[a] = v
            for k, sign in zip(pairs, outcome.order, strict=True):
                order[k] = sign
            after = state._replace(entries=tuple(entries), order=tuple(order))
            found.append((after, outcome.probability))
        return found

    def _without_climbs(self, state: Walk, level: int, some: Sequence[int] | None = None) -> Walk:
        """Return a state in which climbs, of some entries or of all, have become intervals."""
        mesh = self.values.grids[level].climbs
        entries = tuple(
            v
            if self.values.climb[v] is None or (some is not None and a not in some)
            else self.values.plain(v, mesh)
            for a, v in enumerate(state.entries)
        )
        order = self._carried(state.entries, state.order, entries)
        return state._replace(entries=entries, order=order)

    def without_laws(self, state: Walk) -> list[tuple[Walk, Ends]]:
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
        return self.told(state, asked) if len(asked) > 1 else [(state, CERTAIN)]

    def _chosen(self, state: Walk, groups: list[tuple[int, ...]], chosen: tuple[int, ...]) -> Walk:
        """Return the state with the orders that follow from a choice."""
        order = list(state.order)
        others = [b for group in groups if group is not chosen for b in group]
        for a in chosen:
            for b in others:
                if self._same_depth(state.entries[a], state.entries[b]):
                    order[self._pair[min(a, b), max(a, b)]] = 1 if a < b else -1
        return state._replace(order=tuple(order))

    def _forgotten(self, order: tuple[int, ...], action: int) -> tuple[int, ...]:
        """Return orders after an entry got a new residual."""
        if order == self._unordered:
            return order
        return tuple(
            UNORDERED if action in pair else sign
            for pair, sign in zip(self.pairs, order, strict=True)
        )

    def _step(self, state: Walk, actions: tuple[int, ...]) -> Ways:
        i = self.plateau[state.position]
        if actions == (self.place.bridges[i],):
            return self._climb(state, i)
        key = (state.position, actions)
        if key not in self._moves:
            self._moves[key] = self._proposals(state.position, actions)
        targets: list[tuple[Walk | int, Ends]] = []
        for action, direction, accepted, share in self._moves[key]:
            targets.append((self._move(state, action, direction, accepted), share))
        return Ways(CERTAIN, targets)

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
            return self._learnt(state, action, after, keeps=False)
        if q == self.n:
            return OPTIMUM
        gain = self.alpha * self.law.reward(p, action, direction)
        if q in self.plateau:
            after = self.values.moved(value, self.lam, gain, None)
            learnt = self._learnt(state, action, after, keeps=gain == self._penalty)
        else:
            above = state.above[self.plateau[p] - 1] if direction == DOWN else NO_ENTRY
            seen = None if above == NO_ENTRY else (above, self._seen)
            after = self.values.moved(value, self.keep, gain, seen)
            learnt = self._learnt(state, action, after, keeps=False)
        return self._arrive(learnt, q)

    def _learnt(self, state: Walk, action: int, value: int, *, keeps: bool) -> Walk:
        """Return the state with a new entry; a penalty keeps its residual, one level deeper."""
        before, after = self.values.residual[state.entries[action]], self.values.residual[value]
        order = state.order
        if not (keeps and before and after and after.depth == before.depth + 1):
            order = self._forgotten(order, action)
        return state._replace(entries=_put(state.entries, action, value), order=order)

    def _climb(self, state: Walk, i: int) -> Ways:
        """Use a bridge until its plateau is left."""
        n, bridge, last = self.n, self.place.bridges[i], self.place.plateaus[i][1]
        steps = ends_of(sum((fmpq(n, n - q) for q in range(state.position, last + 1)), fmpq(0)))
        if last + 1 == n:
            return Ways(steps, [(OPTIMUM, CERTAIN)])
        values, start, first = self.values, state.entries[bridge], state.position
        if start == values.zero:  # rejections do not matter
            start, first = values.exactly(self.alpha), first + 1
        if first <= last:
            value = values.number(self.alpha, self.alpha, self.keep, Climb(last, first, start))
        else:
            value = values.exactly(self.alpha)
        after = self._learnt(state, bridge, value, keeps=False)
        return Ways(steps, [(self._arrive(after, last + 1), CERTAIN)])

    def _cross(self, state: Walk, level: int, s: int, word: int) -> Ways:
        """Pass a slope, which sees no more of the shared row than its maximum."""
        slope = self.slopes[s]
        steps, shares = self._ends.passages(s, word)
        hides = s > 0 and self.hidden(state) == s
        targets: list[tuple[Walk | int, Ends]] = []
        for x, share in zip(slope.words[word].passages, shares, strict=True):
            if x.side == DOWN and hides:
                targets.append((LOST, share))
                continue
            after = state._replace(words=_put(state.words, s, x.word))
            if x.side == DOWN:
                targets.append((self._arrive(after, slope.first - 1), share))
                continue
            above = state.above[s]
            for seen, part in self._ends.seen_above(state.entries, above, s, word, x.word, level):
                up = after._replace(above=_put(state.above, s, seen))
                both = share if part == CERTAIN else product(share, part)
                targets.append((self._arrive(up, slope.last + 1), both))
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
