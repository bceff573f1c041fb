"""The compiled product of rows and what is around them, against the walk state by state."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Landscape, runtime
from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.quantity import Exact
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values import row_product
from markov_lrsao.values.entries import NO_ENTRY, Grid
from markov_lrsao.values.options import float_system, steps_of
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.row_enclosure import enclose_by_product
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid, grids, lumped_grids, residual_grids
from markov_lrsao.values.row_product import Product, RowProduct, Widths
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.ways import Walk
from markov_lrsao.values.word_lumps import Words

ANY_WIDTH = fmpq(1, 1000)


def place_of(n: int, widths: tuple[int, ...], bridges: str) -> Plateaus:
    return plateaus_of(StepLaw.of(Landscape.regions(n, widths, bridges)))


def walk_at(product: RowProduct, node: list[int]) -> Walk:
    """Return a node of the product as a state of the walk."""
    slopes = len(product.walk.slopes)
    entries, order = product.rows[node[3]]
    above = tuple(NO_ENTRY if x < 0 else product._seen[x] for x in node[4 + slopes :])
    return Walk(node[1], node[2], tuple(node[4 : 4 + slopes]), entries, above, order)


def ends(found: Product) -> tuple[float, float]:
    system = found.system
    return float(system.about(found.steps[0], -1)[0]), float(system.about(found.steps[1], 1)[0])


@pytest.mark.parametrize(
    ("n", "widths", "bridges", "grid"),
    [
        pytest.param(13, (3, 3, 3), "shared", coarse_grid(13), marks=pytest.mark.slow),
        (20, (3, 3, 3), "shared", grids(20)[1]),
        (20, (3, 3, 3), "all-but-last", grids(20)[2]),
        pytest.param(9, (2, 2, 2), "own", lumped_grids(9)[0], marks=pytest.mark.slow),
        (7, (2, 1, 1), "own", lumped_grids(7)[1]),
        (30, (3, 3, 3, 3), "shared", grids(30)[0]),
        (20, (3, 3, 3), "shared", residual_grids(20)[2]),
        pytest.param(13, (2, 2, 2, 2), "shared", residual_grids(13)[0], marks=pytest.mark.slow),
    ],
)
def test_the_product_has_the_states_of_the_walk_and_their_options(
    n: int, widths: tuple[int, ...], bridges: str, grid: Grid
) -> None:
    place = place_of(n, widths, bridges)
    graph = RowGraph(SharedRow(place, [grid]))
    graph.explore(200_000)
    product = RowProduct(graph.walk)  # the same numbers of entries
    found = product.explore(200_000)
    assert len(found.cut) == 0
    assert {walk_at(product, node) for node in found.nodes.tolist()} == set(graph.states)
    # Where words are lumped the product leaves out options that are averages of others.
    sizes = (found.open, len(found.system.owner)), (graph.open, len(graph.options))
    assert sizes[0] == sizes[1] if grid.words == Words.EACH else sizes[0] <= sizes[1]
    system = float_system(graph.options, len(graph.states))
    low, high = steps_of(graph.options)
    expected = float(system.about(low, -1)[0]), float(system.about(high, 1)[0])
    assert ends(found) == pytest.approx(expected, rel=1e-9)


def test_jump_has_its_exact_time_and_phases() -> None:
    landscape = Landscape.jump(20, 3)
    place = plateaus_of(StepLaw.of(landscape))
    exact = runtime(landscape)
    for lumped in (False, True):
        answer = enclose_by_product(place, 2, tolerance=ANY_WIDTH, largest=100_000, lumped=lumped)
        quantities = [q[0] for q in answer.values]
        for quantity, known in zip(quantities, (exact.total, *exact.phases), strict=True):
            assert isinstance(known, Exact)
            assert quantity.upper is not None
            assert quantity.lower <= known.value <= quantity.upper
        assert answer.relative_width <= ANY_WIDTH


def test_a_wrong_event_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product in which a penalty costs nothing has another time."""
    landscape = Landscape.jump(20, 3)
    place = plateaus_of(StepLaw.of(landscape))
    exact = runtime(landscape).total
    assert isinstance(exact, Exact)
    learnt = SharedRow.learnt

    def forgetful(self: SharedRow, state: Walk, action: int, value: int, *, keeps: bool) -> Walk:
        return state if keeps else learnt(self, state, action, value, keeps=keeps)

    monkeypatch.setattr(SharedRow, "learnt", forgetful)
    found = RowProduct(SharedRow(place, [coarse_grid(20)])).explore(20_000)
    low, high = ends(found)
    assert not low * (1 - 1e-9) <= float(exact.value.p) / float(exact.value.q) <= high * (1 + 1e-9)


@pytest.mark.slow
def test_finer_explorations_are_narrower_and_overlap() -> None:
    place = place_of(11, (2, 2, 2), "own")
    walk = SharedRow(place, lumped_grids(11))
    product = RowProduct(walk)
    first = product.explore(100_000, phased=False)
    assert len(first.cut) == 0
    low, high = (
        first.system.about(side, sign) for side, sign in zip(first.steps, (-1, 1), strict=True)
    )
    widths = Widths(first.nodes, first.table, high - low)
    width = float(high[0] - low[0])
    before = (float(low[0]), float(high[0]))
    for part in (1e-2, 1e-3):
        limits = [part * width * share for share in (0.0, 0.01, 0.1, 0.3, 1.0)]
        found = product.explore(300_000, level=4, thresholds=limits, widths=widths, width=width)
        assert len(set(found.nodes[:, 0].tolist())) > 1  # nodes are handed down
        now = ends(found)
        assert before[0] < now[0] < now[1] < before[1]
        before = now


def test_what_is_cut_off_is_counted() -> None:
    """However little is looked at, the bounds hold; and less is known then."""
    place = place_of(13, (3, 3, 3), "shared")
    known = enclose_by_product(place, 1, tolerance=fmpq(1, 20), largest=100_000, lumped=False)
    total = known.values[0][0]
    assert total.upper is not None
    cut = enclose_by_product(place, 1, tolerance=fmpq(1, 20), largest=1_500, lumped=False)
    wide = cut.values[0][0]
    assert wide.upper is not None
    assert wide.lower <= total.lower <= total.upper <= wide.upper
    assert wide.upper - wide.lower > 2 * (total.upper - total.lower)
    assert cut.undecided is not None


def test_an_exploration_that_says_nothing_is_refused() -> None:
    place = place_of(20, (3, 3, 3), "own")
    with pytest.raises(StateSpaceTooLargeError, match="more than 5 states"):
        enclose_by_product(place, 1, tolerance=ANY_WIDTH, largest=5, lumped=True)


def test_rows_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second exploration finds all answers in the map."""
    place = place_of(13, (3, 3, 3), "shared")
    product = RowProduct(SharedRow(place, [coarse_grid(13)]))
    first = product.explore(50_000)

    def never(self: RowProduct, key: int) -> int:
        raise AssertionError(key)

    monkeypatch.setattr(row_product.RowProduct, "_item", never)
    again = product.explore(50_000)
    assert np.array_equal(np.sort(first.nodes, axis=0), np.sort(again.nodes, axis=0))


@pytest.mark.slow
def test_own_bridges_at_small_n_contain_the_simulated_mean() -> None:
    """E[T] = 77.07 +- 0.04 by 10^6 runs (docs/plateaus_simulated.csv); here within two percent."""
    place = place_of(13, (3, 3, 3), "own")
    answer = enclose_by_product(place, 1, tolerance=fmpq(1, 5), largest=200_000, lumped=True)
    total = answer.values[0][0]
    assert total.upper is not None
    assert total.lower <= fmpq(7707, 100) <= total.upper
    assert answer.values[0][0].lower > 70
