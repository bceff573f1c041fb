r"""A bound of the steps that are left, whatever the table: how soon a run goes straight up.

On a plateau every objective accepts every move up (checked), so a run that proposes moves up only
leaves it upwards, whatever its Q-table says. A slope is left upwards with some probability in each
of its words, of which there are finitely many. Let p be the product of (n - q) / n over the
plateaus' positions q and of the least such probability of every slope, and t the sum of the
plateaus' widths and of the largest expected time of a passage through each slope.

A trial goes straight up until a move down is proposed on a plateau or a slope is left downwards;
then the next trial begins. From every state a trial succeeds with probability p at least, and takes
t steps at most on average. So trials are at most geometric in number, and

    E[steps left] <= t / p,

for all tables at once. That is crude, and finite: enough for states that a run hardly ever meets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import arb, fmpq

from markov_lrsao.errors import CrossingError
from markov_lrsao.model.law import UP

if TYPE_CHECKING:
    from markov_lrsao.values.plateaus import Plateaus

__all__ = ["steps_straight_up"]


def steps_straight_up(place: Plateaus, hidden: int = 0) -> float:
    """Return a bound of E[steps left] in every state.

    Parameters
    ----------
    hidden : the slope with this number is never left downwards again, if it is not 0: a run stays
        on the plateaus above it

    Raises
    ------
    CrossingError
        An objective rejects a move up on a plateau, or a slope may be left downwards only.
    """
    law, n = place.law, place.law.n
    chance, steps = arb(1), arb(0)
    for first, last in place.plateaus[hidden + 1 if hidden else 0 :]:
        for q in range(first, last + 1):
            if not all(law.accepted[q, a, UP] for a in range(len(law.actions))):
                raise CrossingError(f"an objective rejects a move up at position {q}")
            chance *= fmpq(n - q, n)
        steps += last - first + 1
    for slope in place.slopes[hidden:]:
        least, longest = arb(1), arb(0)
        for word in slope.words:
            least = arb.min(least, sum((x.chance for x in word.passages if x.side == UP), arb(0)))
            longest = arb.max(longest, sum((x.steps for x in word.passages), arb(0)))
        if not least > 0:
            raise CrossingError(f"the slope below {slope.last + 1} may be left downwards only")
        chance *= least
        steps += longest
    return float((steps / chance).upper()) * (1 + 1e-15)
