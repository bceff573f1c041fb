"""Compiled powers of a transition matrix that is small: many steps, each a few products."""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled

__all__ = ["carry"]


@compiled(allocates=False)
def carry(pointer, columns, weights, ended, now, after, reached, going):
    """Fill in what has ended and what is under way at each step, and move the law beyond them.

    The matrix is the transposed one. `now` has the law of the first step, at the end that of the
    step behind the last one; `after` is room for a law.
    """
    size = len(now)
    for t in range(len(reached)):
        done, left = 0.0, 0.0
        for i in range(size):
            if ended[i]:
                done += now[i]
            else:
                left += now[i]
        reached[t], going[t] = done, left
        for i in range(size):
            total = 0.0
            for e in range(pointer[i], pointer[i + 1]):
                total += weights[e] * now[columns[e]]
            after[i] = total
        for i in range(size):
            now[i] = after[i]
