"""Long work speaks: a bar on terminals, a line a minute elsewhere, nothing over the answer."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from markov_lrsao import progress
from markov_lrsao.cli import main
from markov_lrsao.progress import (
    Board,
    Watcher,
    answered,
    elapsed,
    speaking,
    terminal_progress,
    watched_by_thread,
)

posix = pytest.mark.skipif(sys.platform != "linux", reason="commands are watched on Linux")
SLOW = """
import sys, time
import markov_lrsao.progress as progress
progress.LINE_SECONDS = 0.3
progress.PATIENCE_SECONDS = 0.2
import markov_lrsao.cli.formula as module
import markov_lrsao.forms.catalogue as catalogue
def formulas(which, told):
    with told("deriving", total=4) as bar:
        bar.advance()
        {busy}
    return []
catalogue.formulas = formulas
from markov_lrsao.cli import entry_point
entry_point()
"""
SLEEPING = "time.sleep(1.5)"
HOLDING = "import flint; flint.fmpz(7) ** 60_000_000 % 3"
"""Native code that keeps the interpreter's lock."""


@pytest.fixture
def board() -> Iterator[Board]:
    made = Board()
    yield made
    made.close()


def lines(error: str) -> list[str]:
    return [line for line in error.split("\n") if line]


def command(busy: str) -> list[str]:
    return [sys.executable, "-c", SLOW.format(busy=busy), "formula", "phase1"]


@posix
@pytest.mark.slow
@pytest.mark.parametrize("busy", [SLEEPING, HOLDING], ids=["asleep", "in native code"])
@pytest.mark.parametrize("ignored", [False, True], ids=["supervised", "in the background"])
def test_a_line_now_and_then_where_there_is_no_terminal(busy: str, ignored: bool) -> None:
    """Also where Ctrl-C is ignored; there native code that keeps the lock is waited for."""
    if ignored and busy == HOLDING:
        pytest.skip("a thread cannot draw then")
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    run = subprocess.run(
        command(busy),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )
    said = lines(run.stderr)
    assert len(said) >= 2
    for line in said:
        assert re.fullmatch(
            r"formula: \d+ s|formula, deriving: \[#{6}\.{18}\]  25%, \d+ s left", line
        )
    assert "\x1b" not in run.stderr


@posix
def test_a_bar_on_a_terminal_that_is_gone_before_the_answer() -> None:
    import pty

    parent, child = pty.openpty()
    run = subprocess.Popen(
        command(SLEEPING),
        stdout=child,
        stderr=child,
        preexec_fn=lambda: signal.signal(2, signal.SIG_DFL),
    )
    os.close(child)
    shown = b""
    while True:
        try:
            part = os.read(parent, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    assert run.wait(60) == 0
    os.close(parent)
    text = shown.decode()
    assert text.count("formula, deriving: [######") >= 2
    last = text.rpartition("\r\x1b[K")[2]
    assert "deriving" not in last  # cleared before the (empty) answer


def test_short_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal_progress("short", total=2) as bar:
        bar.advance()
    assert capsys.readouterr().err == ""


def test_without_a_watcher_a_bar_speaks_when_it_advances(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    with terminal_progress("work", total=2) as bar:
        bar.advance()
    assert capsys.readouterr().err == "work: [############............]  50%, 0 s left\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nested_work_is_shown_by_the_innermost(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    watcher = Watcher(board)
    with speaking("exact", board):
        watcher.tick()
        with terminal_progress("outer", total=10) as outer:
            with terminal_progress("inner") as inner:
                inner.advance(3)
                outer.advance(5)  # remembered, though another one is shown
                watcher.tick()
            watcher.tick()
        with terminal_progress("exact values"):
            watcher.tick()
        answered()
        watcher.tick()
    shown = screen.getvalue().split("\r\x1b[K")
    assert [line for line in shown if line] == [
        "exact: 0 s",
        "exact, inner: 3 in 0 s",
        "exact, outer: [############............]  50%, 0 s left",
        "exact values: 0 s",  # not twice the same word
    ]
    assert screen.getvalue().endswith("\r\x1b[K")  # nothing is drawn after the answer
    assert not board.shown


def test_long_titles_and_odd_letters_fit_the_board(board: Board) -> None:
    with speaking("é" * 900, board):
        entry = board.read()
    assert entry is not None
    assert entry.title.startswith("é" * 150)
    assert board.read() is None


def test_a_watcher_does_not_wait_for_a_token_that_is_lost(board: Board) -> None:
    """A process that was killed while it drew keeps the token; the others go on without a bar."""
    with board.token() as have:
        assert have
        begun = time.monotonic()
        with board.token() as also:
            assert not also
        assert time.monotonic() - begun < 1


def test_a_thread_watches_and_ends(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    with watched_by_thread(board), speaking("exact", board):
        deadline = time.monotonic() + 10
        while "exact: 0 s" not in screen.getvalue():
            assert time.monotonic() < deadline
            time.sleep(0.01)
    count = screen.getvalue().count("\n")
    time.sleep(0.15)
    assert screen.getvalue().count("\n") == count


def test_seconds_count_from_the_beginning_of_the_command() -> None:
    with speaking("exact", None, time.monotonic() - 100):
        assert 100 <= elapsed() < 160
    with speaking("exact"):
        assert elapsed() < 60


@posix
def test_seconds_printed_include_imports(tmp_path: Path) -> None:
    """What a command prints is nearly all of what it takes, seen from outside."""
    begun = time.monotonic()
    run = subprocess.run(
        [sys.executable, "-m", "markov_lrsao", "exact", "--n", "9", "--ell", "2"],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    outside = time.monotonic() - begun
    printed = float(run.stdout.rsplit(";", 1)[1].removesuffix(" s\n"))
    assert 0.5 * outside < printed <= outside + 0.02


def test_json_has_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    import json

    begun = time.monotonic()
    assert main(["exact", "--n", "9", "--ell", "2", "--json"]) == 0
    assert 0 < json.loads(capsys.readouterr().out)["seconds"] <= time.monotonic() - begun
