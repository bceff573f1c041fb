r"""Row automata: how the pattern of one agent state evolves, derived from the update rule.

For each agent state the automaton has the row's reachable patterns, and tells for every
kind of position, pattern, chosen action and direction whether the move is accepted and
which pattern follows. Nothing is typed in: the patterns follow from exact bounds on the
entries, and the bounds from the transitions between patterns.

**The fixed point.** A *node* is a pair (row class, pattern); it carries for each entry an
interval that contains every value the entry can have while the row shows that pattern. An
update of the chosen entry x of row s by a move with gain g is

    x' = (keep + bootstrap) x + g                 if the agent's state stays s,
    x' = keep x + g + bootstrap M,  M = max of the neighbour's row, otherwise,

(the chosen entry is the maximum of its row: the agent is greedy, and `StepLaw.check_greedy`
refuses any other). M is bounded over all nodes of the neighbour's row, whatever else happens in
the run: that makes the automaton of a row depend on the row's own moves only, which is what
crossing counts and lumping rest on. Given intervals, transitions are explored; given
transitions, the least intervals are computed
exactly (`markov_lrsao.rows.bounds`); this repeats, intervals only growing, until they contain
what the explored transitions need. The result is an inductive invariant, hence true for all
runs of any length: it is the content of Lemmas 2, 3, 4, 6, 8, 12 for the given instance.

**Control.** Which patterns a row can show at which position matters: a state that occurs in
two separate regions (the two plateaus of Jump share the state 0) behaves differently in
each. Rows with several regions are explored together with the rows next to them, as one
group of (position, patterns of the group); in the gaps between, the walk may come back at
either end. (Where such a group has too many states, each of its rows is explored alone. Where
even one row has too many patterns, which takes five objectives or so, the order of entries
below its largest ones is not kept: what the walk sees of the row, and no more. Both
are coarser, and sound as well: an inductive invariant that claims less.)
All other rows have one region, which a walk re-enters where it left it, and are explored
alone. Rows whose positions are of the same kinds share one automaton, and the middle of a
long run of positions of one kind is represented by one position with unknown depth, so that
the cost does not grow with n.

Under (H) with Jump this over-approximation is exact. Where bounds leave the greedy choice
open, the pattern is marked and `RowAutomata.choose` raises `UndecidedComparisonError` for
whoever reaches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from flint import fmpq

from markov_lrsao.errors import (
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    VerificationError,
)
from markov_lrsao.exact.intervals import Interval
from markov_lrsao.model.law import DOWN, UP, Move, Share, StepLaw
from markov_lrsao.model.statements import implements
from markov_lrsao.rows.bounds import Term, contract, contracted_bounds
from markov_lrsao.rows.patterns import Pattern, updated_entry, updated_pattern
from markov_lrsao.rows.regions import AbstractPosition, Regions
from markov_lrsao.rows.steps import Event, Outcome, outcomes_of

__all__ = ["LARGEST_GROUP", "LARGEST_ROW", "MOST_TRANSITIONS", "RowAutomata", "derive_automata"]

_LARGEST_NUMBER_OF_ROUNDS = 200
_PATIENT_ROUNDS = 12
LARGEST_GROUP = 30_000
"""States of a group of rows that are explored together; beyond, each row is explored alone."""

LARGEST_ROW = 200
"""Patterns of one row with the order of all entries; beyond, only that of the largest is kept."""

MOST_TRANSITIONS = 90_000
"""Transitions between patterns that are derived in all rounds together: half a minute."""

Node = tuple[int, int]
"""A row class and the index of one of its patterns."""
Box = tuple[Interval, ...]
"""One interval per entry of a row."""
_Update = tuple[Node, int, int, tuple[int, ...] | None]
"""A node, an action, the number of the gain, and the row classes that M ranges over."""
_Edge = tuple[Node, int, int, tuple[int, ...] | None, Node]
"""An update and the node that follows: row classes None means that M is of the row itself.

Gains are numbered, since the hash of an fmpq is slow.
"""


@dataclass(frozen=True, eq=False)
class RowAutomata:
    """The automata of all rows of a step law.

    Attributes
    ----------
    regions : classes of rows, regions of positions
    patterns : per row class the reachable patterns; index 0 is the fresh row
    boxes : per row class and pattern the bounds of the entries
    following : (kind, row class, pattern, action, direction) -> next pattern
    rounds : how many rounds the fixed point took
    """

    law: StepLaw
    regions: Regions
    patterns: tuple[tuple[Pattern, ...], ...]
    boxes: tuple[tuple[Box, ...], ...]
    following: dict[tuple[int, int, int, int, int], int]
    rounds: int
    _places: dict[int, tuple[int, int]] = field(default_factory=dict, init=False, repr=False)
    _events: dict[tuple[int, int, int], tuple[Event, ...]] = field(
        default_factory=dict, init=False, repr=False
    )
    _outcomes: dict[tuple[int, int, int], Mapping[Outcome, Share]] = field(
        default_factory=dict, init=False, repr=False
    )

    def class_of(self, row: int) -> int:
        """Return the class of a row."""
        return int(self.regions.row_class[row])

    def place(self, position: int) -> tuple[int, int]:
        """Return the kind of a position and the class of the row shown there."""
        found = self._places.get(position)
        if found is None:
            found = int(self.law.kind[position]), self.class_of(self.law.row[position])
            self._places[position] = found
        return found

    def events(self, kind: int, row_class: int, pattern: int) -> tuple[Event, ...]:
        """Return all that one step can do; nothing where no run shows this pattern.

        Raises
        ------
        UndecidedComparisonError
            The bounds do not decide which entry is largest.
        """
        key = (kind, row_class, pattern)
        if key not in self._events:
            # The derivation follows all proposals of a pattern that it meets, or none.
            self._events[key] = tuple(
                Event(e.action, e.direction, e.move, e.moved, e.share, following)
                for e in self.law.proposals(kind, self.choose(row_class, pattern))
                if (following := self.following.get((*key, e.action, e.direction))) is not None
            )
        return self._events[key]

    def outcomes(self, kind: int, row_class: int, pattern: int) -> Mapping[Outcome, Share]:
        """Return the events gathered by outcome: (change of position, next pattern)."""
        key = (kind, row_class, pattern)
        if key not in self._outcomes:
            self._outcomes[key] = outcomes_of(self.events(*key))
        return self._outcomes[key]

    def events_at(self, position: int, pattern: int) -> tuple[Event, ...]:
        """Return the events at a position.

        Raises
        ------
        VerificationError
            The derivation never met this pattern here, so no run can.
        """
        return self.events(*self.place(position), pattern) or self._refuse(position, pattern)

    def outcomes_at(self, position: int, pattern: int) -> Mapping[Outcome, Share]:
        """Return the outcomes at a position; see `events_at`."""
        return self.outcomes(*self.place(position), pattern) or self._refuse(position, pattern)

    def _refuse(self, position: int, pattern: int) -> NoReturn:
        label = self.label(self.place(position)[1], pattern)
        raise VerificationError(
            f"pattern {label} at position {position} was not foreseen by the row automata; "
            f"please report this"
        )

    def is_met(self, position: int, pattern: int) -> bool:
        """Whether the derivation met this pattern here; if not, no run ever does."""
        kind, c = self.place(position)
        return any(
            (kind, c, pattern, e.action, e.direction) in self.following
            for e in self.law.proposals(kind, self.patterns[c][pattern].maximal)
        )

    def choose(self, row_class: int, pattern: int) -> tuple[int, ...]:
        """Return the greedy actions, among which the agent chooses uniformly.

        Raises
        ------
        UndecidedComparisonError
            The bounds do not decide which entry is largest.
        """
        shown = self.patterns[row_class][pattern]
        if shown.undecided is not None:
            i, j = shown.undecided
            names, box = self.law.actions, self.boxes[row_class][pattern]
            raise UndecidedComparisonError(
                f"agent state {self.regions.class_name(row_class)}: the order of "
                f"Q[{names[i]}] in {box[i]} and Q[{names[j]}] in {box[j]} is not decided by "
                f"these bounds (pattern {shown.label(names)}); other hyper-parameters may decide it"
            )
        return shown.maximal

    def label(self, row_class: int, pattern: int) -> str:
        """Return a pattern's weak order, e.g. "L>0=J>R"."""
        return self.patterns[row_class][pattern].label(self.law.actions)


@dataclass
class _Derivation:
    law: StepLaw
    regions: Regions
    index: list[dict[Pattern, int]] = field(default_factory=list)
    patterns: list[list[Pattern]] = field(default_factory=list)
    boxes: dict[Node, Box] = field(default_factory=dict)
    edges: dict[_Edge, None] = field(default_factory=dict)
    following: dict[tuple[int, int, int, int, int], int] = field(default_factory=dict)
    reached: dict[Node, None] = field(default_factory=dict)
    largest: list[Interval] = field(default_factory=list)
    # Row classes -> bounds of M over all of them, as long as `largest` stays.
    beside: dict[tuple[int, ...], Interval] = field(default_factory=dict)
    # (row class, kind, direction) -> classes next to any position of that kind: one kind must
    # lead to one pattern, so M ranges over the neighbours of all its positions.
    outside: dict[tuple[int, int, int], tuple[int, ...]] = field(default_factory=dict)
    # Row classes of whose patterns only the visible part is kept.
    coarse: frozenset[int] = frozenset()
    # Updates followed before, with the bounds that they were followed with.
    known: dict[_Update, tuple[Box, Interval | None, _Edge]] = field(default_factory=dict)
    # The distinct gains, and (kind, action, direction) -> the number of its gain.
    gains: list[fmpq] = field(default_factory=list)
    gain_of: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for group in self.regions.groups:
            for place in group.positions:
                for direction in (DOWN, UP):
                    key = (place.row_class, place.kind, direction)
                    met = {*self.outside.get(key, ()), *place.outside[direction]}
                    self.outside[key] = tuple(sorted(met))
        for kind, actions in enumerate(self.law.kinds):
            for action, moves in enumerate(actions):
                for direction, move in enumerate(moves):
                    if move.gain not in self.gains:
                        self.gains.append(move.gain)
                    self.gain_of[kind, action, direction] = self.gains.index(move.gain)
        fresh = Pattern.zero(len(self.law.actions))
        for c in range(self.regions.classes):
            self.index.append({fresh: 0})
            self.patterns.append([fresh])
            self.boxes[c, 0] = (Interval.point(0),) * len(self.law.actions)
            self.reached[c, 0] = None
        self.set_largest(self.row_maxima())

    def set_largest(self, largest: list[Interval]) -> None:
        """Replace the bounds of M per row class."""
        self.largest, self.beside = largest, {}

    # -- one round: explore the transitions that the present bounds allow -------------

    def explore(self) -> None:
        """Collect all transitions between patterns, with the present bounds."""
        if self.following and self.same_as_before():
            return
        self.edges, self.following = {}, {}
        for group in self.regions.groups:
            stack = [(start, (0,) * len(group.rows)) for start in group.starts]
            seen = set(stack)
            steps: dict[tuple[int, int], list[tuple[int, int]]] = {}
            while stack:
                if len(seen) > LARGEST_GROUP and len(group.rows) > 1:
                    raise _GroupTooLargeError
                if len(self.edges) > MOST_TRANSITIONS:
                    raise _too_many_patterns(self.law)
                at, shown = stack.pop()
                place = group.positions[at]
                if place.slot is None:  # outside the group: nothing of the group changes
                    successors: Iterable[tuple[int, tuple[int, ...]]] = (
                        (to, shown) for to in (*place.below, *place.above)
                    )
                else:
                    slot, current = place.slot, shown[place.slot]
                    if (at, current) not in steps:
                        steps[at, current] = list(dict.fromkeys(self.moves(place, current)))
                    before, behind = shown[:slot], shown[slot + 1 :]
                    successors = [
                        (to, (*before, following, *behind)) for to, following in steps[at, current]
                    ]
                for state in successors:
                    if state not in seen:
                        seen.add(state)
                        stack.append(state)

    def same_as_before(self) -> bool:
        """Whether all transitions of the round before are those of the present bounds.

        They are followed in the same order; up to the first that leads elsewhere the walk over
        the groups would meet no others, and if there is none it need not be walked again.
        """
        for (kind, c, k, action, direction), to in self.following.items():
            move = self.law.kinds[kind][action][direction]
            if self.follow((c, k), kind, action, direction, move)[4][1] != to:
                return False
        return True

    def moves(self, place: AbstractPosition, current: int) -> Iterable[tuple[int, int]]:
        """Yield where one step may lead from a place, and the next pattern of its row."""
        node = place.row_class, current
        greedy = self.patterns[place.row_class][current].maximal
        for e in self.law.proposals(place.kind, greedy):
            key = (place.kind, *node, e.action, e.direction)
            following = self.following.get(key)
            if following is None:
                edge = self.follow(node, place.kind, e.action, e.direction, e.move)
                self.edges[edge] = None
                self.following[key] = following = edge[4][1]
            for to in (place.below, (place.number,), place.above)[e.moved + 1]:
                yield to, following

    def follow(self, node: Node, kind: int, action: int, direction: int, move: Move) -> _Edge:
        """Return the transition of an update: the pattern that follows, with present bounds."""
        box = self.boxes[node]
        neighbours, m = None, None
        if not move.stays_in_row:
            neighbours = self.outside[node[0], kind, direction]
            m = self.beside.get(neighbours)
            if m is None:
                m = self.largest[neighbours[0]]
                for c in neighbours[1:]:
                    m = m.join(self.largest[c])
                self.beside[neighbours] = m
        update = (node, action, self.gain_of[kind, action, direction], neighbours)
        known = self.known.get(update)
        if known is None or known[0] is not box or known[1] != m:
            target = (node[0], self.pattern_after(node, action, move, m))
            known = self.known[update] = box, m, (*update, target)
        return known[2]

    def pattern_after(self, node: Node, action: int, move: Move, m: Interval | None) -> int:
        """Return the pattern after an update with M in `m`, None: of the row itself."""
        algorithm, box = self.law.algorithm, self.boxes[node]
        x, keep, bootstrap, gain = box[action], algorithm.keep, algorithm.bootstrap, move.gain
        new = updated_entry(x, m, keep, bootstrap, gain)
        row_class, current = node
        shown = updated_pattern(
            self.patterns[row_class][current],
            box,
            action,
            new,
            lambda: updated_entry(x, m, keep - 1, bootstrap, gain),
        )
        if row_class in self.coarse:
            shown = shown.visible
        known = self.index[row_class]
        if shown not in known:
            if len(known) >= LARGEST_ROW and row_class not in self.coarse:
                raise _RowTooLargeError(row_class)
            known[shown] = len(self.patterns[row_class])
            self.patterns[row_class].append(shown)
        following = known[shown]
        if (row_class, following) not in self.boxes:
            self.boxes[row_class, following] = (*box[:action], new, *box[action + 1 :])
        return following

    def row_maxima(self) -> list[Interval]:
        """Bounds of M per row class: the largest entry over all patterns reached."""
        result: list[Interval] = []
        for c in range(self.regions.classes):
            intervals = [
                self.maximum(self.boxes[c, k], self.patterns[c][k])
                for k in range(len(self.patterns[c]))
                if (c, k) in self.reached
            ]
            joined = intervals[0]
            for other in intervals[1:]:
                joined = joined.join(other)
            result.append(joined)
        return result

    @staticmethod
    def maximum(box: Box, pattern: Pattern) -> Interval:
        """Bounds of the largest entry of a row (of one of its undecided maximal entries)."""
        joined = box[pattern.maximal[0]]
        for a in pattern.maximal[1:]:
            joined = Interval(
                joined.low,
                joined.join(box[a]).high,
                joined.low_attained,
                joined.join(box[a]).high_attained,
            )
        return joined

    # -- the other half of a round: the least bounds for these transitions -------------

    def least_boxes(self) -> dict[Node, Box]:
        """Return the least boxes that the collected transitions allow."""
        reached = dict.fromkeys([(c, 0) for c in range(self.regions.classes)])
        for edge in self.edges:
            reached[edge[0]] = reached[edge[4]] = None
        k = len(self.law.actions)
        number = {node: i * k for i, node in enumerate(reached)}
        copies: list[tuple[int, int]] = []
        updates: list[tuple[int, int, int, tuple[int, ...] | None]] = []
        keep, bootstrap = self.law.algorithm.keep, self.law.algorithm.bootstrap
        # What keeps an entry as it is, is a copy; any other update contracts.
        nothing = self.gains.index(fmpq(0)) if 0 in self.gains else -1
        inside = nothing if keep + bootstrap == 1 else -1
        across = nothing if keep == 1 and bootstrap == 0 else -1
        for from_node, action, gain, neighbours, to_node in self.edges:
            source, target = number[from_node], number[to_node]
            copies += [(target + a, source + a) for a in range(k) if a != action]
            if gain == (inside if neighbours is None else across):
                copies.append((target + action, source + action))
            else:
                updates.append((target + action, source + action, gain, neighbours))
        group, between = contract(len(number) * k, copies)
        # Many updates are one between groups, and upper and lower bounds have the same.
        system = dict.fromkeys(
            [(group[into], group[old], gain, around) for into, old, gain, around in updates]
        )
        high, high_attained = self.solve(number, group, system, between, upper=True)
        low, low_attained = self.solve(number, group, system, between, upper=False)
        found = [
            Interval(*ends) for ends in zip(low, high, low_attained, high_attained, strict=True)
        ]
        return {node: tuple([found[group[i + a]] for a in range(k)]) for node, i in number.items()}

    def solve(
        self,
        number: Mapping[Node, int],
        group: Sequence[int],
        system: Iterable[tuple[int, int, int, tuple[int, ...] | None]],
        between: Iterable[tuple[int, int]],
        *,
        upper: bool,
    ) -> tuple[list[fmpq], list[bool]]:
        """Solve for all upper (or, negated, all lower) bounds of the groups of equal entries.

        The unknowns for M, one per row class, follow those of the groups; no copy leads from M
        to an entry, so that they lie on no cycle of copies.
        """
        algorithm, k = self.law.algorithm, len(self.law.actions)
        keep, bootstrap = algorithm.keep, algorithm.bootstrap
        factor = keep + bootstrap
        maxima = max(group) + 1
        zero = fmpq(0)
        fresh = {group[number[c, 0] + a] for c in range(self.regions.classes) for a in range(k)}
        terms = [Term(into, zero) for into in sorted(fresh)]
        gains = self.gains if upper else [-gain for gain in self.gains]
        for into, old, gain, around in system:
            if around is None:
                terms.append(Term(into, gains[gain], ((old, factor),) if factor != 0 else ()))
                continue
            own = ((old, keep),) if keep != 0 else ()
            for c in around:
                beside = ((maxima + c, bootstrap),) if bootstrap != 0 else ()
                terms.append(Term(into, gains[gain], own + beside))
        copies = dict.fromkeys(between)
        for (c, shown), i in number.items():
            maximal = self.patterns[c][shown].maximal
            for a in maximal if upper else maximal[:1]:
                copies[maxima + c, group[i + a]] = None
        values, attained = contracted_bounds(maxima + self.regions.classes, terms, copies)
        bounds = [v if v is not None else zero for v in values[:maxima]]
        return (bounds if upper else [-v for v in bounds]), attained[:maxima]


class _GroupTooLargeError(Exception):
    """The rows of a group have too many joint patterns to be explored together."""


class _RowTooLargeError(Exception):
    """A row, explored alone, shows too many orders of its entries."""

    def __init__(self, row_class: int) -> None:
        super().__init__(row_class)
        self.row_class = row_class


@implements("Lemma 2", "Lemma 3", "Lemma 4", "Lemma 6", "Lemma 8", "Lemma 12")
def derive_automata(
    law: StepLaw, last: int | None = None, *, anywhere: bool = False
) -> RowAutomata:
    """Derive the row automata of a step law by the fixed point above.

    Parameters
    ----------
    last : they hold until this position is first hit; default the optimum
    anywhere : they hold wherever runs begin, not in 0^n only

    >>> from markov_lrsao.model.algorithm import Algorithm
    >>> from markov_lrsao.model.landscape import Landscape
    >>> from markov_lrsao.model.parameters import Parameters
    >>> law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    >>> automata = derive_automata(law)
    >>> [automata.label(1, k) for k in range(len(automata.patterns[1]))]
    ['0=L=J=R', 'J>0=L=R', '0=L=J>R', 'J>0=L>R']
    """
    law.check_greedy()
    law.check_bounded()
    regions = Regions.of(law, last, anywhere=anywhere)
    coarse: frozenset[int] = frozenset()
    while True:
        try:
            return _fixed_point(_Derivation(law, regions, coarse=coarse))
        except _GroupTooLargeError:
            regions = replace(regions, together=False)
        except _RowTooLargeError as error:
            regions, coarse = replace(regions, together=False), coarse | {error.row_class}


def _fixed_point(derivation: _Derivation) -> RowAutomata:
    """Explore transitions and compute their least bounds in turn, until nothing grows."""
    work = 0
    for rounds in range(1, _LARGEST_NUMBER_OF_ROUNDS + 1):
        before = derivation.edges
        derivation.explore()
        if rounds > 1 and derivation.edges.keys() == before.keys():
            # The same transitions have the same least bounds, which the boxes and M contain.
            return _freeze(derivation, rounds)
        work += len(derivation.edges)
        if work > MOST_TRANSITIONS:
            raise _too_many_patterns(derivation.law)
        least = derivation.least_boxes()
        settled = True
        for node, box in least.items():
            present = derivation.boxes[node]
            grown = tuple([a.join(b) for a, b in zip(present, box, strict=True)])
            if grown != present:
                derivation.boxes[node], settled = grown, False
        # Patterns of earlier rounds that are not reached any more do not widen M, but their
        # boxes are kept: should they be reached again, they go on growing, not start afresh.
        derivation.reached = dict.fromkeys(least)
        largest = derivation.row_maxima()
        if rounds > _PATIENT_ROUNDS:  # from here on M only grows too, so that this must end
            largest = [a.join(b) for a, b in zip(derivation.largest, largest, strict=True)]
        settled = settled and all(b in a for a, b in zip(derivation.largest, largest, strict=True))
        if settled:
            return _freeze(derivation, rounds)
        derivation.set_largest(largest)
    raise SolverError("the patterns did not settle; please report this instance")


def _too_many_patterns(law: StepLaw) -> StateSpaceTooLargeError:
    return StateSpaceTooLargeError(
        f"the Q-rows of {len(law.actions)} objectives show too many patterns here (more than "
        f"{MOST_TRANSITIONS:,} transitions to derive); use fewer objectives, or estimate with "
        f"`simulate()`",
        advised=True,
    )


def _freeze(derivation: _Derivation, rounds: int) -> RowAutomata:
    """Drop the patterns of earlier rounds that are not reachable, and renumber the rest."""
    new_number: list[dict[int, int]] = []
    patterns, boxes = [], []
    for c, known in enumerate(derivation.patterns):
        kept = [k for k in range(len(known)) if (c, k) in derivation.reached]
        new_number.append({k: i for i, k in enumerate(kept)})
        patterns.append(tuple(known[k] for k in kept))
        boxes.append(tuple(derivation.boxes[c, k] for k in kept))
    following = {
        (kind, c, new_number[c][k], action, direction): new_number[c][to]
        for (kind, c, k, action, direction), to in derivation.following.items()
    }
    return RowAutomata(
        derivation.law, derivation.regions, tuple(patterns), tuple(boxes), following, rounds
    )
