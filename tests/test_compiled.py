"""Compiled kernels: uncached where nothing can be written, and never from a stale cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numba.core.errors import TypingError

from markov_lrsao.compiled import compiled

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


# -- a changed helper is heard through a warm cache -------------------------------------------

PLAYED = """
import numpy as np
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from simulate import simulate
law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
exact = simulate(law, runs=30, seed=1, limit=10_000, threads=1, monitors=True)
plain = simulate(law, runs=30, seed=1, limit=10_000, threads=1, arithmetic="float64")
print(exact.steps.tolist(), plain.steps.tolist(), exact.monitors.positives.tolist())
"""
WORDS = """
from simulate.kernels.play import stream_words
import numpy as np
print(stream_words(np.uint64(1), np.uint64(2), 3, 0, 4).tolist())
"""
CHANGES = {
    "philox": ("0xD2E7470EE14C6C93", "0xD2E7470EE14C6C95"),
    "entries": ("elif found == LESS:", "elif found ==   -7:"),
    "updates": ("(nv, ne, ns, nt, v, e, s, t)", "(v, e, s, t, nv, ne, ns, nt)"),
    "monitors": ("if q[i] > q[i + ERROR]:", "if q[i] < q[i + ERROR]:"),
}
"""A helper -> a text in it, and another of the same length that plays or counts differently."""


def install(site: Path, helper: str | None) -> None:
    """Put the packages there, one helper changed; sizes and times of files tell no difference."""
    for package in ("markov_lrsao", "simulate"):
        shutil.rmtree(site / package, ignore_errors=True)
        shutil.copytree(
            ROOT / package, site / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    if helper is not None:
        file = site / "simulate" / "kernels" / f"{helper}.py"
        text, (old, new) = file.read_text(encoding="utf-8"), CHANGES[helper]
        assert old in text
        assert len(old) == len(new)
        file.write_text(text.replace(old, new), encoding="utf-8")
    for file in site.rglob("*.py"):
        os.utime(file, (1e9, 1e9))


def played(code: str, folder: Path) -> str:
    return run(
        "import sys; sys.path.insert(0, sys.argv[1])\n" + code,
        str(folder / "site"),
        NUMBA_CACHE_DIR=str(folder / "cache"),
        PYTHONDONTWRITEBYTECODE="1",
    )


@pytest.mark.slow
def test_another_version_at_the_same_path_draws_its_own_numbers(tmp_path: Path) -> None:
    """As `pip install --upgrade` does it: the same path, the same cache, a changed generator."""
    install(tmp_path / "site", None)
    first = played(WORDS, tmp_path)
    assert played(WORDS, tmp_path) == first
    install(tmp_path / "site", "philox")
    assert played(WORDS, tmp_path) != first


@pytest.mark.exhaustive
def test_every_helper_is_heard_through_a_warm_cache(tmp_path: Path) -> None:
    install(tmp_path / "site", None)
    first = played(PLAYED, tmp_path)
    assert played(PLAYED, tmp_path) == first
    for helper in CHANGES:
        install(tmp_path / "site", helper)
        assert played(PLAYED, tmp_path) != first, helper


# -- kernels that allocate nothing ------------------------------------------------------------


KERNELS_BY_TEXT = """
import numpy as np

def in_turns(pair, n):
    total = 0.0
    for k in range(n):
        now, then = pair
        if k & 1:
            now, then = then, now
        total += now[k]
    return total

def fresh(n):
    return np.empty(n)[0]
"""


def by_text(name: str) -> Callable[..., Any]:
    """Return a function that stands in no file, so that it is compiled anew each time."""
    names: dict[str, Any] = {}
    exec(KERNELS_BY_TEXT, names)
    return cast(Callable[..., Any], names[name])


def test_references_are_not_counted_where_nothing_is_allocated() -> None:
    """What the private option of Numba is for. Without it runs take up to twice as long."""
    arrays = (np.arange(3.0), np.ones(3))
    found = []
    for allocates in (True, False):
        kernel = compiled(allocates=allocates)(by_text("in_turns"))
        assert kernel(arrays, 3) == 3.0
        found.append("NRT_incref" in "".join(kernel.inspect_llvm().values()))
    assert found == [True, False]


def test_an_allocation_is_refused_where_none_was_announced() -> None:
    assert compiled()(by_text("fresh"))(3) is not None
    with pytest.raises(TypingError):
        compiled(allocates=False)(by_text("fresh"))(3)


def test_without_the_private_option_kernels_still_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core import options

    monkeypatch.delattr(options.DefaultOptions, "_nrt")
    kernel = compiled(allocates=False)(lambda x: 2 * x)
    assert "_nrt" not in kernel.targetoptions
    assert kernel(4) == 8
