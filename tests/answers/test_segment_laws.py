"""The law of T from segments between shared rows, against powers of the joint chain's matrix."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from plateaus import one_bridge_for_all_but_the_last

from markov_lrsao import Algorithm, Landscape
from markov_lrsao.answers.distribution import distribution


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
        distribution(landscape, algorithm, method=way)  # type: ignore[arg-type]
        for way in ("powers", "inversion")
    )
    assert inversion.never == fmpq(9063, 21875)
    assert powers.never == inversion.never
    times = np.arange(0, 300)
    assert np.abs(powers.cdf(times) - inversion.cdf(times)).max() <= powers.error + inversion.error
