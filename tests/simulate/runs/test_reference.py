"""Kernels against the literal algorithm in rationals, on the same random choices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.model.landscape import JUMP_OPEN
from markov_lrsao.model.parameters import hypothesis_h
from simulate.runs.reference import (
    ForcedChooser,
    StreamChooser,
    bit_string_objectives,
    run_on_bit_strings,
    run_on_positions,
)
from simulate.runs.runner import simulate, trace_run
from simulate.runs.streams import Stream, stream_key

SETTINGS = {
    "paper": (9, 2, Parameters.paper(9)),
    "long plateau": (25, 8, Parameters.paper(25)),
    "alpha near 1": (9, 2, Parameters.of("99/100", "1/10", "1")),
    "alpha near 0": (10, 2, Parameters.of("1/20", "1/100", "150")),
    "outside (H)": (12, 3, Parameters.of("1/2", "1/3", "1/4")),
    "ties at 0": (9, 2, Parameters.of("1/2", "1/3", "1/4")),  # -alpha r + alpha gamma 3/4 = 0
}


def tie_parameters() -> Parameters:
    """Return r for which LeftBridge, left twice through n - l without a rejection, ties with R.

    With q the value of L after l + 1 = 3 rewards in a row, M = alpha (1 + gamma q) the row's
    maximum at n - l - 1, L's values after its first and second exit are -alpha r + c and
    (1 - alpha) L - alpha r + alpha gamma M'; the second equals R = -alpha r for this r.
    """
    alpha, gamma = fmpq(24, 25), fmpq(1, 40)
    lam = 1 - alpha * (1 - gamma)
    q = (1 - alpha) * (lam * alpha + alpha) + alpha
    first = alpha * (1 + gamma * q)
    c = (1 - alpha) * q + alpha * gamma * first
    c2 = (1 - alpha) * first + alpha
    left = -alpha * gamma * c2 / ((1 - alpha) + alpha**2 * gamma**2)
    return Parameters(alpha, gamma, (c - left) / alpha)


def lrsao(n: int, ell: int, parameters: Parameters) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(parameters))


@pytest.mark.parametrize("name", SETTINGS)
def test_bit_strings_and_positions_make_the_same_steps(name: str) -> None:
    n, ell, parameters = SETTINGS[name]
    law = lrsao(n, ell, parameters)
    for run in range(3):
        literal = run_on_bit_strings(
            n, ell, parameters, StreamChooser(Stream(stream_key(7), run)), limit=400
        )
        on_positions = run_on_positions(law, StreamChooser(Stream(stream_key(7), run)), limit=400)
        assert list(literal) == list(on_positions)


def test_literal_objectives_are_the_landscapes() -> None:
    for n, ell in [(9, 2), (12, 3), (25, 10)]:
        landscape = Landscape.jump(n, ell)
        for name, function in bit_string_objectives(n, ell).items():
            values = [function([1] * p + [0] * (n - p)) for p in range(n + 1)]
            assert values == landscape.objectives[name].tolist()


@pytest.mark.parametrize("name", SETTINGS)
def test_step_kernel_makes_the_references_steps(name: str) -> None:
    n, ell, parameters = SETTINGS[name]
    law = lrsao(n, ell, parameters)
    samples = simulate(law, runs=4, seed=7, kernel="step", limit=3000)
    for run in range(4):
        steps = list(run_on_positions(law, StreamChooser(Stream(stream_key(7), run)), limit=3000))
        assert len(steps) == samples.steps[run]
        expected = [(s.time, s.position, s.tied) for s in steps]
        assert [line[:3] for line in expand(law, 7, run, "step", 3000)] == expected


def expand(
    law: StepLaw, seed: int, run: int, kernel: str, limit: int | None = None
) -> Iterator[tuple[int, int, tuple[str, ...], str, int]]:
    """Yield (time, position, tied, action, direction) of every step of a kernel's run.

    A rejected move's action among tied zeros, and its direction, do not matter to the run: any
    that is rejected will do.
    """
    trace = trace_run(law, seed=seed, run=run, kernel=kernel, limit=limit)  # type: ignore[arg-type]
    for t, p, mask, rejections, action, direction in trace.tolist():
        tied = tuple(a for k, a in enumerate(law.actions) if mask >> k & 1)
        possible = [
            (a, d)
            for a in tied
            for d in (0, 1)
            if (p > 0 or d == 1) and not law.accepted[p, law.actions.index(a), d]
        ]
        for k in range(rejections):
            yield (t + k, p, tied, *possible[0])
        if action >= 0:
            yield t + rejections, p, tied, law.actions[action], direction


def replay_exactly(law: StepLaw, seed: int, run: int, kernel: str, limit: int | None = None) -> int:
    """Replay a kernel's run in rationals; assert the same ties throughout; return its length."""
    steps = list(expand(law, seed, run, kernel, limit))
    chooser = ForcedChooser((action, direction) for *_, action, direction in steps)
    moments = run_on_positions(law, chooser, limit=len(steps))
    count = 0
    for step, moment in zip(steps, moments, strict=True):
        assert (step[0], step[1], step[2], step[3]) == (
            moment.time,
            moment.position,
            moment.tied,
            moment.action,
        )
        count += 1
    return count


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("kernel", ["event", "step"])
def test_kernels_tie_exactly_where_the_reference_does(name: str, kernel: str) -> None:
    law = lrsao(*SETTINGS[name])
    samples = simulate(law, runs=4, seed=19, kernel=kernel, limit=2000)  # type: ignore[arg-type]
    for run in range(4):
        assert replay_exactly(law, 19, run, kernel, 2000) == samples.steps[run]


@pytest.mark.parametrize("kernel", ["event", "step"])
def test_long_runs_of_rejections(kernel: str) -> None:
    """More than a thousand rejections in a row: float64 has long forgotten the entry."""
    n = 1000
    law = lrsao(n, 2, Parameters.paper(n))
    long = [
        run
        for run in range(60)
        if (
            trace_run(
                law,
                seed=5,
                run=run,
                kernel=kernel,  # type: ignore[arg-type]
                limit=14_000,
            )[:, 3]
            > 1000
        ).any()
    ]
    assert long
    for run in long[:1]:
        assert replay_exactly(law, 5, run, kernel, 14_000) > 10_000


@pytest.mark.parametrize("algorithm", ["earl", "rls"])
@pytest.mark.parametrize("family", ["jump", "open"])
def test_other_algorithms(algorithm: str, family: str) -> None:
    landscape = Landscape.jump(10, 2) if family == "jump" else JUMP_OPEN.at(10, 2)
    law = StepLaw.of(landscape, Algorithm.earl() if algorithm == "earl" else Algorithm.rls())
    for kernel in ("event", "step"):
        for run in range(6):
            replay_exactly(law, 2, run, kernel, 500)


def test_exact_ties_stay_ties() -> None:
    parameters = tie_parameters()
    assert hypothesis_h(Landscape.jump(9, 2), parameters).holds
    law = lrsao(9, 2, parameters)
    samples = simulate(law, runs=4000, seed=1)
    decided = np.flatnonzero(samples.decisions)
    assert 3 <= len(decided) <= 60
    ties = 0
    for run in decided[:8].tolist():
        replay_exactly(law, 1, run, "event")
        trace = trace_run(law, seed=1, run=run)
        ties += sum(1 for _, p, mask, *_ in trace.tolist() if p >= 7 and mask & 0b101 == 0b101)
    assert ties >= 3  # L and R really tied on the right plateau
    unequal = lrsao(
        9, 2, Parameters(parameters.alpha, parameters.gamma, parameters.r + fmpq(1, 10**18))
    )
    split = simulate(unequal, runs=4000, seed=1)
    assert split.decisions.sum() > 0  # closer than floats can tell, and decided the other way
    for run in np.flatnonzero(split.decisions)[:8].tolist():
        replay_exactly(unequal, 1, run, "event")
        trace = trace_run(unequal, seed=1, run=run)
        assert not any(p >= 7 and mask & 0b101 == 0b101 for _, p, mask, *_ in trace.tolist())


def test_default_parameters_need_no_decision() -> None:
    for n, ell in [(9, 2), (50, 5), (200, 40)]:
        assert simulate(lrsao(n, ell, Parameters.paper(n)), runs=3000, seed=4).decisions.sum() == 0
