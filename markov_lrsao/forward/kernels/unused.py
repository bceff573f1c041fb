"""What tables can no longer use is put into one form; see `forward.unused`.

In place, table by table:

* dead entries, which are never chosen again, all get the same value, below all others;
* rows that no run from here meets again become rows of zeros;
* the value of a row's only live entry becomes 0 where no open comparison can ever feel it;
* twins, actions with the same moves wherever a row is met, are sorted.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled
from markov_lrsao.forward.kernels.cloud import OPEN, UNKNOWN, _compared, _pair
from markov_lrsao.forward.kernels.forgetting import _exchange

__all__ = ["drop"]


@compiled(forceinline=True, allocates=False)
def _reach(start, high, s, moves, actions, optimum, dead, met, met_row):
    """Mark the positions that entries which are not dead lead to, and their rows."""
    row_of, first_move, move_to = moves[0], moves[1], moves[2]
    met[:] = 0
    met_row[:] = 0
    met[start] = 1
    before = 0
    while met.sum() != before:
        before = met.sum()
        for p in range(len(row_of)):
            if p == optimum or not met[p]:
                continue
            met_row[row_of[p]] = 1
            for a in range(actions):
                if high[s, row_of[p] * actions + a] > dead:
                    for m in range(first_move[p * actions + a], first_move[p * actions + a + 1]):
                        met[move_to[m]] = 1


@compiled(forceinline=True, allocates=False)
def _keeps(row, a, moves, actions, optimum, met, grounded, gains, floors, bootstrap):
    """Whether what an entry gains and sees is not negative, at whatever position it is chosen."""
    row_of, first_move, move_to, _, gain_of = moves
    for p in range(len(row_of)):
        if not met[p] or row_of[p] != row or p == optimum:
            continue
        for m in range(first_move[p * actions + a], first_move[p * actions + a + 1]):
            to = move_to[m]
            if to == optimum:
                continue
            gain = gains[gain_of[m], 0]
            after = row_of[to]
            # Floors are not positive: the margin is more than the product is rounded by.
            seen = 0.0
            if after != row and not grounded[after]:
                seen = floors[after] * bootstrap[1] * (1.0 + 1e-12)
            if gain < 0.0 or (seen < 0.0 and not gain + seen > 0.0):
                return False
    return True


@compiled(forceinline=True, allocates=False)
def _ground(low, high, s, moves, actions, optimum, dead, met, met_row, grounded, rules):
    """Mark the rows whose largest entry never is negative again."""
    gains, floors, bootstrap, _ = rules
    for row in range(len(met_row)):
        grounded[row] = met_row[row]
    changed = True
    while changed:
        changed = False
        for row in range(len(met_row)):
            if not grounded[row]:
                continue
            held = False
            for a in range(actions):
                if not held and low[s, row * actions + a] >= 0.0:
                    held = _keeps(
                        *(row, a, moves, actions, optimum, met, grounded, gains, floors, bootstrap)
                    )
            if not held:
                grounded[row] = 0
                changed = True


@compiled(forceinline=True, allocates=False)
def _bury(low, high, name, order, s, row, a, actions, dead):
    """Let an entry be the lowest of its row, as all that are dead."""
    pairs = actions * (actions - 1) // 2
    i = row * actions + a
    low[s, i] = high[s, i] = dead
    name[s, i] = UNKNOWN
    for b in range(actions):
        if b != a:
            sign = 0 if high[s, row * actions + b] <= dead else -1
            order[s, row * pairs + _pair(min(a, b), max(a, b), actions)] = sign if a < b else -sign


@compiled(forceinline=True, allocates=False)
def _settle(low, high, name, order, s, row, moves, actions, optimum, dead, met, grounded, rules):
    """Bury the entries of a row that are never chosen again; return whether there were any."""
    gains, floors, bootstrap, lasting = rules
    first = row * actions
    top = -1
    for a in range(actions):
        if (
            lasting
            and top < 0
            and low[s, first + a] > 0.0
            and _keeps(row, a, moves, actions, optimum, met, grounded, gains, floors, bootstrap)
        ):
            top = a
    found = False
    for a in range(actions):
        below = (grounded[row] and high[s, first + a] < 0.0) or (
            top >= 0 and high[s, first + a] <= 0.0
        )
        if below and high[s, first + a] > dead:
            _bury(low, high, name, order, s, row, a, actions, dead)
            found = True
    return found


@compiled(forceinline=True, allocates=False)
def _feel(high, s, moves, actions, optimum, dead, met, needed):
    """Mark the rows whose largest value a row that is marked may still learn from."""
    row_of, first_move, move_to = moves[0], moves[1], moves[2]
    before = -1
    while needed.sum() != before:
        before = needed.sum()
        for p in range(len(row_of)):
            if p == optimum or not met[p] or not needed[row_of[p]]:
                continue
            for a in range(actions):
                if high[s, row_of[p] * actions + a] <= dead:
                    continue
                for m in range(first_move[p * actions + a], first_move[p * actions + a + 1]):
                    if move_to[m] != optimum:
                        needed[row_of[move_to[m]]] = 1


@compiled(forceinline=True, allocates=False)
def _sort_twins(low, high, name, order, s, row, actions, twin):
    """Put twins into descending order; where that is open, by the middles of their intervals."""
    first = row * actions
    for _ in range(actions - 1):
        for a in range(actions):
            for b in range(a + 1, actions):
                if twin[first + a] != twin[first + b]:
                    continue
                sign = _compared(order, s, row, a, b, actions)
                mine = low[s, first + a] + high[s, first + a]
                other = low[s, first + b] + high[s, first + b]
                if sign == -1 or (sign == OPEN and mine < other):
                    _exchange(low, high, name, order, s, row, a, b, actions)


@compiled(allocates=False)
def drop(tables, moves, optimum, zero, dead, rules, twin, scratch):
    """Put what no run from a table can use into one form, in place.

    Parameters
    ----------
    tables, moves : as for `layers.expand`
    zero : the name of the value 0
    dead : a value below all others
    rules : bounds of gains; what rows that a walk has left never are below, at most 0; bounds of
        bootstrap; whether keep > 0
    twin : entry -> the first action of its row with the same moves wherever the row is met
    scratch : room: positions met, rows met, rows grounded, rows needed
    """
    position, _, low, high, name, order, _ = tables
    row_of, first_move = moves[0], moves[1]
    met, met_row, grounded, needed = scratch
    actions = (len(first_move) - 1) // len(row_of)
    pairs = actions * (actions - 1) // 2
    rows = len(met_row)
    for s in range(len(position)):
        again = True
        while again:
            again = False
            _reach(position[s], high, s, moves, actions, optimum, dead, met, met_row)
            _ground(low, high, s, moves, actions, optimum, dead, met, met_row, grounded, rules)
            for row in range(rows):
                if met_row[row]:
                    buried = _settle(
                        *(low, high, name, order, s, row, moves, actions, optimum, dead, met),
                        *(grounded, rules),
                    )
                    again = again or buried
        for row in range(rows):
            alive = 0
            for a in range(actions):
                alive += high[s, row * actions + a] > dead
            needed[row] = met_row[row] and alive > 1
        _feel(high, s, moves, actions, optimum, dead, met, needed)
        for row in range(rows):
            for a in range(actions):
                i = row * actions + a
                if not met_row[row] or (not needed[row] and high[s, i] > dead):
                    low[s, i] = high[s, i] = 0.0
                    name[s, i] = zero
            if not met_row[row]:
                for k in range(row * pairs, (row + 1) * pairs):
                    order[s, k] = 0
            _sort_twins(low, high, name, order, s, row, actions, twin)
