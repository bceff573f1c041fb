"""Statements that the kernels watch for: the first step that breaks one is reported with its trace.

A rule is a bound that must hold before the optimum is reached: on the number of positive entries
in a row, on the number of visits to a position, or on single Q-entries. A Q-entry breaks a bound
only if its error bar lies beyond it, so what is reported is certain.

`Rules.of` collects those statements of the paper that have this form, for LRSAO on Jump.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.statements import implements
from simulate.kernels.records import KernelRules

__all__ = ["NO_RULES", "RULES", "Rules"]

RULES = ("positive entries", "visits", "lower bound", "upper bound")

Place = tuple[int, str]
"""(state, action) of a Q-entry."""


NO_RULES = KernelRules(0, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
"""For games that nobody watches: arrays of the right types, with nothing in them."""


@dataclass(frozen=True)
class Rules:
    """What must hold; nothing but one positive entry per row by default.

    Attributes
    ----------
    most_positive : largest number of positive entries in a row
    most_visits : position -> largest number of visits in a run
    least, greatest : (state, action) -> bounds on the Q-entry, both allowed
    """

    most_positive: int = 1
    most_visits: Mapping[int, int] = field(default_factory=dict)
    least: Mapping[Place, fmpq] = field(default_factory=dict)
    greatest: Mapping[Place, fmpq] = field(default_factory=dict)

    @classmethod
    @implements("Lemma 2", "Lemma 4", "Lemma 8", "Lemma 10", "Lemma 12")
    def of(cls, law: StepLaw) -> Rules:
        """Return the paper's statements for LRSAO on Jump, the default for everything else.

        Lemma 2: Q < (n-l-1)/(1-gamma). Lemma 4: one positive entry. Lemma 8: Q[s, J] >= 0 on
        the slope. Lemma 10: states l+3..n-l-2 are visited at most five times. Lemma 12:
        Q[0, R] >= -alpha r and Q[n-l-1, R] >= 0. They presuppose (H), and l >= 2.
        """
        landscape, parameters = law.landscape, law.algorithm.parameters
        if landscape.family is not JUMP or parameters is None or law.algorithm.name != "LRSAO":
            return cls()
        if landscape.beyond_theory:
            return cls()
        n, ell = landscape.n, landscape.ell
        slope = range(ell + 1, n - ell)
        least: dict[Place, fmpq] = {(s, "J"): fmpq(0) for s in slope}
        least[0, "R"] = -parameters.alpha * parameters.r
        least[n - ell - 1, "R"] = fmpq(0)
        top = fmpq(n - ell - 1) / (1 - parameters.gamma)
        return cls(
            most_visits=dict.fromkeys(range(ell + 3, n - ell - 1), 5),
            least=least,
            greatest={(s, a): top for s in (0, *slope) for a in law.actions},
        )

    def arrays(self, law: StepLaw) -> KernelRules:
        """Return the rules in the kernels' form."""
        width = len(law.actions)
        row = {int(value): index for index, value in enumerate(law.row_value)}
        visits = np.full(law.n + 1, np.iinfo(np.int64).max, dtype=np.int64)
        for position, most in self.most_visits.items():
            visits[position] = most
        least = np.full(len(law.row_value) * width, -np.inf)
        greatest = np.full(len(law.row_value) * width, np.inf)
        for bounds, array, outwards in ((self.least, least, -1), (self.greatest, greatest, 1)):
            for (state, action), bound in bounds.items():
                value = to_float(bound)
                array[row[state] * width + law.actions.index(action)] = (
                    value + outwards * abs(value) * 2.0**-51
                )
        return KernelRules(self.most_positive, visits, least, greatest)
