"""All runs of an instance with their exact Q-values, as far as they can be listed.

Where patterns do not decide the greedy choice, runs are followed by position and Q-table, breadth
first: the first violation belongs to a shortest run. Tables are rationals that usually never
repeat, so that the search often ends at its limit, and the claim stays undecided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.progress import Bar
from proofs_check.own.abstraction import Fails, Holds, too_many
from proofs_check.own.targets import Count, State, Target
from proofs_check.runs.run import Choice

__all__ = ["search_values"]

Table = tuple[tuple[fmpq, ...], ...]


@dataclass(frozen=True)
class _Step:
    """A step from a table to the next."""

    position: int
    action: str
    direction: int
    next_position: int
    table: Table


def _steps(law: StepLaw, rows: Sequence[int], p: int, table: Table) -> Iterator[_Step]:
    """Yield every possible step."""
    row = table[rows[p]]
    largest, rule = max(row), law.algorithm
    for a, value in enumerate(row):
        if value != largest:
            continue
        for direction in (DOWN, UP):
            beside = p + 2 * direction - 1
            if not 0 <= beside <= law.n:
                continue
            to = beside if law.accepted[p, a, direction] else p
            new = (
                rule.keep * value
                + rule.learn * law.reward(p, a, direction)
                + rule.bootstrap * max(table[rows[to]])
            )
            changed = (*row[:a], new, *row[a + 1 :])
            after = (*table[: rows[p]], changed, *table[rows[p] + 1 :])
            yield _Step(p, law.actions[a], direction, to, after)


def _key(position: int, table: Table, memory: Any) -> Any:
    # The hash of an fmpq is that of the Fraction it is converted to: slow.
    return position, memory, tuple((int(x.p), int(x.q)) for row in table for x in row)


def search_values(
    law: StepLaw, targets: Sequence[Target], *, limit: int, below: int | None, bar: Bar
) -> Holds | Fails:
    """Look for a shortest run that violates one of the targets: one count, or several states.

    Parameters
    ----------
    below : runs of this length or longer are of no interest

    Raises
    ------
    StateSpaceTooLargeError
        The limit was met before all runs were seen, or all shorter than `below`.
    """
    count = targets[0] if isinstance(targets[0], Count) else None
    states = [t for t in targets if isinstance(t, State)]
    assert len(targets) in (1, len(states))
    rows = law.row.tolist()

    def violated(position: int, table: Table, memory: Any) -> bool:
        if count is not None:
            return count.violated(memory)
        return position != law.optimum and any(not t.claim.holds(t.value(table)) for t in states)

    table: Table = tuple((fmpq(0),) * len(law.actions) for _ in range(len(law.row_value)))
    memory: Any = count.start if count is not None else None
    if violated(0, table, memory):
        return Fails(())
    seen = {_key(0, table, memory)}
    queue: deque[tuple[int, Table, Any, Any, int]] = deque([(0, table, memory, None, 0)])
    while queue:
        position, table, memory, trail, depth = queue.popleft()
        if position == law.optimum or (below is not None and depth + 1 >= below):
            continue
        for step in _steps(law, rows, position, table):
            to, after = step.next_position, memory
            if count is not None:
                after = count.after(memory, count.adds(step), count.closes(step))
            history = (trail, (step.action, step.direction))
            if violated(to, step.table, after):
                return Fails(_choices(history))
            key = _key(to, step.table, after)
            if key not in seen and not (count is not None and after[1]):
                seen.add(key)
                queue.append((to, step.table, after, history, depth + 1))
        bar.advance()
        if len(seen) > limit:
            raise too_many(limit)
    return Holds(len(seen), len(law.row_value))


def _choices(trail: Any) -> tuple[Choice, ...]:
    found: list[Choice] = []
    while trail is not None:
        trail, choice = trail
        found.append(choice)
    return tuple(found[::-1])
