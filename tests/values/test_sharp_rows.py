"""Slopes in balls, and grids that tell rewards of the target apart: own bridges at large n."""

from __future__ import annotations

import pytest
from flint import arb, ctx, fmpq

from markov_lrsao import Landscape, runtime
from markov_lrsao.answers.plan import Layered, Options, Relearnt, layered, plan
from markov_lrsao.errors import SolverError, StateSpaceTooLargeError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values import plateaus, slopes
from markov_lrsao.values.entries import Entries, Range
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.relearning import _coarse
from markov_lrsao.values.row_enclosure import enclose_sharply
from markov_lrsao.values.row_grids import coarse_grid, sharp_grid
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.slopes import Slope, coupling_error, slope_of


def place_of(n: int, widths: tuple[int, ...], bridges: str = "own") -> Plateaus:
    return plateaus_of(StepLaw.of(Landscape.regions(n, widths, bridges)))


def shape(slope: Slope) -> list[object]:
    return [(w.entry, w.signs, [(x.side, x.word) for x in w.passages]) for w in slope.words]


@pytest.mark.parametrize(
    ("n", "widths", "bridges"),
    [(60, (4, 4, 4), "own"), (40, (3, 3, 3), "shared"), (30, (2, 2, 2, 2), "all-but-last")],
)
def test_slopes_in_balls_are_those_in_fractions(
    n: int, widths: tuple[int, ...], bridges: str
) -> None:
    place = place_of(n, widths, bridges)
    for exact in place.slopes:
        nearly = slope_of(place.law, exact.first, exact.last, balls=True)
        assert nearly.merged > 0 == exact.merged
        assert shape(nearly) == shape(exact)
        with ctx.workprec(slopes._BALL_BITS):
            for one, other in zip(exact.words, nearly.words, strict=True):
                for x, y in zip(one.passages, other.passages, strict=True):
                    # A word stands for others that are as good as equal to it.
                    assert abs(y.chance - arb(x.probability)) < arb(slopes._APART)
                    assert y.steps.overlaps(x.steps)


@pytest.mark.slow
def test_enclosures_with_balls_and_with_fractions_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for longest in (1000, 50):
        monkeypatch.setattr(plateaus, "_LONGEST_EXACT", longest)
        monkeypatch.setattr(plateaus, "_MANY_ACTIONS", 3)
        place = place_of(60, (5, 5, 5), "shared")
        assert (place.slopes[0].merged > 0) == (longest < 60)
        q = _coarse(place, 1, 60_000, coarse_grid(60)).values[0][0]
        assert q.upper is not None
        ends.append((q.lower, q.upper))
    (low, high), (other_low, other_high) = ends
    assert abs(low - other_low) < fmpq(1, 10**6)
    assert abs(high - other_high) < fmpq(1, 10**6)


def test_beliefs_that_are_far_apart_are_not_merged_unnoticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What merging far too much changes cannot be bounded, and no answer comes of it."""
    monkeypatch.setattr(plateaus, "_LONGEST_EXACT", 10)
    monkeypatch.setattr(slopes, "_APART", 0.25)
    place = place_of(60, (5, 5, 5))
    with pytest.raises(SolverError, match="merging"):
        assert SharedRow(place, [coarse_grid(60)]).apart


def test_the_error_of_merging_bounds_a_coin_that_is_merged_with_another() -> None:
    """Toss until heads: E[T] = 1/p from any state, one merge a toss."""
    for apart in (1e-3, 1e-2, 0.05):
        machine, truth = 1 / 0.5, 1 / (0.5 - apart)
        bound = coupling_error(1, apart, machine)
        assert truth - machine <= bound < 1.3 * (truth - machine)
        # Without what is left after a merge, or for one merge in all, it would be too small.
        assert truth - machine > apart * machine
        assert truth - machine > apart * machine**2
    with pytest.raises(SolverError):
        coupling_error(1, 0.3, 2.0)


def test_balls_with_too_few_bits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slopes, "_BALL_BITS", 40)
    place = place_of(60, (4, 4, 4))
    with pytest.raises((SolverError, StateSpaceTooLargeError)):
        slope_of(place.law, 4, 27, balls=True)


def test_rewards_are_rounded_outwards_and_more_finely() -> None:
    values: Entries = SharedRow(place_of(13, (3, 3, 3)), [sharp_grid(13)]).values
    for x in (fmpq(5, 2), fmpq(61, 7), fmpq(2361, 10)):
        widths = []
        for gains in (8, 1024):
            low, high = values._rounded(Range(x, x, True, True), fmpq(1, 4), gains)
            assert low < x < high
            widths.append(high - low)
        assert widths[1] * 16 < widths[0]


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (11, 3), (13, 4)])
def test_a_sharp_product_encloses_the_exact_value_of_jump(n: int, ell: int) -> None:
    landscape = Landscape.jump(n, ell)
    truth = runtime(landscape, method="crossing")
    found = enclose_sharply(plateaus_of(StepLaw.of(landscape)), 1, largest=100_000)
    exact = [q.value for q in (truth.total, *truth.phases)]
    for (q, *_), value in zip(found.values, exact, strict=True):
        assert q.upper is not None
        assert q.lower <= value <= q.upper
    assert found.relative_width < fmpq(1, 10**6)


def test_a_sharp_product_that_does_not_fit_is_refused() -> None:
    with pytest.raises(StateSpaceTooLargeError):
        enclose_sharply(place_of(20, (3, 3, 3)), 1, largest=5_000)


@pytest.mark.slow
@pytest.mark.parametrize("widths", [(5, 5, 5, 5), (5, 5, 5, 5, 5)])
def test_four_and_more_plateaus_with_own_bridges_have_their_own_way(
    widths: tuple[int, ...],
) -> None:
    """Segments refuse them for the number of ways through a slope: once that led to runs."""
    law = StepLaw.of(Landscape.regions(100, widths, "own"))
    assert isinstance(plan(law, Options()), Relearnt)


@pytest.mark.slow
def test_own_bridges_at_n_1000_are_certified_to_nine_digits() -> None:
    """Inside the enclosure of a mesh a thousand times wider, which rests on fractions."""
    landscape = Landscape.regions(1000, (5, 5, 5), "own")
    found = runtime(landscape, tolerance=fmpq(1, 10**6)).total
    assert found.upper is not None
    assert found.upper - found.lower < fmpq(735_686, 10**6)
    assert 735_670 < found.lower < found.upper < 735_715


@pytest.mark.exhaustive
def test_own_bridges_at_n_40_lie_within_the_runs_and_the_coarser_product() -> None:
    found = runtime(Landscape.regions(40, (4, 4, 4), "own")).total
    assert found.upper is not None
    assert found.upper - found.lower < fmpq(406, 10**6)
    assert fmpq(405_924, 1000) < found.lower < found.upper < fmpq(406_228, 1000)
    assert abs(float(found.lower) - 406.75) < 4 * 0.30  # 10^6 runs: docs/plateaus_simulated.csv


@pytest.mark.exhaustive
def test_layers_of_all_tables_and_the_walk_on_the_shared_row_overlap_at_n_13() -> None:
    """Two ways that have nothing in common but the law; each takes minutes."""
    landscape = Landscape.regions(13, (3, 3, 3), "shared")
    walk = runtime(landscape)
    tables = layered(StepLaw.of(landscape), Options(wide=True))
    assert isinstance(tables, Layered)
    for one, (other, *_) in zip((walk.total, *walk.phases), tables.answer.values, strict=True):
        assert one.upper is not None
        assert other.upper is not None
        assert one.lower <= other.upper
        assert other.lower <= one.upper
