"""One layer of tables after another: every possible greedy action is followed.

A table is what it is for `kernels.cloud`: intervals, names, order. Where its order leaves the
greedy actions open, all sets that they can be are found, and all actions of these are followed.
A set S of actions has the number sum of 2^a, a in S; bit number(S) of a mask says that the greedy
actions may be just S.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

from markov_lrsao.compiled import compiled
from markov_lrsao.forward.kernels.cloud import (
    _ROUNDING,
    OPEN,
    UNKNOWN,
    _compared,
    _copy,
    _learnt,
    _reorder,
    _seen,
)

__all__ = ["backwards", "expand", "greedy_sets"]


@compiled(forceinline=True, allocates=False)
def _may_exceed(low, high, order, s, row, a, b, actions):
    """Whether q_a > q_b for some table."""
    sign = _compared(order, s, row, a, b, actions)
    return sign == 1 or (sign == OPEN and high[s, row * actions + a] > low[s, row * actions + b])


@compiled(forceinline=True, allocates=False)
def _may_tie(low, high, order, s, row, a, b, actions):
    """Whether q_a = q_b for some table."""
    sign = _compared(order, s, row, a, b, actions)
    i, j = row * actions + a, row * actions + b
    return sign == 0 or (sign == OPEN and low[s, i] <= high[s, j] and low[s, j] <= high[s, i])


@compiled(forceinline=True, allocates=False)
def _sets(low, high, order, s, row, actions):
    """Return the mask of the sets that the greedy actions can be."""
    mask = 0
    for members in range(1, 1 << actions):
        fits = True
        for a in range(actions):
            if not members >> a & 1:
                continue
            for b in range(actions):
                if b == a:
                    continue
                if members >> b & 1:
                    fits = fits and _may_tie(low, high, order, s, row, a, b, actions)
                else:
                    fits = fits and _may_exceed(low, high, order, s, row, a, b, actions)
        if fits:
            mask |= 1 << members
    return mask


@compiled(forceinline=True, allocates=False)
def _in_some(mask, a, actions):
    """Whether an action is in one of the sets of a mask."""
    found = False
    for members in range(1, 1 << actions):
        found = found or (mask >> members & 1 and members >> a & 1)
    return found


@compiled(forceinline=True, allocates=False)
def _classes(low, high, order, s, row, a, actions, bounds, powers):
    """Return in how many classes of refusals the only greedy action stays so; all: any number.

    After k refusals its entry is lam^k q. It still exceeds what is at most 0, everything if q <= 0,
    and whatever lies below lam^k times its lower end.
    """
    i = row * actions + a
    found = len(bounds)
    if high[s, i] <= 0.0:
        return found
    for b in range(actions):
        rival = high[s, row * actions + b]
        if b == a or rival <= 0.0:
            continue
        while found > 1 and (
            found == len(bounds) or not low[s, i] * powers[bounds[found] - 1, 0] > rival
        ):
            found -= 1
    return found


@compiled(allocates=False)
def greedy_sets(position, low, high, order, row_of, first_move, waits, bounds, powers, found):
    """Write of every table the sets that its greedy actions can be, classes of waiting, moves.

    Where one action alone is greedy and refuses moves in one direction, one macro step has it wait:
    refusals are counted in classes that begin with each of `bounds`, the last without an end. It
    ends with a move after so many refusals, or, if the order is sure for some classes only, with
    the refusal that begins the next one.

    Parameters
    ----------
    waits : position, action -> the move that ends waiting; -1: it does not wait
    powers : lower and upper bounds of lam^k
    found : masks, classes (0: a plain step) and numbers of successors
    """
    masks, classes, count = found
    actions = (len(first_move) - 1) // len(row_of)
    for s in range(len(position)):
        p = position[s]
        masks[s] = _sets(low, high, order, s, row_of[p], actions)
        total = 0
        classes[s] = 0
        for a in range(actions):
            if masks[s] == 1 << (1 << a) and waits[p * actions + a] >= 0:
                classes[s] = _classes(low, high, order, s, row_of[p], a, actions, bounds, powers)
                total = classes[s] + (classes[s] < len(bounds))
        if classes[s] == 0:
            for a in range(actions):
                if _in_some(masks[s], a, actions):
                    total += first_move[p * actions + a + 1] - first_move[p * actions + a]
        count[s] = total


@compiled(forceinline=True, allocates=False)
def _narrow(low, high, t, row, a, actions):
    """Cut a table down to those in which an action is greedy: none of its row is larger."""
    i = row * actions + a
    for b in range(actions):
        low[t, i] = max(low[t, i], low[t, row * actions + b])
    for b in range(actions):
        j = row * actions + b
        high[t, j] = min(high[t, j], high[t, i])


@compiled(forceinline=True, allocates=False)
def _kept(order, high, t, row, a, actions, before):
    """Let what a refusal leaves alone in the order stand.

    A refused entry v becomes (keep + bootstrap) v, nearer to 0: what it exceeds and is at most 0
    it still exceeds.
    """
    pairs = actions * (actions - 1) // 2
    for b in range(actions):
        if b != a and before[b] == 1 and high[t, row * actions + b] <= 0.0:
            x, y = min(a, b), max(a, b)
            k = row * pairs + x * (2 * actions - x - 1) // 2 + y - x - 1
            order[t, k] = 1 if a < b else -1


@compiled(forceinline=True, allocates=False)
def _scaled(low, high, name, t, i, first, last, powers, zero):
    """Multiply an entry by lam^k, k from `first` to `last` (-1: without an end)."""
    if first == 0 and last == 0:
        return
    if name[t, i] != zero:
        name[t, i] = UNKNOWN
    least = powers[last, 0] if last >= 0 else 0.0
    most = powers[first, 1]
    x, y = low[t, i], high[t, i]
    low[t, i] = (
        x * (least if x >= 0.0 else most) * (1.0 - _ROUNDING if x >= 0.0 else 1.0 + _ROUNDING)
    )
    high[t, i] = (
        y * (most if y >= 0.0 else least) * (1.0 + _ROUNDING if y >= 0.0 else 1.0 - _ROUNDING)
    )


@compiled(forceinline=True, allocates=False)
def _update(row, next_row, i, gain, after, t, model):
    """Carry out the update of entry i of table t, which is greedy in its row."""
    gains, sums, values, coefficients, least, most, actions = model
    _, _, low, high, name, order, _ = after
    if next_row == row:
        below, above, named = low[t, i], high[t, i], name[t, i]  # the largest of its row
    else:
        below, above, named = _seen(low, high, name, order, t, next_row, actions)
    known = UNKNOWN
    if name[t, i] != UNKNOWN and named != UNKNOWN:
        known = sums[name[t, i], named, gain]
    name[t, i] = known
    if known == UNKNOWN:
        ends = _learnt(low[t, i], high[t, i], gains[gain], below, above, coefficients)
        low[t, i] = max(ends[0], least[i])
        high[t, i] = min(ends[1], most[i])
    else:
        low[t, i], high[t, i] = values[known, 0], values[known, 1]
    _reorder(low, high, name, order, t, row, i - row * actions, actions)


@compiled(forceinline=True, allocates=False)
def _begin(tables, s, after, t, to, mass):
    """Write a copy of a table at another position."""
    _, phase, low, high, name, order, _ = tables
    to_position, to_phase, to_low, to_high, to_name, to_order, to_mass = after
    to_position[t], to_phase[t], to_mass[t] = to, phase[s], mass
    _copy(low, high, name, order, s, to_low, to_high, to_name, to_order, t)


@compiled(forceinline=True, allocates=False)
def _members(mask, actions):
    """Return how many actions are in some set of a mask."""
    size = 0
    for a in range(actions):
        size += _in_some(mask, a, actions)
    return size


@compiled(forceinline=True, allocates=False)
def _share(low, high, s, row, a, mask, actions):
    """Return about how often an action that may be greedy is: the part of it above all others."""
    floor = low[s, row * actions]
    for b in range(1, actions):
        floor = max(floor, low[s, row * actions + b])
    total, own = 0.0, 0.0
    for b in range(actions):
        if _in_some(mask, b, actions):
            reach = max(high[s, row * actions + b] - floor, 0.0) + 1e-9
            total += reach * reach
            own = reach * reach if b == a else own
    return 0.05 + 0.85 * own / total


@compiled(allocates=False)
def expand(tables, masks, classes, moves, waiting, model, zeros, signs, after):
    """Write the successors of all tables, of every action that may be greedy.

    Their masses say how much they matter, not how likely they are: open actions share equally.

    Parameters
    ----------
    waiting : waits, bounds, powers as for `greedy_sets`; weights [position, action, class] of a
        move after so many refusals, and of so many refusals or more
    model : bounds of gains; sums of names; values of names; keep and bootstrap; ends that each
        entry never leaves, below and above; the number of actions
    zeros : the number of the gain 0, the name of the value 0
    signs : room for a row's signs
    after : as `tables`
    """
    position, _, low, high, _, order, mass = tables
    row_of, first_move, move_to, move_weight, gain_of = moves
    waits, bounds, powers, weights, beyond = waiting
    actions = model[6]
    _, _, to_low, to_high, to_name, to_order, _ = after
    t = 0
    for s in range(len(position)):
        p = position[s]
        row = row_of[p]
        mask = masks[s]
        for a in range(actions):
            if not _in_some(mask, a, actions):
                continue
            share = _share(low, high, s, row, a, mask, actions)
            if mask & (mask - 1) == 0:
                share = 1.0 / _members(mask, actions)
            i = row * actions + a
            k = p * actions + a
            for b in range(actions):
                signs[b] = 0 if b == a else _compared(order, s, row, a, b, actions)
            for c in range(classes[s]):
                last = bounds[c + 1] - 1 if c + 1 < len(bounds) else -1
                move = waits[k]
                _begin(tables, s, after, t, move_to[move], mass[s] * weights[k, c])
                _scaled(to_low, to_high, to_name, t, i, bounds[c], last, powers, zeros[1])
                _update(row, row_of[move_to[move]], i, gain_of[move], after, t, model)
                t += 1
            if classes[s] > 0:
                if classes[s] < len(bounds):
                    _begin(tables, s, after, t, p, mass[s] * beyond[k, classes[s]])
                    first = bounds[classes[s]]
                    _scaled(to_low, to_high, to_name, t, i, first, first, powers, zeros[1])
                    _reorder(to_low, to_high, to_name, to_order, t, row, a, actions)
                    _kept(to_order, to_high, t, row, a, actions, signs)
                    t += 1
                continue
            for m in range(first_move[k], first_move[k + 1]):
                to, gain = move_to[m], gain_of[m]
                _begin(tables, s, after, t, to, mass[s] * share * move_weight[m])
                if mask & (mask - 1) != 0:
                    _narrow(to_low, to_high, t, row, a, actions)
                _update(row, row_of[to], i, gain, after, t, model)
                if to == p and gain == zeros[0]:
                    _kept(to_order, to_high, t, row, a, actions, signs)
                t += 1


@compiled(allocates=False)
def backwards(layer, moves, waiting, counted, following, bounds, slack, found):
    """Write bounds of E[counted steps left] of a layer's tables from those of the next layer.

    Below is the least over all sets that the greedy actions can be, above the largest; each within
    what positions alone show.

    Parameters
    ----------
    layer : position, phase, mask, classes and, successor after successor, number in the next layer
        or -1, the end
    waiting : weights and beyond, as for `expand`, and [position, action, classes] steps
    counted : [phase, quantity] whether a step counts
    following : [table, quantity, side] of the next layer
    bounds : [position, phase, quantity, side]
    slack : a relative margin for rounding, of a step
    found : written, as `following`
    """
    position, phase, masks, classes, target = layer
    row_of, first_move, _, move_weight, _ = moves
    weights, beyond, steps = waiting
    actions = (len(first_move) - 1) // len(row_of)
    quantities, longest = counted.shape[1], weights.shape[1]
    t = 0
    for s in range(len(position)):
        p, f = position[s], phase[s]
        for q in range(quantities):
            step = 1.0 if counted[f, q] else 0.0
            low, high = math.inf, -math.inf
            for members in range(1, 1 << actions):
                if not masks[s] >> members & 1:
                    continue
                below, above, size = 0.0, 0.0, 0
                at = t
                for a in range(actions):
                    if not _in_some(masks[s], a, actions):
                        continue
                    k = p * actions + a
                    if classes[s] > 0:
                        for c in range(classes[s] + (classes[s] < longest)):
                            to = target[at + c]
                            if to >= 0:
                                w = weights[k, c] if c < classes[s] else beyond[k, c]
                                below += w * following[to, q, 0]
                                above += w * following[to, q, 1]
                        step *= steps[k, classes[s]]
                        size = 1
                        continue
                    begin, end = first_move[k], first_move[k + 1]
                    if members >> a & 1:
                        size += 1
                        for m in range(begin, end):
                            to = target[at + m - begin]
                            if to >= 0:
                                below += move_weight[m] * following[to, q, 0]
                                above += move_weight[m] * following[to, q, 1]
                    at += end - begin
                low, high = min(low, below / size), max(high, above / size)
            found[s, q, 0] = max((step + low) * (1.0 - slack), bounds[p, f, q, 0])
            found[s, q, 1] = min((step + high) * (1.0 + slack), bounds[p, f, q, 1])
        if classes[s] > 0:
            t += classes[s] + (classes[s] < longest)
        else:
            for a in range(actions):
                if _in_some(masks[s], a, actions):
                    t += first_move[p * actions + a + 1] - first_move[p * actions + a]
