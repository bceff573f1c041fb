"""Times at single sites and of excursions, against the engine's chains and exact random runs."""

from __future__ import annotations

import random
from math import sqrt

import pytest
from flint import fmpq

from markov_lrsao.chains.hitting import phase_moments
from markov_lrsao.joint.enumeration import enumerate_joint
from proofs_check import Setting
from proofs_check.automata.excursion_lengths import excursion_times
from proofs_check.automata.excursions import Progress3, advance
from proofs_check.automata.phase3 import first_subphase
from proofs_check.automata.sites import first_steps
from proofs_check.claims.expressions import to_sympy
from proofs_check.runs.run import Run, random_choice
from proofs_check.statements.workspace import Workspace
from proofs_check.verification.registry import workspace_of


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return workspace_of(Setting(second_solver=False))


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (11, 3), (14, 4), (20, 2), (30, 12)])
def test_the_times_of_excursions_add_up(workspace: Workspace, n: int, ell: int) -> None:
    automata = workspace.automata(n, ell)
    times = excursion_times(automata)
    assert times.failing is not None
    assert times.succeeding is not None
    inside = times.failures * times.failing + times.successes * times.succeeding
    assert times.outside + inside == times.total == first_subphase(automata)
    assert 0 < times.successes < 1  # E^3 may also occur at n-l, without an excursion


def test_lengths_of_excursions_in_exact_random_runs(workspace: Workspace) -> None:
    law = workspace.law(9, 2)
    cut, generator = law.landscape.milestones[1], random.Random(7)
    failing: list[int] = []
    succeeding: list[int] = []
    runs = 1500
    for _ in range(runs):
        run, memory, length = Run(law), Progress3(), 0
        while not run.finished and not memory.over:
            out = memory.out
            record = run.step(*random_choice(run, generator))
            memory = advance(memory, record, cut, law.optimum)
            length = length + 1 if out else 0
            if memory.fell:
                failing.append(length)
            elif out and (memory.over or run.finished):
                succeeding.append(length)
    times = excursion_times(workspace.automata(9, 2))
    for seen, mean, number in (
        (failing, times.failing, times.failures),
        (succeeding, times.succeeding, times.successes),
    ):
        assert mean is not None
        spread = sqrt(sum((x - sum(seen) / len(seen)) ** 2 for x in seen)) / len(seen)
        assert abs(sum(seen) / len(seen) - float(mean.p) / float(mean.q)) < 4 * spread + 1e-9
        share = float(number.p) / float(number.q)
        assert abs(len(seen) / runs - share) < 4 / sqrt(runs)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "ell"), [(9, 2), (11, 3), (12, 2)])
def test_first_steps_average_to_the_chains_time(workspace: Workspace, n: int, ell: int) -> None:
    chain = enumerate_joint(workspace.law(n, ell)).chain
    first = ell + 1
    exact = phase_moments(chain, chain.positions >= first, chain.positions >= first + 1, 1)[0]
    mean = fmpq(0)
    at = {to_sympy("n"): n, to_sympy("l"): ell}
    for step, time in first_steps(workspace.slope).items():
        value = time.subs(at)
        chance = fmpq(first if step.endswith("-") else n - first, 3 * n)
        mean += chance * fmpq(int(value.p), int(value.q))
    assert mean == exact
