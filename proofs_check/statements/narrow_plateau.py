"""The remark on l = 1: the right plateau is one position, crossed in O(n^2) whatever is used.

The landscape is the paper's with l = 1 (n >= 7), which is outside the range of all other
statements: phase 1 may end without L, for example. What is needed is proved anew by an induction of
its own: at n-2 the entry of R is at least those of L and J, so a step goes up with probability at
least 1/n; at n-1 every objective accepts the step to n.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.model.landscape import ELL, N, P
from markov_lrsao.model.law import UP
from proofs_check.claims.scope import IN_H, PAPER_HYPER, Scope
from proofs_check.claims.setting import Setting
from proofs_check.claims.terms import Terms
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import cases, region_solver
from proofs_check.logic.facts import named
from proofs_check.logic.induction import Fact, Induction, StepFact
from proofs_check.statements.outcomes import derived, refuted_at
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_NAME = "l = 1"
_SCOPE = Scope("l = 1, n >= 7", IN_H)
_GROUPS = ("walk", "Lemma 2", "Lemma 3", "Lemma 4", "Lemma 8", "Lemma 12")
_KNOWN: dict[object, Induction] = {}
_FURTHER = Fact("L before phase 3", "zL >= 0", (1, 2))


def _narrow(setting: Setting) -> Setting:
    family = replace(setting.family, constraints=(ELL - 1, 1 - ELL, N - 2 * ELL - 5))
    return setting.mutate(family=family)


def _induction(setting: Setting, facts: tuple[Fact, ...]) -> Induction:
    """Return the induction at l = 1, shared between like settings."""
    key = (setting.family, setting.algorithm, setting.hypothesis, facts, setting.second_solver)
    if key not in _KNOWN:
        _KNOWN[key] = Induction(setting, facts)
    return _KNOWN[key]


def _facts(terms: Terms) -> tuple[Fact, ...]:
    """Return the facts that also hold at l = 1; Q[0,L] > 0 in phase 2 does not."""
    found = named(terms)
    kept = [f for group in _GROUPS for f in found[group] if f.name != "L in row 0"]
    return (*kept, _FURTHER)


def _leaving(workspace: Workspace) -> Iterable[Evidence]:
    """Prove that R is always greedy at n-2, where L and R accept the step up."""
    setting = _narrow(workspace.setting)
    induction = _induction(setting, _facts(workspace.terms))
    proof = induction.prove(
        [StepFact("R is greedy at n-2", "tR >= tL and tR >= tJ", "p = n - l - 1", (2, 3))],
        "leaving n-2",
    )
    top, regions = induction.top, region_solver(setting.family)
    found = cases(setting.family, (top,), induction.algorithm.accept_equal)
    rejecting = {
        c.action
        for c in found
        if c.direction == UP and c.outcome < 0 and regions.feasible((*c.region, P - top, top - P))
    }
    good = proof.verdict is Verdict.PROVED and not rejecting & {"L", "R"}
    yield replace(
        proof,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary="R is always greedy at n-2, and L and R accept the step up, so that n-1 is reached "
        "with a probability of at least half of 2/n"
        if good
        else f"{proof.summary}; {sorted(rejecting)} reject the step up at n-2",
        scope=_SCOPE,
    )


def _crossing(workspace: Workspace) -> Iterable[Evidence]:
    """Bound the mean time b from n-1, whichever objective is used there.

    All accept the step to n, of chance 1/n. Otherwise the walk stays, or falls to n-2, from
    which it is back within n steps on average: b <= 1 + (1 - 1/n)(b + n).
    """
    setting = _narrow(workspace.setting)
    regions, last = region_solver(setting.family), N - 1
    rejecting = {
        c.action
        for c in cases(setting.family, (last,), workspace.induction.algorithm.accept_equal)
        if c.direction == UP and c.outcome < 0 and regions.feasible((*c.region, P - last, last - P))
    }
    if rejecting:
        yield Evidence(
            kind=EvidenceKind.SMT,
            verdict=Verdict.UNKNOWN,
            part="crossing",
            summary=f"{sorted(rejecting)} reject the step from n-1 to n",
        )
        return
    bound = workspace.term(_NAME, "bound")
    found = derived(
        workspace,
        (_NAME, "crossing"),
        ["n >= 7", "b >= 0", "b <= 1 + (1 - 1/n)*(b + n)"],
        [f"b <= {bound}"],
        scope=_SCOPE,
    )
    if found.verdict is Verdict.REFUTED:  # a bound of b, which need not be attained
        found = replace(found, verdict=Verdict.UNKNOWN, counterexample=None)
    yield found


def _exact(workspace: Workspace) -> Iterable[Evidence]:
    """Compute E[T_3] at l = 1 exactly, with the paper's hyper-parameters."""
    sizes = range(7, workspace.setting.pick(10, 16))
    for n in sizes:
        law = workspace.law(n, 1)
        result = runtime(law.landscape, law.algorithm, method="crossing", outside_h=True)
        found = result.phases[2].value
        bound = fmpq(workspace.value(_NAME, "bound", n=n, l=1))
        if found > bound:
            yield refuted_at(
                (_NAME, "crossing"),
                f"E[T_3] is at most {bound}",
                f"it is {found}",
                {"n": str(n), "l": "1"},
                kind=EvidenceKind.QUANTITATIVE,
            )
            return
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED,
        part="crossing",
        summary=f"exact E[T_3] is {found} at n = {n}, at most the bound everywhere",
        scope=Scope(f"l = 1, n = {sizes[0]}..{sizes[-1]}", PAPER_HYPER),
    )


def _size(workspace: Workspace) -> Iterable[Evidence]:
    wanted = workspace.number(_NAME, "positions")
    family = _narrow(workspace.setting).family
    regions = region_solver(family)
    [flat] = [p for p in dict(family.objectives)[family.target] if p.last == N - 1]
    count = flat.last - flat.first + 1
    other = [side for side in (count - wanted - 1, wanted - count - 1) if regions.feasible((side,))]
    if other:
        yield refuted_at(
            (_NAME, "positions"),
            f"{wanted} positions in the right plateau",
            f"{count(n=9, ell=1)}",
            {"n": "9", "l": "1"},
            scope=_SCOPE,
        )
        return
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED,
        part="positions",
        summary=f"the right plateau has {wanted} position at l = 1",
        scope=_SCOPE,
    )


STATEMENTS = (
    Statement(
        id=_NAME,
        title="the right plateau at l = 1",
        where="176",
        claim="At l = 1 the right plateau has one position, and is crossed in at most n^2 steps on "
        "average, whichever objective is used on it.",
        scope=_SCOPE,
        terms={"positions": "1", "bound": "n**2"},
        checks=(
            Check(EvidenceKind.SMT, _size, parts=("positions",)),
            Check(EvidenceKind.SMT, _leaving, parts=("leaving n-2",)),
            Check(EvidenceKind.SMT, _crossing, parts=("crossing",)),
            Check(EvidenceKind.QUANTITATIVE, _exact, parts=("crossing",)),
        ),
    ),
)
