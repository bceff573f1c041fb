"""Claims of sections 3, 4 and 6 that are not numbered: ranges, end points, (H), comparisons."""

from __future__ import annotations

from collections.abc import Iterable

from markov_lrsao.errors import ParameterError, SolverError
from proofs_check.algebra.lines import RANGE
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import EVERYWHERE, PAPER_HYPER, SIZES_ONLY, WITHOUT, Scope
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.smt import Prover, noted_check, summary_of
from proofs_check.statements.setup_points import (
    both_or_neither_at,
    end_points_at,
    isolated_at,
    limit_along,
    no_ell_at,
    no_room_at,
    range_at,
)
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_EXISTS = "(1 - gamma)/(gamma*(1 - alpha*(1 - gamma))) > n - l - 1"


def _range(workspace: Workspace) -> Iterable[Evidence]:
    """Prove, over the integers, that the stated range is n >= 2l + 5, and the remark on it."""
    import z3

    n, ell, half = z3.Ints("n l half")
    floor = z3.And(2 * half <= n - 1, n - 1 < 2 * half + 2)
    printed = z3.And(ell >= 2, ell <= half - 2)
    forms = workspace.setting.family.constraints
    family = z3.And([f.n * n + f.ell * ell + f.constant >= 0 for f in forms])
    solver = z3.Solver()
    solver.add(floor, printed != family)
    compared, _ = noted_check(
        solver, logic="QF_LIA", purpose="the range as printed is the family's"
    )
    same = compared == z3.unsat
    remark = workspace.term("Range of l", "remark")
    prover = Prover()
    names = {"n": z3.ToReal(n), "l": z3.ToReal(ell)}
    other = z3.Solver()
    other.add(floor, printed, z3.Not(prover.formula(remark, names)))
    answer, _ = noted_check(other, logic="ALL", purpose=remark)
    if z3.unknown in (compared, answer):
        raise SolverError(f"z3 does not decide {remark!r} over the integers")
    model = other.model() if answer == z3.sat else None
    good = same and answer == z3.unsat
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED if good else Verdict.REFUTED,
        summary=f"2 <= l <= floor((n-1)/2) - 2 is l >= 2, n >= 2l + 5 "
        f"({'as' if same else 'NOT as'} the landscape has it), and {remark} "
        f"{'follows' if answer == z3.unsat else 'does not follow'}",
        scope=SIZES_ONLY,
        details=("sharper: l <= (n - 5)/2",),
        counterexample=None
        if good
        else Counterexample(
            statement="Range of l",
            expected=remark,
            observed="violated",
            values={} if model is None else {"n": str(model[n]), "l": str(model[ell])},
        ),
    )


def _smallest(workspace: Workspace) -> Iterable[Evidence]:
    first = workspace.number("Smallest n", "n")
    limit = workspace.setting.pick(200, 2000)
    for n in range(first, limit):
        seen = no_ell_at(workspace, {"n": str(n)})
        if seen is not None:
            larger = next(m for m in range(n, limit) if workspace.setting.family.ell_range(m))
            span = workspace.setting.family.ell_range(larger)
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                summary=f"n = {n} admits no l; the smallest instance from there on is "
                f"n = {larger}, l = {span[0] if span else ''}",
                counterexample=Counterexample(
                    statement="Smallest n",
                    expected=f"every n >= {first} admits some l >= 2",
                    observed=seen,
                    values={"n": str(n)},
                ),
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary=f"every n from {first} on admits an l",
        scope=Scope(f"n < {limit}", WITHOUT),
    )


def _isolated(workspace: Workspace) -> Iterable[Evidence]:
    shift = workspace.number("Isolated points", "below")
    limit = workspace.setting.pick(40, 200)
    for n in range(9, limit + 1):
        ell = (n - 1) // 2 - shift
        point = {"n": str(n), "l": str(ell)}
        seen = isolated_at(workspace, point)
        if seen is not None:
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                summary=f"n = {n}, l = {ell}: {seen}, not at three isolated points",
                scope=Scope(f"all n from 9 to {limit}", WITHOUT),
                counterexample=Counterexample(
                    statement="Isolated points",
                    expected="Jump is positive at the three isolated points l+1, n-l-1, n only",
                    observed=seen,
                    values=point,
                ),
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary="three isolated points",
        scope=Scope(f"all n from 9 to {limit}", WITHOUT),
    )


def _end_points(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the bridges with and without their end points."""
    claims = {a: workspace.term("End points", a) for a in ("L", "R")}
    pairs = workspace.setting.pairs(workspace.setting.pick(16, 40))
    for n, ell in pairs:
        point = {"n": str(n), "l": str(ell)}
        seen = end_points_at(workspace, point)
        if seen is not None:
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                summary=f"n = {n}, l = {ell}: {seen}",
                counterexample=Counterexample(
                    statement="End points",
                    expected=f"the bridges are extended by {claims}",
                    observed=seen,
                    values=point,
                ),
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary=f"the bridges are extended by {claims}",
        scope=Scope(f"all {len(pairs)} valid (n, l), n <= {pairs[-1][0]}", WITHOUT),
    )


def _sufficient(workspace: Workspace) -> Iterable[Evidence]:
    prover = Prover(
        seconds=workspace.setting.solver_seconds, second=workspace.setting.second_solver
    )
    gamma = workspace.term("(H) sufficient", "gamma")
    known = [
        "0 < alpha",
        "alpha < 1",
        "0 < gamma",
        "gamma < 1",
        f"gamma <= {gamma}",
        "n >= 1",
        "l >= 0",
        "l <= n - 1",
    ]
    answer = prover.prove(known, _EXISTS)
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict={"proved": Verdict.PROVED, "refuted": Verdict.REFUTED}.get(
            answer.status, Verdict.UNKNOWN
        ),
        summary=f"gamma <= {gamma} implies that some r satisfies (H): {answer.status}",
        scope=EVERYWHERE,
        second=summary_of([answer]),
        counterexample=Counterexample(
            statement="(H) sufficient",
            expected=_EXISTS,
            observed="violated",
            values=dict(answer.model),
        )
        if answer.status == "refuted"
        else None,
    )


def _not_empty(workspace: Workspace) -> Iterable[Evidence]:
    prover = Prover(
        seconds=workspace.setting.solver_seconds, second=workspace.setting.second_solver
    )
    condition = workspace.term("(H) not empty", "condition")
    open_ = "(1/(alpha*(1 - gamma)) - 1)*(n - l - 1) < 1/(alpha*gamma)"
    known = [*HYPOTHESIS[:4], *RANGE]
    answers = [prover.prove([*known, condition], open_), prover.prove([*known, open_], condition)]
    good = all(a.status == "proved" for a in answers)
    bad = next((a for a in answers if a.status == "refuted"), None)
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED
        if good
        else (Verdict.REFUTED if bad is not None else Verdict.UNKNOWN),
        summary=f"(H) leaves room for r iff {condition}: "
        + ("proved both ways" if good else "fails"),
        scope=EVERYWHERE,
        second=summary_of(answers),
        counterexample=Counterexample(
            statement="(H) not empty",
            expected=f"{open_} iff {condition}",
            observed="one fails",
            values=dict(bad.model),
        )
        if bad is not None
        else None,
    )


def _compared(workspace: Workspace) -> Iterable[Evidence]:
    """Take the limit of the two complexities' quotient along the claimed region's paths."""
    paths = workspace.term("Improvement", "paths").split(";")
    found = {path: limit_along(workspace, {"l": path}) for path in paths}
    wrong = {path: seen for path, seen in found.items() if seen is not None}
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.REFUTED if wrong else Verdict.VERIFIED,
        summary=", ".join(
            f"{seen or 'the quotient of the bounds tends to 0'} along l = {path}"
            for path, seen in found.items()
        ),
        scope=Scope("n -> infinity along these l", PAPER_HYPER),
        counterexample=Counterexample(
            statement="Improvement",
            expected="an improvement for all l = Omega(n^a)",
            observed=next(iter(wrong.values())),
            values={"n": "oo", "l": next(iter(wrong))},
        )
        if wrong
        else None,
    )


def _optimal(workspace: Workspace) -> Iterable[Evidence]:
    import sympy

    n = to_sympy("n")
    exponent = to_sympy(workspace.term("Optimality", "exponent"))
    if not (exponent.is_Rational and 0 <= exponent <= 1):
        raise ParameterError(f"'exponent' of Optimality is {exponent}: a number in 0..1 is needed")
    limit = sympy.limit(n ** (2 - 2 * exponent) / (n * sympy.log(n)), n, sympy.oo)
    good = limit.is_finite is True
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.PROVED if good else Verdict.REFUTED,
        summary=f"n^2/l^2 over n log n tends to {limit} at l = n^({exponent}), and n^(1-2a) falls "
        f"with a",
        scope=Scope("l = n^a, a >= 1/2", WITHOUT),
        details=("the true threshold is lower: l >= sqrt(n / log n) suffices",),
        counterexample=None
        if good
        else Counterexample(
            statement="Optimality",
            expected="E[T] = Theta(n log n)",
            observed="n^2/l^2 dominates",
            values={"l": f"n^({exponent})"},
        ),
    )


def _signs_decide(workspace: Workspace) -> Iterable[Evidence]:
    slope = workspace.slope
    open_ = [text for a in slope.automata.values() for text in a.undecided]
    wanted = set(workspace.term("Signs decide the slope", "classes").split(","))
    missing = wanted - set(slope.automata)
    total = sum(len(a.states) for a in slope.automata.values())
    reached = workspace.induction.satisfiable_steps()
    good = not open_ and not missing and reached > 0
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary=(
            f"all {total} sign patterns of {len(slope.automata)} classes of rows decide the "
            f"greedy actions and the next pattern; {reached} of "
            f"{len(workspace.induction.steps)} step cases are satisfiable"
        )
        if good
        else f"left open: {[*open_, *missing, 'no step case is satisfiable'][0]}",
        scope=EVERYWHERE,
        details=tuple(
            f"{name}: {', '.join(''.join(s) for s in a.states)}"
            for name, a in slope.automata.items()
        ),
    )


STATEMENTS = (
    Statement(
        id="Range of l",
        title="allowed range of l",
        where="176",
        claim="l in [2 .. floor((n-1)/2) - 2], notably l < n/2 - 1.",
        terms={"remark": "l < n/2 - 1"},
        checks=(Check(EvidenceKind.SMT, _range),),
        points={"": range_at},
    ),
    Statement(
        id="Smallest n",
        title="n >= 8",
        where="161, 165",
        claim="Every n >= 8 admits an instance.",
        terms={"n": "8"},
        checks=(Check(EvidenceKind.EXHAUSTIVE, _smallest),),
        points={"": no_ell_at},
    ),
    Statement(
        id="Isolated points",
        title="Jump at l = floor((n-1)/2) - 1",
        where="176",
        claim="At l = floor((n-1)/2) - 1 Jump is reduced to three isolated points l+1, n-l-1, n.",
        terms={"below": "1"},
        checks=(Check(EvidenceKind.EXHAUSTIVE, _isolated),),
        points={"": isolated_at},
    ),
    Statement(
        id="End points",
        title="the bridges' end points",
        where="178",
        claim="The bridges differ from EA+RL's by the end points l+1 (L) and n-l+1 (R).",
        terms={"L": "l + 1", "R": "n - l + 1"},
        checks=(Check(EvidenceKind.EXHAUSTIVE, _end_points),),
        points={"": end_points_at},
    ),
    Statement(
        id="(H) not empty",
        title="when (H) leaves room for r",
        where="310-314",
        claim="Some r satisfies (H) iff (1-gamma)/(gamma(1-alpha(1-gamma))) > n-l-1.",
        terms={"condition": _EXISTS},
        checks=(Check(EvidenceKind.SMT, _not_empty),),
        points={"": both_or_neither_at},
    ),
    Statement(
        id="(H) sufficient",
        title="gamma <= 1/(n+1) suffices",
        where="316",
        claim="With gamma <= 1/(n+1) some r satisfies (H), whatever alpha and l are.",
        terms={"gamma": "1/(n + 1)"},
        checks=(Check(EvidenceKind.SMT, _sufficient),),
        points={"": no_room_at},
    ),
    Statement(
        id="Signs decide the slope",
        group="sharper",
        title="soundness of sign patterns",
        where="(engine)",
        claim="Under (H) the rows of l+1..n-l-1 are decided by the signs of their entries, and "
        "change through moves in their own state only.",
        terms={"classes": "l+1,l+2,interior,n-l-2,n-l-1"},
        words=("classes",),
        depends=("Lemma 2", "Lemma 8", "Lemma 12"),
        checks=(Check(EvidenceKind.SMT, _signs_decide),),
    ),
    Statement(
        id="Improvement",
        group="reading",
        title="improvement over EA+RL's bound",
        where="621",
        claim="n^2/l^2 + n log n improves on n^2 log(n)/l in the region l = Omega(n^a) for any a "
        "in [0,1), read literally: Omega bounds l from below only.",
        terms={"paths": "n**(1/3);n**(1/2);(n - 5)/2"},
        checks=(Check(EvidenceKind.SYMBOLIC, _compared),),
        points={"": limit_along},
    ),
    Statement(
        id="Optimality",
        rests=("Theorem 1",),
        scope=Scope("l = n^a, a >= 1/2", WITHOUT),
        title="optimal region",
        where="621",
        claim="E[T] = Theta(n log n) for l = Theta(n^a), a in [1/2, 1].",
        terms={"exponent": "1/2"},
        depends=("Theorem 1", "Optimal order"),
        checks=(Check(EvidenceKind.SYMBOLIC, _optimal),),
    ),
)
