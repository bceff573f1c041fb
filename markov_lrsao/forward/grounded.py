r"""Laws whose rows never sink below 0, and what their tables can no longer use.

A row is *grounded* if one of its actions never loses: all its gains are >= 0, but for moves into
the optimum, after which nothing is learnt. If every row is, then by induction over the steps the
entry of that action is >= 0 (it becomes keep q + gain + bootstrap M, and each M is at least such an
entry), so that no row's largest entry is ever negative. EA+RL is of this kind on every landscape:
the target itself, chosen, accepts no loss. For a greedy agent it follows that

* a negative entry is never chosen again, and never again the largest of its row: it is *dead*;
* an entry that is chosen is the largest, and only the chosen one changes. So at most one entry of a
  row is positive at a time, and every comparison is the sign of that entry;
* if the positive entry belongs to an action that never loses, and keep > 0, it stays positive, and
  all others of the row are dead.

The sign that an entry will have after a move that loses something is looked up before the move is
made, whenever it or the next row's largest entry has changed: as the order within rows it is a fact
about every table of a hull, and outlives their values.

Dead entries only become more, so the positions that can still be met only become fewer. From which
the optimum cannot be met is *doomed*: T is infinite. Rows that cannot be met, and the values of
rows with one live entry that no row with several can learn from, even through others, are
*forgotten*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from markov_lrsao.forward.kernels import forgetting
from markov_lrsao.forward.model import Arrays, Law

if TYPE_CHECKING:
    from markov_lrsao.forward.law import Cloud

__all__ = ["Grounded", "is_grounded", "loses_something"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Grounded:
    """What `forgetting.forget` knows of a law.

    Attributes
    ----------
    safe : entry -> whether it stays positive where it is
    twin : entry -> the first action of its row with the same moves wherever the row is met
    ends : what no value is below, and above
    losses : (entry, number of the gain, next row) of moves that lose something, by entries
    first_loss : entry -> its first of them
    """

    arrays: Arrays
    optimum: int
    safe: BoolArray
    twin: IntArray
    ends: tuple[float, float]
    losses: tuple[IntArray, IntArray, IntArray]
    first_loss: IntArray

    @classmethod
    def of(cls, law: Law, arrays: Arrays) -> Grounded | None:
        """Return it for a greedy agent none of whose rows sinks below 0; None for others."""
        if not is_grounded(law):
            return None
        loses = loses_something(law)
        rows, actions = loses.shape
        a = law.algorithm
        size = max(abs(gain) for gain in law.gains)
        most = 0.0 if size == 0 else float((size / (1 - a.keep - a.bootstrap)).ceil()) + 1.0
        losses = _losses(law, arrays)
        return cls(
            arrays,
            law.optimum,
            (~loses & bool(a.keep > 0)).ravel(),
            np.array([twin_of(law, r, b) for r in range(rows) for b in range(actions)]),
            (-most, most),
            losses,
            np.searchsorted(losses[0], np.arange(rows * actions + 1)).astype(np.int64),
        )

    def forget(self, tables: Cloud) -> IntArray:
        """Forget in place what tables cannot use; return which are DOOMED, and which HELD."""
        a = self.arrays
        doomed = np.zeros(len(tables.mass), dtype=np.int64)
        count = len(a.row_of)
        rows = int(a.row_of.max()) + 1
        scratch = (
            np.zeros(count, dtype=np.int64),
            np.zeros(count, dtype=np.int64),
            np.zeros(rows, dtype=np.int64),
            np.zeros(rows, dtype=np.int64),
        )
        rules = self.safe, self.twin, self.first_loss
        forgetting.forget(
            *(tables.arrays, a.moves, self.optimum, a.zero, rules, self.ends, scratch, doomed)
        )
        return doomed


def _losses(law: Law, arrays: Arrays) -> tuple[IntArray, IntArray, IntArray]:
    """Return entry, number of the gain and next row of the moves that lose something."""
    a = arrays
    found = set()
    for p in range(len(law.row)):
        for b in range(a.actions if p != law.optimum else 0):
            k = p * a.actions + b
            for m in range(a.first_move[k], a.first_move[k + 1]):
                if a.gains[a.gain_of[m], 1] < 0 and a.move_to[m] != law.optimum:
                    row, after = a.row_of[p], a.row_of[a.move_to[m]]
                    found.add((int(row * a.actions + b), int(a.gain_of[m]), int(after)))
    columns = np.array(sorted(found), dtype=np.int64).reshape(-1, 3).T
    entry, gain, after = (np.ascontiguousarray(x) for x in columns)
    return entry, gain, after


def is_grounded(law: Law) -> bool:
    """Whether the agent is greedy, and every row has an action that never loses."""
    a = law.algorithm
    if a.epsilon != 0 or a.keep < 0 or a.bootstrap < 0:
        return False
    loses = loses_something(law)
    met = {int(law.row[p]) for p in range(len(law.row)) if p != law.optimum}
    return not any(loses[row].all() for row in met)


def loses_something(law: Law) -> BoolArray:
    """Return [row, action] -> whether one of its gains is negative, moves to the optimum aside."""
    found = np.zeros((int(law.row.max()) + 1, len(law.actions)), dtype=np.bool_)
    for p in range(len(law.row)):
        if p == law.optimum:
            continue
        for b in range(len(law.actions)):
            if any(gain < 0 and to != law.optimum for _, to, gain in law.moves(p, b)):
                found[law.row[p], b] = True
    return found


def twin_of(law: Law, row: int, action: int) -> int:
    """Return the first action with the same moves as this one, at all positions of a row."""
    where = [p for p in range(len(law.row)) if law.row[p] == row and p != law.optimum]

    def same(b: int) -> bool:
        return all(law.moves(p, b) == law.moves(p, action) for p in where)

    return next(b for b in range(action + 1) if same(b))
