"""The cases of one step with n, l and the position unknown, from the engine's own data.

A *case* is a region of (p, n, l), given by affine forms that are >= 0, on which one proposal
does one thing: the chosen objective's gain has one sign, the agent's state is one affine form
before and one after. Cases are generated from the symbolic pieces of a `LandscapeFamily` (the
ones that `Landscape.jump` evaluates) and from an `Algorithm`'s acceptance rule and rewards, with
empty combinations removed by linear integer arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from markov_lrsao.errors import SolverError
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Affine, LandscapeFamily, P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.logic.journal import Journal, Query, lean_on
from proofs_check.logic.smt import check

__all__ = ["Case", "affine_term", "cases", "region_solver", "symbolic_algorithm"]


@dataclass(frozen=True)
class Case:
    """What choosing `action` and proposing `direction` does, on a region of (p, n, l).

    Attributes
    ----------
    region : affine forms that are >= 0 there
    outcome : -1 rejected, 0 accepted with equal value, 1 accepted with a gain
    gain : the chosen objective's gain D
    state, next_state : the agent's state before and after
    same_row : whether the two are equal
    moved : change of the position
    """

    action: str
    direction: int
    region: tuple[Affine, ...]
    outcome: int
    gain: Affine
    state: Affine
    next_state: Affine
    same_row: bool
    moved: int

    def __str__(self) -> str:
        sign = "+" if self.direction == UP else "-"
        where = " and ".join(f"{form} >= 0" for form in self.region)
        return f"{self.action}{sign} where {where}"


def affine_term(form: Affine, names: dict[str, Any]) -> Any:
    """Return an affine form over any algebra that has p, n and l."""
    return form.p * names["p"] + form.n * names["n"] + form.ell * names["l"] + form.constant


def _shift(form: Affine, by: int) -> Affine:
    """Return the form at position p + by."""
    return form + form.p * by


class Regions:
    """Feasibility of regions in linear integer arithmetic, incrementally.

    Attributes
    ----------
    journal : every region that was asked about; whoever asks leans on it
    """

    def __init__(self, family: LandscapeFamily) -> None:
        import z3

        self.names = {"p": z3.Int("p"), "n": z3.Int("n"), "l": z3.Int("l")}
        self.solver = z3.SolverFor("QF_LIA")
        self.base = (*family.constraints, P, Affine(n=1) - P)
        self.solver.add(*[self._atom(f) for f in self.base])
        self.journal = Journal("regions of p, n and l", texts=True)
        self._known: dict[tuple[Affine, ...], bool] = {}

    def _atom(self, form: Affine) -> Any:
        return affine_term(form, self.names) >= 0

    def feasible(self, forms: Sequence[Affine]) -> bool:
        """Return whether some integers (p, n, l) satisfy all forms >= 0.

        Raises
        ------
        SolverError
            z3 does not know, so that neither answer may be given.
        """
        import z3

        lean_on(self.journal)
        key = tuple(dict.fromkeys(forms))
        if key in self._known:
            return self._known[key]
        self.solver.push()
        try:
            self.solver.add(*[self._atom(f) for f in key])
            answer = check(self.solver)
            model = self.solver.model() if answer == z3.sat else None
        finally:
            self.solver.pop()
        if answer == z3.unknown:
            raise SolverError(f"z3 does not decide a region: {self.solver.reason_unknown()}")
        self._known[key] = bool(answer == z3.sat)
        self.journal.queries.append(
            Query(
                status="unsat" if model is None else "sat",
                text=self._text(key),
                logic="QF_LIA",
                witness={} if model is None else {d.name(): str(model[d]) for d in model.decls()},
            )
        )
        return self._known[key]

    def _text(self, forms: Sequence[Affine]) -> str:
        """Return "all forms are >= 0" in SMT-LIB."""
        lines = [f"(declare-const {name} Int)" for name in self.names]
        for form in (*self.base, *forms):
            terms = [
                f"(* {_smt_integer(factor)} {name})"
                for name, factor in (("p", form.p), ("n", form.n), ("l", form.ell))
                if factor
            ]
            lines.append(f"(assert (>= (+ {_smt_integer(form.constant)} 0 {' '.join(terms)}) 0))")
        return "\n".join(lines) + "\n"

    def pruned(self, forms: Sequence[Affine]) -> tuple[Affine, ...]:
        """Return the forms without those that the others imply."""
        kept = list(dict.fromkeys(f for f in forms if f not in self.base))
        for form in list(kept):
            others = [f for f in kept if f != form]
            if not self.feasible((*others, -form - 1)):
                kept = others
        return tuple(kept)


def _smt_integer(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


@cache
def region_solver(family: LandscapeFamily) -> Regions:
    """Return the (shared) feasibility solver of a family."""
    return Regions(family)


def _signs(
    form: Affine, region: tuple[Affine, ...], regions: Regions
) -> Iterator[tuple[int, tuple[Affine, ...]]]:
    """Split a region by the sign of a form."""
    for sign, extra in ((-1, (-form - 1,)), (0, (form, -form)), (1, (form - 1,))):
        if regions.feasible((*region, *extra)):
            trivial = not (form.p or form.n or form.ell)
            yield sign, region if trivial else (*region, *extra)


def _places(
    family: LandscapeFamily, splits: Sequence[Affine], regions: Regions
) -> list[tuple[tuple[Affine, ...], dict[str, Affine]]]:
    """Return the regions of p on which every objective is one affine form."""
    found: list[tuple[tuple[Affine, ...], dict[str, Affine]]] = [((), {})]
    for name, pieces in family.objectives:
        found = [
            (forms, {**values, name: piece.value})
            for region, values in found
            for piece in pieces
            if regions.feasible(forms := (*region, P - piece.first, piece.last - P))
        ]
    for split in splits:
        found = [
            (forms, values)
            for region, values in found
            for part in ((split - P - 1,), (P - split, split - P), (P - split - 1,))
            if regions.feasible(forms := (*region, *part))
        ]
    return found


def cases(
    family: LandscapeFamily, splits: tuple[Affine, ...] = (), accept_equal: bool = True
) -> tuple[Case, ...]:
    """Return all cases of a step that does not begin at the optimum.

    Parameters
    ----------
    splits : positions p that are to be told apart from p - 1, p + 1 in every case
    """
    lean_on(region_solver(family).journal)
    return _cases(family, splits, accept_equal)


@cache
def _cases(
    family: LandscapeFamily, splits: tuple[Affine, ...], accept_equal: bool
) -> tuple[Case, ...]:
    regions = region_solver(family)
    optimum = family.milestones[-1]
    places = _places(family, splits, regions)
    result: list[Case] = []
    for direction in (DOWN, UP):
        by = 2 * direction - 1
        edge = P - 1 if direction == DOWN else Affine(n=1) - P - 1
        for region, here in places:
            start = (*region, edge, optimum - P - 1)
            if not regions.feasible(start):
                continue
            for other, there in places:
                both = (*start, *(_shift(f, by) for f in other))
                if not regions.feasible(both):
                    continue
                for action in here:
                    gain = _shift(there[action], by) - here[action]
                    for sign, forms in _signs(gain, both, regions):
                        accepted = sign > 0 or (sign == 0 and accept_equal)
                        state = here[family.target]
                        after = _shift(there[family.target], by) if accepted else state
                        for equal, final in _signs(after - state, forms, regions):
                            result.append(
                                Case(
                                    action,
                                    direction,
                                    regions.pruned(final),
                                    sign,
                                    gain,
                                    state,
                                    after,
                                    equal == 0,
                                    by if accepted else 0,
                                )
                            )
    return tuple(result)


@dataclass(frozen=True)
class _SymbolicParameters:
    """Hyper-parameters as solver terms; `Algorithm.lrsao` only does arithmetic with them."""

    alpha: Any
    gamma: Any
    r: Any


def symbolic_algorithm(
    build: Callable[[Any], Algorithm], alpha: Any, gamma: Any, r: Any
) -> Algorithm:
    """Return the algorithm that `build` makes of symbolic hyper-parameters."""
    return build(_SymbolicParameters(alpha, gamma, r))
