"""Sweeps: plans and the results file; killing and Dask are in test_simulate_cluster."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweep_files import FIELDS, table

from markov_lrsao.errors import ParameterError
from simulate.runs.runner import simulate
from simulate.sweeps.plan import Experiment, Plan, ells_at, parse_count
from simulate.sweeps.store import ResultsFile, ResultsFileError
from simulate.sweeps.sweep import run_sweep, sweep_results


def test_plan_is_a_product() -> None:
    plan = Plan.of(
        {
            "n": [20, 27],
            "ell": [2, "sqrt", "cbrt", "half"],
            "limit": "10n2",
            "alpha": ["0.8", "4/5", "1/2"],
        }
    )
    ells = {20: (2, 4, 7), 27: (2, 5, 3, 11)}  # repetitions are dropped
    assert [(c.n, c.ell, c.alpha) for c in plan.experiments] == [
        (n, ell, alpha) for n in (20, 27) for ell in ells[n] for alpha in ("4/5", "1/2")
    ]
    assert {c.limit for c in plan.experiments} == {4000, 7290}


def test_counts_of_steps() -> None:
    assert parse_count("10n2", 7, "limit") == 490
    assert parse_count(None, 7, "limit") is None
    with pytest.raises(ParameterError, match="number of steps"):
        parse_count("10n3", 7, "limit")


def test_schedules_and_ranges_of_ell() -> None:
    assert ells_at("2,sqrt,cbrt,half,3:5", 27) == [2, 5, 3, 11, 3, 4, 5]
    assert ells_at([2, "half", "3:7@3"], 27) == [2, 11, 3, 5, 7]
    assert ells_at(4, 27) == [4]
    for bad in ([], "", "log", "2;3", [None]):
        with pytest.raises(ParameterError, match="ell = "):
            ells_at(bad, 27)


def test_hyper_parameters_of_a_plan_are_lists_too() -> None:
    plan = Plan.of({"n": 9, "ell": 2, "alpha": "0.8,0.7:0.9@2", "gamma": [None, "1/20"]})
    assert [(c.alpha, c.gamma) for c in plan.experiments] == [
        (alpha, gamma) for alpha in ("4/5", "7/10", "9/10") for gamma in (None, "1/20")
    ]


def test_schedules_are_the_papers() -> None:
    plan = Plan.of({"n": "50:10000:50", "ell": [2, "cbrt", "sqrt", "half"], "runs": 2000})
    assert len(plan.experiments) == 800
    at = {(c.n, c.ell) for c in plan.experiments if c.n == 10_000}
    assert at == {(10_000, 2), (10_000, 21), (10_000, 100), (10_000, 4997)}
    assert {c.ell for c in plan.experiments if c.n == 1000} == {2, 10, 31, 497}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"n": 9, "elll": 2}, "unknown field 'elll'"),
        ({"ell": 2}, "no field n"),
        ({"n": 9, "ell": 5}, "out of range"),
        ({"n": 9, "ell": 2, "runs": 0}, "runs = 0"),
        ({"n": 9, "ell": 2, "seed": -1}, "seed = -1"),
        ({"n": 9, "ell": 2, "kernel": "x"}, "kernel"),
        ({"n": 9, "ell": 2, "alpha": 0.8}, "binary float"),
        ({"n": 9, "ell": 2, "r": ["x"]}, "r = 'x'"),
        ({"n": 9, "ell": 2, "algorithm": "earl", "r": "1"}, "no meaning"),
    ],
)
def test_bad_plans(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((ParameterError, TypeError), match=message):
        Plan.of(fields)


def test_plan_files(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('n = "9:12:1"\nell = [2]\nruns = 120\nseed = 3\nbatch = 50\n')
    (tmp_path / "a.json").write_text(json.dumps(FIELDS))
    assert Plan.load(tmp_path / "a.toml") == Plan.load(tmp_path / "a.json") == Plan.of(FIELDS)
    (tmp_path / "b.json").write_text("{")
    (tmp_path / "c.toml").write_text("n = " + "9" * 5000)
    (tmp_path / "d.toml").write_text("n = [\n")
    for name in ("b.json", "missing.toml", "c.toml", "d.toml"):
        with pytest.raises(ParameterError, match=rf"^plan .*{name}") as caught:
            Plan.load(tmp_path / name)
        assert str(caught.value).count(name) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_plans_are_regular_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A FIFO would wait for ever, an endless device would fill the memory."""
    for ending in ("toml", "json"):
        fifo, link = tmp_path / f"fifo.{ending}", tmp_path / f"link.{ending}"
        os.mkfifo(fifo)
        link.symlink_to("/dev/zero")
        folder = tmp_path / f"folder.{ending}"
        folder.mkdir()
        for path, kind in ((fifo, "a FIFO"), (link, "a device"), (folder, "a directory")):
            with pytest.raises(ParameterError, match=f"{kind}; only regular files"):
                Plan.load(path)
    large = tmp_path / "large.json"
    large.write_text(json.dumps(FIELDS) + " " * 5000)
    monkeypatch.setenv("MARKOV_LRSAO_MAX_SIZE", "4K")
    with pytest.raises(ParameterError, match="larger than the limit"):
        Plan.load(large)


def test_stored_runs_are_the_simulated_ones(tmp_path: Path) -> None:
    plan, path = Plan.of(FIELDS), tmp_path / "r.sqlite"
    assert run_sweep(plan, path) == 480
    assert run_sweep(plan, path) == 0
    with ResultsFile(path) as file:
        for number, experiment in file.experiments().items():
            stored = file.runs(number)
            assert stored is not None
            direct = simulate(
                experiment.law(), runs=120, seed=3, limit=experiment.limit, path=experiment.path
            )
            assert (stored.hits == direct.hits).all()
            assert (stored.steps == direct.steps).all()
            assert not stored.restarts.any()
            assert not stored.decisions.any()
    for result in sweep_results(path):
        assert result.runs == 120
        assert result.summary.total is not None


def test_plans_can_be_split_reordered_and_extended(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.sqlite", tmp_path / "parts.sqlite"
    run_sweep(Plan.of(FIELDS), whole)
    for n in (9, 10, 11, 12):
        run_sweep(Plan.of(FIELDS | {"n": n}), parts)
    assert table(whole) == table(parts)
    more = Plan.of(FIELDS | {"runs": 300})
    longer = simulate(
        more.experiments[0].law(), runs=300, seed=3, path=more.experiments[0].path
    ).steps
    shorter = simulate(
        more.experiments[0].law(), runs=120, seed=3, path=Plan.of(FIELDS).experiments[0].path
    )
    assert (longer[:120] == shorter.steps).all()


def test_results_with_censored_runs_and_restarts(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    plan = Plan.of(
        {
            "n": 12,
            "ell": 2,
            "algorithm": "earl",
            "restart": 150,
            "limit": "5n2",
            "runs": 200,
            "landscape": "jump-open",
        }
    )
    run_sweep(plan, path)
    found = sweep_results(path, plan)[0].summary
    direct = simulate(
        plan.experiments[0].law(),
        runs=200,
        seed=1,
        restart=150,
        limit=720,
        path=plan.experiments[0].path,
    )
    assert found.censored == direct.censored.sum() > 0
    assert found.restarts == direct.restarts.sum() > 0
    assert found.to_dict()["mean"] is None


def test_foreign_and_damaged_files(tmp_path: Path) -> None:
    plan = Plan.of(FIELDS)
    text = tmp_path / "text.sqlite"
    text.write_text("not a database at all, but long enough to be taken for a header" * 50)
    with pytest.raises(ResultsFileError, match=r"text.sqlite: file is not a database"):
        run_sweep(plan, text)
    assert text.read_text().startswith("not a database")
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE results (x)")
    db.close()
    with pytest.raises(ResultsFileError, match="another program"):
        run_sweep(plan, foreign)
    damaged = tmp_path / "damaged.sqlite"
    run_sweep(plan, damaged)
    data = bytearray(damaged.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    damaged.write_bytes(data)
    with pytest.raises(ResultsFileError, match=r"damaged.sqlite"):
        run_sweep(plan, damaged)
    with pytest.raises(ResultsFileError, match="folder does not exist"):
        run_sweep(plan, tmp_path / "no" / "such.sqlite")
    with pytest.raises(ParameterError, match="does not exist"):
        sweep_results(tmp_path / "none.sqlite")


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's page limit stands in for the disk's end: the same error from the same place."""
    plan, path = Plan.of(FIELDS | {"runs": 2000}), tmp_path / "full.sqlite"
    run_sweep(Plan.of(FIELDS | {"runs": 2000, "n": 9}), path)
    before = table(path)
    original = ResultsFile.__init__

    def small(self: ResultsFile, where: Path) -> None:
        original(self, where)
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        self._db.execute(f"PRAGMA max_page_count = {pages + 1}")

    monkeypatch.setattr(ResultsFile, "__init__", small)
    with pytest.raises(ResultsFileError, match=r"full.*committed results are kept"):
        run_sweep(plan, path)
    monkeypatch.undo()
    assert [row for row in table(path) if row in before] == before
    run_sweep(plan, path)
    undisturbed = tmp_path / "undisturbed.sqlite"
    run_sweep(plan, undisturbed)
    assert table(path) == table(undisturbed)


def test_cell_keys_are_canonical() -> None:
    experiment = Plan.of(FIELDS).experiments[0]
    assert Experiment.from_text(experiment.text) == replace(experiment, runs=0)
    other = Plan.of(FIELDS | {"runs": 500, "batch": 7, "seed": 9}).experiments[0]
    assert other.path == experiment.path
    assert other.key != experiment.key
    assert Plan.of(FIELDS | {"runs": 500, "batch": 7}).experiments[0].key == experiment.key
    assert Plan.of(FIELDS | {"arithmetic": "float64"}).experiments[0].path != experiment.path
    paths = {c.path for c in Plan.of({"n": "9:200:1", "ell": 2}).experiments}
    assert len(paths) == 192
    assert np.max([np.max(path) for path in paths]) < 2**32
