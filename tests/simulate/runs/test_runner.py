"""Running: reproducible whatever the threads, honest about limits, monitors that count right."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.errors import NotAbsorbingError, ParameterError
from markov_lrsao.model.algorithm import Reward
from simulate.runs.reference import StreamChooser, run_on_positions
from simulate.runs.rules import Rules
from simulate.runs.runner import simulate, trace_run
from simulate.runs.samples import Samples
from simulate.runs.streams import Stream, stream_key


def lrsao(n: int = 9, ell: int = 2) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


def earl(n: int = 12, ell: int = 2) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.earl())


def same(a: Samples, b: Samples) -> bool:
    return bool(
        (a.hits == b.hits).all()
        and (a.steps == b.steps).all()
        and (a.censored == b.censored).all()
        and (a.restarts == b.restarts).all()
    )


@pytest.mark.parametrize("kernel", ["event", "step"])
@pytest.mark.parametrize("arithmetic", ["exact", "float64"])
def test_threads_and_blocks_leave_no_trace(kernel: str, arithmetic: str) -> None:
    options = {"kernel": kernel, "arithmetic": arithmetic, "seed": 5}
    one = simulate(lrsao(), runs=1203, threads=1, **options)  # type: ignore[arg-type]
    assert same(one, simulate(lrsao(), runs=1203, threads=2, **options))  # type: ignore[arg-type]
    assert same(one, simulate(lrsao(), runs=1203, threads=7, **options))  # type: ignore[arg-type]
    tail = simulate(lrsao(), runs=203, first_run=1000, **options)  # type: ignore[arg-type]
    assert (one.steps[1000:] == tail.steps).all()


def test_seeds_and_paths_matter() -> None:
    runs = [
        simulate(lrsao(), runs=50, seed=seed, path=path).steps.tolist()
        for seed, path in [(1, ()), (2, ()), (1, (3,)), (1, (4,))]
    ]
    assert len({tuple(steps) for steps in runs}) == 4


@pytest.mark.parametrize("kernel", ["event", "step"])
def test_limit_censors_exactly_the_longer_runs(kernel: str) -> None:
    free = simulate(lrsao(), runs=2000, seed=9, kernel=kernel)  # type: ignore[arg-type]
    limited = simulate(lrsao(), runs=2000, seed=9, kernel=kernel, limit=40)  # type: ignore[arg-type]
    assert (limited.censored == (free.steps > 40)).all()
    assert (limited.steps == np.minimum(free.steps, 40)).all()
    assert (limited.hits[~limited.censored] == free.hits[~limited.censored]).all()
    assert (limited.hits[limited.censored, -1] == -1).all()
    assert len(limited.times) == (free.steps <= 40).sum()


def test_phases_add_up() -> None:
    samples = simulate(lrsao(20, 5), runs=300, seed=2)
    assert (samples.phase_times.sum(axis=1) == samples.steps).all()
    assert (samples.phase_times >= 1).all()


def test_stuck_runs() -> None:
    """RLS on Jump cannot leave n - l - 1: censored with a limit, an error without."""
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.rls())
    samples = simulate(law, runs=20, seed=1, limit=10**9)
    assert samples.censored.all()
    assert (samples.steps == 10**9).all()
    assert samples.stuck is not None
    assert (samples.stuck == 6).all()
    with pytest.raises(NotAbsorbingError, match="can never end"):
        simulate(law, runs=1, seed=1)


def test_rls_on_onemax_is_the_coupon_collector() -> None:
    n = 30
    law = StepLaw.of(Landscape.onemax(n), Algorithm.rls())
    mean = n * sum(1 / k for k in range(1, n + 1))
    variance = sum((1 - k / n) / (k / n) ** 2 for k in range(1, n + 1))
    for kernel in ("event", "step"):
        times = simulate(law, runs=20_000, seed=6, kernel=kernel).times
        assert abs(times.mean() - mean) < 4.0 * (variance / 20_000) ** 0.5


@pytest.mark.parametrize("kernel", ["event", "step"])
def test_restarts(kernel: str) -> None:
    samples = simulate(
        earl(),
        runs=400,
        seed=3,
        kernel=kernel,  # type: ignore[arg-type]
        restart=300,
        limit=3000,
    )
    assert samples.restarts.max() >= 5
    assert (samples.restarts <= 9).all()
    ended = ~samples.censored
    assert ended.mean() > 0.8
    # the optimum is reached within the last attempt
    assert (samples.steps[ended] - 300 * samples.restarts[ended] <= 300).all()
    assert (samples.steps[ended] > 300 * samples.restarts[ended]).all()
    once = simulate(earl(), runs=400, seed=3, kernel=kernel, limit=300)  # type: ignore[arg-type]
    first = samples.restarts == 0
    assert (once.steps[first] == samples.steps[first]).all()


def test_restart_traces_replay() -> None:
    trace = trace_run(earl(), seed=3, run=1, restart=100, limit=1000)
    assert (trace[:, 1] == -1).sum() >= 1
    restarts = np.flatnonzero(trace[:, 1] == -1)
    assert (trace[restarts + 1, 1] == 0).all()
    assert (trace[restarts + 1, 2] == 0b111).all()


@pytest.mark.parametrize(("law", "limit"), [(lrsao(11, 2), 5000), (earl(), 400)])
def test_monitors_count_what_the_reference_does(law: StepLaw, limit: int) -> None:
    runs = 25
    samples = simulate(law, runs=runs, seed=8, kernel="step", monitors=True, limit=limit)
    monitors = samples.monitors
    assert monitors is not None
    visits = np.zeros_like(monitors.visits)
    uses = np.zeros_like(monitors.uses)
    positives = np.zeros_like(monitors.positives)
    algorithm = law.algorithm
    for run in range(runs):
        phase = 0
        q = [[fmpq(0)] * len(law.actions) for _ in law.row_value]
        most = [0] * len(q)
        visits[0] += 1
        for step in run_on_positions(law, StreamChooser(Stream(stream_key(8), run)), limit=limit):
            a = law.actions.index(step.action)
            uses[phase, step.position, a] += 1
            told = law.step(step.position, step.action, step.direction)
            row = int(law.row[step.position])
            q[row][a] = (
                algorithm.keep * q[row][a]
                + algorithm.learn * told.reward
                + algorithm.bootstrap * max(q[int(law.row[told.next_position])])
            )
            most[row] = max(most[row], sum(entry > 0 for entry in q[row]))
            if step.accepted:
                visits[told.next_position] += 1
                while (
                    phase < len(law.landscape.milestones)
                    and told.next_position >= law.landscape.milestones[phase]
                ):
                    phase += 1
        for row, count in enumerate(most):
            positives[row, count] += 1
    assert (monitors.visits == visits).all()
    assert (monitors.uses == uses).all()
    assert (monitors.positives == positives).all()


def test_monitors_do_not_change_the_runs_and_add_up() -> None:
    law = lrsao(40, 6)
    plain = simulate(law, runs=500, seed=1)
    watched = simulate(law, runs=500, seed=1, monitors=True, threads=3)
    assert same(plain, watched)
    assert watched.monitors is not None
    assert watched.monitors.uses.sum() == watched.steps.sum()
    per_phase = watched.monitors.uses.sum(axis=(1, 2))
    assert (per_phase == watched.phase_times.sum(axis=0)).all()
    assert (watched.monitors.positives.sum(axis=1) == 500).all()
    again = simulate(law, runs=500, seed=1, monitors=True, threads=1)
    assert again.monitors is not None
    assert (again.monitors.uses == watched.monitors.uses).all()
    assert watched.monitors.violation is None


def test_papers_rules_hold_with_the_papers_parameters() -> None:
    for n, ell in [(9, 2), (12, 3), (60, 7), (300, 2)]:
        monitors = simulate(lrsao(n, ell), runs=2000, seed=3, monitors=True).monitors
        assert monitors is not None
        assert monitors.violation is None
        slope = monitors.visits[ell + 3 : n - ell - 1]
        assert len(slope) == 0 or slope.max() <= 5 * 2000


def test_rules_are_broken_outside_their_hypothesis() -> None:
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.of("1/2", "1/3", "1/4")))
    monitors = simulate(law, runs=500, seed=3, monitors=True, limit=5000).monitors
    assert monitors is not None
    assert monitors.violation is not None
    assert monitors.violation.rule in ("visits", "lower bound", "upper bound")


def test_event_and_step_monitors_agree_in_law() -> None:
    law, runs = lrsao(9, 2), 40_000
    event = simulate(law, runs=runs, seed=31, monitors=True).monitors
    step = simulate(law, runs=runs, seed=32, kernel="step", monitors=True).monitors
    assert event is not None
    assert step is not None
    # Uses per run have standard deviations below 40 here; 10 sigma of the difference is 2.9.
    assert abs(event.uses - step.uses).max() / runs < 40 * 5 * (2 / runs) ** 0.5
    # Runs in which a row had a positive entry: binomial, 150 comparisons, 5 sigma.
    share = np.abs(event.positives - step.positives) / runs
    assert share.max() < 5 * (0.5 / runs) ** 0.5


@pytest.mark.parametrize("rule", ["positive entries", "visits", "lower bound", "upper bound"])
def test_violation_carries_its_trace(rule: str) -> None:
    """Rules that are too strict on purpose: the report must be the first step that breaks one."""
    n, ell = 12, 2
    law = lrsao(n, ell)
    rules = {
        "positive entries": Rules(most_positive=0),
        "visits": Rules(most_visits={6: 2}),
        "lower bound": Rules(least={(6, "R"): fmpq(-1)}),
        "upper bound": Rules(greatest={(0, "L"): fmpq(9, 10)}),
    }[rule]
    samples = simulate(law, runs=200, seed=4, limit=2000, monitors=True, rules=rules)
    assert samples.monitors is not None
    found = samples.monitors.violation
    assert found is not None
    assert found.rule == rule
    entries = {name: float(value.split(" ")[0]) for name, value, _ in found.q_row}
    arrivals = sum(
        1
        for _, p, _, _, action, d in found.trace
        if action is not None
        and d is not None
        and law.step(p, action, d).accepted
        and p + 2 * d - 1 == 6
    )
    assert {
        "positive entries": sum(value > 0 for value in entries.values()) == 1,
        "visits": arrivals == 3,
        "lower bound": found.state == 6 and entries["R"] < -1,
        "upper bound": found.state == 0 and entries["L"] > 0.9,
    }[rule]
    assert found.trace[0][:2] == (0, 0)
    time, position, tied, rejected, action, _ = found.trace[-1]
    assert (time + rejected + 1, position, action) == (found.step, found.position, found.action)
    assert action in tied
    assert found.to_dict()["seed"] == 4
    # the same row in rationals
    algorithm = law.algorithm
    q = [[fmpq(0)] * 3 for _ in law.row_value]
    lam = algorithm.keep + algorithm.bootstrap
    for _, p, tied, rejected, action, direction in found.trace:
        row = int(law.row[p])
        if len(tied) == 1:
            q[row][law.actions.index(tied[0])] *= lam**rejected
        if action is not None and direction is not None:
            a, told = law.actions.index(action), law.step(p, action, direction)
            q[row][a] = (
                algorithm.keep * q[row][a]
                + algorithm.learn * told.reward
                + algorithm.bootstrap * max(q[int(law.row[told.next_position])])
            )
    row = law.row_value.tolist().index(found.state)
    for a, name in enumerate(law.actions):
        assert entries[name] == pytest.approx(int(q[row][a].p) / int(q[row][a].q), rel=1e-12)


def test_event_kernel_refuses_rewarded_rejections() -> None:
    algorithm = Algorithm.lrsao(Parameters.paper(9))
    changed = Algorithm(
        name="odd",
        rejected=Reward(constant=fmpq(-1)),
        equal=algorithm.equal,
        better=algorithm.better,
        keep=algorithm.keep,
        learn=algorithm.learn,
        bootstrap=algorithm.bootstrap,
    )
    law = StepLaw.of(Landscape.jump(9, 2), changed)
    with pytest.raises(ParameterError, match='`kernel="step"`'):
        simulate(law, runs=1, seed=1, limit=100)
    samples = simulate(law, runs=3, seed=1, limit=300, kernel="step")
    for run in range(3):
        steps = list(run_on_positions(law, StreamChooser(Stream(stream_key(1), run)), limit=300))
        assert len(steps) == samples.steps[run]


@pytest.mark.slow  # kernels are compiled for every number of objectives
def test_custom_landscape_of_two_objectives() -> None:
    landscape = Landscape.from_arrays(
        {"A": [0, 1, 1, 1, 4, 5, 6], "B": [0, 0, 2, 3, 3, 2, 1]}, target="A"
    )
    law = StepLaw.of(landscape, Algorithm.lrsao(Parameters.of("1/2", "1/9", "2")))
    for kernel in ("event", "step"):
        assert not simulate(
            law,
            runs=200,
            seed=1,
            kernel=kernel,
            limit=5000,
        ).censored.all()
    samples = simulate(law, runs=5, seed=1, kernel="step", limit=500)
    for run in range(5):
        steps = list(run_on_positions(law, StreamChooser(Stream(stream_key(1), run)), limit=500))
        assert len(steps) == samples.steps[run]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 0}, "runs = 0"),
        ({"runs": -5}, "runs = -5"),
        ({"seed": -1}, "seed = -1"),
        ({"limit": 0}, "limit = 0"),
        ({"restart": -1}, "restart = -1"),
        ({"threads": 0}, "threads"),
        ({"first_run": -1}, "first_run"),
    ],
)
def test_bad_arguments(options: dict[str, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        simulate(lrsao(), **({"runs": 1, "seed": 1} | options))  # type: ignore[arg-type]


def test_float64_forgets_decayed_entries() -> None:
    """The difference the arithmetic makes: the true mean at n = 1000, l = 2 is 127,000."""
    law = lrsao(1000, 2)
    true = simulate(law, runs=2000, seed=12).times
    plain = simulate(law, runs=2000, seed=12, arithmetic="float64").times
    difference = plain.mean() - true.mean()
    error = ((plain.var() + true.var()) / 2000) ** 0.5
    assert difference > 4 * error
    small = lrsao(25, 2)
    assert same(
        simulate(small, runs=500, seed=1), simulate(small, runs=500, seed=1, arithmetic="float64")
    )
