"""How fast the simulation is, and what float64 arithmetic does to E[T].

Run ``python benchmarks/simulation.py`` (a few minutes), with ``--section6`` for the paper's whole
experiment: 200 values of n, four schedules of l, 2,000 runs each. Compilation is not counted.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.interrupts import available_cores
from markov_lrsao.progress import terminal_progress
from markov_lrsao.tables import table
from simulate.runs.runner import simulate
from simulate.runs.samples import Samples
from simulate.sweeps.plan import Plan
from simulate.sweeps.sweep import run_sweep, sweep_results

SEED = 2025


def law(n: int, ell: int) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


def expected(n: int, ell: int) -> float:
    result = runtime(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)), field="float")
    return float(result.total)


def speed() -> None:
    n, ell = 10_000, 2
    instance, mean = law(n, ell), expected(n, ell)
    begun = time.perf_counter()
    simulate(instance, runs=2, seed=SEED)
    print(f"loading the kernels: {time.perf_counter() - begun:.2f} s; {available_cores()} cores\n")
    event = min(
        (simulate(instance, runs=2000, seed=SEED) for _ in range(3)), key=lambda s: s.seconds
    )
    one = min(
        (simulate(instance, runs=100, seed=SEED, threads=1) for _ in range(5)),
        key=lambda s: s.seconds,
    )
    step = min(
        (simulate(instance, runs=4, seed=SEED, kernel="step", threads=1) for _ in range(2)),
        key=lambda s: s.seconds,
    )
    per_run = one.seconds / one.runs
    per_step = step.seconds / int(step.steps.sum())
    print(
        table(
            ["n = 10,000, l = 2", "measured"],
            [
                ["2,000 runs, all cores (best of 3)", f"{event.seconds:.2f} s"],
                ["event kernel, one core, per run", f"{1e3 * per_run:.2f} ms"],
                ["step kernel, one core, per step", f"{1e9 * per_step:.1f} ns"],
                [
                    f"step kernel, one core, per run of E[T] = {mean:,.0f} steps",
                    f"{1e3 * per_step * mean:,.0f} ms",
                ],
                ["event kernel is faster by", f"{per_step * mean / per_run:,.0f} times"],
                ["choices decided exactly", f"{int(event.decisions.sum()):,}"],
            ],
        )
    )


def arithmetic(largest: int, runs: int) -> None:
    """Print E[T] in float64 arithmetic next to the true value."""
    rows = []
    for n in [n for n in (100, 200, 500, 1000, 2000, 4000, 7000, 10_000) if n <= largest]:
        mean = expected(n, 2)
        true, plain = (
            simulate(law(n, 2), runs=runs, seed=SEED, arithmetic=kind)
            for kind in ("exact", "float64")
        )
        error = float(true.times.std(ddof=1)) / math.sqrt(runs)
        rows.append(
            [
                f"{n:,}",
                f"{mean:,.0f}",
                with_error(true),
                f"{(true.times.mean() - mean) / error:.2f}",
                with_error(plain),
                f"{plain.times.mean() / mean:.3f}",
            ]
        )
    print(f"\nE[T] for l = 2, {runs:,} runs each (standard errors in brackets)")
    print(
        table(
            ["n", "exact E[T]", "true arithmetic", "z", "float64 arithmetic", "float64/exact"],
            rows,
            right=range(6),
        )
    )


def with_error(samples: Samples) -> str:
    error = float(samples.times.std(ddof=1)) / math.sqrt(samples.runs)
    return f"{samples.times.mean():,.0f} ({error:,.0f})"


def section6(step: int) -> None:
    """Play the paper's section 6 and compare with the exact values."""
    plan = Plan.of(
        {"n": f"50:10000:{step}", "ell": [2, "cbrt", "sqrt", "half"], "runs": 2000, "seed": SEED}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "section6.sqlite"
        begun = time.perf_counter()
        run_sweep(plan, path, progress=terminal_progress)
        seconds = time.perf_counter() - begun
        size = path.stat().st_size
        worst, rows = 0.0, []
        for result in sweep_results(path, plan):
            experiment, total = result.experiment, result.summary.total
            assert total is not None
            z = (total.point - expected(experiment.n, experiment.ell)) / total.error
            worst = max(worst, abs(z))
            if experiment.n % 2500 == 0:
                rows.append(
                    [
                        f"{experiment.n:,}",
                        f"{experiment.ell:,}",
                        f"{total.point:,.0f}",
                        f"{expected(experiment.n, experiment.ell):,.0f}",
                        f"{z:.2f}",
                    ]
                )
    print(
        f"\nsection 6: {len(plan.experiments)} experiments, {plan.runs:,} runs in {seconds:,.0f} s "
        f"({seconds / 60:.1f} min), {size / 1e6:.0f} MB; largest |z| against E[T]: {worst:.2f}"
    )
    print(table(["n", "l", "mean", "exact", "z"], rows, right=range(5)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000, help="runs per n in the table")
    parser.add_argument("--n-max", type=int, default=10_000, help="largest n in the table")
    parser.add_argument("--section6", action="store_true", help="the paper's whole experiment")
    parser.add_argument("--n-step", type=int, default=50, help="step of n in --section6")
    options = parser.parse_args()
    speed()
    arithmetic(options.n_max, options.runs)
    if options.section6:
        section6(options.n_step)


if __name__ == "__main__":
    main()
