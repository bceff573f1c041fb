"""Deciding one step "left REL right" of a derivation, with n, l and other names unknown.

In order of strength:

- rational functions: computer algebra for identities, z3 for the rest (n, l, .. real);
- harmonic numbers in identities: H(m + c) = H(m) + 1/(m+1) + .. + 1/(m+c) brings them to one
  base per class, after which they are independent unknowns;
- harmonic numbers and logarithms in inequalities: H(m) = ln m + gamma_E + e_m with
  1/(2m+1) <= e_m <= 1/(2m) (Lemma 17 (2), which is checked on its own); where the logarithms
  cancel, a rational inequality in the e_m remains, and z3 decides it;
- one unknown and a rational derivative: concavity between two ends, or monotonicity towards a
  limit at infinity, each again decided by z3 and sympy;
- sums of reciprocals: the definition of harmonic numbers.

A step is refuted only by a point: exact rationals, or balls that exclude the relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from proofs_check.algebra.harmonics import based, close_sums, collected, limit_at_infinity
from proofs_check.algebra.points import names_in, refuting_point
from proofs_check.claims.expressions import relation_of, to_sympy
from proofs_check.logic.smt import Answer, Prover, from_sympy

if TYPE_CHECKING:
    import sympy

__all__ = ["Outcome", "compare_sides"]

_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_CONSTANTS = (1, 10, 100, 1000, 10**6, 10**12)


@dataclass(frozen=True)
class Outcome:
    """What is known about one step: proved, refuted (with a point) or unknown.

    `constant` is the one with which an O was proved.
    """

    status: Literal["proved", "refuted", "unknown"]
    how: str
    point: Mapping[str, str] = field(default_factory=dict)
    second: str = ""
    constant: int | None = None


def _transcendental(expression: sympy.Expr) -> bool:
    import sympy

    return bool(expression.has(sympy.log, sympy.harmonic, sympy.Sum, sympy.EulerGamma))


def compare_sides(
    left: str,
    relation: str,
    right: str,
    assume: Sequence[str],
    *,
    order: str = "",
    pairs: Sequence[tuple[int, int]] = (),
    seconds: float = 10.0,
    second: bool = False,
) -> Outcome:
    """Decide a step.

    Parameters
    ----------
    relation : "=", "<", "<=", ">", ">=", or one of "= O", "<= O", "= o" with an order
    assume : comparisons that hold of the names
    order : the argument of O or o
    pairs : valid (n, l), smallest first, where n and l are integers
    """
    a, b = to_sympy(left), to_sympy(right)
    prover = Prover(seconds=seconds, second=second)
    if relation.endswith(("O", "o")):
        return _asymptotic(a - b, relation, order, assume, prover)
    if not _transcendental(a - b):
        return _rational(a, relation, b, assume, pairs, prover)
    if relation == "=":
        outcome = _identity(a, b)
        if outcome is not None:
            return outcome
    point = refuting_point(a, relation, b, assume, pairs)
    if point is not None:
        return Outcome("refuted", "ball arithmetic", point)
    for method in (_bracketed, _one_unknown, _homogeneous):
        outcome = method(a - b, relation, assume, prover)
        if outcome is not None:
            return outcome
    return Outcome("unknown", "no method applies; no counterexample among the points tried")


# -- rational functions ---------------------------------------------------------------


def _assumptions(assume: Iterable[str], prover: Prover) -> list[Any]:
    return [prover.formula(text) for text in assume]


def _sign_goal(difference: sympy.Expr, relation: str, prover: Prover) -> tuple[Any, list[Any]]:
    """Return "difference REL 0" without divisions, and what keeps it defined."""
    import sympy
    import z3

    numerator, denominator = sympy.fraction(sympy.cancel(sympy.together(difference)))
    names = {s.name: prover.name(s.name) for s in difference.free_symbols}
    over = from_sympy(sympy.expand(numerator), names), from_sympy(sympy.factor(denominator), names)
    zero = z3.RealVal(0)
    value = over[0] if relation == "=" else over[0] * over[1]
    goals = {
        "=": value == zero,
        "<": value < zero,
        "<=": value <= zero,
        ">": value > zero,
        ">=": value >= zero,
    }
    defined = [] if denominator.is_Integer else [over[1] != zero]
    return goals[relation], defined


def _prove_sign(
    difference: sympy.Expr, relation: str, assumptions: Sequence[Any], prover: Prover
) -> Answer:
    """Prove "difference REL 0"; that it is defined must follow from the assumptions, too."""
    goal, defined = _sign_goal(difference, relation, prover)
    answer = prover.prove([*assumptions, *defined], goal)
    if answer.status == "proved" and not _defined(defined, assumptions, prover):
        return Answer("unknown", reason="holds where it is defined, but may divide by zero")
    return answer


def _defined(duties: Sequence[Any], assumptions: Sequence[Any], prover: Prover) -> bool:
    """Whether the assumptions keep all denominators away from zero."""
    return all(prover.prove(assumptions, duty).status == "proved" for duty in duties)


def _rational(
    a: sympy.Expr,
    relation: str,
    b: sympy.Expr,
    assume: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    prover: Prover,
) -> Outcome:
    import sympy

    if relation == "=" and sympy.cancel(sympy.together(a - b)) == 0:
        return Outcome("proved", "computer algebra")
    known = _assumptions(assume, prover)
    answer = _prove_sign(a - b, relation, known, prover)
    if answer.status == "proved":
        return Outcome("proved", "z3", second=answer.second)
    if answer.status == "unknown":
        point = refuting_point(a, relation, b, assume, pairs)
        if point is not None:
            return Outcome("refuted", "a point", point)
        return Outcome("unknown", answer.reason)
    goal, defined = _sign_goal(a - b, relation, prover)
    assumptions = [*known, *defined]
    names = {s.name for s in (a - b).free_symbols} | names_in(assume)
    sizes = sorted(names & {"n", "l"})
    if not pairs or not sizes:
        return Outcome("refuted", "z3", answer.model)
    for n, ell in list(pairs)[:12]:
        fixed = [prover.name("n") == n, prover.name("l") == ell]
        small = prover.prove([*assumptions, *fixed], goal)
        if small.status == "refuted":
            return Outcome("refuted", "z3", small.model)
    whole = prover.prove(assumptions, goal, integers=sizes)
    if whole.status == "refuted":
        return Outcome("refuted", "z3", whole.model)
    if whole.status == "proved" and _defined(defined, known, prover):
        return Outcome("proved", "z3, for integers only")
    return Outcome("unknown", f"fails at {dict(answer.model)}; open for integers n, l")


# -- identities with harmonic numbers and logarithms -------------------------------------


def _identity(a: sympy.Expr, b: sympy.Expr) -> Outcome | None:
    import sympy

    difference = based(close_sums(a - b))
    atoms = sorted(difference.atoms(sympy.log, sympy.harmonic), key=str)
    unknowns = {atom: sympy.Symbol(f"atom{i}") for i, atom in enumerate(atoms)}
    if sympy.cancel(sympy.together(difference.subs(unknowns))) == 0:
        return Outcome("proved", "computer algebra")
    return None


# -- inequalities with harmonic numbers and logarithms -------------------------------------


def _with_brackets(
    difference: sympy.Expr, order: sympy.Expr, assume: Sequence[str], prover: Prover
) -> tuple[sympy.Expr, sympy.Expr, list[Any]] | None:
    """Replace H(m) by ln m + gamma_E + e_m; what is left of logarithms becomes unknowns.

    Returns the difference, the order, and what is known of the unknowns: the bracket of each
    e_m, 0.577 < gamma_E < 0.578, and 1 - 1/x <= ln x <= x - 1 for each logarithm. None if the
    assumptions do not imply m >= 1 for a harmonic number, or x > 0 for a logarithm.
    """
    import sympy

    brackets: list[Any] = []
    obligations: list[Any] = []
    replaced = {}
    difference, order = close_sums(difference), close_sums(order)
    for i, h in enumerate(sorted((difference + order).atoms(sympy.harmonic), key=str)):
        m, e = h.args[0], sympy.Symbol(f"e{i}", real=True)
        replaced[h] = sympy.log(m) + sympy.EulerGamma + e
        names = {s.name: prover.name(s.name) for s in (m + e).free_symbols}
        zm, ze = from_sympy(m, names), from_sympy(e, names)
        obligations.append(zm >= 1)
        brackets += [ze * (2 * zm + 1) >= 1, ze * 2 * zm <= 1]
    flat, size = (based(sympy.expand(x.subs(replaced))) for x in (difference, order))
    logs = sorted((flat + size).atoms(sympy.log), key=str)
    symbols = {log: sympy.Symbol(f"log{i}", real=True) for i, log in enumerate(logs)}
    euler = sympy.Symbol("euler_", real=True)
    flat, size = (
        sympy.cancel(sympy.together(x.subs(symbols).subs(sympy.EulerGamma, euler)))
        for x in (flat, size)
    )
    left = flat.free_symbols | size.free_symbols
    for log, symbol in symbols.items():
        x = log.args[0]
        names = {s.name: prover.name(s.name) for s in (x + symbol).free_symbols}
        zx, zlog = from_sympy(x, names), from_sympy(symbol, names)
        obligations.append(zx > 0)
        if symbol in left:
            brackets += [zlog <= zx - 1, zlog * zx >= zx - 1]
    if euler in left:
        brackets.append(prover.formula("577/1000 < euler_ and euler_ < 578/1000"))
    known = _assumptions(assume, prover)
    if any(prover.prove(known, duty).status != "proved" for duty in obligations):
        return None
    kept = [(log.args[0], symbol) for log, symbol in symbols.items() if symbol in left]
    for x, log_x in kept:
        for y, log_y in kept:
            found = {log_x, log_y} | x.free_symbols | y.free_symbols
            names = {s.name: prover.name(s.name) for s in found}
            zx, zy = from_sympy(x, names), from_sympy(y, names)
            if x != y and prover.prove(known, zx <= zy).status == "proved":
                brackets.append(from_sympy(log_x, names) <= from_sympy(log_y, names))
    return flat, size, brackets


def _bracketed(
    difference: sympy.Expr, relation: str, assume: Sequence[str], prover: Prover
) -> Outcome | None:
    import sympy

    if relation == "=":
        return None
    found = _with_brackets(difference, 0 * difference, assume, prover)
    if found is None or found[0].has(sympy.Sum):
        return None
    flat, _, brackets = found
    answer = _prove_sign(flat, relation, [*_assumptions(assume, prover), *brackets], prover)
    if answer.status == "proved":
        return Outcome("proved", "Lemma 17 (2) and z3", second=answer.second)
    return None


def _one_unknown(
    difference: sympy.Expr, relation: str, assume: Sequence[str], prover: Prover
) -> Outcome | None:
    """Prove the sign of a function of one unknown from its derivatives."""
    import sympy

    symbols = sorted(difference.free_symbols, key=str)
    if relation == "=" or len(symbols) != 1:
        return None
    (x,) = symbols
    difference = collected(based(difference))
    value = difference if relation in (">", ">=") else -difference
    low, high = _ends(x.name, assume)
    strict = relation in (">", "<")
    assumptions = _assumptions(assume, prover)

    def signed(expression: sympy.Expr, sign: str) -> bool:
        expression = sympy.cancel(sympy.together(expression))
        if not expression.is_rational_function(x):  # harmonic numbers become zeta functions
            return False
        return _prove_sign(expression, sign, assumptions, prover).status == "proved"

    if low is not None and high is not None and not strict:
        ends = [sympy.simplify(value.subs(x, end)) for end in (low, high)]
        if all(end.is_nonnegative for end in ends) and signed(sympy.diff(value, x, 2), "<="):
            return Outcome("proved", "concave, and non-negative at both ends")
    if (
        low is not None
        and high is None
        and limit_at_infinity(value, x) == 0
        and signed(sympy.diff(value, x), "<")
    ):
        return Outcome("proved", "decreasing to the limit 0")
    return None


def _homogeneous(
    difference: sympy.Expr, relation: str, assume: Sequence[str], prover: Prover
) -> Outcome | None:
    """Prove an inequality in n and l that depends on x = (l+1)/n only, after division by n."""
    import sympy

    n, ell = to_sympy("n"), to_sympy("l")
    x = sympy.Symbol("x", real=True)
    if difference.free_symbols != {n, ell}:
        return None
    reduced = sympy.simplify(difference.subs(ell, x * n - 1) / n)
    if reduced.free_symbols != {x}:
        return None
    goal = prover.formula("0 <= (l + 1)/n and (l + 1)/n <= 1/2")
    if prover.prove(_assumptions(assume, prover), goal).status != "proved":
        return None
    return _one_unknown(reduced, relation, ("0 <= x", "x <= 1/2"), prover)


def _ends(name: str, assume: Sequence[str]) -> tuple[sympy.Expr | None, sympy.Expr | None]:
    """Return the ends of the interval that the assumptions leave to a name."""
    low = high = None
    for text in assume:
        left, relation, right = relation_of(text)
        if right == name:
            left, relation, right = right, _FLIP[relation], left
        if left == name and not to_sympy(right).free_symbols:
            if relation in (">", ">="):
                low = to_sympy(right)
            elif relation in ("<", "<="):
                high = to_sympy(right)
    return low, high


# -- asymptotic relations --------------------------------------------------------------------


def _asymptotic(
    difference: sympy.Expr, relation: str, order: str, assume: Sequence[str], prover: Prover
) -> Outcome:
    """Decide "difference = O(order)" (or <= O, or o) uniformly over the assumptions.

    Proved with an explicit constant C; refuted by the limit along n -> infinity at fixed l.
    For o, the proof is |difference| <= C order / n.
    """
    import sympy

    n, ell = to_sympy("n"), to_sympy("l")
    printed = to_sympy(order)
    found = _with_brackets(
        difference, printed / n if relation.endswith("o") else printed, assume, prover
    )
    flat, size, brackets = found if found is not None else (difference, printed, [])
    assumptions = [*_assumptions(assume, prover), *brackets]
    for constant in _CONSTANTS if found is not None else ():
        signs = (
            [("<=", constant)]
            if relation.startswith("<=")
            else [("<=", constant), (">=", -constant)]
        )
        if all(
            _prove_sign(flat - c * size, sign, assumptions, prover).status == "proved"
            for sign, c in signs
        ):
            how = f"with the constant {constant} (Lemma 17 (2) and z3)"
            return Outcome("proved", how, constant=constant)
    for fixed in (2, 5, (n - 5) / 2):
        series = _expanded(close_sums(difference).subs(ell, fixed), printed.subs(ell, fixed), n)
        if series is None:
            continue
        ratio = sympy.simplify(series / printed.subs(ell, fixed))
        limit = sympy.limit(ratio, n, sympy.oo)
        wrong = limit in (sympy.oo, -sympy.oo) if relation != "<= O" else limit == sympy.oo
        if relation.endswith("o"):
            wrong = wrong or limit != 0
        if wrong:
            rate = sympy.simplify(sympy.limit(ratio / n, n, sympy.oo))
            about = f" (like ({rate})*n)" if rate not in (0, sympy.oo, -sympy.oo) else ""
            return Outcome(
                "refuted",
                f"at l = {fixed} the difference over {order} tends to {limit}{about}",
                {"l": str(fixed), "n": "oo"},
            )
    return Outcome("unknown", "neither a constant was proved nor a diverging direction found")


def _expanded(value: sympy.Expr, order: sympy.Expr, n: sympy.Symbol) -> sympy.Expr | None:
    """Write H(m) as ln m + gamma_E + 1/(2m) - 1/(12 m^2), whose error is below 1/(100 m^4).

    None where these errors, with their factors, are not o(order): the limit would say nothing.
    """
    import sympy

    for h in value.atoms(sympy.harmonic):
        m, unknown = h.args[0], sympy.Symbol("unknown_")
        factor = sympy.diff(value.subs(h, unknown), unknown)
        if factor.has(unknown) or sympy.limit(factor / (m**4 * order), n, sympy.oo) != 0:
            return None
        value = value.subs(h, sympy.log(m) + sympy.EulerGamma + 1 / (2 * m) - 1 / (12 * m**2))
    return value
