"""Long plateaus cut short lose no pattern; products of matrices are those of Fractions."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import pytest
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

import markov_lrsao.rows.regions
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.errors import LrsaoError
from markov_lrsao.exact.matrices import _rescaled
from markov_lrsao.exact.progressions import Scaled
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from markov_lrsao.rows.regions import Regions

ALGORITHM = Algorithm.lrsao(Parameters.of("1/2", "1/4", 3))


def plateau(other: list[int]) -> StepLaw:
    """Return the law of a target that is 0, then 1 for long, then better; another objective."""
    n = len(other) - 1
    return StepLaw.of(
        Landscape.from_arrays({"T": [0, *[1] * (n - 1), 2], "A": other}, "T"), ALGORITHM
    )


def updates(automata: RowAutomata) -> set[tuple[object, ...]]:
    """Return all updates with the patterns before and after."""
    return {
        (kind, c, automata.patterns[c][k], a, d, automata.patterns[c][to])
        for (kind, c, k, a, d), to in automata.following.items()
    }


@st.composite
def pieces(draw: st.DrawFn) -> list[int]:
    """Long pieces that climb, fall or stay, so that kinds change within the plateau."""
    values = [draw(st.integers(0, 9))]
    for _ in range(draw(st.integers(1, 3))):
        slope = draw(st.sampled_from([0, 1, -1]))
        values += [values[-1] + slope * i for i in range(1, draw(st.integers(6, 30)))]
    return values


@given(pieces())
@settings(max_examples=40)
def test_a_plateau_cut_short_shows_every_pattern(other: list[int]) -> None:
    law = plateau(other)
    with patch.object(markov_lrsao.rows.regions, "_KEPT_AT_ENDS", 10**6):
        try:
            whole = derive_automata(law)
        except LrsaoError:
            return
    assert updates(whole) <= updates(derive_automata(law))


@given(pieces())
@settings(max_examples=60)
def test_every_position_of_a_plateau_has_a_place(other: list[int]) -> None:
    """What stands for many positions has their kind and leads to itself; neighbours are next."""
    law = plateau(other)
    regions = Regions.of(law)
    kept = markov_lrsao.rows.regions._KEPT_AT_ENDS
    for group in regions.groups:
        inside = [a for a in group.positions if a.slot is not None]
        rows = [group.rows[a.slot] for a in inside if a.slot is not None]
        true = [
            (int(law.row[p]), int(law.kind[p]))
            for p in range(law.optimum)
            if int(law.row[p]) in group.rows
        ]
        runs = [pair for i, pair in enumerate(true) if i == 0 or true[i - 1] != pair]
        shown = [(r, a.kind) for r, a in zip(rows, inside, strict=True)]
        assert [pair for i, pair in enumerate(shown) if i == 0 or shown[i - 1] != pair] == runs
        many = [a for a in inside if a.number in a.below and a.number in a.above]
        if len(group.rows) == 1 and len(true) > 1:  # one alone comes back from both sides
            assert (len(inside) < len(true)) == bool(many)
            assert len(inside) >= min(len(true), 2 * kept)


@pytest.mark.parametrize(
    ("other", "short"), [([3] * 60, True), ([0, 1] * 30, False), ([*range(40), *[40] * 40], True)]
)
def test_only_runs_of_one_kind_are_cut_short(other: list[int], short: bool) -> None:
    law = plateau(other)
    row = int(law.row[2])
    group = next(g for g in Regions.of(law).groups if row in g.rows)
    kinds = [int(k) for k in law.kind[1 : law.optimum]]
    runs = 1 + sum(a != b for a, b in pairwise(kinds))
    shown = len(group.positions)
    if short:
        assert shown <= min(
            len(kinds) - 1, runs * (2 * markov_lrsao.rows.regions._KEPT_AT_ENDS + 1)
        )
    else:
        assert shown == len(kinds)


def as_fractions(matrix: fmpz_mat, below: fmpz) -> fmpq_mat:
    return fmpq_mat(matrix) * (fmpq(1) / fmpq(below))


@pytest.mark.parametrize("count", range(1, 10))
def test_products_over_different_denominators(count: int) -> None:
    matrices = [fmpz_mat(2, 2, [k + 1, k, 3 * k + 1, 5 - k]) for k in range(count)]
    below = [fmpz(x) for x in (2, 3, 5, 7, 11, 13, 17, 19, 23)[:count]]
    expected = fmpq_mat(fmpz_mat(2, 2, [1, 0, 0, 1]))
    whole = Scaled([fmpz_mat(2, 2, [1, 0, 0, 1])], fmpz(1), fmpz(1))
    for matrix, d in zip(matrices, below, strict=True):
        expected = expected * as_fractions(matrix, d)
        whole = whole @ Scaled([matrix], d, fmpz(1))
    assert as_fractions(whole.layers[0], whole.below) == expected


def test_rows_are_divided_by_their_sums() -> None:
    entries = {(0, 0): (0.25, 1.0), (0, 1): (0.5, 3.0), (0, 2): (0.5, 0.0), (1, 0): (4.0, 8.0)}
    found = _rescaled(entries)
    assert found == {
        (0, 0): (0.2, 0.8),
        (0, 1): (0.4, pytest.approx(2.4)),
        (0, 2): (0.4, 0.0),
        (1, 0): (1.0, 2.0),
    }
