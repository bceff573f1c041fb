"""Runs of searches that do not learn, and of agents that explore, against exact moments."""

from __future__ import annotations

import numpy as np
import pytest

from markov_lrsao import Algorithm, Landscape, StepLaw, runtime, simulate
from markov_lrsao.errors import NotAbsorbingError, ParameterError
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.rows.derived import automata_of
from simulate.runs.stopping import Stop, StoppedError

JUMP_M = Landscape.from_arrays({"F": [2, 3, 4, 5, 6, 1, 8]}, target="F")
CASES = [
    ("rls", Landscape.onemax(20), "random"),
    ("rls-k:k=optimal", Landscape.onemax(12), "random"),
    ("ea:rate=1/n", JUMP_M, "zero"),
    ("ea-positive:rate=1/4", JUMP_M, "random"),
    ("metropolis:base=3", JUMP_M, "zero"),
    ("mahh:p=1/5", JUMP_M, "zero"),
    ("mmahh:p=1/3,q=1/2,accept=worsening", JUMP_M, "zero"),
    ("mmahh:p=1/3,q=1/2,order=switch-first", JUMP_M, "random"),
    ("random", Landscape.jump(9, 2), "zero"),
    ("gradient:portfolio=1+2,tau=3", LeadingOnes(10), None),
    ("portfolio:k=1+2", LeadingOnes(10), None),
]


@pytest.mark.parametrize(("name", "landscape", "start"), CASES, ids=[c[0] for c in CASES])
def test_means_agree(name: str, landscape: Landscape, start: str | None) -> None:
    """Within 4.5 standard errors: one false alarm in 10,000 of these families."""
    runs = 3000
    exact = runtime(landscape, Algorithm.named(name), start=start, moments=4)
    played = simulate(
        landscape, Algorithm.named(name), runs=runs, seed=11, start=start, threads=1, limit=10**9
    )
    assert not played.censored.any()
    error = (float(exact.variance) / runs) ** 0.5
    assert abs(played.times.mean() - float(exact.total)) < 4.5 * error
    spread = ((float(exact.higher[1]) - float(exact.variance) ** 2) / runs) ** 0.5
    assert abs(played.times.var() - float(exact.variance)) < 6 * spread


def test_runs_do_not_depend_on_threads_or_batches() -> None:
    named = Algorithm.named("mahh:p=1/5")
    whole = simulate(JUMP_M, named, runs=40, seed=3, threads=3)
    parts = [simulate(JUMP_M, named, runs=20, seed=3, first_run=i, threads=1) for i in (0, 20)]
    assert whole.steps.tolist() == [t for part in parts for t in part.steps.tolist()]
    assert whole.describe()["algorithm"] == "mahh:p=1/5"


def test_limits_restarts_and_traps() -> None:
    named = Algorithm.named("rls")
    cut = simulate(JUMP_M, named, runs=20, seed=1, limit=50, threads=1)
    assert cut.censored.all()
    assert set(cut.stuck.tolist()) == {4}  # type: ignore[union-attr]
    with pytest.raises(NotAbsorbingError, match="position 4"):
        simulate(JUMP_M, named, runs=2, seed=1, threads=1)
    again = simulate(Landscape.onemax(9), named, runs=200, seed=1, restart=12, threads=1)
    assert not again.censored.any()
    assert (again.steps - 12 * again.restarts <= 12).all()
    assert again.restarts.max() > 0


def test_an_agent_that_always_explores_is_the_random_one() -> None:
    """epsilon = 1 forgets what it learns: its exact runtime is that of random selection."""
    shape, runs = Landscape.jump(9, 2), 3000
    exact = runtime(shape, Algorithm.named("random"))
    played = simulate(
        shape, Algorithm.named("lrsao:epsilon=1"), runs=runs, seed=5, threads=1, limit=10**8
    )
    error = (float(exact.variance) / runs) ** 0.5
    assert abs(played.times.mean() - float(exact.total)) < 4.5 * error
    assert played.hits.shape == (runs, 3)
    assert (np.diff(played.hits, axis=1) > 0).all()


def test_an_agent_that_hardly_explores_is_the_greedy_one() -> None:
    shape, runs = Landscape.jump(9, 2), 3000
    exact = runtime(shape)
    played = simulate(
        shape, Algorithm.named("lrsao:epsilon=1e-12"), runs=runs, seed=5, threads=1, limit=10**8
    )
    error = (float(exact.variance) / runs) ** 0.5
    assert abs(played.times.mean() - float(exact.total)) < 4.5 * error


def test_exploring_is_refused_where_greedy_updates_are_assumed() -> None:
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao().at(9).exploring("1/10"))
    with pytest.raises(ParameterError, match="greedy agents only"):
        automata_of(law)
    with pytest.raises(ParameterError, match="greedy agents only"):
        law.proposals(0, (0,))
    with pytest.raises(ParameterError, match="out of range"):
        Algorithm.lrsao().at(9).exploring(2)
    with pytest.raises(ParameterError, match="monitors"):
        simulate(law, runs=1, seed=1, monitors=True)


def test_a_flag_stops_runs() -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(StoppedError):
        simulate(Landscape.onemax(9), Algorithm.named("rls"), runs=10, seed=1, stop=stop)
