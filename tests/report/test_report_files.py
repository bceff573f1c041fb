"""Making the page: what is kept, what is refused, and that files are whole or absent."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from markov_lrsao.cli import main
from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.figures import FIGURES, Settings
from markov_lrsao.progress import no_progress
from markov_lrsao.release import SCHEMA
from markov_lrsao.report import Scope, build, findings, make_report, values
from markov_lrsao.report.files import kept
from markov_lrsao.report.verdicts import check_report, load_verification
from markov_lrsao.storage import check_writable, write_whole

pytestmark = pytest.mark.slow  # a minute and more together

TINY = Scope(
    n_max=9,
    sizes=(100,),
    law=(9, 2),
    float_sizes=(20,),
    float_runs=4,
    zero=(9,),
    below=(32, 64),
    above=(9,),
    plateaus=((13, "3+3", "shared"),),
    plateau_runs=20,
    learning=((9, 2),),
    cutoffs=(9,),
    cutoff_runs=200,
)
"""Every part of the page, each as small as it can be: what is left out would be a full page's."""


NAMES = ("objectives", "site-first")


@pytest.fixture
def saved(verification: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "verify.json"
    path.write_text(json.dumps(verification))
    return path


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave two cheap figures in the registry."""
    for name in list(FIGURES):
        if name not in NAMES:
            monkeypatch.delitem(FIGURES, name)


def make(folder: Path, verify: Path) -> Path:
    return make_report(
        folder / "report.html",
        scope=TINY,
        settings=Settings.quick(),
        figures=folder / "figures",
        verify=verify,
        workers=1,
    )


@pytest.fixture(scope="module")
def made(content: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small page and all that was kept while it was made."""
    folder = tmp_path_factory.mktemp("made")
    verify = folder / "verify.json"
    verify.write_text(json.dumps(content.verification))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(findings, "constants", lambda *_: content.numbers["constants"])
        for name in list(FIGURES):
            if name not in NAMES:
                patch.delitem(FIGURES, name)
        make(folder, verify)
    return folder


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.rglob("*.part")]


@pytest.mark.usefixtures("few")
def test_a_second_run_only_writes_the_page(
    made: Path, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (made / "report.html").read_bytes()
    assert b'data-figure="objectives"' in first
    assert b"51740216905/1185192162" in first
    folder = tmp_path / "again"
    shutil.copytree(made / "figures", folder / "figures")
    for module, name in (
        (build, "exact_values"),
        (findings, "constants"),
        (findings, "concentration"),
        (findings, "float64_effect"),
    ):

        def again(*_: Any, **__: Any) -> None:
            raise AssertionError("computed again")

        monkeypatch.setattr(module, name, again)
    times = {p: p.stat().st_mtime_ns for p in folder.rglob("*.json")}
    assert make(folder, saved).read_bytes() == first
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*.json")} == times
    assert leftovers(folder) + leftovers(made) == []


@pytest.mark.usefixtures("few")
def test_full_figures_are_not_replaced_by_quick_ones(tmp_path: Path) -> None:
    from markov_lrsao.figures import build as draw

    draw(["objectives"], tmp_path, Settings.full())
    before = (tmp_path / "objectives.json").read_bytes()
    found = build.figure_data(tmp_path, Settings.quick(), no_progress)
    assert [f["name"] for f in found] == list(FIGURES)
    assert (tmp_path / "objectives.json").read_bytes() == before
    assert found[0]["settings"] == Settings.full().to_dict()
    assert found[1]["settings"] == Settings.quick().to_dict()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("when", ["render", "write"])
def test_an_interrupt_leaves_the_old_page(
    when: str, made: Path, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "again"
    shutil.copytree(made / "figures", folder / "figures")
    out = folder / "report.html"
    out.write_text("old")

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    if when == "render":
        monkeypatch.setattr(build, "render", interrupt)
    else:
        monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make(folder, saved)
    assert out.read_text() == "old"
    assert leftovers(folder) == []


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "page.html"
    path.write_text("old")
    monkeypatch.setattr(os, call, full)
    with pytest.raises(ParameterError, match=r"cannot write .*No space left.* make room"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_places_that_cannot_be_written_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="does not exist"):
        check_writable(tmp_path / "missing" / "page.html")
    with pytest.raises(ParameterError, match="is a folder"):
        check_writable(tmp_path)
    check_writable(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_values_are_kept_until_their_settings_change(tmp_path: Path) -> None:
    calls = []

    def compute() -> dict[str, Any]:
        calls.append(1)
        return {"a": (1, 2)}

    path = tmp_path / "deep" / "value.json"
    for settings in ({"n": (1, 2)}, {"n": [1, 2]}):
        assert kept(path, settings, compute) == {"a": [1, 2]}
    assert len(calls) == 1
    kept(path, {"n": 3}, compute)
    assert len(calls) == 2
    path.write_text(path.read_text()[:-9])  # cut off
    assert kept(path, {"n": 3}, compute) == {"a": [1, 2]}
    assert len(calls) == 3


@pytest.mark.parametrize(
    "old_new",
    [
        ("[1, 2]", "[1, 3]"),
        ('"a"', '"b"'),
        ('"digest"', '"digets"'),
        ("[1, 2]", "[1, NaN]"),
        ("[1, 2]", "[" * 9999 + "]" * 9999),
        ('"value"', '"value": 1, "value"'),
        ("{", "\udcff{"),
    ],
    ids=["another value", "another key", "no digest", "NaN", "deep", "twice", "no UTF-8"],
)
def test_damaged_values_are_made_anew(old_new: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    value = {"a": [1, 2]}
    kept(path, {"n": 3}, lambda: value)
    text = path.read_text()
    assert old_new[0] in text
    path.write_text(text.replace(*old_new, 1), errors="surrogateescape")
    for expected in (True, False):  # once, and kept again
        made = Mock(return_value=value)
        assert kept(path, {"n": 3}, made) == value
        assert made.called == expected
    assert path.read_text() == text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_fifo_in_place_of_a_kept_value_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    os.mkfifo(path)
    assert kept(path, {}, lambda: [4]) == [4]
    assert path.is_file()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("damage", ["cut off", "a field less", "no object", "a FIFO"])
def test_damaged_figures_are_made_anew(damage: str, made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    shutil.copytree(made / "figures", folder)
    path = folder / "objectives.json"
    whole = json.loads(path.read_text())
    if damage == "a FIFO":
        path.unlink()
        os.mkfifo(path)
    else:
        path.write_text(
            {
                "cut off": path.read_text()[:-20],
                "no object": "[1]",
                "a field less": json.dumps({k: v for k, v in whole.items() if k != "series"}),
            }[damage]
        )
    assert build.figure_data(folder, Settings.quick(), no_progress)[0] == whole
    assert json.loads(path.read_text()) == whole


def test_parallel_values_equal_serial_ones(content: Any) -> None:
    """The values of the page were computed by two processes."""
    grid = content.values["grid"]
    assert [(r["n"], r["l"]) for r in grid] == [(9, 2), (10, 2), (11, 2), (11, 3), (12, 2), (12, 3)]
    small = values.exact_values(9, (100,), workers=1)
    assert small["grid"] == grid[:1]
    for here, there in zip(small["schedules"], content.values["schedules"], strict=True):
        assert [r["n"] for r in there["instances"]] == [100, 1000]
        assert here["instances"] == there["instances"][:1]


def break_report(report: dict[str, Any], what: str) -> Any:
    copy: dict[str, Any] = json.loads(json.dumps(report))
    first = copy["statements"][0]
    if what == "list":
        return []
    if what == "few":
        copy["statements"] = copy["statements"][:3]
    elif what == "field":
        del first["claim"]
    elif what == "evidence":
        del first["evidence"][0]["summary"]
    elif what == "kind":
        first["evidence"][0]["kind"] = "guess"
    elif what == "verdict":
        first["verdict"] = "FINE"
    elif what == "type":
        first["evidence"] = 5
    elif what == "id":
        first["id"] = ["Lemma 5"]
    elif what == "group":
        first["group"] = "rumour"
    elif what == "twice":
        copy["statements"][1] = first
    return copy


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("list", "no list of statements"),
        ("few", "verdicts on 3 of the"),
        ("field", "lacks some"),
        ("evidence", "lacks some"),
        ("kind", "unknown verdict or kind"),
        ("verdict", "unknown verdict 'FINE'"),
        ("group", "unknown group 'rumour'"),
        ("twice", "of the"),
        ("type", "wrong type"),
        ("id", "wrong type"),
    ],
)
def test_wrong_verifications_are_refused(
    what: str, text: str, verification: dict[str, Any]
) -> None:
    with pytest.raises(FileFormatError, match=text) as caught:
        check_report(break_report(verification, what), "file.json")
    assert "markov-lrsao verify --json > FILE" in str(caught.value)


def test_right_verifications_are_read(saved: Path, verification: dict[str, Any]) -> None:
    assert load_verification(saved) == verification


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    out = ["report", "--out", str(tmp_path / "r.html"), "--figures", str(tmp_path / "figures")]
    for arguments, text in (
        ([*out, "--verify", str(bad)], "not JSON"),
        ([*out, "--verify", "/dev/zero"], "/dev/zero: a device; only regular files are read"),
        ([*out, "--verify", str(tmp_path / "absent.json")], "No such file"),
        (["report", "--out", str(tmp_path / "no" / "r.html")], "does not exist"),
    ):
        assert main(arguments) == 2
        printed, error = capsys.readouterr()
        assert printed == ""
        assert error.count("\n") == 1
        assert error.startswith("markov-lrsao: ")
        assert text in error
    assert [p.name for p in tmp_path.iterdir()] == ["bad.json"]


@pytest.mark.usefixtures("few")
def test_the_command_says_what_it_wrote(
    made: Path,
    saved: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(made / "figures", tmp_path / "figures")
    monkeypatch.setattr(Scope, "quick", classmethod(lambda cls: TINY))
    out = tmp_path / "page.html"
    arguments = [
        "report",
        "--quick",
        "--out",
        str(out),
        "--figures",
        str(tmp_path / "figures"),
        "--verify",
        str(saved),
        "--workers",
        "1",
    ]
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": SCHEMA,
        "file": str(out),
        "bytes": out.stat().st_size,
    }
    assert "markov-lrsao report --quick" in out.read_text(encoding="utf-8")
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith(f"written: {out} (")
