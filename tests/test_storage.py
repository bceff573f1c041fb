"""Files are whole or as before, whatever stands in their place."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from markov_lrsao.errors import ParameterError
from markov_lrsao.storage import check_folder, staged, write_all, write_whole


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", "l \u2264 n\r\n")
    write_whole(tmp_path / "b", b"\x00\xff")
    assert (tmp_path / "a").read_bytes() == "l \u2264 n\r\n".encode()
    assert (tmp_path / "b").read_bytes() == b"\x00\xff"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name, old in (("old", "old"), ("new", None)):
        file, link = tmp_path / "there" / name, tmp_path / name
        if old is not None:
            file.write_text(old)
        link.symlink_to(file)
        write_whole(link, "text")
        assert link.is_symlink()
        assert file.read_text() == "text"
    assert sorted(p.name for p in (tmp_path / "there").iterdir()) == ["new", "old"]


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "private"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", ["is_char_device", "is_block_device"])
def test_a_device_is_not_replaced(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "null"  # a real device would be gone, should this fail
    path.write_text("old")
    monkeypatch.setattr(Path, kind, lambda _: True)
    with pytest.raises(ParameterError, match="is a device; name a file"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["null"]


def test_what_cannot_be_encoded_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"b: the character .* cannot be written"):
        write_all({tmp_path / "a": "fine", tmp_path / "b": "\ud800"})
    assert list(tmp_path.iterdir()) == []


def test_staged_files_are_complete_before_the_first_is_renamed(tmp_path: Path) -> None:
    contents: dict[Path, str | bytes] = {tmp_path / "a": "1", tmp_path / "b": "2"}
    seen: list[str] = []

    def fail(ready: dict[Path, Path]) -> None:
        assert list(ready) == list(contents)
        seen.extend(t.read_text() for t in ready.values())
        raise OSError("a device is full")

    with (
        pytest.raises(ParameterError, match="a device is full; buy one"),
        staged(contents, "buy one") as ready,
    ):
        fail(ready)
    assert seen == ["1", "2"]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"choose another .*--here"):
        check_folder(tmp_path / "missing", "--here")
