r"""Closed forms in n and l, derived from the explored blocks.

A block explored at one instance is a finite graph whose probabilities are affine in the
position over a common denominator proportional to n. Writing each position as a symbolic
anchor plus an offset (0 + k near the start, n - l + k near the right plateau) turns the same
graph into one with symbolic probabilities, and the same elimination that solves it in
rationals solves it over the field Q(n, l). Harmonic numbers enter through corridors only:
walking up from p to the end b takes n (H_{n-p} - H_{n-b-1}) steps.

The graph is that of one instance. `proofs_check.automata.closed` derives the same forms from walks
that a solver decides for all n and l at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from flint import fmpq

from markov_lrsao.crossing.blocks import Block, Corridor, Exit, State, Stretch, explore_block
from markov_lrsao.crossing.decomposition import decompose, tail_patterns
from markov_lrsao.crossing.exits import first_exit
from markov_lrsao.errors import ParameterError, VerificationError
from markov_lrsao.exact.series import Element, solve
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.law import UP, StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.model.statements import implements

if TYPE_CHECKING:
    import sympy

__all__ = ["ClosedForm", "phase1_formula", "phase3_formula"]


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """An expression in n, l and harmonic numbers, with the range where it holds.

    Attributes
    ----------
    expression : sympy expression in the symbols n and l (`ell`), with sympy.harmonic
    range : the condition on l, as text
    smallest_ell, largest_ell : the same as numbers; None: no upper limit
    """

    name: str
    expression: sympy.Expr
    range: str
    smallest_ell: int
    largest_ell: int | None

    def at(self, n: int, ell: int) -> fmpq:
        """Return the exact value at an instance.

        Raises
        ------
        ParameterError
            l is outside the range of validity.
        """
        from markov_lrsao.exact.rationals import rational

        if ell < self.smallest_ell or (self.largest_ell is not None and ell > self.largest_ell):
            raise ParameterError(f"ell = {ell} is outside the range of {self.name}: {self.range}")
        symbols = {"n": n, "l": ell}
        value = self.expression.subs({s: symbols[s.name] for s in self.expression.free_symbols})
        if not value.is_Rational:
            raise VerificationError(f"{self.name} did not evaluate to a rational at ({n}, {ell})")
        return rational(f"{value.p}/{value.q}")


@dataclass(frozen=True)
class _Symbols:
    """The field Q(n, l, H) with H = H_{n-l-1} or H_l, whichever harmonic number occurs."""

    n: Any
    ell: Any
    harmonic: Any
    one: Any


@cache
def _field() -> _Symbols:
    from sympy import QQ
    from sympy.polys.fields import field

    fractions, n, ell, h = field("n,l,H", QQ)
    return _Symbols(n, ell, h, fractions.one)


def solve_symbolically(
    block: Block,
    position: Callable[[int], Any],
    n: Any,
    corridor: Callable[[Corridor], Any],
    counts: Callable[[int], bool],
) -> dict[int, dict[Exit, Element]]:
    """Solve a block over Q(n, l): probabilities and means of reaching each exit.

    Parameters
    ----------
    position : position of the explored instance -> symbolic position
    corridor : corridor -> symbolic expected time
    counts : phase -> whether its steps count
    """
    symbols = _field()
    zero, one = 0 * symbols.one, symbols.one
    unit = block.denominator // block.law.n
    rows: dict[int, dict[int, Element]] = {}
    outputs: dict[int, dict[Exit, Element]] = {}
    for i, (state, edges) in enumerate(zip(block.states, block.edges, strict=True)):
        rows[i], outputs[i] = {}, {}
        counted = counts(state.phase)
        for target, weight in edges:
            if isinstance(weight, Corridor):
                element: Element = (one, corridor(weight) if counted else zero)
            else:
                probability = weight.numerator(position(state.position), n) / (unit * n)
                element = (probability, probability if counted else zero)
            if isinstance(target, Exit):
                outputs[i][target] = element
            else:
                rows[i][target] = element
    return solve(rows, outputs, block.order, length=2, at_one=True)


def _sympy(value: Any, harmonic: Any) -> sympy.Expr:
    """Turn a field element into an expression, collected in the harmonic number."""
    import sympy

    n, ell = sympy.symbols("n l", positive=True)
    h = sympy.Symbol("H")
    expression = value.as_expr().subs({"n": n, "l": ell})
    constant = sympy.cancel(expression.subs(h, 0))
    slope = sympy.cancel(sympy.diff(expression, h))
    if sympy.cancel(expression - constant - slope * h) != 0:
        raise VerificationError("a runtime is not linear in the harmonic number")
    return sympy.factor(constant) + sympy.factor(slope) * harmonic(n, ell)


@cache
def _instance(n: int, ell: int) -> StepLaw:
    return StepLaw.of(JUMP.at(n, ell), Algorithm.lrsao(Parameters.paper(n)))


@implements("Theorem 7", "(A)")
@cache
def phase1_formula() -> ClosedForm:
    """Return formula (A), E[T_1], derived from the chain of the left plateau.

    >>> phase1_formula().at(9, 2)
    9853/2856
    """
    import sympy

    n0, ell0 = 60, 12  # any instance with room on both sides; `at` is compared with the solver
    law = _instance(n0, ell0)
    automata = decompose(law).automata
    block = explore_block(Stretch(automata, 0, ell0, (ell0 + 1,)), [State(0, 0, (0,))])
    s = _field()

    def corridor(c: Corridor) -> Any:
        # n (H_{n-p} - H_{n-l-1}), written with H = H_n - H_{n-l-1}
        return s.n * (s.harmonic - sum((1 / (s.n - k) for k in range(c.first)), 0 * s.one))

    solved = solve_symbolically(block, lambda p: p * s.one, s.n, corridor, lambda _: True)
    mean = sum((v[1] for v in solved[0].values()), 0 * s.one)
    expression = _sympy(mean, lambda n, ell: sympy.harmonic(n) - sympy.harmonic(n - ell - 1))
    return ClosedForm("E[T1]", expression, "l >= 2", 2, None)


@implements("Lemma 15", "Theorem 16")
@cache
def phase3_formula(ell: int | None = None) -> ClosedForm:
    """Return E[T_3] for the paper's hyper-parameters.

    Parameters
    ----------
    ell : 2 or 3 for these special cases, where the end of the plateau cuts the chain off;
        None for the general form, valid from l = 4 on

    >>> phase3_formula(2).at(9, 2)
    1801504607/73614420
    """
    import sympy

    if ell not in (None, 2, 3):
        raise ParameterError(f"ell = {ell}: special forms exist for 2 and 3; omit it for l >= 4")
    n0, ell0 = (60, 12) if ell is None else (60, ell)
    law = _instance(n0, ell0)
    d = decompose(law)
    assert d.tail is not None
    assert d.top_region is not None
    s = _field()
    symbolic_ell = s.ell if ell is None else ell * s.one
    cut = s.n - symbolic_ell

    def right(p: int) -> Any:
        return cut + (p - (n0 - ell0))

    def corridor(c: Corridor) -> Any:
        if c.last != n0 - 1:  # a short one, below the plateau
            return sum((s.n / (s.n - right(p)) for p in range(c.first, c.last + 1)), 0 * s.one)
        # n H_{n-p} with n - p = l - k: H_l less its last k terms
        k = c.first - (n0 - ell0)
        return s.n * (s.harmonic - sum((1 / (symbolic_ell - i) for i in range(k)), 0 * s.one))

    tail = solve_symbolically(d.tail, right, s.n, corridor, lambda _: True)
    top = solve_symbolically(d.top_region, right, s.n, corridor, lambda _: False)
    left = explore_block(Stretch(d.automata, 0, ell0, (ell0 + 1,)), [State(0, 0, (0,))])
    start = solve_symbolically(left, lambda p: p * s.one, s.n, lambda c: 0 * s.one, lambda _: False)
    phase = sum(m <= d.cut for m in law.landscape.milestones)
    marks: dict[int, Any] = {}
    leaving = first_exit(d.top_region, top, d.top_counts, (s.one, 0 * s.one))
    for (mark, _), element in leaving.items():
        marks[mark] = marks.get(mark, 0 * s.one) + element[0]
    total = 0 * s.one
    for exit_, weight in start[0].items():
        for mark, probability in marks.items():
            # Row 0 keeps its pattern through phase 2 (Lemma 8): the left plateau's exit tells it.
            stretch, leaving_left = d.tail.stretch, Exit(UP, exit_.phase, exit_.patterns)
            patterns = tail_patterns(stretch.rows, law, left, leaving_left, mark, stretch.first)
            number = d.tail.number[State(d.cut, phase, patterns)]
            mean = sum((v[1] for v in tail[number].values()), 0 * s.one)
            total += weight[0] * probability * mean
    if ell is None:
        expression = _sympy(total, lambda _n, ell: sympy.harmonic(ell))
        return ClosedForm("E[T3]", expression, "l >= 4", 4, None)
    value = sum((fmpq(1, k) for k in range(1, ell + 1)), fmpq(0))
    expression = _sympy(total, lambda _n, _ell: sympy.Rational(int(value.p), int(value.q)))
    return ClosedForm(f"E[T3] at l = {ell}", sympy.factor(expression), f"l = {ell}", ell, ell)
