"""Maps hold what the engine says, survive interruptions, and are written whole."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

import markov_lrsao.regimes.columns as module
from markov_lrsao import Algorithm, Landscape, Parameters, runtime
from markov_lrsao.cli import main
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Exact, Infinite
from markov_lrsao.exact.rationals import rational, to_float
from markov_lrsao.figures.maps import map_figure
from markov_lrsao.regimes.grid import COLUMNS, MapPlan, RegimeMap, regime_map
from markov_lrsao.regimes.points import (
    Solved,
    quantity_text,
    read_quantity,
    solve_point,
)

GRID = ("0.5:0.99@3", "0.1:0.9@2")
"""Three regimes of n = 9 within six points."""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("map") / "map.sqlite"


@pytest.fixture(scope="module")
def solved(state: Path) -> RegimeMap:
    return regime_map(MapPlan.of(9, 2, GRID[0], r_relative=GRID[1]), state=state, workers=1)


def answer(alpha: fmpq, gamma: fmpq, r: fmpq) -> Any:
    return runtime(
        Landscape.jump(9, 2), Algorithm.lrsao(Parameters(alpha, gamma, r)), method="crossing"
    )


def test_the_sides_of_a_grid_are_in_order() -> None:
    plan = MapPlan.of(9, 2, "0.9,0.7,0.8:0.9@2", r_relative="0.5")
    assert plan.alphas == (fmpq(7, 10), fmpq(4, 5), fmpq(9, 10))


def test_points_lie_where_they_should() -> None:
    plan = MapPlan.of(9, 2, "0.8:0.9@2", r_relative="0.25:0.75@3")
    assert [(p.alpha, p.relative) for p in plan.points] == [
        (a, x) for x in (fmpq(1, 4), fmpq(1, 2), fmpq(3, 4)) for a in (fmpq(4, 5), fmpq(9, 10))
    ]
    first = plan.points[0]
    assert first.r == fmpq(7, 3) + fmpq(1, 4) * (fmpq(25, 2) - fmpq(7, 3))  # (H) of the paper's
    absolute = MapPlan.of(9, 2, "0.8", r="7/2:8@2")
    assert [p.r for p in absolute.points] == [fmpq(7, 2), fmpq(8)]
    assert all(p.inside for p in (*plan.points, *absolute.points))


@pytest.mark.parametrize(
    "given",
    [
        {"r_relative": "0:0.5@2"},
        {"r_relative": "0.5:1@2"},
        {"r": "1:2@2"},
        {"r_relative": "0.5:1.5@2"},
        {},
        {"r": "5", "r_relative": "0.5"},
        {"r_relative": "-1:0.5@2", "outside_h": True},
        {"r_relative": "0.5", "gamma": "9/10"},
        {"r_relative": "0.5", "tolerance": "0"},
    ],
)
def test_points_outside_h_need_a_word(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        MapPlan.of(9, 2, "0.8", **given)


def test_values_are_those_of_the_engine(solved: RegimeMap) -> None:
    assert len({v.regime for v in solved.values}) >= 3
    for point, values in zip(solved.plan.points, solved.values, strict=True):
        result = answer(point.alpha, point.gamma, point.r)
        assert values.kind == result.kind == "exact"
        assert values.means == (result.total, *result.phases)
        assert values.variance == result.variance


def test_regimes_are_the_points_with_one_answer(solved: RegimeMap) -> None:
    assert sum(len(g.points) for g in solved.regimes) == solved.count("exact")
    for a, g in enumerate(solved.regimes):
        assert {solved.values[i].means[0] for i in g.points} == {g.values.means[0]}
        assert all(solved.labels[i] == str(a + 1) for i in g.points)
    sizes = [len(g.points) for g in solved.regimes]
    assert sizes == sorted(sizes, reverse=True)


def test_the_table(solved: RegimeMap) -> None:
    rows = list(csv.DictReader(io.StringIO(solved.to_csv())))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(solved.values)
    for row, point, values in zip(rows, solved.plan.points, solved.values, strict=True):
        assert rational(row["alpha"]) == point.alpha
        assert rational(row["gamma"]) == fmpq(1, 10)
        assert rational(row["r"]) == point.r
        assert rational(row["r_relative"]) == point.relative
        assert rational(row["value"]) == values.means[0].value
        assert (row["kind"], row["hypothesis_h"], row["lower"]) == ("exact", "yes", "")
    deviations = list(csv.DictReader(io.StringIO(solved.to_csv("stddev"))))
    for row, values in zip(deviations, solved.values, strict=True):
        low, high, variance = rational(row["lower"]), rational(row["upper"]), values.variance.value
        assert isinstance(variance, fmpq)
        assert low**2 <= variance <= high**2
        assert high - low < fmpq(1, 10**15)


def test_the_picture_s_data_are_the_engine_s(solved: RegimeMap) -> None:
    data = map_figure(solved, "total", command="c")
    assert data.grid is not None
    flat = [v for row in data.grid["values"] for v in row]
    assert flat == [to_float(v.means[0].value) for v in solved.values]
    assert [e for row in data.grid["exact"] for e in row] == [True] * 6
    names = [b["name"] for b in data.grid["borders"]]
    assert {"L always", "L never", "J always, k"} == set(names)
    json.loads(data.to_json())
    phase = map_figure(solved, "phase3", command="c")
    assert phase.grid is not None
    assert phase.grid["values"][0][0] == to_float(solved.values[0].means[3].value)


def test_solved_points_are_not_solved_again(
    solved: RegimeMap, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Solved:
        raise AssertionError("solved again")

    monkeypatch.setattr(module, "solve_point", refuse)
    again = regime_map(solved.plan, state=state, workers=1)
    assert [v.to_dict() for v in again.values] == [v.to_dict() for v in solved.values]
    finer = MapPlan.of(9, 2, "0.5:0.99@5", r_relative=GRID[1])
    with pytest.raises(AssertionError, match="solved again"):
        regime_map(finer, state=state, workers=1)


def test_an_interrupted_map_keeps_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = MapPlan.of(9, 2, "0.8:0.9@3", r_relative="0.5")
    calls = []

    def twice(*arguments: Any, **options: Any) -> Solved:
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return solve_point(*arguments, **options)

    monkeypatch.setattr(module, "solve_point", twice)
    with pytest.raises(KeyboardInterrupt):
        regime_map(plan, state=tmp_path / "s.sqlite", workers=1)
    found = regime_map(plan, state=tmp_path / "s.sqlite", workers=1)
    assert len(calls) == 4  # two kept, the third one again
    assert found.count("exact") == 3


@pytest.mark.slow
def test_a_killed_command_is_finished_by_running_it_again(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "markov_lrsao",
        "map",
        "--n",
        "9",
        "--ell",
        "2",
        "--alpha",
        "0.7:0.9@5",
        "--r-relative",
        "0.3:0.7@2",
        "--workers",
        "2",
        "--out",
        "m.csv",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        begun = time.monotonic()
        while time.monotonic() - begun < 60 and not _points(tmp_path / "m.sqlite"):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        errors = process.stderr.read().decode()
    if process.returncode != 0:  # it may have been finished just before
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert not (tmp_path / "m.csv").exists()
    kept = _points(tmp_path / "m.sqlite")
    assert kept
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, timeout=300)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "m.csv").read_text())))
    assert len(rows) == 10
    assert {row["value"] for row in rows} == {"51740216905/1185192162"}
    assert _points(tmp_path / "m.sqlite") == 10
    assert sorted(os.listdir(tmp_path)) == ["m.csv", "m.sqlite"]


def _points(path: Path) -> int:
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as file:
        try:
            return int(file.execute("SELECT count(*) FROM points").fetchone()[0])
        except sqlite3.OperationalError:  # the table is not there yet
            return 0


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    plan = MapPlan.of(9, 2, "0.8", r_relative="0.5")
    (tmp_path / "text").write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(ParameterError, match="`state`"):
        regime_map(plan, state=tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(ParameterError, match="`state`"):
        regime_map(plan, state=tmp_path / "other")
    with pytest.raises(ParameterError, match="folder"):
        regime_map(plan, state=tmp_path / "missing" / "s.sqlite")


def test_quantities_survive_being_written() -> None:
    for q in (Exact(fmpq(22, 7)), Infinite()):
        assert read_quantity(quantity_text(q)) == q
    enclosed = Enclosed(fmpq(1, 3), fmpq(2, 3))
    back = read_quantity(quantity_text(enclosed))
    assert back.upper is not None
    assert fmpq(333, 1000) < back.lower <= fmpq(1, 3)
    assert fmpq(2, 3) <= back.upper < fmpq(667, 1000)
    assert read_quantity(quantity_text(UNKNOWN)) == UNKNOWN


@pytest.mark.slow
def test_outside_h_traps_are_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # r = 14 > 1/(alpha gamma) = 25/2: a run can get stuck at n - l - 1.
    command = [
        "map",
        "--n",
        "9",
        "--ell",
        "2",
        "--alpha",
        "0.8",
        "--r",
        "3.5:14@2",
        "--outside-h",
        "--workers",
        "1",
        "--json",
        "--out",
        str(tmp_path / "m.png"),
        "--max-states",
        "300",
    ]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["kind"] for row in found["table"]] == ["exact", "infinite"]
    assert [row["hypothesis_h"] for row in found["table"]] == ["yes", "no"]
    assert [row["regime"] for row in found["table"]] == ["1", "inf"]
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "wrong",
    [
        ["--quantity", "median"],
        ["--out", "m.pdf"],
        ["--out", "nowhere/m.png"],
        ["--alpha", "2"],
        ["--r", "1:2@2"],
        ["--tolerance", "-1"],
    ],
)
def test_mistakes_are_one_line(
    wrong: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["map", "--n", "9", "--ell", "2", "--alpha", "0.8", *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.iterdir())
