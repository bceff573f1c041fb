"""Whole files or none, whatever goes wrong, and a second run that finishes the job."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from markov_lrsao.cli import main
from markov_lrsao.errors import ParameterError
from markov_lrsao.figures import FIGURES, FigureData, Settings, build
from markov_lrsao.figures.base import Figure
from markov_lrsao.figures.files import ENDINGS, prepare_folder, write_figure

NAMES = ["first", "second", "third"]
OLD = {ending: f"old {ending}".encode() for ending in ENDINGS}
NEW = {ending: f"new {ending}".encode() * 3 for ending in ENDINGS}


class Saboteur:
    """Lets the first `allowed` operations on files pass and fails the next one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, allowed: int, error: BaseException):
        self.left, self.error, self.struck = allowed, error, False
        for module, name in ((tempfile, "mkstemp"), (os, "replace"), (os, "fdopen"), (os, "chmod")):
            monkeypatch.setattr(module, name, self.guarded(getattr(module, name), name))

    def guarded(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left == -1:
                self.struck = True
                if name == "fdopen":  # half of the file is written, then the disk is full
                    os.write(args[0], b"half")
                    os.close(args[0])
                raise self.error
            return function(*args, **kwargs)

        return run


def faults() -> list[BaseException]:
    return [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


@pytest.mark.parametrize("error", faults(), ids=["full disk", "Ctrl-C"])
def test_a_fault_at_any_operation_leaves_whole_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    kind = ParameterError if isinstance(error, OSError) else KeyboardInterrupt
    struck = 0
    for allowed in range(100):
        folder = tmp_path / str(allowed)
        folder.mkdir()
        write_figure(folder, "f", OLD)
        with monkeypatch.context() as patch:
            saboteur = Saboteur(patch, allowed, error)
            try:
                write_figure(folder, "f", NEW)
            except kind:
                assert saboteur.struck
        found = contents(folder)
        for ending in ENDINGS:  # whole: old or new; nothing else in the folder
            assert found.pop(f"f.{ending}", OLD[ending]) in (OLD[ending], NEW[ending])
        assert not found
        if not saboteur.struck:
            break
        # The JSON vouches for the others: if it is there, nothing was replaced yet.
        if (folder / "f.json").exists():
            assert contents(folder) == {f"f.{e}": OLD[e] for e in ENDINGS}
        struck += 1
        write_figure(folder, "f", NEW)
        assert contents(folder) == {f"f.{e}": NEW[e] for e in ENDINGS}
    assert struck == 4 * len(ENDINGS)


def renamed(name: str, settings: Settings, progress: Any) -> FigureData:
    return replace(FIGURES["objectives"].compute(settings, progress), name=name)


@pytest.mark.parametrize("error", faults(), ids=["full disk", "Ctrl-C"])
def test_a_second_run_finishes_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Settings, error: BaseException
) -> None:
    """Break a run of three figures at every operation; each time, run it again."""
    kind = ParameterError if isinstance(error, OSError) else KeyboardInterrupt
    monkeypatch.setattr(
        "markov_lrsao.figures.canvas.pictures",
        lambda data: {"png": b"png", "svg": data.title.encode()},
    )
    for name in NAMES:
        monkeypatch.setitem(FIGURES, name, Figure(name, name, partial(renamed, name)))
    whole = tmp_path / "whole"
    build(NAMES, whole, small)
    for allowed in range(3 * 4 * len(ENDINGS) + 1):
        folder = tmp_path / str(allowed)
        with monkeypatch.context() as patch:
            Saboteur(patch, allowed, error)
            with pytest.raises(kind):
                build(NAMES, folder, small)
        broken = contents(folder)
        assert broken.items() <= contents(whole).items()
        finished = {n for n in NAMES if f"{n}.json" in broken}
        for name in finished:
            assert {f"{name}.{e}" for e in ENDINGS} <= set(broken)
        stamps = {n: (folder / f"{n}.json").stat().st_mtime_ns for n in finished}
        build(NAMES, folder, small)
        assert contents(folder) == contents(whole)
        assert stamps == {n: (folder / f"{n}.json").stat().st_mtime_ns for n in finished}


def test_only_what_is_missing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Settings
) -> None:
    calls = []
    figure = FIGURES["objectives"]

    def counted(settings: Settings, progress: Any) -> Any:
        calls.append(settings)
        return figure.compute(settings, progress)

    monkeypatch.setitem(FIGURES, "objectives", Figure("objectives", figure.title, counted))
    monkeypatch.setattr(
        "markov_lrsao.figures.canvas.pictures", lambda data: {"png": b"png", "svg": b"svg"}
    )
    path = tmp_path / "objectives.json"

    def made(settings: Settings) -> int:
        assert build(["objectives"], tmp_path, settings) == [path]
        return len(calls)

    assert [made(small), made(small)] == [1, 1]
    (tmp_path / "objectives.svg").unlink()
    assert made(small) == 2
    path.write_bytes(path.read_bytes()[:-40])  # cut off by something else
    assert made(small) == 3
    (tmp_path / "objectives.png").write_bytes(b"")
    assert made(small) == 4
    assert made(replace(small, seed=small.seed + 1)) == 5
    monkeypatch.setattr("markov_lrsao.figures.registry.release", lambda: "other")
    assert made(replace(small, seed=small.seed + 1)) == 6


def test_the_folder_is_checked_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        FIGURES,
        "objectives",
        Figure("objectives", "", lambda settings, progress: pytest.fail("computed")),
    )
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(ParameterError, match="choose another `out`"):
        build(["objectives"], blocked)

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(ParameterError, match="Permission denied"):
        prepare_folder(tmp_path)


def command(*arguments: str) -> list[str]:
    return [
        sys.executable,
        "-c",
        "import sys; from markov_lrsao.cli import main; sys.exit(main(sys.argv[1:]))",
        "figures",
        *arguments,
    ]


def check_whole(folder: Path, name: str) -> None:
    assert (folder / f"{name}.png").read_bytes().endswith(b"IEND\xaeB`\x82")
    assert ElementTree.parse(folder / f"{name}.svg").getroot().tag.endswith("svg")
    assert json.loads((folder / f"{name}.json").read_text())["name"] == name
    assert (folder / f"{name}.csv").read_text().count("\n") > 1


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_interrupting_a_real_run(tmp_path: Path) -> None:
    """The full set takes minutes, so it is running when the signal comes."""
    # A shell that starts the tests in the background has them ignore Ctrl-C: undo that.
    with subprocess.Popen(
        # The command, which is supervised: Python itself drops a Ctrl-C that hits a callback.
        [sys.executable, "-m", "markov_lrsao", "figures", "--out", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as run:
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "objectives.json").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            run.send_signal(signal.SIGINT)
            _, said = run.communicate(timeout=60)
        finally:
            run.kill()
    assert run.returncode == 130
    assert said.strip() in ("", "interrupted")
    assert not list(tmp_path.glob(".*"))
    for path in tmp_path.glob("*.json"):
        check_whole(tmp_path, path.stem)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX limits")
def test_a_real_write_error_in_a_real_run(tmp_path: Path) -> None:
    """Files may not grow beyond 20 kB: the CSV fits, the PNG does not."""
    import resource

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    arguments = command("--only", "objectives", "--out", str(tmp_path / "out"))
    run = subprocess.run(
        arguments,
        preexec_fn=limited,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert "cannot write" in run.stderr
    assert "objectives.png" in run.stderr
    assert not list((tmp_path / "out").iterdir())
    assert main(["figures", "--only", "objectives", "--out", str(tmp_path / "out")]) == 0
    check_whole(tmp_path / "out", "objectives")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figures", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in FIGURES)
    assert main(["figures", "--list", "--json"]) == 0
    assert [f["name"] for f in json.loads(capsys.readouterr().out)["figures"]] == list(FIGURES)
    assert (
        main(
            [
                "figures",
                "--quick",
                "--only",
                "site-last",
                "--only",
                "objectives",
                "--json",
                "--out",
                str(tmp_path),
            ]
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert [f["name"] for f in answer["figures"]] == ["objectives", "site-last"]
    for name in ("objectives", "site-last"):
        check_whole(tmp_path, name)
    written = json.loads((tmp_path / "objectives.json").read_text())
    assert written["command"] == "markov-lrsao figures --quick --only objectives"
    assert written["settings"] == answer["settings"] == Settings.quick().to_dict()


def test_an_unknown_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figures", "--only", "objectives", "--only", "objectivs"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "'objectivs' is unknown: choose from objectives, " in captured.err
