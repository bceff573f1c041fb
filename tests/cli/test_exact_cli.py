"""`markov-lrsao exact`: what it prints, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import Command

from markov_lrsao.cli import main
from markov_lrsao.errors import StateSpaceTooLargeError

HEAVY = ["numba", "sympy", "matplotlib", "z3", "scipy", "networkx"]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must fail as a user error; return its one line."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert not set(err) & set("╭╰│─┌└")
    assert err.startswith("markov-lrsao: ")
    return err


NINE = ["exact", "--n", "9", "--ell", "2"]

BAD = [
    (["exact", "--n", "8", "--ell", "2"], ["n = 8", "n = 9", "ell = 2"]),
    (["exact", "--n", "9", "--ell", "3"], ["ell = 3", "2..2"]),
    (["exact", "--n", "13", "--ell", "0"], ["ell = 0", "2..4"]),
    (["exact", "--n", "-4", "--ell", "2"], ["n = -4"]),
    (["exact", "--n", "9"], ["--ell", "2..2"]),
    (["exact", "--ell", "2"], ["--n"]),
    (["exact", "--n", "nine", "--ell", "2"], ["--n"]),
    (["exact", "--n", "9.5", "--ell", "2"], ["--n"]),
    ([*NINE, "--alpha", "0"], ["alpha = 0", "0 < alpha < 1"]),
    ([*NINE, "--alpha", "1"], ["alpha = 1", "0 < alpha < 1"]),
    ([*NINE, "--alpha", "3/2"], ["alpha = 3/2"]),
    ([*NINE, "--gamma", "1"], ["gamma = 1", "0 < gamma < 1"]),
    ([*NINE, "--r", "2"], ["r = 2", "(H)", "7/3 < r < 25/2", "--outside-h"]),
    ([*NINE, "--r", "12.5"], ["r = 25/2", "7/3 < r < 25/2"]),
    ([*NINE, "--r=-1"], ["r = -1", "r >= 0"]),
    ([*NINE, "--gamma", "9/10"], ["no r satisfies (H)", "smaller gamma"]),
    ([*NINE, "--alpha", "4/0"], ["zero denominator"]),
    ([*NINE, "--alpha", "4/"], ["alpha = '4/'", "not a rational"]),
    ([*NINE, "--alpha", "0.8.1"], ["not a rational"]),
    ([*NINE, "--r", "1e99999"], ["exponent"]),
    ([*NINE, "--r", "nan"], ["not a rational"]),
    ([*NINE, "--method", "guess"], ["--method", "joint"]),
    ([*NINE, "--method", "joint", "--max-states", "10"], ["10 states", "crossing"]),
    ([*NINE, "--unknown"], ["--unknown"]),
    ([*NINE, "more"], ["more"]),
    (["exact", "--n"], ["--n"]),
    (["exakt"], ["exakt"]),
    (
        ["exact", "--n", "60", "--ell", "2", "--method", "joint"],
        ["about", "states", "--method crossing"],
    ),
    (
        [
            "exact",
            "--n",
            "25",
            "--ell",
            "2",
            "--outside-h",
            "--r",
            "1/10",
            "--max-states",
            "500",
            "--runs",
            "0",
        ],
        ["patterns do not decide", "--max-states", "simulate"],
    ),
    (
        ["exact", "--landscape", "missing.json"],
        ["missing.json", "neither known nor a file", "jump-open"],
    ),
]


def test_a_plateau_of_one_position_is_taken_with_a_note(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["exact", "--n", "9", "--ell", "1"])
    out, err = capsys.readouterr()
    assert "177313413216587/2734038347040" in out
    assert err == (
        "note: ell = 1 is outside the paper's range; its statements do not speak about it\n"
    )
    main(NINE)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[" ".join(a)[6:] or "-" for a, _ in BAD])
def test_user_errors(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(arguments, capsys)
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    "arguments",
    [[*NINE, "--alpha", "٣"], [*NINE, "--alpha", "1e" + "9" * 5000]],
    ids=["arabic digit", "huge exponent"],
)
def test_odd_numbers(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    refused(arguments, capsys)


def test_absurd_n(capsys: pytest.CaptureFixture[str]) -> None:
    refused(["exact", "--n", "9" * 23, "--ell", "2"], capsys)


def test_n_is_an_integer(capsys: pytest.CaptureFixture[str]) -> None:
    refused(["exact", "--n", "9.0", "--ell", "2"], capsys)


def test_user_errors_as_a_process() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "markov_lrsao", "exact", "--n", "8", "--ell", "2"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("markov-lrsao: n = 8 ")


def test_table_for_people(command: Command) -> None:
    code, out, err = command(*NINE)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "LRSAO on Jump, n = 9, l = 2"
    for text in (
        "51740216905/1185192162",
        "9853/2856",
        "3343673/212520",
        "1801504607/73614420",
        "43.655551027007213704",
        "Var[T]",
        "states",
        " s",
    ):
        assert text in out
    assert max(map(len, lines)) < 120


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*NINE, "--alpha", "0.8", "--gamma", "1/10", "--r", "7/2", "--method", "joint"]
    assert main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    data = json.loads(out)
    assert data["total"]["rational"] == "51740216905/1185192162"
    assert (data["n"], data["ell"], data["method"], data["exact"]) == (9, 2, "joint", True)
    assert (data["alpha"], data["gamma"], data["r"]) == ("4/5", "1/10", "7/2")
    parts = [Fraction(data[f"phase{k}"]["rational"]) for k in (1, 2, 3)]
    assert sum(parts) == Fraction(data["total"]["rational"])
    for key in ("total", "phase1", "phase2", "phase3", "variance"):
        assert len(data[key]["decimal"].replace(".", "")) >= 17
    assert isinstance(data["states"], int)
    assert isinstance(data["seconds"], float)


@pytest.mark.parametrize(
    "options",
    [
        ["--float"],
        pytest.param(["--unmerged"], marks=pytest.mark.slow),
        ["--method", "crossing"],
        ["--method", "joint", "--float", "--unmerged"],
    ],
    ids=" ".join,
)
def test_other_ways_give_the_same(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NINE, *options, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert float(data["total"]["decimal"]) == pytest.approx(51740216905 / 1185192162, rel=1e-12)
    assert data["exact"] is ("--float" not in options)


def test_outside_h_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NINE, "--r", "9/4", "--outside-h", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["hypothesis_h"] is False
    assert data["kind"] in ("exact", "enclosure")


def test_landscape_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "steps.json"
    path.write_text('{"objectives": {"A": [0, 1, 2, 3]}, "target": "A", "milestones": [1, 3]}')
    assert main(["exact", "--landscape", str(path), "--json", "--outside-h"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["total"]["rational"] == "11/2"  # 3 (1 + 1/2 + 1/3)
    assert (data["phase1"]["rational"], data["phase2"]["rational"]) == ("1", "9/2")
    line = refused(["exact", "--landscape", str(path), "--n", "4"], capsys)
    assert "n = 3" in line


def test_help_imports_nothing_heavy() -> None:
    """Start-up time, without a clock: machines are noisy."""
    code = (
        "import sys; from markov_lrsao.cli import main; main(['--help']); "
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert "exact" in result.stdout
    assert result.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [["--help"], ["exact", "--help"], []], ids=" ".join)
def test_help_pages_have_an_example(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert "Example: markov-lrsao exact --n 9 --ell 2" in out
    assert err == ""


def test_higher_moments(command: Command) -> None:
    four = [*NINE, "--moments", "4"]
    answer = json.loads(command(*four, "--json").out)
    crossing = json.loads(command(*four, "--json", "--method", "crossing").out)
    for a, b in (
        (answer, crossing),
        *((answer[f"phase{k}"], crossing[f"phase{k}"]) for k in (1, 2, 3)),
    ):
        for name in ("third_central_moment", "fourth_central_moment"):
            assert a[name]["rational"] is not None
            assert b[name]["exact"] is False
            assert float(b[name]["decimal"]) == pytest.approx(float(a[name]["decimal"]), rel=1e-9)
    assert "mu4[T3]" in command(*four).out
    assert command(*NINE, "--moments", "5").code == 2


def test_a_limit_that_nobody_gave_leads_to_a_labelled_simulation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_large(*_: object, **__: object) -> None:
        raise StateSpaceTooLargeError("more than 60,000 states; raise `max_states`", advised=True)

    asked: list[tuple[int, str]] = []

    def estimate(
        _: object, __: object, runs: int, reason: str, ___: object, **____: object
    ) -> SimpleNamespace:
        asked.append((runs, reason))
        return SimpleNamespace(to_dict=lambda: {"kind": "simulation"}, text=lambda: "SIMULATED")

    monkeypatch.setattr("markov_lrsao.answers.expected.runtime", too_large)
    monkeypatch.setattr("markov_lrsao.cli.estimate.estimate", estimate)
    assert main([*NINE, "--runs", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "simulation"
    assert asked == [(50, "more than 60,000 states; raise --max-states")]
    for own in (["--max-states", "60000"], ["--method", "joint"], ["--runs", "0"]):
        assert "60,000 states" in refused([*NINE, *own], capsys)
