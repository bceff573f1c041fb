"""Ctrl-C in simulate, sweep and cross-validate: soon, with exit code 130, and stores stay whole.

The bounds of time here are far above what it takes (kernels look at their flag every step), and
far below what the work would take (hours), so that a loaded machine does not matter.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from simulate.runs.runner import simulate, trace_run
from simulate.runs.samples import Kernel
from simulate.runs.stopping import Stop, StoppedError
from simulate.sweeps.plan import Plan
from simulate.sweeps.store import ResultsFile
from simulate.sweeps.sweep import run_sweep

LINE = "interrupted\n"
HOURS = ["--n", "3000", "--ell", "2", "--runs", "100000", "--kernel", "step"]
COMMANDS = {
    "simulate": ["simulate", *HOURS],
    "simulate, one run": [
        "simulate",
        "--n",
        "100000",
        "--ell",
        "2",
        "--runs",
        "1",
        "--kernel",
        "step",
    ],
    "simulate, watched": [
        "simulate",
        "--n",
        "3000",
        "--ell",
        "2",
        "--runs",
        "100000",
        "--monitors",
    ],
    "sweep": ["sweep", *HOURS, "--batch", "50000", "--out", "s.sqlite"],
    "cross-validate": [
        "cross-validate",
        "--n-max",
        "600",
        "--n-min",
        "600",
        "--ell",
        "2",
        "--runs",
        "1000000",
        "--kernel",
        "step",
        "--moments-only",
    ],
}


def law(n: int = 9, ell: int = 2) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


def spent(process: subprocess.Popen[str]) -> float:
    """Return the processor's seconds of a process and its children so far (Linux)."""
    ticks = 0
    for task in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = task.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(task.parent.name) == process.pid or int(fields[1]) == process.pid:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    """Start a command; Ctrl-C must reach it even if this test ignores the signal."""
    return subprocess.Popen(
        [sys.executable, "-m", "markov_lrsao", *arguments],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def interrupt(arguments: list[str], folder: Path, moment: float) -> tuple[int, str]:
    """Interrupt a command when it has used so much of the processor; it must end soon."""
    process = start(arguments, folder)
    try:
        while process.poll() is None and spent(process) < moment:
            time.sleep(0.02)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert out == ""
        return process.returncode, err
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile what the commands need, so that they spend their time in the kernels."""
    for kernel in ("event", "step"):
        for watched in (False, True):
            simulate(law(), runs=1, seed=1, kernel=kernel, monitors=watched)
    trace_run(law(), seed=1, kernel="step")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "name",
    [
        name if name == "simulate" else pytest.param(name, marks=pytest.mark.slow)
        for name in COMMANDS
    ],
)
def test_ctrl_c_while_kernels_run(name: str, tmp_path: Path) -> None:
    assert interrupt(COMMANDS[name], tmp_path, 2.0) == (130, LINE)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "moment",
    [
        *(pytest.param(at, marks=pytest.mark.slow) for at in (0.3, 1.3, 3.0)),
        *(pytest.param(at, marks=pytest.mark.exhaustive) for at in (0.8, 2.0, 7.0)),
    ],
)
@pytest.mark.parametrize("name", ["simulate", "sweep", "cross-validate"])
def test_ctrl_c_at_any_moment(name: str, moment: float, tmp_path: Path) -> None:
    assert interrupt(COMMANDS[name], tmp_path, moment) == (130, LINE)
    store = tmp_path / "s.sqlite"
    if store.exists() and store.stat().st_size:
        with ResultsFile(store) as file:
            assert not file.done()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_interrupted_sweep_keeps_what_was_finished(tmp_path: Path) -> None:
    arguments = [
        "sweep",
        "--n",
        "300:340:20",
        "--ell",
        "2",
        "--runs",
        "40000",
        "--batch",
        "10",
        "--kernel",
        "step",
        "--out",
        "s.sqlite",
    ]
    plan = Plan.of({"n": "300:340:20", "ell": 2, "runs": 40_000, "batch": 10, "kernel": "step"})
    assert interrupt(arguments, tmp_path, 4.0) == (130, LINE)
    with ResultsFile(tmp_path / "s.sqlite") as file:  # checks every row
        assert file.done()
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT count(*) FROM results").fetchone()[0]
    db.close()
    assert 0 < rows < 12_000  # batches: minutes of work
    few = Plan.of({"n": 300, "ell": 2, "runs": 30, "batch": 10, "kernel": "step"})
    run_sweep(few, path)
    assert plan.experiments[0].key == few.experiments[0].key
    direct = simulate(
        few.experiments[0].law(),
        runs=30,
        seed=1,
        kernel="step",
        limit=few.experiments[0].limit,
        path=few.experiments[0].path,
    )
    with ResultsFile(path) as file:
        stored = file.runs(1)
        assert stored is not None
        assert (stored.steps[:30] == direct.steps).all()


@pytest.mark.parametrize("kernel", ["event", "step"])
@pytest.mark.parametrize("monitors", [False, True])
def test_the_flag_ends_runs_that_never_end(kernel: Kernel, monitors: bool) -> None:
    """A closed cycle of accepted moves, no limit: only the flag can end it."""
    landscape = Landscape.from_arrays(
        {"C": [*range(9), 6, 7, 12], "O": list(range(12)), "Z": list(range(11, -1, -1))}, "C"
    )
    cycle = StepLaw.of(landscape, Algorithm.lrsao(Parameters.paper(11)))
    stop = Stop()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    with pytest.raises(StoppedError):
        simulate(
            cycle,
            runs=50,
            seed=1,
            kernel=kernel,
            monitors=monitors,
            stop=stop,
        )
    timer.join()


def test_a_flag_that_nobody_sets_changes_nothing() -> None:
    plain = simulate(law(), runs=300, seed=4)
    assert (simulate(law(), runs=300, seed=4, stop=Stop()).steps == plain.steps).all()
    stopped = Stop()
    stopped.set()
    with pytest.raises(StoppedError):
        simulate(law(), runs=300, seed=4, stop=stopped)


def test_monitors_of_endless_ties_heed_the_flag() -> None:
    """2^49 rejections of three tied objectives are drawn one by one by the monitors."""
    landscape = Landscape.from_arrays(
        {"A": [3, 1, 0, 1, 4], "B": [3, 2, 1, 0, 0], "C": [2, 1, 1, 0, 0]}, "A"
    )
    stuck = StepLaw.of(landscape, Algorithm.lrsao(Parameters.paper(4)))
    stop = Stop()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    with pytest.raises(StoppedError):
        simulate(stuck, runs=2, seed=1, limit=2**49, monitors=True, stop=stop)
    timer.join()


def test_in_order_is_in_order() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from simulate.runs.stopping import in_order

    beats: list[int] = []
    draw = np.random.default_rng(1)
    naps = draw.random(30) * 0.02

    def work(k: int) -> int:
        time.sleep(naps[k])
        return k * k

    with ThreadPoolExecutor(3) as pool:
        found = list(in_order(pool, work, range(30), 7, lambda: beats.append(1)))
        assert found == [(k, k * k) for k in range(30)]
        slow = in_order(pool, lambda k: time.sleep(0.7), [0], 1, lambda: beats.append(1))
        list(slow)
        assert beats
