"""Lengths of the excursions of Lemma 15's proof, and the time between them (lines 605, 1092-1098).

For all of (H) the bounds rest on four facts about row 0 in phase 3. If R is the only greedy
objective on the plateau it stays so until R+; a rejected R- with Q[0,R] < 0 makes it the only one;
with Q[0,R] = 0 a rejected R- changes nothing; L and J always move (Remark 13). So an excursion
without R+ uses R only at ties at 0, where each step chooses L or J with probability at least 1/2:
before each move of L or J there is on average at most one step of R. The number of moves is
counted on the cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from flint import fmpq

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import UP
from proofs_check.automata.excursion_lengths import ExcursionTimes, excursion_times
from proofs_check.automata.plateau import ENTRY, SECOND, TOP, Leg, PlateauGraph
from proofs_check.automata.sites import greedy_share
from proofs_check.claims.scope import PAPER_HYPER, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.induction import StepFact
from proofs_check.statements.building import step_check
from proofs_check.statements.outcomes import compared, derived, refuted_at
from proofs_check.statements.site_checks import decided_slope, outcomes_on, require_facts
from proofs_check.statements.statement import Check, CheckFunction, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_FAILING, _SUCCEEDING = "Failing excursions, length", "Succeeding excursion, length"
_BETWEEN, _REACH, _MOSTLY = "Time between excursions", "Reaching n-l+1", "Mostly between excursions"
_REJECTED = "p >= n - l and p1 = p"
_FACTS = (
    StepFact(
        "R alone stays so",
        "zR1 > zL1 and zR1 > zJ1",
        f"{_REJECTED} and zR > zL and zR > zJ",
        (3,),
        ("R",),
    ),
    StepFact(
        "R- breaks a tie below 0",
        "zR1 > zL1 and zR1 > zJ1",
        f"{_REJECTED} and zR < 0",
        (3,),
        ("R",),
    ),
    StepFact("R- keeps 0", "zR1 = 0", f"{_REJECTED} and zR = 0", (3,), ("R",)),
    StepFact("L and J move", "p1 != p", "p >= n - l", (3,), ("L", "J"), final=True),
)
_LONGEST = 12


@cache
def _moves(graph: PlateauGraph) -> tuple[int | None, int | None]:
    """Return the most moves with L and J in a failing excursion, and inside the plateau in any.

    The move to n-l+1 that begins the excursion is not counted; None: no bound was found.
    """
    falls: set[int] = {0}
    inside: set[int] = {0}

    def remember(count: int | None, leg: Leg) -> int | None:
        used = leg.action in ("L", "J")
        if leg.action == "R" and leg.direction == UP and leg.source[0] != TOP:
            return None  # E^3
        if count is None:
            begins = used and leg.source[0] == ENTRY and leg.target[0] == SECOND
            return 0 if begins else None
        if leg.target[0] == TOP:
            falls.add(count + 1)
            return None
        count = min(_LONGEST, count + used)
        inside.add(count)
        return count

    graph.memories(None, remember)
    return tuple(None if max(found) >= _LONGEST else max(found) for found in (falls, inside))  # type: ignore[return-value]


def _exact(workspace: Workspace) -> Iterable[tuple[int, int, ExcursionTimes]]:
    pairs = [*workspace.setting.pairs(workspace.setting.pick(13, 24)), (40, 2), (100, 2)]
    for n, ell in pairs:
        yield n, ell, excursion_times(workspace.automata(n, ell))


def _instances(name: str, attribute: str, words: str) -> CheckFunction:
    """Return the check of a bound against exact values, with the paper's hyper-parameters."""

    def exact(workspace: Workspace) -> Iterable[Evidence]:
        largest = fmpq(0)
        count = 0
        for n, ell, times in _exact(workspace):
            found = getattr(times, attribute)
            bound = fmpq(workspace.value(name, "bound", n=n, l=ell))
            count += 1
            if found is None:
                continue
            largest = max(largest, found / bound)
            if found > bound:
                yield refuted_at(
                    (name, "bound"),
                    f"{words} is at most {bound}",
                    f"it is {found}",
                    {"n": str(n), "l": str(ell)},
                    kind=EvidenceKind.QUANTITATIVE,
                )
                return
        yield Evidence(
            kind=EvidenceKind.QUANTITATIVE,
            verdict=Verdict.VERIFIED,
            part="bound",
            summary=f"{words} is at most {to_float(largest):.4f} times the bound",
            scope=Scope(f"{count} instances up to n = 100", PAPER_HYPER),
        )

    exact.__qualname__ = f"exact of {name}"
    return exact


def _unknown(part: str, summary: str) -> Evidence:
    return Evidence(kind=EvidenceKind.AUTOMATA, verdict=Verdict.UNKNOWN, part=part, summary=summary)


def _failing(workspace: Workspace) -> Iterable[Evidence]:
    moves = _moves(workspace.plateau)[0]
    if moves is None:
        yield _unknown("bound", "the moves of a failing excursion are not bounded")
        return
    yield compared(
        workspace,
        (_FAILING, "bound"),
        (str(2 * moves), "<=", workspace.term(_FAILING, "bound")),
        f"the mean length of a failing excursion, with at most {moves} moves by L or J,",
        kind=EvidenceKind.AUTOMATA,
        exact=False,
    )


def _succeeding(workspace: Workspace) -> Iterable[Evidence]:
    """Bound 2 steps per move of L or J, then 2 at a tie or n/(n-p) for R+ alone at p.

    After k moves inside the plateau n-p is at least max(1, l-1-k), so l/(n-p) is at most k + 2.
    """
    moves = _moves(workspace.plateau)[1]
    if moves is None:
        yield _unknown("bound", "the moves of an excursion are not bounded")
        return
    yield derived(
        workspace,
        (_SUCCEEDING, "position"),
        ["l >= 2", "m >= 1", f"m >= l - 1 - {moves}"],
        [f"l <= {moves + 2}*m"],
    )
    yield compared(
        workspace,
        (_SUCCEEDING, "bound"),
        (f"{moves + 2}*n/l + {2 * moves + 2}", "<=", workspace.term(_SUCCEEDING, "bound")),
        "the mean length of the succeeding excursion",
        kind=EvidenceKind.AUTOMATA,
        exact=False,
    )


def _least_share(workspace: Workspace) -> fmpq:
    """Return the least share of greedy actions that go up at n-l-1, in any of its patterns.

    Phase 3 must not fall below n-l-1 (Lemma 12), and at n-l all objectives must accept a step up.
    """
    require_facts(workspace, "no way back")
    cut = workspace.induction.cut
    rejecting = [
        a
        for a in workspace.induction.actions
        if -1 in outcomes_on(workspace, a, UP, (P - cut, cut - P))
    ]
    if rejecting:
        raise VerificationError(f"{rejecting[0]} rejects the step up from n-l")
    automaton = decided_slope(workspace).automata["n-l-1"]
    return min(greedy_share(automaton, cells, UP, 1) for cells in automaton.states)


def _between(workspace: Workspace) -> Iterable[Evidence]:
    """Bound the mean time a from n-l-1, and b from n-l, to n-l+1 or E^3.

    a <= n/(c(l+1)) + b, c the least share of moves up at n-l-1. If R is alone at n-l then b = n/l.
    Else a step at n-l ends it with chance l/n, whatever is chosen, and b <= 1 + (1-l/n)(b +
    n/(c(l+1))). So b <= n/l + n^2/(c l(l+1)). (Means of times cut at k steps are finite and
    satisfy the same.)
    """
    share = _least_share(workspace)
    if share <= 0:
        yield _unknown("bound", "n-l-1 may not be left upwards")
        return
    wait = f"{1 / share}*n/(l + 1)"
    known = ["l >= 2", "n >= 2*l + 5", "b >= n/l", f"b <= 1 + (1 - l/n)*(b + {wait})"]
    yield derived(workspace, (_BETWEEN, "recurrence"), known, [f"b <= n/l + {wait}*n/l"])
    yield compared(
        workspace,
        (_BETWEEN, "bound"),
        (f"{wait} + n/l + {wait}*n/l", "<=", workspace.term(_BETWEEN, "bound")),
        "the mean time from n-l-1 to n-l+1 or E^3",
        kind=EvidenceKind.AUTOMATA,
        exact=False,
    )


def _reach(workspace: Workspace) -> Iterable[Evidence]:
    """From n-l-1 two steps up: n-l-1 is left with share c of (l+1)/n, and at n-l all accept."""
    share = _least_share(workspace)
    yield compared(
        workspace,
        (_REACH, "chance"),
        (f"{share}*(l + 1)/n*l/n", ">=", workspace.term(_REACH, "chance")),
        "the least chance of two steps up from n-l-1",
        kind=EvidenceKind.AUTOMATA,
    )
    for part, mean in (("entering", f"{1 / share}*n/(l + 1)"), ("falling back", "n/(n - l)")):
        yield compared(
            workspace,
            (_REACH, part),
            (mean, "<=", workspace.term(_REACH, part)),
            {
                "entering": "the longest mean wait at n-l-1",
                "falling back": "the mean wait for a fall",
            }[part],
            kind=EvidenceKind.AUTOMATA,
        )


def _mostly(workspace: Workspace) -> Iterable[Evidence]:
    share = fmpq(workspace.value(_MOSTLY, "share"))
    least = fmpq(1)
    count = 0
    for n, ell, times in _exact(workspace):
        found = times.outside / times.total
        least, count = min(least, found), count + 1
        if found <= share:
            yield refuted_at(
                (_MOSTLY, ""),
                f"more than {share} of T_3^1 is spent outside excursions",
                f"{found} of it",
                {"n": str(n), "l": str(ell)},
                kind=EvidenceKind.QUANTITATIVE,
            )
            return
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED,
        summary=f"at least {to_float(least):.4f} of E[T_3^1] is spent outside excursions",
        scope=Scope(f"{count} instances up to n = 100", PAPER_HYPER),
    )


_R_ALONE = step_check("R on the plateau", *_FACTS)

STATEMENTS = (
    Statement(
        id=_REACH,
        title="from n-l-1 to n-l+1",
        where="1092",
        claim="The chance of two steps up from n-l-1 is at least l^2/(2n^2); the mean wait at "
        "n-l-1 is at "
        "most 2n/l, and a fall from n-l is proposed within n/(n-l) < 2 steps on average.",
        terms={"chance": "l**2/(2*n**2)", "entering": "2*n/l", "falling back": "2"},
        depends=("Leaving n-l-1", "Remark 13"),
        checks=(
            Check(EvidenceKind.AUTOMATA, _reach, parts=("chance", "entering", "falling back")),
        ),
    ),
    Statement(
        id=_BETWEEN,
        title="time between two excursions",
        where="605, 1092-1094",
        claim="Whatever happened before, the mean time from n-l-1 to n-l+1 (or to E^3) is at most "
        "4 n^2/l^2; in particular n-l+1 or E^3 is reached almost surely.",
        terms={"bound": "4*n**2/l**2"},
        depends=(_REACH, "Leaving n-l-1", "Remark 13"),
        checks=(
            _R_ALONE,
            Check(EvidenceKind.AUTOMATA, _between, parts=("recurrence", "bound")),
            Check(
                EvidenceKind.QUANTITATIVE,
                _instances(_BETWEEN, "between", "the mean time from n-l-1 to n-l+1 or E^3"),
                parts=("bound",),
            ),
        ),
    ),
    Statement(
        id=_FAILING,
        title="length of a failing excursion",
        where="1098",
        claim="A failing excursion takes at most 4 steps on average.",
        terms={"bound": "4"},
        depends=("Moves in a walk", "Remark 13"),
        checks=(
            _R_ALONE,
            Check(EvidenceKind.AUTOMATA, _failing, parts=("bound",)),
            Check(
                EvidenceKind.QUANTITATIVE,
                _instances(_FAILING, "failing", "the mean length of a failing excursion"),
                parts=("bound",),
            ),
        ),
    ),
    Statement(
        id=_SUCCEEDING,
        title="length of the succeeding excursion",
        where="605, 1098",
        claim="The succeeding excursion takes at most 10 n/l steps on average.",
        terms={"bound": "10*n/l"},
        depends=("Moves in a walk", "Remark 13"),
        checks=(
            _R_ALONE,
            Check(EvidenceKind.AUTOMATA, _succeeding, parts=("position", "bound")),
            Check(
                EvidenceKind.QUANTITATIVE,
                _instances(
                    _SUCCEEDING, "succeeding", "the mean length of the succeeding excursion"
                ),
                parts=("bound",),
            ),
        ),
    ),
    Statement(
        id=_MOSTLY,
        title="T_3^1 is mostly spent between excursions",
        where="1098",
        claim="More than half of E[T_3^1] is spent outside excursions.",
        terms={"share": "1/2"},
        checks=(Check(EvidenceKind.QUANTITATIVE, _mostly),),
    ),
)
