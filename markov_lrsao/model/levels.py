"""LeadingOnes by levels: what a search that never loses does to the number of leading ones.

LeadingOnes depends on more than |x|. From a uniformly random start the bits behind the first zero
stay uniformly random and independent, whatever was accepted, as long as acceptance looks at
LeadingOnes alone and never takes what is worse. So a level i is left iff the first zero is
flipped and no one before it is, and the next level is i + 1 plus a geometric number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, TypeAlias

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.fields import Rationals, SearchField
from markov_lrsao.model.landscape import Landscape, check_n
from markov_lrsao.model.search import Mutation, Search
from markov_lrsao.model.search_law import Row, SearchLaw

__all__ = ["LEADING_ONES", "LeadingOnes", "LevelLaw", "shape_named"]

LEADING_ONES = "leadingones"

Number: TypeAlias = Any
"""An `fmpq` or an `arb`, as the field has it."""
_ZERO = fmpq(0)
_RATIONALS = Rationals()


@dataclass(frozen=True)
class LeadingOnes:
    """LeadingOnes on n bits; runs begin with a uniformly random bit string."""

    n: int
    name: str = "LeadingOnes"
    ell: int = 0

    def __post_init__(self) -> None:
        check_n(self.n)

    @property
    def size(self) -> str:
        """The words "n = 9", for people."""
        return f"n = {self.n}"


class LevelLaw(SearchLaw):
    """The law on the levels 0..n of LeadingOnes, from a uniformly random start."""

    @classmethod
    def leading_ones(cls, n: int, search: Search) -> LevelLaw:
        """Build the law.

        Raises
        ------
        ParameterError
            The search may accept what is worse; then the bits behind the first zero matter.
        """
        search.at(n)
        if not search.elitist:
            raise ParameterError(
                f"algorithm {search.name} may lose levels of LeadingOnes; by levels only searches "
                f"are solved that accept by LeadingOnes and never what is worse; estimate with "
                f"`simulate()`"
            )
        values = tuple(fmpq(v) for v in range(n + 1))
        return cls(search, n, values, {"L": values}, search.table or None)

    @property
    def steps_of_one(self) -> bool:
        """No: one flipped bit may gain several levels."""
        return False

    @property
    def label(self) -> str:
        """What a position is called."""
        return "level"

    def start(self) -> list[fmpq]:
        """Return the law of the level of a uniformly random bit string."""
        return [fmpq(1, 2 ** min(i + 1, self.n)) for i in range(self.n + 1)]

    def improving(self, mutation: Mutation, i: int, field: SearchField = _RATIONALS) -> Number:
        """Return the probability that a mutation leaves level i."""
        n = self.n
        if mutation.beta is not None:
            rates = enumerate(self._offspring.rate_weights(mutation, field), start=1)
            return sum(
                (w * field.number(fmpq(a, n) * (1 - fmpq(a, n)) ** i) for a, w in rates),
                field.number(_ZERO),
            )
        if mutation.rate is not None:
            p = mutation.rate
            some = 1 - (1 - p) ** n if mutation.positive else fmpq(1)
            return field.number(p * (1 - p) ** i / some)
        return field.number(
            sum(
                (w * fmpq(comb(n - i - 1, k - 1), comb(n, k)) for k, w in mutation.sizes if k),
                _ZERO,
            )
        )

    def can_improve(self, action: int, x: int) -> bool:
        """Whether an action can leave a level at all."""
        mutation = self.search.actions[action].mutation
        return mutation.anything or any(0 < k <= self.n - x for k, _ in mutation.sizes)

    def _can_gain(self, x: int) -> bool:
        assert self.policy is not None
        return self.can_improve(self.policy[x], x)

    def action_row(self, action: int, x: int, field: SearchField) -> Row:
        """Return the levels that follow level x."""
        if x == self.n:
            return Row((), _ZERO)
        up = self.improving(self.search.actions[action].mutation, x, field)
        if up == 0:
            return Row((), _ZERO)
        last = self.n
        moves = [(y, up / 2 ** (y - x)) for y in range(x + 1, last)]
        moves.append((last, up / 2 ** (last - x - 1)))
        return Row(tuple(moves), _ZERO)

    def _action_may_stay(self, action: int, x: int) -> bool:
        mutation = self.search.actions[action].mutation
        return x == self.n or mutation.beta is not None or self.improving(mutation, x) != 1


def shape_named(
    text: str, n: int | None, ell: int | None = None, helpers: Sequence[str] = ()
) -> Landscape | LeadingOnes:
    """Return a landscape by its name, LeadingOnes among them.

    Raises
    ------
    ParameterError
    """
    if text.strip() != LEADING_ONES:
        return Landscape.named(text, n, ell, helpers)
    if n is None:
        raise ParameterError("`n` is missing: give the length of the bit strings, e.g. `n=9`")
    for name, value in (("ell", ell), ("helpers", ",".join(helpers) or None)):
        if value is not None:
            raise ParameterError(f"`{name}` = {value} has no meaning for {LEADING_ONES}; omit it")
    return LeadingOnes(n)
