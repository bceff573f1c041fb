"""Exact expectations at many instances, fast, and what is proved about them for all n and l.

E[T_1] is formula (A); E[T_2] comes from the solver-derived sign automata
(`proofs_check.automata.slope`), the same for all hyper-parameters in (H); E[T_3] is the engine's
closed form for the paper's hyper-parameters (l >= 4; l = 2 and 3 have their own), which must be
that of the walk with symbolic n and l (`proofs_check.automata.closed`). Each is an exact rational.
The engine's `runtime` is compared at sample instances (`crosscheck`), so that two ways guard each
other.

`Known` collects what a statement is held against: E[T_3], E[T_3^1] and E[T] between explicit
formulas, for the paper's hyper-parameters; E[T_2] for all of (H).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.rationals import harmonic_difference
from markov_lrsao.forms.closed import phase3_formula
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.parameters import Parameters
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE
from proofs_check.algebra.orders import Known
from proofs_check.algebra.polynomials import Range, constants_between
from proofs_check.automata.abstraction import SlopeAutomata
from proofs_check.automata.closed import Form, LeftForms, Piecewise, RightForms
from proofs_check.automata.slope import slope_times
from proofs_check.automata.slope_bounds import SlopeBounds
from proofs_check.claims.expressions import to_sympy
from proofs_check.logic.journal import Shelf, note_value

__all__ = [
    "crosscheck",
    "first_known",
    "phase1_mean",
    "phase2_known",
    "phase2_mean",
    "phase3_known",
    "phase3_mean",
    "total_known",
]

_SIZE = "n**2/l**2"


def phase1_mean(n: int, ell: int) -> fmpq:
    """Return E[T_1] by formula (A)."""
    value: fmpq = fmpq(2, 3 * (2 * n - 1)) + n * harmonic_difference(n - ell - 1, n)
    note_value("E[T1]", n, ell, value)
    return value


_PHASE2: dict[tuple[int, int, int], fmpq] = {}


def phase2_mean(slope: SlopeAutomata, n: int, ell: int) -> fmpq:
    """Return E[T_2]."""
    key = (id(slope), n, ell)
    if key not in _PHASE2:
        _PHASE2[key] = slope_times(slope, n, ell).total
    note_value("E[T2]", n, ell, _PHASE2[key])
    return _PHASE2[key]


@cache
def _parts(ell: int | None) -> tuple[Any, Any]:
    """Return the closed form of E[T_3] as (rational part, factor of H_l), sympy expressions."""
    import sympy

    expression = phase3_formula(ell).expression
    harmonic = sympy.harmonic(sympy.Symbol("l", positive=True))
    rest = sympy.cancel(sympy.together(expression.subs(harmonic, 0)))
    return rest, sympy.cancel(sympy.together(expression.subs(harmonic, 1)) - rest)


@cache
def _polynomials(ell: int | None) -> tuple[list[tuple[int, int, fmpq]], ...]:
    """Return numerator and denominator of the rational part, and the factor of H_l, as terms."""
    import sympy

    n, l = sympy.symbols("n l", positive=True)  # noqa: E741
    rest, slope = _parts(ell)
    parts = [*sympy.fraction(rest), slope]
    return tuple(
        [(i, j, fmpq(int(c.p), int(c.q))) for (i, j), c in sympy.Poly(part, n, l).terms()]
        for part in parts
    )


def phase3_mean(n: int, ell: int) -> fmpq:
    """Return E[T_3] for the paper's hyper-parameters.

    >>> phase3_mean(9, 2)
    1801504607/73614420
    """
    special = ell if ell in (2, 3) else None
    values = [
        sum((c * fmpq(n) ** i * fmpq(ell) ** j for i, j, c in terms), fmpq(0))
        for terms in _polynomials(special)
    ]
    value: fmpq = values[0] / values[1] + values[2] * harmonic_difference(0, ell)
    note_value("E[T3]", n, ell, value)
    return value


def crosscheck(slope: SlopeAutomata, pairs: list[tuple[int, int]]) -> str | None:
    """Compare all three with the engine's exact runtime; return the first difference, or None."""
    for n, ell in pairs:
        result = runtime(JUMP.at(n, ell), Algorithm.lrsao(Parameters.paper(n)))
        values = (phase1_mean(n, ell), phase2_mean(slope, n, ell), phase3_mean(n, ell))
        for k, (phase, value) in enumerate(zip(result.phases, values, strict=True), start=1):
            if phase != value:
                return f"n = {n}, l = {ell}: E[T{k}] = {phase} by the engine, {value} here"
    return None


# -- for all n and l --------------------------------------------------------------------------


def _range(form: Form) -> Range:
    return form.smallest, form.ell


def _holds(left: str, relation: str, right: str) -> None:
    """Check an inequality that the formulas below rest on.

    Raises
    ------
    VerificationError
        It is not proved.
    """
    outcome = compare_sides(left, relation, right, RANGE)
    if outcome.status != "proved":
        raise VerificationError(f"{left} {relation} {right}: {outcome.how}")


def _between(quantity: Piecewise, harmonic: bool) -> tuple[Any, Any]:
    """Return c, C with c n^2/l^2 <= value (without its n H_l) <= C n^2/l^2 for all n, l.

    Raises
    ------
    VerificationError
        No such constants are found, or H_l comes with another factor.
    """
    import sympy

    n = to_sympy("n")
    values = []
    for form in quantity.forms:
        if form.ell is None and form.factor != (n if harmonic else 0):
            raise VerificationError(f"{quantity.name} has {form.factor} H_l")
        worked_in = n * sympy.harmonic(form.ell) if form.ell is not None and harmonic else 0
        values.append((form.rest - worked_in, _range(form)))
    low, high = constants_between(values, to_sympy(_SIZE))
    if low is None or high is None:
        raise VerificationError(f"{quantity.name} is not bounded by multiples of {_SIZE}")
    return low, high


def _forms(quantity: Piecewise) -> tuple[tuple[Any, Range], ...]:
    return tuple((form.expression(), _range(form)) for form in quantity.forms)


_KNOWN: Shelf[Known] = Shelf("bounds of phase 3")
_SUMS: Shelf[tuple[str, str, str, str]] = Shelf("bounds of E[T]")


def phase3_known(right: RightForms) -> Known:
    """Return E[T_3] = (c .. C) n^2/l^2 + n H_l, for the paper's hyper-parameters."""
    return _KNOWN.get(("E[T3]", right), lambda: _phase3_known(right))


def _phase3_known(right: RightForms) -> Known:
    low, high = _between(right.whole, True)
    _holds("n*ln(l)", "<=", "n*H(l)")
    _holds("n*H(l)", "<=", "n*(1 + ln(l))")
    return Known(
        "E[T3]",
        right.whole.at,
        f"{low}*{_SIZE} + n*H(l)",
        f"{high}*{_SIZE} + n*H(l)",
        f"{low}*{_SIZE} + n*ln(l)",
        f"{high}*{_SIZE} + n*(1 + ln(l))",
        _forms(right.whole),
    )


def first_known(right: RightForms) -> Known:
    """Return E[T_3^1] = (c .. C) n^2/l^2, for the paper's hyper-parameters."""
    return _KNOWN.get(("E[T_3^1]", right), lambda: _first_known(right))


def _first_known(right: RightForms) -> Known:
    low, high = (f"{x}*{_SIZE}" for x in _between(right.first, False))
    return Known("E[T_3^1]", right.first.at, low, high, low, high, _forms(right.first))


def phase2_known(bounds: SlopeBounds, exact: Callable[[int, int], fmpq]) -> Known:
    """Return E[T_2] = 3 n (H_(n-l-3) - H_(l+1)) + O(n), for all of (H)."""
    floor = f"{bounds.most}*n*(ln(n - l - 3) - 1 - ln(l + 3)) - {bounds.missing}*n"
    _holds(floor, "<=", bounds.low)
    return Known("E[T2]", exact, bounds.low, bounds.high, floor, bounds.high)


def total_known(
    left: LeftForms, bounds: SlopeBounds, whole: Known, exact: Callable[[int, int], fmpq]
) -> Known:
    """Return E[T] between n H_n + c n^2/l^2 and 3 n H_n + C n^2/l^2 + O(1).

    Below: every position s < n-l is left upwards at least once, with a chance of at most (n-s)/n
    per step, so E[T_1] + E[T_2] >= n (H_n - H_l); and E[T_3] is at least its own bound. Above: the
    three phases are added.
    """
    sums = _SUMS.get((left, bounds, whole), lambda: _sums(left, bounds, whole))
    return Known("E[T]", exact, *sums)


def _sums(left: LeftForms, bounds: SlopeBounds, whole: Known) -> tuple[str, str, str, str]:
    """Return low, high, floor and ceiling of E[T]."""
    first = f"{bounds.most}*n*H(n) + {bounds.constant}"
    square = whole.high.replace(" + n*H(l)", "")
    low, high = whole.low.replace("H(l)", "H(n)"), f"{square} + {first}"
    _holds(f"{left.mean} + {bounds.high} + {whole.high}", "<=", high)
    _holds("n*ln(n)", "<=", "n*H(n)")
    ceiling = compare_sides(first, "<= O", "0", RANGE, order="n*ln(n)")
    if ceiling.constant is None:
        raise VerificationError(f"{first} is not O(n ln n)")
    return low, high, low.replace("H(n)", "ln(n)"), f"{square} + {ceiling.constant}*n*ln(n)"
