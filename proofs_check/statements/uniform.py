"""Theorem 16, Lemma 15 and Theorem 1 with explicit constants that hold for all of (H) at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from flint import arb, ctx, fmpq

from markov_lrsao.errors import SolverError
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.constants import Comparison, at_least, at_most, settled
from proofs_check.algebra.lines import RANGE
from proofs_check.algebra.orders import Known, judge_order
from proofs_check.automata.phase3 import first_subphase
from proofs_check.automata.quantities import phase3_mean
from proofs_check.automata.uniform import UniformBounds, uniform_bounds
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_ball, to_sympy
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.statements.judging import bounds_of_slope, judged, left_of, total_mean
from proofs_check.statements.statement import Check, CheckFunction, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS", "bounds_of", "order_in_h"]

_NAME = "Uniform over (H)"
Sense = Literal["<=", ">="]


def bounds_of(workspace: Workspace) -> UniformBounds:
    """Return the proved bounds on E[T_3] and E[T_3^1] of the workspace's model."""
    return uniform_bounds(workspace.induction, workspace.slope)


@dataclass(frozen=True)
class _Mean:
    """A mean, the order it is held against, and what proves a constant.

    Attributes
    ----------
    below, above : constants that are proved
    exact : workspace, n, l -> its value for the paper's hyper-parameters
    pairs : the (n, l) at which a wrong constant is looked for
    steps : workspace, sense, constant -> comparisons that prove it together
    """

    name: str
    order: str
    below: str
    above: str
    exact: Callable[[Workspace, int, int], fmpq]
    pairs: tuple[tuple[int, int], ...]
    steps: Callable[[Workspace, Sense, fmpq], Iterator[Comparison]]


def _phase3(workspace: Workspace, sense: Sense, constant: fmpq) -> Iterator[Comparison]:
    low, high = bounds_of(workspace).phase3
    return at_most(high, constant) if sense == "<=" else at_least(low, constant)


def _first(workspace: Workspace, sense: Sense, constant: fmpq) -> Iterator[Comparison]:
    low, high = bounds_of(workspace).first_subphase
    square = f"({constant})*n**2/l**2"
    yield settled(f"{square} - ({high})" if sense == "<=" else f"{low} - {square}")


def _whole(workspace: Workspace, sense: Sense, constant: fmpq) -> Iterator[Comparison]:
    """Yield what proves a constant for E[T], the sum of the three phases.

    Below: every position s < n-l is left upwards at least once, with a chance of at most (n-s)/n
    per step, so E[T_1] + E[T_2] >= n (H_n - H_l). Above: H_a - H_b <= ln(a/b) for a >= b, as
    H_m - ln m falls; so n (H_n - H_(n-l-1)) + m n (H_(n-l-3) - H_(l+1)) <= C n (ln n - ln l) for
    C >= m >= 1. What else the phases take is held against C (n^2/l^2 + n ln l).

    Raises
    ------
    SolverError
        E[T_1] is not n (H_n - H_(n-l-1)) and less than 1 more.
    """
    low, high = bounds_of(workspace).phase3
    if sense == ">=":
        yield from at_least(low, constant)
        return
    slope, left = bounds_of_slope(workspace), left_of(workspace)
    first = compare_sides(left.mean, "<=", "n*(H(n) - H(n - l - 1)) + 1", RANGE)
    if first.status != "proved":
        raise SolverError(f"E[T1] <= n (H_n - H_(n-l-1)) + 1 is {first.status}: {first.how}")
    if constant >= slope.most >= 1:
        yield from at_most(f"{high} + {slope.waiting} + {slope.constant} + 1", constant)


_SMALL = ((9, 2), (11, 3), (13, 4), (15, 5), (30, 5), (40, 2), (60, 27))
_MEANS = {
    "E[T3]": _Mean(
        "E[T3]",
        "n**2/l**2 + n*ln(l)",
        "1/9",
        "2",
        lambda workspace, n, ell: phase3_mean(n, ell),
        (*_SMALL, (10**6, 2), (10**6, 10), (10**9, 1000)),
        _phase3,
    ),
    "E[T_3^1]": _Mean(
        "E[T_3^1]",
        "n**2/l**2",
        "1/9",
        "9/2",
        lambda workspace, n, ell: first_subphase(workspace.automata(n, ell)),
        _SMALL,
        _first,
    ),
    "E[T]": _Mean("E[T]", "n**2/l**2 + n*ln(n)", "1/9", "4", total_mean, _SMALL, _whole),
}


def order_in_h(statement: str, name: str, claim: Literal["O", "Theta"]) -> Check:
    """Return the check of a statement's order for all of (H), by the proved constants of a mean."""
    mean = _MEANS[name]

    def everywhere(workspace: Workspace) -> Iterable[Evidence]:
        """Judge the order by bounds that hold for all of (H)."""
        for sense, text in ((">=", mean.below), ("<=", mean.above)):
            steps = list(mean.steps(workspace, sense, _number(text)))  # type: ignore[arg-type]
            if not steps or not all(step.holds for step in steps):
                raise SolverError(f"{name} {sense} {text} ({mean.order}) is not settled")
        floor, ceiling = f"{mean.below}*({mean.order})", f"{mean.above}*({mean.order})"
        known = Known(
            name, lambda n, ell: mean.exact(workspace, n, ell), floor, ceiling, floor, ceiling
        )
        order = workspace.term(statement, "order")
        yield judged(
            judge_order(known, order, claim, workspace.setting.pairs(20)),
            statement,
            f"{name} = {claim}({order})",
            kind=EvidenceKind.AUTOMATA,
            scope=EVERYWHERE,
            details=(f"{floor} <= {name} <= {ceiling}, see '{_NAME}'",),
        )

    everywhere.__qualname__ = f"order_in_h of {statement}"
    return Check(EvidenceKind.AUTOMATA, everywhere)


def _number(text: str) -> fmpq:
    top, _, bottom = text.partition("/")
    return fmpq(int(top), int(bottom or 1))


def _constants(mean: _Mean, sense: Sense) -> CheckFunction:
    def settle(workspace: Workspace) -> Iterable[Evidence]:
        """Prove the constant by the signs of coefficients, or find an instance that exceeds it."""
        constant = fmpq(workspace.value(_NAME, f"{mean.name} {sense}"))
        steps = list(mean.steps(workspace, sense, constant)) if constant > 0 else []
        proved = bool(steps) and all(step.holds for step in steps)
        text = f"{mean.name} {sense} {constant} ({mean.order})"
        bad = None if proved else _instance(workspace, mean, sense, constant)
        bounds = bounds_of(workspace)
        yield Evidence(
            kind=EvidenceKind.AUTOMATA,
            part=f"{mean.name} {sense}",
            verdict=Verdict.PROVED
            if proved
            else (Verdict.UNKNOWN if bad is None else Verdict.REFUTED),
            summary=f"{text}: a potential on {len(bounds.above.graph.places)} places, "
            f"{len(bounds.above.inequalities)} inequalities by the signs of coefficients, "
            f"{len(steps)} more for the constant"
            if proved
            else f"{text}: {'not settled' if bad is None else bad.describe()}",
            scope=EVERYWHERE,
            counterexample=bad,
        )

    settle.__qualname__ = f"constants of {mean.name} {sense}"
    return settle


def _instance(
    workspace: Workspace, mean: _Mean, sense: Sense, constant: fmpq
) -> Counterexample | None:
    """Return an instance with the paper's hyper-parameters that contradicts a constant."""
    if not workspace.setting.paper_model:
        return None
    order = to_sympy(mean.order)
    precision, ctx.prec = ctx.prec, 128
    try:
        for n, ell in mean.pairs:
            value = mean.exact(workspace, n, ell)
            gap = arb(constant) * to_ball(order, {"n": fmpq(n), "l": fmpq(ell)}) - arb(value)
            if gap < 0 if sense == "<=" else gap > 0:
                return Counterexample(
                    statement=_NAME,
                    expected=f"{mean.name} {sense} {constant} ({mean.order})",
                    observed=f"{mean.name} = {value} with the paper's hyper-parameters",
                    values={"n": str(n), "l": str(ell)},
                )
    finally:
        ctx.prec = precision
    return None


_SENSES: tuple[Sense, ...] = (">=", "<=")
STATEMENTS = (
    Statement(
        id=_NAME,
        title="constants over all of (H)",
        where="324-327, 600-611",
        claim="The Theta and O of Theorem 1, Lemma 15 and Theorem 16 have constants that do not "
        "depend on alpha, gamma, r in (H), nor on n and l: 1/9 and 4 for E[T], 1/9 and 9/2 for "
        "E[T_3^1], 1/9 and 2 for E[T3].",
        group="sharper",
        terms={
            f"{mean.name} {sense}": mean.below if sense == ">=" else mean.above
            for mean in _MEANS.values()
            for sense in _SENSES
        },
        depends=("Signs decide the slope", "Leaving n-l-1", "Lemma 12", "Lemma 6", "Theorem 11"),
        checks=tuple(
            Check(
                EvidenceKind.AUTOMATA,
                _constants(mean, sense),
                parts=(f"{mean.name} {sense}",),
            )
            for mean in _MEANS.values()
            for sense in _SENSES
        ),
    ),
)
