"""Pieces that several statements are built from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from flint import arb, ctx, fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational
from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import RANGE
from proofs_check.claims.expressions import brief, evaluate, names_of, to_ball, to_sympy
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.facts import named
from proofs_check.logic.induction import StepFact
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Counter
from proofs_check.runs.run import SeenStep, run_of
from proofs_check.statements.statement import Check
from proofs_check.statements.workspace import Workspace

__all__ = [
    "BOUND",
    "UNDER_H",
    "at_law",
    "in_each_state",
    "in_no_run",
    "invariant_check",
    "sides_at",
    "size_at",
    "slope_states",
    "state_counters",
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
    return Check(EvidenceKind.SMT, run, parts=(part,))


def step_check(part: str, *facts: StepFact) -> Check:
    """Return the check that step facts follow from the invariants."""

    def run(workspace: Workspace) -> Iterable[Evidence]:
        yield workspace.induction.prove(facts, part)

    run.__qualname__, run.__module__ = f"step fact {facts[0].name}", "proofs_check.logic.induction"
    return Check(EvidenceKind.SMT, run, parts=(part,))


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


def state_counters(
    what: tuple[str, str, str],
    bound: int,
    states: Callable[[StepLaw], Iterable[int]],
    counts: Callable[[int, SeenStep], bool],
) -> Callable[[StepLaw], list[Counter]]:
    """Return law -> the counters of steps that happen at most `bound` times for each state.

    Parameters
    ----------
    what : statement, part, and what is counted, with {} for the state
    counts : (state, step) -> does this step count for this state?
    """
    statement, part, key = what

    def counter(s: int) -> Counter:
        return Counter(statement, part, key.format(s), bound, lambda law, step: counts(s, step))

    return lambda law: [counter(s) for s in states(law)]


def in_each_state(
    workspace: Workspace,
    what: tuple[str, str, str],
    bound: int,
    states: Callable[[StepLaw], Iterable[int]],
    counts: Callable[[int, SeenStep], bool],
) -> Evidence:
    """Check the counters of `state_counters` on all joint chains."""
    return workspace.at_most_each(state_counters(what, bound, states, counts))


def size_at(values: Mapping[str, str], *names: str) -> list[int]:
    """Return the integers of a point.

    Raises
    ------
    ParameterError
        One is missing, or no integer.
    """
    for name in names:
        if not re.fullmatch("[0-9]{1,18}", values.get(name, "")):
            raise ParameterError(f"the point has no integer {name}")
    return [int(values[name]) for name in names]


def _certain(gap: arb, relation: str) -> bool:
    """Whether all numbers of a ball stand in a relation to 0."""
    found = {
        "<=": gap <= 0,
        "<": gap < 0,
        ">=": gap >= 0,
        ">": gap > 0,
        "=": gap == 0,
        "!=": gap != 0,
    }
    return bool(found[relation])


def sides_at(left: str, relation: str, right: str, values: Mapping[str, str]) -> str | None:
    """Return by how much two sides violate their relation at a point, or None if they do not.

    Raises
    ------
    ParameterError
        The point lacks a value, or 200 bits do not tell.
    """
    missing = sorted((names_of(left) | names_of(right)) - set(values) - {"EulerGamma"})
    if missing:
        raise ParameterError(f"the point lacks a value of {', '.join(missing)}")
    at = {name: rational(text, name) for name, text in values.items()}
    precision, ctx.prec = ctx.prec, 200
    try:
        gap = to_ball(to_sympy(left) - to_sympy(right), at)
        if not gap.is_finite():
            raise ParameterError(f"{brief(left)} or {brief(right)} has no value at the point")
        fails = {"<=": gap > 0, "<": gap >= 0, ">=": gap < 0, ">": gap <= 0, "=": gap != 0}[
            relation
        ]
        holds = {"<=": gap <= 0, "<": gap < 0, ">=": gap >= 0, ">": gap > 0, "=": gap == 0}[
            relation
        ]
        if not fails and not holds:
            raise ParameterError(f"200 bits do not tell whether {brief(left)} {relation} the bound")
        return f"the difference of the two sides is {gap.str(12, radius=False)}" if fails else None
    finally:
        ctx.prec = precision


def slope_states(law: StepLaw) -> range:
    """Return l+1 .. n-l-1 of an instance, read from its milestones."""
    first, cut = law.landscape.milestones[:2]
    return range(first, cut)


def in_no_run(
    workspace: Workspace,
    what: tuple[str, str, str],
    look: Callable[[Graph, object, Edge], tuple[object, str | None]],
    start: object = None,
) -> Evidence:
    """Look for a shortest run of the joint chains in which `look` sees a violation.

    `what` is the statement, the part and what is expected.
    """
    statement, part, expected = what
    for graph in workspace.graphs():
        seen: list[str] = []

        def flag(
            memory: object, edge: Edge, graph: Graph = graph, seen: list[str] = seen
        ) -> tuple[object, bool]:
            after, found = look(graph, memory, edge)
            if found is not None:
                seen.append(found)
            return after, found is not None

        path = graph.shortest(flag, start)
        if path is not None:
            return Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                part=part,
                summary=f"{seen[-1]}, after {len(path)} steps",
                scope=workspace.exhaustive_scope,
                counterexample=run_of(
                    graph.law,
                    graph.choices(path),
                    statement=statement,
                    expected=expected,
                    observed=seen[-1],
                ),
            )
    return Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        part=part,
        summary=f"{expected}: no run of the joint chains violates it",
        scope=workspace.exhaustive_scope,
    )
