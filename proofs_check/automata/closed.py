r"""Closed forms for all n and l: E[T_1], the start of phase 3, P(E), E[T_3] and E[T_3^1].

The walks of `proofs_check.automata.symbolic` are solved over Q(n, l, H). On the left plateau the
walk is decided for all of (H): it gives formula (A), and the law of J and R in row 0 at the end of
phase 1, which phase 2 does not touch. On the right plateau comparisons of Q-entries are decided
once alpha, gamma and r are the paper's; a few more invariants are needed there, which the induction
proves under the pinned hypothesis. With K the largest offset of that walk, one closed form holds
for all l > K; each smaller l has its own, where the plateau cuts the walk off.

The engine reads closed forms of its own off the graph of one instance
(`markov_lrsao.forms.closed`). Both must agree, or nothing is returned.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from flint import fmpq

from markov_lrsao.errors import SolverError, VerificationError
from markov_lrsao.exact.rationals import harmonic_difference
from markov_lrsao.forms.closed import phase1_formula, phase3_formula
from markov_lrsao.model.landscape import Affine, P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.automata.abstraction import Cells, SlopeAutomata
from proofs_check.automata.elimination import System, first_exits, solved_system
from proofs_check.automata.symbolic import Node, Plateau, Walk, derive, right_plateau
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.verdict import Verdict
from proofs_check.logic.cases import region_solver
from proofs_check.logic.induction import Fact, Induction, StepFact
from proofs_check.logic.journal import Shelf, note_value

if TYPE_CHECKING:
    import sympy

__all__ = [
    "PINNED",
    "Form",
    "LeftForms",
    "Piecewise",
    "RightForms",
    "form_of",
    "fractions",
    "left_forms",
    "pinned_facts",
    "pinned_induction",
    "right_forms",
]

PINNED = ("alpha = 4/5", "gamma*(n + 1) = 1", "4*r = n + 5")
"""The paper's hyper-parameters: alpha = 4/5, gamma = 1/(n+1), r = n (1/(alpha (1-gamma)) - 1)."""

_LARGEST = "1 + gamma*(n - l - 1)/(1 - gamma)"
"""A reward of 1 and then, by Lemma 2, the largest entry: what a slope's entry can be at most."""

_ONCE = "alpha*(n - l - 1 - (1 - alpha)*r)"
"""J at 0 after a fall and one return: what r leaves of the gain n-l-1."""


def pinned_facts() -> list[Fact]:
    """Return the invariants that the right plateau needs beyond those of the lemmas."""
    slope = "s >= l + 1 and s <= n - l - 3"
    return [
        Fact("J below n - l - 2, from above", f"{slope} -> J <= {_LARGEST}"),
        Fact("R at n - l - 1, from above", f"tR <= {_LARGEST}"),
        Fact("L in row 0, from above", "zL <= 1 + 2*gamma", (1, 2)),
    ]


def _fresh_or_punished() -> tuple[tuple[str, str], ...]:
    return (("0", "x = 0"), ("=", "x = -alpha*r"))


def _left_plateau(induction: Induction) -> Plateau:
    return Plateau(
        1,
        Affine(),
        induction.first - 1,
        "L",
        (
            ("L", (("0", "x = 0"), ("+", "x > 0"))),
            ("J", _fresh_or_punished()),
            ("R", _fresh_or_punished()),
        ),
    )


def _right_plateau(induction: Induction) -> Plateau:
    fallen = f"-alpha*r + (1 - alpha)*(1 + 2*gamma) + alpha*gamma*({_LARGEST})"
    return right_plateau(
        induction,
        (
            (
                "L",
                (
                    ("+", "x > 0 and x <= 1 + 2*gamma"),
                    (">", f"x > -alpha*r and x <= {fallen}"),
                    ("-", "x < -alpha*r"),
                ),
            ),
            (
                "J",
                (
                    ("+", f"x >= {_ONCE}"),
                    *_fresh_or_punished(),
                    (">", f"x >= (1 - alpha + alpha*gamma)*{_ONCE} - alpha*r and x < 0"),
                    ("-", "x < -alpha*r"),
                ),
            ),
            ("R", _fresh_or_punished()),
        ),
    )


# -- solving a walk --------------------------------------------------------------------


@cache
def fractions() -> tuple[Any, Any, Any, Any]:
    """Return n, l, H and 1 of the field Q(n, l, H)."""
    from sympy import QQ
    from sympy.polys.fields import field

    ring, n, ell, h = field("n,l,H", QQ)
    return n, ell, h, ring.one


def _expression(value: Any) -> sympy.Expr:
    """Return an element of the field in the symbols of `to_sympy`, H left as it is."""
    import sympy

    names = {sympy.Symbol(x): to_sympy(x) for x in ("n", "l")}
    return sympy.sympify(value.as_expr()).subs(names)


@dataclass(frozen=True, eq=False)
class LeftForms:
    """What the left plateau leaves behind, for all of (H).

    Attributes
    ----------
    mean : E[T_1] in n, l, H(n) and H(n - l - 1)
    law : (cell of J, cell of R) -> its probability at the end of phase 1, and so of phase 2
    probability : P(E) of Lemma 15
    walk : the walk they come from
    system : its equations with their solution; the start is the first node
    """

    mean: str
    law: Mapping[Cells, Any]
    probability: str
    walk: Walk
    system: System


_LEFT: Shelf[LeftForms] = Shelf("closed forms of the left plateau")
_RIGHT: Shelf[RightForms] = Shelf("closed forms of the right plateau")


def _key(induction: Induction) -> tuple[Any, ...]:
    setting = induction.setting
    return (setting.family, setting.algorithm, setting.hypothesis, induction.facts)


def left_forms(induction: Induction) -> LeftForms:
    """Derive the left plateau's walk and solve it (once per model, hypothesis and set of facts).

    Raises
    ------
    SolverError
        Something is not decided for all n, l and all of the hypothesis.
    VerificationError
        The engine's formula differs (where the model is the paper's).
    """
    return _LEFT.get(_key(induction), lambda: _left(induction))


def _left(induction: Induction) -> LeftForms:
    n, _, h, one = fractions()
    walk = derive(induction, _left_plateau(induction), [Node(0, ("0", "0", "0"), ())])
    rows: dict[Hashable, dict[Hashable, Any]] = {}
    outputs: dict[Hashable, dict[Hashable, Any]] = {}

    def corridor(offset: int) -> Any:
        # n (H_(n-p) - H_(n-l-1)) with H = H_n - H_(n-l-1), l the last position of the plateau
        return n * (h - sum((one / (n - i) for i in range(offset)), 0 * one))

    for node, steps in walk.steps.items():
        rows[node], outputs[node] = {}, {}
        if not steps:
            outputs[node] = {"mean": corridor(node.offset), node.zero[1:]: one}
            continue
        outputs[node]["mean"] = one
        for step in steps:
            chance = _chance(step.direction, node.offset * one, n) / step.ties
            if isinstance(step.target, Node):
                rows[node][step.target] = rows[node].get(step.target, 0 * one) + chance
            else:
                outputs[node]["mean"] += chance * corridor(step.target)
                left = node.zero[1:]
                outputs[node][left] = outputs[node].get(left, 0 * one) + chance
    system = solved_system("left plateau", rows, outputs, 0 * one)
    solved = system.values[next(iter(walk.steps))]
    law = {cells: value for cells, value in solved.items() if cells != "mean"}
    if sum(law.values(), 0 * one) != one:
        raise VerificationError("the left plateau is not left almost surely")
    rest, factor = _split(solved["mean"])
    mean = f"{rest} + ({factor})*(H(n) - H({Affine(n=1) - walk.plateau.last - 1}))"
    if induction.setting.paper_model:
        _same_mean(mean)
    _check_row_kept(induction)
    chance = _falls_at_once(induction)
    probability = law.get(("0", "="), 0 * one) * chance
    text = str(_expression(probability).factor())
    return LeftForms(mean, law, text, walk, system)  # type: ignore[arg-type]


def _chance(direction: int, position: Any, n: Any) -> Any:
    return (position if direction == DOWN else n - position) / n


def _same_mean(mean: str) -> None:
    """Compare E[T_1] with the engine's formula.

    Raises
    ------
    VerificationError
        They differ.
    """
    import sympy

    engine = phase1_formula().expression
    atoms = {
        h: sympy.Symbol(f"h{i}")
        for i, h in enumerate(sorted(engine.atoms(sympy.harmonic), key=str))
    }
    difference = (to_sympy(mean) - engine).subs(atoms)
    if sympy.cancel(sympy.together(difference)) != 0:
        raise VerificationError(f"E[T1] is {mean} by the walk, {engine} by the engine")


def _check_row_kept(induction: Induction) -> None:
    """Check that phase 2 leaves J and R of row 0 as they are.

    Raises
    ------
    SolverError
        The solver does not derive it.
    """
    kept = StepFact("J and R of row 0 in phase 2", "zJ1 = zJ and zR1 = zR", phases=(2,))
    found = induction.prove([kept])
    if found.verdict is not Verdict.PROVED:
        raise SolverError(f"phase 2 may change J or R of row 0: {found.details[-1]}")


def _begins(induction: Induction, largest: str = "") -> None:
    """Check that phase 3 begins with L positive and on top of row 0 (and at most `largest`).

    Raises
    ------
    SolverError
        The solver does not derive it.
    """
    text = "zL1 > 0 and zL1 > zJ1 and zL1 > zR1" + (f" and zL1 <= {largest}" if largest else "")
    fact = StepFact("L leads as phase 3 begins", text, f"p1 = {induction.cut}", (2,))
    found = induction.prove([fact])
    if found.verdict is not Verdict.PROVED:
        raise SolverError(f"phase 3 may begin otherwise: {found.details[-1]}")


def _falls_at_once(induction: Induction) -> Any:
    """Return the chance (n-l)/n that the first step of phase 3 leads to n-l-1.

    Raises
    ------
    SolverError
        L is not the greedy action for sure, or its downward step is not always accepted.
    """
    n, ell, _, one = fractions()
    _begins(induction)
    cut, regions = induction.cut, region_solver(induction.setting.family)
    moves = {
        case.moved
        for case in induction.cases
        if (case.action, case.direction) == ("L", DOWN)
        and regions.feasible((*case.region, P - cut, cut - P))
    }
    if moves != {-1}:
        raise SolverError(f"L at {cut} does not always accept a downward step")
    return (cut.n * n + cut.ell * ell + cut.constant * one) / n


# -- the right plateau -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Form:
    """A closed form rest + factor H_l, for one l or for all from `smallest` on.

    Attributes
    ----------
    ell : the fixed l, whose H_l is worked into `rest`; None for all l >= smallest
    value : the same as an element of Q(n, l, H), H = H_l
    """

    ell: int | None
    smallest: int
    rest: sympy.Expr
    factor: sympy.Expr
    value: Any = None

    def expression(self) -> sympy.Expr:
        """Return the form with H(l) written out."""
        import sympy

        return self.rest + self.factor * sympy.harmonic(to_sympy("l"))


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A quantity for all l >= 2: one general closed form, and one for each small l."""

    name: str
    general: Form
    special: tuple[Form, ...]

    @property
    def forms(self) -> tuple[Form, ...]:
        """All forms."""
        return (*self.special, self.general)

    def of(self, ell: int) -> Form:
        """Return the form that holds at l."""
        return next((form for form in self.special if form.ell == ell), self.general)

    def at(self, n: int, ell: int) -> fmpq:
        """Return the exact value at an instance."""
        form = self.of(ell)
        rest, factor = (_value(part, n, ell) for part in (form.rest, form.factor))
        value = rest + factor * harmonic_difference(0, ell)
        note_value(self.name, n, ell, value)
        return value


def _value(part: sympy.Expr, n: int, ell: int) -> fmpq:
    top, bottom = (
        sum((c * fmpq(n) ** i * fmpq(ell) ** j for i, j, c in terms), fmpq(0))
        for terms in _terms(part)
    )
    value: fmpq = top / bottom
    return value


@cache
def _terms(part: sympy.Expr) -> tuple[list[tuple[int, int, fmpq]], ...]:
    """Return numerator and denominator of a rational function as (power of n, of l, factor)."""
    import sympy

    n, ell = to_sympy("n"), to_sympy("l")
    return tuple(
        [(i, j, fmpq(int(c.p), int(c.q))) for (i, j), c in sympy.Poly(side, n, ell).terms()]
        for side in sympy.fraction(sympy.cancel(sympy.together(part)))
    )


@dataclass(frozen=True, eq=False)
class RightForms:
    """Phase 3 for the paper's hyper-parameters, all n and l.

    Attributes
    ----------
    whole, first : E[T_3] and E[T_3^1]
    walk : the walk they come from
    systems : its equations with their solutions, in the order of the forms of either
    starts : law of the first node of phase 3, over the field, in the same order
    """

    whole: Piecewise
    first: Piecewise
    walk: Walk
    systems: tuple[System, ...]
    starts: tuple[Mapping[Node, Any], ...]


def right_forms(induction: Induction, slope: SlopeAutomata) -> RightForms:
    """Derive the right plateau's walk for the pinned hyper-parameters and solve it.

    Parameters
    ----------
    induction, slope : the induction and the slope's automata of the setting, for all of (H)

    Raises
    ------
    SolverError
        Something is not decided for all n and l.
    VerificationError
        The engine's closed form differs (where the model is the paper's).
    """
    return _RIGHT.get(_key(induction), lambda: _right(induction, slope))


def pinned_induction(induction: Induction) -> Induction:
    """Return the induction under the paper's hyper-parameters, with the further invariants proved.

    The facts of `induction` hold under its hypothesis, so all the more under the pinned one.

    Raises
    ------
    SolverError
        A further invariant is not derived.
    """
    setting = induction.setting
    further = pinned_facts()
    pinned = Induction(
        setting.mutate(hypothesis=(*setting.hypothesis, *PINNED)),
        (*induction.established, *further),
        induction,
    )
    found = pinned.prove(further)
    if found.verdict is not Verdict.PROVED:
        raise SolverError(f"not an invariant: {found.details[-1]}")
    return pinned


def _right(induction: Induction, slope: SlopeAutomata) -> RightForms:
    left = left_forms(induction)
    pinned = pinned_induction(induction)
    _begins(pinned, "1 + 2*gamma")
    top = slope.automata["n-l-1"]
    marks = sorted({move.target for move in top.moves if move.moved == 1})
    starts = [Node(0, ("+", *cells), mark) for cells in left.law for mark in marks]
    walk = derive(pinned, _right_plateau(pinned), starts)
    n, ell, _, one = fractions()

    smallest, last = 2, max(node.offset for node in walk.steps)

    def total(fixed: int | None) -> tuple[System, dict[Node, Any], list[Any]]:
        """Return the system, the law of the start, and E[T_3] and E[T_3^1] averaged over it."""
        where = ell if fixed is None else fixed * one
        system = _solve_right(walk, fixed, last + 1)
        exits = first_exits(top, n - where - 1, n, 0 * one)
        law = {
            Node(0, ("+", *cells), mark): chance * share
            for cells, chance in left.law.items()
            for mark, share in exits.items()
        }
        sums = [
            sum((w * system.values[node].get(k, 0 * one) for node, w in law.items()), 0 * one)
            for k in (0, 1)
        ]
        return system, law, sums

    fixed_at = [*range(smallest, last + 1), None]
    found = [total(fixed) for fixed in fixed_at]
    pieces = []
    for k, name in enumerate(("E[T3]", "E[T_3^1]")):
        forms = [
            form_of(fixed, last + 1 if fixed is None else fixed, sums[k])
            for fixed, (_, _, sums) in zip(fixed_at, found, strict=True)
        ]
        pieces.append(Piecewise(name, forms[-1], tuple(forms[:-1])))
    whole, first = pieces
    if induction.setting.paper_model:
        _same_whole(whole)
    systems, laws = (tuple(item[i] for item in found) for i in (0, 1))
    return RightForms(whole, first, walk, systems, laws)  # type: ignore[arg-type]


def _solve_right(walk: Walk, fixed: int | None, smallest: int) -> System:
    """Return for every node E[T_3] (key 0) and E[T_3^1] (key 1) over Q(n, l, H).

    T_3^1 ends with the step in which R accepts an upward move, or the optimum is hit. At a fixed
    l nodes beyond n-1 are not there, and upward steps from n-1 hit the optimum.
    """
    n, symbol, h, one = fractions()
    ell = symbol if fixed is None else fixed * one
    zero = 0 * one
    last = None if fixed is None else fixed - 1

    def corridor(offset: int) -> Any:
        # n H_(l-k): H_l less its last k terms
        return n * (h - sum((one / (ell - i) for i in range(offset)), zero))

    rows: dict[Hashable, dict[Hashable, Any]] = {}
    outputs: dict[Hashable, dict[Hashable, Any]] = {}
    for node, steps in walk.steps.items():
        if last is not None and node.offset > last:
            continue
        rows[node] = {}
        if not steps:
            outputs[node] = {0: corridor(node.offset), 1: n / (ell - node.offset)}
            continue
        outputs[node] = {0: one, 1: one}
        for step in steps:
            position = n - ell + node.offset
            chance = _chance(step.direction, position, n) / step.ties
            if step.direction == UP and node.offset == last:
                continue
            if not isinstance(step.target, Node):
                outputs[node][0] += chance * corridor(step.target)
                if step.direction == DOWN:
                    outputs[node][1] += chance * n / (ell - step.target)
                continue
            if step.direction == UP and node.offset >= 0 and step.action == walk.plateau.guide:
                raise VerificationError("the guide accepts an upward move and does not lead")
            rows[node][step.target] = rows[node].get(step.target, zero) + chance
    return solved_system("right plateau", rows, outputs, zero, ell=fixed, smallest=smallest)


def _split(value: Any) -> tuple[sympy.Expr, sympy.Expr]:
    """Split an element of Q(n, l, H) into (rest, factor of H).

    Raises
    ------
    VerificationError
        It is not linear in H.
    """
    import sympy

    expression, h = _expression(value), sympy.Symbol("H")
    rest = sympy.cancel(expression.subs(h, 0))
    factor = sympy.cancel(expression.subs(h, 1) - rest)
    if sympy.cancel(expression - rest - h * factor) != 0:
        raise VerificationError("a closed form is not linear in its harmonic number")
    return rest, factor


def form_of(fixed: int | None, smallest: int, value: Any) -> Form:
    """Return an element of Q(n, l, H) as a form."""
    import sympy

    rest, factor = _split(value)
    if fixed is not None:
        rest, factor = rest + factor * sympy.harmonic(fixed), sympy.Integer(0)
    return Form(fixed, smallest, sympy.cancel(rest), factor, value)


def _same_whole(whole: Piecewise) -> None:
    """Compare E[T_3] with the engine's closed forms.

    Raises
    ------
    VerificationError
        They differ.
    """
    import sympy

    ell, h = to_sympy("l"), sympy.Symbol("H")
    for form in whole.forms:
        engine = phase3_formula(form.ell if form.ell in (2, 3) else None).expression
        other = engine.subs(
            sympy.harmonic(ell), h if form.ell is None else sympy.harmonic(form.ell)
        )
        mine = form.rest + form.factor * h
        if form.ell is not None:
            other = other.subs(ell, form.ell)
        if sympy.cancel(sympy.together(mine - other)) != 0:
            raise VerificationError(
                f"E[T3] by the walk is not the engine's, l = {form.ell or f'>= {form.smallest}'}"
            )
