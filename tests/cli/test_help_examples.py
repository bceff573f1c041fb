"""Help pages: every command has examples, and they can be pasted."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import Path

import pytest
import typer.main
from commands import Command
from typer.exceptions import TyperException

from markov_lrsao import progress
from markov_lrsao.cli import main
from markov_lrsao.cli.app import app

GROUP = typer.main.get_command(app)
COMMANDS = {name: GROUP.commands[name] for name in GROUP.commands}  # type: ignore[attr-defined]


def help_page(
    name: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main([name, "--help"] if name else ["--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def examples(page: str) -> list[list[str]]:
    """Return the command lines below "Example:", as a shell would split them."""
    _, found, below = page.partition("\n  Example: ")
    assert found, "no example"
    lines = [line.strip() for line in below.splitlines() if line.strip()]
    words = [shlex.split(line) for line in lines]
    assert all(line[0] == "markov-lrsao" for line in words), "an example is wrapped"
    return [line[1:] for line in words]


def parse(arguments: list[str]) -> None:
    """Parse a command line without running it; raises what the command line would."""
    name, *rest = arguments
    context = GROUP.make_context("markov-lrsao", list(arguments))
    COMMANDS[name].make_context(name, rest, parent=context)


@pytest.mark.slow
@pytest.mark.parametrize("width", [50, 80, 200])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_parses(
    name: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = examples(help_page(name, width, capsys, monkeypatch))
    assert any(line[0] == name for line in found)
    for line in found:
        parse(line)


@pytest.mark.slow
def test_the_parser_refuses_wrong_examples() -> None:
    for wrong in (["exact", "--m", "9"], ["export", "--n", "9"], ["exact", "--method", "guess"]):
        with pytest.raises(TyperException):
            parse(wrong)


@pytest.mark.slow
def test_the_first_page_has_an_example(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for line in examples(help_page("", 60, capsys, monkeypatch)):
        parse(line)


@pytest.mark.slow
def test_summaries_are_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "".join(help_page("", 50, capsys, monkeypatch).split())
    for name, command in COMMANDS.items():
        summary = (command.help or "").partition("\n\n")[0]
        assert len(summary) > 20
        assert name + "".join(summary.split()) in page


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_help_pages_are_plain_text(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = help_page(name, 80, capsys, monkeypatch)
    assert page.isascii()
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", page)
    rest = page.partition("\n  Example: ")[0]
    assert max(map(len, rest.splitlines())) <= 80


SERVES = "explore"
"""Runs until it is interrupted; tests/explore starts and asks it."""


LONG = "report"
"""Makes all figures and verdicts: minutes. tests/report has small pages in the second tier."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in (SERVES, LONG)])
def test_examples_run(
    name: str,
    tmp_path: Path,
    command: Command,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_examples(name, tmp_path, command, capsys, monkeypatch)


@pytest.mark.exhaustive
def test_examples_of_long_work_run(
    tmp_path: Path,
    command: Command,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_examples(LONG, tmp_path, command, capsys, monkeypatch)


def run_examples(
    name: str,
    folder: Path,
    command: Command,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without an error or warning; how long it takes here, and so its progress, is no matter."""
    monkeypatch.setattr(progress, "LINE_SECONDS", math.inf)
    monkeypatch.chdir(folder)
    for line in examples(help_page(name, 80, capsys, monkeypatch)):
        code, out, err = command(*line)
        assert (code, err) == (0, "")
        assert out
