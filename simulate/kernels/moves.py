"""Compiled draws of an event: how often the largest entries are rejected, then what is accepted.

While the row's maximum is unique, or tied at exactly 0, the same action (or a fresh uniform choice
among the tied ones) is proposed until a move is accepted. So the number of rejections is geometric
and is drawn at once; the geometric law has no memory, so the skip may be cut anywhere. The draw
inverts the tail with a 53-bit uniform number.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import ERROR, FIELDS, NONE, SCALE, TAG, decay, safe_rejections
from simulate.kernels.floats import argmax_float, reject_float
from simulate.kernels.masks import nth
from simulate.kernels.philox import below, unit
from simulate.kernels.tops import pack

__all__ = ["accepted_move", "accepted_weight", "draw_rejections", "reject", "weight"]

_HUGE = 4.0e18


@compiled(forceinline=True, allocates=False)
def weight(law, p, a):
    """Return n times the chance that action a accepts a proposal at p."""
    kind = law.kind[p]
    total = 0
    if law.accepted[kind, a, 0]:
        total += p
    if law.accepted[kind, a, 1]:
        total += law.n - p
    return total


@compiled(forceinline=True, allocates=False)
def accepted_weight(law, p, mask, size, best):
    """Return n times the sum, over the actions of the mask, of the chances to accept at p."""
    if size == 1:
        return weight(law, p, best)
    total = 0
    for a in range(law.actions):
        if mask >> a & 1:
            total += weight(law, p, a)
    return total


@compiled(forceinline=True, allocates=False)
def draw_rejections(law, stream, p, mask, size, best, total, horizon):
    """Return (rejections, whether they are cut short at the horizon, action, direction).

    The action is -1 where the accepted move is still to be drawn, by `accepted_move`.
    """
    rejections, action, direction = 0, -1, -1
    cut = total == 0
    if cut:
        rejections = horizon
    elif 2 * total >= size * law.n:  # trying is cheaper than a logarithm
        while rejections < horizon:
            x = below(stream, size * law.n)
            action = best
            if size > 1:
                action = nth(mask, x // law.n)
                x %= law.n
            direction = 0 if x < p else 1
            if law.accepted[law.kind[p], action, direction]:
                break
            rejections += 1
    else:
        if size == 1:
            tail = law.inverse_log[total]
        else:
            tail = 1.0 / math.log1p(-total / (size * law.n))
        rejections = int(min(math.log(unit(stream)) * tail, _HUGE))
    if rejections >= horizon:
        cut, rejections = True, horizon
    return rejections, cut, action, direction


@compiled(forceinline=True, allocates=False)
def accepted_move(law, stream, p, mask, size, best, total):
    """Draw (action, direction) among the moves that are accepted."""
    x = below(stream, total)
    action = best
    if size > 1:
        for a in range(law.actions):
            if mask >> a & 1:
                chance = weight(law, p, a)
                if x < chance:
                    action = a
                    break
                x -= chance
    direction = 0 if law.accepted[law.kind[p], action, 0] and x < p else 1
    return action, direction


@compiled(forceinline=True, allocates=False)
def reject(numbers, q, tops, row, actions, best, count, exact):
    """Reject the only largest entry up to `count` times, while it surely stays that.

    Returns (how often it was rejected, whether it would stay the largest for ever).
    """
    made, for_ever = count, False
    first = FIELDS * actions * row
    if exact:
        safe = safe_rejections(q, first, actions, best, numbers.log_lam)
        for_ever = safe < 0
        if 0 <= safe < count:
            made = safe
        i = first + FIELDS * best
        q[i], q[i + ERROR], q[i + SCALE] = decay(
            q[i], q[i + ERROR], q[i + SCALE], made, numbers.lam_mantissa, numbers.lam_exponent
        )
        q[i + TAG] = NONE
    else:
        made = reject_float(numbers, q, first, actions, best, count)
        if made < count or q[first + FIELDS * best] == 0.0:
            mask, best = argmax_float(numbers, q, first, actions)
            tops[row] = pack(mask, best, True)
    return made, for_ever
