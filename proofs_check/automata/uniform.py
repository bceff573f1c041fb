r"""E[T_3] and E[T_3^1] from both sides, for all l >= 2, n >= 2l + 5 and all of (H).

The potentials of `proofs_check.automata.potentials` bound the times from each start of phase 3;
the law of the starts is that of the left plateau's walk (`proofs_check.automata.closed`), which is
the same for all of (H). Together they give E[T_3] = n H_l + rest with formulas in n and l below and
above the rest, and the same for E[T_3^1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markov_lrsao.errors import SolverError
from proofs_check.automata.abstraction import Cells, SlopeAutomata
from proofs_check.automata.closed import left_forms
from proofs_check.automata.plateau import PlateauGraph, plateau_graph
from proofs_check.automata.potentials import (
    FIRST_SUBPHASE,
    FIRST_SUBPHASE_BELOW,
    PHASE3,
    Bound,
    applies,
    bound_above,
    bound_below,
)
from proofs_check.logic.induction import Induction
from proofs_check.logic.journal import Shelf

__all__ = ["UniformBounds", "start_law", "uniform_bounds"]


@dataclass(frozen=True, eq=False)
class UniformBounds:
    """Proved bounds on the mean times of phase 3.

    Attributes
    ----------
    law : cells of row 0 at the start of phase 3 -> probability, a formula in n
    above, below : E[T_3]
    first_above, first_below : E[T_3^1]
    """

    law: Mapping[Cells, str]
    above: Bound
    below: Bound
    first_above: Bound
    first_below: Bound

    @property
    def all(self) -> tuple[Bound, ...]:
        """The four bounds."""
        return self.above, self.below, self.first_above, self.first_below

    @property
    def phase3(self) -> tuple[str, str]:
        """Formulas a, b with a <= E[T_3] - n H_l <= b."""
        return self.below.rest(self.law), self.above.rest(self.law)

    @property
    def first_subphase(self) -> tuple[str, str]:
        """Formulas a, b with a <= E[T_3^1] <= b."""
        return (
            self.first_below.rest(self.law),
            f"{self.first_above.time.base} + {self.first_above.rest(self.law)}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the law and the potentials with their inequalities, for an independent checker."""
        return {
            "start_law": {"".join(cells): text for cells, text in self.law.items()},
            "bounds": [bound.to_dict() for bound in self.all],
        }


def start_law(induction: Induction, graph: PlateauGraph) -> dict[Cells, str]:
    """Return the law of the cells of row 0 with which phase 3 begins.

    Raises
    ------
    SolverError
        The left plateau's walk is not decided, or it ends in cells the graph does not begin with.
    """
    law = left_forms(induction).law
    left = induction.actions.index("L")
    starts = {cells[:left] + cells[left + 1 :]: cells for _, cells in graph.starts}
    if set(law) != set(starts) or len(starts) != len(graph.starts):
        raise SolverError("the left plateau ends in other cells than phase 3 begins with")
    return {starts[cells]: str(value.as_expr()) for cells, value in law.items()}


_KNOWN: Shelf[UniformBounds] = Shelf("bounds of phase 3 for all of (H)")


def uniform_bounds(induction: Induction, slope: SlopeAutomata) -> UniformBounds:
    """Derive and settle all four bounds (once per model, hypothesis and set of facts).

    Raises
    ------
    SolverError
        A bound is not proved for all n, l and all of the hypothesis.
    """
    setting = induction.setting
    key = (setting.family, setting.algorithm, setting.hypothesis, induction.facts)
    return _KNOWN.get(key, lambda: _derive(induction, slope))


def _derive(induction: Induction, slope: SlopeAutomata) -> UniformBounds:
    if not applies(induction):
        raise SolverError("the right plateau is not n-l..n-1 with l >= 2, n >= 2l + 5")
    graph, top = plateau_graph(induction), slope.automata["n-l-1"]
    found = [
        bound_above(graph, top, PHASE3),
        bound_below(graph, top, PHASE3),
        bound_above(graph, top, FIRST_SUBPHASE),
        bound_below(graph, top, FIRST_SUBPHASE_BELOW),
    ]
    settled = []
    for bound in found:
        if bound is None or not bound.holds:
            where = "" if bound is None else "".join(f": {i.where}" for i in bound.failing[:1])
            raise SolverError(f"a potential of phase 3 is not settled{where}")
        settled.append(bound)
    return UniformBounds(start_law(induction, graph), *settled)
