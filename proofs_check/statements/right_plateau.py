"""Single sentences about phase 3 and how it begins: sections 4.2 and 5.5, and the appendix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import fmpq

from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import DOWN, UP, StepLaw
from proofs_check.automata.sites import greedy_share
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import cases, region_solver
from proofs_check.logic.induction import StepFact
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Monitor, step_monitor
from proofs_check.runs.run import Record, Run
from proofs_check.statements.building import at_law, in_no_run, step_check
from proofs_check.statements.outcomes import compared, refuted_at
from proofs_check.statements.site_checks import decided_slope, outcomes_on, require_facts
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_BEGINS, _ONLY_WAY = "Phase 3 begins with L", "P(E), only way"
_FRESH, _TOP, _STUCK = "Phase 1 updates row 0", "Lemma 12, choices at n-l-1", "Not stuck"
_TAU = "tau recurrences, steps"
_VARIES = "Leaving n-l-1, depends on t"


def _cut(law: StepLaw) -> int:
    return law.landscape.milestones[1]


# -- the beginning of phase 3, and P(E) ----------------------------------------------------


def _begins(workspace: Workspace) -> Iterable[Evidence]:
    wanted = workspace.actions(_BEGINS, "chosen")
    if "L" in wanted:
        yield workspace.induction.prove(
            [
                StepFact("L positive at T1 + T2", "zL1 > 0", "p1 = n - l", (2,)),
                StepFact(
                    "so L is chosen", "0 > 1", "p >= n - l and zL > 0", (3,), ("J", "R"), final=True
                ),
            ]
        )

    def look(graph: Graph, memory: object, edge: Edge) -> tuple[object, str | None]:
        wrong = memory is True and edge.action not in wanted
        seen = f"phase 3 begins with {edge.action}" if wrong else None
        return edge.phase == 2 and edge.next_phase == 3, seen

    expected = f"phase 3 begins with {' or '.join(wanted)}"
    yield in_no_run(workspace, (_BEGINS, "", expected), look, False)


def _only_way(workspace: Workspace) -> Iterable[Evidence]:
    """Show what a first step with L or J leaves for all of phase 1.

    After it Q[0,J] < 0, or Q[0,R] = 0 and Q[0,L] > 0; and every step of phase 1 keeps that.
    """
    wanted = workspace.actions(_ONLY_WAY, "first")
    if "R" in wanted:
        fresh = "p = 0 and zL = 0 and zJ = 0 and zR = 0"
        after, kept = (f"zJ{x} < 0 or zR{x} = 0 and zL{x} > 0" for x in ("1", ""))
        yield workspace.induction.prove(
            [
                StepFact("the first step", after, fresh, (1,), ("L", "J")),
                StepFact("every other step of phase 1", after, kept, (1,)),
            ]
        )

    def look(graph: Graph, memory: object, edge: Edge) -> tuple[object, str | None]:
        first = memory or edge.action
        if edge.phase == edge.next_phase or edge.phase != 1:
            return first, None
        law = graph.law
        signs = dict(zip(law.actions, graph.signs(edge.target, int(law.row[0])), strict=True))
        wrong = signs["R"] < 0 <= signs["J"] and first not in wanted
        return (
            first,
            f"Q[0,R] < 0 <= Q[0,J] at T1, but {first} was used at time 0" if wrong else None,
        )

    expected = f"Q[0,R] < 0 <= Q[0,J] at T1 only if {' or '.join(wanted)} was used at time 0"
    yield in_no_run(workspace, (_ONLY_WAY, "", expected), look)


# -- rows and choices ------------------------------------------------------------------------


def _row_zero(workspace: Workspace) -> Iterable[Evidence]:
    state = workspace.term(_FRESH, "state")
    value = at_law(state)
    yield workspace.induction.prove(
        [StepFact("phase 1 is in one state", f"s = {state}", phases=(1,))]
    )
    yield workspace.never(
        _FRESH,
        "",
        f"the state is {state} in phase 1",
        lambda graph, edge: (
            edge.phase == 1
            and int(graph.law.row_value[graph.law.row[edge.position]]) != value(graph.law)
        ),
    )


def _choices_at_top(workspace: Workspace) -> Iterable[Evidence]:
    """Exclude choices at n-l-1: J never crosses to n-l, and L is not chosen in phase 3."""
    actions = [name for name, _ in workspace.setting.family.objectives]
    crossing = workspace.actions(_TOP, "crossing")
    later = workspace.actions(_TOP, "phase 3")
    for part, wanted, when, phases in (
        ("crossing", crossing, "p = n - l - 1 and p1 = n - l", (2, 3)),
        ("phase 3", later, "p = n - l - 1", (3,)),
    ):
        others = [a for a in actions if a not in wanted]
        if others:
            facts = [StepFact(f"{a} at n-l-1", "0 > 1", when, phases, (a,)) for a in others]
            yield workspace.induction.prove(facts, part)

    def crosses(graph: Graph, edge: Edge) -> bool:
        cut = _cut(graph.law)
        return edge.position < cut == edge.next_position and edge.action not in crossing

    def chosen(graph: Graph, edge: Edge) -> bool:
        at_top = edge.phase == 3 and edge.position == _cut(graph.law) - 1
        return at_top and edge.action not in later

    yield workspace.never(_TOP, "crossing", f"n-l is entered with {' or '.join(crossing)}", crosses)
    yield workspace.never(_TOP, "phase 3", f"{' or '.join(later)} at n-l-1 in phase 3", chosen)


def _not_stuck(workspace: Workspace) -> Iterable[Evidence]:
    least = workspace.term(_STUCK, "least")
    yield workspace.induction.prove(
        [
            StepFact(
                "R is rewarded at n-l-1",
                f"tR1 > {least}",
                "p = n - l - 1 and p1 = n - l and zL < 0 and zJ < 0 and zR < 0",
                (2, 3),
                ("R",),
            )
        ]
    )


def _stuck_monitor(workspace: Workspace) -> Sequence[Monitor]:
    least = at_law(workspace.term(_STUCK, "least"))

    def look(run: Run, record: Record) -> str | None:
        rewarded = record.action == "R" and record.position < _cut(run.law) <= record.next_position
        negative = rewarded and max(run.row(0)) < 0
        low = negative and record.new <= least(run.law)
        return f"Q[n-l-1, R] = {record.new} with row 0 negative" if low else None

    return [step_monitor(_STUCK, "", "R+ at n-l-1 leaves a large entry", look)]


def _varies(workspace: Workspace) -> Iterable[Evidence]:
    """Collect the shares with which n-l-1 is left upwards in phase 3.

    n-l-1 is fresh when it is first hit, so that each way up from its fresh row has a positive
    chance. Phase 3 begins with L, which accepts the step back to n-l-1 (Remark 13).
    """
    wanted = workspace.number(_VARIES, "values")
    require_facts(workspace, "L in row 0", "L or J", "L or R", "no way back")
    cut = workspace.induction.cut
    back = outcomes_on(workspace, "L", DOWN, (P - cut, cut - P))
    automaton = decided_slope(workspace).automata["n-l-1"]
    start = automaton.states[0]
    shares = {
        greedy_share(automaton, m.target, UP, 1)
        for m in automaton.moves
        if m.source == start and m.moved == 1
    }
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if -1 not in back and len(shares) >= wanted else Verdict.UNKNOWN,
        summary=f"after the first crossing the shares are {sorted(map(str, shares))}",
        scope=EVERYWHERE,
    )
    for graph in workspace.graphs():
        top, found = _cut(graph.law) - 1, set()
        for node, (position, phase, _) in enumerate(graph.nodes):
            if position == top and phase == 3:
                steps = graph.outgoing[node]
                up = {e.action for e in steps if e.next_position > top}
                found.add(fmpq(len(up), len({e.action for e in steps})))
        if len(found) < wanted:
            n, ell = graph.law.n, graph.law.landscape.ell
            yield refuted_at(
                (_VARIES, ""),
                f"at least {wanted} different chances to leave n-l-1 in phase 3",
                f"shares of (l+1)/n: {sorted(map(str, found))}",
                {"n": str(n), "l": str(ell)},
                scope=workspace.exhaustive_scope,
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary=f"{len(found)} different chances, as shares of (l+1)/n: {sorted(map(str, found))}",
        scope=workspace.exhaustive_scope,
    )


# -- the recurrences of Lemma 15's lower bound --------------------------------------------------


def _both_sides(workspace: Workspace) -> Iterable[Evidence]:
    """J accepts both proposals at n-l; n-l-1 is left with a chance of at most (l+1)/n."""
    family = workspace.setting.family
    cut, regions = family.milestones[1], region_solver(family)
    here = (P - cut, cut - P)
    found = [
        c
        for c in cases(family, (cut - 1,), workspace.induction.algorithm.accept_equal)
        if c.action == "J" and regions.feasible((*c.region, *here))
    ]
    good = {c.direction for c in found} == {DOWN, UP} and all(c.outcome >= 0 for c in found)
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        part="both sides",
        summary="J accepts both proposals at n-l" if good else "J rejects a proposal at n-l",
        scope=EVERYWHERE,
    )
    automaton = workspace.slope.automata["n-l-1"]
    if automaton.decided:
        share = max(greedy_share(automaton, cells, UP, 1) for cells in automaton.states)
        yield compared(
            workspace,
            (_TAU, "chance"),
            (f"{share}*(l + 1)/n", "<=", workspace.term(_TAU, "chance")),
            "the largest chance to move from n-l-1 to n-l",
            kind=EvidenceKind.AUTOMATA,
        )


STATEMENTS = (
    Statement(
        id=_FRESH,
        title="phase 1 stays in the state 0",
        where="509, 976, 997, 1014",
        claim="Every step of phase 1 begins in the state 0, so that all other rows are still "
        "zero at T1.",
        terms={"state": "0"},
        checks=(Check(EvidenceKind.SMT, _row_zero),),
    ),
    Statement(
        id=_STUCK,
        title="r < 1/(alpha gamma) lets R leave n-l-1",
        where="316, 579",
        claim="If all of row 0 is negative, R+ at n-l-1 still leaves Q[n-l-1, R] > 0.",
        terms={"least": "0"},
        depends=("Lemma 12",),
        checks=(Check(EvidenceKind.SMT, _not_stuck),),
        monitors=_stuck_monitor,
    ),
    Statement(
        id=_TOP,
        title="who is chosen at n-l-1",
        where="1023, 1042",
        claim="n-l is entered from n-l-1 with L or R; in phase 3 L is not chosen at n-l-1.",
        terms={"crossing": "L,R", "phase 3": "J,R"},
        words=("crossing", "phase 3"),
        depends=("Lemma 3", "Lemma 12"),
        checks=(Check(EvidenceKind.SMT, _choices_at_top, parts=("crossing", "phase 3")),),
    ),
    Statement(
        id=_VARIES,
        title="the chance to leave n-l-1 depends on the time",
        where="582",
        claim="In phase 3 the probability to leave n-l-1 depends on t: it takes at least two "
        "values.",
        terms={"values": "2"},
        depends=("Leaving n-l-1", "Phase 3 begins with L", "Remark 13"),
        checks=(Check(EvidenceKind.AUTOMATA, _varies),),
    ),
    Statement(
        id=_BEGINS,
        title="the first step of phase 3 is made with L",
        where="1107, 1115",
        claim="At time T1 + T2 the entry Q[0,L] is positive, so L is chosen.",
        terms={"chosen": "L"},
        words=("chosen",),
        depends=("Lemma 4", "Lemma 6", "Lemma 8"),
        checks=(Check(EvidenceKind.SMT, _begins),),
    ),
    Statement(
        id=_ONLY_WAY,
        title="Q[0,R] < 0 <= Q[0,J] needs R+ at time 0",
        where="1107",
        claim="Phase 1 ends with Q[0,R] < 0 <= Q[0,J] only if R was used in the first step.",
        terms={"first": "R"},
        words=("first",),
        depends=("Lemma 6",),
        checks=(Check(EvidenceKind.SMT, _only_way),),
    ),
    Statement(
        id=_TAU,
        title="what the recurrences assume",
        where="1124",
        claim="Leaving through n-l makes Q[0,L] negative and a non-negative Q[0,J] positive, so "
        "that J is "
        "used again there; J accepts both sides of n-l; n-l-1 is left with probability at most "
        "(l+1)/n.",
        terms={"chance": "(l + 1)/n"},
        depends=("Lemma 12", "Leaving n-l-1"),
        checks=(
            step_check(
                "L negative",
                StepFact("L leaves", "zL1 < 0", "p = n - l and p1 = n - l - 1", (3,), ("L",)),
            ),
            step_check(
                "J positive",
                StepFact(
                    "J leaves", "zJ1 > 0", "p = n - l and p1 = n - l - 1 and zJ >= 0", (3,), ("J",)
                ),
            ),
            Check(EvidenceKind.SMT, _both_sides, parts=("both sides", "chance")),
        ),
    ),
)
