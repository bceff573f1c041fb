"""Checks that statements about single sites of the slope have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from markov_lrsao.errors import VerificationError
from markov_lrsao.model.affine import Affine
from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import DOWN, UP, StepLaw
from proofs_check.automata.abstraction import SlopeAutomata, Transition
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import cases, region_solver
from proofs_check.runs.run import SeenStep
from proofs_check.statements.building import in_each_state
from proofs_check.statements.statement import CheckFunction
from proofs_check.statements.workspace import Workspace

__all__ = [
    "counted_on_automata",
    "counted_on_chains",
    "decided_slope",
    "outcomes_on",
    "require_facts",
    "require_wait_at_l",
]


def counted_on_automata(
    name: str,
    key: str,
    part: str,
    classes: tuple[str, ...],
    counts: Callable[[Transition], bool],
) -> CheckFunction:
    """Return the check that moves of some sort happen at most so often in rows of some classes."""

    def automata(workspace: Workspace) -> Iterable[Evidence]:
        bound = workspace.number(name, key)
        found = {c: workspace.slope.automata[c].most(counts) for c in classes}
        good = all(most is not None and most <= bound for most in found.values())
        yield Evidence(
            kind=EvidenceKind.AUTOMATA,
            verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
            part=part,
            summary=f"largest numbers by class of sites: {found}",
            scope=EVERYWHERE,
        )

    automata.__qualname__ = f"automata of {name}, {key}"
    return automata


def counted_on_chains(
    name: str,
    key: str,
    what: tuple[str, str],
    states: Callable[[StepLaw], Iterable[int]],
    counts: Callable[[int, SeenStep], bool],
) -> CheckFunction:
    """Return the same check on joint chains; `what` is the part and what is counted."""

    def chains(workspace: Workspace) -> Iterable[Evidence]:
        bound = workspace.number(name, key)
        yield in_each_state(workspace, (name, *what), bound, states, counts)

    chains.__qualname__ = f"chains of {name}, {key}"
    return chains


def decided_slope(workspace: Workspace) -> SlopeAutomata:
    """Return the automata of the slope, whose shares mean nothing where signs do not decide.

    Raises
    ------
    VerificationError
        A comparison is open.
    """
    slope = workspace.slope
    open_ = [text for a in slope.automata.values() for text in a.undecided]
    if open_:
        raise VerificationError(f"signs do not decide: {open_[0]}")
    return slope


def outcomes_on(
    workspace: Workspace, action: str, direction: int, stretch: tuple[Affine, ...]
) -> set[int]:
    """Return the outcomes of a proposal on a stretch of positions, n and l unknown.

    They are 1 for a gain, 0 for an equal value, -1 for a rejection.
    """
    family = workspace.setting.family
    regions = region_solver(family)
    return {
        c.outcome
        for c in cases(family, (), workspace.induction.algorithm.accept_equal)
        if c.action == action
        and c.direction == direction
        and regions.feasible((*c.region, *stretch))
    }


def require_facts(workspace: Workspace, *names: str) -> None:
    """Refuse to go on without invariants that an argument in words rests on.

    Raises
    ------
    VerificationError
        One of them is not established.
    """
    known = {fact.name for fact in workspace.induction.established}
    missing = [name for name in names if name not in known]
    if missing:
        raise VerificationError(f"the argument needs {missing[0]!r}, which is not established")


def require_wait_at_l(workspace: Workspace) -> None:
    """Refuse to go on unless phase 2 waits at l for L+, n/(n-l) steps on average.

    Q[0,L] is positive and so the only greedy entry of row 0; at l L+ gains and L- is rejected.

    Raises
    ------
    VerificationError
        It does not.
    """
    require_facts(workspace, "L in row 0", "L or J", "L or R")
    at = workspace.induction.first - 1
    here = (P - at, at - P)
    if outcomes_on(workspace, "L", UP, here) != {1} or outcomes_on(workspace, "L", DOWN, here) != {
        -1
    }:
        raise VerificationError("L does not lead from l to l+1, and nowhere else")
