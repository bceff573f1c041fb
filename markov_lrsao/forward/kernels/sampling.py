"""A few runs in floats, to see which places are met: they steer, and nothing is claimed of them."""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled
from markov_lrsao.forward.kernels.cloud import _mixed

__all__ = ["sample"]


@compiled(allocates=False)
def sample(moves, gains, coefficients, milestones, optimum, runs, longest, seed, table, flow):
    """Play runs in floats, and count the moves between places, which are positions and phases."""
    row_of, first_move, move_to, move_weight, gain_of = moves
    actions = (len(first_move) - 1) // len(row_of)
    phases = len(milestones)
    state = np.uint64(seed)
    for _ in range(runs):
        for i in range(len(table)):
            table[i] = 0.0
        p, phase = 0, 0
        while phase < phases and p >= milestones[phase]:
            phase += 1
        for _ in range(longest):
            if p == optimum:
                break
            first = row_of[p] * actions
            largest = table[first]
            for b in range(1, actions):
                largest = max(largest, table[first + b])
            ties = 0
            for b in range(actions):
                ties += table[first + b] == largest
            state = _mixed(state, np.uint64(1))
            drawn = np.int64(state >> np.uint64(33)) % ties
            a = 0
            for b in range(actions):
                if table[first + b] == largest:
                    if drawn == 0:
                        a = b
                    drawn -= 1
            m = first_move[p * actions + a]
            state = _mixed(state, np.uint64(2))
            chance = float(state >> np.uint64(11)) * 2.0**-53
            if chance >= move_weight[m] and m + 1 < first_move[p * actions + a + 1]:
                m += 1
            to = move_to[m]
            seen = row_of[to] * actions
            best = table[seen]
            for b in range(1, actions):
                best = max(best, table[seen + b])
            table[first + a] = (
                coefficients[0] * table[first + a] + gains[gain_of[m]] + coefficients[1] * best
            )
            place = p * phases + phase
            while phase < phases and to >= milestones[phase]:
                phase += 1
            if to != p and to != optimum:
                flow[place, to * phases + phase] += 1.0
            elif to == optimum:
                flow[place, len(flow)] += 1.0
            p = to
