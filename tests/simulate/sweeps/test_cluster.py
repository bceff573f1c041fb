"""Sweeps that are killed and resumed, and sweeps on a Dask cluster that loses workers."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from clusters import Cluster
from sweep_files import FIELDS, table

from simulate.sweeps.plan import Plan
from simulate.sweeps.store import ResultsFile
from simulate.sweeps.sweep import SchedulerError, run_sweep

# Step by step, so that there is time to kill it: some seconds on two cores.
LONG: dict[str, Any] = {
    "n": [300, 320, 340, 360, 380, 400],
    "ell": 2,
    "runs": 1200,
    "seed": 5,
    "batch": 60,
    "kernel": "step",
}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "markov_lrsao", *map(str, arguments)]


def wait_for_rows(path: Path, least: int, process: subprocess.Popen[bytes]) -> int:
    """Wait until a sweep has committed some rows; return how many."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the sweep ended before it could be killed"
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5) as db:
                count = int(db.execute("SELECT count(*) FROM results").fetchone()[0])
            db.close()
        except sqlite3.OperationalError:
            count = 0  # not created yet
        if count >= least:
            return count
        time.sleep(0.05)
    raise AssertionError("no rows within a minute")


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, marks=pytest.mark.exhaustive),
    ],
)
def test_killed_sweep_resumes_to_the_same_table(tmp_path: Path, how: signal.Signals) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(LONG))
    out = tmp_path / "killed.sqlite"
    process = subprocess.Popen(
        command("sweep", plan, "--out", out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for_rows(out, 10, process)
    finally:
        process.send_signal(how)
        code = process.wait(timeout=60)
    assert code == (-signal.SIGKILL if how is signal.SIGKILL else 130)
    total = 6 * LONG["runs"] // LONG["batch"]
    assert 10 <= len(table(out)) - 6 < total
    again = subprocess.run(
        command("sweep", plan, "--out", out, "--json"), capture_output=True, check=True, text=True
    )
    assert 0 < json.loads(again.stdout)["played_now"] < 6 * LONG["runs"]
    undisturbed = tmp_path / "undisturbed.sqlite"
    run_sweep(Plan.load(plan), undisturbed)
    assert table(out) == table(undisturbed)
    assert len(table(out)) == 6 + total


@pytest.mark.slow
def test_unreachable_scheduler(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    result = subprocess.run(
        command(
            "sweep",
            "--n",
            "9",
            "--ell",
            "2",
            "--runs",
            "10",
            "--out",
            tmp_path / "x.sqlite",
            "--scheduler",
            "tcp://127.0.0.1:9",
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "scheduler tcp://127.0.0.1:9 cannot be reached" in result.stderr


class Lost:
    """A future whose worker dies with the result, and that is finished again later."""

    def __init__(self, *statuses: str) -> None:
        self._statuses = list(statuses)

    @property
    def status(self) -> str:
        return self._statuses[0]

    def result(self, timeout: float) -> str:
        if len(self._statuses) > 1:
            raise TimeoutError
        return "a batch"

    def later(self) -> None:
        self._statuses = self._statuses[1:] or self._statuses


@pytest.mark.parametrize(
    "statuses", [("lost", "finished"), ("pending", "lost", "finished"), ("finished", "finished")]
)
def test_a_result_that_died_with_its_worker_is_waited_for(
    statuses: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third worker dies while the result is fetched."""
    distributed = pytest.importorskip("distributed")
    from contextlib import nullcontext
    from types import SimpleNamespace

    from markov_lrsao.cluster import Hand

    future = Lost(*statuses)
    looks: list[int] = []

    def wait(futures: list[Lost], **_: Any) -> Any:
        looks.append(1)
        if len(looks) > 1:
            future.later()
        return SimpleNamespace(done=set(futures))

    monkeypatch.setattr(distributed, "wait", wait)
    client = SimpleNamespace(
        nthreads=lambda: {"w": 1},
        submit=lambda *_, **__: future,
        as_current=nullcontext,
        status="running",
    )

    def hand() -> Hand[int, str]:
        return Hand(client, str, [10], "tcp://x", None, "try again")

    assert list(hand().play()) == [(0, "a batch")]
    assert len(looks) == len(statuses)
    client.submit = lambda *_, **__: Lost("cancelled")
    with pytest.raises(SchedulerError, match="gave up on a job; try again"):
        list(hand().play())


def test_dask_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SchedulerError, match=r"markov-lrsao\[dask\]"):
        run_sweep(Plan.of(FIELDS), tmp_path / "x.sqlite", scheduler="tcp://127.0.0.1:9")


def started(
    cluster: Cluster, plan: dict[str, Any], folder: Path, out: Path
) -> subprocess.Popen[bytes]:
    """Start a sweep on a cluster."""
    file = folder / "plan.json"
    file.write_text(json.dumps(plan))
    return cluster.start("sweep", file, "--out", out)


@pytest.mark.slow
def test_dask_cluster_with_a_killed_worker(tmp_path: Path) -> None:
    """Two worker processes, one of them killed with -9 half-way: the same table."""
    pytest.importorskip("distributed")
    out, undisturbed = tmp_path / "dask.sqlite", tmp_path / "undisturbed.sqlite"
    with Cluster(tmp_path, 2) as cluster:
        sweep = started(cluster, LONG, tmp_path, out)
        wait_for_rows(out, 15, sweep)
        cluster.workers[0].kill()
        assert sweep.wait(timeout=120) == 0, sweep.stderr.read() if sweep.stderr else ""
        assert cluster.workers[0].wait(timeout=10) == -signal.SIGKILL
        assert cluster.workers[1].poll() is None
    run_sweep(Plan.of(LONG), undisturbed)
    assert table(out) == table(undisturbed)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("event", ["Ctrl-C", "the scheduler dies"])
def test_a_sweep_on_dask_that_is_cut_off(tmp_path: Path, event: str) -> None:
    """One line, what was finished is stored, and the workers stop their batches of hours."""
    pytest.importorskip("distributed")
    out = tmp_path / "dask.sqlite"
    hours = {"n": [300, 20_000], "ell": 2, "runs": 20, "batch": 10, "kernel": "step", "seed": 5}
    with Cluster(tmp_path, 1) as cluster:
        sweep = started(cluster, hours, tmp_path, out)
        wait_for_rows(out, 2, sweep)
        if event == "Ctrl-C":
            sweep.send_signal(signal.SIGINT)
        else:
            cluster.scheduler.kill()
        _, err = sweep.communicate(timeout=60)
        assert sweep.returncode == (130 if event == "Ctrl-C" else 2)
        assert err.count(b"\n") == 1
        if event == "Ctrl-C":
            assert err == b"interrupted\n"
        else:
            assert b"finished batches are stored, so start the cluster and this sweep again" in err
        rest = cluster.workers[0].pid
        deadline = time.monotonic() + 60
        while processor_seconds(rest, 2.0) > 0.5:
            assert time.monotonic() < deadline, "the worker goes on"
    with ResultsFile(out) as file:
        assert sorted(file.done()) == [(1, 0), (1, 10)]


def processor_seconds(pid: int, over: float) -> float:
    """Return the processor's time that a process uses within some seconds; 0 if it has ended."""

    def ticks() -> int:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        return int(fields[11]) + int(fields[12])

    before = ticks()
    time.sleep(over)
    return max(0, ticks() - before) / os.sysconf("SC_CLK_TCK")
