r"""What tables can no longer use: other values there lead to the same runs, so one form is enough.

Two Q-tables at one position are *equivalent* if runs from them move alike, in law. E[steps left] is
the same, so a table may be replaced by an equivalent one before it is followed further. For a
greedy agent with keep, bootstrap >= 0, whose entries change only when they are chosen:

* A row is *grounded* if its largest entry never is negative again. That is so if some entry is
  >= 0 and keeps so: whenever it is chosen, at any position that can still be met, it gains >= 0
  and, where another row is seen, that is grounded too, or the gain makes up for the least that this
  row can be left with (`coarse.entry_ends`). All such rows are found together, as the largest set
  of rows that confirm each other.
* A negative entry of a grounded row is *dead*: never chosen, never seen. So are entries <= 0
  beside a positive entry that keeps so, with keep > 0, for then it stays positive. Dead entries all
  become the same value below all ends: never chosen either, and not told apart any more.
* Positions that entries which are not dead do not lead to are never met again. Rows without any
  other position become rows of zeros.
* A row with one live entry makes no choice. Its value is of use only to rows that still choose, and
  to those that they see, and so on; if it is to none, it becomes 0.
* *Twins*, actions with the same moves wherever their row is met, are exchanged freely: runs start
  with equal entries, so the exchanged table is one that runs meet as well. They are sorted.

Live entries that anything depends on keep their values (but for the exchange of twins), so ends
that hold for the tables of all runs still hold for them.
"""

from __future__ import annotations

from math import floor, inf
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward.coarse import entry_ends
from markov_lrsao.forward.grounded import twin_of
from markov_lrsao.forward.kernels import unused
from markov_lrsao.forward.model import Arrays, Tables
from markov_lrsao.model.law import StepLaw

__all__ = ["Unused"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Unused:
    """Puts what tables of a law cannot use into one form.

    Attributes
    ----------
    dead : the value of dead entries, below all others
    floors : row -> what its largest entry never is below when it is seen from elsewhere, or 0
    twin : entry -> the first action of its row with the same moves wherever the row is met
    """

    def __init__(self, law: StepLaw, arrays: Arrays) -> None:
        rows, actions = int(law.row.max()) + 1, arrays.actions
        least, _, left = entry_ends(law)
        self.arrays, self._optimum = arrays, law.optimum
        self._lasting = bool(law.algorithm.keep > 0)
        self.dead = float(floor(to_float(min(min(line) for line in least)))) - 1.0
        self.floors = np.array(
            [_below(max(*line, seen)) for line, seen in zip(least, left, strict=True)]
        )
        self.twin = np.array([twin_of(law, r, b) for r in range(rows) for b in range(actions)])
        positions = len(law.row)
        self._scratch = tuple(
            np.zeros(size, dtype=np.int64) for size in (positions, rows, rows, rows)
        )

    def drop(self, tables: Tables) -> None:
        """Put tables into their form, in place."""
        a = self.arrays
        rules: Any = a.gains, self.floors, a.bootstrap, self._lasting
        unused.drop(
            *(tables.arrays, a.moves, self._optimum, a.zero),
            *(self.dead, rules, self.twin, self._scratch),
        )


def _below(x: fmpq) -> float:
    """Return a float at or below a number, and not above 0."""
    return 0.0 if x >= 0 else float(np.nextafter(to_float(x), -inf))
