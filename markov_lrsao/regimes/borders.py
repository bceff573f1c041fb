r"""The borders between regimes, as algebraic conditions on (alpha, gamma, r).

Write a = alpha, g = gamma, G = n - l - 1, rho = 1 - a + a^2 g^2, and assume (H) and l >= 2. What
the right plateau shows depends on row 0 alone, and row 0 enters it with L = q in [a, 1/(1-g)) and
with J and R each 0 or exactly -a r (L wins every tie on the left once it has been rewarded). If
R = 0, signs decide everything. So let R = -a r, which nobody changes before R is chosen again.

**J.** Suppose J = -a r as well, and J is chosen at n - l. A move along the plateau takes it below
R for good. Moving down to n - l - 1 makes it

    J' = (1-a) J + a G + a g M,      M = max of row n - l - 1,

which is above R. Once J > 0, its next penalty leaves it above R; while J <= 0, the next penalty
takes it below. So what matters is the number of such exits after which J > 0. Row n - l - 1 is
learnt from when n - l is entered: M = 0 if that was through L, else M = (1-a) x + a (1 + g m),
x >= 0 being the old entry, decayed by any number of rejections, m the maximum of row 0. The least
values are M = 0 at the first exit, and x -> 0, m = J at all others:

    J_1 >= -(1-a) a r + a G,         J_(i+1) >= rho J_i + a (G + a g),

and M < 1/(1-g) always, since no reward but those of J on this plateau exceeds 1. Hence J > 0 after
k exits for sure iff r < r_k^- (*J always, k*), and never if r >= r_k^+ (*J never, k*).

**L.** When L is chosen on the right plateau its first penalty leaves it above R. After a further
exit it is above R iff S = (1-a) L + a g M > 0. If row n - l - 1 has been left through R since,
M >= a (1 + g L), so S >= rho L + a^2 g, and L >= -a r: r <= a g / rho (*L always*) keeps L above R
after all such exits, and no larger r does, since repeated exits bring L as close to its least
value as one likes. On the other hand L <= -a r + (1-a)/(1-g) + a g M and M <= 1 + g G/(1-g), by
Lemma 2: beyond a certain r, L never returns (*L never*).

**Regimes.** For r >= "L never" and r_(k-1)^+ <= r < r_k^- everything is decided by k: the law of T
depends on n, l and k, and on nothing else. Between r_k^- and r_k^+, and between "L always" and
"L never", it may depend on values. "J always" and "L always" are sharp; the others are bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.exact.rationals import RationalLike, rational, to_float
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.parameters import Parameters, h_lower, h_upper, hypothesis_h

__all__ = ["Border", "borders", "decided_exits", "place_in_h"]

Formula = Callable[[Any, Any, Any], Any]
"""(alpha, gamma, G) -> r; rationals, floats and symbols alike."""


@dataclass(frozen=True)
class Border:
    """A border r = f(alpha, gamma).

    Attributes
    ----------
    condition : what holds on one side, for people; a = alpha, g = gamma, G = n-l-1,
        rho = 1 - a + a^2 g^2
    sharp : the law of T changes at the border itself; otherwise it has changed beyond it
    exits : k of the borders of J, else 0
    """

    name: str
    condition: str
    sharp: bool
    formula: Formula
    gain: int
    gamma: fmpq
    exits: int = 0

    def r(self, alpha: RationalLike) -> fmpq:
        """Return the border's r, exactly."""
        return fmpq(self.formula(rational(alpha, "alpha"), self.gamma, fmpq(self.gain)))

    def float(self, alpha: float) -> float:
        """Return the border's r in floats, for drawing."""
        return float(self.formula(alpha, to_float(self.gamma), float(self.gain)))

    def expression(self) -> Any:
        """Return the border's r as a sympy expression in alpha, gamma and G."""
        import sympy

        return sympy.together(self.formula(*sympy.symbols("alpha gamma G", positive=True)))

    def polynomial(self) -> Any:
        """Return a polynomial in alpha, gamma, G, r that vanishes on the border and nowhere else.

        It is positive where r exceeds the border.
        """
        import sympy

        p, q = sympy.fraction(self.expression())
        return sympy.expand(sympy.Symbol("r", positive=True) * q - p)

    def curve(self, alphas: Sequence[fmpq]) -> list[fmpq]:
        """Return r at each alpha."""
        return [self.r(a) for a in alphas]


def _rho(a: Any, g: Any) -> Any:
    return 1 - a + a**2 * g**2


def _l_always(a: Any, g: Any, gain: Any) -> Any:
    return a * g / _rho(a, g)


def _l_never(a: Any, g: Any, gain: Any) -> Any:
    learnt = a * g * (1 + g * gain / (1 - g))
    return ((1 - a) * ((1 - a) / (1 - g) + learnt) + learnt) / (a * (1 - a))


def _j_always(k: int) -> Formula:
    def formula(a: Any, g: Any, gain: Any) -> Any:
        # (G + a g)(1 - rho^(k-1)) / ((1 - rho) rho^(k-1)) = (G + a g) sum of rho^-i, i = 1..k-1
        rho = _rho(a, g)
        return (gain + sum(((gain + a * g) / rho**i for i in range(1, k)), 0 * gain)) / (1 - a)

    return formula


def _j_never(k: int) -> Formula:
    def formula(a: Any, g: Any, gain: Any) -> Any:
        c = (1 - a) ** k
        return (1 - c) * (gain + g / (1 - g)) / (a * c)

    return formula


def borders(
    n: int, ell: int, gamma: RationalLike | None = None, *, exits: int = 6
) -> tuple[Border, ...]:
    """Return the borders of (H), of L, and of J for 1, .., `exits` exits.

    >>> for b in borders(9, 2, exits=1):
    ...     print(f"{b.name}: {b.r('1/2')}")
    (H), lower: 22/3
    (H), upper: 20
    L always: 20/201
    L never: 29/18
    J always, 1: 12
    J never, 1: 110/9
    """
    landscape = Landscape.jump(n, ell)
    g = fmpq(1, n + 1) if gamma is None else rational(gamma, "gamma")
    gain = int(landscape.largest_gain)
    found = [
        Border("(H), lower", "r > (1/(a(1-g)) - 1) G", True, h_lower, gain, g),
        Border("(H), upper", "r < 1/(a g)", True, h_upper, gain, g),
        Border("L always", "r <= a g/rho", True, _l_always, gain, g),
        Border(
            "L never",
            "a(1-a) r >= (1-a)((1-a)/(1-g) + c) + c, c = a g (1 + g G/(1-g))",
            False,
            _l_never,
            gain,
            g,
        ),
    ]
    for k in range(1, exits + 1):
        found.append(
            Border(
                f"J always, {k}",
                "(1-a) r < G"
                if k == 1
                else f"(1-a) r < G + (G + a g)(rho^-1 + .. + rho^-{k - 1})"
                if k > 2
                else "(1-a) r < G + (G + a g)/rho",
                True,
                _j_always(k),
                gain,
                g,
                k,
            )
        )
        found.append(
            Border(
                f"J never, {k}",
                f"a (1-a)^{k} r >= (1 - (1-a)^{k})(G + g/(1-g))",
                False,
                _j_never(k),
                gain,
                g,
                k,
            )
        )
    return tuple(found)


def decided_exits(n: int, ell: int, alpha: fmpq, gamma: fmpq, r: fmpq) -> int | None:
    """Return k if the borders place a point of (H) in the regime of k exits, else None.

    >>> decided_exits(9, 2, fmpq(4, 5), fmpq(1, 10), fmpq(7, 2))  # section 6 of the paper
    1
    >>> decided_exits(9, 2, fmpq(1, 2), fmpq(1, 10), fmpq(13))
    2
    >>> decided_exits(9, 2, fmpq(99, 100), fmpq(1, 10), fmpq(5)) is None  # L may return
    True
    """
    landscape = Landscape.jump(n, ell)
    gain = fmpq(landscape.largest_gain)
    if not hypothesis_h(landscape, Parameters(alpha, gamma, r)).holds:
        return None
    if r < _l_never(alpha, gamma, gain):
        return None
    k = 1
    while r >= _j_never(k)(alpha, gamma, gain):
        k += 1
    return k if r < _j_always(k)(alpha, gamma, gain) else None


def place_in_h(border: Border, n: int, ell: int, alpha: fmpq) -> float | None:
    """Return where the border's r lies in the interval of (H): 0 and 1 are its ends."""
    h = hypothesis_h(Landscape.jump(n, ell), Parameters(alpha, border.gamma, fmpq(0)))
    if not h.satisfiable:
        return None
    return to_float((border.r(alpha) - h.lower) / (h.upper - h.lower))
