"""How generating functions are evaluated: in which numbers, about z = 1 or at complex points.

`Evaluation` holds the choices: exact rationals, balls of any precision, floats, floats with bounds,
complex arrays, and to which order. Which phases count (their steps weigh z, the others 1) is
chosen when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, fmpq

from markov_lrsao.exact.balls import Positive
from markov_lrsao.exact.disks import Disk
from markov_lrsao.exact.measures import Measure
from markov_lrsao.exact.series import Element, Label, scale

__all__ = ["Evaluation"]


_ONES: dict[tuple[bool, bool], tuple[Any, Any]] = {
    (True, False): (fmpq(1), fmpq(0)),
    (False, True): (arb(1), arb(0)),
    (False, False): (1.0, 0.0),
}
"""(exact, balls) -> 1 and 0."""


@dataclass(frozen=True)
class Evaluation:
    """How generating functions are evaluated.

    Attributes
    ----------
    exact : rationals instead of floats
    balls : `arb` numbers of the precision that is set, which contain every rounding; `acb` at
        complex points
    order : about z = 1: number of derivatives
    nodes : complex points z instead, as an array (of `acb`, too) or as disks; then order is 0
    complements : 1 - z, where the points are disks
    majorant : at the nodes, evaluate a bound of the modulus instead: every factor
        1/(1 - P_ii z) is replaced by its modulus and every other weight by its absolute value
    lossy : evaluate E[z^T; T < infinity] where runs can get stuck, instead of refusing
    central : elements are measures: mean and central moments in floats, with bounds
    unit : z = 1 + e / unit, which keeps high derivatives within the range of floats
    """

    exact: bool
    order: int = 1
    nodes: Any = None
    complements: Disk | None = None
    majorant: bool = False
    lossy: bool = False
    central: bool = False
    unit: float = 1.0
    balls: bool = False

    @property
    def at_one(self) -> bool:
        """Whether elements are series about z = 1."""
        return self.nodes is None

    @property
    def disks(self) -> bool:
        """Whether values at the points carry their error."""
        return self.complements is not None

    def missing(self, counts: bool) -> Any:
        """Return 1 less the sum of the weights of a step that counts, or does not.

        Only disks need it; moduli, which lose their self-loops, do not.
        """
        if not self.disks or self.majorant:
            return None
        assert self.complements is not None
        return self.complements if counts else 0 * self.complements

    @property
    def by_position(self) -> bool:
        """Whether matrices are functions of the position, to be multiplied as such."""
        return self.at_one and (self.exact or self.balls)

    @property
    def over_functions(self) -> Evaluation:
        """The evaluation that finds these functions, which are exact."""
        return replace(self, exact=True, balls=False)

    @property
    def length(self) -> int:
        """Number of coefficients of an element."""
        return self.order + 1 if self.at_one else 1

    @property
    def one(self) -> Element:
        """The constant 1."""
        if self.central:
            return Measure.certain(0, self.order)
        unit, zero = _ONES[self.exact, self.balls]
        if not self.at_one and self.balls:
            return (np.full(len(self.nodes), arb(1), dtype=object),)
        if not self.at_one:
            ones = np.ones(len(self.nodes), np.float64 if self.majorant else np.complex128)
            return (Disk(ones) if self.disks else ones,)
        return (unit, *[zero] * self.order)

    @property
    def z(self) -> Element:
        """The variable: 1 + e, or the complex points."""
        if self.central:
            return Measure.certain(1, self.order)
        if self.majorant:
            return self.one
        if not self.at_one:
            return (self.nodes,)
        head = self.one
        step = head[0] if self.by_position else 1.0 / self.unit
        return (head[0], step, *head[2:])[: self.length]

    def without_loop(
        self, state: int, row: dict[int, Element], outputs: dict[Label, Element], counts: bool
    ) -> None:
        """For a majorant: divide a row by |1 - P_ii z| and drop its self-loop, in place."""
        if not self.majorant or state not in row:
            return
        stay = row.pop(state)[0]
        if isinstance(stay, Disk):
            leaving = sum(w[0] for w in (*row.values(), *outputs.values()))
            if not isinstance(leaving, Disk):
                return  # never left: nothing leads out
            factor: Any = leaving + stay * self.complements if counts else leaving
            factor = factor.inverse_modulus()
        else:
            if not counts and bool((stay == 1).any()):
                return
            factor = 1 / np.abs(1 - stay * (self.nodes if counts else 1.0))
        for target, element in row.items():
            row[target] = scale(element, factor)
        for label, element in outputs.items():
            outputs[label] = scale(element, factor)

    def number(self, numerator: int, denominator: int) -> Any:
        """Return a ratio in the chosen numbers."""
        if self.exact:
            return fmpq(numerator, denominator)
        if self.balls:
            return arb(numerator) / denominator
        if self.disks:
            return Disk.ratio(numerator, denominator)
        ratio = numerator / denominator
        return Positive(ratio, 1) if self.central else ratio

    def column(self, numerators: Any, denominator: int) -> Any:
        """Return an array of ratios in the chosen numbers, shaped to meet the nodes."""
        if self.exact:
            return np.array([fmpq(int(x), denominator) for x in numerators], dtype=object)
        if self.balls:
            found = np.array([arb(int(x)) / denominator for x in numerators], dtype=object)
            return found if self.at_one else found[:, None]
        if self.disks:
            return Disk.ratio(numerators, denominator)[:, None]
        values = np.asarray(numerators, dtype=np.float64) / denominator
        if self.central:
            return Positive(values, 2)  # the denominator may need rounding, too
        return values if self.at_one else values[:, None]
