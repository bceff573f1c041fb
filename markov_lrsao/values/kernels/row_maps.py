"""Tables for exploring walks on a shared row: answers about rows, and nodes, by hashing.

A question about a row, and so a key of the map of answers, is

    tag, level, hidden slopes (or a slope), row, event (or an action), maximum seen.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["find", "insert", "look_up", "number", "question", "seek"]


@compiled(forceinline=True, allocates=False)
def _mixed(z):
    """Return well mixed bits of an integer (splitmix64's finisher)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled(forceinline=True, allocates=False)
def question(tag, level, hidden, row, event, seen):
    """Return a question as a key."""
    head = (((np.int64(tag) << 3 | np.int64(level)) << 3 | np.int64(hidden)) << 24) | np.int64(row)
    return (head << 12 | np.int64(event)) << 16 | np.int64(seen + 1)


@compiled(allocates=False)
def find(keys, key):
    """Return where a key stands, or where it would."""
    mask = np.uint64(len(keys) - 1)
    at = _mixed(np.uint64(key)) & mask
    while keys[at] != -1 and keys[at] != key:
        at = (at + np.uint64(1)) & mask
    return at


@compiled(allocates=False)
def insert(maps, new_keys, new_items, new_forgotten):
    """Put items into a map that has room for them."""
    keys, items, forgotten = maps
    for i in range(len(new_keys)):
        at = find(keys, new_keys[i])
        keys[at] = new_keys[i]
        items[at] = new_items[i]
        forgotten[at] = new_forgotten[i]


@compiled(allocates=False)
def look_up(maps, tag, level, hidden, row, event, seen, gaps):
    """Return an item of the map; -1: there is none yet, and it is asked for."""
    keys, items, _ = maps
    key = question(tag, level, hidden, row, event, seen)
    at = find(keys, key)
    if keys[at] == key:
        return items[at]
    wanted, number = gaps
    if number[0] < len(wanted):
        wanted[number[0]] = key
        number[0] += 1
    return np.int32(-1)


@compiled(allocates=False)
def _slot(nodes, table, node):
    """Return where the number of a node stands in the table, or where it would."""
    mixed = np.uint64(0)
    for x in node:
        mixed = _mixed(mixed * np.uint64(0x9E3779B97F4A7C15) + np.uint64(x + 2))
    mask = np.uint64(len(table) - 1)
    at = mixed & mask
    while table[at] >= 0:
        i = table[at]
        same = True
        for k in range(len(node)):
            if nodes[i, k] != node[k]:
                same = False
                break
        if same:
            break
        at = (at + np.uint64(1)) & mask
    return at


@compiled(allocates=False)
def number(nodes, count, table, node):
    """Return the number of a node, and whether it is new; -1 if there is no room for it."""
    at = _slot(nodes, table, node)
    if table[at] >= 0:
        return table[at], False
    if count[0] >= len(nodes):
        return -1, False
    i = count[0]
    table[at] = i
    for k in range(len(node)):
        nodes[i, k] = node[k]
    count[0] += 1
    return i, True


@compiled(allocates=False)
def seek(nodes, table, node):
    """Return the number of a node that is known, or -1."""
    return table[_slot(nodes, table, node)]
