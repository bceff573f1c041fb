"""An export is whole or leaves everything as it was."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq
from peer_chains import reflected_walk

from markov_lrsao import MarkovChain
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.cli import main
from markov_lrsao.errors import ParameterError
from markov_lrsao.exchange import FORMATS, read_chain, write_chain
from markov_lrsao.storage import write_all


def content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def labelled(name: str) -> MarkovChain:
    return reflected_walk(3).with_labels({name: np.array([1])})


HUGE, TINY = fmpq(10) ** 320, fmpq(10) ** -400
REFUSED = {
    "a space": ("storm-explicit", labelled("a b"), None),
    "a no-break space": ("storm-explicit", labelled("a\u00a0b"), None),
    "a hash": ("storm-explicit", labelled("#END"), None),
    "quotes": ("prism", labelled('a"b'), None),
    "a surrogate": ("prism", labelled("\ud800"), None),
    "a bar": ("graphml", labelled("a|b"), None),
    "a huge reward": ("prism", reflected_walk(3), {"r": [HUGE] * 4}),
    "a tiny reward": ("storm-explicit", reflected_walk(3), {"r": [TINY] * 4}),
    "two rewards": ("prism", reflected_walk(3), {"r": [HUGE] * 4, "s": [HUGE] * 4}),
    "a short reward": ("drn", reflected_walk(3), {"r": [HUGE] * 3}),
    "a long reward": ("json", reflected_walk(3), {"r": [HUGE] * 5}),
    "a reward of two words": ("drn", reflected_walk(3), {"a b": [HUGE] * 4}),
    "a tiny probability": ("prism", chain_from_rows([{0: 1 - TINY, 1: TINY}, {1: 1}]), None),
    "a tiny entry": ("matrix-market", chain_from_rows([{0: 1 - TINY, 1: TINY}, {1: 1}]), None),
}


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_nothing_behind(case: str, before: bool, tmp_path: Path) -> None:
    format, chain, rewards = REFUSED[case]
    path = tmp_path / "x.tra"
    if before:
        write_chain(
            reflected_walk(2), path, format=format, rewards=rewards and {"r": [fmpq(1)] * 3}
        )
    old = content(tmp_path)
    with pytest.raises(ParameterError) as caught:
        write_chain(chain, path, format=format, rewards=rewards)
    assert str(caught.value).isprintable()
    assert content(tmp_path) == old


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("fails_at", [0, 1, 2, 3])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_failure_while_renaming_takes_everything_back(
    fails_at: int,
    before: bool,
    error: type[BaseException],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, rewards = tmp_path / "x.tra", {"r": [fmpq(k) for k in range(3)]}
    if before:
        write_chain(reflected_walk(2), path, format="prism", rewards=rewards)
    old, original, calls = content(tmp_path), os.replace, 0

    def replace(a: object, b: object) -> None:
        nonlocal calls
        calls += 1
        if calls == fails_at + 1:
            raise error
        original(a, b)  # type: ignore[arg-type]

    monkeypatch.setattr("os.replace", replace)
    new = {"r": [fmpq(9)] * 6}
    if fails_at == 3:
        write_chain(reflected_walk(5), path, format="prism", rewards=new)
        assert sorted(content(tmp_path)) == ["x.lab", "x.srew", "x.tra"]
        assert read_chain(path).chain.size == 6
        return
    with pytest.raises(ParameterError if error is OSError else error):
        write_chain(reflected_walk(5), path, format="prism", rewards=new)
    assert content(tmp_path) == old


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original, calls = os.fdopen, 0

    def fdopen(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError(28, "No space left on device")
        return original(*arguments)  # type: ignore[call-overload]

    monkeypatch.setattr("os.fdopen", fdopen)
    with pytest.raises(ParameterError, match="No space"):
        write_all({tmp_path / "a": "1", tmp_path / "b": "2"})
    assert content(tmp_path) == {}


def test_a_directory_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "x.lab").mkdir()
    with pytest.raises(ParameterError, match="is a directory"):
        write_chain(reflected_walk(2), tmp_path / "x.tra", format="prism")
    assert [p.name for p in tmp_path.iterdir()] == ["x.lab"]


def test_permissions_of_new_files(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        files = write_chain(reflected_walk(2), tmp_path / "x.tra", format="prism")
    finally:
        os.umask(old)
    assert {p.stat().st_mode & 0o777 for p in files} == {0o640}


@pytest.mark.parametrize("name", ["x.srew", "x.trew", "x.state.rew", "x.lab.gz", "x.tra.gz"])
def test_files_that_would_be_taken_for_a_part(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("1 0\n")
    with pytest.raises(ParameterError, match="would be taken for a part of the new files"):
        write_chain(reflected_walk(2), tmp_path / "x.tra", format="prism")
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_the_command_leaves_no_half(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_chain(labelled("all done"), tmp_path / "x.drn", format="drn")
    assert (
        main(
            [
                "export",
                "--chain",
                str(tmp_path / "x.drn"),
                "--format",
                "storm-explicit",
                str(tmp_path / "y"),
            ]
        )
        == 2
    )
    assert capsys.readouterr().err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["x.drn"]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_writes_over_itself(format: str, tmp_path: Path) -> None:
    for top in (2, 5):
        files = write_chain(reflected_walk(top), tmp_path / "x.tra", format=format)
        assert sorted(tmp_path.iterdir()) == sorted(files)
