"""Plateaus that share a row: enclosures against Jump's exact values, simulations and themselves."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Landscape, runtime
from markov_lrsao.answers.plan import Options, Relearnt, plan
from markov_lrsao.cli import main
from markov_lrsao.errors import CrossingError, Refused, StateSpaceTooLargeError
from markov_lrsao.exact.quantity import UNKNOWN, Quantity
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.law import DOWN, StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.values import relearning, shared_row
from markov_lrsao.values.anywhere import Anywhere
from markov_lrsao.values.entries import UNORDERED, Entries, Ordered
from markov_lrsao.values.options import float_system, steps_of
from markov_lrsao.values.plateaus import Plateaus, plateaus_of, several_plateaus
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.relearning import _bounded, enclose_shared_row
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid, grids
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.slopes import slope_of
from markov_lrsao.values.solving import Answer
from markov_lrsao.values.straight_up import steps_straight_up
from simulate import simulate

ANY_WIDTH = fmpq(1)


def regions(n: int, widths: tuple[int, ...], *, shared: bool) -> Landscape:
    """Plateaus of these widths, slopes between them, a bridge each or two in turn."""
    count = len(widths)
    each, longer = divmod(n - sum(widths), count - 1)
    plateaus, p = [], 0
    for i, width in enumerate(widths):
        plateaus.append((p, p + width - 1))
        p += width + each + (i < longer)
    target = np.arange(n + 1)
    for a, b in plateaus:
        target[a : b + 1] = 0
    objectives = {"T": target}
    for bridge in range(2 if shared else count):
        values = np.zeros(n + 1, dtype=np.int64)
        for i, (a, b) in enumerate(plateaus):
            if (i % 2 if shared else i) == bridge:
                near = np.arange(max(a - 1, 0), min(b + 1, n) + 1)
                values[near] = near
        objectives[f"B{bridge}"] = values
    ends = [q for a, b in plateaus for q in (a, b + 1) if q > 0]
    return Landscape.from_arrays(objectives, "T", ends, name="regions")


def graph_of(place: Plateaus) -> RowGraph:
    """A walk with one coarse mesh, not yet explored."""
    return RowGraph(SharedRow(place, [coarse_grid(place.law.n)]))


def enclosed(
    landscape: Landscape, tolerance: fmpq = ANY_WIDTH, largest: int | None = None
) -> Answer:
    found = enclose_shared_row(
        plateaus_of(StepLaw.of(landscape)), 2, tolerance=tolerance, largest=largest
    )
    assert isinstance(found, Answer)
    return found


def contains(quantity: Quantity, value: fmpq) -> bool:
    assert quantity.upper is not None
    return bool(quantity.lower <= value <= quantity.upper)


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (11, 2), (13, 4), (20, 3)])
def test_two_plateaus_are_jump_whose_values_are_exact(n: int, ell: int) -> None:
    landscape = Landscape.jump(n, ell)
    found, truth = enclosed(landscape), runtime(landscape, method="crossing")
    assert found.undecided is None
    assert found.relative_width < fmpq(1, 10**9)
    for values, exact in zip(found.values, (truth.total, *truth.phases), strict=True):
        assert contains(values[0], exact.value)


@pytest.mark.slow
def test_three_plateaus_agree_with_simulated_runs() -> None:
    landscape = regions(60, (4, 4, 4), shared=True)
    total = enclosed(landscape).values[0][0]
    runs = simulate(landscape, runs=4_000, seed=15, threads=1).steps.astype(float)
    error = 4 * float(runs.std()) / len(runs) ** 0.5
    assert float(total.lower) - error <= runs.mean() <= float(total.upper or 0) + error


@pytest.mark.slow
def test_a_finer_mesh_narrows_the_enclosure_and_meets_the_coarse_one() -> None:
    place = plateaus_of(StepLaw.of(regions(60, (4, 4, 4), shared=True)))
    coarse = enclose_shared_row(place, 2, tolerance=fmpq(1))
    fine = enclose_shared_row(place, 2, tolerance=fmpq(1, 10**9), largest=14_000)
    assert isinstance(coarse, Answer)
    assert isinstance(fine, Answer)
    assert fine.relative_width <= coarse.relative_width < fmpq(1, 20)
    for a, b in zip(coarse.values, fine.values, strict=True):
        assert a[0].lower <= (b[0].upper or 0)
        assert b[0].lower <= (a[0].upper or 0)
    total, *phases = fine.values
    assert sum((p[0].lower for p in phases), fmpq(0)) <= (total[0].upper or 0)


@pytest.mark.slow
def test_the_command_line_gives_an_enclosure_for_three_plateaus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    landscape = regions(60, (4, 4, 4), shared=True)
    objectives = {name: values.tolist() for name, values in landscape.objectives.items()}
    file = tmp_path / "three.json"
    file.write_text(json.dumps({"objectives": objectives, "target": "T"}))
    assert main(["exact", "--landscape", str(file), "--tolerance", "1/20", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    total = found["total"]
    assert not total["exact"]
    assert 0 < float(total["upper"]) - float(total["lower"]) < float(total["upper"]) / 20


def test_the_plan_leaves_other_laws_alone() -> None:
    three = StepLaw.of(regions(20, (3, 3, 3), shared=True))
    assert isinstance(plan(three, Options()), Relearnt)
    assert not isinstance(plan(StepLaw.of(Landscape.jump(9, 2)), Options()), Relearnt)
    assert isinstance(several_plateaus(StepLaw.of(Landscape.jump(9, 2))), Refused)


@pytest.mark.parametrize(
    ("law", "reason"),
    [
        (StepLaw.of(Landscape.onemax(9)), "one bridge|share one row"),
        (StepLaw.of(regions(20, (3, 3, 3), shared=True), Algorithm.earl()), "LRSAO"),
        (
            StepLaw.of(
                regions(20, (3, 3, 3), shared=True),
                Algorithm.lrsao(Parameters("4/5", "1/21", "1/10")),
            ),
            "does not hold",
        ),
    ],
)
def test_what_is_not_covered_is_refused(law: StepLaw, reason: str) -> None:
    with pytest.raises(CrossingError, match=reason):
        plateaus_of(law)


def test_too_many_states_are_refused() -> None:
    walk = graph_of(plateaus_of(StepLaw.of(regions(20, (3, 3, 3), shared=True))))
    with pytest.raises(StateSpaceTooLargeError, match="more than 100"):
        walk.explore(100)


def test_wrong_candidates_are_refused() -> None:
    walk = graph_of(plateaus_of(StepLaw.of(Landscape.jump(9, 2))))
    walk.explore(10_000)
    system = float_system(walk.options, len(walk.states))
    ones = np.ones(len(walk.options))
    above, below = system.bound(ones, 1), system.bound(ones, -1)
    assert (above >= below).all()
    for i in (0, len(above) // 2, len(above) - 1):
        assert not system.holds(_moved(above, i, 1 - 1e-6), ones, 1)
        assert not system.holds(_moved(below, i, 1 + 1e-6), ones, -1)
    assert not system.holds(above * np.inf, ones, 1)


def _moved(values: np.ndarray, i: int, factor: float) -> np.ndarray:
    changed = values.copy()
    changed[i] *= factor
    return changed


def test_bounds_of_a_chain_with_a_choice() -> None:
    from scipy.sparse import csr_array

    # State 0 ends at once, or stays with probability 1/2: 1 or 2 steps on average.
    matrix = csr_array(np.array([[0.0], [0.5]]))
    system = FloatSystem(np.array([0, 0]), np.array([0]), matrix, matrix)
    low, high = system.enclose([np.ones(2), np.ones(2)])
    assert low <= 1 <= low + fmpq(1, 10**6)
    assert high - fmpq(1, 10**6) <= 2 <= high


def test_exits_of_a_slope_have_probabilities() -> None:
    law = StepLaw.of(regions(20, (3, 3, 3), shared=False))
    slope = slope_of(law, 3, 8)
    for word in slope.words:
        assert sum((x.probability for x in word.passages), fmpq(0)) == 1
    assert slope.words[0].entry == DOWN
    assert slope.falls[0]
    # Two bridges: fresh, fallen back, left with the top unsettled, settled.
    assert len(slope_of(StepLaw.of(regions(20, (3, 3, 3), shared=True)), 3, 8).words) == 4


def test_a_top_that_keeps_an_action_that_moves_down_is_refused() -> None:
    landscape = regions(13, (3, 3, 3), shared=True)
    objectives = {name: values.tolist() for name, values in landscape.objectives.items()}
    top = next(p for p in range(3, 13) if objectives["T"][p + 1] == 0)
    objectives["B1"][top - 1] = top + 1  # rewarded for moves down from the top as well
    found = plateaus_of(StepLaw.of(Landscape.from_arrays(objectives, "T")))
    with pytest.raises(CrossingError, match="may also move down"):
        graph_of(found).explore(20_000)


def test_likely_states_are_all_states_where_they_fit() -> None:
    place = plateaus_of(StepLaw.of(Landscape.jump(13, 4)))
    every, likely = graph_of(place), graph_of(place)
    every.explore(10_000)
    likely.explore_likely(10_000)
    assert not likely.cut
    assert len(set(likely.states)) == len(likely.states) == len(every.states)
    assert len(likely.options) == len(every.options)


def test_what_is_cut_off_widens_an_enclosure_that_still_holds() -> None:
    landscape = Landscape.jump(11, 2)
    truth = runtime(landscape, method="crossing").total.value
    place = plateaus_of(StepLaw.of(landscape))
    widths = []
    for most in (20, 60, 10_000):
        walk = graph_of(place)
        walk.explore_likely(most)
        found = _bounded(walk, 1)
        assert contains(found.values[0][0], truth)
        assert (found.undecided is None) == (not walk.cut)
        widths.append(found.relative_width)
    assert widths[0] > widths[1] > widths[2]


def test_a_bound_that_forgets_what_is_cut_off_is_seen() -> None:
    landscape = Landscape.jump(11, 2)
    truth = runtime(landscape, method="crossing").total.value
    walk = graph_of(plateaus_of(StepLaw.of(landscape)))
    walk.explore_likely(60)
    found = walk.walk.anywhere
    assert found is not None
    nothing = dict.fromkeys(found.upper, 0.0)
    walk.walk.anywhere = replace(found, lower=nothing, upper=nothing)
    assert not contains(_bounded(walk, 1).values[0][0], truth)


def test_no_state_takes_longer_than_going_straight_up() -> None:
    walk = graph_of(plateaus_of(StepLaw.of(Landscape.jump(9, 2))))
    walk.explore(10_000)
    system = float_system(walk.options, len(walk.states))
    longest = float(system.bound(steps_of(walk.options)[1], 1).max())
    assert longest < steps_straight_up(walk.walk.place)


def test_going_straight_up_is_not_bounded_where_a_move_up_is_rejected() -> None:
    place = plateaus_of(StepLaw.of(Landscape.jump(9, 2)))
    accepted = place.law.accepted.copy()
    accepted[8, 0, 1] = False
    place = replace(place, law=replace(place.law, accepted=accepted))
    with pytest.raises(CrossingError, match="rejects a move up at position 8"):
        steps_straight_up(place)


def test_without_that_bound_all_states_must_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Anywhere:
        raise CrossingError("an objective rejects a move up at position 8")

    monkeypatch.setattr(shared_row, "bounds_anywhere", refuse)
    monkeypatch.setattr(relearning, "bounds_anywhere", refuse)
    place = plateaus_of(StepLaw.of(Landscape.jump(11, 2)))
    truth = runtime(Landscape.jump(11, 2), method="crossing").total.value
    found = enclose_shared_row(place, 1, tolerance=ANY_WIDTH)
    assert isinstance(found, Answer)
    assert contains(found.values[0][0], truth)
    few = enclose_shared_row(place, 1, largest=60)
    assert isinstance(few, Refused)
    assert "more than 60 states" in str(few.reason)


def test_small_probabilities_are_bounded_relatively() -> None:
    from scipy.sparse import csr_array

    # A walk of 100 states that goes on with probability 1e-3, or ends.
    size = 100
    matrix = csr_array(np.diag(np.full(size - 1, 1e-3), 1))
    numbers = np.arange(size)
    system = FloatSystem(numbers, numbers, matrix, matrix)
    middle = np.zeros(size)
    middle[60] = 1.0
    truth = fmpq(*(1e-3).as_integer_ratio()) ** 60
    bound = fmpq(*system.small_bound(middle).as_integer_ratio())
    assert truth <= bound <= truth * fmpq(1_000_001, 1_000_000)
    assert system.small_bound(np.zeros(size)) == 0.0


@pytest.mark.slow
def test_own_bridges_agree_with_simulated_runs() -> None:
    landscape = regions(60, (5, 5, 5), shared=False)
    found = enclosed(landscape, fmpq(1, 300))
    assert found.relative_width < fmpq(1, 200)
    runs = simulate(landscape, runs=20_000, seed=16, threads=1).steps.astype(float)
    error = 4 * float(runs.std()) / len(runs) ** 0.5
    total = found.values[0][0]
    assert float(total.lower) - error <= runs.mean() <= float(total.upper or 0) + error


def test_own_bridges_that_do_not_fit_are_bounded_by_position() -> None:
    place = plateaus_of(StepLaw.of(regions(20, (3, 3, 3), shared=False)))
    found = enclose_shared_row(place, 2, largest=300)
    assert not isinstance(found, Refused)
    total, *phases = (q[0] for q in found.values)
    least, most = float(total.lower), float(total.upper or 0)
    _, mean, error = simulated(20, 3, "own")
    assert 20 < least < mean - 4 * error
    assert mean + 4 * error < most < 20_000  # t / p alone, of `straight_up`, is 1e7 and more
    assert found.undecided == 1
    for phase in phases:  # nothing is known of them but that they are parts
        assert phase.lower == 0
        assert phase.upper == total.upper
    assert all(q[1] == UNKNOWN for q in found.values)


SIMULATED = Path(__file__).parents[2] / "docs" / "plateaus_simulated.csv"


def simulated(n: int, k: int, bridges: str) -> tuple[tuple[int, ...], float, float]:
    """Widths, mean and standard error of a million runs."""
    with SIMULATED.open() as file:
        for row in csv.DictReader(file):
            if (row["n"], row["k"], row["bridges"]) == (str(n), str(k), bridges):
                widths = tuple(map(int, row["widths"].split("+")))
                return widths, float(row["mean"]), float(row["error"])
    raise AssertionError("no such row")


def refined(n: int, k: int, bridges: str, most: int) -> tuple[float, float, float, float]:
    widths, mean, error = simulated(n, k, bridges)
    place = plateaus_of(StepLaw.of(regions(n, widths, shared=bridges == "shared")))
    total = relearning._refined(place, 1, fmpq(1, 2_000), most).values[0][0]
    return float(total.lower), float(total.upper or 0), mean, error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "k", "bridges", "width"),
    [
        (100, 3, "own", 1e-3),
        (100, 3, "shared", 1e-3),
        (100, 4, "shared", 0.1),
        (13, 4, "shared", 0.2),
    ],
)
def test_states_that_matter_are_followed_finely(n: int, k: int, bridges: str, width: float) -> None:
    low, high, mean, error = refined(n, k, bridges, 100_000)
    assert high - low < width * low
    assert low - 4 * error <= mean <= high + 4 * error


def test_handing_states_down_keeps_exact_values() -> None:
    # Two plateaus are decided: whatever is handed down, E[T] is the exact one.
    landscape = Landscape.jump(9, 2)
    truth = runtime(landscape, method="crossing").total.value
    walk = SharedRow(plateaus_of(StepLaw.of(landscape)), grids(9))
    levels = set()
    for threshold in (1e-3, 1e-2, 1e-1):
        graph = RowGraph(walk)
        shares = (0.0, 0.05, 0.3, 1.0)  # of looser grids fewer states are handed down
        graph.explore_likely(20_000, level=3, thresholds=[threshold * s for s in shares])
        assert not graph.cut
        found = _bounded(graph, 1).values[0][0]
        assert contains(found, truth)
        levels.update(graph.levels)
    assert levels == {0, 1, 2, 3}


@pytest.mark.slow
def test_orders_that_are_told_wrongly_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Entries.orders

    def turned_round(
        self: Entries, values: tuple[int, ...], known: tuple[int, ...]
    ) -> list[Ordered]:
        return [
            x._replace(order=tuple(s if s == UNORDERED else -s for s in x.order))
            for x in told(self, values, known)
        ]

    monkeypatch.setattr(Entries, "orders", turned_round)
    low, high, mean, error = refined(100, 4, "shared", 60_000)
    assert not low - 4 * error <= mean <= high + 4 * error
