"""All runs of an instance, with the patterns of few rows followed at a time.

A row of the Q-table changes by its own steps only, and the walk reads it through its pattern
(`markov_lrsao.rows`). So a run is a walk over positions and patterns. Here only some rows are
*followed*; at a position of any other row every step is allowed that some pattern of that row
allows. This has all runs, and more:

* if no walk violates the claim, no run does;
* a shortest violating walk that turns out to be a run is a shortest run that violates it;
* otherwise some step of it is impossible in a row that was not followed: that row is followed from
  now on, and the search begins anew.

With all rows followed, walks are runs wherever patterns decide every comparison; where they do not,
exact values must (`proofs_check.own.values`). The number of states is that of the rows a claim
really depends on: Lemma 10's five visits need two rows, whatever n is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Bar
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from proofs_check.own.language import Claim
from proofs_check.own.targets import Count, State, Target
from proofs_check.runs.run import Choice, Run

__all__ = ["LONGEST_RUN", "Abstraction", "Fails", "Holds", "Open", "certain", "too_many"]

LONGEST_RUN = 10_000
"""Steps of a counterexample: a longer one is read by nobody."""

_Node = tuple[int, tuple[int, ...]]
"""A position and the patterns of the followed rows."""


class Holds(NamedTuple):
    """No run violates the claim at this target."""

    states: int
    rows: int


class Fails(NamedTuple):
    """A run that violates the claim."""

    choices: tuple[Choice, ...]
    shortest: bool = True


class Open(NamedTuple):
    """What is needed in order to decide.

    Attributes
    ----------
    values : whether the Q-values themselves must be followed: patterns do not tell
    """

    reason: str
    values: bool


class _Event(NamedTuple):
    """A step at a position; `following` is the row's next pattern, or -1 if it is not followed."""

    position: int
    action: str
    direction: int
    next_position: int
    following: int


def certain(claim: Claim, values: Interval) -> bool:
    """Whether a claim about a value holds all over an interval.

    >>> from proofs_check.own.language import parse_claim
    >>> below = Interval(fmpq(0), fmpq(3), high_attained=False)
    >>> certain(parse_claim("entry(J) < 3"), below), certain(parse_claim("entry(J) > 0"), below)
    (True, False)
    """
    ends = [(values.low, values.low_attained), (values.high, values.high_attained)]
    strict = {"<": "<=", ">": ">="}.get(claim.relation, claim.relation)
    weak = Claim(claim.quantity, strict, claim.number)
    return all(claim.holds(x) or (not met and weak.holds(x)) for x, met in ends)


@dataclass
class Abstraction:
    """The walks of an instance.

    Attributes
    ----------
    limit : states that one search may have
    decided : whether patterns decide every greedy choice, so that all walks with all rows are runs
    rows_met : rows of the positions before the optimum; no other row is ever updated
    """

    law: StepLaw
    limit: int
    bar: Bar
    automata: RowAutomata = field(init=False)
    decided: bool = field(init=False)
    rows_met: frozenset[int] = field(init=False)
    _events: dict[tuple[int, int], tuple[_Event, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.automata = automata_of(self.law)
        self.decided = all(p.undecided is None for c in self.automata.patterns for p in c)
        self.rows_met = frozenset(self.law.rows_met())

    # -- steps -----------------------------------------------------------------------

    def events(self, position: int, pattern: int) -> tuple[_Event, ...]:
        """Return the steps at a position while its row shows a pattern (-1: any pattern).

        Where the greedy choice is open all maximal actions are followed: that is more than runs do.
        """
        key = (position, pattern)
        if key not in self._events:
            self._events[key] = self._free(position) if pattern < 0 else self._shown(*key)
        return self._events[key]

    def _shown(self, position: int, pattern: int) -> tuple[_Event, ...]:
        kind, c = self.automata.place(position)
        shown, law = self.automata.patterns[c][pattern], self.law
        return tuple(
            _Event(position, law.actions[e.action], e.direction, position + e.moved, after)
            for e in law.proposals(kind, shown.maximal)
            # A pattern that the derivation did not meet here is shown by no run.
            if (after := self.automata.following.get((kind, c, pattern, e.action, e.direction)))
            is not None
        )

    def _free(self, position: int) -> tuple[_Event, ...]:
        c = self.automata.place(position)[1]
        found = [
            e._replace(following=-1)
            for k in range(len(self.automata.patterns[c]))
            for e in self.events(position, k)
        ]
        return tuple(dict.fromkeys(found))

    # -- quantities of the table -------------------------------------------------------

    def _positive(self, row: int, pattern: int) -> tuple[int, int]:
        """Return the smallest and largest number of positive entries of a row."""
        if row not in self.rows_met:
            return 0, 0  # beyond the optimum: never updated
        patterns = self.automata.patterns[self.automata.class_of(row)]
        shown = patterns if pattern < 0 else (patterns[pattern],)
        sure = min(sum(s == 1 for s in p.signs) for p in shown)
        most = max(sum(s in (1, UNKNOWN) for s in p.signs) for p in shown)
        return sure, most

    def _fine(self, target: State, followed: Sequence[int]) -> Callable[[tuple[int, ...]], bool]:
        """Return patterns of the followed rows -> does the claim surely hold?"""
        slot = {row: i for i, row in enumerate(followed)}
        claim, row, action = target.claim, target.row, target.action
        if row is None:
            every = range(len(self.law.row_value))
            rest = [self._positive(r, -1) for r in every if r not in slot]
            low, high = (sum(pair[k] for pair in rest) for k in (0, 1))
            known = {
                (r, k): self._positive(r, k)
                for r in slot
                for k in range(len(self.automata.patterns[self.automata.class_of(r)]))
            }

            def total(shown: tuple[int, ...]) -> bool:
                own = [known[r, shown[i]] for r, i in slot.items()]
                least, most = (sum(pair[k] for pair in own) for k in (0, 1))
                return certain(claim, Interval(fmpq(low + least), fmpq(high + most)))

            return total
        if row not in self.rows_met:
            always = certain(claim, Interval.point(0))
            return lambda shown: always
        c, at = self.automata.class_of(row), slot[row]
        spans = [
            self.automata.boxes[c][k][action]
            if action is not None
            else _span(self._positive(row, k))
            for k in range(len(self.automata.patterns[c]))
        ]
        fine = [certain(claim, span) for span in spans]
        return lambda shown: fine[shown[at]]

    # -- one search ------------------------------------------------------------------------

    def shortest(
        self, target: Target, followed: Sequence[int], below: int | None
    ) -> tuple[list[_Event] | None, int]:
        """Return a shortest walk that may violate the claim, and the number of states.

        Parameters
        ----------
        below : walks of this length or longer are of no interest

        Raises
        ------
        StateSpaceTooLargeError
        """
        rows = self.law.row.tolist()
        slot = {row: i for i, row in enumerate(followed)}
        memory: Any = target.start if isinstance(target, Count) else None
        step, bad = self._watch(target, followed)
        counted = isinstance(target, Count)  # the table is not read after the last step
        first = (0, (0,) * len(followed), memory)
        if bad(first[1], memory):
            return [], 1
        origin: dict[Any, tuple[Any, _Event] | None] = {first: None}
        queue, depth = deque([(first, 0)]), 0
        while queue:
            state, depth = queue.popleft()
            position, shown, memory = state
            if position == self.law.optimum or (below is not None and depth + 1 >= below):
                continue
            at = slot.get(rows[position], -1)
            for event in self.events(position, shown[at] if at >= 0 else -1):
                after = shown if at < 0 else (*shown[:at], event.following, *shown[at + 1 :])
                remembered, settled = step(memory, event)
                following = (event.next_position, after, remembered)
                if following in origin:
                    continue
                origin[following] = (state, event)
                ends = event.next_position == self.law.optimum
                if (counted or not ends) and bad(after, remembered):
                    return _path(origin, following), len(origin)
                if not settled:
                    queue.append((following, depth + 1))
            self.bar.advance()
            if len(origin) > self.limit:
                raise too_many(self.limit)
        return None, len(origin)

    def _watch(
        self, target: Target, followed: Sequence[int]
    ) -> tuple[Callable[[Any, _Event], tuple[Any, bool]], Callable[[Any, Any], bool]]:
        """Return (memory, step) -> (memory, settled?) and (patterns, memory) -> violated?"""
        if isinstance(target, State):
            fine = self._fine(target, followed)
            return lambda memory, event: (None, False), lambda shown, memory: not fine(shown)
        marks: dict[_Event, tuple[bool, bool]] = {}
        lower = target.claim.relation in (">=", ">")

        def step(memory: Any, event: _Event) -> tuple[Any, bool]:
            if event not in marks:
                marks[event] = target.adds(event), target.closes(event)
            after = target.after(memory, *marks[event])
            return after, after[1] or (lower and target.claim.holds(after[0]))

        return step, lambda shown, memory: target.violated(memory)

    def _pumped(self, target: Count, followed: Sequence[int]) -> tuple[list[_Event] | None, int]:
        """Return a walk that goes round a cycle with a counted step until the claim fails.

        Raises
        ------
        StateSpaceTooLargeError
            The walk, or the graph, would be too long.
        """
        graph = _Cycles(self, followed)
        rounds = max(0, int(target.claim.number.floor())) + 1
        start: _Node = (0, (0,) * len(followed))
        found: tuple[list[_Event], list[_Event]] | None = None
        for node, event, to in graph.inside():
            if target.adds(event):
                loop = [event, *graph.path(to, node)]
                if found is not None and len(loop) >= len(found[1]):
                    continue
                stem = graph.path(start, node)
                if not any(target.closes(e) for e in (*stem, *loop)):
                    found = stem, loop
                    if len(loop) == 1:
                        break
        if found is None:
            return None, len(graph.edges)
        stem, loop = found
        few = [*stem, *loop * min(rounds, 4)]
        if self._play([(e.action, e.direction) for e in few])[1] is not None:
            return few, len(graph.edges)  # no run: it need not be long in order to tell
        if len(stem) + rounds * len(loop) > LONGEST_RUN:
            steps = " ".join(f"{e.action}{'-+'[e.direction]}" for e in loop)
            raise StateSpaceTooLargeError(
                f"it grows with every round of {steps} at position {loop[0].position}, but a run "
                f"beyond {target.claim.number} would have more than {LONGEST_RUN:,} steps; claim a "
                f"smaller number",
                advised=True,
            )
        memory, walk = target.start, [*stem, *loop * rounds]
        for length, event in enumerate(walk, start=1):
            memory = target.after(memory, target.adds(event), target.closes(event))
            if target.violated(memory):
                return walk[:length], len(graph.edges)
        return None, len(graph.edges)

    # -- refinement ------------------------------------------------------------------------

    def decide(self, target: Target, below: int | None = None) -> Holds | Fails | Open:
        """Decide a claim at one of its targets.

        Parameters
        ----------
        below : a run of this length is known already; only shorter ones are looked for

        Raises
        ------
        StateSpaceTooLargeError
        """
        if isinstance(target, Count):
            followed = [r for r in target.rows if r in self.rows_met]
        else:
            followed = [target.row] if target.row in self.rows_met else []
        try:
            return self._refined(
                target, followed, lambda rows: self.shortest(target, rows, below), True
            )
        except StateSpaceTooLargeError:
            if not isinstance(target, Count) or target.claim.relation in (">=", ">"):
                raise
            # The bound may be too large to be counted up to; what grows along a cycle exceeds it.
            count = target
            found = self._refined(target, followed, lambda rows: self._pumped(count, rows), False)
            if isinstance(found, Fails):
                return found
            raise

    def _refined(
        self,
        target: Target,
        first: Sequence[int],
        search: Callable[[Sequence[int]], tuple[list[_Event] | None, int]],
        shortest: bool,
    ) -> Holds | Fails | Open:
        """Follow one row more as long as the walk that is found is not a run."""
        followed = list(first)
        while True:
            walk, states = search(followed)
            if walk is None:
                return Holds(states, len(followed))
            choices = [(e.action, e.direction) for e in walk]
            run, failed = self._play(choices)
            if failed is None and (
                isinstance(target, Count) or not target.claim.holds(target.value(run.q))
            ):
                return Fails(tuple(choices), shortest)
            row = self._further(target, followed, run, failed)
            if row is None:
                return Open("the patterns of the Q-rows do not decide it", values=True)
            followed.append(row)

    def _play(self, choices: Sequence[Choice]) -> tuple[Run, int | None]:
        """Play a walk; return the run and the row in which a step is impossible, or None."""
        run = Run(self.law)
        for action, direction in choices:
            if action not in run.greedy():
                return run, int(self.law.row[run.position])
            run.step(action, direction)
        return run, None

    def _further(
        self, target: Target, followed: Sequence[int], run: Run, failed: int | None
    ) -> int | None:
        """Return a row that tells this walk from a run, if it is not followed yet."""
        if failed is not None:
            return failed if failed not in followed else None
        assert isinstance(target, State)
        if target.row is not None:
            return None
        # The walk is a run, but rows that are not followed were thought to have other signs.
        for row in sorted(self.rows_met - set(followed)):
            actual = sum(x > 0 for x in run.q[row])
            if self._positive(row, -1) != (actual, actual):
                return row
        return None


def _span(ends: tuple[int, int]) -> Interval:
    return Interval(fmpq(ends[0]), fmpq(ends[1]))


def too_many(limit: int) -> StateSpaceTooLargeError:
    """Return the error of a search that met its limit."""
    return StateSpaceTooLargeError(f"more than {limit:,} states; raise `max_states`", advised=True)


class _Cycles:
    """The graph of walks without memory: which steps lie on cycles."""

    def __init__(self, walks: Abstraction, followed: Sequence[int]) -> None:
        rows = walks.law.row.tolist()
        slot = {row: i for i, row in enumerate(followed)}
        start: _Node = (0, (0,) * len(followed))
        self.edges: dict[_Node, list[tuple[_Event, _Node]]] = {}
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node in self.edges:
                continue
            position, shown = node
            at = slot.get(rows[position], -1)
            found = self.edges[node] = []
            if len(self.edges) > walks.limit:
                raise too_many(walks.limit)
            if position == walks.law.optimum:
                continue
            for event in walks.events(position, shown[at] if at >= 0 else -1):
                after = shown if at < 0 else (*shown[:at], event.following, *shown[at + 1 :])
                found.append((event, (event.next_position, after)))
                waiting.append((event.next_position, after))

    def inside(self) -> Iterator[tuple[_Node, _Event, _Node]]:
        """Yield (node, step, node) of the steps that lie on a cycle."""
        number = {node: i for i, node in enumerate(self.edges)}
        label = components_of([[number[to] for _, to in row] for row in self.edges.values()]).label
        for node, row in self.edges.items():
            for event, to in row:
                if label[number[node]] == label[number[to]]:
                    yield node, event, to

    def path(self, begin: _Node, end: _Node) -> list[_Event]:
        """Return a shortest way."""
        origin: dict[Any, tuple[Any, _Event] | None] = {begin: None}
        queue = deque([begin])
        while end not in origin:
            node = queue.popleft()
            for event, to in self.edges[node]:
                if to not in origin:
                    origin[to] = (node, event)
                    queue.append(to)
        return _path(origin, end)


def _path(origin: dict[Any, tuple[Any, _Event] | None], state: Any) -> list[_Event]:
    path = []
    link = origin[state]
    while link is not None:
        path.append(link[1])
        link = origin[link[0]]
    return path[::-1]
