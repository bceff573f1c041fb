"""Plateaus and slopes of any widths, one position included, against runs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from flint import fmpq

from markov_lrsao import Landscape
from markov_lrsao.errors import CrossingError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values import slopes
from markov_lrsao.values.plateaus import plateaus_of
from markov_lrsao.values.row_enclosure import enclose_by_product
from markov_lrsao.values.slopes import Passage, Word
from simulate import simulate, summary

BRIDGES = ("own", "shared", "all-but-last")
SMALL = [
    (n, widths, bridges)
    for n in (6, 7, 8, 9)
    for widths in product((1, 2, 3), repeat=3)
    for bridges in BRIDGES
    if n - sum(widths) >= 2
    # Three positions between plateaus of one bridge have endless histories, and other ways.
    and not (bridges == "all-but-last" and 5 <= n - sum(widths) <= 6)
]
RUNS = 20_000
SOME = [SMALL[k] for k in range(0, len(SMALL), 8)]


def apart(n: int, widths: tuple[int, ...], bridges: str) -> float:
    """Return by how many standard errors a simulated mean lies outside an enclosure."""
    law = StepLaw.of(Landscape.regions(n, widths, bridges))
    answer = enclose_by_product(
        plateaus_of(law), 1, tolerance=fmpq(1, 20), largest=150_000, lumped=True
    )
    total = answer.values[0][0]
    assert total.upper is not None
    found = summary(simulate(law, runs=RUNS, seed=1000 * n + sum(widths))).total
    assert found is not None
    outside = max(float(total.lower) - found.point, found.point - float(total.upper), 0.0)
    return outside / found.error


def test_there_are_slopes_and_plateaus_of_one_position() -> None:
    assert any(n - sum(widths) == 2 for n, widths, _ in SOME)
    assert any(min(widths) == 1 for _, widths, _ in SOME)
    assert {bridges for *_, bridges in SOME} == set(BRIDGES)


@pytest.mark.parametrize(("n", "widths", "bridges"), SOME)
def test_means_of_runs_lie_in_the_enclosure(n: int, widths: tuple[int, ...], bridges: str) -> None:
    assert apart(n, widths, bridges) < 4.5


@pytest.mark.exhaustive
def test_all_small_plateaus(record_property: Callable[[str, object], None]) -> None:
    """None of some 160 is far off; the largest of so many may be three standard errors."""
    found = {case: apart(*case) for case in SMALL}
    record_property("instances", len(found))
    record_property("largest", f"{max(found.values()):.2f} standard errors")
    assert not {case: z for case, z in found.items() if z >= 4.5}


def test_a_slope_that_returns_who_falls_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one position, whoever moves down leaves it; here he is sent back."""
    adding = slopes._Adding

    def sending_back(below: tuple[Word, ...], *rest: object) -> object:
        if all(not word.signs for word in below):
            (up,) = below[0].passages
            below = (Word(0, (), (Passage(up.side, 0, up.weight, up.steps),)),)
        return adding(below, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(slopes, "_Adding", sending_back)
    assert apart(7, (2, 1, 1), "own") > 4.5


def test_all_of_them_are_plateaus() -> None:
    for n, widths, bridges in SMALL:
        try:
            place = plateaus_of(StepLaw.of(Landscape.regions(n, widths, bridges)))
        except CrossingError as error:
            pytest.fail(f"{n} {widths} {bridges}: {error}")
        assert len(place.plateaus) == 3
