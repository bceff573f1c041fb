"""No module over 400 lines, no function over 60; docstrings and comments do not count."""

from __future__ import annotations

from pathlib import Path

import pytest
import size

import markov_lrsao

ROOT = Path(markov_lrsao.__file__).resolve().parent.parent
SOURCES = [path for package in size.PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
KERNELS = {
    "markov_lrsao/chains/kernels/lumps.py": {"merge"},
    "markov_lrsao/chains/kernels/sparse.py": {"eliminate"},
    "markov_lrsao/exchange/kernels/drn.py": {"scan"},
    "markov_lrsao/values/kernels/row_product.py": {"explore"},
    "simulate/kernels/play.py": {"play"},
}
"""Loops that numba compiles as one piece: calls between pieces would cost time."""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def too_long(path: Path) -> list[str]:
    """Return what is longer than it may be, and exceptions that are no longer needed."""
    source = path.read_text(encoding="utf-8")
    lines = len(size.code_lines(source))
    excepted = KERNELS.get(name(path), set())
    long = {f for f, lines in size.functions(source) if lines > size.FUNCTION_LINES}
    return [f"{lines} lines"] * (lines > size.MODULE_LINES) + sorted(long ^ excepted)


def test_modules_and_functions_are_short() -> None:
    found = {name(path): too_long(path) for path in SOURCES}
    assert len(found) > 400
    assert not {path: what for path, what in found.items() if what}


def test_what_is_too_long_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    long = tmp_path / "long.py"
    long.write_text("def f():\n" + "    x = 1\n" * size.MODULE_LINES, encoding="utf-8")
    assert too_long(long) == [f"{size.MODULE_LINES + 1} lines", "f"]
    long.write_text("def f():\n" + "    x = 1\n" * 9, encoding="utf-8")
    assert too_long(long) == []


def test_only_kernels_are_excepted() -> None:
    assert all("/kernels/" in where for where in KERNELS)


def test_words_do_not_count() -> None:
    source = '''
def f(
    x: int,  # why
) -> int:
    """One.

    Two.
    """

    # three
    return x
'''
    assert list(size.functions(source)) == [("f", 4)]
    assert size.statements(source) == 2


def test_what_is_counted_apart_exists() -> None:
    for where, names in size.NEW_API.items():
        source = (ROOT / where).read_text(encoding="utf-8")
        assert size.new_api(where, source) > 0
        for public in () if names == size.EVERYTHING else names:
            assert f"{public.split('.')[-1]}(" in source or f"class {public}" in source
