r"""What the exact recursion tends to: the constants hidden in the paper's O and Theta.

**Phase 2.** On the slope of Jump every objective accepts an upward move, so a step at
site s is an upward exit with probability (n-s)/n whatever the pattern, and by Wald's
identity E[steps at s] = n/(n-s) (1 + E[D_{s+1}]). The transition matrix K_s of the crossing
counts D depends on x = s/n only and varies slowly with s; so E[D_s] tends to the mean d(x)
of its stationary law, a rational function of x, and for l -> infinity, l = o(n)

    E[T_2] = 3 n ln(n/l) + C n + o(n),    C = integral over 0..1 of (d(x) - 2)/(1 - x) dx,

because d(1) = 2: near the top both plateau objectives are used downwards almost surely. For
fixed l the sites next to the right plateau count on their own: the site n-l-2 has two upward
exits, the site n-l-1 waits for R at rate (l+1)/(2n), and

    E[T_2] = 3n (ln n + gamma - H_{l+2}) + 2n/(l+2) + 2n/(l+1) + C n + o(n).

**Phase 3.** The closed form of `markov_lrsao.forms.closed` is expanded in n.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from markov_lrsao.crossing.decomposition import Site, decompose
from markov_lrsao.crossing.exits import count_exits, site_events
from markov_lrsao.errors import VerificationError
from markov_lrsao.forms.closed import _instance, phase3_formula
from markov_lrsao.model.statements import implements

if TYPE_CHECKING:
    import sympy

__all__ = ["Phase2Asymptotics", "phase2_asymptotics", "phase3_expansion"]


@dataclass(frozen=True, eq=False)
class Phase2Asymptotics:
    """Leading terms of E[T_2] for l = o(n).

    Attributes
    ----------
    crossings : d(x), the stationary mean of the crossing count at x = s/n
    leading : the limit of E[T_2]/(n ln(n/l)), that is 1 + d(1)
    constant : C, the next-order term's factor of n, in closed form
    """

    crossings: sympy.Expr
    leading: sympy.Expr
    constant: sympy.Expr

    def expression(self) -> sympy.Expr:
        """Return the expansion for l -> infinity, l = o(n), without its o(n)."""
        import sympy

        n, ell = sympy.symbols("n l", positive=True)
        return self.leading * n * sympy.log(n / ell) + self.constant * n

    def fixed_ell(self) -> sympy.Expr:
        """Return the expansion for fixed l, without its o(n)."""
        import sympy

        n, ell = sympy.symbols("n l", positive=True)
        return (
            self.leading * n * (sympy.log(n) + sympy.EulerGamma - sympy.harmonic(ell + 2))
            + 2 * n / (ell + 2)
            + 2 * n / (ell + 1)
            + self.constant * n
        )


def _site_kernel(site: Site, unit: int) -> tuple[dict[tuple[int, int], Any], Any]:
    """Return K(x) over Q(x) and x, for a site whose incoming and outgoing counts agree."""
    from sympy import QQ
    from sympy.polys.fields import field

    fractions, x = field("x", QQ)
    events = site_events(
        site,
        lambda share: (share.numerator(x, 1) / unit,),
        length=1,
        at_one=True,
    )
    kernel = count_exits(events, site.incoming, site.outgoing, (fractions.one,))
    return {key: element[0] for key, element in kernel.items()}, x


@implements("Theorem 11")
@cache
def phase2_asymptotics() -> Phase2Asymptotics:
    """Derive d(x), the limit 1 + d(1) and the constant C from the slope's site automaton."""
    import sympy

    d = decompose(_instance(60, 12))
    site = next(s for s in d.sites if s.incoming == s.outgoing)
    kernel, _ = _site_kernel(site, d.law.unit)
    x = sympy.Symbol("x", positive=True)
    size = site.incoming + 1
    matrix = sympy.Matrix(
        size,
        size,
        lambda i, j: kernel[i, j].as_expr().subs("x", x) if (i, j) in kernel else sympy.Integer(0),
    )
    if any(sympy.cancel(sum(matrix.row(i)) - 1) != 0 for i in range(size)):
        raise VerificationError("the law of the crossing counts does not add up to 1")
    balance = (matrix.T - sympy.eye(size)).col_join(sympy.ones(1, size))
    unknowns = sympy.symbols(f"pi0:{size}")
    right = sympy.zeros(size + 1, 1)
    right[size] = 1
    solution = sympy.solve(list(balance * sympy.Matrix(unknowns) - right), unknowns, dict=True)[0]
    mean = sympy.cancel(sum(k * solution[u] for k, u in enumerate(unknowns)))
    at_top = sympy.limit(mean, x, 1)
    integrand = sympy.cancel((mean - at_top) / (1 - x))
    constant = sympy.simplify(sympy.integrate(sympy.apart(integrand, x), (x, 0, 1)))
    return Phase2Asymptotics(sympy.factor(mean), 1 + at_top, constant)


@implements("Lemma 15")
@cache
def phase3_expansion(terms: int = 4) -> sympy.Expr:
    """Return the leading terms of E[T_3] for n -> infinity at fixed l >= 4."""
    import sympy

    n, ell = sympy.symbols("n l", positive=True)
    formula = phase3_formula().expression
    harmonic = sympy.harmonic(ell)
    rational = sympy.together(formula.subs(harmonic, 0))
    epsilon = sympy.Symbol("epsilon", positive=True)
    # rational = n^2 * g(1/n) with g analytic at 0
    g = sympy.cancel(sympy.together(rational.subs(n, 1 / epsilon) * epsilon**2))
    series = sympy.series(g, epsilon, 0, terms).removeO()
    total = sum(sympy.factor(series.coeff(epsilon, k)) * n ** (2 - k) for k in range(terms))
    slope = sympy.cancel(formula.subs(harmonic, 1) - formula.subs(harmonic, 0))
    return total + slope * harmonic
