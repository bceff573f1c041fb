"""LeadingOnes by levels: what a search that never loses does to the number of leading ones.

LeadingOnes depends on more than |x|. From a uniformly random start the bits behind the first zero
stay uniformly random and independent, whatever was accepted, as long as acceptance looks at
LeadingOnes alone and never takes what is worse. So a level i is left iff the first zero is
flipped and no one before it is, and the next level is i + 1 plus a geometric number.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.fields import SearchField
from markov_lrsao.model.landscape import check_n
from markov_lrsao.model.search import Mutation, Search
from markov_lrsao.model.search_law import Row, SearchLaw

__all__ = ["LeadingOnes", "LevelLaw"]

_ZERO = fmpq(0)


@dataclass(frozen=True)
class LeadingOnes:
    """LeadingOnes on n bits; runs begin with a uniformly random bit string."""

    n: int
    name: str = "LeadingOnes"
    ell: int = 0

    def __post_init__(self) -> None:
        check_n(self.n)


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
        return cls(search, n, values, {"L": values})

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

    def improving(self, mutation: Mutation, i: int) -> fmpq:
        """Return the probability that a mutation leaves level i."""
        n = self.n
        if mutation.rate is not None:
            p = mutation.rate
            some = 1 - (1 - p) ** n if mutation.positive else fmpq(1)
            return p * (1 - p) ** i / some
        return sum(
            (w * fmpq(comb(n - i - 1, k - 1), comb(n, k)) for k, w in mutation.sizes if k), _ZERO
        )

    def _can_gain(self, x: int) -> bool:
        assert self.policy is not None
        return self.improving(self.search.actions[self.policy[x]].mutation, x) != 0

    def action_row(self, action: int, x: int, field: SearchField) -> Row:
        """Return the levels that follow level x."""
        if x == self.n:
            return Row((), _ZERO)
        up = self.improving(self.search.actions[action].mutation, x)
        if up == 0:
            return Row((), _ZERO)
        last = self.n
        moves = [(y, field.number(up / 2 ** (y - x))) for y in range(x + 1, last)]
        moves.append((last, field.number(up / 2 ** (last - x - 1))))
        return Row(tuple(moves), _ZERO)

    def _action_may_stay(self, action: int, x: int) -> bool:
        return x == self.n or self.improving(self.search.actions[action].mutation, x) != 1
