"""A claim on one instance: all its targets, by patterns first, by values where these are open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from markov_lrsao.errors import StateSpaceTooLargeError, VerificationError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Bar
from proofs_check.own.abstraction import Abstraction, Fails, Holds, Open
from proofs_check.own.bounds import search_bounds
from proofs_check.own.language import Claim
from proofs_check.own.targets import Count, State, Target, first_violation, targets_of
from proofs_check.own.values import search_values
from proofs_check.runs.run import Choice

__all__ = ["Finding", "Outcome", "check_instance"]

Outcome = Literal["holds", "fails", "undecided"]


@dataclass(frozen=True)
class Finding:
    """What was found out about a claim on one instance.

    Attributes
    ----------
    choices, seen : the run at the end of which the claim fails, and the value there
    shortest : whether no shorter run violates the claim
    states : the largest number of states of one search
    reason : why it is undecided
    """

    law: StepLaw
    outcome: Outcome
    choices: tuple[Choice, ...] = ()
    seen: str = ""
    shortest: bool = True
    states: int = 0
    reason: str = ""


class _Search:
    """The best run so far, and what could not be decided."""

    def __init__(self, law: StepLaw, limit: int, bar: Bar) -> None:
        self.law, self.limit, self.bar = law, limit, bar
        self.best: Fails | None = None
        self.states = 0
        self.reasons: list[str] = []

    @property
    def below(self) -> int | None:
        """Only shorter runs are of interest."""
        return None if self.best is None else len(self.best.choices)

    def take(self, found: Holds | Fails) -> None:
        """Keep a run, or the size of a search without one."""
        if isinstance(found, Holds):
            self.states = max(self.states, found.states)
        elif self.best is None or len(found.choices) < len(self.best.choices):
            self.best = found

    def patterns(self, targets: Sequence[Target]) -> tuple[Abstraction | None, list[Target]]:
        """Decide targets by patterns; return those that need values."""
        try:
            walks = Abstraction(self.law, self.limit, self.bar)
        except StateSpaceTooLargeError:  # too many patterns to be derived
            return None, list(targets)
        left: list[Target] = []
        for target in targets:
            try:
                found = walks.decide(target, self.below)
            except StateSpaceTooLargeError as error:
                self.reasons.append(f"{target.label}: {error}")
                continue
            if isinstance(found, Open):
                left.append(target)
            else:
                self.take(found)
        return walks, left

    def values(self, walks: Abstraction | None, targets: Sequence[Target]) -> None:
        """Decide targets by values: bounds on entries row by row, other states all at once."""
        bounds = [t for t in targets if _is_bound(t) and walks is not None and walks.decided]
        others = [t for t in targets if t not in bounds]
        states = [t for t in others if isinstance(t, State)]
        groups = ([states] if states else []) + [[t] for t in others if isinstance(t, Count)]
        for target in bounds:
            assert walks is not None
            assert isinstance(target, State)
            self.tried(target, partial(search_bounds, walks, target, self.below))
        for group in groups:
            search = partial(
                search_values, self.law, group, limit=self.limit, below=self.below, bar=self.bar
            )
            self.tried(group[0], search)

    def tried(self, target: Target, search: Callable[[], Holds | Fails]) -> None:
        """Keep what a search finds, or why it gave up."""
        try:
            self.take(search())
        except StateSpaceTooLargeError as error:
            self.reasons.append(f"{target.label}: {error}")


def _is_bound(target: Target) -> bool:
    return isinstance(target, State) and target.action is not None and target.claim.relation != "="


def check_instance(claim: Claim, law: StepLaw, *, limit: int, bar: Bar) -> Finding:
    """Decide a claim on all runs of an instance.

    Raises
    ------
    ParameterError
        The instance has no such objective or position.
    VerificationError
        A run that was found does not violate the claim when it is played: an error of ours.
    """
    search = _Search(law, limit, bar)
    walks, left = search.patterns(targets_of(claim, law))
    search.values(walks, left)
    if search.best is not None:
        choices = search.best.choices
        seen = first_violation(claim, law, choices)
        if seen is None or seen[0] != len(choices):
            raise VerificationError(
                f"the run found against {claim} does not violate it; please report this"
            )
        sure = search.best.shortest and not search.reasons
        return Finding(law, "fails", choices, seen[1], sure, search.states)
    if search.reasons:
        return Finding(law, "undecided", reason=search.reasons[0], states=search.states)
    return Finding(law, "holds", states=search.states)
