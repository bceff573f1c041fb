"""Theorem 11: the runtime of phase 2, and the sharper constant 3."""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forms.asymptotics import phase2_asymptotics
from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import UP
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE, Derivation, Line
from proofs_check.automata.abstraction import Automaton
from proofs_check.automata.quantities import crosscheck, phase2_mean
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_ball, to_sympy
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import cases, region_solver
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS", "upward_shares"]

BOUND = "5*n*ln((n - l - 3)/(l + 1)) + 2*n/l"


def _value(text: str, n: int, ell: int) -> float:
    return float(to_ball(to_sympy(text), {"n": fmpq(n), "l": fmpq(ell)}).mid())


def _quantitative(workspace: Workspace) -> Iterable[Evidence]:
    """Hold the exact E[T_2] against the bound for all valid (n, l) up to a limit."""
    bound = workspace.term("Theorem 11", "bound")
    limit = workspace.setting.pick(40, 120)
    pairs = workspace.setting.pairs(limit)
    far = [(n, ell) for n in (200, 400) for ell in (2, 14, n // 2 - 3)]
    wrong = crosscheck(workspace.slope, pairs[:: max(1, len(pairs) // 3)])
    if wrong is not None:
        yield Evidence(kind=EvidenceKind.QUANTITATIVE, verdict=Verdict.UNKNOWN, summary=wrong)
        return
    excess = {
        (n, ell): to_float(phase2_mean(workspace.slope, n, ell)) - _value(bound, n, ell)
        for n, ell in [*pairs, *far]
    }
    worst = max(excess, key=lambda pair: excess[pair])
    ratios = {
        pair: to_float(phase2_mean(workspace.slope, *pair)) / _value(bound, *pair)
        for pair in excess
    }
    high, low = max(ratios, key=lambda p: ratios[p]), min(ratios, key=lambda p: ratios[p])
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED,
        summary=f"E[T2] - ({bound}) is at most {excess[worst]:.3f} (at n, l = {worst}); the ratio "
        f"lies in [{ratios[low]:.4f}, {ratios[high]:.4f}]",
        range=f"all {len(pairs)} valid (n, l) with n <= {limit}, and n = 200, 400",
        details=(
            f"largest ratio at {high}, smallest at {low}",
            "E[T2] is the same for all hyper-parameters in (H)",
        ),
    )


def _asymptotic(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the bound with the true expansion at fixed l."""
    import sympy

    bound = to_sympy(workspace.term("Theorem 11", "bound"))
    found = phase2_asymptotics()
    n, ell = sympy.symbols("n l", positive=True)
    for fixed in (2, 4):
        gap = sympy.expand_log(
            sympy.simplify((found.fixed_ell() - bound).subs(ell, fixed) / n), force=True
        )
        limit = sympy.limit(gap, n, sympy.oo)
        if limit == sympy.oo:
            yield Evidence(
                kind=EvidenceKind.SYMBOLIC,
                verdict=Verdict.REFUTED,
                summary=f"E[T2]/n - bound/n tends to +infinity at l = {fixed}: E[T2] is "
                f"{found.leading} n ln n + O(n) there",
                counterexample=Counterexample(
                    statement="Theorem 11",
                    expected=f"E[T2] <= {bound} + O(1)",
                    observed=f"E[T2] = {found.leading} n ln n + O(n)",
                    values={"l": str(fixed), "n": "oo"},
                ),
            )
            return
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.VERIFIED,
        summary=f"E[T2] / (n ln n) tends to {found.leading}; the paper's bound has 5",
        range="n -> infinity at fixed l; paper's hyper-parameters",
    )


def _proof(workspace: Workspace) -> Iterable[Evidence]:
    """Prove the bound from the automata, with 3 in place of 5.

    On l+2..n-l-2 every objective accepts an upward move, so by Wald's identity the expected
    number of steps at s is n/(n-s) E[1 + D_{s+1}] <= 3n/(n-s) as D <= 2. At n-l-1 a step leaves
    upwards with probability at least (l+1)/(2n). At or below l+2 the walk spends O(1).
    """
    induction, slope = workspace.induction, workspace.slope
    solver = region_solver(workspace.setting.family)
    inside = (P - induction.first - 1, induction.top - 1 - P)
    found = cases(
        workspace.setting.family, (induction.first, induction.top), induction.algorithm.accept_equal
    )
    rejecting = [
        c
        for c in found
        if c.direction == UP and c.outcome < 0 and solver.feasible((*c.region, *inside))
    ]
    down = {name: a.most(lambda m: m.moved == -1) for name, a in slope.automata.items()}
    inner = [down[x] for x in ("interior", "n-l-2", "n-l-1") if x in down]
    bound = workspace.term("Theorem 11", "bound")
    steps: list[str] = []
    if rejecting or any(d is None for d in inner):
        yield Evidence(
            kind=EvidenceKind.AUTOMATA,
            verdict=Verdict.UNKNOWN,
            summary="upward moves are rejected on the slope, or D is unbounded",
        )
        return
    most = 1 + max(d for d in inner if d is not None)
    sites = f"{most}*n*(H(n - l - 3) - H(l + 1))"
    total = f"{sites} + 2*n/(l + 1)"
    first = compare_sides(total, "<= O", bound, RANGE, order="1")
    sharper = compare_sides(
        total, "<= O", f"{most}*n*ln((n - l - 3)/(l + 1)) + 2*n/(l + 1)", RANGE, order="1"
    )
    share = min(upward_shares(slope.automata["n-l-1"]))
    lower = _bounded_below(workspace)
    good = first.status == "proved" and share >= fmpq(1, 2) and lower is not None
    steps = [
        f"steps on l+3..n-l-2: at most {sites} (D <= {most - 1}, all objectives accept upwards)",
        f"state n-l-1 is left upwards with probability at least {share} (l+1)/n: 2n/(l+1) steps",
        f"time at or below l+2: {lower}",
        f"sum against the bound: {first.status} ({first.how})",
        f"E[T2] <= {most} n ln((n-l-3)/(l+1)) + 2n/(l+1) + O(1): {sharper.status}",
    ]
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary=f"E[T2] <= {most}n(H(n-l-3) - H(l+1)) + 2n/(l+1) + O(1) <= bound: the constant 5 "
        f"can be {most}",
        range="all valid n, l, all hyper-parameters in (H)",
        details=tuple(steps),
    )


def upward_shares(automaton: object) -> list[fmpq]:
    """Return, per state of the site n-l-1, the share of greedy actions that move up."""
    assert isinstance(automaton, Automaton)
    result = []
    for cells in automaton.states:
        moves = [m for m in automaton.moves if m.source == cells]
        actions = {m.action for m in moves}
        up = {m.action for m in moves if m.moved == 1}
        result.append(fmpq(len(up), len(actions)))
    return result


def _bounded_below(workspace: Workspace) -> str | None:
    """Bound the time on l..l+2 for three upward exits, for all valid n, l.

    Every step at l+2 leaves upwards with probability at least (n-l-2)/n > 1/2 and every step at
    l with (n-l)/n > 1/2; at l+1 at least one of three greedy actions moves up, with probability
    (n-l-1)/n > 1/2. Three exits at l+2 thus take at most 6 steps there on average, each followed
    by at most one fall, 6 steps or fewer per stay at l+1, and one fall to l in all.
    """
    slope = workspace.slope
    for name in ("l+1", "l+2"):
        if name not in slope.automata:
            return None
    worst = min(upward_shares(slope.automata["l+1"]))
    falls = slope.automata["l+1"].most(lambda m: m.moved == -1)
    at_top = min(upward_shares(slope.automata["l+2"]))
    if falls is None or at_top < 1 or worst <= 0:
        return None
    exits = 6 / at_top
    stays = 2 / worst
    total = exits + (1 + exits) * stays + falls * (2 + stays)
    return f"at most {total} steps on average for three exits"


STATEMENTS = (
    Statement(
        id="Theorem 11",
        title="Runtime of the second phase",
        where="550-565",
        claim="E[T2] <= 5n ln((n-l-3)/(l+1)) + 2n/l + O(1), the O(1) uniform in n and l.",
        terms={"bound": BOUND},
        depends=("Lemma 9", "Lemma 10", "Lemma 8", "Leaving n-l-1"),
        checks=(
            Check(EvidenceKind.AUTOMATA, _proof),
            Check(EvidenceKind.QUANTITATIVE, _quantitative, True),
            Check(EvidenceKind.SYMBOLIC, _asymptotic, True),
        ),
        derivations=(
            Derivation(
                "Theorem 11",
                "559-563",
                RANGE,
                (
                    Line(
                        "",
                        "summation(5*n/(n - s), i, l + 3, n - l - 2) + 2*n/l",
                        candidate=("", "summation(5*n/(n - s), s, l + 3, n - l - 2) + 2*n/l"),
                    ),
                    Line("=", "5*n*(H(n - l - 3) - H(l + 1)) + 2*n/l"),
                    Line("= O", BOUND, order="1", candidate=("<= O", BOUND)),
                ),
            ),
        ),
    ),
)
