"""Exploring walks on a shared row, compiled: rows of the table by number, everything else here.

A node is (level, position, phase, row, words of slopes, maxima seen). What happens to a row is
looked up in a map that Python fills (`markov_lrsao.values.row_product`); a node that meets a gap in
it waits (`markov_lrsao.values.kernels.row_maps`).

Where edges are to have weights that know the time, each notes where it comes from: a kind of table
and an index in it, a maximum that was told, and what is forgotten by relaxing the row.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled
from markov_lrsao.values.kernels.row_maps import find, look_up, number, question, seek

__all__ = [
    "CLIMB",
    "EVENT",
    "FULL",
    "GAPS",
    "HAND",
    "HANDED",
    "MOVE",
    "PASSAGE",
    "PROGRAM",
    "SEEN",
    "TOLD",
    "WORKED",
    "explore",
]

EVENT, PROGRAM, HAND, SEEN = 0, 1, 2, 3
WORKED, GAPS, FULL = 0, 1, 2
MOVE, CLIMB, TOLD, HANDED, PASSAGE = 0, 1, 2, 3, 4
"""Tables of weights."""
_PARTED, _TOLD = 0, 1
_OPTIMUM, _LOST = -1, -2
_DOWN, _UP = 0, 1


@compiled(forceinline=True, allocates=False)
def _copy(to, node):
    for k in range(len(to)):
        to[k] = node[k]


@compiled(forceinline=True, allocates=False)
def _hidden(words, position, last, negligible):
    for s in range(len(last) - 1, 0, -1):
        if position >= last[s] and negligible[s, words[s]]:
            return s
    return 0


@compiled(allocates=False)
def _normal_words(node, level, hidden, lump, blunt, anything, relaxed):
    """Relax words and maxima of a node in place."""
    slopes = len(anything)
    for s in range(slopes):
        if s < hidden:
            node[4 + s] = 0
            node[4 + slopes + s] = -1
            continue
        node[4 + s] = lump[level, s, node[4 + s]]
        if blunt[level]:
            node[4 + slopes + s] = anything[s]
        elif node[4 + slopes + s] >= 0:
            node[4 + slopes + s] = relaxed[level, node[4 + slopes + s]]


@compiled(forceinline=True, allocates=False)
def _add(target, low, high, source, forgotten, found):
    """Add an edge; `source` has the kind and the index of a weight, and a maximum told, or -1."""
    targets, lows, highs, edges, kinds, indices, told, forgot = found
    e = edges[0]
    targets[e], lows[e], highs[e] = target, low, high
    if len(kinds) == len(targets):
        kinds[e], indices[e], told[e] = source
        forgot[e] = forgotten
    edges[0] += 1


@compiled(allocates=False)
def _emit(dry, work, level, row, event, seen, low, high, source, setting, maps, gaps, found, graph,
          before):  # fmt: skip
    """Add a way to the node in `work`, whose row is still to be looked up; False: a gap."""
    last, negligible, lump, blunt, anything, relaxed = setting
    node, image = work
    slopes = len(anything)
    words = node[4 : 4 + slopes]
    once = _hidden(words, node[1], last, negligible)
    after = look_up(maps, EVENT, level, once, row, event, seen, gaps)
    if after < 0:
        return False
    _normal_words(node, level, once, lump, blunt, anything, relaxed)
    node[0], node[3] = level, after
    old_nodes, old_table, old_widths = before
    width = -1.0
    if len(old_widths) and level > 0:
        _copy(image, node)
        hidden = _hidden(words, node[1], last, negligible)
        coarse = look_up(maps, EVENT, 0, hidden, after, 0, -1, gaps)
        if coarse < 0:
            return False
        if not dry:
            _normal_words(image, 0, hidden, lump, blunt, anything, relaxed)
            image[0], image[2], image[3] = 0, 0, coarse  # (widths are of all phases together)
            j = seek(old_nodes, old_table, image)
            if j >= 0:
                width = old_widths[j]
    if dry:
        return True
    nodes, count, table, weights = graph
    i, new = number(nodes, count, table, node)
    if new:
        weights[i] = width
    forgotten = 0.0
    if len(found[4]) == len(found[0]):
        key = question(EVENT, level, once, row, event, seen)
        forgotten = maps[2][find(maps[0], key)]
    _add(i, low, high, source, forgotten, found)
    return True


@compiled(allocates=False)
def _begin_option(i, low, high, options, edges):
    owners, steps_low, steps_high, starts, number = options
    k = number[0]
    owners[k], steps_low[k], steps_high[k], starts[k] = i, low, high, edges[0]
    number[0] += 1


@compiled(allocates=False)
def _cross(dry, i, s, work, origin, plain, slopes_of, setting, maps, seens, gaps, found, options,
           graph, before):  # fmt: skip
    """Pass a slope: an option for every word of the lump, nearly."""
    entry, learnt, options_of, steps, first_way, side, after, low, high = slopes_of
    seen_first, seen_entry, seen_low, seen_high = seens
    first_position, milestone = plain
    last, negligible, _, _, anything, _ = setting
    node = work[0]
    slopes, level, name = len(anything), origin[0], origin[4 + s]
    hides = s > 0 and _hidden(origin[4 : 4 + slopes], origin[1], last, negligible) == s
    waits = learnt[s, name] >= 0 and entry[s, name] == _UP
    fine = True
    for o in range(options_of[level, s, name, 0], options_of[level, s, name, 1]):
        if not dry:
            _begin_option(i, steps[o, 0], steps[o, 1], options, found[3])
        for x in range(first_way[o], first_way[o + 1]):
            if side[x] == _DOWN and hides:
                if not dry:
                    _add(_LOST, low[x], high[x], (PASSAGE, x, -1), 0.0, found)
                continue
            _copy(node, origin)
            node[4 + s] = after[x]
            if side[x] == _DOWN:
                node[1] = first_position[s] - 1
                fine &= _emit(dry, work, level, origin[3], 0, -1, low[x], high[x],
                              (PASSAGE, x, -1), setting, maps, gaps, found, graph,
                              before)  # fmt: skip
                continue
            action = learnt[s, after[x]]
            first, end = -1, 0
            if action >= 0:
                old = origin[4 + slopes + s] if waits else np.int32(-1)
                listed = look_up(maps, SEEN, level, s, origin[3], action, old, gaps)
                if listed < 0:
                    fine = False
                    continue
                first, end = seen_first[listed], seen_first[listed + 1]
            for y in range(first, end):
                _copy(node, origin)
                node[4 + s] = after[x]
                node[1] = last[s] + 1
                node[2] = max(node[2], milestone[node[1]])
                a, b = low[x], high[x]
                if y >= 0:
                    node[4 + slopes + s] = seen_entry[y]
                    a, b = a * seen_low[y] * (1 - 1e-15), b * seen_high[y] * (1 + 1e-15)
                else:
                    node[4 + slopes + s] = -1
                fine &= _emit(dry, work, level, origin[3], 0, -1, a, b, (PASSAGE, x, y), setting,
                              maps, gaps, found, graph, before)  # fmt: skip
    return fine


@compiled(allocates=False)
def _act(dry, i, row, group, work, origin, moves, plain, setting, maps, gaps, found, options,
         graph, before):  # fmt: skip
    """Let the greedy actions propose moves, or a bridge climb; return whether there was no gap."""
    plateau, accepted, event, reads, rejected, bridge, climbing, climb_steps, end, shares = moves
    milestone = plain[1]
    node, p = work[0], origin[1]
    level, n, slopes = origin[0], len(plateau) - 1, len(setting[4])
    k = plateau[p]
    if group == 1 << bridge[k]:
        if not dry:
            _begin_option(i, climb_steps[p, 0], climb_steps[p, 1], options, found[3])
        if end[k] + 1 == n:
            if not dry:
                _add(_OPTIMUM, 1.0, 1.0, (CLIMB, p, -1), 0.0, found)
            return True
        _copy(node, origin)
        node[1] = end[k] + 1
        node[2] = max(node[2], milestone[node[1]])
        return _emit(dry, work, level, row, climbing[p], -1, 1.0, 1.0, (CLIMB, p, -1), setting,
                     maps, gaps, found, graph, before)  # fmt: skip
    if not dry:
        _begin_option(i, 1.0, 1.0, options, found[3])
    number = 0
    for a in range(len(rejected)):
        number += (group >> a) & 1
    fine = True
    for a in range(len(rejected)):
        if not (group >> a) & 1:
            continue
        for d in range(2):
            low, high = shares[p, d, number, 0], shares[p, d, number, 1]
            if high == 0.0:
                continue
            q = p + 2 * d - 1
            source = (MOVE, (p * 2 + d) * shares.shape[2] + number, -1)
            _copy(node, origin)
            if not accepted[p, a, d]:
                fine &= _emit(dry, work, level, row, rejected[a], -1, low, high, source, setting,
                              maps, gaps, found, graph, before)  # fmt: skip
                continue
            if q == n:
                if not dry:
                    _add(_OPTIMUM, low, high, source, 0.0, found)
                continue
            seen = np.int32(-1)
            if reads[p, a, d] >= 0:
                seen = origin[4 + slopes + reads[p, a, d]]
            node[1] = q
            node[2] = max(node[2], milestone[q])
            fine &= _emit(dry, work, level, row, event[p, a, d], seen, low, high, source, setting,
                          maps, gaps, found, graph, before)  # fmt: skip
    return fine


@compiled(allocates=False)
def _expand(dry, i, work, origin, moves, plain, slopes_of, setting, maps, programs, seens, gaps,
            found, options, graph, before, lumped, slope_at):  # fmt: skip
    """Add the options of a node; return whether there was no gap."""
    kind, first_option, option_row, option_group, first_way, way_row, way_low, way_high = programs
    last, negligible, _, _, anything, _ = setting
    level, p, slopes = origin[0], origin[1], len(anything)
    inside = moves[0][p] >= 0
    if inside or lumped[level]:
        hidden = _hidden(origin[4 : 4 + slopes], p, last, negligible)
        program = look_up(maps, PROGRAM, level, hidden, origin[3], 0, -1, gaps)
        if program < 0:
            return False
        if kind[program] == _PARTED or (inside and kind[program] == _TOLD):
            for o in range(first_option[program], first_option[program + 1]):
                if not dry:
                    _begin_option(i, 0.0, 0.0, options, found[3])
                for w in range(first_way[o], first_way[o + 1]):
                    _copy(work[0], origin)
                    if not _emit(dry, work, level, way_row[w], 0, -1, way_low[w], way_high[w],
                                 (TOLD, w, -1), setting, maps, gaps, found, graph,
                                 before):  # fmt: skip
                        return False
            return True
        if inside:
            fine = True
            for o in range(first_option[program], first_option[program + 1]):
                fine &= _act(dry, i, option_row[o], option_group[o], work, origin, moves, plain,
                             setting, maps, gaps, found, options, graph, before)  # fmt: skip
            return fine
    s = 0
    while slope_at[s, slopes_of[0][s, origin[4 + s]]] != p:
        s += 1
    return _cross(dry, i, s, work, origin, plain, slopes_of, setting, maps, seens, gaps, found,
                  options, graph, before)  # fmt: skip


@compiled(allocates=False)
def _hand_down(dry, i, to, work, origin, setting, maps, hands, gaps, found, options, graph,
               before):  # fmt: skip
    """Lead to the same state on a looser grid; return whether there was no gap."""
    first_way, way_row, way_low, way_high = hands
    last, negligible, _, _, anything, _ = setting
    hidden = _hidden(origin[4 : 4 + len(anything)], origin[1], last, negligible)
    listed = look_up(maps, HAND, to, hidden, origin[3], 0, -1, gaps)
    if listed < 0:
        return False
    if not dry:
        _begin_option(i, 0.0, 0.0, options, found[3])
    fine = True
    for w in range(first_way[listed], first_way[listed + 1]):
        _copy(work[0], origin)
        fine &= _emit(dry, work, to, way_row[w], 0, -1, way_low[w], way_high[w], (HANDED, w, -1),
                      setting, maps, gaps, found, graph, before)  # fmt: skip
    return fine


@compiled(allocates=False)
def _level_below(matters, level, thresholds):
    """Return the finest looser grid on which a node would be expanded."""
    level -= 1
    while level > 0 and matters < thresholds[level]:
        level -= 1
    return level


@compiled(allocates=False)
def explore(queue, ends, waiting, waits, least, most, moves, plain, slopes_of, setting, maps,
            programs, hands, seens, gaps, found, options, graph, before, lumped, slope_at, masses,
            state, expanded, thresholds, cost, last_weight, work):  # fmt: skip
    """Expand queued nodes, and those that come to matter by it.

    Nodes whose (mass * what a step more or less of it costs) reaches `least` join the queue.
    Returns `GAPS` if nodes wait for gaps in the map, `FULL` if there is no room for more.
    """
    nodes, count, _, weights = graph
    targets, _, highs, edges = found[:4]
    _, _, _, starts, begun = options
    wanted, asked = gaps
    origin = work[2]
    inner = (work[0], work[1])
    slopes = len(setting[4])
    room = 20_000
    while ends[0] < ends[1]:
        if (
            edges[0] + room > len(targets)
            or begun[0] + room > len(starts)
            or count[0] + room > len(nodes)
        ):
            return FULL
        if asked[0] + room > len(wanted):
            return GAPS
        if expanded[0] >= most:
            return WORKED
        i = queue[ends[0] % len(queue)]
        ends[0] += 1
        _copy(origin, nodes[i])
        level = origin[0]
        matters = masses[i] * weights[i]
        hidden = _hidden(origin[4 : 4 + slopes], origin[1], setting[0], setting[1])
        if hidden > 0 and hidden == slopes - 1:
            matters *= last_weight
        down = level > 0 and matters < thresholds[level]
        fine = True
        first_option, first_edge = begun[0], edges[0]
        for dry in (True, False):
            if down:
                to = _level_below(matters, level, thresholds)
                fine = _hand_down(dry, i, to, inner, origin, setting, maps, hands, gaps, found,
                                  options, graph, before)  # fmt: skip
            else:
                fine = _expand(dry, i, inner, origin, moves, plain, slopes_of, setting, maps,
                               programs, seens, gaps, found, options, graph, before, lumped,
                               slope_at)  # fmt: skip
            if not fine:
                break
        if not fine:
            waiting[waits[0]] = i
            waits[0] += 1
            continue
        if begun[0] == first_option:  # orders that exclude each other: no run is ever here
            _begin_option(i, 0.0, 0.0, options, edges)
        state[i] = 2
        expanded[0] += 1
        share = masses[i] / (begun[0] - first_option)
        for e in range(first_edge, edges[0]):
            t = targets[e]
            if t < 0:
                continue
            if weights[t] < 0:
                weights[t] = weights[i]
            masses[t] += share * highs[e]
            if state[t] == 0 and masses[t] * max(weights[t], cost[nodes[t, 1]]) >= least:
                state[t] = 1
                queue[ends[1] % len(queue)] = t
                ends[1] += 1
    return GAPS if waits[0] else WORKED
