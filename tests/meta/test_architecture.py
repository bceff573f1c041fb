"""docs/architecture.md is the index of the tree, and its rooms are those of the contracts."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from architecture import PAGE, contracts, index, rooms, sentence, with_index

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("markov_lrsao", "simulate", "proofs_check")


def named(text: str) -> list[str]:
    """Return the modules that the tables of a page name, as paths without suffix."""
    found, room = [], ""
    for line in text.splitlines():
        heading = re.match(r"### (?:`(.*)`)?", line)
        row = re.match(r"\| `([^`]+)` \|", line)
        if heading:
            room = f"{heading[1]}/" if heading[1] else ""
        elif row:
            found.append(room + row[1])
    return found


def in_tree(root: Path) -> list[str]:
    """Return every module of the packages, but for the `__init__.py` of packages and rooms."""
    return [
        path.relative_to(root).with_suffix("").as_posix().removesuffix("__init__")
        for package in PACKAGES
        for path in (root / package).rglob("*.py")
        if path.name != "__init__.py" or len(path.relative_to(root).parts) > 3
    ]


def test_every_module_is_named_once_and_nothing_else_is() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert sorted(named(page)) == sorted(in_tree(ROOT))


def test_the_index_is_up_to_date() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert page == with_index(page, index(ROOT)), "python tests/support/architecture.py --write"


def test_rooms_stand_in_the_order_of_the_contracts() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    headings = [h.replace("/", ".") for h in re.findall(r"^### `(.*)`$", page, re.MULTILINE)]
    assert headings == [name for name in rooms(ROOT) if (ROOT / name.replace(".", "/")).is_dir()]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_is_in_a_contract(package: str) -> None:
    """import-linter says nothing of a room that no contract names."""
    listed = {name for layers in contracts(ROOT).values() for layer in layers for name in layer}
    there = {
        f"{package}.{path.stem}"
        for path in (ROOT / package).iterdir()
        if (path / "__init__.py").exists()
        or (path.suffix == ".py" and not path.stem.startswith("__"))
    }
    assert there == {name for name in listed if name.startswith(f"{package}.")}


@pytest.mark.parametrize("name", rooms(ROOT))
def test_every_room_says_what_it_is(name: str) -> None:
    folder = ROOT / name.replace(".", "/")
    for path in folder.rglob("__init__.py") if folder.is_dir() else [folder.with_suffix(".py")]:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert len(sentence(path)) > 20


def test_a_new_a_lost_and_a_moved_module_are_noticed(tmp_path: Path) -> None:
    for folder in PACKAGES:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    page = index(ROOT)
    assert index(tmp_path) == page
    law = tmp_path / "markov_lrsao" / "model" / "law.py"
    law.rename(law.with_name("laws.py"))
    moved = index(tmp_path)
    assert moved != page
    assert set(named(page)) ^ set(named(moved)) == {
        "markov_lrsao/model/law",
        "markov_lrsao/model/laws",
    }
    law.with_name("laws.py").unlink()
    assert index(tmp_path) != moved
