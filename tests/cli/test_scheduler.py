"""map, curve and figures on a Dask cluster: the same answers as on this machine."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clusters import Cluster

from markov_lrsao.answers.curves import curve
from markov_lrsao.cluster import SchedulerError
from markov_lrsao.interrupts import spread
from markov_lrsao.regimes.grid import MapPlan, regime_map

MAP = ("map", "--n", "9", "--ell", "2", "--alpha", "0.5:0.9@3", "--r-relative", "0.2:0.8@3")


def answer(*arguments: str | Path) -> str:
    return subprocess.run(
        [sys.executable, "-m", "markov_lrsao", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def away(cluster: Cluster, *arguments: str | Path) -> str:
    process = cluster.start(*arguments)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out.decode()


@pytest.mark.slow
def test_commands_give_the_same_on_a_cluster(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    here, there = tmp_path / "here", tmp_path / "there"
    with Cluster(tmp_path, 2) as cluster:
        assert away(cluster, *MAP, "--json") == answer(*MAP, "--json")
        line = ("curve", "--n", "20:60:10", "--ell", "sqrt", "--exact", "--json")
        seconds = re.compile(r'"seconds": [0-9.e-]+')
        assert seconds.sub("", away(cluster, *line)) == seconds.sub("", answer(*line))
        some = ("figures", "--quick", "--only", "objectives", "--only", "site-first")
        away(cluster, *some, "--only", "regime-map", "--out", there)
        answer(*some, "--only", "regime-map", "--out", here)
        for file in sorted(here.iterdir()):
            if file.suffix in (".json", ".csv"):
                assert (there / file.name).read_bytes() == file.read_bytes()
        assert sorted(p.name for p in here.iterdir()) == sorted(p.name for p in there.iterdir())


@pytest.mark.slow
def test_an_interrupted_map_on_a_cluster_keeps_what_it_has(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    state = tmp_path / "map.sqlite"
    grid = ("map", "--n", "30", "--ell", "5", "--alpha", "0.5:0.9@20", "--r-relative", "0.1:0.9@20")
    with Cluster(tmp_path, 1) as cluster:
        process = cluster.start(*grid, "--state", state)
        deadline = time.monotonic() + 120
        while solved(state) < 4:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, b"interrupted\n")
    assert 4 <= solved(state) < 400


def solved(state: Path) -> int:
    import sqlite3

    if not state.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{state}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM points").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize("address", ["local", "127.0.0.1", "tcp://127.0.0.1:port"])
def test_an_address_that_is_none_is_one_line(address: str) -> None:
    pytest.importorskip("distributed")
    done = subprocess.run(
        [sys.executable, "-m", "markov_lrsao", "curve", "--n", "20:40:10", "--scheduler", address],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"markov-lrsao: scheduler {address} cannot be reached")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_one_line() -> None:
    pytest.importorskip("distributed")
    for command in (MAP, ("curve", "--n", "20:60:10")):
        done = subprocess.run(
            [sys.executable, "-m", "markov_lrsao", *command, "--scheduler", "tcp://127.0.0.1:9"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "scheduler tcp://127.0.0.1:9 cannot be reached" in done.stderr
        assert done.stderr.count("\n") == 1


def test_without_dask_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    plan = MapPlan.of(9, 2, "0.8", r_relative="0.5")
    with pytest.raises(SchedulerError, match=r"markov-lrsao\[dask\]"):
        regime_map(plan, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(SchedulerError, match=r"markov-lrsao\[dask\]"):
        curve([20], scheduler="tcp://127.0.0.1:9")


def test_results_of_a_cluster_come_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are finished in any order, with beats between them."""
    from markov_lrsao import cluster

    def backwards(work, jobs, address, **_):  # type: ignore[no-untyped-def]
        numbered = list(enumerate(jobs))
        for number, job in reversed(numbered):
            yield None
            yield number, work(job)

    monkeypatch.setattr(cluster, "on_cluster", backwards)
    found = list(spread(json.dumps, list(range(11)), at_once=3, scheduler="tcp://x"))
    assert found == [str(k) for k in range(11)]
