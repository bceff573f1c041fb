"""The largest entries of a row are kept as they would be found anew; names are those of equals."""

from __future__ import annotations

import random

import numpy as np
from flint import fmpq

from simulate.kernels import entries, masks, names, tops


def written(value: float, error: float = 0.0, tag: float = entries.NONE) -> list[float]:
    return [value, error, 0.0, tag]


def test_packing_keeps_mask_best_and_certainty() -> None:
    assert tops.unpack(tops.FRESH, 5) == (0b11111, 0, True)
    for mask, best in ((1, 0), (0b101, 2), (1 << 39, 39)):
        for certain in (True, False):
            packed = tops.pack(mask, best, certain)
            assert packed != tops.FRESH
            assert tops.unpack(packed, 40) == (mask, best, certain)


def test_masks_count_and_number_their_bits() -> None:
    for mask in range(1, 200):
        bits = [a for a in range(8) if mask >> a & 1]
        assert masks.size_of(mask) == len(bits)
        assert [masks.nth(mask, k) for k in range(len(bits))] == bits


def test_what_is_kept_is_what_a_search_finds() -> None:
    """One of the largest entries changes: the kept set equals the argmax of the new row."""
    draw = random.Random(5)
    seen = set()
    for _ in range(4000):
        values = [draw.choice([-2, -1, 0, 1, 2]) for _ in range(4)]
        largest = [a for a in range(4) if values[a] == max(values)]
        mask = sum(1 << a for a in largest)
        a = draw.choice(largest)
        before, values[a] = values[a], draw.choice([-2, -1, 0, 1, 2])
        # Tags are ordered like the numbers, so that everything is certain.
        q = np.array([x for v in values for x in written(v, tag=float(v))])
        old = written(before, tag=float(before))
        found = entries.order(*q[4 * a : 4 * a + 4], *old)
        assert found == (values[a] > before) - (values[a] < before)
        kept, best, certain = tops.unpack(tops.changed(q, 0, 4, mask, a, found), 4)
        assert certain
        assert kept == sum(1 << b for b in range(4) if values[b] == max(values))
        assert kept >> best & 1
        seen.add((found, len(largest) > 1))
    assert len(seen) == 6


def test_an_open_comparison_stays_open() -> None:
    """The only largest entry has shrunk to where another may be: both are candidates."""
    q = np.array([*written(1.0, 0.1), *written(1.05, 0.1), *written(-3.0, 0.1)])
    for order in (entries.LESS, entries.UNKNOWN):
        kept, _, certain = tops.unpack(tops.changed(q, 0, 3, 1, 0, order), 3)
        assert (kept, certain) == (0b011, False)


def test_fresh_rows_are_zeros_before_they_are_written() -> None:
    q, kept = np.full(24, 7.0), np.zeros(2, dtype=np.int64)
    kept[0] = tops.pack(1, 0, True)
    tops.write_zeros(q, kept, 0, 3)
    assert (q == 7.0).all()
    tops.write_zeros(q, kept, 1, 3)
    assert (q[:12] == 7.0).all()
    assert (q[12:] == 0.0).all()


def test_one_name_is_one_number() -> None:
    """Named by histories, computed in rationals: equal names are equal numbers."""
    keep, boot, gains = fmpq(1, 5), fmpq(2, 25), [fmpq(-14, 5), fmpq(4, 5), fmpq(0)]
    draw = random.Random(3)
    table = np.zeros(names.LENGTH, dtype=np.int64)
    for _ in range(3):
        names.forget(table)
        assert table[0] == 0
        assert not table[-1024:].any()
        value = {0.0: fmpq(0)}
        refused = 0
        for _ in range(3000):
            x, y = (draw.choice(list(value)) for _ in range(2))
            g = draw.randrange(3)
            found = names.name(table, x, g, y)
            if found == entries.NONE:
                refused += 1
                continue
            assert found >= entries.FIRST_NAME
            exact = keep * value[x] + gains[g] + boot * value[y]
            assert value.setdefault(found, exact) == exact
            assert names.name(table, x, g, y) == found
        assert len(value) > 400  # then it is full
        assert refused > 0


def test_numbers_without_a_name_give_none() -> None:
    table = np.zeros(names.LENGTH, dtype=np.int64)
    assert names.name(table, entries.NONE, 0, 0.0) == entries.NONE
    assert names.name(table, 0.0, 0, entries.NONE) == entries.NONE
    assert not table.any()


def test_names_are_not_ordered() -> None:
    """Two different names may belong to equal numbers: only error bars tell them apart."""
    one, two = written(1.0, 1e-16, entries.FIRST_NAME), written(1.0, 1e-16, entries.FIRST_NAME + 1)
    assert entries.order(*one, *two) == entries.UNKNOWN
    assert entries.order(*one, *one) == entries.EQUAL
    assert entries.order(*one, *written(2.0, 1e-16, 5.0)) == entries.LESS
