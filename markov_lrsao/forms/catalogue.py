"""The formulas that `markov-lrsao formula` prints, gathered from where they are derived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markov_lrsao.errors import ParameterError
from markov_lrsao.forms.asymptotics import phase2_asymptotics, phase3_expansion
from markov_lrsao.forms.closed import phase1_formula, phase3_formula
from markov_lrsao.progress import Progress, no_progress

if TYPE_CHECKING:
    import sympy

__all__ = ["Formula", "formulas"]


@dataclass(frozen=True, eq=False)
class Formula:
    """A named expression and where it holds."""

    name: str
    expression: sympy.Expr
    range: str


def _derived(progress: Progress, *derivations: Callable[[], Any]) -> list[Any]:
    """Derive one after the other."""
    found = []
    with progress("deriving formulas", total=len(derivations)) as bar:
        for derivation in derivations:
            found.append(derivation())
            bar.advance()
    return found


def formulas(which: str, progress: Progress = no_progress) -> list[Formula]:
    """Return the formulas for "phase1", "phase2", "phase3" or "total"."""
    known = {"phase1": _phase1, "phase2": _phase2, "phase3": _phase3, "total": _total}
    if which not in known:
        names = "phase1, phase2, phase3 or total"
        raise ParameterError(f"formula {which!r} is unknown: choose {names}")
    return known[which](progress)


def _phase1(progress: Progress) -> list[Formula]:
    import sympy

    n, ell = sympy.symbols("n l", positive=True)
    (exact,) = _derived(progress, phase1_formula)
    leading = n * sympy.log(n / (n - ell - 1)) + sympy.Rational(1, 2) - n / (2 * (n - ell - 1))
    return [
        Formula("E[T1], exact (formula (A))", exact.expression, "all valid n, l"),
        Formula("E[T1], asymptotically", leading, "up to o(1), n -> infinity"),
    ]


def _phase2(progress: Progress) -> list[Formula]:
    import sympy

    n, s, x = sympy.symbols("n s x", positive=True)
    (found,) = _derived(progress, phase2_asymptotics)
    crossings = sympy.Function("D")(s + 1)
    return [
        Formula(
            "E[steps at s]",
            n * (1 + crossings) / (n - s),
            "l+3 <= s <= n-l-2, D(s+1) the mean number of moves from s+1 down to s",
        ),
        Formula("mean of D at s = x n, n -> infinity", found.crossings.subs("x", x), "0 < x < 1"),
        Formula("E[T2], asymptotically", found.expression(), "up to o(n), l -> infinity, l = o(n)"),
        Formula("E[T2], asymptotically, l fixed", found.fixed_ell(), "up to o(n), l fixed"),
        Formula(
            "the constant C",
            found.constant,
            f"factor of n above, about {float(found.constant.evalf()):.9f}",
        ),
    ]


def _phase3(progress: Progress) -> list[Formula]:
    *forms, expansion = _derived(
        progress,
        phase3_formula,
        lambda: phase3_formula(2),
        lambda: phase3_formula(3),
        phase3_expansion,
    )
    return [
        *[Formula(f"{f.name}, exact", f.expression, f"{f.range}, all valid n") for f in forms],
        Formula("E[T3], asymptotically", expansion, "up to O(1/n^2), n -> infinity, l >= 4 fixed"),
    ]


def _total(progress: Progress) -> list[Formula]:
    import sympy

    n, ell = sympy.symbols("n l", positive=True)
    found, first, third = _derived(progress, phase2_asymptotics, phase1_formula, phase3_formula)
    lead = 2 * n**2 / (3 * ell * (ell + 1)) + n * sympy.harmonic(ell) + found.expression()
    return [
        Formula("E[T], asymptotically", lead, "up to o(n) + O(n/l), l -> infinity, l = o(n)"),
        Formula(
            "E[T] - E[T2], exact",
            first.expression + third.expression,
            "l >= 4, all valid n; E[T2] has no closed form known to us: it is a product "
            "of n - 2l matrices of size 3",
        ),
        Formula(
            "coupon collector n H_n, the lower bound",
            n * sympy.harmonic(n),
            "every random local search that starts at 0",
        ),
    ]
