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


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_modules_and_functions_are_short(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(size.code_lines(source)) <= size.MODULE_LINES
    excepted = KERNELS.get(name(path), set())
    long = {f for f, lines in size.functions(source) if lines > size.FUNCTION_LINES}
    assert long == excepted  # an exception that is no longer needed goes, too


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
