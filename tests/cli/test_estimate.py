"""The simulation that answers where nothing else does: in parts, and within a budget."""

from __future__ import annotations

import numpy as np
import pytest

from markov_lrsao import Algorithm, Landscape, StepLaw
from markov_lrsao.cli import estimate as module
from markov_lrsao.cli import main
from markov_lrsao.memoryless import times
from markov_lrsao.progress import no_progress
from simulate import simulate

ASKED = ["exact", "--landscape", "onemax", "--algorithm", "metropolis:base=3,rate=1/n"]


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "LIMITS", times.Limits(dense=(5, 5, 5), dense_in_floats=5))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*ASKED, *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if line.startswith("markov-lrsao:")]
    assert len(lines) == 1
    return lines[0]


def test_runs_beyond_the_budget_are_a_refusal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small_limits: None
) -> None:
    """E[T] is 41.0 at n = 6: all runs end, but not all are played."""
    monkeypatch.setattr(module, "_BUDGET", 1000)
    line = refused(capsys, "--n", "6")
    assert "of 10,000 runs ended" in line
    fewer = line.split("--runs ")[1].split("`")[0]
    assert main([*ASKED, "--n", "6", "--runs", fewer]) == 0
    assert "SIMULATED" in capsys.readouterr().out


def test_runs_that_do_not_end_are_a_refusal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small_limits: None
) -> None:
    """E[T] is 719,431 at n = 40: no run ends within 1,000 steps, and 20 runs are soon played."""
    monkeypatch.setattr(module, "_LIMIT", 1000)
    line = refused(capsys, "--n", "40", "--runs", "20")
    assert "0 of 20 runs ended: 20 were played" in line
    assert "a smaller n" in line


@pytest.mark.parametrize("named", ["lrsao", "metropolis:base=3,rate=1/n", "lrsao:epsilon=1/10"])
def test_parts_are_the_runs_of_one_simulation(named: str) -> None:
    jump = Landscape.jump(9, 2)
    algorithm = Algorithm.named(named).on(jump)
    found = module.estimate(jump, algorithm, 50, "a reason", no_progress).samples
    whole = simulate(jump, algorithm, runs=50, seed=1, limit=10**8)
    assert found.runs == 50
    assert np.array_equal(found.steps, whole.steps)
    assert np.array_equal(found.hits, whole.hits)
    assert found.events is not None
    assert whole.events is not None
    assert np.array_equal(found.events, whole.events)
    assert (found.events > 0).all()
    assert (found.events <= 2 * found.steps).all()


def test_draws_of_the_step_kernel_are_its_steps() -> None:
    law = StepLaw.of(Landscape.jump(9, 2))
    samples = simulate(law, runs=30, seed=2, kernel="step")
    assert samples.events is not None
    assert samples.events.tolist() == samples.steps.tolist()


def test_sizes_of_parts_follow_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BUDGET", 1000)
    assert module._next_part(100, 4, 40) == 4
    assert module._next_part(100, 96, 96) == 4
    assert module._next_part(100, 64, 960) == 2  # 40 draws are left, of 15 a run
    assert module._next_part(100, 64, 999) == 1
    assert module._next_part(100, 64, 1000) == 0
    assert module._next_part(4, 4, 10) == 0
