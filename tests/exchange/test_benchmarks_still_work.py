"""A small version of the benchmarks runs, and what it prints is sound."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from peer_chains import storm

from benchmarks import compare, report, runs, sections, umfpack
from benchmarks.__main__ import main
from benchmarks.runs import ROOT, Run, run_in, run_worker


@pytest.mark.slow
def test_two_sections_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    storm()
    target = tmp_path / "benchmarks.md"
    assert main(["--quick", "--only", "exact", "stiff", "--output", str(target)]) == 0
    out = capsys.readouterr().out
    text = target.read_text(encoding="utf-8")
    for words in ("Exact solver against Storm", "n = 9, merged", "N = 60"):
        assert words in out
        assert words in text
    assert "1,879" in text
    assert "| yes |" in text  # the same rational number
    assert "failed" not in text


@pytest.mark.slow
def test_every_section_is_a_table(tmp_path: Path) -> None:
    assert set(sections.SECTIONS) == {
        "exact",
        "enumeration",
        "floats",
        "others",
        "solving",
        "stiff",
        "peers",
        "large",
        "simulation",
    }
    for section in sections.peers(tmp_path, True):
        assert all(len(row) == len(section.header) for row in section.rows)
        assert "DIFFERENT" not in str(section.rows)


def test_a_worker_that_fails_or_takes_too_long_is_reported() -> None:
    assert run_worker("superlu", "absent.drn", "target", "time").failure.startswith("failed: ")
    assert run_worker("sympy", "absent.drn", "x", "time", limit=0.01).failure == "over 0 s"


def test_errors_are_computed_exactly() -> None:
    assert report.relative_error(Run("x", value="0.3333333333333333"), "1/3") < 2e-16
    assert report.relative_error(Run("x", value="0"), "1/3") == 1
    assert report.seconds(0.0123) == "12.3 ms"
    assert report.ratio(3.0, 1.5) == "2x"


def test_the_machine_has_no_name() -> None:
    import getpass
    import socket

    described = report.machine()
    assert socket.gethostname() not in described
    assert f"/{getpass.getuser()}" not in described
    assert "cores" in described


def test_two_trees_are_compared_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is slower by more than a tenth is named, unless it is too short to be judged."""

    def took(there: float, here: float) -> Callable[[Path], float]:
        return lambda tree: here if tree == ROOT else there

    rows = {"same": took(1.0, 1.05), "short": took(0.001, 0.004), "slow": took(1.0, 1.2)}
    monkeypatch.setattr(compare, "rows", lambda folder, quick: iter(rows.items()))
    assert main(["compare", str(tmp_path)]) == 1
    assert capsys.readouterr().out.endswith("slower by more than a tenth: slow\n")
    assert main(["compare", str(tmp_path), "--only", "s", "--rounds", "1"]) == 1
    assert main(["compare", str(tmp_path), "--only", "sh"]) == 0
    assert capsys.readouterr().out.endswith("slower by more than a tenth: nothing\n")


def test_a_tree_is_measured_by_its_own_worker(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "worker.py").write_text(
        "import json\nprint(json.dumps({'stages': {'a': [1, 9, 3]}, 'value': 'mine', 'states': 7}))"
    )
    run = run_in(tmp_path, "anything")
    assert (run.value, run.states, run.total) == ("mine", 7, 3)


def test_tools_run_in_turn_and_a_failing_one_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    times = iter([5.0, 1.0, 3.0])

    def took(_: Path, task: str, *__: object, repeat: int, limit: float) -> Run:
        asked.append(task)
        assert (repeat, limit) == (5, {"a": 7.0, "b": 8.0}[task])
        return Run(task, failure="over 8 s") if task == "b" else Run(task, {"solve": next(times)})

    monkeypatch.setattr(runs, "run_in", took)
    found = runs.alternating({"a": 7.0, "b": 8.0}, "file", repeat=5, rounds=3)
    assert asked == ["a", "b", "a", "a"]
    assert found["a"].stages == {"solve": 3.0}
    assert found["b"].failure == "over 8 s"


def test_limits_are_processor_time() -> None:
    """A process that sleeps is not stopped; one that works is."""
    idle = [sys.executable, "-c", "import time; time.sleep(1.6)"]
    assert runs.in_tree(ROOT, idle, 0.6).returncode == 0
    with pytest.raises(subprocess.TimeoutExpired):
        runs.in_tree(ROOT, [sys.executable, "-c", "while True: pass"], 0.6)


@pytest.mark.skipif(not umfpack.available(), reason="the system has no UMFPACK")
def test_umfpack_solves() -> None:
    import numpy as np
    from scipy.sparse import csc_array

    system = csc_array(np.array([[2.0, 0.0, -1.0], [-1.0, 3.0, 0.0], [0.0, -1.0, 4.0]]))
    found = umfpack.solve(system, np.array([1.0, 2.0, 3.0]))
    assert np.allclose(system @ found, [1.0, 2.0, 3.0], rtol=1e-14)
    with pytest.raises(ArithmeticError):
        umfpack.solve(csc_array(np.array([[1.0, 1.0], [1.0, 1.0]])), np.ones(2))
