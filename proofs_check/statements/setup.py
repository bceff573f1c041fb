"""Claims of sections 3, 4 and 6 that are not numbered: ranges, end points, (H), comparisons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from flint import fmpq

from markov_lrsao.errors import ParameterError, SolverError
from markov_lrsao.exact.rationals import to_float as as_float
from markov_lrsao.model.landscape import JUMP, JUMP_OPEN
from proofs_check.algebra.lines import RANGE
from proofs_check.automata.quantities import phase3_mean
from proofs_check.automata.uniform import enclosure
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import evaluate, to_sympy
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.smt import Prover, check, summary_of
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
    compared = check(solver)
    same = compared == z3.unsat
    remark = workspace.term("Range of l", "remark")
    prover = Prover()
    names = {"n": z3.ToReal(n), "l": z3.ToReal(ell)}
    other = z3.Solver()
    other.add(floor, printed, z3.Not(prover.formula(remark, names)))
    answer = check(other)
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
        range="all integers n, l",
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
        if workspace.setting.family.ell_range(n) is None:
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
                    observed="2 <= l <= floor((n-1)/2) - 2 is empty",
                    values={"n": str(n)},
                ),
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary=f"every n from {first} on admits an l",
        range=f"n < {limit}",
    )


def _isolated(workspace: Workspace) -> Iterable[Evidence]:
    free = replace(workspace.setting.family, constraints=())
    shift = workspace.number("Isolated points", "below")
    limit = workspace.setting.pick(40, 200)
    for n in range(9, limit + 1):
        ell = (n - 1) // 2 - shift
        values = free.at(n, ell).objectives["J"]
        positive = [p for p in range(n + 1) if values[p] > 0]
        isolated = all(b - a > 1 for a, b in pairwise(positive))
        if positive != [ell + 1, n - ell - 1, n] or not isolated:
            yield Evidence(
                kind=EvidenceKind.EXHAUSTIVE,
                verdict=Verdict.REFUTED,
                summary=f"n = {n}, l = {ell}: Jump is positive at {positive}, not at three "
                f"isolated points",
                range=f"all n from 9 to {limit}",
                counterexample=Counterexample(
                    statement="Isolated points",
                    expected="Jump is positive at the three isolated points l+1, n-l-1, n only",
                    observed=f"Jump is positive at {positive}",
                    values={"n": str(n), "l": str(ell)},
                ),
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary="three isolated points",
        range=f"all n from 9 to {limit}",
    )


def _end_points(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the bridges with and without their end points."""
    claims = {a: workspace.term("End points", a) for a in ("L", "R")}
    pairs = workspace.setting.pairs(workspace.setting.pick(16, 40))
    for n, ell in pairs:
        for name, text in claims.items():
            now, before = (f.at(n, ell).objectives[name] for f in (JUMP, JUMP_OPEN))
            added = [p for p in range(n + 1) if now[p] != before[p]]
            wanted = evaluate(text, {"n": n, "l": ell})
            if added != [wanted]:
                yield Evidence(
                    kind=EvidenceKind.EXHAUSTIVE,
                    verdict=Verdict.REFUTED,
                    summary=f"n = {n}, l = {ell}: {name} was extended by {added}, not by "
                    f"{text} = {wanted}",
                    counterexample=Counterexample(
                        statement="End points",
                        expected=f"{name} is extended by {text}",
                        observed=f"it is extended by position {added}",
                        values={"n": str(n), "l": str(ell)},
                    ),
                )
                return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary=f"the bridges are extended by {claims}",
        range=f"all {len(pairs)} valid (n, l), n <= {pairs[-1][0]}",
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
        range="all n, l >= 0, all alpha in (0,1)",
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
        range="all valid n, l, all alpha, gamma in (0,1)",
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
    import sympy

    n, ell = to_sympy("n"), to_sympy("l")
    ratio = (n**2 / ell**2 + n * sympy.log(n)) / (n**2 * sympy.log(n) / ell)
    found = {
        path: sympy.limit(sympy.simplify(ratio.subs(ell, to_sympy(path))), n, sympy.oo)
        for path in workspace.term("Improvement", "paths").split(";")
    }
    wrong = {path: limit for path, limit in found.items() if limit != 0}
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.REFUTED if wrong else Verdict.VERIFIED,
        summary="quotient of the two bounds tends to "
        + ", ".join(f"{limit} along l = {path}" for path, limit in found.items()),
        range="n -> infinity along these l, all of which are Omega(n^a) for every a < 1/2, and "
        "the last for every a < 1",
        counterexample=Counterexample(
            statement="Improvement",
            expected="an improvement for all l = Omega(n^a)",
            observed=f"no improvement in order: {wrong}",
            values={"n": "oo"},
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
        range=f"l = n^a, a >= {exponent}",
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
    good = not open_ and not missing
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary=(
            f"all {total} sign patterns of {len(slope.automata)} classes of rows decide the "
            f"greedy actions and the next pattern; {reached} of "
            f"{len(workspace.induction.steps)} step cases are satisfiable (not vacuous)"
        )
        if good
        else f"left open: {[*open_, *missing][0]}",
        range="all n, l, all hyper-parameters in (H)",
        details=tuple(
            f"{name}: {', '.join(''.join(s) for s in a.states)}"
            for name, a in slope.automata.items()
        ),
    )


def _uniform(workspace: Workspace) -> Iterable[Evidence]:
    """Enclose E[T3] over all of (H) and compare with the order."""
    import math

    graph = workspace.plateau
    most = fmpq(workspace.value("Uniform over (H)", "ratio"))
    rows, ratios = [], []
    pairs = [(9, 2), (11, 3), (15, 5), (20, 2), (30, 5), (30, 12)]
    pairs += [(60, 2), (60, 8), (60, 27), (100, 10)] if workspace.setting.full else []
    for n, ell in pairs:
        low, high = enclosure(graph, n, ell)
        size = n * n / ell**2 + n * math.log(ell)
        ratios += [low / size, high / size]
        inside = low <= as_float(phase3_mean(n, ell)) * (1 + 1e-9) and (
            as_float(phase3_mean(n, ell)) <= high * (1 + 1e-9)
        )
        rows.append(
            f"n = {n}, l = {ell}: E[T3] in [{low:.3f}, {high:.3f}] for all of (H); paper's "
            f"hyper-parameters {as_float(phase3_mean(n, ell)):.3f}" + ("" if inside else " OUTSIDE")
        )
    good = max(ratios) <= as_float(most) and not any("OUTSIDE" in row for row in rows)
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED if good else Verdict.REFUTED,
        summary=f"E[T3] / (n^2/l^2 + n ln l) lies in [{min(ratios):.3f}, {max(ratios):.3f}] for "
        f"every choice in (H); E[T1] and E[T2] do not depend on the choice at all",
        range=f"(n, l) in {pairs}, all hyper-parameters in (H) at once",
        details=tuple(rows),
        counterexample=None
        if good
        else Counterexample(
            statement="Uniform over (H)",
            expected=f"ratio at most {most}",
            observed=f"{max(ratios):.3f}",
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
    ),
    Statement(
        id="Smallest n",
        title="n >= 8",
        where="161, 165",
        claim="Every n >= 8 admits an instance.",
        terms={"n": "8"},
        checks=(Check(EvidenceKind.EXHAUSTIVE, _smallest),),
    ),
    Statement(
        id="Isolated points",
        title="Jump at l = floor((n-1)/2) - 1",
        where="176",
        claim="At l = floor((n-1)/2) - 1 Jump is reduced to three isolated points l+1, n-l-1, n.",
        terms={"below": "1"},
        checks=(Check(EvidenceKind.EXHAUSTIVE, _isolated),),
    ),
    Statement(
        id="End points",
        title="the bridges' end points",
        where="178",
        claim="The bridges differ from EA+RL's by the end points l+1 (L) and n-l+1 (R).",
        terms={"L": "l + 1", "R": "n - l + 1"},
        checks=(Check(EvidenceKind.EXHAUSTIVE, _end_points),),
    ),
    Statement(
        id="(H) not empty",
        title="when (H) leaves room for r",
        where="310-314",
        claim="Some r satisfies (H) iff (1-gamma)/(gamma(1-alpha(1-gamma))) > n-l-1.",
        terms={"condition": _EXISTS},
        checks=(Check(EvidenceKind.SMT, _not_empty),),
    ),
    Statement(
        id="(H) sufficient",
        title="gamma <= 1/(n+1) suffices",
        where="316",
        claim="With gamma <= 1/(n+1) some r satisfies (H), whatever alpha and l are.",
        terms={"gamma": "1/(n + 1)"},
        checks=(Check(EvidenceKind.SMT, _sufficient),),
    ),
    Statement(
        id="Signs decide the slope",
        title="soundness of sign patterns",
        where="(engine)",
        claim="Under (H) the rows of l+1..n-l-1 are decided by the signs of their entries, and "
        "change through moves in their own state only.",
        terms={"classes": "l+1,l+2,interior,n-l-2,n-l-1"},
        depends=("Lemma 2", "Lemma 8", "Lemma 12"),
        checks=(Check(EvidenceKind.SMT, _signs_decide),),
    ),
    Statement(
        id="Uniform over (H)",
        title="constants over all of (H)",
        where="324-327, 600-611",
        claim="The Theta and O of Theorem 1, Lemma 15 and Theorem 16 have constants that do not "
        "depend on alpha, gamma, r in (H).",
        terms={"ratio": "20"},
        depends=("Signs decide the slope", "Leaving n-l-1"),
        checks=(Check(EvidenceKind.QUANTITATIVE, _uniform),),
    ),
    Statement(
        id="Improvement",
        title="improvement over EA+RL's bound",
        where="621",
        claim="n^2/l^2 + n log n improves on n^2 log(n)/l in the region l = Omega(n^a) for any a "
        "in [0,1), read literally: Omega bounds l from below only.",
        terms={"paths": "n**(1/3);n**(1/2);(n - 5)/2"},
        checks=(Check(EvidenceKind.SYMBOLIC, _compared),),
    ),
    Statement(
        id="Optimality",
        title="optimal region",
        where="621",
        claim="E[T] = Theta(n log n) for l = Theta(n^a), a in [1/2, 1].",
        terms={"exponent": "1/2"},
        depends=("Theorem 1", "Optimal order"),
        checks=(Check(EvidenceKind.SYMBOLIC, _optimal),),
    ),
)
