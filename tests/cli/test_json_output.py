"""JSON of every command: strict, with no number that only Python reads."""

from __future__ import annotations

import json
import math
import platform
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from open_instances import without_quotients

from markov_lrsao.cli import main
from markov_lrsao.cli.output import json_text
from markov_lrsao.errors import VerificationError
from markov_lrsao.release import SCHEMA, release


def strict(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def stuck(tmp_path: Path) -> str:
    path = tmp_path / "stuck.json"
    path.write_text(
        json.dumps(
            {"target": "T", "objectives": {"T": [0, 0, 0, 7], "C": [1, 1, 1, 1], "W": [0, 1, 0, 1]}}
        )
    )
    return str(path)


@pytest.mark.parametrize(
    "arguments",
    [
        "distribution --n 20 --ell 3 --at 5,60",
        "distribution --n 9 --ell 2 --method inversion --phase 3",
        "distribution --n 9 --ell 2 --method powers --at 4611686018427387904",
        "distribution --landscape STUCK --outside-h --method powers",
        "distribution --landscape STUCK --outside-h --method inversion",
        "exact --n 30 --ell 3 --float --moments 4",
        "exact --landscape STUCK --outside-h",
        "sites --n 9 --ell 2",
        "sites --n 301 --ell 5",
        "curve --n 20:30:5 --workers 1",
        pytest.param("relax --n 9 --factors 0,1.05 --upper-factors 1.5", marks=pytest.mark.slow),
        "formula phase1",
        "figures --list",
        "states --n 9 --ell 2 --part right",
    ],
)
def test_json_is_strict(arguments: str, stuck: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments.replace("STUCK", stuck).split(), "--json"]) == 0
    assert strict(capsys.readouterr().out)


CHAIN = (
    "@type: DTMC\n@nr_states\n3\n@model\nstate 0 init\n\taction 0\n\t\t0 : 1/2\n"
    "\t\t1 : 1/4\n\t\t2 : 1/4\nstate 1 target\n\taction 0\n\t\t1 : 1\n"
    "state 2 pit\n\taction 0\n\t\t2 : 1\n"
)
POINT = {
    "format": "markov-lrsao counterexample 1",
    "statement": "a claim",
    "expected": "x",
    "observed": "y",
    "values": {"n": "2", "l": "0", "alpha": "1/2", "gamma": "1/10", "r": "1"},
    "objectives": {},
    "target": "",
    "milestones": [],
    "steps": [],
}
RUN = POINT | {
    "objectives": {"F": [0, 0, 1], "f": [0, 1, 0]},
    "target": "F",
    "milestones": [2],
    "steps": [["f", "up"], ["f", "up"], ["f", "down"]],
}
LINES = [
    ("exact --n 9 --ell 2 --moments 4", 0),
    ("exact --landscape STUCK --outside-h --float", 0),
    ("distribution --landscape STUCK --outside-h", 0),
    ("states --n 9 --ell 2 --part left", 0),
    ("sites --n 9 --ell 2", 0),
    ("formula phase3", 0),
    ("landscapes", 0),
    ("curve --n 9,10 --workers 1", 0),
    ("relax --n 9 --ell 2 --factors 1.05 --runs 1 --engine-n 0", 0),
    ("map --n 9 --ell 2 --alpha 0.8 --r-relative 0.5:0.9@2 --workers 1", 0),
    ("export out.drn --n 9 --ell 2", 0),
    ("export out.prism --n 9 --ell 2", 0),
    ("solve chain.drn --target target", 0),
    ("solve chain.drn --target pit --exact", 0),
    ("solve chain.drn --target-state 2 --from 1 --from 0", 0),
    ("simulate --n 9 --ell 2 --runs 1", 0),
    ("simulate --n 9 --ell 2 --runs 9 --limit 1", 0),
    ("simulate --n 9 --ell 2 --runs 9 --monitors --restart 40", 0),
    ("trace --n 9 --ell 2 --steps 5", 0),
    ("budget --n 9 --steps 5", 0),
    ("oracle --n 9 --ell 2", 0),
    ("tune --n 6 --landscape jump-m:m=2 --algorithm mahh", 0),
    ("restarts --n 9 --landscape onemax --algorithm rls", 0),
    ("reproduces --only fraction", 0),
    ("simulate --n 5 --ell 0 --landscape onemax --algorithm rls --runs 3", 0),
    ("simulate --landscape STUCK --runs 64 --outside-h", 1),
    ("sweep --n 9 --ell 2 --runs 3 --limit 1,", 2),
    ("sweep --n 9 --ell 2 --runs 3 --limit 1", 0),
    ("cross-validate --n-max 9 --runs 50", 0),
    ("cross-validate --n-max 9 --runs 2 --means-only", 0),
    ("verify --list", 0),
    ("verify smallestn", 0),
    ("figures --list", 0),
    ("figures --only objectives --quick --out figs", 0),
    ("report --quick --out r.html", 0),
    ("replay run.json", 3),
    ("replay point.json", 3),
]


def test_every_command_with_json_is_tried() -> None:
    import typer.main

    from markov_lrsao.cli.app import app

    group: Any = typer.main.get_command(app)
    known = {
        name
        for name, command in group.commands.items()
        if any("--json" in each.opts for each in command.params)
    }
    assert known == {line.split()[0] for line, _ in LINES}


LONG = ("formula phase3", "cross-validate --n-max 9 --runs 50")
"""These take seconds; what else is asked of both commands here takes less."""


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(line, code, id=line, marks=[pytest.mark.slow] if line in LONG else [])
        for line, code in LINES
    ],
)
def test_json_of_every_command(
    line: str,
    code: int,
    stuck: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Infinite means, no success, one run alone: never NaN or Infinity."""
    (tmp_path / "chain.drn").write_text(CHAIN)
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "point.json").write_text(json.dumps(POINT))
    monkeypatch.chdir(tmp_path)

    def page(out: Path, **_: Any) -> Path:  # the report itself takes minutes
        out.write_text("a page")
        return out

    monkeypatch.setattr("markov_lrsao.report.make_report", page)
    words = line.replace("STUCK", stuck).split()
    if words[0] == "sweep":
        words += ["--out", "s.sqlite"]
    assert main([*words, "--json"]) == code
    out = capsys.readouterr().out
    if code == 2:
        assert out == ""
    else:
        assert next(iter(strict(out).items())) == ("schema", SCHEMA)


def test_files_for_machines_carry_the_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "map.json"
    line = "map --n 9 --ell 2 --alpha 0.8 --r-relative 0.5 --workers 1 --json --out"
    assert main([*line.split(), str(out)]) == 0
    assert strict(out.read_text()) == strict(capsys.readouterr().out)


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"markov-lrsao {release()}\n"
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", release())
    assert main(["--version", "--json"]) == 0
    found = strict(capsys.readouterr().out)
    assert (found["schema"], found["version"]) == (SCHEMA, release())
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert {"python-flint", "numba"} <= set(found)


@pytest.mark.parametrize("line", ["--json", "--json exact --n 9 --ell 2"])
def test_json_without_a_command_is_for_the_version(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


def test_infinite_statistics_are_null() -> None:
    from simulate.statistics.comparisons import Comparison

    found = Comparison("T", "z", 1.0, math.nan, -math.inf, 0.0).to_dict()
    assert found == {
        "quantity": "T",
        "test": "z",
        "exact": 1.0,
        "simulated": None,
        "statistic": None,
        "p_value": 0.0,
    }


def test_the_distribution_s_json(stuck: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distribution", "--landscape", stuck, "--outside-h", "--json"]) == 0
    data = strict(capsys.readouterr().out)
    assert data["never"]["rational"] == "23/27"
    assert data["expectation"]["infinite"] is True
    assert (data["mean"], data["standard_deviation"]) == (None, None)
    assert data["mean_if_finite"] > 3
    assert [q["infinite"] for q in data["quantiles"]] == [False, True, True, True, True, True]
    assert all(q["certain"] for q in data["quantiles"])
    assert main(["distribution", "--n", "9", "--ell", "2", "--at", "40", "--json"]) == 0
    data = strict(capsys.readouterr().out)
    (at,) = data["cdf"]
    assert at["lower"] <= at["probability"] <= at["upper"] <= at["lower"] + 1e-9
    assert data["never"]["rational"] == "0"
    assert data["mean"] == pytest.approx(43.65555, abs=1e-5)


def test_text_of_an_open_instance(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more than the bound supports: ranges, an open end, an enclosed mean."""
    without_quotients(monkeypatch)  # the search for them takes half a minute, and finds none
    arguments = [
        "--n",
        "9",
        "--ell",
        "2",
        "--alpha",
        "1/20",
        "--gamma",
        "1/10",
        "--r",
        "128",
        "--quantiles",
        "0.5,0.9999",
        "--at",
        "40",
    ]
    assert main(["distribution", *arguments]) == 0
    out = capsys.readouterr().out
    assert "or next to it" not in out
    assert "mean in [" in out
    assert "standard deviation in [" in out
    assert " or more" in out
    assert main(["distribution", "--n", "9", "--ell", "2"]) == 0
    out = capsys.readouterr().out
    assert "mean 43.6556, standard deviation 19.3663" in out
    assert " or more" not in out


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        np.float64("-inf"),
        np.array([1.0, np.nan]),
        {1, 2},
        object(),
        1j,
        b"text",
    ],
)
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(VerificationError, match="JSON"):
        json_text({"value": value})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.bool_(False), "false"),
        (np.int32(-3), "-3"),
        (np.uint64(2**63), str(2**63)),
        (np.float32(0.25), "0.25"),
        (np.arange(3), "[0, 1, 2]"),
        (np.str_("a"), '"a"'),
        (None, "null"),
    ],
)
def test_numpy_s_numbers_are_written(value: object, text: str) -> None:
    assert json_text(value) == text


@pytest.mark.parametrize(
    "arguments",
    [
        "curve --n 20:15",
        "curve --n 30:9:3",
        "curve --n 9:20:0",
        "curve --n 12,20:10",
        "curve --n 9:12:99",
        "relax --n 20:15",
        "relax --n 9 --factors ,",
        "relax --n ,",
        "map --n 9 --ell 2 --alpha 0.9:0.5@4",
        "map --n 9 --ell 2 --alpha 0.5:0.9@0",
        "map --n 9 --ell 2 --r 3:2@5",
        "map --n 9 --ell 2 --alpha 0.01:0.99:99",
        "distribution --n 9 --ell 2 --quantiles ,",
        "distribution --n 9 --ell 2 --at ,",
    ],
)
def test_empty_ranges_are_errors(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("markov-lrsao: ")
