"""Where things stand: compiled code in folders called kernels, tests beside their rooms."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from architecture import rooms

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("markov_lrsao", "simulate", "proofs_check")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
KERNELS = [path for path in SOURCES if path.parent.name == "kernels"]
ACROSS = {
    "agreement": "two ways to one number",
    "docs": "code blocks of the documentation",
    "examples": "the scripts of examples/",
    "meta": "the shape of the project",
    "mutants": "small mistakes that tests must notice",
    "paper": "statements of the paper, measured",
    "proofs_check": "verdicts, across its rooms",
    "simulate": "one folder per room",
    "support": "what tests share",
}
"""Folders of tests that belong to no single room."""
ELSEWHERE = {
    "forms": "in tests/answers, beside what the forms must agree with",
    "joint": "in tests/agreement, against the oracle",
}
"""Rooms without a folder of tests, and where they are tested."""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def uses_of_compiled(tree: ast.AST) -> Iterator[int]:
    """Yield the lines on which `compiled` is imported or Numba's own decorators are called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "markov_lrsao.compiled":
            yield node.lineno
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in ("njit", "jit"):
                yield node.lineno


def test_compiled_code_lives_in_kernels() -> None:
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in SOURCES
        if path not in KERNELS and name(path) != "markov_lrsao/compiled.py"
    }
    found = {
        name(path): list(uses_of_compiled(ast.parse(text)))
        for path, text in texts.items()
        if "compiled" in text or "jit" in text  # else there is nothing to find
    }
    assert not {path: lines for path, lines in found.items() if lines}
    assert len(KERNELS) > 8


def test_the_search_finds_a_kernel_elsewhere() -> None:
    source = (
        "from markov_lrsao.compiled import compiled\n@compiled()\ndef f(): pass\nnumba.njit(f)\n"
    )
    assert list(uses_of_compiled(ast.parse(source))) == [1, 4]


def foreign_imports(path: Path) -> set[str]:
    """Return what a module of a kernels folder imports from the packages, but for that folder."""
    own = ".".join(path.relative_to(ROOT).parent.parts) + "."
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {m for m in found if m.split(".")[0] in PACKAGES and not m.startswith(own)}


@pytest.mark.parametrize("path", KERNELS, ids=name)
def test_kernels_call_only_what_stands_beside_them(path: Path) -> None:
    """The cache of compiled code is fresh as long as no file of the folder changes."""
    assert foreign_imports(path) <= {"markov_lrsao.compiled"}


def test_tests_stand_beside_their_rooms() -> None:
    inside = {tuple(room.split(".")) for room in rooms(ROOT)}
    engine = {room[1] for room in inside if room[0] == "markov_lrsao"}
    folders = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("**/*.py"))}
    assert folders - set(ACROSS) <= engine
    simulation = {path.name for path in (ROOT / "tests" / "simulate").iterdir() if path.is_dir()}
    assert simulation - {"__pycache__"} == {room[1] for room in inside if room[0] == "simulate"}


def test_every_room_with_code_has_a_folder_of_tests() -> None:
    tested = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("**/test_*.py"))}
    for room in rooms(ROOT):
        folder = ROOT / room.replace(".", "/")
        if folder.is_dir() and room.startswith("markov_lrsao"):
            assert (folder.name in tested) != (folder.name in ELSEWHERE)


def test_mypy_looks_at_every_file() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert data["strict"]
    assert "exclude" not in data
    assert not any("ignore_errors" in override for override in data["overrides"])
    with_code = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and not path.name.startswith(".") and any(path.rglob("*.py"))
    }
    assert with_code == set(data["files"])
