"""What a claim speaks about on an instance: targets, each with its value along a run.

A claim "per position" has a target for every position, one "per row" a target for every row of the
Q-table (the agent's states), one "at P" or about the whole run a single one. It holds if it holds
for each of its targets on every run.

*Counts* belong to a whole run. ``visits`` are arrivals by an accepted move, and the start is a
visit to position 0; ``uses(OBJ)`` are steps in which OBJ is chosen, accepted or not; ``moves before
hit(P)`` are accepted moves up to the first one that arrives at P, that one included. Counts only
grow: an upper bound fails as soon as it is exceeded, a lower bound when the count is *closed*, that
is when the run ends in the optimum (P is hit), not before. A run that never ends closes nothing.

*States* are looked at all the time, from the fresh Q-table on until the optimum is hit:
``entry(OBJ)`` is a Q-value, and ``positive entries`` a number of entries above 0. What the last
step writes is read by no agent and promised by no lemma of the paper; it is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Protocol

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.law import StepLaw
from proofs_check.claims.expressions import brief
from proofs_check.own.language import Claim, position_of
from proofs_check.runs.run import Choice, Run

__all__ = ["Count", "CountMemory", "Moment", "State", "Target", "first_violation", "targets_of"]


class Moment(Protocol):
    """What is seen of a step: in a run, or in a graph of runs."""

    @property
    def position(self) -> int:
        """Where it begins."""

    @property
    def action(self) -> str:
        """The chosen objective."""

    @property
    def next_position(self) -> int:
        """Where it ends."""


CountMemory = tuple[int, bool]
"""The count so far, and whether it is closed."""


@dataclass(frozen=True)
class Count:
    """A number of steps of a run.

    Attributes
    ----------
    adds, closes : whether a step is counted, and whether the count is final after it
    start : the count before the first step, and whether it is closed already
    rows : the rows whose steps are counted, or that the counted moves lead to
    """

    claim: Claim
    label: str
    adds: Callable[[Moment], bool]
    closes: Callable[[Moment], bool]
    start: CountMemory
    rows: tuple[int, ...]

    def after(self, memory: CountMemory, adds: bool, closes: bool) -> CountMemory:
        """Return the memory after a step."""
        count, closed = memory
        if closed:
            return memory
        # A lower bound that is reached stays reached: counting on would tell states apart.
        enough = self.claim.relation in (">=", ">") and self.claim.holds(count)
        return count + (adds and not enough), closes

    def violated(self, memory: CountMemory) -> bool:
        """Whether the claim fails, whatever comes."""
        count, closed = memory
        if closed:
            return not self.claim.holds(count)
        if self.claim.relation == "=":
            return count > self.claim.number
        return self.claim.relation in ("<=", "<") and not self.claim.holds(count)

    def seen(self, memory: CountMemory) -> str:
        """Return the value in words."""
        return f"{self.label}: {memory[0]}"


@dataclass(frozen=True)
class State:
    """A quantity of the Q-table.

    Attributes
    ----------
    row : the row it reads; None for the whole table
    action : the entry it reads; None for the number of positive ones
    """

    claim: Claim
    label: str
    row: int | None
    action: int | None

    def value(self, q: Sequence[Sequence[fmpq]]) -> fmpq:
        """Return the quantity of a table."""
        rows = q if self.row is None else (q[self.row],)
        if self.action is not None:
            return rows[0][self.action]
        return fmpq(sum(x > 0 for row in rows for x in row))

    def seen(self, value: fmpq) -> str:
        """Return the value in words."""
        return f"{self.label}: {rational_text(value)}"


Target = Count | State


def targets_of(claim: Claim, law: StepLaw) -> list[Target]:
    """Return the targets of a claim on an instance.

    Raises
    ------
    ParameterError
        The landscape has no such objective or position.
    """
    at = position_of(claim.at, law.landscape) if claim.span == "at" else None
    if claim.quantity in ("uses", "entry"):
        _check_objective(claim, law)
    if not claim.counts:
        return list(_states(claim, law, at))
    return list(_counts(claim, law, at))


def _check_objective(claim: Claim, law: StepLaw) -> None:
    known = law.landscape.actions if claim.quantity == "uses" else law.actions
    if claim.of not in known:
        near = get_close_matches(claim.of.upper(), [a.upper() for a in known], n=1)
        meant = next((a for a in known if near and a.upper() == near[0]), None)
        hint = f": did you mean {meant!r}?" if meant else ""
        raise ParameterError(
            f"claim {brief(str(claim))}: {law.algorithm.name} on {law.landscape.name} has no "
            f"objective {brief(claim.of)}{hint}; choose from {', '.join(known)}"
        )


def _state_name(law: StepLaw, row: int) -> str:
    return f"in state {law.state(row)}"


def _states(claim: Claim, law: StepLaw, at: int | None) -> Iterable[State]:
    action = law.actions.index(claim.of) if claim.quantity == "entry" else None
    name = f"entry({claim.of})" if claim.quantity == "entry" else "positive entries"
    if at is not None:
        yield State(claim, f"{name} at {at}", int(law.row[at]), action)
    elif claim.span == "" and action is None:
        yield State(claim, name, None, None)
    else:  # a position has the entries of its row: "per position" says the same as "per row"
        for row in range(len(law.row_value)):
            yield State(claim, f"{name} {_state_name(law, row)}", row, action)


def _equal(of: Sequence[int], wanted: int, p: int) -> bool:
    return of[p] == wanted


def _counts(claim: Claim, law: StepLaw, at: int | None) -> Iterable[Count]:
    rows, positions = law.row.tolist(), range(law.n + 1)
    visits = claim.quantity == "visits"
    end = law.optimum
    name = str(claim.quantity)
    if claim.quantity == "moves before hit":
        end = position_of(claim.of, law.landscape)
        name = f"moves before hit({end})"
    elif claim.quantity == "uses":
        name = f"uses({claim.of})"

    def happens(step: Moment) -> bool:
        if claim.quantity == "uses":
            return step.action == claim.of
        return step.next_position != step.position

    def place(step: Moment) -> int:
        return step.next_position if visits else step.position

    def target(label: str, inside: Callable[[int], bool], own: Iterable[int]) -> Count:
        begins = int(visits and inside(0))
        return Count(
            claim,
            label,
            lambda step: happens(step) and inside(place(step)),
            lambda step: step.next_position == end,
            (begins, end == 0),
            tuple(dict.fromkeys(own)),
        )

    if at is not None:
        yield target(f"{name} at {at}", partial(_equal, positions, at), (rows[at],))
    elif claim.span == "row":
        for r in range(len(law.row_value)):
            yield target(f"{name} {_state_name(law, r)}", partial(_equal, rows, r), (r,))
    elif claim.span == "position" or visits:
        for s in positions:
            yield target(f"{name} at {s}", partial(_equal, positions, s), (rows[s],))
    else:
        yield target(name, lambda p: True, ())


def first_violation(
    claim: Claim, law: StepLaw, choices: Sequence[Choice]
) -> tuple[int, str] | None:
    """Play a run and return (number of steps, what is seen) when the claim first fails; or None.

    Raises
    ------
    ParameterError
        A step is not one that the algorithm can make.
    """
    run = Run(law)
    targets = targets_of(claim, law)
    memories = {i: t.start for i, t in enumerate(targets) if isinstance(t, Count)}
    for time in range(len(choices) + 1):
        if time:
            record = run.step(*choices[time - 1])
            for i in memories:
                target = targets[i]
                assert isinstance(target, Count)
                memories[i] = target.after(memories[i], target.adds(record), target.closes(record))
        for i, target in enumerate(targets):
            if isinstance(target, Count):
                if target.violated(memories[i]):
                    return time, target.seen(memories[i])
            elif not run.finished and not claim.holds(value := target.value(run.q)):
                return time, target.seen(value)
    return None
