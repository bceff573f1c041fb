"""The results file: keyed by content, continued, and whole or known to be damaged."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from markov_lrsao.cli import main
from simulate.runs.batches import digest
from simulate.runs.runner import simulate
from simulate.sweeps import store
from simulate.sweeps.plan import Plan
from simulate.sweeps.store import DamagedError, ResultsFile, ResultsFileError, salvage
from simulate.sweeps.sweep import run_sweep, sweep_results

FIELDS: dict[str, Any] = {"n": "9:10", "ell": 2, "runs": 60, "seed": 11, "batch": 25}


def rows(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as db:
        found = [
            row
            for table in ("cells", "results", "seal")
            for row in db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
        ]
    db.close()
    return found


def hill(path: Path, values: list[int], **more: Any) -> Path:
    path.write_text(
        json.dumps(
            {"objectives": {"A": values, "B": values[::-1], "C": values}, "target": "A"} | more
        )
    )
    return path


def means(path: Path, plan: Plan | None = None) -> list[tuple[int, float]]:
    return [(result.runs, result.summary.ert.point) for result in sweep_results(path, plan)]


# -- keyed by content ------------------------------------------------------------------------


def test_an_edited_landscape_file_is_another_cell(tmp_path: Path) -> None:
    out, file = tmp_path / "out.sqlite", hill(tmp_path / "l.json", [0, 1, 2, 3, 4, 5])
    fields = {"n": 5, "landscape": str(file), "runs": 40, "outside_h": True}
    first = Plan.of(fields)
    assert run_sweep(first, out) == 40
    before = means(out, first)
    hill(file, [0, 1, 1, 1, 1, 5])
    second = Plan.of(fields)
    assert run_sweep(second, out) == 40, "the old results came back"
    assert means(out, second) != before
    assert means(out, first) == before  # the file's first content needs no file any more
    direct = simulate(
        second.experiments[0].law(),
        runs=40,
        seed=1,
        path=second.experiments[0].path,
        limit=second.experiments[0].limit,
    )
    assert means(out, second) == [(40, direct.times.mean())]


def test_the_name_of_a_file_does_not_matter(tmp_path: Path) -> None:
    out, values = tmp_path / "out.sqlite", [0, 2, 2, 3, 4, 5, 9]
    one = hill(tmp_path / "one.json", values)
    two = hill(tmp_path / "two.json", values, name="another name", milestones=[6])
    fields = {"n": 6, "runs": 30, "outside_h": True}
    assert run_sweep(Plan.of(fields | {"landscape": str(one)}), out) == 30
    assert run_sweep(Plan.of(fields | {"landscape": str(two)}), out) == 0
    three = hill(tmp_path / "three.json", values, milestones=[3, 6])  # other phases
    assert run_sweep(Plan.of(fields | {"landscape": str(three)}), out) == 30


def test_keys_follow_everything_that_is_simulated() -> None:
    base = Plan.of({"n": 12, "ell": 2}).experiments[0]
    others = [
        Plan.of({"n": 12, "ell": 2} | change).experiments[0]
        for change in (
            {"n": 13},
            {"ell": 3},
            {"alpha": "3/4"},
            {"gamma": "1/20"},
            {"r": "5"},
            {"kernel": "step"},
            {"algorithm": "earl"},
            {"landscape": "jump-open"},
            {"arithmetic": "float64"},
            {"limit": 1000},
            {"restart": 1000},
            {"seed": 2},
        )
    ]
    assert len({experiment.key for experiment in (base, *others)}) == 13
    # the same by another name: the paper's r written out
    assert (
        Plan.of({"n": 12, "ell": 2, "alpha": "0.8", "gamma": "1/13"}).experiments[0].key == base.key
    )


# -- continued -------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [(60, 130), (10, 25, 26, 130), (130, 60)])
def test_more_runs_continue_a_cell(tmp_path: Path, steps: tuple[int, ...]) -> None:
    grown, whole = tmp_path / "grown.sqlite", tmp_path / "whole.sqlite"
    had = 0
    for runs in steps:
        plan = Plan.of(FIELDS | {"runs": runs, "batch": 25 if runs == steps[0] else 40})
        assert run_sweep(plan, grown) == 2 * max(0, runs - had), "stored runs were played again"
        had = max(had, runs)
        fresh = tmp_path / f"fresh{runs}.sqlite"
        run_sweep(Plan.of(FIELDS | {"runs": runs}), fresh)
        assert means(grown, plan) == means(fresh)
    run_sweep(Plan.of(FIELDS | {"runs": had}), whole)
    assert rows(grown) == rows(whole)


def test_restarts_and_decisions_are_kept_per_run(tmp_path: Path) -> None:
    out = tmp_path / "e.sqlite"
    plan = Plan.of(
        {
            "n": 12,
            "ell": 2,
            "algorithm": "earl",
            "restart": 150,
            "limit": "5n2",
            "runs": 90,
            "batch": 40,
            "landscape": "jump-open",
        }
    )
    run_sweep(plan, out)
    experiment = plan.experiments[0]
    direct = simulate(
        experiment.law(), runs=90, seed=1, restart=150, limit=720, path=experiment.path
    )
    with ResultsFile(out) as file:
        stored = file.runs(1)
        assert stored is not None
        assert (stored.restarts == direct.restarts).all()
        assert (stored.hits == direct.hits).all()
        assert file.runs(2) is None
    fewer = Plan.of(
        {
            "n": 12,
            "ell": 2,
            "algorithm": "earl",
            "restart": 150,
            "limit": "5n2",
            "runs": 33,
            "landscape": "jump-open",
        }
    )
    assert sweep_results(out, fewer)[0].summary.restarts == direct.restarts[:33].sum()


# -- damaged ---------------------------------------------------------------------------------


def play(path: Path) -> Plan:
    plan = Plan.of(FIELDS)
    run_sweep(plan, path)
    return plan


def check_flip(path: Path, whole: bytes, flips: dict[int, int], plan: Plan, truth: Any) -> str:
    """Damage a copy, and demand that the damage is detected or without consequence."""
    data = bytearray(whole)
    for place, bits in flips.items():
        data[place] ^= bits
    path.write_bytes(data)
    try:
        run_sweep(plan, path)
        found = means(path), means(path, plan)
    except ResultsFileError as error:
        told, damaged = str(error), isinstance(error, DamagedError)
    else:
        assert found == truth, f"a wrong answer after {flips}"
        return "harmless"
    assert "\n" not in told
    assert str(path) in told
    if damaged:
        run_sweep(plan, path, repair=True)
        assert (means(path), means(path, plan)) == truth, f"a wrong repair after {flips}"
    return "damaged" if damaged else "refused"


def flip_campaign(tmp_path: Path, places: list[int], seed: str, bytes_at_once: int = 1) -> None:
    path = tmp_path / "r.sqlite"
    plan = play(path)
    whole, truth = path.read_bytes(), (means(path), means(path, plan))
    draw = random.Random(seed)
    kinds = []
    for place in places:
        flips = {
            min(place + k, len(whole) - 1): 1 << draw.randrange(8)
            if bytes_at_once == 1
            else draw.randrange(1, 256)
            for k in range(bytes_at_once)
        }
        kinds.append(check_flip(path, whole, flips, plan, truth))
    assert kinds.count("damaged") > len(places) // 20
    assert kinds.count("harmless") > 0


def test_a_flipped_bit_is_seen_or_harmless(tmp_path: Path) -> None:
    """A seeded sample over the whole file, its header and the used ends of its pages."""
    play(tmp_path / "size.sqlite")
    size = (tmp_path / "size.sqlite").stat().st_size
    draw = random.Random(1)
    places = (
        [draw.randrange(size) for _ in range(20)]
        + [draw.randrange(100) for _ in range(10)]
        + [4096 * draw.randrange(size // 4096) + draw.randrange(40) for _ in range(15)]
        + [4096 * draw.randrange(size // 4096) + 4095 - draw.randrange(600) for _ in range(25)]
    )
    flip_campaign(tmp_path, places, "one bit")


def test_overwritten_bytes_are_seen_or_harmless(tmp_path: Path) -> None:
    play(tmp_path / "size.sqlite")
    size = (tmp_path / "size.sqlite").stat().st_size
    draw = random.Random(2)
    flip_campaign(tmp_path, [draw.randrange(size) for _ in range(50)], "bytes", bytes_at_once=16)


@pytest.mark.exhaustive
def test_every_byte_of_the_file(tmp_path: Path) -> None:
    play(tmp_path / "size.sqlite")
    flip_campaign(tmp_path, list(range((tmp_path / "size.sqlite").stat().st_size)), "every byte")


CHANGES = [
    (
        "UPDATE results SET spent = hits WHERE cell = 2 AND first_run = 25",
        "n = 10, ell = 2, the batch of run 25",
    ),
    ("UPDATE results SET successes = successes - 1 WHERE cell = 1 AND first_run = 0", "n = 9"),
    ("UPDATE results SET first_run = 75 WHERE cell = 1 AND first_run = 50", "the batch of run 75"),
    (
        "UPDATE results SET cell = 2, first_run = 75 WHERE cell = 1 AND first_run = 50",
        "n = 10, ell = 2, the batch of run 75",
    ),
    ("DELETE FROM results WHERE cell = 1 AND first_run = 50", "lost or added"),
    (
        "INSERT INTO results SELECT cell, 75, runs, successes, steps, hits, spent, restarts, "
        "decisions, digest FROM results WHERE cell = 1 AND first_run = 50",
        "the batch of run 75",
    ),
    (
        "UPDATE cells SET plan = replace(plan, '4/5', '3/5'), block = 26 WHERE cell = 2",
        "the entry of experiment 2",
    ),
    (
        "INSERT INTO cells SELECT 3, 'x', block, plan, digest FROM cells WHERE cell = 1",
        "the entry of experiment 3",
    ),
    ("DELETE FROM cells WHERE cell = 2", "experiment 2, the batch of run 0"),
    ("UPDATE seal SET results = results + 1", "lost or added"),
    ("DELETE FROM seal", "lost or added"),
    ("DROP TABLE seal", "tables have changed"),
    ("CREATE TABLE more (x)", "tables have changed"),
]


@pytest.mark.parametrize(("statement", "message"), CHANGES)
def test_a_changed_row_is_named_and_replayed(
    tmp_path: Path, statement: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What SQLite itself finds in order: only the digests and the seal can tell."""
    path = tmp_path / "r.sqlite"
    plan = play(path)
    truth = rows(path)
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()
    arguments = [
        "sweep",
        "--n",
        "9:10",
        "--ell",
        "2",
        "--runs",
        "60",
        "--seed",
        "11",
        "--batch",
        "25",
        "--out",
        str(path),
    ]
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert message in told.err
    assert "--repair" in told.err
    assert main([*arguments, "--repair", "--json"]) == 0
    played = json.loads(capsys.readouterr().out)["played_now"]
    assert played <= (60 if "cells SET" in statement or "FROM cells" in statement else 25)
    assert rows(path) == truth
    assert run_sweep(plan, path) == 0


def test_repair_refuses_foreign_files(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE results (x)")
    db.close()
    before = foreign.read_bytes()
    with pytest.raises(ResultsFileError, match="another program"):
        run_sweep(Plan.of(FIELDS), foreign, repair=True)
    with pytest.raises(ResultsFileError, match="another program"):
        salvage(foreign)
    assert foreign.read_bytes() == before


def test_older_formats_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.sqlite"
    with sqlite3.connect(old) as db:
        db.executescript(
            f"PRAGMA application_id = {0x4C52534F}; PRAGMA user_version = 1; "
            "CREATE TABLE cells (cell INTEGER PRIMARY KEY, key TEXT);"
        )
    db.close()
    assert main(["sweep", "--n", "9", "--ell", "2", "--out", str(old), "--repair"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "has format 1" in told
    assert "choose another name" in told


def test_read_only_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite's query_only stands in for a file system without write access (root has it always).

    A complete store is read all the same; one that lacks runs is an error that says what to do.
    """
    path = tmp_path / "r.sqlite"
    plan = play(path)
    connect = sqlite3.connect

    def read_only(*arguments: Any, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(*arguments, **options)
        db.execute("PRAGMA query_only = 1")
        return db

    monkeypatch.setattr(sqlite3, "connect", read_only)
    assert run_sweep(plan, path) == 0
    arguments = ["sweep", "--n", "9:11", "--ell", "2", "--runs", "60", "--seed", "11"]
    assert main([*arguments, "--out", str(path)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be written" in told
    assert "--out" in told


def test_two_sweeps_share_a_file(tmp_path: Path) -> None:
    """Batches that somebody else has stored meanwhile are left as they are."""
    path, copy = tmp_path / "r.sqlite", tmp_path / "copy.sqlite"
    plan = play(path)
    shutil.copy(path, copy)
    with ResultsFile(path) as file, sqlite3.connect(copy) as db:
        stored = [(row[0], store._stored(row)) for row in db.execute("SELECT * FROM results")]
        file.add(stored)
    db.close()
    assert rows(path) == rows(copy)
    assert run_sweep(plan, path) == 0


def test_digests_tell_types_and_borders_apart() -> None:
    different = [
        ("ab", "c"),
        ("a", "bc"),
        (b"ab", "c"),
        ("abc",),
        ("a", "b", "c"),
        (1, 11),
        (11, 1),
        ("1", 11),
        (None, 1),
    ]
    assert len({digest(*values) for values in different}) == len(different)
    assert digest(np.int64(3).item()) == digest(3)
