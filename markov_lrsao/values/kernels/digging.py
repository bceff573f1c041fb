"""Runs that lead a table ever deeper: a search that keeps the lowest tables of every kind."""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["dig"]


@compiled(forceinline=True, allocates=False)
def _drawn(state, below):
    """Return a number below another, from a generator of 64 bits (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(33)) % below


@compiled(forceinline=True, allocates=False)
def _step(table, p, model, random):
    """Play a step, directions being equally likely; return the move."""
    row_of, first_move, move_to, move_gain, rates, actions = model
    first = row_of[p] * actions
    most, ties = table[first], 0
    for b in range(1, actions):
        most = max(most, table[first + b])
    for b in range(actions):
        ties += table[first + b] == most
    which, a = _drawn(random, ties), 0
    for b in range(actions):
        if table[first + b] == most:
            a = b if which == 0 else a
            which -= 1
    k = p * actions + a
    move = first_move[k] + _drawn(random, first_move[k + 1] - first_move[k])
    seen = row_of[move_to[move]] * actions
    best = table[seen]
    for b in range(1, actions):
        best = max(best, table[seen + b])
    table[first + a] = rates[0] * table[first + a] + move_gain[move] + rates[1] * best
    return move


@compiled(forceinline=True, allocates=False)
def _kind(table, p, held, actions):
    """Return a key of a position, of the greedy action of every row, and of signs that matter."""
    key = np.uint64(p)
    for row in range(len(table) // actions):
        best = row * actions
        for i in range(best + 1, (row + 1) * actions):
            best = i if table[i] > table[best] else best
        sign = (table[best] > 0.0) + 2 * (table[best] < 0.0)
        key = key * np.uint64(1000003) + np.uint64(3 * (best - row * actions) + sign)
    for i in range(held * actions, (held + 1) * actions):
        key = key * np.uint64(1000003) + np.uint64((table[i] > 0.0) + 2 * (table[i] < 0.0))
    return (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


@compiled(forceinline=True, allocates=False)
def _depth(table, held, low, chosen, actions):
    """Return how low some entries of the rows `low` are, and all of the row held."""
    found = 0.0
    for a in range(actions):
        found += 0.1 * table[held * actions + a]
        for row in low:
            if chosen >> a & 1:
                found += min(table[row * actions + a], 0.0)
    return found


@compiled(allocates=False)
def dig(model, trap, optimum, rounds, random, table, kept, best):
    """Look for a run that is held at a position by an action that refuses every move there.

    Tables of one kind compete: for each set of actions the one is kept in which these entries of
    the rows `low` are lowest. Short runs begin at tables drawn from those that are kept.

    Parameters
    ----------
    trap : position, action, its row, and the rows that must be low before its other entries are
    kept : tables, positions, numbers of those they come from, and the moves in between; the first
        is the start
    best : per kind and set of actions the table that is kept, its depth; kinds that are met

    Returns
    -------
    how many tables are kept, and whether the last one is held
    """
    position, action, held, low = trap
    _, _, move_to, _, _, actions = model
    tables, places, before, moves = kept
    number, depth, met = best
    sets, longest = number.shape[1], moves.shape[1] - 1
    count, kinds = 1, 1
    met[0] = 0
    for k in range(sets):
        number[0, k], depth[0, k] = 0, 0.0
    for _ in range(rounds):
        now = number[met[_drawn(random, kinds)], _drawn(random, sets)]
        for i in range(len(table)):
            table[i] = tables[now, i]
        p, size = places[now], 0
        for _ in range(longest):
            move = _step(table, p, model, random)
            p = move_to[move]
            if p == optimum:
                break
            if count == len(places):
                return count, False
            moves[count, size] = move
            size += 1
            done = p == position
            for a in range(actions):
                done = done and (a == action or table[held * actions + a] < 0.0)
            done = done and table[held * actions + action] >= 0.0
            kind = np.int64(_kind(table, p, held, actions) >> np.uint64(33)) % len(number)
            fresh = number[kind, 0] < 0
            if fresh:
                met[kinds] = kind
                kinds += 1
            lower = done
            for k in range(sets):
                here = _depth(table, held, low, k + 1, actions)
                if fresh or here < depth[kind, k] - 1e-6:
                    number[kind, k], depth[kind, k], lower = count, here, True
            if lower:
                for i in range(len(table)):
                    tables[count, i] = table[i]
                places[count], before[count] = p, now
                moves[count, longest] = size
                now, size = count, 0
                count += 1
                if done:
                    return count, True
    return count, False
