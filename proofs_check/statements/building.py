"""Pieces that several statements are built from."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flint import fmpq

from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import RANGE
from proofs_check.claims.expressions import evaluate
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind
from proofs_check.logic.facts import named
from proofs_check.logic.induction import StepFact
from proofs_check.runs.monitors import Counter
from proofs_check.runs.run import SeenStep
from proofs_check.statements.statement import Check
from proofs_check.statements.workspace import Workspace

__all__ = [
    "BOUND",
    "UNDER_H",
    "at_law",
    "in_each_state",
    "invariant_check",
    "slope_states",
    "step_check",
]

UNDER_H = (*HYPOTHESIS, *RANGE)
BOUND = "(n - l - 1)/(1 - gamma)"
"""The bound of Lemma 2, as the displayed lines of later proofs use it."""


def invariant_check(group: str, part: str = "", names: tuple[str, ...] = ()) -> Check:
    """Return the check that the facts of a statement are inductive (all, or those named)."""

    def run(workspace: Workspace) -> Iterable[Evidence]:
        facts = [f for f in named(workspace.terms)[group] if not names or f.name in names]
        yield workspace.induction.prove(facts, part)

    run.__qualname__, run.__module__ = f"invariant of {group}", "proofs_check.logic.facts"
    return Check(EvidenceKind.SMT, run)


def step_check(part: str, *facts: StepFact) -> Check:
    """Return the check that step facts follow from the invariants."""

    def run(workspace: Workspace) -> Iterable[Evidence]:
        yield workspace.induction.prove(facts, part)

    run.__qualname__, run.__module__ = f"step fact {facts[0].name}", "proofs_check.logic.induction"
    return Check(EvidenceKind.SMT, run)


def at_law(text: str) -> Callable[[StepLaw], fmpq]:
    """Return a function law -> exact value of a term in n, l, alpha, gamma, r."""
    known: dict[StepLaw, fmpq] = {}

    def value(law: StepLaw) -> fmpq:
        if law not in known:
            parameters = law.algorithm.parameters
            assert parameters is not None
            known[law] = fmpq(
                evaluate(
                    text,
                    {
                        "n": fmpq(law.n),
                        "l": fmpq(law.landscape.ell),
                        "alpha": parameters.alpha,
                        "gamma": parameters.gamma,
                        "r": parameters.r,
                    },
                    {"number": fmpq},
                )
            )
        return known[law]

    return value


def in_each_state(
    workspace: Workspace,
    what: tuple[str, str, str],
    bound: int,
    states: Callable[[StepLaw], Iterable[int]],
    counts: Callable[[int, SeenStep], bool],
) -> Evidence:
    """Check on all joint chains that steps are counted at most `bound` times for each state.

    Parameters
    ----------
    what : statement, part, and what is counted, with {} for the state
    counts : (state, step) -> does this step count for this state?
    """
    statement, part, key = what

    def counter(s: int) -> Counter:
        return Counter(statement, part, key.format(s), bound, lambda law, step: counts(s, step))

    return workspace.at_most_each(lambda law: [counter(s) for s in states(law)])


def slope_states(law: StepLaw) -> range:
    """Return l+1 .. n-l-1 of an instance, read from its milestones."""
    first, cut = law.landscape.milestones[:2]
    return range(first, cut)
