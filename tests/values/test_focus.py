"""Grids that become finer where open comparisons come from: fractions, enclosures, wrong cells."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import pytest
from flint import fmpq
from refined import exact_moments, focused_walks, law_at

from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.exact.quantity import Enclosed
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.values import focus
from markov_lrsao.values.clusters import Clusters
from markov_lrsao.values.enclosure import enclose_moments
from markov_lrsao.values.focus import Needs, focused
from markov_lrsao.values.stable_cut import stable_decomposition
from markov_lrsao.values.tails import LEVELS, around_cut, refined_decomposition

POINTS = [
    (9, 2, "7/8", "1/4", "4"),
    (13, 2, "7/10", "1/7", "29/4"),
    (16, 4, "4/5", "1/17", "79/4"),
    (11, 3, "4/5", "1/12", "4"),
]
SMALL_ALPHA = (12, 3, "9/56", "1/14", "298/5")
"""No quotient is found, and no level of clusters decides it."""
HISTORIES = (9, 2, "23/27", "1/5", "305/92")
"""Whether L falls below R depends on what R had learnt below the cut, over many exits."""


def rounds(point: tuple[Any, ...]) -> list[Decomposition]:
    return list(focused(around_cut(law_at(*point))))


def mean(d: Decomposition) -> fmpq:
    return exact_moments(d, 1)[0][1]


def contains(d: Decomposition, value: fmpq) -> bool:
    enclosed = enclose_moments(d, 1).values[0][0]
    assert isinstance(enclosed, Enclosed)
    assert enclosed.upper is not None
    return bool(enclosed.lower <= value <= enclosed.upper)


def told(
    clusters: Clusters, needs: Mapping[tuple[int, int], float], number: int, entry: int
) -> float:
    """Return how wide an entry is once all demands are met."""
    if clusters.traits[number].cells[entry] is None:
        return 0.0
    box = clusters.boxes[number][entry]
    return min(to_float(box.high - box.low), needs.get((number, entry), 1e300))


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_fractions_are_those_of_the_quotient(point: tuple[Any, ...]) -> None:
    *open_ones, last = rounds(point)
    assert last.choices is None
    quotient = stable_decomposition(law_at(*point))
    assert exact_moments(last, 2) == exact_moments(quotient, 2)
    assert all(contains(d, mean(quotient)) for d in open_ones)


@pytest.mark.slow
def test_an_instance_that_no_level_decides_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    found = mean(rounds(SMALL_ALPHA)[-1])
    assert found == fmpq(188235910943171953, 3412367034531840)
    assert contains(refined_decomposition(law_at(*SMALL_ALPHA), LEVELS[0]), found)
    monkeypatch.setattr(focus, "_BROUGHT_FINER", 8)  # other cells, the same fraction
    assert mean(rounds(SMALL_ALPHA)[-1]) == found


@pytest.mark.exhaustive
def test_comparisons_that_depend_on_long_histories_are_decided() -> None:
    *open_ones, last = rounds(HISTORIES)
    assert last.choices is None
    assert mean(last) == fmpq(9170871451118771, 209953235921814)
    assert len(open_ones) > 3
    assert all(contains(d, mean(last)) for d in open_ones)
    assert all(
        contains(refined_decomposition(law_at(*HISTORIES), level), mean(last))
        for level in LEVELS[:4]
    )


def test_demands_reach_all_that_open_comparisons_come_from() -> None:
    for walk in focused_walks(law_at(*HISTORIES), 3):
        clusters, needs = walk.clusters, Needs.of(walk).entries
        assert walk.undecided
        assert needs
        algorithm = clusters.law.algorithm
        keep, bootstrap = to_float(algorithm.keep), to_float(algorithm.bootstrap)

        for update, target in clusters.following.items():
            wanted = needs.get((target, update.action))
            if wanted is None:
                continue
            own = told(clusters, needs, update.source, update.action)
            if update.neighbour is None:
                assert (keep + bootstrap) * own <= 1.02 * wanted
            elif isinstance(update.neighbour, int):
                most = clusters.traits[update.neighbour].pattern.maximal
                other = max(told(clusters, needs, update.neighbour, a) for a in most)
                assert keep * own + bootstrap * other <= 1.02 * wanted
                assert own <= 1.02 * wanted / sqrt(keep + bootstrap)
