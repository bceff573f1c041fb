"""The commands simulate, sweep and cross-validate; IOHprofiler's format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.cli import main
from markov_lrsao.errors import ParameterError
from simulate.ioh import improvements, write_ioh
from simulate.runner import simulate


def test_simulate_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--n", "9", "--ell", "2", "--runs", "500", "--seed", "7",
                 "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    times = simulate(law, runs=500, seed=7).times
    assert told["mean"]["value"] == times.mean()
    assert told["censored"] == 0
    assert (told["alpha"], told["gamma"], told["r"]) == ("4/5", "1/10", "7/2")
    assert len(told["phase_means_of_successes"]) == 3


def test_simulate_text_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--n", "12", "--ell", "2", "--runs", "50", "--kernel", "step",
                 "--arithmetic", "float64", "--monitors"]) == 0
    text = capsys.readouterr().out
    assert "50 runs, seed 1, step kernel, float64 arithmetic" in text
    assert "mean T3" in text
    assert "most positive entries in a row: 1" in text


def test_simulate_earl_has_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", "--n", "30", "--ell", "3", "--runs", "400", "--algorithm", "earl",
                 "--landscape", "jump-open", "--json"]
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["limit"] == 9000
    assert told["gamma"] == "99/100"
    assert told["mean"] is None
    assert 0.1 < told["success_rate"]["value"] < 0.5  # most runs learn a wrong objective
    assert told["ert"]["value"] > told["mean_of_successes"]["value"]
    assert main([*arguments, "--restart", "700", "--limit", "100n2"]) == 0
    restarted = json.loads(capsys.readouterr().out)
    assert restarted["success_rate"]["value"] == 1.0
    assert restarted["restarts"] > 100


def test_simulate_rls_never_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--n", "10", "--ell", "2", "--runs", "5", "--algorithm", "rls"]) == 0
    assert "5 runs censored" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "message"), [
    (["simulate", "--n", "9", "--ell", "2", "--runs", "0"], "runs = 0"),
    (["simulate", "--n", "9", "--ell", "2", "--seed", "-1"], "seed = -1"),
    (["simulate", "--n", "9", "--ell", "9"], "ell = 9"),
    (["simulate", "--n", "9", "--ell", "2", "--algorithm", "rls", "--alpha", "0.5"], "no meaning"),
    (["simulate", "--n", "9", "--ell", "2", "--limit", "many"], "limit"),
    (["simulate", "--n", "9", "--ell", "2", "--kernel", "fast"], "kernel"),
    (["simulate", "--n", "9", "--ell", "2", "--confidence", "2"], "confidence level"),
    (["sweep"], "no plan"),
    (["sweep", "missing.json"], "missing.json"),
    (["sweep", "--n", "9", "--ell", "2"], "--out is missing"),
    (["cross-validate", "--n-max", "8"], "no cell"),
    (["cross-validate", "--n-max", "9", "--runs", "0"], "runs = 0"),
])
def test_bad_input_is_one_line_and_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert message in streams.err
    assert streams.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_sweep_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "s.sqlite"
    arguments = ["sweep", "--n", "9:11", "--ell", "2", "--runs", "60", "--alpha", "4/5,1/2",
                 "--out", str(out)]
    assert main([*arguments, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["cells"], first["played_now"]) == (6, 360)
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "360 runs in" in text
    assert "0 of them played now" in text
    plan = tmp_path / "p.json"
    plan.write_text('{"n": 9, "ell": 2}')
    assert main(["sweep", str(plan), "--runs", "7"]) == 2
    assert "write it into the plan" in capsys.readouterr().err


def test_cross_validate_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cross-validate", "--n-max", "10", "--runs", "20000", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["agrees"] is True
    assert told["tests"] == 10
    assert main(["cross-validate", "--n-max", "600", "--n-min", "600", "--ell", "2", "--runs",
                 "10000", "--arithmetic", "float64", "--means-only"]) == 1
    text = capsys.readouterr().out
    assert "DISAGREE: n = 600, l = 2, T" in text


def test_ioh_files_hold_the_runs(tmp_path: Path) -> None:
    law = StepLaw.of(Landscape.jump(12, 2), Algorithm.lrsao(Parameters.paper(12)))
    samples = simulate(law, runs=20, seed=3, limit=60)
    path = write_ioh(samples, tmp_path / "ioh")
    index = json.loads(path.read_text())
    assert index["maximization"] is True
    scenario = index["scenarios"][0]
    assert scenario["dimension"] == 12
    blocks = (path.parent / scenario["path"]).read_text().split("evaluations raw_y\n")[1:]
    assert len(blocks) == len(scenario["runs"]) == 20
    for run, block in enumerate(blocks):
        lines = [tuple(map(float, line.split())) for line in block.splitlines()]
        evaluations, values = zip(*lines, strict=True)
        assert evaluations[0] == 1
        assert evaluations[-1] == samples.steps[run] + 1 == scenario["runs"][run]["evals"]
        assert (np.diff(values) >= 0).all()
        assert (values[-1] == 12) == (not samples.censored[run])
        # milestones l + 1 and n are values of the target: their times are the kernel's
        reached = dict(zip(reversed(values), reversed(evaluations), strict=True))
        assert reached[3.0] == samples.hits[run, 0] + 1
        assert improvements(samples, run)[0] == (0, 0)
    with pytest.raises(ParameterError, match="not empty"):
        write_ioh(samples, tmp_path / "ioh")


def test_ioh_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    assert main(["simulate", "--n", "9", "--ell", "2", "--runs", "3", "--ioh", str(folder)]) == 0
    assert (folder / "IOHprofiler_f1_Jump2.json").exists()
    assert not list(folder.rglob("*.partial"))
    assert main(["simulate", "--n", "9", "--ell", "2", "--runs", "3", "--ioh", str(folder)]) == 2
    assert "exists and is not empty" in capsys.readouterr().err
