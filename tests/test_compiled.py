"""Compiled kernels: uncached where nothing can be written, and never from a stale cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READ_ONLY = """
import os, tempfile
def refuse(*arguments, **options):
    raise OSError(30, "Read-only file system")
tempfile.TemporaryFile = refuse  # how Numba looks whether a folder can be written
"""
KERNELS = (
    "simulate.kernels.philox",
    "simulate.kernels.play",
    "markov_lrsao.chains.kernels.bands",
    "markov_lrsao.chains.kernels.sparse",
    "markov_lrsao.chains.kernels.lumps",
    "markov_lrsao.exchange.kernels.drn",
)


def run(code: str, *arguments: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_read_only_installation_with_an_unwritable_home(tmp_path: Path) -> None:
    """All kernels can be decorated, and one is compiled and right."""
    told = run(
        READ_ONLY
        + f"""
from importlib import import_module
modules = [import_module(name) for name in {KERNELS!r}]
import numpy as np
stream = np.zeros(11, dtype=np.uint64)
modules[0].start(stream, np.uint64(5), np.uint64(6), np.uint64(3), np.uint64(1))
print(stream.tolist(), modules[0].start.stats.cache_path)
""",
        NUMBA_CACHE_DIR=str(tmp_path),
    )
    assert told.strip() == "[5, 6, 0, 0, 3, 1, 0, 0, 0, 0, 4] None"
    assert not list(tmp_path.rglob("*.nb?"))


@pytest.mark.slow
def test_simulate_from_a_read_only_installation(tmp_path: Path) -> None:
    code = (
        READ_ONLY
        + """
import sys
from markov_lrsao.cli import main
sys.exit(main(["simulate", "--n", "9", "--ell", "2", "--runs", "5", "--json"]))
"""
    )
    assert '"runs": 5' in run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert not list(tmp_path.rglob("*.nb?"))


@pytest.mark.parametrize("call", ["load", "save"])
def test_a_cache_that_fails_is_left_aside(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import import_module

    from numba.core import caching

    def refuse(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    name = f"_quadrupled_{call}"
    (tmp_path / f"{name}.py").write_text(
        "from markov_lrsao.compiled import compiled\n"
        "@compiled()\ndef quadrupled(x):\n    return 4 * x\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(caching.IndexDataCacheFile, call, refuse)
    module = import_module(name)
    assert module.quadrupled(5) == 20
    assert module.quadrupled._cache.cache_path is not None  # there is one, and it was tried


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_or_read(tmp_path: Path) -> None:
    (tmp_path / "_tripled.py").write_text(
        "from markov_lrsao.compiled import compiled\n"
        "@compiled()\ndef tripled(x):\n    return 3 * x\n"
    )
    full = """
import sys
sys.path.insert(0, sys.argv[1])
from numba.core import caching
def refuse(*arguments):
    raise OSError(28, "No space left on device")
if len(sys.argv) > 2:
    setattr(caching.IndexDataCacheFile, sys.argv[2], refuse)
from _tripled import tripled
print(tripled(4), sum(tripled.stats.cache_hits.values()))
"""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(full, str(tmp_path), "save", **cache) == "12 0\n"
    assert run(full, str(tmp_path), **cache) == "12 0\n"
    assert run(full, str(tmp_path), **cache) == "12 1\n"  # the cache works where it can
    assert run(full, str(tmp_path), "load", **cache) == "12 0\n"
    for file in (tmp_path / "cache").rglob("*.nb?"):
        file.write_bytes(file.read_bytes()[:40])
    assert run(full, str(tmp_path), **cache) == "12 0\n"


def test_a_kernel_follows_the_kernels_it_calls(tmp_path: Path) -> None:
    """Numba's own cache looks at the file of the outermost function only."""
    inner = (
        "from markov_lrsao.compiled import compiled\n@compiled()\ndef f(x):\n    return x + {}\n"
    )
    (tmp_path / "_outer.py").write_text(
        "from markov_lrsao.compiled import compiled\nfrom _inner import f\n"
        "@compiled()\ndef g(x):\n    return 10 * f(x)\n"
    )
    code = "import sys; sys.path.insert(0, sys.argv[1]); from _outer import g; print(g(1))"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for added in (1, 2):
        (tmp_path / "_inner.py").write_text(inner.format(added))
        assert run(code, str(tmp_path), **cache) == f"{10 * (1 + added)}\n"
