"""Options of lumps of words: those that are left out must be averages of those that are kept."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, fmpq

from markov_lrsao.model.families import regions
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.values import passings as passings_module
from markov_lrsao.values.passings import Passing, passings, spare
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.row_grids import lumped_grids
from markov_lrsao.values.row_product import RowProduct
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.slopes import Passage, Slope, Word
from markov_lrsao.values.word_lumps import Lumps, Words


def own(n: int, *widths: int) -> Plateaus:
    return plateaus_of(StepLaw.of(regions(widths, "own").at(n)))


def slope(*words: tuple[fmpq, fmpq]) -> Slope:
    """Words of one lump, each with P(down) and E[steps]; whatever happens they change no more."""
    passages = [
        (
            Passage(DOWN, 0, (down,), arb(steps * down)),
            Passage(UP, 0, (1 - down,), arb(steps * (1 - down))),
        )
        for down, steps in words
    ]
    known = tuple(Word(DOWN, (), ways) for ways in passages)
    return Slope(3, 5, known, (True,) * len(words), (None,) * len(words))


def lumped(words: Slope, longest: float | None = 1e3) -> list[Passing]:
    number = len(words.words)
    return passings(words, range(number), [0] * number, longest)


HALF, THIRD = fmpq(1, 2), fmpq(1, 3)


def test_averages_are_left_out_and_corners_are_not() -> None:
    corners = [(HALF, fmpq(10)), (THIRD, fmpq(10)), (HALF, fmpq(20))]
    middle = tuple((a + b + c) / 3 for a, b, c in zip(*corners, strict=True))
    found = lumped(slope(*corners, middle))
    assert len(found) == 3
    for (_, steps), option in zip(corners, found, strict=True):
        assert option.steps[0] <= float(steps) <= option.steps[1]
        assert option.steps[1] - option.steps[0] < 1e-8
    # A little outside of them all is a corner of its own.
    assert len(lumped(slope(*corners, (HALF + fmpq(1, 10**6), fmpq(15))))) == 4
    assert len(lumped(slope(*corners, (fmpq(2, 5), fmpq(9_999_999, 10**6))))) == 4


def test_all_are_kept_where_steps_left_are_not_bounded() -> None:
    corners = [(HALF, fmpq(10)), (THIRD, fmpq(10)), (fmpq(5, 12), fmpq(10))]
    assert len(lumped(slope(*corners))) == 2
    assert len(lumped(slope(*corners), None)) == 3


def test_ways_to_one_lump_are_one_way() -> None:
    place = own(13, 3, 3, 3)
    below = place.slopes[0]
    number = range(len(below.words))
    falls = [[float(f) for f in s.falls] for s in place.slopes]
    lumps = Lumps(place.slopes, falls, Words.SIDES)
    names = [lumps.name(0, w) for w in number]
    for name in set(names):
        for option in passings(below, lumps.members(0, name), names, 1e4):
            assert sum(low for low, _ in option.ways.values()) <= 1
            assert sum(high for _, high in option.ways.values()) >= 1
            assert {word for _, word in option.ways} <= set(names)


def test_what_is_left_out_is_paid_for() -> None:
    """With L steps left at most, probabilities that are d apart cost d L."""

    def option(down: fmpq, steps: fmpq) -> passings_module._Exact:
        return passings_module._Exact(arb(steps), {(DOWN, 0): arb(down), (UP, 0): arb(1 - down)})

    kept = [option(HALF, fmpq(10)), option(THIRD, fmpq(10))]
    assert spare(option(fmpq(5, 12), fmpq(10)), kept, 1e3) < 1e-9
    for aside in (fmpq(1, 1000), fmpq(1, 10)):
        assert spare(option(HALF + aside, fmpq(10)), kept, 1e3) >= 2 * aside * 999
        assert spare(option(HALF, 10 + aside), kept, 1e3) >= aside * fmpq(999, 1000)


def loosest(place: Plateaus) -> tuple[float, float, int]:
    found = RowProduct(SharedRow(place, lumped_grids(place.law.n)[:1])).explore(100_000)
    assert not len(found.cut)
    low, high = (
        found.system.about(side, sign) for side, sign in zip(found.steps, (-1, 1), strict=True)
    )
    return float(low[0]), float(high[0]), len(found.system.owner)


@pytest.mark.slow
def test_bounds_are_those_of_all_options(monkeypatch: pytest.MonkeyPatch) -> None:
    place = own(11, 2, 2, 2)
    few = loosest(place)
    monkeypatch.setattr(passings_module, "_corners", lambda options: list(range(len(options))))
    many = loosest(place)
    assert many[2] > 1.1 * few[2]
    assert few[:2] == pytest.approx(many[:2], rel=1e-9)
    # Had an option been left out that is none, bounds would be too narrow.
    monkeypatch.setattr(passings_module, "_corners", lambda _: [0])
    monkeypatch.setattr(passings_module, "_MOST_SPARE", np.inf)
    monkeypatch.setattr(passings_module, "spare", lambda *_: arb(0))
    wrong = loosest(place)
    assert wrong[1] - wrong[0] < 0.9 * (few[1] - few[0])
