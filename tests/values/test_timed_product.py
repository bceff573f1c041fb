"""Variances from the compiled product: against the walk state by state, exact ones, and runs."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from flint import arb, fmpq

from markov_lrsao import Landscape, Quantity, runtime
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.values import second_moments, timed_product
from markov_lrsao.values.answer import Answer
from markov_lrsao.values.entries import Grid
from markov_lrsao.values.options import float_system, steps_of
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.row_enclosure import enclose_by_product, enclose_sharply
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import grids, lumped_grids, residual_grids, sharp_grid
from markov_lrsao.values.row_product import RowProduct
from markov_lrsao.values.row_tables import WEIGHT
from markov_lrsao.values.second_moments import second_factorial_moment, timed_edges
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.slopes import Passage
from markov_lrsao.values.timed_product import product_edges

SIMULATED = Path(__file__).parents[2] / "docs" / "plateaus_simulated.csv"


def place_of(n: int, widths: tuple[int, ...], bridges: str) -> Plateaus:
    return plateaus_of(StepLaw.of(Landscape.regions(n, widths, bridges)))


def variance(answer: Answer) -> Quantity:
    found = answer.values[0][1]
    assert isinstance(found, Quantity)
    return found


def ends(quantity: Quantity) -> tuple[float, float]:
    assert quantity.upper is not None
    return float(quantity.lower), float(quantity.upper)


def by_both(place: Plateaus, grid: Grid) -> list[tuple[float, float]]:
    """Return bounds of E[T (T - 1)] / 2 by the walk and by the product."""
    graph = RowGraph(SharedRow(place, [grid], timed=True))
    graph.explore(100_000)
    system = float_system(graph.options, len(graph.states))
    walked = second_factorial_moment(system, timed_edges(graph), steps_of(graph.options))
    rows = RowProduct(graph.walk)  # the same numbers of entries
    found = rows.explore(100_000)
    assert len(found.nodes) == len(graph.states)
    assert len(found.system.owner) == len(graph.options)  # no options are left out
    return [walked, second_factorial_moment(found.system, product_edges(rows, found), found.steps)]


CASES = [
    pytest.param(20, (3, 3, 3), "shared", grids(20)[1], id="shared"),
    pytest.param(20, (3, 3, 3), "all-but-last", grids(20)[2], id="all but last"),
    pytest.param(7, (2, 1, 1), "own", lumped_grids(7)[1], id="lumps of words"),
    pytest.param(9, (2, 2, 2), "own", lumped_grids(9)[0], id="sides", marks=pytest.mark.slow),
    pytest.param(20, (3, 3, 3), "shared", residual_grids(20)[1], id="residuals"),
]


@pytest.mark.parametrize(("n", "widths", "bridges", "grid"), CASES)
def test_the_product_knows_the_time_as_the_walk_does(
    n: int, widths: tuple[int, ...], bridges: str, grid: Grid
) -> None:
    walked, found = by_both(place_of(n, widths, bridges), grid)
    assert found == pytest.approx(walked, rel=1e-9)


@pytest.mark.parametrize("forgotten", ["move_weights", "climb_weights", "passage_weights"])
def test_weights_without_time_are_noticed(forgotten: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table of weights has a part in the result."""
    whole = getattr(timed_product, forgotten)

    def timeless(walk: SharedRow) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = whole(walk).copy()
        found[:, 2:6] = 0.0
        return found

    monkeypatch.setattr(timed_product, forgotten, timeless)
    walked, found = by_both(place_of(20, (3, 3, 3), "all-but-last"), grids(20)[2])
    assert found[1] < walked[0]


def test_what_relaxing_forgets_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    place, grid = place_of(20, (3, 3, 3), "shared"), residual_grids(20)[1]
    (low, high), _ = by_both(place, grid)
    monkeypatch.setattr(SharedRow, "forgotten", lambda *_: 0.0)
    _, found = by_both(place, grid)
    assert low < found[0] < found[1] < high


@pytest.mark.parametrize("lumped", [False, True])
def test_jump_has_its_exact_variance(lumped: bool) -> None:
    landscape = Landscape.jump(20, 3)
    place = plateaus_of(StepLaw.of(landscape))
    answer = enclose_by_product(
        place, 2, tolerance=fmpq(1, 1000), largest=100_000, lumped=lumped, timed=True
    )
    low, high = ends(variance(answer))
    assert low <= float(runtime(landscape).variance.value) <= high
    assert high / low < 1 + (1e-3 if lumped else 1e-8)


def test_three_plateaus_against_the_quotient_of_all_tables() -> None:
    place = place_of(7, (2, 1, 1), "shared")
    truth = runtime(Landscape.regions(7, (2, 1, 1), "shared")).variance.value
    answer = enclose_by_product(
        place, 2, tolerance=fmpq(1, 10_000), largest=50_000, lumped=False, timed=True
    )
    low, high = ends(variance(answer))
    assert low <= float(truth) <= high
    assert high / low < 1.01


def test_a_sharp_grid_has_variances_too() -> None:
    """At n = 13 one bridge serves all but the last plateau, and segments are exact."""
    truth = runtime(Landscape.regions(13, (3, 3, 3), "all-but-last")).variance.value
    place = place_of(13, (3, 3, 3), "all-but-last")
    low, high = ends(variance(enclose_sharply(place, 2, largest=50_000, timed=True)))
    assert low <= float(truth) <= high
    assert high / low < 1 + 1e-6


def test_what_is_cut_off_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of(13, (3, 3, 3), "all-but-last")
    truth = float(runtime(Landscape.regions(13, (3, 3, 3), "all-but-last")).variance.value)
    rows = RowProduct(SharedRow(place, [sharp_grid(13)], timed=True))
    assert len(rows.explore(120).cut) > 0

    def found() -> tuple[float, float]:
        answer = enclose_by_product(
            place, 2, tolerance=fmpq(1, 20), largest=120, lumped=False, timed=True
        )
        return ends(variance(answer))

    low, high = found()
    assert low <= truth <= high
    monkeypatch.setattr(second_moments, "left_out", lambda *_: 0.0)
    assert found()[1] < truth


# Weights


def test_words_of_a_lump_are_told_apart_by_their_sign() -> None:
    """Two words follow with p_1 = 5 and -5: their sum says nothing, and may be worth 5 (v - w)."""
    passages = [
        Passage(DOWN, 1, (fmpq(1, 2), fmpq(5), fmpq(1)), arb(1)),
        Passage(DOWN, 2, (fmpq(1, 4), fmpq(-5), fmpq(2)), arb(1)),
        Passage(UP, 3, (fmpq(1, 4), fmpq(-1), fmpq(0)), arb(1)),
    ]
    (apart, alone) = np.array(timed_product._passing(passages, [0, 1, 1, 3]))
    assert apart == pytest.approx([0.75, 0.75, 5, 5, 3, 3, 0, -5, -5])
    assert alone == pytest.approx([0.25, 0.25, -1, -1, 0, 0, 0, 0, 0])
    (one, other, _) = np.array(timed_product._passing(passages, [0, 1, 2, 3]))
    assert one == pytest.approx([0.5, 0.5, 5, 5, 1, 1, 0, 0, 0])
    assert other == pytest.approx([0.25, 0.25, -5, -5, 2, 2, 0, 0, 0])


def test_products_of_weights_contain_the_products_of_all_numbers_between() -> None:
    rng = np.random.default_rng(15)
    size = 200
    middle = rng.normal(size=(size, 8))
    middle[:, [0, 4]] = np.abs(middle[:, [0, 4]])

    def weights(columns: list[int], against: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals, and a number in each of them."""
        found = np.zeros((size, WEIGHT))
        numbers = []
        for at, column in zip((0, 2, 4), columns[:3], strict=True):
            width = 1e-3 * rng.random(size)
            found[:, at] = middle[:, column]
            found[:, at + 1] = middle[:, column] + width
            numbers.append(found[:, at] + rng.random(size) * width)
        opposed = np.zeros(size) if against is None else -np.abs(middle[:, against])
        found[:, 7] = found[:, 8] = opposed
        return found, np.array([*numbers, opposed])

    x, (p0, p1, p2, n1) = weights([0, 1, 2], 3)
    y, (q0, q1, q2, _) = weights([4, 5, 6], None)
    found = timed_product._both(x, y)
    truth = [p0 * q0, p0 * q1 + p1 * q0, p2 * q0 + (p1 + n1) * q1 + p0 * q2, n1 * q0]
    for at, number in zip((0, 2, 4, 7), truth, strict=True):
        assert (found[:, at] <= number).all(), at
        assert (number <= found[:, at + 1]).all(), at
        assert (found[:, at + 1] - found[:, at] < 0.1).all(), at
    # Who forgets the negative part has another second coefficient.
    x[:, 7:] = 0.0
    wrong = timed_product._both(x, y)
    assert not ((wrong[:, 4] <= truth[2]) & (truth[2] <= wrong[:, 5])).all()


def simulated(n: int, widths: str, bridges: str) -> tuple[float, float]:
    with SIMULATED.open() as file:
        for row in csv.DictReader(file):
            if (row["n"], row["widths"], row["bridges"], row["quantity"]) == (
                str(n), widths, bridges, "T"
            ):  # fmt: skip
                return float(row["variance"]), float(row["variance_error"])
    raise LookupError(n, widths, bridges)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "widths", "bridges", "largest", "width"),
    [
        (13, "3+3+3", "shared", 250_000, 0.15),
        (100, "5+5+5+5", "shared", 250_000, 0.25),
        (13, "3+3+3", "own", 500_000, 1.5),
    ],
)
def test_against_a_million_runs(
    n: int, widths: str, bridges: str, largest: int, width: float
) -> None:
    """Within four standard errors of the sample's variance, which were fixed beforehand."""
    place = place_of(n, tuple(map(int, widths.split("+"))), bridges)
    answer = enclose_by_product(
        place, 2, tolerance=fmpq(1, 2000), largest=largest, lumped=bridges == "own", timed=True
    )
    low, high = ends(variance(answer))
    truth, error = simulated(n, widths, bridges)
    assert low - 4 * error <= truth <= high + 4 * error
    assert high / low < 1 + width
