"""What tables of a grounded law can no longer use is forgotten; see `forward.grounded`.

In place, table by table:

* dead entries, which are never chosen again: below 0, or at most 0 beside a positive entry that
  stays positive. Their values are dropped;
* whether the optimum is still to be reached by entries that are not dead; else the table is
  *doomed*;
* rows that no run from here meets again: made rows of zeros;
* values of rows with one live entry that no open comparison can feel: dropped;
* twins, actions with the same moves wherever a row is met: put into one order.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled
from markov_lrsao.forward.kernels.cloud import DEAD, FREE, OPEN, _compared, _pair

__all__ = ["DOOMED", "HELD", "forget"]

DOOMED, HELD = 1, 2


@compiled(forceinline=True, allocates=False)
def _bury(low, high, name, s, i, least):
    """Drop the value of a dead entry: it is at most 0."""
    name[s, i] = DEAD
    low[s, i], high[s, i] = least, 0.0


@compiled(forceinline=True, allocates=False)
def _rank(order, s, row, actions, name):
    """Write the order of a row in which dead entries are below all others, and equal."""
    pairs = actions * (actions - 1) // 2
    for a in range(actions):
        for b in range(a + 1, actions):
            first, second = name[s, row * actions + a] == DEAD, name[s, row * actions + b] == DEAD
            if first or second:
                order[s, row * pairs + _pair(a, b, actions)] = int(second) - int(first)


@compiled(forceinline=True, allocates=False)
def _settle(low, high, name, order, s, row, actions, safe, least):
    """Find the dead entries of a row; return how many are alive."""
    first = row * actions
    top = -1
    for a in range(actions):
        if name[s, first + a] != DEAD and high[s, first + a] < 0.0:
            _bury(low, high, name, s, first + a, least)
        if name[s, first + a] != DEAD and low[s, first + a] > 0.0 and safe[first + a]:
            top = a
    alive = 0
    for a in range(actions):
        if top >= 0 and a != top and name[s, first + a] != DEAD and high[s, first + a] <= 0.0:
            _bury(low, high, name, s, first + a, least)
        alive += name[s, first + a] != DEAD
    _rank(order, s, row, actions, name)
    return alive


@compiled(forceinline=True, allocates=False)
def _reach(start, name, s, moves, actions, met, waiting):
    """Mark the positions that live entries lead to."""
    row_of, first_move, move_to, _, _ = moves
    met[:] = 0
    met[start] = 1
    waiting[0] = start
    count = 1
    while count:
        count -= 1
        p = waiting[count]
        for a in range(actions):
            if name[s, row_of[p] * actions + a] == DEAD:
                continue
            for m in range(first_move[p * actions + a], first_move[p * actions + a + 1]):
                q = move_to[m]
                if not met[q]:
                    met[q] = 1
                    waiting[count] = q
                    count += 1


@compiled(forceinline=True, allocates=False)
def _feel(name, s, moves, actions, met, needed):
    """Mark the rows whose largest value a row that is marked may still learn from."""
    row_of, first_move, move_to, _, _ = moves
    grows = True
    while grows:
        grows = False
        for p in range(len(row_of)):
            row = row_of[p]
            if not met[p] or not needed[row]:
                continue
            for a in range(actions):
                if name[s, row * actions + a] == DEAD:
                    continue
                for m in range(first_move[p * actions + a], first_move[p * actions + a + 1]):
                    to = row_of[move_to[m]]
                    if not needed[to]:
                        needed[to] = 1
                        grows = True


@compiled(forceinline=True, allocates=False)
def _exchange(low, high, name, order, s, row, a, b, actions):
    """Exchange two twins of a row, a < b."""
    pairs = actions * (actions - 1) // 2
    i, j = row * actions + a, row * actions + b
    low[s, i], low[s, j] = low[s, j], low[s, i]
    high[s, i], high[s, j] = high[s, j], high[s, i]
    name[s, i], name[s, j] = name[s, j], name[s, i]
    for c in range(actions):
        if c not in (a, b):
            left, right = (
                _compared(order, s, row, a, c, actions),
                _compared(order, s, row, b, c, actions),
            )
            for entry, sign in ((a, right), (b, left)):
                turned = sign if entry < c or sign == OPEN else -sign
                order[s, row * pairs + _pair(min(entry, c), max(entry, c), actions)] = turned
    k = row * pairs + _pair(min(a, b), max(a, b), actions)
    if order[s, k] != OPEN:
        order[s, k] = -order[s, k]


@compiled(forceinline=True, allocates=False)
def _swap(low, high, name, order, ahead, s, row, a, b, actions, first_loss):
    """Exchange two twins of a row, and the signs ahead of them."""
    _exchange(low, high, name, order, s, row, a, b, actions)
    i, j = row * actions + a, row * actions + b
    for d in range(first_loss[i + 1] - first_loss[i]):
        x, y = first_loss[i] + d, first_loss[j] + d
        ahead[s, x], ahead[s, y] = ahead[s, y], ahead[s, x]


@compiled(forceinline=True, allocates=False)
def _sort_twins(low, high, name, order, ahead, s, row, actions, twin, first_loss):
    """Put twins into descending order, as far as it is known."""
    first = row * actions
    for _ in range(actions):
        for a in range(actions):
            for b in range(a + 1, actions):
                same = twin[first + a] == twin[first + b]
                if same and _compared(order, s, row, a, b, actions) == -1:
                    _swap(low, high, name, order, ahead, s, row, a, b, actions, first_loss)


@compiled(allocates=False)
def forget(tables, moves, optimum, zero, rows, ends, scratch, doomed):
    """Forget in every table what no run from it can use; mark the doomed, and those held in place.

    Parameters
    ----------
    tables, moves : as for `cloud.expand`
    rows : whether entries that are positive stay so; the first twin of every entry; its first move
        that loses something
    ends : what no value is below, and above
    scratch : room for positions met, positions waiting, rows needed, and live entries of rows
    """
    position, low, high, name, order, _, ahead = tables
    row_of, first_move = moves[0], moves[1]
    safe, twin, first_loss = rows
    least, most = ends
    met, waiting, needed, alive = scratch
    actions = (len(first_move) - 1) // len(row_of)
    pairs = actions * (actions - 1) // 2
    for s in range(len(position)):
        for row in range(len(alive)):
            alive[row] = _settle(low, high, name, order, s, row, actions, safe, least)
        _reach(position[s], name, s, moves, actions, met, waiting)
        doomed[s] = 0 if met[optimum] else HELD if met.sum() == 1 else DOOMED
        needed[:] = 0
        for p in range(len(row_of)):
            if met[p] and p != optimum and alive[row_of[p]] > 1:
                needed[row_of[p]] = 1
        _feel(name, s, moves, actions, met, needed)
        for row in range(len(alive)):
            used = False
            for p in range(len(row_of)):
                used = used or (row_of[p] == row and met[p])
            for a in range(actions):
                i = row * actions + a
                if not used:
                    low[s, i] = high[s, i] = 0.0
                    name[s, i] = zero
                elif not needed[row] and name[s, i] != DEAD:
                    low[s, i], high[s, i] = least, most
                    name[s, i] = FREE
                if not used or name[s, i] == DEAD or name[s, i] == FREE:
                    ahead[s, first_loss[i] : first_loss[i + 1]] = 0
            if not used:
                order[s, row * pairs : (row + 1) * pairs] = 0
            _sort_twins(low, high, name, order, ahead, s, row, actions, twin, first_loss)
