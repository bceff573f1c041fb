"""Tables in a pipe: plain text, no codes, nothing cut, stable columns. Colour on terminals only."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from commands import Command

import markov_lrsao.cli

pytestmark = pytest.mark.slow  # a minute and more together

CASES = {
    "exact": ["exact", "--n", "9", "--ell", "2"],
    "estimate": [
        "exact",
        "--n",
        "25",
        "--ell",
        "2",
        "--r",
        "1/10",
        "--outside-h",
        "--max-states",
        "500",
        "--runs",
        "300",
    ],
    "relax": [
        "relax",
        "--n",
        "9",
        "--ell",
        "2",
        "--factors",
        "0,0+",
        "--runs",
        "200",
        "--engine-n",
        "0",
    ],
    "law-tables": ["distribution", "--n", "9", "--ell", "2", "--at", "20,40"],
    "sites": ["sites", "--n", "12", "--ell", "3"],
    "trace": ["trace", "--n", "9", "--ell", "2", "--steps", "8"],
    "map": [
        "map",
        "--n",
        "9",
        "--ell",
        "2",
        "--alpha",
        "0.8:0.9@2",
        "--r-relative",
        "0.2:0.6@2",
        "--workers",
        "1",
    ],
    "curve": ["curve", "--ell", "sqrt", "--n", "20,30", "--workers", "1"],
    "solve": ["solve", "chain.drn", "--target", "target", "--exact"],
    "simulate": ["simulate", "--n", "9", "--ell", "2", "--runs", "200"],
    "sweep": ["sweep", "--n", "9,10", "--ell", "2", "--runs", "50", "--out", "s.sqlite"],
    "cross-validate": ["cross-validate", "--n-max", "9", "--runs", "1000"],
    "verify": ["verify", "Range of l"],
    "replay": ["replay", "bad.json"],
    "figures": ["figures", "--list"],
}
PLAIN = {
    "formula": ["formula", "phase1"],
    "export": ["export", "--n", "9", "--ell", "2", "again.drn"],
    "states": ["states", "--n", "9", "--ell", "2", "--part", "left"],
    "verify --list": ["verify", "--list"],
    "sites, long": ["sites", "--n", "60", "--ell", "3"],
}
"""Not tables, or not only; what they print goes through pipes as well."""
BAD = """{"format": "markov-lrsao counterexample 1", "statement": "Lemma 5", "expected": "x",
"observed": "y", "values": {"n": "2", "l": "0", "alpha": "1/2", "gamma": "1/10", "r": "1"},
"objectives": {"F": [0, 0, 1], "f": [0, 1, 0]}, "target": "F", "milestones": [2],
"steps": [["f", "up"], ["f", "up"], ["f", "down"]]}"""
CHAIN = (
    "@type: DTMC\n@nr_states\n2\n@model\nstate 0 init\n\taction 0\n\t\t0 : 2/3\n"
    "\t\t1 : 1/3\nstate 1 target\n\taction 0\n\t\t1 : 1\n"
)
CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bad.json").write_text(BAD)
    (tmp_path / "chain.drn").write_text(CHAIN)
    return tmp_path


@pytest.fixture
def piped(command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a command whose output is no terminal."""

    def run(arguments: list[str], **environment: str) -> str:
        monkeypatch.chdir(folder)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code, out, err = command(*arguments)
        assert (code, err) == (0, "")
        return out

    return run


def timeless(text: str) -> str:
    """Blank out measured seconds, and how much of a sweep was there already."""
    text = re.sub(r"\d+(\.\d+)? s\b", "? s", text)
    return re.sub(r"[\d,]+ of them played now", "? of them played now", text)


def tables(text: str) -> list[tuple[list[tuple[int, int]], list[str]]]:
    """Return every table as (spans of the columns, header and rows)."""
    lines = text.splitlines()
    found = []
    for k, line in enumerate(lines):
        if k and re.fullmatch(r"-+(  -+)*", line) and lines[k - 1].strip():
            end = next((j for j in range(k, len(lines)) if not lines[j]), len(lines))
            spans = [match.span() for match in re.finditer("-+", line)]
            found.append((spans, [lines[k - 1], *lines[k + 1 : end]]))
    return found


INVITED = {"TERM": "xterm-256color", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}
"""What asks for colour, where there is no terminal."""


@pytest.mark.parametrize("name", CASES)
def test_piped_output(name: str, piped: Callable[..., str]) -> None:
    """Narrow, and invited to colour: still the plain text, whole."""
    out = piped(CASES[name], COLUMNS="40", **INVITED)
    assert out.isascii()
    assert "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())
    assert timeless(piped(CASES[name], COLUMNS="300")) == timeless(out)
    if name != "verify":  # one statement is told in sentences
        assert tables(out)
    for spans, lines in tables(out):
        assert len(lines) >= 2
        for line in lines:
            for (_, a), (b, _) in pairwise(spans):
                assert line[a:b].strip() == "", "columns run into each other"
            assert all(line[a:b].strip() for a, b in spans), "an empty cell or header"
            assert len(re.split(r"  +", line.strip())) == len(spans)
            assert len(line) <= spans[-1][1]


@pytest.mark.parametrize("name", PLAIN)
def test_other_output_is_plain(name: str, piped: Callable[..., str]) -> None:
    out = piped(PLAIN[name], COLUMNS="40", **INVITED)
    assert out.isascii()
    assert "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_a_real_pipe(folder: Path, piped: Callable[..., str]) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "markov_lrsao", *CASES["sites"]],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=folder,
        env=os.environ | INVITED | {"COLUMNS": "40", "PYTHONIOENCODING": "ascii"},
    )
    assert (result.stdout, result.stderr) == (piped(CASES["sites"]), "")


def test_no_table_is_forgotten() -> None:
    """Every module of the command line that makes tables has a case above."""
    modules = Path(markov_lrsao.cli.__file__).parent.glob("*.py")
    users = {
        path.stem.replace("_", "-")
        for path in modules
        if re.search(r"markov_lrsao\.tables import .*\btable\b", path.read_text(encoding="utf-8"))
    }
    assert users <= set(CASES), f"add a case for {sorted(users - set(CASES))}"


def test_elided_rows_are_named(piped: Callable[..., str]) -> None:
    out = piped(PLAIN["sites, long"])
    ((_, lines),) = tables(out)
    assert len(lines) == 42
    assert sum("20..40 " in line and "--json" in line for line in lines) == 1


def test_verdict_table() -> None:
    from proofs_check import verify
    from proofs_check.verification.report import summary_text, table_text

    results = verify(["Range of l", "Smallest n"])
    ((spans, lines),) = tables(table_text(results))
    assert [len(re.split(r"  +", line.strip())) for line in lines] == [len(spans)] * 3
    assert "PROVED" in table_text(results) + summary_text(results)


def on_terminal(arguments: list[str], cwd: Path, **environment: str) -> str:
    """Return what a terminal receives on stdout."""
    pty = pytest.importorskip("pty", reason="terminals of this kind exist on POSIX only")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdout=theirs,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={k: v for k, v in os.environ.items() if k != "NO_COLOR"} | environment,
    ) as process:
        os.close(theirs)
        text = drain(ours)
        assert process.stderr is not None
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, b"")
    return text


def drain(terminal: int) -> str:
    chunks: list[bytes] = []
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a terminal as an error
            chunk = b""
        if not chunk:
            os.close(terminal)
            return b"".join(chunks).decode().replace("\r\n", "\n")
        chunks.append(chunk)


@pytest.mark.parametrize("name", ["sites", "law-tables"])
def test_terminals_get_bold_headers_and_the_same_text(
    name: str, folder: Path, piped: Callable[..., str]
) -> None:
    plain = piped(CASES[name])
    shown = on_terminal(["-m", "markov_lrsao", *CASES[name]], folder, TERM="xterm-256color")
    (_, (header, *_)), *_ = tables(plain)
    assert f"\x1b[1m{header}\x1b[0m" in shown
    assert CODES.sub("", shown) == plain


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_terminals_can_refuse_colour(setting: dict[str, str], folder: Path) -> None:
    command = ["-m", "markov_lrsao", *CASES["verify"]]
    coloured = on_terminal(command, folder, TERM="xterm")
    assert "\x1b[32mPROVED\x1b[0m" in coloured
    shown = on_terminal(command, folder, **({"TERM": "xterm"} | setting))
    assert "\x1b" not in shown
    assert timeless(shown) == timeless(CODES.sub("", coloured))


BAR = """
import time
from markov_lrsao.progress import terminal_progress
with terminal_progress("working", total=15) as bar:
    for _ in range(15):
        time.sleep(0.1)
        bar.advance()
print("done")
"""


def test_progress_bars_are_for_terminals() -> None:
    """On stderr if that is a terminal, whatever stdout is; nowhere otherwise."""
    silent = subprocess.run(
        [sys.executable, "-c", BAR], capture_output=True, text=True, timeout=60, check=True
    )
    assert (silent.stdout, silent.stderr) == ("done\n", "")
    pty = pytest.importorskip("pty", reason="terminals of this kind exist on POSIX only")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", BAR], stdout=subprocess.PIPE, stderr=theirs, stdin=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        bar = drain(ours)
        assert process.stdout is not None
        assert process.stdout.read() == b"done\n"
    assert "working: [####" in bar
    assert bar.endswith("\r\x1b[K")
