"""Files that version 0.1 wrote: continued, read, or refused in one line that says what to do."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from commands import Command

from markov_lrsao.errors import FileFormatError
from markov_lrsao.release import SCHEMA
from markov_lrsao.report.verdicts import load_verification

OLD = Path(__file__).resolve().parents[1] / "data" / "0.1"
SWEEP = "sweep --n 9,10 --ell 2 --batch 20 --seed 3 --json"
MAP = "map --n 9 --ell 2 --alpha 0.8:0.9@2 --r-relative 0.25:0.75@2 --workers 1"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with copies of the files."""
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old"


def test_a_sweep_is_continued(old: Path, command: Command) -> None:
    """Nothing is played twice, and the runs are those that this version plays."""

    def swept(name: str, runs: int) -> dict[str, Any]:
        words = [*SWEEP.split(), "--runs", str(runs), "--out", str(old / name)]
        found: dict[str, Any] = json.loads(command(*words).out)
        return found

    fresh, found = swept("fresh.sqlite", 40), swept("sweep.sqlite", 40)
    assert (fresh["played_now"], found["played_now"]) == (80, 0)
    assert found["results"] == fresh["results"]
    assert swept("sweep.sqlite", 60)["played_now"] == 40


@pytest.mark.slow
def test_a_map_is_solved_again(
    old: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points belong to the version that solved them; those of others stay beside them."""
    monkeypatch.setattr("markov_lrsao.regimes.grid.release", lambda: "0.2.0")
    fresh = json.loads(command(*MAP.split(), "--json").out)
    state = ["--json", "--state", str(old / "map.sqlite")]
    assert json.loads(command(*MAP.split(), *state).out) == fresh
    with sqlite3.connect(old / "map.sqlite") as db:
        keys = [key.split()[0] for (key,) in db.execute("SELECT key FROM points ORDER BY key")]
    assert keys == ["0.1.0"] * 4 + ["0.2.0"] * 4


def test_a_counterexample_is_replayed(command: Command) -> None:
    code, out, err = command("replay", str(OLD / "lemma-5.json"), "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["statement"] == "Lemma 5"
    assert [step["step"] for step in found["steps"]] == ["f+", "f+", "f-", "f+", "f-"]


def test_verdicts_of_0_1_are_made_again() -> None:
    """0.1 wrote no schema, and its verdicts do not say what they cover."""
    with pytest.raises(FileFormatError, match=r"schema is None.* make it with `markov-lrsao"):
        load_verification(OLD / "verify.json.gz")


@pytest.mark.parametrize("schema", [1, SCHEMA + 1, "3", None])
def test_verdicts_of_another_schema_are_refused(schema: object, tmp_path: Path) -> None:
    data = json.loads(gzip.decompress((OLD / "verify.json.gz").read_bytes()))
    path = tmp_path / "verify.json"
    path.write_text(json.dumps({"schema": schema, **data}))
    with pytest.raises(FileFormatError, match=r"schema is .* make it with `markov-lrsao verify"):
        load_verification(path)
    path.write_text(json.dumps({"schema": SCHEMA, **data}))
    with pytest.raises(FileFormatError, match="lacks some of its fields"):
        load_verification(path)


@pytest.mark.parametrize(
    ("name", "line"),
    [("sweep.sqlite", "sweep --n 9 --ell 2 --out"), ("map.sqlite", f"{MAP} --state")],
)
def test_databases_of_another_format_are_refused(
    name: str, line: str, old: Path, command: Command
) -> None:
    with sqlite3.connect(old / name) as db:
        db.execute("PRAGMA user_version = 99")
    before = (old / name).read_bytes()
    code, out, err = command(*line.split(), str(old / name))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "choose another name" in err
    assert (old / name).read_bytes() == before
