"""One step of a cloud of Q-tables, and the merging of tables that are alike.

Entry (row r, action a) has the number r K + a. Of every table the cloud knows

* low, high: an interval for each entry, ends rounded outwards;
* name: the number of the entry's exact value, values being numbered in ascending order; UNKNOWN: it
  has none, and the interval is all that is known; DEAD: it is below every entry that is not, for
  ever, and never chosen; FREE: the only one of its row that is not dead (see `forgetting`);
* order: for each row and pair a < b of actions the sign of q_a - q_b, or OPEN. It outlives the
  intervals: merging tables of the same order keeps it, though their hulls overlap;
* ahead: for each move that loses something the sign that its entry would have after it, or OPEN;
  in laws for which it is of use (`grounded`). It outlives the intervals in the same way.

A row that is not changed keeps its order. The order is known of all tables of a hull, so that the
greedy actions of a hull, where they are known, are those of every table in it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["DEAD", "FREE", "LOST", "OPEN", "STUCK", "expand", "keys", "merge", "outcomes"]

OPEN = 2
UNKNOWN, DEAD, FREE = -1, -2, -3
LOST, STUCK = -1, -2
_ROUNDING = 8 * 2.0**-53
_LEAST = 1e-300
_TINY = 1e-310
"""Nearer to 0 than this no bound is moved: what that may be wrong by is within every _LEAST."""


@compiled(forceinline=True, allocates=False)
def _pair(a, b, actions):
    """Return the number of the pair a < b within a row."""
    return a * (2 * actions - a - 1) // 2 + b - a - 1


@compiled(forceinline=True, allocates=False)
def _compared(order, s, row, a, b, actions):
    """Return the sign of q_a - q_b, or OPEN."""
    pairs = actions * (actions - 1) // 2
    if a < b:
        return order[s, row * pairs + _pair(a, b, actions)]
    known = order[s, row * pairs + _pair(b, a, actions)]
    return known if known == OPEN else -known


@compiled(forceinline=True, allocates=False)
def _largest(order, s, row, actions):
    """Return an action whose entry no other exceeds; -1: the order leaves it open."""
    for a in range(actions):
        best = True
        for b in range(actions):
            if b != a:
                sign = _compared(order, s, row, a, b, actions)
                if sign == OPEN or sign < 0:
                    best = False
                    break
        if best:
            return a
    return -1


@compiled(forceinline=True, allocates=False)
def _tied(order, s, row, a, b, actions):
    return a == b or _compared(order, s, row, a, b, actions) == 0


@compiled(allocates=False)
def outcomes(tables, moves, zero_gain, lasting, greedy, found):
    """Write for every table how many successors it has; lost: -1, stuck for ever: -2.

    A greedy agent is stuck where every greedy action refuses all moves without a gain, so that its
    entry v becomes (keep + bootstrap) v. If v <= 0 it does not sink and stays the largest; if
    v > 0 it stays positive, and the others, which are at most 0 and not chosen, stay below; but
    for keep + bootstrap = 0, when it becomes 0, and they must be negative.

    Parameters
    ----------
    tables, moves : as for `expand`
    lasting : whether keep + bootstrap > 0
    greedy : whether only greedy actions are taken; else all are
    """
    position, _, high, _, order, _, _ = tables
    row_of, first_move, move_to, _, gain_of = moves
    actions = (len(first_move) - 1) // len(row_of)
    for s in range(len(position)):
        p = position[s]
        row = row_of[p]
        best = _largest(order, s, row, actions)
        if best < 0:
            found[s] = LOST
            continue
        count, leaves, rivals = 0, False, False
        for a in range(actions):
            tied = _tied(order, s, row, best, a, actions)
            if greedy and not tied:
                rival = high[s, row * actions + a]
                rivals = rivals or rival > 0.0 or (rival == 0.0 and not lasting)
                continue
            begin, end = first_move[p * actions + a], first_move[p * actions + a + 1]
            count += end - begin
            for m in range(begin, end):
                leaves = leaves or move_to[m] != p or gain_of[m] != zero_gain
        stuck = greedy and not leaves and (not rivals or high[s, row * actions + best] <= 0.0)
        found[s] = STUCK if stuck else count


@compiled(forceinline=True, allocates=False)
def _learnt(q_low, q_high, gain, m_low, m_high, coefficients):
    """Return bounds of keep q + gain + bootstrap M; the coefficients are pairs of bounds.

    Each product and sum is rounded once; the slack is eight roundings of the magnitudes.
    """
    keep, bootstrap = coefficients
    a = q_low * (keep[0] if q_low >= 0.0 else keep[1])
    b = m_low * (bootstrap[0] if m_low >= 0.0 else bootstrap[1])
    low = a + gain[0] + b - (abs(a) + abs(b) + abs(gain[0])) * _ROUNDING - _LEAST
    a = q_high * (keep[1] if q_high >= 0.0 else keep[0])
    b = m_high * (bootstrap[1] if m_high >= 0.0 else bootstrap[0])
    return low, a + gain[1] + b + (abs(a) + abs(b) + abs(gain[1])) * _ROUNDING + _LEAST


@compiled(forceinline=True, allocates=False)
def _sign(low, high, name, s, i, j):
    """Return the sign of an entry's difference to another, as far as it is known."""
    if name[s, i] == DEAD or name[s, j] == DEAD:
        return int(name[s, j] == DEAD) - int(name[s, i] == DEAD)
    if name[s, i] >= 0 and name[s, j] >= 0:
        return np.sign(name[s, i] - name[s, j])
    if low[s, i] > high[s, j]:
        return 1
    return -1 if high[s, i] < low[s, j] else OPEN


@compiled(forceinline=True, allocates=False)
def _copy(low, high, name, order, s, to_low, to_high, to_name, to_order, t):
    for j in range(low.shape[1]):
        to_low[t, j], to_high[t, j] = low[s, j], high[s, j]
        to_name[t, j] = name[s, j]
    for j in range(order.shape[1]):
        to_order[t, j] = order[s, j]


@compiled(forceinline=True, allocates=False)
def _seen(low, high, name, order, s, row, actions):
    """Return bounds of the largest entry of a row, and its name."""
    first = row * actions
    least, most = low[s, first], high[s, first]
    for b in range(1, actions):
        least, most = max(least, low[s, first + b]), max(most, high[s, first + b])
    known = _largest(order, s, row, actions)
    if known < 0:
        return least, most, UNKNOWN
    return least, min(most, high[s, first + known]), name[s, first + known]


@compiled(forceinline=True, allocates=False)
def _reorder(low, high, name, order, t, row, a, actions):
    """Compare an entry that has changed with the others of its row."""
    pairs = actions * (actions - 1) // 2
    for b in range(actions):
        if b != a:
            sign = _sign(low, high, name, t, row * actions + a, row * actions + b)
            turned = sign if a < b or sign == OPEN else -sign
            order[t, row * pairs + _pair(min(a, b), max(a, b), actions)] = turned


@compiled(forceinline=True, allocates=False)
def _look_ahead(low, high, name, order, ahead, t, row, i, learning, losses, actions):
    """Find the signs after moves that lose, where an entry has changed, or a row's largest."""
    gains, sums, coefficients, zero = learning
    entry_of, gain_of, row_after = losses
    for d in range(len(entry_of)):
        j, gain = entry_of[d], gain_of[d]
        if j != i and row_after[d] != row:
            continue
        least, most, named = _seen(low, high, name, order, t, row_after[d], actions)
        if row_after[d] == j // actions:  # it is chosen only as the largest
            least, most, named = low[t, j], high[t, j], name[t, j]
        below, above = _learnt(low[t, j], high[t, j], gains[gain], least, most, coefficients)
        ahead[t, d] = 1 if below > 0.0 else -1 if above < 0.0 else OPEN
        if name[t, j] >= 0 and named >= 0 and sums[name[t, j], named, gain] >= 0:
            ahead[t, d] = np.sign(sums[name[t, j], named, gain] - zero)


@compiled(forceinline=True, allocates=False)
def _foreseen(ahead, s, i, gain, row_after, losses):
    """Return the sign of an entry after a move, if it was found before; else OPEN."""
    entry_of, gain_of, rows = losses
    for d in range(len(entry_of)):
        if entry_of[d] == i and gain_of[d] == gain and rows[d] == row_after:
            return ahead[s, d]
    return OPEN


@compiled(allocates=False)
def expand(tables, count, moves, learning, values, losses, exploring, after):
    """Write the successors of all tables that go on, one after the other.

    Parameters
    ----------
    tables, after : (position, low, high, name, order, mass, ahead)
    count : what `outcomes` wrote
    moves : (row of a position, first move of each position and action, where moves lead, their
        weights, the numbers of their gains)
    learning : (bounds of each gain; [name of q, name of M, gain] -> name of
        keep q + gain + bootstrap M, or UNKNOWN; bounds of keep and of bootstrap; the name of 0)
    values : bounds of each named value
    losses : (entry, gain, next row) of the moves whose sign is found ahead
    exploring : the share of steps in which any action is taken
    """
    position, low, high, name, order, mass, ahead = tables
    to_position, to_low, to_high, to_name, to_order, to_mass, to_ahead = after
    gains, sums, coefficients, _ = learning
    row_of, first_move, move_to, move_weight, gain_of = moves
    actions = (len(first_move) - 1) // len(row_of)
    t = 0
    for s in range(len(position)):
        if count[s] < 0:
            continue
        p = position[s]
        row = row_of[p]
        best = _largest(order, s, row, actions)
        ties = 0
        for a in range(actions):
            ties += _tied(order, s, row, best, a, actions)
        for a in range(actions):
            share = exploring / actions
            if _tied(order, s, row, best, a, actions):
                share += (1.0 - exploring) / ties
            elif exploring == 0.0:
                continue
            i = row * actions + a
            for m in range(first_move[p * actions + a], first_move[p * actions + a + 1]):
                to, gain = move_to[m], gain_of[m]
                to_position[t] = to
                to_mass[t] = mass[s] * share * move_weight[m]
                _copy(low, high, name, order, s, to_low, to_high, to_name, to_order, t)
                for j in range(ahead.shape[1]):
                    to_ahead[t, j] = ahead[s, j]
                least, most, named = _seen(low, high, name, order, s, row_of[to], actions)
                if name[s, i] < 0 or named < 0:
                    known = UNKNOWN
                else:
                    known = sums[name[s, i], named, gain]
                to_name[t, i] = known
                if known == UNKNOWN:
                    ends = _learnt(low[s, i], high[s, i], gains[gain], least, most, coefficients)
                    sign = _foreseen(ahead, s, i, gain, row_of[to], losses)
                    to_low[t, i] = max(ends[0], _TINY) if sign == 1 else ends[0]
                    to_high[t, i] = min(ends[1], -_TINY) if sign == -1 else ends[1]
                else:
                    to_low[t, i], to_high[t, i] = values[known, 0], values[known, 1]
                _reorder(to_low, to_high, to_name, to_order, t, row, a, actions)
                _look_ahead(
                    *(to_low, to_high, to_name, to_order, to_ahead, t),
                    *(row, i, learning, losses, actions),
                )
                t += 1


@compiled(forceinline=True, allocates=False)
def _mixed(h, x):
    """Return a hash of a hash and a number (the finaliser of splitmix64)."""
    z = h ^ (x + np.uint64(0x9E3779B97F4A7C15) + (h << np.uint64(6)) + (h >> np.uint64(2)))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled(allocates=False)
def keys(position, low, high, name, order, mass, ahead, fine, thinned, found):
    """Write a number for every table; tables with the same one are alike.

    They have the same position, order and signs ahead, and entries in the same cells: `cells` to an
    octave of |q|, by a factor `thinned` fewer where a table is ten times less likely. Which tables
    are merged is a matter of width, not of truth.
    """
    for s in range(len(position)):
        cells = fine
        rare = mass[s]
        while rare < 1e-4 and cells > 1.0:
            cells, rare = cells / thinned, rare * 10.0
        h = _mixed(np.uint64(position[s]), np.uint64(cells))
        for k in range(order.shape[1]):
            h = _mixed(h, np.uint64(order[s, k] + 1))
        for k in range(ahead.shape[1]):
            h = _mixed(h, np.uint64(ahead[s, k] + 1))
        for i in range(low.shape[1]):
            q = 0.5 * (low[s, i] + high[s, i])
            cell = np.int64(0)
            if name[s, i] == DEAD or name[s, i] == FREE:
                cell = np.int64(name[s, i] - 999_000)
            elif q != 0.0:
                cell = np.int64(math.floor(math.log2(abs(q)) * cells)) * 2 + (1 if q > 0.0 else 2)
            h = _mixed(h, np.uint64(cell + 1_000_000))
        found[s] = h


@compiled(allocates=False)
def merge(sequence, key, position, low, high, name, order, mass, ahead):
    """Merge tables that are alike, in place at the first of them; others get mass 0.

    `sequence` sorts the keys. Equal keys alone merge nothing: position, order, signs ahead and
    which entries are dead are compared. Returns the largest number of tables that became one.
    """
    longest, first = 1, 0
    length = 1
    for k in range(1, len(sequence)):
        s, into = sequence[k], sequence[first]
        alike = key[s] == key[into] and position[s] == position[into]
        if alike:
            for j in range(order.shape[1]):
                alike = alike and order[s, j] == order[into, j]
            for j in range(ahead.shape[1]):
                alike = alike and ahead[s, j] == ahead[into, j]
            for i in range(low.shape[1]):
                alike = alike and (name[s, i] == DEAD) == (name[into, i] == DEAD)
        if not alike:
            first, length = k, 1
            continue
        length += 1
        longest = max(longest, length)
        mass[into] += mass[s]
        mass[s] = 0.0
        for i in range(low.shape[1]):
            low[into, i] = min(low[into, i], low[s, i])
            high[into, i] = max(high[into, i], high[s, i])
            if name[into, i] != name[s, i]:
                name[into, i] = UNKNOWN
    return longest
