"""What the checks are run on: the paper's model and statements, or a mutation of them.

Everything that a statement quantifies over or asserts is data here or in the statement's
terms: the landscape, the algorithm, hypothesis (H), bounds such as "at most 5 visits", and the
displayed lines. A check reads them through the setting, so that a changed one reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from flint import fmpq

from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP, LandscapeFamily
from markov_lrsao.model.parameters import H_LOWER, H_UPPER, Parameters
from proofs_check.claims.expressions import holds

__all__ = ["HYPOTHESIS", "Level", "Setting"]

Level = Literal["quick", "full"]

HYPOTHESIS = (
    "0 < alpha",
    "alpha < 1",
    "0 < gamma",
    "gamma < 1",
    "r > 0",
    f"{H_LOWER.replace('G', '(n - l - 1)')} < r",
    f"r < {H_UPPER}",
)
"""Hypothesis (H) of section 4.2. That such an r exists is its second sentence."""


@dataclass(frozen=True)
class Setting:
    """A model and the statements about it.

    Attributes
    ----------
    level : how far ranges go
    family : the landscape with n and l symbolic
    algorithm : parameters -> algorithm; also called with symbolic parameters
    hypothesis : what alpha, gamma, r satisfy, as text
    terms : (statement, key) -> text that replaces the statement's own term
    lines : line id -> (relation, text) that replaces a displayed line
    solver_seconds : time limit of one solver query
    second_solver : ask cvc5 too, where z3 has proved something
    """

    level: Level = "quick"
    family: LandscapeFamily = JUMP
    algorithm: Callable[[Any], Algorithm] = Algorithm.lrsao
    hypothesis: tuple[str, ...] = HYPOTHESIS
    terms: Mapping[tuple[str, str], str] = field(default_factory=dict)
    lines: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    solver_seconds: float = 10.0
    second_solver: bool = True
    seed: int = 20250714

    @property
    def full(self) -> bool:
        """Whether the long ranges are asked for."""
        return self.level == "full"

    @property
    def paper_model(self) -> bool:
        """Whether landscape and algorithm are the paper's, and (H) admits its hyper-parameters."""
        return (
            self.family == JUMP
            and self.algorithm == Algorithm.lrsao
            and all(self.admits(n, ell, Parameters.paper(n)) for n, ell in self.pairs(20))
        )

    def admits(self, n: int, ell: int, parameters: Parameters) -> bool:
        """Whether hyper-parameters satisfy the hypothesis at an instance, exactly.

        >>> Setting().admits(9, 2, Parameters.paper(9))
        True
        """
        names = {
            "n": fmpq(n),
            "l": fmpq(ell),
            "alpha": parameters.alpha,
            "gamma": parameters.gamma,
            "r": parameters.r,
        }
        return all(holds(text, names) for text in self.hypothesis)

    def pick(self, quick: int, full: int) -> int:
        """Return the limit of a range for this level."""
        return full if self.full else quick

    def mutate(self, **changes: Any) -> Setting:
        """Return the setting with something changed.

        >>> Setting().mutate(terms={("Lemma 10", "visits"): "4"}).terms
        {('Lemma 10', 'visits'): '4'}
        """
        return replace(self, **changes)

    def pairs(self, largest_n: int, smallest_n: int = 1) -> list[tuple[int, int]]:
        """Return all (n, l) that the landscape's constraints admit, n up to `largest_n`."""
        found: list[tuple[int, int]] = []
        for n in range(smallest_n, largest_n + 1):
            span = self.family.ell_range(n)
            if span is not None:
                found.extend((n, ell) for ell in range(span[0], span[1] + 1))
        return found
