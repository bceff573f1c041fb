"""The commands simulate, sweep and cross-validate; IOHprofiler's format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.cli import main
from markov_lrsao.errors import ParameterError
from simulate.runs.ioh import improvements, write_ioh
from simulate.runs.runner import simulate


def test_simulate_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["simulate", "--n", "9", "--ell", "2", "--runs", "500", "--seed", "7", "--json"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    times = simulate(law, runs=500, seed=7).times
    assert told["mean"]["value"] == times.mean()
    assert told["censored"] == 0
    assert (told["alpha"], told["gamma"], told["r"]) == ("4/5", "1/10", "7/2")
    assert len(told["phase_means_of_successes"]) == 3


def test_simulate_text_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "simulate",
                "--n",
                "12",
                "--ell",
                "2",
                "--runs",
                "50",
                "--kernel",
                "step",
                "--arithmetic",
                "float64",
                "--monitors",
            ]
        )
        == 0
    )
    text = capsys.readouterr().out
    assert "50 runs, seed 1, step kernel, float64 arithmetic" in text
    assert "mean T3" in text
    assert "most positive entries in a row: 1" in text


@pytest.mark.slow
def test_simulate_earl_with_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "simulate",
        "--n",
        "30",
        "--ell",
        "3",
        "--runs",
        "400",
        "--algorithm",
        "earl",
        "--landscape",
        "jump-open",
        "--json",
    ]
    assert main([*arguments, "--limit", "10n2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["limit"] == 9000
    assert told["runs"] == 400
    assert told["gamma"] == "99/100"
    assert told["mean"] is None
    assert 0.1 < told["success_rate"]["value"] < 0.5  # most runs learn a wrong objective
    assert told["ert"]["value"] > told["mean_of_successes"]["value"]
    assert main([*arguments, "--restart", "700"]) == 0
    restarted = json.loads(capsys.readouterr().out)
    assert restarted["limit"] == 10**4 * 30**2
    assert restarted["success_rate"]["value"] == 1.0
    assert restarted["restarts"] > 100
    assert restarted["endless"] is None


@pytest.mark.parametrize("algorithm", ["rls", pytest.param("earl", marks=pytest.mark.slow)])
def test_runs_that_cannot_end_are_told(algorithm: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a limit a trap is an answer of its own, with exit code 1; with one it is censored."""
    arguments = ["simulate", "--n", "10", "--ell", "2", "--algorithm", algorithm]
    assert main(arguments) == 1
    text = capsys.readouterr().out
    assert "limit 1,000,000 steps" in text
    assert "of seed 1 can never end: at position" in text
    assert "16 of the 1,000 runs" in text
    assert main([*arguments, "--limit", "500", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["runs"] == 1000
    assert told["censored"] > 500
    assert told["endless"]["run"] is not None


def trapped(path: Path, cycle: int) -> str:
    """Write a landscape with a closed cycle of accepted moves; its last values are out of reach."""
    n = cycle + 4
    path.write_text(
        json.dumps(
            {
                "objectives": {
                    "up": [*range(cycle + 1), cycle - 2, cycle - 1, cycle + 5, 0],
                    "all": list(range(n + 1)),
                    "down": list(range(n, -1, -1)),
                },
                "target": "up",
            }
        )
    )
    return str(path)


@pytest.mark.parametrize("cycle", [6, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kernel", ["event", "step"])
def test_a_closed_cycle_of_accepted_moves_is_told(
    tmp_path: Path, cycle: int, kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from markov_lrsao.answers.expected import runtime

    file = trapped(tmp_path / "l.json", cycle)
    landscape = Landscape.load(file)
    truth = runtime(landscape, Algorithm.lrsao(Parameters.paper(landscape.n)), outside_h=True)
    assert truth.total.infinite
    assert truth.trap is not None
    arguments = [
        "simulate",
        "--landscape",
        file,
        "--outside-h",
        "--kernel",
        kernel,
        "--runs",
        "70",
        "--json",
    ]
    assert main(arguments) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["limit"] == 10**4 * landscape.n**2
    assert told["runs"] == 16  # the others would only take time
    assert told["censored"] > 0
    assert told["endless"]["state"] == truth.trap.state
    assert told["endless"]["probability"] == truth.trap.probability.to_dict()
    assert main([*arguments, "--limit", "2000"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 70


def test_censored_runs_are_not_called_endless(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--n", "9", "--ell", "2", "--runs", "200", "--limit", "30"]) == 0
    text = capsys.readouterr().out
    assert "runs censored" in text
    assert "can never end" not in text
    assert "stuck" not in text


@pytest.mark.parametrize(("n", "ell", "r"), [(9, 2, "30"), (12, 3, "1/2"), (14, 2, "21")])
def test_outside_h_needs_the_option_as_exact_does(
    n: int, ell: int, r: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instance = ["--n", str(n), "--ell", str(ell), "--r", r]
    assert main(["exact", *instance]) == 2
    told = capsys.readouterr().err
    assert "outside hypothesis (H)" in told
    assert main(["simulate", *instance, "--runs", "5"]) == 2
    assert capsys.readouterr().err == told
    out = ["--runs", "5", "--out", str(tmp_path / "x.sqlite")]
    assert main(["sweep", *instance, *out]) == 2
    assert capsys.readouterr().err == told
    assert not list(tmp_path.iterdir())
    assert main(["simulate", *instance, "--runs", "5", "--outside-h", "--limit", "900"]) == 0
    assert main(["sweep", *instance, *out, "--outside-h", "--limit", "900"]) == 0
    assert main(["simulate", "--n", "9", "--ell", "2", "--algorithm", "rls", "--limit", "9"]) == 0


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("n = 9\nell = 2\nlandscape = 5", "landscape = 5"),
        ('n = 9\nell = 2\nlandscape = ["jump"]', "landscape = ['jump']"),
        ('n = 9\nell = 2\nlandscape = "jmp"', "choose jump, jump-open, onemax"),
        ("n = []\nell = 2", "n = [] is empty"),
        ("n = [9, []]\nell = 2", "n = [] is empty"),
        ('n = "12:9"\nell = 2', "n = '12:9' is empty"),
        ('n = "9,14:10:2"\nell = 2', "n = '14:10:2' is empty"),
        ("n = 9\nell = []", "ell = [] is empty"),
        ('n = 9\nell = "4:2"', "ell = '4:2' is empty"),
        ("n = 9\nell = 2\nalpha = []", "alpha = [] is empty"),
        ("n = 9\nell = 2\nr = []", "r = [] is empty"),
        ('n = "9:99999999999999"\nell = 2', "more than 1,000,000 numbers"),
        ("n = 9\nell = 2\nruns = 99999999999", "runs = 99,999,999,999 is too large"),
        ("n = 9\nell = 2\nlimit = 0", "limit = 0 is out of range"),
        ('n = 9\nell = 2\nlimit = "9999999999999n2"', "1 .. 2^49"),
        ('n = 9\nell = 2\noutside_h = "yes"', "outside_h = 'yes'"),
    ],
)
def test_plans_that_mean_nothing(
    plan: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "p.toml", plan)
    assert main(["sweep", file]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert told.err.count("\n") == 1
    assert not (tmp_path / "p.sqlite").exists()


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "x", tmp_path / ("x" * 300), Path("/proc/nowhere/x")):
        assert (
            main(["simulate", "--n", "9", "--ell", "2", "--runs", "2", "--ioh", str(folder)]) == 2
        )
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "cannot be written" in told
        assert "choose another" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--n", "9", "--ell", "2", "--runs", "0"], "runs = 0"),
        (["simulate", "--n", "9", "--ell", "2", "--seed", "-1"], "seed = -1"),
        (["simulate", "--n", "9", "--ell", "9"], "ell = 9"),
        (
            ["simulate", "--n", "9", "--ell", "2", "--algorithm", "rls", "--alpha", "0.5"],
            "no meaning",
        ),
        (["simulate", "--n", "9", "--ell", "2", "--limit", "many"], "limit"),
        (["simulate", "--n", "9", "--ell", "2", "--kernel", "fast"], "kernel"),
        (["simulate", "--n", "9", "--ell", "2", "--confidence", "2"], "confidence level"),
        (["simulate", "--n", "9", "--ell", "2", "--runs", "88888888888"], "at most"),
        (["simulate", "--n", "9", "--ell", "2", "--threads", "99999"], "1024"),
        (["simulate", "--n", "9", "--ell", "2", "--landscape", "jmp"], "jump, jump-open, onemax"),
        (["simulate", "--n", "9", "--ell", "2", "--limit", "0"], "limit = 0"),
        (["sweep", "--n", "15:9", "--ell", "2", "--out", "x.sqlite"], "n = '15:9' is empty"),
        (["sweep", "--n", "9", "--ell", "3:2", "--out", "x.sqlite"], "ell = '3:2' is empty"),
        (
            ["sweep", "--n", "9", "--ell", "2", "--landscape", "jmp", "--out", "x.sqlite"],
            "jump-open",
        ),
        (["cross-validate", "--n-min", "14", "--n-max", "9"], "n-min"),
        (["sweep"], "no plan"),
        (["sweep", "missing.json"], "missing.json"),
        (["sweep", "--n", "9", "--ell", "2"], "--out is missing"),
        (["cross-validate", "--n-max", "8"], "the smallest instance is n = 9"),
        (["cross-validate", "--n-max", "8", "--n-min", "1"], "nothing to compare"),
        (["cross-validate", "--n-max", "9", "--runs", "0"], "runs = 0"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
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
    arguments = [
        "sweep",
        "--n",
        "9:11",
        "--ell",
        "2",
        "--runs",
        "60",
        "--alpha",
        "4/5,1/2",
        "--out",
        str(out),
    ]
    assert main([*arguments, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["experiments"], first["played_now"]) == (6, 360)
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "360 runs in" in text
    assert "0 of them played now" in text
    plan = tmp_path / "p.json"
    plan.write_text('{"n": 9, "ell": 2}')
    assert main(["sweep", str(plan), "--runs", "7"]) == 2
    assert "write it into the plan" in capsys.readouterr().err


@pytest.mark.slow
def test_cross_validate_at_a_given_point(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cross-validate", "--n-max", "9", "--runs", "2000", "--alpha", "0.9"]) == 0
    assert "given" in capsys.readouterr().out
    assert main(["cross-validate", "--n-max", "9", "--runs", "2000", "--r", "99"]) == 2
    assert "outside hypothesis (H)" in capsys.readouterr().err


@pytest.mark.slow
def test_cross_validate_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cross-validate", "--n-max", "9", "--runs", "20000", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["agrees"] is True
    assert told["tests"] == 3 * 11
    assert [cell["point"] for cell in told["experiments"]] == ["paper", "flat", "eager"]
    assert (
        main(
            [
                "cross-validate",
                "--n-max",
                "600",
                "--n-min",
                "600",
                "--ell",
                "2",
                "--runs",
                "10000",
                "--arithmetic",
                "float64",
                "--moments-only",
                "--alpha",
                "4/5",
            ]
        )
        == 1
    )
    text = capsys.readouterr().out
    assert "DISAGREE: n = 600, l = 2, given, T" in text


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
