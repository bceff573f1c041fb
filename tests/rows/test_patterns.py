"""Patterns against concrete rows of numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.exact.rationals import rational
from markov_lrsao.rows.patterns import Pattern, updated_pattern

values = st.fractions(-2, 2, max_denominator=3)


def sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def pattern_of(row: list[Fraction]) -> Pattern:
    return Pattern(
        tuple(sign(x) for x in row),
        tuple(sign(row[i] - row[j]) for i, j in combinations(range(len(row)), 2)),
    )


@given(st.lists(values, min_size=1, max_size=4))
def test_a_known_pattern_knows_argmax(row: list[Fraction]) -> None:
    pattern = pattern_of(row)
    assert pattern.undecided is None
    assert pattern.maximal == tuple(i for i, x in enumerate(row) if x == max(row))
    for i, j in product(range(len(row)), repeat=2):
        assert pattern.relation(i, j) == sign(row[i] - row[j])


@given(st.lists(values, min_size=1, max_size=4))
def test_labels_are_the_weak_order(row: list[Fraction]) -> None:
    names = "ABCD"[: len(row)]
    text = pattern_of(row).label(names)
    value = dict(zip(names, row, strict=True)) | {"0": Fraction(0)}
    levels = [level.split("=") for level in text.split(">")]
    assert sorted(x for level in levels for x in level) == sorted([*names, "0"])
    tops = [value[level[0]] for level in levels]
    assert tops == sorted(tops, reverse=True)
    assert len(set(tops)) == len(tops)
    assert all(value[x] == value[level[0]] for level in levels for x in level)


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ((0, 0, 0), "0=L=J=R"),
        ((1, 0, -1), "L>0=J>R"),
        ((-1, -2, -2), "0>L>J=R"),
        ((-1, 0, 0), "0=J=R>L"),
        ((2, 1, -1), "L>J>0>R"),
    ],
)
def test_labels_by_hand(row: tuple[int, ...], label: str) -> None:
    assert pattern_of([Fraction(x) for x in row]).label("LJR") == label


def test_unknown_relations() -> None:
    pattern = Pattern((1, UNKNOWN, -1), (UNKNOWN, 1, UNKNOWN))
    assert pattern.maximal == (0, 1)
    assert pattern.undecided == (0, 1)
    assert pattern.relation(1, 0) == UNKNOWN
    assert pattern.label("LJR") == "L+ J? R-, L>R"
    harmless = Pattern((1, -1, -1), (1, 1, UNKNOWN))
    assert harmless.undecided is None
    assert harmless.maximal == (0,)


@st.composite
def updates(
    draw: st.DrawFn,
) -> tuple[list[Fraction], int, Fraction, Pattern, list[Interval], Interval, Interval]:
    """A concrete row, an update, and sound but arbitrarily weak knowledge of both."""
    row = draw(st.lists(values, min_size=1, max_size=4))
    action = draw(st.integers(0, len(row) - 1))
    after = draw(values)

    def around(x: Fraction) -> Interval:
        halves = st.sampled_from([0, 0, 1, 2]).map(lambda k: Fraction(k, 2))
        below, above = draw(halves), draw(halves)
        return Interval(
            rational(x - below),
            rational(x + above),
            below == 0 or draw(st.booleans()),
            above == 0 or draw(st.booleans()),
        )

    true = pattern_of(row)
    signs = tuple(s if draw(st.booleans()) else UNKNOWN for s in true.signs)
    order = tuple(s if draw(st.booleans()) else UNKNOWN for s in true.order)
    return (
        row,
        action,
        after,
        Pattern(signs, order),
        [around(x) for x in row],
        around(after),
        around(after - row[action]),
    )


@pytest.mark.slow
@given(updates())
@settings(max_examples=350)
def test_updated_patterns_never_claim_what_is_false(
    update: tuple[list[Fraction], int, Fraction, Pattern, list[Interval], Interval, Interval],
) -> None:
    row, action, after, known, boxes, new, change = update
    found = updated_pattern(known, boxes, action, new, lambda: change)
    true = pattern_of([after if a == action else x for a, x in enumerate(row)])
    for claimed, actual in zip(
        (*found.signs, *found.order), (*true.signs, *true.order), strict=True
    ):
        assert claimed in (actual, UNKNOWN)
    # What does not involve the updated entry is kept.
    for i, j in combinations(range(len(row)), 2):
        if action not in (i, j):
            assert found.relation(i, j) == known.relation(i, j)


@given(st.lists(values, min_size=1, max_size=4), st.integers(0, 3), values)
def test_exact_knowledge_gives_exact_patterns(
    row: list[Fraction], action: int, after: Fraction
) -> None:
    action %= len(row)
    points = [Interval.point(rational(x)) for x in row]
    found = updated_pattern(
        pattern_of(row),
        points,
        action,
        Interval.point(rational(after)),
        lambda: Interval.point(rational(after - row[action])),
    )
    assert found == pattern_of([after if a == action else x for a, x in enumerate(row)])


def test_direction_of_change_decides_what_bounds_do_not() -> None:
    # q_0 = q_1 exactly, both somewhere in [0, 2]; q_0 grows by at least 1/2.
    wide = Interval(fmpq(0), fmpq(2))
    grown = updated_pattern(
        Pattern((UNKNOWN,) * 2, (0,)),
        [wide, wide],
        0,
        Interval(fmpq(1, 2), fmpq(3)),
        lambda: Interval(fmpq(1, 2), fmpq(1)),
    )
    assert grown.relation(0, 1) == 1
    # transitivity: q_0 > q_1 by bounds, q_1 > q_2 as before
    chained = updated_pattern(
        Pattern((1, UNKNOWN, UNKNOWN), (UNKNOWN, UNKNOWN, 1)),
        [wide, Interval(fmpq(0), fmpq(1)), wide],
        0,
        Interval.point(2),
        lambda: Interval.point(1),
    )
    assert chained.relation(0, 2) == 1
