"""Compiled walks over sites of which only signs matter; see `simulate.runs.signs` for why they do.

Where a row belongs to one position and signs of its entries decide every choice, the row is one
small integer: which entries are positive, and which are negative. Of the rest of the table such
sites show one thing only, whether their largest entry is 0 or positive; at the EDGE of a stretch of
sites it is shown to the next row as an entry between 0 and the bound of all entries.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import ERROR, FIELDS, NONE, SCALE, TAG
from simulate.kernels.masks import nth, size_of
from simulate.kernels.moves import accepted_move, accepted_weight, draw_rejections
from simulate.kernels.stop import asked
from simulate.kernels.tops import FRESH, pack, unpack, write_zeros

__all__ = ["BITS", "EDGE", "INSIDE", "cross"]

INSIDE, EDGE = 1, 2
BITS = 8
"""A code has the positive entries in its lowest bits, the negative ones in the next."""
_POSITIVE = (1 << BITS) - 1


@compiled(allocates=False)
def cross(law, sites, codes, q, tops, stream, p, t, until, stop):
    """Walk until the sites are left, or a time; return (position, time, whether known, moves).

    It is not known where the walk leaves for a row whose largest entry may be negative.
    """
    actions = law.actions
    known, moves = True, 0
    while t < until and sites.zone[p] != 0 and asked(stop) == 0:
        moves += 1
        code = codes[p]
        mask = code & _POSITIVE
        if mask == 0:
            mask = ((1 << actions) - 1) & ~(code >> BITS)
        size = size_of(mask)
        best = nth(mask, 0)
        total = accepted_weight(law, p, mask, size, best)
        rejections, cut, action, direction = draw_rejections(
            law, stream, p, mask, size, best, total, until - t
        )
        t += rejections
        if cut:
            break
        if action < 0:
            action, direction = accepted_move(law, stream, p, mask, size, best, total)
        t += 1
        to = p + 2 * direction - 1
        if sites.zone[to] != 0:
            ahead = 1 if codes[to] & _POSITIVE else 0
        else:
            ahead = _largest_sign(q, tops, law.row[to], actions)
            if ahead < 0:
                known = False
                break
        held = code >> action & 1
        sign = sites.after[law.kind[p], action, direction, held, ahead]
        code &= ~((1 | 1 << BITS) << action)
        if sign > 0:
            code |= 1 << action
        elif sign < 0:
            code |= 1 << BITS << action
        codes[p] = code
        if sites.zone[p] == EDGE:
            _show(q, tops, law.row[p], actions, code, sites.bound)
        p = to
    return p, t, known, moves


@compiled(allocates=False)
def _largest_sign(q, tops, row, actions):
    """Return the sign of a row's largest entry, 0 or 1, or -1 where it may be negative."""
    sign = 0
    if tops[row] != FRESH:
        _, best, certain = unpack(tops[row], actions)
        i = FIELDS * (actions * row + best)
        if certain and q[i] > q[i + ERROR]:
            sign = 1
        elif not certain or q[i + TAG] != 0.0:
            sign = -1
    return sign


@compiled(allocates=False)
def _show(q, tops, row, actions, code, bound):
    """Write a site's largest entry where the next row looks for it."""
    tops[row] = FRESH
    if code & _POSITIVE:
        write_zeros(q, tops, row, actions)
        best = nth(code & _POSITIVE, 0)
        i = FIELDS * (actions * row + best)
        q[i], q[i + ERROR], q[i + SCALE], q[i + TAG] = 0.5 * bound, 0.5 * bound, 0.0, NONE
        tops[row] = pack(1 << best, best, True)
