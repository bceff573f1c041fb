"""Runs as CSV, Parquet and Arrow: read back by the libraries that people use, and compared."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from markov_lrsao import Algorithm, Landscape, Parameters
from markov_lrsao.errors import ParameterError
from simulate import Samples, simulate
from simulate.runs.tables import KEY, write_runs

THIRD = Parameters.of("1/3", "1/7", "41/2")


def played(*, limit: int | None = None, restart: int | None = None) -> Samples:
    return simulate(
        Landscape.jump(12, 2),
        Algorithm.lrsao(THIRD),
        runs=40,
        seed=5,
        first_run=7,
        limit=limit,
        restart=restart,
    )


def columns_of(path: Path) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Read a table with pyarrow, or with Python's csv; missing cells are None."""
    if path.suffix == ".csv":
        with path.open(newline="") as stream:
            lines = list(csv.DictReader(stream))
        words = {"": None, "true": True, "false": False}
        found = {
            name: [words[x] if (x := line[name]) in words else int(x) for line in lines]
            for name in lines[0]
        }
        beside = json.loads(path.with_name(f"{path.name}-metadata.json").read_text())
        assert [c["name"] for c in beside["tableSchema"]["columns"]] == list(found)
        assert beside["url"] == path.name
        return found, beside["notes"][0][KEY]
    import pyarrow.feather
    import pyarrow.ipc
    import pyarrow.parquet

    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
    elif path.suffix == ".feather":
        table = pyarrow.feather.read_table(path)
    else:
        table = pyarrow.ipc.open_file(path).read_all()
    return table.to_pydict(), json.loads(table.schema.metadata[KEY.encode()])


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".feather"])
@pytest.mark.parametrize("limit", [None, 60])
def test_tables_hold_every_run(tmp_path: Path, ending: str, limit: int | None) -> None:
    samples = played(limit=limit, restart=None if limit is None else 25)
    path = tmp_path / f"runs{ending}"
    samples.save(path)
    found, about = columns_of(path)
    assert found["run"] == list(range(7, 47))
    assert found["steps"] == samples.steps.tolist()
    assert found["censored"] == samples.censored.tolist()
    assert found["restarts"] == samples.restarts.tolist()
    phases = [found[f"phase{k}"] for k in (1, 2, 3)]
    for k, censored in enumerate(samples.censored.tolist()):
        row = [times[k] for times in phases]
        assert row == [None] * 3 if censored else sum(row) == found["steps"][k]
    assert samples.censored.any() == (limit is not None)
    assert [Fraction(about[name]) for name in ("alpha", "gamma", "r")] == [
        Fraction(1, 3),
        Fraction(1, 7),
        Fraction(41, 2),
    ]
    assert (about["n"], about["seed"], about["first_run"]) == (12, 5, 7)
    assert (about["limit"], about["phases"]) == (limit, ["left", "slope", "right"])


def test_a_table_replays_its_runs(tmp_path: Path) -> None:
    """What stands in the metadata is enough to play the same runs again."""
    samples = played()
    samples.save(tmp_path / "runs.parquet")
    found, about = columns_of(tmp_path / "runs.parquet")
    again = simulate(
        Landscape.jump(about["n"], about["ell"]),
        Algorithm.lrsao(Parameters.of(about["alpha"], about["gamma"], about["r"])),
        runs=about["runs"],
        seed=about["seed"],
        first_run=about["first_run"],
        kernel=about["kernel"],
        arithmetic=about["arithmetic"],
        limit=about["limit"],
        restart=about["restart"],
    )
    assert again.steps.tolist() == found["steps"]


def test_stuck_runs_say_where(tmp_path: Path) -> None:
    samples = simulate(Landscape.jump(10, 2), Algorithm.rls(), runs=5, seed=1, limit=10_000)
    samples.save(tmp_path / "runs.csv")
    found, _ = columns_of(tmp_path / "runs.csv")
    assert found["stuck"] == [7] * 5 == samples.stuck.tolist()  # type: ignore[union-attr]
    assert np.all(samples.censored)


def test_what_cannot_be_written_is_refused_before_playing(tmp_path: Path) -> None:
    samples = played()
    with pytest.raises(ParameterError, match=r"the ending says the format"):
        samples.save(tmp_path / "runs.xlsx")
    with pytest.raises(ParameterError, match=r"does not exist"):
        samples.save(tmp_path / "nowhere" / "runs.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ParameterError, match=r"is a folder"):
        samples.save(tmp_path / "folder.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.csv"]


def test_without_pyarrow_csv_still_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    samples = played()
    with pytest.raises(ParameterError, match=r"markov-lrsao\[arrow\]"):
        write_runs(samples, tmp_path / "runs.parquet")
    samples.save(tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").exists()


def test_the_command_writes_what_it_prints(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "markov_lrsao", "simulate", "--n", "9", "--ell", "2"),
            *("--runs", "30", "--json", "--out", "a.csv", "--out", "b.parquet"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    one, two = columns_of(tmp_path / "a.csv"), columns_of(tmp_path / "b.parquet")
    assert one == two
    mean = json.loads(done.stdout)["mean"]["value"]
    assert abs(np.mean(one[0]["steps"]) - float(mean)) < 1e-9
