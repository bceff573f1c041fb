"""What the proofs of Lemma 10 and Theorem 11 say about single sites of the slope."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from markov_lrsao.model.law import DOWN, UP, StepLaw
from proofs_check.algebra.polynomials import non_negative
from proofs_check.automata.abstraction import Automaton, Transition
from proofs_check.automata.sites import after_move, greedy_share
from proofs_check.automata.slope import bottom_formula, slope_times
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
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

_DOWN, _SITE = "Lemma 10, downward moves", "Theorem 11, one site"
_LAST, _BELOW = "Theorem 11, last site", "Theorem 11, below l+3"


def _downward(workspace: Workspace) -> Iterable[Evidence]:
    """Check who moves down, and that it is never used again in that state."""
    slope = workspace.slope
    for part, classes in (("inner", ("interior", "n-l-2")), ("last", ("n-l-1",))):
        wanted = workspace.actions(_DOWN, part)
        found, again = set(), []
        for automaton in (slope.automata[c] for c in classes):
            falls = [m for m in automaton.moves if m.moved == -1]
            found |= {m.action for m in falls}
            again += [m for m in falls if _used_after(automaton, m)]
        good = found <= set(wanted) and not again
        yield Evidence(
            kind=EvidenceKind.AUTOMATA,
            verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
            part=part,
            summary=f"moves down are made with {', '.join(sorted(found))}, which is not used again "
            f"in that state" + (f", but for {again[0]}" if again else ""),
            scope=EVERYWHERE,
        )

        def bad(graph: Graph, edge: Edge, part: str = part, wanted: list[str] = wanted) -> bool:
            down = edge.next_position < edge.position and edge.action not in wanted
            return down and edge.position in _span(graph.law, part)

        yield workspace.never(_DOWN, part, f"s -> s-1 with {' or '.join(wanted)}", bad)


def _span(law: StepLaw, part: str) -> range:
    """Return l+3 .. n-l-2, or n-l-1."""
    return slope_states(law)[2:-1] if part == "inner" else slope_states(law)[-1:]


def _used_after(automaton: Automaton, move: Transition) -> bool:
    later = after_move(automaton, move)
    return any(m.source in later and m.action == move.action for m in automaton.moves)


def _one_site(workspace: Workspace) -> Iterable[Evidence]:
    """Bound the chance to leave a site and the expected time spent in it."""
    slope = decided_slope(workspace)
    inner = [slope.automata[c] for c in ("interior", "n-l-2")]
    accepting = all(m.moved == 1 for a in inner for m in a.moves if m.direction == UP)
    falls = [
        slope.automata[c].most(lambda m: m.moved == -1) for c in ("interior", "n-l-2", "n-l-1")
    ]
    if not accepting or any(most is None for most in falls):
        yield Evidence(
            kind=EvidenceKind.AUTOMATA,
            verdict=Verdict.UNKNOWN,
            part="leave",
            summary="an upward proposal may be rejected, or falls are unbounded",
        )
        return
    least = min(greedy_share(a, cells, DOWN, -1) for a in inner for cells in a.states)
    assume = ("l >= 2", "n >= 2*l + 5", "s >= l + 3", "s <= n - l - 2")
    yield compared(
        workspace,
        (_SITE, "leave"),
        (f"(n - s)/n + {least}*s/n", ">=", workspace.term(_SITE, "leave")),
        "the least chance to leave s",
        assume=assume,
        kind=EvidenceKind.AUTOMATA,
    )
    yield from _exact_times(workspace, _SITE, "time", lambda law: slope_states(law)[2:-1])
    exits = 1 + max(most for most in falls if most is not None)
    yield compared(
        workspace,
        (_SITE, "time"),
        (f"{exits}*n/(n - s)", "<=", workspace.term(_SITE, "time")),
        f"the expected time in s, for at most {exits} upward exits,",
        assume=assume,
        kind=EvidenceKind.AUTOMATA,
        exact=False,
    )


def _exact_times(
    workspace: Workspace, name: str, part: str, sites: Callable[[StepLaw], Iterable[int]]
) -> Iterable[Evidence]:
    """Look for a site whose exact expected time in phase 2 exceeds the claimed bound."""
    for n, ell in workspace.setting.pairs(workspace.setting.pick(14, 24)):
        steps = slope_times(decided_slope(workspace), n, ell).steps
        for s in sites(workspace.law(n, ell)):
            claimed = workspace.value(name, "time", n=n, l=ell, s=s)
            if steps[s] > claimed:
                yield refuted_at(
                    (name, part),
                    f"at most {claimed} expected steps in state {s}",
                    f"{steps[s]} steps",
                    {"n": str(n), "l": str(ell), "s": str(s)},
                )
                return


def _last_site(workspace: Workspace) -> Iterable[Evidence]:
    """Bound the time at n-l-1 in phase 2, each step of which may go up."""
    automaton = decided_slope(workspace).automata["n-l-1"]
    jump = workspace.induction.actions.index("J")
    zero = all(cells[jump] == "0" for cells in automaton.states)
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if zero else Verdict.UNKNOWN,
        part="J is zero",
        summary="the entry of J in n-l-1 is 0 in all of its sign patterns",
        scope=EVERYWHERE,
    )
    yield from _exact_times(workspace, _LAST, "time", lambda law: slope_states(law)[-1:])
    share = min(greedy_share(automaton, cells, UP, 1) for cells in automaton.states)
    if share > 0:
        yield compared(
            workspace,
            (_LAST, "time"),
            (f"{1 / share}*n/(l + 1)", "<", workspace.term(_LAST, "time")),
            "the expected number of steps at n-l-1",
            kind=EvidenceKind.AUTOMATA,
            exact=False,
        )


def _below(workspace: Workspace) -> Iterable[Evidence]:
    """Bound the mean time on l..l+2 after each fall from l+3 by the mean of T_2^1."""
    require_wait_at_l(workspace)
    factor = to_sympy(workspace.term(_BELOW, "factor"))
    slope, n, ell = decided_slope(workspace), to_sympy("n"), to_sympy("l")
    until = [bottom_formula(slope, exits) for exits in (1, 2, 3)]
    good = True
    for k in (1, 2):
        gap = factor * until[0] - (until[k] - until[k - 1])
        for pair in workspace.setting.pairs(workspace.setting.pick(20, 40)):
            value = gap.subs({n: pair[0], ell: pair[1]})
            if value < 0:
                yield refuted_at(
                    (_BELOW, "time"),
                    f"the time below l+3 after fall {k} is at most {factor} E[T_2^1] on average",
                    f"it is longer by {-value}",
                    {"n": str(pair[0]), "l": str(pair[1])},
                )
                return
        good = good and non_negative(gap)
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        part="time",
        summary=f"after each fall from l+3 the mean time on l..l+2 is at most {factor} E[T_2^1]",
        scope=EVERYWHERE,
    )


STATEMENTS = (
    Statement(
        id=_DOWN,
        title="moves down are made with L or R, and once each",
        where="537, 546, 558",
        claim="In l+3..n-l-2 a move to s-1 is made with L or R, in n-l-1 with L; that objective "
        "is not "
        "used again in s.",
        terms={"inner": "L,R", "last": "L"},
        words=("inner", "last"),
        depends=("Lemma 2", "Lemma 8"),
        checks=(Check(EvidenceKind.AUTOMATA, _downward, parts=("inner", "last")),),
    ),
    Statement(
        id=_BELOW,
        title="time below l+3 in phase 2",
        where="556",
        claim="The walk falls from l+3 at most twice, and each time spends at most E[T_2^1] "
        "steps below "
        "on average.",
        terms={"falls": "2", "factor": "1"},
        depends=("Lemma 9", "Lemma 10"),
        checks=(
            Check(
                EvidenceKind.AUTOMATA,
                counted_on_automata(
                    _BELOW, "falls", "falls", ("interior", "n-l-2"), lambda m: m.moved == -1
                ),
                parts=("falls",),
            ),
            Check(
                EvidenceKind.EXHAUSTIVE,
                counted_on_chains(
                    _BELOW,
                    "falls",
                    ("falls", "falls from state {}"),
                    lambda law: slope_states(law)[2:3],
                    lambda s, step: step.position == s and step.next_position == s - 1,
                ),
                parts=("falls",),
            ),
            Check(EvidenceKind.SYMBOLIC, _below, parts=("time",)),
        ),
    ),
    Statement(
        id=_SITE,
        title="leaving a site, and the time spent in it",
        where="558",
        claim="In l+3..n-l-2 a step leaves s with probability at least (n-s)/n, and the "
        "expected time "
        "spent in s during phase 2 is at most 5n/(n-s).",
        terms={"leave": "(n - s)/n", "time": "5*n/(n - s)"},
        depends=("Lemma 10",),
        checks=(Check(EvidenceKind.AUTOMATA, _one_site, parts=("leave", "time")),),
    ),
    Statement(
        id=_LAST,
        title="the site n-l-1 in phase 2",
        where="558",
        claim="From n-l-1 the walk falls at most once, Q[n-l-1, J] is 0, and the expected time "
        "spent there "
        "in phase 2 is less than 2n/l.",
        terms={"falls": "1", "time": "2*n/l"},
        depends=("Lemma 3", "Lemma 8", "Leaving n-l-1"),
        checks=(
            Check(
                EvidenceKind.AUTOMATA,
                counted_on_automata(_LAST, "falls", "falls", ("n-l-1",), lambda m: m.moved == -1),
                parts=("falls",),
            ),
            Check(
                EvidenceKind.EXHAUSTIVE,
                counted_on_chains(
                    _LAST,
                    "falls",
                    ("falls", "falls from state {}"),
                    lambda law: slope_states(law)[-1:],
                    lambda s, step: step.position == s and step.next_position == s - 1,
                ),
                parts=("falls",),
            ),
            Check(EvidenceKind.AUTOMATA, _last_site, parts=("J is zero", "time")),
        ),
    ),
)
