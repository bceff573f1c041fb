"""Float answers carry errors that hold; wrong candidates get no certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hard_chains import FAMILIES, hard_chain, ring, square

from markov_lrsao import MarkovChain
from markov_lrsao.chains.hitting import hitting_times
from markov_lrsao.chains.reaching import reach
from markov_lrsao.chains.solvers import _float, _methods, _system, _wide, backward
from markov_lrsao.chains.solvers._system import System
from markov_lrsao.chains.sources import birth_death_chain, chain_from_rows
from markov_lrsao.errors import SolverError

UNIT = 2.0**-53
GOOD = fmpq(1, 10**10)


@pytest.fixture(params=["eliminated", "planned"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Elimination, or the other methods first on every component of several states."""
    if request.param == "planned":
        planned(monkeypatch)
    return str(request.param)


def planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_system, "_WIDE", 0)
    monkeypatch.setattr(_system, "_WORTH_ORDERING", -1.0)
    monkeypatch.setattr(_system, "_PAYS_FOR_PLANNING", 2)
    monkeypatch.setattr(_system, "_LESS_WORK", -1.0)


def judged(chain: MarkovChain, target: np.ndarray) -> str:
    """Return how floats answered; assert that the truth lies within every error."""
    (truth,) = reach(chain, target).starts
    try:
        (found,) = reach(chain, target, field="float").starts
    except SolverError as refusal:
        assert "\n" not in str(refusal)  # noqa: PT017
        return "refused"
    widest = fmpq(0)
    for name in ("probability", "miss", "conditional_mean", "variance"):
        exact, near = getattr(truth, name), getattr(found, name)
        if exact is None or near is None:
            continue  # beyond the floats, or there is no such number
        assert near.lower <= exact.value <= near.upper, name
        if exact.value != 0 and name != "variance":
            widest = max(widest, (near.upper - near.lower) / 2 / abs(exact.value))
    return "good" if widest < GOOD else "wide"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_truth_lies_within_the_error(family: str, way: str) -> None:
    outcomes = Counter(judged(*hard_chain(family, seed)) for seed in range(1000, 1004))
    assert outcomes["good"] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_of_hard_chains(family: str, way: str) -> None:
    outcomes = Counter(judged(*hard_chain(family, seed)) for seed in range(20))
    assert outcomes["good"] >= 15


@pytest.mark.exhaustive
def test_five_hundred_hard_chains(way: str, record_property: Callable[[str, object], None]) -> None:
    outcomes: Counter[str] = Counter()
    for family in FAMILIES:
        own = Counter(judged(*hard_chain(family, seed)) for seed in range(100))
        for name in sorted(own):
            record_property(f"{family} {name}", own[name])
        outcomes += own
    assert outcomes.total() == 500
    assert outcomes["good"] >= 450


def component(chain: MarkovChain, target: int) -> _methods.Component:
    inside = np.arange(chain.size) != target
    return System.of(chain, inside).component(np.flatnonzero(inside))[0]


@pytest.mark.parametrize("make", [ring, square])
def test_the_bound_covers_what_was_changed(make: Callable[[int], MarkovChain]) -> None:
    """Perturbed candidates have a bound that is at least as large as the perturbation."""
    chain = make(12)
    own = component(chain, chain.size - 1)
    ones = np.ones(own.size)
    right = hitting_times(chain, np.arange(chain.size) == chain.size - 1, field="float")[:-1]
    assert _wide.relative_bound(own, ones, right, right) < 1e-12
    rng = np.random.default_rng(5)
    for size in (1e-13, 1e-9, 1e-4, 0.5):
        for _ in range(20):
            wrong = right.copy()
            i = int(rng.integers(own.size))
            wrong[i] *= 1 + rng.choice([-1, 1]) * size
            bound = _wide.relative_bound(own, ones, wrong, right)
            assert bound >= 0.99 * size / (1 + size)
            both = _wide.relative_bound(own, ones, wrong, wrong)
            assert both >= 0.99 * size / (1 + size)  # a wrong barrier proves nothing wrong


@pytest.mark.parametrize("make", [ring, square])
def test_a_candidate_as_its_own_barrier(make: Callable[[int], MarkovChain]) -> None:
    """The same bound, whether the barrier is the candidate itself or a copy of it."""
    chain = make(12)
    own, rng = component(chain, chain.size - 1), np.random.default_rng(7)
    right = hitting_times(chain, np.arange(chain.size) == chain.size - 1, field="float")[:-1]
    for size in (0.0, 1e-12, 1e-3):
        x = right * (1 + size * rng.uniform(-1, 1, own.size))
        itself = _wide.relative_bound(own, np.ones(own.size), x, x)
        copied = _wide.relative_bound(own, np.ones(own.size), x, x.copy())
        assert itself == pytest.approx(copied, rel=1e-12 + UNIT / max(size, UNIT) * 1e3)


def test_what_is_no_barrier_proves_nothing() -> None:
    chain = ring(30)
    own = component(chain, 30)
    ones = np.ones(own.size)
    right = hitting_times(chain, np.arange(31) == 30, field="float")[:-1]
    spoilt: list[Any] = [ones, -right, 0 * right, right * np.nan, right * np.inf]
    for i in range(own.size):
        dent = right.copy()
        dent[i] *= 0.5  # below the mean of its successors
        hump = right.copy()
        hump[i] *= 3  # its predecessors are
        spoilt += [dent, hump]
    for barrier in spoilt:
        assert _wide.relative_bound(own, ones, right, barrier) == np.inf
    assert _wide.relative_bound(own, ones, right, right) < 1e-12


METHODS: list[Any] = [_methods.Factored, _methods.Krylov, _methods.Multilevel]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [ring, square])
def test_each_method_alone(
    method: Any, make: Callable[[int], MarkovChain], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(monkeypatch)
    monkeypatch.setattr(_methods.Component, "plan", [method])
    chain = make(20)
    target = np.arange(chain.size) == chain.size - 1
    own = component(chain, chain.size - 1)
    assert _wide.Planned(own).solve(np.ones(own.size)) is not None
    truth = hitting_times(chain, target)
    rounds = np.zeros(chain.size)
    values = backward(chain, ~target, np.ones(chain.size), field="float", rounds=rounds)
    for x, exact, count in zip(values[:-1], truth, rounds[:-1], strict=False):
        assert float(abs(fmpq(*float(x).as_integer_ratio()) / exact - 1)) <= 1.1 * count * UNIT
    assert rounds.max() * UNIT < 1e-10


@pytest.mark.parametrize("degree", [2, 4, 9, 30])
@pytest.mark.parametrize("ahead", [False, True])
def test_bicgstab_with_and_without_gauss_and_seidel(degree: int, ahead: bool) -> None:
    """Both come to what a dense solver finds; most rows do not leave the component."""
    from markov_lrsao.chains.kernels.krylov import bicgstab

    rng, size = np.random.default_rng(degree), 90
    columns = np.array([np.sort(rng.choice(size, degree, replace=False)) for _ in range(size)])
    share = rng.uniform(0.1, 1.0, (size, degree))
    share /= share.sum(axis=1, keepdims=True)
    share[::7] *= 0.8  # what is left of the jump chain's rows leaves the component
    rows = np.arange(0, size * degree + 1, degree), columns.ravel().astype(np.int32), share.ravel()
    dense = np.eye(size)
    np.subtract.at(dense, (np.repeat(np.arange(size), degree), rows[1]), rows[2])
    right, x = rng.uniform(0.0, 2.0, size), np.zeros(size)
    assert bicgstab(*rows, right, x, 1e-12, 400, ahead)
    assert x == pytest.approx(np.linalg.solve(dense, right), rel=1e-9)
    assert not bicgstab(*rows, right, np.zeros(size), 1e-12, 1, ahead)


@pytest.mark.parametrize("make", [ring, square])
def test_a_correction_is_judged_by_what_it_leaves(make: Callable[[int], MarkovChain]) -> None:
    """The residual in two floats sees what is far below the rounding of x, and no less."""
    chain = make(12)
    own = component(chain, chain.size - 1)
    ones, truth = np.ones(own.size), hitting_times(chain, np.arange(chain.size) == chain.size - 1)
    x = np.array([float(fmpz_ratio(value)) for value in truth[:-1]])
    low = np.array(
        [
            float(fmpz_ratio(value - fmpq(*float(near).as_integer_ratio())))
            for value, near in zip(truth, x, strict=False)
        ]
    )
    assert _wide._close(own, ones, x, low, x)[0] < 1e-26
    rng = np.random.default_rng(6)
    for size in (1e-25, 1e-22, 1e-18, 1e-9, 0.5):
        for _ in range(20):
            wrong = low.copy()
            i = int(rng.integers(own.size))
            wrong[i] += rng.choice([-1, 1]) * size * x[i]
            assert _wide._close(own, ones, x, wrong, x)[0] >= 0.99 * size


def fmpz_ratio(value: fmpq) -> Any:
    """Return a rational that Python rounds correctly."""
    from fractions import Fraction

    return Fraction(int(value.p), int(value.q))


@pytest.mark.parametrize("error", [1e-6, 1.0, np.nan])
def test_a_method_that_errs_is_not_believed(error: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small error is corrected, and the bound says how well; else the component is eliminated."""
    chain = ring(200)
    target = np.arange(201) == 200
    usual = hitting_times(chain, target, field="float")
    planned(monkeypatch)

    def erring(solve: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(self: Any, given: Any, *tolerance: float) -> Any:
            x = solve(self, given, *tolerance)
            x[7] += error * np.abs(x).max()
            return x

        return wrong

    for method in METHODS:
        monkeypatch.setattr(method, "solve", erring(method.solve))
    found = _wide.Planned(component(chain, 200)).solve(np.ones(200))
    assert (found is None) == (error != 1e-6)
    if found is not None:
        assert np.max(np.abs(found[0] / usual[:-1] - 1)) <= found[1] + 1e-13 < 1e-9
    np.testing.assert_allclose(hitting_times(chain, target, field="float"), usual, rtol=1e-13)
    monkeypatch.setattr(_wide, "corrected", lambda _, own, right, x, barrier: (x, np.inf))
    assert _wide.Planned(component(chain, 200)).solve(np.ones(200)) is None


def test_an_elimination_that_errs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = ring(50)
    target = np.arange(51) == 50
    original = _float._Sweep.solve

    def wrong(self: Any, bar: Any, *, closely: bool) -> None:
        original(self, bar, closely=closely)
        self.values[9] *= 1 + 1e-9

    backward(chain, ~target, np.ones(51), field="float", rounds=np.zeros(51))
    monkeypatch.setattr(_float._Sweep, "solve", wrong)
    with pytest.raises(SolverError, match="fails its equation in state"):
        backward(chain, ~target, np.ones(51), field="float", rounds=np.zeros(51))


@pytest.mark.parametrize("chain", [ring(60), square(8), birth_death_chain(["1/2"] * 300)])
@pytest.mark.parametrize("sparse", [False, True])
def test_where_counting_proves_little_the_elimination_is_corrected(
    chain: MarkovChain, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its counted bound is some 1e-12; with a certificate it is that of a few roundings."""
    target = np.arange(chain.size) == chain.size - 1
    if sparse:
        monkeypatch.setattr(_system, "_WIDE", 0)
        monkeypatch.setattr(_system, "_SLOW_BAND", 0.0)
    counted, proved = np.zeros(chain.size), np.zeros(chain.size)
    ones = np.ones(chain.size)
    backward(chain, ~target, ones, field="float", rounds=counted)
    monkeypatch.setattr(_float, "_MANY", 1.0)
    monkeypatch.setattr(_wide, "_GOOD_ENOUGH", 0.0)
    values = backward(chain, ~target, ones, field="float", rounds=proved)
    truth = hitting_times(chain, target)
    for x, exact, count in zip(values[:-1], truth, proved[:-1], strict=False):
        assert abs(fmpq(*float(x).as_integer_ratio()) / exact - 1) <= fmpq(int(count) + 1, 2**53)
    assert proved.max() < 20 < 300 < counted.max()


def test_what_a_float_says_of_itself() -> None:
    chain = chain_from_rows(
        [{0: "1/3", 1: "1/3", 2: "1/3"}, {0: "1/7", 3: "1/7", 1: "5/7"}, {2: 1}, {3: 1}]
    )
    (found,) = reach(chain, np.arange(4) == 3, field="float").starts
    data = found.to_dict()
    for name, truth in (("probability", fmpq(1, 3)), ("conditional_mean", fmpq(20, 3))):
        form = data[name]
        assert form["certified"] is True
        lower, upper, error = (
            fmpq(*map(int, fmpq_of(form[key]))) for key in ("lower", "upper", "error")
        )
        assert lower <= truth <= upper
        assert upper - lower <= 2 * error * fmpq(101, 100)
        # within one unit of the last digit that is printed
        digits = len(form["decimal"].partition(".")[2])
        shown = fmpq(*map(int, fmpq_of(form["decimal"])))
        assert abs(shown - truth) <= fmpq(1, 10**digits)


def fmpq_of(text: str) -> tuple[int, int]:
    from fractions import Fraction

    return Fraction(text).as_integer_ratio()


def far_apart() -> MarkovChain:
    far = fmpq(1, 773094114)
    return chain_from_rows([{0: 1}, {1: 1 - far, 0: far}, {2: "1/2", 0: "1/2"}])


def test_scales_that_are_far_apart_do_not_hide_the_error_of_a_variance() -> None:
    """In units of the largest mean, variance times squared error is below the range of floats."""
    chain = far_apart()
    earned = {(1, 1): fmpq(1, 10**20), (1, 0): fmpq(1, 1000), (2, 2): fmpq(10) ** 110}
    given: dict[str, Any] = {"start": [1, 2], "transition_rewards": earned}
    target = chain.at_positions([0])
    exact = reach(chain, target, **given).starts
    for truth, found in zip(
        exact, reach(chain, target, field="float", **given).starts, strict=True
    ):
        assert truth.variance is not None
        assert found.variance is not None
        assert found.variance.upper is not None
        assert found.variance.lower <= truth.variance.value <= found.variance.upper


def test_a_variance_below_the_range_is_not_certified_as_zero() -> None:
    """In units of the largest mean, what the steps of one state earn is 0."""
    chain = far_apart()
    earned = {(1, 1): fmpq(1, 10**150), (2, 2): fmpq(10) ** 180, (2, 0): fmpq(1, 10)}
    with pytest.raises(SolverError, match="no digits that floats can be trusted with"):
        reach(
            chain,
            chain.at_positions([0]),
            start=[1, 2],
            transition_rewards=earned,
            field="float",
        )


def test_where_a_transition_underflows_the_component_is_eliminated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A certificate counts roundings, and a leak below the range of floats is none."""
    planned(monkeypatch)
    asked: list[int] = []
    solve = _wide.Planned.solve

    def noted(*given: Any) -> Any:
        asked.append(1)
        return solve(*given)

    monkeypatch.setattr(_wide.Planned, "solve", noted)
    for small, times in ((fmpq(1, 10**320), 0), (fmpq(1, 10**20), 1)):
        asked.clear()
        rows = [{j: fmpq(1, 6) for j in range(7) if j != i} for i in range(6)]
        rows[0] = {**{j: fmpq(1, 5) for j in range(1, 5)}, 5: fmpq(1, 5) - small, 6: small}
        chain = chain_from_rows([*rows, {6: fmpq(1)}])
        assert judged(chain, chain.at_positions([6])) == "good"
        assert min(len(asked), 1) == times
