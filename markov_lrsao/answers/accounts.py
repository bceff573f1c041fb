r"""What becomes of everything that a cloud of tables lost, or left under way: success and its time.

With e_t the mass that ended after t steps, and masses m_i lost after t_i steps in states of
`forward.patterns` with chance h_i to end and mean time r_i = E[T - t_i; T < infinity | lost there],

    P(T < infinity) = sum_t e_t + sum_i m_i h_i,
    E[T; T < infinity] = sum_t t e_t + sum_i m_i (t_i h_i + r_i),

each with both ends, as h_i and r_i have them. Where h does not depend on how anything is decided,
P(T < infinity) needs no cloud: it is the fraction that h is at the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, inf
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.remainders import Remainders
from markov_lrsao.errors import Refused, StateSpaceTooLargeError, VerificationError, attempt
from markov_lrsao.exact.quantity import Quantity, Trap
from markov_lrsao.forward.grounded import is_grounded
from markov_lrsao.forward.law import Moment
from markov_lrsao.forward.ledger import Ledger
from markov_lrsao.forward.model import Law
from markov_lrsao.forward.patterns import Patterns, rows_to_follow

__all__ = ["Account", "Signs", "account_of", "by_signs", "signs_of", "told_by_signs"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
_ROUNDED = 1e-12
_MOST_ROWS = 20
"""Beyond this many rows tables are too many."""


@dataclass(frozen=True, eq=False)
class Signs:
    """The process of patterns from a table of zeros at 0, and what is left of runs."""

    patterns: Patterns
    start: int
    remainders: Remainders

    @property
    def reached(self) -> fmpq | None:
        """P(T < infinity), if it does not depend on how anything is decided."""
        exact = self.remainders.exact
        return None if exact is None else exact[self.start]

    @property
    def trap(self) -> Trap | None:
        """Where runs stay for ever, with its probability; None: it is 0, or not known."""
        if self.reached is None or self.reached == 1:
            return None
        never = 1 - self.reached
        held = {
            p
            for s, ((p, _), lost) in enumerate(
                zip(self.patterns.states, self.remainders.hopeless, strict=True)
            )
            if lost
            and all(set(follow) == {s} for way in self.patterns.ways[s] for _, follow in way)
        }
        return Trap(f"p={max(held)}" if held else "where the optimum is out of reach", never, never)


def signs_of(law: Law) -> Signs | None:
    """Explore the patterns of a grounded law; None: it is none, or there are too many."""
    a = law.algorithm
    if a.keep + a.bootstrap >= 1 or not is_grounded(law):
        return None
    patterns = Patterns(law, rows_to_follow(law))
    try:
        start = patterns.state_number((0, patterns.fresh))
        patterns.explore()
    except (StateSpaceTooLargeError, VerificationError):
        return None
    return Signs(patterns, start, Remainders(patterns))


def told_by_signs(law: Law) -> tuple[Trap, int] | None:
    """Return the trap that signs tell of, and how many states they have; None: they tell none."""
    signs = signs_of(law)
    trap = None if signs is None else signs.trap
    return None if signs is None or trap is None else (trap, len(signs.patterns.states))


def by_signs(law: Law) -> bool:
    """Whether signs tell that some runs never end, and tables carried forwards are worth a try."""
    if int(law.row.max()) > _MOST_ROWS:
        return False
    signs = signs_of(law)
    return signs is not None and signs.reached is not None and signs.reached < 1


@dataclass(frozen=True, eq=False)
class Account:
    """What is known when a cloud has been carried as far as it was.

    Attributes
    ----------
    late : at most so much of what was lost ends in each step, or later
    after : at most so much of what is under way ends
    reached : P(T < infinity)
    mean : E[T | T < infinity]; without an upper end where none is known
    """

    late: FloatArray
    after: float
    reached: Quantity
    mean: Quantity


def account_of(moment: Moment, ledger: Ledger, signs: Signs) -> Account | None:
    """Return what is known; None: the states that were lost in are too many."""
    horizon = len(moment.ended) - 1
    going = Ledger(ledger.rows, ledger.actions, ledger.zero)
    going.lose(horizon, moment.tables)
    lost, left = list(ledger), list(going)
    found = attempt(lambda: _ends(lost + left, ledger, signs.patterns))
    if isinstance(found, Refused):
        return None
    late = np.zeros(horizon + 2)
    for step, code, mass in lost:
        late[step + 1] += mass * found[code].chance[1]
    after = fsum(mass * found[code].chance[1] for _, code, mass in left) * (1 + _ROUNDED)
    ended = fsum(moment.ended)
    spent = fsum(t * x for t, x in enumerate(moment.ended))
    slack = 2 * moment.rounding
    longest = max((found[code].time[1] for _, code, _ in lost + left), default=0.0) + horizon
    reached, times = [], []
    for k, sign in ((0, -1), (1, 1)):
        more = fsum(mass * found[code].chance[k] for _, code, mass in lost + left)
        reached.append((ended + more) * (1 + sign * _ROUNDED) + sign * slack)
        more = fsum(
            mass * (step * found[code].chance[k] + found[code].time[k])
            for step, code, mass in lost + left
        )
        times.append((spent + more) * (1 + sign * _ROUNDED) + sign * slack * longest)
    return Account(
        late * (1 + _ROUNDED),
        after,
        *_conditional(signs.reached, (reached[0], reached[1]), (times[0], times[1])),
    )


@dataclass(frozen=True)
class _Ends:
    """Bounds of what is left for all tables of a code."""

    chance: tuple[float, float]
    time: tuple[float, float]


def _ends(
    lost: list[tuple[int, int, float]], ledger: Ledger, patterns: Patterns
) -> dict[int, _Ends]:
    """Return what is left of runs, by code."""
    where = {
        code: [patterns.state_number(s) for s in ledger.states(code, patterns)]
        for code in {code for _, code, _ in lost}
    }
    patterns.explore()
    left = Remainders(patterns)
    low, high = left.chances
    least, most = left.times
    return {
        code: _Ends(
            (float(low[some].min()), float(high[some].max())),
            (float(least[some].min()), float(most[some].max())),
        )
        for code, some in where.items()
    }


def _conditional(
    exact: fmpq | None, reached: tuple[float, float], times: tuple[float, float]
) -> tuple[Quantity, Quantity]:
    """Return P(T < infinity), and E[T | T < infinity] from E[T; T < infinity]."""
    low, high = (_exactly(min(max(x, 0.0), 1.0)) for x in reached)
    if exact is not None:
        if not low <= exact <= high:
            raise VerificationError(f"{exact} of all runs end, but carried forwards {reached} do")
        low = high = exact
    upper = None if times[1] == inf or low == 0 else _exactly(times[1]) / low
    lower = fmpq(0) if high == 0 else _exactly(max(times[0], 0.0)) / high
    return Quantity.enclosed(low, high), Quantity.enclosed(lower, upper)


def _exactly(number: float) -> fmpq:
    return fmpq(*number.as_integer_ratio())
