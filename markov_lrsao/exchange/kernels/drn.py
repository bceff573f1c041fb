"""Compiled scanning of the body of a DRN file; bytes in, arrays out.

Only the plainest form of the format is understood. Whatever else occurs, right or wrong,
makes the scanner give up, and the line-by-line reader decides.
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled

__all__ = ["rows", "scan"]

_LONGEST = 18  # digits that fit into 63 bits
_OPEN, _CLOSE = 91, 93
_NEWLINE, _TAB, _SPACE, _SLASH, _DOT, _COLON, _ZERO, _NINE = 10, 9, 32, 47, 46, 58, 48, 57


@compiled(allocates=False)
def _digits(data, at):  # type: ignore[no-untyped-def]
    """Return (value, where the digits end); no digits or too many end at -1."""
    value = np.int64(0)
    begun = at
    while at < len(data) and _ZERO <= data[at] <= _NINE:
        value = value * 10 + (data[at] - _ZERO)
        at += 1
        if at - begun > _LONGEST:
            return value, -1
    return value, (at if at > begun else -1)


@compiled(allocates=False)
def _number(data, at):  # type: ignore[no-untyped-def]
    """Return (numerator, denominator, end) of 3, 1/3 or 0.25; anything else ends at -1."""
    above, at = _digits(data, at)
    below = np.int64(1)
    if at < 0 or at >= len(data):
        return above, below, -1
    if data[at] == _SLASH:
        below, at = _digits(data, at + 1)
    elif data[at] == _DOT:
        at += 1
        begun = at
        while at < len(data) and _ZERO <= data[at] <= _NINE:
            if at - begun == _LONGEST or above > 200_000_000_000_000_000:
                return above, below, -1
            above = above * 10 + (data[at] - _ZERO)
            below *= 10
            at += 1
        if at == begun:
            return above, below, -1
    return above, below, at


@compiled(forceinline=True, allocates=False)
def _after_word(data, at, word):  # type: ignore[no-untyped-def]
    """Return (number, end) of a word and the digits behind it; anything else ends at -1."""
    found = at + len(word) <= len(data)
    k = 0
    while found and k < len(word):
        found = data[at + k] == word[k]
        k += 1
    number = np.int64(0)
    at = at + k if found else -1
    if found:
        number, at = _digits(data, at)
    return number, (at if at < len(data) else -1)


@compiled(forceinline=True, allocates=False)
def _edge(data, at):  # type: ignore[no-untyped-def]
    """Return (target, numerator, denominator, end of line) of "3 : 1/2"; otherwise ends at -1."""
    above, below = np.int64(0), np.int64(1)
    to, at = _digits(data, at)
    if (
        at < 0
        or at + 3 > len(data)
        or data[at] != _SPACE
        or data[at + 1] != _COLON
        or data[at + 2] != _SPACE
    ):
        at = -1
    else:
        above, below, at = _number(data, at + 3)
    if at >= 0 and (at >= len(data) or data[at] != _NEWLINE):
        at = -1
    return to, above, below, at


@compiled(forceinline=True, allocates=False)
def _reward(data, at):  # type: ignore[no-untyped-def]
    """Return (numerator, denominator, end) of " [1/2]"; 0 where there is none, else ends at -1."""
    above, below = np.int64(0), np.int64(1)
    if at + 1 < len(data) and data[at] == _SPACE and data[at + 1] == _OPEN:
        above, below, at = _number(data, at + 2)
        if at < 0 or at >= len(data) or data[at] != _CLOSE or below == 0:
            return above, below, -2
        at += 1
    return above, below, at


@compiled()
def scan(data, at, states, edges):  # type: ignore[no-untyped-def]
    """Scan from `at` on; `states` and `edges` are bounds found by counting characters.

    Returns (how many states, pointers, targets, numerators, denominators, which states carry
    more text, where that text begins and ends, rewards); minus one states where it gives up.
    Rewards, one per state, are numerators and denominators on its own line and on its action's;
    a fifth column says whether there were any.
    """
    pointer = np.zeros(states + 1, np.int64)
    target = np.empty(edges, np.int64)
    above = np.empty(edges, np.int64)
    below = np.empty(edges, np.int64)
    marked = np.empty(states, np.int64)
    begin = np.empty(states, np.int64)
    end = np.empty(states, np.int64)
    marks = 0
    state = -1
    acts = False
    used = 0
    word = np.array([115, 116, 97, 116, 101, 32])  # "state "
    action = np.array([9, 97, 99, 116, 105, 111, 110, 32])  # tab, "action "
    size = len(data)
    rewards = np.zeros((states, 5), np.int64)
    nothing = (-1, pointer, target, above, below, marked, begin, end, rewards)
    while at < size:
        if data[at] == _TAB and at + 1 < size and data[at + 1] == _TAB:
            if not acts or used == edges:
                return nothing
            target[used], above[used], below[used], at = _edge(data, at + 2)
            if at < 0:
                return nothing
            used += 1
            at += 1
        elif data[at] == _TAB:
            if state < 0 or acts:
                return nothing
            _, at = _after_word(data, at, action)
            if at < 0:
                return nothing
            before = at
            rewards[state, 2], rewards[state, 3], at = _reward(data, at)
            rewards[state, 4] += at != before
            if at < 0 or at >= size or data[at] != _NEWLINE:
                return nothing
            acts = True
            at += 1
        else:
            if state >= 0 and not acts:
                return nothing
            number, at = _after_word(data, at, word)
            state += 1
            if at < 0 or number != state or state == states:
                return nothing
            pointer[state] = used
            acts = False
            before = at
            rewards[state, 0], rewards[state, 1], at = _reward(data, at)
            rewards[state, 4] += at != before
            if at < 0 or at >= size:
                return nothing
            if data[at] == _SPACE:
                marked[marks] = state
                begin[marks] = at + 1
                while at < size and data[at] != _NEWLINE:
                    at += 1
                end[marks] = at
                marks += 1
            if at >= size or data[at] != _NEWLINE:
                return nothing
            at += 1
    if not acts:
        return nothing
    pointer[state + 1] = used
    return (
        state + 1,
        pointer[: state + 2],
        target[:used],
        above[:used],
        below[:used],
        marked[:marks],
        begin[:marks],
        end[:marks],
        rewards,
    )


@compiled()
def rows(pointer, target, above, below, size, largest):  # type: ignore[no-untyped-def]
    """Bring each row to one denominator, in place; return (ok, denominators, row sums).

    Not ok: targets out of range or not increasing, a number not in (0, 1], a denominator
    above `largest` (at most 2^60), or a sum far above 1.
    """
    denominator = np.ones(size, np.int64)
    total = np.zeros(size, np.int64)
    for i in range(size):
        common = np.int64(1)
        if pointer[i] == pointer[i + 1]:
            return False, denominator, total
        for e in range(pointer[i], pointer[i + 1]):
            b = below[e]
            if (
                target[e] >= size
                or (e > pointer[i] and target[e] <= target[e - 1])
                or above[e] <= 0
                or above[e] > b
            ):
                return False, denominator, total
            x, y = common, b
            while y:
                x, y = y, x % y
            if common // x > largest // b:
                return False, denominator, total
            common = common // x * b
        shared = common
        for e in range(pointer[i], pointer[i + 1]):
            above[e] *= common // below[e]
            total[i] += above[e]
            if total[i] > 2 * common:  # long before a sum of many ones could wrap round
                return False, denominator, total
            x, y = shared, above[e]
            while y:
                x, y = y, x % y
            shared = x
        for e in range(pointer[i], pointer[i + 1]):
            above[e] //= shared
        denominator[i] = common // shared
        total[i] //= shared
    return True, denominator, total
