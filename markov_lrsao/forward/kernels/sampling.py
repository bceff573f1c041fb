"""A few runs in floats, to see which places are met, and which entries decide what happens later.

They steer, and nothing is claimed of them.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

import numpy as np

from markov_lrsao.compiled import compiled
from markov_lrsao.forward.kernels.cloud import _mixed

__all__ = ["needs", "sample"]


@compiled(forceinline=True, allocates=False)
def _first_largest(table, first, actions):
    """Return the first of a row's largest entries."""
    found = first
    for i in range(first + 1, first + actions):
        if table[i] > table[found]:
            found = i
    return found


@compiled(forceinline=True, allocates=False)
def _chosen(table, first, actions, drawn):
    """Return an action whose entry is the largest of its row; `drawn` chooses among several."""
    largest = table[_first_largest(table, first, actions)]
    ties = 0
    for b in range(actions):
        ties += table[first + b] == largest
    left = np.int64(drawn >> np.uint64(33)) % ties
    found = 0
    for b in range(actions):
        if table[first + b] == largest:
            if left == 0:
                found = b
            left -= 1
    return found


@compiled(forceinline=True, allocates=False)
def _moved(moves, k, drawn):
    """Return the move of a position and action that is drawn."""
    _, first_move, _, move_weight, _ = moves
    m = first_move[k]
    chance = float(drawn >> np.uint64(11)) * 2.0**-53
    return m + 1 if chance >= move_weight[m] and m + 1 < first_move[k + 1] else m


@compiled(allocates=False)
def sample(moves, gains, coefficients, milestones, optimum, runs, longest, seed, table, flow):
    """Play runs in floats, and count the moves between places, which are positions and phases."""
    row_of, first_move, move_to, _, gain_of = moves
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
            state = _mixed(state, np.uint64(1))
            a = _chosen(table, first, actions, state)
            state = _mixed(state, np.uint64(2))
            m = _moved(moves, p * actions + a, state)
            to = move_to[m]
            best = table[_first_largest(table, row_of[to] * actions, actions)]
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


@compiled(forceinline=True, allocates=False)
def _play(moves, gains, coefficients, milestones, optimum, state, table, log):
    """Play a run and write down its steps; return how many there are (0: too many), and the state.

    Parameters
    ----------
    log : of every step its place, the entry that is chosen, the one that it learns from (-1: none)
        and, for every action of the row, by how much the chosen entry exceeds it
    """
    row_of, _, move_to, _, gain_of = moves
    places, entries, seen, margins = log
    actions, phases = margins.shape[1], len(milestones)
    for i in range(len(table)):
        table[i] = 0.0
    p, phase = 0, 0
    for t in range(len(places)):
        while phase < phases and p >= milestones[phase]:
            phase += 1
        if p == optimum:
            return t, state
        first = row_of[p] * actions
        state = _mixed(state, np.uint64(1))
        a = _chosen(table, first, actions, state)
        state = _mixed(state, np.uint64(2))
        m = _moved(moves, p * actions + a, state)
        to = move_to[m]
        places[t], entries[t], seen[t] = p * phases + phase, first + a, -1
        for b in range(actions):
            margins[t, b] = table[first + a] - table[first + b]
        if to != optimum:
            seen[t] = first + a
            if row_of[to] != row_of[p]:
                seen[t] = _first_largest(table, row_of[to] * actions, actions)
            table[first + a] = (
                coefficients[0] * table[first + a]
                + gains[gain_of[m]]
                + coefficients[1] * table[seen[t]]
            )
        p = to
    return 0, state


@compiled(allocates=False)
def needs(model, alike, reach, runs, seed, room, signs, turns, total, met):
    """Find how much later choices depend on every entry, in the mean over runs.

    A choice between two entries depends on both, the more the closer they are, and on what they
    were learnt from: the dependence is followed back along each run, by keep and bootstrap. Of a
    pair that is never seen to change its order nothing depends on how close it is.

    Parameters
    ----------
    model : moves, gains, keep and bootstrap, milestones and optimum
    alike : [position, action, action] whether two actions have the same moves
    reach : how close entries are for a choice to depend on them
    room : a table; its dependences; a log, see `_play`
    signs, turns : room: [entry, action] the last order of pairs, and how often it changed
    total, met : written: [place, entry] the sum of dependences; how often a place was met
    """
    moves, gains, coefficients, milestones, optimum = model
    row_of = moves[0]
    table, felt, log = room
    places, entries, seen, margins = log
    actions, phases = margins.shape[1], len(milestones)
    for finding in range(2):
        state = np.uint64(seed)
        for _ in range(runs):
            steps, state = _play(moves, gains, coefficients, milestones, optimum, state, table, log)
            signs[:] = 0
            felt[:] = 0.0
            for back in range(steps):
                t = steps - 1 - back
                i, k, p = entries[t], seen[t], places[t] // phases
                first = row_of[p] * actions
                if finding == 1:
                    after = felt[i]
                    felt[i] = 0.0
                    if k >= 0:
                        felt[i] = coefficients[0] * after
                        felt[k] += coefficients[1] * after
                for b in range(actions):
                    d = margins[t, b]
                    if d == 0.0 or alike[p, i - first, b]:
                        continue
                    if finding == 0:
                        turns[i, b] += signs[i, b] < 0
                        turns[first + b, i - first] += signs[i, b] < 0
                        signs[i, b], signs[first + b, i - first] = 1, -1
                    elif turns[i, b] > 0:
                        felt[i] += math.exp(-d / reach) / reach
                        felt[first + b] += math.exp(-d / reach) / reach
                if finding == 1:
                    met[places[t]] += 1.0
                    for j in range(len(felt)):
                        total[places[t], j] += felt[j]
