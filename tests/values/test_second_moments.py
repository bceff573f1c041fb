"""Variances on a shared row: against exact ones, brute force and runs; guards that refuse."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy.sparse import csr_array

from markov_lrsao import Landscape, Quantity, runtime
from markov_lrsao.exact.series import Element, add, multiply
from markov_lrsao.model.families import regions
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.values import relearning
from markov_lrsao.values.answer import Answer
from markov_lrsao.values.entries import UNORDERED, Climb, Entries, Grid
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.relearning import enclose_shared_row
from markov_lrsao.values.row_graph import RowGraph
from markov_lrsao.values.row_grids import coarse_grid
from markov_lrsao.values.second_moments import (
    Left,
    TimedEdges,
    left_out,
    second_factorial_moment,
    timed_edges,
)
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.slopes import TIMED, Slope, slope_of, waiting

SIMULATED = Path(__file__).parents[2] / "docs" / "plateaus_simulated.csv"


def place_of(n: int, widths: tuple[int, ...], bridges: str) -> Plateaus:
    return plateaus_of(StepLaw.of(regions(widths, bridges).at(n)))


def coarse(place: Plateaus, parts: int = 4) -> Answer:
    grid = coarse_grid(place.law.n, fmpq(1, parts))
    return relearning._coarse(place, 2, 150_000, grid)


def variance(answer: Answer) -> Quantity:
    return answer.values[0][1]


def contains(quantity: Quantity, truth: fmpq) -> bool:
    return quantity.upper is not None and quantity.lower <= truth <= quantity.upper


def relative_width(quantity: Quantity) -> float:
    assert quantity.upper is not None
    return float(fmpq((quantity.upper - quantity.lower) / quantity.lower))


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (13, 4), (30, 5)])
def test_jump_has_its_exact_variance(n: int, ell: int) -> None:
    landscape = Landscape.jump(n, ell)
    found = variance(coarse(plateaus_of(StepLaw.of(landscape))))
    assert contains(found, runtime(landscape).variance.value)
    assert relative_width(found) < 1e-9


@pytest.mark.parametrize(
    ("n", "widths"), [(13, (3, 3, 3)), pytest.param(40, (4, 4, 4, 4), marks=pytest.mark.slow)]
)
def test_one_bridge_for_all_but_the_last_plateau(n: int, widths: tuple[int, ...]) -> None:
    """Patterns decide, so that whole segments give the exact variance in another way."""
    truth = runtime(regions(widths, "all-but-last").at(n), method="segments").variance.value
    found = variance(coarse(place_of(n, widths, "all-but-last")))
    assert contains(found, truth)
    assert relative_width(found) < 1e-6


@pytest.mark.slow
def test_a_first_plateau_of_one_position() -> None:
    """At 0 the target gains 1 by a move up as the bridge does; segments give the exact moments."""
    result = runtime(regions((1, 1, 1), "shared").at(13))
    assert result.method == "segments"
    found = coarse(place_of(13, (1, 1, 1), "shared"))
    assert contains(found.values[0][0], result.total.value)
    assert contains(variance(found), result.variance.value)
    assert relative_width(variance(found)) < 1e-2


def bridges_in_turn() -> tuple[Plateaus, fmpq]:
    """Three plateaus at n = 7 whose bridges are compared, and the variance by the quotient."""
    landscape = regions((2, 1, 1), "shared").at(7)
    result = runtime(landscape)
    assert result.method == "quotient"
    return plateaus_of(StepLaw.of(landscape)), result.variance.value


def test_relearning_against_the_quotient_of_all_tables() -> None:
    place, truth = bridges_in_turn()
    found = variance(coarse(place, parts=16))
    assert contains(found, truth)
    assert relative_width(found) < 1e-3


def entries(n: int) -> Entries:
    parameters = Parameters.paper(n)
    laws = (parameters.alpha, parameters.decay, parameters.alpha * parameters.r)
    fine = Grid(fmpq(1, 1 << 30), fmpq(1, 1 << 30), fmpq(1, 1 << 30), True, 10_000)
    return Entries(n, laws, [fine], fmpq(1, 3), [], 4)


@pytest.mark.parametrize("position", [0, 3, 9])
def test_bits_divide_the_time_of_a_climb(position: int) -> None:
    """Of P(z) = (1 - b) z / (1 - b z) what is accepted at once is (1 - b) z."""
    b = fmpq(position, 10)
    rejected, accepted = entries(10).bits(position)
    at_once = multiply(accepted, waiting(b, TIMED))
    assert all(x.contains(y) for x, y in zip(at_once, (1 - b, 1 - b, 0), strict=True))
    assert all(x.contains(y) for x, y in zip(add(rejected, accepted), (1, 0, 0), strict=True))


def test_orders_know_what_they_say_about_counted_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two climbs of one position each, all pairs of counts up to 200 by themselves."""
    monkeypatch.setattr("markov_lrsao.values.entries._LEAST_LIKELY", 1e-11)
    n, (p, q) = 10, (6, 3)
    values = entries(n)
    x, y = (
        values.number(fmpq(0), fmpq(0), fmpq(1), Climb(at, at, values.exactly(start)))
        for at, start in ((p, fmpq(1)), (q, fmpq(1, 3)))
    )
    lam = float(Parameters.paper(n).decay)
    counts = np.arange(200)
    laws = [(1 - at / n) * (at / n) ** counts for at in (p, q)]
    joint = np.outer(*laws)
    steps = np.add.outer(counts, counts)
    larger = np.greater.outer(lam**counts, lam**counts / 3)
    mean = (joint * steps).sum()
    found = dict.fromkeys((-1, 1), np.zeros(2))
    for outcome in values.orders((x, y), (UNORDERED,)):
        if outcome.order[0] in found:  # else it is less likely than the error below
            middle = [np.mean(outcome.probability), np.mean(outcome.late[0])]
            found[outcome.order[0]] = found[outcome.order[0]] + middle
    for sign, event in ((1, larger), (-1, ~larger)):
        probability = (joint * event).sum()
        covariance = (joint * steps * event).sum() - mean * probability
        assert found[sign] == pytest.approx([probability, covariance], abs=1e-9)
        assert abs(covariance) > 0.01  # so that bits without time would be seen


def test_walks_without_time_are_refused() -> None:
    graph = RowGraph(SharedRow(place_of(13, (3, 3, 3), "all-but-last"), [coarse_grid(13)]))
    graph.explore(10_000)
    with pytest.raises(AssertionError, match="nothing of time"):
        timed_edges(graph)


def simulated(n: int, widths: str, bridges: str) -> tuple[float, float]:
    with SIMULATED.open() as file:
        for row in csv.DictReader(file):
            asked = (str(n), widths, bridges, "T")
            if (row["n"], row["widths"], row["bridges"], row["quantity"]) == asked:
                return float(row["variance"]), float(row["variance_error"])
    raise LookupError(n, widths, bridges)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "widths", "bridges", "width"),
    [(20, "3+3+3", "shared", 0.06), (100, "5+5+5", "shared", 0.02), (100, "5+5+5", "own", 1e-3)],
)
def test_against_a_million_runs(n: int, widths: str, bridges: str, width: float) -> None:
    """Within four standard errors of the sample's variance, which were fixed beforehand."""
    answer = enclose_shared_row(place_of(n, tuple(map(int, widths.split("+"))), bridges), 2)
    assert isinstance(answer, Answer)
    found, (truth, error) = variance(answer), simulated(n, widths, bridges)
    assert relative_width(found) < width
    assert float(found.lower) - 4 * error <= truth <= float(found.upper or 0) + 4 * error


# Slopes that know the time


def by_brute_force(law: StepLaw, first: int, last: int, sides: tuple[int, ...]) -> Element:
    """Return E[z^steps; exits] up to x^2 from all rows of a slope, as signs; entries follow exits.

    Written down from the rule: the largest sign is greedy, gains make an entry positive, penalties
    negative.
    """
    fresh = tuple((0,) * len(law.actions) for _ in range(first, last + 1))
    weights: dict[Rows, Element] = {fresh: (fmpq(1), fmpq(0), fmpq(0))}
    entry = DOWN
    for side in sides:
        weights = _passed(law, first, last, entry, side, weights)
        entry = side
    total: Element = (fmpq(0),) * 3
    for weight in weights.values():
        total = add(total, weight)
    return total


Rows = tuple[tuple[int, ...], ...]


def _passed(
    law: StepLaw, first: int, last: int, entry: int, side: int, weights: dict[Rows, Element]
) -> dict[Rows, Element]:
    begun = {(first if entry == DOWN else last, rows): w for rows, w in weights.items()}
    states = list(begun)
    number = {s: i for i, s in enumerate(states)}
    inner, outer = [], []
    for i, (p, rows) in enumerate(states):  # grows while it is read
        signs = rows[p - first]
        greedy = [a for a, s in enumerate(signs) if s == max(signs)]
        for a, d in product(greedy, (DOWN, UP)):
            share = fmpq(p if d == DOWN else law.n - p, law.n * len(greedy))
            q, after = p, rows
            if law.accepted[p, a, d]:
                q = p + 2 * d - 1
                sign = 1 if law.reward(p, a, d) > 0 else -1
                row = (*signs[:a], sign, *signs[a + 1 :])
                after = (*rows[: p - first], row, *rows[p - first + 1 :])
            if first <= q <= last:
                if (q, after) not in number:
                    number[q, after] = len(states)
                    states.append((q, after))
                inner.append((i, number[q, after], share))
            elif d == side:
                outer.append((i, after, share))
    size = len(states)
    matrix = fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    for i, j, share in inner:
        matrix[j, i] -= share
    found: list[list[fmpq]] = []
    for k in range(3):  # every step has the weight share * (1 + x)
        right = [begun[s][k] if s in begun else fmpq(0) for s in states]
        if k:
            for i, j, share in inner:
                right[j] += share * found[k - 1][i]
        found.append(matrix.solve(fmpq_mat(size, 1, right)).entries())
    exits: dict[Rows, Element] = {}
    for i, after, share in outer:
        visits = tuple(found[k][i] for k in range(3))
        weight = multiply(visits, (share, share, fmpq(0)))
        exits[after] = add(exits[after], weight) if after in exits else weight
    return exits


def by_words(slope: Slope, sides: tuple[int, ...]) -> Element:
    weights: dict[int, Element] = {0: (fmpq(1), fmpq(0), fmpq(0))}
    for side in sides:
        after: dict[int, Element] = {}
        for word, weight in weights.items():
            for x in slope.words[word].passages:
                if x.side == side:
                    more = multiply(weight, x.weight)
                    after[x.word] = add(after[x.word], more) if x.word in after else more
        weights = after
    total: Element = (fmpq(0),) * 3
    for weight in weights.values():
        total = add(total, weight)
    return total


@pytest.mark.parametrize(
    ("bridges", "last"), [("own", 3), ("all-but-last", 3), ("shared", 4), ("own", 4), ("shared", 5)]
)
def test_timed_slopes_against_all_rows(bridges: str, last: int) -> None:
    law = StepLaw.of(regions((3, 3, 3), bridges).at(9 + 2 * (last - 2)))
    slope = slope_of(law, 3, last, TIMED)
    deep = [(UP, UP, UP), (UP, DOWN, UP), (DOWN, UP, UP), (DOWN, DOWN, UP), (UP, UP, DOWN, UP)]
    found = {sides: by_words(slope, sides) for sides in (deep if last <= 4 else deep[:3])}
    for sides, weight in found.items():
        assert weight == by_brute_force(law, 3, last, sides), sides
    assert sum(weight[0] > 0 for weight in found.values()) >= 2


def test_time_tells_something_about_rows() -> None:
    """Words that did not know it would have other second moments: the guard above can fail."""
    law = StepLaw.of(regions((3, 3, 3), "shared").at(13))
    slope = slope_of(law, 3, 4, TIMED)
    sides = (DOWN, UP, UP)
    independent: Element = (fmpq(1), fmpq(0), fmpq(0))
    weights = {0: fmpq(1)}
    for side in sides:
        after: dict[int, fmpq] = {}
        step: Element = (fmpq(0),) * 3
        for word, weight in weights.items():
            for x in slope.words[word].passages:
                if x.side == side:
                    after[x.word] = after.get(x.word, fmpq(0)) + weight * x.probability
                    step = add(step, tuple(weight * c for c in x.weight))
        total = sum(after.values(), fmpq(0))
        weights = {w: p / total for w, p in after.items()}
        independent = multiply(independent, step)
    found = by_words(slope, sides)
    assert independent[0] == found[0]
    assert independent[2] != found[2]


# Bounds


def small_system(matrix: list[list[float]], owner: list[int]) -> FloatSystem:
    owners = np.array(owner)
    first = np.searchsorted(owners, np.arange(owners.max() + 1))
    sparse = csr_array(np.array(matrix))
    return FloatSystem(owners, first, sparse, sparse)


def test_what_is_forgotten_widens_by_its_covariance() -> None:
    """C steps, 0 or 10, are counted; later the choice of 1 or 11 more steps depends on C.

    E[(T choose 2)] is 105 if the longer one follows C = 10, and 55 the other way round. An edge
    between that tells nothing separates the two, so that nothing but `untold` knows of it when the
    middle is told to be known exactly.
    """
    system = small_system([[0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]], [0, 1, 2, 2])
    first = np.array([5.0, 0.0, 1.0, 11.0])
    edges = TimedEdges(
        option=np.arange(4),
        target=np.array([1, 2, -1, -1]),
        share=np.ones(4),
        first=np.array([first, first]),
        untold=np.array([0.0, 5.0, 0.0, 0.0]),
        second=np.array([[22.5, 0.0, 0.0, 55.0]] * 2),
    )
    low, high = second_factorial_moment(system, edges, (first, first))
    assert low <= 55
    assert high >= 105
    # sum p_2 + p_1 v_1' + sd (11 - 1) / 2 at their worst
    assert high == pytest.approx(22.5 + 5 * 11 + 55 + 5 * 10 / 2)
    assert low == pytest.approx(max(0.0, 22.5 + 5 * 1 - 5 * 10 / 2))


def test_lost_runs_are_bounded_with_the_time_before() -> None:
    """A step ends with 1/2, loses the run with 1/10: t is geometric and independent of it.

    With one step left to a lost run, which V does not count, E[t R] is E[t; lost].
    """
    system = small_system([[0.4]], [0])
    edges = TimedEdges(
        option=np.zeros(3, dtype=np.int64),
        target=np.array([0, -1, -2]),
        share=np.array([0.4, 0.5, 0.1]),
        first=np.array([[0.4, 0.5, 0.1]] * 2),
        untold=np.zeros(3),
        second=np.zeros((2, 1)),
    )
    left = Left(np.ones(1), np.zeros(1), np.zeros(1, dtype=bool), np.zeros(1))
    found = left_out(system, edges, left)
    assert 1 / 6 / 0.6 <= found == pytest.approx(1 / 6 / 0.6)


def test_costs_that_cancel_do_not_hide_roundings() -> None:
    """Beside 1e16 a float knows nothing of units: an inequality that holds by 1 proves nothing."""
    system = small_system([[0, 1], [0, 0]], [0, 1])
    costs = np.array([-1e16, 1e16])
    assert not system.holds(np.array([9.0, 1e16 + 8]), costs, 1)
    assert system.holds(np.array([90.0, 1e16 + 8]), costs, 1)


def test_variances_of_long_slopes_are_left_out() -> None:
    place = plateaus_of(StepLaw.of(Landscape.jump(relearning._LONGEST_TIMED + 1, 5)))
    assert variance(coarse(place)).upper is None
