"""Laws and profiles from segments between shared rows, against powers and crossing counts."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from shared_plateaus import one_bridge_for_all_but_the_last

from markov_lrsao import Algorithm, Landscape, StepLaw, runtime
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.answers.profile import Counter, profile
from markov_lrsao.answers.segment_profile import count_segments
from markov_lrsao.chains.visits import expected_visits
from markov_lrsao.cli import main
from markov_lrsao.crossing.shared import core_of
from markov_lrsao.errors import CrossingError, NotAbsorbingError
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.joint.enumeration import enumerate_joint


@pytest.mark.slow
@pytest.mark.parametrize("phase", [None, 2, 3])
def test_inversion_and_powers_agree_within_their_bounds(phase: int | None) -> None:
    landscape = one_bridge_for_all_but_the_last(13, (3, 3, 3))
    powers = distribution(landscape, method="powers", phase=phase)
    inversion = distribution(landscape, method="inversion", phase=phase)
    assert inversion.error < 1e-10
    times = np.arange(0, 500)
    assert np.abs(powers.cdf(times) - inversion.cdf(times)).max() <= powers.error + inversion.error
    for q in (0.01, 0.5, 0.99):
        assert powers.quantile(q) == inversion.quantile(q)


def test_laws_of_runs_that_get_stuck() -> None:
    """An agent state that is shared, and another that is first met after the cut."""
    objectives = {"J": [0, 1, 0, 3, 4, 6], "A": [1, 1, 3, 3, 3, 1]}
    landscape = Landscape.from_arrays(objectives, "J", [3, 5])
    algorithm = Algorithm.earl("1/2", "1/5")
    powers, inversion = (
        distribution(landscape, algorithm, method=way) for way in ("powers", "inversion")
    )
    assert inversion.never == fmpq(9063, 21875)
    assert powers.never == inversion.never
    times = np.arange(0, 300)
    assert np.abs(powers.cdf(times) - inversion.cdf(times)).max() <= powers.error + inversion.error


# -- profiles ---------------------------------------------------------------------------------


def test_the_profile_of_jump_is_that_of_crossing_counts() -> None:
    landscape = Landscape.jump(14, 3)
    counter = Counter(14, Evaluation(exact=True, order=1))
    count_segments(core_of(StepLaw.of(landscape)), counter)
    found = profile(landscape)
    assert list(counter.steps) == list(found.steps)
    assert list(counter.visits()) == list(found.visits)


@pytest.mark.parametrize("n", [13, pytest.param(20, marks=pytest.mark.slow)])
def test_profiles_add_up(n: int) -> None:
    landscape = one_bridge_for_all_but_the_last(n, (3, 3, 3))
    found = profile(landscape)
    assert found.exact
    assert sum(found.steps, fmpq(0)) == runtime(landscape, method="segments").total.value
    assert found.visits[n] == 1
    if n == 13:
        chain = enumerate_joint(StepLaw.of(landscape)).chain
        assert list(found.visits) == list(expected_visits(chain, chain.positions == n))
    digits = profile(landscape, digits=9)
    assert digits.digits == 9
    assert digits.certified
    assert [x.lower for x in digits.steps] == list(found.steps)
    floats = profile(landscape, exact=False)
    assert floats.steps == pytest.approx([float(x.p) / float(x.q) for x in found.steps])


def test_runs_that_get_stuck_have_no_profile() -> None:
    objectives = {"J": [0, 1, 0, 3, 4, 6], "A": [1, 1, 3, 3, 3, 1]}
    with pytest.raises(NotAbsorbingError, match="get stuck"):
        profile(Landscape.from_arrays(objectives, "J"), Algorithm.earl("1/2", "1/5"))


def test_digits_of_profiles_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    shape = "regions:widths=3+3+3,bridges=all-but-last"
    assert main(["sites", "--landscape", shape, "--n", "13", "--digits", "8"]) == 0
    assert "1.0266667" in capsys.readouterr().out


@pytest.mark.slow
def test_profiles_of_rows_that_come_back_twice_are_refused_with_advice() -> None:
    with pytest.raises(CrossingError, match=r"; estimate with `simulate\(\)`"):
        profile(Landscape.regions(40, (4, 4, 4), "shared"))
