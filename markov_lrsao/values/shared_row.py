r"""Walks on several plateaus that share one row of Q, at any n.

On a plateau all objectives but its bridge are penalised both ways, and the bridge moves up only.
What the walk does there depends on the order of the shared row's entries, and that on their
values: forms in unknown climbs (`markov_lrsao.values.climbs`). Slopes between the plateaus have
rows of their own and are machines (`markov_lrsao.values.slopes`); the shared row sees of them the
largest entry of the row at a plateau's lower end, which is 0 until that row has learnt its
bridge, and a form from then on. A state is

    (position, milestones passed, entries, words of slopes, maxima below plateaus, unknowns).

A bridge that is the only greedy action on its plateau climbs in one step; on the last plateau
that is the end of the run. Slopes that can never be left downwards again hide what is below them.
A comparison that depends on an unknown is answered by telling one bit of it; one that stays open
after relaxation is a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

from flint import fmpq

from markov_lrsao.errors import CrossingError, StateSpaceTooLargeError
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.values.climbs import (
    EXACTLY_ZERO,
    Form,
    Grid,
    Range,
    Unknown,
    add,
    affine,
    exactly,
    spread,
    substitute,
)
from markov_lrsao.values.options import OPTIMUM, Option, edges_of
from markov_lrsao.values.plateaus import Plateaus

__all__ = ["SharedRow", "Walk"]

_LEVELS = 12
_LOOK_AROUND = 2_000
_PRIMES = (3, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


class Walk(NamedTuple):
    """A state; `above` has, per slope, the maximum seen from above it, None: it is 0."""

    position: int
    phase: int
    entries: tuple[Form, ...]
    words: tuple[int, ...]
    above: tuple[Form | None, ...]
    unknowns: tuple[Unknown, ...]


class _Way(NamedTuple):
    target: Walk | None
    probability: Any
    steps: Any


class SharedRow:
    """The walk with a mesh: explored, a finite system of options.

    Parameters
    ----------
    chance : whether bits of climbs come out by chance. Otherwise both ways are options: then what
        is bounded over all options is bounded for every value that a climb may have led to

    Attributes
    ----------
    states, options : what was found; options are grouped by owner, in its order
    cut : states that were met and not looked at; their options lead nowhere
    open : number of states in which a comparison stays open
    """

    def __init__(self, place: Plateaus, mesh: fmpq, *, chance: bool = True) -> None:
        self.place, self.law = place, place.law
        self._chance = chance
        self.slopes = place.slopes
        p, n = place.parameters, place.law.n
        self.alpha, self.keep, self.lam = p.alpha, 1 - p.alpha, p.decay
        self.seen = p.alpha * p.gamma
        self.plateau = {q: i for i, (a, b) in enumerate(place.plateaus) for q in range(a, b + 1)}
        levels = [fmpq(0)]
        for _ in range(_LEVELS):
            levels.append(self.lam * levels[-1] - p.alpha * p.r)
        largest = fmpq(self.law.landscape.largest_gain) / (1 - p.gamma)
        marks = {*levels, -p.r / (1 - p.gamma), 1 / (1 - p.gamma), largest}
        denominator = int(p.alpha.q) * int(p.gamma.q) * int(p.r.q)
        prime = next((q for q in _PRIMES if denominator % q), None)
        if prime is None:
            raise CrossingError("no prime below 100 is free for the grid of values")
        self.grid = Grid(
            (self.alpha, self.lam),
            mesh,
            min(mesh * n, fmpq(1, 4)),
            fmpq(1, prime),
            tuple(sorted(marks)),
            14 * max(8, (5 * (n + 1)).bit_length()),
        )
        self.states: list[Walk] = []
        self.options: list[Option] = []
        self.cut: list[int] = []
        self.open = 0
        self._number: dict[tuple[Any, ...], int] = {}
        self._forms: dict[tuple[int, ...], Form] = {}
        self._again: dict[tuple[int, bool], Form] = {}

    def explore(self, largest: int) -> None:
        """Find all states, from the start.

        Raises
        ------
        StateSpaceTooLargeError
        """
        self._begin()
        for i, _ in enumerate(self.states):  # grows while it is read
            self.options += self._expanded(i)
            if len(self.states) > largest:
                raise StateSpaceTooLargeError(
                    f"following the shared row takes more than {largest:,} states; "
                    f"raise `max_states`, or estimate with `simulate()`",
                    advised=True,
                )

    def explore_likely(self, most: int, negligible: float = 0.0) -> None:
        """Look at so many states at most, the likeliest first; `cut` has those that were met only.

        What a run does from these on is not known.

        Parameters
        ----------
        negligible : stop when the states that are left have about this probability. Masses are
            estimates that order the states; no bound rests on them
        """
        self._begin()
        found: dict[int, list[Option]] = {}
        masses, queue = [1.0], [(-1.0, 0)]
        while queue and len(found) < most:
            _, i = heappop(queue)
            if i in found:  # its mass grew after it had been queued
                continue
            if len(found) % _LOOK_AROUND == 0:
                left = sum(m for k, m in enumerate(masses) if k not in found)
                if left <= negligible:
                    break
            found[i] = self._expanded(i)
            masses += [0.0] * (len(self.states) - len(masses))
            for option in found[i]:
                for edge in option.edges:
                    if edge.target != OPTIMUM and edge.target not in found:
                        masses[edge.target] += masses[i] * edge.probability[1] / len(found[i])
                        heappush(queue, (-masses[edge.target], edge.target))
        self.cut = [i for i in range(len(self.states)) if i not in found]
        self.options = [
            option
            for i, state in enumerate(self.states)
            for option in found.get(i) or (Option(i, state.phase, ()),)
        ]

    def _begin(self) -> None:
        actions, slopes = len(self.law.actions), len(self.slopes)
        zero = self._one_of(EXACTLY_ZERO)
        start = Walk(0, 0, (zero,) * actions, (0,) * slopes, (None,) * slopes, ())
        self._number = {self._key(start): 0}
        self.states, self.options, self.cut, self.open = [start], [], [], 0

    def _expanded(self, i: int) -> list[Option]:
        """Return the options of a state; states that are new are numbered."""
        state = self.states[i]
        told, ways = self._ways(state)
        self.open += not told and len(ways) > 1
        options = []
        for option in ways:
            edges: dict[int, list[tuple[Any, Any]]] = {}
            for way in option:
                target = OPTIMUM
                if way.target is not None:
                    walk = self._normal(way.target)
                    target = self._number.setdefault(self._key(walk), len(self.states))
                    if target == len(self.states):
                        self.states.append(walk)
                edges.setdefault(target, []).append((way.probability, way.steps))
            options.append(Option(i, state.phase, edges_of(edges)))
        return options

    def _ways(self, state: Walk) -> tuple[bool, list[list[_Way]]]:
        """Return the options of a state, and whether it is one that tells a bit."""
        groups, unknown = self.greedy(state)
        if unknown is not None:
            told = self._tell(state, unknown)
            if not self._chance:
                return True, [[way._replace(probability=fmpq(1))] for way in told]
            return True, [told]
        return False, [self._step(state, group) for group in groups]

    def greedy(self, state: Walk) -> tuple[list[list[int]], int | None]:
        """Return the possible sets of greedy actions, or an unknown on which they may depend.

        An interval may have swallowed a multiple of an unknown that another entry still shows. A
        choice within it would then say something about that unknown, whose later bits would no
        longer be independent of it: unknowns are told before anything is left open.
        """
        known: dict[int, Range] = {}
        ranges = [spread(f, state.unknowns, self.grid.laws, known) for f in state.entries]
        least = max((r.lower, r.with_lower) for r in ranges)
        left = [
            a
            for a, r in enumerate(ranges)
            if r.upper > least[0] or (r.upper == least[0] and r.with_upper and least[1])
        ]
        beaten: set[int] = set()
        ties: dict[int, list[int]] = {a: [a] for a in left}
        open_pairs: list[tuple[fmpq, int, int, int]] = []
        for i, a in enumerate(left):
            for b in left[i + 1 :]:
                difference = add(state.entries[a], state.entries[b], fmpq(-1))
                match spread(difference, state.unknowns, self.grid.laws, known).sign:
                    case 0:
                        ties[a].append(b)
                    case 1:
                        beaten.add(b)
                    case -1:
                        beaten.add(a)
                    case None:
                        for v, c in difference.terms:
                            one = spread(
                                Form(*EXACTLY_ZERO[:2], ((v, c),)),
                                state.unknowns,
                                self.grid.laws,
                                known,
                            )
                            open_pairs.append((one.upper - one.lower, v, a, b))
        left = [a for a in left if a not in beaten]
        groups: list[list[int]] = []
        for a in left:
            if not any(a in g for g in groups):
                groups.append([b for b in ties[a] if b not in beaten])
        if len(groups) == 1:
            return groups, None
        telling = [(w, -v) for w, v, a, b in open_pairs if a in left and b in left]
        if telling:
            return groups, -max(telling)[1]
        return groups, 0 if state.unknowns else None

    def _tell(self, state: Walk, v: int) -> list[_Way]:
        """Tell whether the climb was rejected once more."""
        position, first, start = state.unknowns[v]
        share = fmpq(position, self.law.n)
        new = len(state.unknowns)
        unknowns = list(state.unknowns)
        if position > first:
            unknowns.append(Unknown(position - 1, first, start))
            accepted = Form(self.alpha, self.alpha, ((new, self.lam),))
        else:
            accepted = start
        rejected = Form(*EXACTLY_ZERO[:2], ((v, self.lam),))
        ways = []
        for probability, form in ((share, rejected), (1 - share, accepted)):
            if probability == 0:
                continue
            put = {v: form}
            ways.append(
                _Way(
                    state._replace(
                        entries=tuple(substitute(f, put) for f in state.entries),
                        above=tuple(f and substitute(f, put) for f in state.above),
                        unknowns=tuple(
                            u if i == v else u._replace(start=substitute(u.start, put))
                            for i, u in enumerate(unknowns)
                        ),
                    ),
                    probability,
                    fmpq(0),
                )
            )
        return ways

    def _step(self, state: Walk, actions: Sequence[int]) -> list[_Way]:
        p = state.position
        if p not in self.plateau:
            return self._cross(state, state.entries[actions[0]])
        i = self.plateau[p]
        if list(actions) == [self.place.bridges[i]]:
            return [self._climb(state, i)]
        return [
            self._move(state, action, direction, fmpq(share, self.law.n * len(actions)))
            for action in actions
            for direction, share in ((DOWN, p), (UP, self.law.n - p))
            if share
        ]

    def _climb(self, state: Walk, i: int) -> _Way:
        """Use a bridge until its plateau is left."""
        n, bridge, last = self.law.n, self.place.bridges[i], self.place.plateaus[i][1]
        steps = sum((fmpq(n, n - q) for q in range(state.position, last + 1)), fmpq(0))
        if last + 1 == n:
            return _Way(None, fmpq(1), steps)
        start, first, unknowns = state.entries[bridge], state.position, list(state.unknowns)
        if start == EXACTLY_ZERO:  # rejections do not matter
            start, first = exactly(self.alpha), first + 1
        value = exactly(self.alpha)
        if first <= last:
            value = Form(self.alpha, self.alpha, ((len(unknowns), self.keep),))
            unknowns.append(Unknown(last, first, start))
        return _Way(
            self._arrive(state, last + 1)._replace(
                entries=_put(state.entries, bridge, value), unknowns=tuple(unknowns)
            ),
            fmpq(1),
            steps,
        )

    def _move(self, state: Walk, action: int, direction: int, share: fmpq) -> _Way:
        """Propose one move on a plateau."""
        p, law = state.position, self.law
        q, value = p + 2 * direction - 1, state.entries[action]
        if not law.accepted[p, action, direction]:
            changed = _put(state.entries, action, affine(value, self.lam, fmpq(0)))
            return _Way(state._replace(entries=changed), share, share)
        if q == law.n:
            return _Way(None, share, share)
        gain = self.alpha * law.reward(p, action, direction)
        if q in self.plateau:
            value = affine(value, self.lam, gain)
        else:
            value = affine(value, self.keep, gain)
            seen = state.above[self.plateau[p] - 1] if direction == DOWN else None
            if seen is not None:
                value = add(value, seen, self.seen)
        changed = _put(state.entries, action, value)
        return _Way(self._arrive(state, q)._replace(entries=changed), share, share)

    def _cross(self, state: Walk, largest: Form) -> list[_Way]:
        """Pass a slope; `largest` is the maximum of the shared row."""
        s = self._slope_at(state)
        slope, word = self.slopes[s], state.words[s]
        ways = []
        for x in slope.words[word].passages:
            after = state._replace(words=_put(state.words, s, x.word))
            if x.side == UP:
                after = self._seen_above(after, s, word, largest)
            goal = slope.first - 1 if x.side == DOWN else slope.last + 1
            ways.append(_Way(self._arrive(after, goal), x.probability, x.steps))
        return ways

    def _seen_above(self, state: Walk, s: int, before: int, largest: Form) -> Walk:
        """Return the state with what the plateau above a slope sees of it after an exit upwards."""
        slope, law = self.slopes[s], self.law
        action = slope.learnt[state.words[s]]
        if action is None:
            return state._replace(above=_put(state.above, s, None))
        top = slope.last
        if law.accepted[top, action, DOWN] or not law.accepted[top, action, UP]:
            # Its entry would depend on how often the walk fell back below the top, and so would
            # what the slope's rows are: choices would tell more than words do.
            raise CrossingError(f"position {top} keeps an action that may also move down")
        gain = self.alpha * law.reward(top, action, UP)
        value, old = exactly(gain), state.above[s]
        if slope.learnt[before] is not None and slope.words[before].entry == UP:
            assert old is not None
            new = len(state.unknowns)
            state = state._replace(unknowns=(*state.unknowns, Unknown(top, top, old)))
            value = Form(gain, gain, ((new, self.keep),))
        return state._replace(above=_put(state.above, s, add(value, largest, self.seen)))

    def _slope_at(self, state: Walk) -> int:
        for s, slope in enumerate(self.slopes):
            entry = slope.words[state.words[s]].entry
            if state.position == (slope.first if entry == DOWN else slope.last):
                return s
        raise CrossingError(f"no slope is entered at position {state.position}")

    def _arrive(self, state: Walk, position: int) -> Walk:
        passed = sum(m <= position for m in self.law.landscape.milestones)
        return state._replace(position=position, phase=max(state.phase, passed))

    def _normal(self, state: Walk) -> Walk:
        """Relax all forms, hide what cannot be met again, and number the unknowns by use."""
        hidden = self.hidden(state)
        words = (0,) * hidden + state.words[hidden:]
        above = (None,) * hidden + state.above[hidden:]
        known: dict[int, Range] = {}
        number: dict[int, int] = {}
        starts: list[tuple[int, Form]] = []

        def relax(form: Form, coarse: bool) -> Form:
            if not form.terms:
                return self._relaxed(form, coarse)
            relaxed = self.grid.relax(form, state.unknowns, known, coarse=coarse)
            if not relaxed.terms:
                return self._one_of(relaxed)
            for v, _ in relaxed.terms:
                if v not in number:
                    number[v] = len(starts)
                    starts.append((v, EXACTLY_ZERO))
                    starts[number[v]] = (v, relax(state.unknowns[v].start, coarse))
            return relaxed

        def renamed(form: Form) -> Form:
            if not form.terms:
                return form
            return form._replace(terms=tuple(sorted((number[v], c) for v, c in form.terms)))

        entries = [relax(f, False) for f in state.entries]
        seen = [f and relax(f, True) for f in above]
        return Walk(
            state.position,
            state.phase,
            tuple(map(renamed, entries)),
            words,
            tuple(f and renamed(f) for f in seen),
            tuple(state.unknowns[v]._replace(start=renamed(f)) for v, f in starts),
        )

    def _relaxed(self, form: Form, coarse: bool) -> Form:
        """Return a form without unknowns relaxed; those of states have been so before."""
        known = self._again.get((id(form), coarse))
        if known is None:
            known = self._one_of(self.grid.relax(form, (), {}, coarse=coarse))
            again = self.grid.relax(known, (), {}, coarse=coarse)
            self._again[id(known), coarse] = self._one_of(again)
        return known

    def _one_of(self, form: Form) -> Form:
        """Return the one object that stands for a form without unknowns; it is kept for good."""
        low, high = form.lower, form.upper
        return self._forms.setdefault((int(low.p), int(low.q), int(high.p), int(high.q)), form)

    def _key(self, walk: Walk) -> tuple[Any, ...]:
        """Return what tells a walk from others: hashing fractions would take a third of the time.

        Forms without unknowns are one object each (`_one_of`), and so their ids will do.
        """
        return (
            *walk[:2],
            tuple(f if f.terms else id(f) for f in walk.entries),
            walk.words,
            tuple(f and (f if f.terms else id(f)) for f in walk.above),
            walk.unknowns,
        )

    def hidden(self, state: Walk) -> int:
        """Return how many slopes can never be met again."""
        for s in range(len(self.slopes) - 1, 0, -1):
            slope, word = self.slopes[s], state.words[s]
            inside = slope.words[word].entry == UP and state.position >= slope.last
            if inside and not slope.falls[word]:
                return s
        return 0


def _put(items: tuple[Any, ...], i: int, item: Any) -> tuple[Any, ...]:
    return (*items[:i], item, *items[i + 1 :])
