"""What `runtime` and `exact` answer where patterns do not decide: exact, enclosed, infinite."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import lru_cache

import pytest
from open_instances import without_quotients
from oracles import h_interval
from typer.testing import CliRunner

from markov_lrsao import Algorithm, Landscape, Parameters, RuntimeResult, StepLaw, runtime
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.cli.app import app
from markov_lrsao.errors import ParameterError, UndecidedComparisonError, VerificationError
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import rational, to_float
from markov_lrsao.values.enclosure import trap_after_cut
from simulate.runs.runner import simulate

RUNNER = CliRunner()
ENCLOSED = ["--n", "9", "--ell", "2", "--r", "2", "--outside-h", "--tolerance", "1/10"]


@lru_cache
def solve(
    n: int, ell: int, alpha: str, gamma: str, r: str | Fraction, **options: object
) -> RuntimeResult:
    parameters = Parameters.of(alpha, gamma, r)
    return runtime(Landscape.jump(n, ell), Algorithm.lrsao(parameters), outside_h=True, **options)  # type: ignore[arg-type]


def law_of(n: int, ell: int, alpha: str, gamma: str, r: str) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.of(alpha, gamma, r)))


@pytest.mark.slow
def test_just_above_the_lower_bound() -> None:
    low, high = h_interval(9, 2, Fraction(19, 20), Fraction(1, 10))
    r = low + (high - low) / 1000
    result = solve(9, 2, "19/20", "1/10", r)
    assert (result.kind, result.hypothesis_h) == ("exact", True)
    assert result.total.rational == "27059792756/592596081"  # also: the joint chain, below
    assert float(result.total) == pytest.approx(45.66, abs=0.005)
    joint = solve(9, 2, "19/20", "1/10", r, method="joint")
    assert (joint.method, joint.total, joint.phases) == ("quotient", result.total, result.phases)
    assert joint.phase_variances == result.phase_variances


@pytest.mark.slow
def test_joint_and_crossing_agree_on_fourth_moments() -> None:
    crossing = solve(9, 2, "9/10", "3/10", "3.5328", method="crossing", field="float", moments=4)
    joint = solve(9, 2, "9/10", "3/10", "3.5328", method="joint", field="float", moments=4)
    for a, b in zip(crossing.higher, joint.higher, strict=True):
        assert float(a) == pytest.approx(float(b), rel=1e-8)


@pytest.mark.slow
def test_below_the_lower_bound_an_enclosure() -> None:
    result = solve(9, 2, "4/5", "1/10", "2", method="crossing", tolerance="1/1000")
    assert (result.kind, result.hypothesis_h, result.exact) == ("enclosure", False, False)
    assert result.total.upper is not None
    exact = solve(9, 2, "4/5", "1/10", "2")  # by the quotient around the cut
    assert exact.total == solve(9, 2, "4/5", "1/10", "2", method="joint").total  # of all tables
    assert exact.total.rational == "173814529959313/3594687827346"
    assert result.total.lower <= exact.total.value <= result.total.upper
    assert 0 < result.total.upper - result.total.lower < result.total.lower / 1000
    assert result.undecided is not None
    assert result.undecided.upper is not None
    assert 0 < result.undecided.upper < rational("1/1000")
    samples = simulate(law_of(9, 2, "4/5", "1/10", "2"), runs=100_000, seed=11)
    error = samples.times.std() / len(samples.times) ** 0.5
    mean = samples.times.mean()
    assert (
        to_float(result.total.lower) - 4 * error <= mean <= to_float(result.total.upper) + 4 * error
    )
    spread = samples.times.var()  # its standard error is below 2% of it here
    assert result.variance.upper is not None
    assert to_float(result.variance.lower) * 0.9 <= spread <= to_float(result.variance.upper) * 1.1


@pytest.mark.slow
def test_no_penalty_at_all() -> None:
    """r = 0: exact, and far from the paper's regime."""
    result = solve(9, 2, "4/5", "1/10", "0")
    assert result.kind == "exact"
    samples = simulate(law_of(9, 2, "4/5", "1/10", "0"), runs=60_000, seed=5)
    error = samples.times.std() / len(samples.times) ** 0.5
    assert abs(samples.times.mean() - float(result.total)) <= 4 * error
    assert float(result.total) > 300


@pytest.mark.slow
def test_above_the_upper_bound_a_trap() -> None:
    result = solve(9, 2, "4/5", "1/10", "30")
    assert result.kind == "infinite"
    assert result.total.infinite
    assert result.phases[2].infinite
    assert result.trap is not None
    assert result.trap.state.startswith("p=6 ")  # n - l - 1, where J rejects both ways
    assert re.search(r"\[6: J=0>(R>L|L>R|L=R)\]", result.trap.state)  # L and R were penalised
    samples = simulate(law_of(9, 2, "4/5", "1/10", "30"), runs=60_000, seed=7, limit=10**6)
    stuck = samples.censored.mean()
    error = (stuck * (1 - stuck) / samples.runs) ** 0.5
    low, high = to_float(result.trap.lower), to_float(result.trap.upper)
    assert low - 4 * error <= stuck <= high + 4 * error
    assert high - low < 1e-6
    # Phases before the trap are known.
    for phase, exact in zip(result.phases, ("9853/2856", "3343673/212520"), strict=False):
        assert float(phase) == pytest.approx(float(Fraction(exact)), rel=1e-9)


def test_a_trap_at_any_n() -> None:
    found = trap_after_cut(law_of(40, 3, "4/5", "1/41", "200"))
    assert found is not None
    trap, _ = found
    assert 0 < trap.lower <= trap.upper < 1
    assert trap.state.startswith("p=36 ")
    samples = simulate(law_of(40, 3, "4/5", "1/41", "200"), runs=20_000, seed=3, limit=10**6)
    stuck = samples.censored.mean()
    error = (stuck * (1 - stuck) / samples.runs) ** 0.5
    assert to_float(trap.lower) - 4 * error <= stuck <= to_float(trap.upper) + 4 * error
    result = solve(40, 3, "4/5", "1/41", "200")
    assert (result.kind, result.trap) == ("infinite", trap)
    # Before the cut signs decide, as inside (H): the same phases 1 and 2.
    inside = runtime(Landscape.jump(40, 3), Algorithm.lrsao(Parameters.paper(40)))
    assert result.phases[:2] == inside.phases[:2]
    assert result.phase_variances[:2] == inside.phase_variances[:2]
    assert result.phases[2].infinite


def test_no_trap_inside_the_hypothesis() -> None:
    assert trap_after_cut(law_of(40, 3, "4/5", "1/41", "12")) is None


@pytest.mark.slow
def test_tolerance_stops_refinement() -> None:
    wide = solve(9, 2, "1/20", "1/10", "127.406", tolerance="1/10")
    assert wide.kind == "enclosure"
    narrow = solve(9, 2, "1/20", "1/10", "127.406", tolerance="1/1000")
    for a, b in ((wide, narrow), (wide, solve(9, 2, "1/20", "1/10", "127.406"))):
        assert a.total.upper is not None
        assert b.total.upper is not None
        assert max(a.total.lower, b.total.lower) <= min(a.total.upper, b.total.upper)
    with pytest.raises(ParameterError, match="tolerance"):
        solve(9, 2, "1/20", "1/10", "127.406", tolerance="0")


@pytest.mark.parametrize("quotients", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_distribution_carries_the_open_comparisons(
    quotients: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether quotients are looked for, which takes half a minute, or not."""
    if not quotients:
        without_quotients(monkeypatch)
    landscape = Landscape.jump(9, 2)
    open_, decided = (
        distribution(landscape, Algorithm.lrsao(Parameters.of(alpha, "1/10", r)))
        for alpha, r in (("1/20", "127.406"), ("19/20", "1.03"))
    )
    assert decided.error < 1e-9
    assert 1e-5 < open_.error < 0.05
    law = law_of(9, 2, "1/20", "1/10", "127.406")
    samples = simulate(law, runs=50_000, seed=2)
    for t in (20, 40, 80):
        share = float((samples.times <= t).mean())
        assert abs(share - open_.cdf(t)) <= open_.error + 4 * 0.5 / samples.runs**0.5


@pytest.mark.slow
def test_large_n_outside_the_hypothesis_is_refused_in_python() -> None:
    with pytest.raises(UndecidedComparisonError, match="simulate"):
        solve(30, 3, "4/5", "1/31", "1/10", max_states=2_000)


def test_an_empty_enclosure_is_an_error() -> None:
    with pytest.raises(VerificationError, match="empty"):
        Quantity.enclosed(rational(2), rational(1))
    assert Quantity.enclosed(rational(2), rational(2)).exact


def test_json_of_an_enclosure() -> None:
    found = RUNNER.invoke(app, ["exact", *ENCLOSED, "--json"])
    assert found.exit_code == 0
    data = json.loads(found.stdout)
    assert (data["kind"], data["exact"]) == ("enclosure", False)
    total = data["total"]
    assert set(total) == {"lower", "upper", "exact"}
    assert total["exact"] is False
    result = solve(9, 2, "4/5", "1/10", "2", tolerance="1/10")
    assert result.total.upper is not None
    # The texts are rounded outwards.
    assert rational(total["lower"]) <= result.total.lower
    assert rational(total["upper"]) >= result.total.upper
    assert 0 < data["relative_width"] < 0.1
    assert rational(data["undecided_probability"]["upper"]) < 1


def test_tables_of_an_enclosure_and_of_a_trap() -> None:
    text = RUNNER.invoke(app, ["exact", *ENCLOSED]).stdout
    assert "an enclosure of relative width" in text
    text = RUNNER.invoke(
        app, ["exact", "--n", "40", "--ell", "3", "--r", "200", "--outside-h"]
    ).stdout
    assert "infinite" in text
    assert "a run gets stuck for ever with probability" in text


@pytest.mark.slow
def test_simulation_is_the_last_resort_and_says_so() -> None:
    arguments = [
        "exact",
        "--n",
        "20",
        "--ell",
        "3",
        "--r",
        "1/10",
        "--outside-h",
        "--max-states",
        "1000",
    ]
    text = RUNNER.invoke(app, [*arguments, "--runs", "500"]).stdout
    assert "SIMULATED, not exact: 500 runs" in text
    data = json.loads(RUNNER.invoke(app, [*arguments, "--runs", "500", "--json"]).stdout)
    assert (data["kind"], data["exact"]) == ("simulation", False)
    assert data["total"]["low"] < data["total"]["estimate"] < data["total"]["high"]
    refused = RUNNER.invoke(app, [*arguments, "--runs", "0"])
    assert refused.exit_code != 0
