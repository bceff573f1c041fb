"""Section 6 and the argument of section 5.1: the experiments' choice, critical exponent, orders."""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt

from flint import fmpq

from markov_lrsao.errors import ParameterError
from proofs_check.algebra.lines import RANGE
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import evaluate, to_sympy
from proofs_check.claims.scope import ALL_SIZES, SIZES_ONLY, WITHOUT, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.smt import Prover, noted_check, summary_of
from proofs_check.statements.outcomes import derived, refuted_at, verdict_of
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_CHOICE, _ELLS = "Hyper-parameters of section 6", "Values of l in section 6"
_PRINTED = Scope(ALL_SIZES, "the printed choice")
_NO_SIZES = Scope(WITHOUT, WITHOUT)


def _choice(workspace: Workspace) -> Iterable[Evidence]:
    """Put the printed choice into (H): exactly at small sizes, and for all n and l with z3."""
    texts = {name: workspace.term(_CHOICE, name) for name in ("alpha", "gamma", "r")}
    setting = workspace.setting
    for n, ell in setting.pairs(setting.pick(20, 60)):
        names = {"n": fmpq(n), "l": fmpq(ell)}
        for name, text in texts.items():
            names[name] = fmpq(evaluate(text, names, {"number": fmpq}))
        for condition in setting.hypothesis:
            (relation, a, b) = evaluate(condition, names, {"number": fmpq})[0]
            if not {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[relation]:
                yield refuted_at(
                    (_CHOICE, ""),
                    condition,
                    f"{a} against {b}",
                    {name: str(value) for name, value in names.items()},
                    scope=_PRINTED,
                )
                return
    yield derived(
        workspace,
        (_CHOICE, ""),
        [*RANGE, *(f"{name} = {text}" for name, text in texts.items())],
        setting.hypothesis,
        scope=_PRINTED,
    )


def _any_alpha(workspace: Workspace) -> Iterable[Evidence]:
    """Leave alpha open: gamma and r follow the printed forms."""
    name = "Hyper-parameters, any alpha"
    known = [
        *RANGE,
        workspace.term(name, "alpha"),
        "0 < alpha",
        f"gamma = {workspace.term(_CHOICE, 'gamma')}",
        f"r = {workspace.term(_CHOICE, 'r')}",
    ]
    goals = [text for text in workspace.setting.hypothesis if text != "alpha < 1"]
    yield derived(workspace, (name, ""), known, goals)


def _values_of_l(workspace: Workspace) -> Iterable[Evidence]:
    """Look at every l of the experiments, roots rounded down; the last one is the largest."""
    import z3

    largest = workspace.term(_ELLS, "largest")
    sizes = range(50, 10_001, 50)
    for n in sizes:
        last = evaluate(largest, {"n": n})
        cube = max(k for k in range(1, 30) if k**3 <= n)
        span = workspace.setting.family.ell_range(n)
        wrong = [
            x for x in (2, cube, isqrt(n), last) if span is None or not span[0] <= x <= span[1]
        ]
        if wrong or span is None or last != span[1]:
            yield refuted_at(
                (_ELLS, ""),
                f"l = {wrong or last} is valid, and the last one the largest",
                f"the valid l are {span}",
                {"n": str(n)},
                scope=SIZES_ONLY,
            )
            return
    n, ell = z3.Ints("n l")
    forms = workspace.setting.family.constraints
    valid = z3.And([f.n * n + f.ell * ell + f.constant >= 0 for f in forms])
    solver = z3.Solver()
    # floor((n-5)/2) is the k with 2k <= n-5 < 2k+2; a valid l above it is what is looked for
    half = z3.Int("half")
    solver.add(2 * half <= n - 5, n - 5 < 2 * half + 2, valid, ell > half)
    purpose = "no valid l exceeds floor((n-5)/2)"
    answer, _ = noted_check(solver, logic="QF_LIA", purpose=purpose)
    good = answer == z3.unsat
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary=f"{len(sizes)} sizes with four l each are valid; no valid l exceeds floor((n-5)/2)",
        scope=SIZES_ONLY,
    )


def _earl_bound(workspace: Workspace) -> Iterable[Evidence]:
    """Put l = sqrt n into n^2 log(n)/l and compare the orders."""
    import sympy

    name, n = "EA+RL at l = sqrt n", to_sympy("n")
    claimed = to_sympy(workspace.term(name, "order"))
    bound = n**2 * sympy.log(n) / sympy.sqrt(n)
    limit = sympy.limit(sympy.simplify(bound / claimed), n, sympy.oo)
    good = limit.is_finite is True
    yield Evidence(
        kind=EvidenceKind.SYMBOLIC,
        verdict=Verdict.PROVED if good else Verdict.REFUTED,
        summary=f"n^2 log(n)/l over {claimed} tends to {limit} at l = sqrt n",
        scope=_NO_SIZES,
        details=("LRSAO itself takes Theta(n log n) steps there, by Theorem 1",),
        counterexample=None
        if good
        else Counterexample(
            statement=name,
            expected=f"n^2 log(n)/l = O({claimed}) at l = sqrt n",
            observed=f"the quotient tends to {limit}",
            values={"l": "sqrt(n)", "n": "oo"},
        ),
    )


def _critical(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the exponents of n^2/l^2 = n^(2-2a) and of n log n, for every a in [0, 1].

    n^e/log n tends to infinity for e > 0 and to 0 for e <= 0, so n^(2-2a) is O(n log n) iff
    2 - 2a <= 1.
    """
    import sympy

    name, setting = "Critical exponent", workspace.setting
    critical = workspace.term(name, "exponent")
    n, e = sympy.Symbol("n", positive=True), sympy.Symbol("e", positive=True)
    grows = sympy.limit(n**e / sympy.log(n), n, sympy.oo) == sympy.oo
    falls = sympy.limit(n**-e / sympy.log(n), n, sympy.oo) == 0
    prover = Prover(seconds=setting.solver_seconds, second=setting.second_solver)
    sides = ["0 <= a", "a <= 1"]
    answers = [
        prover.prove([*sides, f"a < {critical}"], "2 - 2*a > 1"),
        prover.prove([*sides, f"a >= {critical}"], "2 - 2*a <= 1"),
    ]
    bad = next((a for a in answers if a.status == "refuted"), None)
    proved = grows and falls and all(a.status == "proved" for a in answers)
    status = "refuted" if bad else "proved" if proved else "unknown"
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=verdict_of(status),
        summary=f"n^(2-2a) = O(n log n) for a >= {critical}, and for no smaller a: {status}",
        scope=_NO_SIZES,
        second=summary_of(answers),
        counterexample=Counterexample(
            statement=name,
            expected=f"n^(2-2a) = O(n log n) iff a >= {critical}",
            observed="the exponent 2 - 2a is on the other side of 1",
            values=dict(bad.model),
        )
        if bad
        else None,
    )


def _above_root(workspace: Workspace) -> Iterable[Evidence]:
    name = "Large plateaus"
    bound = workspace.term(name, "bound")
    known = ["n >= 1", "l > 0", "c > 0", "l*l >= c*c*n"]
    yield derived(workspace, (name, ""), known, [f"n*n/(l*l) <= {bound}"], scope=SIZES_ONLY)


def _max_and_sum(workspace: Workspace) -> Iterable[Evidence]:
    name = "Sum and maximum"
    factor = workspace.value(name, "factor")
    if factor <= 0:
        raise ParameterError(f"'factor' of {name} is {factor}: a positive number is needed")
    known = ["a >= 0", "b >= 0", "m >= a", "m >= b", "m = a or m = b"]
    goals = [f"m >= {workspace.term(name, 'factor')}*(a + b)", "m <= a + b"]
    yield derived(workspace, (name, ""), known, goals, scope=_NO_SIZES)


STATEMENTS = (
    Statement(
        id=_ELLS,
        title="the experiments' values of l are valid",
        where="621",
        claim="For n = 50, 100, .., 10000 the values 2, n^(1/3), n^(1/2) (rounded down) and "
        "floor((n-5)/2) "
        "of l are valid, and the last one is the largest.",
        scope=SIZES_ONLY,
        terms={"largest": "(n - 5)//2"},
        words=("largest",),
        checks=(Check(EvidenceKind.SMT, _values_of_l),),
    ),
    Statement(
        id=_CHOICE,
        title="the experiments' choice satisfies (H)",
        where="624, 681",
        claim="alpha = 0.8, gamma = 1/(n+1), r = n(1/(alpha(1-gamma)) - 1) satisfy (H) at all "
        "valid n, l.",
        scope=_PRINTED,
        terms={"alpha": "4/5", "gamma": "1/(n + 1)", "r": "n*(1/(alpha*(1 - gamma)) - 1)"},
        checks=(Check(EvidenceKind.SMT, _choice),),
    ),
    Statement(
        id="Hyper-parameters, any alpha",
        title="the same with any learning rate",
        where="624",
        claim="With gamma = 1/(n+1) and r = n(1/(alpha(1-gamma)) - 1) every alpha in (0,1) "
        "satisfies (H).",
        group="sharper",
        terms={"alpha": "alpha < 1"},
        depends=(_CHOICE,),
        checks=(Check(EvidenceKind.SMT, _any_alpha),),
    ),
    Statement(
        id="Sum and maximum",
        title="Omega(max(a, b)) = Omega(a + b)",
        where="331",
        claim="(a + b)/2 <= max(a, b) <= a + b for a, b >= 0, so both lower bounds together "
        "give that "
        "of Theorem 1.",
        scope=_NO_SIZES,
        terms={"factor": "1/2"},
        checks=(Check(EvidenceKind.SMT, _max_and_sum),),
    ),
    Statement(
        id="EA+RL at l = sqrt n",
        title="O(n^(3/2) log n) for EA+RL",
        where="621",
        claim="At l = n^(1/2) the bound n^2 log(n)/l of EA+RL is O(n^(3/2) log n).",
        scope=_NO_SIZES,
        terms={"order": "n**(3/2)*ln(n)"},
        checks=(Check(EvidenceKind.SYMBOLIC, _earl_bound),),
    ),
    Statement(
        id="Critical exponent",
        title="1/2 is the critical exponent of l",
        where="621",
        claim="For l = n^a the order n^2/l^2 + n log n is n log n for a >= 1/2 and larger for a "
        "< 1/2.",
        scope=_NO_SIZES,
        terms={"exponent": "1/2"},
        depends=("Theorem 1",),
        checks=(Check(EvidenceKind.SMT, _critical),),
    ),
    Statement(
        id="Large plateaus",
        title="O(n log n) for l = Omega(sqrt n)",
        where="624",
        claim="If l >= c n^(1/2) then n^2/l^2 <= n/c^2, so that E[T] = O(n log n) by Theorem 1.",
        scope=SIZES_ONLY,
        terms={"bound": "n/(c*c)"},
        depends=("Theorem 1",),
        checks=(Check(EvidenceKind.SMT, _above_root),),
    ),
)
