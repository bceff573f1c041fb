"""Compiled updates of the Q-table in plain float64, the program that the analysis is not about.

The layout is that of `entries`; VALUE is the double that such a program would hold. A rejected
entry becomes f(v) = (1 - alpha) v + alpha (0 + gamma v), each operation rounded, and long runs of
rejections would cost one evaluation each. So rejections are *put off*: field PUT_OFF counts those
that are still to be applied to VALUE. They are worked out where more than the sign of the entry
matters. After `faint` of them an entry is so small that adding it to what an update adds it to
changes no bit, and all that is left to know is when it reaches 0. f is monotone (so is
rounding), hence the number of rejections to 0 is found among `vanish`, where vanish[k - 1] is the
largest v with f^k(v) = 0. Entries that are put off are not 0.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import FIELDS
from simulate.kernels.tops import FRESH, pack, unpack, write_zeros

__all__ = ["PUT_OFF", "argmax_float", "learn_float", "reject_float", "shrink", "work_out"]

PUT_OFF = 3
_LONGEST = 1 << 24
_NEVER = 1 << 62


@compiled(forceinline=True, allocates=False)
def shrink(value, complement, rate, discount):
    """Return a rejected entry as a program with floats computes it."""
    return complement * value + rate * (0.0 + discount * value)


@compiled(allocates=False)
def work_out(numbers, q, i):
    """Apply the rejections that were put off to the entry at i."""
    value, left = q[i], q[i + PUT_OFF]
    while left > 0.0:
        shrunk = shrink(value, numbers.complement, numbers.learn, numbers.discount)
        if shrunk == value:
            break
        value = shrunk
        left -= 1.0
    q[i], q[i + PUT_OFF] = value, 0.0


@compiled(allocates=False)
def _compared(numbers, q, first, actions):
    """Work out entries that are put off, where their order with others of their sign is open.

    Being put off an entry is nearer to 0 than its VALUE says.
    """
    for a in range(actions):
        i = first + FIELDS * a
        for b in range(actions):
            j = first + FIELDS * b
            alike = b != a and ((q[i] > 0.0 and q[j] > 0.0) or (q[i] < 0.0 and q[j] < 0.0))
            if alike and q[i + PUT_OFF] > 0.0 and (q[j + PUT_OFF] > 0.0 or abs(q[j]) <= abs(q[i])):
                work_out(numbers, q, i)
                work_out(numbers, q, j)


@compiled(forceinline=True, allocates=False)
def argmax_float(numbers, q, first, actions):
    """Return (mask of the largest entries, one of them)."""
    for a in range(actions):
        if q[first + FIELDS * a + PUT_OFF] > 0.0:
            _compared(numbers, q, first, actions)
    best, mask = 0, 1
    for a in range(1, actions):
        value, largest = q[first + FIELDS * a], q[first + FIELDS * best]
        if value > largest:
            best, mask = a, 1 << a
        elif value == largest:
            mask |= 1 << a
    return mask, best


@compiled(allocates=False)
def _to_zero(vanish, value):
    """Return how many rejections make a small value 0."""
    size = abs(value)
    low, high = 0, len(vanish)
    while low < high:
        middle = (low + high) // 2
        if vanish[middle] < size:
            low = middle + 1
        else:
            high = middle
    return low + 1 if low < len(vanish) else _NEVER


@compiled(allocates=False)
def reject_float(numbers, q, first, actions, a, count):
    """Reject `a` up to `count` times, while it is the only maximum; return how often.

    A very long decay is cut, so that kernels look at their flag in between.
    """
    i = first + FIELDS * a
    second = -math.inf
    for b in range(actions):
        j = first + FIELDS * b
        if b != a:
            if q[j] > 0.0 and q[j + PUT_OFF] > 0.0:
                work_out(numbers, q, j)
            second = max(second, q[j])
    if second > 0.0:
        work_out(numbers, q, i)
    value, made = q[i], 0
    most = numbers.most if second <= 0.0 else 0.0
    while made < count and abs(value) > most and value > second and made < _LONGEST:
        shrunk = shrink(value, numbers.complement, numbers.learn, numbers.discount)
        if shrunk == value:
            made = count
            break
        value = shrunk
        made += 1
    q[i] = value
    if made < count and 0.0 < abs(value) <= most:
        left = _to_zero(numbers.vanish, value) - int(q[i + PUT_OFF])
        if count - made < left:
            q[i + PUT_OFF] += count - made
            made = count
        else:
            q[i], q[i + PUT_OFF] = 0.0, 0.0
            made += left
    if made < count and q[i] == 0.0 and second < 0.0:
        made = count
    return made


@compiled(forceinline=True, allocates=False)
def learn_float(numbers, q, tops, actions, row, target, a, g):
    """Apply one proposal's update in plain float64; `a` is one of the largest entries."""
    first = FIELDS * actions * row
    write_zeros(q, tops, row, actions)
    i = first + FIELDS * a
    reward = numbers.rewards[g]
    largest = 0.0
    if target == row or tops[target] != FRESH:
        j = i
        if target != row:
            _, best, _ = unpack(tops[target], actions)
            j = FIELDS * (actions * target + best)
        if reward == 0.0 or q[j + PUT_OFF] < numbers.faint:
            work_out(numbers, q, j)
            largest = q[j]
    learnt = numbers.learn * (reward + numbers.discount * largest)
    held = 0.0
    if q[i + PUT_OFF] < numbers.faint or abs(learnt) < numbers.audible:
        work_out(numbers, q, i)
        held = q[i]
    q[i], q[i + PUT_OFF] = numbers.complement * held + learnt, 0.0
    mask, best = argmax_float(numbers, q, first, actions)
    tops[row] = pack(mask, best, True)
