"""Counts of exits, against laws that are known: negative binomial, and a site with memory."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest
from flint import fmpq

from markov_lrsao.crossing.exits import Events, count_exits
from markov_lrsao.errors import NotAbsorbingError

ONE = (fmpq(1),)


def test_a_site_without_memory_is_negative_binomial() -> None:
    up, down = fmpq(2, 7), fmpq(5, 7)
    kernel = count_exits({0: {(1, 0): (up,), (-1, 0): (down,)}}, 4, 5, ONE)
    assert kernel == {
        (u, d): (comb(u + d, d) * up ** (u + 1) * down**d,) for u, d in product(range(5), range(6))
    }


def test_a_site_with_memory_against_all_its_histories() -> None:
    """Three classes, the next one depending on the exit; every sequence of exits is summed."""
    events: Events = {
        0: {(1, 1): (fmpq(1, 3),), (-1, 2): (fmpq(2, 3),)},
        1: {(1, 0): (fmpq(1, 4),), (-1, 1): (fmpq(3, 4),)},
        2: {(1, 2): (fmpq(1, 5),), (-1, 0): (fmpq(4, 5),)},
    }
    kernel = count_exits(events, 2, 3, ONE)
    for u, d in product(range(3), range(4)):
        total = fmpq(0)
        for moves in product((1, -1), repeat=u + d):
            if sum(move == 1 for move in moves) != u:
                continue
            weight, now = fmpq(1), 0
            for move in (*moves, 1):
                ((now, share),) = [
                    (to, w[0]) for (moved, to), w in events[now].items() if moved == move
                ]
                weight *= share
            total += weight
        assert kernel[u, d] == (total,)


def test_a_class_that_is_never_met_again_is_told() -> None:
    events: Events = {0: {(1, 0): (fmpq(1, 2),), (-1, 1): (fmpq(1, 2),)}}
    assert count_exits(events, 0, 0, ONE) == {(0, 0): (fmpq(1, 2),)}
    with pytest.raises(NotAbsorbingError, match="never met there again"):
        count_exits(events, 0, 1, ONE)
