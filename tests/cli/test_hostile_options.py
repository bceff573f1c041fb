"""Hostile values for every option of every command: an answer, or one line and exit code 2."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.main

from markov_lrsao.cli import main
from markov_lrsao.cli.app import app

GROUP: Any = typer.main.get_command(app)
BASE = {
    "exact": "exact --n 9 --ell 2",
    "states": "states --n 9 --ell 2 --part left",
    "distribution": "distribution --n 9 --ell 2",
    "sites": "sites --n 9 --ell 2",
    "formula": "formula phase1",
    "curve": "curve --n 9 --ell 2 --workers 1",
    "reference": "reference",
    "landscapes": "landscapes jump",
    "replay": "replay bad.json",
    "trace": "trace --n 9 --ell 2 --steps 5",
    "budget": "budget --n 9 --steps 5",
    "oracle": "oracle --n 9 --ell 2",
    "tune": "tune --n 9 --landscape jump-m:m=2 --algorithm mahh",
    "restarts": "restarts --n 9 --landscape onemax --algorithm rls",
    "reproduces": "reproduces --only fraction",
    "explore": "explore",
    "map": "map --n 9 --ell 2 --alpha 0.8 --r-relative 0.5 --workers 1",
    "export": "export out.drn --n 9 --ell 2",
    "solve": "solve chain.drn --target target",
    "simulate": "simulate --n 9 --ell 2 --runs 10 --limit 1000",
    "sweep": "sweep --n 9 --ell 2 --runs 10 --limit 1000 --out s.sqlite",
    "cross-validate": "cross-validate --n-max 9 --runs 100",
    "relax": "relax --n 9 --ell 2 --factors 1.05 --runs 10 --engine-n 0",
    "verify": "verify smallestn",
    "figures": "figures --only objectives --quick --out figs",
    "report": "report --quick --out r.html",
}
"""A quick command line of every command."""
VALUES = [
    "99999999999999999999",
    "-1",
    "",
    "nan",
    "1/0",
    "9" * 5000,
    "14:9",
    "inf",
    "1e400",
    "\udcff\udcfe",
    "\x1b[31mx",
    "/dev/null/x/y",
    "1:2:0",
    ",",
    "0:99999999999:1",
]
LONG = {
    ("report", "--out"),
    ("report", "--figures"),
    ("report", "--workers"),
    ("reference", "--out"),
    ("explore", "--port"),
}
"""Where a value that can be used starts minutes of work: only unusable ones are tried."""
UNUSABLE = ["/dev/null/x/y", "/dev/null/\udcff", "-1"]
CHAIN = (
    "@type: DTMC\n@nr_states\n2\n@model\nstate 0 init\n\taction 0\n\t\t0 : 2/3\n"
    "\t\t1 : 1/3\nstate 1 target\n\taction 0\n\t\t1 : 1\n"
)
BAD = """{"format": "markov-lrsao counterexample 1", "statement": "a claim", "expected": "x",
"observed": "y", "values": {"n": "2", "l": "0", "alpha": "1/2", "gamma": "1/10", "r": "1"},
"objectives": {"F": [0, 0, 1], "f": [0, 1, 0]}, "target": "F", "milestones": [2],
"steps": [["f", "up"], ["f", "up"], ["f", "down"]]}"""


def parameters(command: str) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether it is an option) of everything that takes a value."""
    for each in GROUP.commands[command].params:
        if not getattr(each, "is_flag", False) and each.name != "help":
            yield each.opts[0], each.param_type_name == "option"


def with_value(command: str, name: str, option: bool, value: str) -> list[str]:
    words = BASE[command].split()
    if not option:  # the argument, if any, comes second
        return [words[0], "--", value] if len(words) < 3 else [*words[:1], *words[2:], "--", value]
    if name in words:
        del words[words.index(name) : words.index(name) + 2]
    return [*words, f"{name}={value}"]


def values(command: str, name: str) -> list[str]:
    if (command, name) not in LONG:
        return VALUES
    return [v for v in UNUSABLE if (v == "-1") == (name == "--workers") and name != "--figures"]


ALL = [(command, name, option) for command in BASE for name, option in parameters(command)]
FIRST = {
    (command, random.Random(command).choice([name for name, _ in parameters(command)]))
    for command in BASE
}
"""One parameter of every command, drawn by a seed: the quick tier."""


def cases() -> Iterator[Any]:
    for command, name, option in ALL:
        yield pytest.param(
            command,
            name,
            option,
            1,
            id=f"{command} {name}",
            marks=(() if (command, name) in FIRST else pytest.mark.slow),
        )
        yield pytest.param(
            command,
            name,
            option,
            99,
            id=f"{command} {name}, all values",
            marks=pytest.mark.exhaustive,
        )


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Fail what goes on for much longer than any answer takes."""

    def late(number: int, frame: Any) -> None:
        raise AssertionError("no answer")

    old = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def check(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with limited(120):
        code = main(arguments)
    out, err = capfd.readouterr()
    if code in (0, 1):
        return
    assert code == 2, arguments
    assert err.startswith("markov-lrsao: "), arguments
    assert err.count("\n") == 1, err
    assert err[:-1].isprintable()
    assert len(err) < 600, err
    assert out == ""


def prepare(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "chain.drn").write_text(CHAIN)
    (folder / "bad.json").write_text(BAD)
    monkeypatch.chdir(folder)


def test_every_command_has_a_base() -> None:
    assert set(BASE) == set(GROUP.commands)


@pytest.mark.parametrize(("command", "name", "option", "count"), list(cases()))
def test_hostile_values(
    command: str,
    name: str,
    option: bool,
    count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Some of them, drawn by a seed; the third tier tries all."""
    prepare(tmp_path, monkeypatch)
    given = values(command, name)
    for value in random.Random(f"{command} {name}").sample(given, min(count, len(given))):
        check(with_value(command, name, option, value), capfd)


MUST_REFUSE = [
    "exact --n 9 --ell 2 --tolerance nan",
    "exact --n 9 --ell 2 --tolerance=-1",
    "distribution --n 9 --ell 2 --at 99999999999999999999",
    "curve --n 14:9 --ell 2",
    "distribution --n 9 --ell 2 --quantiles ,",
    "curve --n , --ell 2",
    "relax --n 14:9 --ell 2",
    "sweep --n 14:9 --ell 2 --out s.sqlite",
    "curve --n 9 --ell " + "9" * 5000,
    "curve --n 9 --ell 2 --workers=-1",
    "map --n=-1 --ell 2",
    "verify --markdown /dev/null/x",
    "verify --save /dev/null/x",
    "reference --out /dev/null/x",
    "exact --landscape jmp",
    "map --n 9 --ell 2 --alpha 1:2:0",
    "exact --n 9 --ell 2 --alpha 1/0",
    "simulate --n 9 --ell 2 --runs 3 --outside-h --r 1e310",
    "simulate --n 9 --ell 2 --runs 3 --outside-h --r 1e-310",
    "simulate --n 9 --ell 2 --runs 3 --outside-h --r 1/0",
    "simulate --n 9 --ell 2 --runs=-7",
    "simulate --n 9 --ell 2 --runs 88888888888888888888",
    "simulate --n 9 --ell 2 --limit=-3n2",
    "simulate --n 9 --ell 2 --restart 0",
    "simulate --n 9 --ell 2 --restart 77777777777777777777",
    "sweep --n 9 --ell 2 --out s.sqlite --r 3,1/0",
    "sweep --n 9 --ell 2 --out s.sqlite --r 1e310 --outside-h",
    "sweep --n 9:1000008 --ell 2 --out s.sqlite",
    "sweep --n 0:99999999999 --out s.sqlite",
    "sweep --n 300000 --ell 2:140000 --out s.sqlite",
    "sweep --n=-3 --ell sqrt --out s.sqlite",
    "sweep --n 9 --ell 2 --batch 77777777777777777777 --out s.sqlite",
]


@pytest.mark.parametrize("line", MUST_REFUSE, ids=lambda line: line[:50])
def test_values_that_must_be_refused(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with limited(120):
        assert main(line.split()) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert len(err) < 400


@pytest.mark.parametrize(
    "fields",
    [
        '"n": 1%s, "ell": "cbrt"' % ("0" * 350),
        '"n": -8, "ell": "sqrt"',
        '"n": -1, "ell": "half"',
        '"n": 9, "ell": 2, "batch": 1%s' % ("0" * 30),
        '"n": 9, "ell": 2, "runs": 1%s' % ("0" * 30),
        '"n": 9, "ell": 2, "r": "1e5000", "outside_h": true',
        '"n": ["9:900000"], "ell": 2',
        '"n": 9, "ell": 2, "limit": 1e300',
        '"n": 9, "ell": 2, "seed": -1',
        '"n": 9.5',
        '"n": 9, "ell": 2, "alpha": "1e-9000"',
        '"n": 9, "ell": 2, "restart": 0',
    ],
    ids=lambda text: text[:40],
)
def test_plans_with_absurd_numbers(
    fields: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(f"{{{fields}}}")
    with limited(120):
        assert main(["sweep", "plan.json"]) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert len(err) < 400


@pytest.mark.parametrize("value", ["77777777777777777777", "2", "-1", "one", "", "0x1", "1/2"])
def test_states_that_do_not_exist(
    value: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    prepare(tmp_path, monkeypatch)
    for name in ("--from", "--target-state"):
        line = ["solve", "chain.drn", f"{name}={value}"]
        line += ["--target", "target"] if name == "--from" else []
        assert main(line) == 2
        err = capfd.readouterr().err
        assert err.count("\n") == 1
        assert len(err) < 300


def test_unknown_landscapes_name_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "--landscape", "jmp"]) == 2
    err = capsys.readouterr().err
    for name in ("jump", "jump-open", "onemax"):
        assert re.search(rf"\b{name}\b", err)


# -- what only a process of its own can show ---------------------------------------------------


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a line of sh, with $M as this project's command."""
    return subprocess.run(
        ["bash", "-c", f'M="$0 -m markov_lrsao"; {line}', sys.executable],
        capture_output=True,
        cwd=cwd,
        timeout=120,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("$M exact --n 9 --ell 2 >&-", 0, b""),
        ("$M exact --n 8 --ell 2 2>&-", 2, b""),
        ("$M exact --n 9 --ell 2 > /dev/full", 2, b"No space left"),
        ("$M sites --n 3000 --ell 2 --json | head -c 5 > /dev/null; exit ${PIPESTATUS[0]}", 0, b""),
        ("$M exact --n 9 --ell 2 | true; exit ${PIPESTATUS[0]}", 0, b""),
        ("$M solve $'\\xff\\xfe.drn' --target x", 2, b"No such file"),
        ("$M export --n 9 --ell 2 $'\\xff\\xfe.drn'", 0, b""),
        ("$M exact --landscape $'a\\x1b[31m'", 2, b"\\x1b[31m"),
        ("$M verify $'\\xff'", 2, b"no statement"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_streams_and_bytes(line: str, code: int, words: bytes, tmp_path: Path) -> None:
    result = shell(line, tmp_path)
    assert result.returncode == code, result
    assert words in result.stderr
    assert result.stderr.count(b"\n") == (1 if words else 0)
    assert b"Traceback" not in result.stderr
    assert b"\x1b" not in result.stderr
