"""Exact expectations at many instances, fast: what the O and Theta statements are held against.

E[T_1] is formula (A); E[T_2] comes from the solver-derived sign automata
(`proofs_check.automata.slope`), the same for all hyper-parameters in (H); E[T_3] is the engine's
closed form for the paper's hyper-parameters (l >= 4; l = 2 and 3 have their own). Each is an exact
rational. The engine's `runtime` is compared at sample instances (`crosscheck`), so the two ways
guard each other.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.exact.rationals import harmonic_difference
from markov_lrsao.forms.closed import phase3_formula
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.parameters import Parameters
from proofs_check.automata.abstraction import SlopeAutomata
from proofs_check.automata.slope import slope_times

__all__ = ["crosscheck", "phase1_mean", "phase2_mean", "phase3_mean", "phase3_parts", "phase3_rest"]


def phase1_mean(n: int, ell: int) -> fmpq:
    """Return E[T_1] by formula (A)."""
    return fmpq(2, 3 * (2 * n - 1)) + n * harmonic_difference(n - ell - 1, n)


_PHASE2: dict[tuple[int, int, int], fmpq] = {}


def phase2_mean(slope: SlopeAutomata, n: int, ell: int) -> fmpq:
    """Return E[T_2]."""
    key = (id(slope), n, ell)
    if key not in _PHASE2:
        _PHASE2[key] = slope_times(slope, n, ell).total
    return _PHASE2[key]


@cache
def phase3_parts(ell: int | None) -> tuple[Any, Any]:
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
    rest, slope = phase3_parts(ell)
    parts = [*sympy.fraction(rest), slope]
    return tuple(
        [(i, j, fmpq(int(c.p), int(c.q))) for (i, j), c in sympy.Poly(part, n, l).terms()]
        for part in parts
    )


def phase3_rest(n: int, ell: int) -> fmpq:
    """Return the rational part of the closed form of E[T_3], that is E[T_3] - n H_l."""
    special = ell if ell in (2, 3) else None
    top, bottom = (
        sum((c * fmpq(n) ** i * fmpq(ell) ** j for i, j, c in terms), fmpq(0))
        for terms in _polynomials(special)[:2]
    )
    value: fmpq = top / bottom
    if special is not None:  # these closed forms have H_l = H_2, H_3 worked in
        value = value - n * harmonic_difference(0, ell)
    return value


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
    return values[0] / values[1] + values[2] * harmonic_difference(0, ell)


def crosscheck(slope: SlopeAutomata, pairs: list[tuple[int, int]]) -> str | None:
    """Compare all three with the engine's exact runtime; return the first difference, or None."""
    for n, ell in pairs:
        result = runtime(JUMP.at(n, ell), Algorithm.lrsao(Parameters.paper(n)))
        values = (phase1_mean(n, ell), phase2_mean(slope, n, ell), phase3_mean(n, ell))
        for k, (phase, value) in enumerate(zip(result.phases, values, strict=True), start=1):
            if phase != value:
                return f"n = {n}, l = {ell}: E[T{k}] = {phase} by the engine, {value} here"
    return None
