"""JSON of every command: strict, with no number that only Python reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from markov_lrsao.cli import main
from markov_lrsao.cli.output import json_text
from markov_lrsao.errors import VerificationError


def strict(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def stuck(tmp_path: Path) -> str:
    path = tmp_path / "stuck.json"
    path.write_text(json.dumps({"target": "T", "objectives": {
        "T": [0, 0, 0, 7], "C": [1, 1, 1, 1], "W": [0, 1, 0, 1]}}))
    return str(path)


@pytest.mark.parametrize("arguments", [
    "distribution --n 20 --ell 3 --at 5,60",
    "distribution --n 9 --ell 2 --method inversion --phase 3",
    "distribution --n 9 --ell 2 --method powers --at 99999999999999999999",
    "distribution --landscape STUCK --outside-h --method powers",
    "distribution --landscape STUCK --outside-h --method inversion",
    "exact --n 30 --ell 3 --float --moments 4",
    "exact --landscape STUCK --outside-h",
    "sites --n 9 --ell 2",
    "sites --n 301 --ell 5",
    "curve --n 20:30:5 --workers 1",
    "relax --n 9 --factors 0,1.05 --upper-factors 1.5",
    "formula phase1",
    "figures --list",
    "states --n 9 --ell 2 --part right",
])
def test_json_is_strict(
    arguments: str, stuck: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments.replace("STUCK", stuck).split(), "--json"]) == 0
    assert strict(capsys.readouterr().out)


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


def test_text_of_an_open_instance(capsys: pytest.CaptureFixture[str]) -> None:
    """No more than the bound supports: ranges, an open end, an enclosed mean."""
    arguments = ["--n", "9", "--ell", "2", "--alpha", "1/20", "--gamma", "1/10", "--r", "128",
                 "--quantiles", "0.5,0.9999", "--at", "40"]
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


@pytest.mark.parametrize("value", [
    float("nan"), float("inf"), np.float64("-inf"), np.array([1.0, np.nan]), {1, 2}, object(), 1j,
    b"text",
])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(VerificationError, match="JSON"):
        json_text({"value": value})


@pytest.mark.parametrize(("value", "text"), [
    (np.bool_(False), "false"), (np.int32(-3), "-3"), (np.uint64(2**63), str(2**63)),
    (np.float32(0.25), "0.25"), (np.arange(3), "[0, 1, 2]"), (np.str_("a"), '"a"'), (None, "null"),
])
def test_numpy_s_numbers_are_written(value: object, text: str) -> None:
    assert json_text(value) == text


@pytest.mark.parametrize("arguments", [
    "curve --n 20:15", "curve --n 30:9:3", "curve --n 9:20:0", "curve --n 12,20:10",
    "relax --n 20:15", "relax --n 9 --factors ,", "relax --n ,",
    "map --n 9 --ell 2 --alpha 0.9:0.5:4", "map --n 9 --ell 2 --alpha 0.5:0.9:0",
    "map --n 9 --ell 2 --r 3:2:5", "distribution --n 9 --ell 2 --quantiles ,",
    "distribution --n 9 --ell 2 --at ,",
])
def test_empty_ranges_are_errors(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("markov-lrsao: ")
