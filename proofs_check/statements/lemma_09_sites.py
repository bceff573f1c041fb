"""What the proof of Lemma 9 says about l, l+1 and l+2, and about its excursions."""

from __future__ import annotations

from collections.abc import Iterable

from markov_lrsao.model.law import DOWN, UP
from proofs_check.algebra.polynomials import non_negative
from proofs_check.automata.sites import first_steps, greedy_share, return_times
from proofs_check.automata.slope import bottom_chain
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.induction import StepFact
from proofs_check.runs.graph import Edge, Graph
from proofs_check.statements.building import slope_states
from proofs_check.statements.outcomes import compared, refuted_at
from proofs_check.statements.site_checks import (
    counted_on_automata,
    counted_on_chains,
    decided_slope,
    require_wait_at_l,
)
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_ONCE, _LEFT, _ESCAPE = "Lemma 9, R once", "Lemma 9, position l", "Lemma 9, leaving l+1"
_WORST, _LENGTHS = "Lemma 9, worst case", "(E), lengths"


def _left_only(workspace: Workspace) -> Iterable[Evidence]:
    """Show that in phase 2 no other objective than L is chosen on the left plateau."""
    used = workspace.actions(_LEFT, "used")
    others = [a for a, _ in workspace.setting.family.objectives if a not in used]
    if others:
        facts = [StepFact(f"{a} at l", "0 > 1", "p <= l", (2,), (a,)) for a in others]
        yield workspace.induction.prove(facts, "used")

    def bad(graph: Graph, edge: Edge) -> bool:
        return (
            edge.phase == 2
            and edge.position < graph.law.landscape.milestones[0]
            and edge.action not in used
        )

    text = f"only {' or '.join(used)} is used at or below l in phase 2"
    yield workspace.never(_LEFT, "used", text, bad)


def _left_stay(workspace: Workspace) -> Iterable[Evidence]:
    """L+ is accepted at l with chance (n-l)/n, L- rejected, and L stays the only choice."""
    require_wait_at_l(workspace)
    mean = workspace.term(_LEFT, "mean")
    yield compared(workspace, (_LEFT, "mean"), ("n/(n - l)", "<=", mean), "the mean stay at l")
    yield compared(
        workspace,
        (_LEFT, "constant"),
        ("n/(n - l)", "<", workspace.term(_LEFT, "constant")),
        "the mean stay at l",
    )


def _escape(workspace: Workspace) -> Iterable[Evidence]:
    """Read from the automaton of l+1 how it is left after R-, and how long that takes."""
    automaton = decided_slope(workspace).automata["l+1"]
    fallen = {m.target for m in automaton.moves if m.action == "R" and m.moved == -1}
    wanted = workspace.actions(_ESCAPE, "escape")
    leaving = {m.action for m in automaton.moves if m.source in fallen and m.moved != 0}
    loops = all(
        m.target == m.source for m in automaton.moves if m.source in fallen and m.moved == 0
    )
    good = automaton.decided and len(fallen) == 1 and leaving <= set(wanted) and loops
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        part="escape",
        summary=f"after R- at l+1 only {' and '.join(sorted(leaving))} moves away from it",
        scope=EVERYWHERE,
    )

    def bad(graph: Graph, edge: Edge) -> bool:
        first, law = graph.law.landscape.milestones[0], graph.law
        signs = graph.signs(edge.source, int(law.row[first]))
        return (
            edge.position == first != edge.next_position
            and signs[law.actions.index("R")] < 0
            and edge.action not in wanted
        )

    text = f"l+1 is left with {' or '.join(wanted)} once R was used there"
    yield workspace.never(_ESCAPE, "escape", text, bad)
    if good:
        [cells] = fallen
        share = greedy_share(automaton, cells, UP, 1)
        yield compared(
            workspace,
            (_ESCAPE, "mean"),
            (f"{1 / share}*n/(n - l - 1)", "<=", workspace.term(_ESCAPE, "mean")),
            "the mean time from l+1 to l+2 after R-",
        )


def _worst(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the mean times from l+1 to l+2 given the first step, for all valid n, l."""
    require_wait_at_l(workspace)
    wanted = workspace.term(_WORST, "first step")
    found = first_steps(decided_slope(workspace))
    n, ell = to_sympy("n"), to_sympy("l")
    for pair in workspace.setting.pairs(workspace.setting.pick(20, 40)):
        at = {step: mean.subs({n: pair[0], ell: pair[1]}) for step, mean in found.items()}
        largest = max(at.values())
        if at.get(wanted) != largest:
            yield refuted_at(
                (_WORST, ""),
                f"{wanted} as the first step takes longest",
                f"mean times { ({step: str(mean) for step, mean in at.items()}) }",
                {"n": str(pair[0]), "l": str(pair[1])},
            )
            return
    good = all(non_negative(found[wanted] - mean) for mean in found.values())
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary=f"given {wanted} in the first step the mean time to l+2 is {found[wanted]}; the "
        "others "
        f"are not larger",
        scope=EVERYWHERE,
        details=tuple(f"{step}: {mean}" for step, mean in found.items()),
    )


def _lengths(workspace: Workspace) -> Iterable[Evidence]:
    """Bound the mean length of a failing excursion from l+2, whatever the rows there show.

    An excursion fails by a proposal down. Rejected it has length one; accepted, the return from
    l+1 is added. So its mean length given that it fails is 1 + (share of greedy actions that
    accept) times the mean return.
    """
    require_wait_at_l(workspace)
    slope, bound = decided_slope(workspace), workspace.term(_LENGTHS, "failing")
    means, two = return_times(slope), slope.automata["l+2"]
    n, ell = to_sympy("n"), to_sympy("l")
    lengths = {}
    for _, at, lower, upper in bottom_chain(slope, 3)[0]:
        if at == 2:
            share = greedy_share(two, upper, DOWN, -1)
            lengths[lower, upper] = 1 + to_sympy(str(share)) * means[lower]
    for pair in workspace.setting.pairs(workspace.setting.pick(20, 40)):
        values = {k: mean.subs({n: pair[0], ell: pair[1]}) for k, mean in lengths.items()}
        limit = to_sympy(bound).subs({n: pair[0], ell: pair[1]})
        worst = max(values, key=lambda k: values[k])
        if values[worst] > limit:
            yield refuted_at(
                (_LENGTHS, "failing"),
                f"a failing excursion from l+2 has mean length at most {limit}",
                f"{values[worst]} with rows {''.join(worst[0])} at l+1, {''.join(worst[1])} at l+2",
                {"n": str(pair[0]), "l": str(pair[1])},
            )
            return
    good = all(non_negative(to_sympy(bound) - mean) for mean in lengths.values())
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        part="failing",
        summary=f"its mean length is at most {bound} in all {len(lengths)} pairs of rows",
        scope=EVERYWHERE,
        details=tuple(dict.fromkeys(str(mean) for mean in lengths.values())),
    )


def _succeeding(workspace: Workspace) -> Iterable[Evidence]:
    two = decided_slope(workspace).automata["l+2"]
    at_once = all(m.moved == 1 for m in two.moves if m.direction == UP)
    if not at_once:
        yield Evidence(
            kind=EvidenceKind.AUTOMATA,
            verdict=Verdict.UNKNOWN,
            part="succeeding",
            summary="some objective rejects the move from l+2 to l+3",
        )
        return
    yield compared(
        workspace,
        (_LENGTHS, "succeeding"),
        ("1", "=", workspace.term(_LENGTHS, "succeeding")),
        "the length of the succeeding excursion, one move that all objectives accept,",
        kind=EvidenceKind.AUTOMATA,
    )


STATEMENTS = (
    Statement(
        id=_ONCE,
        title="R is used at most once in l+1 and l+2",
        where="522",
        claim="Once chosen in l+1 or l+2, R has a negative entry there, so it is used at most "
        "once.",
        terms={"uses": "1"},
        depends=("Lemma 2", "Lemma 8"),
        checks=(
            Check(
                EvidenceKind.AUTOMATA,
                counted_on_automata(_ONCE, "uses", "", ("l+1", "l+2"), lambda m: m.action == "R"),
            ),
            Check(
                EvidenceKind.EXHAUSTIVE,
                counted_on_chains(
                    _ONCE,
                    "uses",
                    ("", "uses of R in state {}"),
                    lambda law: slope_states(law)[:2],
                    lambda s, step: step.position == s and step.action == "R",
                ),
            ),
        ),
    ),
    Statement(
        id=_LEFT,
        title="only L is used at l in phase 2",
        where="524, 997, 1014, 1107",
        claim="In phase 2 only L is chosen on the left plateau, and the walk stays at l for "
        "n/(n-l) < 2 "
        "steps on average.",
        terms={"used": "L", "mean": "n/(n - l)", "constant": "2"},
        words=("used",),
        depends=("Lemma 4", "Lemma 8"),
        checks=(
            Check(EvidenceKind.SMT, _left_only, parts=("used",)),
            Check(EvidenceKind.SYMBOLIC, _left_stay, parts=("mean", "constant")),
        ),
    ),
    Statement(
        id=_ESCAPE,
        title="after R- only J+ leaves l+1",
        where="524",
        claim="After R- in l+1 only J+ moves away from it, which takes at most 2n/(n-l-1) steps "
        "on average "
        "(L ties with J).",
        terms={"escape": "J", "mean": "2*n/(n - l - 1)"},
        words=("escape",),
        depends=("Lemma 3", "Lemma 8"),
        checks=(Check(EvidenceKind.AUTOMATA, _escape, parts=("escape", "mean")),),
    ),
    Statement(
        id=_WORST,
        title="R- in the first step is the worst case",
        where="524",
        claim="The mean time from l+1 to l+2 is largest if R- is the first step.",
        terms={"first step": "R-"},
        words=("first step",),
        checks=(Check(EvidenceKind.SYMBOLIC, _worst),),
    ),
    Statement(
        id=_LENGTHS,
        title="lengths of excursions from l+2",
        where="526-530",
        claim="Whatever happened before, a failing excursion from l+2 has mean length at most "
        "5; the "
        "succeeding one has length 1.",
        terms={"failing": "5", "succeeding": "1"},
        depends=(_LEFT, _ESCAPE),
        checks=(
            Check(EvidenceKind.SYMBOLIC, _lengths, parts=("failing",)),
            Check(EvidenceKind.AUTOMATA, _succeeding, parts=("succeeding",)),
        ),
    ),
)
